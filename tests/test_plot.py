"""Pictures: everything drawn once, nothing hidden, every name survives."""

import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from scipy.sparse import csr_array

import rfdag
from rfdag import simulate
from rfdag.errors import GraphError, OptionError
from rfdag.graphs.comparison import VERDICTS
from rfdag.metrics import shd
from rfdag.plots.layering import crossings, heights, layered, layers_of, sorted_layers
from rfdag.plots.layout import laid_out
from rfdag.plots.matrix import FINEST, pooled
from rfdag.plots.network import path_of
from rfdag.plots.order import possible_places
from rfdag.plots.strengths import strengths
from rfdag.plots.svg import path_of as svg_path_of
from rfdag.plots.svg import svg_graph
from rfdag.plots.truth import STROKES, compare_to_truth

HOSTILE = [
    "x" * 300, "x" * 299 + "y", "$x_1$", "a_b^{2", "two\nlines\ttab", "\N{GRINNING FACE}", "",
    "<script>alert(1)</script>", "\\frac{1}",
    "%&#~", "\ud800", "\N{HEBREW LETTER ALEF}\u202e", "q\"'", 3, "3", ("a", 1), None,
]  # fmt: skip
SHOWN = {"$x_1$", "a_b^{2", "two lines tab", '""', "\\frac{1}", "3", "3 (2)", "None", "\N{WHITE SQUARE}"}


def random_edges(p, share, seed):
    rng = np.random.default_rng(seed)
    return np.array([pair for pair in combinations(range(p), 2) if rng.random() < share], np.int64).reshape(-1, 2)


def oracle(dag, **options):
    return rfdag.learn(dag, input="dag", method="rfd", **options)


@pytest.fixture(scope="module")
def learnt():
    dag = simulate.random_dag(12, degree=3, rng=4)
    rows = simulate.sample(simulate.linear_sem(dag, rng=4), 60, rng=4)
    return rfdag.learn(rows, names=[f"name {at}" for at in range(12)], method="rfd", alpha=0.05), dag


@pytest.fixture(scope="module")
def empty():
    return oracle(np.zeros((7, 7)), names=list("abcdefg"))


def links(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def boxes(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]


def words(axes):
    legend = axes.get_legend()
    found = [*axes.texts, *(legend.get_texts() if legend else [])]
    for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
        low, high = sorted(axis.get_view_interval())
        found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in found if text.get_text()]


def check_words_inside(axes):
    figure = axes.figure
    figure.savefig("/dev/null", format="png")
    assert words(axes)
    for text in words(axes):
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, text
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, text


# Layers


@pytest.mark.parametrize("seed", range(6))
def test_layers_respect_the_arrows_and_edges_pass_every_layer_once(seed):
    edges = random_edges(15, 0.25, seed)
    layering = layered(edges, 15)
    assert (layering.layer[edges[:, 0]] < layering.layer[edges[:, 1]]).all()
    assert layering.layer.min() == 0
    for chain, (source, target) in zip(layering.chains, edges, strict=True):
        assert (chain[0], chain[-1]) == (source, target)
        assert (np.diff(layering.layer[chain]) == 1).all()
    bends = np.concatenate([chain[1:-1] for chain in layering.chains])
    assert sorted(bends) == list(range(15, len(layering.layer)))


def test_a_node_stands_next_to_its_only_child():
    assert layers_of(np.array([[0, 1], [1, 2], [2, 3], [4, 3]]), 5)[4] == 2


@pytest.mark.parametrize("seed", range(6))
def test_sorting_keeps_the_layers_and_lets_fewer_edges_cross(seed):
    layering = layered(random_edges(15, 0.25, seed), 15)
    before = [np.flatnonzero(layering.layer == at) for at in range(layering.layer.max() + 1)]
    after = sorted_layers(layering)
    assert [sorted(points) for points in after] == [list(points) for points in before]
    assert crossings(layering, after) < crossings(layering, before)
    assert crossings(layering, after) == count_crossings(layering, after)


