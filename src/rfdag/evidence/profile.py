"""What the numbers of each column look like, and what seems wrong with them: codes, sentinels, row numbers, tails."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri

from rfdag.evidence import findings
from rfdag.evidence.curvature import Curved, curved_pairs
from rfdag.evidence.sentinels import Sentinel, may_be_sentinels, sentinels_in
from rfdag.evidence.spread_sample import some_rows
from rfdag.evidence.tails import heavy_tailed
from rfdag.input.columns import Column

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kinds = frozenset[str]
Ends = tuple[NDArray[Any], NDArray[Any]]

ALL = frozenset({"sentinels", "identifiers", "codes", "tails", "skewness", "curvature"})
"""What is looked for where columns are correlated as they are."""
BY_RANKS = ALL - {"tails", "skewness"}
"""What ranks do not cure."""
BY_TESTS = frozenset({"sentinels", "identifiers"})
"""What no test of independence can do anything about."""

FEW_VALUES = 10
"""Different values up to which they are remarked on."""

CODES = 4
"""Different whole numbers up to which they may be codes of categories; two are on a scale, whatever they stand for."""

ROWS_PER_VALUE = 5
"""Rows for each different value from which values are few."""

LOG_CHANCE = float(np.log(1e-6))
"""Logarithm of the chance below which whole numbers that all differ, or increase from row to row, number the rows."""

QUANTILE_SKEWED, SKEWED, LEAST_ROWS = 0.4, 3.0, 50
"""Skewness by quantiles and by moments beyond which a column is strongly skewed, and the rows from which that shows.

