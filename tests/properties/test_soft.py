"""The soft cost, the beam and the BIC, against their definitions read literally."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
import rfdag
from rfdag.eliminate import DenseEngine, FisherZ, OracleEngine, eliminate
from rfdag.eliminate import _soft_kernels as kernels
from rfdag.eliminate.beam import EngineStates, SoftStates, beam_search
from rfdag.graphs import markov_equivalent
from rfdag.moments import Moments
from rfdag.refine.bic import ScoredOrder
from rfdag.refine.polish import Deadline, descend, iterate
from rfdag.refine.portfolio import search_orders
from strategies import dags, samples

COSTS = st.tuples(st.sampled_from([2.0, 4.0, 9.0]), st.sampled_from([0.0, 2.0, 2.5]))


def literal_costs(rows, variables, c, z_near):
    """D̃ and the bound ahead of every variable, from partial correlations computed afresh for every set."""
    moments, n, v = Moments.from_data(rows), len(rows), len(variables)

    def weights(left):
        K = moments.partial_correlations(left)
        return K, np.minimum((n - len(left) + 1) * K**2 / c, 1.0)

    K, now = weights(variables)
    pairs = list(itertools.combinations(range(v), 2))
    total = sum(now[i, j] for i, j in pairs)
    paid, ahead = [], []
    for k in range(v):
        others = [i for i in range(v) if i != k]
        _, later = weights([variables[i] for i in others])
        near = [i for i in others if math.sqrt(n - v + 1) * abs(K[i, k]) > z_near]
        gain = sum(now[i, j] - later[others.index(i), others.index(j)] for i, j in itertools.combinations(near, 2))
        paid.append(sum(now[i, k] for i in others))
        ahead.append(total - paid[-1] - gain)
    return paid, ahead


@settings(max_examples=40)
@given(samples(3, 6), COSTS, st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_soft_costs_along_an_elimination(rows, setting, seed, threads):
    c, z_near = setting
    generator = np.random.default_rng(seed)
    partial = Moments.from_data(rows).partial_correlations()
    states = SoftStates(partial, len(rows), 3, c=c, z_near=z_near, threads=threads)
    while states.variables.shape[1] > 2:
        paid, ahead = states.costs()
        for state, variables in enumerate(states.variables):
            expected = literal_costs(rows, variables.tolist(), c, z_near)
            np.testing.assert_allclose(paid[state], expected[0], atol=1e-7)
            np.testing.assert_allclose(ahead[state], expected[1], atol=1e-7)
        count, v = states.variables.shape
        chosen = generator.integers(count, size=3)
        states.extend(chosen, generator.integers(v, size=3))


@settings(max_examples=40)
@given(samples(4, 7), COSTS, st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 100]))
def test_lazy_gains_are_those_of_when_a_neighbour_last_went(rows, setting, seed, every):
    """A lazy state's gain is the literal one at its last rescoring; what is paid now is always exact."""
    c, z_near = setting
    generator = np.random.default_rng(seed)
    n = len(rows)
    moments = Moments.from_data(rows)
    states = SoftStates(moments.partial_correlations(), n, 1, c=c, z_near=z_near, rescore_every=every)
    remembered: dict[int, float] = {}
    step = 0
    while states.variables.shape[1] > 2:
        variables = states.variables[0].tolist()
        v = len(variables)
        paid, ahead = states.costs()
        expected_paid, expected_ahead = literal_costs(rows, variables, c, z_near)
        np.testing.assert_allclose(paid[0], expected_paid, atol=1e-7)
        total = sum(expected_paid) / 2
        for at, variable in enumerate(variables):
            if variable not in remembered:
                remembered[variable] = total - expected_paid[at] - expected_ahead[at]
            assert ahead[0, at] == pytest.approx(total - paid[0, at] - remembered[variable], abs=1e-7)
        gone = int(generator.integers(v))
        K = moments.partial_correlations(variables)
        size = np.abs(K[gone]) * math.sqrt(n - v + 1)
        # Pairs on the edge of being neighbours may fall either way by rounding.
        assume(np.abs(size - z_near).min() > 1e-6)
        step += 1
        keep = [other for at, other in enumerate(variables) if size[at] <= z_near and step % every]
        remembered = {other: remembered[other] for other in keep}
        states.extend(np.array([0]), np.array([gone]))


