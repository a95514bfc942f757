"""Moral graphs, moral subgraphs and elimination graphs: Section 3 of the paper, from a DAG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from rfdag.errors import GraphError
from rfdag.graphs.dag import Undirected, as_full_dag, as_undirected, check_labels, check_node, check_nodes, reached
from rfdag.graphs.separation import connected_given_rest


def moral_graph(dag: ArrayLike) -> Undirected:
    """Return the moral graph: parents of a common child become adjacent, and directions are dropped.

    >>> moral_graph([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).astype(int)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    edges = as_full_dag(dag, "moral_graph").astype(np.int64)
    moral = (edges + edges.T + edges @ edges.T) > 0
    np.fill_diagonal(moral, False)
    return moral


def moral_subgraph(dag: ArrayLike, nodes: ArrayLike) -> Undirected:
    """Return the moral subgraph over ``nodes`` (Definition 1), with rows and columns in their order.

    Two nodes are adjacent iff they are d-connected given all the other ``nodes``.

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> moral_subgraph(chain, [0, 2]).astype(int)
    array([[0, 1],
           [1, 0]])
    """
    dag = as_full_dag(dag, "moral_subgraph")
    nodes = check_nodes(nodes, len(dag))
    place = {node: at for at, node in enumerate(nodes)}
    moral = np.zeros((len(nodes), len(nodes)), bool)
    for node in nodes:
        for other in connected_given_rest(dag, node, nodes):
            moral[place[node], place[other]] = True
    return moral


def elimination_graph(dag: ArrayLike, nodes: ArrayLike) -> Undirected:
    """Return the elimination graph over ``nodes``: i – j iff a path in the moral graph avoids the other ``nodes``.

    It is what is left of the moral graph once every other node is removed and its neighbours made adjacent.

    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> elimination_graph(collider, [0, 1]).astype(int)
    array([[0, 1],
           [1, 0]])
    """
    moral = moral_graph(dag)
    nodes = check_nodes(nodes, len(moral))
    for gone in sorted(set(range(len(moral))) - set(nodes)):
        near = np.flatnonzero(moral[gone])
        moral[np.ix_(near, near)] = True
        moral[gone] = moral[:, gone] = False
    np.fill_diagonal(moral, False)
    return moral[np.ix_(nodes, nodes)]


def removed_edges(dag: ArrayLike, nodes: ArrayLike, node: int) -> set[tuple[int, int]]:
    """Return the removed edge set R(V, k) of Definition 2, as pairs (i, j) with i < j.

    >>> removed_edges([[0, 0, 1], [0, 0, 1], [0, 0, 0]], [0, 1, 2], 2)
    {(0, 1)}
    """
    before, after = _before_and_after(dag, nodes, node)
    return before - after


def fill_edges(dag: ArrayLike, nodes: ArrayLike, node: int) -> set[tuple[int, int]]:
    """Return the fill edge set F(V, k) of Definition 3, as pairs (i, j) with i < j.

    >>> fill_edges([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [0, 1, 2], 1)
    {(0, 2)}
    """
    before, after = _before_and_after(dag, nodes, node)
    return after - before


def maximal_nodes(dag: ArrayLike, nodes: ArrayLike) -> set[int]:
    """Return the nodes without a descendant among ``nodes``.

    >>> maximal_nodes([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [0, 1, 2])
    {1, 2}
    """
    dag = as_full_dag(dag, "maximal_nodes")
    nodes = check_nodes(nodes, len(dag))
    return {node for node in nodes if not (reached(dag != 0, [node]) - {node}) & set(nodes)}


def edge_set(graph: ArrayLike, nodes: ArrayLike | None = None) -> set[tuple[int, int]]:
    """Return the edges of an undirected graph as pairs (i, j), i < j, of the labels ``nodes``.

    >>> edge_set([[0, 1], [1, 0]], nodes=[5, 3])
    {(3, 5)}
    """
    graph = as_undirected(graph)
    labels: Sequence[int] = range(len(graph)) if nodes is None else check_labels(nodes, len(graph))
    pairs = [(labels[i], labels[j]) for i, j in np.argwhere(np.triu(graph))]
    return {(min(pair), max(pair)) for pair in pairs}


def _before_and_after(dag: ArrayLike, nodes: ArrayLike, node: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    dag = as_full_dag(dag, "A moral subgraph")
    present = check_nodes(nodes, len(dag))
    node = check_node(node, len(dag))
    if node not in present:
        raise GraphError(f"Node {node} is not among the nodes {present}, so it cannot be removed from them.")
    rest = [other for other in present if other != node]
    before = {pair for pair in edge_set(moral_subgraph(dag, present), present) if node not in pair}
    return before, edge_set(moral_subgraph(dag, rest), rest)
