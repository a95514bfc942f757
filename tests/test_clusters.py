"""Data with many columns and few rows, which are searched in clusters of columns at first."""

from __future__ import annotations

import itertools
import re
import threading
import time
import warnings
from concurrent.futures import as_completed
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import issparse

import rfdag
from interrupting import problem_with
from reference import local_bic
from rfdag import metrics
from rfdag.eliminate import DenseEngine, FisherZ, Trace, replay
from rfdag.errors import NumericalWarning, OptionError
from rfdag.evidence.moments import Moments
from rfdag.graphs.sparse import acyclic_part, order_like
from rfdag.knowledge.constraints import Constraints
from rfdag.methods import clustered, preflight
from rfdag.methods import found as found_
from rfdag.methods.cluster_task import ClusterTask
from rfdag.orders import restarts, tuning
from rfdag.orders.candidates import nearest
from rfdag.orders.clusters import find_clusters
from rfdag.orders.scores import price_of_edge
from rfdag.runtime import memory
from rfdag.runtime.deadline import Deadline, OutOfTime
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag

DAG = random_dag(80, degree=3, rng=4)
ROWS = sample(linear_sem(DAG, rng=5), 60, rng=6)


@pytest.fixture(autouse=True)
def _small_clusters(monkeypatch):
    monkeypatch.setattr(tuning, "CORE_OF_CLUSTER", 15)
    monkeypatch.setattr(tuning, "HALO_OF_CLUSTER", 12)
    monkeypatch.setattr(tuning, "NEAREST", 8)


def learn(rows=ROWS, **options):
    with pytest.warns(NumericalWarning, match=r"60 rows are few for \d+ columns: the search began in \d+ clusters"):
        return rfdag.learn(rows, clusters=True, **options)


def test_a_limit_that_is_long_enough_changes_nothing():
    """The rows of each cluster are few, too: models are averaged."""
    few = ROWS[:30]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free, limited = (rfdag.learn(few, clusters=True, time_limit=limit) for limit in (None, 600))
    assert not limited.interrupted
    assert limited.order == free.order
    assert limited.score == free.score


@pytest.mark.parametrize("kind", ["random", "hub", "apart"])
def test_each_variable_is_in_one_core_and_halos_are_what_is_near(kind):
    p = 120
    dag = {
        "random": lambda: random_dag(p, degree=3, rng=1),
        "hub": lambda: scale_free_dag(p, 1, rng=1),
        "apart": lambda: np.zeros((p, p), np.int8),
    }[kind]()
    correlation = np.abs(np.corrcoef(sample(linear_sem(dag, rng=2), 200, rng=3).T))
    close = nearest(correlation.__getitem__, p, 6)
    np.fill_diagonal(correlation, 0)
    for row in range(p):
        np.testing.assert_allclose(np.sort(close.strengths[row]), np.sort(correlation[row])[-6:])
    clusters = find_clusters(close, core=20, halo=10)
    np.testing.assert_array_equal(np.sort(np.concatenate([cluster.core for cluster in clusters])), np.arange(p))
    assert all(len(cluster.core) < 40 for cluster in clusters)
    assert sum(len(cluster.core) < 20 for cluster in clusters) <= 1
    for cluster in clusters:
        assert not set(cluster.core) & set(cluster.halo)
        near = {}
        for inside in cluster.core:
            for other, strength in zip(close.variables[inside], close.strengths[inside], strict=True):
                if other not in cluster.core:
                    near[other] = max(near.get(other, 0.0), strength)
        assert set(cluster.halo) == set(sorted(near, key=lambda other: -near[other])[:10])


@pytest.mark.parametrize("seed", range(5))
def test_edges_are_kept_one_by_one_unless_they_close_a_cycle(seed):
    p = 12
    generator = np.random.default_rng(seed)
    sources, targets = generator.integers(p, size=(2, 60))
    kept = acyclic_part(sources, targets, p)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p))
    for source, target, keeps in zip(sources.tolist(), targets.tolist(), kept.tolist(), strict=True):
        assert keeps == (source != target and not nx.has_path(graph, target, source))
        if keeps:
            graph.add_edge(source, target)
    assert nx.is_directed_acyclic_graph(graph)
    order = order_like(nx.to_scipy_sparse_array(graph, format="csr"), generator.permutation(p))
    place = np.argsort(order)
    assert all(place[a] < place[b] for a, b in graph.edges)


@pytest.mark.parametrize("method", ["pearson", "normal-scores"])
def test_the_answer_is_scored_right_and_good(method):
    found = learn(correlation=method)
    assert found.gamma == 0.25
    assert found.score == pytest.approx(found.score_of(found.dag), abs=1e-6)
    if method == "pearson":
        standard = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
        price = price_of_edge(60, 80, 2.0, found.gamma)
        assert found.score == pytest.approx(local_bic([standard] * 80, found.dag, price), abs=1e-5)
    assert metrics.skeleton(DAG, found.dag).f1 > 0.75
    place = np.argsort(found.causal_order)
    sources, targets = found.dag.nonzero()
    assert (place[sources] < place[targets]).all()
    assert found.estimator.name == "sample"
    assert "clusters of up to" in str(found.estimator)
    assert len(found.trace) == 0


