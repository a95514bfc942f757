"""The default on dense graphs with few rows, where finding the order is hard, beside the true order.

    python benchmarks/frontier.py [--graphs 20] [--seed 31000]

Writes benchmarks/results/frontier.csv and its section of docs/benchmarks.md. Settings and widths were chosen on seeds
20 to 34, 5000 to 5045, 7000, 7030, 7032, 7036, 8030 and 8034, which this script must not draw. The true order has its
parents chosen by the same BIC; a difference above zero means that the search missed something, one below zero that the
score prefers another DAG to the true one.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.evidence.local import SharedMoments
from rfdag.graphs import topological_order
from rfdag.orders.scores import ScoredOrder
from rfdag.simulate import LinearSEM, linear_sem, random_dag, sample, standardise

Row = dict[str, Any]
Floats = NDArray[np.float64]
PAGE = ROOT / "docs" / "benchmarks.md"
DENSITY = 0.5
LOST = 60.0
"""How much worse than the truth's a BIC is where the search has lost its way, rather than missed a detail."""


def plain(sem: LinearSEM) -> LinearSEM:
    """Return the model as it is: later variables have more of their variance explained."""
    return sem


def level(sem: LinearSEM) -> LinearSEM:
    """Return the model with half the variance of every variable explained by its parents, so that R² tells nothing."""
    return standardise(sem, r2=0.5)


WORKLOADS: tuple[tuple[int, int, str, Callable[[LinearSEM], LinearSEM]], ...] = (
    (50, 500, "plain", plain),
    (40, 800, "plain", plain),
    (30, 300, "plain", plain),
    (50, 500, "R² = ½", level),
    (40, 800, "R² = ½", level),
    (20, 400, "plain", plain),
    (20, 40, "plain", plain),
)
"""Variables, rows, and the kind of model."""


def along(order: Iterable[Any], rows: Floats) -> ScoredOrder:
    """Return an order with its parents and BIC."""
    moments = SharedMoments(np.asarray(np.corrcoef(rows.T)), n_samples=len(rows))
    return ScoredOrder(moments, np.array([int(variable) for variable in order]))


def measure(p: int, n: int, change: Callable[[LinearSEM], LinearSEM], seed: int) -> dict[str, tuple[float, ...]]:
    """Return SHD, F1, the seconds and how much worse the BIC is than the truth's: of the default and the true order."""
    generator = np.random.default_rng([seed, p, n])
    sem = change(linear_sem(random_dag(p, DENSITY, generator), generator))
    rows = sample(sem, n, generator)
    start = time.perf_counter()
    found = rfdag.learn(rows, progress=False)
    seconds = time.perf_counter() - start
    truth = along(topological_order(sem.dag), rows)
    behind = along(found.order, rows).total - truth.total
    return {
        "default": (metrics.shd(sem.dag, found.dag), metrics.skeleton(sem.dag, found.dag).f1, seconds, behind),
        "true order": (metrics.shd(sem.dag, truth.dag), metrics.skeleton(sem.dag, truth.dag).f1, 0.0, 0.0),
    }


def rows_of(graphs: int, seed: int) -> Iterator[Row]:
    """Yield the rows of the table."""
    for p, n, model, change in WORKLOADS:
        measured = [measure(p, n, change, seed + graph) for graph in range(graphs)]
        for contender in ("default", "true order"):
            shd, f1, seconds, behind = zip(*(graph[contender] for graph in measured), strict=True)
            row = {
                "p": p,
                "n": n,
                "model": model,
                "contender": contender,
                "SHD": f"{fmean(shd):.1f} ± {stdev(shd) / math.sqrt(graphs):.1f}",
                "median": f"{median(shd):.0f}",
                "worst": f"{max(shd):.0f}",
                "F1": f"{fmean(f1):.3f}",
                "least F1": f"{min(f1):.3f}",
                "BIC − truth's": "" if contender == "true order" else f"{fmean(behind):.0f}",
                "worse than the truth": ""
                if contender == "true order"
                else f"{sum(b > 1 for b in behind)} of {graphs}",
                "by more than 60": "" if contender == "true order" else f"{sum(b > LOST for b in behind)} of {graphs}",
                "seconds": "" if contender == "true order" else f"{median(seconds):.2f}",
                "most seconds": "" if contender == "true order" else f"{max(seconds):.1f}",
            }
            print(row, flush=True)
            yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=31000)
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiled before anything is timed.
        measure(25, 250, plain, options.seed - 1)
        rows = list(rows_of(options.graphs, options.seed))
    write_tables("frontier", rows)
    update_section(PAGE, "frontier", f"{markdown(rows)}\n{options.graphs} graphs a row.\n\n{provenance()}")


if __name__ == "__main__":
    main()
