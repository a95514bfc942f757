"""What the worked examples say of the paper's statements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rfdag.studies.paper.example_figures import pairs
from rfdag.studies.paper.study import Claim, Row

ALWAYS = {
    "Proposition 1": ("Proposition 1: the fill of a node joins all its neighbours that are not adjacent", "removals"),
    "Proposition 2": ("Proposition 2: a node whose removal removes an edge is maximal", "removals with R > 0"),
    "Proposition 3": ("Proposition 3: a node whose removal causes fill is not maximal", "removals with F > 0"),
    "minimal I-MAP": ("An order's D_π, read off the elimination, is a minimal I-MAP", "orders of RFD, w = 1, 2, 3"),
    "engine": (
        "Eliminating a precision matrix gives the scores of Definitions 1 to 3 (recursion of Section 3)",
        "removals",
    ),
}
"""Statements that leave no exception, and what they speak of."""


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge each statement by the rows."""
    return [
        _differ(rows),
        _perfect_elimination(rows),
        *_four_cases(rows),
        *(_always(rows, name, *words) for name, words in ALWAYS.items()),
        _converses(rows),
        *_step(rows),
        *_dense(rows),
    ]


def _differ(rows: Sequence[Row]) -> Claim:
    found = {row["what"]: row for row in _of(rows, "moral-subgraph")}
    moral, eliminated = (set(pairs(found[name]["edges"])) for name in ("moral subgraph", "elimination graph"))
    return Claim(
        "The moral subgraph and the elimination graph over the same nodes do not necessarily coincide (Figure 1)",
        moral != eliminated,
        f"over nodes {found['moral subgraph']['nodes']}: {len(moral)} and {len(eliminated)} edges, "
        f"{len(moral & eliminated)} of them in both",
    )


def _perfect_elimination(rows: Sequence[Row]) -> Claim:
    """Look at nodes without fill: in a chordal graph each can begin a perfect elimination order."""
    import networkx as nx

    drawn = {row["example"]: nx.Graph(pairs(row["edges"])) for row in rows if row["what"] == "moral graph"}
    chordal = [example for example, graph in drawn.items() if nx.is_chordal(graph)]
    first = [row for row in _removals(rows) if row["example"] in chordal and row["after"] == "" and row["F"] == 0]
    losing = [f"{row['node']} in {row['example']} removes {row['removed']}" for row in first if row["R"]]
    return Claim(
        "They coincide when following a perfect elimination order of a chordal graph (read of any DAG whose moral "
        "graph is chordal; without v-structures it holds)",
        not losing if first else None,
        f"moral graphs that are chordal: {', '.join(chordal) or 'none'}; nodes that can begin such an order: "
        f"{len(first)}, of which {len(losing)} remove an edge that the elimination graph keeps ({'; '.join(losing)})",
    )


def _four_cases(rows: Sequence[Row]) -> list[Claim]:
    removal = {row["node"]: row for row in _removals(rows) if row["example"] == "fill-and-removal"}
    dag = pairs(next(row["edges"] for row in _of(rows, "fill-and-removal") if row["what"] == "DAG"))

    def parents(node: int) -> list[int]:
        return sorted(source for source, target in dag if target == node)

    def scores(node: int) -> tuple[int, int]:
        return removal[node]["R"], removal[node]["F"]

    def apart(node: int) -> bool:
        """Whether a node has two parents that are not adjacent."""
        first, second = parents(node)
        return (first, second) not in dag and (second, first) not in dag

    shared = sorted({target for _, target in dag if target != 8 and set(parents(8)) <= set(parents(target))})
    between = [tuple(sorted(edge)) for edge in pairs(removal[7]["removed"])]
    possible = math.comb(removal[4]["D"], 2)
    return [
        Claim(
            "Removing a vertex may have no effect (Example 1)",
            scores(6) == (0, 0) and not apart(6),
            "node 6, with adjacent parents: " + _scores(removal[6]),
        ),
        Claim(
            "Removing a vertex can remove an edge between its parents",
            apart(7) and between == [tuple(parents(7))],
            f"node 7, with parents {_listed(parents(7))}: " + _scores(removal[7]),
        ),
        Claim(
            "Parents of a collider that are not adjacent do not suffice for removal, as where they share another child",
            apart(8) and bool(shared) and scores(8) == (0, 0),
            f"node 8, whose parents {_listed(parents(8))} share {_listed(shared)}: " + _scores(removal[8]),
        ),
        Claim(
            "Removing a vertex with descendants may cause a significant amount of fill",
            not removal[4]["maximal"] and 2 * removal[4]["F"] > possible,
            f"node 4: {_scores(removal[4])}, so {removal[4]['F']} of {possible} pairs of neighbours become adjacent",
        ),
    ]


