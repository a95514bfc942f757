"""DAGs whose score is nearly that of the best: all there are of few variables, else those that a search came across."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.all_dags import acyclic, all_dags
from rfdag.graphs.node_sets import as_matrix, as_parents
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import tuning
from rfdag.orders.exact import Problem, scores_of_families
from rfdag.orders.reversals import Alternative
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.searched import SearchedOrder

CLOSE = 6.0
"""BIC units below which the evidence for one graph over another is less than strong.

Chosen: on this scale, twice a logarithm of odds, Kass and Raftery (Bayes factors, JASA 1995) call 2 to 6 positive
evidence and 6 to 10 strong. `benchmarks/close_calls.py` measures which arrows it marks.
"""


DIGITS = 4
"""Decimals of a score that are more than rounding."""


class Rivals:
    """The DAGs of least score among those offered, at most `tuning.MOST_RIVALS` at a price of an edge, one of a score.

    DAGs of one equivalence class have the same score up to rounding; the first one stands for all of them.
    """

    def __init__(self) -> None:
        # Scores at different prices cannot be compared.
        self._at_price: dict[float, dict[float, NDArray[np.int8]]] = {}

    def offer(self, scored: SearchedOrder) -> None:
        """Keep an order's DAG if it is close to the best so far."""
        kept = self._at_price.setdefault(scored.price, {})
        total = round(scored.total, DIGITS)
        if total in kept or total >= min(kept, default=total) + CLOSE:
            return
        kept[total] = scored.dag
        for most in sorted(kept)[tuning.MOST_RIVALS :]:
            del kept[most]

    def beside(self, best: SearchedOrder) -> tuple[Alternative, ...]:
        """Return those that are worse than the best by less than `CLOSE`, with what they cost more."""
        kept = self._at_price.get(best.price, {})
        least = round(best.total, DIGITS)
        return tuple(Alternative(total - least, kept[total]) for total in sorted(kept) if least < total < least + CLOSE)


def rivals_of(best: ScoredOrder, seen: Rivals) -> tuple[Alternative, ...]:
    """Return the graphs nearly as good as that of an order: all there are of few variables, else those seen."""
    if len(best.order) > tuning.LARGEST_P_FOR_ALL_RIVALS:
        return seen.beside(best)
    problem = Problem(best.moments, best.penalty, best.gamma, best.constraints)
    return all_rivals(scores_of_families(problem), best.dag, best.constraints)


def all_rivals(
    families: NDArray[np.float64],
    best: NDArray[np.int8],
    constraints: Constraints | None = None,
    *,
    apart: float = np.inf,
) -> tuple[Alternative, ...]:
    """Return every equivalence class whose score is worse than that of a DAG by less than `CLOSE`, the closest first.

    Each is represented by its DAG of least score, with what that costs more: less than nothing if it is better.

    Parameters
    ----------
    families
        At (y, S) the score of y with the parents S, a set of the variables without y as bits, the lower ones first; ∞
        where these may not be its parents. At most `tuning.LARGEST_P_FOR_ALL_RIVALS` variables.
    best
        The DAG to compare with, whose own class is left out.
    constraints
        What must precede what; which parents are forbidden and required, ``families`` say.
    apart
        Difference from which scores tell Markov equivalent DAGs apart, as those of interventions do.

    Examples
    --------
    >>> scores = np.array([[0.0, -9.0], [0.0, -9.0]])                  # an edge gains 9 units, whichever way
    >>> all_rivals(scores, np.array([[0, 0], [0, 0]], np.int8))[0].cost
    -9.0
    >>> all_rivals(scores, np.array([[0, 1], [0, 0]], np.int8))
    ()
    """
    p = len(families)
    parents, classes = all_dags(p)
    scores = np.zeros(len(parents))
    for y in range(p):
        among = parents[:, y].astype(np.int64)
        scores += families[y, among & (1 << y) - 1 | among >> y + 1 << y]
    own = int(np.flatnonzero((parents == np.array(as_parents(best), np.uint8)).all(axis=1))[0])
    costs = scores - scores[own]
    close = np.flatnonzero(costs < CLOSE)
    if constraints is not None:
        earlier = np.array(as_parents(constraints.before.astype(np.int8)), np.uint8)
        close = close[acyclic(parents[close] | earlier)]
    close = close[np.lexsort((costs[close], classes[close]))]
    new = (np.diff(classes[close], prepend=-1) != 0) | (np.diff(costs[close], prepend=0.0) > apart)
    group = np.cumsum(new)
    found = close[new & ~np.isin(group, group[close == own])]
    found = found[np.argsort(costs[found], kind="stable")]
    return tuple(Alternative(float(costs[at]), as_matrix(parents[at].tolist())) for at in found.tolist())
