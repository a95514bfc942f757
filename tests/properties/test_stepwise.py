"""The stepwise cost and its beam, against their definitions read literally."""

from __future__ import annotations

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from rfdag.eliminate.beams.stepwise import StepwiseBeam
from rfdag.evidence.moments import Moments
from rfdag.knowledge.constraints import Constraints
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import samples


def constraints_of(p, required):
    """Return constraints under which these pairs must be edges."""
    return Constraints(
        tier=np.full(p, -1),
        closed=np.zeros(0, bool),
        root=np.zeros(p, bool),
        leaf=np.zeros(p, bool),
        required_edges=np.array(required, np.int64).reshape(-1, 2),
        forbidden_edges=np.empty((0, 2), np.int64),
    )


def agree(found, expected):
    """Assert that a beam found what is expected; orders of equal cost may come in either order."""
    costs = [cost for cost, _ in expected]
    np.testing.assert_allclose(found.costs, costs, atol=1e-6)
    if len(set(np.round(costs, 6))) == len(costs):
        assert found.orders.tolist() == [order for _, order in expected]


@settings(max_examples=40, deadline=None)
@given(
    samples(2, 7),
    st.sampled_from([(2.0, 0.3), (5.0, 0.3), (6.0, 0.5)]),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([(math.inf, 1.0), (2.93, 2.0), (0.67, 1.0), (0.23, 3.0)]),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
def test_a_stepwise_beam_is_its_definition(rows, setting, width, shortlist, slack, threads, constrained):
    """Narrow and wide, with and without a slack, with and without constraints, on any number of threads."""
    (c, mu), p = setting, rows.shape[1]
    moments = Moments.from_data(rows)
    required = [(p - 1, 0)] if constrained else []
    beam = StepwiseBeam(
        moments.partial_correlations(),
        len(rows),
        width,
        mu,
        c=c,
        shortlist=shortlist,
        slack=slack[0],
        margin=slack[1],
        threads=threads,
        constraints=constraints_of(p, required) if constrained else None,
    )
    with mock.patch("rfdag.eliminate.beams.stepwise.WORTH_SHARING", 0):
        found = beam.search()
    expected = reference.stepwise_beam(moments.correlation, len(rows), width, mu, c, shortlist, set(required), *slack)
    agree(found, expected)


@settings(max_examples=20, deadline=None)
@given(samples(3, 7), st.randoms(use_true_random=False), st.integers(0, 5), st.booleans())
def test_a_beam_around_an_order_keeps_far_variables_in_sequence(rows, random, reach, constrained):
    p = rows.shape[1]
    required = [(p - 1, 0)] if constrained else []
    order = random.sample(range(p), p)
    moments = Moments.from_data(rows)
    beam = StepwiseBeam(
        moments.partial_correlations(),
        len(rows),
        4,
        0.3,
        c=5.0,
        shortlist=4,
        constraints=constraints_of(p, required) if constrained and order.index(p - 1) < order.index(0) else None,
        around=np.array(order),
        reach=reach,
    )
    far = {(i, j) for at, i in enumerate(order) for j in order[at + reach + 1 :]}
    obeyed = far | set(required) if order.index(p - 1) < order.index(0) else far
    agree(beam.search(), reference.stepwise_beam(moments.correlation, len(rows), 4, 0.3, 5.0, 4, obeyed))


@settings(max_examples=4, deadline=None)
@given(samples(10, 11, min_rows=60), st.sampled_from([1, 3]))
def test_ten_variables_are_weighed_as_few_are(rows, width):
    """Rows are taken four at a time, so that there have to be several fours of them."""
    moments = Moments.from_data(rows)
    found = StepwiseBeam(moments.partial_correlations(), len(rows), width, 0.4, c=4.0, shortlist=2).search()
    agree(found, reference.stepwise_beam(moments.correlation, len(rows), width, 0.4, 4.0, 2))


def test_the_widest_beam_finds_the_order_of_least_cost():
    """With every set kept and every cost computed, the beam is dynamic programming."""
    generator = np.random.default_rng(11)
    rows = sample(linear_sem(random_dag(6, 0.7, generator), generator), 80, generator)
    S, n, c = Moments.from_data(rows).correlation, len(rows), 5.0

    def cost(order):
        return sum(reference.stepwise_cost(S, n, k, list(order[:at]), c) for at, k in enumerate(order))

    partial = Moments.from_data(rows).partial_correlations()
    found = StepwiseBeam(partial, n, 2**6, 0.3, c=c, shortlist=6).search()
    assert found.costs[0] == pytest.approx(min(map(cost, itertools.permutations(range(6)))))
    assert found.costs[0] == pytest.approx(cost(found.orders[0]))


def test_a_long_stepwise_beam_is_the_same_on_any_number_of_threads():
    generator = np.random.default_rng(12)
    rows = sample(linear_sem(random_dag(33, 0.5, generator), generator), 300, generator)
    partial = Moments.from_data(rows).partial_correlations()
    first, *others = (
        StepwiseBeam(partial, 300, 50, 0.3, c=5.0, shortlist=4, threads=threads).search() for threads in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(other.orders, first.orders)
        np.testing.assert_array_equal(other.costs, first.costs)


def test_one_variable_has_one_order():
    found = StepwiseBeam(np.ones((1, 1)), 10, 4, 0.3, c=5.0, shortlist=4).search()
    assert found.orders.tolist() == [[0]]
    assert found.costs.tolist() == [0.0]


def test_columns_that_determine_each_other_do_no_harm():
    """Their partial correlations are ±1, and nothing may be divided by what is left."""
    partial = np.eye(5)
    partial[0, 1] = partial[1, 0] = 1.0
    partial[2, 3] = partial[3, 2] = -1.0
    found = StepwiseBeam(partial, 50, 8, 0.3, c=5.0, shortlist=4).search()
    assert np.isfinite(found.costs).all()
    assert all(sorted(order) == list(range(5)) for order in found.orders.tolist())
    # Two edges, and nothing else: every order pays them once.
    assert found.costs[0] == pytest.approx(2.0)


def test_a_beam_can_be_stopped_within_a_step():
    """What it reports to may raise, while other threads have work left."""
    generator = np.random.default_rng(13)
    rows = sample(linear_sem(random_dag(20, 0.5, generator), generator), 100, generator)
    calls = []

    def report(share):
        calls.append(share)
        if len(calls) == 30:
            raise KeyboardInterrupt

    beam = StepwiseBeam(Moments.from_data(rows).partial_correlations(), 100, 40, 0.3, c=5.0, shortlist=4, threads=2)
    with mock.patch("rfdag.eliminate.beams.stepwise.AT_ONCE", 1), pytest.raises(KeyboardInterrupt):
        beam.search(report)
    assert len(calls) == 30
    assert len(set(calls)) < 10
    assert calls == sorted(calls)