def literal_payment(rows, order, c):
    """G(π): the soft degrees of all variables at the moment of their removal."""
    moments, n = Moments.from_data(rows), len(rows)
    total = 0.0
    for size in range(len(order), 1, -1):
        K = moments.partial_correlations(list(order[:size]))
        total += np.minimum((n - size + 1) * K[-1, :-1] ** 2 / c, 1.0).sum()
    return total


@settings(max_examples=30)
@given(samples(3, 5))
def test_a_wide_beam_finds_the_cheapest_of_all_orders(rows):
    p = rows.shape[1]
    states = SoftStates(Moments.from_data(rows).partial_correlations(), len(rows), 2**p, c=4.0)
    found = beam_search(states, 2**p, mu=0.0)
    best = min(literal_payment(rows, order, 4.0) for order in itertools.permutations(range(p)))
    assert found.costs[0] == pytest.approx(best, abs=1e-6)
    for order, cost in zip(found.orders, found.costs, strict=True):
        assert cost == pytest.approx(literal_payment(rows, order, 4.0), abs=1e-6)
        assert sorted(order) == list(range(p))


@settings(max_examples=30)
@given(samples(3, 6), st.sampled_from([0.25, 0.5, 1.0]))
def test_a_beam_of_one_is_greedy(rows, mu):
    found = beam_search(SoftStates(Moments.from_data(rows).partial_correlations(), len(rows), 1, c=4.0), 1, mu)
    left, removed = list(range(rows.shape[1])), []
    while len(left) > 1:
        paid, ahead = literal_costs(rows, left, 4.0, 2.5)
        values = np.round(np.array(paid) + mu * np.array(ahead), 9)
        removed.append(found.orders[0][len(left) - 1])
        assert values[left.index(removed[-1])] == pytest.approx(values.min(), abs=1e-6)
        left.remove(removed[-1])


@given(dags(2, 6))
def test_a_wide_beam_of_hard_counts_finds_a_sparsest_order(dag):
    """Over all removed sets and μ = 0 the beam is the sparsest permutation itself."""
    found = beam_search(EngineStates(OracleEngine(dag)), 2 ** len(dag), mu=0.0)
    assert found.costs[0] == dag.sum()


@settings(max_examples=25)
@given(samples(3, 6))
def test_hard_states_cost_what_the_engine_counts(rows):
    partial = Moments.from_data(rows).partial_correlations()
    states = EngineStates(DenseEngine(partial, FisherZ(len(rows), 0.05)))
    engine = DenseEngine(partial, FisherZ(len(rows), 0.05))
    paid, ahead = states.costs()
    edges = engine.adjacency().sum() // 2
    for k in range(rows.shape[1]):
        twin = engine.copy()
        happened = twin.remove(k)
        assert paid[0, k] == len(happened.parents)
        assert ahead[0, k] == twin.adjacency().sum() // 2
        assert ahead[0, k] == edges - paid[0, k] - happened.removal + happened.fill


def literal_score(rows, y, parents, penalty):
    centred = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    residual = centred[:, y]
    if parents:
        weights, *_ = np.linalg.lstsq(centred[:, parents], centred[:, y], rcond=None)
        residual = residual - centred[:, parents] @ weights
    n = len(rows)
    return n * math.log((residual**2).mean()) + penalty * math.log(n) * len(parents)


def scored(rows, order, penalty=2.0):
    return ScoredOrder(Moments.from_data(rows).correlation, len(rows), np.array(order), penalty)


