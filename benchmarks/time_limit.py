"""Measure how long a call takes under a time limit, and what it returns.

    python benchmarks/time_limit.py [--data wide,dense,small] [--repeats 3] [--seed 1000]

Three kinds of data: 2000 columns and 300 rows of a graph of degree 4, 500 columns and 2500 rows of a dense graph (a
tenth of all pairs adjacent), 20 columns and 1000 rows. Every method runs under limits of 5, 10 and 30 seconds and is
timed from call to return, kernels compiled. Cells are kept in benchmarks/results/time_limit.csv, so that kinds of data
can be run one by one. Writes the table in docs/choosing.md from all of them.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.errors import NumericalWarning, TimeLimitError
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench.workloads import simulation_generator

LIMITS = (5.0, 10.0, 30.0)
SHRUNK = {"precision": "shrinkage"}


class Kind(NamedTuple):
    """A kind of data, and the calls that are timed on it."""

    p: int
    n: int
    density: float
    calls: dict[str, dict[str, Any]]


KINDS = {
    "wide": Kind(
        2000,
        300,
        4 / 1999,
        {
            "soft": {},
            "soft, shrinkage, beam 1": {"beam": 1, **SHRUNK},
            "rfd, shrinkage": {"method": "rfd", **SHRUNK},
            "gsp, shrinkage": {"method": "gsp", **SHRUNK},
            "min-degree, shrinkage": {"method": "min-degree", **SHRUNK},
        },
    ),
    "dense": Kind(
        500,
        2500,
        0.1,
        {
            "soft": {},
            "rfd": {"method": "rfd"},
            "rfd, refined": {"method": "rfd", "refine": True},
            "gsp": {"method": "gsp"},
            "min-fill": {"method": "min-fill"},
        },
    ),
    "small": Kind(20, 1000, 4 / 19, {"soft": {}, "rfd": {"method": "rfd"}, "gsp": {"method": "gsp"}}),
}


def drawn(name: str, seed: int, number: int) -> NDArray[np.float64]:
    """Return rows of a kind of data."""
    kind = KINDS[name]
    generator = simulation_generator(f"time limit {name}", seed, number)
    return sample(linear_sem(random_dag(kind.p, kind.density, generator), generator), kind.n, generator)


def called(rows: NDArray[np.float64], limit: float | None, options: dict[str, Any]) -> tuple[float, str]:
    """Return the seconds from call to return, and what came back, in words."""
    start = time.perf_counter()
    try:
        result = rfdag.learn(rows, time_limit=limit, progress=False, **options)
    except TimeLimitError as problem:
        enough = problem.message.template.split("Pass \x02time_limit=")[1].split("\x03")[0]
        return time.perf_counter() - start, f"error: {enough} s is enough"
    seconds = time.perf_counter() - start
    bic = "" if result.score is None else f", BIC {result.score:.0f}"
    return seconds, f"{int(result.dag.sum())} edges{bic}{', cut short' if result.interrupted else ''}"


def measure(name: str, call: str, limit: float | None, repeats: int, seed: int) -> dict[str, Any]:
    """Return the line of a table."""
    runs = [called(drawn(name, seed, number), limit, KINDS[name].calls[call]) for number in range(repeats)]
    times = [seconds for seconds, _ in runs]
    bound = None if limit is None else 1.1 * limit + 1
    row = {
        "p": KINDS[name].p,
        "n": KINDS[name].n,
        "method": call,
        "limit (s)": "–" if limit is None else f"{limit:g}",
        "median (s)": f"{statistics.median(times):.2f}",
        "longest (s)": f"{max(times):.2f}",
        "within 10 % + 1 s": "–" if bound is None else f"{sum(t <= bound for t in times)} of {repeats}",
        "returned (first run)": runs[0][1],
    }
    print(row, os.getloadavg(), flush=True)
    return row


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(KINDS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", NumericalWarning)
    path = RESULTS / "time_limit.csv"
    known: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            known = list(csv.DictReader(file))
    for name in options.data.split(","):
        kind = KINDS[name]
        for warming in kind.calls.values():
            rfdag.learn(drawn("small", options.seed, 0), progress=False, **warming)
        known = [row for row in known if int(row["p"]) != kind.p]
        for call in kind.calls:
            for limit in (None, *LIMITS) if name == "small" else LIMITS:
                known.append(measure(name, call, limit, options.repeats, options.seed))
        sizes = [each.p for each in KINDS.values()]
        known.sort(key=lambda row: sizes.index(int(row["p"])))
        write_tables("time_limit", known)
    load = f"Load average of the machine: {os.getloadavg()[1]:.1f}."
    update_section(ROOT / "docs" / "choosing.md", "time-limit", f"{markdown(known)}\n{provenance()}\n{load}\n")


if __name__ == "__main__":
    main()
