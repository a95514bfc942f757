"""Mixed rows, discrete networks and gaps have the promised distribution, and what cannot be is refused."""

from __future__ import annotations

import gzip
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfdag import simulate
from rfdag.errors import DataError, FileError, OptionError
from rfdag.simulate import mixture
from strategies import dags

CHAIN = np.array([[0, 1], [0, 0]])

# Mixed rows.


@given(dags(max_nodes=7), st.integers(0, 2**32 - 1))
def test_codes_and_numbers(dag, seed):
    rows = simulate.mixed(dag, 60, 0.5, (2, 4), seed)
    p = len(dag)
    assert rows.values.shape == (60, p)
    assert rows.categorical.sum() == round(p / 2)
    codes, numbers = rows.values[:, rows.categorical], rows.values[:, ~rows.categorical]
    assert np.isin(codes, range(4)).all()
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(numbers.std(axis=0), 1)
    again = simulate.mixed(dag, 60, 0.5, (2, 4), seed)
    np.testing.assert_array_equal(rows.values, again.values)


def test_a_mask_says_which_are_categories():
    mask = np.array([True, False, True, False])
    rows = simulate.mixed(np.zeros((4, 4), int), 2000, mask, (3, 3), 1)
    np.testing.assert_array_equal(rows.categorical, mask)
    # Without parents all levels are as likely.
    for column in rows.values[:, mask].T:
        counts = np.bincount(column.astype(int), minlength=3)
        assert ((counts - 2000 / 3) ** 2 / (2000 / 3)).sum() < 20


def test_levels_are_drawn_between_the_bounds():
    rows = simulate.mixed(np.zeros((300, 300), int), 200, 1.0, (2, 5), 3)
    counts = np.bincount((rows.values.max(axis=0) + 1).astype(int), minlength=6)
    assert (counts[2:6] > 45).all()
    assert counts.sum() == counts[2:6].sum()


@pytest.mark.parametrize("child", [False, True])
@pytest.mark.parametrize("parent", [False, True])
def test_effects_have_the_documented_size(parent, child):
    """By the share of a number that its parent explains, and by the log-odds of two levels in a number."""
    explained, slopes = [], []
    for seed in range(60):
        values = simulate.mixed(CHAIN, 4000, [parent, child], (2, 2), [seed, 7]).values
        x, y = values.T
        if not child:
            means = np.array([y[x == level].mean() for level in np.unique(x)])[x.astype(int)] if parent else None
            variance = means.var() if parent else np.corrcoef(x, y)[0, 1] ** 2
            explained.append(variance)
        elif parent:
            odds = [np.log(y[x == level].mean() / (1 - y[x == level].mean())) for level in (0, 1)]
            # A balanced parent is ±1 in standard deviations.
            slopes.append(abs(odds[1] - odds[0]) / 2)
        else:
            slopes.append(logit_slope(x, y))
    if child:
        # A level's signal is ± the effect for two levels, so that the log-odds change by twice as much.
        low, high = (2 * limit for limit in mixture.LOGITS)
        assert low - 0.3 < min(slopes) < low + 0.4
        assert high - 0.5 < max(slopes) < high + 0.4
    else:
        low, high = (limit**2 / (1 + limit**2) for limit in mixture.WEIGHTS)
        assert low - 0.02 < min(explained) < low + 0.06
        assert high - 0.08 < max(explained) < high + 0.03


def logit_slope(x, y):
    """Return the absolute slope of a logistic regression, by Newton's steps."""
    design, beta = np.column_stack([np.ones_like(x), x]), np.zeros(2)
    for _ in range(30):
        likely = 1 / (1 + np.exp(-design @ beta))
        beta += np.linalg.solve((design.T * (likely * (1 - likely))) @ design, design.T @ (y - likely))
    return abs(beta[1])


def test_variables_without_a_path_are_independent():
    values = simulate.mixed(np.zeros((2, 2), int), 5000, [True, False], (3, 3), 5).values
    means = [values[values[:, 0] == level, 1].mean() for level in range(3)]
    assert np.abs(means).max() < 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"categorical": 1.5}, "between 0 and 1"),
        ({"categorical": [True]}, "2 truth values"),
        ({"categorical": [1, 0]}, "2 truth values"),
        ({"levels": (1, 3)}, "2 ≤ low"),
        ({"levels": (4, 3)}, "2 ≤ low"),
        ({"n": 1}, "n is a whole number of at least 2, not 1"),
    ],
)
def test_mixed_rows_that_cannot_be(options, words):
    with pytest.raises(OptionError, match=words):
        simulate.mixed(**{"dag": CHAIN, "n": 10} | options)


# Networks.

SPRINKLER = """
network sprinkler { property made by hand; }
// rain comes last, so that a parent is named before it is known
variable wet { type discrete [ 2 ] { dry, wet }; }
variable sprinkler { type discrete [ 3 ] { off, low, high }; }
variable rain { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.7, 0.3; }
probability ( sprinkler | rain ) { (yes) 0.9, 0.1, 0.0; (no) 0.5, 0.3, 0.2; }
probability ( wet | sprinkler, rain ) {
  (off, no) 1.0, 0.0;
  (low, no) 0.6, 0.4;
  (high, no) 0.2, 0.8;
  default 0.1, 0.9;
}
"""


