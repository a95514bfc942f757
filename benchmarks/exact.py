"""How often beams and refinement find the best DAG of all, how long the proof takes, and other exact solvers.

    python benchmarks/exact.py [--sets 30] [--seed 7000]

Four tables in docs/accuracy.md, and benchmarks/results/exact_*.csv. First, over 1080 data sets of 6 to 16 variables:
how often the search without `exact` finds the best DAG, how far it is otherwise, and both times. Second, the time and
memory of the proof for up to 25 variables and more. Third, the exact searches of pgmpy and causal-learn, at the same
price of an edge. Fourth, whether averaging over nearly best DAGs gives a better graph than the best one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from measurement import alone, peak_memory
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.evidence.local import SharedMoments
from rfdag.graphs import cpdag
from rfdag.orders.exact import Problem, score_families
from rfdag.simulate import linear_sem, random_dag, sample

Row = dict[str, Any]
Floats = NDArray[np.float64]
PAGE = ROOT / "docs" / "accuracy.md"

MISSED = 1e-6
"""BIC units above the best from which it was missed."""


def drawn(p: int, n: int, seed: int, number: int, **size: float) -> tuple[NDArray[np.int8], Floats]:
    """Return a DAG and rows of it."""
    generator = np.random.default_rng([seed, p, n, number])
    sem = linear_sem(random_dag(p, rng=generator, **size), generator)  # type: ignore[arg-type]
    return sem.dag, sample(sem, n, generator)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives, and its time."""
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def searches(sets: int, seed: int) -> list[Row]:
    """Compare the search alone with the best of all."""
    rows = []
    for p in (6, 8, 10, 12, 14, 16):
        for density in (0.2, 0.5):
            gaps, times = [], []
            for n in (50, 200, 1000):
                for number in range(sets):
                    _, data = drawn(p, n, seed, number, density=density)
                    best, exact = timed(partial(rfdag.learn, data, gamma=0, progress=False))
                    search, beams = timed(partial(rfdag.learn, data, gamma=0, exact=False, progress=False))
                    if not best.optimal:
                        raise SystemExit(f"p = {p}, n = {n}, number {number}: nothing was proven.")
                    gaps.append(search.score - best.score)
                    times.append((exact, beams))
            missed = [gap for gap in gaps if gap > MISSED]
            rows.append(
                {
                    "variables": p,
                    "density": density,
                    "data sets": len(gaps),
                    "proven": len(gaps),
                    "search missed it": len(missed),
                    "by more than 10": sum(gap > 10 for gap in gaps),
                    "largest gap": round(max(gaps), 1),
                    "better than the best": sum(gap < -MISSED for gap in gaps),
                    "default (ms)": round(1000 * median(one for one, _ in times), 1),
                    "exact=False (ms)": round(1000 * median(other for _, other in times), 1),
                }
            )
            print(rows[-1], flush=True)
    return rows


def proof(p: int, n: int, number: int, seed: int, size: dict[str, float], exact: bool | str) -> Row:
    """Return how one proof went, in a process of its own."""
    rfdag.learn(drawn(6, 60, seed, 0, density=0.5)[1], progress=False)
    rfdag.learn(drawn(22, 60, seed, 0, degree=1)[1], progress=False)
    _, data = drawn(p, n, seed, number, **size)
    before = peak_memory()
    result, seconds = timed(lambda: rfdag.learn(data, exact=exact, progress=False))
    return {"optimal": bool(result.optimal), "seconds": seconds, "gap": result.gap, "memory": peak_memory() - before}


