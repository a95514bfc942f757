"""Moments of columns with missing values: by maximum likelihood, or from the rows that each pair of columns has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky

from rfdag.errors import DataError, DataMessage, Message, OptionError, as_column, keyword
from rfdag.evidence.arrangement import by_content, by_entries, given_back, in_arrangement
from rfdag.evidence.em import em_moments
from rfdag.evidence.matrices import SINGULAR, condition_of, dependence
from rfdag.evidence.moments import Moments
from rfdag.evidence.nearest import floor_for, repaired
from rfdag.evidence.pair_rows import LEAST, Bridging, PairRows
from rfdag.evidence.profile import Kinds, Profile, profile_of
from rfdag.evidence.ranks import normal_scores, shares_below
from rfdag.evidence.spread import check_spread, origins_and_units, range_of, shifted, silenced
from rfdag.input.columns import Column
from rfdag.input.weights import whole_rows
from rfdag.wording import counted

Floats = NDArray[np.float64]

NAMED = 5
"""Columns whose missing values a warning counts."""

TOO_SIMILAR = Message(
    "Some columns are nearly linear combinations of others, too nearly for the missing values to be estimated well: "
    "variances given these others, and the BIC, are off. Drop or combine the most similar columns."
)

LEAST_PAIRS = 10
"""Rows that every pair of columns must have in common for a correlation."""


@dataclass(frozen=True)
class Bridged:
    """Means and covariance of columns with gaps.

    Attributes
    ----------
    mean, covariance
        The estimates, in the units of the columns as they were bridged.
    pair_rows
        In how many rows each pair of variables is known.
    notes
        What the user should know of them.
    """

    mean: Floats
    covariance: Floats
    pair_rows: PairRows
    notes: tuple[str, ...]
    units: Floats | float = 1.0
    """What the columns had been divided by."""
    origins: Floats | float = 0.0
    """What had been subtracted from them before."""

    @property
    def worth(self) -> int:
        """How many rows they count for: as many as a pair of variables has, on average."""
        return max(int(LEAST), whole_rows(self.pair_rows.mean))

    def in_units(self, units: Floats, origins: Floats | None = None) -> Bridged:
        """Return the same, with what the columns had been divided by, and what had been subtracted from them before."""
        return replace(self, units=units, origins=0.0 if origins is None else origins)


def bridged(
    columns: Floats,
    names: Sequence[Hashable],
    way: Bridging,
    weights: Floats | None = None,
    check: Callable[[], None] = lambda: None,
    report: Callable[[float], None] = lambda share: None,
) -> Bridged:
    """Return the means and the covariance of columns with gaps.

    ``names`` says for each column which variable it belongs to, for messages.
    """
    known = np.isfinite(columns)
    # The columns of a variable are missing together.
    first_of: dict[Hashable, int] = {}
    for at, name in enumerate(names):
        first_of.setdefault(name, at)
    owners, first = list(first_of), list(first_of.values())
    pair_rows = PairRows.of(known[:, first], way, weights)
    _check_pairs(known[:, first], pair_rows, owners)
    if way == "em":
        found = em_moments(columns, weights, check, report)
        notes: tuple[str, ...] = () if found.settled else (_unsettled(len(found.log_likelihoods)),)
        # Levels and powers of one variable may determine each other.
        if found.ridged and len(set(names)) == len(names):
            notes += (TOO_SIMILAR,)
        return Bridged(found.mean, found.covariance, pair_rows, notes)
    mean, covariance = pairwise_moments(columns, known, weights)
    scales = np.sqrt(np.diag(covariance))
    scales[scales == 0] = 1.0
    correlation = covariance / scales / scales[:, None]
    np.fill_diagonal(correlation, 1.0)
    repair = repaired(correlation, floor_for(whole_rows(pair_rows.mean), len(correlation)))
    notes = () if repair is None else (repair.warning("correlations of pairs of columns"),)
    if repair is not None:
        covariance = repair.correlation * scales * scales[:, None]
    return Bridged(mean, covariance, pair_rows, notes)


def pairwise_moments(columns: Floats, known: NDArray[np.bool_], weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return means of the columns, and covariances of each pair about the means of the rows that have both."""
    places = by_content(columns)
    columns = np.ascontiguousarray(columns[:, places])
    known = np.ascontiguousarray(known[:, places])
    there = known.astype(np.float64)
    filled = np.where(known, columns, 0.0)
    means = filled.sum(axis=0) / np.maximum(there.sum(axis=0), 1.0)
    # About the means of all known values first, for the accuracy of the products.
    centred = np.where(known, columns - means, 0.0)
    row = np.ones(len(columns)) if weights is None else weights
    counts = there.T @ (there * row[:, None])
    sums = centred.T @ (there * row[:, None])
    products = centred.T @ (centred * row[:, None])
    squares = (centred**2).T @ (there * row[:, None])
    covariance = products / counts - sums * sums.T / counts**2
    # Variances in the same rows make each correlation one of a sample; then each column gets its own variance.
    spread = squares / counts - (sums / counts) ** 2
    size = np.sqrt(np.maximum(spread * spread.T, 0.0))
    correlation = np.divide(covariance, size, out=np.zeros_like(covariance), where=size > 0)
    own = np.sqrt(np.maximum(np.diag(spread), 0.0))
    shift = (centred * row[:, None]).sum(axis=0) / np.diag(counts)
    return (means + shift)[np.argsort(places)], given_back(correlation * own * own[:, None], places)


