"""Local search on an order: take a variable out, put it back where it fits best, until nothing improves.

Then, if asked, iterated: disturb the best order a little, descend again, keep what is better.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfdag.refine.bic import ScoredOrder


@dataclass(frozen=True)
class Deadline:
    """A moment in time after which a search should return what it has."""

    moment: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline that many seconds from now; None never comes."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Return whether the moment has come."""
        return self.moment is not None and time.monotonic() >= self.moment


def descend(
    scored: ScoredOrder,
    generator: np.random.Generator,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> int:
    """Reinsert variables, in random order, until a whole sweep improves nothing; return the number of moves."""
    deadline = deadline or Deadline()
    p = len(scored.order)
    moves = since_last = 0
    while since_last < p:
        for variable in generator.permutation(p):
            if deadline.passed():
                return moves
            if scored.reinsert(int(variable)) < 0:
                moves += 1
                since_last = 0
            else:
                since_last += 1
            report(since_last / p)
            if since_last >= p:
                break
    return moves


def iterate(
    best: ScoredOrder,
    generator: np.random.Generator,
    restarts: int,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[ScoredOrder, bool]:
    """Return the best of ``restarts`` descents, each from the best order so far with a few variables displaced.

    The score never rises. Runs until the deadline when there is one and ``restarts`` is 0. The second value tells
    that the user interrupted it; nothing found until then is lost.
    """
    deadline = deadline or Deadline()
    p = len(best.order)
    done = 0
    try:
        while (done < restarts or (restarts == 0 and deadline.moment is not None)) and not deadline.passed():
            trial = best.copy()
            for _ in range(max(2, round(np.log(p)))):
                at, to = (int(position) for position in generator.integers(p, size=2))
                trial.move(at, to, force=True)
            descend(trial, generator, deadline)
            if trial.total < best.total:
                best = trial
            done += 1
            report(done / restarts if restarts else 0.0)
    except KeyboardInterrupt:
        return best, True
    return best, False
