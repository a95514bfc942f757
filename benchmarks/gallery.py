"""Draw the pictures of docs/concepts.md and docs/gallery/ anew.

    python benchmarks/gallery.py

Every picture is drawn from what rfdag itself computes, with the calls that the pages show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

import rfdag
from look import FIGURES
from rfdag import datasets, graphs, simulate
from rfdag.plots.strokes import Stroke, handle
from rfdag.studies.bench.typed_workloads import network
from rfdag.studies.paper.graph_drawing import STROKES, Edge, Picture, Point, draw_graph, draw_legend
from rfdag.studies.paper.look import canvas

CONCEPTS, GALLERY = FIGURES / "concepts", FIGURES / "gallery"

EXAMPLE = ((0, 2), (1, 2), (2, 3), (3, 4), (1, 4))
"""The DAG that concepts.md explains everything with."""
NODES = range(5)
PLACES: Mapping[int, Point] = {0: (0.0, 1.9), 1: (1.9, 1.9), 2: (0.8, 1.0), 3: (0.8, 0.0), 4: (1.9, 0.0)}
THREE = {
    "chain": ((0, 1), (1, 2)),
    "chain, reversed": ((2, 1), (1, 0)),
    "fork": ((1, 0), (1, 2)),
    "collider": ((0, 1), (2, 1)),
}
THREE_PLACES: Mapping[int, Point] = {0: (0.0, 0.0), 1: (0.75, 0.7), 2: (1.5, 0.0)}
REMOVALS = {
    4: "4 removed: no children\none edge goes: 4 is certified",
    2: "2 removed: 3 is its child\none edge comes",
    0: "0 removed: 2 is its child\nnothing shows it",
}
ORDERS = {(0, 1, 2, 3, 4): "a true order", (2, 0, 1, 3, 4): "2 too early", (4, 3, 2, 1, 0): "backwards"}
RUNS = 40


def main() -> None:
    """Draw all of them."""
    # The same picture is the same file.
    mpl.rcParams["svg.hashsalt"] = "rfdag"
    # What the drawings of small graphs set is theirs alone.
    with mpl.rc_context():
        save(CONCEPTS, "three", draw_three())
        save(CONCEPTS, "moral", draw_moral())
        save(CONCEPTS, "removal", draw_removal())
        save(CONCEPTS, "orders", draw_orders())
    for name, axes in (draw_sachs() | draw_cars() | draw_abalone() | draw_alarm() | draw_large_network()).items():
        save(GALLERY, name, axes.get_figure(root=True))


def save(folder: Path, name: str, figure: Any) -> None:
    """Write a picture as NAME.svg, on white, so that it can be read on a dark page, too."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, facecolor="white")


def draw_three() -> Any:
    """Draw the DAGs in which three variables are adjacent in a row, and the class of each."""
    figure, panels = canvas(2, len(THREE), height=1.35)
    for column, (name, edges) in zip(panels.T, THREE.items(), strict=True):
        dag = dag_of(edges, 3)
        draw_graph(column[0], Picture(THREE_PLACES, {"edge": edges}, directed=True), name)
        draw_graph(column[1], class_picture(dag), f"its class\n{independence(dag)}")
    return figure


def class_picture(dag: NDArray[np.int8]) -> Picture:
    """Show an equivalence class that is directed throughout or nowhere."""
    matrix = graphs.cpdag(dag)
    directed = bool((matrix == 1).any())
    ends = zip(*np.nonzero(matrix if directed else np.triu(matrix)), strict=True)
    return Picture(THREE_PLACES, {"edge": [(int(i), int(j)) for i, j in ends]}, directed=directed)


def independence(dag: NDArray[np.int8]) -> str:
    """Return when 0 and 2 are independent."""
    return "0, 2 independent" if graphs.d_separated(dag, 0, 2) else "0, 2 independent given 1"


def draw_moral() -> Any:
    """Draw the example, its moral graph, and the moral subgraph without its sink."""
    dag = dag_of(EXAMPLE, len(NODES))
    figure, panels = canvas(1, 3, height=2.9)
    draw_graph(panels[0, 0], Picture(PLACES, {"edge": EXAMPLE}, directed=True), "DAG")
    draw_graph(panels[0, 1], moral_picture(dag), "moral graph")
    draw_graph(panels[0, 2], removal_picture(dag, 4), "moral subgraph over {0, 1, 2, 3}")
    draw_legend(figure, ("edge", "marriage", "removed", "gone"), columns=4)
    return figure


def draw_removal() -> Any:
    """Draw what the removal of each of three variables does to the moral graph, and all scores."""
    dag = dag_of(EXAMPLE, len(NODES))
    figure, panels = canvas(1, 4, height=2.9, width_ratios=(1, 1, 1, 0.8))
    for panel, (node, says) in zip(panels[0], REMOVALS.items(), strict=False):
        draw_graph(panel, removal_picture(dag, node), says)
    write_scores(panels[0, 3], dag)
    draw_legend(figure, ("edge", "removed", "fill", "gone"), columns=4)
    return figure


def moral_picture(dag: NDArray[np.int8]) -> Picture:
    """Show a moral graph, the edges that are not the DAG's in a line of their own."""
    inherited = {(min(edge), max(edge)) for edge in EXAMPLE}
    edges = graphs.edge_set(graphs.moral_graph(dag))
    return Picture(PLACES, {"edge": edges & inherited, "marriage": edges - inherited})


