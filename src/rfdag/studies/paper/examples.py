"""The paper's worked examples, drawn from what the library says of them: Figures 1 to 3 and Example 2, and B_4.

The pictures of the paper are not given in words, but its examples are. The DAGs here are chosen so that all that is
said of the paper's holds for them. Nodes are counted from 1, as there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rfdag.eliminate import OracleEngine, eliminate
from rfdag.eliminate.rules import find_rule
from rfdag.eliminate.search import choose, position_of
from rfdag.graphs import (
    edge_set,
    elimination_graph,
    fill_edges,
    maximal_nodes,
    moral_graph,
    moral_subgraph,
    removed_edges,
)
from rfdag.graphs.dag import Graph
from rfdag.simulate import dense_dag
from rfdag.studies.paper import example_claims, example_figures, propositions
from rfdag.studies.paper.study import Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

DAGS = {
    # 5 and 6 are colliders, 7 lies between 3 and 4; the first four are kept.
    "moral-subgraph": "1→5 2→5 5→6 4→6 2→3 3→7 7→4",
    # 6 has adjacent parents, 7 has not, those of 8 share 9, and 4 has much below it.
    "fill-and-removal": "1→4 2→4 2→5 1→6 4→6 4→7 5→7 3→8 5→8 3→9 5→9",
    # No edge goes at first: another node always joins the parents of a sink.
    "rfd-step": "3→1 5→1 6→1 3→4 5→4 6→4 5→3 3→6 2→7 5→7 2→8 7→8",
    "B4": " ".join(f"{i + 1}→{j + 1}" for i, j in np.argwhere(dense_dag(4))),
}
KEPT = {"moral-subgraph": [1, 2, 3, 4]}
"""Nodes over which the moral subgraph and the elimination graph are compared."""
WALKS = {"fill-and-removal": "first", "rfd-step": "tree", "B4": "order"}
"""Whose removals are tried: of all nodes at first; also after each candidate; or all along the order that RFD finds."""
DEPTH = 2
"""The paper's w."""


def plan(scope: Scope) -> list[Key]:
    """One cell for each example."""
    made_by = revision(measure, _graph, _removals, _states, _after, matrix, words, propositions)
    return [
        {
            "example": example,
            "dag": dag,
            "kept": KEPT.get(example, []),
            "walk": WALKS.get(example, ""),
            "depth": DEPTH,
            "rfdag": own_version(),
            "revision": made_by,
        }
        for example, dag in DAGS.items()
    ]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Return an example's graphs, what the removal of its nodes does, and how the propositions fare on it."""
    dag = matrix(key["dag"])
    everyone = list(range(len(dag)))
    records = [
        _graph("DAG", everyone, edges=key["dag"]),
        _graph("moral graph", everyone, edges=words(edge_set(moral_graph(dag)))),
    ]
    if key["kept"]:
        kept = [node - 1 for node in key["kept"]]
        induced = {(i, j) for i, j in edge_set(moral_graph(dag)) if i in kept and j in kept}
        for name, graph in (("moral subgraph", moral_subgraph), ("elimination graph", elimination_graph)):
            edges = edge_set(graph(dag, kept), kept)
            changes = {"removed": words(induced - edges), "filled": words(edges - induced)}
            records.append(_graph(name, kept, edges=words(edges), **changes))
    for after in _states(dag, key["walk"], key["depth"]):
        records += _removals(dag, after, key["depth"])
    records += [
        _graph(statement, everyone, cases=tally.cases, agreeing=tally.agreeing)
        for statement, tally in propositions.tallies(dag).items()
    ]
    return [{"example": key["example"]} | record for record in records]


def table(records: Sequence[Record]) -> list[Row]:
    """Return the records, the examples in the order of the paper."""
    return sorted(records, key=lambda record: list(DAGS).index(record["example"]))


def highlights(rows: Sequence[Row]) -> list[Row]:
    """Return the removals that are drawn."""
    shown = ("example", "after", "node", "R", "F", "D", "removed", "filled", "maximal", "role")
    return [
        {name: row[name] for name in shown}
        for row in rows
        if row["what"] == "removal"
        and (
            (row["example"] == "fill-and-removal" and row["node"] in example_figures.CASES)
            or (row["example"] == "rfd-step" and row["role"])
        )
    ]


