"""The record of an elimination, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

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
        Its score R, the number of edges that its removal removes. With pairs="neighbours" only pairs of its neighbours
        count.
    fill
        Its score F, the number of edges that its removal adds, counted in the same way.
    degree
        Its score D, the number of its neighbours.
    threshold
        The threshold on partial correlations at this step; the level, where tests decided.
    ties
        How many choices were equally good; 1 means that there was no tie.
    search
        Which call of RFDStep removed it: with depth > 1 a call may remove several variables.
    removed_edges
        All edges between remaining variables that were removed, as an (m, 2) array per step; None above 200 variables.
    filled_edges
        All edges between remaining variables that were added, in the same form.
    smallest_margin
        The smallest distance between a partial correlation and its threshold over all steps: how close rounding came
        to deciding an edge. Where tests decided, that between a p-value and the level.
    capped
        How many calls of RFDStep dropped paths because of ``max_paths``.
    neighbours
        The neighbours of each variable at its removal; None if the edges are. Together with the removed and filled
        edges they determine the graph at every step.
    names
        The names of the variables by column number, if a result has set them; notebooks show them. Files store them
        with the result, not with the trace.
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

    @classmethod
    def empty(cls) -> Trace:
        """Return the record of no steps at all."""
        none, numbers = np.empty(0, np.int64), np.empty(0)
        return cls(none, none, none, none, none, numbers, none, None, None, np.inf, 0)

    def arranged(self, places: Integers) -> Trace:
        """Return the trace with variables numbered otherwise: what was i is now places[i]."""

        def renumbered(lists: tuple[Integers, ...] | None) -> tuple[Integers, ...] | None:
            return None if lists is None else tuple(places[each] for each in lists)

        return replace(
            self,
            node=places[self.node],
            removed_edges=renumbered(self.removed_edges),
            filled_edges=renumbered(self.filled_edges),
            neighbours=renumbered(self.neighbours),
        )

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


class Unrecorded(Protocol):
    """What records the steps of an elimination when it is called."""

    def __call__(self) -> Trace:
        """Return the trace."""

    def arranged(self, places: Integers) -> Unrecorded:
        """Return the same with variables numbered otherwise: what was i is now places[i]."""


def _pairs(edges: tuple[Integers, ...] | None, at: int) -> tuple[tuple[int, int], ...] | None:
    return None if edges is None else tuple((int(i), int(j)) for i, j in edges[at])
