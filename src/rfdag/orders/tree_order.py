"""An order whose variables take their parents from grow–shrink trees: it is searched as `ScoredOrder` is."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.candidates import Candidates
from rfdag.orders.kernels.trees import ends_of, weigh_places
from rfdag.orders.trees import LEAST_GAIN

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

OPERATIONS_A_WALK = 4
"""Operations that a walk down a tree counts for."""


class ParentTrees(Protocol):
    """Which parents each variable takes among any predecessors, as trees that `rfdag.orders.kernels.trees` walks."""

    root: Integers
    first: Integers
    count: Integers
    branches: Integers
    child: Integers
    final: Floats
    operations: int

    def parents_at(self, node: int) -> Integers:
        """Return the parents that a variable keeps whose walk ends at a node."""

    def serve(self, wanted: Integers) -> None:
        """Make what walks have asked for."""


class TreeOrder:
    """An order of variables, the parents that each takes among its predecessors, and their score.

    Parameters
    ----------
    trees
        Which parents a variable takes among any predecessors; copies share them.
    order
        The variables, a source first; it must obey the constraints.
    constraints
        What orders must obey.
    price
        The price of an edge with one degree of freedom, by which differences are judged.

    Examples
    --------
    >>> from rfdag.orders.family_scores import BlockScore
    >>> from rfdag.orders.trees import Trees
    >>> pair = BlockScore(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 1, 2]), None, 100)
    >>> found = TreeOrder(Trees(pair, np.array([[1], [0]])), np.array([1, 0]), price=9.2)
    >>> found.dag
    array([[0, 0],
           [1, 0]], dtype=int8)
    """

    gamma: ClassVar[float] = 0.0

    def __init__(
        self, trees: ParentTrees, order: Integers, constraints: Constraints | None = None, *, price: float
    ) -> None:
        p = len(order)
        self.trees, self.constraints, self.price = trees, constraints, price
        self.candidates = Candidates.all(p)
        self.settled = False
        self._order = np.array(order, np.int64)
        self._stale = np.ones(p, bool)
        self._walks = 0
        self._prepare()
        self._ends = self._found_ends(self._order)

    def _prepare(self) -> None:
        p = len(self._order)
        self._place, self._totals = np.empty(p, np.int64), np.empty(p)
        self._work, self._wanted = np.empty((3, p)), np.empty((3 * p, 2), np.int64)

    @property
    def order(self) -> Integers:
        """The variables, a source first."""
        return self._order

    @property
    def scores(self) -> Floats:
        """The part of each variable in the score."""
        return self.trees.final[self._ends]

    @property
    def total(self) -> float:
        """The score of the order; smaller is better."""
        return float(self.scores.sum())

    @property
    def operations(self) -> int:
        """The number of operations of the searches on this order so far; those of a copy are counted anew."""
        return OPERATIONS_A_WALK * self._walks

    own_operations = operations

    @property
    def stale(self) -> Integers:
        """The variables whose neighbourhood has changed since they were last tried elsewhere."""
        return np.flatnonzero(self._stale)

    @property
    def dag(self) -> NDArray[np.int8]:
        """The DAG of the chosen parents."""
        dag = np.zeros((len(self._order), len(self._order)), np.int8)
        for child in range(len(dag)):
            dag[self.parents_of(child), child] = 1
        return dag

    @property
    def graph(self) -> csr_array:
        """The same as a sparse array."""
        return csr_array(self.dag)

    @property
    def edges(self) -> int:
        """The number of edges."""
        return sum(len(self.parents_of(child)) for child in range(len(self._order)))

    def parents_of(self, child: int) -> Integers:
        """Return the chosen parents of a variable."""
        return self.trees.parents_at(int(self._ends[child]))

    def place_of(self, variable: int) -> int:
        """Return where a variable stands in the order."""
        return int((self._order == variable).argmax())

    def mark_all_stale(self) -> None:
        """Mark every variable stale."""
        self._stale[:] = True

    def copy(self) -> Self:
        """Return an independent copy on the same trees."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._order, twin._ends, twin._stale = self._order.copy(), self._ends.copy(), self._stale.copy()
        twin._walks = 0
        twin._prepare()
        return twin

    def renew(self, check: Callable[[], None] = lambda: None) -> int:
        """Return 0: parents follow from the predecessors alone, so there is nothing to choose anew."""
        return 0

    def reinsert_stale(self, variables: Integers) -> int:
        """Reinsert those of ``variables`` that are stale, one after the other; return how many moved."""
        waiting = [variable for variable in variables.tolist() if self._stale[variable]]
        self._make_what_is_wanted(waiting)
        moved = 0
        for variable in waiting:
            # A move may have made it stale again: it is tried after that.
            self._stale[variable] = False
            moved += self._reinsert(variable)
        self.settled &= moved == 0
        return moved

    def _make_what_is_wanted(self, variables: list[int]) -> None:
        """Have the trees make what reinserting variables asks for, of all of them at once: that takes fewer rounds."""
        left = variables
        while len(left) > 1:
            asking, wanted = [], []
            for variable in left:
                at = self.place_of(variable)
                rest = _without(self._order, at)
                asked = self._weigh(variable, rest, *self._reach(variable, rest))
                if asked:
                    asking.append(variable)
                    wanted.append(self._wanted[:asked].copy())
            if wanted:
                self.trees.serve(np.concatenate(wanted))
            left = asking

    def _weigh(self, variable: int, rest: Integers, low: int, high: int) -> int:
        """Weigh all places where a variable may be put; return how much is wanted for that, 0 when it is done."""
        self._walks += 3 * (high - low) + 1
        trees = self.trees
        known = trees.root, trees.first, trees.count, trees.branches, trees.child, trees.final
        room = self._place, self._totals, self._work, self._wanted
        return int(weigh_places(variable, rest, low, high, *known, *room))

    def move(self, at: int, to: int, *, force: bool = False) -> float:
        """Move the variable at ``at`` to ``to`` and rescore; undo it unless the score fell or ``force``."""
        before, order = self.total, self._order
        rest = _without(order, at)
        change = self._take(_with(rest, to, int(order[at])))
        if not force and not change < -LEAST_GAIN:
            self._take(order)
            return 0.0
        self.settled = False
        return self.total - before

    def reverse_edge(self, generator: np.random.Generator) -> None:
        """Reverse one edge, drawn at random: its parent moves behind the child, or the child before the parent.

        Without edges, a variable moves to any place. No variable passes one that constraints keep before or behind it.
        """
        children = [child for child in range(len(self._order)) if len(self.parents_of(child))]
        if not children:
            at, to = generator.integers(len(self._order), size=2).tolist()
        else:
            child = int(generator.choice(children))
            at, to = self.place_of(int(generator.choice(self.parents_of(child)))), self.place_of(child)
            if generator.random() < 0.5:
                at, to = to, at
        low, high = self._reach(int(self._order[at]), _without(self._order, at))
        self.move(at, min(max(to, low), high), force=True)

    def _reach(self, variable: int, rest: Integers) -> tuple[int, int]:
        """Return the first and the last place, in an order without the variable, at which it may be put."""
        if self.constraints is None:
            return 0, len(rest)
        before = self.constraints.before
        earlier = np.flatnonzero(before[rest, variable])
        later = np.flatnonzero(before[variable, rest])
        return int(earlier.max(initial=-1)) + 1, int(later.min(initial=len(rest)))

    def _reinsert(self, variable: int) -> bool:
        """Put a variable where the score is least; return whether it moved."""
        at = self.place_of(variable)
        rest = _without(self._order, at)
        low, high = self._reach(variable, rest)
        while asked := self._weigh(variable, rest, low, high):
            self.trees.serve(self._wanted[:asked])
        totals = self._totals[low : high + 1]
        if totals.min() >= totals[at - low] - LEAST_GAIN:
            return False
        to = low + int(np.flatnonzero(totals < totals.min() + LEAST_GAIN)[0])
        self._take(_with(rest, to, variable))
        self._stale[variable] = False
        return True

    def _take(self, order: Integers) -> float:
        """Take another order; return the change of the score. Variables whose parents change make others stale."""
        before = self._ends
        score = self.total
        ends = self._found_ends(order)
        # At once: Ctrl-C must not leave an order with the parents of another.
        self._ends, self._order = ends, order
        trees = self.trees
        for child in np.flatnonzero(before != self._ends).tolist():
            old, new = trees.parents_at(int(before[child])), trees.parents_at(int(self._ends[child]))
            if old is not new and not np.array_equal(old, new):
                self._stale[child] = True
                self._stale[old] = self._stale[new] = True
        return self.total - score

    def _found_ends(self, order: Integers) -> Integers:
        """Return the node at which each variable ends along an order."""
        ends = np.empty(len(order), np.int64)
        trees = self.trees
        while True:
            self._walks += len(order)
            known = trees.root, trees.first, trees.count, trees.branches, trees.child, trees.final
            asked = ends_of(order, *known, self._place, ends, self._wanted)
            if not asked:
                return ends
            trees.serve(self._wanted[:asked])


def _without(order: Integers, at: int) -> Integers:
    """Return an order without the variable at a place: ``numpy.delete`` takes several times as long."""
    return np.concatenate((order[:at], order[at + 1 :]))


def _with(order: Integers, at: int, variable: int) -> Integers:
    """Return an order with a variable put at a place."""
    longer = np.empty(len(order) + 1, np.int64)
    longer[:at], longer[at], longer[at + 1 :] = order[:at], variable, order[at:]
    return longer
