"""Many columns and few rows: `learn` beside a product of matrices, the search of the whole, and a network.

    python benchmarks/wide.py [--sizes 1000x300,2000x300,5000x500,20000x500] [--graphs 1] [--contenders rfdag,whole]

Graphs are one connected component or nearly so: Erdős–Rényi DAGs of average degree 4, or scale-free ones (--kind
scale-free, with hubs of hundreds of neighbours), with weights ±[.25, 1] and unit noise, nodes in random order.

    rfdag        `learn(X)` with its defaults
    whole        the same without clusters, up to --whole columns
    network      pairs whose correlation is clear (Fisher's z, false discovery rate .01): no directions, F1 only
    lasso        the graphical lasso (scikit-learn), its penalty √(ln p / n); no directions
    forests      as GENIE3 (Huynh-Thu et al., 2010): a random forest for each column, pairs by importance; of these and
                 of the lasso's the strongest are taken, as many as the graph has edges, which only a simulation knows

FLOP 0.3.0 stops with an error where there are fewer rows than columns.

Each runs in a process of its own; the floor, correlations of all pairs by one product of matrices in double precision,
is timed in the same process before it. F1 is that of the skeleton, SHD that of the CPDAGs where p allows a full
matrix. Rows are kept in benchmarks/results/scaling_wide.json; benchmarks/scaling.py makes a page of them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtr

import rfdag
from measurement import Kept, Row, alone, peak_memory
from report import RESULTS
from rfdag import metrics
from rfdag.graphs.sparse import sparse_cpdag
from rfdag.simulate import linear_sem, sample, scale_free_dag, sparse_random_dag

Floats = NDArray[np.float64]

DEGREE = 4
FALSE_DISCOVERIES = 0.01
"""Share of false pairs that a correlation network allows (Benjamini and Hochberg, 1995)."""

TREES = 100
"""Trees of each forest."""

PRODUCT_AT_ONCE = 2000
"""Columns on one side of a product of the floor, so that it fits whatever p is."""


def draw(p: int, n: int, kind: str, seed: int, graph: int) -> tuple[csr_array, Floats]:
    """Return a DAG and its rows, standardised."""
    generator = np.random.default_rng([seed, p, n, graph])
    if kind == "scale-free":
        dag = scale_free_dag(p, DEGREE // 2, rng=generator)
        label = generator.permutation(p)
        dag = csr_array(dag[np.ix_(label, label)])
    else:
        dag = sparse_random_dag([p], [DEGREE / (p - 1)], generator)
    rows = sample(linear_sem(dag, rng=generator), n, rng=generator)
    rows -= rows.mean(axis=0)
    rows /= rows.std(axis=0)
    return dag, rows


def floor_of(rows: Floats) -> float:
    """Return how long the correlations of all pairs take."""
    start = time.perf_counter()
    for first in range(0, rows.shape[1], PRODUCT_AT_ONCE):
        rows[:, first : first + PRODUCT_AT_ONCE].T @ rows
    return time.perf_counter() - start


def distances(true: csr_array, found: csr_array) -> Row:
    """Return F1 of the skeletons, and the SHD of the classes."""
    skeletons = [set(zip(*np.sort(np.stack(graph.nonzero()), axis=0).tolist(), strict=True)) for graph in (true, found)]
    shared = len(skeletons[0] & skeletons[1])
    classes = [csr_array(sparse_cpdag(csr_array(graph))).astype(np.int64) for graph in (true, found)]
    differing = abs(classes[0] - classes[1]).tocoo()
    pairs = set(
        zip(*np.sort(np.stack([differing.row, differing.col])[:, differing.data != 0], axis=0).tolist(), strict=True)
    )
    return {"F1": 2 * shared / (len(skeletons[0]) + len(skeletons[1])), "SHD": len(pairs)}


def by_rfdag(p: int, n: int, kind: str, seed: int, graph: int, options: dict[str, Any]) -> Row:
    """Learn one data set, in a process started for it."""
    true, rows = draw(p, n, kind, seed, graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Kernels are compiled and loaded beforehand.
        rfdag.learn(draw(300, 200, "random", seed, graph)[1], clusters=True, progress=False)
        rfdag.learn(draw(60, 200, "random", seed, graph)[1], progress=False)
        floor, before = floor_of(rows), peak_memory()
        start = time.perf_counter()
        result = rfdag.learn(rows, progress=False, **options)
        seconds = time.perf_counter() - start
    found = {"seconds": seconds, "floor": floor, "peak": peak_memory(), "before": before}
    return (
        found
        | {name: result.timings.get(name, 0.0) for name in ("elimination", "refinement")}
        | distances(true, csr_array(result.dag))
    )


def by_network(p: int, n: int, kind: str, seed: int, graph: int) -> Row:
    """Take the pairs with clear correlations for edges."""
    true, rows = draw(p, n, kind, seed, graph)
    floor, before = floor_of(rows), peak_memory()
    start = time.perf_counter()
    correlation = np.asarray(np.corrcoef(rows.T))
    i, j = np.triu_indices(p, 1)
    levels = 2 * ndtr(-np.arctanh(np.abs(correlation[i, j])) * np.sqrt(n - 3))
    order = np.argsort(levels)
    passed = np.flatnonzero(levels[order] <= FALSE_DISCOVERIES * np.arange(1, len(order) + 1) / len(order))
    chosen = order[: passed[-1] + 1] if len(passed) else order[:0]
    seconds = time.perf_counter() - start
    found = csr_array((np.ones(len(chosen)), (i[chosen], j[chosen])), shape=(p, p))
    f1 = metrics.skeleton(true.toarray(), found.toarray()).f1
    return {"seconds": seconds, "floor": floor, "peak": peak_memory(), "before": before, "F1": f1, "SHD": None}


def by_lasso(p: int, n: int, kind: str, seed: int, graph: int) -> Row:
    """Take the strongest pairs of a sparse precision matrix for edges."""
    from sklearn.covariance import graphical_lasso

    true, rows = draw(p, n, kind, seed, graph)
    floor, before = floor_of(rows), peak_memory()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, precision = graphical_lasso(np.corrcoef(rows.T), math.sqrt(math.log(p) / n), max_iter=20, tol=1e-2)
    seconds = time.perf_counter() - start
    scale = np.sqrt(np.diag(precision))
    return _strongest(true, np.abs(precision) / scale / scale[:, None], seconds, floor, before)


def by_forests(p: int, n: int, kind: str, seed: int, graph: int) -> Row:
    """Take the pairs that matter most to forests, one for each column given all others, for edges."""
    from sklearn.ensemble import RandomForestRegressor

    true, rows = draw(p, n, kind, seed, graph)
    floor, before = floor_of(rows), peak_memory()
    start = time.perf_counter()
    importance = np.zeros((p, p))
    for y in range(p):
        others = np.delete(np.arange(p), y)
        forest = RandomForestRegressor(TREES, max_features="sqrt", n_jobs=-1, random_state=seed + 1)
        importance[y, others] = forest.fit(rows[:, others], rows[:, y]).feature_importances_
    seconds = time.perf_counter() - start
    return _strongest(true, importance + importance.T, seconds, floor, before)


def _strongest(true: csr_array, strength: Floats, seconds: float, floor: float, before: float) -> Row:
    """Return how well the strongest pairs agree with the skeleton, where there are as many."""
    p = true.shape[0]
    i, j = np.triu_indices(p, 1)
    chosen = np.argsort(-strength[i, j])[: true.nnz]
    found = csr_array((np.ones(len(chosen)), (i[chosen], j[chosen])), shape=(p, p))
    f1 = metrics.skeleton(true.toarray(), found.toarray()).f1
    return {"seconds": seconds, "floor": floor, "peak": peak_memory(), "before": before, "F1": f1, "SHD": None}


NETWORKS = {"network": by_network, "lasso": by_lasso, "forests": by_forests}
"""Contenders that know no directions."""


def measured(contender: str, size: tuple[int, int], options: argparse.Namespace, graph: int) -> Row:
    """Return what one contender gives on one graph."""
    drawn = (*size, options.kind, options.seed, graph)
    if contender in NETWORKS:
        return alone(NETWORKS[contender], *drawn)
    return alone(by_rfdag, *drawn, {} if contender == "rfdag" else {"clusters": False})


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000x300,2000x300,5000x500,20000x500")
    parser.add_argument("--contenders", default="rfdag,whole,network,lasso,forests")
    parser.add_argument("--kind", choices=["random", "scale-free"], default="random")
    parser.add_argument("--graphs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--whole", type=int, default=2000, help="columns up to which the whole is searched")
    parser.add_argument("--slow", type=int, default=1000, help="columns up to which lasso and forests run")
    parser.add_argument("--out", type=Path, default=RESULTS / "scaling_wide.json")
    options = parser.parse_args()
    kept = Kept(options.out)
    most = {"whole": options.whole, "network": options.whole, "lasso": options.slow, "forests": options.slow}
    sizes = [tuple(map(int, size.split("x"))) for size in options.sizes.split(",")]
    for p, n in sizes:
        runs: dict[str, list[Row]] = {}
        for graph in range(options.graphs):
            for contender in options.contenders.split(","):
                if p > most.get(contender, sys.maxsize):
                    continue
                runs.setdefault(contender, []).append(measured(contender, (p, n), options, graph))
        for contender, found in runs.items():
            row: Row = {"kind": options.kind, "p": p, "n": n, "contender": contender, "graphs": len(found)}
            seconds, floor = median(run["seconds"] for run in found), median(run["floor"] for run in found)
            row |= {"time (s)": seconds, "floor (s)": floor, "time / floor": seconds / floor}
            row |= {
                f"{name} (s)": median(run[name] for run in found)
                for name in ("elimination", "refinement")
                if name in found[0]
            }
            row |= {
                f"{name} memory (GB)": max(run[name] for run in found)
                for name in ("before", "peak")
                if name in found[0]
            }
            row["F1"] = fmean(run["F1"] for run in found)
            row["SHD"] = None if found[0]["SHD"] is None else fmean(run["SHD"] for run in found)
            kept.add("wide", row, ("kind", "p", "n", "contender"))


if __name__ == "__main__":
    main()
