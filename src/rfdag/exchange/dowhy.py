"""Graphs for DoWhy, and those inside its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfdag.errors import GraphError, listed
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.exchange.networkx import from_networkx, to_networkx
from rfdag.values import shown

if TYPE_CHECKING:
    import networkx


def to_dowhy(graph: NamedGraph) -> networkx.DiGraph:
    """Return a DAG as DoWhy takes it: a networkx.DiGraph with text as names, where an edge (i, j) is i → j.

    ``dowhy.CausalModel(data, treatment, outcome, graph=…)`` and ``dowhy.gcm.StructuralCausalModel(…)`` accept it; the
    columns of the data must have the same names, as text. A CPDAG raises an error: DoWhy works with DAGs.

    >>> list(to_dowhy(NamedGraph.of_edges([0, 1], [(0, 1)])).edges)
    [('0', '1')]
    """
    named(graph).require_dag("DoWhy")
    texts = graph.texts("DoWhy")
    return to_networkx(NamedGraph(tuple(texts.values()), graph.matrix))


def from_dowhy(model: Any) -> NamedGraph:
    """Return the DAG of a CausalModel or of a model of dowhy.gcm, or of the graph inside either.

    An edge (i, j) is i → j. Nodes that DoWhy has marked as unobserved raise an error that names them.
    """
    # A CausalModel has a CausalGraph as _graph, which has a DiGraph as its own _graph; models of gcm have a graph.
    inner = getattr(getattr(model, "_graph", None), "_graph", None)
    graph = inner if inner is not None else getattr(model, "graph", model)
    if isinstance(graph, dict):
        # A networkx graph has a dictionary of that name.
        graph = model
    if not hasattr(graph, "nodes"):
        raise GraphError(f"Found {shown(model)}; pass a model of DoWhy, or the networkx.DiGraph in it.")
    hidden = [name for name, marks in graph.nodes(data=True) if marks.get("observed") == "no"]
    if hidden:
        raise GraphError(f"The nodes {listed(hidden)} are unobserved; a DAG here has measured variables only.")
    return from_networkx(graph)
