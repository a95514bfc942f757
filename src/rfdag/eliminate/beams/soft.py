"""The soft cost on data: a beam of eliminations in which edges are weighed by their evidence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.counts import Found, set_keys
from rfdag.eliminate.kernels import soft as kernels
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WORTH_SHARING = 50_000
"""Inner steps of a kernel below which handing out threads costs more than it saves."""

AT_ONCE = 20_000_000
"""Inner steps after which a beam returns to Python: about a tenth of a second."""

DENSE_AT_ONCE = 100_000_000
"""The same, counted as p³ for every state: what a step takes at most, and on sparse graphs a small part of it."""


class SoftBeam:
    """A beam of Gaussian eliminations under the soft cost.

    With ``rescore_every`` = 1 every candidate is scored at every step: the exact search. With larger numbers the search
    is lazy: in between, only the neighbours of a removed variable are scored, on rows computed as needed, and the
    rank-one steps are kept as vectors until they are applied together. States with a common ancestor share its matrix
    and vectors until then, so a continuation that is not followed is never computed, and one that is followed needs no
    copy of a matrix.

    Parameters
    ----------
    partial
        Matrix of partial correlations over all variables.
    n_samples
        Number of rows behind it.
    width
        The largest number of states, each with at most two matrices.
    mu
        Weight of the bound on future costs relative to costs so far; between 0 and 1. With width 1 each step removes
        the variable with the smallest D̃ + μ · H(what is left), which is the one with the largest R̃ − F̃ − λ D̃ for
        λ = (1 − μ) / μ.
    c, noise
        The weight of an edge rises from 0 at z² = noise to 1 at z² = noise + c. The price of an edge in the BIC is the
        natural choice for c; smaller values give weak edges more weight.
    z_near
        Variables count as neighbours of a candidate if their statistic z exceeds this.
    rescore_every
        Number of steps after which everything is scored again.
    threads
        How many threads may work on the states, or on the rows of one state.
    constraints
        Which variables must precede which.
    """

    def __init__(
        self,
        partial: Floats,
        n_samples: int,
        width: int,
        mu: float,
        *,
        c: float,
        noise: float = 0.0,
        z_near: float = 2.5,
        rescore_every: int = 1,
        threads: int = 1,
        constraints: Constraints | None = None,
    ) -> None:
        p = len(partial)
        self._rule = kernels.Rule(float(n_samples), c, noise / c, z_near, mu)
        self._width, self._every, self._threads = width, rescore_every, threads
        before = np.empty((0, 0), np.bool_) if constraints is None else constraints.before
        self._beam = _room(p, width, rescore_every, before)
        self._work = [_work(p, width, threads, rescore_every) for _ in range(threads)]
        np.negative(partial, out=self._beam.matrices[0, : p * p].reshape(p, p))
        self._beam.now[:] = (p, p, 0, 1, 0, 0, 1)
        self._beam.members[0, 0] = np.arange(p)
        self._beam.line[0, 0, -1] = self._beam.key[0, 0] = 0
        self._beam.spent[0, 0] = 0.0
        self._beam.scores[0, kernels.U, 0] = 1.0
        self._beam.waiting[0, 0] = before.sum(axis=1)

    @property
    def operations(self) -> int:
        """The number of entries of rows and of pairs of neighbours computed so far, on any number of threads."""
        return int(sum(work.operations[0] for work in self._work))

    def search(self, report: Callable[[float], None] = lambda share: None) -> Found:
        """Return up to ``width`` complete orders, the cheapest first; ``report`` is called with the share done."""
        p = len(self._beam.variable_keys)
        while (left := int(self._beam.now[kernels.LEFT])) > 1:
            share = 1 - (left / p) ** 3
            report(share)
            # On a dense graph scoring one state takes time of order p³: too long for all of them at once.
            apart = self._threads > 1 or int(self._beam.now[kernels.COUNT]) * left**3 > DENSE_AT_ONCE
            if apart and self._beam.now[kernels.DUE] == kernels.EVERYTHING:
                self._renew(partial(report, share))
            if self._threads > 1 and self._beam.now[kernels.COUNT] > 1:
                self._step()
            else:
                self._advance()
        return Found.ranked(*self._orders())

    def _orders(self) -> tuple[Integers, Floats]:
        """Return the order of every state, a source first, and its cost."""
        beam = self._beam
        p, count, side = len(beam.variable_keys), int(beam.now[kernels.COUNT]), int(beam.now[kernels.SIDE])
        bases, last = beam.line[side, :count, -1], beam.scores[side, kernels.U, :count, : beam.now[kernels.SLOTS]]
        found = np.empty((count, p), np.int64)
        found[:, 0] = beam.members[beam.now[kernels.BANK], bases, last.argmax(axis=1)]
        state = np.arange(count)
        for place, step in enumerate(range(p - 2, -1, -1), start=1):
            found[:, place] = beam.history[kernels.VARIABLE, step, state]
            state = beam.history[kernels.STATE, step, state]
        return found, beam.spent[side, :count]

    def _advance(self) -> None:
        """Take as many steps as fit into a tenth of a second, but stop where threads can share the work."""
        left, _, pending, count = self._beam.now[:4].tolist()
        steps = AT_ONCE // (count * left * (left // self._every + self._every + 20))
        # On a dense graph a step scores most candidates, each over most pairs.
        steps = max(1, min(steps, DENSE_AT_ONCE // (count * left**3)))
        if self._threads > 1:
            due = self._beam.now[kernels.DUE] != kernels.NOTHING
            steps = min(steps, self._every if due else self._every - pending)
        self._do(kernels.Task(kernels.ADVANCE), steps=steps)

    def _renew(self, check: Callable[[], None]) -> None:
        """Apply all pending steps and score everything: threads share the states, or the rows of a single state."""
        now = self._beam.now
        left, _, _, count = now[:4].tolist()
        if count > 1:
            self._share(self._renew_state, count, count * left * left, check)
        else:
            threads = self._threads if left * left > WORTH_SHARING else 1
            for stage in (kernels.SETTLE, kernels.SURVEY, kernels.LIGHTEN):
                share(partial(self._renew_rows, stage), threads)
        now[kernels.DUE] = kernels.RECORD

    def _renew_state(self, e: int, at: int) -> None:
        self._do(kernels.Task(kernels.RENEW, e), at, at)

    def _renew_rows(self, stage: int, first: int, step: int) -> None:
        self._do(kernels.Task(kernels.RENEW, 0, stage, stage + 1, first, step), 0, first)

    def _score_stale(self, e: int, at: int) -> None:
        self._do(kernels.Task(kernels.SCORE, e), at, at)

    def _do(self, task: kernels.Task, lists: int = 0, at: int = 0, steps: int = 1) -> None:
        """Do a task with the workspace of number ``at``, and the lists of neighbours in another."""
        work = self._work
        kernels.advance(self._rule, self._beam, task, work[lists], work[at], self._width, self._every, steps)

    def _step(self) -> None:
        """Take one step, with the scoring of states shared among the threads."""
        beam = self._beam
        if beam.now[kernels.DUE] == kernels.NOTHING:
            left, slots, pending, count = beam.now[:4].tolist()
            felt = int(np.isnan(beam.scores[beam.now[kernels.SIDE], kernels.GAINS, :count, :slots]).sum())
            self._share(self._score_stale, count, felt * left * (pending + 8))
        self._do(kernels.Task(kernels.ADVANCE))

    def _share(
        self,
        work: Callable[[int, int], None],
        count: int,
        steps: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Do ``work(state, worker)`` for every state, on several threads if there is enough work.

        ``check`` is called between two states, and may raise.
        """

        def some(first: int, step: int) -> None:
            for state in range(first, count, step):
                require_wanted()
                work(state, first)
                if first == 0:
                    check()

        share(some, min(self._threads, count) if steps > WORTH_SHARING else 1)


