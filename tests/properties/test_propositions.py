"""The paper's propositions, on any graph Hypothesis can think of, against d-separation."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
import rfdag
from rfdag import graphs
from rfdag.eliminate import DenseEngine, OracleEngine, Tolerance, eliminate
from rfdag.evidence.moments import Moments
from rfdag.simulate import linear_sem
from strategies import dag_pairs, dags, dags_and_orders, dags_and_subsets, samples


def pairs(edges):
    return {frozenset(edge) for edge in edges}


@given(dags_and_subsets())
def test_definitions_agree_with_d_separation(case):
    dag, nodes = case
    world = reference.Population(dag)
    assert pairs(graphs.edge_set(graphs.moral_subgraph(dag, nodes), nodes)) == reference.moral_subgraph(world, nodes)
    for k in nodes:
        assert pairs(graphs.removed_edges(dag, nodes, k)) == reference.removed_edges(world, nodes, k)
        assert pairs(graphs.fill_edges(dag, nodes, k)) == reference.fill_edges(world, nodes, k)


@given(dags_and_subsets())
def test_proposition_1_fill_joins_neighbours_that_are_not_adjacent(case):
    dag, nodes = case
    world = reference.Population(dag)
    for k in nodes:
        assert pairs(graphs.fill_edges(dag, nodes, k)) == reference.missing_among_neighbours(world, nodes, k)


@given(dags_and_subsets())
def test_proposition_2_removal_certifies_a_maximal_node(case):
    dag, nodes = case
    for k in nodes:
        if graphs.removed_edges(dag, nodes, k):
            assert k in graphs.maximal_nodes(dag, nodes)


@given(dags_and_subsets())
def test_proposition_3_fill_refutes_a_maximal_node(case):
    dag, nodes = case
    for k in nodes:
        if graphs.fill_edges(dag, nodes, k):
            assert k not in graphs.maximal_nodes(dag, nodes)


@given(dags_and_subsets())
def test_removed_edges_lie_among_neighbours(case):
    """Why scores inside the neighbourhood suffice without noise."""
    dag, nodes = case
    world = reference.Population(dag)
    for k in nodes:
        assert reference.removed_edges(world, nodes, k) == reference.removed_among_neighbours(world, nodes, k)


@given(dags_and_subsets())
def test_maximal_nodes(case):
    dag, nodes = case
    assert graphs.maximal_nodes(dag, nodes) == reference.maximal_nodes(dag, nodes)


@given(dags_and_subsets())
def test_elimination_graph(case):
    dag, nodes = case
    found = pairs(graphs.edge_set(graphs.elimination_graph(dag, nodes), nodes))
    assert found == reference.elimination_graph(dag, nodes)


@given(dags_and_subsets())
def test_elimination_graph_contains_the_moral_subgraph(case):
    dag, nodes = case
    assert not (graphs.moral_subgraph(dag, nodes) & ~graphs.elimination_graph(dag, nodes)).any()


@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_moral_subgraph_is_the_elimination_graph_on_chordal_graphs_in_a_perfect_order(p, seed, density):
    """A random chordal graph, built so that 0, 1, … is a perfect elimination order, directed against it.

    Each node's later neighbours are adjacent, so the DAG has no v-structure and its skeleton is its moral graph.
    """
    generator = np.random.default_rng(seed)
    chordal = np.triu(generator.random((p, p)) < density, 1)
    for node in range(p):
        later = np.flatnonzero(chordal[node])
        for i, j in itertools.combinations(later, 2):
            chordal[i, j] = True
    dag = chordal.T.astype(np.int8)
    assert nx.is_chordal(nx.from_numpy_array(graphs.moral_graph(dag)))
    for first in range(p - 1):
        left = list(range(first, p))
        np.testing.assert_array_equal(graphs.moral_subgraph(dag, left), graphs.elimination_graph(dag, left))


@given(dags(), st.integers(0, 2**32 - 1))
def test_three_oracles_agree_on_every_moral_subgraph_met(dag, seed):
    generator = np.random.default_rng(seed)
    world = reference.Population(dag)
    field = OracleEngine(dag, seed=seed)
    precision = linear_sem(dag, generator).precision()
    floats = DenseEngine(
        Moments.from_precision(precision, None).partial_correlations(), Tolerance(), pairs="neighbours"
    )
    while len(field.remaining):
        left = field.remaining.tolist()
        assert floats.remaining.tolist() == left
        np.testing.assert_array_equal(field.adjacency(), floats.adjacency())
        assert pairs(graphs.edge_set(field.adjacency(), left)) == reference.moral_subgraph(world, left)
        position = int(generator.integers(len(left)))
        field.remove(position)
        floats.remove(position)


@given(dags(max_nodes=7), st.sampled_from(["rfd", "min-degree", "min-fill", "max-remove", "random"]))
def test_parents_read_off_during_elimination_are_the_minimal_imap(dag, rule):
    found = eliminate(OracleEngine(dag), rule)
    expected = reference.minimal_imap(reference.Population(dag), found.order.tolist())
    assert {tuple(edge) for edge in np.argwhere(found.dag).tolist()} == expected


@given(dags_and_orders())
def test_minimal_imap_by_definition(case):
    dag, order = case
    found = {tuple(edge) for edge in np.argwhere(graphs.minimal_imap(dag, order)).tolist()}
    assert found == reference.minimal_imap(reference.Population(dag), order)


@given(dags_and_orders(max_nodes=5))
def test_induced_dag_is_a_minimal_imap(case):
    dag, order = case
    induced = graphs.minimal_imap(dag, order)
    assert graphs.is_imap(induced, dag)
    assert graphs.is_minimal_imap(induced, dag)
    for i, j in np.argwhere(induced):
        smaller = induced.copy()
        smaller[i, j] = 0
        assert not graphs.is_imap(smaller, dag)


@given(dag_pairs(max_nodes=4))
def test_is_imap_by_definition(graphs_):
    candidate, dag = graphs_
    claims, facts = reference.Population(candidate), reference.Population(dag)
    p = len(dag)
    expected = all(
        claims.dependent(i, j, given) or not facts.dependent(i, j, given)
        for i, j in itertools.combinations(range(p), 2)
        for size in range(p - 1)
        for given in itertools.combinations(sorted(set(range(p)) - {i, j}), size)
    )
    assert graphs.is_imap(candidate, dag) == expected


@given(dags_and_orders(max_nodes=7))
def test_as_sparse_as_the_truth_iff_markov_equivalent(case):
    dag, order = case
    induced = graphs.minimal_imap(dag, order)
    assert induced.sum() >= dag.sum()
    assert (induced.sum() == dag.sum()) == graphs.markov_equivalent(induced, dag)


@pytest.mark.parametrize("kind", ["dag", "data"])
@given(data=st.data())
def test_permuting_columns_permutes_the_answer_where_no_tie_was_met(kind, data):
    """The last two variables always tie, so the claim is about the steps before the first tie."""
    source = data.draw(dags(4, 8) if kind == "dag" else samples(4, 8))
    order = data.draw(st.permutations(range(source.shape[1])))
    permuted = source[np.ix_(order, order)] if kind == "dag" else source[:, order]
    found = rfdag.learn(source, input=kind, method="rfd")
    again = rfdag.learn(permuted, input=kind, method="rfd", names=order)
    untied = int(np.argmax(found.trace.ties > 1))
    assume(untied > 0)
    for first, second in zip(found.trace, again.trace, strict=True):
        if first.ties > 1:
            assert second.ties == first.ties
            break
        assert order[second.node] == first.node
        assert second[1:5] == first[1:5]
        parents = np.flatnonzero(found.dag[:, first.node])
        assert {order[parent] for parent in np.flatnonzero(again.dag[:, second.node])} == set(parents)


@given(samples(), st.lists(st.floats(1e-6, 1e6), min_size=6, max_size=6), st.integers(0, 2**32 - 1))
def test_scaling_and_shifting_columns_changes_nothing(rows, scales, seed):
    shift = np.random.default_rng(seed).normal(size=rows.shape[1])
    moved = (rows + shift) * scales[: rows.shape[1]]
    found, again = rfdag.learn(rows, method="rfd"), rfdag.learn(moved, method="rfd")
    assert again.order == found.order
    np.testing.assert_array_equal(again.dag, found.dag)
    for first, second in zip(found.trace, again.trace, strict=True):
        assert first == second
    found, again = rfdag.learn(rows), rfdag.learn(moved)
    assert again.order == found.order
    np.testing.assert_array_equal(again.dag, found.dag)
    assert again.score == pytest.approx(found.score, abs=1e-6)
