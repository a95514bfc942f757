"""Results: frozen, complete, saved and loaded without loss, exported in every promised form."""

from __future__ import annotations

import dataclasses
import datetime
import io
import json
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rfdag
from rfdag import simulate
from rfdag.errors import DataError, FileError, GraphError, NumericalWarning, OptionError
from rfdag.graphs import consistent_extension
from rfdag.result.ordering import order_in_words
from strategies import dags, samples

ODD_NAMES = ['<b>"q"</b>', "back\\slash", "new\nline", "émoji 🦊", ("a", 1), 3, None, 2.5]


@pytest.fixture(scope="module")
def result():
    return rfdag.learn(rfdag.datasets.sachs_path(), method="rfd")


def assert_same(first, second):
    for entry in dataclasses.fields(first):
        if entry.name == "moments":
            continue
        one, other = getattr(first, entry.name), getattr(second, entry.name)
        if entry.name == "recorded":
            assert list(one) == list(other)
            assert (one.smallest_margin, one.capped) == (other.smallest_margin, other.capped)
        elif entry.name == "rivals":
            assert [(cost, dag.tolist()) for cost, dag in one] == [(cost, dag.tolist()) for cost, dag in other]
        elif isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
        else:
            assert one == other
    np.testing.assert_array_equal(first.cpdag, second.cpdag)
    assert (first.coefficients is None) == (second.coefficients is None)
    if first.coefficients is not None:
        np.testing.assert_array_equal(first.coefficients, second.coefficients)
        np.testing.assert_array_equal(first.residual_variances, second.residual_variances)


