"""Families: which parents a node needs out of a set of candidates, by tests of independence and by constraints."""

from __future__ import annotations

import numpy as np

from rfdag.evidence.independence import Independence
from rfdag.graphs.node_sets import Parents, as_bits, members
from rfdag.knowledge.constraints import Constraints


class Families:
    """Which parents a node needs out of a set, each answer remembered: equivalent DAGs share most of their families."""

    def __init__(self, tests: Independence, constraints: Constraints | None = None) -> None:
        self.tests, self.constraints = tests, constraints
        self._known: dict[tuple[int, int], int] = {}
        if constraints is not None:
            self._allowed = [as_bits(np.flatnonzero(column)) for column in constraints.allowed.T]
            self._required = [as_bits(np.flatnonzero(column)) for column in constraints.required.T]
            self._earlier = [as_bits(np.flatnonzero(column)) for column in constraints.before.T]

    def needed(self, node: int, parents: int) -> int:
        """Return those of ``parents`` that depend on ``node`` given the rest of them, or are required."""
        known = self._known.get((node, parents))
        if known is None:
            others = members(parents)
            known = as_bits(others[self.tests.dependent(node, others)])
            if self.constraints is not None:
                known |= self._required[node] & parents
            self._known[node, parents] = known
        return known

    def may_reverse(self, parents: Parents, i: int, j: int) -> bool:
        """Return whether the edge i → j may point the other way, in an order that obeys the constraints.

        It may not if i precedes j in another way as well: along edges and constraints on the order.
        """
        if self.constraints is None:
            return True
        if not self._allowed[i] >> j & 1:
            return False
        above = 0
        fresh = (parents[j] & ~(1 << i)) | self._earlier[j]
        while fresh:
            above |= fresh
            beyond = 0
            for node in members(fresh).tolist():
                beyond |= parents[node] | self._earlier[node]
            fresh = beyond & ~above
        return not above >> i & 1
