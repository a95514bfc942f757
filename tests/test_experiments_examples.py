"""The worked examples: their numbers by the definitions, and that the pictures show them legibly."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

import reference
from rfdag.studies.paper import example_figures, examples, graph_drawing, propositions
from rfdag.studies.paper.graph_drawing import CLEARANCE, Picture, clearance, course, draw_graph, find_bend
from rfdag.studies.paper.study import Scope

STUDY = examples.STUDIES[0]
NAMES = list(examples.DAGS)


@pytest.fixture(scope="module")
def rows():
    # Cells complete in any order, and their records are read back from a file.
    records = [record for key in STUDY.plan(Scope())[::-1] for record in STUDY.measure(key, Scope())]
    return STUDY.table(json.loads(json.dumps(records)))


@pytest.fixture(scope="module")
def figures(rows):
    drawn = STUDY.draw(rows)
    for figure in drawn.values():
        figure.draw_without_rendering()
    return drawn


def world_of(example):
    return reference.Population(examples.matrix(examples.DAGS[example]))


def as_sets(edges):
    """Edges in words, counted from 1, as the reference has them."""
    return {frozenset(node - 1 for node in pair) for pair in example_figures.pairs(edges)}


def nodes_of(row):
    return [int(node) - 1 for node in row["nodes"].split()]


def one(rows, example, what):
    (row,) = [row for row in rows if row["example"] == example and row["what"] == what]
    return row


# Numbers.


def test_each_example_is_a_cell_and_its_rows_are_alike(rows):
    keys = STUDY.plan(Scope())
    assert [key["example"] for key in keys] == NAMES
    assert len({tuple(row) for row in rows}) == 1
    assert list(dict.fromkeys(row["example"] for row in rows)) == NAMES


@pytest.mark.parametrize("example", NAMES)
def test_moral_graphs_are_networkx_s(rows, example):
    moral = nx.moral_graph(world_of(example).graph)
    assert as_sets(one(rows, example, "moral graph")["edges"]) == {frozenset(edge) for edge in moral.edges}


def test_moral_subgraph_and_elimination_graph_by_definition(rows):
    world = world_of("moral-subgraph")
    kept = [0, 1, 2, 3]
    subgraph, eliminated = (one(rows, "moral-subgraph", what) for what in ("moral subgraph", "elimination graph"))
    assert nodes_of(subgraph) == nodes_of(eliminated) == kept
    assert as_sets(subgraph["edges"]) == reference.moral_subgraph(world, kept)
    expected = reference.elimination_graph(examples.matrix(examples.DAGS["moral-subgraph"]), kept)
    assert as_sets(eliminated["edges"]) == expected
    assert (subgraph["removed"], subgraph["filled"]) == ("1–2", "3–4")


@pytest.mark.parametrize("example", ["fill-and-removal", "rfd-step", "B4"])
def test_removals_by_definition(rows, example):
    world = world_of(example)
    dag = examples.matrix(examples.DAGS[example])
    removals = [row for row in rows if row["example"] == example and row["what"] == "removal"]
    # One state of B_4 is like another; the reference is slow.
    for row in removals if example != "B4" else removals[:8]:
        node = row["node"] - 1
        left = [*nodes_of(row), node]
        assert as_sets(row["edges"]) == reference.moral_subgraph(world, nodes_of(row))
        assert as_sets(row["removed"]) == reference.removed_edges(world, left, node)
        assert as_sets(row["filled"]) == reference.fill_edges(world, left, node)
        assert (row["R"], row["F"]) == (len(as_sets(row["removed"])), len(as_sets(row["filled"])))
        assert row["D"] == reference.degree(world, left, node)
        assert row["maximal"] == (node in reference.maximal_nodes(dag, left))


def test_step_is_the_reference_s(rows):
    path, ties = reference.rfd_step(world_of("rfd-step"), range(8), 2)
    chosen = [row for row in rows if row["example"] == "rfd-step" and row["role"] == "chosen"]
    assert tuple(row["node"] - 1 for row in chosen) == path == (7, 6)
    assert ties == 1


def test_propositions_are_counted_as_by_definition():
    dag = examples.matrix("1→3 2→3 3→4 2→5 4→5")
    world = reference.Population(dag)
    removals = list(propositions.every_removal(dag))
    assert len(removals) == 5 * 2**4
    for removal in removals:
        nodes, node = removal.nodes, removal.node
        assert set(map(frozenset, removal.removed)) == reference.removed_edges(world, nodes, node)
        assert set(map(frozenset, removal.filled)) == reference.fill_edges(world, nodes, node)
        assert set(map(frozenset, removal.missing)) == reference.missing_among_neighbours(world, nodes, node)
        assert removal.near == reference.neighbours(world, nodes, node)
        assert removal.maximal == (node in reference.maximal_nodes(dag, nodes))
    tallies = propositions.tallies(dag)
    assert tallies["Proposition 2"].cases == sum(bool(removal.removed) for removal in removals)
    assert tallies["Proposition 3"].cases == sum(bool(removal.filled) for removal in removals)
    assert tallies["converse of Proposition 3"].agreeing == sum(
        removal.maximal and not removal.filled for removal in removals
    )
    assert tallies["engine"] == (80, 80)


# Claims.


def test_claims(rows):
    failed = [claim.statement for claim in STUDY.claims(rows) if not claim.held]
    # Both are slips of the paper: R may exceed 1 in B_K, and a collider may be first in a perfect elimination order.
    assert failed == [
        "They coincide when following a perfect elimination order of a chordal graph (read of any DAG whose moral "
        "graph is chordal; without v-structures it holds)",
        "In B_K, a node's removal score is exactly 1 once all later nodes are gone",
    ]
    assert all(claim.numbers for claim in STUDY.claims(rows))


@pytest.mark.parametrize(
    ("where", "change", "statement"),
    [
        ({"what": "elimination graph"}, {"edges": "2–3 3–4"}, "do not necessarily coincide"),
        ({"example": "fill-and-removal", "node": 6}, {"R": 1}, "no effect"),
        ({"example": "fill-and-removal", "node": 7}, {"removed": "1–2"}, "edge between its parents"),
        ({"example": "fill-and-removal", "node": 8}, {"R": 1}, "share another child"),
        ({"example": "fill-and-removal", "node": 4}, {"F": 2}, "amount of fill"),
        ({"example": "B4", "what": "Proposition 1"}, {"agreeing": 3}, "Proposition 1"),
        ({"example": "rfd-step", "what": "Proposition 3"}, {"agreeing": 3}, "Proposition 3"),
        ({"example": "rfd-step", "node": 5, "after": ""}, {"R": 1}, "first level"),
        ({"example": "rfd-step", "node": 1, "after": "4"}, {"R": 0}, "second level"),
        ({"example": "rfd-step", "node": 7, "after": "8"}, {"D": 3}, "smaller degree"),
        ({"example": "B4", "what": "recovery"}, {"agreeing": 0}, "recovers"),
        ({"example": "B4", "node": 9, "after": ""}, {"R": 1}, "positive only after"),
    ],
)
def test_a_claim_fails_when_its_numbers_do(rows, where, change, statement):
    changed = [row | change if where.items() <= row.items() else row for row in rows]
    assert changed != rows
    (claim,) = [claim for claim in STUDY.claims(changed) if statement in claim.statement]
    assert claim.held is False


# Pictures.


def drawn_edges(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def circles(axes):
    return {patch.get_label(): patch for patch in axes.patches if isinstance(patch, Circle)}


def panels(figure):
    return [axes for axes in figure.axes if circles(axes)]


def labels(axes, kind):
    return {
        label[len(kind) + 1 :] for patch in drawn_edges(axes) if (label := patch.get_label()).startswith(f"{kind} ")
    }


def spelt(edges):
    return {f"{i} {j}" for i, j in example_figures.pairs(edges)}


def test_pictures_of_all_examples(figures):
    assert list(figures) == NAMES
    assert [len(panels(figure)) for figure in figures.values()] == [4, 6, 8, 1]


def test_every_edge_of_the_rows_is_drawn_once(rows, figures):
    for example, figure in figures.items():
        dag = panels(figure)[0]
        assert labels(dag, "edge") == spelt(one(rows, example, "DAG")["edges"])
        assert len(drawn_edges(dag)) == len(labels(dag, "edge"))
    for example in ("moral-subgraph", "fill-and-removal", "rfd-step"):
        moral = panels(figures[example])[1]
        assert labels(moral, "edge") | labels(moral, "marriage") == spelt(one(rows, example, "moral graph")["edges"])
        assert len(labels(moral, "edge")) == len(spelt(one(rows, example, "DAG")["edges"]))
    eliminated = panels(figures["moral-subgraph"])[3]
    assert (labels(eliminated, "extra"), labels(eliminated, "fill")) == ({"1 2", "1 4", "2 4"}, {"3 4"})
    removal = {row["node"]: row for row in rows if row["example"] == "fill-and-removal"}
    for axes, node in zip(panels(figures["fill-and-removal"])[2:], example_figures.CASES, strict=True):
        assert labels(axes, "edge") | labels(axes, "fill") == spelt(removal[node]["edges"])
        assert labels(axes, "fill") == spelt(removal[node]["filled"])
        assert labels(axes, "removed") == spelt(removal[node]["removed"])
        assert len(axes.lines) == len(labels(axes, "removed"))


@pytest.mark.parametrize("example", NAMES)
def test_nodes_stand_apart_and_edges_keep_clear_of_them(figures, example):
    for axes in panels(figures[example]):
        found = circles(axes)
        centres = np.array([circle.center for circle in found.values()])
        apart = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1)) + 10 * np.eye(len(centres))
        assert apart.min() > 2.5 * next(iter(found.values())).radius
        for edge in drawn_edges(axes):
            points = edge.get_path().vertices
            ends = {f"node {node}" for node in edge.get_label().split()[1:]}
            assert ends <= set(found)
            for name, circle in found.items():
                nearest = np.hypot(*(points - circle.center).T).min()
                # Arrow heads are as wide as a few points, so their own ends are met within a little.
                assert nearest >= circle.radius + (CLEARANCE / 2 if name not in ends else -0.02)


@pytest.mark.parametrize("example", NAMES)
def test_words_are_large_enough_and_inside(figures, example):
    figure = figures[example]
    words = [text for axes in figure.axes for text in (*axes.texts, axes.title) if text.get_text()]
    words += [text for legend in figure.legends for text in legend.get_texts()]
    assert len(words) >= len(figure.axes) + len(figure.legends)
    for text in words:
        assert text.get_fontsize() >= 8
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1


def test_an_edge_runs_from_circle_to_circle_and_bows_as_told():
    positions = {1: (0.0, 0.0), 2: (4.0, 0.0)}
    for bend in (0.0, 0.2, -0.3):
        points = course(positions, (1, 2), bend)
        assert np.hypot(*points[0]) == pytest.approx(graph_drawing.RADIUS, abs=0.02)
        assert np.hypot(*(points[-1] - (4, 0))) == pytest.approx(graph_drawing.RADIUS, abs=0.02)
        assert max(points[:, 1], key=abs) == pytest.approx(4 * bend, abs=1e-3)


def test_an_edge_goes_round_what_is_in_its_way():
    row = {1: (0.0, 0.0), 2: (1.0, 0.0), 3: (2.0, 0.0)}
    assert clearance(row, (1, 3)) < 0
    assert find_bend(row, (1, 3)) > 0
    assert clearance(row, (1, 3), find_bend(row, (1, 3))) >= CLEARANCE
    # The way on the left is blocked, so it takes the other.
    assert find_bend(row | {4: (1.0, 0.5)}, (1, 3)) < 0


def test_kinds_of_edges_differ_in_line_and_colour():
    strokes = graph_drawing.STROKES.values()
    assert len({stroke.color for stroke in strokes}) == len(strokes)
    looks = {(str(stroke.line), stroke.width, stroke.mark) for stroke in strokes}
    assert len(looks) == len(strokes)


def test_a_picture_by_hand():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    positions = {1: (0.0, 0.0), 2: (1.0, 0.0), 3: (0.0, 1.0)}
    draw_graph(axes, Picture(positions, {"edge": [(1, 2)], "removed": [(2, 3)]}, gone=frozenset({3})), "three")
    assert axes.get_title() == "three"
    assert labels(axes, "edge") == {"1 2"}
    assert labels(axes, "removed") == {"2 3"}
    assert circles(axes)["node 3"].get_linestyle() != circles(axes)["node 1"].get_linestyle()