def _room(p: int, width: int, every: int, before: NDArray[np.bool_]) -> kernels.Beam:
    # Memory that is never written to is never taken from the system: a beam starts with one state and grows into it.
    return kernels.Beam(
        now=np.empty(7, np.int64),
        matrices=np.empty((2, width * p * p)),
        members=np.empty((2, width, p), np.int64),
        line=np.empty((2, width, every + 1), np.int64),
        spent=np.empty((2, width)),
        key=np.empty((2, width), np.uint64),
        scores=np.empty((2, 3, width, p)),
        pool=np.empty((every, width, p)),
        offers=np.empty((2, width, p)),
        offer_keys=np.empty((width, p), np.uint64),
        history=np.empty((3, p, width), np.int64),
        variable_keys=set_keys(p),
        waiting=np.empty((2, width, len(before)), np.int64),
        earlier=np.ascontiguousarray(before.T),
    )


def _work(p: int, width: int, threads: int, every: int) -> kernels.Work:
    room = (p + threads * kernels.TILE) * (p + 1) + 1
    return kernels.Work(
        start=np.empty(p, np.int64),
        end=np.empty(p, np.int64),
        near=np.empty(room, np.int32),
        a=np.empty(room),
        b=np.empty(room),
        slots=np.empty(p, np.int64),
        ends=np.empty(p, np.int64),
        row=np.empty(p),
        scale=np.empty(p),
        pending=np.empty((every, p)),
        entries=np.empty(p),
        least=np.empty(width),
        taken=np.empty(width, np.uint64),
        operations=np.zeros(1, np.int64),
    )