def moments_with_gaps(
    values: NDArray[Any],
    names: tuple[Hashable, ...],
    way: Bridging,
    correlation: str,
    kinds: Kinds,
    weights: Floats | None = None,
    check: Callable[[], None] = lambda: None,
    report: Callable[[float], None] = lambda share: None,
) -> Moments:
    """Return the moments of numbers some of which are missing.

    >>> rows = np.random.default_rng(0).normal(size=(200, 3)) @ np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1.0]])
    >>> rows[:20, 1] = np.nan
    >>> found = moments_with_gaps(rows, ("a", "b", "c"), "em", "pearson", frozenset())
    >>> found.n_samples, found.correlation.shape
    (187, (3, 3))
    """
    if correlation not in ("pearson", "normal-scores"):
        raise OptionError(
            f"{keyword('correlation', correlation)} ranks whole rows, and values are missing. Pass "
            f"{keyword('missing', 'drop')}, or {keyword('correlation', 'normal-scores')}, which does with gaps."
        )
    values = silenced(np.asarray(values, np.float64))
    seen = range_of(values)
    check_spread(names, seen.lowest, seen.highest, seen.deviations)
    origins, units = origins_and_units(seen.lowest, seen.highest)
    columns = scores_of_known(values) if correlation == "normal-scores" else shifted(values, origins) / units
    found = bridged(columns, names, way, weights, check, report).in_units(units, origins)
    profile = profile_of(filled_from_others(values), names, kinds)
    return moments_of(found, names, correlation, np.isnan(values).sum(axis=0).tolist(), len(values), way, profile)


def moments_of(
    found: Bridged,
    names: tuple[Hashable, ...],
    correlation: str,
    missing: Sequence[int],
    rows: int,
    way: Bridging,
    seen: Profile,
) -> Moments:
    """Return the moments that bridging has found, given how many values of each column are missing in how many rows."""
    by_ranks = correlation == "normal-scores"
    scales = np.sqrt(np.diag(found.covariance))
    matrix = found.covariance / scales / scales[:, None]
    np.fill_diagonal(matrix, 1.0)
    places = by_entries(matrix)
    try:
        triangle = cholesky(in_arrangement(matrix, places))
    except LinAlgError:
        triangle = None
    if triangle is None or condition_of(triangle) > SINGULAR:
        raise dependence(_root(matrix), names)
    p = len(names)
    return Moments(
        names,
        found.worth,
        triangle[:, np.argsort(places)],
        np.zeros(p) if by_ranks else found.origins + found.mean * found.units,
        np.ones(p) if by_ranks else scales * found.units,
        ddof=0,
        correlated=correlation,
        notes=(about_gaps(names, missing, rows, way, found.worth), *seen.notes, *found.notes),
        columns=with_missing(seen.columns, missing),
        pair_rows=found.pair_rows,
    )