def removal_picture(dag: NDArray[np.int8], node: int) -> Picture:
    """Show the moral subgraph without a node, and what has changed."""
    rest = [other for other in NODES if other != node]
    filled = graphs.fill_edges(dag, NODES, node)
    kinds = {
        "gone": {edge for edge in graphs.edge_set(graphs.moral_graph(dag)) if node in edge},
        "edge": graphs.edge_set(graphs.moral_subgraph(dag, rest), nodes=rest) - filled,
        "fill": filled,
        "removed": graphs.removed_edges(dag, NODES, node),
    }
    return Picture(PLACES, kinds, gone=frozenset({node}))


def write_scores(axes: Any, dag: NDArray[np.int8]) -> None:
    """Write removal, fill and degree of every node as a table."""
    moral = graphs.moral_graph(dag)
    lines: list[Sequence[object]] = [("node", "R", "F", "D")]
    for node in NODES:
        removed, filled = graphs.removed_edges(dag, NODES, node), graphs.fill_edges(dag, NODES, node)
        lines.append((node, len(removed), len(filled), int(moral[node].sum())))
    axes.set_axis_off()
    axes.set_title("scores of all five\n", fontsize=9)
    for row, line in enumerate(lines):
        for column, text in enumerate(line):
            style = "italic" if row == 0 else "normal"
            weight = "bold" if line[0] == 4 else "normal"
            place = (0.2 + 0.2 * column, 0.92 - 0.13 * row)
            axes.text(*place, text, transform=axes.transAxes, ha="center", fontsize=10, style=style, weight=weight)


def draw_orders() -> Any:
    """Draw the DAGs that three orders induce, what they have beyond the true one in a line of its own."""
    dag = dag_of(EXAMPLE, len(NODES))
    true_pairs = {frozenset(edge) for edge in EXAMPLE}
    figure, panels = canvas(1, len(ORDERS), height=2.9)
    for panel, (order, says) in zip(panels[0], ORDERS.items(), strict=True):
        edges = edges_of(graphs.minimal_imap(dag, order))
        needed = {edge for edge in edges if frozenset(edge) in true_pairs}
        picture = Picture(PLACES, {"edge": needed, "extra": edges - needed}, directed=True)
        draw_graph(panel, picture, f"{', '.join(map(str, order))}: {says}\n{len(edges)} edges")
    meanings = {"edge": "adjacent in the true DAG, in either direction", "extra": "not adjacent in the true DAG"}
    write_legend(figure, [STROKES[kind]._replace(meaning=meaning) for kind, meaning in meanings.items()])
    return figure


def write_legend(figure: Any, strokes: Sequence[Stroke]) -> None:
    """Explain the lines below a figure."""
    meanings = [stroke.meaning for stroke in strokes]
    figure.legend(
        [handle(stroke) for stroke in strokes], meanings, loc="outside lower center", ncols=2, frameon=False,
        fontsize=9, handlelength=3.4,
    )  # fmt: skip


def draw_sachs() -> dict[str, Any]:
    """Draw what sachs.md shows."""
    result = rfdag.learn(datasets.sachs_path())
    found = rfdag.bootstrap(datasets.sachs_path(), runs=RUNS, random_state=0)
    ranks = {rank.variable: (rank.lower, rank.median, rank.upper) for rank in found.ranks}
    targets = datasets.sachs_condition_targets_path()
    told = rfdag.learn(datasets.sachs_conditions_path(), environments="condition", targets=targets)
    return {
        "sachs-graph": result.plot(),
        "sachs-truth": result.plot(truth=datasets.sachs_truth()),
        "sachs-order": result.plot(ranks=ranks),
        "sachs-told": told.plot(),
    }


def draw_cars() -> dict[str, Any]:
    """Draw what auto-mpg.md shows."""
    free = rfdag.learn(datasets.auto_mpg_path())
    tiers = rfdag.learn(datasets.auto_mpg_path(), knowledge=datasets.auto_mpg_knowledge())
    return {"auto-mpg-free": free.plot(), "auto-mpg-tiers": tiers.plot()}


def draw_abalone() -> dict[str, Any]:
    """Draw what abalone.md shows."""
    known = {"roots": ["Rings"], "leaves": ["Whole"]}
    return {"abalone-graph": rfdag.learn(datasets.abalone_path(), knowledge=known).plot()}


def draw_alarm() -> dict[str, Any]:
    """Draw what alarm.md shows."""
    alarm = network("alarm")
    result = rfdag.learn(alarm.sample(5000, rng=1), names=alarm.names, categorical=alarm.names)
    return {"alarm-graph": result.plot(truth=alarm.dag)}


def draw_large_network() -> dict[str, Any]:
    """Draw what large-network.md shows."""
    dag = simulate.random_dag(500, degree=4, rng=5)
    sem = simulate.standardise(simulate.linear_sem(dag, rng=5))
    result = rfdag.learn(simulate.sample(sem, 1000, rng=6))
    return {"large-network-matrix": result.plot(), "large-network-truth": result.plot(truth=dag)}


def dag_of(edges: Iterable[Edge], p: int) -> NDArray[np.int8]:
    """Return edges as a matrix."""
    dag = np.zeros((p, p), np.int8)
    for source, target in edges:
        dag[source, target] = 1
    return dag


def edges_of(dag: NDArray[np.int8]) -> set[Edge]:
    """Return the edges of a matrix."""
    return {(int(source), int(target)) for source, target in zip(*np.nonzero(dag), strict=True)}


if __name__ == "__main__":
    main()
