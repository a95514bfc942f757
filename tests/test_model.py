"""The fitted model: its numbers, samples, interventions and likelihoods."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal

import rfdag
from fitted import exact, fitted, of_rows
from rfdag.errors import DataError, OptionError
from rfdag.evidence.moments import Moments
from rfdag.result.model import LinearModel
from rfdag.simulate import LinearSEM, linear_sem, random_dag, sample
from strategies import dags

NAMES = ("rain", "sprinkler", "wet", "slippery")
# rain → sprinkler, both → wet → slippery
DAG = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.int8)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(1)
    return sample(linear_sem(DAG, generator), 400, generator) * [1.0, 10.0, 0.1, 5.0] + [3.0, -7.0, 0.0, 100.0]


@pytest.fixture(scope="module")
def model(rows):
    return of_rows(DAG, rows, NAMES).model()


def test_numbers_are_those_of_least_squares(model, rows):
    for child in range(4):
        parents = np.flatnonzero(DAG[:, child])
        design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
        (intercept, *slopes), *_ = np.linalg.lstsq(design, rows[:, child])
        left = rows[:, child] - design @ [intercept, *slopes]
        assert model.intercepts[child] == pytest.approx(intercept, rel=1e-8, abs=1e-8)
        np.testing.assert_allclose(model.sem.weights[parents, child], slopes, rtol=1e-8)
        assert model.sem.variances[child] == pytest.approx((left**2).mean())
    assert model.units == "data"
    np.testing.assert_allclose(model.mean(), rows.mean(axis=0))


def test_a_complete_dag_fits_the_sample_exactly(rows):
    complete = of_rows(np.triu(np.ones((4, 4), np.int8), 1), rows).model()
    np.testing.assert_allclose(complete.covariance(), np.cov(rows.T, bias=True), rtol=1e-8)


@given(dags(max_nodes=5), st.integers(0, 1000))
def test_moments_of_the_model(dag, seed):
    generator = np.random.default_rng(seed)
    sem = linear_sem(dag, generator, variances=generator.uniform(0.5, 2, len(dag)))
    intercepts = generator.normal(size=len(dag))
    model = LinearModel(tuple(range(len(dag))), sem, intercepts)
    effects = np.linalg.inv(np.eye(len(dag)) - sem.weights)
    np.testing.assert_allclose(model.mean(), intercepts @ effects, atol=1e-10)
    np.testing.assert_allclose(model.covariance(), effects.T @ np.diag(sem.variances) @ effects, atol=1e-10)
    sparse = LinearModel(model.names, LinearSEM(csr_array(sem.weights), sem.variances), intercepts)
    np.testing.assert_allclose(sparse.mean(), model.mean(), atol=1e-10)
    setting = {0: 2.0}
    np.testing.assert_allclose(sparse.do(setting).mean(), model.do(setting).mean(), atol=1e-10)


def test_samples_have_the_moments_of_the_model(model):
    n = 20_000
    table = model.sample(n, rng=5)
    assert table.names == NAMES
    covariance = model.covariance()
    scales = np.sqrt(np.diag(covariance))
    assert (np.abs(table.values.mean(axis=0) - model.mean()) < 5 * scales / np.sqrt(n)).all()
    assert (
        np.abs(np.cov(table.values.T) / np.outer(scales, scales) - covariance / np.outer(scales, scales)).max() < 0.05
    )
    np.testing.assert_array_equal(table.values, model.sample(n, rng=5).values)


def test_setting_a_variable_cuts_its_causes_and_reaches_its_effects(model):
    low, high = model.do({"sprinkler": 0.0}), model.do({"sprinkler": 1.0})
    difference = high.mean() - low.mean()
    effects = np.linalg.inv(np.eye(4) - model.sem.weights)
    np.testing.assert_allclose(difference, [0, 1, effects[1, 2], effects[1, 3]], atol=1e-12)
    assert low.mean()[0] == pytest.approx(model.mean()[0])
    table = high.sample(500, rng=1).values
    assert (table[:, 1] == 1.0).all()
    assert abs(np.corrcoef(table[:, 0], table[:, 2])[0, 1]) > 0.2
    both = model.do({"rain": 4.0, "wet": 2.0})
    assert both.mean()[[0, 2]].tolist() == [4.0, 2.0]
    assert both.covariance()[0].tolist() == [0, 0, 0, 0]
    # What the model was made of is left as it was.
    assert model.sem.weights[0, 1] != 0


def test_a_shift_leaves_causes_at_work(model):
    shifted = model.shift({"sprinkler": 2.0})
    effects = np.linalg.inv(np.eye(4) - model.sem.weights)
    np.testing.assert_allclose(shifted.mean() - model.mean(), 2 * effects[1], atol=1e-12)
    np.testing.assert_array_equal(shifted.covariance(), model.covariance())


def test_likelihood_is_that_of_the_normal_distribution(model, rows):
    expected = multivariate_normal(model.mean(), model.covariance()).logpdf(rows)
    np.testing.assert_allclose(model.log_density(rows), expected)
    assert model.log_likelihood(rows) == pytest.approx(expected.sum())
    turned = pd.DataFrame(rows, columns=NAMES)[list(reversed(NAMES))]
    np.testing.assert_array_equal(model.log_density(turned), model.log_density(rows))
    # Maximum likelihood: any other coefficient does worse.
    weights = model.sem.weights.copy()
    weights[0, 1] *= 1.1
    worse = dataclasses.replace(model, sem=LinearSEM(weights, model.sem.variances))
    assert worse.log_likelihood(rows) < model.log_likelihood(rows)


def test_columns_called_by_numbers_are_found_by_name(rows):
    named = of_rows(DAG, rows, (2, 0, 3, 1)).model()
    expected = named.log_density(rows)
    frame = pd.DataFrame(rows, columns=named.names)
    np.testing.assert_array_equal(named.log_density(frame), expected)
    np.testing.assert_array_equal(named.log_density(frame[[0, 1, 2, 3]]), expected)
    np.testing.assert_array_equal(of_rows(DAG, rows, NAMES).model().log_density(pd.DataFrame(rows)), expected)
    # The columns of an array have no names, only an order.
    assert not np.allclose(named.log_density(frame[[0, 1, 2, 3]].to_numpy()), expected)
    with pytest.raises(DataError, match="5 columns without names, and the model has 4"):
        named.log_density(np.ones((2, 5)))


def test_likelihood_under_an_intervention(model):
    done = model.do({"rain": 1.0})
    table = done.sample(50, rng=3)
    rest = [1, 2, 3]
    expected = multivariate_normal(done.mean()[rest], done.covariance()[np.ix_(rest, rest)]).logpdf(
        table.values[:, rest]
    )
    np.testing.assert_allclose(done.log_density(table), expected)
    table.values[0, 0] = 0.0
    assert done.log_density(table)[0] == -np.inf


def test_units(rows):
    correlation = Moments.from_correlation(np.corrcoef(rows.T), 400, NAMES)
    standard = fitted(DAG, correlation, "correlation").model()
    assert standard.units == "standardised"
    assert standard.mean().tolist() == [0, 0, 0, 0]
    assert np.diag(standard.covariance())[0] == pytest.approx(1)
    centred = exact(linear_sem(DAG, rng=1)).model()
    assert centred.units == "centred"
    np.testing.assert_allclose(centred.sem.weights, linear_sem(DAG, rng=1).weights, atol=1e-10)
    whole = of_rows(DAG, rows, NAMES)
    forgotten = dataclasses.replace(whole, moments=None, regressions=whole._regressions).model()
    assert forgotten.units == "data"
    np.testing.assert_allclose(forgotten.mean(), rows.mean(axis=0))
    unknown = dataclasses.replace(whole, moments=None, means=None, regressions=whole._regressions).model()
    assert unknown.units == "centred"
    np.testing.assert_array_equal(forgotten.sem.weights, whole.coefficients)


def test_graphs_alone_make_no_model():
    result = rfdag.learn(DAG, input="dag", names=NAMES)
    with pytest.raises(DataError, match="no coefficients"):
        result.model()


def test_what_a_model_cannot_do(model, rows):
    with pytest.raises(OptionError, match="no variable 'snow'"):
        model.do({"snow": 1.0})
    with pytest.raises(OptionError, match="'rain' was given nan"):
        model.do({"rain": np.nan})
    with pytest.raises(OptionError, match="n is a whole number of at least 1"):
        model.sample(0)
    with pytest.raises(DataError, match="lack the columns 'slippery'"):
        model.log_likelihood(pd.DataFrame(rows[:, :3], columns=NAMES[:3]))
    with pytest.raises(DataError, match="Column 2 has 1 missing value"):
        model.log_likelihood([[1.0, 2.0, np.nan, 3.0]])


def test_the_whole_way_from_a_model_and_back():
    """A network's sample is learnt, and the model fitted to it predicts interventions as the network does."""
    sem = linear_sem(random_dag(6, 0.4, rng=3), rng=3)
    truth = LinearModel(tuple("abcdef"), sem, np.arange(6.0))
    found = of_rows(sem.dag, truth.sample(50_000, rng=4).values, truth.names).model()
    for name in truth.names:
        np.testing.assert_allclose(found.do({name: 3.0}).mean(), truth.do({name: 3.0}).mean(), atol=0.1)


def test_a_model_is_printed_as_equations(model):
    lines = str(model.do({"rain": 2.0})).splitlines()
    assert lines[0] == "linear Gaussian model: 4 variables, units: data"
    assert lines[1 + model.names.index("rain")] == "rain = 2"
    assert all(" + noise of variance " in line for line in str(model).splitlines()[1:])
    parents = np.flatnonzero(model.sem.weights[:, model.names.index("wet")])
    wet = str(model).splitlines()[1 + model.names.index("wet")]
    assert [name for name in model.names if f" {name} " in wet.partition("=")[2]] == [model.names[at] for at in parents]
    assert model.summary(limit=1).splitlines()[2] == "… and 3 more"
    sparse = dataclasses.replace(model, sem=LinearSEM(csr_array(model.sem.weights), model.sem.variances))
    assert str(sparse) == str(model)
    assert repr(model) == "LinearModel(4 variables, units='data')"
