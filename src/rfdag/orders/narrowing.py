"""Orders that are searched with few candidates for each variable, and looked at with all of them now and then."""

from __future__ import annotations

from collections.abc import Callable

from scipy.sparse import csr_array

from rfdag.orders.candidates import Candidates, families
from rfdag.orders.scores import ScoredOrder

GAIN = 1e-6
"""Fall of a score that is more than rounding."""


def narrowed(scored: ScoredOrder, strongest: csr_array, check: Callable[[], None] = lambda: None) -> ScoredOrder:
    """Return an order with fewer candidates: families of its DAG, and pairs with the strongest evidence."""
    return scored.among(Candidates.among(families(scored.dag) + strongest), check)


def reconsidered(scored: ScoredOrder, check: Callable[[], None] = lambda: None) -> ScoredOrder | None:
    """Return an order with parents chosen among all variables if that is better, with their families as candidates.

    None where all variables are candidates already, or no others would be parents.
    """
    if scored.candidates.complete:
        return None
    full = scored.among(Candidates.all(len(scored.order)), check)
    if full.total >= scored.total - GAIN:
        return None
    return full.among(scored.candidates.with_pairs(families(full.dag)), check)
