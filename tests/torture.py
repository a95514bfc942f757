"""Rows that strain arithmetic, and what 50 digits say of them. Imports nothing from rfdag, so that agreement counts.

Every table is small, so that all DAGs can be compared: the reference takes the entries as the exact numbers that they
are, forms covariances and determinants with 50 digits, and finds the least score over all orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import mpmath
import numpy as np
from numpy.typing import NDArray

DIGITS = 50


@dataclass(frozen=True)
class Strained:
    """A table, and what is strained in it."""

    name: str
    rows: NDArray

    @property
    def family(self) -> str:
        """What the tables of its kind have in common."""
        return self.name.partition(":")[0]


def model(p: int, n: int, seed: int) -> NDArray:
    """Return rows of a random linear model over the order 0, 1, …, each variable on about half of those before it."""
    generator = np.random.default_rng([p, n, seed, 20])
    rows = generator.normal(size=(n, p))
    for y in range(1, p):
        chosen = generator.random(y) < 0.5
        rows[:, y] += rows[:, :y] @ (chosen * generator.uniform(0.5, 1.0, y) * generator.choice([-1, 1], y))
    return rows


def strained(seed: int) -> Iterator[Strained]:
    """Yield tables of all families, drawn with a seed."""
    generator = np.random.default_rng([seed, 21])
    plain = model(5, 40, seed)
    yield Strained("as they are", plain)
    for power in range(1, 17):
        noise, size = generator.normal(size=40), 10.0**-power
        yield Strained(f"near copy: 1e-{power}", np.column_stack([plain[:, :4], plain[:, 1] + size * noise]))
        total = plain[:, 0] + plain[:, 1] - plain[:, 2]
        yield Strained(f"near sum: 1e-{power}", np.column_stack([plain[:, :4], total + size * noise]))
        steps = np.column_stack([plain[:, :1], size * generator.normal(size=(40, 4))])
        yield Strained(f"chain of small steps: 1e-{power}", steps.cumsum(axis=1))
    for p in range(3, 7):
        hilbert = 1.0 / (np.arange(p)[:, None] + np.arange(p) + 1.0)
        yield Strained(f"Hilbert matrix: {p}", generator.normal(size=(40, p)) @ np.linalg.cholesky(hilbert).T)
        yield Strained(f"powers: {p}", generator.uniform(size=(40, 1)) ** np.arange(1, p + 1))
    for power in (3, 6, 9, 12, 13, 14, 15):
        yield Strained(f"large means: 1e{power}", plain + 10.0**power)
        yield Strained(f"one large mean: 1e{power}", plain + 10.0**power * (np.arange(5) == 2))
    for power in (-320, -310, -300, -200, -140, -100, 100, 140, 200, 300, 306):
        unit, inverse = 10.0**power, 10.0 ** min(-power, 300)
        yield Strained(f"scale: 1e{power}", plain * unit)
        yield Strained(f"one scale: 1e{power}", plain * np.where(np.arange(5) == 1, unit, 1.0))
        yield Strained(f"two scales: 1e{power}", plain * np.array([1.0, unit, 1.0, inverse, 1.0]))
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8):
        unit = min(np.iinfo(kind).max // 16, 2**58)
        yield Strained(f"whole numbers: {kind.__name__}", np.round(plain * unit + unit * 6).clip(0).astype(kind))
    yield Strained("whole numbers: near 2⁶³", (np.round(plain * 2.0**40) + 2.0**62).astype(np.int64))
    yield Strained("0 and 1: bool", plain > 0)
    for kind in (np.float16, np.float32):
        yield Strained(f"short floats: {kind.__name__}", plain.astype(kind))
        yield Strained(f"short floats: {kind.__name__}, mean 100", (plain + 100).astype(kind))
    for p in (2, 3, 4, 5):
        yield Strained(f"two rows more than columns: {p}", model(p, p + 2, seed))
    for power in (3, 6, 9, 15):
        outlier = plain.copy()
        outlier[7, 2] = 10.0**power
        yield Strained(f"an outlier: 1e{power}", outlier)
        outlier[7, 4] = -(10.0**power)
        yield Strained(f"an outlier in two columns: 1e{power}", outlier)
        flat = plain.copy()
        flat[:, 3] = 1.0
        flat[11, 3] += 10.0**-power
        yield Strained(f"constant but for a row: 1e-{power}", flat)
    yield Strained("repeated rows: 10 times", np.repeat(plain[:12], 10, axis=0))
    yield Strained("opposite signs: all", np.column_stack([plain[:, :4], -plain[:, 0] + 1e-3 * plain[:, 4]]))


class Reference:
    """Scores of all DAGs over the columns of a table, with 50 digits.

    The score is that of the documentation: n Σ ln(share of the variance of y that its parents leave) + price · edges.
    """

    def __init__(self, rows: NDArray, price: float) -> None:
        self.n, self.p = rows.shape
        self.price = price
        with mpmath.workdps(DIGITS):
            table = [[_exact(value) for value in column] for column in rows.T]
            table = [[value - mpmath.fsum(column) / self.n for value in column] for column in table]
            self.cross = [[mpmath.fdot(a, b) for b in table] for a in table]
            # To columns of length one: what is small is small beside 1 then.
            roots = [mpmath.sqrt(self.cross[at][at]) for at in range(self.p)]
            self.usable = all(root > 0 for root in roots)
            if self.usable:
                self.cross = [[self.cross[i][j] / roots[i] / roots[j] for j in range(self.p)] for i in range(self.p)]
                self.roots = roots
        self._determinants: dict[tuple[int, ...], mpmath.mpf] = {(): mpmath.mpf(1)}

    @property
    def condition(self) -> float:
        """That of the correlation matrix; infinite if it is singular to 40 digits."""
        with mpmath.workdps(DIGITS):
            values = mpmath.eigsy(mpmath.matrix(self.cross), eigvals_only=True)
            least, most = min(values), max(values)
            return float(most / least) if least > mpmath.mpf(10) ** -40 else float("inf")

    def share(self, y: int, parents: tuple[int, ...]) -> mpmath.mpf:
        """Return the share of the variance of y that parents leave."""
        parents = tuple(sorted(parents))
        return self._determinant(tuple(sorted((*parents, y)))) / self._determinant(parents)

    def slopes(self, y: int, parents: tuple[int, ...]) -> list[float]:
        """Return the coefficients of y on its parents, in the units of the table."""
        if not parents:
            return []
        with mpmath.workdps(DIGITS):
            matrix = mpmath.matrix([[self.cross[i][j] for j in parents] for i in parents])
            found = mpmath.lu_solve(matrix, mpmath.matrix([self.cross[i][y] for i in parents]))
            return [float(value * self.roots[y] / self.roots[at]) for value, at in zip(found, parents, strict=True)]

    def score(self, dag: NDArray) -> float:
        """Return the score of a DAG."""
        with mpmath.workdps(DIGITS):
            families = [(y, tuple(np.flatnonzero(dag[:, y]).tolist())) for y in range(self.p)]
            return float(mpmath.fsum(self._local(*family) for family in families))

    def least(self) -> float:
        """Return the least score of all DAGs, by dynamic programming over the sets that come first in an order."""
        with mpmath.workdps(DIGITS):
            best = {frozenset[int](): mpmath.mpf(0)}
            for size in range(1, self.p + 1):
                for each in itertools.combinations(range(self.p), size):
                    members = frozenset(each)
                    best[members] = min(best[members - {y}] + self._best_local(y, members - {y}) for y in each)
            return float(best[frozenset(range(self.p))])

    def _best_local(self, y: int, others: frozenset[int]) -> mpmath.mpf:
        sets = itertools.chain.from_iterable(
            itertools.combinations(sorted(others), size) for size in range(min(len(others), self.n - 2) + 1)
        )
        return min(self._local(y, parents) for parents in sets)

    def _local(self, y: int, parents: tuple[int, ...]) -> mpmath.mpf:
        return self.n * mpmath.log(self.share(y, parents)) + self.price * len(parents)

    def _determinant(self, members: tuple[int, ...]) -> mpmath.mpf:
        if members not in self._determinants:
            with mpmath.workdps(DIGITS):
                block = mpmath.matrix([[self.cross[i][j] for j in members] for i in members])
                self._determinants[members] = mpmath.det(block)
        return self._determinants[members]


def _exact(value: object) -> mpmath.mpf:
    """Return the number that an entry is, exactly."""
    return mpmath.mpf(int(value)) if isinstance(value, np.bool_ | np.integer) else mpmath.mpf(float(value))
