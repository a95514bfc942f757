"""Graphs as SciPy's sparse arrays, in the encoding of `rfdag.graphs`: checks, topological order, CPDAG.

Nothing here creates a p × p array; time and memory grow with the number of edges.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from rfdag.errors import GraphError, RfdagError
from rfdag.graphs import kernels

__all__ = [
    "acyclic_part",
    "canonical",
    "entries_at",
    "freeze",
    "full",
    "issparse",
    "order_like",
    "refuse_sparse",
    "renumbered",
    "same_pattern",
    "sparse_cpdag",
    "sparse_cycle",
    "sparse_dag",
    "sparse_topological_order",
]


def canonical(
    matrix: Any,
    names: Sequence[Hashable] | None = None,
    *,
    kind: str = "graph",
    error: type[RfdagError] = GraphError,
) -> csr_array:
    """Return a square sparse matrix as a new CSR array: duplicates summed, zeros dropped, indices sorted.

    >>> canonical(csr_array([[0, 3], [0, 0]])).data
    array([3])
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise error(f"Found a sparse array of shape {matrix.shape}; a {kind} is a square matrix.")
    if matrix.dtype.kind not in "biuf":
        raise error(f"Found entries of type {matrix.dtype}; a {kind} holds real numbers.")
    entries = matrix.tocoo()
    if entries.dtype.kind == "f" and not np.isfinite(entries.data).all():
        bad = ~np.isfinite(entries.data)
        pairs = zip(entries.row[bad][:3].tolist(), entries.col[bad][:3].tolist(), strict=True)
        found = "; ".join(f"({_name(names, i)!r}, {_name(names, j)!r})" for i, j in pairs)
        raise error(
            f"The {kind} has {int(bad.sum())} missing or infinite entries, as at {found}; every entry must be a "
            "number, and absent ones are simply not stored."
        )
    # Booleans sum correctly (True + True is True), but sums of small integers could overflow.
    kept = entries.data if entries.dtype.kind in "fb" else entries.data.astype(np.int64)
    result = csr_array((kept, (entries.row, entries.col)), shape=matrix.shape)
    result.sum_duplicates()
    result.eliminate_zeros()
    result.sort_indices()
    return result


def sparse_dag(matrix: Any, names: Sequence[Hashable] | None = None) -> csr_array:
    """Return a checked CSR array of int8 ones; raise if the matrix is not a DAG.

    >>> sparse_dag(csr_array([[0, 0.5], [0, 0]])).toarray()
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    dag = canonical(matrix, names)
    dag.data = np.ones(dag.nnz, np.int8)
    cycle = sparse_cycle(dag)
    if cycle:
        shown = [repr(_name(names, node)) for node in cycle]
        arrows = " → ".join(shown if len(shown) <= 12 else [*shown[:10], "…", shown[-1]])
        raise GraphError(f"This is not a DAG: it has the cycle {arrows}. Remove or reverse one of these edges.")
    return dag


def sparse_topological_order(dag: csr_array) -> NDArray[np.int64]:
    """Return an order with every parent before its children, as `rfdag.graphs.topological_order` does.

    If the graph has a cycle, nodes are missing from the order.
    """
    p = dag.shape[0]
    order = np.empty(p, np.int64)
    waiting = np.bincount(dag.indices, minlength=p)
    count = kernels.peel(dag.indices, dag.indptr, waiting, order)
    return order[:count]


def order_like(graph: csr_array, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an order with every parent before its children; of the nodes that may come next, that of least rank.

    If the graph has a cycle, nodes are missing from the order.

    >>> order_like(csr_array([[0, 0, 1], [0, 0, 0], [0, 0, 0]]), np.array([2, 1, 0]))
    array([1, 0, 2])
    """
    waiting: list[int] = np.bincount(graph.indices, minlength=len(rank)).tolist()
    ranks, starts, children = rank.tolist(), graph.indptr.tolist(), graph.indices.tolist()
    ready = [(ranks[node], node) for node, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(node)
        for child in children[starts[node] : starts[node + 1]]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, (ranks[child], child))
    return np.array(order, np.int64)


def sparse_cycle(graph: csr_array) -> list[int]:
    """Return the nodes of a directed cycle, the first repeated at the end, or an empty list."""
    order = sparse_topological_order(graph)
    p = graph.shape[0]
    if len(order) == p:
        return []
    left = np.ones(p, bool)
    left[order] = False
    # Every node left has a parent left, so a walk from child to parent must return to a node it has visited.
    parents = graph.tocsc()
    node = int(np.flatnonzero(left)[0])
    step_of: dict[int, int] = {}
    while node not in step_of:
        step_of[node] = len(step_of)
        near = parents.indices[parents.indptr[node] : parents.indptr[node + 1]]
        node = int(near[left[near]][0])
    walk = list(step_of)
    return [node, *reversed(walk[step_of[node] :])]


