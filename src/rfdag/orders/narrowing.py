"""Orders that are searched with few candidates for each variable, and compared with all others now and then."""

from __future__ import annotations

from collections.abc import Callable

from rfdag.orders.overlooked import overlooked
from rfdag.orders.reinsertion import IMPROVED, ROUNDING
from rfdag.orders.scores import ScoredOrder


def reconsidered(scored: ScoredOrder, check: Callable[[], None] = lambda: None, threads: int = 1) -> ScoredOrder | None:
    """Return an order with more candidates, those that were overlooked, if some of them become parents.

    None where all variables are candidates already, or no others would be parents.
    """
    if scored.candidates.complete:
        return None
    pairs = overlooked(scored, check, threads)
    if not pairs.nnz:
        return None
    wider = scored.among(scored.candidates.with_pairs(pairs), check, threads)
    return wider if wider.total < scored.total - max(IMPROVED, ROUNDING * abs(scored.total)) else None