def count_crossings(layering, members):
    place = {point: at for points in members for at, point in enumerate(points.tolist())}
    pieces = [
        (layering.layer[chain[at]], place[chain[at]], place[chain[at + 1]])
        for chain in (chain.tolist() for chain in layering.chains)
        for at in range(len(chain) - 1)
    ]
    return sum(
        first[0] == second[0] and (first[1] - second[1]) * (first[2] - second[2]) < 0
        for first, second in combinations(pieces, 2)
    )


@pytest.mark.parametrize("seed", range(3))
def test_heights_keep_the_order_and_the_room_of_nodes(seed):
    layering = layered(random_edges(20, 0.2, seed), 20)
    members = sorted_layers(layering)
    height = heights(layering, members)
    for points in members:
        assert (np.diff(height[points]) > 0).all()
        nodes = points[points < 20]
        assert (np.diff(height[nodes]) > 1).all()


# Layout


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("box", [17.0, 24.0])
def test_no_box_overlaps_another_and_no_edge_touches_a_foreign_box(seed, box):
    edges = random_edges(24, 0.12, seed)
    layout = laid_out([box * (1 + at % 7) for at in range(24)], edges, box)
    half = np.stack([layout.width / 2, np.full(24, box / 2)], axis=1)
    for first, second in combinations(range(24), 2):
        apart = np.abs(layout.centre[first] - layout.centre[second]) - half[first] - half[second]
        assert (apart > 0).any()
    for (source, target), route in zip(edges, layout.routes, strict=True):
        points = along(route)
        assert points[0, 0] == pytest.approx(layout.centre[source, 0] + layout.width[source] / 2)
        assert points[-1, 0] == pytest.approx(layout.centre[target, 0] - layout.width[target] / 2)
        assert abs(points[0, 1] - layout.centre[source, 1]) < box / 2
        assert abs(points[-1, 1] - layout.centre[target, 1]) < box / 2
        assert (np.diff(points[:, 0]) >= 0).all()
        for node in set(range(24)) - {source, target}:
            assert (np.abs(points - layout.centre[node]) > half[node]).any(axis=1).all()


