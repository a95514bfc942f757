"""How long a bootstrap takes beside plain runs, what wider beams would change, and which frequent edges are true.

    python benchmarks/bootstrap.py [--only time|beams|calibration|schemes] [--repeats 3] [--graphs 10] [--runs 50]
                                   [--seed 32061]

Writes bootstrap_time.csv, bootstrap_beams.csv, bootstrap_calibration.csv (the default way of drawing rows, sparse and
dense graphs) and bootstrap_schemes.csv (all ways, sparse graphs) to benchmarks/results, and their sections of
docs/bootstrap.md.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from measurement import Work, alternate
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.bootstrapping.resampling import Sampling, drawn_moments, standardised
from rfdag.graphs import cpdag
from rfdag.methods.run import Run
from rfdag.orders.tuning import NARROWEST_BEAM
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag, standardise

Row = dict[str, Any]
Graph = NDArray[np.int8]
PAGE = ROOT / "docs" / "bootstrap.md"
DATA_SETS = 4
"""Data sets of each degree that times are measured on."""
TARGET = 6.0
"""Times 20 plain runs that 200 runs of a bootstrap may take on two cores."""

P = 20
"""Variables of the graphs on which frequencies are compared with the truth."""

SPARSE, DENSE = "all sparse graphs", "all dense graphs"
"""Groups of kinds of graphs: up to four neighbours of a variable, and eight or more."""

BINS = ((0.9, 1.01), (0.5, 0.9), (0.1, 0.5))
"""Frequencies from one number up to, but without, the other."""

SAMPLINGS: dict[str, dict[str, Any]] = {
    "resample, corrected": {},
    "resample, as drawn": {"corrected": False},
    "subsample ½": {"sampling": "subsample"},
}


def measure_time(repeats: int, seed: int) -> None:
    """Compare 200 runs with 20 plain ones, which have all threads or one, on several data sets."""
    rows: list[Row] = []
    for degree in (2.0, 4.0):
        for number in range(DATA_SETS):
            generator = np.random.default_rng([seed, int(degree), number])
            data = sample(linear_sem(random_dag(50, None, generator, degree=degree), generator), 1000, generator)
            rows.append({"degree": degree, "data set": number + 1, **time_of(data, repeats)})
            print(rows[-1], flush=True)
    write_tables("bootstrap_time", rows)
    worst = max(row["bootstrap / plain"] for row in rows)
    middle = float(np.median([row["bootstrap / plain"] for row in rows]))
    text = (
        f"{markdown(rows)}\n50 variables, 1000 rows, {os.cpu_count()} cores; seconds, medians of {repeats} runs. "
        f"The target is {TARGET:g} times 20 plain runs; the median is {middle:.1f} and the worst {worst:.1f}.\n\n"
        f"{provenance()}"
    )
    update_section(PAGE, "bootstrap-time", text)


def time_of(data: NDArray[np.float64], repeats: int) -> Row:
    """Return the seconds that plain runs and a bootstrap take, and their ratio."""

    def plain(threads: int | None) -> Work:
        return lambda: [rfdag.learn(data, n_jobs=threads, progress=False) for _ in range(20)]

    contenders: dict[str, Work] = {
        "20 plain runs": plain(None),
        "20 plain runs, one thread": plain(1),
        "bootstrap, 200 runs": partial(rfdag.bootstrap, data, runs=200, progress=False),
    }
    # Compilation and the start of the workers are no part of it; both happen once.
    rfdag.bootstrap(data, runs=4, progress=False)
    times = alternate(contenders, repeats, lambda name: None, pause=0.2)
    ratio = times["bootstrap, 200 runs"] / times["20 plain runs"]
    return {name: round(seconds, 2) for name, seconds in times.items()} | {"bootstrap / plain": round(ratio, 2)}


def measure_beams(graphs: int, runs: int, seed: int) -> None:
    """Compare runs whose beams have one width with those whose beams are widened, as a plain run's are."""
    rows: list[Row] = []
    for p, degree, samples in ((20, 3.0, 200), (30, 3.0, 100), (50, 2.0, 1000), (50, 4.0, 1000), (30, 15.0, 500)):
        narrow, wide = Tally(), Tally()
        for graph in range(graphs):
            generator = np.random.default_rng([seed, p, int(degree), graph])
            sem = standardise(linear_sem(random_dag(p, None, generator, degree=degree), generator))
            data = sample(sem, samples, generator)
            plain = rfdag.learn(data, gamma=0.0, progress=False)
            for number in range(runs):
                for tally, width in ((narrow, NARROWEST_BEAM), (wide, "auto")):
                    tally.run(plain, data, number, rfdag.Soft(gamma=0.0, beam=width))  # type: ignore[arg-type]
        difference = np.array(narrow.scores) - np.array(wide.scores)
        rows.append(
            {
                "variables": p,
                "degree": degree,
                "rows": samples,
                "runs": len(difference),
                "same BIC": int((np.abs(difference) <= 1e-6).sum()),
                "lower": int((difference < -1e-6).sum()),
                "higher": int((difference > 1e-6).sum()),
                "mean difference": round(float(difference.mean()), 2),
                "plain run's arrows": round(float(np.mean(narrow.agreement)), 3),
                "with wider beams": round(float(np.mean(wide.agreement)), 3),
                "time, narrow / wide": round(narrow.seconds / wide.seconds, 2),
            }
        )
        print(rows[-1], flush=True)
    write_tables("bootstrap_beams", rows)
    text = f"{markdown(rows)}\nResamples, corrected; γ = 0, so that scores can be compared.\n\n{provenance()}"
    update_section(PAGE, "bootstrap-beams", text)


