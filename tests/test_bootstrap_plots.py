"""Pictures of a bootstrap: what is drawn is what was counted."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import rfdag
from rfdag import simulate
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.errors import OptionError
from rfdag.plots import frequency_graph

NAMES = [f"name {at}" for at in range(12)]


@pytest.fixture(scope="module")
def found() -> Bootstrap:
    dag = simulate.random_dag(12, degree=3, rng=4)
    rows = simulate.sample(simulate.linear_sem(dag, rng=4), 300, rng=4)
    return rfdag.bootstrap(rows, 20, names=NAMES, method="rfd", n_jobs=1, progress=False)


def links(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_the_graph_has_the_pairs_of_the_consensus_by_how_often_they_are_found(found, threshold):
    axes = found.plot("graph", threshold=threshold)
    consensus = found.consensus(threshold)
    drawn = links(axes)
    sources, targets = consensus.nonzero()
    assert len(drawn) == len(sources) == sum(pair.frequency >= threshold for pair in found.pairs) > 2
    often = found.edge_frequency[sources, targets]
    assert np.corrcoef(often, [line.get_linewidth() for line in drawn])[0, 1] == pytest.approx(1)
    assert np.corrcoef(often, [line.get_alpha() for line in drawn])[0, 1] == pytest.approx(1)
    arrow = found.directed[sources, targets] >= found.undirected[sources, targets]
    arrow &= found.directed[sources, targets] >= found.directed[targets, sources]
    assert 0 < arrow.sum() < len(arrow)
    assert [line.get_arrowstyle().arrow == "-|>" for line in drawn] == arrow.tolist()
    assert [line.get_linestyle() == "-" for line in drawn] == arrow.tolist()
    assert any(f"{threshold:.0%} of 20 runs" in text for text in legend(axes))


def test_labels_are_the_shares_in_per_cent(found):
    axes = found.plot("graph", threshold=0.2)
    consensus = found.consensus(0.2)
    expected = []
    for i, j in np.argwhere(consensus).tolist():
        share, way = 100 * found.edge_frequency[i, j], 100 * found.compelled_frequency[i, j]
        arrow = found.directed[i, j] >= max(found.undirected[i, j], found.directed[j, i])
        expected.append(f"{share:.0f}/{way:.0f}" if arrow else f"{share:.0f}")
    shown = [text.get_text() for text in axes.texts if text.get_text() not in NAMES]
    assert sorted(shown) == sorted(expected)
    assert any("/" in text for text in shown)


def test_many_edges_have_no_labels(found, monkeypatch):
    monkeypatch.setattr(frequency_graph, "LABELLED_UP_TO", 3)
    axes = found.plot("graph")
    assert {text.get_text() for text in axes.texts} == set(NAMES)
    assert frequency_graph.LABEL not in legend(axes)


def test_every_cause_is_left_of_its_effects_in_the_consensus(found):
    axes = found.plot("graph", threshold=0.2)
    x = {text.get_text(): text.get_position()[0] for text in axes.texts}
    for i, j in np.argwhere(found.consensus(0.2)).tolist():
        assert x[NAMES[i]] < x[NAMES[j]]


def test_the_matrix_holds_the_shares_in_the_order_of_the_plain_run(found):
    axes = found.plot("matrix")
    order = found.result.causal_order
    (image,) = axes.images
    assert image.get_array().filled(0) == pytest.approx(found.direction_frequency[np.ix_(order, order)])
    assert image.get_clim() == (0, 1)
    frames = next(line for line in axes.lines if line.get_label() == "edge of the plain run")
    assert len(frames.get_xdata()) == 6 * found.result.dag.sum()
    numbers = {(text.get_position()[1] - 1, text.get_position()[0] - 1): text.get_text() for text in axes.texts}
    assert len(numbers) == (found.direction_frequency >= 0.05).sum()
    row, column = next(iter(numbers))
    share = found.direction_frequency[order[int(row)], order[int(column)]]
    assert numbers[row, column] == f"{share:.2f}"


def test_the_order_shows_intervals_and_medians_from_the_first_to_the_last(found):
    axes = found.plot("order")
    (bars,) = axes.collections
    medians = next(line for line in axes.lines if line.get_label() == "median").get_xdata()
    assert (np.diff(medians) >= 0).all()
    shown = [label.get_text() for label in axes.get_yticklabels()]
    by_name = {rank.variable: rank for rank in found.ranks}
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [
        [by_name[name].lower, by_name[name].upper] for name in shown
    ]
    plain = next(line for line in axes.lines if line.get_label() == "place in the plain run")
    assert plain.get_xdata().tolist() == [found.result.order.index(name) + 1 for name in shown]


@pytest.mark.parametrize("kind", ["graph", "matrix", "order"])
def test_the_axes_given_are_used_and_all_text_is_inside_of_own_figures(found, kind):
    axes = Figure(figsize=(6, 6)).add_subplot()
    assert found.plot(kind, ax=axes) is axes
    figure = found.plot(kind).figure
    figure.savefig("/dev/null", format="png")
    for text in figure.axes[0].get_legend().get_texts():
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1


def test_auto_chooses_by_size(found, monkeypatch):
    assert links(found.plot())
    monkeypatch.setattr("rfdag.plots.kinds.GRAPH_UP_TO", 11)
    assert found.plot().images


def test_nothing_found_is_drawn_calmly():
    rows = np.random.default_rng(0).normal(size=(60, 4))
    nothing = rfdag.bootstrap(rows, 3, n_jobs=1, progress=False)
    for kind in ("graph", "matrix", "order"):
        nothing.plot(kind, threshold=1.0 if kind == "graph" else None).figure.savefig("/dev/null", format="png")
    assert "no edges" in legend(nothing.plot("graph", threshold=1.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "trace"}, "kind is one of auto, graph, matrix, order, not 'trace'"),
        ({"kind": "matrix", "threshold": 0.5}, "threshold= belongs to kind 'graph', not to 'matrix'"),
        ({"threshold": 0}, "share of the runs above 0, up to 1, not 0"),
        ({"threshold": 70}, "not 70"),
    ],
)
def test_what_cannot_be_drawn_is_said(found, options, message):
    with pytest.raises(OptionError, match=message):
        found.plot(**options)


def test_matplotlib_is_asked_for_by_its_extra(found, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "matplotlib" else find(name))
    with pytest.raises(ImportError, match=r"pip install 'rfdag\[plots\]'"):
        found.plot()
