"""Moments with their columns in an arrangement that depends on the data alone, not on how they were given."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.runtime.device import array_module, on_host

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rfdag.evidence.pair_rows import PairRows

Floats = NDArray[np.float64]

SAME = 1e-9
"""Difference of sums of correlations that is no more than rounding."""

HEAD = 16
"""Rows by which most columns can be told apart."""

ROWS_AT_ONCE = 256
"""Rows of a factor that are arranged together, so that no other matrix as large is made."""


def by_content(rows: Any) -> NDArray[np.int64]:
    """Return the columns of an array sorted by what stands in them, row after row.

    What is computed from columns in this arrangement is the same to the last digit however they were given: sums in
    another order are rounded otherwise. Only columns that are equal stay in the order in which they were given.

    >>> by_content(np.array([[3.0, 1.0, 3.0], [2.0, 9.0, 1.0]]))
    array([1, 2, 0])
    """
    head = on_host(rows[:HEAD])
    places = np.lexsort(head[::-1])
    ordered = head[:, places]
    alike = ((ordered[:, 1:] == ordered[:, :-1]) | (np.isnan(ordered[:, 1:]) & np.isnan(ordered[:, :-1]))).all(axis=0)
    starts = np.flatnonzero(np.concatenate([[True], ~alike, [True]]))
    for first, last in pairwise(starts.tolist()):
        if last - first > 1:
            some = places[first:last].tolist()
            places[first:last] = sorted(some, key=lambda at: np.asarray(on_host(rows[:, at]), np.float64).tobytes())
    return places


def by_entries(matrix: Floats) -> NDArray[np.int64]:
    """Return the columns of a symmetric matrix sorted by what stands in them, whatever the arrangement of its rows.

    >>> by_entries(np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 1.0]]))
    array([2, 0, 1])
    """
    return by_content(np.concatenate([np.diag(matrix)[None], np.sort(matrix, axis=0)]))


def in_arrangement(matrix: Floats, places: NDArray[np.int64]) -> Floats:
    """Return a square matrix with rows and columns in another arrangement: the i-th is the one at places[i] here."""
    return np.ascontiguousarray(matrix[places[:, None], places])


def given_back(arranged: Floats, places: NDArray[np.int64]) -> Floats:
    """Return a square matrix as it was before `in_arrangement`."""
    return in_arrangement(arranged, np.argsort(places))


def products_of(factor: Floats) -> Floats:
    """Return FᵀF, the same to the last digit however the columns of F were given."""
    places = by_content(factor)
    arranged = np.ascontiguousarray(factor[:, places])
    return given_back(arranged.T @ arranged, places)


def by_sums(sums: Floats) -> NDArray[np.int64]:
    """Return places sorted by sums; those that differ by rounding alone stay as they are.

    >>> by_sums(np.array([2.0, 1.0, 1.0 - 1e-15]))
    array([1, 2, 0])
    """
    order = np.argsort(sums, kind="stable")
    ascending = sums[order]
    group = np.cumsum(np.diff(ascending, prepend=ascending[:1]) > SAME)
    found: NDArray[np.int64] = order[np.lexsort((order, group))]
    return found


class Arrangeable:
    """What moments can tell about their columns, and how they are arranged otherwise."""

    if TYPE_CHECKING:
        names: tuple[Hashable, ...]
        factor: Floats
        resident: Any
        means: Floats
        scales: Floats
        partial: Floats | None
        pair_rows: PairRows | None

    def places_by_data(self) -> NDArray[np.int64]:
        """Return the columns sorted by the sum of their correlations with all columns.

        Those with equal sums, up to rounding, stay as they were given: of two columns, for example, each has the same
        sum, and units must not decide.
        """
        places = by_content(self.resident)
        there = array_module(self.resident).asarray(places)
        sums = np.zeros(len(places))
        for start in range(0, len(self.resident), ROWS_AT_ONCE):
            some = self.resident[start : start + ROWS_AT_ONCE][:, there]
            sums += on_host(some.sum(axis=1) @ some)
        return by_sums(sums[np.argsort(places)])

    def arranged(self, places: NDArray[np.int64]) -> Self:
        """Return the same moments with the columns in another arrangement: the i-th is the one at places[i] here."""
        known: dict[str, Any] = {
            "names": tuple(self.names[at] for at in places.tolist()),
            **self.arranged_factor(places),
            "means": self.means[places],
            "scales": self.scales[places],
            "partial": None if self.partial is None else self.partial[np.ix_(places, places)],
            "pair_rows": None if self.pair_rows is None else self.pair_rows.among(places),
            "given": self,
        }
        return replace(self, **known)  # type: ignore[type-var]

    def arranged_factor(self, places: NDArray[np.int64]) -> dict[str, Any]:
        """Return the factor, by the name of its field, with its columns in another arrangement."""
        return {"factor": np.ascontiguousarray(self.factor[:, places])}
