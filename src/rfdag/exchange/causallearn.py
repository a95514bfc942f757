"""Graphs of causal-learn: its GeneralGraph, and the matrix of endpoints inside."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import GraphError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.graphs.dag import square
from rfdag.graphs.sparse import refuse_sparse
from rfdag.values import entries, shown

TAIL, ARROW = -1, 1


def to_endpoints(graph: NamedGraph) -> NDArray[np.int64]:
    """Return causal-learn's matrix of endpoints: [i, j] is the mark at i, −1 a tail and 1 an arrowhead.

    So i → j has −1 at [i, j] and 1 at [j, i], and i – j has −1 in both places.

    >>> to_endpoints(NamedGraph.of_edges("ab", [("a", "b")]))
    array([[ 0, -1],
           [ 1,  0]])
    """
    refuse_sparse(named(graph).matrix, "A matrix of endpoints")
    directed = graph.matrix == 1
    marks: NDArray[np.int64] = TAIL * (graph.matrix != 0).astype(np.int64) + ARROW * directed.T
    return marks


def from_endpoints(marks: ArrayLike, names: Sequence[Hashable] | None = None) -> NamedGraph:
    """Return the graph of causal-learn's endpoints: −1 at [i, j] and 1 at [j, i] mean i → j, −1 in both i – j.

    Nodes are numbered unless ``names`` are given. Edges with two arrowheads and circle marks raise an error.

    >>> from_endpoints([[0, -1], [1, 0]], names=["a", "b"]).directed
    [('a', 'b')]
    """
    ends = square(marks)
    labels = tuple(range(len(ends))) if names is None else entries("names", names)
    if ends.shape != (len(labels), len(labels)):
        raise GraphError(f"Found {len(labels)} names and an array of shape {ends.shape}; endpoints are square.")
    directed = (ends == TAIL) & (ends.T == ARROW)
    undirected = (ends == TAIL) & (ends.T == TAIL)
    strange = ((ends != 0) | (ends.T != 0)) & ~(directed | directed.T | undirected)
    if strange.any():
        i, j = np.argwhere(strange)[0]
        raise GraphError(
            f"The edge between {labels[i]!r} and {labels[j]!r} has a circle mark or two arrowheads, as in a PAG or "
            "where tests disagree; a DAG or CPDAG has edges → and – only. Decide on a direction for that edge first."
        )
    return NamedGraph(labels, directed.astype(np.int8) + 2 * undirected.astype(np.int8))


def to_causallearn(graph: NamedGraph) -> Any:
    """Return a causallearn.graph.GeneralGraph, with nodes in the order of ``graph.names``; names become text.

    An edge from i to j is i → j; a CPDAG's undirected edges have tails at both ends.
    """
    named(graph)
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError:
        raise ImportError(
            "to_causallearn() needs causal-learn: pip install 'rfdag[causal-learn]'. to_endpoints() returns its matrix "
            "without it."
        ) from None
    refuse_sparse(graph.matrix, "A graph of causal-learn")
    texts = graph.texts("causal-learn")
    nodes = {name: GraphNode(text) for name, text in texts.items()}
    result = GeneralGraph(list(nodes.values()))
    for pairs, end in ((graph.directed, Endpoint.ARROW), (graph.undirected, Endpoint.TAIL)):
        for i, j in pairs:
            result.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, end))
    return result


def from_causallearn(graph: Any) -> NamedGraph:
    """Return the graph of causal-learn's GeneralGraph, or of the objects that pc() and ges() return.

    An edge from i to j is i → j; tails at both ends are i – j. Circle marks, and edges with two arrowheads, which pc()
    leaves where its tests disagree, raise an error.
    """
    inside = graph.get("G") if isinstance(graph, dict) else getattr(graph, "G", graph)
    if not hasattr(inside, "graph") or not hasattr(inside, "get_nodes"):
        raise GraphError(f"Found {shown(graph)}; pass a graph of causal-learn, or what its pc() and ges() return.")
    graph = inside
    return from_endpoints(graph.graph, [node.get_name() for node in graph.get_nodes()])
