"""Beam search: the paper's breadth-first search carried through the whole elimination.

A batch of partial eliminations advances together. At each step every state proposes all its variables, and the
``width`` best continuations are kept, one for each removed set: two that removed the same variables have the same
state, so only the cheaper one is followed. A continuation is ranked by the cost of its removals so far, plus μ times a
bound on the cost of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Engine, Integers
from rfdag.eliminate.kernels import soft as kernels
from rfdag.knowledge.constraints import Constraints

Floats = NDArray[np.float64]

DIGITS = 6
"""Decimals to which costs are compared."""


class States(Protocol):
    """A batch of elimination states, all with the same number of remaining variables."""

    @property
    def variables(self) -> Integers:
        """The remaining variables, one row per state."""

    def costs(self) -> tuple[Floats, Floats]:
        """Return, per state and position, the cost of a removal and the bound on the cost that remains after it."""

    def extend(self, states: Integers, positions: Integers) -> None:
        """Replace the batch: entry e becomes state states[e] without the variable at positions[e]."""


class EngineStates:
    """States of any engine with integer costs: an edge costs 1.

    ``check`` is called before each state is scored or followed further, and may raise: a step over many takes long.
    """

    def __init__(self, engine: Engine, check: Callable[[], None] = lambda: None) -> None:
        self._engines = [engine.copy()]
        self._check = check

    @property
    def variables(self) -> Integers:
        """The remaining variables, one row per state."""
        return np.array([engine.remaining for engine in self._engines])

    def costs(self) -> tuple[Floats, Floats]:
        """Return the degrees, and the number of edges left after each removal."""
        paid, ahead = [], []
        for engine in self._engines:
            self._check()
            degrees = engine.degrees()
            paid.append(degrees)
            ahead.append(degrees.sum() // 2 - degrees - engine.removals() + engine.fills())
        return np.array(paid, float), np.array(ahead, float)

    def extend(self, states: Integers, positions: Integers) -> None:
        """Remove each chosen variable; the last continuation of a state reuses it without a copy."""
        last = {int(state): entry for entry, state in enumerate(states)}
        successors = []
        for entry, (state, position) in enumerate(zip(states, positions, strict=True)):
            engine = self._engines[state]
            successors.append((engine if last[int(state)] == entry else engine.copy(), int(position)))
        for engine, position in successors:
            self._check()
            engine.remove(position)
        self._engines = [engine for engine, _ in successors]


class Found(NamedTuple):
    """Orders found by a beam, each with a source first, the cheapest order first; and their costs."""

    orders: Integers
    costs: Floats

    @classmethod
    def ranked(cls, orders: Integers, costs: Floats) -> Found:
        """Return the orders, sorted by cost."""
        ranking = np.argsort(np.round(costs, DIGITS), kind="stable")
        return cls(np.ascontiguousarray(orders[ranking]), costs[ranking])


@cache
def set_keys(p: int) -> NDArray[np.uint64]:
    """Return a random key per variable; a set is identified by the XOR of its members' keys.

    With about 64 random bits a collision is practically impossible.
    """
    keys = np.random.default_rng(0).integers(1, 2**63, size=(p,)).astype(np.uint64)
    keys.setflags(write=False)
    return keys


def beam_search(
    states: States,
    width: int,
    mu: float,
    *,
    report: Callable[[float], None] = lambda share: None,
    constraints: Constraints | None = None,
) -> Found:
    """Return up to ``width`` complete orders.

    With width 1 this is greedy: each step removes the variable with the smallest D̃ + μ · H(what is left), which is the
    one with the largest R̃ − F̃ − λ D̃ for λ = (1 − μ) / μ.

    Parameters
    ----------
    states
        A batch with one state, from which the search starts.
    width
        How many states to keep.
    mu
        Weight of the bound on future costs relative to costs so far; between 0 and 1.
    report
        Called with the share of the work done.
    constraints
        Which variables must precede which.
    """
    p = states.variables.shape[1]
    keys = set_keys(p)
    paid = np.zeros(1)
    removed_keys: NDArray[np.uint64] = np.zeros(1, np.uint64)
    removed = np.empty((1, 0), np.int64)
    before = np.zeros((p, 0), bool) if constraints is None else constraints.before
    # Per state and variable, how many of the remaining variables must follow it.
    waiting = before.sum(axis=1)[None]
    chosen_states, chosen_positions = np.empty(width, np.int64), np.empty(width, np.int64)
    least, taken = np.empty(width), np.empty(width, np.uint64)
    while states.variables.shape[1] > 1:
        variables = states.variables
        step_paid, ahead = states.costs()
        total = paid[:, None] + step_paid
        if constraints is not None:
            total[np.take_along_axis(waiting, variables, axis=1) > 0] = np.inf
        after: NDArray[np.uint64] = removed_keys[:, None] ^ keys[variables]
        count = kernels.select(total + mu * ahead, total, after, width, chosen_states, chosen_positions, least, taken)
        at = (chosen_states[:count].copy(), chosen_positions[:count].copy())
        paid, removed_keys = np.asarray(total[at]), np.asarray(after[at])
        removed = np.column_stack([removed[at[0]], variables[at]])
        if constraints is not None:
            waiting = waiting[at[0]] - before[:, variables[at]].T
        states.extend(*at)
        report(1 - (states.variables.shape[1] / p) ** 3)
    orders = np.column_stack([removed, states.variables[:, 0]])[:, ::-1]
    return Found.ranked(orders, paid)
