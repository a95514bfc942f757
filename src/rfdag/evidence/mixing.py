"""From a table with categories, gaps or curves to evidence in which a variable may be several columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import Group, OptionError, keyword
from rfdag.evidence.arrangement import products_of
from rfdag.evidence.awkward import CONSTANT, COPIES, COPY, awkward_error
from rfdag.evidence.expansion import Expansion, Part, Powers, category
from rfdag.evidence.gaps import (
    Bridged,
    about_gaps,
    bridged,
    filled_from_others,
    scores_of_known,
    with_missing,
)
from rfdag.evidence.mixed import Counts, MixedMoments
from rfdag.evidence.pair_rows import Bridging
from rfdag.evidence.profile import ALL, BY_RANKS, Profile, profile_of
from rfdag.evidence.spread import Range, check_spread, range_of
from rfdag.input.columns import Column
from rfdag.input.table import Stream, Table
from rfdag.input.weights import repeated

Floats = NDArray[np.float64]

SHOWN = 4
"""Levels that the account of a column names."""

CATEGORIES = "categories"
"""What a column of categories was taken for."""


def is_mixed(table: Table | Stream, basis: int | Literal["auto"]) -> bool:
    """Return whether a variable of a table is more than one column, or all variables are categories.

    Categories of two levels beside numbers are single columns of 0 and 1, of which any method can learn.
    """
    if basis != 1:
        return True
    return len(table.levels) == len(table.names) or any(len(levels) != 2 for levels in table.levels.values())


def mixed_moments(
    table: Table,
    *,
    basis: int | Literal["auto"] = 1,
    missing: str = "error",
    correlation: str = "pearson",
    highest: int = 3,
    report: Callable[[float], None] = lambda share: None,
) -> MixedMoments:
    """Return the evidence of a table whose variables may be several columns each.

    Parameters
    ----------
    table
        Rows; codes stand in the columns of categories, NaN where a value is missing.
    basis
        Powers of numbers up to which these explain others; "auto" leaves the choice between 1 and ``highest``.
    missing
        How gaps are bridged, "em" or "pairwise".
    correlation
        "pearson", or "normal-scores" of the numbers.
    report
        Called with the share done.

    Examples
    --------
    >>> rows = np.array([[0, 1.5], [1, 0.5], [0, 2.0], [2, 1.0], [1, 0.0], [2, 1.5]] * 5)
    >>> found = mixed_moments(Table(rows, ("kind", "size"), levels={0: ("a", "b", "c")}))
    >>> found.expansion.labels, found.white[0].shape
    (('kind=b', 'kind=c', 'size'), (3, 3))
    """
    if correlation not in ("pearson", "normal-scores"):
        raise OptionError(
            f"{keyword('correlation', correlation)} ranks columns of numbers, and some variables stand for several "
            f"columns. Pass {keyword('correlation', 'normal-scores')}, or leave it out."
        )
    table = repeated(table)
    values = np.array(table.values, np.float64, order="C")
    numbers = [at for at in range(len(table.names)) if at not in table.levels]
    gaps = np.isnan(values)
    looked_at = _profile(table, values, numbers, bool(gaps.any()), correlation, basis)
    if correlation == "normal-scores" and numbers:
        values[:, numbers] = scores_of_known(values[:, numbers])
    expansion = _expansion(table, values, numbers, highest if basis == "auto" else basis)
    columns = np.ascontiguousarray(expansion.columns(values))
    missing_of = gaps.sum(axis=0).tolist()
    if gaps.any():
        found: Bridged | Complete = bridged(columns, expansion.owners, _way(missing), report=report)
    else:
        mean = columns.mean(axis=0)
        centred = columns - mean
        found = Complete(mean, products_of(centred) / len(columns), len(columns))
    counts = None
    if not numbers and not gaps.any():
        codes = np.array([expansion.level_of(at, values[:, at]) for at in range(len(table.names))], np.uint8)
        counts = Counts(codes, expansion.widths + 1, np.ones(len(values), np.int32)).compressed()
    gappy = Gaps(missing_of, len(values), _way(missing))
    return assembled(expansion, found, counts, looked_at, gappy, basis=basis, correlated=correlation)


class Complete(NamedTuple):
    """Means and covariance of columns without gaps, and the number of rows."""

    mean: Floats
    covariance: Floats
    worth: int
    pair_rows: None = None
    notes: tuple[str, ...] = ()


class Gaps(NamedTuple):
    """How many values of each variable are missing, of how many rows, and how that is bridged."""

    missing: list[int]
    rows: int
    way: Bridging


def assembled(
    expansion: Expansion,
    found: Bridged | Complete,
    counts: Counts | None,
    profile: Profile,
    gaps: Gaps,
    *,
    basis: int | Literal["auto"] = 1,
    correlated: str = "pearson",
) -> MixedMoments:
    """Return the evidence of the moments of expanded columns, checked, with what the user should know of them."""
    notes: tuple[str, ...] = expansion.remarks()
    if any(gaps.missing):
        notes = (about_gaps(expansion.names, gaps.missing, gaps.rows, gaps.way, found.worth), *notes, *found.notes)
    evidence = MixedMoments(
        expansion,
        found.worth,
        found.covariance,
        found.mean,
        one_equation=basis != 1,
        counts=counts,
        correlated=correlated,
        notes=(*notes, *profile.notes),
        columns=with_missing(profile.columns, gaps.missing),
        pair_rows=found.pair_rows,
    )
    evidence.refuse_constant()
    _refuse_copies(evidence)
    return replace(evidence, linear=evidence.of_degree(1)) if basis == "auto" else evidence


def _way(missing: str) -> Bridging:
    return "pairwise" if missing == "pairwise" else "em"


def _expansion(table: Table, values: Floats, numbers: Sequence[int], degree: int) -> Expansion:
    """Return how the variables of a table stand as columns; raise for those that do not vary."""
    found = range_of(values[:, numbers])
    if numbers:
        check_spread([table.names[at] for at in numbers], found.lowest, found.highest, found.deviations)
    counts = {}
    for at, levels in table.levels.items():
        known = values[np.isfinite(values[:, at]), at].astype(np.int64)
        counts[at] = np.bincount(known, minlength=len(levels))
    return expansion_of(table.names, table.levels, counts, found, degree)


def expansion_of(
    names: tuple[Hashable, ...],
    levels: Mapping[int, Sequence[str]],
    counts: Mapping[int, NDArray[np.int64]],
    numbers: Range,
    degree: int,
) -> Expansion:
    """Return how variables stand as columns, given the range of those that are numbers.

    Raises for categories of which only one level occurs.
    """
    flat = [Group(CONSTANT, (), (names[at],)) for at in sorted(levels) if (counts[at] > 0).sum() < 2]
    if flat:
        raise awkward_error(flat, len(names))
    of_numbers = (
        Powers(float(mean), float(deviation), degree, float(lowest), float(highest))
        for lowest, highest, mean, deviation in zip(*numbers, strict=True)
    )
    parts: list[Part] = [
        category(name, levels[at], counts[at]) if at in levels else next(of_numbers) for at, name in enumerate(names)
    ]
    return Expansion(names, tuple(parts))


def _profile(
    table: Table, values: Floats, numbers: list[int], gaps: bool, correlation: str, basis: int | Literal["auto"]
) -> Profile:
    """Return what the columns were taken for, and what may be wrong with the numbers among them."""
    kinds = ALL if correlation == "pearson" else BY_RANKS
    if basis != 1:
        # Curvature is what powers are for.
        kinds = kinds - {"pairs"}
    seen = Profile()
    if numbers:
        some = values[:, numbers]
        seen = profile_of(filled_from_others(some) if gaps else some, tuple(table.names[at] for at in numbers), kinds)
    of_numbers = dict(zip(numbers, seen.columns, strict=True))
    columns = [
        of_numbers[at] if at in of_numbers else about_levels(name, table.levels[at])
        for at, name in enumerate(table.names)
    ]
    return Profile(tuple(columns), seen.notes)


def about_levels(name: Hashable, levels: Sequence[str]) -> Column:
    """Return what a column of categories was taken for.

    >>> about_levels("sex", ("f", "m"))
    Column(name='sex', taken_for='categories', done='used', remarks=('2 levels: f, m',), missing=0)
    """
    shown = ", ".join(levels[:SHOWN]) + (", …" if len(levels) > SHOWN else "")
    return Column(name, CATEGORIES, remarks=(f"{len(levels)} levels: {shown}",))


def _refuse_copies(evidence: MixedMoments) -> None:
    """Raise if two columns of numbers are the same but for their scale.

    Categories often are functions of each other; that they are is reported, and does not stand in the way of scores.
    """
    white, _, starts = evidence.white
    widths = np.diff(starts)
    squares = np.add.reduceat(np.add.reduceat(white**2, starts[:-1], axis=0), starts[:-1], axis=1)
    alike = (widths[:, None] == widths) & (squares > widths * (1 - COPY))
    alike[evidence.categorical] = False
    groups: list[Group] = []
    taken: set[int] = set()
    for first in range(len(widths)):
        copies = [other for other in np.flatnonzero(alike[first, first + 1 :]) + first + 1 if other not in taken]
        if first not in taken and copies:
            taken.update(int(other) for other in copies)
            groups.append(Group(COPIES, (evidence.names[first],), tuple(evidence.names[at] for at in copies)))
    if groups:
        raise awkward_error(groups, len(widths))
