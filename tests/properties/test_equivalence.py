"""Markov equivalence, against its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

import reference
from rfdag import graphs
from rfdag.errors import GraphError
from strategies import dag_pairs, dags


@given(dags(max_nodes=5))
def test_cpdag_is_what_the_class_agrees_on(dag):
    np.testing.assert_array_equal(graphs.cpdag(dag), reference.cpdag(dag))


@given(dags(max_nodes=9))
def test_cpdag_is_idempotent(dag):
    once = graphs.cpdag(dag)
    np.testing.assert_array_equal(graphs.cpdag(graphs.consistent_extension(once)), once)
    assert graphs.is_cpdag(once)


@given(dags(max_nodes=9))
def test_extension_keeps_the_class(dag):
    extension = graphs.consistent_extension(graphs.cpdag(dag))
    assert graphs.markov_equivalent(extension, dag)


@given(dag_pairs(max_nodes=4))
def test_equivalent_iff_same_separations(graphs_):
    first, second = graphs_
    worlds = reference.Population(first), reference.Population(second)
    p = len(first)
    same = all(
        worlds[0].dependent(i, j, given) == worlds[1].dependent(i, j, given)
        for i, j in itertools.combinations(range(p), 2)
        for size in range(p - 1)
        for given in itertools.combinations(sorted(set(range(p)) - {i, j}), size)
    )
    assert graphs.markov_equivalent(first, second) == same
    assert np.array_equal(graphs.cpdag(first), graphs.cpdag(second)) == same


@given(dags())
def test_d_separation(dag):
    world = reference.Population(dag)
    p = len(dag)
    for i, j in itertools.combinations(range(p), 2):
        rest = [k for k in range(p) if k not in (i, j)]
        for given_nodes in (rest, rest[::2], []):
            assert graphs.d_separated(dag, i, j, given_nodes) != world.dependent(i, j, given_nodes)


def test_a_cycle_of_four_has_no_extension():
    square = np.zeros((4, 4), int)
    for i in range(4):
        square[i, (i + 1) % 4] = square[(i + 1) % 4, i] = 2
    with pytest.raises(GraphError, match="No DAG has this skeleton"):
        graphs.consistent_extension(square)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, 2], [0, 0]], "2 in both places"),
        ([[0, 1], [1, 0]], "1 in one place only"),
        ([[0, 3], [0, 0]], "square matrix of 0, 1"),
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "cycle 0 → 1 → 2 → 0"),
    ],
)
def test_extension_refuses_what_is_no_pdag(matrix, words):
    with pytest.raises(GraphError, match=words):
        graphs.consistent_extension(matrix)
