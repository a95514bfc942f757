"""How variables stand as columns: a category as indicators of its levels, a number as itself or as powers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataMessage, as_column, listed
from rfdag.evidence.spread import silenced
from rfdag.wording import counted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RARE = 5
"""Rows below which a level is pooled with other rare ones."""

DRAWN_IN = 4.0
"""Standard deviations at which numbers are drawn in before powers are taken, so that no single row rules them."""

ALIASED = 1e-8
"""Share of a column's variance, beyond earlier columns of its variable, below which it adds nothing."""


@dataclass(frozen=True)
class Category:
    """How the levels of a categorical column are used.

    Attributes
    ----------
    levels
        The names of the levels in use; levels that are pooled share one name.
    of_code
        For each code of the input the number of its level in use.
    counts
        How many rows each level in use has.
    pooled
        The names of the levels that are pooled; empty where none are.
    codes
        The names of the codes of the input: all levels before any were pooled.
    """

    levels: tuple[str, ...]
    of_code: Integers
    counts: Integers
    pooled: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    @cached_property
    def indicated(self) -> Integers:
        """The levels that have an indicator: all but the most frequent one, the more frequent the earlier."""
        return np.argsort(-self.counts, kind="stable")[1:]

    @property
    def reference(self) -> str:
        """The level without an indicator, the most frequent one."""
        return self.levels[int(np.argsort(-self.counts, kind="stable")[0])]


@dataclass(frozen=True)
class Powers:
    """How a numeric column is used: standardised, and raised to powers up to ``degree``.

    Attributes
    ----------
    mean, deviation
        What it is standardised by.
    degree
        The highest power.
    lowest, highest
        The ends of the data; None where a file does not tell them.
    """

    mean: float
    deviation: float
    degree: int = 1
    lowest: float | None = None
    highest: float | None = None

    def beyond(self, value: float) -> bool:
        """Return whether a value lies outside of the data, as far as their ends are known."""
        return self.lowest is not None and self.highest is not None and not self.lowest <= value <= self.highest

    @property
    def drawn_in(self) -> tuple[float, float]:
        """The values to which those beyond are drawn in before powers are taken; infinite where there are none."""
        reach = DRAWN_IN * self.deviation if self.degree > 1 else np.inf
        return self.mean - reach, self.mean + reach


Part = Category | Powers


@dataclass(frozen=True)
class Expansion:
    """How each variable stands as columns: an n × p table of numbers and codes becomes one of n × K columns."""

    names: tuple[Hashable, ...]
    parts: tuple[Part, ...]

    @cached_property
    def widths(self) -> Integers:
        """How many columns each variable has."""
        return np.array([len(p.levels) - 1 if isinstance(p, Category) else p.degree for p in self.parts], np.int64)

    @cached_property
    def starts(self) -> Integers:
        """Where the columns of each variable begin, and where those of the last one end."""
        return np.append(0, np.cumsum(self.widths))

    @property
    def owners(self) -> tuple[Hashable, ...]:
        """For each column the name of the variable that it belongs to."""
        return tuple(name for name, width in zip(self.names, self.widths, strict=True) for _ in range(int(width)))

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which variables are categories."""
        return np.array([isinstance(part, Category) for part in self.parts])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns: "sex=female", "age", "age^2"."""
        found: list[str] = []
        for name, part in zip(self.names, self.parts, strict=True):
            if isinstance(part, Category):
                found += [f"{name}={part.levels[level]}" for level in part.indicated]
            else:
                found += [str(name), *(f"{name}^{power}" for power in range(2, part.degree + 1))]
        return tuple(found)

    def only(self, variables: Sequence[int]) -> Expansion:
        """Return how some of the variables stand as columns."""
        return Expansion(tuple(self.names[at] for at in variables), tuple(self.parts[at] for at in variables))

    def in_use(self) -> Expansion:
        """Return the same for rows whose codes number the levels in use, as rows drawn from a model do."""
        parts = (
            replace(part, of_code=np.arange(len(part.levels)), codes=part.levels)
            if isinstance(part, Category)
            else part
            for part in self.parts
        )
        return Expansion(self.names, tuple(parts))

    def columns(self, values: NDArray[Any]) -> Floats:
        """Return the columns of some rows; all columns of a variable are NaN where it is missing.

        >>> sex = Category(("f", "m"), np.array([0, 1]), np.array([6, 4]))
        >>> Expansion(("sex", "age"), (sex, Powers(40.0, 10.0))).columns(np.array([[1.0, 50.0], [0.0, np.nan]]))
        array([[ 1.,  1.],
               [ 0., nan]])
        """
        columns = np.empty((len(values), int(self.starts[-1])), order="F")
        for at, part in enumerate(self.parts):
            here = slice(int(self.starts[at]), int(self.starts[at + 1]))
            given = np.asarray(values[:, at], np.float64)
            if isinstance(part, Category):
                level = self.level_of(at, given)
                block = (level[:, None] == part.indicated).astype(np.float64)
                block[level < 0] = np.nan
                columns[:, here] = block
            else:
                standard = (silenced(given) - part.mean) / part.deviation
                if part.degree > 1:
                    np.clip(standard, -DRAWN_IN, DRAWN_IN, out=standard)
                for power in range(part.degree):
                    columns[:, here.start + power] = standard ** (power + 1)
        return columns

    def level_of(self, variable: int, values: NDArray[Any]) -> Integers:
        """Return the levels in use that codes of a categorical variable stand for; −1 where one is missing."""
        part = self.parts[variable]
        assert isinstance(part, Category)
        known = np.isfinite(values)
        level = np.full(len(values), -1)
        level[known] = part.of_code[values[known].astype(np.int64)]
        return level

    def remarks(self) -> tuple[str, ...]:
        """Return warnings about levels that are pooled."""
        return tuple(
            DataMessage(
                f"{as_column(name)}: {counted(len(part.pooled), 'level')} with fewer than {RARE} rows pooled into "
                f"{part.levels[int(part.of_code.max())]!r} ({listed(part.pooled)})."
            )
            for name, part in zip(self.names, self.parts, strict=True)
            if isinstance(part, Category) and part.pooled
        )


