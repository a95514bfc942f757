"""The studies that look at populations: orders on the elimination graph, the noiseless study, B_K and the run time."""

import itertools

import networkx as nx
import numpy as np
import pytest

from rfdag.experiments import orderings
from rfdag.graphs import moral_graph
from rfdag.simulate import random_dag

ORDERINGS = (orderings.minimum_degree, orderings.minimum_fill, orderings.multiple_minimum_degree)


def unjoined(graph, node):
    """Return the pairs of a node's neighbours that are not joined."""
    return [pair for pair in itertools.combinations(graph[node], 2) if not graph.has_edge(*pair)]


def slowly(matrix, cost):
    """Eliminate the cheapest node, of several the lowest, and join its neighbours; return a source first."""
    graph = nx.from_numpy_array(np.asarray(matrix))
    gone = []
    while graph:
        node = min(sorted(graph), key=lambda node: cost(graph, node))
        graph.add_edges_from(unjoined(graph, node))
        graph.remove_node(node)
        gone.append(node)
    return gone[::-1]


def fill_of(matrix, order):
    """Return how many edges the elimination from the end of an order adds."""
    graph = nx.from_numpy_array(np.asarray(matrix))
    fill = 0
    for node in reversed(list(order)):
        new = unjoined(graph, int(node))
        fill += len(new)
        graph.add_edges_from(new)
        graph.remove_node(int(node))
    return fill


def moral_graphs():
    """Return moral graphs of random DAGs, from nearly empty to nearly complete, and of one node."""
    drawn = [moral_graph(random_dag(p, density, rng=p)) for p in (2, 7, 15, 30) for density in (0.05, 0.2, 0.6)]
    return [moral_graph([[0]]), *drawn]


@pytest.mark.parametrize("matrix", moral_graphs())
def test_greedy_orders_are_those_of_the_slow_way(matrix):
    degrees = slowly(matrix, lambda graph, node: graph.degree(node))
    fills = slowly(matrix, lambda graph, node: len(unjoined(graph, node)))
    assert orderings.minimum_degree(matrix).tolist() == degrees
    assert orderings.minimum_fill(matrix).tolist() == fills


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize("p", [2, 10, 40])
def test_trees_are_eliminated_without_fill(ordering, p):
    tree = nx.to_numpy_array(nx.random_labeled_tree(p, seed=p))
    order = ordering(tree)
    assert sorted(order.tolist()) == list(range(p))
    assert fill_of(tree, order) == 0


@pytest.mark.parametrize("seed", range(5))
def test_minimum_fill_eliminates_chordal_graphs_without_fill(seed):
    random = nx.gnp_random_graph(20, 0.2, seed=seed)
    chordal, _ = nx.complete_to_chordal_graph(random)
    matrix = nx.to_numpy_array(chordal, nodelist=range(20))
    assert fill_of(matrix, orderings.minimum_fill(matrix)) == 0


@pytest.mark.parametrize("matrix", moral_graphs())
def test_superlu_fills_about_as_little_as_minimum_degree(matrix):
    order = orderings.multiple_minimum_degree(matrix)
    least = fill_of(matrix, orderings.minimum_degree(matrix))
    assert sorted(order.tolist()) == list(range(len(matrix)))
    assert fill_of(matrix, order) <= 1.25 * least + 2


def test_superlu_read_backwards_would_fill_more():
    star = np.zeros((12, 12))
    star[0, 1:] = star[1:, 0] = 1
    order = orderings.multiple_minimum_degree(star)
    assert fill_of(star, order) == 0 < fill_of(star, order[::-1])
