"""RFDStep and the baselines, against Algorithms 1 and 2 read literally."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import reference
from rfdag.eliminate import DenseEngine, FisherZ, OracleEngine, eliminate
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.search import choose
from rfdag.eliminate.sparse_elimination import eliminate_sparse
from rfdag.evidence.moments import Moments
from rfdag.simulate import random_dag
from strategies import dags, samples


def data_engine(rows, alpha, pairs="all"):
    moments = Moments.from_data(rows)
    return DenseEngine(moments.partial_correlations(), FisherZ(len(rows), alpha), pairs=pairs)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@settings(max_examples=40)
@given(dags(max_nodes=5))
def test_rfd_on_a_dag(depth, dag):
    expected = reference.rfd(reference.Population(dag), len(dag), depth)
    assert eliminate(OracleEngine(dag), depth=depth).order.tolist() == expected


@pytest.mark.parametrize("depth", [1, 2, 3])
@settings(max_examples=25)
@given(samples(max_nodes=5), st.sampled_from([0.01, 0.2]))
def test_rfd_on_data(depth, rows, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    expected = reference.rfd(world, rows.shape[1], depth)
    assert eliminate(data_engine(rows, alpha), depth=depth).order.tolist() == expected


@pytest.mark.parametrize("depth", [1, 2])
@settings(max_examples=25)
@given(samples(max_nodes=5), st.sampled_from([0.01, 0.2]))
def test_rfd_on_data_with_pairs_of_neighbours(depth, rows, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    expected = reference.rfd(
        world,
        rows.shape[1],
        depth,
        reference.removed_among_neighbours,
        reference.missing_among_neighbours,
    )
    assert eliminate(data_engine(rows, alpha, "neighbours"), depth=depth).order.tolist() == expected


@pytest.mark.parametrize("rule", sorted(reference.BASELINES))
@settings(max_examples=40)
@given(dags(max_nodes=5))
def test_baselines_on_a_dag(rule, dag):
    expected = reference.greedy(reference.Population(dag), len(dag), reference.BASELINES[rule])
    assert eliminate(OracleEngine(dag), rule).order.tolist() == expected


@pytest.mark.parametrize("rule", sorted(reference.BASELINES))
@settings(max_examples=25)
@given(samples(max_nodes=5), st.sampled_from([0.01, 0.2]))
def test_baselines_on_data(rule, rows, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    expected = reference.greedy(world, rows.shape[1], reference.BASELINES[rule])
    assert eliminate(data_engine(rows, alpha), rule).order.tolist() == expected


@pytest.mark.parametrize("depth", [1, 2, 3])
@settings(max_examples=40)
@given(dags(max_nodes=5))
def test_ties_are_counted_as_the_paper_counts_paths(depth, dag):
    _, ties = reference.rfd_step(reference.Population(dag), range(len(dag)), depth)
    assert choose(OracleEngine(dag), depth=depth).ties == ties


@given(dags(max_nodes=7), st.integers(0, 2**32 - 1))
def test_random_ties_choose_among_the_tied(dag, seed):
    """A seed may change the choice, never its scores."""
    engine = OracleEngine(dag)
    plain = choose(engine)
    seeded = choose(engine, generator=np.random.default_rng(seed))
    assert seeded.ties == plain.ties
    (first,), (second,) = plain.variables, seeded.variables
    at = {int(variable): position for position, variable in enumerate(engine.remaining)}
    for scores in (engine.removals(), engine.degrees()):
        assert scores[at[first]] == scores[at[second]]


def test_seeds_reach_every_tied_node():
    empty = OracleEngine(np.zeros((4, 4)))
    chosen = {choose(empty, generator=np.random.default_rng(seed)).variables for seed in range(60)}
    assert chosen == {(0,), (1,), (2,), (3,)}


def test_cap_keeps_the_paths_of_least_degree():
    """Isolated nodes have degree 0 and go before the ends of chains, whatever their index."""
    dag = np.zeros((6, 6))
    dag[0, 1] = dag[2, 3] = 1
    assert choose(OracleEngine(dag), depth=2, max_paths=1).variables[0] == 4


def test_random_ties_weigh_paths_as_the_paper_counts_them():
    """Six paths of depth 3 over the same three nodes, none of the others: each end is as likely."""
    empty = OracleEngine(np.zeros((3, 3)))
    ends = [choose(empty, depth=3, generator=np.random.default_rng(seed)) for seed in range(300)]
    assert {choice.ties for choice in ends} == {6}
    counts = np.bincount([choice.variables[-1] for choice in ends])
    assert (counts > 60).all()


def test_cap_is_reported_and_keeps_the_search_going():
    empty = np.zeros((6, 6))
    free, capped = (
        eliminate(OracleEngine(empty), depth=3),
        eliminate(OracleEngine(empty), depth=3, max_paths=2),
    )
    assert free.trace.capped == 0
    assert capped.trace.capped > 0
    assert sorted(capped.order.tolist()) == list(range(6))


def test_sparse_eliminations_report_the_cap_as_often():
    empty = np.zeros((6, 6))
    dense = eliminate(OracleEngine(empty), depth=3, max_paths=2)
    sparse = eliminate_sparse(SparseOracleEngine(csr_array(empty)), depth=3, max_paths=2)
    assert sparse.trace.capped == dense.trace.capped > 0
    np.testing.assert_array_equal(sparse.trace.search, dense.trace.search)


def test_steps_of_a_trace_are_its_columns():
    trace = eliminate(OracleEngine(random_dag(6, 0.5, rng=2)), depth=2).trace
    steps = list(trace)
    for name in ("node", "removal", "fill", "degree", "ties", "threshold", "search"):
        np.testing.assert_array_equal([getattr(step, name) for step in steps], getattr(trace, name))
    for name in ("removed_edges", "filled_edges", "neighbours"):
        assert [np.array(getattr(step, name)).tolist() for step in steps] == [
            each.tolist() for each in getattr(trace, name)
        ]


def test_whole_path_is_removed_and_credited_to_one_search():
    """Two joined sinks over a collider: no single removal is certified, the second of a path is."""
    # 0 → 2 ← 1 with 2 → 3: removing 3 removes nothing, then removing 2 unjoins 0 and 1.
    dag = np.zeros((4, 4))
    dag[0, 2] = dag[1, 2] = dag[2, 3] = 1
    choice = choose(OracleEngine(dag), depth=2)
    assert choice.variables == (3, 2)
    trace = eliminate(OracleEngine(dag), depth=2).trace
    assert trace.node[:2].tolist() == [3, 2]
    assert trace.search[:2].tolist() == [0, 0]
    assert trace.removal[:2].tolist() == [0, 1]
