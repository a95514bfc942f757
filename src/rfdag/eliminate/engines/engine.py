"""The interface of an elimination engine: the moral subgraph over the remaining variables, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
"""An array of integers; of shape (m, 2) where it lists edges."""


class LostPrecision(ArithmeticError):
    """Rounding errors made the state invalid, and recomputing it from the data did not help.

    ``variables`` are the one just removed and the one with a partial correlation outside [−1, 1].
    """

    def __init__(self, removed: int, spoilt: int) -> None:
        super().__init__(f"variables {removed} and {spoilt}")
        self.variables = removed, spoilt


@dataclass(frozen=True)
class Removal:
    """The effects of removing one variable.

    ``parents`` are its neighbours in the moral subgraph just before: its parents in the minimal I-MAP of the order
    under construction. ``removed`` and ``filled`` list the edges removed and added, as pairs of variables; they are
    None unless requested. ``margin`` is the smallest distance of a partial correlation from its threshold so far, or
    of a p-value from the level of the tests.
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

    Scores are in the order of ``remaining``, which depends on the engine and changes with each removal.
    """

    @property
    def remaining(self) -> Integers:
        """The variables of V, one per position."""

    @property
    def settled(self) -> float:
        """The margin below which rounding may have decided an edge; 0 for an engine with exact arithmetic."""

    def degrees(self) -> Integers:
        """Return the degree D of each variable in M_V."""

    def removals(self) -> Integers:
        """Return the removal score R of each variable."""

    def fills(self) -> Integers:
        """Return the fill score F of each variable."""

    def adjacency(self) -> NDArray[np.bool_]:
        """Return M_V as a symmetric matrix, in the order of ``remaining``."""

    def remove(self, position: int, *, with_edges: bool = False) -> Removal:
        """Marginalise the variable at ``position``."""

    def copy(self) -> Self:
        """Return an independent copy of the engine."""
