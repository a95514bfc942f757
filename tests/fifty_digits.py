"""What 50 digits say of small tables and matrices. Imports nothing from rfdag, so that agreement counts.

Entries are taken as the exact numbers that they are. Sums and determinants are formed with far more than 50 digits, so
that 50 are left of what a singular matrix leaves.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

DIGITS = 150
"""Those that are computed with: of a matrix of condition 1e100, 50 are left."""

Number = Any


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes with all digits."""

    @functools.wraps(function)
    def wide(*arguments: Any, **options: Any) -> Any:
        with mpmath.workdps(DIGITS):
            return function(*arguments, **options)

    return wide


def exact(value: object) -> Number:
    """Return the number that an entry is, exactly."""
    return mpmath.mpf(int(value)) if isinstance(value, np.bool_ | np.integer) else mpmath.mpf(float(value))


@exactly
def cross_products(rows: NDArray[Any], weights: Sequence[Number] | None = None) -> list[list[Number]]:
    """Return the sums of products of columns about their means, each row as often as it counts."""
    weights = [mpmath.mpf(1)] * len(rows) if weights is None else [exact(each) for each in weights]
    total = mpmath.fsum(weights)
    columns = [[exact(value) for value in column] for column in np.asarray(rows).T]
    means = [mpmath.fdot(column, weights) / total for column in columns]
    centred = [[value - mean for value in column] for column, mean in zip(columns, means, strict=True)]
    weighed = [[value * weight for value, weight in zip(column, weights, strict=True)] for column in centred]
    return [[mpmath.fdot(a, b) for b in centred] for a in weighed]


@exactly
def symmetric(matrix: NDArray[Any]) -> list[list[Number]]:
    """Return the mean of a matrix and its transpose."""
    return [[(exact(matrix[i, j]) + exact(matrix[j, i])) / 2 for j in range(len(matrix))] for i in range(len(matrix))]


@exactly
def inverse(matrix: list[list[Number]]) -> list[list[Number]]:
    """Return the inverse of a positive definite matrix, which may be of any scale."""
    p = len(matrix)
    scaled, roots = unit(matrix)
    found = mpmath.inverse(mpmath.matrix(scaled))
    return [[found[i, j] / roots[i] / roots[j] for j in range(p)] for i in range(p)]


def unit(matrix: list[list[Number]]) -> tuple[list[list[Number]], list[Number]]:
    """Return a matrix with its diagonal brought to 1, and the roots of the diagonal."""
    p, roots = len(matrix), [mpmath.sqrt(matrix[at][at]) for at in range(len(matrix))]
    return [[matrix[i][j] / roots[i] / roots[j] for j in range(p)] for i in range(p)], roots


class Digits:
    """Variances, partial correlations and scores of all DAGs over the variables of a small covariance matrix.

    Parameters
    ----------
    covariance
        Up to a factor.
    n
        The rows behind it; None where it is exact.
    """

    @exactly
    def __init__(self, covariance: list[list[Number]], n: int | None = None) -> None:
        self.n, self.p = n, len(covariance)
        self.usable = all(covariance[at][at] > 0 for at in range(self.p))
        if self.usable:
            self.correlation, self.roots = unit(covariance)
        self._left: dict[tuple[int, ...], list[list[Number]]] = {}

    @property
    @exactly
    def condition(self) -> float:
        """That of the correlation matrix; infinite if it is singular to 100 digits."""
        try:
            found = mpmath.inverse(mpmath.matrix(self.correlation))
        except ZeroDivisionError:
            return math.inf
        inverse = np.array([[float(found[i, j]) for j in range(self.p)] for i in range(self.p)])
        matrix = np.array([[float(each) for each in row] for row in self.correlation])
        if not np.isfinite(inverse).all():
            return math.inf
        # Of each the largest eigenvalue, which doubles are good enough for.
        return float(np.linalg.eigvalsh(matrix)[-1] * np.linalg.eigvalsh(inverse)[-1])

    @exactly
    def left_by(self, parents: Iterable[int]) -> list[list[Number]]:
        """Return the covariance of all variables, in units of their deviations, given some of them."""
        parents = tuple(sorted(parents))
        if not parents:
            return self.correlation
        if parents not in self._left:
            before, k = self.left_by(parents[:-1]), parents[-1]
            column = before[k]
            pivot = column[k]
            self._left[parents] = [
                [before[i][j] - column[i] * column[j] / pivot for j in range(self.p)] for i in range(self.p)
            ]
        return self._left[parents]

    def share(self, y: int, parents: Iterable[int]) -> Number:
        """Return the share of the variance of y that parents leave."""
        return self.left_by(parents)[y][y]

    @exactly
    def partial(self, i: int, j: int, given: Iterable[int]) -> float:
        """Return the correlation of two variables given others."""
        left = self.left_by(given)
        return float(left[i][j] / mpmath.sqrt(left[i][i] * left[j][j]))

    @exactly
    def slopes(self, y: int, parents: Sequence[int]) -> list[float]:
        """Return the coefficients of y on its parents, in the units of the covariance."""
        found = []
        for x in parents:
            left = self.left_by(other for other in parents if other != x)
            found.append(float(left[x][y] / left[x][x] * self.roots[y] / self.roots[x]))
        return found

    @exactly
    def local(self, y: int, parents: Iterable[int], price: float | NDArray[Any]) -> Number:
        """Return n ln(share of the variance of y that its parents leave) + what these cost, the same or by pair."""
        parents = tuple(parents)
        prices = np.broadcast_to(price, (self.p, self.p))
        paid = mpmath.fsum(exact(float(prices[x, y])) for x in parents)
        return self.n * mpmath.log(self.share(y, parents)) + paid

    def score(self, dag: NDArray[Any], price: float | NDArray[Any]) -> float:
        """Return the score of a DAG: the sum over its variables."""
        return score_of(dag, lambda y, parents: self.local(y, parents, price))

    def least(self, price: float | NDArray[Any]) -> float:
        """Return the least score of all DAGs."""
        return least_of(self.p, lambda y, parents: self.local(y, parents, price), min(self.p, self.n - 2))


