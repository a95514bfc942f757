"""Graphs as input: lists of edges in a file, and the graphs of networkx."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfdag.errors import FileError, GraphError, listed
from rfdag.graphs.dag import Graph
from rfdag.input.dialect import rows_of
from rfdag.input.table import Table
from rfdag.values import path_of


def read_edges(path: str | Path) -> set[tuple[str, str]]:
    """Read a CSV of edges whose first two columns are "source" and "target", or "from" and "to"."""
    path = path_of(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as handle:
            rows = list(rows_of(handle, ","))
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise FileError(f"{path} could not be read ({problem}).") from None
    header = [cell.strip().lower() for cell in rows[0][1][:2]] if rows else []
    if header not in (["source", "target"], ["from", "to"]):
        raise FileError(
            f"{path} does not begin with the columns source,target (or from,to) but with {header}; a graph is a CSV "
            "of edges, or a result saved as JSON."
        )
    for line, row in rows:
        if len(row) < 2:
            raise FileError(f"{path}, line {line}: an edge needs a source and a target.")
    return {(row[0].strip(), row[1].strip()) for _, row in rows[1:]}


def is_networkx(source: Any) -> bool:
    """Return whether a source is a graph of networkx."""
    return hasattr(source, "adj") and hasattr(source, "nodes")


def from_networkx(graph: Any, names: Sequence[Hashable] | None) -> Table:
    """Return a directed graph of networkx as a matrix, its nodes in the order of the names if these are given."""
    if not graph.is_directed():
        raise GraphError("The graph is undirected; an oracle needs a networkx.DiGraph without cycles.")
    nodes = tuple(graph.nodes) if names is None else tuple(names)
    place = {node: at for at, node in enumerate(nodes)}
    dag: Graph = np.zeros((len(nodes), len(nodes)), np.int8)
    unknown = [node for node in graph.nodes if node not in place]
    if unknown:
        raise GraphError(f"The graph has nodes {listed(unknown)} that names does not list; list every node.")
    for parent, child in graph.edges():
        dag[place[parent], place[child]] = 1
    return Table(dag, nodes)
