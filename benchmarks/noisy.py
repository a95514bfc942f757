"""How good the orders and DAGs of the hard rules are on data, beside three rulers.

    python benchmarks/noisy.py [--graphs 100] [--seed 0]

Rulers: the DAG that the true order induces at the same level, the empty graph and the complete one. Writes
benchmarks/results/noisy.csv and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.eliminate import DenseEngine, FisherZ
from rfdag.eliminate.search import position_of
from rfdag.graphs import topological_order
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench.workloads import simulation_generator

Floats = NDArray[np.float64]
Graph = NDArray[np.int8]
Answer = tuple[Graph, NDArray[np.int64]]
ALPHA = 1e-3
SETTINGS = (
    ("degree 3", 50, 500, {"degree": 3.0}),
    ("degree 8", 100, 1000, {"degree": 8.0}),
    ("density 1/2", 20, 400, {"density": 0.5}),
    ("density 1/2", 40, 800, {"density": 0.5}),
)


def learned(**options: object) -> Callable[[Floats, Graph], Answer]:
    """Return a contender that calls `rfdag.learn`."""

    def answer(rows: Floats, true: Graph) -> Answer:
        found = rfdag.learn(rows, progress=False, **options)  # type: ignore[arg-type]
        return found.dag, np.array(found.order, dtype=np.int64)

    return answer


def of_true_order(rows: Floats, true: Graph) -> Answer:
    """Return the DAG that the true order induces at the same level."""
    order = topological_order(true)
    partial = rfdag.Moments.from_data(rows).partial_correlations()
    engine = DenseEngine(partial, FisherZ(len(rows), ALPHA))
    dag = np.zeros_like(true)
    for variable in order[::-1]:
        dag[engine.remove(position_of(engine, int(variable))).parents, variable] = 1
    return dag, order


def empty(rows: Floats, true: Graph) -> Answer:
    """Return no edge at all."""
    return np.zeros_like(true), np.arange(len(true))


def complete(rows: Floats, true: Graph) -> Answer:
    """Return every edge, in the order of the columns."""
    return np.triu(np.ones_like(true), 1), np.arange(len(true))


def draw(shape: str, p: int, n: int, size: dict[str, float], seed: int, graph: int) -> tuple[Graph, Floats]:
    """Return a random graph and rows drawn from it."""
    generator = simulation_generator(f"noisy {shape} {p}", seed, graph)
    true = random_dag(p, size.get("density"), generator, degree=size.get("degree"))
    return true, sample(linear_sem(true, generator), n, generator)


CONTENDERS: dict[str, Callable[[Floats, Graph], Answer]] = {
    "soft (default)": learned(),
    "soft, refine=False": learned(refine=False),
    "rfd": learned(method="rfd", alpha=ALPHA),
    "rfd, pairs=neighbours": learned(method="rfd", alpha=ALPHA, pairs="neighbours"),
    "rfd, depth=2": learned(method="rfd", alpha=ALPHA, depth=2),
    "min-degree": learned(method="min-degree", alpha=ALPHA),
    "true order": of_true_order,
    "empty graph": empty,
    "complete graph": complete,
}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for shape, p, n, size in SETTINGS:
        scores: dict[str, list[list[float]]] = {name: [] for name in CONTENDERS}
        for graph in range(options.graphs):
            true, data = draw(shape, p, n, size, options.seed, graph)
            for name, contender in CONTENDERS.items():
                dag, order = contender(data, true)
                skeleton = metrics.skeleton(true, dag)
                scores[name].append(
                    [
                        metrics.shd(true, dag),
                        skeleton.f1,
                        skeleton.tpr - skeleton.fpr,
                        metrics.order_error(true, order),
                    ]
                )
        for name, values in scores.items():
            shd, f1, balance, error = np.mean(values, axis=0)
            row = {"graphs": shape, "p": p, "n": n, "contender": name, "SHD": round(float(shd), 1)}
            row |= {
                "F1": round(float(f1), 3),
                "TPR − FPR": round(float(balance), 3),
                "order error": round(float(error), 3),
            }
            rows.append(row)
            print(row, flush=True)
    write_tables("noisy", rows)
    text = f"{markdown(rows)}\n{options.graphs} graphs per row.\n\n{provenance()}"
    update_section(ROOT / "docs" / "benchmarks.md", "noisy", text)


if __name__ == "__main__":
    main()