@exactly
def score_of(dag: NDArray[Any], local: Callable[[int, tuple[int, ...]], Number]) -> float:
    """Return the sum of the local scores of a DAG."""
    dag = np.asarray(dag)
    return float(mpmath.fsum(local(y, tuple(np.flatnonzero(dag[:, y]).tolist())) for y in range(len(dag))))


@exactly
def least_of(p: int, local: Callable[[int, tuple[int, ...]], Number], most: int) -> float:
    """Return the least score of all DAGs, by dynamic programming over the sets that come first in an order."""
    best_local: dict[tuple[int, frozenset[int]], Number] = {}
    for y in range(p):
        others = [x for x in range(p) if x != y]
        for size in range(p):
            for each in itertools.combinations(others, size):
                before = frozenset(each)
                found = [best_local[y, before - {x}] for x in each]
                best_local[y, before] = min([*found, local(y, each)]) if size <= most else min(found)
    best = {frozenset[int](): mpmath.mpf(0)}
    for size in range(1, p + 1):
        for each in itertools.combinations(range(p), size):
            members = frozenset(each)
            best[members] = min(best[members - {y}] + best_local[y, members - {y}] for y in each)
    return float(best[frozenset(range(p))])


class Categories:
    """The degenerate Gaussian of a table some of whose columns are categories: a level but one is an indicator.

    Levels of fewer than five rows are pooled with each other, and with the next rarest ones while these are fewer than
    five rows together, as long as two levels stay.
    """

    @exactly
    def __init__(self, rows: NDArray[Any], categorical: Sequence[int]) -> None:
        self.n, self.p = rows.shape
        self.blocks: list[list[int]] = []
        columns: list[NDArray[Any]] = []
        for at in range(self.p):
            block = indicators(rows[:, at]) if at in categorical else [rows[:, at]]
            self.blocks.append(list(range(len(columns), len(columns) + len(block))))
            columns += block
        covariance = cross_products(np.column_stack(columns))
        self.digits = Digits(covariance, self.n)
        self.usable = self.digits.usable
        self.condition = self.digits.condition if self.usable else math.inf
        self._volumes: dict[tuple[int, ...], Number] = {}

    def volume(self, variables: Iterable[int]) -> Number:
        """Return the logarithm of the determinant of the columns of some variables, in units of their deviations."""
        chosen = tuple(sorted(variables))
        if chosen not in self._volumes:
            columns = [column for at in chosen for column in self.blocks[at]]
            pivots = [self.digits.left_by(columns[:at])[column][column] for at, column in enumerate(columns)]
            self._volumes[chosen] = mpmath.fsum(map(mpmath.log, pivots))
        return self._volumes[chosen]

    @exactly
    def local(self, y: int, parents: tuple[int, ...]) -> Number:
        """Return n ln det S(Y | P) + ln n · k(Y) · k(P) + ln n · |P|, in units in which S(Y) has determinant 1."""
        width = sum(len(self.blocks[x]) for x in parents)
        fit = self.volume((*parents, y)) - self.volume(parents) - self.volume((y,))
        unit_price = mpmath.log(self.n)
        return self.n * fit + unit_price * (len(self.blocks[y]) * width + len(parents))


