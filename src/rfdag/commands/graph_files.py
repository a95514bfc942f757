"""Graphs in files that a command is given: edges as CSV, or a result as JSON."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rfdag.errors import GraphError, listed

if TYPE_CHECKING:
    from rfdag.graphs.dag import Graph


class GraphFile(NamedTuple):
    """What a file says of a graph."""

    nodes: set[str]
    edges: set[tuple[str, str]]
    order: list[str]
    """From a result; empty otherwise."""


def read_graph(path: Path) -> GraphFile:
    """Return the graph in a file."""
    # Of a folder, too, `load` says which file in it is meant.
    if path.suffix.lower() == ".json" or path.is_dir():
        from rfdag.result import load

        result = load(path)
        edges = {(str(edge.source), str(edge.target)) for edge in result.edges}
        return GraphFile(set(map(str, result.names)), edges, list(map(str, result.order)))
    from rfdag.input.graphs import read_edges

    edges = read_edges(path)
    return GraphFile({name for edge in edges for name in edge}, edges, [])


def read_dag(path: Path) -> GraphFile:
    """Return the graph in a file, which has no cycle."""
    found = read_graph(path)
    matrix_of(found.edges, sorted(found.nodes), path)
    return found


def read_truth(path: Path, names: Sequence[Hashable]) -> Graph:
    """Return the DAG in a file over the columns of some data."""
    return dag_over(read_graph(path), names, path)


def dag_over(found: GraphFile, names: Sequence[Hashable], path: Path) -> Graph:
    """Return the DAG of a file over the columns of some data."""
    texts = list(map(str, names))
    stray = sorted(found.nodes - set(texts))
    if stray:
        raise GraphError(
            f"{path} has variables that the data have not: {listed(stray)}. Compare graphs on the same variables."
        )
    return matrix_of(found.edges, texts, path)


def matrix_of(edges: set[tuple[str, str]], names: Sequence[str], path: Path) -> Graph:
    """Return edges of a file as a DAG, or say which cycle keeps them from being one."""
    import numpy as np

    from rfdag.graphs import find_cycle

    place = {name: at for at, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), np.int8)
    for source, target in edges:
        matrix[place[source], place[target]] = 1
    cycle = find_cycle(matrix)
    if cycle:
        arrows = " → ".join(repr(names[node]) for node in cycle)
        raise GraphError(f"{path} is not a DAG: it has the cycle {arrows}. Remove or reverse one of these edges.")
    return matrix
