"""Learning with knowledge, compared with deleting forbidden edges afterwards.

    python benchmarks/knowledge.py [--graphs 20] [--seed 1]

Writes benchmarks/results/knowledge.csv and its section of docs/knowledge.md. Scores are plain BICs of the whole DAG,
n Σ ln var(y | parents) + 2 ln n for each edge, computed here from regressions and not by the search.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import Knowledge, metrics
from rfdag.graphs import find_cycle, topological_order
from rfdag.simulate import linear_sem, random_dag, sample, standardise

Row = dict[str, Any]
Graph = NDArray[np.int8]
PAGE = ROOT / "docs" / "knowledge.md"
SIZES = ((10, 3.0, 200), (10, 3.0, 1000), (50, 4.0, 500), (100, 4.0, 1000))
"""Variables, degree and rows."""
TIERS = 4


def bic(data: NDArray[np.float64], dag: Graph) -> float:
    """Return n Σ ln var(y | parents) + 2 ln n for each edge, over standardised columns."""
    rows = (data - data.mean(axis=0)) / data.std(axis=0)
    total = 2 * math.log(len(rows)) * int(dag.sum())
    for y in range(rows.shape[1]):
        parents = rows[:, dag[:, y] != 0]
        fit = np.linalg.lstsq(parents, rows[:, y], rcond=None)[0] if parents.shape[1] else np.zeros(0)
        total += len(rows) * math.log(np.mean((rows[:, y] - parents @ fit) ** 2))
    return total


def true_tiers(true: Graph, found: Graph, generator: np.random.Generator) -> Knowledge:
    """Return the true order, cut into tiers."""
    return Knowledge(tiers=[part.tolist() for part in np.array_split(topological_order(true), TIERS)])


def a_third_forbidden(true: Graph, found: Graph, generator: np.random.Generator) -> Knowledge:
    """Return knowledge, mostly false, that forbids a third of the edges found without it."""
    edges = np.argwhere(found)
    chosen = generator.choice(len(edges), max(1, len(edges) // 3), replace=False)
    return Knowledge(forbidden=[(int(source), int(target)) for source, target in edges[chosen]])


KINDS: dict[str, Callable[[Graph, Graph, np.random.Generator], Knowledge]] = {
    f"{TIERS} true tiers": true_tiers,
    "a third of the edges forbidden": a_third_forbidden,
}


def reversed_or_deleted(dag: Graph, allowed: NDArray[np.bool_]) -> Graph:
    """Return a DAG whose forbidden edges are reversed where that is allowed and creates no cycle, else deleted."""
    graph = dag * allowed
    for source, target in np.argwhere(dag * ~allowed):
        if allowed[target, source]:
            graph[target, source] = 1
            if find_cycle(graph):
                graph[target, source] = 0
    return graph


def measure(kind: str, size: tuple[int, float, int], graphs: int, seed: int) -> Row:
    """Compare learning with knowledge, deleting what it forbids, and doing without it, over several graphs."""
    p, degree, samples = size
    costs, errors = [], []
    for graph in range(graphs):
        generator = np.random.default_rng([seed, p, samples, graph])
        sem = standardise(linear_sem(random_dag(p, None, generator, degree=degree), generator))
        data = sample(sem, samples, generator)
        without = rfdag.learn(data, gamma=0.0, progress=False)
        known = KINDS[kind](sem.dag, without.dag, generator)
        using = rfdag.learn(data, gamma=0.0, knowledge=known, progress=False)
        assert all(record.holds for record in using.compliance)
        allowed = np.asarray(known.constraints(range(p)).allowed)
        before = bic(data, without.dag)
        afterwards = (without.dag * allowed, reversed_or_deleted(without.dag, allowed))
        costs.append([bic(data, dag) - before for dag in (using.dag, *afterwards)])
        errors.append([metrics.order_error(sem.dag, each.causal_order) for each in (using, without)])
    cost, error = np.array(costs), np.array(errors)
    return {
        "knowledge": kind,
        "variables": p,
        "rows": samples,
        "BIC, learned with it": round(float(cost[:, 0].mean()), 1),
        "BIC, edges deleted": round(float(cost[:, 1].mean()), 1),
        "BIC, edges reversed or deleted": round(float(cost[:, 2].mean()), 1),
        "learned is best": f"{int((cost[:, 0] <= cost[:, 1:].min(axis=1) + 1e-6).sum())} of {graphs}",
        "order error, with it": round(float(np.nanmean(error[:, 0])), 3),
        "without": round(float(np.nanmean(error[:, 1])), 3),
    }


def rows_of(graphs: int, seed: int) -> Iterator[Row]:
    """Yield the rows of the table."""
    for kind in KINDS:
        for size in SIZES:
            row = measure(kind, size, graphs, seed)
            print(row, flush=True)
            yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    rows = list(rows_of(options.graphs, options.seed))
    write_tables("knowledge", rows)
    update_section(PAGE, "knowledge", f"{markdown(rows)}\n{options.graphs} random DAGs per row.\n\n{provenance()}")


if __name__ == "__main__":
    main()
