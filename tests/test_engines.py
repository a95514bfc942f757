"""One contract for all engines, then what is particular to each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import engine_contract as contract
import reference
from devices import GPU, on_gpu
from kernel_parts import entry
from rfdag.eliminate import DenseEngine, FisherZ, LostPrecision, OracleEngine, Tolerance
from rfdag.eliminate.engines.gpu import GpuEngine
from rfdag.eliminate.engines.gpu_oracle import GpuOracleEngine
from rfdag.eliminate.engines.sparse import SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.kernels import oracle as oracle_kernels
from rfdag.evidence.moments import Moments
from rfdag.independence import ByTests, Questions
from rfdag.independence.d_separation import DSeparation
from rfdag.simulate import dense_dag, linear_sem, random_dag, sample
from strategies import dags, samples

seeds = st.integers(0, 2**32 - 1)
inverse = entry(oracle_kernels.inverse)
DENSE = {"cpu": DenseEngine, "gpu": GpuEngine}
ORACLES = {"cpu": OracleEngine, "gpu": GpuOracleEngine}
on_each = pytest.mark.parametrize("device", ["cpu", GPU])


def oracle(dag, generator):
    return OracleEngine(dag, seed=int(generator.integers(2**31)))


def oracle_in_threads(dag, generator):
    return OracleEngine(dag, threads=3)


def exact_precision(dag, generator):
    sem = linear_sem(dag, generator)
    partial = Moments.from_precision(sem.precision(), None).partial_correlations()
    return DenseEngine(partial, Tolerance(), pairs="neighbours")


def by_tests(conditioning):
    def make(dag, generator):
        asked = Questions(DSeparation(dag), range(len(dag)), "d-separation")
        evidence = ByTests(asked, conditioning=conditioning, kind="dag")
        return evidence.engine(alpha=0.01, pairs="neighbours", threads=1)

    return make


def sparse_oracle(dag, generator):
    return SparseOracleEngine(csr_array(dag), seed=int(generator.integers(2**31)))


def sparse_precision(dag, generator):
    sem = linear_sem(dag, generator)
    partial = Moments.from_precision(sem.precision(), None).partial_correlations()
    return SparseEngine(csr_array(partial), Tolerance())


def oracle_on_gpu(dag, generator):
    return GpuOracleEngine(dag, seed=int(generator.integers(2**31)))


def exact_precision_on_gpu(dag, generator):
    sem = linear_sem(dag, generator)
    partial = Moments.from_precision(sem.precision(), None).partial_correlations()
    return GpuEngine(partial, Tolerance(), pairs="neighbours")


EXACT = [
    oracle,
    oracle_in_threads,
    exact_precision,
    sparse_oracle,
    sparse_precision,
    pytest.param(by_tests("all"), id="by_tests"),
    pytest.param(by_tests("blanket"), id="by_tests_given_blankets"),
    pytest.param(oracle_on_gpu, marks=on_gpu),
    pytest.param(exact_precision_on_gpu, marks=on_gpu),
]


@pytest.mark.parametrize("make", EXACT)
@given(dags(), seeds)
def test_exact_engines_agree_with_d_separation(make, dag, seed):
    generator = np.random.default_rng(seed)
    contract.check_whole_elimination(make(dag, generator), reference.Population(dag), generator)


@pytest.mark.parametrize("threads", [1, 3, GPU])
@pytest.mark.parametrize("pairs", ["all", "neighbours"])
@given(samples(), seeds, st.sampled_from([0.001, 0.05, 0.3]))
def test_dense_engine_agrees_with_inverting_every_covariance(pairs, threads, rows, seed, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    engine = dense(rows, alpha, pairs, threads)
    contract.check_whole_elimination(engine, world, np.random.default_rng(seed), pairs)


@given(samples(), seeds, st.sampled_from([0.001, 0.05, 0.3]))
def test_sparse_engine_follows_a_moving_threshold(rows, seed, alpha):
    world = reference.Sample(np.cov(rows.T), len(rows), alpha)
    partial = Moments.from_data(rows).partial_correlations()
    engine = SparseEngine(csr_array(partial), FisherZ(len(rows), alpha))
    contract.check_whole_elimination(engine, world, np.random.default_rng(seed))


@pytest.mark.parametrize("make", EXACT)
@given(dags(), seeds)
def test_copies_are_independent(make, dag, seed):
    contract.check_copy(make(dag, np.random.default_rng(seed)))


@pytest.mark.parametrize("threads", [1, GPU])
@given(samples())
def test_copies_of_data_are_independent(threads, rows):
    contract.check_copy(dense(rows, 0.05, threads=threads))


def dense(rows, alpha, pairs="all", threads=1):
    partial, threshold = Moments.from_data(rows).partial_correlations(), FisherZ(len(rows), alpha)
    if threads == "gpu":
        return GpuEngine(partial, threshold, pairs=pairs)
    return DenseEngine(partial, threshold, pairs=pairs, threads=threads)


@pytest.mark.parametrize("threads", [1, 2, GPU])
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


@pytest.mark.parametrize("threads", [1, GPU])
def test_scores_of_a_removal_do_not_depend_on_listing_its_edges(threads):
    generator = np.random.default_rng(6)
    rows = sample(linear_sem(random_dag(40, degree=5, rng=generator), generator), 300, generator)
    listing, counting = dense(rows, 0.01, threads=threads), dense(rows, 0.01, threads=threads)
    for _ in range(40):
        position = int(generator.integers(len(listing.remaining)))
        first, second = listing.remove(position, with_edges=True), counting.remove(position)
        assert (first.removal, first.fill) == (second.removal, second.fill)
        assert (len(first.removed), len(first.filled)) == (second.removal, second.fill)


@on_each
@given(dags(max_nodes=8), seeds)
def test_rank_one_step_equals_inverse_of_marginal_covariance(device, dag, seed):
    generator = np.random.default_rng(seed)
    sem = linear_sem(dag, generator)
    engine = DENSE[device](Moments.from_precision(sem.precision(), None).partial_correlations(), Tolerance())
    covariance = sem.covariance()
    while len(engine.remaining) > 1:
        engine.remove(int(generator.integers(len(engine.remaining))))
        left = engine.remaining
        theta = np.linalg.inv(covariance[np.ix_(left, left)])
        scale = np.sqrt(np.diag(theta))
        expected = -theta / scale / scale[:, None]
        np.fill_diagonal(expected, 1.0)
        np.testing.assert_allclose(engine.partial, expected, atol=1e-9)


@on_each
def test_oracle_is_exact_where_floats_are_not(device):
    """At density ½ and p = 150 an elimination in doubles misreads edges; the finite field does not."""
    dag = random_dag(150, 0.5, rng=1)
    engine = ORACLES[device](dag)
    generator = np.random.default_rng(2)
    from rfdag.graphs import moral_subgraph

    for step in range(120):
        engine.remove(int(generator.integers(len(engine.remaining))))
        if step % 40 == 39:
            expected = moral_subgraph(dag, engine.remaining)
            np.testing.assert_array_equal(engine.adjacency(), expected)


@on_each
def test_oracle_draws_anew_when_a_pivot_is_zero(device):
    dag = random_dag(8, 0.25, rng=3)
    engine, plain = ORACLES[device](dag), ORACLES[device](dag)
    engine.remove(2)
    plain.remove(2)
    engine._theta[0, 4, 4] = 0
    engine.remove(4)
    plain.remove(4)
    assert engine._seed != plain._seed
    assert sorted(engine.remaining) == sorted(plain.remaining) == [0, 1, 3, 5, 6, 7]
    by_variable = np.argsort(engine.remaining), np.argsort(plain.remaining)
    first, second = (state.adjacency()[np.ix_(at, at)] for state, at in zip((engine, plain), by_variable, strict=True))
    np.testing.assert_array_equal(first, second)


@on_each
def test_second_draw_overrules_an_accidental_zero(device):
    engine = ORACLES[device](dense_dag(3))
    i, j = np.argwhere(np.triu(engine.adjacency()))[0]
    before = engine.adjacency()
    engine._theta[0, i, j] = engine._theta[0, j, i] = 0
    np.testing.assert_array_equal(engine.adjacency(), before)
    assert engine.degrees().tolist() == before.sum(axis=0).tolist()


@given(st.integers(1, oracle_kernels.PRIME - 1))
def test_inverse_modulo_the_prime(x):
    assert inverse(x) * x % oracle_kernels.PRIME == 1


def spoilt_engine(recompute, device):
    K = np.eye(4)
    K[0, 1] = K[1, 0] = 1.0
    K[2, 3] = K[3, 2] = 0.5
    return DENSE[device](K, FisherZ(100, 0.01), recompute=recompute)


@on_each
def test_deterministic_pair_is_recomputed_once(device):
    asked = []

    def recompute(variables):
        asked.append(variables.tolist())
        return np.eye(len(variables))

    engine = spoilt_engine(recompute, device)
    engine.remove(0)
    assert asked == [[3, 1, 2]]
    assert not engine.adjacency().any()


def near_copies(noise, seed):
    """Rows in which five columns nearly repeat five others, and the moments that say so."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(60, 30))
    rows[:, 1:10:2] = rows[:, 0:10:2] + noise * generator.normal(size=(60, 5))
    return rows


