"""Graphs of pgmpy."""

from __future__ import annotations

from typing import Any

from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.exchange.networkx import from_networkx


def to_pgmpy(graph: NamedGraph) -> Any:
    """Return a pgmpy.base.DAG, or a pgmpy.base.PDAG if an edge is undirected; an edge (i, j) is i → j.

    Names are kept as they are.
    """
    named(graph)
    try:
        from pgmpy.base import DAG, PDAG
    except ImportError:
        raise ImportError("to_pgmpy() needs pgmpy: pip install 'rfdag[pgmpy]'.") from None
    result = DAG(graph.directed) if graph.is_dag else PDAG(graph.directed, graph.undirected)
    result.add_nodes_from(graph.names)
    return result


def from_pgmpy(graph: Any) -> NamedGraph:
    """Return the graph of a DAG, a PDAG or a Bayesian network of pgmpy; an edge (i, j) is i → j."""
    return from_networkx(graph)
