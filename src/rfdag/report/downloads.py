"""The graph in the languages of other programs, ready to be copied or saved from the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from rfdag.errors import RfdagError
from rfdag.report import rerun

if TYPE_CHECKING:
    from rfdag.result import Result

MOST_EDGES = 10_000
"""Edges up to which the page carries these texts."""
MOST_LETTERS = 2_000_000
"""Letters of one text that the page carries."""


class Form(NamedTuple):
    """A language: its name on the page, the file's name, what it is for, and how it is written."""

    title: str
    file: str
    use: str
    write: Callable[[Result], str]
    call: str


def _dowhy(result: Result) -> str:
    import networkx

    return "\n".join(networkx.generate_gml(result.to_dowhy())) + "\n"


FORMS = (
    Form("dagitty", "graph.dagitty.txt", "The DAG for dagitty.net or R's dagitty().", lambda r: r.to_dagitty(),
         "result.to_dagitty()"),
    Form("DoWhy", "graph.gml", "GML that dowhy.CausalModel(…, graph=text) takes.", _dowhy, "result.to_dowhy()"),
    Form("GraphML", "graph.graphml", "The DAG with coefficients, for networkx, Gephi, Cytoscape, yEd.",
         lambda r: r.to_graphml(), "result.to_graphml()"),
    Form("JSON", "result.json", "The result without its moments, for rfdag.load.", lambda r: r.to_json(moments=False),
         'result.save("result.json")'),
    Form("DOT", "graph.dot", "For Graphviz; undirected edges have no arrowhead.", lambda r: r.to_dot(),
         "result.to_dot()"),
    Form("CSV", "edges.csv", "The table of edges.", lambda r: r.to_csv(), "result.to_csv()"),
)  # fmt: skip


KNOWLEDGE = Form(
    "Prior knowledge", rerun.KNOWLEDGE, "For rfdag learn --knowledge.",
    lambda r: r.knowledge.to_json() if r.knowledge is not None else "", "result.knowledge.to_json()",
)  # fmt: skip


def downloads(result: Result) -> list[dict[str, Any]]:
    """Return each language with its text, or with the reason why there is none.

    >>> import rfdag
    >>> texts = downloads(rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag", names=["a", "b", "c"]))
    >>> texts[0]["title"], '"a" -> "c"' in texts[0]["text"]
    ('dagitty', True)
    """
    forms = [*FORMS, KNOWLEDGE] if result.knowledge is not None else FORMS
    return [_one(result, form) for form in forms]


def _one(result: Result, form: Form) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": form.title, "file": form.file, "use": form.use, "text": None, "reason": None}
    if form is not KNOWLEDGE and int(result.dag.sum()) > MOST_EDGES:
        return shown | {"reason": f"The graph is too large to be carried by this page; {form.call} writes it."}
    try:
        text = form.write(result)
    except RfdagError as problem:
        return shown | {"reason": str(problem)}
    if len(text) > MOST_LETTERS:
        return shown | {"reason": f"The text is too long to be carried by this page; {form.call} writes it."}
    return shown | {"text": text}