class Tally:
    """What runs of one kind scored, which share of the plain run's arrows each had, and how long they took together."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.agreement: list[float] = []
        self.seconds = 0.0

    def run(self, plain: rfdag.Result, data: NDArray[np.float64], number: int, method: rfdag.Soft) -> None:
        """Add one run on a resample of the data."""
        assert plain.moments is not None
        # As a bootstrap does it: the search gets a seed of its own, or it would draw what the resample was drawn from.
        generator = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(number,)))
        columns = np.arange(data.shape[1])
        moments = drawn_moments(standardised(data, plain.moments), plain.names, columns, Sampling(), generator)
        began = time.perf_counter()
        found = method.learn(moments, Run(random_state=int(generator.integers(2**31))))
        self.seconds += time.perf_counter() - began
        assert found.score is not None
        arrows = plain.cpdag == 1
        self.scores.append(found.score)
        self.agreement.append(float((cpdag(found.dag) == 1)[arrows].mean()) if arrows.any() else 1.0)


def workloads(graphs: int, seed: int) -> Iterator[tuple[str, str, Graph, NDArray[np.float64]]]:
    """Yield groups and kinds of graphs, graphs and rows."""
    kinds: dict[tuple[str, str], Callable[[np.random.Generator], Graph]] = {
        (SPARSE, "random, degree 2"): lambda generator: random_dag(P, None, generator, degree=2.0),
        (SPARSE, "random, degree 4"): lambda generator: random_dag(P, None, generator, degree=4.0),
        (SPARSE, "scale-free"): lambda generator: scale_free_dag(P, 2, generator),
        (DENSE, "random, degree 8"): lambda generator: random_dag(P, None, generator, degree=8.0),
        (DENSE, "random, half of all pairs"): lambda generator: random_dag(P, None, generator, degree=(P - 1) / 2),
    }
    for number, ((group, kind), draw) in enumerate(kinds.items()):
        for samples in (200, 1000):
            for graph in range(graphs):
                generator = np.random.default_rng([seed, number, samples, graph])
                sem = standardise(linear_sem(draw(generator), generator))
                yield group, f"{kind}, n = {samples}", sem.dag, sample(sem, samples, generator)


def calibrate(graphs: int, runs: int, seed: int, section: str, samplings: Sequence[str], groups: Sequence[str]) -> None:
    """Report, by sampling and frequency, which share of pairs and of compelled arrows is true."""
    counts: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
    for group, kind, true, data in workloads(graphs, seed):
        if group not in groups:
            continue
        for name in samplings:
            counted = tally(rfdag.bootstrap(data, runs=runs, progress=False, **SAMPLINGS[name]), true)
            for label in (group, kind):
                counts.setdefault((label, name), []).append(counted)
        print(kind, flush=True)
    rows = [row_of(kind, name, np.array(counted)) for (kind, name), counted in counts.items()]
    rows.sort(key=lambda row: row["graphs"] not in (SPARSE, DENSE))
    write_tables(f"bootstrap_{section}", rows)
    text = (
        f"{markdown(rows)}\n{P} variables, {graphs} graphs of each kind and number of rows, {runs} runs per bootstrap, "
        f"seed {seed}. Each cell shows the share that is true with its standard error over graphs, and the number that "
        f"it is a share of; the last column, the least share in one graph.\n\n{provenance()}"
    )
    update_section(PAGE, f"bootstrap-{section}", text)


def tally(found: Bootstrap, true: Graph) -> NDArray[np.int64]:
    """Return, per bin, true and all pairs, then true and all compelled arrows."""
    upper = np.triu(np.ones(true.shape, bool), 1)
    joined, arrows = (true + true.T) > 0, cpdag(true) == 1
    table = []
    for low, high in BINS:
        often = upper & _within(found.edge_frequency, low, high)
        directed = _within(found.compelled_frequency, low, high)
        table.append([(often & joined).sum(), often.sum(), (directed & arrows).sum(), directed.sum()])
    return np.array(table)


def _within(frequency: NDArray[np.float64], low: float, high: float) -> NDArray[np.bool_]:
    # Frequencies are quotients of whole numbers; rounding must not move them over an edge.
    inside: NDArray[np.bool_] = (frequency >= low - 1e-9) & (frequency < high - 1e-9)
    return inside


def row_of(kind: str, name: str, counted: NDArray[np.int64]) -> Row:
    """Return a row of the table from the counts of each graph."""
    row: Row = {"graphs": kind, "rows drawn": name}
    for what, at in (("edges", 0), ("arrows", 2)):
        for number, (low, high) in enumerate(BINS):
            right, every = counted[:, number, at], counted[:, number, at + 1]
            title = f"{what} ≥ {low:g}" if high > 1 else f"{what} {low:g} – {high:g}"
            row[title] = share_of(right, every)
    right, every = counted[:, 0, 2], counted[:, 0, 3]
    row["arrows ≥ 0.9, worst graph"] = f"{(right[every > 0] / every[every > 0]).min():.2f}" if every.any() else "none"
    return row


def share_of(right: NDArray[np.int64], every: NDArray[np.int64]) -> str:
    """Return a share over all graphs in words, with its standard error: what is found in one graph is dependent."""
    if not every.any():
        return "none"
    share = right.sum() / every.sum()
    graphs = len(every)
    error = np.sqrt(graphs / max(graphs - 1, 1) * ((right - share * every) ** 2).sum()) / every.sum()
    return f"{share:.3f} ± {error:.3f} of {every.sum()}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["time", "beams", "calibration", "schemes"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=32061)
    options = parser.parse_args(arguments)
    if options.only in (None, "time"):
        measure_time(options.repeats, options.seed)
    if options.only in (None, "beams"):
        measure_beams(min(options.graphs, 4), min(options.runs, 25), options.seed)
    if options.only in (None, "calibration"):
        usual = list(SAMPLINGS)[:1]
        calibrate(options.graphs, options.runs, options.seed, "calibration", usual, (SPARSE, DENSE))
    if options.only in (None, "schemes"):
        calibrate(options.graphs, options.runs, options.seed, "schemes", list(SAMPLINGS), (SPARSE,))


if __name__ == "__main__":
    main()
