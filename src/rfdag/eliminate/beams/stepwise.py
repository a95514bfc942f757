"""The stepwise cost on data: a beam of eliminations over a dense graph, in which edges are dropped one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial as bind

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.counts import DIGITS, Found, set_keys
from rfdag.eliminate.kernels import stepwise as kernels
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AT_ONCE = 100_000_000
"""Variables cubed, summed over states, after which a kernel returns to Python: less than a tenth of a second."""

WORTH_SHARING = 1_000_000
"""The same sum below which handing out threads costs more than it saves."""


class StepwiseBeam:
    """A beam of Gaussian eliminations under the stepwise cost.

    The soft cost judges each edge of a removed variable as if the others stayed, and so takes a wrong removal, which
    leaves many weak edges that stand in for each other, for nearly as cheap as a right one. The stepwise cost drops
    them one after the other: c times the cost of an order is its BIC at the price c per edge, by backward elimination,
    up to a constant. It takes longer, so the soft cost first makes a shortlist.

    Parameters
    ----------
    partial
        Matrix of partial correlations over all variables.
    n_samples
        Number of rows behind it.
    width
        The largest number of states.
    mu
        Weight of the bound on future costs relative to costs so far; between 0 and 1.
    slack
        States ranked so much above the best, in edges, are given up even where the beam has room for them.
    margin
        Continuations are left out of the shortlist if their soft cost is more than this many times ``slack`` above the
        least.
    c
        An edge is dropped if it is worth less, as twice the log-likelihood.
    shortlist
        Continuations per state of the beam, on average, whose stepwise cost is computed.
    threads
        How many threads may work on the states.
    constraints
        Which variables must precede which.
    around, reach
        An order to stay close to: a variable precedes those that come more than ``reach`` places after it there.
    """

    def __init__(
        self,
        partial: Floats,
        n_samples: int,
        width: int,
        mu: float,
        *,
        c: float,
        shortlist: int,
        slack: float = math.inf,
        margin: float = 1.0,
        threads: int = 1,
        constraints: Constraints | None = None,
        around: Integers | None = None,
        reach: int = 0,
    ) -> None:
        self._partial, self._n, self._width, self._mu, self._c = partial, float(n_samples), width, mu, c
        self._shortlist, self._slack, self._soft_slack = shortlist, slack, margin * slack
        self._threads = threads
        before = np.zeros((len(partial), len(partial)), np.bool_) if constraints is None else constraints.before
        if around is not None:
            place = np.argsort(around)
            before = before | (place - place[:, None] > reach)
        self._before = before.astype(np.float64) if before.any() else None

    def search(self, report: Callable[[float], None] = lambda share: None) -> Found:
        """Return up to ``width`` complete orders, the cheapest first; ``report`` is called with the share done."""
        p = len(self._partial)
        keys = set_keys(p)
        # Begins by removing a variable that has nothing to do with the others.
        matrices = np.zeros((1, (p + 1) * p // 2))
        matrices[0, : p * (p - 1) // 2] = -self._partial[np.tril_indices(p, -1)]
        members, parents, slots = np.arange(p + 1)[None], np.zeros(1, np.int64), np.array([p])
        spent, removed = np.zeros(1), np.zeros(1, np.uint64)
        steps: list[tuple[Integers, Integers]] = []
        for v in range(p, 1, -1):
            check = bind(report, 1 - (v / p) ** 4)
            matrices, paid, ahead = self._follow(v, matrices, parents, slots, check)
            members = np.take_along_axis(members[parents], np.arange(v) + (np.arange(v) >= slots[:, None]), axis=1)
            soft = spent[:, None] + paid + self._mu * ahead
            if self._before is not None:
                soft[self._held(members)] = np.inf
            states, places = self._cheapest(soft)
            costs = self._pay(v, matrices, states, places, check)
            values = soft[states, places] - paid[states, places] + costs
            chosen = _distinct(values, removed[states] ^ keys[members[states, places]], self._width, self._slack)
            parents, slots = states[chosen], places[chosen]
            variables = members[parents, slots]
            spent, removed = spent[parents] + costs[chosen], removed[parents] ^ keys[variables]
            steps.append((parents, variables))
        return Found.ranked(orders_along(members[parents, 1 - slots] if p > 1 else members[:, 0], steps), spent)

    def _follow(
        self, v: int, old: Floats, parents: Integers, slots: Integers, check: Callable[[], None]
    ) -> tuple[Floats, Floats, Floats]:
        """Return the matrices of all states over v variables, and D̃ and H of their continuations."""
        count = len(parents)
        new, paid, ahead = np.empty((count, v * (v - 1) // 2)), np.empty((count, v)), np.empty((count, v))
        before, after = (self._n - v + 1) / self._c, (self._n - v + 2) / self._c

        def some(first: int, last: int) -> None:
            kernels.follow(first, last, v, before, after, parents, slots, old, new, paid, ahead)

        self._share(some, count, v, check)
        return new, paid, ahead

    def _pay(self, v: int, matrices: Floats, states: Integers, slots: Integers, check: Callable[[], None]) -> Floats:
        """Return the stepwise costs of removals."""
        costs = np.empty(len(states))

        def some(first: int, last: int) -> None:
            kernels.pay(first, last, v, self._n, self._c, states, slots, matrices, costs)

        self._share(some, len(states), v, check)
        return costs

    def _held(self, members: Integers) -> NDArray[np.bool_]:
        """Return, per state and slot, whether a remaining variable must follow the one there."""
        assert self._before is not None
        present = np.zeros((len(members), len(self._before)))
        np.put_along_axis(present, members, 1.0, axis=1)
        return np.take_along_axis(present @ self._before.T, members, axis=1) > 0

    def _cheapest(self, soft: Floats) -> tuple[Integers, Integers]:
        """Return the states and slots on the shortlist: those within the slack, up to the last that fits on it."""
        values = np.round(soft.ravel(), DIGITS)
        room = min(self._shortlist * self._width, int(np.isfinite(values).sum()))
        most = min(np.partition(values, room - 1)[room - 1], values.min() + self._soft_slack)
        return np.divmod(np.flatnonzero(values <= most), soft.shape[1])

    def _share(self, work: Callable[[int, int], None], count: int, v: int, check: Callable[[], None]) -> None:
        """Do ``work(first, last)`` piece by piece, on several threads if there is enough of it.

        ``check`` is called between two pieces, and may raise.
        """
        threads = min(self._threads, count) if count * v**3 > WORTH_SHARING else 1
        piece = max(1, min(AT_ONCE // v**3, -(-count // threads)))

        def some(worker: int, step: int) -> None:
            for first in range(worker * piece, count, step * piece):
                require_wanted()
                work(first, min(first + piece, count))
                if worker == 0:
                    check()

        share(some, threads)


def _distinct(values: Floats, keys: NDArray[np.uint64], width: int, slack: float) -> Integers:
    """Return which ``width`` continuations are cheapest, one for each removed set, none by more than ``slack``.

    Ties go to the earlier one.
    """
    values = np.round(values, DIGITS)
    ranking = np.argsort(values, kind="stable")
    ranking = ranking[: np.searchsorted(values[ranking], values[ranking[0]] + slack, side="right")]
    _, first = np.unique(keys[ranking], return_index=True)
    return np.sort(ranking[np.sort(first)[:width]])


def orders_along(sources: Integers, steps: list[tuple[Integers, Integers]]) -> Integers:
    """Return the order of every state, a source first: the variable left, then the removed ones, the last first."""
    orders = np.empty((len(sources), len(steps) + 1), np.int64)
    orders[:, 0] = sources
    at = np.arange(len(sources))
    for place, (parents, variables) in enumerate(reversed(steps), 1):
        orders[:, place] = variables[at]
        at = parents[at]
    return orders