def along(route):
    """Return many points of a route, its curves as Bernstein polynomials."""
    t = np.linspace(0, 1, 40)[:, None]
    points = [route[:1]]
    for at in range(1, len(route) - 1, 4):
        a, b, c, d = route[at : at + 4]
        points += [points[-1][-1] + t * (a - points[-1][-1])]
        points += [(1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d]
    return np.concatenate([*points, points[-1][-1] + t * (route[-1] - points[-1][-1])])


def test_edges_of_a_node_leave_and_arrive_in_the_order_of_their_other_ends():
    layout = laid_out([10.0] * 9, np.array([[0, at] for at in range(1, 8)] + [[at, 8] for at in range(1, 8)]), 10.0)
    goals = layout.centre[1:8, 1]
    assert (np.argsort([route[0, 1] for route in layout.routes[:7]]) == np.argsort(goals)).all()
    assert (np.argsort([route[-1, 1] for route in layout.routes[7:]]) == np.argsort(goals)).all()


def test_figures_and_svg_have_the_same_routes():
    layout = laid_out([30.0] * 12, random_edges(12, 0.3, 0), 24.0)
    assert layout.routes
    for route in layout.routes:
        path = path_of(route)
        assert (path.vertices == route * [1, -1]).all()
        level = 0.0
        found = []
        for kind, numbers in re.findall(r"([MHC])([^MHC]+)", svg_path_of(route)):
            values = [float(value) for value in numbers.split()]
            found += [(values[0], level)] if kind == "H" else list(zip(values[::2], values[1::2], strict=True))
            level = found[-1][1]
        assert np.array(found) == pytest.approx(route, abs=0.051)


def test_nodes_without_edges_are_in_wide_rows_below_all_edges():
    widths = np.array([20.0, 30.0, 40.0, *[25.0 + 7 * (at % 5) for at in range(25)]])
    layout = laid_out(widths, np.array([[0, 1], [1, 2], [0, 2]]), 17.0)
    assert (layout.layer == -1).tolist() == [False] * 3 + [True] * 25
    above = max(layout.centre[:3, 1].max() + 8.5, *(route[:, 1].max() for route in layout.routes))
    assert layout.centre[3:, 1].min() - 8.5 > above
    left, right, top, bottom = layout.extent
    assert right - left > bottom - top
    assert laid_out([5.0] * 3, np.empty((0, 2), np.int64), 4.0).extent[2:] == pytest.approx((0, 4))


def test_a_hub_has_a_readable_shape_in_svg_too():
    graph = svg_graph([f"v{at}" for at in range(41)], np.arange(41), [0] * 40, range(1, 41))
    left, right, top, bottom = graph.layout.extent
    assert 0.5 < (right - left) / (bottom - top) < 2


def test_the_nodes_of_a_layout_are_those_of_the_columns_whatever_the_order():
    graph = svg_graph(["effect", "a longer cause"], np.array([1, 0]), [1], [0])
    assert graph.labels == ["effect", "a longer cause"]
    assert graph.layout.centre[1, 0] < graph.layout.centre[0, 0]
    assert graph.layout.width[1] > graph.layout.width[0]


def test_layout_report_and_notebooks_need_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import rfdag; r = rfdag.learn([[0, 1], [0, 0]], input='dag')\n"
        "assert '<svg' in r._repr_html_(); from rfdag.report.page import report_text; assert report_text(r)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Graph


def test_every_edge_is_drawn_once_with_its_kind(learnt):
    result, _ = learnt
    axes = result.plot()
    assert len(links(axes)) == len(result.edges)
    solid = [link for link in links(axes) if link.get_linestyle() == "-"]
    assert len(solid) == sum(edge.directed for edge in result.edges) > 0
    assert len(solid) < len(result.edges)
    assert len({type(link.get_arrowstyle()) for link in solid}) == 1
    assert sorted(text.get_text() for text in axes.texts) == sorted(result.names)
    assert len(boxes(axes)) == len(result.names)
    check_words_inside(axes)


def test_the_dag_has_arrows_throughout(learnt):
    result, _ = learnt
    assert all(link.get_linestyle() == "-" for link in links(result.plot("graph", graph="dag")))


def test_names_fit_into_their_boxes(learnt):
    axes = learnt[0].plot("graph")
    axes.figure.savefig("/dev/null", format="png")
    for box, text in zip(boxes(axes), axes.texts, strict=True):
        inside, around = text.get_window_extent(), box.get_window_extent()
        assert around.x0 < inside.x0 <= inside.x1 < around.x1
        assert around.y0 <= inside.y0 <= inside.y1 <= around.y1


def test_every_cause_is_left_of_its_effects(learnt):
    result, _ = learnt
    at = {text.get_text(): text.get_position()[0] for text in result.plot("graph").texts}
    assert all(at[edge.source] < at[edge.target] for edge in result.edges)


def test_width_follows_the_weights(learnt):
    result, _ = learnt
    chosen = result.edges[0]
    wide = [link.get_linewidth() for link in links(result.plot("graph", weights={chosen[:2]: 1.0}))]
    assert wide[0] > 2 * max(wide[1:])
    matrix = np.zeros(result.dag.shape)
    matrix[result.dag.nonzero()] = np.linspace(0, 1, len(result.edges))
    for weights in (matrix, csr_array(matrix)):
        wide = [link.get_linewidth() for link in links(result.plot("graph", weights=weights))]
        assert (np.diff(wide) > 0).all()
    equal = [link.get_linewidth() for link in links(result.plot("graph", weights="equal"))]
    assert len(set(equal)) == 1
    by_strength = np.argsort([link.get_linewidth() for link in links(result.plot("graph", weights="coefficient"))])
    assert by_strength[-1] == np.argmax([abs(edge.coefficient) for edge in result.edges])


def test_the_axes_given_are_used_and_small_ones_leave_names_out(learnt):
    result, _ = learnt
    figure = Figure(figsize=(9, 4))
    first, second = figure.subplots(1, 2)
    for kind in ("graph", "matrix", "order", "trace"):
        assert result.plot(kind, ax=first) is first
    assert not second.has_data()
    assert figure.get_size_inches().tolist() == [9, 4]
    tiny = result.plot("graph", ax=Figure(figsize=(0.8, 0.5)).add_subplot())
    assert not tiny.texts
    assert "too many names" in tiny.get_legend().get_texts()[-1].get_text()
    assert len(links(tiny)) == len(result.edges)


@pytest.mark.parametrize("seed", range(3))
def test_all_of_the_legend_is_seen_however_small_the_graph(seed):
    dag = simulate.random_dag(4 + 3 * seed, degree=2, rng=seed)
    rows = simulate.sample(simulate.linear_sem(dag, rng=seed), 40, rng=seed)
    result = rfdag.learn(rows, method="rfd", alpha=0.05)
    for axes in (result.plot("graph"), result.plot(truth=dag), result.plot("graph", graph="dag", weights="equal")):
        check_words_inside(axes)
        assert all(axes.figure.bbox.y0 <= text.get_window_extent().y0 for text in axes.get_legend().get_texts())


def test_a_legend_wraps_on_narrow_axes(learnt):
    result, dag = learnt
    wide = result.plot(truth=dag, ax=Figure(figsize=(9, 4)).add_axes((0, 0.2, 1, 0.8)))
    narrow = result.plot(truth=dag, ax=Figure(figsize=(3, 4)).add_axes((0, 0.3, 1, 0.7)))
    check_words_inside(wide)
    check_words_inside(narrow)
    heights_of = [
        {round(text.get_window_extent().y0) for text in axes.get_legend().get_texts()} for axes in (wide, narrow)
    ]
    assert len(heights_of[0]) == 1 < len(heights_of[1])


def test_long_names_that_begin_and_end_alike_are_told_apart_in_every_picture():
    names = [f"the amount of substance number {at} in the blood of the patients" for at in range(12)]
    result = oracle(simulate.random_dag(12, degree=2, rng=0), names=names)
    shown = [
        {text.get_text() for text in words(result.plot(kind)) if "…" in text.get_text()}
        for kind in ("graph", "order", "trace")
    ]
    assert len(shown[0]) == 12
    assert all(any(f" {at} in" in text for text in shown[0]) for at in range(12))
    assert shown[0] == shown[1] == shown[2]


def test_a_hub_with_forty_children_has_a_readable_shape():
    hub = np.zeros((41, 41))
    hub[0, 1:] = 1
    axes = oracle(hub).plot(graph="dag")
    check_words_inside(axes)
    wide, tall = axes.figure.get_size_inches()
    assert 0.5 < wide / tall < 2


def test_an_empty_graph_is_drawn_calmly(empty):
    axes = empty.plot()
    assert not links(axes)
    assert len(boxes(axes)) == 7
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["no edges"]
    check_words_inside(axes)
    assert "no edges" in empty.plot("matrix").get_xlabel()
    assert len(empty.plot(truth=np.zeros((7, 7))).get_legend().get_texts()) == 5
    for kind in ("matrix", "order", "trace"):
        check_words_inside(empty.plot(kind))
    assert empty.plot("trace").get_ylim()[1] >= 1


@pytest.mark.parametrize("kind", ["graph", "matrix", "order", "trace", "truth"])
def test_hostile_names_survive(kind):
    dag = simulate.random_dag(len(HOSTILE), degree=2, rng=1)
    result = oracle(dag, names=HOSTILE)
    axes = result.plot(kind, truth=dag if kind == "truth" else None)
    check_words_inside(axes)
    shown = {text.get_text() for text in words(axes)}
    assert shown >= SHOWN
    assert sum("…" in text for text in shown) >= 3
    assert max(map(len, shown)) < 60


def test_a_notebook_shows_the_figure(learnt):
    assert learnt[0].plot()._repr_png_().startswith(b"\x89PNG")


# Matrix


def test_the_matrix_is_in_causal_order_with_undirected_edges_on_both_sides(learnt):
    result, _ = learnt
    image = result.plot("matrix", weights="equal").images[0].get_array()
    order = result.causal_order
    assert (~np.ma.getmaskarray(image) == (result.cpdag[np.ix_(order, order)] != 0)).all()
    image = result.plot("matrix", graph="dag").images[0].get_array()
    assert not np.tril(image.filled(0)).any()


def test_cells_hold_the_strongest_of_their_entries():
    rng = np.random.default_rng(0)
    p = 2 * FINEST + 100
    rows, columns, values = rng.integers(p, size=3000), rng.integers(p, size=3000), rng.random(3000)
    image, span = pooled(rows, columns, values, p)
    expected = np.zeros_like(image)
    for row, column, value in zip(rows, columns, values, strict=True):
        expected[row // 3, column // 3] = max(expected[row // 3, column // 3], value)
    assert span == 3
    assert (image == expected).all()


def test_five_thousand_variables_as_a_sparse_matrix(empty):
    dag = simulate.random_dag(5000, degree=1, rng=1, sparse=True)
    order = tuple(rfdag.graphs.topological_order(dag).tolist())
    result = replace(empty, names=tuple(range(5000)), order=order, dag=dag.astype(np.int8), regressions=None)
    axes = result.plot(graph="dag")
    assert "13 × 13" in axes.get_xlabel()
    assert max(axes.images[0].get_array().shape) <= FINEST
    assert 10 < len(axes.get_yticks()) < 200
    with pytest.raises(OptionError, match="up to 2000 variables, and these are 5000"):
        result.plot("graph")


# Order and trace


@pytest.mark.parametrize("seed", range(4))
def test_possible_places_are_those_of_all_orders(seed):
    edges = random_edges(5, 0.4, seed)
    dag = np.zeros((5, 5), np.int8)
    dag[tuple(edges.T)] = 1
    orders = [order for order in permutations(range(5)) if all(order.index(i) < order.index(j) for i, j in edges)]
    places = np.array([[order.index(node) + 1 for node in range(5)] for order in orders])
    for graph in (dag, csr_array(dag)):
        earliest, latest = possible_places(graph, np.arange(5))
        assert (earliest == places.min(axis=0)).all()
        assert (latest == places.max(axis=0)).all()


def test_many_places_are_one_area_without_gaps():
    dag = simulate.random_dag(400, degree=2, rng=0)
    area = oracle(dag).plot("order").collections[0].get_paths()[0]
    earliest, latest = possible_places(dag, np.arange(400))
    assert all(area.contains_point((200.5, row)) for row in np.arange(10.25, 390, 7))
    assert area.get_extents().width <= latest.max() - earliest.min()


def test_the_order_with_its_intervals(learnt):
    result, _ = learnt
    ranks = {name: (at, at + 1, at + 2.5) for at, name in enumerate(result.order)}
    axes = result.plot(ranks=ranks)
    assert [text.get_text() for text in axes.get_yticklabels()] == list(result.order)
    assert [text.get_text() for text in axes.get_legend().get_texts()][1:3] == ["interval", "median"]
    spans = [path.vertices[:, 0].tolist() for path in axes.collections[0].get_paths()]
    assert spans == [[at, at + 2.5] for at in range(12)]
    check_words_inside(axes)
    assert not result.plot("order").collections


@pytest.fixture(scope="module")
def resampled():
    """Return a result, and a bootstrap of the same columns in another order."""
    dag = simulate.random_dag(5, degree=2, rng=2)
    frame = pd.DataFrame(simulate.sample(simulate.linear_sem(dag, rng=2), 40, rng=2), columns=list("abcde"))
    found = rfdag.bootstrap(frame[list("ecabd")], 10, n_jobs=1, method="rfd")
    return rfdag.learn(frame, method="rfd"), found


def test_places_come_from_a_bootstrap(resampled):
    result, found = resampled
    by_name = {rank.variable: rank for rank in found.ranks}
    for ranks in (found, found.ranks):
        axes = result.plot("order", ranks=ranks)
        (bars,) = axes.collections
        ends = [segment[:, 0].tolist() for segment in bars.get_segments()]
        assert ends == [[by_name[name].lower, by_name[name].upper] for name in result.order]
        medians = next(line for line in axes.lines if line.get_label() == "median")
        assert medians.get_xdata().tolist() == [by_name[name].median for name in result.order]


def test_widths_come_from_a_bootstrap(resampled):
    result, found = resampled
    place = {name: at for at, name in enumerate(found.names)}
    values, meaning = strengths(result, found)
    expected = [found.edge_frequency[place[edge.source], place[edge.target]] for edge in result.edges]
    assert values.tolist() == expected
    assert min(expected) < max(expected)
    assert meaning == "share of the runs"
    assert any(meaning in text.get_text() for text in words(result.plot("graph", weights=found)))


def test_a_bootstrap_of_other_columns_is_refused(resampled, learnt):
    result, _ = learnt
    for option in ({"kind": "graph", "weights": resampled[1]}, {"kind": "order", "ranks": resampled[1]}):
        with pytest.raises(OptionError, match="'name "):
            result.plot(**option)


def test_the_trace_shows_the_scores_of_each_step(learnt):
    result, _ = learnt
    axes = result.plot("trace")
    for line, score in zip(axes.lines, ("removal", "fill", "degree"), strict=True):
        assert (line.get_ydata() == getattr(result.trace, score)).all()
    assert [text.get_text() for text in axes.get_xticklabels()] == [result.names[at] for at in result.trace.node]
    check_words_inside(axes)


# Truth


@pytest.mark.parametrize("graph", ["cpdag", "dag"])
def test_the_truth_is_compared_pair_by_pair(learnt, graph):
    result, dag = learnt
    compared = compare_to_truth(result, dag, graph)
    wanted, found = (rfdag.graphs.cpdag(dag), result.cpdag) if graph == "cpdag" else (dag, result.dag)
    order = result.causal_order
    right, missing, extra, reversed_ = VERDICTS
    seen = {}
    for first, second in combinations(range(12), 2):
        i, j = order[first], order[second]
        truth, guess = (wanted[i, j], wanted[j, i]), (found[i, j], found[j, i])
        if any(truth) or any(guess):
            wrong = reversed_ if any(truth) and any(guess) else missing if any(truth) else extra
            seen[first, second] = right if truth == guess else wrong
    pairs = zip(compared.earlier.tolist(), compared.later.tolist(), strict=True)
    assert dict(zip(pairs, compared.verdict.tolist(), strict=True)) == seen
    assert set(seen.values()) == set(STROKES) if graph == "cpdag" else {right, missing} <= set(seen.values())
    axes = result.plot(truth=dag, graph=graph)
    assert len(links(axes)) == len(seen)
    if graph == "cpdag":
        assert (compared.verdict != "right").sum() == shd(dag, result.dag)
    counts = [int(text.get_text().split()[0]) for text in axes.get_legend().get_texts()]
    assert counts == [list(seen.values()).count(verdict) for verdict in STROKES]
    assert [text.get_text().split(" ", 1)[1] for text in axes.get_legend().get_texts()] == list(VERDICTS)


def test_arrows_point_as_found_or_as_missing():
    found = oracle([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    against = compare_to_truth(found, [[0, 0, 0], [0, 0, 0], [1, 1, 0]], "dag")
    assert against.verdict.tolist() == [VERDICTS[3]] * 2
    assert against.arrow.tolist() == ["target", "target"]
    lost = compare_to_truth(oracle(np.zeros((3, 3))), [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert lost.verdict.tolist() == ["missing", "missing"]
    assert set(lost.arrow) <= {"target", "source"}


def test_the_truth_may_be_sparse_or_have_names_in_another_order(learnt):
    result, dag = learnt
    expected = compare_to_truth(result, dag)
    turned = np.random.default_rng(0).permutation(12)
    other = oracle(dag[np.ix_(turned, turned)], names=[result.names[at] for at in turned])
    true = rfdag.graphs.cpdag(dag)
    assert (rfdag.graphs.cpdag(other.dag)[np.ix_(*[np.argsort(turned)] * 2)] == true).all()
    for truth in (csr_array(dag), true, other):
        assert (compare_to_truth(result, truth).verdict == expected.verdict).all()
    with pytest.raises(GraphError, match="The truth lacks"):
        result.plot(truth=oracle(dag))
    with pytest.raises(GraphError, match="3 nodes and the result 12"):
        result.plot(truth=np.zeros((3, 3)))


def test_many_variables_against_the_truth_are_marks_in_a_matrix():
    dag = simulate.random_dag(120, degree=2, rng=1)
    result = oracle(dag)
    wrong = dag.copy()
    wrong[np.triu_indices(120, 1)] = 0
    axes = result.plot(truth=wrong)
    counts = [int(text.get_text().split()[0]) for text in axes.get_legend().get_texts()]
    assert [len(line.get_xdata()) for line in axes.lines] == counts
    assert sum(counts[1:]) == shd(wrong, result.dag) > 0


def test_strokes_differ_in_line_as_well_as_in_colour():
    assert len({str(stroke.line) for stroke in STROKES.values()}) == len(STROKES)
    assert len({stroke.color for stroke in STROKES.values()}) == len(STROKES)


# Options


def test_auto_chooses_by_what_is_given_and_by_size(learnt):
    assert links(learnt[0].plot())
    assert oracle(np.zeros((101, 101))).plot().images


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "kind is one of auto, graph, order, matrix, trace, truth, not 'pie'"),
        ({"kind": "truth"}, "needs truth="),
        ({"kind": "graph", "ranks": {}}, "ranks= belongs to kind 'order', not to 'graph'"),
        ({"kind": "trace", "weights": "equal"}, "weights= belongs to kind 'graph' or 'matrix'"),
        ({"graph": "pdag"}, "graph is one of dag, cpdag, icpdag, not 'pdag'"),
        ({"weights": "size"}, "weights is one of"),
        ({"weights": np.ones((3, 3))}, "so 12 rows and columns"),
        ({"weights": np.full((12, 12), np.nan)}, "needs a finite number"),
        ({"weights": {("a", "b"): 1}}, "names 'a', 'b', which are no variables"),
        ({"ranks": {"name 1": (1, 2, 3)}}, "lacks"),
        ({"ranks": 3}, "ranks= is a bootstrap, its .ranks, or a mapping from name to .* not an object of type int"),
        (
            {"ranks": [(1, 2, 3)]},
            "ranks= is a bootstrap, its .ranks, or a mapping from name to .* not an object of type list",
        ),
        ({"ranks": {f"name {at}": (3, 2, 1) for at in range(12)}}, "three growing numbers"),
    ],
)
def test_what_cannot_be_drawn_is_said(learnt, options, message):
    with pytest.raises(OptionError, match=message):
        learnt[0].plot(**options)


def test_weights_of_an_oracle(empty):
    with pytest.raises(OptionError, match="no coefficients"):
        empty.plot(weights="coefficient")


def test_matplotlib_is_asked_for_by_its_extra(empty, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'rfdag\[plots\]'"):
        empty.plot()
