"""The local Markov property of the found graph, held against the data.

In a DAG that fits, every variable is independent of its non-descendants given its parents. Each such statement is
tested by Fisher's z, and if they all hold the p-values are spread evenly between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import chdtrc, ndtr

from rfdag.graphs.dag import Graph
from rfdag.orders.family_scores import BlockScore
from rfdag.report.rounding import rounded

if TYPE_CHECKING:
    from rfdag.evidence.mixed import MixedMoments
    from rfdag.evidence.moments import Moments
    from rfdag.result import Result

Integers = NDArray[np.int64]
ALL_UP_TO = 300
"""Number of variables up to which every statement is tested."""
CHILDREN, OTHERS = 250, 80
"""How many variables are drawn above that, and non-descendants of each."""
BINS = 20
WORST = 25


def local_markov(result: Result) -> dict[str, Any]:
    """Return the histogram of p-values and the statements most at odds with the data, or why there are none."""
    if result.n_samples is None:
        return {"reason": "The input was exact: there is no sample to test the graph against."}
    if result.mixed is not None:
        tests, untested = mixed_markov_tests(result.mixed, result.dag, result.causal_order)
    elif result.interventions is not None:
        return {"reason": "Rows come from several environments: see there how each variable fits in each of them."}
    elif result.moments is None:
        return {"reason": "The moments of the data were not kept with this result, so that nothing can be tested."}
    else:
        tests, untested = markov_tests(result.moments, result.dag, result.causal_order)
    if not len(tests):
        return {
            "reason": "There is nothing to test: every pair is adjacent or one descends from the other, or rows are "
            "too few for the number of parents."
        }
    p_values = tests[:, 2]
    worst = np.argsort(p_values, kind="stable")[:WORST]
    return {
        "tests": len(tests),
        "untested": untested,
        "sampled": len(result.names) > ALL_UP_TO,
        "counts": np.histogram(p_values, bins=BINS, range=(0.0, 1.0))[0].tolist(),
        "below": int((p_values < 0.05).sum()),
        "rejected": _rejected(p_values),
        "worst": {
            "variable": tests[worst, 0].astype(int).tolist(),
            "other": tests[worst, 1].astype(int).tolist(),
            "p": rounded(p_values[worst]),
            "partial": rounded(tests[worst, 3]),
        },
    }


def markov_tests(moments: Moments, dag: Graph, order: Integers) -> tuple[NDArray[np.float64], int]:
    """Return rows of variable, non-descendant, p-value and partial correlation, and for how many rows were too few.

    Of more than 300 variables some are drawn, always the same.

    >>> from rfdag.evidence.moments import Moments
    >>> chain = Moments.from_correlation([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]], n_samples=100)
    >>> tests, _ = markov_tests(chain, np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.arange(3))
    >>> np.abs(tests).round(3)
    array([[2., 0., 1., 0.]])
    """
    found, untested = [np.empty((0, 4))], 0
    for child, parents, others in _statements(dag, len(order)):
        freedom = int(moments.n_samples or 0) - len(parents) - 3
        if freedom <= 0:
            untested += len(others)
            continue
        partial = _partial(moments.factor, child, others, parents)
        p_values = 2 * ndtr(-math.sqrt(freedom) * np.abs(np.arctanh(np.clip(partial, -1 + 1e-15, 1 - 1e-15))))
        found.append(np.column_stack([np.full(len(others), child), others, p_values, partial]))
    return np.concatenate(found), untested


def mixed_markov_tests(mixed: MixedMoments, dag: Graph, order: Integers) -> tuple[NDArray[np.float64], int]:
    """Return the same for variables of several columns, by likelihood ratios of the degenerate Gaussian.

    In place of a partial correlation stands that of two Gaussian variables that tell as much of each other.
    """
    white, _, starts = mixed.white
    widths = np.diff(starts)
    score = BlockScore(white, starts, mixed.widths, mixed.n_samples, 0.0)
    as_child = widths if mixed.widths is None else np.minimum(widths, mixed.widths)
    found, untested = [np.empty((0, 4))], 0
    for child, parents, others in _statements(dag, len(order)):
        if mixed.n_samples - widths[parents].sum() - widths.max() - 3 <= 0:
            untested += len(others)
            continue
        candidates = np.full((len(order), max(len(others), 1)), -1)
        candidates[child, : len(others)] = others
        given = parents[None] if len(parents) else np.zeros((1, 1), np.int64)
        alone, added = score.scan(np.array([child]), given, np.array([len(parents)]), candidates)
        ratio = np.maximum(alone[0] - added[0, : len(others)], 0.0)
        ratio[~np.isfinite(ratio)] = 0.0
        p_values = chdtrc(as_child[child] * widths[others], ratio)
        size = np.sqrt(-np.expm1(-ratio / mixed.n_samples))
        found.append(np.column_stack([np.full(len(others), child), others, p_values, size]))
    return np.concatenate(found), untested


def _statements(dag: Graph, p: int) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield variables with their parents and their other non-descendants; of many, some, always the same."""
    generator = np.random.default_rng(0)
    children = np.arange(p) if p <= ALL_UP_TO else np.sort(generator.choice(p, CHILDREN, replace=False))
    sources, targets = dag.nonzero()
    for child, below in zip(children.tolist(), _descendants(dag, children), strict=True):
        parents = sources[targets == child]
        others = np.setdiff1d(np.arange(p), np.concatenate([parents, below, [child]]))
        if p > ALL_UP_TO and len(others) > OTHERS:
            others = np.sort(generator.choice(others, OTHERS, replace=False))
        if len(others):
            yield child, parents, others


def _partial(factor: NDArray[np.float64], child: int, others: Integers, parents: Integers) -> NDArray[np.float64]:
    """Return the correlation of a variable with each of the others given the parents."""
    target, rest = factor[:, child], factor[:, others]
    if len(parents):
        basis = qr(factor[:, parents], mode="economic", check_finite=False)[0]
        target, rest = target - basis @ (basis.T @ target), rest - basis @ (basis.T @ rest)
    size = np.linalg.norm(rest, axis=0) * np.linalg.norm(target)
    # What the parents explain entirely has nothing left to correlate.
    found: NDArray[np.float64] = np.divide(target @ rest, size, out=np.zeros(len(others)), where=size > 1e-12)
    return found


def _descendants(dag: Graph, nodes: Integers) -> list[Integers]:
    """Return the descendants of each node."""
    sources, targets = dag.nonzero()
    children: list[list[int]] = [[] for _ in range(dag.shape[0])]
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        children[source].append(target)
    found = []
    for node in nodes.tolist():
        seen, waiting = {node}, [node]
        while waiting:
            fresh = [child for child in children[waiting.pop()] if child not in seen]
            seen.update(fresh)
            waiting += fresh
        found.append(np.array(sorted(seen - {node}), np.int64))
    return found


def _rejected(p_values: NDArray[np.float64], level: float = 0.05) -> int:
    """Return how many statements the method of Benjamini and Hochberg rejects at this rate of false ones."""
    ranked = np.sort(p_values)
    within = np.flatnonzero(ranked <= level * np.arange(1, len(ranked) + 1) / len(ranked))
    return int(within[-1]) + 1 if len(within) else 0
