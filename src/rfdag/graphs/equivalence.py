"""Markov equivalence: the CPDAG of a DAG, and a DAG of a CPDAG."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, as_dag, as_full_dag, find_cycle, square, topological_order
from rfdag.graphs.sparse import canonical, issparse, refuse_sparse, same_pattern, sparse_cpdag


def cpdag(dag: ArrayLike) -> Graph:
    """Return the CPDAG: 1 at (i, j) for a compelled i → j, 2 at (i, j) and (j, i) for an undirected edge.

    Chickering's labelling (A transformational characterization of equivalent Bayesian network structures,
    UAI 1995): edges are visited by child, earliest first, and the child's latest parent decides for all. A sparse DAG
    gives a sparse CPDAG, in time that grows with its edges.

    >>> cpdag([[0, 1], [0, 0]])
    array([[0, 2],
           [2, 0]], dtype=int8)
    """
    dag = as_dag(dag)
    if issparse(dag):
        return sparse_cpdag(dag)
    order = topological_order(dag)
    rank = np.argsort(order)
    is_parent = dag.astype(bool)
    compelled = np.zeros_like(is_parent)
    for child in order:
        parents = is_parent[:, child]
        if not parents.any():
            continue
        latest = np.flatnonzero(parents)[np.argmax(rank[parents])]
        above = compelled[:, latest]
        elsewhere = parents & ~is_parent[:, latest]
        elsewhere[latest] = False
        # A compelled arrow into the latest parent alone, or a parent not adjacent to it, directs the child's
        # whole family; otherwise only those arrows are compelled that close a triangle with a compelled one.
        compelled[:, child] = parents if (above & ~parents).any() or elsewhere.any() else above
    undirected = is_parent & ~compelled
    return (compelled + 2 * (undirected | undirected.T)).astype(np.int8)


def equivalence_class(graph: ArrayLike) -> Graph:
    """Return the CPDAG of a DAG; a graph with undirected edges is returned as it is.

    >>> equivalence_class([[0, 0.7], [0, 0]])
    array([[0, 2],
           [2, 0]], dtype=int8)
    """
    matrix = encoded(graph)
    return matrix if (matrix == 2).sum() else cpdag(matrix)


def encoded(graph: ArrayLike) -> Graph:
    """Return a DAG or CPDAG in the encoding of `rfdag.graphs`; other non-zero entries are weights of edges.

    >>> encoded([[0, 2, 0.7], [2, 0, 0], [0, 0, 0]])
    array([[0, 2, 1],
           [2, 0, 0],
           [0, 0, 0]], dtype=int8)
    """
    if issparse(graph):
        return _encoded_sparse(graph)
    matrix = square(graph)
    # Weights count as edges; a 2 marks an undirected edge only where its mirror is a 2 as well.
    undirected = (matrix == 2) & (matrix == 2).T
    return np.where(undirected, 2, matrix != 0).astype(np.int8)


def _encoded_sparse(graph: ArrayLike) -> Graph:
    """Return a sparse graph in the same encoding, as CSR."""
    matrix = canonical(graph)
    twos = same_pattern(matrix, (matrix.data == 2).astype(np.int8))
    # A one in both places sums to two.
    mutual = (twos + twos.T).multiply(same_pattern(matrix, np.ones(matrix.nnz, np.int8))).tocsr()
    encoded: Graph = (same_pattern(matrix, np.ones(matrix.nnz, np.int8)) + (mutual == 2)).astype(np.int8)
    return encoded


def is_cpdag(graph: ArrayLike) -> bool:
    """Return whether a partially directed graph is the CPDAG of some DAG.

    >>> is_cpdag([[0, 1], [0, 0]])
    False
    """
    try:
        return bool(np.array_equal(cpdag(consistent_extension(graph)), graph))
    except GraphError:
        return False


def consistent_extension(graph: ArrayLike) -> Graph:
    """Return a DAG with the same skeleton, arrows and v-structures as a partially directed graph.

    Dor and Tarsi's construction (A simple algorithm to construct a consistent extension of a partially
    oriented graph, 1992): find a sink whose undirected neighbours are adjacent to all its neighbours, direct
    its edges towards it, remove it, and repeat.

    >>> consistent_extension([[0, 2], [2, 0]])
    array([[0, 0],
           [1, 0]], dtype=int8)
    """
    refuse_sparse(graph, "consistent_extension")
    pdag = square(graph)
    if not np.isin(pdag, (0, 1, 2)).all():
        raise GraphError("A partially directed graph is a square matrix of 0, 1 (directed) and 2 (undirected).")
    if ((pdag == 2) != (pdag == 2).T).any() or ((pdag == 1) & (pdag == 1).T).any():
        raise GraphError("An undirected edge has a 2 in both places, a directed one a 1 in one place only.")
    directed, undirected = pdag == 1, pdag == 2
    cycle = find_cycle(directed)
    if cycle:
        raise GraphError(f"The directed edges form the cycle {' → '.join(map(str, cycle))}.")
    extension = directed.astype(np.int8)
    adjacent = directed | directed.T | undirected
    left = np.ones(len(pdag), bool)
    while left.any():
        for node in np.flatnonzero(left & ~(directed & left).any(axis=1)):
            near = np.flatnonzero(adjacent[node] & left)
            together = adjacent[np.ix_(near, near)] | np.eye(len(near), dtype=bool)
            if together[undirected[node, near]].all():
                extension[undirected[:, node] & left, node] = 1
                left[node] = False
                break
        else:
            stuck = np.flatnonzero(left).tolist()
            raise GraphError(
                f"No DAG has this skeleton, these arrows and no new v-structure: nodes {stuck} cannot be "
                "directed. Check the arrows among them."
            )
    return extension


def markov_equivalent(first: ArrayLike, second: ArrayLike) -> bool:
    """Return whether two DAGs entail the same d-separations: same skeleton, same v-structures.

    >>> markov_equivalent([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    True
    """
    first, second = (as_full_dag(graph, "markov_equivalent") for graph in (first, second))
    if first.shape != second.shape or (first + first.T != second + second.T).any():
        return False
    return _v_structures(first) == _v_structures(second)


def _v_structures(dag: Graph) -> set[tuple[int, int, int]]:
    adjacent = (dag + dag.T) > 0
    found = set()
    for child in range(len(dag)):
        parents = np.flatnonzero(dag[:, child]).tolist()
        found |= {(i, child, j) for i in parents for j in parents if i < j and not adjacent[i, j]}
    return found
