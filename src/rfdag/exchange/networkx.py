"""Graphs of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfdag.errors import GraphError, OptionError, listed
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.values import shown

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: NamedGraph) -> networkx.DiGraph:
    """Return a networkx.DiGraph: an edge (i, j) for i → j, edges (i, j) and (j, i) for i – j.

    Names are kept as they are; None raises an error, as networkx allows no such node.

    >>> list(to_networkx(NamedGraph.of_edges("ab", undirected=["ab"])).edges)
    [('a', 'b'), ('b', 'a')]
    """
    import networkx

    if None in named(graph).names:
        raise OptionError("networkx has no node called None; pass names= to learn() to rename that column.")
    result = networkx.DiGraph()
    result.add_nodes_from(graph.names)
    result.add_edges_from(graph.directed)
    for i, j in graph.undirected:
        result.add_edges_from([(i, j), (j, i)])
    return result


def from_networkx(graph: networkx.Graph) -> NamedGraph:
    """Return the graph of a networkx.DiGraph, or of a networkx.Graph, whose edges are all undirected.

    An edge (i, j) means i → j; edges (i, j) and (j, i) together mean i – j. Attributes are ignored.

    >>> import networkx
    >>> from_networkx(networkx.DiGraph([("a", "b")])).directed
    [('a', 'b')]
    """
    if not hasattr(graph, "is_multigraph"):
        raise GraphError(f"Found {shown(graph)}; pass a networkx.DiGraph, or a networkx.Graph.")
    if graph.is_multigraph():
        raise GraphError("A multigraph may have parallel edges; if it has none, pass networkx.DiGraph(graph).")
    names = tuple(graph.nodes)
    edges = set(graph.edges)
    loops = sorted({repr(i) for i, j in edges if i == j})
    if loops:
        raise GraphError(f"There are edges from {listed(loops)} to itself; remove them.")
    if not graph.is_directed():
        return NamedGraph.of_edges(names, undirected=edges)
    place = {name: at for at, name in enumerate(names)}
    both = {(i, j) for i, j in edges if (j, i) in edges}
    return NamedGraph.of_edges(names, edges - both, [(i, j) for i, j in both if place[i] < place[j]])