@given(samples(2, 7), st.randoms(use_true_random=False), st.sampled_from([0.5, 2.0]))
def test_chosen_parents_are_locally_best(rows, random, penalty):
    """Scores are those of least squares, and no parent more or fewer would be better."""
    order = list(range(rows.shape[1]))
    random.shuffle(order)
    found = scored(rows, order, penalty)
    total = 0.0
    for at, y in enumerate(order):
        parents = np.flatnonzero(found.dag[:, y]).tolist()
        assert set(parents) <= set(order[:at])
        score = literal_score(rows, y, parents, penalty)
        total += score
        for other in order[:at]:
            changed = [k for k in parents if k != other] if other in parents else [*parents, other]
            assert literal_score(rows, y, changed, penalty) > score - 1e-5
    assert found.total == pytest.approx(total, abs=1e-4)


@given(samples(3, 7), st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_refinement_never_raises_the_score(rows, random, seed):
    order = list(range(rows.shape[1]))
    random.shuffle(order)
    generator = np.random.default_rng(seed)
    found = scored(rows, order)
    for variable in range(len(order)):
        before = found.total
        change = found.reinsert(variable)
        assert change <= 0
        assert found.total == pytest.approx(before + change, abs=1e-6)
        assert sorted(found.order) == list(range(len(order)))
    descend(found, generator)
    assert [found.reinsert(variable) for variable in range(len(order))] == [0.0] * len(order)
    again, interrupted = iterate(found, generator, restarts=3)
    assert not interrupted
    assert again.total <= found.total
    rank = np.argsort(again.order)
    sources, targets = np.nonzero(again.dag)
    assert (rank[sources] < rank[targets]).all()


@given(samples(3, 7), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5]))
def test_scores_stay_true_however_variables_are_moved(rows, seed, gamma):
    """What is carried along from move to move is what least squares says of the parents afterwards."""
    generator = np.random.default_rng(seed)
    p = rows.shape[1]
    found = ScoredOrder(Moments.from_data(rows).correlation, len(rows), generator.permutation(p), gamma=gamma)
    for _ in range(10):
        before, (at, to) = found.total, generator.integers(p, size=2)
        change = found.move(int(at), int(to), force=bool(generator.integers(2)))
        assert found.total == pytest.approx(before + change, abs=1e-6)
    found.turn_edge(generator)
    rank = np.argsort(found.order)
    total = 0.0
    for y in range(p):
        parents = np.flatnonzero(found.dag[:, y])
        assert (rank[parents] < rank[y]).all()
        total += literal_score(rows, y, parents.tolist(), 2.0) + 2 * gamma * math.log(p) * len(parents)
    assert found.total == pytest.approx(total, abs=1e-4)
    assert found.misfit == pytest.approx(total - (2 * math.log(len(rows)) + 2 * gamma * math.log(p)) * found.edges)


@settings(max_examples=20)
@given(samples(3, 5, min_rows=100))
def test_the_search_finds_the_best_of_all_orders_of_few_variables(rows):
    """On up to five variables, refined beams reach the least score over all orders, or very nearly."""
    best = min(scored(rows, order).total for order in itertools.permutations(range(rows.shape[1])))
    moments = Moments.from_data(rows)
    outcome = search_orders(moments.partial_correlations(), moments.correlation, len(rows))
    found, _ = iterate(outcome.best, np.random.default_rng(0), "auto")
    assert best - 1e-6 <= found.total <= outcome.best.total
    assert found.total <= best + 2 * 2 * math.log(len(rows))


@settings(max_examples=30)
@given(samples(2, 5))
def test_sparsest_permutation_by_bic_is_the_best_of_all_orders(rows):
    orders = itertools.permutations(range(rows.shape[1]))
    best = min(scored(rows, order).total for order in orders)
    found = rfdag.learn(rows, rule="sp")
    assert found.score == pytest.approx(best, abs=1e-5)
    assert rfdag.learn(rows).score >= best - 1e-5


