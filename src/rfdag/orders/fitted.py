"""The regressions behind the score of an order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.evidence.regressions import Regressions
from rfdag.graphs.sparse import same_pattern
from rfdag.orders.kernels.fits import TINY
from rfdag.orders.scores import ScoredOrder


def regressions_of(scored: ScoredOrder) -> Regressions:
    """Return the regression of each variable on its parents, in standard units, as sparse arrays.

    >>> from rfdag.evidence.local import SharedMoments
    >>> found = regressions_of(ScoredOrder(SharedMoments(np.array([[1.0, 0.5], [0.5, 1.0]]), 100), np.arange(2)))
    >>> found.coefficients.toarray(), found.variances
    (array([[0. , 0.5],
           [0. , 0. ]]), array([1.  , 0.75]))
    """
    p = len(scored.order)
    counts = scored.parent_counts
    starts = np.cumsum([0, *counts])
    slopes, partial, variances = np.empty(starts[-1]), np.empty(starts[-1]), np.ones(p)
    parents = np.empty(starts[-1], np.int64)
    for count in np.unique(counts[counts > 0]).tolist():
        # Families of one size are inverted at once.
        family = np.flatnonzero(counts == count)
        numbers = scored.parent_numbers[family, :count]
        inverse = _inverse(scored.grams.among(family, numbers))
        own, last = inverse[:, -1, -1], inverse[:, -1, :-1]
        diagonal = np.diagonal(inverse, axis1=1, axis2=2)[:, :-1]
        variances[family] = np.maximum(1.0 / own, TINY)
        here = starts[family][:, None] + np.arange(count)
        parents[here] = scored.candidates.lists[0, scored.candidates.starts[family][:, None] + numbers]
        slopes[here] = -last / own[:, None]
        # Of nearly dependent columns rounding can make a diagonal negative.
        partial[here] = -last / np.sqrt(np.maximum(own[:, None] * diagonal, TINY))
    children = np.repeat(np.arange(p), np.diff(starts))
    # A sparse array sorts its entries; numbers in their place tell where each went.
    places = csr_array((np.arange(1, len(parents) + 1), (parents, children)), shape=(p, p))
    at = places.data - 1
    return Regressions(same_pattern(places, slopes[at]), variances, same_pattern(places, partial[at]))


def _inverse(grams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverses of correlation matrices; where columns are dependent, up to rounding, as if they were not."""
    try:
        return np.asarray(np.linalg.inv(grams))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.inv(grams + TINY * np.eye(grams.shape[-1])))
