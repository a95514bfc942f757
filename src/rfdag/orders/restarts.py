"""Iterated local search on an order: disturb the best order a little, descend again, keep what is better."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from rfdag.orders import tuning
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.recombination import recombine
from rfdag.orders.reinsertion import IMPROVED, descend
from rfdag.orders.rivals import Rivals
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.searched import SearchedOrder
from rfdag.runtime.deadline import Deadline, OutOfTime

Ordered = TypeVar("Ordered", bound=SearchedOrder)


def iterate(
    best: Ordered,
    generator: np.random.Generator,
    restarts: int | Literal["auto"],
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    *,
    until: Deadline | None = None,
    threads: int = 1,
    rivals: Rivals | None = None,
    operations: int = 0,
) -> tuple[Ordered, bool]:
    """Return the best of ``restarts`` descents, each from the best order so far with some edges reversed.

    Below `tuning.LEAST_P_FOR_REVERSALS` variables each descent starts from a random order instead. "auto" goes on until
    several in a row have found nothing better: as many as take `tuning.RESTART_SHARE` times the ``operations`` that
    orders have taken until now, or all of them `tuning.RESTARTS_IN_ALL` times as many; and then, where that is given,
    ``until`` a moment. The deadline ends both. The score never rises. The second value is whether the user interrupted
    it; nothing found until then is lost. All orders that are reached are offered to ``rivals``.
    """
    kind: Any = _Restarts if best.candidates.complete else _Recombining
    progress = kind(best, restarts, deadline or Deadline(), until, rivals or Rivals(), operations, threads)
    stop = threading.Event()
    if progress.next_count() > 0:
        report(progress.share)
    try:
        # A single worker would only take turns with this thread.
        with nullcontext() if threads == 1 else ThreadPoolExecutor(threads) as pool:
            try:
                while (count := progress.next_count()) > 0:
                    # As many from the same order whatever the number of threads, so that the answer is the same.
                    ends = progress.end_of_next(stop.is_set)
                    restart = functools.partial(progress.restart, progress.best, ends)
                    progress.take((pool.map if pool else map)(restart, generator.spawn(count)), count, generator)
                    report(progress.share)
            except KeyboardInterrupt:
                # Leaving the pool waits for its workers; let them end soon.
                stop.set()
                raise
        if progress.done:
            descend(progress.best, generator, progress.deadline)
    except KeyboardInterrupt:
        return progress.best, True
    return progress.best, False


class _Restarts(Generic[Ordered]):
    """The best order so far, how many restarts were made, and how many of them in vain since it was found.

    Work is counted in operations, which are the same on every machine and for any number of threads.
    """

    def __init__(
        self,
        best: Ordered,
        restarts: int | Literal["auto"],
        deadline: Deadline,
        until: Deadline | None,
        rivals: Rivals,
        operations: int,
        threads: int,
    ) -> None:
        self.best, self.deadline = best, deadline
        self._threads = threads
        self._rivals = rivals
        self._offer(best)
        self._expected = float(max(best.own_operations, 1))
        share = tuning.RESTART_SHARE * min(1.0, tuning.LARGEST_P_FOR_FULL_SHARE / len(best.order))
        self._budget = max(share * max(operations, best.operations), tuning.LEAST_RESTART_OPERATIONS)
        self._spent = 0
        self._spent_in_all = 0
        self.done = 0
        self._wanted = restarts
        self._until = until
        self._at_first = 0.0 if until is None else until.left()
        self._fruitless = 0

    def _offer(self, scored: Ordered) -> None:
        """Remember an order that was reached."""
        self._rivals.offer(scored)

    @staticmethod
    def restart(best: Ordered, deadline: Deadline, generator: np.random.Generator) -> Ordered:
        """Return a disturbed copy of the best order after a descent."""
        trial = best.copy()
        if len(trial.order) < tuning.LEAST_P_FOR_REVERSALS:
            _shuffle(trial, generator)
        else:
            for _ in range(_edges_to_reverse(trial, generator)):
                trial.reverse_edge(generator)
        descend(trial, generator, deadline, thorough=False, renewing=False)
        # Most restarts lead back to the best order, whose parents were renewed.
        if abs(trial.total - best.total) > IMPROVED:
            descend(trial, generator, deadline, thorough=False)
        return trial

    @property
    def share(self) -> float:
        """The share done; where the number of restarts is open, of those in vain that are enough, or of the time."""
        if self._wanted != "auto":
            return self.done / max(self._wanted, 1)
        if self._until is not None:
            return 1 - self._until.left() / max(self._at_first, 1e-9)
        return self._share_of_bounds()

    def _share_of_bounds(self) -> float:
        """Return the share done of what "auto" may do."""
        return min(self._spent / max(self._budget, 1.0), 1.0)

    def next_count(self) -> int:
        """Return how many restarts come next from the best order; 0 or less at the end."""
        left = self._left()
        if left <= 0 and self._until is not None and not self._until.passed():
            left = tuning.RESTARTS_FROM_ONE_ORDER
        # Asked only if there is something to do: a deadline that ends nothing has not cut the search short.
        if left <= 0 or self.deadline.passed():
            return 0
        return min(tuning.RESTARTS_FROM_ONE_ORDER, left)

    def end_of_next(self, cancelled: Callable[[], bool]) -> Deadline:
        """Return when the next restarts must end: with the time to search for, if nothing else asks for them."""
        moment = self.deadline.moment
        if self._left() <= 0 and self._until is not None and self._until.moment is not None:
            moment = min(self._until.moment, math.inf if moment is None else moment)
            return Deadline(moment, cancelled)
        return self.deadline.unless(cancelled)

    def _left(self) -> int:
        """Return how many restarts are still to come, whatever the time, if none of them finds anything."""
        if self._wanted != "auto":
            return self._wanted - self.done
        return self._affordable()

    def _affordable(self) -> int:
        """Return how many restarts are within bounds, if none of them finds anything."""
        in_all = tuning.RESTARTS_IN_ALL * self._budget - self._spent_in_all
        operations = min(self._budget - self._spent, in_all)
        return min(int(operations / self._expected), tuning.MOST_FRUITLESS_RESTARTS - self._fruitless)

    def take(self, trials: Iterable[Ordered], count: int, generator: np.random.Generator) -> None:
        """Count these restarts, and keep the best of them if it is better than the best so far."""
        reached = list(trials)
        before = self.best.total
        taken = sum(each.operations for each in reached)
        self._keep(reached, generator)
        self.done += count
        self._fruitless += count
        self._spent += taken
        self._spent_in_all += taken
        self._expected = max(taken / count, 1.0)
        if self.best.total < before - self._least_gain:
            self._fruitless, self._spent = 0, 0

    @property
    def _least_gain(self) -> float:
        """The fall of the score for which restarts go on."""
        return IMPROVED

    def _keep(self, reached: list[Ordered], generator: np.random.Generator) -> None:
        """Keep the best of these orders if it is better than the best so far."""
        for each in reached:
            self._offer(each)
        # Of orders of one equivalence class, which differ by rounding alone, the first is taken.
        least = min(trial.total for trial in reached)
        trial = next(trial for trial in reached if trial.total <= least + IMPROVED)
        if trial.total < self.best.total - IMPROVED:
            self.best = trial


class _Recombining(_Restarts[ScoredOrder]):
    """The same where each variable has few candidates: all of the graph is disturbed, and what is better is kept.

    Other orders that are nearly as good are not remembered: of so many variables, there are too many.
    """

    _until_screening = 1

    def _offer(self, scored: ScoredOrder) -> None:
        """Remember nothing."""

    @staticmethod
    def restart(best: ScoredOrder, deadline: Deadline, generator: np.random.Generator) -> ScoredOrder:
        """Return a copy of the best order after a descent from it with edges reversed in many places."""
        trial = best.copy()
        for _ in range(max(1, len(trial.order) // generator.choice(tuning.VARIABLES_PER_EDGE_DISTURBED))):
            trial.reverse_edge(generator)
        descend(trial, generator, deadline, thorough=False, renewing=False)
        return trial

    @property
    def _least_gain(self) -> float:
        """The fall of the score for which restarts go on: an edge for so many variables."""
        return self.best.price * len(self.best.order) * tuning.EDGES_PER_VARIABLE_TO_GO_ON

    def _keep(self, reached: list[ScoredOrder], generator: np.random.Generator) -> None:
        """Give the best order what is better in each of these; now and then, compare it with all variables."""
        for each in reached:
            recombine(self.best, each)
        self._until_screening -= 1
        if self._until_screening > 0:
            return
        self._until_screening = tuning.ROUNDS_BETWEEN_SCREENINGS
        with suppress(OutOfTime):
            wider = reconsidered(self.best, self.deadline.require, self._threads)
            if wider is not None:
                # What is found once is often found again.
                self._until_screening = 1
                descend(wider, generator, self.deadline, thorough=False)
                self.best = wider

    def _affordable(self) -> int:
        """Return how many restarts are within bounds, if none of them finds anything."""
        return min(tuning.MOST_RECOMBINED - self.done, tuning.MOST_FRUITLESS_RECOMBINED - self._fruitless)

    def _share_of_bounds(self) -> float:
        """Return the share done of what "auto" may do."""
        return min(self.done / tuning.MOST_RECOMBINED, 1.0)


def _edges_to_reverse(scored: SearchedOrder, generator: np.random.Generator) -> int:
    """Return 1, 2, 4, 8, 16 or 32: small steps find orders nearby, large ones other valleys."""
    p = len(scored.order)
    largest = min(tuning.MOST_EDGES_REVERSED, max(1, p // tuning.VARIABLES_PER_EDGE_REVERSED))
    return 2 ** int(generator.integers(largest.bit_length()))


def _shuffle(scored: SearchedOrder, generator: np.random.Generator) -> None:
    """Move the variables into a random order that obeys the constraints."""
    order = generator.permutation(len(scored.order))
    if scored.constraints is not None:
        order = scored.constraints.arrange(order)
    for place, variable in enumerate(order):
        at = scored.place_of(variable)
        # The variables it passes come later in an order that obeys, so it may pass them.
        if at != place:
            scored.move(at, place, force=True)
