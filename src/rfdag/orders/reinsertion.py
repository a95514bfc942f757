"""Local search on an order: take a variable out, put it back where it fits best, until nothing improves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rfdag.orders import tuning
from rfdag.orders.searched import SearchedOrder
from rfdag.runtime.deadline import Deadline, OutOfTime

ROUNDING = 1e-9
"""Share of a score below which a difference is rounding."""

IMPROVED = 1e-6
"""Fall of a score that is more than rounding, if columns are far from dependent."""


def descend(
    scored: SearchedOrder,
    generator: np.random.Generator,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    *,
    thorough: bool = True,
    renewing: bool = True,
) -> int:
    """Reinsert variables, in random order, and renew their parents, until nothing improves; return the number of moves.

    Only variables whose neighbourhood has changed are looked at again. A ``thorough`` descent ends with a sweep over
    all of them; without, that sweep is left out. Without ``renewing``, parents change only where variables move, and
    there is no such sweep either.
    """
    deadline = deadline or Deadline()
    p = len(scored.order)
    moves = 0
    least = math.inf
    # On a dense graph a single reinsertion takes long.
    at_once = tuning.REINSERTIONS_BETWEEN_LOOKS if deadline.moment is None else 1
    while not scored.settled:
        waiting = generator.permutation(scored.stale)
        moved = 0
        for first in range(0, len(waiting), at_once):
            if deadline.passed():
                return moves + moved
            moved += scored.reinsert_stale(waiting[first : first + at_once])
            report(1 - len(scored.stale) / p)
        moves += moved
        try:
            renewed = 0 if moved or not renewing else scored.renew(deadline.require)
        except OutOfTime:
            return moves
        if not moved and not renewed:
            scored.settled = renewing and len(waiting) == p
            if not (thorough and renewing):
                break
            scored.mark_all_stale()
        elif scored.total < least - ROUNDING * abs(scored.total):
            least = scored.total
        else:
            # On nearly dependent columns, changes may gain no more than rounding and repeat in a cycle for ever.
            scored.settled = True
    return moves
