"""What the numbers of each column look like, and what seems wrong with them: codes, sentinels, row numbers, tails."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri

from rfdag.evidence import findings
from rfdag.evidence.codes import FEW_VALUES, MOST_LOOKED_AT, look_like_codes
from rfdag.evidence.curvature import Curved, curved_pairs
from rfdag.evidence.ranks import unit_scores
from rfdag.evidence.sentinels import Sentinel, may_be_sentinels, sentinels_in
from rfdag.evidence.spread import range_of
from rfdag.evidence.spread_sample import MOST_ROWS, some_rows
from rfdag.evidence.tails import heavy_tailed
from rfdag.input.columns import Column

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kinds = frozenset[str]
Ends = tuple[NDArray[Any], NDArray[Any]]

ALL = frozenset({"sentinels", "identifiers", "tails", "skewness", "pairs"})
"""What is looked for where columns are correlated as they are; pairs show codes and curvature."""
BY_RANKS = ALL - {"tails", "skewness"}
"""What ranks do not cure."""
BY_TESTS = frozenset({"sentinels", "identifiers"})
"""What no test of independence can do anything about."""

ROWS_FOR_PAIRS, COLUMNS_FOR_PAIRS = 500, 5000
"""Rows, and columns up to which, columns are compared with each other: for a few seconds at most."""

ROWS_PER_VALUE = 5
"""Rows for each different value from which values are few."""

LOG_CHANCE = float(np.log(1e-6))
"""Logarithm of the chance below which whole numbers that all differ, or increase from row to row, number the rows."""

QUANTILE_SKEWED, SKEWED, LEAST_ROWS = 0.6, 3.0, 100
"""Skewness by quantiles and by moments beyond which a column is strongly skewed, and the rows from which that shows.

