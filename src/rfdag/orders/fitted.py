"""The regressions behind the score of an order."""

from __future__ import annotations

import numpy as np
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
    families = [scored.numbers_of(y) for y in range(p)]
    starts = np.cumsum([0, *map(len, families)])
    slopes, partial, variances = np.empty(starts[-1]), np.empty(starts[-1]), np.ones(p)
    parents = np.empty(starts[-1], np.int64)
    for y, numbers in enumerate(families):
        if not len(numbers):
            continue
        chosen = np.append(numbers, scored.candidates.own[y])
        inverse = np.linalg.inv(scored.grams.of(y)[np.ix_(chosen, chosen)])
        own = inverse[-1, -1]
        variances[y] = max(1.0 / own, TINY)
        here = slice(starts[y], starts[y + 1])
        parents[here] = scored.candidates.of(y)[numbers]
        slopes[here] = -inverse[-1, :-1] / own
        partial[here] = -inverse[-1, :-1] / np.sqrt(own * np.diag(inverse)[:-1])
    children = np.repeat(np.arange(p), np.diff(starts))
    # A sparse array sorts its entries; numbers in their place tell where each went.
    places = csr_array((np.arange(1, len(parents) + 1), (parents, children)), shape=(p, p))
    at = places.data - 1
    return Regressions(same_pattern(places, slopes[at]), variances, same_pattern(places, partial[at]))
