"""Rows with missing or infinite values: left out where that is asked for, and counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, as_column, keyword
from rfdag.input.table import Table
from rfdag.wording import counted


def complete(table: Table) -> Table:
    """Return the rows without a missing or infinite value, and say how many were left out."""
    whole = np.isfinite(table.values).all(axis=1)
    if whole.all():
        return table
    dropped = int((~whole).sum())
    left = len(whole) - dropped
    check_enough_left(table.names, (~np.isfinite(table.values)).sum(axis=0), dropped, left)
    account = table.account.plus(remarks=[about_dropped(dropped, len(whole))])
    return table.kept(whole).accounted(account)


def about_dropped(dropped: int, rows: int) -> str:
    """Return how many rows were left out for their gaps.

    >>> about_dropped(2, 500)
    '2 of 500 rows left out, which have missing or infinite values'
    """
    return f"{dropped} of {counted(rows, 'row')} left out, which have missing or infinite values"


def check_enough_left(names: Sequence[Hashable], gaps: NDArray[np.int64], dropped: int, left: int) -> None:
    """Raise if leaving out incomplete rows leaves too few, and name the columns with the most gaps."""
    if left >= 2:
        return
    worst = [names[int(at)] for at in np.argsort(-gaps, kind="stable") if gaps[int(at)]][:5]
    each = ", ".join(f"{int(gaps[list(names).index(name)])} in {as_column(name)}" for name in worst)
    raise DataError(
        f"{counted(left, 'row')} of {left + dropped} would be left without missing or infinite values ({each}). "
        + (
            f"Leave out columns with many of them first, as with {keyword('drop', worst[:1])}, or fill the values in."
            if len(names) > 2
            else "Fill the values in first."
        )
    )
