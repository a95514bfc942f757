"""Rank correlations on data as drawn and with every column transformed, and how often the warning about tails comes.

    python benchmarks/ranks.py [--graphs 10] [--seed 500] [--tables 200] [--part accuracy|tails|stream]

Writes benchmarks/results/ranks.csv, ranks_tails.csv and ranks_stream.csv, and their sections of docs/ranks.md. The
bound of the warning was chosen on tables of other seeds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.errors import DataWarning, NumericalWarning
from rfdag.evidence.correlations import CORRELATIONS
from rfdag.evidence.moments import Moments
from rfdag.evidence.profile import profile_of
from rfdag.evidence.ranks import normal_scores
from rfdag.evidence.row_sample import RowSample
from rfdag.evidence.summary import Summary
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench.transforms import monotone
from rfdag.studies.bench.workloads import simulation_generator

Row = dict[str, Any]
Floats = NDArray[np.float64]
PAGE = ROOT / "docs" / "ranks.md"
SIZES = ((20, 200), (20, 1000), (50, 500), (50, 2000), (100, 1000), (100, 2000))
"""Columns and rows."""
DEGREE = 4.0

ORDINARY: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "Gaussian": lambda generator, size: generator.normal(size=size),
    "uniform": lambda generator, size: generator.uniform(size=size),
    "Laplace": lambda generator, size: generator.laplace(size=size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "t(10)": lambda generator, size: generator.standard_t(10, size=size),
    "t(5)": lambda generator, size: generator.standard_t(5, size=size),
    "log-normal(½)": lambda generator, size: generator.lognormal(0, 0.5, size=size),
}
"""Columns that need no warning."""
HEAVY: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "Cauchy": lambda generator, size: generator.standard_cauchy(size=size),
    "t(1½)": lambda generator, size: generator.standard_t(1.5, size=size),
    "log-normal(3)": lambda generator, size: generator.lognormal(0, 3, size=size),
}
"""Columns that need one."""
SHAPES = ((20, 5), (50, 20), (200, 5), (200, 100), (1000, 5), (1000, 50), (1000, 500), (10_000, 20), (100_000, 5))
"""Rows and columns."""


def measure(p: int, n: int, graphs: int, seed: int) -> Iterator[Row]:
    """Yield one row per correlation: the same graphs from rows as drawn and with every column transformed."""
    scores: dict[str, list[list[float]]] = {name: [] for name in CORRELATIONS}
    times: dict[str, list[float]] = {name: [] for name in CORRELATIONS}
    for graph in range(graphs):
        generator = simulation_generator(f"ranks {p} {n}", seed, graph)
        true = random_dag(p, None, generator, degree=DEGREE)
        drawn = sample(linear_sem(true, generator), n, generator)
        changed = monotone(drawn, generator)
        for name in CORRELATIONS:
            found = []
            for rows in (drawn, changed):
                start = time.perf_counter()
                dag = rfdag.learn(rows, correlation=name, n_jobs=1, progress=False).dag
                times[name].append(time.perf_counter() - start)
                found += [metrics.skeleton(true, dag).f1, metrics.shd(true, dag)]
            scores[name].append(found)
    for name, values in scores.items():
        f1, shd, f1_changed, shd_changed = np.mean(values, axis=0)
        yield {
            "p": p,
            "n": n,
            "correlation": name,
            "F1, as drawn": round(float(f1), 3),
            "F1, transformed": round(float(f1_changed), 3),
            "SHD, as drawn": round(float(shd), 1),
            "SHD, transformed": round(float(shd_changed), 1),
            "time (s)": float(f"{median(times[name]):.2g}"),
        }


def accuracy(options: argparse.Namespace) -> None:
    """Measure F1, SHD and time of all correlations."""
    # The first call compiles.
    rfdag.learn(np.random.default_rng(0).normal(size=(50, 4)), correlation="kendall", progress=False)
    rows: list[Row] = []
    for p, n in SIZES:
        for row in measure(p, n, options.graphs, options.seed):
            print(row, flush=True)
            rows.append(row)
    write_tables("ranks", rows)
    about = f"{options.graphs} random DAGs of degree {DEGREE:g} per row, one thread, seed {options.seed}."
    update_section(PAGE, "ranks", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def warned(rows: Floats) -> bool:
    """Return whether a table brings the warning."""
    return bool(profile_of(rows, range(rows.shape[1]), frozenset({"tails"})).notes)


def tails(options: argparse.Namespace) -> None:
    """Count how many tables bring the warning about tails."""
    rows: list[Row] = []
    for n, p in SHAPES:
        row: Row = {"n": n, "p": p}
        tables = max(10, min(options.tables, 40_000_000 // (n * p)))
        for name, draw in ORDINARY.items():
            count = 0
            for table in range(tables):
                generator = simulation_generator(f"tails {name} {n} {p}", options.seed, table)
                count += warned(draw(generator, (n, p)))
            row[name] = f"{count / tables:.1%}" if count else "0"
        for name, draw in HEAVY.items():
            counts = []
            for columns in (1, p):
                count = 0
                for table in range(tables):
                    generator = simulation_generator(f"tails {name} {n} {p}", options.seed, table)
                    values = generator.normal(size=(n, p))
                    values[:, :columns] = draw(generator, (n, columns))
                    count += warned(values)
                counts.append(f"{count / tables:.0%}")
            row[f"{name}, one column / all"] = " / ".join(counts)
        row["tables"] = tables
        print(row, flush=True)
        rows.append(row)
    write_tables("ranks_tails", rows)
    update_section(PAGE, "tails", f"{markdown(rows)}\n{provenance()}")


def stream(options: argparse.Namespace) -> None:
    """Measure how far correlations by ranks in a sample are from those by ranks among all rows."""
    rows: list[Row] = []
    n, p = 200_000, 10
    for kept in (1000, 10_000, 100_000):
        worst: dict[str, list[float]] = {"normal-scores": [], "spearman": []}
        for draw in range(options.graphs):
            generator = simulation_generator("ranks of a sample", options.seed, draw)
            true = random_dag(p, None, generator, degree=DEGREE)
            values = monotone(sample(linear_sem(true, generator), n, generator), generator)
            held = RowSample.of(kept, values)
            for name, transform in (("normal-scores", normal_scores), ("spearman", _as_it_is)):
                exact = CORRELATIONS[name].of_table(values, tuple(range(p)), Moments).correlation
                summary: Summary = held.scoring(transform)(values)
                in_sample: Any = CORRELATIONS[name]
                found = in_sample.of_summary(summary, tuple(range(p)), Moments).correlation
                worst[name].append(float(np.abs(found - exact).max()))
        row: Row = {"rows": n, "rows of the sample": kept}
        row |= {f"largest difference, {name}": float(f"{np.mean(found):.1g}") for name, found in worst.items()}
        row["error of sampling, 1/√n"] = float(f"{n**-0.5:.1g}")
        print(row, flush=True)
        rows.append(row)
    write_tables("ranks_stream", rows)
    about = f"Means over {options.graphs} data sets of {p} transformed columns."
    update_section(PAGE, "stream", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def _as_it_is(shares: Floats) -> Floats:
    return shares


PARTS = {"accuracy": accuracy, "tails": tails, "stream": stream}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=500)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--part", choices=PARTS, help="all unless given")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", NumericalWarning)
    warnings.simplefilter("ignore", DataWarning)
    for name, part in PARTS.items():
        if options.part in (None, name):
            part(options)


if __name__ == "__main__":
    main()