def _always(rows: Sequence[Row], name: str, statement: str, of_what: str) -> Claim:
    cases, agreeing = _tally(rows, name)
    return Claim(statement, cases == agreeing if cases else None, f"{agreeing} of {cases} {of_what}")


def _converses(rows: Sequence[Row]) -> Claim:
    silent, loud = _tally(rows, "converse of Proposition 2")
    fillless, maximal = _tally(rows, "converse of Proposition 3")
    return Claim(
        "The converses fail: a maximal node may have R = 0, and a node with F = 0 may not be maximal",
        loud < silent and maximal < fillless,
        f"R = 0 in {silent - loud} of {silent} removals of maximal nodes; "
        f"{fillless - maximal} of {fillless} nodes with F = 0 not maximal",
    )


def _step(rows: Sequence[Row]) -> list[Claim]:
    removals = [row for row in _removals(rows) if row["example"] == "rfd-step"]
    first = [row for row in removals if row["after"] == ""]
    followed = sorted(row["node"] for row in first if row["role"])
    second = {(row["after"], row["node"]): row for row in removals if row["after"] and row["role"]}
    removing = {f"{node} after {after}": row for (after, node), row in second.items() if row["R"] == 1}
    chosen = next(row for row in second.values() if row["role"] == "chosen")
    others = [row["D"] for row in removing.values() if row is not chosen]
    return [
        Claim(
            "Example 2, first level: no node removes an edge; 1, 4 and 8 have least fill, 0",
            max(row["R"] for row in first) == 0
            and followed == [1, 4, 8] == sorted(row["node"] for row in first if row["F"] == 0),
            f"largest R {max(row['R'] for row in first)}; F = 0 for {_listed(followed)}",
        ),
        Claim(
            "Example 2, second level: 7 after 8 and 1 after 4 have removal score 1",
            {"7 after 8", "1 after 4"} <= set(removing),
            f"R = 1 for {', '.join(removing)}; 4 after 1 must follow, as 1 or 4 alone changes no other edge",
        ),
        Claim(
            "Example 2: the path of smaller degree wins, so 7, 8 end the order",
            (chosen["after"], chosen["node"]) == ("8", 7) and bool(others) and chosen["D"] < min(others),
            f"{chosen['node']} after {chosen['after']}: D = {chosen['D']}; the others {_listed(sorted(others))}",
        ),
    ]


def _dense(rows: Sequence[Row]) -> list[Claim]:
    """Nodes up to 4 are the sources; the order of the others is compelled."""
    removals = [row for row in _removals(rows) if row["example"] == "B4"]
    sequence = [row for row in removals if row["node"] == 10 - len(row["after"].split()) and row["node"] > 4]
    early = [row for row in removals if row["node"] > 4 and row not in sequence]
    cases, agreeing = _tally([row for row in rows if row["example"] == "B4"], "recovery")
    scores = [row["R"] for row in sequence]
    return [
        Claim(
            "RFD recovers B_4",
            cases == agreeing,
            f"its equivalence class in {agreeing} of {cases} calls with w = 1, 2, 3",
        ),
        Claim(
            "In B_K, a node's removal score is positive only after all later nodes are gone",
            len(sequence) == 6 and min(scores) > 0 and not any(row["R"] for row in early),
            f"K = 4: R > 0 in {sum(score > 0 for score in scores)} of 6 removals in turn, "
            f"and in {sum(row['R'] > 0 for row in early)} of {len(early)} before",
        ),
        Claim(
            "In B_K, a node's removal score is exactly 1 once all later nodes are gone",
            set(scores) == {1},
            f"K = 4: R = {_listed(scores)} for nodes {_listed([row['node'] for row in sequence])}; "
            "the recovery needs only R > 0",
        ),
    ]


def _of(rows: Sequence[Row], example: str) -> list[Row]:
    return [row for row in rows if row["example"] == example]


def _removals(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["what"] == "removal"]


def _tally(rows: Sequence[Row], name: str) -> tuple[int, int]:
    found = [row for row in rows if row["what"] == name]
    return sum(row["cases"] for row in found), sum(row["agreeing"] for row in found)


def _scores(row: Row) -> str:
    return f"R = {row['R']}, F = {row['F']}, D = {row['D']}"


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