def written(tmp_path, text, name="network.bif"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["network.bif", "network.bif.gz"])
def test_a_network_is_read(tmp_path, name):
    network = simulate.discrete_network(written(tmp_path, SPRINKLER, name))
    assert network.names == ("wet", "sprinkler", "rain")
    assert network.levels == (("dry", "wet"), ("off", "low", "high"), ("no", "yes"))
    assert network.dag.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    np.testing.assert_allclose(network.tables[2], [0.7, 0.3])
    np.testing.assert_allclose(network.tables[1], [[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]])
    # Axes: sprinkler, rain, wet.
    np.testing.assert_allclose(network.tables[0][:, 0, 1], [0, 0.4, 0.8])
    np.testing.assert_allclose(network.tables[0][:, 1, 1], 0.9)


def test_samples_have_the_networks_probabilities(tmp_path):
    network = simulate.discrete_network(written(tmp_path, SPRINKLER))
    n = 200_000
    codes = network.sample(n, 4).astype(int)
    seen = np.zeros((2, 3, 2))
    np.add.at(seen, tuple(codes.T), 1 / n)
    expected = np.zeros((2, 3, 2))
    for wet, sprinkler, rain in product(range(2), range(3), range(2)):
        given_rain = network.tables[2][rain] * network.tables[1][rain, sprinkler]
        expected[wet, sprinkler, rain] = given_rain * network.tables[0][sprinkler, rain, wet]
    np.testing.assert_allclose(seen, expected, atol=4 * 0.5 / np.sqrt(n))
    assert not seen[expected == 0].any()


def test_a_table_in_one_row_lists_the_childs_levels_slowest(tmp_path):
    text = SPRINKLER.replace("(yes) 0.9, 0.1, 0.0; (no) 0.5, 0.3, 0.2;", "table 0.5, 0.9, 0.3, 0.1, 0.2, 0.0;")
    network = simulate.discrete_network(written(tmp_path, text))
    np.testing.assert_allclose(network.tables[1], [[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.7, 0.3", "0.7, 0.4", "rain: probabilities are missing, or do not add up"),
        ("(yes) 0.9, 0.1, 0.0;", "", "sprinkler: probabilities are missing"),
        ("(yes) 0.9, 0.1, 0.0;", "(maybe) 0.9, 0.1, 0.0;", "sprinkler: the row of .maybe."),
        ("(off, no) 1.0, 0.0;", "(off) 1.0, 0.0;", "wet: the row of .off."),
        ("table 0.7, 0.3", "table 0.7, many", "rain: the row"),
        ("sprinkler | rain", "sprinkler | snow", "'snow', which is not among"),
        ("probability ( rain ) { table 0.7, 0.3; }", "", "no probabilities of 'rain'"),
        (SPRINKLER, "nothing", "no discrete variables"),
    ],
)
def test_networks_that_cannot_be(tmp_path, old, new, words):
    assert old in SPRINKLER
    with pytest.raises(DataError, match=words):
        simulate.discrete_network(written(tmp_path, SPRINKLER.replace(old, new)))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        simulate.discrete_network(tmp_path / "nowhere.bif")
    path = tmp_path / "plain.bif.gz"
    path.write_text(SPRINKLER)
    with pytest.raises(FileError, match="cannot be read"):
        simulate.discrete_network(path)
    network = simulate.discrete_network(written(tmp_path, SPRINKLER))
    with pytest.raises(OptionError, match="n is a whole number of at least 1, not 0"):
        network.sample(0)


# Gaps.


@pytest.mark.parametrize("mechanism", ["random", "completely random"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
def test_gaps_have_the_share_that_was_asked_for(mechanism, share):
    rows = np.random.default_rng(1).normal(size=(4000, 10))
    before = rows.copy()
    gappy = simulate.with_gaps(rows, share, 2, mechanism=mechanism)
    np.testing.assert_array_equal(rows, before)
    missing = np.isnan(gappy)
    np.testing.assert_array_equal(gappy[~missing], rows[~missing])
    shares = missing.mean(axis=0)
    whole = shares == 0
    assert whole.sum() == (10 if not share else 2 if mechanism == "random" else 0)
    np.testing.assert_allclose(shares[~whole], share, atol=0.04)


def test_what_is_missing_depends_on_what_is_observed():
    """Each column with gaps has one that is always observed with which they vary; completely at random, none has."""
    rows = np.random.default_rng(1).normal(size=(4000, 10))
    largest = {}
    for mechanism in ("random", "completely random"):
        missing = np.isnan(simulate.with_gaps(rows, 0.3, 2, mechanism=mechanism))
        gappy, whole = missing.any(axis=0), ~missing.any(axis=0)
        others = rows[:, whole] if whole.any() else rows
        correlation = np.corrcoef(others.T, missing[:, gappy].T)[: others.shape[1], others.shape[1] :]
        largest[mechanism] = np.abs(correlation).max(axis=0)
    assert (largest["random"] > 0.25).all()
    assert (largest["completely random"] < 0.08).all()


def test_gaps_do_not_depend_on_what_is_missing():
    """In independent columns the values that are seen have the distribution of all."""
    rows = np.random.default_rng(3).normal(size=(20_000, 5))
    gappy = simulate.with_gaps(rows, 0.4, 4)
    assert np.abs(np.nanmean(gappy, axis=0) - rows.mean(axis=0)).max() < 0.04


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.ones((3, 2)), {"share": 1.0}, "less than 1"),
        (np.ones((3, 2)), {"share": -0.1}, "at least 0"),
        (np.ones((3, 2)), {"share": 0.1, "mechanism": "not random"}, "mechanism is"),
        (np.array([[1, np.nan]]), {"share": 0.1}, "missing values"),
        (np.ones(3), {"share": 0.1}, "no table"),
    ],
)
def test_gaps_that_cannot_be_made(values, options, words):
    with pytest.raises(OptionError, match=words):
        simulate.with_gaps(values, **options)
