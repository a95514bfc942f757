"""A result in formats that other programs read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import narwhals.stable.v1 as nw

from rfdag import exchange
from rfdag.errors import OptionError
from rfdag.result.exporting import Kind
from rfdag.runtime.writing import csv_text
from rfdag.values import one_of

if TYPE_CHECKING:
    import networkx

    from rfdag.result import Edge, Result

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

COLUMNS = ("source", "target", "coefficient", "partial_correlation", "gain", "directed")
NUMBERS = ("coefficient", "partial_correlation", "gain")
BACKENDS = ("pandas", "polars", "pyarrow")


def to_networkx(result: Result, graph: Kind = "dag") -> networkx.DiGraph:
    """Return the DAG with nodes in causal order, or a class with nodes in the order of the columns."""
    if one_of("graph", graph, get_args(Kind)) != "dag":
        return exchange.to_networkx(result.named_graph(graph))
    if None in result.names:
        raise OptionError("networkx has no node called None; pass names= to learn() to rename that column.")
    return _graph(result, {name: name for name in result.names})


def to_frame(result: Result, backend: str = "pandas") -> Any:
    """Return the table of edges in the given library's own type."""
    return frame_of(COLUMNS, result.edges, backend)


def frame_of(names: Sequence[str], rows: Sequence[Sequence[Any]], backend: str = "pandas") -> Any:
    """Return rows with named columns in the given library's own type."""
    one_of("backend", backend, BACKENDS)
    try:
        import_module(backend)
    except ImportError:
        raise ImportError(
            f"to_frame(backend={backend!r}) needs {backend}: pip install {backend}. Without it, .edges of a result "
            "and .pairs of a bootstrap hold the same rows."
        ) from None
    entries = zip(*rows, strict=True) if rows else ((),) * len(names)
    columns = {name: list(column) for name, column in zip(names, entries, strict=True)}
    return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]


def to_csv(result: Result) -> str:
    """Return the table of edges as CSV text."""
    return csv_text(COLUMNS, map(_cells, result.edges))


def _cells(edge: Edge) -> tuple[object, ...]:
    numbers = ("" if number is None else repr(number) for number in edge[2:5])
    return (edge.source, edge.target, *numbers, str(edge.directed).lower())


def to_dot(result: Result) -> str:
    """Return the DAG in Graphviz's language, nodes in causal order."""
    text = {name: _quoted(label) for name, label in _labels(result).items()}
    lines = ["digraph rfdag {", *(f"  {text[name]};" for name in result.order)]
    for edge in result.edges:
        style = "" if edge.directed else " [dir=none]"
        lines.append(f"  {text[edge.source]} -> {text[edge.target]}{style};")
    return "\n".join([*lines, "}", ""])


def to_graphml(result: Result) -> str:
    """Return the DAG as GraphML; names of other types than text are written as text."""
    import networkx

    text = {name: _xml(label) for name, label in _labels(result).items()}
    return "\n".join(networkx.generate_graphml(_graph(result, text))) + "\n"


def _graph(result: Result, labels: dict[Hashable, Any]) -> networkx.DiGraph:
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(labels[name] for name in result.order)
    for edge in result.edges:
        attributes: dict[str, Any] = {"directed": edge.directed}
        attributes |= {name: getattr(edge, name) for name in NUMBERS if getattr(edge, name) is not None}
        graph.add_edge(labels[edge.source], labels[edge.target], **attributes)
    return graph


def _labels(result: Result) -> dict[Hashable, str]:
    """Return each name as text, made unique where two read the same, as 3 and "3" do."""
    taken: Counter[str] = Counter()
    labels = {}
    for name in result.names:
        text = str(name)
        taken[text] += 1
        labels[name] = text if taken[text] == 1 else f"{text} ({taken[text]})"
    return labels


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _xml(text: str) -> str:
    # XML 1.0 has no way to write control characters, halves of letters and marks of byte order, not even escaped.
    return _NOT_IN_XML.sub("\ufffd", text)
