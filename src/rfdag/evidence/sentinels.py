"""Numbers such as −999 that stand for a missing value: at the end of a column, repeated, and apart from the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALL = (-1.0, -7.0, -8.0, -9.0, 7.0, 8.0, 9.0)
LARGE = tuple(sign * number for number in (77.0, 88.0, 99.0, 777.0, 888.0, 999.0, 7777.0, 8888.0, 9999.0, 99999.0)
              for sign in (-1, 1))  # fmt: skip
"""Numbers that stand for a missing value in surveys and records: those that are often counts or scores, and others."""

FAR = 1.0
"""Distance of a large one from the others, in units of their range, from which two of it are enough.

Not tuned: this and the other numbers here follow from a few cases, such as ages with 99 and answers from 1 to 5 with 9.
benchmarks/health.py counts what they find.
"""

REPEATED, TIMES_THE_GAPS = 5, 3.0
"""How often any other must occur, and its distance in units of the largest gap at that end of the others."""

OUTERMOST = 20
"""Different numbers, from the end of the others, of which gaps are looked at."""


class Sentinel(NamedTuple):
    """A number that seems to stand for a missing value, and how often it occurs; None if that is not known."""

    value: float
    times: int | None


def may_be_sentinels(ends: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of the lowest or highest numbers of columns may stand for missing values.

    >>> may_be_sentinels(np.array([-999, 3, 9]))
    array([ True, False,  True])
    """
    return np.array([end in _KNOWN for end in ends.tolist()], bool)


def sentinels_in(
    numbers: Floats, ends: tuple[float, float], counted: Callable[[float, int], int | None]
) -> list[Sentinel]:
    """Return the numbers of a column that seem to stand for missing values.

    Parameters
    ----------
    numbers
        Sorted numbers of some rows.
    ends
        The lowest and the highest number of all rows.
    counted
        Returns how often a number occurs in all rows, given how often it does in these; None if that is not known.

    Examples
    --------
    >>> ages = np.sort(np.r_[np.random.default_rng(0).integers(18, 80, size=90), np.full(10, -999)]).astype(float)
    >>> sentinels_in(ages, (-999.0, 79.0), lambda value, seen: seen)
    [Sentinel(value=-999.0, times=10)]
    >>> sentinels_in(ages[10:], (18.0, 79.0), lambda value, seen: seen)
    []
    """
    values = np.unique(np.concatenate([[ends[0]], numbers, [ends[1]]]))

    def occurrences(value: float) -> int | None:
        seen = np.searchsorted(numbers, value, side="right") - np.searchsorted(numbers, value)
        return counted(value, int(seen))

    below = _outside(values, occurrences)
    above = _outside(-values[::-1], lambda value: occurrences(-value))
    return [*below, *(Sentinel(-value, times) for value, times in reversed(above))]


def _outside(values: Floats, occurrences: Callable[[float], int | None]) -> list[Sentinel]:
    """Return the known numbers at the lower end of sorted ones that stand apart from all others."""
    at_end = 0
    while at_end < len(values) - 2 and values[at_end] in _KNOWN:
        at_end += 1
    for end in range(at_end, 0, -1):
        found = [Sentinel(float(value), occurrences(float(value))) for value in values[:end]]
        if all(_apart(each, values[end:]) for each in found):
            return found
    return []


def _apart(one: Sentinel, others: Floats) -> bool:
    """Return whether a number below the others is far from them, or occurs often beyond a gap."""
    distance, extent = others[0] - one.value, others[-1] - others[0]
    if one.value in LARGE and distance >= FAR * extent:
        return one.times is None or one.times > 1
    gaps = np.diff(others[: OUTERMOST + 1]) if len(others) > 3 else extent
    return one.times is not None and one.times >= REPEATED and bool(distance >= TIMES_THE_GAPS * np.max(gaps))


_KNOWN = frozenset({*SMALL, *LARGE, *(-value for value in SMALL)})
"""All of them; the ends of a column are looked at both ways round."""
