"""The same columns in another order give the same answer, to the last digit of the score."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rfdag
from rfdag.evidence.arrangement import by_content, by_entries, by_sums
from rfdag.evidence.moments import Moments
from rfdag.evidence.summary import Summary

KINDS = {
    "numbers": {},
    "weights": {"weights": np.arange(120) % 3 + 1.0},
    "gaps, em": {"missing": "em"},
    "gaps, pairwise": {"missing": "pairwise"},
    "gaps and categories": {"missing": "em", "categorical": [0, 1, 2]},
    "half categories": {"categorical": [0, 1, 2]},
    "all categories": {"categorical": [0, 1, 2, 3, 4, 5]},
    "spearman": {"correlation": "spearman"},
    "kendall": {"correlation": "kendall"},
    "normal scores": {"correlation": "normal-scores"},
    "powers": {"basis": 2},
    "environments": {"environments": ["a", "b"] * 60, "targets": "unknown"},
}


def rows_of(kind, seed):
    generator = np.random.default_rng([seed, 17])
    rows = generator.normal(size=(120, 6)) @ (np.eye(6) + np.triu(generator.normal(size=(6, 6)), 1))
    for at in KINDS[kind].get("categorical", []):
        rows[:, at] = np.digitize(rows[:, at], np.quantile(rows[:, at], [0.3, 0.6]))
    if kind.startswith("gaps"):
        rows[generator.random(rows.shape) < 0.15] = np.nan
    return rows, generator.permutation(6)


@pytest.mark.parametrize("kind", KINDS)
def test_permuted_columns_give_the_same_class_and_every_digit_of_the_score(kind):
    for seed in range(2):
        rows, places = rows_of(kind, seed)
        found = []
        for order in (np.arange(6), places):
            options = dict(KINDS[kind])
            if "categorical" in options:
                options["categorical"] = np.flatnonzero(np.isin(order, options["categorical"])).tolist()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                some = rows if len(found) == 0 else rows[:, order]
                found.append(rfdag.learn(some, progress=False, **options))
        np.testing.assert_array_equal(found[0].cpdag[np.ix_(places, places)], found[1].cpdag)
        assert found[0].score == found[1].score


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_the_same_to_the_last_digit(seed):
    generator = np.random.default_rng([seed, 18])
    n, p = (int(at) for at in (generator.integers(20, 400), generator.integers(2, 30)))
    rows, places = generator.normal(size=(n, p)) + generator.normal(size=(n, 1)), generator.permutation(p)
    one, other = Moments.from_data(rows), Moments.from_data(rows[:, places])
    np.testing.assert_array_equal(one.factor[:, places], other.factor)
    if p > 2:
        # Of two columns each has the same sum of correlations: they stay as they were given.
        np.testing.assert_array_equal(one.places_by_data(), places[other.places_by_data()])
    np.testing.assert_allclose(one.factor.T @ one.factor, np.corrcoef(rows.T), atol=1e-12)
    summed = [
        Summary.of(some[: n // 2].copy()).joined(Summary.of(some[n // 2 :].copy())) for some in (rows, rows[:, places])
    ]
    np.testing.assert_array_equal(summed[0].factor[:, places], summed[1].factor)
    matrix = np.cov(rows.T)
    if n > p:
        one, other = (Moments.from_covariance(some, n) for some in (matrix, matrix[np.ix_(places, places)]))
        np.testing.assert_array_equal(one.factor[:, places], other.factor)


def test_columns_are_sorted_by_what_stands_in_them_also_where_they_begin_alike():
    rows = np.zeros((40, 4))
    rows[20:, 0], rows[30:, 2], rows[39, 3] = 1.0, 1.0, np.nan
    places = np.array([2, 0, 3, 1])
    np.testing.assert_array_equal(by_content(rows), places[by_content(rows[:, places])][: len(places)])
    matrix = rows[20:].T @ np.nan_to_num(rows[20:])
    matrix = np.nan_to_num(matrix)
    by_rank = np.diag(matrix)[by_entries(matrix)]
    assert (np.diff(by_rank) >= 0).all()


def test_sums_that_differ_by_rounding_stay_on_whichever_side_of_a_decimal_they_are():
    """Rounded to 9 decimals, equal sums fall on both sides of a boundary, and change places."""
    boundary = 1.0000000005
    sums = np.array([boundary + 1e-15, boundary - 1e-15, 0.5])
    assert np.round(sums[0], 9) != np.round(sums[1], 9)
    assert by_sums(sums).tolist() == [2, 0, 1]
    assert by_sums(sums[[1, 0, 2]]).tolist() == [2, 0, 1]
