"""How much columns vary: how they are brought near 0 and 1, and an error where they vary too little."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import AwkwardError, Group, Message, as_column, as_columns, keyword
from rfdag.evidence.awkward import BLURRED, CONSTANT, awkward_error

Floats = NDArray[np.float64]

NARROW = 1e-6
"""Spread of a column, relative to its largest number, below which its lowest number is subtracted first.

Numbers that close differ by a number that double precision holds exactly: nothing is lost, whatever the mean is.
"""

EXACT = 2.0**53
"""Whole numbers up to which double precision holds every one."""

SMALLEST, LARGEST = 1e-153, 1e153
"""Standard deviations between which variances are ordinary numbers."""

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

    Columns are brought near 1, so that sums and squares neither overflow nor vanish; by powers of two, which round
    nothing. Those far from 0 compared with their spread are moved there first, in the type that they have, whose
    numbers differ by exact differences; so are whole numbers that double precision cannot hold.
    """
    low, high = lowest.astype(np.float64), highest.astype(np.float64)
    sizes = np.maximum(np.abs(low), np.abs(high))
    constant = lowest == highest
    narrow = is_narrow(low, high) & ~constant
    if lowest.dtype.kind in "iu":
        narrow |= ((low > EXACT) | (high < -EXACT)) & ~constant
    if not narrow.any():
        return None, powers_of_two(np.where(constant, 1.0, sizes))
    sizes[narrow] = (highest[narrow] - lowest[narrow]).astype(np.float64)
    units = powers_of_two(np.where(constant, 1.0, sizes))
    origins = np.zeros_like(lowest)
    origins[narrow] = lowest[narrow]
    return origins, units


def powers_of_two(sizes: Floats) -> Floats:
    """Return for each size a power of two that is not smaller, and at most the largest of all.

    >>> powers_of_two(np.array([3.0, 0.7, 1e-320, 1.7e308]))
    array([4.00000000e+000, 1.00000000e+000, 1.01184644e-320, 8.98846567e+307])
    """
    _, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(1.0, np.minimum(exponents, 1023)))


def silenced(values: Floats) -> Floats:
    """Return a copy whose missing values are of the quiet kind; arithmetic on those that signal is no valid operation.

    >>> silenced(np.array([1.0, np.nan])).tolist()
    [1.0, nan]
    """
    return np.where(np.isnan(values), np.nan, values)


def shifted(rows: NDArray[Any], origins: NDArray[Any] | None) -> NDArray[Any]:
    """Return rows with the origins subtracted, if there are any."""
    return rows if origins is None else rows - origins


class Range(NamedTuple):
    """Lowest and highest known value of each column, means and standard deviations, which divide by the number."""

    lowest: NDArray[Any]
    highest: NDArray[Any]
    means: Floats
    deviations: Floats


def range_of(values: NDArray[Any]) -> Range:
    """Return the range of columns of numbers of any size, some of which may be missing.

    >>> range_of(np.array([[1e300, 1.0], [3e300, np.nan], [2e300, 3.0]])).deviations
    array([8.16496581e+299, 1.00000000e+000])
    """
    missing = values.dtype.kind == "f" and bool(np.isnan(values).any())
    least, most, mean, deviation = (
        (np.nanmin, np.nanmax, np.nanmean, np.nanstd) if missing else (np.min, np.max, np.mean, np.std)
    )
    lowest, highest = least(values, axis=0), most(values, axis=0)
    origins, units = origins_and_units(lowest, highest)
    standard = shifted(values, origins) / units
    means = mean(standard, axis=0) * units
    return Range(lowest, highest, means if origins is None else origins + means, deviation(standard, axis=0) * units)


def about_range(names: Sequence[Hashable], deviations: Floats) -> tuple[str, ...]:
    """Return a warning about columns whose variances double precision cannot hold, given standard deviations.

    >>> print(*about_range(["mass", "time"], np.array([3e-200, 2.0])))
    The standard deviation of 'mass' is so small or large (3e-200) that double precision cannot hold its square:
    variances are 0 or infinite, and coefficients lose digits. Order and graph do not depend on it. Multiply the column
    by a power of ten.
    """
    beyond = ~((deviations > SMALLEST) & (deviations < LARGEST))
    if not beyond.any():
        return ()
    chosen = _chosen(names, beyond)
    first = float(deviations[np.flatnonzero(beyond)[0]])
    return (
        Message(
            f"The standard deviation of {as_columns(chosen)} is so small or large ({first:.2g}) that double precision "
            "cannot hold its square: variances are 0 or infinite, and coefficients lose digits. Order and graph do not "
            f"depend on it. Multiply the column{'s' if len(chosen) > 1 else ''} by a power of ten."
        ),
    )


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
