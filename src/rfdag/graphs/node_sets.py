"""Sets of nodes as the bits of a Python integer: node i is bit i.

Unions, differences and comparisons of such sets are cheap, and they can be keys of a dictionary.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph

Parents = list[int]
"""A DAG as the list of its nodes' parent sets."""


def as_bits(nodes: NDArray[np.int64]) -> int:
    """Return nodes as a set of bits.

    >>> bin(as_bits(np.array([1, 2, 4])))
    '0b10110'
    """
    return sum(1 << node for node in nodes.tolist())


def members(bits: int) -> NDArray[np.int64]:
    """Return the nodes of a set, ascending.

    >>> members(0b10110)
    array([1, 2, 4])
    """
    octets = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))


def as_parents(dag: Graph) -> Parents:
    """Return the parent sets of a DAG, or the neighbour sets of an undirected graph.

    >>> as_parents(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8))
    [0, 0, 3]
    """
    return [as_bits(np.flatnonzero(column)) for column in dag.T]


def as_matrix(parents: Parents) -> Graph:
    """Return the adjacency matrix of parent sets.

    >>> as_matrix([0, 0b1])
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    dag = np.zeros((len(parents), len(parents)), np.int8)
    for child, mine in enumerate(parents):
        dag[members(mine), child] = 1
    return dag
