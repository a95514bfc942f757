"""Cliques: sets of nodes that are pairwise adjacent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def cliques(neighbours: Sequence[int], among: int) -> Iterator[int]:
    """Yield every clique within a set of nodes, the empty one first.

    Sets are the bits of an integer, as in `rfdag.graphs.node_sets`.

    Parameters
    ----------
    neighbours
        The neighbours of each node of an undirected graph.
    among
        The nodes that a clique may contain.

    Examples
    --------
    >>> path = [0b010, 0b101, 0b010]
    >>> [bin(clique) for clique in cliques(path, among=0b111)]
    ['0b0', '0b100', '0b10', '0b110', '0b1', '0b11']
    """
    waiting = [(0, among)]
    while waiting:
        clique, others = waiting.pop()
        yield clique
        while others:
            lowest = others & -others
            others ^= lowest
            waiting.append((clique | lowest, others & neighbours[lowest.bit_length() - 1]))
