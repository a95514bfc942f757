"""Which columns belong together: correlations tile by tile, and the blocks that the clear ones make."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from rfdag.evidence.spread import check_spread, is_narrow

Integers = NDArray[np.int64]

CHANCE_LINKS = 1.0
"""Links that chance alone is expected to make among all pairs of independent columns."""

TILE = 2048
"""Columns on each side of a tile."""

BAND = 1e-4
"""Distance to the cut below which a correlation in single precision is computed again in double."""

MOST_LINKS = 4_000_000
"""Links kept before they are reduced to which columns they join."""


def clear_correlation(rows: int, columns: int) -> float:
    """Return the |correlation| above which two columns count as linked.

    Among p columns of independent rows, chance exceeds it for one pair, whatever p (a Bonferroni-like level).

    >>> round(clear_correlation(1000, 100_000), 3)
    0.199
    """
    level = min(CHANCE_LINKS / max(columns * (columns - 1) / 2, 1), 0.05)
    return math.tanh(-float(ndtri(level / 2)) / math.sqrt(max(rows - 3, 1)))


def find_blocks(
    values: NDArray[Any],
    names: tuple[Hashable, ...],
    *,
    report: Callable[[float], None] = lambda share: None,
    check: Callable[[int], None] = lambda largest: None,
    joined: Integers | None = None,
) -> list[Integers]:
    """Return the columns of each connected component of the clear correlations, that of the lowest column first.

    The correlations are never all there: they are looked at in tiles, in single precision, and again in double where
    that could matter. ``check`` is called with the size of the largest block as it becomes known, and may raise. Pairs
    of columns that are ``joined`` share a block whatever their correlation.
    """
    rows, columns = values.shape
    cut = clear_correlation(rows, columns)
    scaled = _standardised(values, names)
    links = _Links(columns, check)
    if joined is not None:
        links.add(joined[:, 0], joined[:, 1])
    tiles = -(-columns // TILE)
    done = 0
    for first in range(tiles):
        one = scaled[first * TILE : (first + 1) * TILE]
        for second in range(first, tiles):
            other = scaled[second * TILE : (second + 1) * TILE]
            tile = one @ other.T
            np.abs(tile, out=tile)
            i, j = np.nonzero(tile > cut - BAND)
            sure = tile[i, j] > cut + BAND
            i, j = i + first * TILE, j + second * TILE
            sure[~sure] = _correlations(values, i[~sure], j[~sure]) > cut
            links.add(i[sure], j[sure])
            done += 1
            report(done / (tiles * (tiles + 1) / 2))
    return links.blocks()


class _Links:
    """Pairs of columns, reduced now and then to the components that they make."""

    def __init__(self, columns: int, check: Callable[[int], None]) -> None:
        self._columns = columns
        self._check = check
        self._pairs: list[tuple[Integers, Integers]] = []
        self._count = 0

    def add(self, i: Integers, j: Integers) -> None:
        self._pairs.append((i, j))
        self._count += len(i)
        if self._count > MOST_LINKS:
            labels = self._labels()
            # Each column linked to the first of its component says the same with fewer pairs.
            _, heads = np.unique(labels, return_index=True)
            self._pairs = [(np.arange(self._columns), heads[labels])]
            self._count = 0

    def blocks(self) -> list[Integers]:
        labels = self._labels()
        order = np.argsort(labels, kind="stable")
        blocks = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        return sorted(blocks, key=lambda block: int(block[0]))

    def _labels(self) -> NDArray[np.int32]:
        i, j = (np.concatenate(ends) for ends in zip(*self._pairs, strict=True))
        graph = coo_array((np.ones(len(i), bool), (i, j)), shape=(self._columns, self._columns))
        labels: NDArray[np.int32] = connected_components(graph, directed=False)[1]
        self._check(int(np.bincount(labels).max()))
        return labels


def _standardised(values: NDArray[Any], names: tuple[Hashable, ...]) -> NDArray[np.float32]:
    """Return the columns as rows of single precision with mean 0 and length 1, or raise if some vary too little."""
    rows, columns = values.shape
    scaled = np.empty((columns, rows), np.float32)
    lowest, highest, deviations = np.empty(columns), np.empty(columns), np.empty(columns)
    for first in range(0, columns, TILE):
        part = values[:, first : first + TILE].T.astype(np.float64)
        low, high = lowest[first : first + TILE], highest[first : first + TILE] = part.min(axis=1), part.max(axis=1)
        part -= np.where(is_narrow(low, high), low, 0.0)[:, None]
        largest = np.abs(part).max(axis=1)
        part /= np.where(largest > 0, largest, 1.0)[:, None]
        part -= part.mean(axis=1)[:, None]
        norms = np.sqrt(np.einsum("ij,ij->i", part, part))
        deviations[first : first + TILE] = norms / math.sqrt(rows - 1) * largest
        scaled[first : first + TILE] = part / np.where(low == high, 1.0, norms)[:, None]
    check_spread(names, lowest, highest, deviations)
    return scaled


def _correlations(values: NDArray[Any], i: Integers, j: Integers) -> NDArray[np.float64]:
    """Return |correlation| of pairs of columns in double precision."""
    found = np.empty(len(i))
    for at, (one, other) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        a, b = values[:, one].astype(np.float64), values[:, other].astype(np.float64)
        # Numbers far from 0 for their spread differ exactly, and their mean is rounded.
        a, b = a - a[0], b - b[0]
        a, b = a - a.mean(), b - b.mean()
        found[at] = abs(a @ b) / math.sqrt((a @ a) * (b @ b))
    return found
