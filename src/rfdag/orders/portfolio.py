"""Several beams of growing width, judged by the BIC of the orders they find."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.gpu import bytes_of_states
from rfdag.evidence.local import GroupedMoments, correlations_of
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import tuning
from rfdag.orders.beam_settings import (
    first_width,
    may_be_lazy,
    next_width,
    settings_for,
    slack_after,
    steps_between_scores,
)
from rfdag.orders.beam_task import BeamTask
from rfdag.orders.candidates import Candidates, strongest
from rfdag.orders.grams import Grams
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.recombination import united
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.tuning import Setting
from rfdag.runtime.deadline import Deadline, OutOfTime
from rfdag.runtime.device import on_host, require_memory
from rfdag.runtime.memory import require_beam
from rfdag.runtime.progress import Shares

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Width = int | Literal["auto"]
Rescoring = Literal["auto", "exact", "lazy"]


BEAM_SHARE = 0.8
"""Share of an attempt that a progress bar gives its beam, where its order is refined after it."""


class _Stopped(Exception):
    """A beam was asked to end before it was done."""


@dataclass(frozen=True)
class Attempt:
    """One beam: its setting, its ``width``, and the best ``score`` (BIC) among its orders before refinement.

    Under the setting the weight of an edge rises from 0 at z² = ``noise`` to 1 at ``noise`` + ``c``, and ``mu`` is the
    weight of what a removal means for later ones.
    """

    c: float
    mu: float
    width: int
    score: float
    noise: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The best order found, what was tried, and the winner's order before refinement.

    ``operations`` are those that choosing parents and refining took, for the orders of all beams; ``interrupted`` is
    whether the user ended the search before it was done.
    """

    best: ScoredOrder
    attempts: tuple[Attempt, ...]
    eliminated: Integers
    operations: int
    interrupted: bool = False


def search_orders(
    partial: Floats,
    moments: GroupedMoments,
    *,
    worth: int | None = None,
    width: Width = "auto",
    rescoring: Rescoring = "auto",
    penalty: float = 2.0,
    gamma: float = 0.0,
    refine: bool = True,
    threads: int = 1,
    generator: np.random.Generator | None = None,
    deadline: Deadline | None = None,
    limit: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    device: str = "cpu",
    constraints: Constraints | None = None,
) -> Outcome:
    """Return the order of least BIC that a portfolio of beams finds.

    A fixed width runs every setting once. "auto" starts narrow and goes on four times as wide, with the settings
    that did best, as long as the score improves and the settings disagree; on sparse graphs only if orders are refined.

    Parameters
    ----------
    partial
        Partial correlations of all variables.
    moments
        What orders are scored by.
    worth
        How many rows the partial correlations are worth, where they are not the sample's own.
    width
        Number of states a beam keeps, or "auto".
    rescoring
        "exact" scores every candidate at every step, "lazy" only neighbours of what was removed (all at times, see
        `tuning.LAZY_STEPS`); "auto" is lazy on sparse graphs where that loses nothing (`may_be_lazy`).
    penalty, gamma
        λ and γ of the BIC: an edge costs λ ln n + 2 γ ln p.
    refine
        Whether orders are refined by reinsertion.
    threads
        How many threads may be used: for beams of different settings, or for the states of one beam.
    generator
        Decides in which order variables are tried for reinsertion; seed 0 unless given.
    deadline
        When to return the best order so far, if there is one.
    limit
        When to raise `OutOfTime` if there is none yet.
    report
        Called with the share done of the beams of one width.
    device
        Where beams run: "cpu", or "cuda", where ``partial`` then lies.
    constraints
        What orders and parents must obey.
    """
    generator = generator or np.random.default_rng(0)
    deadline = deadline or Deadline()
    p = len(partial)
    worth = worth or moments.n_samples
    settings = settings_for(partial, worth)
    sparse = settings != tuning.DENSE_SETTINGS
    lazy = sparse and may_be_lazy(p, refine) if rescoring == "auto" else rescoring == "lazy"
    stepwise = not (sparse or lazy) and p <= tuning.LARGEST_P_FOR_STEPWISE
    on_gpu = device == "cuda" and not stepwise
    if stepwise:
        settings = tuning.STEPWISE_SETTINGS
        # There is no such beam for the GPU, and answers must not depend on the device.
        partial = on_host(partial)
    first = first_width(p, stepwise=stepwise) if width == "auto" else width
    if on_gpu:
        require_memory(p, first, bytes_of_states)
    else:
        require_beam(p, first)
    narrowing = refine and sparse and p >= tuning.LEAST_P_FOR_FEWER_CANDIDATES
    task = BeamTask(
        partial=partial,
        moments=moments,
        worth=worth,
        penalty=penalty,
        gamma=gamma,
        steps_between_scores=steps_between_scores(p) if lazy else 1,
        stepwise=stepwise,
        # Refinement is cheap on sparse graphs and small ones, and tells a good order from a promising one; on large
        # dense graphs it costs more than the beams, and the best order before it is the best after it.
        refine_each=refine and (sparse or (stepwise and p <= tuning.SMALL_P)),
        on_gpu=on_gpu,
        constraints=constraints,
        grams=_first_grams(moments, partial, threads) if narrowing else None,
    )
    # A search without refinement must be quick; only dense graphs need wide beams for an answer.
    widening = width == "auto" and (refine or not sparse)
    search = _Portfolio(task, threads, deadline, limit or Deadline(), report)
    interrupted = False
    try:
        beams: _Round | None = _Round(first, settings)
        while beams is not None:
            found, improved = search.run(beams, generator)
            beams = _next_round(beams, found, task) if widening and not search.certain(found, improved) else None
            # Asked only if there is a next round: a deadline that ends nothing has not cut the search short.
            if beams is not None and deadline.passed():
                beams = None
        # Settings that agree at once are right; what took wider beams may have missed something nearby.
        if task.stepwise and task.refine_each and search.rounds > 1:
            search.look_around(generator)
        if refine and not task.refine_each:
            descend(search.best.scored, generator, deadline, report)
        if narrowing:
            search.unite_best()
    except (KeyboardInterrupt, OutOfTime) as ended:
        # A beam may have finished while another ran out of time.
        if not search.finished:
            raise
        interrupted = isinstance(ended, KeyboardInterrupt)
        search.take_best_finished()
    operations = sum(trial.scored.operations for trial in search.finished)
    return Outcome(search.best.scored, tuple(search.attempts), search.best.eliminated, operations, interrupted)