def proofs(seed: int) -> list[Row]:
    """Measure the time and memory of proofs."""
    rows = []
    for p, size, exact, sets in (
        (10, {"density": 0.5}, "auto", 3),
        (14, {"density": 0.5}, "auto", 3),
        (16, {"density": 0.5}, "auto", 3),
        (18, {"density": 0.5}, "auto", 3),
        (20, {"density": 0.5}, "auto", 3),
        (22, {"density": 0.5}, True, 1),
        (24, {"density": 0.5}, True, 1),
        (25, {"degree": 2}, "auto", 10),
        (25, {"degree": 3}, "auto", 10),
        (25, {"degree": 3}, True, 3),
        (30, {"degree": 2}, "auto", 5),
        (40, {"degree": 1}, True, 3),
    ):
        found = [alone(proof, p, 500, number, seed, size, exact) for number in range(sets)]
        gaps = [each["gap"] for each in found if not each["optimal"] and each["gap"] is not None]
        rows.append(
            {
                "variables": p,
                "graphs": "density ½" if "density" in size else f"degree {size['degree']:g}",
                "exact": str(exact),
                "proven": f"{sum(each['optimal'] for each in found)} of {sets}",
                "gap where only bounded": round(median(gaps), 1) if gaps else "",
                "seconds": round(median(each["seconds"] for each in found), 2),
                "longest": round(max(each["seconds"] for each in found), 2),
                "memory (GB)": round(max(each["memory"] for each in found), 2),
            }
        )
        print(rows[-1], flush=True)
    return rows


def pgmpy_search(data: Floats) -> NDArray[np.int8]:
    """Return the best of all DAGs by pgmpy's Gaussian BIC, one after the other."""
    import pandas as pd
    from pgmpy.estimators import ExhaustiveSearch

    frame = pd.DataFrame(data, columns=[f"x{at}" for at in range(data.shape[1])])
    graph = np.zeros((data.shape[1],) * 2, np.int8)
    for source, target in ExhaustiveSearch(frame, scoring_method="bic-g").estimate().edges():
        graph[int(source[1:]), int(target[1:])] = 1
    return graph


def causal_learn_search(data: Floats) -> NDArray[np.int8]:
    """Return the best DAG by causal-learn's A* search."""
    from causallearn.search.ScoreBased.ExactSearch import bic_exact_search

    found, _ = bic_exact_search(data, search_method="astar")
    graph: NDArray[np.int8] = np.asarray(found).astype(np.int8)
    return graph


def peers(seed: int) -> list[Row]:
    """Run other exact searches, whose BICs are rfdag's with λ = 1, on standardised rows."""
    rows = []
    for name, search, sizes in (
        ("pgmpy, exhaustive", pgmpy_search, ((3, 5), (4, 3))),
        ("causal-learn, A*", causal_learn_search, ((6, 5), (10, 5), (12, 3))),
    ):
        for p, sets in sizes:
            same, times = 0, []
            for number in range(sets):
                _, data = drawn(p, 200, seed, number, density=0.5)
                data = (data - data.mean(axis=0)) / data.std(axis=0)
                graph, theirs = timed(partial(search, data))
                ours, mine = timed(partial(rfdag.learn, data, penalty=1, gamma=0, progress=False))
                same += np.array_equal(cpdag(graph), ours.cpdag)
                times.append((mine, theirs))
            rows.append(
                {
                    "search": name,
                    "variables": p,
                    "data sets": sets,
                    "same class": same,
                    "rfdag (ms)": round(1000 * median(one for one, _ in times), 1),
                    "other (ms)": round(1000 * median(other for _, other in times), 1),
                    "ratio": round(median(other / one for one, other in times)),
                }
            )
            print(rows[-1], flush=True)
    return rows


