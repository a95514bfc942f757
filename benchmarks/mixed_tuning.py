"""Repeat the choices of `rfdag.orders.block_tuning` on the draws they were made on, which no page reports.

    python benchmarks/mixed_tuning.py prices       # what λ multiplies: degrees of freedom, or parents
    python benchmarks/mixed_tuning.py priors       # the prior of BDeu, and the multinomial BIC beside it
    python benchmarks/mixed_tuning.py powers       # what powers of numbers cost, with basis=3
    python benchmarks/mixed_tuning.py restarts     # how many restarts pay

Prints tables: mean SHD of the CPDAG and median seconds.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np

import rfdag
import rfdag.methods.mixed as methods_mixed
from rfdag.graphs import cpdag
from rfdag.metrics import shd
from rfdag.orders.family_scores import BlockScore
from rfdag.simulate import mixed, random_dag
from rfdag.studies.bench.typed_workloads import WORKLOADS, network

NETWORKS = ("win95pts", "hepar2", "water", "barley", "mildew")
"""Networks that no page reports."""
PRICE = "price"
"""Marks a trial with prices of its own: of a degree of freedom and of a parent, in units of ln n."""
CURVES = ("sigmoid", "quadratic", "gaussian-process", "linear")
MARK = 77
"""The second number of every seed here: benchmarks that report have other seeds."""


def main() -> None:
    """Run the trials that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prices", "priors", "powers", "restarts"])
    parser.add_argument("--graphs", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    what = {"prices": prices, "priors": priors, "powers": powers, "restarts": restarts}
    what[options.what](options.graphs)


def prices(graphs: int) -> None:
    """Compare a price of ln n for each degree of freedom, and more for each parent, with λ ln n for each degree."""
    trials: dict[str, dict[str, Any]] = {f"λ = {penalty:g}": {"penalty": penalty} for penalty in (1.0, 2.0, 3.0)}
    trials["λ = 2 for each degree of freedom"] = {PRICE: (2.0, 0.0)}
    for p, n in ((20, 300), (20, 1000), (20, 5000), (50, 300), (50, 1000)):
        table(f"p = {p}, n = {n}", trials, functools.partial(_mixed, p, n), graphs)


def powers(graphs: int) -> None:
    """Compare prices of a degree of freedom, and of a parent, where numbers count with their powers."""
    pairs = ((1.0, 1.0), (1.5, 0.5), (2.0, 0.0), (2.5, 0.0), (3.0, 0.0))
    trials = {
        f"{each:g} ln n a degree, {parent:g} a parent": {"basis": 3, PRICE: (each, parent)} for each, parent in pairs
    }
    for n in (300, 1000):
        for kind in CURVES:
            table(f"{kind}, p = 20, n = {n}", trials, functools.partial(_curved, kind, n), 2 * graphs)


def priced(each: float, parent: float, evidence: Any, **_: Any) -> BlockScore:
    """Return the Gaussian score at other prices of a degree of freedom and of a parent, in units of ln n."""
    white, _whitening, starts = evidence.white
    unit = float(np.log(evidence.n_samples))
    return BlockScore(white, starts, evidence.widths, evidence.n_samples, each * unit, parent * unit)


def restarts(graphs: int) -> None:
    """Compare numbers of restarts."""
    trials = {f"restarts={count}": {"restarts": count} for count in ("auto", 0, 10, 30)}
    for p in (20, 50):
        table(f"p = {p}, n = 1000", trials, functools.partial(_mixed, p, 1000), graphs)


def priors(graphs: int) -> None:
    """Compare priors of BDeu on networks."""
    trials: dict[str, dict[str, Any]] = {"multinomial BIC": {"score": "multinomial"}}
    for size, gamma in ((1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (10.0, 1.0), (10.0, 2.0)):
        trials[f"BDeu of {size:g} rows, γ = {gamma:g}"] = {"score": "bdeu", "sample_size": size, "gamma": gamma}
    for name in NETWORKS:
        for n in (2000, 10_000):
            table(f"{name}, n = {n}", trials, functools.partial(_network, name, n), min(graphs, 2))


def table(
    title: str, trials: Mapping[str, Mapping[str, Any]], draw: Callable[[int], tuple[Any, Any, list[int]]], graphs: int
) -> None:
    """Print what each trial gives on the same draws."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in trials}
    for graph in range(graphs):
        dag, rows, categorical = draw(graph)
        for name, options in trials.items():
            given = {key: value for key, value in options.items() if key != PRICE}
            start = time.perf_counter()
            other = functools.partial(priced, *options.get(PRICE, ()))
            with mock.patch.object(methods_mixed, "family_score", other) if PRICE in options else nullcontext():
                result = rfdag.learn(rows, categorical=categorical, progress=False, n_jobs=1, **given)
            seconds = time.perf_counter() - start
            found[name].append((shd(result.cpdag, cpdag(dag)), seconds))
    print(f"\n{title}, {graphs} graphs", flush=True)
    for name, cells in found.items():
        numbers = np.array(cells)
        print(f"  {name:30s} SHD {numbers[:, 0].mean():6.2f}   {np.median(numbers[:, 1]):6.2f} s")


def _mixed(p: int, n: int, graph: int) -> tuple[Any, Any, list[int]]:
    dag = random_dag(p, degree=4, rng=[graph, MARK, 1])
    rows = mixed(dag, n, rng=[graph, MARK, 2])
    return dag, rows.values, np.flatnonzero(rows.categorical).tolist()


def _curved(kind: str, n: int, graph: int) -> tuple[Any, Any, list[int]]:
    drawn = WORKLOADS[f"{kind}-p20-n1000"].draw(MARK, graph)
    return drawn.true, drawn.rows[:n], []


def _network(name: str, n: int, graph: int) -> tuple[Any, Any, list[int]]:
    drawn = network(name)
    rows = drawn.sample(n, [graph, MARK, 5])
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    return drawn.dag[np.ix_(varied, varied)], rows[:, varied], list(range(len(varied)))


if __name__ == "__main__":
    main()