def test_clusters_are_about_as_good_as_the_whole():
    gaps = []
    for seed in (3, 13, 23, 33):
        dag = random_dag(80, degree=3, rng=seed)
        rows = sample(linear_sem(dag, rng=seed + 1), 60, rng=seed + 2)
        with pytest.warns(NumericalWarning, match="rows are few"):
            whole = rfdag.learn(rows, clusters=False)
        assert len(whole.trace) == 80
        gaps.append(metrics.skeleton(dag, whole.dag).f1 - metrics.skeleton(dag, learn(rows).dag).f1)
    assert np.mean(gaps) < 0.02


def test_the_answer_depends_on_neither_threads_nor_the_order_of_columns():
    first = learn(n_jobs=1)
    assert learn(n_jobs=2).order == first.order
    places = np.random.default_rng(9).permutation(80)
    other = learn(ROWS[:, places], names=places.tolist())
    assert other.score == pytest.approx(first.score, abs=1e-6)
    assert {(edge.source, edge.target) for edge in other.edges} == {(edge.source, edge.target) for edge in first.edges}


def test_a_correlation_will_do():
    found = learn()
    again = learn(np.corrcoef(ROWS.T), input="correlation", n_samples=60)
    assert again.score == pytest.approx(found.score, abs=1e-6)


def test_knowledge_is_obeyed_within_clusters_and_across():
    known = {
        "tiers": [list(range(40)), list(range(40, 80))],
        "required": [(3, 77)],
        "forbidden": [(0, 41), (1, 42)],
    }
    found = learn(knowledge=known)
    assert all(each.holds for each in found.compliance)
    assert set(found.order[:40]) == set(range(40))
    assert found.dag[3, 77] == 1


def test_results_of_many_variables_are_sparse(monkeypatch, tmp_path):
    full = learn()
    monkeypatch.setattr(found_, "LARGEST_P_FOR_FULL_MATRICES", 50)
    found = learn()
    for name in ("dag", "cpdag", "coefficients", "partial_correlations"):
        matrix = getattr(found, name)
        assert issparse(matrix), name
        np.testing.assert_allclose(matrix.toarray(), getattr(full, name), atol=1e-12)
    np.testing.assert_allclose(found.residual_variances, full.residual_variances)
    ends = [(edge.source, edge.target, edge.directed) for edge in full.edges]
    assert [(edge.source, edge.target, edge.directed) for edge in found.edges] == ends
    assert found.score_of(found.dag) == pytest.approx(found.score, abs=1e-6)
    for source, target in [ends[0][:2], ends[-1][:2]]:
        one, other = (each.effect_range(source, target) for each in (full, found))
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            effects = [each.effect(source, target).estimate for each in (full, found)]
        assert effects[0] == pytest.approx(effects[1])
    loaded = rfdag.load(found.save(tmp_path / "result.json"))
    assert issparse(loaded.dag)
    assert loaded.edges == found.edges
    assert "80 variables" in str(found)
    assert len(found.to_csv().splitlines()) == len(ends) + 1
    assert found.report(tmp_path / "report.html").stat().st_size > 10_000


def test_auto_takes_clusters_where_rows_are_few(monkeypatch):
    monkeypatch.setattr(tuning, "LEAST_P_FOR_CLUSTERS", 80)
    auto, asked = rfdag.Soft(), rfdag.Soft(clusters=True)
    estimation = rfdag.Estimation()
    assert auto.in_clusters(60, 80, estimation)
    assert not auto.in_clusters(60, 79, estimation)
    assert not auto.in_clusters(200, 80, estimation)
    assert auto.in_clusters(60, 80, estimation, "cuda")
    assert not auto.in_clusters(60, 80, rfdag.Estimation(precision="shrinkage"))
    assert not rfdag.Soft(beam=8).in_clusters(60, 80, estimation)
    assert not rfdag.Soft(clusters=False).in_clusters(60, 80, estimation)
    assert asked.in_clusters(1000, 10, estimation)
    with pytest.warns(NumericalWarning, match="clusters"):
        assert len(rfdag.learn(ROWS).trace) == 0
    monkeypatch.setattr(memory, "TRIFLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1e4)
    assert auto.in_clusters(200, 80, estimation)


def test_clusters_that_cannot_fit_are_refused_before_any_work(monkeypatch):
    for module in (memory, preflight):
        monkeypatch.setattr(module, "available_memory", lambda: 1e6)
        monkeypatch.setattr(module, "TRIFLE", 0)
    with pytest.raises(OptionError, match=r"80 columns need about .* GB of memory.*blocks=True"):
        rfdag.learn(ROWS, clusters=True, blocks=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refine": False}, "refines over all columns by BIC; leave out refine=False"),
        ({"exact": True}, "leave one of them out"),
    ],
)
def test_what_does_not_go_with_clusters(options, words):
    with pytest.raises(OptionError, match=words):
        rfdag.learn(ROWS, clusters=True, **options)


