"""Whether the weakest edges of a DAG are effects or noise.

A search over many candidates takes in edges whose statistic barely beats the price, and some of them by chance. Where
true effects reach down to the price, edges just above it are about as many as edges a little further up, or far more
than chance would give; a higher price would then cost true ones. Where effects are all far above it, the few edges just
above the price stand out from the gap behind them, and are noise.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtrc

from rfdag.evidence.local import factors_at
from rfdag.orders import tuning
from rfdag.orders.fitted import regressions_of
from rfdag.orders.scores import ScoredOrder


def noise_at_the_margin(scored: ScoredOrder, price: float) -> bool:
    """Return whether the edges that barely pay their price are mostly noise; required ones need not pay it."""
    p, n = len(scored.order), scored.n_samples
    margin = 2 * tuning.MARGIN_GAMMA * math.log(p)
    fitted = regressions_of(scored).partial_correlations
    partial = fitted.data
    # What an edge may gain by chance is as much more as it costs more.
    times = factors_at(scored.moments.price_factors, *fitted.nonzero())
    if scored.constraints is not None and len(scored.constraints.required_edges):
        sources, targets = fitted.nonzero()
        wanted = ~scored.constraints.required[sources, targets]
        partial, times = partial[wanted], times[wanted]
    above = (-n * np.log1p(-np.minimum(partial**2, 1 - 1e-15)) / times - price) / margin
    within = int((above < 1).sum())
    further = int(((above >= 1) & (above < 1 + tuning.MARGINS_COMPARED)).sum())
    pairs = p * (p - 1) / 2
    by_chance = pairs * (chdtrc(1, price) - chdtrc(1, price + margin))
    crowded = within * tuning.MARGINS_COMPARED > tuning.MARGIN_CROWDING * further
    return bool(crowded and within <= tuning.MARGIN_SELECTION * by_chance)
