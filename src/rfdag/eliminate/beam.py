"""Beam search: the paper's breadth-first search carried through the whole elimination.

A batch of partial eliminations goes on together. At each step every state offers all its variables, and the
``width`` best continuations are kept, one for each removed set: two that removed the same variables have the
same state, so only the cheaper is worth following. What a continuation costs is what its removals paid so far,
plus μ times a bound on what the rest will have to pay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import _soft_kernels as kernels
from rfdag.eliminate.engine import Engine, Integers
from rfdag.eliminate.threads import share

Floats = NDArray[np.float64]

WORTH_SHARING = 200_000
"""Inner steps of a kernel below which handing out threads costs more than it saves."""


DIGITS = 9
"""Decimals to which costs are compared."""


class States(Protocol):
    """A batch of elimination states, all with the same number of remaining variables."""

    @property
    def variables(self) -> Integers:
        """The remaining variables, one row per state."""

    def costs(self) -> tuple[Floats, Floats]:
        """Return, per state and position, what removing costs and what would then lie ahead."""

    def extend(self, states: Integers, positions: Integers) -> None:
        """Replace the batch: entry e is state states[e] without the variable at positions[e]."""


class SoftStates:
    """States of a Gaussian elimination under the soft cost.

    An edge weighs φ = min(z² / c, 1) instead of 0 or 1, z² being its squared test statistic. Two batches of
    ``width`` matrices are held, 2 · width · p² doubles in all.

    Parameters
    ----------
    partial
        Matrix of partial correlations over all variables.
    n_samples
        Number of rows behind it.
    width
        The most states ever held.
    c
        The z² from which an edge counts in full: the price of an edge in the BIC is the natural choice, smaller
        values trust weaker edges.
    z_near
        Which variables count as neighbours of a candidate: those whose statistic z is larger than this.
    rescore_every
        1 computes every candidate's gain R̃ − F̃ at every step, the exact rule. Larger numbers are lazy: a gain is
        kept until a neighbour of its variable is removed, and all are computed anew at every so many steps.
    threads
        How many threads may work on the states.
    """

    def __init__(
        self,
        partial: Floats,
        n_samples: int,
        width: int,
        *,
        c: float,
        z_near: float = 2.5,
        rescore_every: int = 1,
        threads: int = 1,
    ) -> None:
        p = len(partial)
        self._now, self._next = np.empty((width, p, p)), np.empty((width, p, p))
        self._now[0] = partial
        self._n, self._c, self._z_near = float(n_samples), c, z_near
        self._threads = threads
        self._every, self._step = rescore_every, 0
        self._gains, self._known = np.empty((1, p)), np.zeros((1, p), np.bool_)
        self.variables = np.arange(p)[None, :]

    def costs(self) -> tuple[Floats, Floats]:
        """Return D̃ and the bound H after each removal."""
        count, v = self.variables.shape
        paid, ahead = np.empty((count, v)), np.empty((count, v))

        def work(first: int, step: int) -> None:
            kernels.costs(
                self._now, v, self._n, self._c, self._z_near, first, step, self._gains, self._known, paid, ahead
            )

        share(work, self._threads_for(count * v * v * v // 8, count))
        return paid, ahead

    def extend(self, states: Integers, positions: Integers) -> None:
        """Write each chosen continuation's matrix straight from its parent's: nothing else is copied."""
        v = self.variables.shape[1]

        def work(first: int, step: int) -> None:
            kernels.extend(self._now, v, states, positions, first, step, self._next)

        share(work, self._threads_for(len(states) * v * v, len(states)))
        self._step += 1
        gains, known = np.empty((len(states), v - 1)), np.zeros((len(states), v - 1), np.bool_)
        if self._step % self._every:
            kernels.inherit(
                self._now, v, self._n, self._z_near, states, positions, self._gains, self._known, gains, known
            )
        self._gains, self._known = gains, known
        self._now, self._next = self._next, self._now
        self.variables = _without(self.variables[states], positions)

    def _threads_for(self, steps: int, count: int) -> int:
        return min(self._threads, count) if steps >= WORTH_SHARING else 1


class EngineStates:
    """States of any engine, under the hard counts: an edge costs 1."""

    def __init__(self, engine: Engine) -> None:
        self._engines = [engine.copy()]

    @property
    def variables(self) -> Integers:
        """The remaining variables, one row per state."""
        return np.array([engine.remaining for engine in self._engines])

    def costs(self) -> tuple[Floats, Floats]:
        """Return the degrees, and the number of edges left after each removal."""
        paid, ahead = [], []
        for engine in self._engines:
            degrees = engine.degrees()
            paid.append(degrees)
            ahead.append(degrees.sum() // 2 - degrees - engine.removals() + engine.fills())
        return np.array(paid, float), np.array(ahead, float)

    def extend(self, states: Integers, positions: Integers) -> None:
        """Remove each chosen variable; a state's last continuation takes the state itself."""
        last = {int(state): entry for entry, state in enumerate(states)}
        successors = []
        for entry, (state, position) in enumerate(zip(states, positions, strict=True)):
            engine = self._engines[state]
            successors.append((engine if last[int(state)] == entry else engine.copy(), int(position)))
        for engine, position in successors:
            engine.remove(position)
        self._engines = [engine for engine, _ in successors]


