"""Graphs that are none, and graphs compared pair by pair, on a few nodes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from rfdag.errors import GraphError
from rfdag.graphs import as_dag
from rfdag.graphs.comparison import comparison
from rfdag.graphs.dag import as_undirected
from rfdag.graphs.equivalence import encoded

KINDS = {(0, 0): 0, (1, 0): 1, (0, 1): 2, (2, 2): 3}


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 2), (2, 2, 2)])
def test_what_is_not_square_is_no_graph(shape):
    for checked in (as_dag, as_undirected, encoded):
        with pytest.raises(GraphError, match="shape"):
            checked(np.zeros(shape))


def test_an_entry_that_is_no_number_is_named():
    graph = np.zeros((3, 3))
    graph[1, 2] = np.nan
    with pytest.raises(GraphError, match=r"Entry \(1, 2\) is nan"):
        as_dag(graph)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_pair_is_compared(seed, sparse):
    generator = np.random.default_rng(seed)
    truth, found = np.zeros((2, 6, 6), np.int8)
    for graph in (truth, found):
        for i, j in itertools.combinations(range(6), 2):
            graph[i, j], graph[j, i] = list(KINDS)[generator.integers(4)]
    order = generator.permutation(6)
    made = csr_array if sparse else np.array
    got = comparison(made(truth), made(found), order)
    expected = []
    for a, b in itertools.combinations(range(6), 2):
        i, j = order[a], order[b]
        wanted, given = (KINDS[int(graph[i, j]), int(graph[j, i])] for graph in (truth, found))
        if wanted or given:
            verdict = "right" if wanted == given else "missing" if not given else "extra" if not wanted else "reversed"
            arrow = ("", "target", "source", "none")[given or wanted]
            expected.append((a, b, verdict, wanted, given, arrow))
    assert list(zip(*(each.tolist() for each in got), got.arrow.tolist(), strict=True)) == expected


def test_an_undirected_graph_has_no_loops():
    assert as_undirected(np.ones((3, 3))).tolist() == (~np.eye(3, dtype=bool)).tolist()
