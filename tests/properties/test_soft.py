"""The soft cost, the beam and the BIC, against their definitions read literally."""

from __future__ import annotations

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
import rfdag
from rfdag.eliminate import DenseEngine, FisherZ, OracleEngine, eliminate
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.kernels import soft as kernels
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.graphs import markov_equivalent
from rfdag.orders.portfolio import search_orders
from rfdag.orders.reinsertion import descend
from rfdag.orders.restarts import iterate
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.deadline import Deadline, OutOfTime
from strategies import dags, samples


def weight(n, v, K, c, noise):
    """φ of a partial correlation over v variables."""
    return min(max(((n - v + 1) * K**2 - noise) / c, 0.0), 1.0)


def literal_score_of(rows, left, k, c, noise, z_near):
    """D̃ and R̃ − F̃ of variable k, from partial correlations computed afresh for every set."""
    moments, n, v = Moments.from_data(rows), len(rows), len(left)
    others = [i for i in left if i != k]
    now = moments.partial_correlations(left)
    later = moments.partial_correlations(others)
    at, then = {i: s for s, i in enumerate(left)}, {i: s for s, i in enumerate(others)}
    sizes = {i: math.sqrt(n - v + 1) * abs(now[at[i], at[k]]) for i in others}
    # Pairs on the edge of being neighbours may fall either way by rounding.
    assume(all(abs(size - z_near) > 1e-6 for size in sizes.values()))
    near = [i for i in others if sizes[i] > z_near]
    gain = sum(
        weight(n, v, now[at[i], at[j]], c, noise) - weight(n, v - 1, later[then[i], then[j]], c, noise)
        for i, j in itertools.combinations(near, 2)
    )
    return sum(weight(n, v, now[at[i], at[k]], c, noise) for i in others), gain, near


class LiteralState:
    """A state of the soft beam: what is left, what was removed, and what it believes of its candidates."""

    def __init__(self, left, removed=(), spent=0.0, paid=None, gains=None):
        self.left, self.removed, self.spent = left, removed, spent
        self.paid, self.gains = paid or {}, gains or {}

    def score(self, rows, setting):
        for k in self.left:
            if k not in self.gains:
                self.paid[k], self.gains[k], _ = literal_score_of(rows, self.left, k, *setting)

    def without(self, rows, k, c, noise, z_near):
        *_, near = literal_score_of(rows, self.left, k, c, noise, z_near)
        K = Moments.from_data(rows).partial_correlations(self.left)[self.left.index(k)]
        left = [i for i in self.left if i != k]
        paid = {i: self.paid[i] - weight(len(rows), len(self.left), K[self.left.index(i)], c, noise) for i in left}
        gains = {i: self.gains[i] for i in left if i not in near}
        return LiteralState(left, (*self.removed, k), self.spent + self.paid[k], paid, gains)


def literal_beam(rows, width, mu, setting, every):
    """The lazy soft beam as its definition reads; the exact rule if ``every`` is 1."""
    states = [LiteralState(list(range(rows.shape[1])))]
    for step in range(rows.shape[1] - 1):
        offers = []
        for state in states:
            if step % every == 0:
                state.gains = {}
            state.score(rows, setting)
            ahead = sum(state.paid.values()) / 2
            for k in state.left:
                value = state.spent + state.paid[k] + mu * (ahead - state.paid[k] - state.gains[k])
                offers.append((round(value, 9), len(offers), state.spent + state.paid[k], state, k))
        chosen, cut = {}, math.inf
        for value, _, spent, state, k in sorted(offers, key=lambda offer: offer[:2]):
            removed = frozenset((*state.removed, k))
            if removed not in chosen and len(chosen) < width:
                chosen[removed] = spent, state, k
                cut = value if len(chosen) == width else math.inf
        # Of several ways to a set the cheapest is followed. Two may cost exactly the same; the earlier one wins.
        for value, _, spent, state, k in offers:
            removed = frozenset((*state.removed, k))
            if value <= cut and removed in chosen and spent < chosen[removed][0] - 1e-9:
                chosen[removed] = spent, state, k
        states = [state.without(rows, k, *setting) for _, state, k in chosen.values()]
    return states


