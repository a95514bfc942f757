"""The estimator is a good citizen of scikit-learn."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rfdag
from rfdag import RFD, Rfd, Soft
from rfdag.errors import OptionError
from rfdag.simulate import linear_sem, random_dag, sample


@pytest.mark.filterwarnings("ignore:.* rows are few for:rfdag.errors.NumericalWarning")
@parametrize_with_checks([RFD()])
def test_scikit_learn_checks(estimator, check):
    assert isinstance(estimator, RFD)
    check(estimator)


def test_sample_weights_repeat_rows():
    rows = np.random.default_rng(0).normal(size=(40, 4)) @ np.triu(np.ones((4, 4)))
    weights = np.random.default_rng(1).integers(0, 4, 40)
    weighted, repeated = RFD().fit(rows, sample_weight=weights), RFD().fit(rows.repeat(weights, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    np.testing.assert_allclose(weighted.residual_variance_, repeated.residual_variance_, atol=1e-10)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-10)


def test_columns_are_chosen_in_the_description(sem):
    frame = pd.DataFrame(sample(sem, 300, rng=9), columns=list("abcdef")).assign(town="x")
    frame.loc[3, "a"] = np.nan
    found = RFD(description=rfdag.Description(drop=["town"], missing="drop")).fit(frame)
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert found.result_.n_samples == 299
    whole = frame.dropna()
    np.testing.assert_allclose(
        found.score_samples(whole), RFD().fit(whole[list("abcdef")]).score_samples(whole[list("abcdef")])
    )


@pytest.fixture(scope="module")
def sem():
    return linear_sem(random_dag(6, 0.5, rng=1), rng=1, variances=np.linspace(0.5, 2, 6))


def test_attributes_are_the_results(sem):
    frame = pd.DataFrame(sample(sem, 500, rng=2), columns=list("abcdef"))
    options = {"method": "rfd", "depth": 2, "alpha": 0.01}
    found, expected = RFD(method=Rfd(depth=2, alpha=0.01)).fit(frame), rfdag.learn(frame, **options)
    assert tuple(found.order_) == expected.order
    assert [frame.columns[at] for at in found.causal_order_] == list(expected.order)
    np.testing.assert_array_equal(found.dag_, expected.dag)
    np.testing.assert_array_equal(found.cpdag_, expected.cpdag)
    np.testing.assert_allclose(found.coef_, expected.coefficients, rtol=1e-12)
    assert found.n_features_in_ == 6
    assert list(found.feature_names_in_) == list("abcdef")
    assert found.result_.settings == expected.settings


def test_columns_called_by_numbers_keep_their_names(sem):
    rows = sample(sem, 300, rng=2)
    frame = pd.DataFrame(rows, columns=[3, 1, 5, 0, 2, 4])
    found = RFD(method="rfd", knowledge={"roots": [2]}).fit(frame)
    assert found.result_.names == (3, 1, 5, 0, 2, 4)
    assert found.order_[0] == 2
    assert not found.dag_[:, 4].any()
    np.testing.assert_array_equal(found.score_samples(frame[range(6)]), found.score_samples(rows))


def test_complaints_about_frames_name_the_columns(sem):
    frame = pd.DataFrame(sample(sem, 50, rng=2), columns=list("abcdef"))
    with pytest.raises(ValueError, match="constant: 'town'"):
        RFD().fit(frame.assign(town="x"))
    with pytest.raises(ValueError, match=r"'town' \(text, all different\)"):
        RFD().fit(frame.assign(town=[f"town {at}" for at in range(50)]))
    with pytest.raises(ValueError, match="Column 'a' has no values: all 50 are missing"):
        RFD().fit(frame.assign(a=np.nan))
    with pytest.raises(ValueError, match="Column 'a' has 1 missing value"):
        RFD(description=rfdag.Description(missing="error")).fit(frame.assign(a=frame["a"].where(frame.index > 0)))


def test_frames_with_text_and_gaps_are_learnt(sem):
    frame = pd.DataFrame(sample(sem, 400, rng=2), columns=list("abcdef"))
    frame["a"] = np.array(["low", "middle", "high"])[np.digitize(frame["a"], [-0.5, 0.5])]
    frame.loc[:9, "b"] = np.nan
    with pytest.warns(rfdag.errors.DataWarning, match="2.5 % of 'b'"):
        found = RFD().fit(frame)
    with pytest.warns(rfdag.errors.DataWarning, match="2.5 % of 'b'"):
        expected = rfdag.learn(frame)
    assert found.result_.mixed is not None
    assert (found.n_features_in_, found.feature_names_in_.tolist()) == (6, list("abcdef"))
    assert tuple(found.order_) == expected.order
    np.testing.assert_array_equal(found.dag_, expected.dag)
    np.testing.assert_array_equal(found.coef_, expected.coefficients)
    with pytest.raises(rfdag.errors.OptionError, match="has categories or curves"):
        found.score(frame)


def test_arrays_with_gaps_are_learnt_unless_they_are_refused(sem):
    rows = sample(sem, 400, rng=2)
    holed = rows.copy()
    holed[:9, 1] = np.nan
    with pytest.warns(rfdag.errors.DataWarning, match="2.2 % of column 1"):
        found = RFD().fit(holed)
    np.testing.assert_array_equal(found.cpdag_, RFD().fit(rows).cpdag_)
    assert np.isfinite(found.score(rows))
    assert found.__sklearn_tags__().input_tags.allow_nan
    for refusing in (
        RFD(description=rfdag.Description(missing="error")),
        RFD(estimation=rfdag.Estimation(test="fisher-z")),
    ):
        assert not refusing.__sklearn_tags__().input_tags.allow_nan
        with pytest.raises(ValueError, match=r"contains NaN|has 9 missing values"):
            refusing.fit(holed)


def test_score_is_the_gaussian_log_likelihood(sem):
    train, test = sample(sem, 400, rng=3), sample(sem, 100, rng=4) + 0.5
    found = RFD().fit(train)
    noise = np.diag(found.residual_variance_)
    effects = np.linalg.inv(np.eye(6) - found.coef_)
    expected = multivariate_normal(train.mean(axis=0), effects.T @ noise @ effects)
    np.testing.assert_allclose(found.score_samples(test), expected.logpdf(test), rtol=1e-9)
    assert found.score(test) == pytest.approx(expected.logpdf(test).mean())


def test_grid_search_prefers_a_level_that_fits(sem):
    rows = sample(sem, 300, rng=5)
    search = GridSearchCV(RFD(method="rfd"), {"method__alpha": [1e-300, 1e-3]}, cv=3).fit(rows)
    assert search.best_params_ == {"method__alpha": 1e-3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    search = GridSearchCV(RFD(), {"method__penalty": [2.0, 1e6]}, cv=3).fit(rows)
    assert search.best_params_ == {"method__penalty": 2.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pipelines_and_clones(sem):
    rows = sample(sem, 300, rng=6)
    pipeline = make_pipeline(StandardScaler(), RFD(method=Soft(beam=4))).fit(rows)
    np.testing.assert_array_equal(pipeline[-1].dag_, RFD(method=Soft(beam=4)).fit(rows).dag_)
    assert clone(RFD(method=Soft(beam=3))).method.beam == 3
    assert clone(RFD()).set_params(method__beam=5).method == Soft(beam=5)
    with pytest.raises(NotFittedError):
        RFD().score(rows)


def test_wide_data_in_blocks_have_coefficients_and_intercepts(sem):
    rows = sample(sem, 400, rng=7) + np.arange(6)
    blocks = RFD(estimation=rfdag.Estimation(blocks=True)).fit(rows)
    whole = RFD().fit(rows)
    assert blocks.result_.moments is None
    np.testing.assert_allclose(blocks.coef_.toarray(), whole.coef_, atol=1e-10)
    np.testing.assert_allclose(blocks.intercept_, whole.intercept_, atol=1e-8)
    np.testing.assert_allclose(blocks.score_samples(rows), whole.score_samples(rows), rtol=1e-8)


def test_a_random_state_of_numpy_is_a_seed(sem):
    rows = sample(sem, 100, rng=8)
    first, second = (RFD("random", random_state=np.random.RandomState(3)).fit(rows).order_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert isinstance(RFD(random_state=np.random.RandomState(3)).fit(rows).result_.settings.running.random_state, int)
    with pytest.raises(rfdag.errors.OptionError, match=r"random_state is None, a whole number .* not 'a'"):
        RFD(random_state="a").fit(rows)


def test_options_of_a_part_are_set_together_or_not_at_all(sem):
    found = RFD().set_params(method__parents="threshold", method__refine=False)
    assert found.method == Soft(parents="threshold", refine=False)
    deep = RFD(method="rfd").set_params(method__max_paths=5, method__depth=2)
    assert deep.set_params(method__depth=1, method__max_paths=1000).method == Rfd()
    with pytest.raises(ValueError, match="method__nope"):
        deep.set_params(n_jobs=1, method__depth=3, method__nope=1)
    assert (deep.n_jobs, deep.method) == (None, Rfd())
    grid = {"method__parents": ["threshold"], "method__refine": [False]}
    assert GridSearchCV(RFD(), grid, cv=2, error_score="raise").fit(sample(sem, 200, rng=9)).best_params_


def test_a_description_tells_how_a_file_is_written(sem, tmp_path):
    rows = sample(sem, 100, rng=10)
    pd.DataFrame(rows, columns=list("abcdef")).to_csv(tmp_path / "rows.csv", sep=";", index=False)
    found = RFD(description=rfdag.Description(delimiter=";")).fit(tmp_path / "rows.csv")
    assert found.result_.names == tuple("abcdef")
    assert found.get_params()["description__delimiter"] == ";"


@pytest.mark.parametrize(
    ("method", "given", "written"),
    [
        (None, {"penalty": 3}, "RFD(method=Soft(penalty=3)), or call set_params(method__penalty=3)"),
        ("rfd", {"alpha": 0.01}, "RFD(method=Rfd(alpha=0.01)), or call set_params(method__alpha=0.01)"),
        (None, {"method__penalty": 3}, "RFD(method=Soft(penalty=3)), or call set_params(method__penalty=3)"),
        (
            None,
            {"penalty": 3, "drop": ["a"]},
            "RFD(method=Soft(penalty=3), description=Description(drop=['a'])), or call "
            "set_params(method__penalty=3, description__drop=['a'])",
        ),
        (None, {"penalti": 3}, "There is no option 'penalti' (nearest: 'penalty')"),
        ("rfd", {"penalty": 3, "beam": 4}, "Method 'rfd' has no option beam; method 'soft' has it"),
        (Soft(), {"penalty": 3}, "put them into it, as in Soft(penalty=…)"),
        (None, {"penalty": -1}, "penalty is"),
    ],
)
def test_a_flat_option_is_told_where_it_belongs(method, given, written):
    with pytest.raises(OptionError, match=re.escape(written)):
        RFD(method, **given)
    if "RFD(" in written:
        # What the message says to write works, and does the same.
        code, nested = written.split(", or call ")
        classes = {"RFD": RFD, "Soft": Soft, "Rfd": rfdag.Rfd, "Description": rfdag.Description}
        made = eval(code, classes)
        by_name = eval(f"RFD({method!r}).{nested}", classes)
        assert made.get_params(deep=True).keys() == by_name.get_params(deep=True).keys()
        assert made.method == by_name.method
        assert made.description == by_name.description
