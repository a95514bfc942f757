"""The Gaussian BIC of an order: every variable with the best parents found among its predecessors."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from rfdag.evidence.local import GroupedMoments, LocalMoments
from rfdag.graphs.dag import Graph
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import plausible, state
from rfdag.orders.candidates import Candidates
from rfdag.orders.grams import Grams
from rfdag.orders.kernels import fits, moves
from rfdag.orders.limits import most_parents
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AT_ONCE = 16
"""Variables whose parents are chosen between two looks at the time; changes no answer."""

NOT_ASKED = np.empty(0, np.bool_)
"""For the tasks of the kernel that do not ask what is plausible."""


class ScoredOrder:
    """An order with the parents and scores of its variables, kept up to date as the order changes.

    Parameters
    ----------
    moments
        The moments in which each variable is scored, and the rows behind them.
    order
        The variables, a source first.
    penalty
        λ: each edge costs λ ln n + 2 γ ln p.
    gamma
        γ of the extended BIC.
    parents
        DAG to start choosing parents from; edges against the order are left out.
    constraints
        Which variables may and must be parents of which, and which must precede which; the given order obeys them.
    check
        Called again and again while parents are chosen, which takes long on dense graphs; may raise `OutOfTime`.
    candidates
        Which variables can be parents of which, besides those of ``parents`` and required ones; all unless given.
    grams
        Correlations along the lists of some candidates, not to be computed again for those that are the same.
    renewing
        Whether parents are renewed once they are chosen; a descent does so, too.
    threads
        How many threads choose parents where each variable has its own; copies have one.

    Attributes
    ----------
    moments, constraints
        Those given.
    grams
        Correlations along the lists of the candidates.
    candidates
        Those given, with all parents that are given or required.
    most_parents
        For each variable the number of parents that its rows allow; see `most_parents`.
    settled
        Whether a descent has found that nothing improves the order; any change undoes it.
    """

    def __init__(
        self,
        moments: LocalMoments,
        order: Integers,
        penalty: float = 2.0,
        gamma: float = 0.0,
        parents: Graph | None = None,
        constraints: Constraints | None = None,
        check: Callable[[], None] = lambda: None,
        candidates: Candidates | None = None,
        grams: Grams | None = None,
        renewing: bool = True,
        threads: int = 1,
    ) -> None:
        p = moments.size
        self.moments = moments
        self._threads = threads
        candidates = Candidates.all(p) if candidates is None else candidates
        for edges in (parents, None if constraints is None else constraints.required):
            if edges is not None and not candidates.complete:
                candidates = candidates.with_pairs(csr_array(edges))
        self.candidates = candidates
        self.constraints = constraints
        self.n_samples = moments.n_samples
        self.penalty, self.gamma = penalty, gamma
        self.most_parents = most_parents(moments, constraints)
        self._price = price_of_edge(moments.n_samples, p, penalty, gamma)
        room = min(int(self.most_parents.max()), candidates.widest - 1)
        self.grams = Grams.along(candidates, moments, grams, check, threads)
        self._state = fits.State(
            grams=self.grams.entries,
            factors=factors_along(moments, candidates),
            starts=candidates.starts,
            lists=candidates.lists,
            places=np.zeros((7, p), np.int64),
            parents=np.zeros((p, room + 1), np.int64),
            values=np.zeros((2, p)),
            left=np.empty((2, candidates.starts[-1])),
            knowledge=state.knowledge_matrices(constraints),
        )
        places = self._state.places
        places[fits.ORDER] = order
        places[fits.PLACE, places[fits.ORDER]] = np.arange(p)
        places[fits.STALE] = 1
        places[fits.GRAM] = self.grams.starts
        places[fits.LIMIT] = self.most_parents
        places[fits.OWN] = candidates.own
        self._state.values[fits.ROWS] = [moments.rows(y) for y in range(p)]
        self._works = self._workspaces()
        self._inherited = 0
        self._before: NDArray[np.bool_] | None = None
        given_to = None if parents is None else csc_array(parents)
        for child in range(p) if constraints is not None or parents is not None else ():
            given = state.first_parents(child, given_to, constraints)[: self.most_parents[child]]
            self._state.parents[child, : len(given)] = np.searchsorted(candidates.of(child), given)
            places[fits.COUNT, child] = len(given)
        self.settled = False
        self._for_all(np.arange(p), check, lambda some, worker: self._refine(moves.FIT, some, worker=worker)[0])
        # Parents that were not renewed are parents all the same.
        with suppress(OutOfTime):
            if renewing:
                self.renew(check)

    def _workspaces(self) -> list[fits.Work]:
        """Return room to work in for each thread."""
        most = self._state.parents.shape[1] - 1
        return [state.workspace(most, self.candidates.widest) for _ in range(self._threads)]

    def _for_all(self, variables: Integers, check: Callable[[], None], work: Callable[[Integers, int], int]) -> int:
        """Do ``work(some, worker)`` for all variables, a few at a time; return the sum of what it returns.

        Workers are threads. What they do for a variable must not depend on what is done for others.
        """

        def some(worker: int, workers: int) -> int:
            done = 0
            for first in range(worker * AT_ONCE, len(variables), workers * AT_ONCE):
                require_wanted()
                check()
                done += work(variables[first : first + AT_ONCE], worker)
            return done

        return sum(share(some, self._threads))

    def _refine(
        self, task: int, items: Integers, may_be_parents: NDArray[np.bool_] = NOT_ASKED, worker: int = 0
    ) -> tuple[int, float]:
        """Do a task for each item, or for each row of items; return how many changed, and the change of the score."""
        rows = np.ascontiguousarray(items[:, None] if items.ndim == 1 else items)
        changed, change = moves.refine(task, rows, may_be_parents, self._price, self._state, self._works[worker])
        return changed, change

    @property
    def operations(self) -> int:
        """The number of multiplications of the searches on this order so far; those of a copy are counted anew."""
        return self._inherited + self.own_operations

    @property
    def own_operations(self) -> int:
        """The same without those that were made with other candidates."""
        return sum(int(work.operations[0]) for work in self._works)

    @property
    def order(self) -> Integers:
        """The variables, a source first."""
        return self._state.places[fits.ORDER]

    def place_of(self, variable: int) -> int:
        """Return where a variable stands in the order."""
        return int(self._state.places[fits.PLACE, variable])

    @property
    def total(self) -> float:
        """The score of the order: Σ n_y ln var(y | parents) + price · edges; smaller is better."""
        return float(self._state.values[fits.SCORE].sum())

    @property
    def scores(self) -> Floats:
        """The part of each variable in the score."""
        return self._state.values[fits.SCORE]

    @property
    def price(self) -> float:
        """The price of an edge."""
        return self._price

    @property
    def edges(self) -> int:
        """The number of edges."""
        return int(self._state.places[fits.COUNT].sum())

    @property
    def priced_edges(self) -> float:
        """How many times the price of an edge all edges cost: their number, but where some cost more than others."""
        factors = self._state.factors
        if not len(factors):
            return float(self.edges)
        chosen = np.arange(self._state.parents.shape[1]) < self.parent_counts[:, None]
        places = self.candidates.starts[:-1, None] + self._state.parents
        return float(factors[places[chosen]].sum())

    @property
    def misfit(self) -> float:
        """The score without the price of the edges: Σ n_y ln var(y | parents)."""
        return self.total - self._price * self.priced_edges

    @property
    def exhausted(self) -> Integers:
        """The variables whose variance given their parents is down to rounding, so that their score means nothing."""
        return np.flatnonzero(
            self._state.left[fits.VARIANCES, self.candidates.starts[:-1] + self.candidates.own] <= 10 * fits.TINY
        )

    @property
    def dag(self) -> NDArray[np.int8]:
        """The DAG of the chosen parents."""
        dag: NDArray[np.int8] = self.graph.toarray()
        return dag

    @property
    def graph(self) -> csr_array:
        """The same as a sparse array."""
        p, counts = len(self.order), self._state.places[fits.COUNT]
        children = np.repeat(np.arange(p), counts)
        chosen = np.arange(self._state.parents.shape[1]) < counts[:, None]
        parents = self.candidates.lists[0, self.candidates.starts[children] + self._state.parents[chosen]]
        if self.constraints is not None:
            # A required parent that the others determine is left out of the fit.
            required = self.constraints.required_edges
            parents, children = np.append(parents, required[:, 0]), np.append(children, required[:, 1])
        graph = csr_array((np.ones(len(parents), np.int64), (parents, children)), shape=(p, p))
        graph.sum_duplicates()
        graph.data = np.ones(graph.nnz, np.int8)
        return graph

    @property
    def parent_counts(self) -> Integers:
        """The number of parents of each variable."""
        return self._state.places[fits.COUNT]

    @property
    def parent_numbers(self) -> Integers:
        """The parents of each variable, as many as it has in its row, as numbers along its list."""
        return self._state.parents

    def parents_of(self, child: int) -> Integers:
        """Return the chosen parents of a variable."""
        return self.candidates.of(child)[self.numbers_of(child)]

    def numbers_of(self, child: int) -> Integers:
        """Return the chosen parents of a variable as numbers along its list."""
        return self.parent_numbers[child, : self.parent_counts[child]]

    @property
    def stale(self) -> Integers:
        """The variables whose neighbourhood has changed since they were last tried elsewhere."""
        return np.flatnonzero(self._state.places[fits.STALE])

    def mark_all_stale(self) -> None:
        """Mark every variable stale."""
        self._state.places[fits.STALE] = 1

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        own = self._state
        twin._state = own._replace(
            places=own.places.copy(), parents=own.parents.copy(), values=own.values.copy(), left=own.left.copy()
        )
        twin._threads = 1
        twin._works = twin._workspaces()
        twin._inherited = 0
        return twin

    def at_price(self, penalty: float, gamma: float, check: Callable[[], None] = lambda: None) -> ScoredOrder:
        """Return the same order with parents chosen at another price of an edge, starting from those it has."""
        kept = self.graph, self.constraints, check, self.candidates, self.grams
        return ScoredOrder(self.moments, self.order, penalty, gamma, *kept, threads=self._threads)

    def among(self, candidates: Candidates, check: Callable[[], None] = lambda: None, threads: int = 1) -> ScoredOrder:
        """Return the same order with other candidates; parents are chosen anew, starting from those it has."""
        given = self.graph, self.constraints, check, candidates, self.grams
        other = ScoredOrder(self.moments, self.order, self.penalty, self.gamma, *given, renewing=False, threads=threads)
        other._inherited = self.operations
        return other

    def adopt(self, other: ScoredOrder, variables: Integers, order: Integers) -> None:
        """Take over the parents of some variables from an order with the same candidates, along a new order of all."""
        own, theirs = self._state, other._state
        # On copies that take their places at once: Ctrl-C must not leave an order with the parents of another.
        places, parents, values, left = (each.copy() for each in (own.places, own.parents, own.values, own.left))
        places[fits.ORDER] = order
        places[fits.PLACE, order] = np.arange(len(order))
        places[fits.COUNT, variables] = theirs.places[fits.COUNT, variables]
        places[fits.STALE, variables] = 1
        parents[variables] = theirs.parents[variables]
        values[fits.SCORE, variables] = theirs.values[fits.SCORE, variables]
        for y in variables.tolist():
            along = slice(self.candidates.starts[y], self.candidates.starts[y + 1])
            left[:, along] = theirs.left[:, along]
        self.settled = False
        self._state = own._replace(places=places, parents=parents, values=values, left=left)

    def reinsert(self, variable: int) -> float:
        """Put a variable where it lowers the score most; return the change, 0 when it stays."""
        self._state.places[fits.STALE, variable] = 1
        _, change = self._refine(moves.REINSERT, np.array([variable]))
        self.settled &= change == 0.0
        return change

    def reinsert_stale(self, variables: Integers) -> int:
        """Reinsert those of ``variables`` that are stale, one after the other; return how many moved."""
        moved, _ = self._refine(moves.REINSERT, variables)
        self.settled &= moved == 0
        return moved

    def renew(self, check: Callable[[], None] = lambda: None) -> int:
        """Choose parents anew from all that are plausible where that is better; return how many variables it changed.

        ``check`` is called again and again; if it raises, the order stays as far as it was renewed.
        """
        waiting = self.order if self.candidates.complete else self._with_other_predecessors()
        may_be_parents, known = self._plausible(waiting, check)

        def choose(variables: Integers, worker: int) -> int:
            changed, _ = self._refine(moves.RENEW, variables[known[variables]], may_be_parents, worker)
            self.settled &= changed == 0
            return changed

        return self._for_all(waiting, check, choose)

    def _with_other_predecessors(self) -> Integers:
        """Return the variables, in order, that have other candidates before them than when this was last asked."""
        places = self._state.places[fits.PLACE]
        before = places[self.candidates.lists[0]] < places[self.candidates.owners]
        waiting = np.ones(len(places), bool)
        if self._before is not None:
            waiting[:] = False
            waiting[self.candidates.owners[before != self._before]] = True
        self._before = before
        return self.order[waiting[self.order]]

    def _plausible(self, waiting: Integers, check: Callable[[], None]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what may be a parent of some variables, along their lists, and of which variables it is known."""
        if self.candidates.complete:
            return plausible.in_order(cast(GroupedMoments, self.moments), self._state, self.most_parents)
        among = plausible.Among(self._state, self.candidates.widest, self._threads)
        self._for_all(waiting, check, among.mark)
        return among.found, among.known

    def move(self, at: int, to: int, *, force: bool = False) -> float:
        """Move the variable at ``at`` to ``to`` and rescore; undo it unless the score fell or ``force``."""
        _, change = self._refine(moves.MOVE, np.array([[at, to, force]], np.int64))
        # A forced move may change the order and not the score.
        self.settled &= change == 0.0 and not force
        return change

    def reverse_edge(self, generator: np.random.Generator) -> None:
        """Reverse one edge, drawn at random: its parent moves behind the child, or the child before the parent.

        Without edges, a variable moves to any place. No variable passes one that constraints keep before or behind it.
        """
        places = self._state.places
        children = np.flatnonzero(places[fits.COUNT])
        if not len(children):
            at, to = generator.integers(len(self.order), size=2)
        else:
            child = generator.choice(children)
            parent = self.parents_of(child)[generator.integers(places[fits.COUNT, child])]
            at, to = places[fits.PLACE, [parent, child]]
            if generator.random() < 0.5:
                at, to = to, at
        self.move(int(at), self._within_reach(int(at), int(to)), force=True)

    def _within_reach(self, at: int, to: int) -> int:
        """Return the position from ``at`` towards ``to`` up to which constraints allow a variable to move."""
        if self.constraints is None:
            return to
        variable, step = self.order[at], 1 if to > at else -1
        passed = self.order[np.arange(at + step, to + step, step)]
        first = self._state.knowledge[fits.FIRST]
        stopped = np.flatnonzero(first[variable, passed] if step > 0 else first[passed, variable])
        return at + step * int(stopped[0]) if len(stopped) else to


def factors_along(moments: LocalMoments, candidates: Candidates) -> Floats:
    """Return how many times the usual price each candidate costs, along the lists; empty where it is once for all."""
    if moments.price_factors is None:
        return np.empty(0)
    return np.ascontiguousarray(moments.price_factors[candidates.owners, candidates.lists[0]])


def price_of_edge(n_samples: int, p: int, penalty: float, gamma: float = 0.0) -> float:
    """Return what an edge costs: λ ln n of the BIC, and 2 γ ln p more of the extended BIC."""
    return penalty * math.log(n_samples) + 2 * gamma * math.log(p)
