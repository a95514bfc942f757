"""What rounding, or too few rows, may have done to moments, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfdag.errors import Message, keyword
from rfdag.evidence.awkward import ROUNDED_COPY, about_copies
from rfdag.evidence.matrices import condition_of, triangle_of
from rfdag.evidence.spread import about_range

if TYPE_CHECKING:
    from rfdag.evidence.moments import Moments

FEWEST_ROWS = 10
"""Rows below which the default search finds edges among unrelated columns: in about a tenth of their pairs, or more.

Chosen on 60 tables of Gaussian columns of each size, and measured on 200 others: 24 % of the pairs of 3 columns at 5
rows and 9 % at 9, 19 % of those of 5 columns at 7 rows and 11 % at 9; at 13 rows 7 % of those of 10 columns.
"""

DOUBTFUL = 1e8
"""Condition of the factor above which a partial correlation may be off by more than about 1e-8."""

ROUNDED = 0.01
"""Points of BIC by which rounding may change a score before it is reported; an edge costs hundreds of times as much."""

FLOOR = 1e-8
"""Least share of its variance that a child keeps in scores of several environments."""


def warnings_of(moments: Moments, *, scored: bool) -> tuple[str, ...]:
    """Return what may be wrong with the numbers: few rows, extreme scales, columns that nearly depend on others.

    ``scored`` tells that parents were chosen by BIC.
    """
    # Named in the order in which columns were given.
    given, rows = moments.given or moments, moments.n_samples
    beyond = about_range(given.names, given.scales)
    if rows is None:
        return (*about_exact_input(moments.condition(), moments.tolerance), *beyond)
    if moments.worth is not None:
        # An estimate has a condition of its own; scores are those of the sample all the same.
        # Of rows that do not span all columns none of this is meant: their columns are dependent in any case.
        enough = scored and moments.directions >= len(moments.names)
        condition = condition_of(triangle_of(moments.factor)) if enough else 1.0
        return (*moments.remarks, *about_scores(condition, rows), *beyond)
    condition = moments.condition()
    dependent = about_scores(condition, rows) if scored else about_dependence(condition)
    copies = about_copies(given.copies(ROUNDED_COPY)) if moments.kind == "data" else ()
    return (*about_few_rows(rows), *dependent, *beyond, *copies)


def about_few_rows(rows: int) -> tuple[str, ...]:
    """Return the warning about rows that are too few, whatever the columns are."""
    few = Message(
        f"{rows} rows are too few to learn from: below {FEWEST_ROWS}, chance decides about much of the graph. Collect "
        "more rows, or take the graph as no more than a guess."
    )
    return (few,) if rows < FEWEST_ROWS else ()


def about_dependence(condition: float) -> tuple[str, ...]:
    """Return a warning about columns that nearly depend on each other, given the condition of the factor."""
    if condition <= DOUBTFUL:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): partial correlations may be off by "
            f"about {condition * 1e-16:.0e}. Consider dropping or combining the most similar columns."
        ),
    )


def about_scores(condition: float, rows: int) -> tuple[str, ...]:
    """Return a warning that rounding changes the BIC of columns that nearly depend on each other.

    Scores come from the correlation matrix, whose condition is the square of the factor's.

    >>> about_scores(1e4, 1000)
    ()
    >>> print(*about_scores(1e7, 1000))
    The columns are nearly dependent (condition number 1.0e+07): by rounding, the BIC may be off by about 10, and edges
    between the most similar columns cannot be told apart. Consider dropping or combining these columns.
    """
    off = 1e-16 * rows * condition**2
    if off < ROUNDED:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): by rounding, the BIC may be off by "
            f"about {off:.2g}, and edges between the most similar columns cannot be told apart. Consider dropping or "
            "combining these columns."
        ),
    )


def about_floor(condition: float) -> tuple[str, ...]:
    """Return a warning that scores with a floor cannot tell columns apart, given the condition of the factor.

    >>> about_floor(1e3)
    ()
    """
    if condition**2 < 1 / FLOOR:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): what leaves less than {FLOOR:.0e} "
            "of a variance counts as leaving that much, so edges between the most similar columns cannot be told "
            "apart. Consider dropping or combining these columns."
        ),
    )


def about_exact_input(condition: float, tolerance: float) -> tuple[str, ...]:
    """Return a warning about a precision matrix whose rounding may pass for edges, given the factor's condition."""
    # Elimination in doubles loses as many digits as the covariance has, which is the square.
    rounding = 1e-16 * condition**2
    if rounding <= tolerance:
        return ()
    return (
        Message(
            f"The precision matrix is ill-conditioned ({condition**2:.0e}): rounding of about {rounding:.0e} may pass "
            f"for edges at tolerance {tolerance:.0e}. If it comes from a known DAG, pass that with "
            f"{keyword('input', 'dag')}, which is exact."
        ),
    )