def scores_of_known(values: Floats) -> Floats:
    """Return the normal scores of the known values of each column, NaN where one is missing."""
    scores = np.full(values.shape, np.nan)
    for at in range(values.shape[1]):
        known = np.isfinite(values[:, at])
        scores[known, at] = normal_scores(shares_below(values[known, at : at + 1]))[:, 0]
    return scores


def filled_from_others(values: Floats) -> Floats:
    """Return a table whose missing values are filled with known ones of the same column, drawn at random.

    What a column looks like on its own stays the same; it is only looked at.
    """
    filled = np.array(values, np.float64)
    generator = np.random.default_rng(0)
    for at in np.flatnonzero(np.isnan(filled).any(axis=0)).tolist():
        gaps = np.isnan(filled[:, at])
        filled[gaps, at] = generator.choice(filled[~gaps, at], int(gaps.sum()))
    return filled


def with_missing(columns: Sequence[Column], missing: Sequence[int]) -> tuple[Column, ...]:
    """Return columns with how many of their values are missing."""
    return tuple(column._replace(missing=count) for column, count in zip(columns, missing, strict=True))


def about_gaps(names: Sequence[Hashable], missing: Sequence[int], rows: int, way: Bridging, worth: int) -> str:
    """Return the warning about missing values: how many there are by column, and what was done.

    >>> print(about_gaps(["age", "bmi"], [0, 19], 500, "em", 490))
    Values are missing: 3.8 % of 'bmi'. They were bridged by maximum likelihood as missing at random, and the rows count
    as 490 (of 500). If values are missing because of what they are, the answer is biased. Pass missing='drop' to use
    complete rows alone.
    """
    ordered = sorted((at for at, count in enumerate(missing) if count), key=lambda at: -missing[at])
    each = ", ".join(f"{100 * missing[at] / rows:.2g} % of {as_column(names[at])}" for at in ordered[:NAMED])
    more = f" and some of {counted(len(ordered) - NAMED, 'more column')}" if len(ordered) > NAMED else ""
    how = (
        "bridged by maximum likelihood as missing at random"
        if way == "em"
        else "left out pair by pair, which is right only if they are missing completely at random"
    )
    return DataMessage(
        f"Values are missing: {each}{more}. They were {how}, and the rows count as {worth} (of {rows}). If values are "
        f"missing because of what they are, the answer is biased. Pass {keyword('missing', 'drop')} to use complete "
        "rows alone."
    )


def _check_pairs(known: NDArray[np.bool_], pair_rows: PairRows, names: Sequence[Hashable]) -> None:
    """Raise if two variables are never, or hardly ever, known in the same row."""
    both = pair_rows.counts
    least = min(LEAST_PAIRS, int(pair_rows.rows))
    i, j = np.nonzero(np.triu(both < least, 1))
    if not len(i):
        return
    more = f", and {counted(len(i) - 1, 'pair')} of columns likewise" if len(i) > 1 else ""
    common = round(float(both[i[0], j[0]]))
    gaps = (~known).sum(axis=0)
    worst = names[max(dict.fromkeys(np.stack([i, j], axis=1).ravel().tolist()), key=lambda at: int(gaps[at]))]
    raise DataError(
        f"{as_column(names[i[0]])} and {as_column(names[j[0]])} are known together in {counted(common, 'row')}{more}; "
        f"a correlation needs at least {least}. Leave out columns with many gaps, as with {keyword('drop', [worst])}."
    )


def _root(matrix: Floats) -> Floats:
    """Return a triangle R with RᵀR near a matrix that is singular."""
    values, vectors = np.linalg.eigh(matrix)
    # What is at the rounding of a matrix counts as nothing.
    values[values < values[-1] / SINGULAR**2] = 0.0
    return np.asarray(np.linalg.qr(np.sqrt(values)[:, None] * vectors.T, mode="r"))


def _unsettled(steps: int) -> str:
    return DataMessage(
        f"The estimate for missing values still changed after {steps} steps: too much is missing for the rows that are "
        f"there. Leave out columns with many gaps, or pass {keyword('missing', 'drop')}."
    )
