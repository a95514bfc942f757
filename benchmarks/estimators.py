"""Compare the estimators of partial correlations where rows are few and where they are many, beside other packages.

    python benchmarks/estimators.py [--graphs 3] [--seed 1000] [--rows 50,100,200,400,2000] [--estimators sample,clime]

Random DAGs of 200 variables, four expected neighbours, columns shuffled and standardised. For each estimator: the share
of the truth's directed edges that the order places backwards, F1 of the skeleton before and after refinement, and the
median time of the whole and of the estimate alone, on one thread. Peers run in the environments that `make peers`
makes; those that are not installed keep the cells measured before. Cells are kept in
benchmarks/results/estimators.jsonl; those of rfdag count only for the sources they were measured with.

Seed 1000 is reported. `--seed 21` draws the data that the choice of ``precision="auto"`` was made on; nothing is
written then, the table is printed.

Writes benchmarks/results/estimators.csv and the table in docs/precision.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import rfdag
from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.errors import RfdagError
from rfdag.evidence.moments import Moments
from rfdag.precision.estimation import ESTIMATORS
from rfdag.precision.estimator import Request
from rfdag.runtime.progress import Progress
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench import harness
from rfdag.studies.bench.cells import Ledger
from rfdag.studies.bench.environments import FOLDER
from rfdag.studies.bench.workloads import Drawn, Workload
from rfdag.version import own_version

P, DEGREE = 200, 4
ROWS = (50, 100, 200, 400, 2000)
REPORTED = 1000
PEERS = ("flop-0", "flop-20", "tetrad-boss", "tetrad-fges", "tetrad-pc")
LIMIT = 60.0
SLOW = ("clime", "graphical-lasso")


def workload(n: int) -> Workload:
    """Return the draw of the graphs with n rows."""

    def source(generator: np.random.Generator) -> Drawn:
        sem = linear_sem(random_dag(P, rng=generator, degree=DEGREE), generator)
        return Drawn(sem.dag, sample(sem, n, generator))

    return Workload(f"estimators-p{P}-n{n}", "estimators", f"degree {DEGREE}", P, n, source)


def measured(drawn: Drawn, estimator: str) -> dict[str, Any]:
    """Return the scores of one estimator on one data set; why there are none, if it cannot be used there."""
    assert drawn.true is not None
    # The estimate of the first run serves the second, which only shows the order before refinement.
    chosen = remembered(ESTIMATORS[estimator]) if estimator in SLOW else estimator
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.perf_counter()
            after = rfdag.learn(drawn.rows, precision=chosen, n_jobs=1, progress=False)
            seconds = time.perf_counter() - begin
            before = rfdag.learn(drawn.rows, precision=chosen, refine=False, n_jobs=1, progress=False)
    except RfdagError as problem:
        return {"failure": str(problem)}
    return {
        "order before": metrics.order_error(drawn.true, before.causal_order),
        "F1 before": metrics.skeleton(drawn.true, before.dag).f1,
        "order after": metrics.order_error(drawn.true, after.causal_order),
        "F1 after": metrics.skeleton(drawn.true, after.dag).f1,
        "BIC": after.score,
        "seconds": seconds,
        "estimating": after.timings["precision"],
    }


def remembered(estimator: Callable[[Moments, Request], Moments]) -> Callable[[Moments, Request], Moments]:
    """Return the estimator with a memory of its one estimate."""
    known: list[Moments] = []

    def once(moments: Moments, request: Request) -> Moments:
        if not known:
            known.append(estimator(moments, request))
        return known[0]

    return once


class Cells:
    """What was measured, one JSON line each, so that an interrupted run goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._known = {tuple(key): scores for key, scores in map(json.loads, lines)}

    def get(self, drawn: Drawn, n: int, seed: int, graph: int, estimator: str) -> dict[str, Any]:
        """Return the scores of a cell, measured now unless they are known."""
        key = (n, seed, graph, estimator, own_version())
        if key not in self._known:
            self._known[key] = measured(drawn, estimator)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known[key]


def row(n: int, name: str, cells: list[dict[str, Any]], graphs: int) -> dict[str, object]:
    """Return the line of a table for one contender."""
    good = [cell for cell in cells if not cell.get("failure")]

    def mean(score: str) -> object:
        values = [cell[score] for cell in good if cell.get(score) is not None]
        return round(float(np.mean(values)), 3) if values else "–"

    def median(score: str) -> object:
        values = [cell[score] for cell in good if cell.get(score) is not None]
        return float(f"{statistics.median(values):.2g}") if values else "–"

    counted = f"{len(good)} of {graphs}" if len(good) < graphs else graphs
    return {
        "n": n, "estimator": name, "graphs": counted,
        "order error before": mean("order before"), "F1 before": mean("F1 before"),
        "order error after": mean("order after"), "F1 after": mean("F1 after"),
        "time (s)": median("seconds"), "estimating (s)": median("estimating"),
    }  # fmt: skip


def of_peers(load: Workload, graphs: int, seed: int, ledger: Ledger) -> Iterable[dict[str, object]]:
    """Return the lines of the peers that finish."""
    settings = harness.Settings(LIMIT, seed, graphs, ROOT / FOLDER)
    with Progress() as progress:
        found = harness.compare([load], PEERS, settings, ledger, progress)
    for name in PEERS:
        cells = [cell for cell in found[load.name] if cell.key.contender == name and not cell.failure]
        if cells:
            scores = [{"F1 after": cell.f1, "seconds": cell.seconds} for cell in cells]
            yield row(load.n, name, scores, graphs)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=REPORTED)
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--estimators", default=",".join(["auto", *ESTIMATORS]))
    options = parser.parse_args()
    kept = Cells(RESULTS / "estimators.jsonl")
    ledger = Ledger(RESULTS / "estimators_peers.jsonl")
    names = options.estimators.split(",")
    rfdag.learn(workload(50).draw(77, 0).rows[:, :10], progress=False)
    table: list[dict[str, object]] = []
    for n in map(int, options.rows.split(",")):
        load = workload(n)
        cells: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for graph in range(options.graphs):
            drawn = load.draw(options.seed, graph)
            for name in names:
                cells[name].append(kept.get(drawn, n, options.seed, graph, name))
                print(n, graph, name, cells[name][-1], flush=True)
        table += [row(n, name, cells[name], options.graphs) for name in names]
        if options.seed == REPORTED:
            table += of_peers(load, options.graphs, options.seed, ledger)
    if options.seed == REPORTED and options.rows == parser.get_default("rows"):
        write_tables("estimators", table)
        update_section(ROOT / "docs" / "precision.md", "estimators", markdown(table) + "\n" + provenance() + "\n")
    else:
        print(markdown(table))


if __name__ == "__main__":
    main()