def indicators(codes: NDArray[Any]) -> list[NDArray[Any]]:
    """Return an indicator of each level in use but one."""
    levels, counts = np.unique(codes, return_counts=True)
    ascending = [int(at) for at in np.argsort(counts, kind="stable")]
    pooled = [at for at in ascending if counts[at] < 5]
    while pooled and len(pooled) < len(levels) - 1 and counts[pooled].sum() < 5:
        pooled.append(ascending[len(pooled)])
    if len(pooled) < 2 or len(pooled) == len(levels):
        pooled = []
    groups = [[at] for at in range(len(levels)) if at not in pooled] + ([pooled] if pooled else [])
    return [np.isin(codes, levels[group]).astype(np.int64) for group in groups[1:]]


class Environments:
    """The score of rows from several environments with known targets, from moments of all digits.

    See "The score" in docs/interventions.md: the rows that do not target a variable, what parents cost, and the
    cheapest mechanism of the variable wherever it is a target.
    """

    @exactly
    def __init__(self, rows: NDArray[Any], labels: NDArray[Any], targets: dict[str, list[int]], penalty: float) -> None:
        self.n, self.p = rows.shape
        self.labels = list(targets)
        self.targets = targets
        self.unit = mpmath.log(self.n)
        self.price = exact(penalty) * self.unit
        whole = Digits(cross_products(rows), self.n)
        self.usable, self.condition = whole.usable, whole.condition if whole.usable else math.inf
        scale = [root / mpmath.sqrt(self.n) for root in whole.roots] if self.usable else [mpmath.mpf(1)] * self.p
        self.count = {label: int((labels == label).sum()) for label in self.labels}
        self.least_share = 1.0
        """The least variance in an environment, in units of that of all rows, of those that do vary."""
        self.mean, self.within = {}, {}
        for label in self.labels:
            here = rows[labels == label]
            cross = cross_products(here)
            sums = [mpmath.fsum(exact(value) for value in column) for column in here.T]
            self.mean[label] = [total / len(here) / unit for total, unit in zip(sums, scale, strict=True)]
            within = [[cross[i][j] / scale[i] / scale[j] for j in range(self.p)] for i in range(self.p)]
            self.within[label] = within
            shares = [float(within[at][at]) / len(here) for at in range(self.p)]
            self.least_share = min(self.least_share, *(share for share in shares if share > 0))

    def common(self, labels: Sequence[str], *, centred: bool) -> tuple[int, list[list[Number]]]:
        """Return how many rows some environments have, and their scatter about common means or those of each."""
        rows, p = sum(self.count[label] for label in labels), range(self.p)
        scatter = [[mpmath.fsum(self.within[label][i][j] for label in labels) for j in p] for i in p]
        if not centred:
            middle = [mpmath.fsum(self.count[e] * self.mean[e][i] for e in labels) / rows for i in p]
            for e in labels:
                apart = [self.mean[e][i] - middle[i] for i in p]
                scatter = [[scatter[i][j] + self.count[e] * apart[i] * apart[j] for j in p] for i in p]
        return rows, scatter

    @exactly
    def local(self, y: int, parents: tuple[int, ...], *, centred: bool) -> Number:
        """Return the part of a variable in the score."""
        at = [label for label in self.labels if y in self.targets[label]]
        rows, scatter = self.common([label for label in self.labels if label not in at], centred=centred)
        left, slopes = _regressed(scatter, y, parents)
        total = rows * mpmath.log(left / rows) + self.price * len(parents)
        m = len(parents)
        for label in at:
            n, within = self.count[label], self.within[label]
            weights = [(y, mpmath.mpf(1)), *((x, -slope) for x, slope in zip(parents, slopes, strict=True))]
            by_slopes = mpmath.fsum(a * b * within[i][j] for i, a in weights for j, b in weights)
            # What is held fixed counts as varying that little.
            costs = [cost / n if cost else exact(1e-12) for cost in (within[y][y], by_slopes)]
            of_costs = [n * mpmath.log(cost) + 2 * self.unit for cost in costs]
            if m and n > 2 * m + 4:
                own, _ = _regressed(within, y, parents)
                of_costs.append(n * mpmath.log(own / n if own > 0 else exact(1e-12)) + (2 + m) * self.unit)
            total += min(of_costs)
        return total

    def score(self, dag: NDArray[Any], *, centred: bool) -> float:
        """Return the score of a DAG."""
        extra = float(self.unit) * self.p * (len(self.labels) - 1) if centred else 0.0
        return score_of(dag, lambda y, parents: self.local(y, parents, centred=centred)) + extra