def averages(seed: int) -> list[Row]:
    """Compare the best DAG with averages: over nearly best DAGs, and over all orders and their DAGs."""
    rows = []
    for p, n, size in ((12, 40, {"density": 0.5}), (12, 240, {"density": 0.5}), (12, 100, {"degree": 2})):
        scores: dict[str, list[float]] = {"best": [], "nearly best": [], "all": []}
        for number in range(20):
            true, data = drawn(p, n, seed, number, **size)
            result = rfdag.learn(data, restarts=100, progress=False)
            graphs = [(0.0, result.dag), *result.rivals]
            weights = np.exp([-cost / 2 for cost, _ in graphs])
            nearly = sum(w * dag for w, (_, dag) in zip(weights, graphs, strict=True)) / weights.sum()
            for name, shares in (("best", result.dag), ("nearly best", nearly), ("all", edge_probabilities(data))):
                skeleton = np.triu(shares + shares.T > 0.5).astype(np.int8)
                scores[name].append(metrics.skeleton(true, skeleton).f1)
        rows.append(
            {
                "variables": p,
                "rows": n,
                "graphs": "density ½" if "density" in size else f"degree {size['degree']:g}",
                "F1 of the best DAG": round(float(np.mean(scores["best"])), 3),
                "F1 of the average of rivals": round(float(np.mean(scores["nearly best"])), 3),
                "F1 of the average of all orders": round(float(np.mean(scores["all"])), 3),
            }
        )
        print(rows[-1], flush=True)
    return rows


def edge_probabilities(data: Floats) -> Floats:
    """Return the probability of every edge where DAGs weigh exp(−BIC / 2), summed over all orders.

    M. Koivisto, K. Sood: Exact Bayesian structure discovery in Bayesian networks, 2004.
    """
    n, p = data.shape
    problem = Problem(SharedMoments(np.atleast_2d(np.corrcoef(data.T)), n))
    sets = np.arange(1 << (p - 1))
    weights = []
    for y in range(p):
        scores = np.empty(1 << (p - 1))
        score_families(problem, y, np.delete(np.arange(p), y), scores)
        # Of a dense graph even the best order weighs less than a double can hold.
        weights.append(np.exp((scores.min() - scores).astype(np.longdouble) / 2))

    def within(table: Floats) -> Floats:
        """Return, for every set, the sum over its subsets."""
        table = table.copy()
        for x in range(p - 1):
            table[sets >> x & 1 == 1] += table[sets[sets >> x & 1 == 1] ^ (1 << x)]
        return table

    def before(y: int, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sets without y as sets of the other variables."""
        return chosen & ((1 << y) - 1) | (chosen >> (y + 1)) << y

    every = np.arange(1 << p)
    sums = [within(table) for table in weights]
    left, right = np.zeros(1 << p, np.longdouble), np.zeros(1 << p, np.longdouble)
    left[0] = right[-1] = 1.0
    for chosen in every[1:].tolist():
        for y in range(p):
            if chosen >> y & 1:
                rest = chosen ^ (1 << y)
                left[chosen] += left[rest] * sums[y][rest & ((1 << y) - 1) | (rest >> (y + 1)) << y]
    for chosen in every[-2::-1].tolist():
        for y in range(p):
            if not chosen >> y & 1:
                place = chosen & ((1 << y) - 1) | (chosen >> (y + 1)) << y
                right[chosen] += right[chosen | 1 << y] * sums[y][place]
    shares = np.zeros((p, p))
    for y in range(p):
        without = every[every >> y & 1 == 0]
        through = left[without] * right[without | 1 << y]
        for x in range(p - 1):
            with_x = within(np.where(sets >> x & 1, weights[y], np.longdouble(0)))
            shares[x if x < y else x + 1, y] = float((through * with_x[before(y, without)]).sum() / left[-1])
    return shares


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=30)
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--only", choices=("searches", "proofs", "peers", "averages"))
    options = parser.parse_args(arguments)
    parts: dict[str, Callable[[], list[Row]]] = {
        "searches": lambda: searches(options.sets, options.seed),
        "proofs": lambda: proofs(options.seed),
        "peers": lambda: peers(options.seed),
        "averages": lambda: averages(options.seed),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rfdag.learn(drawn(6, 60, 1, 0, density=0.5)[1], exact=False, progress=False)
        for name, measure in parts.items():
            if options.only in (None, name):
                rows = measure()
                write_tables(f"exact_{name}", rows)
                update_section(PAGE, f"exact-{name}", f"{markdown(rows)}\nSeed {options.seed}.\n\n{provenance()}")


if __name__ == "__main__":
    main()