class Found(NamedTuple):
    """Orders found by a beam, a source first, the cheapest first; and what their eliminations paid."""

    orders: Integers
    costs: Floats


def beam_search(
    states: States, width: int, mu: float, *, report: Callable[[float], None] = lambda share: None
) -> Found:
    """Return up to ``width`` complete orders.

    With width 1 this is greedy: each step removes the variable of least D̃ + μ · H(what is left), which is
    the largest R̃ − F̃ − λ D̃ with λ = (1 − μ) / μ.

    Parameters
    ----------
    states
        A batch of one state: the start.
    width
        How many states to keep.
    mu
        Weight of what lies ahead against what was paid; between 0 and 1.
    report
        Is told the share of the work done.
    """
    p = states.variables.shape[1]
    # A set is known by the XOR of its members' keys; 64 random bits make a collision a curiosity.
    keys = np.random.default_rng(0).integers(1, 2**63, size=(p,)).astype(np.uint64)
    paid = np.zeros(1)
    removed_keys: NDArray[np.uint64] = np.zeros(1, np.uint64)
    removed = np.empty((1, 0), np.int64)
    chosen_states, chosen_positions = np.empty(width, np.int64), np.empty(width, np.int64)
    while states.variables.shape[1] > 1:
        variables = states.variables
        step_paid, ahead = states.costs()
        total = paid[:, None] + step_paid
        set_keys: NDArray[np.uint64] = removed_keys[:, None] ^ keys[variables]
        # Rounded, so that costs equal but for the last digits tie, and the tie is broken by position.
        values = np.round(total + mu * ahead, DIGITS)
        count = kernels.select(values, total, set_keys, width, chosen_states, chosen_positions)
        at = (chosen_states[:count].copy(), chosen_positions[:count].copy())
        paid, removed_keys = np.asarray(total[at]), np.asarray(set_keys[at])
        removed = np.column_stack([removed[at[0]], variables[at]])
        states.extend(*at)
        report(1 - (states.variables.shape[1] / p) ** 3)
    orders = np.column_stack([removed, states.variables[:, 0]])[:, ::-1]
    ranking = np.argsort(np.round(paid, DIGITS), kind="stable")
    return Found(np.ascontiguousarray(orders[ranking]), paid[ranking])


def _without(variables: Integers, positions: Integers) -> Integers:
    """Return each row with its last entry moved to the given position."""
    rows = np.arange(len(variables))
    variables[rows, positions] = variables[:, -1]
    return variables[:, :-1]
