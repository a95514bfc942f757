"""How long a bootstrap takes beside plain runs, what its runs gain by their start, and which frequent edges are true.

    python benchmarks/bootstrap.py [--only time|start|calibration] [--repeats 3] [--graphs 10] [--runs 100] [--seed 1]

Writes bootstrap_time.csv, bootstrap_start.csv and bootstrap_calibration.csv to benchmarks/results, and their sections
of docs/bootstrap.md.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from measurement import Work, alternate
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.frequencies import Bootstrap
from rfdag.graphs import cpdag
from rfdag.progress import Progress
from rfdag.refine.polish import Deadline
from rfdag.resampling import Sampling, drawn_moments, standardised
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag, standardise
from rfdag.whole import learn_whole

Row = dict[str, Any]
Graph = NDArray[np.int8]
PAGE = ROOT / "docs" / "bootstrap.md"
TARGET = 6.0
"""Times 20 plain runs that 200 runs of a bootstrap may take on two cores."""

BINS = ((0.9, 1.01), (0.5, 0.9), (0.1, 0.5))
"""Frequencies from one number up to, but without, the other."""

METHODS: dict[str, dict[str, Any]] = {
    "resample, corrected": {},
    "resample, as drawn": {"corrected": False},
    "subsample ½": {"method": "subsample"},
}


def measure_time(repeats: int, seed: int) -> None:
    """Compare 200 runs with 20 plain ones, which have all threads or one."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for degree in (2.0, 4.0):
        data = sample(linear_sem(random_dag(50, None, generator, degree=degree), generator), 1000, generator)

        def plain(threads: int | None, data: NDArray[np.float64] = data) -> Callable[[], object]:
            return lambda: [rfdag.learn(data, n_jobs=threads, progress=False) for _ in range(20)]

        contenders: dict[str, Work] = {
            "20 plain runs": plain(None),
            "20 plain runs, one thread": plain(1),
            "bootstrap, 200 runs": partial(rfdag.bootstrap, data, runs=200, progress=False),
        }
        # Compilation and the start of the workers are no part of it; both happen once.
        contenders["20 plain runs"]()
        rfdag.bootstrap(data, runs=4, progress=False)
        times = alternate(contenders, repeats, lambda name: print(name, flush=True), pause=0.2)
        took = times["bootstrap, 200 runs"]
        for name, seconds in times.items():
            row = {"degree": degree, "contender": name, "seconds": round(seconds, 2)}
            rows.append(row | {"bootstrap / this": round(took / seconds, 2)})
            print(rows[-1], flush=True)
    write_tables("bootstrap_time", rows)
    text = (
        f"{markdown(rows)}\n50 variables, 1000 rows, {os.cpu_count()} cores, medians of {repeats} turns; the target is "
        f"{TARGET:g} times 20 plain runs.\n\n{provenance()}"
    )
    update_section(PAGE, "bootstrap-time", text)


def measure_start(graphs: int, runs: int, seed: int) -> None:
    """Compare the scores and times of runs that start from the plain run's order with those of runs that do not."""
    rows: list[Row] = []
    for p, degree, samples in ((20, 3.0, 200), (50, 2.0, 1000), (50, 4.0, 1000), (50, 8.0, 1000), (30, 15.0, 500)):
        differences: list[float] = []
        seconds = {"with": 0.0, "without": 0.0}
        for graph in range(graphs):
            generator = np.random.default_rng([seed, p, int(degree), graph])
            sem = standardise(linear_sem(random_dag(p, None, generator, degree=degree), generator))
            data = sample(sem, samples, generator)
            for number in range(runs):
                scores = {}
                for which in random_order(seconds, generator):
                    scores[which], took = score_of_run(data, number, use_start=which == "with")
                    seconds[which] += took
                differences.append(scores["with"] - scores["without"])
        difference = np.array(differences)
        rows.append(
            {
                "variables": p,
                "degree": degree,
                "rows": samples,
                "runs": len(difference),
                "lower BIC with the start": int((difference < -1e-6).sum()),
                "the same": int((np.abs(difference) <= 1e-6).sum()),
                "higher": int((difference > 1e-6).sum()),
                "mean difference": round(float(difference.mean()), 2),
                "time with / without": round(seconds["with"] / seconds["without"], 2),
            }
        )
        print(rows[-1], flush=True)
    write_tables("bootstrap_start", rows)
    text = f"{markdown(rows)}\nResamples, corrected; γ = 0, so that scores can be compared.\n\n{provenance()}"
    update_section(PAGE, "bootstrap-start", text)


