"""The worked examples as pictures, drawn from the rows of their table alone; only where nodes stand is set here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rfdag.plots import palette
from rfdag.studies.paper import look
from rfdag.studies.paper.graph_drawing import Edge, Picture, Point, draw_graph, draw_legend
from rfdag.studies.paper.study import Row

POSITIONS: Mapping[str, Mapping[int, Point]] = {
    "moral-subgraph": {
        1: (0.0, 2.0), 2: (1.5, 2.0), 3: (2.7, 2.0), 7: (2.7, 1.1), 4: (2.1, 0.25), 5: (0.65, 1.0), 6: (0.65, 0.0),
    },
    "fill-and-removal": {
        1: (0.0, 2.0), 2: (1.6, 2.0), 4: (0.8, 1.2), 5: (2.3, 1.2), 3: (3.7, 1.2),
        6: (0.0, 0.2), 7: (1.6, 0.2), 8: (3.0, 0.65), 9: (3.0, -0.1),
    },
    "rfd-step": {
        5: (2.0, 2.3), 6: (2.0, 0.0), 4: (0.0, 1.15), 3: (0.75, 1.15), 1: (1.45, 1.15),
        7: (2.9, 1.5), 2: (3.8, 2.3), 8: (3.8, 0.8),
    },
    "B4": {
        **{source: (0.75 + 1.5 * (source - 1), 1.9) for source in range(1, 5)},
        **{node: (1.2 * (node - 5), 0.0) for node in range(5, 11)},
    },
}  # fmt: skip
"""Where the nodes of each example stand."""

ARCS = {
    (i, j): bend
    for apart, bend in {2: -0.13, 3: -0.21, 4: -0.3, 5: -0.43}.items()
    for i, j in zip(range(5, 11), range(5 + apart, 11), strict=False)
}
"""Bends of the edges among the nodes of B_4's complete part: below the row, and steeper at their ends the longer."""

ROOM_FOR_ARROWS = [1, 4]
"""Rows of the search tree that hold nothing else."""

CASES = {
    6: "6 removed: no effect",
    7: "7 removed: one edge less,\nbetween its parents",
    8: "8 removed: its parents 3, 5\nshare the child 9, no edge goes",
    4: "4 removed: it has children,\nso its neighbours are joined",
}
"""Removals of the second figure, in the order of the paper, and what they show."""


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the figures by name."""
    figures = {
        "moral-subgraph": _moral_subgraph,
        "fill-and-removal": _fill_and_removal,
        "rfd-step": _rfd_step,
        "B4": _dense_graph,
    }
    return {name: drawn([row for row in rows if row["example"] == name]) for name, drawn in figures.items()}


def pairs(edges: str) -> list[Edge]:
    """Return edges in words as pairs.

    >>> pairs("1→3 2–3")
    [(1, 3), (2, 3)]
    """
    return [(int(first), int(second)) for first, second in (re.split("[→–]", edge) for edge in edges.split())]


def _moral_subgraph(rows: Sequence[Row]) -> Any:
    found = {row["what"]: row for row in rows}
    subgraph, eliminated = found["moral subgraph"], found["elimination graph"]
    only = frozenset(pairs(eliminated["edges"])) - frozenset(pairs(subgraph["edges"]))
    figure, axes = look.canvas(1, 4, height=2.75)
    panels = axes.ravel()
    names = ", ".join(subgraph["nodes"].split())
    draw_graph(panels[0], _directed(found["DAG"]), "DAG $D$")
    draw_graph(panels[1], _moral(found["moral graph"], found["DAG"]), "moral graph $M(D)$")
    draw_graph(panels[2], _changed(subgraph, found["moral graph"]), f"moral subgraph\nover $V$ = {{{names}}}")
    draw_graph(
        panels[3], _changed(eliminated, found["moral graph"], extra=only), "elimination graph\nover the same $V$"
    )
    draw_legend(figure, ("edge", "marriage", "removed", "fill", "extra", "gone"), columns=3)
    return figure


def _fill_and_removal(rows: Sequence[Row]) -> Any:
    found = {row["what"]: row for row in rows}
    removal = {row["node"]: row for row in rows if row["what"] == "removal"}
    figure, axes = look.canvas(2, 3, height=2.75)
    panels = axes.ravel()
    draw_graph(panels[0], _directed(found["DAG"]), "DAG $D$\n")
    draw_graph(panels[1], _moral(found["moral graph"], found["DAG"]), "moral graph $M(D)$\n")
    for panel, (node, says) in zip(panels[2:], CASES.items(), strict=True):
        row = removal[node]
        title = says if "\n" in says else says + "\n"
        draw_graph(panel, _changed(row, found["moral graph"]), title)
        panel.text(
            0.0, -0.02, f"R = {row['R']}   F = {row['F']}   D = {row['D']}", transform=panel.transAxes, fontsize=9
        )
    draw_legend(figure, ("edge", "marriage", "removed", "fill", "gone"), columns=3)
    return figure


def _rfd_step(rows: Sequence[Row]) -> Any:
    found = {row["what"]: row for row in rows}
    by_state: dict[str, list[Row]] = {}
    for row in rows:
        if row["what"] == "removal":
            by_state.setdefault(row["after"], []).append(row)
    followed = [row for row in by_state[""] if row["role"]]
    figure, axes = look.canvas(6, len(followed), height=1.55, height_ratios=(1, 0.16, 1, 0.42, 0.1, 1))
    for each in axes[ROOM_FOR_ARROWS].ravel():
        each.set_axis_off()
    draw_graph(axes[0, 0], _directed(found["DAG"]), "DAG $D^*$")
    draw_graph(axes[0, 1], _moral(found["moral graph"], found["DAG"]), "moral graph: the search starts here")
    _draw_scores(axes[0, 2], by_state[""], "Level 1: every R is 0, so follow least F", lines=9)
    axes[0, 2].text(3.4, 6.2, "Grey columns are followed.\nThick arrows: the path returned.", ha="center", fontsize=9)
    for column, first in enumerate(followed):
        _draw_branch(axes[:, column], first, by_state[str(first["node"])], found["moral graph"])
        chosen = first["role"] == "chosen"
        _draw_arrow(figure, axes[0, 1], axes[2, column], chosen)
        _draw_arrow(figure, axes[3, column], axes[5, column], chosen)
    draw_legend(figure, ("edge", "marriage", "removed", "gone"), columns=4)
    return figure


def _draw_branch(axes: Sequence[Any], first: Row, second: Sequence[Row], moral: Row) -> None:
    """Draw one column of the tree: a candidate's removal, the scores after it, and the removal that they suggest."""
    leaf = next(row for row in second if row["role"])
    chosen = leaf["role"] == "chosen"
    draw_graph(axes[2], _changed(first, moral), f"{first['node']} removed")
    _draw_scores(axes[3], second, "Level 2: follow largest R")
    draw_graph(axes[5], _changed(leaf, moral))
    title = f"{first['node']}, then {leaf['node']}: R = {leaf['R']}, D = {leaf['D']}"
    axes[5].set_title(
        title + ", least D" * chosen, fontsize=9, fontweight="bold" if chosen else "normal"
    )  # fmt: skip