def _regressed(scatter: list[list[Number]], y: int, parents: tuple[int, ...]) -> tuple[Number, list[Number]]:
    """Return what parents leave of the scatter of y, and its slopes on them."""
    if not parents:
        return scatter[y][y], []
    matrix = mpmath.matrix([[scatter[i][j] for j in parents] for i in parents])
    slopes = list(mpmath.lu_solve(matrix, mpmath.matrix([scatter[i][y] for i in parents])))
    return scatter[y][y] - mpmath.fsum(s * scatter[x][y] for s, x in zip(slopes, parents, strict=True)), slopes


@exactly
def likeliest(
    rows: NDArray[Any], means: NDArray[Any], correlation: NDArray[Any], scales: NDArray[Any], steps: int
) -> list[list[Number]]:
    """Return the covariance after more steps of EM on rows with gaps, begun from what was found."""
    n, p = rows.shape
    mu, units = [exact(value) for value in means], [exact(value) for value in scales]
    sigma = symmetric(correlation)
    sigma = [[sigma[i][j] * units[i] * units[j] for j in range(p)] for i in range(p)]
    patterns = {}
    for known in {tuple(np.flatnonzero(each).tolist()) for each in np.isfinite(rows)}:
        some = rows[(np.isfinite(rows) == np.isin(np.arange(p), known)).all(axis=1)][:, list(known)]
        # Sums about the means found, which change little.
        apart = [[exact(value) - mu[at] for value in column] for at, column in zip(known, some.T, strict=True)]
        products = [[mpmath.fdot(one, other) for other in apart] for one in apart]
        patterns[known] = len(some), [mpmath.fsum(column) for column in apart], products
    moved = [mpmath.mpf(0)] * p
    for _ in range(steps):
        digits = Digits(sigma)
        totals, squares = [mpmath.mpf(0)] * p, [[mpmath.mpf(0)] * p for _ in range(p)]
        for known, (count, sums, products) in patterns.items():
            # What is expected of a row, less the means, is a combination of what is known of it.
            away = {at: moved[at] for at in known}
            first = [total - count * away[at] for total, at in zip(sums, known, strict=True)]
            second = [
                [
                    products[i][j] - sums[i] * away[y] - away[x] * sums[j] + count * away[x] * away[y]
                    for j, y in enumerate(known)
                ]
                for i, x in enumerate(known)
            ]
            weights = [
                [mpmath.mpf(at == x) for x in known] if at in known else _slopes(sigma, at, known) for at in range(p)
            ]
            half = [[mpmath.fdot(row, column) for column in zip(*second, strict=True)] for row in weights]
            spread = digits.left_by(known)
            for i in range(p):
                totals[i] += mpmath.fdot(weights[i], first)
                for j in range(p):
                    squares[i][j] += mpmath.fdot(half[i], weights[j])
                    if i not in known and j not in known:
                        squares[i][j] += count * spread[i][j] * digits.roots[i] * digits.roots[j]
        shift = [total / n for total in totals]
        sigma = [[squares[i][j] / n - shift[i] * shift[j] for j in range(p)] for i in range(p)]
        moved = [moved[i] + shift[i] for i in range(p)]
    return sigma


def _slopes(sigma: list[list[Number]], y: int, known: tuple[int, ...]) -> list[Number]:
    if not known:
        return []
    block, roots = unit([[sigma[i][j] for j in known] for i in known])
    found = mpmath.lu_solve(
        mpmath.matrix(block), mpmath.matrix([sigma[i][y] / roots[at] for at, i in enumerate(known)])
    )
    return [slope / root for slope, root in zip(found, roots, strict=True)]


@exactly
def pairwise(rows: NDArray[Any]) -> list[list[Number]]:
    """Return the correlations of each pair of columns over the rows that have both."""
    p = rows.shape[1]
    found = [[mpmath.mpf(1)] * p for _ in range(p)]
    for i, j in itertools.combinations(range(p), 2):
        both = np.isfinite(rows[:, [i, j]]).all(axis=1)
        found[i][j] = found[j][i] = unit(cross_products(rows[both][:, [i, j]]))[0][0][1]
    return found