By quantiles (those of 5 %, 50 % and 95 %) no tail counts; an exponential column has 0.57, a log-normal one 0.68. Chosen
on 2000 columns of each kind (seed 0), other than those that benchmarks/health.py reports: of 400 rows, 0.2 % of the
exponential columns are beyond both, and 77 % of the log-normal ones.
"""

CELLS_AT_ONCE = 2**15
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
    """Rows to look at.

    Attributes
    ----------
    values
        A table of all rows, or of some that are spread over all.
    whole
        Whether these are all rows.
    """

    values: NDArray[Any]
    whole: bool = True

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
        >>> profile = Look(rows).profile(["age", "income"], 200, (rows.min(axis=0), rows.max(axis=0)))
        >>> profile.columns[1]
        Column(name='income', taken_for='numbers', done='used', remarks=('−999 occurs 10 times',), missing=0)
        >>> print(*profile.notes)
        Column 'income' has numbers that seem to stand for missing values: −999 occurs 10 times. If so, pass
        na_values=[-999], so that they count as missing.
        """
        rows, p = some_rows(*self.values.shape), len(names)
        step = max(1, CELLS_AT_ONCE // min(len(self.values), MOST_ROWS))
        tiles = [slice(first, first + step) for first in range(0, p, step)]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = [_facts(self.values[:, tile][rows], (ends[0][tile], ends[1][tile])) for tile in tiles]
            facts = _Facts(*map(np.concatenate, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]
            found = self._found(n, rows, facts, ends, spread, kinds)
        return Profile(_described(names, facts, found), _noted(names, found))

    def _found(self, n: int, rows: Any, facts: _Facts, ends: Ends, spread: Spread | None, kinds: Kinds) -> _Found:
        """Return what the facts show; of a column that cannot be used as it is, only that."""
        p = len(facts.distinct)
        nothing = np.zeros(p, bool)
        sentinels = self._sentinels(n, rows, ends) if "sentinels" in kinds else {}
        # A table of ranks has many columns of different whole numbers.
        dense = facts.dense if 2 * (facts.dense & ~facts.ordered).sum() <= p else nothing
        numbering = facts.ordered | dense if "identifiers" in kinds else nothing
        unusable = numbering.copy()
        unusable[list(sentinels)] = True
        heavy, shares = nothing, np.zeros(p)
        if "tails" in kinds and spread is not None:
            heavy, shares = heavy_tailed(n, *ends, *spread, facts.middles)
            heavy &= ~unusable
        skewed = nothing
        if "skewness" in kinds:
            skewed = (np.abs(facts.skewness) > SKEWED) & ~(unusable | heavy | facts.few)
        codes: Mask = nothing
        pairs: list[Curved] = []
        if "pairs" in kinds and p <= COLUMNS_FOR_PAIRS:
            codes, pairs = self._compared(facts, unusable)
        return _Found(sentinels, numbering, codes, heavy, shares, skewed, pairs)

    def _compared(self, facts: _Facts, unusable: Mask) -> tuple[Mask, list[Curved]]:
        """Return the columns that look like codes, and the pairs with curvature."""
        n, p = self.values.shape
        rows = some_rows(n, p, ROWS_FOR_PAIRS)
        places = np.flatnonzero(~(unusable | facts.few | (facts.distinct < 3)))
        scores = self._scores(rows, places, facts.tied)
        codes = np.zeros(p, bool)
        suspects = np.flatnonzero(facts.few & facts.whole & ~unusable)[:MOST_LOOKED_AT]
        # Such columns are compared with each other as well.
        of_suspects = self._scores(rows, suspects, facts.tied)
        for number, at in enumerate(suspects.tolist()):
            others = np.concatenate([scores, np.delete(of_suspects, number, axis=0)])
            codes[at] = look_like_codes(self.values[:, at][rows], others, len(suspects))
        pairs = [
            Curved(int(places[i]), int(places[j]), share) for i, j, share in curved_pairs(scores, facts.bowed[places])
        ]
        return codes, pairs

    def _scores(self, rows: Any, places: NDArray[np.int64], tied: Mask) -> NDArray[np.float32]:
        """Return what `unit_scores` returns for some rows of some columns, some columns at a time."""
        n = len(self.values)
        scores = np.empty((len(places), n if isinstance(rows, slice) else len(rows)), np.float32)
        step = max(1, CELLS_AT_ONCE // max(scores.shape[1], 1))
        for first in range(0, len(places), step):
            tile = places[first : first + step]
            # Row by row, since a copy of whole columns would be as large as the table.
            picked = self.values[:, tile] if isinstance(rows, slice) else self.values[np.ix_(rows, tile)]
            scores[first : first + step] = unit_scores(np.ascontiguousarray(picked.T, np.float64), tied[tile])
        return scores

    def _sentinels(self, n: int, rows: Any, ends: Ends) -> dict[int, list[Sentinel]]:
        """Return the numbers that seem to stand for missing values, by column."""
        found: dict[int, list[Sentinel]] = {}
        for at in np.flatnonzero(may_be_sentinels(ends[0]) | may_be_sentinels(ends[1])).tolist():
            column = self.values[:, at]
            numbers = np.sort(np.asarray(column[rows], np.float64))

            def occurring(value: float, seen: int, column: NDArray[Any] = column) -> int | None:
                if self.whole:
                    return int(np.count_nonzero(column == value))
                return round(seen * n / len(column)) or None

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
        parts = [range_of(values[:, first : first + step]) for first in range(0, p, step)]
        deviations = np.concatenate([part.deviations for part in parts]) * np.sqrt(n / max(n - 1, 1))
        spread = Spread(np.concatenate([part.means for part in parts]), deviations)
    return Look(values).profile(names, n, ends, spread, kinds)


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
    tied: Mask
    """Whether some of them are equal."""
    few: Mask
    """Whether there are few different ones, though more than two, for many rows."""


class _Found(NamedTuple):
    """What was found in columns."""

    sentinels: dict[int, list[Sentinel]]
    numbering: Mask
    codes: Mask
    heavy: Mask
    shares: Floats
    skewed: Mask
    pairs: list[Curved]


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
        exact = gammaln(m + 1) - gammaln(m - k + 1) - k * np.log(m)
        # Of large numbers the logarithms of factorials would leave nothing but rounding.
        dense[places] = np.nan_to_num(np.where(m > 1000 * k, -k * (k - 1) / (2 * m), exact)) < LOG_CHANCE
    low, quarter, middle, upper, high = _half_quantiles(ascending)
    bowed = np.where(high > low, (high - middle - (middle - low)) / (high - low), 0.0)
    skewness = np.zeros(p)
    for at in np.flatnonzero((np.abs(bowed) > QUANTILE_SKEWED) & (distinct > 2) & (k >= LEAST_ROWS)).tolist():
        column = columns[at] / np.abs(columns[at]).max()
        column -= column.mean()
        skewness[at] = (column**3).mean() / (column**2).mean() ** 1.5
    middles = 2 * (upper - quarter) / (ndtri(0.75) - ndtri(0.25))
    few = (distinct > 2) & (distinct <= FEW_VALUES) & (k >= ROWS_PER_VALUE * distinct)
    return _Facts(distinct, whole, ordered, dense, bowed, skewness, middles, distinct < k, few)


def _half_quantiles(ascending: Floats) -> Floats:
    """Return half of five quantiles of sorted columns: differences of the largest numbers would overflow."""
    k = ascending.shape[1]
    places = np.array([0.05, 0.25, 0.5, 0.75, 0.95]) * (k - 1)
    below = places.astype(np.int64)
    weights = places - below
    found: Floats = ascending[:, below] / 2 * (1 - weights)
    found += ascending[:, np.minimum(below + 1, k - 1)] / 2 * weights
    return found.T


def _noted(names: Sequence[Hashable], found: _Found) -> tuple[str, ...]:
    """Return what was found as sentences, the most misleading first."""

    def named(mask: Mask) -> list[Hashable]:
        return [names[at] for at in np.flatnonzero(mask).tolist()]

    return (
        *findings.about_sentinels(names, found.sentinels),
        *findings.about_numbering(named(found.numbering), len(names)),
        *findings.about_codes(named(found.codes), len(names)),
        *findings.about_tails(names, found.heavy, found.shares),
        *findings.about_skewness(named(found.skewed)),
        *findings.about_curvature([(names[pair.column], names[pair.on]) for pair in found.pairs]),
    )


def _described(names: Sequence[Hashable], facts: _Facts, found: _Found) -> tuple[Column, ...]:
    """Return what each column was taken for, with what was found in it."""
    remarks: dict[int, list[str]] = {at: list(map(findings.occurring, each)) for at, each in found.sentinels.items()}
    for at in np.flatnonzero(facts.few).tolist():
        remarks.setdefault(at, []).append(f"{facts.distinct[at]} different values")
    phrases = {
        "numbers the rows": found.numbering,
        "looks like codes": found.codes,
        "heavy tails": found.heavy,
        "strong skew": found.skewed,
    }
    for phrase, mask in phrases.items():
        for at in np.flatnonzero(mask).tolist():
            remarks.setdefault(at, []).append(phrase)
    for pair in found.pairs:
        remarks.setdefault(pair.column, []).append(f"depends on the square of {names[pair.on]}")
    taken = np.where(facts.distinct == 2, "two values", np.where(facts.whole, "whole numbers", "numbers")).tolist()
    return tuple(
        Column(name, what, remarks=tuple(remarks.get(at, ())))
        for at, (name, what) in enumerate(zip(names, taken, strict=True))
    )
