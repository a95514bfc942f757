"""How much columns vary: how they are brought near 0 and 1, and an error where they vary too little."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import AwkwardError, Group, as_column, keyword
from rfdag.evidence.awkward import BLURRED, CONSTANT, awkward_error

Floats = NDArray[np.float64]

NARROW = 1e-6
"""Spread of a column, relative to its largest number, below which its lowest number is subtracted first.

Numbers that close differ by a number that double precision holds exactly: nothing is lost, whatever the mean is.
"""

ENOUGH_STEPS = 16
"""Steps between neighbouring numbers that the standard deviation of a column spans at least.

Rounding to such steps brings a correlation nearer to 0 by a share of 1 / (24 steps²): 2e-4 for 16 of them.
"""


def is_narrow(lowest: Any, highest: Any, arrays: Any = np) -> Any:
    """Return which columns vary little compared with their size.

    >>> is_narrow(np.array([1e9, -1.0]), np.array([1e9 + 5, 1.0]))
    array([ True, False])
    """
    # Halves, since the difference of the largest numbers would overflow.
    return highest / 2 - lowest / 2 < NARROW / 2 * arrays.maximum(arrays.abs(lowest), arrays.abs(highest))


def origins_and_units(lowest: NDArray[Any], highest: NDArray[Any]) -> tuple[NDArray[Any] | None, Floats]:
    """Return what to subtract from columns, if from any, and then to divide by.

    Columns are brought near 1, so that sums and squares neither overflow nor vanish. Those far from 0 compared with
    their spread are moved there first, in the type that they have, whose numbers differ by exact differences.
    """
    low, high = lowest.astype(np.float64), highest.astype(np.float64)
    units = np.maximum(np.abs(low), np.abs(high))
    constant = lowest == highest
    units[constant] = 1.0
    narrow = is_narrow(low, high) & ~constant
    if not narrow.any():
        return None, units
    units[narrow] = (highest[narrow] - lowest[narrow]).astype(np.float64)
    origins = np.zeros_like(lowest)
    origins[narrow] = lowest[narrow]
    return origins, units


def shifted(rows: NDArray[Any], origins: NDArray[Any] | None) -> NDArray[Any]:
    """Return rows with the origins subtracted, if there are any."""
    return rows if origins is None else rows - origins


def check_spread(names: Sequence[Hashable], lowest: NDArray[Any], highest: NDArray[Any], deviations: Floats) -> None:
    """Raise if a column is constant, or varies by little more than the rounding of its numbers.

    Parameters
    ----------
    names
        One per column.
    lowest, highest
        Extremes of the columns, of the type that the numbers have: whole numbers are not rounded.
    deviations
        Their standard deviations.

    Examples
    --------
    >>> check_spread("ab", np.array([0.0, 1e6]), np.array([1.0, 1e6 + 5e-10]), np.array([0.5, 1e-10]))
    Traceback (most recent call last):
        ...
    rfdag.errors.AwkwardError: Column 'b' varies too little for its mean: around 1e+06 its standard deviation is 1e-10,
    and neighbouring numbers of this precision are 1.2e-10 apart. Subtract the mean where the numbers still have their
    digits, before they are stored or rounded.
    """
    constant = lowest == highest
    if constant.any():
        raise awkward_error([Group(CONSTANT, (), (name,)) for name in _chosen(names, constant)], len(names))
    if lowest.dtype.kind != "f":
        return
    steps = np.spacing(np.maximum(np.abs(lowest), np.abs(highest)))
    blurred = deviations < ENOUGH_STEPS * steps
    if blurred.any():
        # Beyond these a deviation is small because few rows differ, not because their numbers are alike.
        blurred &= is_narrow(lowest.astype(np.float64), highest.astype(np.float64))
    if blurred.any():
        at = int(np.flatnonzero(blurred)[0])
        column = as_column(names[at])
        others = int(blurred.sum()) - 1
        more = f" ({others} more columns likewise)" if others > 1 else " (one more column likewise)" if others else ""
        blurred_names = _chosen(names, blurred)
        raise AwkwardError(
            f"{column.capitalize() if column.startswith('column ') else f'Column {column}'} varies too little for its "
            f"mean{more}: around {lowest[at]:.6g} its standard deviation is {deviations[at]:.2g}, and neighbouring "
            f"numbers of this precision are {steps[at]:.2g} apart. Subtract the mean where the numbers still have "
            f"their digits, before they are stored or rounded"
            + (
                f", or leave {'them' if others else 'it'} out with {keyword('awkward', 'keep-one')}."
                if len(names) - len(blurred_names) >= 2
                else "."
            ),
            [Group(BLURRED, (), (name,)) for name in blurred_names],
        )


def _chosen(names: Sequence[Hashable], mask: NDArray[np.bool_]) -> list[Hashable]:
    return [names[int(at)] for at in np.flatnonzero(mask)]