@pytest.mark.parametrize("pairs", ["all", "neighbours"])
@pytest.mark.parametrize("noise", [1e-3, 2e-7, 1e-9])
@pytest.mark.parametrize("seed", [7, 9, 15])
@on_each
def test_drift_stays_below_the_stated_rounding(device, noise, seed, pairs):
    """Each rank-one step divides errors by 1 − K²; the engine must start afresh before they show."""
    moments = Moments.from_data(near_copies(noise, seed))
    engine = DENSE[device](
        moments.partial_correlations(), FisherZ(60, 0.05), pairs=pairs, recompute=moments.partial_correlations
    )
    allowed = max(1e-10, 1e-14 * moments.condition())
    generator = np.random.default_rng(seed)
    while len(engine.remaining) > 2:
        v = len(engine.remaining)
        position = int(generator.integers(v))
        happened = engine.remove(position, with_edges=True)
        if pairs == "all":
            assert (happened.removal, happened.fill) == (len(happened.removed), len(happened.filled))
        fresh = moments.partial_correlations(engine.remaining)
        np.testing.assert_allclose(engine.partial, fresh, atol=allowed)


@on_each
def test_counts_after_a_fresh_start_are_those_before_it(device):
    """A removal's fill is what the removal did, not what starting afresh did."""
    moments = Moments.from_data(near_copies(2e-7, 7))
    engines = [
        DENSE[device](moments.partial_correlations(), FisherZ(60, 0.05), recompute=moments.partial_correlations)
        for _ in range(2)
    ]
    for step in range(30):
        position = (7 * step) % len(engines[0].remaining)
        listing, counting = engines[0].remove(position, with_edges=True), engines[1].remove(position)
        assert (listing.removal, listing.fill) == (counting.removal, counting.fill)
        assert counting.fill >= 0


