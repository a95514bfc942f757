"""How often rows count: checked, said aloud, and turned into repeated rows where nothing else takes weights."""

from __future__ import annotations

import math

import numpy as np

from rfdag.errors import DataError, DataMessage, OptionError, keyword
from rfdag.input.files import require_memory
from rfdag.input.table import Floats, Table
from rfdag.wording import counted

MOST = 2.0**53
"""Rows that weights may stand for: beyond, double precision does not hold every whole number."""

FEWER = "Divide the weights by a common factor."
"""What to do if these do not fit."""

ROUNDING = 1e-12
"""Share of a sum of weights that may be rounding."""

LARGE_SUM = 2.0
"""Times the number of rows from which the sum of fractional weights is suspicious."""


def check_weights(weights: Floats) -> None:
    """Raise unless weights are numbers from 0 on."""
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise DataError(
            f"A weight is a number of at least 0; found {weights[bad[0]]:g} in row {bad[0] + 1}. Correct it, or leave "
            "the row out."
        )


def check_total(total: float) -> None:
    """Raise if rows count more often than whole numbers can say."""
    if not total < MOST:
        raise DataError(
            f"The weights add up to {total:.3g}, and rows cannot count more than {MOST:.0e} times in all. Divide the "
            "weights by their mean."
        )


def checked_weights(table: Table) -> Table:
    """Return a table whose weights are numbers from 0 on, without rows of weight 0; raise for others."""
    weights = table.weights
    assert weights is not None
    check_weights(weights)
    if not weights.any():
        raise DataError("All weights are zero; at least two rows need a weight above 0.")
    check_total(math.fsum(weights / MOST) * MOST)
    counts = weights > 0
    if not counts.all():
        table = table.kept(counts)
    remark = about_weights(len(weights), float(weights.sum()), whole=are_whole(weights))
    return table._replace(account=table.account.plus(remarks=[remark]))


def about_weights(rows: int, total: float, *, whole: bool) -> str:
    """Return what the weights mean for the number of rows: a warning where it is suspicious."""
    sentence = f"{counted(rows, 'row')} counted as {total:.6g}, the sum of their weights"
    if whole or total < LARGE_SUM * rows:
        return sentence
    return DataMessage(
        f"The weights are fractions and add up to {total:.6g}, and there are {counted(rows, 'row')}: edges look surer "
        f"than so many rows allow. Divide the weights by {total / rows:.4g}, so that they add up to the number of rows."
    )


def whole_rows(total: float) -> int:
    """Return the whole number of rows that a sum of weights, or a mean of counts, stands for; halves are rounded up.

    Such a sum hangs in its last digits on the order of its terms: rows in memory and in pieces add up differently. What
    is a half but for rounding therefore counts as a half.

    >>> whole_rows(124.5), whole_rows(124.5 - 1e-13), whole_rows(124.49), whole_rows(3.0)
    (125, 125, 124, 3)
    """
    below = math.floor(total)
    return below + (total - below >= 0.5 - min(ROUNDING * total, 0.25))


def are_whole(weights: Floats) -> bool:
    """Return whether weights count whole rows."""
    return bool((weights == np.round(weights)).all())


def repeated(table: Table) -> Table:
    """Return rows as often as they count, for what takes no weights; raise if these are fractions."""
    if table.weights is None:
        return table
    if not are_whole(table.weights):
        raise OptionError(
            f"{keyword('weights')} that are fractions go with Pearson's correlation, on the CPU and without blocks, "
            "tests or a bootstrap; here rows are repeated. Round them to whole numbers, or leave those options out."
        )
    rows = float(table.weights.sum())
    require_memory("Rows repeated as often as their weights say", 8.0 * rows * len(table.names), FEWER)
    return table.kept(np.repeat(np.arange(table.rows), table.weights.astype(np.int64)))._replace(weights=None)
