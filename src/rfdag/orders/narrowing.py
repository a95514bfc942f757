"""Orders that are searched with few candidates for each variable, and looked at with all of them in the end."""

from __future__ import annotations

from collections.abc import Callable

from scipy.sparse import csr_array

from rfdag.graphs.sparse import sparse_moral_graph
from rfdag.orders.candidates import Candidates
from rfdag.orders.reinsertion import IMPROVED, ROUNDING
from rfdag.orders.scores import ScoredOrder


def narrowed(scored: ScoredOrder, strongest: csr_array, check: Callable[[], None] = lambda: None) -> ScoredOrder:
    """Return an order with fewer candidates: Markov blankets in its DAG, and pairs with the strongest evidence."""
    return scored.among(Candidates.among(sparse_moral_graph(scored.dag) + strongest), check)


def reconsidered(scored: ScoredOrder, check: Callable[[], None] = lambda: None) -> ScoredOrder | None:
    """Return an order with parents chosen among all variables if that is better, and candidates for it.

    None where all variables are candidates already, or no others would be parents.
    """
    if scored.candidates.complete:
        return None
    full = scored.among(Candidates.all(len(scored.order)), check)
    if full.total >= scored.total - max(IMPROVED, ROUNDING * abs(scored.total)):
        return None
    return full.among(scored.candidates.with_pairs(sparse_moral_graph(full.dag)), check)
