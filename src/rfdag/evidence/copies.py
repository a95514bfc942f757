"""Pairs of columns that are copies of each other up to scale, found without comparing all pairs of many columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import Group
from rfdag.evidence.awkward import COPY, ROUNDED_COPY, awkward_error, copies_among, dependent_among
from rfdag.evidence.matrices import HOPELESS, condition_of, triangle_of
from rfdag.runtime.device import array_module, on_host

if TYPE_CHECKING:
    from collections.abc import Hashable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS_AT_ONCE = 64
"""Rows of a correlation matrix that are looked at together, so that no other matrix as large is made."""

ENTRIES_AT_ONCE = 1 << 22
"""Entries of the factor that are multiplied at a time: 32 MB."""

LEAST_P_FOR_DIRECTIONS = 1000
"""Columns from which copies are looked for along a few directions. Below, all pairs take a fraction of a second."""

DIRECTIONS = 8
"""Random directions along which columns are compared."""

STANDARD_DEVIATIONS = 7.0
"""How much further apart than expected copies may look along these directions: beyond, with probability 2e−11."""


class Comparable:
    """What moments can tell about columns that cannot stand beside each other."""

    if TYPE_CHECKING:
        names: tuple[Hashable, ...]
        factor: Floats
        resident: Any

    def copies(self, distance: float = COPY) -> tuple[Group, ...]:
        """Return the groups of columns that are copies of each other up to scale, or nearly so."""
        return copies_among(copied_pairs(self.resident, distance), self.names)

    def refuse_copies(self) -> None:
        """Raise if a column is a copy of another up to scale; of other dependence, few rows say nothing."""
        copies = self.copies()
        if copies:
            raise awkward_error(copies, len(self.names))

    def awkward(self) -> tuple[Group, ...]:
        """Return the groups of columns that are copies, also rounded ones; if none, those that others determine."""
        copies = self.copies(ROUNDED_COPY)
        if copies or len(self.factor) < len(self.names):
            return copies
        triangle = triangle_of(self.factor)
        return () if condition_of(triangle) < HOPELESS else dependent_among(triangle, self.names, HOPELESS)


def copied_pairs(factor: Any, distance: float) -> Integers:
    """Return pairs (i, j), i < j, of columns whose correlation is within ``distance`` of ±1, ascending.

    ``factor`` has columns of length one whose products are the correlations, on the host or on a device. Two copies
    differ by a vector shorter than √(2 · distance), and so by little along any direction; of many columns, those that
    are close along several random directions are compared in full, and no others.

    >>> copied_pairs(np.array([[1.0, 0.6, -1.0], [0.0, 0.8, 0.0]]), 1e-12)
    array([[0, 2]])
    """
    if factor.shape[1] < LEAST_P_FOR_DIRECTIONS:
        return _among_all(factor, distance)
    close = _close_along_directions(factor, distance)
    return close[_correlations(factor, close) > 1 - distance]


def _among_all(factor: Any, distance: float) -> Integers:
    """Compare all pairs."""
    p = factor.shape[1]
    found = [np.empty((0, 2), np.int64)]
    for start in range(0, p, ROWS_AT_ONCE):
        sizes = np.abs(on_host(factor[:, start : start + ROWS_AT_ONCE].T @ factor))
        pairs = np.argwhere(np.triu(sizes > 1 - distance, start + 1))
        found.append(pairs + np.array([start, 0]))
    return np.concatenate(found)


def _close_along_directions(factor: Any, distance: float) -> Integers:
    """Return the pairs that may be copies, or copies of opposite sign."""
    from scipy.spatial import KDTree

    xp = array_module(factor)
    directions = np.random.default_rng(0).standard_normal((factor.shape[0], DIRECTIONS))
    points = on_host(factor.T @ xp.asarray(directions))
    radius = math.sqrt(2 * distance) * (math.sqrt(DIRECTIONS) + STANDARD_DEVIATIONS)
    tree = KDTree(points)
    equal = tree.query_pairs(radius, output_type="ndarray").reshape(-1, 2)
    opposite = KDTree(-points).sparse_distance_matrix(tree, radius, output_type="coo_matrix")
    mirrored = np.column_stack([opposite.row, opposite.col])
    pairs = np.concatenate([equal, mirrored[mirrored[:, 0] < mirrored[:, 1]]]).astype(np.int64)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _correlations(factor: Any, pairs: Integers) -> Floats:
    """Return the size of the correlation of each pair."""
    xp = array_module(factor)
    # Of many copies of one column all pairs are close.
    step = max(1, ENTRIES_AT_ONCE // max(len(factor), 1))
    found = [np.empty(0)]
    for start in range(0, len(pairs), step):
        i, j = map(xp.asarray, pairs[start : start + step].T)
        found.append(np.abs(on_host((factor[:, i] * factor[:, j]).sum(axis=0))))
    return np.concatenate(found)