def _first_grams(moments: GroupedMoments, partial: Floats, threads: int) -> Grams:
    """Return the correlations of each variable with those for which the evidence is strongest."""
    pairs = strongest(functools.partial(correlations_of, moments), partial, threads)
    return Grams.along(Candidates.among(pairs), moments, threads=threads)


@dataclass(frozen=True)
class _Round:
    """Beams of one width and slack, one for each setting; perhaps close to an order."""

    width: int
    settings: tuple[Setting, ...]
    slack: float = math.inf
    around: Integers | None = None


@dataclass(frozen=True)
class _Trial:
    """What one setting gave: its order and score before refinement, and the order after it."""

    setting: Setting
    eliminated: Integers
    score: float
    scored: ScoredOrder

    @property
    def at_rest(self) -> bool:
        """Whether refinement found nothing to improve."""
        return self.score == _total(self.scored)


class _Portfolio:
    """Rounds of beams, the best order so far, and all that are finished, for a search that ends early."""

    def __init__(
        self, task: BeamTask, threads: int, deadline: Deadline, limit: Deadline, report: Callable[[float], None]
    ) -> None:
        self.attempts: list[Attempt] = []
        self.rounds = 0
        self.finished: list[_Trial] = []
        # The same without those of a round that did not end, in an order that does not depend on threads.
        self._in_rounds: list[_Trial] = []
        self._best: _Trial | None = None
        self._task, self._threads, self._deadline, self._report = task, threads, deadline, report
        self._limit = limit
        self._stop = threading.Event()
        self._patient = deadline.unless(self._stop.is_set)

    @property
    def best(self) -> _Trial:
        """The best of the rounds so far."""
        assert self._best is not None
        return self._best

    def run(self, beams: _Round, generator: np.random.Generator) -> tuple[list[_Trial], bool]:
        """Run one round; return what it found, the best first, and whether that is the best so far.

        A round that the deadline ends has fewer trials than settings, perhaps none.
        """
        self.rounds += 1
        count = len(beams.settings)
        # Beams side by side where there are several, the states of one beam side by side where there is one, or where
        # most of the time goes into states: threads then end together.
        apart = not self._task.stepwise and self._task.fits(beams.width * count)
        workers = min(self._threads, count) if apart else 1
        quick = beams.width * self._task.p**3 < tuning.LEAST_WORK_FOR_BEAM_THREADS
        shares = Shares(count, self._report)
        attempt = functools.partial(self._attempt, beams, 1 if quick else self._threads // workers, shares)
        with nullcontext() if quick or workers == 1 else ThreadPoolExecutor(workers) as pool:
            try:
                trials = (pool.map if pool else map)(attempt, range(count), beams.settings, generator.spawn(count))
                found = [trial for trial in trials if trial is not None]
            except BaseException:
                # Leaving the pool waits for its workers; let them end at their next step.
                self._stop.set()
                raise
        self.attempts += [
            Attempt(trial.setting.c, trial.setting.mu, beams.width, trial.score, trial.setting.noise) for trial in found
        ]
        found.sort(key=lambda trial: _total(trial.scored))
        self._in_rounds += found
        improved = bool(found) and (self._best is None or _total(found[0].scored) < _total(self._best.scored))
        if improved:
            self._best = found[0]
        return found, improved

    def certain(self, found: list[_Trial], improved: bool) -> bool:
        """Return whether wider beams are not worth their time, given what the last round found.

        They are not if all settings agree, and under the soft cost after the first round that brings nothing. Under the
        stepwise cost such a round may only have lost its way elsewhere. There are two signs of success: two beams have
        found the best score, or one has ended within an edge of it in an order that refinement cannot improve, as those
        of beams that have lost their way mostly can be. Both suffice from the second round on, the latter alone from
        the third, the former from the fourth. Where orders are not refined, there is only the former.
        """
        if not found or (len(found) > 1 and _total(found[0].scored) == _total(found[-1].scored)):
            return True
        if not self._task.stepwise:
            return not improved
        best = _total(self.best.scored)
        again = sum(_total(trial.scored) == best for trial in self._in_rounds) > 1
        near = best + self.best.scored.price
        at_rest = any(trial.at_rest and trial.score <= near for trial in self._in_rounds)
        if not self._task.refine_each:
            return again and self.rounds >= 2
        signs = again + at_rest
        return signs > 0 and self.rounds >= (2 if signs == 2 else 3 if at_rest else 4)

    def look_around(self, generator: np.random.Generator) -> None:
        """Run beams that stay close to the best order, at prices like that of the BIC, as long as they improve it.

        Where descents and restarts end, many variables would have to move at once, each by a few places.
        """
        improved = True
        while improved and not self._deadline.passed():
            best = self.best.scored
            settings = tuple(Setting(prices * best.price, mu) for prices, mu in tuning.SETTINGS_AROUND)
            beams = _Round(tuning.WIDTH_AROUND, settings, tuning.STEPWISE_SLACK, best.order.copy())
            _, improved = self.run(beams, generator)

    def unite_best(self) -> None:
        """Give the best order what is better in those of other settings."""
        best, *others = sorted(self._in_rounds, key=lambda trial: _total(trial.scored))
        with suppress(OutOfTime):
            scored = united([best.scored, *(trial.scored for trial in others)], self._patient.require, self._threads)
            self._best = replace(best, scored=scored)

    def take_best_finished(self) -> None:
        """Make the best of all finished trials the best, those of a round that did not end included."""
        self._best = min(self.finished, key=lambda trial: _total(trial.scored))

    def _attempt(
        self, beams: _Round, threads: int, shares: Shares, number: int, setting: Setting, generator: np.random.Generator
    ) -> _Trial | None:
        """Run one beam, and refine its best order where each is; return None if it was stopped."""
        searching = BEAM_SHARE if self._task.refine_each else 1.0

        def watch(share: float) -> None:
            self._require_time()
            shares.reach(number, searching * share)

        try:
            orders = self._task.beam(setting, beams.width, threads, beams.slack, beams.around).search(watch).orders
            scored = self._task.scored(orders[0], self._require_time)
        except _Stopped:
            return None
        with suppress(OutOfTime):
            for other in orders[1 : 1 if self._task.candidates else tuning.ORDERS_SCORED_PER_BEAM]:
                scored = min(scored, self._task.scored(other, self._patient.require), key=_total)
            scored = reconsidered(scored, self._patient.require) or scored
        trial = _Trial(setting, scored.order.copy(), _total(scored), scored)
        self.finished.append(trial)
        if self._task.refine_each:
            refining = 1 - searching
            descend(scored, generator, self._patient, lambda share: shares.reach(number, searching + refining * share))
        return trial

    def _require_time(self) -> None:
        """Raise if a beam must end: as `OutOfTime` where there is nothing to return yet."""
        if not self.finished:
            self._limit.require()
        elif self._deadline.passed():
            raise _Stopped
        if self._stop.is_set():
            raise _Stopped


def _next_round(beams: _Round, found: list[_Trial], task: BeamTask) -> _Round | None:
    """Return the next, wider round, or None if beams would be too wide."""
    wider = next_width(task.p, beams.width, stepwise=task.stepwise)
    if wider is None or not task.fits(wider):
        return None
    best = tuple(trial.setting for trial in found[: max(1, len(beams.settings) - 1)])
    return _Round(wider, beams.settings if task.p <= tuning.SMALL_P else best, slack_after(beams.slack))


def _total(scored: ScoredOrder) -> float:
    # Orders of one equivalence class differ by rounding alone, which must not decide.
    return round(scored.total, 6)
