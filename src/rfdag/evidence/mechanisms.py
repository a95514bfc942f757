"""What variables do in each environment, given a DAG: mechanisms of targets, tests that all others stay the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.interventions import Invariance, Mechanism, Target
from rfdag.evidence.regressions import Regressions

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SPARE_ROWS = 4
"""Rows that slopes of its own need in an environment, beside two for each parent."""

TINY = 1e-12
"""Least variance, where that of a variable in all rows is 1."""


class Prices(NamedTuple):
    """What the score charges, and which mechanisms and intercepts it knows.

    ``kind`` is "hard", "soft" or "auto", ``number`` the price of a number that describes a mechanism.
    """

    kind: str
    centred: bool
    number: float


def targets_of(
    evidence: EnvironmentMoments, variable: int, parents: Integers, at: Sequence[int], prices: Prices
) -> list[Target]:
    """Return what a variable does in each of the environments that target it."""
    listed = np.append(parents, variable)
    with_all = _cost(evidence, listed, list(at), prices)
    found = []
    _, slopes, _ = _common(evidence, listed, list(at), prices)
    for e in at:
        _, mechanism = _mechanism(evidence, listed, e, slopes, prices)
        without = _cost(evidence, listed, [other for other in at if other != e], prices)
        found.append(Target(evidence.names[variable], mechanism, without - with_all))
    return found


def invariance_of(
    evidence: EnvironmentMoments, dag: Any, targets: Sequence[Sequence[int]], e: int, *, centred: bool
) -> tuple[Invariance, ...]:
    """Return a test for each variable that an environment does not target, the smallest p-value first.

    Its mechanism there is compared with that in the other environments that do not target it. Where rows are too few
    for slopes of their own, only mean and variance are.
    """
    matrix = np.asarray(dag)
    prices = Prices("auto", centred, 0.0)
    found = []
    for variable in range(len(evidence.names)):
        out = [other for other, each in enumerate(targets) if variable in each]
        others = [at for at in range(len(evidence.rows)) if at not in out and at != e]
        if e in out or not others:
            continue
        listed = np.append(np.flatnonzero(matrix[:, variable]), variable)
        m, n = len(listed) - 1, float(evidence.rows[e])
        together, slopes, rows = _common(evidence, listed, out, prices)
        rest, slopes, left = _common(evidence, listed, [*out, e], prices)
        if left <= m + 2:
            continue
        scatter = evidence.within(listed, [e])[0] / n
        own_slopes = n > 2 * m + SPARE_ROWS
        here = _left(scatter)[0] if own_slopes else _by_slopes(scatter, slopes)
        ratio = rows * math.log(together) - left * math.log(rest) - n * math.log(max(here, TINY))
        freedom = (m if own_slopes else 0) + (1 if centred else 2)
        found.append(Invariance(evidence.names[variable], float(chdtrc(freedom, max(ratio, 0.0)))))
    return tuple(sorted(found, key=lambda each: each.p_value))


class Fitted(NamedTuple):
    """Every variable regressed on its parents in the rows that do not target it, and the means without intervention."""

    regressions: Regressions
    means: Floats


def fitted(evidence: EnvironmentMoments, dag: Any, targets: Sequence[Sequence[int]], *, centred: bool) -> Fitted:
    """Return the mechanisms of all variables where no intervention targets them, in the units of the data.

    With intercepts by environment, means are those of the rows in which a variable is no target.
    """
    matrix, p = np.asarray(dag), len(evidence.names)
    coefficients, partial, variances, intercepts = np.zeros((p, p)), np.zeros((p, p)), np.ones(p), np.zeros(p)
    for child in range(p):
        parents = np.flatnonzero(matrix[:, child])
        out = [e for e, each in enumerate(targets) if child in each]
        listed = np.append(parents, child)
        rows, centre, scatter = evidence.common(listed, out, centred=centred)
        covariance = scatter / max(rows, 1)
        variances[child], slopes = _left(covariance)
        intercepts[child] = centre[-1] - centre[:-1] @ slopes
        coefficients[parents, child] = slopes
        for at, parent in enumerate(parents.tolist()):
            keep = np.delete(np.arange(len(listed)), at)
            without, _ = _left(covariance[np.ix_(keep, keep)])
            share = max(1.0 - variances[child] / without, 0.0)
            partial[parent, child] = math.sqrt(share) * np.sign(slopes[at])
    means = np.linalg.solve((np.eye(p) - coefficients).T, intercepts)
    with np.errstate(over="ignore"):
        squares = evidence.scale**2
    in_units = Regressions(coefficients, variances, partial).scaled(evidence.scale, squares)
    return Fitted(in_units, means * evidence.scale + evidence.centre)


def _cost(evidence: EnvironmentMoments, listed: Integers, at: list[int], prices: Prices) -> float:
    """Return the score of a variable, the last listed, given the others and the environments that target it."""
    variance, slopes, rows = _common(evidence, listed, at, prices)
    total = rows * math.log(variance)
    return total + sum(_mechanism(evidence, listed, e, slopes, prices)[0] for e in at)


def _common(
    evidence: EnvironmentMoments, listed: Integers, without: list[int], prices: Prices
) -> tuple[float, Floats, int]:
    """Return the variance of a variable given the others in the rows outside some environments, slopes and rows."""
    rows, _, scatter = evidence.common(listed, without, centred=prices.centred)
    variance, slopes = _left(scatter / max(rows, 1))
    return variance, slopes, rows


def _mechanism(
    evidence: EnvironmentMoments, listed: Integers, e: int, slopes: Floats, prices: Prices
) -> tuple[float, Mechanism]:
    """Return the least cost of a targeted variable in an environment, and its mechanism."""
    n, m = float(evidence.rows[e]), len(listed) - 1
    scatter = evidence.within(listed, [e])[0] / n
    costs: dict[Mechanism, float] = {}
    if prices.kind != "soft":
        costs["cut"] = n * math.log(max(scatter[m, m], TINY))
    if prices.kind == "soft" or (prices.kind == "auto" and m):
        costs["shift"] = n * math.log(max(_by_slopes(scatter, slopes), TINY))
    if prices.kind != "hard" and m and n > 2 * m + SPARE_ROWS:
        costs["own slopes"] = n * math.log(_left(scatter)[0]) + prices.number * m
    best = min(costs, key=lambda each: costs[each])
    return costs[best] + 2 * prices.number, best


def _left(covariance: Floats) -> tuple[float, Floats]:
    """Return the variance of the last variable given the others, and their slopes."""
    m = len(covariance) - 1
    if not m:
        return max(float(covariance[0, 0]), TINY), np.zeros(0)
    slopes = np.asarray(np.linalg.lstsq(covariance[:m, :m], covariance[:m, m], rcond=1e-12)[0], np.float64)
    return max(float(covariance[m, m] - covariance[m, :m] @ slopes), TINY), slopes


def _by_slopes(covariance: Floats, slopes: Floats) -> float:
    """Return the variance of the last variable less the others times given slopes."""
    weights = np.append(-slopes, 1.0)
    return float(weights @ covariance @ weights)