@settings(max_examples=30, deadline=None)
@given(
    samples(3, 7),
    st.sampled_from([(2.0, 0.0, 2.0), (4.0, 0.0, 2.5), (6.0, 2.0, 2.5), (4.0, 3.0, 0.0)]),
    st.sampled_from([1, 2, 3, 5]),
    st.sampled_from([0.25, 0.5, 0.7]),
    st.sampled_from([1, 2, 3, 100]),
    st.sampled_from([1, 2, 3]),
)
def test_a_soft_beam_is_its_definition(rows, setting, width, mu, every, threads):
    """Exact and lazy, narrow and wide, on any number of threads."""
    c, noise, z_near = setting
    partial = Moments.from_data(rows).partial_correlations()
    beam = SoftBeam(
        partial, len(rows), width, mu, c=c, noise=noise, z_near=z_near, rescore_every=every, threads=threads
    )
    with mock.patch("rfdag.eliminate.beams.soft.WORTH_SHARING", 0):
        found = beam.search()
    expected = sorted(literal_beam(rows, width, mu, setting, every), key=lambda state: round(state.spent, 7))
    assert len(found.orders) == len(expected)
    np.testing.assert_allclose(found.costs, [state.spent for state in expected], atol=1e-6)
    # Orders of equal cost may come in either order.
    costs = np.round(found.costs, 6).tolist()
    if len(set(costs)) == len(costs):
        assert [order[:0:-1] for order in found.orders.tolist()] == [list(state.removed) for state in expected]


@settings(max_examples=5, deadline=None)
@given(samples(9, 10, min_rows=60), st.sampled_from([1, 3]), st.sampled_from([6, 100]))
def test_many_pending_steps_are_a_soft_beam_by_its_definition(rows, width, every):
    """Steps are applied four at a time, so that more of them have to be pending."""
    setting = c, noise, z_near = 3.0, 0.5, 1.5
    partial = Moments.from_data(rows).partial_correlations()
    found = SoftBeam(partial, len(rows), width, 0.5, c=c, noise=noise, z_near=z_near, rescore_every=every).search()
    expected = sorted(literal_beam(rows, width, 0.5, setting, every), key=lambda state: round(state.spent, 7))
    np.testing.assert_allclose(found.costs, [state.spent for state in expected], atol=1e-6)


def test_a_long_soft_beam_is_the_same_on_any_number_of_threads():
    """Large enough that threads share the rows of one state, and that steps are applied many times."""
    generator = np.random.default_rng(3)
    dag = rfdag.simulate.random_dag(90, 0.05, generator)
    rows = rfdag.simulate.sample(rfdag.simulate.linear_sem(dag, generator), 300, generator)
    partial = Moments.from_data(rows).partial_correlations()
    for width in (1, 6):
        found = []
        for threads in (1, 2, 3):
            with mock.patch("rfdag.eliminate.beams.soft.WORTH_SHARING", 0):
                beam = SoftBeam(partial, 300, width, 0.5, c=6.0, rescore_every=7, threads=threads)
                found.append(beam.search())
        for other in found[1:]:
            np.testing.assert_array_equal(other.orders, found[0].orders)
            np.testing.assert_array_equal(other.costs, found[0].costs)


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
    found = SoftBeam(Moments.from_data(rows).partial_correlations(), len(rows), 2**p, 0.0, c=4.0).search()
    best = min(literal_payment(rows, order, 4.0) for order in itertools.permutations(range(p)))
    assert found.costs[0] == pytest.approx(best, abs=1e-6)
    for order, cost in zip(found.orders, found.costs, strict=True):
        assert cost == pytest.approx(literal_payment(rows, order, 4.0), abs=1e-6)
        assert sorted(order) == list(range(p))


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
    return ScoredOrder(SharedMoments(Moments.from_data(rows).correlation, len(rows)), np.array(order), penalty)


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
    found = ScoredOrder(
        SharedMoments(Moments.from_data(rows).correlation, len(rows)), generator.permutation(p), gamma=gamma
    )
    for _ in range(10):
        before, (at, to) = found.total, generator.integers(p, size=2)
        change = found.move(int(at), int(to), force=bool(generator.integers(2)))
        assert found.total == pytest.approx(before + change, abs=1e-6)
    found.reverse_edge(generator)
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
    outcome = search_orders(moments.partial_correlations(), moments.local())
    found, _ = iterate(outcome.best, np.random.default_rng(0), "auto")
    assert best - 1e-6 <= found.total <= outcome.best.total
    assert found.total <= best + 2 * 2 * math.log(len(rows))


