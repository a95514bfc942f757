"""What a local search asks of an order, whatever scores its variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.candidates import Candidates

Integers = NDArray[np.int64]


class SearchedOrder(Protocol):
    """An order of variables, the parents that each has among its predecessors, and their score."""

    settled: bool
    """Whether no single move lowers the score."""
    candidates: Candidates
    """What may be a parent of what."""
    constraints: Constraints | None

    @property
    def order(self) -> Integers: ...  # noqa: D102
    @property
    def total(self) -> float: ...  # noqa: D102
    @property
    def price(self) -> float: ...  # noqa: D102
    @property
    def dag(self) -> NDArray[np.int8]: ...  # noqa: D102
    @property
    def stale(self) -> Integers: ...  # noqa: D102
    @property
    def operations(self) -> int: ...  # noqa: D102
    @property
    def own_operations(self) -> int: ...  # noqa: D102

    def copy(self) -> Self:
        """Return an independent copy."""

    def place_of(self, variable: int) -> int:
        """Return where a variable stands in the order."""

    def mark_all_stale(self) -> None:
        """Mark every variable as one to be tried elsewhere."""

    def reinsert_stale(self, variables: Integers) -> int:
        """Reinsert those of the variables that are stale, one after the other; return how many moved."""

    def renew(self, check: Callable[[], None] = ...) -> int:
        """Choose parents anew; return how many variables have others."""

    def move(self, at: int, to: int, *, force: bool = False) -> float:
        """Move the variable at one place to another, unless that raises the score; return the change."""

    def reverse_edge(self, generator: np.random.Generator) -> None:
        """Reverse one edge, drawn at random."""