By quantiles (that of 5 %, the median and that of 95 %) a Gaussian column has 0, an exponential one 0.57, and no tail
counts; by moments these have 0 and 2, and a log-normal one 6. Chosen on seeds 0 to 19 of benchmarks/health.py.
"""


CELLS_AT_ONCE = 2**20
"""Numbers that are sorted at a time."""


class Profile(NamedTuple):
    """What columns were taken for, and what may be wrong with them in words."""

    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()


class Spread(NamedTuple):
    """Means and standard deviations of all rows."""

    means: Floats
    deviations: Floats


class Look(NamedTuple):
    """Some rows to look at.

    Attributes
    ----------
    rows
        All rows, or some that are spread over all.
    occurrences
        Counts a number in a column over all rows; None where that takes another pass.
    """

    rows: NDArray[Any]
    occurrences: Callable[[int, float], int] | None = None

    @classmethod
    def of(cls, values: NDArray[Any]) -> Look:
        """Return the rows of a table to look at."""
        return cls(some_rows(values), lambda at, value: int(np.count_nonzero(values[:, at] == value)))

    def profile(
        self, names: Sequence[Hashable], n: int, ends: Ends, spread: Spread | None = None, kinds: Kinds = ALL
    ) -> Profile:
        """Return the profile of the columns.

        Parameters
        ----------
        names
            One per column.
        n
            Number of all rows.
        ends
            Lowest and highest number of each column, over all rows.
        spread
            Means and standard deviations over all rows; without them tails are not looked at.
        kinds
            What is looked for.

        Examples
        --------
        >>> rows = np.random.default_rng(0).normal(50, 10, size=(200, 2)).round(1)
        >>> rows[::20, 1] = -999
        >>> profile = Look.of(rows).profile(["age", "income"], 200, (rows.min(axis=0), rows.max(axis=0)))
        >>> profile.columns[1]
        Column(name='income', taken_for='numbers', done='used', remarks=('−999 occurs 10 times',))
        >>> print(*profile.notes)
        Column 'income' has numbers that seem to stand for missing values: −999 occurs 10 times. Replace such numbers
        by empty cells where the data come from, then drop or fill in these rows.
        """
        rows, p = np.asarray(self.rows), len(names)
        k = len(rows)
        step = max(1, CELLS_AT_ONCE // max(k, 1))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = [
                _facts(rows[:, first : first + step], (ends[0][first : first + step], ends[1][first : first + step]))
                for first in range(0, p, step)
            ]
            facts = _Facts(*map(np.concatenate, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]
            sentinels = self._sentinels(n, ends) if "sentinels" in kinds else {}
            return _concluded(names, n, rows, facts, sentinels, ends, spread, kinds)

    def _sentinels(self, n: int, ends: Ends) -> dict[int, list[Sentinel]]:
        """Return the numbers that seem to stand for missing values, by column."""
        k = len(self.rows)
        found: dict[int, list[Sentinel]] = {}
        for at in np.flatnonzero(may_be_sentinels(ends[0]) | may_be_sentinels(ends[1])).tolist():

            def occurring(value: float, seen: int, at: int = at) -> int | None:
                if k == n:
                    return seen
                return round(seen * n / k) or None if self.occurrences is None else self.occurrences(at, value)

            numbers = np.sort(np.asarray(self.rows[:, at], np.float64))
            here = sentinels_in(numbers, (float(ends[0][at]), float(ends[1][at])), occurring)
            if here:
                found[at] = here
        return found


def profile_of(values: NDArray[Any], names: Sequence[Hashable], kinds: Kinds = ALL) -> Profile:
    """Return the profile of a table of which nothing else is known.

    >>> profile_of(np.array([[1.5, 0], [0.5, 1], [1.0, 1]]), "ab").columns[1].taken_for
    'two values'
    """
    n, p = values.shape
    ends, spread = (values.min(axis=0), values.max(axis=0)), None
    if "tails" in kinds:
        # Some columns at a time, since deviations take a copy of them.
        step = max(1, CELLS_AT_ONCE // n)
        parts = [values[:, first : first + step] for first in range(0, p, step)]
        spread = Spread(
            values.mean(axis=0, dtype=np.float64),
            np.concatenate([part.std(axis=0, ddof=1, dtype=np.float64) for part in parts]),
        )
    return Look.of(values).profile(names, n, ends, spread, kinds)


class _Facts(NamedTuple):
    """Facts about each column of some rows."""

    distinct: NDArray[np.int64]
    """How many different numbers there are."""
    whole: Mask
    """Whether all of them are whole numbers."""
    ordered: Mask
    """Whether they are whole numbers that increase, or decrease, from row to row, and not by chance."""
    dense: Mask
    """Whether they are whole numbers that all differ, though there is not much more room for them."""
    bowed: Floats
    """Skewness by quantiles."""
    skewness: Floats
    """Skewness by moments; 0 where that by quantiles is small."""
    middles: Floats
    """Standard deviation of a Gaussian column with the same middle half."""


def _facts(rows: NDArray[Any], ends: Ends) -> _Facts:
    columns = np.ascontiguousarray(rows.T, np.float64)
    p, k = columns.shape
    ascending = np.sort(columns, axis=1)
    distinct = 1 + np.count_nonzero(ascending[:, 1:] != ascending[:, :-1], axis=1)
    # The first few numbers tell most columns.
    whole: Mask = (columns[:, :8] == np.rint(columns[:, :8])).all(axis=1)
    for at in np.flatnonzero(whole).tolist():
        whole[at] = bool((columns[at] == np.rint(columns[at])).all())
    ordered, dense = np.zeros(p, bool), np.zeros(p, bool)
    places = np.flatnonzero(whole & (distinct == k))
    if len(places):
        steps = np.diff(columns[places], axis=1)
        ordered[places] = (steps > 0).all(axis=1) | (steps < 0).all(axis=1)
        ordered &= float(np.log(2) - gammaln(k + 1)) < LOG_CHANCE
        # All of k numbers differ that are drawn from m with equal chances; with others this is less likely still.
        m = ends[1][places].astype(np.float64) - ends[0][places].astype(np.float64) + 1
        dense[places] = np.nan_to_num(gammaln(m + 1) - gammaln(m - k + 1) - k * np.log(m)) < LOG_CHANCE
    low, quarter, middle, upper, high = _half_quantiles(ascending)
    bowed = np.where(high > low, (high - middle - (middle - low)) / (high - low), 0.0)
    skewness = np.zeros(p)
    for at in np.flatnonzero((np.abs(bowed) > QUANTILE_SKEWED) & (distinct > 2)).tolist():
        column = columns[at] / np.abs(columns[at]).max()
        column -= column.mean()
        skewness[at] = (column**3).mean() / (column**2).mean() ** 1.5
    return _Facts(distinct, whole, ordered, dense, bowed, skewness, 2 * (upper - quarter) / (ndtri(0.75) - ndtri(0.25)))


def _half_quantiles(ascending: Floats) -> Floats:
    """Return half of five quantiles of sorted columns: differences of the largest numbers would overflow."""
    k = ascending.shape[1]
    places = np.array([0.05, 0.25, 0.5, 0.75, 0.95]) * (k - 1)
    below = places.astype(np.int64)
    weights = places - below
    found: Floats = ascending[:, below] / 2 * (1 - weights)
    found += ascending[:, np.minimum(below + 1, k - 1)] / 2 * weights
    return found.T


def _concluded(
    names: Sequence[Hashable],
    n: int,
    rows: NDArray[Any],
    facts: _Facts,
    sentinels: dict[int, list[Sentinel]],
    ends: Ends,
    spread: Spread | None,
    kinds: Kinds,
) -> Profile:
    """Return what the facts show, the most misleading first; a column that cannot be used as it is, only once."""
    p, k = len(names), len(rows)
    nothing = np.zeros(p, bool)
    few = (facts.distinct > 2) & (facts.distinct <= FEW_VALUES) & (k >= ROWS_PER_VALUE * facts.distinct)
    # A table of ranks has many columns of different whole numbers.
    dense = facts.dense if 2 * (facts.dense & ~facts.ordered).sum() <= p else nothing
    numbering = facts.ordered | dense if "identifiers" in kinds else nothing
    unusable = numbering.copy()
    unusable[list(sentinels)] = True
    codes = few & facts.whole & (facts.distinct <= CODES) & ~unusable if "codes" in kinds else nothing
    heavy, shares = nothing, np.zeros(p)
    if "tails" in kinds and spread is not None:
        heavy, shares = heavy_tailed(n, *ends, *spread, facts.middles)
        heavy &= ~unusable
    skewed = nothing
    if "skewness" in kinds and k >= LEAST_ROWS:
        skewed = (np.abs(facts.skewness) > SKEWED) & ~(unusable | heavy | few)
    pairs: list[Curved] = []
    if "curvature" in kinds:
        places = np.flatnonzero(~(unusable | few | (facts.distinct < 3)))
        pairs = curved_pairs(rows, places, facts.bowed, facts.distinct < k)

    def named(mask: Mask) -> list[Hashable]:
        return [names[at] for at in np.flatnonzero(mask).tolist()]

    notes = (
        *findings.about_sentinels(names, sentinels),
        *findings.about_numbering(named(numbering)),
        *findings.about_codes(named(codes)),
        *findings.about_tails(names, heavy, shares),
        *findings.about_skewness(named(skewed)),
        *findings.about_curvature([(names[pair.column], names[pair.on]) for pair in pairs]),
    )
    remarks: dict[int, list[str]] = {at: list(map(findings.occurring, found)) for at, found in sentinels.items()}
    for at in np.flatnonzero(few).tolist():
        remarks.setdefault(at, []).append(f"{facts.distinct[at]} different values")
    for phrase, mask in (("numbers the rows", numbering), ("heavy tails", heavy), ("strong skew", skewed)):
        for at in np.flatnonzero(mask).tolist():
            remarks.setdefault(at, []).append(phrase)
    for pair in pairs:
        remarks.setdefault(pair.column, []).append(f"depends on the square of {names[pair.on]}")
    taken = np.where(facts.distinct == 2, "two values", np.where(facts.whole, "whole numbers", "numbers")).tolist()
    columns = [
        Column(name, what, remarks=tuple(remarks.get(at, ())))
        for at, (name, what) in enumerate(zip(names, taken, strict=True))
    ]
    return Profile(tuple(columns), notes)
