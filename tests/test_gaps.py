"""Missing values: the EM algorithm, correlations of pairs, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

import mixed_reference as slow
import rfdag
from rfdag.errors import DataError, DataWarning, OptionError
from rfdag.evidence.compact import Compact
from rfdag.evidence.em import em_moments
from rfdag.evidence.gaps import pairwise_moments
from rfdag.evidence.pair_rows import PairRows
from rfdag.metrics import shd


def rows_with_gaps(n=200, p=4, share=0.2, seed=1):
    generator = np.random.default_rng([seed, 3])
    rows = generator.normal(size=(n, p)) @ (np.eye(p) + np.triu(generator.normal(size=(p, p)), 1)) + np.arange(p)
    rows[generator.random((n, p)) < share] = np.nan
    return rows


@pytest.mark.parametrize(("n", "p", "share"), [(200, 4, 0.2), (150, 5, 0.15), (300, 8, 0.1), (100, 3, 0.3)])
def test_steps_are_those_of_the_reference_and_end_where_it_takes_none(n, p, share):
    rows = rows_with_gaps(n, p, share)
    found = em_moments(rows)
    likelihoods = np.array(found.log_likelihoods)
    assert found.settled
    assert (np.diff(likelihoods) > -1e-9).all()
    # The reference starts where the estimate does: at the known values' own means and variances.
    mean, covariance = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    scales = np.sqrt(np.diag(covariance))
    theirs = []
    for _ in range(2):
        mean, covariance, likelihood = slow.em_step(rows, mean, covariance)
        theirs.append(likelihood)
    # Ours are in standard units.
    shift = np.isfinite(rows).sum(axis=0) @ np.log(scales)
    np.testing.assert_allclose(likelihoods[:2] - shift, theirs, rtol=1e-9)
    # Another step leads nowhere, and the likelihood there is the last.
    mean, covariance, likelihood = slow.em_step(rows, found.mean, found.covariance)
    assert likelihoods[-1] - shift == pytest.approx(likelihood, abs=1e-8)
    half = np.linalg.inv(np.linalg.cholesky(found.covariance))
    np.testing.assert_allclose(half @ (covariance - found.covariance) @ half.T, 0, atol=1e-9)
    np.testing.assert_allclose(half @ (mean - found.mean), 0, atol=1e-9)


def test_steps_are_extrapolated_where_much_is_missing():
    """As many plain steps of EM are still on their way."""
    generator = np.random.default_rng(4)
    rows = generator.normal(size=(300, 10)) + generator.normal(size=(300, 1))
    rows[generator.random(rows.shape) < 0.5] = np.nan
    found = em_moments(rows)
    mean, covariance = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    shift = np.isfinite(rows).sum(axis=0) @ np.log(np.sqrt(np.diag(covariance)))
    for _ in range(len(found.log_likelihoods)):
        mean, covariance, likelihood = slow.em_step(rows, mean, covariance)
    assert found.settled
    assert found.log_likelihoods[-1] - shift > likelihood + 1e-7


@pytest.mark.parametrize("weighted", [False, True])
def test_estimates_are_the_same_to_the_last_digit_in_any_order_of_the_columns(weighted):
    for seed in range(4):
        rows = rows_with_gaps(120, 11, 0.25, seed=seed)
        generator = np.random.default_rng([seed, 8])
        weights, places = (generator.integers(1, 4, 120) if weighted else None), generator.permutation(11)
        one, other = em_moments(rows, weights), em_moments(rows[:, places], weights)
        np.testing.assert_array_equal(one.covariance[np.ix_(places, places)], other.covariance)
        known = np.isfinite(rows)
        one, other = (pairwise_moments(some, np.isfinite(some), weights) for some in (rows, rows[:, places]))
        np.testing.assert_array_equal(one[1][np.ix_(places, places)], other[1])
        assert known.any(axis=0).all()


def test_without_gaps_they_are_the_moments_of_the_sample():
    rows = rows_with_gaps(share=0.0)
    found = em_moments(rows)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), atol=1e-10)


def test_a_monotone_pattern_has_the_known_solution():
    """Where only y has gaps: the regression in complete rows, at the moments of x in all rows (Anderson, 1957)."""
    generator = np.random.default_rng(8)
    x = generator.normal(size=500)
    y = 2 * x + generator.normal(size=500)
    rows = np.column_stack([x, y])
    rows[x > 0.3, 1] = np.nan
    there = np.isfinite(rows[:, 1])
    slope, intercept = np.polyfit(x[there], y[there], 1)
    left = (y[there] - intercept - slope * x[there]).var()
    found = em_moments(rows)
    assert found.mean[1] == pytest.approx(intercept + slope * x.mean(), abs=1e-3)
    assert found.covariance[0, 1] == pytest.approx(slope * x.var(), rel=1e-3)
    assert found.covariance[1, 1] == pytest.approx(left + slope**2 * x.var(), rel=1e-3)


def test_weights_are_repeated_rows():
    rows = rows_with_gaps(n=80)
    counts = np.random.default_rng(2).integers(1, 4, 80)
    weighted, repeated = em_moments(rows, counts.astype(float)), em_moments(np.repeat(rows, counts, axis=0))
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=1e-8)


def test_complete_rows_may_stand_for_themselves_as_few_weighted_ones():
    rows = rows_with_gaps(n=300)
    parts = [Compact.of(np.asfortranarray(part)) for part in np.array_split(rows, 3)]
    few, weights = parts[0].joined(parts[1]).joined(parts[2]).as_rows()
    assert len(few) < 250
    np.testing.assert_allclose(em_moments(few, weights).covariance, em_moments(rows).covariance, atol=1e-6)
    assert PairRows.of(np.isfinite(few), "em", weights).mean == pytest.approx(PairRows.of(np.isfinite(rows), "em").mean)


def test_pairs_are_correlated_in_the_rows_that_have_both():
    rows = rows_with_gaps()
    _, covariance = pairwise_moments(rows, np.isfinite(rows))
    scales = np.sqrt(np.diag(covariance))
    both = np.isfinite(rows[:, 0]) & np.isfinite(rows[:, 2])
    expected = np.corrcoef(rows[both, 0], rows[both, 2])[0, 1]
    assert covariance[0, 2] / scales[0] / scales[2] == pytest.approx(expected)
    np.testing.assert_allclose(scales, np.nanstd(rows, axis=0))


@pytest.mark.parametrize("missing", ["em", "pairwise", "drop"])
@pytest.mark.parametrize("mechanism", ["random", "completely random"])
def test_a_known_graph_is_found_through_gaps(missing, mechanism):
    dag = np.zeros((6, 6), np.int8)
    dag[[0, 1, 2, 2, 4], [2, 2, 3, 4, 5]] = 1
    rows = rfdag.simulate.sample(rfdag.simulate.linear_sem(dag, rng=[5, 1], weights=(0.7, 1.0)), 3000, [5, 2])
    rows = rfdag.simulate.with_gaps(rows, 0.1, [5, 3], mechanism=mechanism)
    with pytest.warns(DataWarning, match="Values are missing") if missing != "drop" else pytest.MonkeyPatch.context():
        result = rfdag.learn(rows, missing=missing, progress=False)
    assert shd(result.cpdag, rfdag.graphs.cpdag(dag)) == 0
    if missing == "drop":
        assert "left out" in result.reading[0]
    else:
        assert 2000 < result.n_samples < 3000
        assert [column.missing for column in result.columns] == np.isnan(rows).sum(axis=0).tolist()


def test_em_is_right_where_complete_rows_are_not():
    """Missing at random given another column: complete rows are a selection, and so is each pair."""
    generator = np.random.default_rng(11)
    x = generator.normal(size=20_000)
    y = x + generator.normal(size=20_000)
    z = y + generator.normal(size=20_000)
    rows = np.column_stack([x, y, z])
    rows[(x > 0) & (generator.random(20_000) < 0.9), 1] = np.nan
    assert em_moments(rows).mean[1] == pytest.approx(0, abs=0.05)
    assert np.nanmean(rows[:, 1]) < -0.3


def frame_of(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(columns)


def test_a_column_without_any_value_is_refused_by_name():
    generator = np.random.default_rng(0)
    rows = frame_of(age=generator.normal(size=30), bmi=generator.normal(size=30), dose=np.full(30, np.nan))
    with pytest.raises(DataError, match=r"Column 'dose' has no values: all 30 are missing.*drop=\['dose'\]"):
        rfdag.learn(rows)


def test_columns_that_are_never_known_together_are_refused_by_name():
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(60, 3))
    rows[:30, 0], rows[30:, 1] = np.nan, np.nan
    with pytest.raises(DataError, match=r"known together in 0 rows.*at least 10"):
        rfdag.learn(rows)


def test_infinite_values_are_no_gaps():
    rows = rows_with_gaps()
    rows[0, 0] = np.inf
    with pytest.raises(DataError, match="infinite"):
        rfdag.learn(rows)


@pytest.mark.parametrize("correlation", ["spearman", "kendall"])
def test_ranks_that_need_whole_rows_say_so(correlation):
    with pytest.raises(OptionError, match="normal-scores"):
        rfdag.learn(rows_with_gaps(), correlation=correlation)


def test_blocks_need_complete_rows():
    with pytest.raises(OptionError, match="missing='drop'"):
        rfdag.learn(rows_with_gaps(), blocks=True)


def test_gaps_in_counted_categories_are_bridged_in_words_and_counts_can_be_asked_for():
    generator = np.random.default_rng(4)
    first = generator.integers(0, 3, 600)
    second = np.where(generator.random(600) < 0.7, first, generator.integers(0, 3, 600))
    frame = frame_of(a=np.array(list("xyz"))[first], b=np.array(list("uvw"))[second])
    frame.loc[::7, "a"] = None
    with pytest.warns(DataWarning, match="Values are missing"):
        result = rfdag.learn(frame)
    assert result.score_name == "gaussian"
    assert result.dag.sum() == 1
    with pytest.raises(OptionError, match=r"counts complete rows.*missing='drop'"):
        rfdag.learn(frame, score="bdeu")
    assert rfdag.learn(frame, score="bdeu", missing="drop").score_name == "bdeu"
