"""Variables that would be parents if they were candidates: those with which the residual of a variable correlates.

Each variable is compared with all of its predecessors at once, in products of matrices and a few rows at a time, so
that no array of all pairs is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.orders import plausible, tuning
from rfdag.orders.candidates import ENTRIES_AT_ONCE
from rfdag.orders.fitted import regressions_of
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.device import array_module, on_host
from rfdag.runtime.threads import require_wanted, share

Integers = NDArray[np.int64]


def overlooked(scored: ScoredOrder, check: Callable[[], None] = lambda: None, threads: int = 1) -> csr_array:
    """Mark pairs (child, predecessor) that are no candidates of each other and might be an edge.

    With r the residual of y given its parents, a predecessor x has z² = n cov(r, x)² / var(r), less than what it would
    explain beside the parents. The `tuning.CANDIDATES_OVERLOOKED` of largest z² are marked, if chance does not make
    them so large. ``check`` is called again and again, from any of the ``threads``, and may raise.
    """
    p = len(scored.order)
    fitted = regressions_of(scored)
    by_child, variances = csr_array(fitted.coefficients.T), fitted.variances
    places = np.argsort(scored.order)
    rows = np.array([scored.moments.rows(y) for y in range(p)], float)
    # z² from which one of so many predecessors may be a parent, as a bound on the covariance.
    bounds = np.sqrt(np.array([plausible.least_z2(place) for place in range(p)])[places] * variances / rows)
    step = max(1, ENTRIES_AT_ONCE // p)
    found: dict[int, Integers] = {}

    def compare(worker: int, workers: int) -> None:
        for first in range(worker * step, p, workers * step):
            require_wanted()
            check()
            children = np.arange(first, min(first + step, p))
            left = scored.moments.of_residuals(children, by_child[children])
            xp = array_module(left)
            left = xp.abs(left)
            before = xp.asarray(places)
            left[before[None, :] >= before[first : first + len(children), None]] = 0.0
            start, end = scored.candidates.starts[[children[0], children[-1] + 1]]
            known = scored.candidates.owners[start:end] - first, scored.candidates.lists[0, start:end]
            left[tuple(map(xp.asarray, known))] = 0.0
            found[first] = _largest(left, xp.asarray(bounds[children]), first)

    share(compare, threads)
    child, predecessor = np.concatenate([found[first] for first in sorted(found)], axis=1)
    if scored.constraints is not None:
        allowed = scored.constraints.may_be_edges(predecessor, child)
        child, predecessor = child[allowed], predecessor[allowed]
    return csr_array((np.ones(len(child), bool), (child, predecessor)), shape=(p, p))


def _largest(left: Any, bounds: Any, first: int) -> Integers:
    """Return (row, column) of the largest entries above the bound of each row, its first being ``first``.

    Those above it are few, and are ranked on the host.
    """
    above = array_module(left).nonzero(left > bounds[:, None])
    sizes = on_host(left[above])
    rows, columns = map(on_host, above)
    # Within each row the largest first; their rank there is the distance to where the row begins.
    order = np.lexsort((columns, -sizes, rows))
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = rank < tuning.CANDIDATES_OVERLOOKED
    return np.stack([rows[kept] + first, columns[kept]])
