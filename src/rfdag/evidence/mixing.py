"""From a table with categories, gaps or curves to evidence in which a variable may be several columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataMessage, Group, OptionError, keyword
from rfdag.evidence.awkward import CONSTANT, COPIES, COPY, awkward_error
from rfdag.evidence.expansion import Expansion, Part, Powers, category
from rfdag.evidence.gaps import about_gaps, bridged, filled_from_others, scores_of_known, with_missing
from rfdag.evidence.mixed import Counts, MixedMoments
from rfdag.evidence.profile import ALL, BY_RANKS, Profile, profile_of
from rfdag.evidence.spread import check_spread
from rfdag.input.columns import Column
from rfdag.input.table import Table
from rfdag.input.weights import repeated

Floats = NDArray[np.float64]

SHOWN = 4
"""Levels that the account of a column names."""

CATEGORIES = "categories"
"""What a column of categories was taken for."""


def is_mixed(table: Table, basis: int | Literal["auto"]) -> bool:
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
    values = np.array(table.values, np.float64)
    numbers = [at for at in range(len(table.names)) if at not in table.levels]
    gaps = np.isnan(values)
    looked_at = _profile(table, values, numbers, bool(gaps.any()), correlation, basis)
    if correlation == "normal-scores" and numbers:
        values[:, numbers] = scores_of_known(values[:, numbers])
    degree = highest if basis == "auto" else basis
    expansion = _expansion(table, values, numbers, degree)
    columns = expansion.columns(values)
    owners = [name for name, width in zip(expansion.names, expansion.widths, strict=True) for _ in range(width)]
    notes: tuple[str, ...] = tuple(DataMessage(f"{remark}.") for remark in expansion.remarks())
    if gaps.any():
        found = bridged(columns, owners, "em" if missing == "em" else "pairwise", report=report)
        mean, covariance, rows = found.mean, found.covariance, found.worth
        warning = about_gaps(table.names, gaps.sum(axis=0).tolist(), len(values), _way(missing), rows)
        notes = (warning, *notes, *found.notes)
    else:
        mean, rows = columns.mean(axis=0), len(columns)
        centred = columns - mean
        covariance = centred.T @ centred / rows
    counts = None
    if not numbers and not gaps.any():
        codes = np.array([expansion.level_of(at, values[:, at]) for at in range(len(table.names))], np.uint8)
        counts = Counts(codes, expansion.widths + 1, np.ones(len(values), np.int32)).compressed()
    evidence = MixedMoments(
        expansion,
        rows,
        covariance,
        mean,
        one_equation=degree > 1,
        counts=counts,
        correlated=correlation,
        notes=(*notes, *looked_at.notes),
        columns=with_missing(looked_at.columns, gaps.sum(axis=0).tolist()),
    )
    evidence.refuse_constant()
    _refuse_copies(evidence)
    return replace(evidence, linear=evidence.of_degree(1)) if basis == "auto" else evidence


def _way(missing: str) -> Literal["em", "pairwise"]:
    return "pairwise" if missing == "pairwise" else "em"


def _expansion(table: Table, values: Floats, numbers: Sequence[int], degree: int) -> Expansion:
    """Return how the variables of a table stand as columns; raise for those that do not vary."""
    flat: list[Hashable] = []
    parts: list[Part] = []
    if numbers:
        some = values[:, numbers]
        names = [table.names[at] for at in numbers]
        with np.errstate(over="ignore"):
            check_spread(names, np.nanmin(some, axis=0), np.nanmax(some, axis=0), np.nanstd(some, axis=0, ddof=1))
    for at, name in enumerate(table.names):
        if at in table.levels:
            known = values[np.isfinite(values[:, at]), at].astype(np.int64)
            counts = np.bincount(known, minlength=len(table.levels[at]))
            if (counts > 0).sum() < 2:
                flat.append(name)
                continue
            parts.append(category(name, table.levels[at], counts))
        else:
            parts.append(Powers(float(np.nanmean(values[:, at])), float(np.nanstd(values[:, at])), degree))
    if flat:
        raise awkward_error([Group(CONSTANT, (), (name,)) for name in flat], len(table.names))
    return Expansion(table.names, tuple(parts))


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
    Column(name='sex', taken_for='categories', done='used', remarks=('2 levels: f, m',))
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
