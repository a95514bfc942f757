"""Metrics, each against a count by hand or another definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rfdag import graphs, metrics
from rfdag.errors import GraphError, OptionError
from strategies import dag_pairs, dags, dags_and_orders

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
COLLIDER = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])


def test_shd_of_a_chain_and_a_collider():
    """Chain 0 – 1 – 2 against 0 → 2 ← 1: pairs 01, 12 and 02 all differ."""
    assert metrics.shd(CHAIN, COLLIDER) == 3
    assert metrics.shd(graphs.cpdag(CHAIN), COLLIDER) == 3
    assert metrics.shd(CHAIN, CHAIN.T) == 0


@given(dag_pairs(max_nodes=5))
def test_shd_counts_pairs(graphs_):
    first, second = graphs_
    one, other = graphs.cpdag(first), graphs.cpdag(second)
    expected = sum(
        (one[i, j], one[j, i]) != (other[i, j], other[j, i]) for i, j in itertools.combinations(range(len(one)), 2)
    )
    assert metrics.shd(first, second) == expected == metrics.shd(second, first)
    assert (expected == 0) == graphs.markov_equivalent(first, second)


@given(dag_pairs())
def test_skeleton_scores_count_pairs(graphs_):
    true, found = graphs_
    pairs = list(itertools.combinations(range(len(true)), 2))
    is_true = [bool(true[i, j] or true[j, i]) for i, j in pairs]
    is_found = [bool(found[i, j] or found[j, i]) for i, j in pairs]
    hits = sum(a and b for a, b in zip(is_true, is_found, strict=True))
    scores = metrics.skeleton(true, found)
    for value, part, whole in (
        (scores.tpr, hits, sum(is_true)),
        (scores.precision, hits, sum(is_found)),
        (scores.fpr, sum(is_found) - hits, len(pairs) - sum(is_true)),
        (scores.f1, 2 * hits, sum(is_true) + sum(is_found)),
    ):
        np.testing.assert_equal(value, part / whole if whole else np.nan)
    assert scores.recall is scores.tpr


def test_order_error_counts_only_compelled_edges():
    assert np.isnan(metrics.order_error(CHAIN, [2, 1, 0]))
    assert metrics.order_error(COLLIDER, [2, 0, 1]) == 1.0
    assert metrics.order_error(COLLIDER, [1, 0, 2]) == 0.0


def test_order_error_of_a_graph_as_it_is_counts_all_directed_edges():
    assert metrics.order_error(CHAIN, [2, 1, 0], compare="graphs") == 1.0
    assert metrics.order_error([[0, 2, 0], [2, 0, 1], [0, 0, 0]], [2, 1, 0], compare="graphs") == 1.0
    with pytest.raises(OptionError, match="compare is one of classes, graphs, not 'dags'"):
        metrics.order_error(CHAIN, [0, 1, 2], compare="dags")


@given(dags_and_orders())
def test_edge_ratio_is_at_least_one(case):
    dag, order = case
    assume(dag.any())
    assert metrics.edge_ratio(dag, order) >= 1
    assert metrics.edge_ratio(dag, graphs.topological_order(dag)) == 1


@given(dags(max_nodes=6), st.sampled_from(["ancestor", "parent", "oset"]))
def test_distances_of_a_graph_to_itself_are_zero(dag, strategy):
    assert metrics.sid(dag, dag) == (0.0, 0)
    assert metrics.aid(dag, dag, strategy) == (0.0, 0)
    assert metrics.aid(graphs.cpdag(dag), graphs.cpdag(dag), strategy) == (0.0, 0)


def test_sid_by_hand():
    """Truth 0 → 1, guess empty: the guess says 0 has no effect on 1, which is wrong; 1 on 0 is right."""
    assert metrics.sid([[0, 1], [0, 0]], [[0, 0], [0, 0]]) == (0.5, 1)
    assert metrics.sid(CHAIN, CHAIN.T).mistakes == 6


def test_weights_are_as_good_as_ones():
    weights = CHAIN * -0.3
    assert metrics.shd(weights, CHAIN) == 0
    assert metrics.skeleton(weights, CHAIN).f1 == 1.0
    assert metrics.aid(weights, CHAIN).mistakes == 0
    assert metrics.order_error(COLLIDER * 2.0, [0, 2, 1]) == 0.5


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("strategy", ["ancestor", "parent", "oset"])
def test_graphs_without_pairs_have_distance_zero(p, strategy):
    empty = np.zeros((p, p))
    assert metrics.sid(empty, empty) == (0.0, 0)
    assert metrics.aid(empty, empty, strategy) == (0.0, 0)
    assert metrics.shd(empty, empty) == 0


@pytest.mark.parametrize(
    "cyclic",
    [
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]],
        [[0, 1, 0], [0, 1, 0], [0, 0, 0]],
        [[0, 1, 0], [0, 2, 0], [0, 0, 0]],
        [[0, 1, 2], [1, 0, 0], [2, 0, 0]],
    ],
)
def test_cycles_are_refused_before_gadjid_sees_them(cyclic):
    """It would panic, with an exception that `except Exception` lets through."""
    for pair in ((cyclic, CHAIN), (CHAIN, cyclic)):
        with pytest.raises(GraphError, match="cycle"):
            metrics.sid(*pair)
        with pytest.raises(GraphError, match="cycle"):
            metrics.aid(*pair)


def test_graphs_may_be_compared_as_they_are():
    """Without undirected edges, a class that knowledge has directed looks like a DAG."""
    assert metrics.shd(CHAIN, CHAIN.T) == 0
    assert metrics.shd(CHAIN, CHAIN.T, compare="graphs") == 2
    assert metrics.shd(graphs.cpdag(CHAIN), CHAIN, compare="graphs") == 2
    assert metrics.shd(csr_array(CHAIN), csr_array(CHAIN.T), compare="graphs") == 2
    assert metrics.shd(COLLIDER, COLLIDER, compare="graphs") == 0
    with pytest.raises(OptionError, match="compare is one of classes, graphs"):
        metrics.shd(CHAIN, CHAIN, compare="dags")


def test_refusals():
    with pytest.raises(GraphError, match="3 and 2 nodes"):
        metrics.shd(CHAIN, [[0, 0], [0, 0]])
    with pytest.raises(GraphError, match="shape"):
        metrics.skeleton(CHAIN, [0, 1])
    with pytest.raises(OptionError, match="strategy is one of ancestor, parent, oset"):
        metrics.aid(CHAIN, CHAIN, "child")
