"""Columns with many gaps beside others with few: each pair of variables is worth the rows that it has."""

import math

import numpy as np
import pandas as pd
import pytest

import rfdag
from mixed_reference import worth_literally
from reference import all_dags
from rfdag.evidence.em import em_moments
from rfdag.evidence.pair_rows import PairRows

pytestmark = pytest.mark.filterwarnings("ignore::rfdag.errors.DataWarning", "ignore::rfdag.errors.EquivalenceWarning")

WAYS = "em", "pairwise"


def without(rows, shares, rng):
    """Return rows with a share of each column missing."""
    gaps = rows.copy()
    gaps[rng.random(rows.shape) < np.asarray(shares)] = np.nan
    return gaps


def model(p, rng, n):
    """Return rows of a linear model in which each variable but the first has one or two parents."""
    rows = rng.normal(size=(n, p))
    for y in range(1, p):
        for x in rng.choice(y, min(y, 2), replace=False):
            rows[:, y] += rng.uniform(0.4, 1) * rng.choice([-1, 1]) * rows[:, x]
    return rows


# How many rows a pair is worth


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_worth_is_the_formula(way, seed):
    rng = np.random.default_rng([seed, 1])
    rows = model(5, rng, 400)
    known = rng.random(rows.shape) >= [0.7, 0.0, 0.2, 0.5, 0.0]
    found = PairRows.of(known, way)
    correlation = np.corrcoef(rows.T)
    expected = worth_literally(known.T.astype(float) @ known, correlation, way)
    np.testing.assert_allclose(found.worth(correlation), expected, rtol=1e-4)
    # A variable of one column is worth the same, however it is said.
    np.testing.assert_allclose(found.worth(correlation, np.arange(6)), expected, rtol=1e-4)


def test_complete_columns_are_worth_their_rows():
    known = np.ones((70, 4), bool)
    correlation = np.corrcoef(np.random.default_rng(3).normal(size=(70, 4)).T)
    found = PairRows.of(known, "em")
    np.testing.assert_allclose(found.worth(correlation), 70.0)
    np.testing.assert_allclose(found.price_factors(correlation), 1.0)


def test_columns_missing_together_lose_no_more_than_their_rows():
    known = np.ones((100, 3), bool)
    known[40:] = False
    correlation = np.array([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]])
    for way in WAYS:
        np.testing.assert_allclose(PairRows.of(known, way).worth(correlation), 40.0)


@pytest.mark.parametrize(
    ("missing", "pair", "given"),
    [
        ((0.8, 0, 0), (1, 2), (0,)),
        ((0, 0.8, 0), (1, 2), (0,)),
        ((0.3, 0.3, 0.3), (1, 2), (0,)),
        ((0.6, 0.6, 0), (0, 1), ()),
    ],
)
def test_worth_is_the_inverse_variance_of_a_partial_correlation(missing, pair, given):
    """Two effects of one cause: what is left of their correlation varies as that of so many complete rows would."""
    rng, n, found = np.random.default_rng([7, *np.array(missing).astype(int), *pair]), 400, []
    weights = np.array([[1, 0.7, 0.7], [0, 1, 0], [0, 0, 1]]) if given else np.eye(3)
    chosen = [*pair, *given]
    for _ in range(250):
        rows = without(rng.normal(size=(n, 3)) @ weights, missing, rng)
        inverse = np.linalg.inv(em_moments(rows).covariance[np.ix_(chosen, chosen)])
        found.append(-inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1]))
    shares = 1 - np.array(missing)
    counts = n * np.outer(shares, shares)
    np.fill_diagonal(counts, n * shares)
    covariance = weights.T @ weights
    scales = np.sqrt(np.diag(covariance))
    correlation = covariance / scales / scales[:, None]
    worth = PairRows(counts, n, "em").among(np.array(chosen)).worth(correlation[np.ix_(chosen, chosen)])[0, 1]
    assert 0.7 < worth * np.var(found) < 1.4


# False edges


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("share", "columns"), [(0.8, 1), (0.9, 1), (0.7, 3)])
def test_independent_columns_with_many_gaps_get_no_edges(way, share, columns):
    """With all rows counted alike, half of these tables get false edges and more."""
    wrong = 0
    for seed in range(15):
        rng = np.random.default_rng([seed, 11])
        rows = without(rng.normal(size=(500, 10)), [share] * columns + [0.0] * (10 - columns), rng)
        wrong += len(rfdag.learn(rows, missing=way).edges) > 0
    assert wrong <= 2


def test_tests_count_the_rows_of_the_pair():
    wrong = 0
    for seed in range(10):
        rng = np.random.default_rng([seed, 12])
        rows = without(rng.normal(size=(500, 10)), [0.9] + [0.0] * 9, rng)
        for method in ("gsp", "rfd"):
            wrong += len(rfdag.learn(rows, method, alpha=0.001).edges) > 0
    assert wrong <= 2


# The score


def score_literally(result, dag, counts, rows):
    """n Σ ln var(y | parents) + prices, from the moments of a result and what each pair is worth."""
    correlation = result.moments.correlation
    n = counts[~np.eye(len(counts), dtype=bool)].mean()
    worth = worth_literally(counts, correlation, "em")
    total = 0.0
    for y in range(len(dag)):
        parents = np.flatnonzero(dag[:, y])
        family = [y, *parents]
        inner = np.linalg.slogdet(correlation[np.ix_(parents, parents)])[1] if len(parents) else 0.0
        total += result.n_samples * (np.linalg.slogdet(correlation[np.ix_(family, family)])[1] - inner)
        for x in parents:
            logs = 0.5 * math.log(worth[x, y] * rows) / math.log(n)
            total += 2 * math.log(result.n_samples) * n / worth[x, y] * logs
    return total


