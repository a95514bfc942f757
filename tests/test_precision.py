"""Estimators of partial correlations: what each gives, what a run says of it, and what is refused."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf, graphical_lasso, ledoit_wolf_shrinkage
from typer.testing import CliRunner

import rfdag
from rfdag import metrics
from rfdag.cli import app
from rfdag.errors import OptionError
from rfdag.evidence.moments import Moments
from rfdag.methods.preflight import Preflight
from rfdag.methods.settings import Settings
from rfdag.precision.averaged import precision_of
from rfdag.precision.clime import Clime, ClimeColumns
from rfdag.precision.definite import made_definite
from rfdag.precision.estimation import ESTIMATORS, Estimation
from rfdag.precision.estimator import Request
from rfdag.precision.graphical_lasso import sparse_precision
from rfdag.precision.shrinkage import best_share
from rfdag.simulate import linear_sem, random_dag, sample

run = CliRunner().invoke
REGULARISED = ("shrinkage", "graphical-lasso", "nodewise", "clime")
pytestmark = pytest.mark.filterwarnings("ignore::rfdag.errors.NumericalWarning")


def drawn(p=15, n=60, seed=5, degree=3):
    truth = random_dag(p, degree=degree, rng=seed)
    return truth, sample(linear_sem(truth, rng=seed + 1), n, rng=seed + 2)


TRUTH, ROWS = drawn()
FEW = ROWS[:12]


def learn(rows=ROWS, *arguments, **options):
    return rfdag.learn(rows, *arguments, progress=False, **options)


@pytest.mark.parametrize("name", ["averaged", *REGULARISED])
@pytest.mark.parametrize("method", ["soft", "rfd", "min-fill", "gsp"])
def test_every_estimator_serves_every_method_with_few_rows(name, method):
    result = learn(FEW, method, precision=name)
    assert sorted(result.causal_order.tolist()) == list(range(15))
    assert result.estimator.name == name
    assert result.estimator.reason == "as asked for"
    assert result.estimator.worth == 12 + 15
    places = np.argsort(result.causal_order)
    assert all(places[i] < places[j] for i, j in np.argwhere(result.dag))
    assert (result.estimator.regularisation is None) == (name == "averaged")
    assert f"12 rows are few for 15 columns: the search began from {ESTIMATORS[name].start}" in result.warnings[0]
    assert not any("rows are few" in warning for warning in learn(ROWS, method, precision=name).warnings)


@pytest.mark.parametrize("name", ["averaged", *REGULARISED])
@pytest.mark.parametrize("method", ["soft", "rfd"])
def test_estimates_are_of_use(name, method):
    """With four rows per column most edges found are true, and orders of refined runs are far better than chance."""
    result = learn(ROWS, method, precision=name)
    assert metrics.skeleton(TRUTH, result.dag).precision > 0.6
    assert result.dag.sum() > 3
    if method == "soft":
        assert metrics.skeleton(TRUTH, result.dag).f1 > 0.7
        assert metrics.order_error(TRUTH, result.causal_order) < 0.3


@pytest.mark.parametrize("name", ["averaged", *REGULARISED])
@pytest.mark.parametrize("method", ["soft", "rfd"])
def test_knowledge_is_obeyed(name, method):
    order = [int(at) for at in np.argsort(TRUTH.sum(axis=0), kind="stable")]
    known = {"tiers": [order[:5], order[5:10], order[10:]], "forbidden": [[order[0], order[14]]]}
    result = learn(FEW, method, precision=name, knowledge=known)
    assert result.compliance
    assert all(record.holds for record in result.compliance)
    assert result.dag.sum() < 15 * 14 / 2, "tests with too few rows would leave nobody out"


@pytest.mark.parametrize("name", REGULARISED)
def test_bootstrap(name):
    found = rfdag.bootstrap(ROWS, 3, method="rfd", precision=name, progress=False, n_jobs=1)
    assert found.runs == 3
    assert found.result.estimator.name == name


def test_auto_says_what_it_chose_and_why(tmp_path):
    few, many = learn(FEW), learn(ROWS)
    assert str(few.estimator) == "averaged (12 rows for 15 columns, fewer than 1.25 per column)"
    assert str(many.estimator) == "sample (60 rows for 15 columns, at least 1.25 per column)"
    assert "partial correlations: averaged (12 rows" in few.summary()
    assert learn(ROWS, "rfd").estimator.reason == "the method tests partial correlations of the sample"
    assert learn(TRUTH, input="dag").estimator is None
    loaded = rfdag.load(few.save(tmp_path / "few.json"))
    assert loaded == few
    assert loaded.estimator == few.estimator


def test_strengths_are_used_and_reported():
    partial = {}
    for strength in (0.1, 0.5):
        result = learn(ROWS, "rfd", precision="nodewise", regularisation=strength)
        assert result.estimator.regularisation == strength
        assert f"λ = {strength}" in str(result.estimator)
        partial[strength] = int(result.trace.degree.sum())
    assert partial[0.5] < partial[0.1]


def test_nodewise_edges_are_entries_in_both_regressions():
    result = learn(ROWS, "random", precision="nodewise", regularisation=0.15)
    last = result.causal_order[-1]
    standard = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
    from sklearn.linear_model import Lasso

    def entries(j):
        others = [at for at in range(15) if at != j]
        coefficients = (
            Lasso(alpha=0.15, fit_intercept=False, tol=1e-12, max_iter=100_000)
            .fit(standard[:, others], standard[:, j])
            .coef_
        )
        return {at for at, value in zip(others, coefficients, strict=True) if value}

    both = {other for other in entries(last) if last in entries(other)}
    assert set(np.flatnonzero(result.dag[:, last])) == both
    assert both


def test_shrinkage_is_ledoit_and_wolfs_on_gaussian_rows():
    _, rows = drawn(20, 60, seed=9)
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    correlation = np.corrcoef(rows.T)
    assert best_share(correlation, 60) == pytest.approx(ledoit_wolf_shrinkage(standard), rel=0.2)
    expected = np.linalg.inv(0.7 * correlation + 0.3 * np.eye(20))
    found = ESTIMATORS["shrinkage"](Moments.from_data(rows), Request(2.0, 0.0, regularisation=0.3))
    roots = np.sqrt(np.diag(expected))
    assert found.partial[0, 1] == pytest.approx(-expected[0, 1] / roots[0] / roots[1])


def test_the_graphical_lasso_of_components_is_that_of_the_whole():
    correlation = np.eye(8)
    correlation[:4, :4] = np.corrcoef(drawn(4, 40, seed=3, degree=2)[1].T)
    correlation[4:, 4:] = np.corrcoef(drawn(4, 40, seed=4, degree=2)[1].T)
    found = sparse_precision(correlation, 0.1)
    whole = graphical_lasso(correlation, 0.1, tol=1e-3, max_iter=500)[1]
    assert found == pytest.approx(whole, abs=1e-2)
    assert not found[:4, 4:].any()


def test_clime_is_within_its_bound_and_no_longer_than_the_truth():
    truth, _ = drawn(8, seed=2)
    sem = linear_sem(truth, rng=3)
    covariance = np.linalg.inv(sem.precision())
    scale = np.sqrt(np.diag(covariance))
    population = covariance / scale / scale[:, None]
    precision = np.linalg.inv(population)
    rows = sample(sem, 400, rng=4)
    correlation = np.corrcoef(rows.T)
    # With λ this large true columns are feasible, so estimates have no larger norm, and obey the bound.
    strength = np.abs(correlation - population).max() * np.abs(precision).sum(axis=0).max()
    for j in range(8):
        column = ClimeColumns(correlation, strength).solve(j, np.delete(np.arange(8), j))
        beta = np.zeros(8)
        beta[column.support], beta[j] = column.values, column.own
        assert np.abs(beta).sum() <= np.abs(precision[:, j]).sum() + 1e-8
        assert np.abs(beta - precision[:, j]).max() <= 4 * np.abs(precision).sum(axis=0).max() * strength


def test_clime_in_processes_is_the_same(monkeypatch):
    moments = Moments.from_data(FEW)
    alone = Clime()(moments, Request(2.0, 0.0))
    monkeypatch.setattr("rfdag.precision.clime.WORTH_PROCESSES", 0.0)
    assert (Clime()(moments, Request(2.0, 0.0, threads=2)).partial == alone.partial).all()


def test_what_is_not_definite_is_repaired_and_reported():
    bad = 2 * np.eye(3) - np.array([[1.0, -0.8, 0.0], [-0.8, 1.0, -0.8], [0.0, -0.8, 1.0]])
    good, remarks = made_definite(bad, "nodewise")
    assert np.linalg.eigvalsh(2 * np.eye(3) - good)[0] == pytest.approx(0.05)
    assert good[0, 2] == 0
    assert "not positive definite" in remarks[0]
    result = learn(ROWS[:, :3], precision=lambda moments, request: 2 * np.eye(3) - bad)
    assert any("not positive definite" in warning for warning in result.warnings)


def own(moments, request):
    return np.linalg.inv(0.8 * moments.correlation + 0.2 * np.eye(len(moments.names)))


def test_a_function_of_ones_own(tmp_path):
    by_function = learn(FEW, precision=own)
    by_name = learn(FEW, precision="shrinkage", regularisation=0.2)
    assert by_function.order == by_name.order
    assert by_function.estimator.name == "test_precision.own"
    saved = rfdag.load(by_function.save(tmp_path / "own.json"))
    assert repr(saved.settings.estimation.precision) == "test_precision.own"
    page = by_function.report(tmp_path / "own.html").read_text(encoding="utf-8")
    assert "test_precision.own" in page


def asymmetric(precision):
    precision[0, 1] += 0.5
    return precision


def infinite(precision):
    precision[2, 1] = precision[1, 2] = np.inf
    return precision


def negative(precision):
    precision[3, 3] = -1.0
    return precision


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda precision: precision[:4], r"spoilt returned an array of shape \(4, 15\).*shape \(15, 15\)"),
        (lambda precision: "none", "spoilt returned str; an estimator returns a symmetric precision matrix"),
        (asymmetric, "spoilt returned .* at 'v0', 'v1' and .* the other way round"),
        (infinite, "spoilt returned inf at 'v1', 'v2'"),
        (negative, "diagonal that is not positive at 'v3'"),
    ],
)
def test_what_an_estimator_may_not_return(spoil, message):
    def spoilt(moments, request):
        return spoil(own(moments, request))

    with pytest.raises(OptionError, match=message):
        learn(FEW, names=[f"v{at}" for at in range(15)], precision=spoilt)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "lasso"}, "is 'auto' or one of 'sample', 'averaged', 'shrinkage'"),
        ({"precision": "nodewise", "regularisation": 0.0}, "regularisation is a number above 0 or None, not 0.0"),
        ({"precision": "clime", "regularisation": -1}, "regularisation is a number above 0 or None, not -1"),
        ({"regularisation": 0.1}, "strength of 'shrinkage', 'graphical-lasso', 'nodewise', 'clime'"),
        ({"precision": "sample", "regularisation": 0.1}, "Name one of these, or leave it out"),
        ({"precision": "shrinkage", "regularisation": 1.5}, "a share of at most 1"),
        ({"precision": "nodewise", "method": "rfd", "alpha": 0.01}, "pass regularisation=… instead"),
        ({"precision": "clime", "method": "rfd", "device": "cuda"}, "estimated on the CPU; leave device='cuda' out"),
        ({"precision": 3}, "precision is text or a function"),
        ({"precision": LedoitWolf()}, r"precision is text or a function \(moments, request\).*not LedoitWolf\(\)"),
        ({"precision": "clime", "regularisation": 1e-6}, "Pass a larger regularisation"),
    ],
)
def test_refused(options, message):
    with pytest.raises(OptionError, match=message):
        learn(FEW, **options)


def test_the_advice_for_a_strength_in_place_of_a_level_works():
    assert learn(FEW, "rfd", precision="nodewise", regularisation=0.3).estimator.regularisation == 0.3


def test_hours_of_clime_are_refused_before_they_start():
    settings = Settings(estimation=Estimation(precision="clime"))
    with pytest.raises(
        OptionError, match=r"clime' would take about .* h for 5000 columns.*nodewise.*at most \d+ columns"
    ):
        Preflight(settings, 2).check(500, 5000)
    Preflight(settings, 2).check(500, 200)


def test_matrices_and_ranks_take_estimators_too():
    correlation = np.corrcoef(ROWS.T)
    by_matrix = learn(correlation, "rfd", input="correlation", n_samples=60, precision="nodewise")
    assert by_matrix.order == learn(ROWS, "rfd", precision="nodewise").order
    transformed = np.exp(ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranked = [learn(rows, "rfd", precision="nodewise", correlation="normal-scores") for rows in (ROWS, transformed)]
    assert ranked[0].order == ranked[1].order


def test_the_command_line(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, FEW, delimiter=",", header=",".join(f"v{at}" for at in range(15)), comments="")
    done = run(app, ["learn", str(path), "--precision", "nodewise", "--regularisation", "0.3"])
    assert done.exit_code == 0
    assert "nodewise, λ = 0.3 (as asked for)" in done.stdout
    told = run(app, ["learn", str(path), "--precision", "clime", "--json"])
    assert json.loads(told.stdout)["estimator"]["name"] == "clime"
    wrong = run(app, ["learn", str(path), "--precision", "nodewise", "--method", "rfd", "--alpha", "0.01"])
    assert wrong.exit_code == 2
    assert "--regularisation" in wrong.stderr


def test_grid_search_over_estimators():
    from sklearn.base import clone

    estimator = clone(rfdag.RFD(estimation=Estimation(precision="nodewise", regularisation=0.2)))
    assert estimator.set_params(estimation__regularisation=0.4).fit(FEW).result_.estimator.regularisation == 0.4


def test_the_precision_of_a_fitted_dag_is_its_inverse_covariance():
    correlation = np.corrcoef(ROWS[:, :4].T)
    complete = np.triu(np.ones((4, 4), np.int8), 1)
    assert precision_of(complete, correlation) == pytest.approx(np.linalg.inv(correlation))
