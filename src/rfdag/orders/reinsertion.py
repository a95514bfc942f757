"""Local search on an order: take a variable out, put it back where it fits best, until nothing improves.

Then, if asked, iterated: disturb the best order a little, descend again, keep what is better.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.deadline import Deadline

AT_ONCE = 16
"""Variables reinserted between two looks at the clock."""

MOST_TURNED = 16
"""How many edges a restart turns at most; chosen on other graphs than the benchmarks report."""

SIDE_BY_SIDE = 4
"""Restarts that begin from the same order."""

IMPROVED = 1e-6
"""Fall of a score that is more than rounding."""

ROUNDING = 1e-9
"""Share of a score below which a difference is rounding."""

MOST_FRUITLESS, COST_OF_PATIENCE = 20, 240_000
"""Restarts in a row without success after which "auto" stops: the first, or fewer if Σ |parents|³ is large."""


def descend(
    scored: ScoredOrder,
    generator: np.random.Generator,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    *,
    thorough: bool = True,
) -> int:
    """Reinsert variables, in random order, and renew their parents, until nothing improves; return the number of moves.

    Only variables whose neighbourhood has changed are looked at again. A ``thorough`` descent ends with a sweep over
    all of them; without, that sweep is left out.
    """
    deadline = deadline or Deadline()
    p = len(scored.order)
    moves = 0
    least = math.inf
    while not scored.settled:
        waiting = generator.permutation(scored.stale)
        moved = 0
        for first in range(0, len(waiting), AT_ONCE):
            if deadline.passed():
                return moves + moved
            moved += scored.reinsert_stale(waiting[first : first + AT_ONCE])
            report(1 - len(scored.stale) / p)
        moves += moved
        if not moved and not scored.renew():
            scored.settled = len(waiting) == p
            if not thorough:
                break
            scored.mark_all_stale()
        elif scored.total < least - ROUNDING * abs(scored.total):
            least = scored.total
        else:
            # On nearly dependent columns, changes may gain no more than rounding, and go round in circles for ever.
            scored.settled = True
    return moves


def iterate(
    best: ScoredOrder,
    generator: np.random.Generator,
    restarts: int | Literal["auto"],
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    *,
    threads: int = 1,
) -> tuple[ScoredOrder, bool]:
    """Return the best of ``restarts`` descents, each from the best order so far with some edges turned.

    "auto" goes on until the deadline if there is one; else until several in a row have brought nothing, fewer the
    longer each takes. The score never rises. The second value tells that the user interrupted it; nothing found
    until then is lost.
    """
    deadline = deadline or Deadline()
    stop = threading.Event()
    patient = Deadline(deadline.moment, stop.is_set)
    done = fruitless = 0

    def left() -> int:
        """How many more restarts there may be."""
        if deadline.passed():
            return 0
        if restarts != "auto":
            return restarts - done
        return SIDE_BY_SIDE if deadline.moment is not None else patience(best) - fruitless

    def restart(generator: np.random.Generator) -> ScoredOrder:
        trial = best.copy()
        for _ in range(_edges_to_turn(trial, generator)):
            trial.reverse_edge(generator)
        descend(trial, generator, patient, thorough=False)
        return trial

    try:
        with ThreadPoolExecutor(threads) as pool:
            try:
                while (count := min(SIDE_BY_SIDE, left())) > 0:
                    # As many from the same order whatever the number of threads, so that the answer is the same.
                    trial = min(pool.map(restart, generator.spawn(count)), key=lambda trial: trial.total)
                    done += count
                    fruitless += count
                    if trial.total < best.total - IMPROVED:
                        best, fruitless = trial, 0
                    report(done / restarts if isinstance(restarts, int) else 0.0)
            except KeyboardInterrupt:
                # Leaving the pool waits for its workers; let them end soon.
                stop.set()
                raise
        if done:
            descend(best, generator, deadline)
    except KeyboardInterrupt:
        return best, True
    return best, False


def _edges_to_turn(scored: ScoredOrder, generator: np.random.Generator) -> int:
    """Return 1, 2, 4, 8 or 16: near orders are found by small steps, other valleys by large ones."""
    largest = min(MOST_TURNED, max(1, len(scored.order) // 4))
    return 2 ** int(generator.integers(largest.bit_length()))


def patience(scored: ScoredOrder) -> int:
    """Return how many fruitless restarts in a row are enough: at most 20, none where each would take long."""
    cost = int((scored.dag.sum(axis=0, dtype=np.int64) ** 3).sum())
    return min(MOST_FRUITLESS, COST_OF_PATIENCE // max(cost, 1))
