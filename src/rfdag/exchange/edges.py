"""Edges as CSV."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from rfdag.errors import FileError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.runtime.writing import csv_text
from rfdag.values import csv_rows, entries, one_of, text_of

HEADERS = (["source", "target"], ["from", "to"])
UNDIRECTED = {"true": False, "false": True}
KINDS = ("dag", "cpdag")
"""As what a file is read: with arrows alone, or with undirected edges."""


def to_csv(graph: NamedGraph) -> str:
    """Return one line per edge, source → target, with ``directed`` false for an undirected edge.

    Names become text. Nodes without edges do not appear.

    >>> print(to_csv(NamedGraph.of_edges("abc", [("a", "b")], [("b", "c")])), end="")
    source,target,directed
    a,b,true
    b,c,false
    """
    texts = named(graph).texts("CSV", r"\x00", "text has no NUL")
    directed = ([texts[i], texts[j], "true"] for i, j in graph.directed)
    undirected = ([texts[i], texts[j], "false"] for i, j in graph.undirected)
    return csv_text(["source", "target", "directed"], [*directed, *undirected])


def from_csv(text: str, names: Sequence[Hashable] | None = None, graph: str = "dag") -> NamedGraph:
    r"""Return the graph of a CSV of edges whose first columns are source,target or from,to: source → target.

    Parameters
    ----------
    text
        The content of the file, as `Result.to_csv` writes it or with further columns.
    names
        All nodes in the desired order, since those without edges are not in the file. If omitted, the nodes are those
        of the edges, in the order in which they appear.
    graph
        "dag" takes every line as an arrow; "cpdag" reads lines whose column ``directed`` is false as undirected.

    Examples
    --------
    >>> from_csv("source,target,directed\na,b,true\nb,c,false\n", graph="cpdag").undirected
    [('b', 'c')]
    """
    one_of("graph", graph, KINDS)
    rows = csv_rows(text_of(text).removeprefix("\ufeff"))
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if header[:2] not in HEADERS:
        raise FileError(f"A CSV of edges begins with the columns source,target (or from,to), not with {header[:2]}.")
    if graph == "cpdag" and "directed" not in header:
        raise FileError("There is no column 'directed', which a CPDAG needs; pass graph='dag' without it.")
    directed: list[tuple[str, str]] = []
    undirected: list[tuple[str, str]] = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) < 2:
            raise FileError(f"Line {number} has one cell; an edge needs a source and a target.")
        is_undirected = graph == "cpdag" and _undirected(row, header.index("directed"), number)
        (undirected if is_undirected else directed).append((row[0], row[1]))
    nodes = dict.fromkeys(name for edge in (*directed, *undirected) for name in edge)
    if names is None:
        return NamedGraph.of_edges(nodes, directed, undirected)
    names = entries("names", names)
    texts = [str(name) for name in names]
    return NamedGraph.of_edges(texts, directed, undirected).arranged(names)


def _undirected(row: list[str], column: int, number: int) -> bool:
    word = row[column].strip().lower() if column < len(row) else ""
    if word not in UNDIRECTED:
        raise FileError(f"Line {number} has {word!r} in the column 'directed'; it holds true or false.")
    return UNDIRECTED[word]