@pytest.mark.parametrize("moments", [None, True, False])
@given(samples(max_nodes=5))
def test_save_and_load_data(moments, tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "data.json"
    names = ODD_NAMES[: rows.shape[1]]
    found = rfdag.learn(rows, names=names)
    again = rfdag.load(found.save(path, moments=moments))
    assert_same(found, again)
    if moments is False:
        assert again.moments is None
    else:
        np.testing.assert_array_equal(again.moments.correlation, found.moments.correlation)
        np.testing.assert_array_equal(again.moments.scales, found.moments.scales)


@given(dags(max_nodes=8), st.integers(1, 3))
def test_save_and_load_oracles(tmp_path_factory, dag, depth):
    path = tmp_path_factory.getbasetemp() / "oracle.json"
    found = rfdag.learn(dag, "rfd", input="dag", depth=depth, refine=True, names=ODD_NAMES[: len(dag)])
    assert_same(found, rfdag.load(found.save(path)))


def test_save_and_load_exact_precision(tmp_path):
    sem = rfdag.simulate.linear_sem(rfdag.simulate.random_dag(6, 0.5, rng=1), rng=1)
    found = rfdag.learn(sem.precision(), input="precision", names=[datetime.date(2020, 1, day) for day in range(1, 7)])
    again = rfdag.load(found.save(tmp_path / "exact.json"))
    assert_same(found, again)
    np.testing.assert_array_equal(again.moments.partial_correlations(), found.moments.partial_correlations())


def test_numpy_numbers_as_options_can_be_saved(tmp_path):
    rows = np.random.default_rng(1).normal(size=(50, 4))
    found = rfdag.learn(
        rows, method="rfd", depth=np.int64(2), alpha=np.float32(0.01), random_state=np.int64(3), n_jobs=np.int64(1)
    )
    assert rfdag.load(found.save(tmp_path / "r.json")).settings == found.settings
    matrix = rfdag.learn(np.eye(3), input="correlation", n_samples=np.int64(30))
    assert rfdag.load(matrix.save(tmp_path / "r.json")).n_samples == 30


def test_times_finer_than_python_tells_apart_are_refused(tmp_path):
    names = pd.to_datetime(["2020-01-01 00:00:00.000000001", "2020-01-01 00:00:00.000000002"])
    found = rfdag.learn([[0, 1], [0, 0]], input="dag", names=list(names))
    with pytest.raises(FileError, match="Timestamp"):
        found.save(tmp_path / "r.json")


def test_names_that_json_cannot_hold(tmp_path):
    found = rfdag.learn([[0, 1], [0, 0]], input="dag", names=[frozenset({1}), "b"])
    with pytest.raises(FileError, match="frozenset"):
        found.save(tmp_path / "r.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[1]", "not a result of rfdag"),
        ('{"format": "rfdag-result", "version": 99, "rfdag": "9.0"}', "version 99"),
        ('{"format": "rfdag-result", "version": 1, "rfdag": "0.1.0"}', "version 1 .* with rfdag 0.1.0"),
        ('{"format": "rfdag-result", "version": 3}', "incomplete"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, words):
    path = tmp_path / "r.json"
    path.write_text(content)
    with pytest.raises(FileError, match=words):
        rfdag.load(path)


def test_file_says_what_it_is(result, tmp_path):
    content = json.loads(result.save(tmp_path / "r.json").read_text())
    assert (content["format"], content["version"], content["rfdag"]) == ("rfdag-result", 3, rfdag.__version__)
    assert [content["names"][at] for at in content["order"]] == list(result.order)


def test_results_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.order = ()
    for matrix in (result.dag, result.cpdag, result.coefficients, result.trace.node[:, None]):
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 1


def test_order_dag_and_trace_belong_together(result):
    place = {name: at for at, name in enumerate(result.names)}
    rank = {name: at for at, name in enumerate(result.order)}
    assert [place[name] for name in reversed(result.order)] == result.trace.node.tolist()
    for i, j in np.argwhere(result.dag):
        assert rank[result.names[i]] < rank[result.names[j]]
    for step in result.trace:
        assert step.degree == result.dag[:, step.node].sum()
        assert step.removal == len(step.removed_edges)
        assert step.fill == len(step.filled_edges)
    assert (np.diff(result.trace.threshold) < 0).all()


def test_trace_replays_the_moral_subgraphs(result):
    """Starting from the first graph, the recorded edges lead from each moral subgraph to the next."""
    rows = rfdag.datasets.sachs().values
    left = list(range(len(result.names)))
    moments = rfdag.Moments.from_data(rows)
    edges = None
    for step in result.trace:
        K = moments.partial_correlations(left)
        now = {frozenset((left[i], left[j])) for i, j in np.argwhere(np.triu(np.abs(K) > step.threshold, 1))}
        if edges is not None:
            assert now == edges
        assert {k for edge in now if step.node in edge for k in edge - {step.node}} == set(
            np.flatnonzero(result.dag[:, step.node]).tolist()
        )
        edges = {edge for edge in now if step.node not in edge}
        edges = (edges - {frozenset(edge) for edge in step.removed_edges}) | {
            frozenset(edge) for edge in step.filled_edges
        }
        left.remove(step.node)


def test_large_traces_leave_edges_out():
    found = rfdag.learn(np.zeros((201, 201)), input="dag")
    assert found.trace.removed_edges is None
    assert next(iter(found.trace)).removed_edges is None


def test_edges_and_frames(result):
    frame = result.to_frame()
    assert list(frame.columns) == ["source", "target", "coefficient", "partial_correlation", "gain", "directed"]
    assert len(frame) == len(result.edges) == result.dag.sum()
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(result.to_csv())), frame, check_dtype=False)
    assert result.to_frame("polars").shape == frame.shape
    assert result.to_frame("pyarrow").num_rows == len(frame)
    assert rfdag.learn(np.zeros((3, 3)), input="dag").to_frame().empty
    with pytest.raises(OptionError, match="pandas, polars, pyarrow"):
        result.to_frame("excel")


