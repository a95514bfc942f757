"""The triangular factor of rows that come some at a time, on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from scipy.linalg import qr

CELLS_AT_ONCE = 2**17
"""Numbers that are decomposed at a time on the CPU, so that they stay in a cache; more if there are many columns."""


class RowFactor:
    """F with FᵀF = XᵀX for all rows X added so far, by QR decompositions, so that nothing is ever squared.

    Parameters
    ----------
    columns
        Number of columns of X.
    arrays
        The module of the arrays: NumPy, or CuPy for rows on a GPU.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 2.5], [2.0, 6.0]])
    >>> whole = RowFactor(2)
    >>> whole.add(rows[:2])
    >>> whole.add(rows[2:])
    >>> np.allclose(whole.factor.T @ whole.factor, rows.T @ rows)
    True
    """

    def __init__(self, columns: int, arrays: ModuleType = np) -> None:
        self._arrays = arrays
        self.factor: Any = arrays.empty((0, columns))
        """Upper triangular, with fewer rows than columns as long as fewer were added."""

    def add(self, *rows: Any) -> None:
        """Add rows, of one array or of several at once."""

        def write(room: Any) -> None:
            at = 0
            for part in rows:
                room[at : at + len(part)] = part
                at += len(part)

        self.add_written(sum(map(len, rows)), write)

    def add_written(self, count: int, write: Callable[[Any], None]) -> None:
        """Add ``count`` rows, which ``write`` puts into the array it gets: so they need no memory of their own."""
        held = len(self.factor)
        # The factor so far and the next rows, decomposed together, give the factor of both.
        stacked = self._arrays.empty((held + count, self.factor.shape[1]), order="F")
        stacked[:held] = self.factor
        self.factor = None
        write(stacked[held:])
        if self._arrays is np:
            self.factor = qr(stacked, mode="raw", overwrite_a=True, check_finite=False)[1]
        else:
            self.factor = self._arrays.linalg.qr(stacked, mode="r")


def rows_at_once(n: int, p: int) -> int:
    """Return how many of n rows are decomposed at a time: at least as many as columns.

    So the memory beside the rows stays within four p × p matrices, or a megabyte or two where these are smaller.

    >>> rows_at_once(10_000, 100), rows_at_once(10_000, 1000), rows_at_once(1500, 1000)
    (1310, 1000, 1500)
    """
    return n if n <= 2 * p else max(p, CELLS_AT_ONCE // p)