@settings(max_examples=30)
@given(samples(2, 5))
def test_sparsest_permutation_by_bic_is_the_best_of_all_orders(rows):
    orders = itertools.permutations(range(rows.shape[1]))
    best = min(scored(rows, order).total for order in orders)
    found = rfdag.learn(rows, method="sp")
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
    assert rfdag.learn(rows, method="sp", penalty=penalty).score == pytest.approx(best, abs=1e-4)


@settings(max_examples=30)
@given(samples(2, 5), st.sampled_from([0.001, 0.1]))
def test_sparsest_permutation_by_edges_is_the_best_of_all_orders(rows, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    orders = itertools.permutations(range(rows.shape[1]))
    best = min(len(reference.minimal_imap(world, order)) for order in orders)
    assert rfdag.learn(rows, method="sp", parents="threshold", alpha=alpha).dag.sum() == best


@given(dags(2, 6))
def test_sparsest_permutation_of_a_dag_is_markov_equivalent_to_it(dag):
    assert markov_equivalent(rfdag.learn(dag, input="dag", method="sp").dag, dag)


def test_an_interrupt_loses_nothing(monkeypatch):
    """Neither the best order so far nor what earlier restarts found."""
    rows = np.random.default_rng(2).normal(size=(200, 8)) @ np.random.default_rng(3).normal(size=(8, 8))
    found = scored(rows, range(8))
    total, order, dag = found.total, found.order.copy(), found.dag
    calls = []
    turn = ScoredOrder.reverse_edge

    def interrupted(self, generator):
        calls.append(self.total)
        if len(calls) > 6:
            raise KeyboardInterrupt
        turn(self, generator)

    monkeypatch.setattr(ScoredOrder, "reverse_edge", interrupted)
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
    outcome = search_orders(moments.partial_correlations(), moments.local(), deadline=over)
    assert [attempt.width for attempt in outcome.attempts] == [8]
    assert sorted(outcome.best.order) == list(range(8))
    assert descend(outcome.best, np.random.default_rng(0), over) == 0
    with pytest.raises(OutOfTime):
        search_orders(moments.partial_correlations(), moments.local(), limit=over)


def test_of_two_ways_to_a_set_the_cheaper_is_followed():
    """Whatever lies ahead is the same, even where its estimate is not."""
    values = np.array([[1.0, 5.0], [2.0, 6.0]])
    paid = np.array([[0.9, 1.0], [0.3, 1.0]])
    keys = np.array([[7, 8], [7, 9]], dtype=np.uint64)
    states, positions = np.empty(2, np.int64), np.empty(2, np.int64)
    least, taken = np.empty(2), np.empty(2, np.uint64)
    assert kernels.select(values, paid, keys, 2, states, positions, least, taken) == 2
    assert list(zip(states.tolist(), positions.tolist(), strict=True)) == [(1, 0), (0, 1)]


@pytest.mark.parametrize("every", [1, 4])
def test_operations_are_counted_alike_on_any_number_of_threads(every, monkeypatch):
    monkeypatch.setattr("rfdag.eliminate.beams.soft.WORTH_SHARING", 0)
    partial = Moments.from_data(np.random.default_rng(1).normal(size=(60, 40))).partial_correlations()
    counts = []
    for threads in (1, 2, 3):
        beam = SoftBeam(partial, 60, 4, 0.5, c=4.0, z_near=0.5, rescore_every=every, threads=threads)
        assert beam.operations == 0
        beam.search()
        counts.append(beam.operations)
    assert counts[0] == counts[1] == counts[2]
    # Every step looks at every entry of a row of each state at least once, and at pairs of neighbours.
    assert counts[0] > 40**3


@given(dags(2, 7))
def test_one_state_per_removed_set(dag):
    """Keys tell sets apart: a beam as wide as there are sets holds every set once."""
    found = beam_search(EngineStates(OracleEngine(dag)), 2 ** len(dag), mu=1.0)
    assert len({frozenset(order[1:].tolist()) for order in found.orders}) == len(found.orders)
    assert eliminate(OracleEngine(dag)).dag.sum() >= found.costs[0]