@on_each
def test_a_variable_beyond_one_is_recomputed(device):
    """Inconsistent partial correlations lead outside [−1, 1] after one step."""
    K = np.eye(3)
    K[0, 1] = K[1, 0] = K[0, 2] = K[2, 0] = K[1, 2] = K[2, 1] = 0.9
    asked = []

    def recompute(variables):
        asked.append(variables.tolist())
        return np.eye(len(variables))

    DENSE[device](K, FisherZ(100, 0.01), recompute=recompute).remove(0)
    assert asked == [[2, 1]]
    # A little beyond is beyond.
    K[0, 1] = K[1, 0] = K[0, 2] = K[2, 0] = 0.7
    K[1, 2] = K[2, 1] = 0.122
    DENSE[device](K, FisherZ(100, 0.01), recompute=recompute).remove(0)
    assert asked == [[2, 1], [2, 1]]


@on_each
def test_the_last_variable_needs_no_data(device):
    K = np.ones((2, 2))
    engine = DENSE[device](K, FisherZ(100, 0.01))
    engine.remove(0)
    assert engine.remaining.tolist() == [1]
    assert engine.degrees().tolist() == [0]


@on_each
def test_more_changes_than_there_was_room_for(device):
    """With a threshold of almost nothing, every pair of a sparse K fills at once."""
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(400, 40))
    engine = dense(rows, 0.9, threads="gpu" if device == "gpu" else 1)
    changed = engine.remove(0, with_edges=True)
    assert len(changed.removed) + len(changed.filled) == changed.removal + changed.fill
    star = np.eye(40)
    star[0, 1:] = star[1:, 0] = 0.15
    filled = DENSE[device](star, Tolerance()).remove(0, with_edges=True).filled
    assert len(filled) == 39 * 38 // 2


