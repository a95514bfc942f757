"""Every DAG of a few nodes, and which of them are Markov equivalent."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class AllDags(NamedTuple):
    """Every DAG of some nodes.

    ``parents`` holds at (d, y) the parents of y in the d-th DAG, as the bits of a number; ``classes`` the number of
    each DAG's equivalence class.
    """

    parents: NDArray[np.uint8]
    classes: Integers


@cache
def all_dags(p: int) -> AllDags:
    """Return every DAG of p nodes, at most 5: there are 29 281 of 5 and 3 781 503 of 6.

    >>> [(len(all_dags(p).parents), len(np.unique(all_dags(p).classes))) for p in (2, 3, 4)]
    [(3, 2), (25, 11), (543, 185)]
    """
    parents = np.zeros((1, p), np.uint8)
    for y in range(p):
        families = np.array([family for family in range(1 << p) if not family >> y & 1], np.uint8)
        parents = np.repeat(parents, len(families), axis=0)
        parents[:, y] = np.tile(families, len(parents) // len(families))
        # Nodes without a choice so far have no parents.
        parents = parents[acyclic(parents)]
    return AllDags(parents, np.unique(_structures(parents), return_inverse=True)[1].ravel())


def acyclic(parents: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return of each graph, given by its nodes' parents, whether it has no cycle.

    >>> acyclic(np.array([[0b00, 0b01], [0b10, 0b01]], np.uint8))
    array([ True, False])
    """
    p = parents.shape[1]
    removed = np.zeros(len(parents), np.uint8)
    for _ in range(p):
        for y in range(p):
            removed |= (parents[:, y] & ~removed == 0).astype(np.uint8) << np.uint8(y)
    return removed == (1 << p) - 1


def _structures(parents: NDArray[np.uint8]) -> Integers:
    """Return a number of each DAG that says which nodes are adjacent and which colliders have ends that are not.

    DAGs with the same ones are Markov equivalent (Verma and Pearl, 1990).
    """
    p = parents.shape[1]
    edge = np.array([[parents[:, y] >> np.uint8(x) & 1 for y in range(p)] for x in range(p)], bool).reshape(p, p, -1)
    found = np.zeros(len(parents), np.int64)
    for x, z in combinations(range(p), 2):
        adjacent = edge[x, z] | edge[z, x]
        found = found << 1 | adjacent
        for y in range(p):
            if y not in (x, z):
                found = found << 1 | (edge[x, y] & edge[z, y] & ~adjacent)
    return found
