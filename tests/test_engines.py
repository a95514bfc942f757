"""One contract for all engines, then what is particular to each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine_contract as contract
import reference
from rfdag.eliminate import DenseEngine, FisherZ, LostPrecision, OracleEngine, Tolerance
from rfdag.eliminate import _oracle_kernels as oracle_kernels
from rfdag.moments import Moments
from rfdag.simulate import dense_dag, linear_sem, random_dag, sample
from strategies import dags, samples

seeds = st.integers(0, 2**32 - 1)


def oracle(dag, generator):
    return OracleEngine(dag, seed=int(generator.integers(2**31)))


def oracle_in_threads(dag, generator):
    return OracleEngine(dag, threads=3)


def exact_precision(dag, generator):
    sem = linear_sem(dag, generator)
    partial = Moments.from_precision(sem.precision(), None).partial_correlations()
    return DenseEngine(partial, Tolerance(), pairs="neighbours")


EXACT = [oracle, oracle_in_threads, exact_precision]


@pytest.mark.parametrize("make", EXACT)
@given(dags(), seeds)
def test_exact_engines_agree_with_d_separation(make, dag, seed):
    generator = np.random.default_rng(seed)
    contract.check_whole_elimination(make(dag, generator), reference.Population(dag), generator)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("pairs", ["all", "neighbours"])
@given(samples(), seeds, st.sampled_from([0.001, 0.05, 0.3]))
def test_dense_engine_agrees_with_inverting_every_covariance(pairs, threads, rows, seed, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    engine = dense(rows, alpha, pairs, threads)
    contract.check_whole_elimination(engine, world, np.random.default_rng(seed), pairs)


@pytest.mark.parametrize("make", EXACT)
@given(dags(), seeds)
def test_copies_are_independent(make, dag, seed):
    contract.check_copy(make(dag, np.random.default_rng(seed)))


@given(samples())
def test_copies_of_data_are_independent(rows):
    contract.check_copy(dense(rows, 0.05))


def dense(rows, alpha, pairs="all", threads=1):
    moments = Moments.from_data(rows)
    return DenseEngine(moments.partial_correlations(), FisherZ(len(rows), alpha), pairs=pairs, threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_pruning_and_threads_change_no_count(threads):
    """Above one block of candidates the kernels prune; a plain double loop does not."""
    generator = np.random.default_rng(5)
    rows = sample(linear_sem(random_dag(60, degree=6, rng=generator), generator), 200, generator)
    engine = dense(rows, 0.01, threads=threads)
    for _ in range(20):
        remaining = engine.remaining
        v = len(remaining)
        K = Moments.from_data(rows).partial_correlations(remaining)
        tau, tau_after = FisherZ(200, 0.01)(v), FisherZ(200, 0.01)(v - 1)
        for k in range(v):
            others = np.delete(np.arange(v), k)
            after = Moments.from_data(rows).partial_correlations(remaining[others])
            was, now = np.abs(K[np.ix_(others, others)]) > tau, np.abs(after) > tau_after
            assert engine.removals()[k] == (was & ~now).sum() // 2
            assert engine.fills()[k] == (now & ~was).sum() // 2
        assert engine.degrees().tolist() == ((np.abs(K) > tau).sum(axis=0) - 1).tolist()
        happened = engine.remove(int(generator.integers(v)))
        assert (happened.removed, happened.filled) == (None, None)


def test_scores_of_a_removal_do_not_depend_on_listing_its_edges():
    generator = np.random.default_rng(6)
    rows = sample(linear_sem(random_dag(40, degree=5, rng=generator), generator), 300, generator)
    listing, counting = dense(rows, 0.01), dense(rows, 0.01)
    for _ in range(40):
        position = int(generator.integers(len(listing.remaining)))
        first, second = listing.remove(position, with_edges=True), counting.remove(position)
        assert (first.removal, first.fill) == (second.removal, second.fill)
        assert (len(first.removed), len(first.filled)) == (second.removal, second.fill)


@given(dags(max_nodes=8), seeds)
def test_rank_one_step_equals_inverse_of_marginal_covariance(dag, seed):
    generator = np.random.default_rng(seed)
    sem = linear_sem(dag, generator)
    engine = DenseEngine(Moments.from_precision(sem.precision(), None).partial_correlations(), Tolerance())
    covariance = sem.covariance()
    while len(engine.remaining) > 1:
        engine.remove(int(generator.integers(len(engine.remaining))))
        left = engine.remaining
        theta = np.linalg.inv(covariance[np.ix_(left, left)])
        scale = np.sqrt(np.diag(theta))
        expected = -theta / scale / scale[:, None]
        np.fill_diagonal(expected, 1.0)
        np.testing.assert_allclose(engine._K[: len(left), : len(left)], expected, atol=1e-9)


def test_oracle_is_exact_where_floats_are_not():
    """At density ½ and p = 150 an elimination in doubles misreads edges; the finite field does not."""
    dag = random_dag(150, 0.5, rng=1)
    engine = OracleEngine(dag)
    generator = np.random.default_rng(2)
    from rfdag.graphs import moral_subgraph

    for step in range(120):
        engine.remove(int(generator.integers(len(engine.remaining))))
        if step % 40 == 39:
            expected = moral_subgraph(dag, engine.remaining)
            np.testing.assert_array_equal(engine.adjacency(), expected)


def test_oracle_draws_anew_when_a_pivot_is_zero():
    dag = random_dag(8, 0.5, rng=3)
    engine, plain = OracleEngine(dag), OracleEngine(dag)
    engine.remove(2)
    plain.remove(2)
    engine._theta[0, 4, 4] = 0
    engine.remove(4)
    plain.remove(4)
    assert engine._seed != plain._seed
    by_variable = np.argsort(engine.remaining), np.argsort(plain.remaining)
    first, second = (state.adjacency()[np.ix_(at, at)] for state, at in zip((engine, plain), by_variable, strict=True))
    np.testing.assert_array_equal(first, second)


def test_second_draw_overrules_an_accidental_zero():
    engine = OracleEngine(dense_dag(3))
    i, j = np.argwhere(np.triu(engine.adjacency()))[0]
    before = engine.adjacency()
    engine._theta[0, i, j] = engine._theta[0, j, i] = 0
    np.testing.assert_array_equal(engine.adjacency(), before)
    assert engine.degrees().tolist() == before.sum(axis=0).tolist()


@given(st.integers(1, oracle_kernels.PRIME - 1))
def test_inverse_modulo_the_prime(x):
    assert oracle_kernels.inverse(x) * x % oracle_kernels.PRIME == 1


def spoilt_engine(recompute):
    K = np.eye(4)
    K[0, 1] = K[1, 0] = 1.0
    K[2, 3] = K[3, 2] = 0.5
    return DenseEngine(K, FisherZ(100, 0.01), recompute=recompute)


def test_deterministic_pair_is_recomputed_once():
    asked = []

    def recompute(variables):
        asked.append(variables.tolist())
        return np.eye(len(variables))

    engine = spoilt_engine(recompute)
    engine.remove(0)
    assert asked == [[3, 1, 2]]
    assert not engine.adjacency().any()


@pytest.mark.parametrize("recompute", [None, lambda variables: np.full((len(variables),) * 2, np.nan)])
def test_deterministic_pair_without_rescue_names_the_variables(recompute):
    with pytest.raises(LostPrecision) as caught:
        spoilt_engine(recompute).remove(0)
    assert caught.value.variables == (0, 1)
