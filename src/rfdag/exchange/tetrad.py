"""Tetrad's graphs as text, which causal-learn and py-tetrad write too."""

from __future__ import annotations

import re

from rfdag.errors import FileError, GraphError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.values import text_of

UNWRITABLE = r"[\s,;]|^$|^\(.*\)$|^\[.*\]$"
EDGE = re.compile(r"(?:\d+\.\s+)?(?P<first>\S+)\s+(?P<mark>[<o-]-[>o-])\s+(?P<second>\S+)(?:\s.*)?")


def to_tetrad(graph: NamedGraph) -> str:
    """Return the graph as Tetrad writes it: a line of nodes, then numbered edges a --> b (a → b) and a --- b (a – b).

    Names become text. Tetrad reads edges word by word, so names with blanks, commas or semicolons raise an error, as do
    names in round or square brackets, which Tetrad reads as latent and selection variables.

    >>> print(to_tetrad(NamedGraph.of_edges("ab", [("a", "b")])))
    Graph Nodes:
    a;b
    <BLANKLINE>
    Graph Edges:
    1. a --> b
    <BLANKLINE>
    """
    why = "blanks, commas, semicolons and brackets separate names there"
    texts = named(graph).texts("Tetrad's text", UNWRITABLE, why)
    edges = [f"{texts[i]} --> {texts[j]}" for i, j in graph.directed]
    edges += [f"{texts[i]} --- {texts[j]}" for i, j in graph.undirected]
    numbered = [f"{number}. {edge}" for number, edge in enumerate(edges, start=1)]
    return "\n".join(["Graph Nodes:", ";".join(texts.values()), "", "Graph Edges:", *numbered, ""])


def from_tetrad(text: str) -> NamedGraph:
    r"""Return the graph of Tetrad's text, with nodes separated by semicolons or, as in older versions, by commas.

    a --> b is a → b, and a --- b is a – b; the rest of an edge's line is ignored. Edges <->, o-> and o-o of a PAG raise
    an error, and so do latent variables.

    >>> from_tetrad("Graph Nodes:\na;b\n\nGraph Edges:\n1. b --> a dd nl\n").directed
    [('b', 'a')]
    """
    nodes: list[str] = []
    directed: list[tuple[str, str]] = []
    undirected: list[tuple[str, str]] = []
    section = ""
    for number, line in enumerate(text_of(text).splitlines(), start=1):
        line = line.strip()
        if line in ("Graph Nodes:", "Graph Edges:"):
            section = line
        elif not line:
            # As in Tetrad, an empty line ends a list, whatever follows in the file.
            section = section if section == "Graph Edges:" and not directed and not undirected else ""
        elif section == "Graph Nodes:":
            nodes += [name.strip() for name in re.split("[,;]", line) if name.strip()]
        elif section == "Graph Edges:":
            first, mark, second = _edge(line, number)
            if mark == "---":
                undirected.append((first, second))
            else:
                directed.append((first, second) if mark == "-->" else (second, first))
    if not nodes:
        raise FileError("There is no line of nodes after 'Graph Nodes:'; pass a graph as Tetrad saves it in text.")
    latent = [node for node in nodes if re.fullmatch(r"\(.*\)|\[.*\]", node)]
    if latent:
        raise GraphError(f"{latent[0]!r} is a latent or selection variable; a DAG here has measured ones only.")
    return NamedGraph.of_edges(nodes, directed, undirected)


def _edge(line: str, number: int) -> tuple[str, str, str]:
    found = EDGE.fullmatch(line)
    if found is None:
        raise FileError(f"Line {number}, {line!r}, is not an edge in Tetrad's format, such as '1. a --> b'.")
    if found["mark"] not in ("-->", "<--", "---"):
        raise GraphError(f"Line {number} has {found['mark']}, as in a PAG; a CPDAG has edges -->, <-- and --- only.")
    return found["first"], found["mark"], found["second"]