def matrix(text: str) -> Graph:
    """Return the adjacency matrix of a DAG in words, nodes counted from 1.

    >>> matrix("1→3 2→3")
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    edges = [[int(node) - 1 for node in re.split("→", edge)] for edge in text.split()]
    dag = np.zeros((1 + max(map(max, edges)),) * 2, np.int8)
    dag[tuple(np.transpose(edges))] = 1
    return dag


def words(edges: Iterable[tuple[int, int]]) -> str:
    """Return undirected edges in words, nodes counted from 1.

    >>> words({(1, 2), (0, 1)})
    '1–2 2–3'
    """
    return " ".join(f"{i + 1}–{j + 1}" for i, j in sorted(edges))


def _graph(what: str, nodes: Iterable[int], **found: Any) -> dict[str, Any]:
    return {
        "what": what,
        "after": "",
        "node": None,
        "nodes": " ".join(str(node + 1) for node in sorted(nodes)),
        "edges": "",
        "removed": "",
        "filled": "",
        "R": None,
        "F": None,
        "D": None,
        "maximal": None,
        "role": "",
        "cases": None,
        "agreeing": None,
    } | found


def _states(dag: Graph, walk: str, depth: int) -> list[tuple[int, ...]]:
    """Return the sets of removed nodes from which the next removals are tried, each in the order of removal."""
    engine = OracleEngine(dag)
    if walk == "tree":
        first = sorted(int(engine.remaining[at]) for at in find_rule("rfd")(engine).positions)
        return [(), *((node,) for node in first)]
    if walk == "order":
        gone = eliminate(engine, "rfd", depth=depth).order[::-1].tolist()
        return [tuple(gone[:count]) for count in range(len(gone))]
    return [()] if walk == "first" else []


def _removals(dag: Graph, after: tuple[int, ...], depth: int) -> list[dict[str, Any]]:
    """Return what the removal of each remaining node would do, and what RFDStep makes of it.

    Scores are the elimination's, edges those of the definitions.
    """
    path = choose(OracleEngine(dag), "rfd", depth).variables
    engine = _after(dag, after)
    scores = engine.remaining, engine.removals(), engine.fills(), engine.degrees()
    candidates = {int(engine.remaining[at]) for at in find_rule("rfd")(engine).positions}
    left = sorted(engine.remaining.tolist())
    maximal = maximal_nodes(dag, left)
    records = []
    for node, removal, fill, degree in sorted(zip(*(column.tolist() for column in scores), strict=True)):
        rest = [other for other in left if other != node]
        on_path = path[: len(after) + 1] == (*after, node)
        records.append(
            _graph(
                "removal",
                rest,
                after=" ".join(str(gone + 1) for gone in after),
                node=node + 1,
                edges=words(edge_set(moral_subgraph(dag, rest), rest)),
                removed=words(removed_edges(dag, left, node)),
                filled=words(fill_edges(dag, left, node)),
                R=removal,
                F=fill,
                D=degree,
                maximal=node in maximal,
                role="chosen" if on_path else "candidate" if node in candidates else "",
            )
        )
    return records


def _after(dag: Graph, gone: tuple[int, ...]) -> OracleEngine:
    engine = OracleEngine(dag)
    for node in gone:
        engine.remove(position_of(engine, node))
    return engine


STUDIES = (
    Study(
        name="examples",
        title="Worked examples",
        source="Figures 1 and 2, Examples 1 and 2, and B_4 of Section 4",
        about="""
Small DAGs on which all that the paper says of its own examples holds, as `rfdag.graphs` and the oracle elimination
see them. First, a DAG, its moral graph, and what two ways of leaving nodes 5, 6 and 7 out make of it: the moral
subgraph loses the edge between parents whose only common child is gone, the elimination graph keeps it and adds more.
Second, what the removal of one node does: nothing (6), an edge less (7), nothing although the parents of 8 are not
adjacent (they share the child 9), much fill (4). Third, a call of RFDStep with w = 2: level by level the scores R, F
and D of all remaining nodes, in grey those that are followed, and with thick arrows the path that is returned. Last,
B_4. The propositions are tried on every set of nodes of each DAG.
""",
        plan=plan,
        measure=measure,
        table=table,
        draw=example_figures.draw,
        claims=example_claims.claims,
        highlights=highlights,
    ),
)
