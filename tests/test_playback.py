"""The eliminations that the report replays: the answer's own, and the one before refinement beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import browser
import rfdag
from rfdag import simulate
from rfdag.eliminate import Trace
from rfdag.report.playback import playback


@pytest.fixture(scope="module")
def refined():
    """A result whose order refinement has changed."""
    result = rfdag.learn(rfdag.datasets.sachs_path(), exact=False, beam=1)
    assert result.trace.node[::-1].tolist() != result.causal_order.tolist()
    return result


def graph_before(track, step):
    """Replay a track as the page does."""
    graph = {frozenset(pair) for pair in track["initial"]}
    for at in range(step):
        graph = {pair for pair in graph if track["node"][at] not in pair}
        graph -= set(map(frozenset, track["removed"][at]))
        graph |= set(map(frozenset, track["filled"][at]))
    return graph


def test_the_answers_order_comes_first_and_the_search_beside_it(refined):
    answer, before = playback(refined)
    assert answer["node"] == refined.causal_order[::-1].tolist()
    assert before["node"] == refined.trace.node.tolist()
    assert (answer["title"], before["title"]) == ("Answer", "Before refinement")
    assert answer["by"] == "data"


def test_the_answers_graphs_are_those_of_the_data(refined):
    answer, _ = playback(refined)
    for step in range(len(answer["node"])):
        left = sorted(set(range(11)) - set(answer["node"][:step]))
        partial = refined.moments.partial_correlations(left) if len(left) > 1 else np.eye(1)
        wanted = np.argwhere(np.triu(np.abs(partial) > answer["threshold"][step], 1))
        assert graph_before(answer, step) == {frozenset((left[i], left[j])) for i, j in wanted.tolist()}


def test_one_track_where_both_orders_agree():
    dag = simulate.random_dag(8, degree=2, rng=1)
    (only,) = playback(rfdag.learn(dag, input="dag", method="rfd"))
    assert only["title"] == "Elimination"
    rows = simulate.sample(simulate.linear_sem(dag, rng=1), 300, rng=1)
    (only,) = playback(rfdag.learn(rows, method="rfd"))
    assert only["initial"] is not None


def test_without_moments_the_dag_decides(refined, tmp_path):
    bare = rfdag.load(refined.save(tmp_path / "bare.json", moments=False))
    answer, _ = playback(bare)
    assert answer["by"] == "dag"
    assert answer["node"] == refined.causal_order[::-1].tolist()
    assert set(answer["fill"]) == {0}
    moral = np.argwhere(np.triu(rfdag.graphs.moral_graph(refined.dag)))
    assert graph_before(answer, 0) == {frozenset(pair) for pair in moral.tolist()}


def test_dependent_columns_fall_back_on_the_dag(refined, monkeypatch):
    def refuse(*_, **__):
        raise rfdag.errors.DataError("dependent")

    monkeypatch.setattr(type(refined.moments), "engine", refuse)
    assert playback(refined)[0]["by"] == "dag"


def test_many_variables_show_the_search_alone(refined, monkeypatch):
    monkeypatch.setattr("rfdag.report.playback.EDGES_UP_TO", 5)
    (only,) = playback(refined)
    assert only["title"] == "Before refinement"


def test_no_trace_has_no_tracks(refined):
    assert playback(replace(refined, recorded=Trace.empty())) == []


@pytest.mark.skipif(browser.program() is None, reason="needs a Chromium")
def test_the_page_switches_between_them(refined, tmp_path):
    path = refined.report(tmp_path / "sachs.html")
    answer, before = playback(refined)
    with browser.Browser() as page:
        page.open(path)
        told = "document.getElementById('step-text').textContent"
        hint = "document.getElementById('player-hint').textContent"
        assert f"{refined.names[answer['node'][0]]} is removed" in page.run(told)
        assert "which is the answer" in page.run(hint)
        page.run("document.getElementById('step-forward').click()")
        page.run("document.getElementById('tracks').lastChild.click()")
        assert page.run(told).startswith(f"Step 2 of 11: {refined.names[before['node'][1]]} is removed")
        assert "before its order was refined" in page.run(hint)
        assert page.run("document.querySelectorAll('#step-table tbody tr').length") == 11
        page.run("document.getElementById('tracks').firstChild.click()")
        assert f"{refined.names[answer['node'][1]]} is removed" in page.run(told)
        assert page.complaints == []


@pytest.mark.skipif(browser.program() is None, reason="needs a Chromium")
def test_the_page_marks_close_calls_and_compelled_neighbours(refined, tmp_path):
    path = refined.report(tmp_path / "sachs.html")
    close = len(refined.close_calls)
    assert close > 0
    with browser.Browser() as page:
        page.open(path)
        assert page.run("document.querySelectorAll('#network .edge.close').length") == close
        assert page.run("document.getElementById('remarks').textContent").startswith(f"Close calls: {close} edges")
        page.run("document.getElementById('edge-close').click()")
        assert page.run("document.querySelectorAll('#edge-table tbody tr').length") == close
        arrows = np.sum(refined.cpdag[refined.causal_order[:-1], refined.causal_order[1:]] == 1)
        assert page.run("document.querySelectorAll('#strip .compelled').length") == arrows
        assert page.complaints == []
