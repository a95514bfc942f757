"""Moments keep the accuracy that the data has."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rfdag
from rfdag.errors import DataError
from rfdag.evidence import copies, row_factor
from rfdag.evidence.copies import copied_pairs
from rfdag.evidence.moments import Moments
from rfdag.evidence.row_factor import RowFactor
from rfdag.evidence.screening import find_blocks
from rfdag.evidence.summary import Summary, reciprocal_condition
from rfdag.input.table import Table
from rfdag.simulate import LinearSEM, linear_sem, random_dag, sample
from strategies import samples


@given(samples())
def test_correlation_is_numpys(rows):
    moments = Moments.from_data(rows)
    np.testing.assert_allclose(moments.correlation, np.corrcoef(rows.T), atol=1e-10)
    np.testing.assert_allclose(moments.means, rows.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(moments.scales, rows.std(axis=0, ddof=1))


@given(samples())
def test_partial_correlations_are_those_of_the_inverse(rows):
    theta = np.linalg.inv(np.cov(rows.T))
    scale = np.sqrt(np.diag(theta))
    expected = -theta / scale / scale[:, None]
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(Moments.from_data(rows).partial_correlations(), expected, atol=1e-9)


def test_rows_in_pieces_give_the_same_moments(monkeypatch):
    rows = sample(linear_sem(random_dag(8, 0.5, rng=1), rng=1), 1000, rng=1)
    whole = Moments.from_data(rows)
    monkeypatch.setattr(row_factor, "CELLS_AT_ONCE", 7 * 8)
    pieces = Moments.from_data(rows)
    np.testing.assert_allclose(pieces.correlation, whole.correlation, atol=1e-13)
    np.testing.assert_allclose(pieces.partial_correlations(), whole.partial_correlations(), atol=1e-12)


def test_qr_survives_conditions_that_the_correlation_matrix_does_not():
    """At density ½ and p = 100 the correlation's condition is near 1e10: squaring it loses the digits.

    The ruler is the same computation in extended precision, by modified Gram–Schmidt twice.
    """
    rows = sample(linear_sem(random_dag(100, 0.5, rng=2), rng=2), 2000, rng=2)
    exact = _extended_partial_correlations(rows)
    by_qr = np.abs(Moments.from_data(rows).partial_correlations() - exact).max()
    theta = np.linalg.inv(np.corrcoef(rows.T))
    scale = np.sqrt(np.diag(theta))
    by_inverse = np.abs((-theta / scale / scale[:, None] - exact)[~np.eye(100, dtype=bool)]).max()
    assert by_qr < 1e-9
    assert by_inverse > 100 * by_qr


def _extended_partial_correlations(rows):
    q = rows.astype(np.longdouble)
    q -= q.mean(axis=0)
    p = q.shape[1]
    r = np.eye(p, dtype=np.longdouble)
    for _ in range(2):
        step = np.zeros((p, p), np.longdouble)
        for j in range(p):
            for i in range(j):
                step[i, j] = q[:, i] @ q[:, j]
                q[:, j] -= step[i, j] * q[:, i]
            step[j, j] = np.sqrt(q[:, j] @ q[:, j])
            q[:, j] /= step[j, j]
        r = step @ r
    inverse = np.zeros((p, p), np.longdouble)
    for j in range(p - 1, -1, -1):
        unit = np.zeros(p, np.longdouble)
        unit[j] = 1
        inverse[j] = (unit - r[j, j + 1 :] @ inverse[j + 1 :]) / r[j, j]
    inverse /= np.sqrt((inverse**2).sum(axis=1))[:, None]
    partial = -(inverse @ inverse.T)
    np.fill_diagonal(partial, 1.0)
    return partial.astype(float)


@pytest.mark.parametrize(("shift", "scale"), [(1e9, 1.0), (0.0, 1e200), (0.0, 1e-200), (-1e6, 1e-3)])
def test_huge_means_and_scales(shift, scale):
    rows = sample(linear_sem(random_dag(5, 0.6, rng=3), rng=3), 400, rng=3)
    plain = Moments.from_data(rows).partial_correlations()
    moved = Moments.from_data((rows + shift) * scale).partial_correlations()
    np.testing.assert_allclose(moved, plain, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "kind"), [([-128, 0], np.int8), ([-(2**63), 5], np.int64), ([1e307, -1.5e308], np.float64)]
)
def test_the_ends_of_the_number_range(values, kind):
    generator = np.random.default_rng(1)
    column = generator.choice(np.array(values, dtype=kind), 100)
    other = generator.integers(0, 2, 100).astype(kind)
    moments = Moments.from_data(np.column_stack([column, other]))
    expected = np.corrcoef(column / abs(float(values[1] or 1)), other)[0, 1]
    assert moments.correlation[0, 1] == pytest.approx(expected)


def exact_correlation(rows):
    """Return the correlations of the numbers as they are stored, in rational arithmetic."""
    columns = [[Fraction(x) for x in column] for column in rows.T.tolist()]
    means = [sum(column) / len(column) for column in columns]
    centred = [[x - mean for x in column] for column, mean in zip(columns, means, strict=True)]
    products = np.array([[float(sum(map(operator.mul, one, other))) for other in centred] for one in centred])
    roots = np.sqrt(products.diagonal())
    return products / np.outer(roots, roots)


@pytest.mark.parametrize("spread", [1e-8, 1e-12, 1e-13, 5e-15])
def test_what_varies_little_around_a_large_mean_keeps_the_digits_that_are_stored(spread):
    """Numbers near 1e9 with a spread of 1e-4 are hundreds of steps of double precision apart, not constant."""
    rows = 1e9 * (1 + spread * np.random.default_rng(4).normal(size=(300, 3)))
    rows[:, 2] += rows[:, 0] - 1e9
    found = Moments.from_data(rows)
    np.testing.assert_allclose(found.correlation, exact_correlation(rows), atol=2e-15)
    np.testing.assert_allclose(found.means, 1e9)
    np.testing.assert_allclose(found.scales, (rows - rows[0]).std(axis=0, ddof=1), rtol=1e-12)
    table = Table(rows, ("a", "b", "c"))
    summed_up = Moments.from_summary(table.fold(Summary.of, Summary.joined))
    np.testing.assert_allclose(summed_up.correlation, exact_correlation(rows), atol=2e-15)


def test_whole_numbers_are_never_rounded():
    rows = np.random.default_rng(1).integers(0, 9, size=(200, 2)) + 2**60
    np.testing.assert_allclose(Moments.from_data(rows).correlation, exact_correlation(rows), atol=1e-14)


def test_a_column_that_varies_by_rounding_alone_is_named_with_mean_and_spread():
    column = 1e6 + 1e-10 * np.random.default_rng(1).normal(size=50)
    assert len(set(column)) > 1
    words = r"Column 1 varies too little for its mean: around 1e\+06 .* 9.6e-11, .* 1.2e-10 apart. Subtract the mean"
    with pytest.raises(DataError, match=words):
        Moments.from_data(np.column_stack([np.arange(50.0), column]))
    many = np.column_stack([np.arange(50.0), column, column[::-1], -column])
    with pytest.raises(DataError, match=r"Column 'b' varies too little for its mean \(2 more columns likewise\)"):
        find_blocks(many, tuple("abcd"))
    with pytest.raises(DataError, match=r"constant: 'b'"):
        find_blocks(np.column_stack([np.arange(50.0), np.full(50, 1e6)]), tuple("ab"))


@given(samples(), st.integers(1, 9))
def test_rows_added_piece_by_piece_have_the_factor_of_all(rows, step):
    some = RowFactor(rows.shape[1])
    for start in range(0, len(rows), step):
        some.add(rows[start : start + step])
    np.testing.assert_allclose(some.factor.T @ some.factor, rows.T @ rows, atol=1e-9)
    assert not np.tril(some.factor, -1).any()


@pytest.mark.parametrize("kind", ["correlation", "covariance", "precision"])
def test_a_model_of_a_matrix_has_the_variances_of_that_matrix(kind):
    """A matrix is in units of its own; only variances of data are estimated, dividing by n."""
    rows = sample(linear_sem(random_dag(5, 0.6, rng=3), rng=3), 40, rng=3)
    given = np.corrcoef(rows.T) if kind == "correlation" else np.cov(rows.T)
    matrix = np.linalg.inv(given) if kind == "precision" else given
    result = rfdag.learn(matrix, input=kind, n_samples=40)
    complete = np.triu(np.ones((5, 5), np.int8), 1)
    residual = result.moments.regressions(complete)
    sem = LinearSEM(residual.coefficients, residual.variances)
    np.testing.assert_allclose(sem.covariance(), given, rtol=1e-9, atol=1e-12)
    root = result.causal_order[0]
    assert result.model().covariance()[root, root] == pytest.approx(given[root, root])
    by_rows = rfdag.learn(rows)
    assert result.score == pytest.approx(by_rows.score)
    assert result.score_of(result.dag) == pytest.approx(result.score)
    np.testing.assert_allclose(by_rows.moments.variances, rows.var(axis=0))


def test_saved_moments_of_a_matrix_are_still_those_of_a_matrix(tmp_path):
    rows = sample(linear_sem(random_dag(5, 0.6, rng=3), rng=3), 40, rng=3)
    result = rfdag.learn(np.corrcoef(rows.T), input="correlation", n_samples=40)
    loaded = rfdag.load(result.save(tmp_path / "result.json"))
    np.testing.assert_array_equal(loaded.moments.variances, np.ones(5))
    assert loaded.score_of(loaded.dag) == pytest.approx(result.score)


def test_condition_of_data_and_of_a_precision_matrix_agree():
    sem = linear_sem(random_dag(20, 0.5, rng=7), rng=7)
    singular = np.linalg.svd(np.linalg.cholesky(Moments.from_precision(sem.precision(), None).correlation))[1]
    expected = singular[0] / singular[-1]
    assert expected / 20 < Moments.from_precision(sem.precision(), None).condition() < expected * 20
    assert expected / 20 < Moments.from_covariance(sem.covariance(), 100).condition() < expected * 20


def test_exact_precision_keeps_its_zeros():
    sem = linear_sem(random_dag(30, 0.2, rng=5), rng=5)
    theta = sem.precision()
    moments = Moments.from_precision(theta, None)
    np.testing.assert_array_equal(moments.partial_correlations() == 0, theta == 0)
    covariance = moments.correlation * moments.scales * moments.scales[:, None]
    np.testing.assert_allclose(covariance, sem.covariance(), rtol=1e-8, atol=1e-10)


@given(samples())
def test_regressions_are_least_squares(rows):
    p = rows.shape[1]
    dag = np.triu(np.ones((p, p), np.int8), 1)
    coefficients, variances, partial = Moments.from_data(rows).regressions(dag)
    centred = rows - rows.mean(axis=0)
    for child in range(p):
        weights, *_ = np.linalg.lstsq(centred[:, :child], centred[:, child], rcond=None)
        np.testing.assert_allclose(coefficients[:child, child], weights, atol=1e-7)
        residual = centred[:, child] - centred[:, :child] @ weights
        np.testing.assert_allclose(variances[child], (residual**2).mean(), rtol=1e-7)
        for parent in range(child):
            others = centred[:, [at for at in range(child) if at != parent]]
            ends = centred[:, [parent, child]]
            left = ends - others @ np.linalg.lstsq(others, ends, rcond=None)[0]
            assert partial[parent, child] == pytest.approx(np.corrcoef(left.T)[0, 1], abs=1e-7)


def test_regressions_of_an_exact_model_are_its_weights():
    sem = linear_sem(random_dag(12, 0.5, rng=6), rng=6, variances=np.linspace(0.5, 2, 12))
    coefficients, variances, _ = Moments.from_precision(sem.precision(), None).regressions(sem.dag)
    np.testing.assert_allclose(coefficients, sem.weights, atol=1e-9)
    np.testing.assert_allclose(variances, sem.variances, rtol=1e-8)


def test_conditions_are_known_to_every_scipy(monkeypatch):
    generator = np.random.default_rng(7)
    triangles = [np.triu(generator.normal(size=(size, size))) for size in (2, 5, 20)]
    estimated = [reciprocal_condition(triangle) for triangle in triangles]
    monkeypatch.delattr("scipy.linalg.lapack.dtrcon", raising=False)
    for triangle, estimate in zip(triangles, estimated, strict=True):
        assert reciprocal_condition(triangle) == pytest.approx(1 / np.linalg.cond(triangle, 1))
        # The estimate never takes a matrix for worse than it is, and seldom for much better.
        assert reciprocal_condition(triangle) <= estimate * (1 + 1e-9) <= 10 * reciprocal_condition(triangle)
    assert reciprocal_condition(np.array([[1.0, 1.0], [0.0, 0.0]])) == 0


@pytest.mark.parametrize("n", [40, 2000])
def test_copies_among_many_columns_are_those_of_all_pairs(n, monkeypatch):
    """Also of opposite sign, rounded, in groups of three, and with fewer rows than columns."""
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(n, 1200))
    rows[:, 700] = -3 * rows[:, 10]
    rows[:, 900] = rows[:, 10] + 0.003 * generator.normal(size=n)
    rows[:, 5] = 2 + rows[:, 1100] + 0.004 * generator.normal(size=n)
    factor = rows - rows.mean(axis=0)
    factor /= np.sqrt((factor**2).sum(axis=0))
    for distance in (1e-12, 5e-5):
        found = copied_pairs(factor, distance)
        sizes = np.abs(factor.T @ factor)
        np.testing.assert_array_equal(found, np.argwhere(np.triu(sizes > 1 - distance, 1)))
        assert len(found) == (1 if distance == 1e-12 else 4)
    monkeypatch.setattr(copies, "LEAST_P_FOR_DIRECTIONS", 10_000)
    np.testing.assert_array_equal(copied_pairs(factor, 5e-5), found)
