"""Simulated graphs, models and rows have the promised distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfdag import simulate
from rfdag.errors import OptionError
from rfdag.graphs import find_cycle, topological_order
from rfdag.runtime.randomness import generator_from
from strategies import dags


@given(st.integers(1, 20), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_random_dags_are_dags(p, density, seed):
    dag = simulate.random_dag(p, density, seed)
    assert dag.shape == (p, p)
    assert not find_cycle(dag)
    np.testing.assert_array_equal(dag, simulate.random_dag(p, density, seed))


def test_density_degree_and_order():
    generator = np.random.default_rng(1)
    drawn = np.array([simulate.random_dag(20, 0.3, generator) for _ in range(400)])
    assert abs(drawn.sum(axis=(1, 2)).mean() / 190 - 0.3) < 0.01
    # A random order points either way equally often.
    assert abs(drawn[:, *np.triu_indices(20, 1)].mean() - drawn[:, *np.tril_indices(20, -1)].mean()) < 0.02
    degrees = [simulate.random_dag(30, rng=generator, degree=6).sum() * 2 / 30 for _ in range(300)]
    assert abs(np.mean(degrees) - 6) < 0.15


@pytest.mark.parametrize("K", [2, 3, 5])
def test_dense_family(K):
    dag = simulate.dense_dag(K)
    children = K * (K - 1) // 2
    assert len(dag) == K + children
    assert dag.sum() == 2 * children + children * (children - 1) // 2
    families = [tuple(np.flatnonzero(dag[:K, node])) for node in range(K, len(dag))]
    assert len(set(families)) == children
    assert not dag[:, :K].any()


@pytest.mark.parametrize("m", [1, 2, 4])
def test_scale_free_dags(m):
    generator = np.random.default_rng(m)
    drawn = np.array([simulate.scale_free_dag(60, m, generator) for _ in range(50)])
    assert (drawn.sum(axis=(1, 2)) == m * (60 - m)).all()
    assert not any(find_cycle(dag) for dag in drawn)
    # Early nodes become hubs, far above what an Erdős–Rényi graph of as many edges would have.
    degrees = (drawn + drawn.transpose(0, 2, 1)).sum(axis=1)
    assert degrees[:, :5].mean() > 2 * degrees[:, 30:].mean()
    assert degrees.max(axis=1).mean() > 3 * degrees.mean()
    # Yet they are causes no more often than effects.
    assert abs(drawn[:, :5].sum() / (drawn[:, :5].sum() + drawn[:, :, :5].sum()) - 0.5) < 0.05


@given(dags(max_nodes=8), st.integers(0, 2**32 - 1))
def test_standardised_models_have_unit_variances(dag, seed):
    generator = np.random.default_rng(seed)
    sem = simulate.linear_sem(dag, generator, variances=generator.uniform(0.5, 2, len(dag)))
    r2 = generator.uniform(0.2, 0.9, len(dag))
    for scaled in (simulate.standardise(sem), simulate.standardise(sem, r2)):
        np.testing.assert_allclose(np.diag(scaled.covariance()), 1, atol=1e-9)
        np.testing.assert_array_equal(np.sign(scaled.weights), np.sign(sem.weights))
    children = dag.any(axis=0)
    np.testing.assert_allclose(1 - scaled.variances[children], r2[children])
    np.testing.assert_array_equal(scaled.variances[~children], 1)


def test_standardising_is_done_while_the_model_is_built():
    """By hand: x1 = (x0 + e) / √2, x2 = (x1 + e) / √2, where scaling at the end would give x2 a share of ⅔."""
    chain = simulate.linear_sem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], weights=(1, 1), rng=1)
    scaled = simulate.standardise(chain)
    np.testing.assert_allclose(np.abs(scaled.weights[[0, 1], [1, 2]]), np.sqrt(0.5))
    np.testing.assert_allclose(scaled.variances, [1, 0.5, 0.5])
    again = simulate.standardise(scaled)
    np.testing.assert_allclose(again.weights, scaled.weights)


@given(dags(max_nodes=8), st.integers(0, 2**32 - 1))
def test_weights_are_bounded_away_from_zero(dag, seed):
    sem = simulate.linear_sem(dag, seed)
    sizes = np.abs(sem.weights[dag != 0])
    assert ((sizes >= 0.25) & (sizes <= 1)).all()
    np.testing.assert_array_equal(sem.dag, dag)


@given(dags(max_nodes=8), st.integers(0, 2**32 - 1))
def test_covariance_and_precision_are_inverse(dag, seed):
    generator = np.random.default_rng(seed)
    sem = simulate.linear_sem(dag, generator, variances=generator.uniform(0.5, 2, len(dag)))
    np.testing.assert_allclose(sem.covariance() @ sem.precision(), np.eye(len(dag)), atol=1e-8)


def test_samples_have_the_model_covariance():
    sem = simulate.linear_sem(simulate.random_dag(6, 0.5, rng=2), rng=2, variances=[1, 2, 3, 1, 2, 3])
    rows = simulate.sample(sem, 200_000, rng=3)
    covariance = sem.covariance()
    scale = np.sqrt(np.diag(covariance))
    difference = (np.cov(rows.T) - covariance) / scale / scale[:, None]
    assert np.abs(difference).max() < 0.02


def test_topological_order_puts_parents_first():
    dag = simulate.random_dag(30, 0.3, rng=4)
    rank = np.argsort(topological_order(dag))
    sources, targets = np.nonzero(dag)
    assert (rank[sources] < rank[targets]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate.random_dag(0, 0.5), "p is a whole number from 1 to"),
        (lambda: simulate.random_dag(5), "either density"),
        (lambda: simulate.random_dag(5, 0.5, degree=2), "either density"),
        (lambda: simulate.random_dag(5, 1.5), "density is a number between 0 and 1, not 1.5"),
        (lambda: simulate.random_dag(5, degree=9), "degree is a number between 0 and 4, not 9"),
        (lambda: simulate.dense_dag(1), "K is a whole number from 2 to"),
        (lambda: simulate.scale_free_dag(4, 4), "m is a whole number from 1 to 3, not 4"),
        (lambda: simulate.scale_free_dag(4, 0), "m is a whole number from 1 to 3, not 0"),
        (lambda: simulate.standardise(simulate.linear_sem([[0, 1], [0, 0]]), r2=1.0), "below 1"),
        (lambda: simulate.linear_sem([[0, 1], [0, 0]], weights=(1, 0.5)), "low ≤ high"),
        (lambda: simulate.linear_sem([[0, 1], [0, 0]], variances=0), "variance"),
        (lambda: simulate.sample(simulate.linear_sem([[0]]), 0), "n is a whole number of at least 1, not 0"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(OptionError, match=words):
        call()


@pytest.mark.parametrize(
    "make",
    [
        lambda: 7,
        lambda: np.int64(7),
        lambda: [1, 2],
        lambda: None,
        lambda: np.random.default_rng(7),
        lambda: np.random.SeedSequence(7),
        lambda: np.random.PCG64(7),
        lambda: np.random.RandomState(7),
    ],
)
def test_every_kind_of_seed_is_taken(make):
    chain = np.eye(4, k=1)
    for draw in (
        lambda rng: simulate.random_dag(6, 0.5, rng),
        lambda rng: simulate.scale_free_dag(6, 2, rng),
        lambda rng: simulate.block_dag([3, 3], 0.5, rng).toarray(),
        lambda rng: simulate.linear_sem(chain, rng).weights,
        lambda rng: simulate.sample(simulate.linear_sem(chain), 3, rng),
    ):
        np.testing.assert_array_equal(draw(make()), draw(make()))


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, np.random.PCG64])
def test_generators_go_on_where_they_were(kind):
    generator = kind(3)
    first, second = (simulate.random_dag(12, 0.5, generator) for _ in range(2))
    assert (first != second).any()


@pytest.mark.parametrize("seed", ["today", -1, 1.5, True, object()])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(OptionError, match=r"rng is .*; pass None, a whole number"):
        simulate.random_dag(4, 0.5, seed)
    with pytest.raises(OptionError, match="random_state is"):
        generator_from(seed)
