"""Whether the weakest edges of a DAG are effects or noise.

A search over many candidates takes in edges whose statistic barely beats the price, and some of them by chance. Where
true effects reach down to the price, edges just above it are about as many as edges a little further up, or far more
than chance would give; a higher price would then cost true ones. Where effects are all far above it, the few edges just
above the price stand out from the void behind them, and are noise.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from rfdag.evidence.moments import Moments

GAMMA = 0.25
"""γ of the extended BIC that does away with the noise; the margin is what it adds to the price of an edge."""

FURTHER_UP = 5
"""Margins above the first that it is compared with."""

CROWD = 2.0
"""How many times denser than further up edges must lie in the margin to be taken for noise."""

SELECTED = 3.0
"""How many times more of them than tests of all pairs would give by chance can be noise: the search looks for them."""


def noise_at_the_margin(
    moments: Moments, dag: NDArray[np.int8], price: float, required: NDArray[np.bool_] | None = None
) -> bool:
    """Return whether the edges that barely pay their price are mostly noise; required ones need not pay it."""
    n = moments.n_samples
    assert n is not None
    margin = 2 * GAMMA * math.log(len(dag))
    chosen = dag != 0 if required is None else (dag != 0) & ~required
    partial = moments.regressions(dag).partial_correlations[chosen]
    above = (-n * np.log1p(-np.minimum(partial**2, 1 - 1e-15)) - price) / margin
    within = int((above < 1).sum())
    further = int(((above >= 1) & (above < 1 + FURTHER_UP)).sum())
    pairs = len(dag) * (len(dag) - 1) / 2
    by_chance = pairs * (chdtrc(1, price) - chdtrc(1, price + margin))
    return bool(within * FURTHER_UP > CROWD * further and within <= SELECTED * by_chance)
