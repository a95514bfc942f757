"""What every elimination engine offers: the moral subgraph over the remaining variables, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
"""An array of integers; of shape (m, 2) where it lists edges."""


class LostPrecision(ArithmeticError):
    """Rounding spoilt the state, and a fresh one from the data was no better.

    ``variables`` are the one just removed and the one whose partial correlations left [−1, 1].
    """

    def __init__(self, removed: int, spoilt: int) -> None:
        super().__init__(f"variables {removed} and {spoilt}")
        self.variables = removed, spoilt


@dataclass(frozen=True)
class Removal:
    """What happened when one variable was removed.

    ``parents`` are its neighbours in the moral subgraph at that moment: its parents in the minimal I-MAP
    of the order under construction. ``removed`` and ``filled`` list the edges that went and came as pairs
    of variables; they are None when not asked for. ``margin`` is the least distance of a partial correlation to its
    threshold so far.
    """

    variable: int
    parents: Integers
    removal: int
    fill: int
    threshold: float
    margin: float
    removed: Integers | None
    filled: Integers | None


class Engine(Protocol):
    """The moral subgraph M_V over the remaining variables V, one removal at a time.

    Scores are aligned with ``remaining``, whose order is the engine's own and changes with each removal.
    """

    @property
    def remaining(self) -> Integers:
        """The variables of V, one per position."""

    @property
    def settled(self) -> float:
        """A margin below which rounding may have decided an edge; 0 for an engine that does not round."""

    def degrees(self) -> Integers:
        """Return the degree D of each variable in M_V."""

    def removals(self) -> Integers:
        """Return the removal score R of each variable."""

    def fills(self) -> Integers:
        """Return the fill score F of each variable."""

    def adjacency(self) -> NDArray[np.bool_]:
        """Return M_V as a symmetric matrix, aligned with ``remaining``."""

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""

    def copy(self) -> Self:
        """Return an engine that can go on independently of this one."""
