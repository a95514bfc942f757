"""DAGs that a search came across whose score is nearly that of the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.orders import tuning
from rfdag.orders.reversals import Alternative
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