def test_a_time_limit_ends_the_search_with_an_order_or_an_error():
    with pytest.raises(rfdag.errors.TimeLimitError, match="time_limit"):
        rfdag.learn(ROWS, clusters=True, time_limit=1e-9)
    found = learn(search_for=0.5)
    assert sorted(found.order) == list(range(80))


@pytest.mark.filterwarnings("ignore::rfdag.errors.NumericalWarning")
@pytest.mark.parametrize(("module", "name"), [(restarts, "recombine"), (clustered, "descend")])
def test_an_interrupt_ends_the_search_with_an_order(monkeypatch, module, name):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, interrupted)
    found = rfdag.learn(ROWS, clusters=True)
    assert found.interrupted
    assert sum("interrupted" in warning for warning in found.warnings) == 1
    assert sorted(found.order) == list(range(80))


@pytest.mark.filterwarnings("ignore::rfdag.errors.NumericalWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("ready", [True, False])
@pytest.mark.parametrize("done", [1, 3])
def test_an_interrupt_keeps_the_clusters_that_were_learnt(monkeypatch, done, ready, n_jobs):
    """Also those under way, if they are ready to return something."""
    joined, begun, under_way = [], itertools.count(1), threading.Semaphore(0)
    learn_one = ClusterTask.learn

    def held(task, run):
        if next(begun) > done:
            under_way.release()
            while not run.limit.passed():
                time.sleep(0.001)
            if not ready:
                raise OutOfTime
            run = replace(run, limit=Deadline(), deadline=Deadline())
        return learn_one(task, run)

    def completed(waiting):
        yield from itertools.islice(as_completed(waiting), done)
        for _ in range(n_jobs):
            assert under_way.acquire(timeout=60)
        raise KeyboardInterrupt

    def noted(learnt, p, _joined=clustered._joined):
        joined.append(len(learnt))
        return _joined(learnt, p)

    whole = learn()
    monkeypatch.setattr(clustered, "as_completed", completed)
    monkeypatch.setattr(clustered, "_joined", noted)
    monkeypatch.setattr(ClusterTask, "learn", held)
    found = rfdag.learn(ROWS, clusters=True, n_jobs=n_jobs)
    said = " ".join(found.warnings)
    clusters = int(re.search(r"the search began in (\d+) clusters", said)[1])
    assert found.interrupted
    assert joined == [done + ready * n_jobs]
    left = clusters - joined[0]
    assert ("not learnt" in said) == bool(left)
    assert left == 0 or f"Clusters that were not learnt, and in which edges are missing: {left} of {clusters}" in said
    assert problem_with(found) == ""
    assert found.dag.any()
    assert found.score > whole.score


def test_an_interrupt_before_any_cluster_is_learnt_is_one(monkeypatch):
    def none_completed(waiting):
        raise KeyboardInterrupt
        yield

    def stopped(task, run):
        while not run.limit.passed():
            time.sleep(0.001)
        raise OutOfTime

    monkeypatch.setattr(clustered, "as_completed", none_completed)
    monkeypatch.setattr(ClusterTask, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        rfdag.learn(ROWS, clusters=True)


@pytest.mark.filterwarnings("ignore::rfdag.errors.NumericalWarning")
def test_required_edges_hold_in_clusters_that_were_not_learnt(monkeypatch):
    def completed(waiting):
        first = next(as_completed(waiting))
        yield first
        raise KeyboardInterrupt

    monkeypatch.setattr(clustered, "as_completed", completed)
    required = [(0, 1), (20, 3), (40, 77)]
    found = rfdag.learn(ROWS, clusters=True, knowledge={"required": required})
    assert found.interrupted
    assert all(found.dag[edge] for edge in required)
    assert problem_with(found) == ""


def test_traces_of_many_variables_are_recorded_when_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", 30)
    rows = sample(linear_sem(DAG, rng=5), 400, rng=7)[:, :40]
    found = rfdag.learn(rows)
    assert not isinstance(found.recorded, Trace)
    loaded = rfdag.load(found.save(tmp_path / "result.json"))
    assert len(loaded.trace) == 0
    order = found.recorded.order
    engine = DenseEngine(Moments.from_data(rows).partial_correlations(), FisherZ(400, 1e-3))
    expected = replay(engine, order).trace
    assert list(found.trace) == list(expected)
    assert found.trace.names == found.names
    assert found.trace is found.trace
    assert found.plot("trace") is not None


def test_constraints_arrange_as_before():
    """What a preferred order becomes: as close to it as the constraints allow."""
    known = rfdag.Knowledge(tiers=[[2, 3], [0, 1]], required=[(3, 2)]).constraints(range(4))
    assert isinstance(known, Constraints)
    assert known.arrange(np.array([0, 2, 1, 3])).tolist() == [3, 2, 0, 1]
