"""Correlations by ranks: what they are, that no monotone transformation changes them, streams, repair, refusals."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import kendalltau, norm, rankdata, spearmanr
from typer.testing import CliRunner

import rfdag
from devices import on_gpu
from rfdag.bootstrapping.resampling import Sampling, drawn_moments
from rfdag.cli import app
from rfdag.errors import DataError, DataMessage, DataWarning, FileError, OptionError
from rfdag.evidence import row_sample
from rfdag.evidence.correlations import CORRELATIONS
from rfdag.evidence.kendall import kendall
from rfdag.evidence.moments import Moments
from rfdag.evidence.nearest import floor_for, nearest_correlation, repaired
from rfdag.evidence.ranks import shares_below
from rfdag.evidence.reading import read_evidence
from rfdag.evidence.row_sample import RowSample, shares_in
from rfdag.evidence.tails import unlikely_share
from rfdag.input import files
from rfdag.input import table as tables
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench.transforms import monotone
from rfdag.studies.bench.workloads import WORKLOADS

BY_RANKS = ("normal-scores", "spearman", "kendall")
NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def rows():
    return sample(linear_sem(random_dag(6, 0.5, rng=3), rng=5), 400, rng=6)


def transformed(rows):
    """Return every column through a strictly increasing map of its own."""
    maps = (np.exp, lambda x: x**3, np.sinh, np.arctan, lambda x: 1e9 + 1e3 * x, lambda x: np.sign(x) * np.sqrt(abs(x)))
    return np.column_stack([maps[at % len(maps)](column) for at, column in enumerate(rows.T)])


def expected(name, rows):
    """Return the correlation matrix by SciPy, pair by pair."""
    n, p = rows.shape
    scores = norm.ppf(np.column_stack([rankdata(column) for column in rows.T]) / (n + 1))
    found = np.eye(p)
    for i in range(p):
        for j in range(i):
            pair = {
                "normal-scores": lambda i=i, j=j: np.corrcoef(scores[:, i], scores[:, j])[0, 1],
                "spearman": lambda i=i, j=j: 2 * np.sin(np.pi / 6 * spearmanr(rows[:, i], rows[:, j]).statistic),
                "kendall": lambda i=i, j=j: np.sin(np.pi / 2 * kendalltau(rows[:, i], rows[:, j]).statistic),
            }
            found[i, j] = found[j, i] = pair[name]()
    return found


def tied(rows):
    """Return the rows with some columns on a few levels."""
    found = rows.copy()
    found[:, 1] = np.round(found[:, 1])
    found[:, 2] = found[:, 2] > 0
    return found


# What the correlations are.


@pytest.mark.parametrize("name", BY_RANKS)
@pytest.mark.parametrize("change", [np.array, tied, lambda rows: rows.astype(np.float32)])
def test_correlations_are_those_of_scipy(name, change, rows):
    values = change(rows)
    found = CORRELATIONS[name].of_table(values, tuple(range(6)), Moments)
    # SciPy 1.18 correlates single-precision ranks in single precision.
    np.testing.assert_allclose(found.correlation, expected(name, values.astype(np.float64)), atol=1e-12)
    assert found.n_samples == len(rows)
    assert not found.means.any()
    np.testing.assert_array_equal(found.variances, np.ones(6))


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(2, 5), st.integers(1, 8), st.integers(0, 2**31))
def test_kendall_with_any_number_of_ties(n, p, levels, seed):
    values = np.random.default_rng(seed).integers(0, levels + 1, (n, p))
    if (values == values[0]).all(axis=0).any():
        return
    found = kendall(values, threads=2)
    for i in range(p):
        for j in range(p):
            assert found[i, j] == pytest.approx(kendalltau(values[:, i], values[:, j]).statistic, abs=1e-14)


def test_kendall_of_many_rows_reports_its_progress():
    values = np.random.default_rng(1).normal(size=(1000, 4)).round(1)
    shares = []
    found = kendall(values, report=shares.append)
    assert found[2, 0] == pytest.approx(kendalltau(values[:, 0], values[:, 2]).statistic, abs=1e-14)
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1


def test_kendall_ends_with_an_interruption(rows):
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kendall(rows, threads=2, report=interrupt)


# What no increasing transformation changes.


@pytest.mark.parametrize("name", BY_RANKS)
@pytest.mark.parametrize("method", ["soft", "rfd"])
def test_increasing_transformations_change_nothing(name, method, rows):
    plain, changed = (rfdag.learn(each, method, correlation=name) for each in (rows, transformed(rows)))
    assert plain == changed or _without_timings(plain) == _without_timings(changed)
    np.testing.assert_array_equal(plain.coefficients, changed.coefficients)
    assert plain.score == changed.score


def _without_timings(result):
    return {name: value for name, value in json.loads(result.to_json()).items() if name != "timings"}


@pytest.mark.parametrize("name", BY_RANKS)
def test_decreasing_ones_change_signs_only(name, rows):
    signs = np.array([1, -1, 1, -1, -1, 1])
    plain, changed = (rfdag.learn(each, correlation=name) for each in (rows, rows * signs))
    np.testing.assert_allclose(changed.moments.correlation, plain.moments.correlation * np.outer(signs, signs))
    np.testing.assert_array_equal(changed.dag, plain.dag)


def test_ranks_find_what_pearson_loses():
    generator = np.random.default_rng(21)
    true = random_dag(15, rng=generator, degree=4)
    drawn = sample(linear_sem(true, generator), 1000, generator)
    changed = monotone(drawn, generator)
    with pytest.warns(DataWarning, match="correlation='normal-scores'"):
        lost = rfdag.learn(changed)
    plain, ranked = rfdag.learn(drawn), rfdag.learn(changed, correlation="normal-scores")
    f1 = [rfdag.metrics.skeleton(true, each.dag).f1 for each in (plain, ranked, lost)]
    assert f1[1] > f1[0] - 0.03
    assert f1[1] > f1[2] + 0.1


def test_the_transformed_workload_has_the_same_draws():
    (true, changed), (same, drawn) = (
        WORKLOADS[f"{name}-p60-n300"].draw(7, 0) for name in ("monotone", "untransformed")
    )
    np.testing.assert_array_equal(true, same)
    np.testing.assert_array_equal(WORKLOADS["degree8-p60-n300"].draw(7, 0).rows, drawn)
    ranks, of_drawn = (rankdata(each, axis=0) for each in (changed, drawn))
    kept, turned = (ranks == of_drawn).all(axis=0), (ranks == 301 - of_drawn).all(axis=0)
    assert (kept | turned).all()
    assert 10 < kept.sum() < 50


# Other input.


@pytest.mark.parametrize("name", BY_RANKS)
def test_frames_integers_and_few_rows(name, rows):
    frame = pd.DataFrame((rows * 1000).astype(int), columns=NAMES)
    assert rfdag.learn(frame, correlation=name).names == tuple(NAMES)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few = rfdag.learn(rows[:7], correlation=name)
    assert any("7 rows are few for 6 columns" in str(warning.message) for warning in caught)
    np.testing.assert_allclose(np.diag(few.moments.correlation), 1)


@on_gpu
@pytest.mark.parametrize("name", BY_RANKS)
def test_on_a_gpu(name, rows):
    host, device = (rfdag.learn(rows, correlation=name, device=device) for device in ("cpu", "cuda"))
    np.testing.assert_array_equal(host.dag, device.dag)
    np.testing.assert_allclose(host.moments.correlation, device.moments.correlation, atol=1e-12)


def test_blocks_by_normal_scores():
    generator = np.random.default_rng(4)
    block = [sample(linear_sem(random_dag(4, 0.6, generator), generator), 500, generator) for _ in range(3)]
    rows = np.exp(np.column_stack(block))
    found = rfdag.learn(rows, blocks=True, correlation="normal-scores")
    whole = rfdag.learn(rows, blocks=False, correlation="normal-scores")
    np.testing.assert_array_equal(found.dag.toarray(), whole.dag)
    np.testing.assert_allclose(found.coefficients.toarray(), whole.coefficients, atol=1e-9)
    np.testing.assert_allclose(found.residual_variances, whole.residual_variances, atol=1e-9)
    assert found.model().units == "ranks"
    for name in ("spearman", "kendall"):
        with pytest.raises(OptionError, match=r"Blocks of columns.*correlation='normal-scores'"):
            rfdag.learn(rows, blocks=True, correlation=name)


# Rows in pieces.


@pytest.fixture
def folder(rows, tmp_path, monkeypatch):
    """A folder of Parquet files whose rows come in small blocks."""
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 300)
    for at, part in enumerate(np.array_split(transformed(rows), 3)):
        pq.write_table(pa.table(dict(zip(NAMES, part.T, strict=True))), tmp_path / f"{at}.parquet")
    return tmp_path


@pytest.mark.parametrize("name", BY_RANKS)
def test_streams_give_what_memory_gives(name, rows, folder):
    in_memory = rfdag.learn(transformed(rows), correlation=name, names=NAMES)
    dataset = pyarrow.dataset.dataset(folder)
    for source in (folder, dataset, dataset.to_table(), dataset.scanner().to_reader()):
        found = rfdag.learn(source, correlation=name)
        assert found.order == in_memory.order
        np.testing.assert_allclose(found.moments.correlation, in_memory.moments.correlation, atol=1e-12)


@pytest.mark.parametrize("name", ["normal-scores", "spearman"])
def test_a_sample_of_the_rows_serves_where_they_are_many(name, rows, folder, monkeypatch):
    monkeypatch.setattr(row_sample, "CELLS_KEPT", 6 * 200)
    monkeypatch.setattr(row_sample, "LEAST_ROWS", 1)
    exact = CORRELATIONS[name].of_table(transformed(rows), tuple(NAMES), Moments).correlation
    found = [read_evidence(folder, correlation=name, threads=threads).evidence for threads in (1, 2)]
    np.testing.assert_array_equal(found[0].correlation, found[1].correlation)
    assert found[0].n_samples == len(rows)
    assert 0 < np.abs(found[0].correlation - exact).max() < 0.03
    # A source that can be read once is gathered, and exact.
    reader = pyarrow.dataset.dataset(folder).scanner().to_reader()
    np.testing.assert_allclose(read_evidence(reader, correlation=name).evidence.correlation, exact, atol=1e-12)


def test_dask_collections_are_ranked_where_they_are(rows, monkeypatch):
    dd = pytest.importorskip("dask.dataframe")
    collection = dd.from_pandas(pd.DataFrame(rows, columns=NAMES), npartitions=4)
    exact = CORRELATIONS["normal-scores"].of_table(rows, tuple(NAMES), Moments).correlation
    for cells, tolerance in ((row_sample.CELLS_KEPT, 1e-12), (6 * 200, 0.03)):
        monkeypatch.setattr(row_sample, "CELLS_KEPT", cells)
        monkeypatch.setattr(row_sample, "LEAST_ROWS", 1)
        found, _ = read_evidence(collection, correlation="normal-scores")
        np.testing.assert_allclose(found.correlation, exact, atol=tolerance)


def test_all_rows_have_the_same_chance_to_be_in_a_sample():
    counts = np.zeros(60)
    for shift in range(400):
        values = np.column_stack([np.arange(60.0), np.full(60, shift)])
        parts = [RowSample.of(10, part) for part in np.split(values, [7, 8, 40])]
        whole = parts[0].joined(parts[1]).joined(parts[2].joined(parts[3]))
        assert (whole.count, len(whole.rows), whole.whole) == (60, 10, False)
        counts[whole.rows[:, 0].astype(int)] += 1
    # 400 draws of 10 among 60: 67 on average, with a deviation of 7.
    assert counts.min() > 35
    assert counts.max() < 100


def test_ranks_in_a_sample_that_holds_all_rows_are_the_ranks(rows):
    values = tied(rows)
    np.testing.assert_allclose(shares_in(np.sort(values, axis=0).T, values), shares_below(values), rtol=1e-15)


def test_missing_values_of_a_stream_are_named(rows, tmp_path):
    values = rows.copy()
    values[5, 2], values[7, 3] = np.nan, np.inf
    path = tmp_path / "rows.feather"
    pa.feather.write_feather(pd.DataFrame(values, columns=NAMES), path)
    with pytest.raises(DataError, match=r"'c' has 1 missing value.*'d' has infinite"):
        rfdag.learn(path, correlation="normal-scores")


def test_streams_that_do_not_fit_are_refused_with_advice(folder, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 10.0)
    reader = pyarrow.dataset.dataset(folder).scanner().to_reader()
    with pytest.raises(FileError, match=r"reads rows twice.*GB are free.*the files themselves"):
        rfdag.learn(reader, correlation="spearman")
    with pytest.raises(FileError, match=r"compares all rows.*GB are free.*correlation='normal-scores'"):
        rfdag.learn(folder, correlation="kendall")
    assert rfdag.learn(folder, correlation="normal-scores").names == tuple(NAMES)


# Repair.


def nearest_by_its_dual(matrix, floor):
    """Return the nearest correlation matrix by a quasi-Newton method on the dual problem (Malick, 2004)."""
    p = len(matrix)

    def positive(weights):
        values, vectors = np.linalg.eigh(matrix + np.diag(weights) - floor * np.eye(p))
        return (vectors * np.maximum(values, 0)) @ vectors.T

    def dual(weights):
        part = positive(weights)
        return (part**2).sum() / 2 - (1 - floor) * weights.sum(), np.diag(part) - (1 - floor)

    found = minimize(dual, np.zeros(p), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return positive(found.x) + floor * np.eye(p)


@pytest.mark.parametrize("floor", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_correlation_matrix_by_another_algorithm(floor, seed):
    generator = np.random.default_rng(seed)
    matrix = np.sin(np.pi / 2 * np.corrcoef(generator.normal(size=(8, 12)), rowvar=False))
    np.fill_diagonal(matrix, 1.0)
    found = nearest_correlation(matrix, floor)
    np.testing.assert_allclose(found, nearest_by_its_dual(matrix, floor), atol=1e-5)
    np.testing.assert_array_equal(np.diag(found), np.ones(12))
    assert np.linalg.eigvalsh(found)[0] > floor - 1e-6


def test_a_repair_is_reported(rows):
    few = sample(linear_sem(random_dag(12, 0.3, rng=1), rng=1), 20, rng=1)
    moments = CORRELATIONS["kendall"].of_table(few, tuple(range(12)), Moments)
    (note,) = moments.notes
    matrix = expected("kendall", few)
    values = np.linalg.eigvalsh(matrix)
    found = repaired(matrix, floor_for(20, 12))
    assert f"{(values < 0.05).sum()} eigenvalues below 0.05, the lowest {values[0]:.2g}" in note
    assert f"differ by up to {np.abs(moments.correlation - matrix).max():.2g}" in note
    np.testing.assert_allclose(moments.correlation, found.correlation, atol=1e-12)
    with pytest.warns(DataWarning, match="Kendall's rank correlations is not positive definite"):
        rfdag.learn(few, correlation="kendall")
    assert repaired(expected("spearman", rows), floor_for(*rows.shape)) is None


# What the numbers mean afterwards.


@pytest.mark.parametrize("name", BY_RANKS)
@pytest.mark.filterwarnings("ignore::rfdag.errors.EquivalenceWarning")
def test_results_are_in_standard_units_and_say_so(name, rows, tmp_path):
    result = rfdag.learn(transformed(rows), correlation=name, names=NAMES)
    for found in (
        result,
        rfdag.load(result.save(tmp_path / "r.json")),
        rfdag.load(result.save(tmp_path / "s.json", moments=False)),
    ):
        assert found == result
        model = found.model()
        assert model.units == "ranks"
        np.testing.assert_allclose(np.diag(model.covariance()), 1, atol=0.2)
        assert not model.mean().any()
        with pytest.raises(OptionError, match="rank correlations"):
            model.log_density(rows)
    cause, outcome = result.edges[0][:2]
    effect = result.effect(cause, outcome)
    assert effect.units == "ranks"
    assert "in standard deviations" in str(effect)
    assert "in standard deviations" in str(result.effect_range(cause, outcome))
    assert "in standard deviations" in effect._repr_html_()
    assert "behind the ranks" in model._repr_html_()
    again = rfdag.load(tmp_path / "r.json")
    assert again.moments.correlated == name
    assert again.effect(cause, outcome) == effect


@pytest.mark.filterwarnings("ignore::rfdag.errors.EquivalenceWarning")
def test_effects_of_the_data_do_not_mention_ranks(rows):
    result = rfdag.learn(rows, names=NAMES)
    effect = result.effect(*result.edges[0][:2])
    assert effect.units == "data"
    assert "ranks" not in str(effect) + effect._repr_html_()


def test_files_of_earlier_versions_are_read(rows, tmp_path):
    content = json.loads(rfdag.learn(rows).to_json())
    del content["moments"]["correlated"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert rfdag.load(tmp_path / "old.json").moments.correlated == "pearson"


def test_the_estimator_scores_no_rows_by_ranks(rows):
    fitted = rfdag.RFD(estimation=rfdag.Estimation(correlation="spearman")).fit(rows)
    assert np.abs(fitted.coef_).max() < 2
    assert not fitted.intercept_.any()
    with pytest.raises(OptionError, match=r"rank correlations.*correlation='pearson'"):
        fitted.score(rows)


def test_the_report_shows_no_means_of_ranks(rows):
    from rfdag.report.content import content_of

    plain, ranked = (content_of(rfdag.learn(rows, correlation=name), data=rows) for name in ("pearson", "spearman"))
    assert "mean" in plain["health"]["columns"]
    assert "mean" not in ranked["health"]["columns"]
    assert any("by ranks" in sentence for _, sentence in ranked["health"]["findings"])
    assert "correlation='spearman'" in ranked["run"]["python"]


def test_the_program_ranks(rows, tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(transformed(rows), columns=NAMES).to_csv(path, index=False)
    run = CliRunner().invoke
    done = run(app, ["learn", str(path), "--correlation", "kendall", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    result = rfdag.load(tmp_path / "out" / "result.json")
    assert result.settings.estimation.correlation == "kendall"
    cause, outcome = result.edges[0][:2]
    shown = run(app, ["effect", str(tmp_path / "out" / "result.json"), cause, outcome])
    assert "in standard deviations" in shown.output
    refused = run(app, ["learn", str(path), "--correlation", "kendal"])
    assert refused.exit_code == 2


# Bootstrap.


@pytest.mark.parametrize("name", BY_RANKS)
def test_a_bootstrap_ranks_its_rows_anew(name, rows):
    columns = np.array([2, 0, 1, 3, 4, 5])
    counts = Sampling().counts(len(rows), np.random.default_rng(3))
    found = drawn_moments(rows, NAMES, columns, Sampling(), np.random.default_rng(3), name)
    drawn = np.repeat(rows[:, columns], counts, axis=0)
    np.testing.assert_allclose(found.correlation, expected(name, drawn), atol=1e-12)
    assert found.names == tuple(NAMES[at] for at in columns)
    assert found.n_samples == Sampling().worth(counts)


def test_bootstraps_do_not_see_transformations(rows):
    plain, changed = (
        rfdag.bootstrap(each, runs=4, correlation="normal-scores", n_jobs=1, progress=False)
        for each in (rows, transformed(rows))
    )
    np.testing.assert_array_equal(plain.edge_frequency, changed.edge_frequency)
    assert plain.edge_frequency.max() == 1


def test_a_draw_without_variation_is_repeated():
    generator = np.random.default_rng(0)
    values = generator.normal(size=(30, 2))
    values[:, 1] = 0.0
    values[0, 1] = 1.0
    for seed in range(5):
        found = drawn_moments(values, "ab", np.arange(2), Sampling(), np.random.default_rng(seed), "spearman")
        assert np.isfinite(found.correlation).all()
    values[0, 1] = 0.0
    with pytest.raises(DataError, match=r"'b'.*100 draws"):
        drawn_moments(values, "ab", np.arange(2), Sampling(), np.random.default_rng(0), "spearman")


# Refusals.


@pytest.mark.parametrize("name", BY_RANKS)
def test_constant_columns_and_copies_are_named(name, rows):
    values = rows.copy()
    values[:, 3] = 7.0
    with pytest.raises(DataError, match="These columns are constant: 'd'"):
        rfdag.learn(values, names=NAMES, correlation=name)
    values[:, 3] = -np.exp(values[:, 1])
    with pytest.raises(
        DataError, match=r"'d' orders the rows as 'b' does, or in reverse. Pass awkward='keep-one' to leave out 'd'"
    ):
        rfdag.learn(values, names=NAMES, correlation=name)


@pytest.mark.parametrize("name", BY_RANKS)
def test_matrices_and_moments_have_no_rows_to_rank(name, rows):
    with pytest.raises(OptionError, match=f"correlation='{name}' ranks rows, and input='correlation' has none"):
        rfdag.learn(np.corrcoef(rows.T), input="correlation", n_samples=400, correlation=name)
    with pytest.raises(OptionError, match="ranks rows, and input='dag' has none"):
        rfdag.learn([[0, 1], [0, 0]], input="dag", correlation=name)
    with pytest.raises(OptionError, match=f"correlation='{name}' beside Moments, which has no rows to rank"):
        rfdag.learn(Moments.from_data(rows), correlation=name)
    with pytest.raises(OptionError, match="correlation is 'pearson', 'normal-scores', 'spearman' or 'kendall'"):
        rfdag.learn(rows, correlation="rank")


def test_moments_by_ranks_are_known_for_what_they_are(rows):
    moments = CORRELATIONS["kendall"].of_table(rows, tuple(NAMES), Moments)
    for options in ({}, {"correlation": "kendall"}):
        found = rfdag.learn(moments, **options)
        assert found.settings.estimation.correlation == "kendall"
        assert found.model().units == "ranks"


# Heavy tails.


def with_tails(rows):
    values = rows.copy()
    values[:, 2] = np.random.default_rng(5).standard_cauchy(len(rows)) ** 3
    return values


def test_heavy_tails_are_named(rows, tmp_path):
    values = with_tails(rows)
    with pytest.warns(DataWarning, match=r"Column 'c' has .* Pass correlation='normal-scores'") as caught:
        result = rfdag.learn(values, names=NAMES)
    assert len(caught) == 1
    (message,) = result.warnings
    assert isinstance(pickle.loads(pickle.dumps(message)), DataMessage)
    share = ((values - values.mean(axis=0)) ** 2)[:, 2]
    assert f"one row alone holds {100 * share.max() / share.sum() // 1:.0f}%" in message
    rfdag.learn(values, names=NAMES, correlation="normal-scores")
    path = tmp_path / "rows.csv"
    pd.DataFrame(values, columns=NAMES).to_csv(path, index=False)
    done = CliRunner().invoke(app, ["learn", str(path)])
    assert "--correlation normal-scores" in " ".join(done.output.split())


def test_heavy_tails_of_a_stream_and_of_blocks(rows, tmp_path):
    values = with_tails(rows)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(dict(zip(NAMES, values.T, strict=True))), path)
    with pytest.warns(DataWarning, match="Column 'c' has such heavy tails"):
        rfdag.learn(path)
    # Once for a column that is a block of its own, and once for two that share one.
    noise = np.random.default_rng(6).normal(size=len(rows)) * values[:, 2].std()
    for shared in (0.0, 1.0):
        values[:, 3] += shared * (values[:, 2] + noise)
        with pytest.warns(DataWarning, match="such heavy tails .*'c'" if shared else "Column 'c'") as caught:
            result = rfdag.learn(values, names=NAMES, blocks=True)
        assert len(caught) == 1
        assert bool(result.dag.toarray()[[2, 3], [3, 2]].any()) == bool(shared)


@on_gpu
def test_heavy_tails_on_a_gpu(rows):
    with pytest.warns(DataWarning, match="Column 'c' has such heavy tails"):
        rfdag.learn(with_tails(rows), names=NAMES, device="cuda")


def test_ordinary_columns_bring_no_warning():
    generator = np.random.default_rng(8)
    for n in (20, 200, 5000):
        table = np.column_stack(
            [
                generator.normal(size=n),
                generator.exponential(size=n),
                generator.laplace(size=n),
                generator.standard_t(5, size=n),
                generator.lognormal(0, 0.5, n),
                np.arange(n) == 0,
                1e308 * generator.uniform(-1, 1, n),
            ]
        )
        assert Moments.from_data(table).notes == ()


def test_the_bound_grows_with_columns_and_falls_with_rows():
    assert unlikely_share(2, 3) == 1
    shares = [unlikely_share(n, 10) for n in (20, 100, 1000, 10**6)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.2
    assert unlikely_share(200, 1000) > unlikely_share(200, 10)
