"""One DAG from how often many had each edge."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError
from rfdag.graphs.dag import Graph

Floats = NDArray[np.float64]


def require_threshold(threshold: object) -> None:
    """Raise unless this is a share of runs that a pair may reach."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise OptionError(f"threshold is a share of the runs above 0, up to 1, not {threshold!r}.")


def consensus_dag(directions: Floats, places: Floats, threshold: float) -> Graph:
    """Return a DAG with every pair that was joined at least as often as the threshold.

    Arrows are added from the most frequent one downwards. One that would close a circle is skipped, and the arrow the
    other way, which then closes none, is added when its turn comes, so that no pair is lost over its direction: unless
    nobody had that arrow, since then knowledge may forbid it. Where both ways are as frequent, the one from the earlier
    place is taken first.

    Parameters
    ----------
    directions
        At (i, j) the frequency of i → j; that of the pair is the sum of both ways.
    places
        The usual place of each variable in the order.
    threshold
        The least frequency of a pair.

    Examples
    --------
    >>> often = np.array([[0, 0.9, 0.3], [0.1, 0, 0.8], [0.6, 0.1, 0]])
    >>> consensus_dag(often, places=np.array([1.0, 2.0, 3.0]), threshold=0.5)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    p = len(directions)
    # Frequencies are sums of halves of whole numbers, divided: what should be equal may differ in the last digit.
    joined = directions + directions.T >= threshold - 1e-12
    sources, targets = np.nonzero(joined & (directions > 0))
    frequency = directions[sources, targets].round(12)
    dag = np.zeros((p, p), np.int8)
    reach = np.eye(p, dtype=bool)
    for at in np.lexsort((targets, sources, places[sources] - places[targets], -frequency)):
        i, j = sources[at], targets[at]
        if dag[j, i] or reach[j, i]:
            continue
        dag[i, j] = 1
        reach[reach[:, i]] |= reach[j]
    return dag
