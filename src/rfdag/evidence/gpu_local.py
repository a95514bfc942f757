"""Local moments on a GPU: correlations stay there, and what comes back is as small as the lists that ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.evidence.local import Lists, Places
from rfdag.runtime.device import cupy, free_memory, kernels, on_host

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENTRIES_AT_ONCE = 1 << 24
"""Entries of matrices along lists that are gathered at a time: 128 MB."""

THREADS = 128
"""Threads that gather one list: most have less than a hundred members."""


class DeviceCorrelations:
    """One correlation matrix for all variables, on the device, with the same rows behind each.

    Parameters
    ----------
    factor
        Matrix F on the device with FᵀF the correlation matrix.
    n_samples
        Number of rows behind it.
    directions
        How many directions these rows span; None for one less than there are rows.
    price_factors
        How many times the usual price an edge between two variables costs; once unless given.
    """

    def __init__(
        self, factor: Any, n_samples: int, directions: int | None = None, price_factors: Floats | None = None
    ) -> None:
        products = factor.T @ factor
        # Products on a device are not symmetric to the last digit, and ties would be decided by that.
        self._correlation = products + products.T
        del products
        self._correlation /= 2
        cupy().fill_diagonal(self._correlation, 1.0)
        self.n_samples = n_samples
        self.directions = n_samples - 1 if directions is None else directions
        self.price_factors = price_factors
        self.which: Integers = np.zeros(self.size, np.int64)

    @classmethod
    def fit(cls, p: int) -> bool:
        """Return whether correlations of p variables fit on the device, beside what else a search needs there."""
        return 2 * 8.0 * p * p < free_memory() / 2

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self._correlation)

    @cached_property
    def matrices(self) -> Floats:
        """The correlation matrix on the host: where every variable is a candidate for every other."""
        return on_host(self._correlation)[None]

    def rows(self, y: int) -> int:
        """Return the number of rows, which is the same for every variable."""
        return self.n_samples

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates."""
        chosen = cupy().asarray(np.append(y, candidates))
        return on_host(self._correlation[chosen[:, None], chosen])

    def write_along(self, lists: Lists, places: Places, check: Callable[[], None], threads: int) -> None:
        """Write the correlations along the lists of some variables: gathered on the device, some at a time."""
        lengths = np.diff(lists.starts)[places.variables]
        members = cupy().asarray(lists.members)
        # A new piece begins where the entries so far exceed a multiple of what is gathered at a time.
        number = np.cumsum(lengths**2) // ENTRIES_AT_ONCE
        borders = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(lengths)]
        for begin, end in pairwise(borders):
            check()
            piece = slice(begin, end)
            self._write(lists, members, places.some(piece), lengths[piece])

    def _write(self, lists: Lists, members: Any, places: Places, lengths: Integers) -> None:
        """Write some matrices, which lie one after the other."""
        if not len(lengths):
            return
        cp = cupy()
        start = int(places.starts[0])
        found = cp.empty(int((lengths**2).sum()))
        first, length, place = map(cp.asarray, (lists.starts[places.variables], lengths, places.starts - start))
        kernels("gathering", package="rfdag.evidence.kernels").gather(
            (len(lengths),), (THREADS,),
            (self._correlation, np.int64(self.size), members, first, length, place, found),
        )  # fmt: skip
        places.entries[start : start + len(found)] = on_host(found)

    def of_residuals(self, children: Integers, coefficients: csr_array) -> Any:
        """Return the correlations of all variables with what is left of some children, on the device."""
        from cupyx.scipy.sparse import csr_matrix

        rows = self._correlation[cupy().asarray(children)]
        if coefficients.nnz:
            parts = (coefficients.data, coefficients.indices.astype(np.int32), coefficients.indptr.astype(np.int32))
            rows -= csr_matrix(tuple(map(cupy().asarray, parts)), shape=coefficients.shape) @ self._correlation
        return rows