def _dense_graph(rows: Sequence[Row]) -> Any:
    dag = next(row for row in rows if row["what"] == "DAG")
    figure, axes = look.canvas(1, 1, height=5.4)
    # Large circles, so that the heads of arrows stand apart.
    draw_graph(axes[0, 0], replace(_directed(dag), bends=ARCS, radius=0.24))
    return figure


def _directed(dag: Row) -> Picture:
    return Picture(POSITIONS[dag["example"]], {"edge": pairs(dag["edges"])}, directed=True)


def _moral(moral: Row, dag: Row) -> Picture:
    """Show a moral graph, the edges that are not the DAG's in a line of their own."""
    inherited = {(min(edge), max(edge)) for edge in pairs(dag["edges"])}
    edges = set(pairs(moral["edges"]))
    return Picture(POSITIONS[moral["example"]], {"edge": edges & inherited, "marriage": edges - inherited})


def _changed(row: Row, before: Row, extra: frozenset[Edge] = frozenset()) -> Picture:
    """Show a graph over some nodes, and what has changed since the one before it, whose other nodes are now gone."""
    kept = {int(node) for node in row["nodes"].split()}
    edges, filled = set(pairs(row["edges"])), set(pairs(row["filled"]))
    positions = POSITIONS[row["example"]]
    lost = {edge for edge in pairs(before["edges"]) if not kept.issuperset(edge)}
    kinds = {
        "gone": lost,
        "edge": edges - filled - extra,
        "fill": filled - extra,
        "extra": edges & extra,
        "removed": set(pairs(row["removed"])),
    }
    return Picture(positions, kinds, gone=frozenset(set(positions) - kept))


def _draw_scores(axes: Any, removals: Sequence[Row], title: str, lines: int = 4) -> None:
    """Write the scores of all nodes in columns, on grey those that are followed; the axes have room for some lines."""
    from matplotlib.patches import Rectangle

    axes.set_axis_off()
    names = ("node", "R", "F", "D")
    axes.set_xlim(-1.2, len(removals))
    axes.set_ylim(lines - 0.4, -0.6)
    axes.set_title(title, fontsize=9, pad=3)
    for at, line in enumerate(names):
        axes.text(-0.6, at, line, ha="center", va="center", fontsize=9, style="italic")
    for column, row in enumerate(removals):
        for at, line in enumerate(names):
            weight = "bold" if row["role"] else "normal"
            axes.text(column + 0.5, at, str(row[line]), ha="center", va="center", fontsize=9, fontweight=weight)
        if row["role"]:
            axes.add_patch(Rectangle((column + 0.1, -0.5), 0.8, len(names), color="#d9d9d9", zorder=0))


def _draw_arrow(figure: Any, parent: Any, child: Any, chosen: bool) -> None:
    from matplotlib.patches import ConnectionPatch

    arrow = ConnectionPatch(
        (0.5, -0.02), (0.5, 1.17), "axes fraction", "axes fraction", axesA=parent, axesB=child,
        arrowstyle="-|>", mutation_scale=14, linewidth=2.8 if chosen else 0.9, color=palette.BLACK,
    )  # fmt: skip
    arrow.set_in_layout(False)
    figure.add_artist(arrow)