def category(name: Hashable, levels: Sequence[str], counts: Integers) -> Category:
    """Return how the levels of a column are used, given how many rows each has; rare ones are pooled.

    Levels without any row, as those that a table of all data keeps for a part of them, are left out.

    >>> found = category("town", ["a", "b", "c", "d"], np.array([50, 3, 40, 2]))
    >>> found.levels, found.of_code, found.pooled
    (('a', 'c', 'b or d'), array([0, 2, 1, 2]), ('b', 'd'))
    """
    counts = np.asarray(counts, np.int64)
    there = np.flatnonzero(counts)
    ascending = there[np.argsort(counts[there], kind="stable")]
    few = [int(level) for level in ascending if counts[level] < RARE]
    # What is pooled must not be rare itself, as long as two levels stay.
    while few and len(few) < len(there) - 1 and counts[few].sum() < RARE:
        few.append(int(ascending[len(few)]))
    if len(few) < 2 or len(few) == len(there):
        few = []
    kept = [int(level) for level in there if level not in few]
    of_code = np.full(len(levels), -1)
    of_code[kept] = np.arange(len(kept))
    names = [levels[level] for level in kept]
    sizes = counts[kept].tolist()
    pooled = tuple(levels[level] for level in sorted(few))
    if few:
        of_code[few] = len(kept)
        names.append(" or ".join(pooled) if len(pooled) < 3 else "other")
        sizes.append(int(counts[few].sum()))
    return Category(tuple(names), of_code, np.array(sizes), pooled, tuple(levels))


def whitened(covariance: Floats, expansion: Expansion) -> tuple[Floats, Floats, Integers]:
    """Return the covariance with the columns of each variable uncorrelated, W that made it so, and where they start.

    The columns are taken one after the other, so that the first of a number stays the number itself, in standard
    units; those that add nothing to earlier columns of their variable are left out. The result is W S Wᵀ.

    >>> age = Expansion(("age",), (Powers(0.0, 1.0, 2),))
    >>> whitened(np.array([[4.0, 2.0], [2.0, 2.0]]), age)[1]
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    scales = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    some = scales > 0
    scale = np.where(some, scales, 1.0)
    correlation = covariance / scale / scale[:, None]
    rows: list[Floats] = []
    starts = [0]
    for first, last in zip(expansion.starts[:-1].tolist(), expansion.starts[1:].tolist(), strict=True):
        block = correlation[first:last, first:last]
        found: list[Floats] = []
        for column in range(last - first):
            direction = np.zeros(last - first)
            direction[column] = 1.0
            for other in found:
                direction -= (other @ block[:, column]) * other
            size = direction @ block @ direction
            if some[first + column] and size > ALIASED:
                found.append(direction / np.sqrt(size))
        for direction in found:
            row = np.zeros(len(covariance))
            row[first:last] = direction
            rows.append(row)
        starts.append(len(rows))
    weights = np.array(rows).reshape(len(rows), len(covariance))
    white = weights @ correlation @ weights.T
    white = (white + white.T) / 2
    np.fill_diagonal(white, 1.0)
    return np.ascontiguousarray(white), weights / scale, np.array(starts, np.int64)
