"""The record of an elimination, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Integers
from rfdag.runtime.notebook import ShownInNotebooks


class Step(NamedTuple):
    """One removal: variables are given by their column number."""

    node: int
    removal: int
    fill: int
    degree: int
    ties: int
    threshold: float
    search: int
    removed_edges: tuple[tuple[int, int], ...] | None
    filled_edges: tuple[tuple[int, int], ...] | None
    neighbours: tuple[int, ...] | None


@dataclass(frozen=True)
class Trace(ShownInNotebooks):
    """Every step of an elimination, the first removed (a sink) first.

    Attributes
    ----------
    node
        The variable removed.
    removal
        Its score R at that moment, the number of edges that vanish. With pairs="neighbours" only pairs of its
        neighbours count.
    fill
        Its score F, the number of edges that are filled in, counted likewise.
    degree
        Its score D, the number of its neighbours.
    threshold
        The threshold of an edge then.
    ties
        How many choices were equally good; 1 means the data alone decided.
    search
        Which call of RFDStep removed it: with depth > 1 a call may remove several variables.
    removed_edges
        All edges between remaining variables that went, as an (m, 2) array per step; None above the recorded size.
    filled_edges
        All edges between remaining variables that came, likewise.
    smallest_margin
        The least distance to its threshold of any partial correlation in the graphs passed through: how near an
        edge was to rounding.
    capped
        How many calls of RFDStep dropped paths because of ``max_paths``.
    neighbours
        The neighbours of each variable at its removal, D of them; None where edges are. With the edges that went and
        came they determine every graph on the way.
    names
        The names of the variables by column number, where a result has set them; notebooks show them. Files do not
        hold them: they are the result's.
    """

    node: Integers
    removal: Integers
    fill: Integers
    degree: Integers
    ties: Integers
    threshold: NDArray[np.float64]
    search: Integers
    removed_edges: tuple[Integers, ...] | None
    filled_edges: tuple[Integers, ...] | None
    smallest_margin: float
    capped: int
    neighbours: tuple[Integers, ...] | None = None
    names: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        for entry in vars(self).values():
            for array in entry if isinstance(entry, tuple) else (entry,):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.node)

    def __iter__(self) -> Iterator[Step]:
        for at in range(len(self)):
            yield Step(
                int(self.node[at]),
                int(self.removal[at]),
                int(self.fill[at]),
                int(self.degree[at]),
                int(self.ties[at]),
                float(self.threshold[at]),
                int(self.search[at]),
                _pairs(self.removed_edges, at),
                _pairs(self.filled_edges, at),
                None if self.neighbours is None else tuple(self.neighbours[at].tolist()),
            )


def _pairs(edges: tuple[Integers, ...] | None, at: int) -> tuple[tuple[int, int], ...] | None:
    return None if edges is None else tuple((int(i), int(j)) for i, j in edges[at])