def test_missing_extra_says_how_to_install_it(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        result.to_frame("polars")


def test_networkx(result):
    graph = result.to_networkx()
    assert tuple(graph.nodes) == result.order
    np.testing.assert_array_equal(nx.to_numpy_array(graph, nodelist=result.names, weight=None), result.dag)
    edge = result.edges[0]
    assert graph.edges[edge.source, edge.target] == {
        "coefficient": edge.coefficient,
        "partial_correlation": edge.partial_correlation,
        "gain": edge.gain,
        "directed": edge.directed,
    }


def test_graphml_round_trip_with_odd_names():
    dag = rfdag.simulate.random_dag(8, 0.5, rng=1)
    found = rfdag.learn(dag, input="dag", names=ODD_NAMES)
    graph = nx.parse_graphml(found.to_graphml())
    assert set(graph.edges) == {(str(edge.source), str(edge.target)) for edge in found.edges}


def test_dot_quotes_its_names():
    found = rfdag.learn([[0, 1], [0, 0]], input="dag", names=['a"b', "c\\d"])
    assert '"a\\"b"' in found.to_dot()
    assert '"c\\\\d"' in found.to_dot()
    collider = rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag").to_dot()
    assert '"0" -> "2";' in collider
    assert "dir=none" in found.to_dot()
    assert "dir=none" not in collider


def test_summary_reads_well(result):
    text = str(result)
    assert "11 variables, 7466 rows, method rfd" in text
    assert order_in_words(result, 100) in text
    assert "… (180 more)" in rfdag.learn(np.zeros((200, 200)), input="dag").summary()


def test_what_is_said_of_an_edge(result):
    """Its gain is what the BIC would lose with it, its partial correlation what is left given the other parents."""
    from rfdag.evidence.moments import Moments

    rows = rfdag.datasets.sachs().values
    n, place = len(rows), {name: at for at, name in enumerate(result.names)}
    standard = Moments.from_data(rows)

    def misfit(dag):
        return n * np.log(standard.regressions(dag).variances / standard.scales**2).sum()

    for edge in result.edges:
        without = result.dag.copy()
        without[place[edge.source], place[edge.target]] = 0
        loss = misfit(without) - misfit(result.dag)
        assert edge.gain == pytest.approx(loss - 2 * np.log(n), rel=1e-6)
        assert edge.partial_correlation == pytest.approx(
            np.sign(edge.coefficient) * np.sqrt(1 - np.exp(-loss / n)), abs=1e-8
        )


def test_what_is_not_known_of_an_edge():
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    for edge in rfdag.learn(collider, input="dag").edges:
        assert (edge.coefficient, edge.partial_correlation, edge.gain) == (None, None, None)
    sem = rfdag.simulate.linear_sem(collider, rng=4)
    for edge in rfdag.learn(sem.precision(), input="precision").edges:
        assert edge.gain is None
        assert abs(edge.partial_correlation) > 0


def test_the_score_of_another_dag():
    rows = simulate.sample(simulate.linear_sem(simulate.random_dag(6, 0.5, 1), 2), 200, 3)
    result = rfdag.learn(rows)
    assert result.score_of(result.dag) == pytest.approx(result.score, abs=1e-6)
    assert result.score_of(csr_array(result.dag)) == pytest.approx(result.score, abs=1e-6)
    # Members of one class score alike, and no edges score worse.
    assert result.score_of(consistent_extension(result.cpdag)) == pytest.approx(result.score, abs=1e-6)
    assert result.score_of(np.zeros((6, 6))) > result.score
    with pytest.raises(GraphError, match="The DAG has 2 variables, and the result 6"):
        result.score_of([[0, 1], [0, 0]])
    with pytest.raises(GraphError, match="cycle"):
        result.score_of(np.ones((6, 6)) - np.eye(6))
    with pytest.raises(OptionError, match="without them"):
        rfdag.learn(result.dag, input="dag").score_of(result.dag)
    with pytest.warns(NumericalWarning):
        few = rfdag.learn(rows[:6])
    with pytest.raises(DataError, match="5 parents, too many for 6 rows"):
        few.score_of(np.triu(np.ones((6, 6)), 1))


@pytest.mark.parametrize("options", [{}, {"method": "rfd", "alpha": 0.01}, {"penalty": [1, 2]}, {"blocks": True}])
def test_a_result_equals_itself_reloaded_and_no_other(options, tmp_path):
    rows = rfdag.simulate.sample(
        rfdag.simulate.linear_sem(rfdag.simulate.random_dag(8, degree=2, rng=5), rng=6), 200, rng=7
    )
    found = rfdag.learn(rows, **options)
    loaded = rfdag.load(found.save(tmp_path / "result.json"))
    assert loaded == found
    assert hash(loaded) == hash(found)
    assert loaded != rfdag.learn(rows[:150], **options)
    assert found != "a result"
