"""Sparse input: the same answers as the dense way gives, sparse arrays in and out, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from typer.testing import CliRunner

import rfdag
from kernel_parts import entry
from rfdag import graphs, metrics
from rfdag.cli import app
from rfdag.eliminate import DenseEngine, FisherZ, LostPrecision, OracleEngine, Tolerance, eliminate
from rfdag.eliminate.engines.sparse import SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.kernels import field_arithmetic as field
from rfdag.eliminate.sparse_elimination import eliminate_sparse
from rfdag.errors import DataError, GraphError, MatrixError, OptionError
from rfdag.evidence.gpu import placed
from rfdag.evidence.moments import Moments
from rfdag.evidence.sparse import SparseOracle
from rfdag.graphs.sparse import entries_at
from rfdag.simulate import block_dag, linear_sem, random_dag, sample, standardise
from strategies import dags

RULES = ["rfd", "min-degree", "min-fill", "max-remove"]
FORMATS = [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix, sparse.dok_array]
product, reciprocal, difference, is_unit = map(
    entry, (field.product, field.reciprocal, field.difference, field.is_unit)
)
sizes = st.integers(2, 30)
seeds = st.integers(0, 2**32 - 1)


def assert_same(dense, found):
    """Order, DAG and every column of the trace agree."""
    assert found.order.tolist() == dense.order.tolist()
    np.testing.assert_array_equal(found.dag.toarray(), dense.dag)
    for name in ("node", "removal", "fill", "degree", "ties", "threshold", "search"):
        np.testing.assert_array_equal(getattr(found.trace, name), getattr(dense.trace, name), err_msg=name)
    assert found.trace.capped == dense.trace.capped
    np.testing.assert_allclose(found.trace.smallest_margin, dense.trace.smallest_margin, atol=1e-11)


def partial_of(dag, seed):
    return Moments.from_precision(linear_sem(dag, seed).precision(), None).partial_correlations()


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(sizes, st.floats(0.0, 0.5), seeds)
def test_oracle_eliminates_as_the_dense_one(rule, p, density, seed):
    dag = random_dag(p, density, seed)
    assert_same(eliminate(OracleEngine(dag), rule), eliminate_sparse(SparseOracleEngine(sparse.csr_array(dag)), rule))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "threshold",
    [Tolerance(), Tolerance(0.05), FisherZ(34, 0.3), FisherZ(130, 0.1), FisherZ(2000, 0.01)],
    ids=["exact", "cut", "few", "some", "many"],
)
@settings(max_examples=15)
@given(sizes, st.floats(0.0, 0.4), seeds)
def test_partial_correlations_eliminate_as_the_dense_ones(rule, threshold, p, density, seed):
    """Thresholds in the midst of the values, fixed or moving, leave no score stale."""
    K = partial_of(random_dag(p, density, seed), seed)
    dense = eliminate(DenseEngine(K, threshold, pairs="neighbours"), rule)
    assert_same(dense, eliminate_sparse(SparseEngine(sparse.csr_array(K), threshold), rule))


@given(st.integers(2, 16), st.floats(0.1, 0.6), seeds)
def test_scores_are_never_stale(p, density, seed):
    """After every removal the scores kept up to date equal those of an engine that scores everything again."""
    generator = np.random.default_rng(seed)
    dag = random_dag(p, density, generator)
    K = sparse.csr_array(partial_of(dag, generator))
    for engine in (SparseOracleEngine(sparse.csr_array(dag)), SparseEngine(K, FisherZ(40, 0.2))):
        while engine.left:
            engine.remove(int(generator.integers(engine.left)))
            fresh = engine.copy()
            fresh._rule = None
            for name in ("degrees", "removals", "fills"):
                assert getattr(engine, name)().tolist() == getattr(fresh, name)().tolist(), name


@settings(max_examples=20)
@given(dags(max_nodes=7), st.integers(2, 3))
def test_depth_looks_ahead_as_the_dense_engine_does(dag, depth):
    dense = eliminate(OracleEngine(dag), depth=depth)
    assert_same(dense, eliminate_sparse(SparseOracleEngine(sparse.csr_array(dag)), depth=depth))


@pytest.mark.parametrize("rule", ["rfd", "random"])
def test_ties_are_broken_at_random_and_evenly(rule):
    """Of three isolated nodes, each comes last equally often."""
    engine = SparseOracleEngine(sparse.csr_array((3, 3), dtype=np.int8))
    counts = np.zeros(3)
    for seed in range(300):
        found = eliminate_sparse(engine.copy(), rule, generator=np.random.default_rng(seed))
        assert found.trace.ties.tolist() == [3, 2, 1]
        counts[found.order[-1]] += 1
    assert (np.abs(counts - 100) < 45).all()


def test_random_ties_can_be_repeated():
    dag = random_dag(300, degree=3, rng=1, sparse=True)
    orders = [rfdag.learn(dag, input="dag", random_state=seed).order for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_lists_grow_and_move_when_removals_fill():
    """Removing at random fills the graph until nearly everything is joined."""
    dag = random_dag(120, degree=5, rng=3)
    dense, engine = OracleEngine(dag), SparseOracleEngine(sparse.csr_array(dag))
    pool = len(engine._state.neighbour)
    for variable in np.random.default_rng(4).permutation(120):
        first = dense.remove(int(np.flatnonzero(dense.remaining == variable)[0]))
        second = engine.remove(int(np.searchsorted(engine.remaining, variable)))
        assert sorted(first.parents.tolist()) == second.parents.tolist()
        assert (first.removal, first.fill) == (second.removal, second.fill)
    assert len(engine._state.neighbour) > pool


def test_entries_that_cancel_leave_the_lists():
    dag = random_dag(200, degree=4, rng=5, sparse=True)
    evidence = linear_sem(dag, 6).precision()
    roots = np.sqrt(evidence.diagonal())
    K = sparse.csr_array(-evidence / roots[:, None] / roots)
    engine = SparseEngine(K, Tolerance())
    order = graphs.topological_order(dag)
    for variable in order[:0:-1]:
        engine.remove(int(np.searchsorted(engine.remaining, variable)))
        left = engine.remaining
        among = dag[left][:, left]
        moral = among + among.T + among @ among.T
        assert engine._state.counters[2] == (sparse.triu(moral, 1).nnz + sparse.tril(moral, -1).nnz)


def test_a_zero_pivot_is_drawn_anew():
    dag = sparse.csr_array(random_dag(40, degree=4, rng=3))
    plain, engine = SparseOracleEngine(dag), SparseOracleEngine(dag)
    plain.remove(7), engine.remove(7)
    victim = int(engine.remaining[engine.degrees() > 0][0])
    engine._state.diagonal[victim] &= field.PRIME
    assert_same_state(engine, plain)
    engine.remove(int(np.searchsorted(engine.remaining, victim)))
    plain.remove(int(np.searchsorted(plain.remaining, victim)))
    assert engine._seed != plain._seed
    assert_same_state(engine, plain)
    engine.run()
    plain.run()
    assert engine.dag().toarray().tolist() == plain.dag().toarray().tolist()


def assert_same_state(engine, plain):
    np.testing.assert_array_equal(engine.adjacency(), plain.adjacency())
    assert engine.removals().tolist() == plain.removals().tolist()


def test_second_half_overrules_an_accidental_zero():
    dag = sparse.csr_array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    engine = SparseOracleEngine(dag)
    state = engine._state
    for end, other in ((0, 1), (1, 0)):
        at = next(e for e in range(state.start[end], state.start[end] + 2) if state.neighbour[e] == other)
        state.value[at] &= field.PRIME
    assert engine.removals().tolist() == [0, 0, 0]
    assert engine.degrees().tolist() == [2, 2, 2]


@given(st.integers(1, field.PRIME - 1), st.integers(1, field.PRIME - 1), st.integers(0, field.PRIME - 1))
def test_arithmetic_of_pairs(x, y, z):
    def pack(high, low):
        return (high << field.BITS) | low

    assert product(reciprocal(pack(x, y)), pack(x, y)) == field.ONE
    assert difference(pack(x, z), pack(z, y)) == pack((x - z) % field.PRIME, (z - y) % field.PRIME)
    assert product(pack(x, z), pack(z, y)) == pack(x * z % field.PRIME, z * y % field.PRIME)
    assert is_unit(pack(x, y))
    assert not is_unit(pack(x, 0))
    assert not is_unit(pack(0, y))


@pytest.mark.parametrize("form", FORMATS)
def test_learn_takes_any_format(form):
    dag = random_dag(25, degree=3, rng=2)
    precision = linear_sem(dag, 3).precision()
    for matrix, input in ((dag, "dag"), (precision, "precision")):
        dense, found = (rfdag.learn(given, input=input, method="rfd") for given in (matrix, form(matrix)))
        assert found.order == dense.order
        assert isinstance(found.dag, sparse.csr_array)
        assert found.dag.dtype == found.cpdag.dtype == np.int8
        np.testing.assert_array_equal(found.dag.toarray(), dense.dag)
        np.testing.assert_array_equal(found.cpdag.toarray(), dense.cpdag)
        assert rfdag.learn(form(matrix), input=input).order == dense.order


def test_coefficients_of_an_exact_precision_matrix():
    precision = linear_sem(random_dag(30, degree=3, rng=2), 3, variances=np.linspace(0.5, 4, 30)).precision()
    dense = rfdag.learn(precision, input="precision", method="rfd")
    found = rfdag.learn(sparse.csr_array(precision), input="precision", method="rfd")
    np.testing.assert_allclose(found.coefficients.toarray(), dense.coefficients, atol=1e-10)
    np.testing.assert_allclose(found.residual_variances, dense.residual_variances, rtol=1e-10)
    assert found.partial_correlations is None
    estimate = rfdag.learn(sparse.csr_array(precision), input="precision", n_samples=500)
    assert estimate.coefficients is estimate.residual_variances is None
    assert estimate.n_samples == 500


def test_a_sparse_result_in_all_its_forms(tmp_path):
    dag = random_dag(30, degree=3, rng=7, sparse=True)
    names = [f"x{at}" for at in range(30)]
    result = rfdag.learn(linear_sem(dag, 8).precision(), input="precision", names=names)
    dense = rfdag.learn(linear_sem(dag, 8).precision().toarray(), input="precision", names=names, method="rfd")
    bare = [(edge.source, edge.target, edge.directed) for edge in result.edges]
    assert bare == [(edge.source, edge.target, edge.directed) for edge in dense.edges]
    assert result.to_frame()["source"].tolist() == [edge.source for edge in result.edges]
    assert set(result.to_networkx().edges) == {(edge.source, edge.target) for edge in result.edges}
    assert f"edges: {result.dag.nnz}" in str(result)
    assert repr(result).startswith(f"Result(30 variables, {result.dag.nnz} edges")
    loaded = rfdag.load(result.save(tmp_path / "result.json"))
    assert isinstance(loaded.dag, sparse.csr_array)
    assert loaded.edges == result.edges
    assert (loaded.coefficients != result.coefficients).nnz == 0
    assert loaded.causal_order.tolist() == result.causal_order.tolist()
    with pytest.raises(ValueError, match="read-only"):
        result.dag.data[0] = 5


def test_entries_are_found_in_rows_that_are_not_sorted():
    matrix = sparse.csr_array((np.array([3, 2, 1]), np.array([2, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 3))
    assert not matrix.has_sorted_indices
    rows, columns = np.indices((3, 3)).reshape(2, -1)
    assert entries_at(matrix, rows, columns).tolist() == matrix.toarray().ravel().tolist()


def test_no_edges_at_all(tmp_path):
    result = rfdag.learn(sparse.eye_array(3), input="precision")
    assert result.edges == ()
    assert result.cpdag.nnz == 0
    assert len(result.to_frame()) == 0
    assert rfdag.load(result.save(tmp_path / "empty.json")).edges == ()
    assert rfdag.learn(sparse.csr_array((1, 1)), input="dag").order == (0,)


def test_input_is_put_in_order_and_left_as_it_is():
    """Explicit zeros, unsorted indices and duplicates are mended in a copy."""
    plain = linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], 1).precision()
    indices = np.array([2, 0, 1, 1, 2, 2, 1, 0])
    data = np.array([plain[0, 2], plain[0, 0], plain[0, 1], plain[1, 1], plain[1, 2], 0.0, 0.0, 0.0])
    data[5:] = plain[2, 2], plain[2, 1], plain[2, 0]
    rows = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    messy = sparse.coo_array(
        (np.r_[data, plain[1, 0] - 1, 1.0], (np.r_[rows, 1, 1], np.r_[indices, 0, 0])), shape=(3, 3)
    )
    before = [array.copy() for array in (messy.data, *messy.coords)]
    assert rfdag.learn(messy, input="precision").edges == rfdag.learn(sparse.csr_array(plain), input="precision").edges
    for array, was in zip((messy.data, *messy.coords), before, strict=True):
        np.testing.assert_array_equal(array, was)
    unsorted = sparse.csr_array((np.array([1, 1, 0]), np.array([2, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))
    found = rfdag.learn(unsorted, input="dag")
    assert unsorted.indices.tolist() == [2, 1, 0]
    assert {frozenset(edge[:2]) for edge in found.edges} == {frozenset((0, 1)), frozenset((0, 2))}


def spoilt(row, column, value, symmetric=True):
    matrix = sparse.lil_array(np.eye(4) * 2 + 0.5)
    matrix[row, column] = value
    if symmetric:
        matrix[column, row] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (spoilt(1, 2, np.nan), ["missing or infinite", "'b'", "'c'"]),
        (spoilt(1, 2, np.inf), ["missing or infinite", "'b'"]),
        (spoilt(2, 2, 0.0), ["diagonal", "'c'"]),
        (spoilt(2, 2, -1.0), ["diagonal", "'c'"]),
        (spoilt(0, 3, 0.7, symmetric=False), ["not symmetric", "'a'", "'d'", "0.7", "0.5"]),
        (spoilt(0, 3, 0.0, symmetric=False), ["not symmetric", "'a'", "'d'", "not stored"]),
        (spoilt(0, 3, 3.0), ["not positive definite", "'a'", "'d'", "beyond"]),
        (sparse.csr_array(np.eye(4) * 1.0 - 0.45 + 0.45 * np.eye(4)), ["not positive definite"]),
        (sparse.csr_array((3, 4)), ["shape \\(3, 4\\)", "square"]),
        (sparse.csr_array(np.eye(4) * 1j), ["complex128", "real numbers"]),
    ],
)
def test_matrices_that_are_no_precision(matrix, words):
    with pytest.raises(MatrixError) as caught:
        rfdag.learn(matrix, input="precision", names=list("abcd"))
    for word in words:
        assert caught.match(word)


def test_a_lost_definiteness_names_the_variables():
    """Pairwise fine, jointly impossible: only the elimination notices."""
    matrix = np.eye(4)
    matrix[:3, :3] += 0.6 * (1 - np.eye(3)) * np.array([[1, 1, -1], [1, 1, 1], [-1, 1, 1]])
    assert np.linalg.eigvalsh(matrix).min() < 0
    with pytest.raises(MatrixError, match=r"not positive definite.*nothing is left of the variance"):
        rfdag.learn(sparse.csr_array(matrix), input="precision")
    with pytest.raises(LostPrecision):
        eliminate_sparse(SparseEngine(sparse.csr_array(-matrix), Tolerance()))


def test_graphs_that_are_no_dag():
    cyclic = sparse.csr_array(np.roll(np.eye(4), 1, axis=1))
    with pytest.raises(GraphError, match=r"cycle 'a' → 'b' → 'c' → 'd' → 'a'"):
        rfdag.learn(cyclic, input="dag", names=list("abcd"))
    with pytest.raises(GraphError, match="cycle 2 → 2"):
        graphs.as_dag(sparse.csr_array(np.diag([0, 0, 1])))
    with pytest.raises(GraphError, match="square"):
        rfdag.learn(sparse.csr_array((2, 3)), input="dag")
    with pytest.raises(GraphError, match="no nodes"):
        rfdag.learn(sparse.csr_array((0, 0)), input="dag")
    with pytest.raises(OptionError, match="names has 2"):
        rfdag.learn(cyclic, input="dag", names=["a", "b"])
    long_cycle = sparse.csr_array(np.roll(np.eye(400), 1, axis=1))
    with pytest.raises(GraphError, match="…"):
        rfdag.learn(long_cycle, input="dag")


@pytest.mark.parametrize(
    "options",
    [
        {"refine": True},
        {"parents": "bic"},
        {"beam": 4},
        {"penalty": [1, 2]},
        {"gamma": 0.5},
        {"restarts": 3},
        {"search_for": 3.0, "refine": True},
        {"method": "sp"},
        {"method": "gsp"},
        {"blocks": True},
    ],
)
def test_options_without_sense_are_refused(options):
    with pytest.raises(OptionError, match=r"sparse input|whole orders|Blocks are found|needs rows, and dense matrices"):
        rfdag.learn(sparse.eye_array(4), input="precision", **options)


def test_sparse_input_stays_on_the_cpu():
    with pytest.raises(OptionError, match="eliminated on the CPU"):
        placed(SparseOracle(("a", "b"), sparse.csr_array((2, 2))), "cuda")


def test_inputs_that_cannot_be_sparse():
    with pytest.raises(DataError, match="toarray"):
        rfdag.learn(sparse.eye_array(4))
    for input in ("correlation", "covariance"):
        with pytest.raises(OptionError, match=r"input='precision' or input='dag'"):
            rfdag.learn(sparse.eye_array(4), input=input, n_samples=100)
    with pytest.raises(OptionError, match="n_samples"):
        rfdag.learn(sparse.eye_array(4), input="precision", n_samples=1)
    with pytest.raises(DataError, match="more than 5 rows"):
        rfdag.learn(sparse.eye_array(4), input="precision", n_samples=5)


def test_progress_is_shown_and_ends():
    shares = []
    rfdag.learn(random_dag(2000, degree=4, sparse=True), input="dag", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    assert len(shares) >= 2


@pytest.mark.parametrize("kind", ["dag", "precision"])
def test_the_program_reads_sparse_files(tmp_path, kind):
    dag = random_dag(30, degree=3, rng=1, sparse=True)
    matrix = dag if kind == "dag" else linear_sem(dag, 2).precision()
    sparse.save_npz(tmp_path / "matrix.npz", matrix)
    arguments = ["learn", str(tmp_path / "matrix.npz"), "--input", kind, "--json", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 0, ended.output
    expected = rfdag.learn(matrix, input=kind)
    assert json.loads(ended.stdout)["order"] == list(expected.order)
    assert rfdag.load(tmp_path / "out" / "result.json").edges == expected.edges


def test_the_program_shows_a_long_order_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr("rfdag.commands.digest.ORDER_SHOWN", 5)
    monkeypatch.setattr("rfdag.commands.learn.MOST_DRAWN", 3)
    sparse.save_npz(tmp_path / "dag.npz", random_dag(30, degree=3, rng=1, sparse=True))
    arguments = ["learn", str(tmp_path / "dag.npz"), "--input", "dag", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, arguments)
    assert "and 25 more" in ended.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["edges.csv", "order.txt", "result.json"]


@given(dags(max_nodes=8))
def test_sparse_graphs_answer_like_full_ones(dag):
    thin = sparse.csc_array(dag)
    np.testing.assert_array_equal(graphs.cpdag(thin).toarray(), graphs.cpdag(dag))
    assert graphs.topological_order(thin).tolist() == graphs.topological_order(dag).tolist()
    assert graphs.find_cycle(thin) == []


@given(dags(max_nodes=7), st.data())
def test_sparse_metrics_are_those_of_full_graphs(true, data):
    found = data.draw(dags(len(true), len(true)))
    order = data.draw(st.permutations(range(len(true))))
    for one, other in ((true, found), (graphs.cpdag(true), graphs.cpdag(found)), (true, graphs.cpdag(found))):
        thin = sparse.csr_array(one), sparse.coo_array(other)
        assert metrics.shd(*thin) == metrics.shd(thin[0], other) == metrics.shd(one, other)
        np.testing.assert_equal(metrics.skeleton(*thin), metrics.skeleton(one, other))
        np.testing.assert_equal(metrics.order_error(thin[0], order), metrics.order_error(one, order))


def test_metrics_that_need_full_matrices_say_so():
    thin = sparse.csr_array([[0, 1], [0, 0]])
    for measure in (metrics.sid, metrics.aid, lambda one, other: metrics.edge_ratio(one, [0, 1])):
        with pytest.raises(GraphError, match="toarray"):
            measure(thin, thin)
    with pytest.raises(GraphError, match="2 and 3 nodes"):
        metrics.shd(thin, sparse.csr_array((3, 3)))


def test_sparse_random_graphs_have_their_distribution():
    counts = np.zeros((5, 5))
    for seed in range(600):
        counts += random_dag(5, 0.4, seed, sparse=True).toarray()
    pairs = (counts + counts.T)[np.triu_indices(5, 1)] / 600
    np.testing.assert_allclose(pairs, 0.4, atol=0.09)
    np.testing.assert_allclose(counts[np.triu_indices(5, 1)] / 600, 0.2, atol=0.08)
    assert random_dag(6, 1.0, sparse=True).nnz == 15
    assert random_dag(1, 0.5, sparse=True).nnz == 0
    large = random_dag(20_000, degree=4, rng=1, sparse=True)
    assert abs(large.nnz - 40_000) < 1000
    assert graphs.find_cycle(large) == []


def test_block_graphs_are_blocks():
    dag = block_dag([1, 7, 4, 30], degree=3, rng=5)
    count, labels = sparse.csgraph.connected_components(dag, directed=False)
    assert count >= 4
    assert np.bincount(labels).max() <= 30
    assert block_dag([3, 2], 1.0).nnz == 4
    assert block_dag([3, 2], degree=9.0).nnz == 4
    for wrong, words in (([], "at least one"), ([0, 2], "from 1 to .*, not 0")):
        with pytest.raises(OptionError, match=words):
            block_dag(wrong, density=0.5)
    with pytest.raises(OptionError, match="either density"):
        block_dag([2])
    with pytest.raises(OptionError, match="between 0 and 1"):
        block_dag([2], 1.5)


def test_a_sparse_model_is_the_full_one():
    dag = random_dag(12, 0.4, 3, sparse=True)
    model = linear_sem(dag, 4, variances=np.linspace(1, 2, 12))
    full = type(model)(model.weights.toarray(), model.variances)
    np.testing.assert_allclose(model.precision().toarray(), full.precision(), atol=1e-14)
    np.testing.assert_array_equal(model.dag.toarray(), dag.toarray())
    assert (np.abs(model.weights.data) >= 0.25).all()
    rows = sample(model, 100_000, 5)
    assert rows.shape == (100_000, 12)
    scale = np.sqrt(np.diag(full.covariance()))
    np.testing.assert_allclose(
        np.cov(rows.T) / scale / scale[:, None], full.covariance() / scale / scale[:, None], atol=0.03
    )
    for wrong in (model.covariance, lambda: standardise(model)):
        with pytest.raises((OptionError, GraphError), match="full matrix"):
            wrong()
