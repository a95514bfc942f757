"""Clusters of variables that belong together by their correlations: small enough to be searched as a whole.

A spanning forest of the strongest correlations is cut into cores. Each variable is in one core; around each core lies a
halo, the variables outside that correlate most with those inside. Hubs, with which hundreds of others correlate, are in
the halos of many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from rfdag.orders.candidates import Nearest

Integers = NDArray[np.int64]


class Cluster(NamedTuple):
    """The variables of a core, and those of its halo."""

    core: Integers
    halo: Integers

    @property
    def variables(self) -> Integers:
        """The core, then the halo."""
        return np.concatenate([self.core, self.halo])


def find_clusters(nearest: Nearest, core: int, halo: int) -> list[Cluster]:
    """Return clusters whose cores have about ``core`` variables, at most twice as many, and halos up to ``halo``.

    >>> chain = Nearest(np.array([[1], [2], [3], [2]]), np.array([[0.5], [0.6], [0.7], [0.7]]))
    >>> [(cluster.core.tolist(), cluster.halo.tolist()) for cluster in find_clusters(chain, core=2, halo=1)]
    [([2, 3], []), ([0, 1], [2])]
    """
    return [_with_halo(each, nearest, halo) for each in _cut(_forest(nearest), core)]


def _forest(nearest: Nearest) -> csr_array:
    """Return the spanning forest of the strongest correlations, both ways."""
    p, count = nearest.variables.shape
    rows = np.repeat(np.arange(p), count)
    # The shortest ways are those of strong correlations; no way has length 0.
    lengths = csr_array((2.0 - nearest.strengths.ravel(), (rows, nearest.variables.ravel())), shape=(p, p))
    tree = minimum_spanning_tree(lengths.maximum(lengths.T))
    return csr_array(tree + tree.T)


def _cut(forest: csr_array, size: int) -> list[Integers]:
    """Return cores: from the leaves on, branches are gathered until there are enough variables."""
    count, labels = connected_components(forest, directed=False)
    cores: list[Integers] = []
    left: list[int] = []
    for root in np.unique(labels, return_index=True)[1].tolist() if count else []:
        order, above = breadth_first_order(forest, root, directed=False)
        gathered: dict[int, list[int]] = {}
        for variable in order[::-1].tolist():
            branch = [*gathered.pop(variable, []), variable]
            if len(branch) >= size:
                cores.append(np.sort(branch))
                continue
            # What is left at a root joins others that are left.
            kept = left if variable == root else gathered.setdefault(int(above[variable]), [])
            kept.extend(branch)
            if len(kept) >= size:
                cores.append(np.sort(kept))
                kept.clear()
    if left:
        cores.append(np.sort(left))
    return cores


def _with_halo(core: Integers, nearest: Nearest, halo: int) -> Cluster:
    """Return a core with the variables outside that correlate most with one inside."""
    around, strengths = nearest.variables[core].ravel(), nearest.strengths[core].ravel()
    outside = ~np.isin(around, core)
    around, strengths = around[outside], strengths[outside]
    strongest = np.lexsort((around, -strengths))
    _, first = np.unique(around[strongest], return_index=True)
    return Cluster(core, np.sort(around[strongest[np.sort(first)]][:halo]))
