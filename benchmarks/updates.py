"""Time an elimination that updates an estimate after each removal against one that estimates everything again.

    python benchmarks/updates.py [--sizes 100,200,500] [--estimators nodewise,clime] [--repeats 3] [--seed 1000]

Random DAGs of degree 4 with n = p rows, variables removed by least degree. Nodewise lasso: the whole elimination, by
updates (columns in which the removed variable has an entry are solved again, from where they were) and from scratch
(after each removal all columns are solved again). CLIME: 20 removals spread over the elimination; from scratch is the
time of 20 columns, scaled to all that remain. Both ways use the same solver; from-scratch solutions of the lasso are
compared with the updated ones. The floor is one inverse of the correlation matrix.

Cells are kept in benchmarks/results/updates.csv, so that estimators and sizes can be run one by one. Writes the table
in docs/precision.md from all of them.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.eliminate import eliminate
from rfdag.eliminate.engines.columns import Column, Columns, ColumnsEngine
from rfdag.evidence.columns import ByColumns
from rfdag.evidence.moments import Moments
from rfdag.precision.clime import Clime
from rfdag.precision.estimator import Estimator, Request
from rfdag.precision.nodewise import Nodewise
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench.workloads import simulation_generator

DEGREE = 4.0
SAMPLED = 20
"""Removals, and columns at each, that CLIME is timed on."""
ESTIMATORS: dict[str, Estimator] = {each.name: each for each in (Nodewise(), Clime())}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that work takes, and what it returns."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def started(estimator: Estimator, p: int, seed: int, number: int) -> tuple[Moments, ByColumns]:
    """Return moments of drawn rows, and their estimate."""
    generator = simulation_generator(f"updates {p}", seed, number)
    rows = sample(linear_sem(random_dag(p, None, generator, degree=DEGREE), generator), p, generator)
    moments = Moments.from_data(rows)
    estimate = estimator(moments, Request(2.0, 0.25, by_columns=True)).by_columns
    assert estimate is not None
    return moments, estimate


def again(solver: Columns, remaining: NDArray[np.int64], most: int) -> dict[int, Column]:
    """Return the columns of up to ``most`` remaining variables, spread over all, solved from nothing."""
    some = np.unique(np.linspace(0, len(remaining) - 1, min(most, len(remaining))).astype(int))
    return {int(j): solver.solve(int(j), remaining[remaining != j]) for j in remaining[some]}


def furthest(engine: ColumnsEngine, scratch: dict[int, Column]) -> float:
    """Return the largest difference between updated columns and those from scratch."""
    worst = 0.0
    for j, column in scratch.items():
        difference = dict(zip(column.support.tolist(), column.values.tolist(), strict=True))
        updated = engine.column(j)
        for at, value in zip(updated.support.tolist(), updated.values.tolist(), strict=True):
            difference[at] = difference.get(at, 0.0) - value
        worst = max(worst, max(map(abs, difference.values()), default=0.0))
    return worst


def replayed(estimator: Estimator, p: int, steps: Sequence[int], seed: int, number: int) -> dict[str, float]:
    """Return the seconds that the removals at ``steps`` take both ways, the variable of least degree first."""
    moments, estimate = started(estimator, p, seed, number)
    engine = estimate.engine("all")
    most = p if isinstance(estimator, Nodewise) else SAMPLED
    seconds = {"updates": 0.0, "scratch": 0.0, "difference": 0.0, "columns": 0.0}
    for step in range(p - 1):
        position = int(engine.degrees().argmin())
        variable = int(engine.remaining[position])
        solved = np.count_nonzero([variable in engine.column(int(j)).support for j in engine.remaining])
        took, _ = timed(lambda at=position: engine.remove(at))  # type: ignore[misc]
        if step in steps:
            seconds["updates"] += took
            seconds["columns"] += solved
            took, scratch = timed(lambda: again(estimate.solver, engine.remaining, most))
            seconds["scratch"] += took * len(engine.remaining) / len(scratch)
            if isinstance(estimator, Nodewise):
                seconds["difference"] = max(seconds["difference"], furthest(engine, scratch))
    seconds["floor"], _ = timed(lambda: np.linalg.inv(moments.correlation + 0.1 * np.eye(p)))
    return seconds


def measure(estimator: Estimator, p: int, repeats: int, seed: int) -> dict[str, Any]:
    """Return the line of a table."""
    every = range(p - 1)
    steps = every if isinstance(estimator, Nodewise) else np.linspace(0, p - 2, SAMPLED).astype(int).tolist()
    runs = [replayed(estimator, p, steps, seed, number) for number in range(repeats)]

    def median(name: str) -> float:
        return statistics.median(run[name] for run in runs)

    row: dict[str, Any] = {
        "estimator": estimator.name,
        "p": p,
        "removals": len(steps),
        "columns solved again per removal": round(float(median("columns")) / len(steps), 1),
        "by updates (s)": float(f"{median('updates'):.2g}"),
        "from scratch (s)": float(f"{median('scratch'):.3g}"),
        "ratio": round(statistics.median(run["scratch"] / run["updates"] for run in runs)),
        "one inverse (s)": float(f"{median('floor'):.1g}"),
        "largest difference": float(f"{max(run['difference'] for run in runs):.0e}") if steps is every else "–",
    }
    if steps is every:
        _, estimate = started(estimator, p, seed, 0)
        row["whole rfd elimination (s)"] = float(f"{timed(lambda: eliminate(estimate.engine('all'), 'rfd'))[0]:.2g}")
    else:
        row["whole rfd elimination (s)"] = "–"
    print(row, flush=True)
    return row


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,200,500")
    parser.add_argument("--estimators", default=",".join(ESTIMATORS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    path = RESULTS / "updates.csv"
    known: dict[tuple[str, int], dict[str, Any]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            known = {(row["estimator"], int(row["p"])): row for row in csv.DictReader(file)}
    with one_blas_thread():
        for name in options.estimators.split(","):
            for p in map(int, options.sizes.split(",")):
                repeats = options.repeats if name == Nodewise.name or p <= 200 else 1
                known[name, p] = measure(ESTIMATORS[name], p, repeats, options.seed)
                rows = [known[key] for key in sorted(known, key=lambda key: (list(ESTIMATORS).index(key[0]), key[1]))]
                write_tables("updates", rows)
    update_section(ROOT / "docs" / "precision.md", "updates", f"{markdown(rows)}\n{provenance()}\n")


if __name__ == "__main__":
    main()