@settings(max_examples=15)
@given(samples(2, 4), st.sampled_from([0.5, 2.0]))
def test_sparsest_permutation_by_bic_has_the_best_of_all_parents(rows, penalty):
    """No order with any parents among its predecessors scores less."""
    p = rows.shape[1]

    def least(y, before):
        subsets = itertools.chain.from_iterable(itertools.combinations(before, size) for size in range(len(before) + 1))
        return min(literal_score(rows, y, list(parents), penalty) for parents in subsets)

    best = min(sum(least(y, order[:at]) for at, y in enumerate(order)) for order in itertools.permutations(range(p)))
    assert rfdag.learn(rows, rule="sp", penalty=penalty).score == pytest.approx(best, abs=1e-4)


@settings(max_examples=30)
@given(samples(2, 5), st.sampled_from([0.001, 0.1]))
def test_sparsest_permutation_by_edges_is_the_best_of_all_orders(rows, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    orders = itertools.permutations(range(rows.shape[1]))
    best = min(len(reference.minimal_imap(world, order)) for order in orders)
    assert rfdag.learn(rows, rule="sp", parents="threshold", alpha=alpha).dag.sum() == best


@given(dags(2, 6))
def test_sparsest_permutation_of_a_dag_is_markov_equivalent_to_it(dag):
    assert markov_equivalent(rfdag.learn(dag, input="dag", rule="sp").dag, dag)


def test_an_interrupt_loses_nothing(monkeypatch):
    """Neither the best order so far nor what earlier restarts found."""
    rows = np.random.default_rng(2).normal(size=(200, 8)) @ np.random.default_rng(3).normal(size=(8, 8))
    found = scored(rows, range(8))
    total, order, dag = found.total, found.order.copy(), found.dag
    calls = []
    turn = ScoredOrder.turn_edge

    def interrupted(self, generator):
        calls.append(self.total)
        if len(calls) > 6:
            raise KeyboardInterrupt
        turn(self, generator)

    monkeypatch.setattr(ScoredOrder, "turn_edge", interrupted)
    best, stopped = iterate(found, np.random.default_rng(0), restarts=50)
    assert stopped
    assert len(calls) == 7
    assert best.total <= total
    assert found.total == total
    np.testing.assert_array_equal(found.order, order)
    np.testing.assert_array_equal(found.dag, dag)


def test_a_passed_deadline_ends_the_search_with_an_answer():
    rows = np.random.default_rng(1).normal(size=(100, 8))
    moments = Moments.from_data(rows)
    over = Deadline.after(1e-9)
    outcome = search_orders(moments.partial_correlations(), moments.correlation, 100, deadline=over)
    assert len(outcome.attempts) == 3
    assert {attempt.width for attempt in outcome.attempts} == {8}
    assert sorted(outcome.best.order) == list(range(8))
    assert descend(outcome.best, np.random.default_rng(0), over) == 0


def test_of_two_ways_to_a_set_the_cheaper_is_followed():
    """Whatever lies ahead is the same, even where its estimate is not."""
    values = np.array([[1.0, 5.0], [2.0, 6.0]])
    paid = np.array([[0.9, 1.0], [0.3, 1.0]])
    keys = np.array([[7, 8], [7, 9]], dtype=np.uint64)
    states, positions = np.empty(2, np.int64), np.empty(2, np.int64)
    assert kernels.select(values, paid, keys, 2, states, positions) == 2
    assert list(zip(states.tolist(), positions.tolist(), strict=True)) == [(1, 0), (0, 1)]


@given(dags(2, 7))
def test_one_state_per_removed_set(dag):
    """Keys tell sets apart: a beam as wide as there are sets holds every set once."""
    found = beam_search(EngineStates(OracleEngine(dag)), 2 ** len(dag), mu=1.0)
    assert len({frozenset(order[1:].tolist()) for order in found.orders}) == len(found.orders)
    assert eliminate(OracleEngine(dag)).dag.sum() >= found.costs[0]