def random_order(names: Iterable[str], generator: np.random.Generator) -> list[str]:
    """Return names in random order, so that neither contender always comes first."""
    return [str(name) for name in generator.permutation(list(names))]


@cache
def plain_of(data: bytes, columns: int) -> rfdag.Result:
    """Return the plain run on rows, which many runs start from."""
    return rfdag.learn(np.frombuffer(data).reshape(-1, columns), gamma=0.0, progress=False)


def score_of_run(data: NDArray[np.float64], number: int, *, use_start: bool) -> tuple[float, float]:
    """Return the BIC of one run, and the seconds it took."""
    plain = plain_of(np.ascontiguousarray(data).tobytes(), data.shape[1])
    assert plain.moments is not None
    generator = np.random.default_rng(number)
    columns = generator.permutation(data.shape[1])
    moments = drawn_moments(standardised(data, plain.moments), plain.names, columns, Sampling(), generator)
    start = np.argsort(columns)[plain.causal_order] if use_start else None
    settings = replace(plain.settings, random_state=number)
    began = time.perf_counter()
    found = learn_whole(moments, settings, 1, Deadline(), Progress(False), None, start=start)
    assert found.score is not None
    return found.score, time.perf_counter() - began


def workloads(graphs: int, seed: int) -> Iterator[tuple[str, Graph, NDArray[np.float64]]]:
    """Yield kinds of graphs, graphs and rows."""
    kinds: dict[str, Callable[[np.random.Generator], Graph]] = {
        "random, degree 2": lambda generator: random_dag(20, None, generator, degree=2.0),
        "random, degree 4": lambda generator: random_dag(20, None, generator, degree=4.0),
        "scale-free": lambda generator: scale_free_dag(20, 2, generator),
    }
    for number, (kind, draw) in enumerate(kinds.items()):
        for samples in (200, 1000):
            for graph in range(graphs):
                generator = np.random.default_rng([seed, number, samples, graph])
                sem = standardise(linear_sem(draw(generator), generator))
                yield f"{kind}, n = {samples}", sem.dag, sample(sem, samples, generator)


def calibrate(graphs: int, runs: int, seed: int) -> None:
    """Tell, by method and frequency, which share of pairs and of compelled arrows is true."""
    counts: dict[tuple[str, str], NDArray[np.int64]] = {}
    for kind, true, data in workloads(graphs, seed):
        for name, options in METHODS.items():
            found = rfdag.bootstrap(data, runs=runs, random_state=seed, progress=False, **options)
            for label in (kind, "all"):
                key = (label, name)
                counts[key] = counts.get(key, np.zeros((len(BINS), 4), np.int64)) + tally(found, true)
        print(kind, flush=True)
    rows = [row_of(kind, name, counted) for (kind, name), counted in counts.items()]
    rows.sort(key=lambda row: row["graphs"] != "all")
    write_tables("bootstrap_calibration", rows)
    text = (
        f"{markdown(rows)}\n20 variables, {graphs} graphs of each kind and number of rows, {runs} runs a bootstrap. "
        f"Each cell is the share that is true, and of how many.\n\n{provenance()}"
    )
    update_section(PAGE, "bootstrap-calibration", text)


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
    """Return a row of the table."""
    row: Row = {"graphs": kind, "rows drawn": name}
    for what, at in (("edges", 0), ("arrows", 2)):
        for (low, high), entries in zip(BINS, counted, strict=True):
            right, every = entries[at : at + 2].tolist()
            title = f"{what} ≥ {low:g}" if high > 1 else f"{what} {low:g} – {high:g}"
            row[title] = f"{right / every:.3f} of {every}" if every else "none"
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["time", "start", "calibration"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.only in (None, "time"):
        measure_time(options.repeats, options.seed)
    if options.only in (None, "start"):
        measure_start(min(options.graphs, 4), min(options.runs, 25), options.seed)
    if options.only in (None, "calibration"):
        calibrate(options.graphs, options.runs, options.seed)


if __name__ == "__main__":
    main()