def test_second_draw_overrules_an_accidental_removal():
    engine = OracleEngine([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    theta = engine._theta
    prime = oracle_kernels.PRIME
    # Make the first draw say that removing 2 would part 0 and 1.
    theta[0, 0, 1] = theta[0, 1, 0] = theta[0, 0, 2] * theta[0, 1, 2] % prime * inverse(theta[0, 2, 2]) % prime
    assert engine.removals().tolist() == [0, 0, 0]


@on_each
@pytest.mark.parametrize("recompute", [None, lambda variables: np.full((len(variables),) * 2, np.nan)])
def test_deterministic_pair_without_rescue_names_the_variables(recompute, device):
    with pytest.raises(LostPrecision) as caught:
        spoilt_engine(recompute, device).remove(0)
    assert caught.value.variables == (0, 1)


@pytest.mark.parametrize("condition", [1e5, 1e7, 1e9])
@on_each
def test_long_eliminations_of_ill_conditioned_columns_do_not_drift(device, condition):
    """No pair is close to ±1 here: it is the sum of many removals that leaves little of a variance."""
    generator = np.random.default_rng(5)
    directions, _ = np.linalg.qr(generator.normal(size=(150, 150)))
    moments = Moments.from_data(generator.normal(size=(300, 150)) * np.geomspace(1, 1 / condition, 150) @ directions)
    K = moments.partial_correlations()
    engine = DENSE[device](K, FisherZ(300, 0.001), recompute=moments.partial_correlations)
    alone = DENSE[device](K, FisherZ(300, 0.001))
    while len(engine.remaining) > 20:
        position = int(generator.integers(len(engine.remaining)))
        engine.remove(position)
        # Further on, it hangs on the processor whether it is spoilt, and there is nothing left to compare.
        if alone.drift < 1e-3:
            alone.remove(position)
    fresh = moments.partial_correlations(engine.remaining)
    np.testing.assert_allclose(engine.partial, fresh, atol=max(1e-10, 1e-15 * moments.condition()))
    off = np.abs(alone.partial - moments.partial_correlations(alone.remaining)).max()
    assert off > 1e-10
    assert off / 100 < alone.drift < 10 * off


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0])
@on_each
def test_an_invalid_entry_is_noticed_wherever_it_is(device, value):
    generator = np.random.default_rng(6)
    moments = Moments.from_data(generator.normal(size=(60, 9)))
    engine = DENSE[device](moments.partial_correlations(), FisherZ(60, 0.05), recompute=moments.partial_correlations)
    engine._K[3, 7] = engine._K[7, 3] = value
    engine.remove(0)
    np.testing.assert_allclose(engine.partial, moments.partial_correlations(engine.remaining), atol=1e-12)
