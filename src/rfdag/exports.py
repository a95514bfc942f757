"""A result in the forms other programs read."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw

from rfdag.errors import OptionError

if TYPE_CHECKING:
    import networkx

    from rfdag.result import Result

COLUMNS = ("source", "target", "coefficient", "directed")
BACKENDS = ("pandas", "polars", "pyarrow")


def to_networkx(result: Result) -> networkx.DiGraph:
    """Return the DAG with nodes in causal order."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(result.order)
    for edge in result.edges:
        attributes: dict[str, Any] = {"directed": edge.directed}
        if edge.coefficient is not None:
            attributes["coefficient"] = edge.coefficient
        graph.add_edge(edge.source, edge.target, **attributes)
    return graph


def to_frame(result: Result, backend: str = "pandas") -> Any:
    """Return the table of edges in the given library's own type."""
    if backend not in BACKENDS:
        raise OptionError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}.")
    columns = dict(zip(COLUMNS, map(list, zip(*result.edges, strict=True)), strict=True)) or {
        name: [] for name in COLUMNS
    }
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError:
        raise ImportError(
            f"to_frame(backend={backend!r}) needs {backend}: pip install {backend}. Without it, result.edges holds "
            "the same rows."
        ) from None


def to_csv(result: Result) -> str:
    """Return the table of edges as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for edge in result.edges:
        weight = "" if edge.coefficient is None else repr(edge.coefficient)
        writer.writerow([edge.source, edge.target, weight, str(edge.directed).lower()])
    return text.getvalue()


def to_dot(result: Result) -> str:
    """Return the DAG in Graphviz's language, nodes in causal order."""
    lines = ["digraph rfdag {"]
    lines += [f"  {_quoted(name)};" for name in result.order]
    for edge in result.edges:
        style = "" if edge.directed else " [dir=none]"
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{style};")
    return "\n".join([*lines, "}", ""])


def to_graphml(result: Result) -> str:
    """Return the DAG as GraphML; names of other types than text are written as text."""
    import networkx

    graph = networkx.relabel_nodes(to_networkx(result), {name: _xml(name) for name in result.names})
    return "\n".join(networkx.generate_graphml(graph)) + "\n"


def _quoted(name: Hashable) -> str:
    escaped = str(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _xml(name: Hashable) -> str:
    # XML 1.0 has no way to write control characters, not even escaped.
    return "".join(letter if letter >= " " or letter in "\t\n\r" else "\ufffd" for letter in str(name))
