"""Numbers at the limits of double precision: right, or said aloud, one test for each thing that once went wrong."""

import json
import warnings

import numpy as np
import pyarrow
import pytest
from scipy.sparse import csr_array

import rfdag
from rfdag.errors import DataError, DataWarning, FileError, NumericalWarning, OptionError
from rfdag.evidence.em import em_moments
from rfdag.evidence.moments import Moments
from torture import model, near_copy

ROWS = model(4, 60, 3)


@pytest.mark.parametrize("power", [-310, -200, 200, 300])
@pytest.mark.parametrize("columns", [[0], [0, 1, 2, 3]])
def test_variances_beyond_doubles_are_said_and_saved(power, columns, tmp_path):
    rows = ROWS.copy()
    rows[:, columns] *= 10.0**power
    with pytest.warns(NumericalWarning, match="double precision cannot hold its square"):
        found = rfdag.learn(rows)
    assert found.order == rfdag.learn(ROWS).order
    found.save(tmp_path / "found.json")
    json.loads((tmp_path / "found.json").read_text(), parse_constant=pytest.fail)
    assert rfdag.load(tmp_path / "found.json").order == found.order


def test_scales_do_not_make_numbers_out_of_missing_edges():
    with pytest.warns(NumericalWarning, match="double precision"):
        found = rfdag.learn(ROWS * np.array([1e300, 1.0, 1e-300, 1.0]))
    assert not np.isnan(found.coefficients).any()
    assert (found.coefficients[found.dag == 0] == 0).all()


@pytest.mark.parametrize("mean", [1e3, 1e5])
def test_a_mean_costs_no_digits_beyond_those_of_the_numbers(mean):
    """Numbers are divided by powers of two alone, which round nothing."""
    rows = np.round(ROWS * 2**20) / 2**20
    plain, moved = Moments.from_data(rows).correlation, Moments.from_data(rows + np.floor(mean)).correlation
    np.testing.assert_allclose(moved, plain, rtol=0, atol=2e-15)


def test_whole_numbers_beyond_doubles_keep_their_digits():
    rows = np.round(ROWS * 2.0**30).astype(np.int64)
    far = Moments.from_data(rows + 2**61).correlation
    np.testing.assert_allclose(far, Moments.from_data(rows).correlation, rtol=0, atol=1e-15)


@pytest.mark.parametrize("power", [8, 9, 11, 12])
def test_near_copies_are_learnt_with_a_word(power):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = rfdag.learn(near_copy(ROWS, power, np.random.default_rng(1)))
    assert np.isfinite(found.score)
    assert any("by rounding, the BIC may be off" in str(each.message) for each in caught)


def test_weights_that_add_up_to_too_much_are_refused():
    for size in (1e16, 1e100, 1e308):
        with pytest.raises(DataError, match="weights add up to"):
            rfdag.learn(ROWS, weights=np.full(60, size))


def test_rows_are_not_repeated_beyond_memory():
    codes = np.column_stack([ROWS, np.arange(60) % 3])
    with pytest.raises(FileError, match=r"Rows repeated .* Divide the weights"):
        rfdag.learn(codes, categorical=[4], weights=np.full(60, 1e12))


def test_gaps_of_any_scale_in_pieces():
    rows = ROWS.copy()
    rows[::9, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        plain = rfdag.learn(rows, missing="em")
        for power in (-200, 200):
            table = pyarrow.table({f"v{at}": rows[:, at] * 10.0**power for at in range(4)})
            stream = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=17))
            found = rfdag.learn(stream, missing="em")
            assert found.score == pytest.approx(plain.score, abs=1e-6)
            np.testing.assert_array_equal(found.dag, plain.dag)


def test_weights_are_no_work():
    """A run of 60 rows takes no hours, whatever they count for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        found = rfdag.learn(ROWS, weights=np.full(60, 1e12))
    assert found.n_samples == 60 * 10**12


def test_missing_values_are_estimated_alike_in_any_linear_combination():
    """Two columns that hardly differ tell no less than their difference does."""
    mixing = np.eye(4)
    mixing[:, 0], mixing[0, 3] = [1e-4, 1.0, 1e-4, 0.0], 1.0
    rows, mixed = ROWS.copy(), ROWS @ mixing
    rows[:15, 3] = mixed[:15, 3] = np.nan
    expected, found = mixing.T @ em_moments(rows).covariance @ mixing, em_moments(mixed).covariance
    scales = np.sqrt(np.diag(expected))
    inverses = [np.linalg.inv(each / scales / scales[:, None]) for each in (found, expected)]
    np.testing.assert_allclose(*inverses, rtol=1e-3)


def test_near_copies_with_gaps_are_estimated_or_said():
    rows = near_copy(ROWS, 6.3, np.random.default_rng(2))
    rows[::9, 0] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rfdag.learn(rows, missing="em")
    assert any("too nearly for the missing values" in str(each.message) for each in caught)


@pytest.mark.parametrize("way", ["em", "pairwise"])
@pytest.mark.parametrize("power", [-300, -150, 150, 300])
def test_gaps_do_not_depend_on_units(way, power):
    rows = ROWS.copy()
    rows[::9, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        plain, scaled = (rfdag.learn(each, missing=way) for each in (rows, rows * 10.0**power))
    assert scaled.score == pytest.approx(plain.score, abs=1e-9)
    np.testing.assert_array_equal(scaled.dag, plain.dag)


def test_environments_say_what_rounding_decides():
    labels = np.repeat(["a", "b"], 30)
    copied = near_copy(ROWS, 5, np.random.default_rng(3))
    with pytest.warns(NumericalWarning, match="counts as leaving that much"):
        rfdag.learn(copied, environments=labels, targets={"a": [], "b": [2]})
    apart = ROWS.copy()
    apart[30:, 2] += 1e9
    with pytest.warns(NumericalWarning, match="same units"):
        rfdag.learn(apart, environments=labels, targets={"a": [], "b": [2]})


def test_a_target_held_fixed_needs_no_word():
    labels, fixed = np.repeat(["a", "b"], 30), ROWS.copy()
    fixed[30:, 2] = 0.3
    assert rfdag.learn(fixed, environments=labels, targets={"a": [], "b": [2]}).warnings == ()


def test_a_sparse_precision_matrix_says_that_it_is_ill_conditioned():
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[1, 2] = 2.0**12
    matrix = (np.eye(3) - weights) @ (np.eye(3) - weights).T
    with pytest.warns(NumericalWarning, match="ill-conditioned"):
        rfdag.learn(csr_array(matrix), input="precision")


def test_rows_beyond_the_largest_number_are_refused():
    chain = rfdag.simulate.linear_sem(np.eye(4, k=1), rng=1, weights=(1e300, 1e307))
    sparse = rfdag.simulate.LinearSEM(csr_array(chain.weights), chain.variances)
    for model_of_rows in (chain, sparse):
        with pytest.raises(OptionError, match="exceed the largest number"):
            rfdag.simulate.sample(model_of_rows, 20, rng=1)