def acyclic_part(sources: NDArray[np.int64], targets: NDArray[np.int64], p: int) -> NDArray[np.bool_]:
    """Return which edges to keep so that there is no cycle: each, one after the other, unless it closes one.

    >>> acyclic_part(np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3]), 4)
    array([ True,  True, False,  True])
    """
    kept = np.zeros(len(sources), bool)
    first, following, seen = np.full(p, -1), np.full(len(sources), -1), np.full(p, -1)
    kernels.keep_acyclic(sources, targets, first, following, seen, np.empty(p, np.int64), kept)
    return kept


def sparse_cpdag(dag: csr_array) -> csr_array:
    """Return the CPDAG of a checked DAG: 1 for a compelled edge, 2 in both places for an undirected one.

    >>> sparse_cpdag(sparse_dag(csr_array([[0, 1], [0, 0]]))).toarray()
    array([[0, 2],
           [2, 0]], dtype=int8)
    """
    p = dag.shape[0]
    order = sparse_topological_order(dag)
    rank = np.empty(p, np.int64)
    rank[order] = np.arange(p)
    by_child = dag.tocsc()
    compelled = np.zeros(by_child.nnz, bool)
    kernels.compel(by_child.indices, by_child.indptr, order, rank, np.zeros(p, np.int8), compelled)
    sources, targets = by_child.indices, np.repeat(np.arange(p, dtype=by_child.indices.dtype), np.diff(by_child.indptr))
    rows = np.concatenate([sources, targets[~compelled]])
    columns = np.concatenate([targets, sources[~compelled]])
    values = np.concatenate([np.where(compelled, 1, 2), np.full(int((~compelled).sum()), 2)]).astype(np.int8)
    result = csr_array((values, (rows, columns)), shape=dag.shape)
    result.sort_indices()
    return result


def sparse_moral_graph(dag: ArrayLike | csr_array) -> csr_array:
    """Return the moral graph, as `rfdag.graphs.moral_graph` does, of a DAG that is not checked.

    The diagonal of a parent is marked as well.

    >>> sparse_moral_graph([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).toarray().astype(int)
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 1, 0]])
    """
    edges = csr_array(dag).astype(np.int64)
    return csr_array((edges + edges.T + edges @ edges.T).astype(bool))


def refuse_sparse(graph: Any, what: str) -> None:
    """Raise if the graph is sparse, where a full matrix is needed."""
    if issparse(graph):
        raise GraphError(f"{what} needs a full matrix; pass graph.toarray() if it is small enough.")


def renumbered(graph: Any, places: NDArray[np.int64]) -> Any:
    """Return a graph, full or sparse, with its nodes numbered otherwise: what was i is now places[i].

    >>> renumbered(np.array([[0, 1], [0, 0]]), np.array([1, 0]))
    array([[0, 0],
           [1, 0]])
    """
    back = np.argsort(places)
    if issparse(graph):
        found = csr_array(graph[back][:, back])
        found.sort_indices()
        return found
    return np.ascontiguousarray(graph[np.ix_(back, back)])


def full(graph: Any) -> Any:
    """Return a graph, full or sparse, as a full matrix."""
    return graph.toarray() if issparse(graph) else graph


def same_pattern(graph: csr_array, values: NDArray[Any]) -> csr_array:
    """Return a sparse array with other values at a graph's edges."""
    return csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def entries_at(matrix: Any, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of a matrix, full or sparse, at the given positions.

    >>> entries_at(csr_array([[0, 2], [3, 0]]), np.array([1, 0]), np.array([0, 0]))
    array([3, 0])
    """
    if not issparse(matrix):
        found: NDArray[Any] = matrix[rows, columns]
        return found
    # Not every SciPy sorts what it makes of rows, columns and entries.
    matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    width = matrix.shape[1]
    owners = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    keys, wanted = owners * width + matrix.indices, rows.astype(np.int64) * width + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted), matrix.dtype)
    return np.where(keys[at] == wanted, matrix.data[at], matrix.dtype.type(0))


def freeze(graph: Any) -> None:
    """Make a graph, full or sparse, read-only."""
    for array in (graph.data, graph.indices, graph.indptr) if issparse(graph) else (graph,):
        array.setflags(write=False)


def _name(names: Sequence[Hashable] | None, node: int) -> Hashable:
    return node if names is None else names[node]
