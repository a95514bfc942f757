"""What seems wrong with columns, in words: one sentence of finding and one of advice for each kind."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataMessage, as_column, as_columns, keyword, listed
from rfdag.evidence.sentinels import Sentinel

Names = Sequence[Hashable]
NAMED = 5
"""Columns or pairs that a sentence names; the others are counted."""


def occurring(sentinel: Sentinel) -> str:
    """Return a number that seems to stand for a missing value, and how often it occurs.

    >>> occurring(Sentinel(-999.0, 12)), occurring(Sentinel(9999.0, None))
    ('−999 occurs 12 times', '9999 occurs')
    """
    number = f"{sentinel.value:.0f}".replace("-", "−")
    return f"{number} occurs" if sentinel.times is None else f"{number} occurs {sentinel.times} times"


def about_sentinels(names: Names, found: Mapping[int, Sequence[Sentinel]]) -> tuple[str, ...]:
    """Return a warning about numbers that seem to stand for missing values, given them by column."""
    if not found:
        return ()
    several = len(found) > 1

    def shown(at: object) -> str:
        assert isinstance(at, int)
        each = ", ".join(map(occurring, found[at]))
        return f"{each} in {as_column(names[at])}" if several else each

    subject = "Columns have" if several else subject_of([names[at] for at in found], "has")
    marks = [int(mark) for mark in dict.fromkeys(sentinel.value for each in found.values() for sentinel in each)]
    return (
        DataMessage(
            f"{subject} numbers that seem to stand for missing values: {listed(found, NAMED, shown)}. If so, pass "
            f"{keyword('na_values', marks)}, so that they count as missing."
        ),
    )


def about_numbering(columns: Names, among: int) -> tuple[str, ...]:
    """Return a warning about columns that number the rows, given how many columns there are in all.

    >>> print(*about_numbering(["patient"], among=5))
    Column 'patient' holds whole numbers that are all different, as row numbers and identifiers are. If it is no
    measurement, drop it: drop=['patient'].
    """
    if not columns:
        return ()
    it, they = ("it", "it is no measurement") if len(columns) == 1 else ("them", "they are no measurements")
    advice = f"drop {it}: {keyword('drop', list(columns))}"
    if among - len(columns) < 2:
        advice = f"pass data without {it}, with at least two columns that are"
    return (
        DataMessage(
            f"{subject_of(columns, 'holds', 'hold')} whole numbers that are all different, as row numbers and "
            f"identifiers are. If {they}, {advice}."
        ),
    )


def about_codes(columns: Names, among: int) -> tuple[str, ...]:
    """Return a warning about columns that look like codes of categories, given how many columns there are in all.

    >>> print(*about_codes(["region"], among=5))
    Column 'region' looks like codes of categories, a few whole numbers without an order, and was taken as an amount. If
    it holds codes, pass categorical=['region'], or drop it with drop=['region'].
    """
    if not columns:
        return ()
    one = len(columns) == 1
    amount, they = ("was taken as an amount", "it holds") if one else ("were taken as amounts", "they hold")
    enough = among - len(columns) >= 2
    dropped = f", or drop {'it' if one else 'them'} with {keyword('drop', list(columns))}" if enough else ""
    return (
        DataMessage(
            f"{subject_of(columns, 'looks', 'look')} like codes of categories, a few whole numbers without an order, "
            f"and {amount}. If {they} codes, pass {keyword('categorical', list(columns))}{dropped}."
        ),
    )


def about_tails(names: Names, heavy: NDArray[np.bool_], shares: NDArray[np.float64]) -> tuple[str, ...]:
    """Return a warning about heavy-tailed columns, given which they are and what share one row holds.

    >>> print(*about_tails(["age", "income"], np.array([False, True]), np.array([0.1, 0.94])))
    Column 'income' has such heavy tails that few rows decide its correlations: one row alone holds 94% of the variance.
    Pass correlation='normal-scores', which works with ranks; or, if such a row is an error, correct or drop
    it.
    """
    if not heavy.any():
        return ()
    columns = [names[at] for at in np.argsort(-shares, kind="stable").tolist() if heavy[at]]
    share = f"{np.floor(100 * shares[heavy].min()):.0f}%"
    if len(columns) == 1:
        subject = f"{subject_of(columns, 'has')} such heavy tails that"
        finding = f"few rows decide its correlations: one row alone holds {share} of the variance"
    else:
        subject = f"Columns have such heavy tails that few rows decide their correlations: in {as_columns(columns)}"
        finding = f"one row alone holds {share} of the variance or more"
    return (
        DataMessage(
            f"{subject} {finding}. Pass {keyword('correlation', 'normal-scores')}, which works with ranks; or, if such "
            "a row is an error, correct or drop it."
        ),
    )


def about_skewness(columns: Names) -> tuple[str, ...]:
    """Return a warning about strongly skewed columns.

    >>> print(*about_skewness(["income", "wealth"]))
    Columns 'income', 'wealth' are strongly skewed: their outermost numbers decide their correlations. Pass
    correlation='normal-scores', which works with ranks, or take logarithms.
    """
    if not columns:
        return ()
    their = "its" if len(columns) == 1 else "their"
    return (
        DataMessage(
            f"{subject_of(columns, 'is', 'are')} strongly skewed: {their} outermost numbers decide {their} "
            f"correlations. Pass {keyword('correlation', 'normal-scores')}, which works with ranks, or take logarithms."
        ),
    )


def about_curvature(pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[str, ...]:
    """Return a warning about pairs of which the first depends on the square of the second.

    >>> print(*about_curvature([("yield", "rain")]))
    'yield' depends on the square of 'rain' more than on 'rain' itself, which no correlation shows. Edges of such pairs
    may be missing or wrong. Pass basis=3, which lets effects be curves, or test='kci', which finds dependence of any
    form; or replace 'rain' by its squared distance from its mean.
    """
    if not pairs:
        return ()

    if len(pairs) == 1:
        column, other = map(as_column, pairs[0])
        finding = f"{column} depends on the square of {other} more than on {other} itself, which no correlation shows"
    else:
        each = [f"{as_column(column)} on that of {as_column(on)}" for column, on in pairs]
        other = "the other column"
        finding = (
            "Columns depend on the square of another more than on that column itself, which no correlation shows: "
            f"{listed(each, NAMED, str)}"
        )
    finding = finding[0].upper() + finding[1:]
    return (
        DataMessage(
            f"{finding}. Edges of such pairs may be missing or wrong. Pass {keyword('basis', 3)}, which lets effects "
            f"be curves, or {keyword('test', 'kci')}, which finds dependence of any form; or replace {other} by its "
            "squared distance from its mean."
        ),
    )


def subject_of(columns: Names, verb: str, plural: str = "") -> str:
    """Return columns as the subject of a sentence.

    >>> subject_of(["age"], "has"), subject_of([0, 3], "has", "have")
    ("Column 'age' has", 'Columns 0, 3 have')
    """
    if len(columns) == 1:
        name = as_column(columns[0])
        return f"{name.capitalize() if name.startswith('column ') else f'Column {name}'} {verb}"
    return f"Columns {as_columns(columns).replace('column ', '')} {plural}"