@pytest.mark.parametrize("method", ["soft", "sp"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_graphs_is_found(method, seed):
    rng = np.random.default_rng([seed, 21])
    rows = without(model(4, rng, 300), [0.75, 0.0, 0.4, 0.0], rng)
    result = rfdag.learn(rows, method)
    known = np.isfinite(rows).astype(float)
    scores = [score_literally(result, dag, known.T @ known, len(rows)) for dag in all_dags(4)]
    assert result.score == pytest.approx(min(scores), rel=1e-4)
    assert result.score_of(result.dag) == pytest.approx(result.score, abs=1e-6)
    assert result.optimal


def test_branch_and_bound_proves_the_same():
    rng = np.random.default_rng(33)
    rows = without(model(21, rng, 600), np.where(np.arange(21) % 4, 0.0, 0.6), rng)
    proved = rfdag.learn(rows, exact=True)
    found = rfdag.learn(rows, exact=False, restarts=50)
    assert proved.optimal
    assert proved.score <= found.score + 1e-6
    assert found.score == pytest.approx(proved.score, abs=1e-6)


def test_the_gain_of_an_edge_is_what_its_removal_costs(tmp_path):
    rng = np.random.default_rng(41)
    result = rfdag.learn(without(model(5, rng, 300), [0.6, 0.0, 0.0, 0.3, 0.0], rng))
    assert len(result.edges) > 3
    for edge in result.edges:
        fewer = result.dag.copy()
        fewer[edge.source, edge.target] = 0
        assert edge.gain == pytest.approx(result.score_of(fewer) - result.score, abs=1e-6)
    result.save(tmp_path / "with.json", moments=True)
    kept = rfdag.load(tmp_path / "with.json")
    assert kept.score_of(kept.dag) == pytest.approx(result.score, abs=1e-6)
    source, target = result.edges[0][:2]
    assert kept.effect(source, target) == result.effect(source, target)
    result.save(tmp_path / "without.json", moments=False)
    alone = rfdag.load(tmp_path / "without.json")
    assert [edge.gain for edge in alone.edges] == [edge.gain for edge in result.edges]


def test_categories_with_gaps_are_scored_alike():
    rng = np.random.default_rng(51)
    numbers = model(4, rng, 500)
    table = pd.DataFrame(numbers, columns=list("abcd"))
    table["b"] = pd.cut(table["b"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"]).astype(object)
    table.loc[rng.random(500) < 0.6, "b"] = None
    table.loc[rng.random(500) < 0.5, "d"] = np.nan
    result = rfdag.learn(table)
    known = table.notna().to_numpy().astype(float)
    counts = known.T @ known
    # Each pair of variables counts once, however many levels one of them has.
    assert result.n_samples == round(counts[~np.eye(4, dtype=bool)].mean())
    scores = [result.score_of(dag) for dag in all_dags(4)]
    assert result.score == pytest.approx(min(scores), abs=1e-6)
    for edge in result.edges:
        fewer = result.dag.copy()
        fewer[list("abcd").index(edge.source), list("abcd").index(edge.target)] = 0
        assert edge.gain == pytest.approx(result.score_of(fewer) - result.score, abs=1e-6)


def test_rows_in_pieces_and_weights_count_alike(tmp_path):
    rng = np.random.default_rng(61)
    rows = without(model(4, rng, 400), [0.6, 0.0, 0.3, 0.0], rng)
    whole = rfdag.learn(rows)
    paths = [tmp_path / f"{part}.parquet" for part in range(2)]
    for part, path in zip((rows[:150], rows[150:]), paths, strict=True):
        pd.DataFrame(part, columns=list("abcd")).to_parquet(path)
    in_pieces = rfdag.learn(paths)
    assert in_pieces.n_samples == whole.n_samples
    assert in_pieces.score == pytest.approx(whole.score, rel=1e-6)
    weighted = pd.DataFrame(rows, columns=list("abcd")).assign(w=2.0)
    twice = rfdag.learn(weighted, weights="w")
    repeated = rfdag.learn(np.repeat(rows, 2, axis=0))
    assert twice.n_samples == repeated.n_samples
    assert twice.score == pytest.approx(repeated.score, rel=1e-6)


# Effects


@pytest.mark.parametrize("way", WAYS)
def test_intervals_cover_effects_of_columns_with_gaps(way):
    covered, tables = 0, 60
    for seed in range(tables):
        rng = np.random.default_rng([seed, 71])
        z = rng.normal(size=500)
        x = 0.8 * z + rng.normal(size=500)
        y = 0.5 * x + 0.6 * z + rng.normal(size=500)
        rows = without(np.column_stack([z, x, y]), [0.0, 0.7, 0.2], rng)
        known = {"tiers": [["z"], ["x"], ["y"]], "required": [["z", "x"], ["x", "y"], ["z", "y"]]}
        result = rfdag.learn(rows, missing=way, names=list("zxy"), knowledge=known)
        effect = result.effect("x", "y")
        covered += effect.low <= 0.5 <= effect.high
    assert 0.88 * tables <= covered
