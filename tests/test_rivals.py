"""Graphs nearly as good as the best: all classes of few variables, as enumeration finds them, and none that is not."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import rfdag
from reference import all_dags as each_dag
from reference import cpdag as class_of
from reference import local_bic
from rfdag.graphs import cpdag
from rfdag.graphs.all_dags import all_dags
from rfdag.orders.rivals import CLOSE, all_rivals
from rfdag.orders.scores import price_of_edge
from rfdag.simulate import linear_sem, random_dag, sample

KNOWLEDGE = {
    "nothing": ({}, lambda dag: True),
    "forbidden": ({"forbidden": [(0, 1), (2, 0)]}, lambda dag: not dag[0, 1] and not dag[2, 0]),
    "required": ({"required": [(1, 0)]}, lambda dag: dag[1, 0]),
    "tiers": ({"tiers": [[2], [0, 1]]}, lambda dag: not dag[0, 2] and not dag[1, 2] and not back(dag, 2)),
}


def back(dag, first):
    """Whether the variables 0 and 1 come before another one, through whichever else there are."""
    reach = np.linalg.matrix_power(np.eye(len(dag), dtype=int) + dag, len(dag))
    return bool(reach[0, first] or reach[1, first])


def drawn(p, seed):
    """Rows in which several graphs are close."""
    generator = np.random.default_rng([3207, p, seed])
    return sample(linear_sem(random_dag(p, 0.6, generator), generator, weights=(0.1, 0.5)), 80, generator)


@functools.cache
def every_dag(p):
    """Every DAG of p nodes, once."""
    return tuple({dag.tobytes(): dag for dag in each_dag(p)}.values())


def key(dag):
    """The equivalence class of a DAG, as something to compare."""
    return _key(tuple(map(tuple, np.asarray(dag).tolist())))


@functools.cache
def _key(dag):
    return tuple(map(tuple, class_of(dag).tolist()))


@pytest.mark.parametrize("known", KNOWLEDGE)
@pytest.mark.parametrize("p", [3, 4])
def test_all_close_classes_of_few_variables_are_listed(p, known):
    given, obeys = KNOWLEDGE[known]
    listed = 0
    for seed in range(4):
        rows = drawn(p, seed)
        knowledge = rfdag.Knowledge(**given) if given else None
        result = rfdag.learn(rows, knowledge=knowledge, progress=False)
        price = price_of_edge(len(rows), p, result.penalty, result.gamma)

        @functools.cache
        def family(y, parents, rows=rows, price=price):
            dag = np.zeros((p, p), int)
            dag[list(parents), y] = 1
            return local_bic([rows] * p, dag, price)

        def score(dag, family=family):
            return sum(family(y, tuple(np.flatnonzero(dag[:, y]).tolist())) for y in range(p))

        best = score(result.dag)
        expected = {}
        for dag in every_dag(p):
            if obeys(dag) and score(dag) < best + CLOSE:
                expected.setdefault(key(dag), score(dag) - best)
        assert min(expected.values()) == pytest.approx(0.0, abs=1e-6)
        del expected[key(result.dag)]
        found = {key(dag): cost for cost, dag in result.rivals}
        assert found.keys() == expected.keys()
        assert len(found) == len(result.rivals)
        assert all(found[each] == pytest.approx(expected[each], abs=1e-6) for each in expected)
        assert all(obeys(dag) for _, dag in result.rivals)
        assert [cost for cost, _ in result.rivals] == sorted(cost for cost, _ in result.rivals)
        listed += len(found)
    assert listed


def test_every_dag_and_every_class_is_counted_once():
    # Numbers of DAGs (Robinson, 1973) and of their classes (Gillispie and Perlman, 2001).
    for p, dags, distinct in ((1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185), (5, 29281, 8782)):
        every = all_dags(p)
        assert len(np.unique(every.parents, axis=0)) == len(every.parents) == dags
        assert len(np.unique(every.classes)) == distinct
    generator = np.random.default_rng(3208)
    parents, numbers = all_dags(5)
    chosen = generator.choice(len(parents), 40)
    graphs = [cpdag([[int(parents[at, y]) >> x & 1 for y in range(5)] for x in range(5)]) for at in chosen]
    for one, first in zip(chosen, graphs, strict=True):
        for other, second in zip(chosen, graphs, strict=True):
            assert (numbers[one] == numbers[other]) == np.array_equal(first, second)


def test_scores_of_interventions_tell_members_of_a_class_apart():
    families = np.array([[0.0, -9.0], [0.0, -7.0]])
    best = np.array([[0, 0], [1, 0]], np.int8)
    assert all_rivals(families, best) == ()
    ((cost, dag),) = all_rivals(families, best, apart=1e-4)
    assert cost == pytest.approx(2.0)
    assert dag.tolist() == [[0, 1], [0, 0]]


def test_a_beam_that_misses_the_best_graph_of_few_variables_has_it_as_a_rival():
    """A method that does not refine its order has the better graphs beside it, at costs below 0."""
    below = 0
    for seed in range(8):
        rows = drawn(5, seed)
        result = rfdag.learn(rows, "rfd", parents="bic", refine=True, restarts=0, progress=False)
        best = rfdag.learn(rows, gamma=result.gamma, progress=False)
        costs = [cost for cost, _ in result.rivals]
        assert min([0.0, *costs]) == pytest.approx(best.score - result.score, abs=1e-6)
        below += min([0.0, *costs]) < -1e-6
    assert below < 8
