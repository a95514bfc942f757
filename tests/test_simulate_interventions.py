"""Interventions change the mechanisms of their targets as documented, and nothing else; what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfdag import simulate
from rfdag.errors import OptionError
from rfdag.simulate.interventions import OBSERVATIONAL
from strategies import dags

KINDS = ("hard", "soft", "shift")
# 0 → 1 → 2 and 0 → 2, weights by hand.
SEM = simulate.LinearSEM(np.array([[0, 0.8, -0.5], [0, 0, 0.6], [0, 0, 0]]), np.array([1.0, 2.0, 0.5]))
MANY = 40_000


def fitted(rows, child, parents):
    """Return intercept, slopes and noise variance of a variable given others, by least squares."""
    design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
    solution = np.linalg.lstsq(design, rows[:, child], rcond=None)[0]
    return solution[0], solution[1:], (rows[:, child] - design @ solution).var()


def parts(found):
    return {label: found.values[found.labels == label] for label in found.targets}


@given(dags(max_nodes=6), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_rows_labels_and_targets(dag, kind, seed):
    sem = simulate.linear_sem(dag, seed)
    targets = simulate.draw_targets(len(dag), 3, 1, seed)
    found = simulate.interventions(sem, 5, targets, 2, kind=kind, rng=seed)
    assert found.values.shape == (11, len(dag))
    assert found.labels.tolist() == [OBSERVATIONAL] * 5 + ["1"] * 2 + ["2"] * 2 + ["3"] * 2
    assert found.targets == {OBSERVATIONAL: ()} | {str(at): each for at, each in enumerate(targets, 1)}
    again = simulate.interventions(sem, 5, targets, 2, kind=kind, rng=seed)
    np.testing.assert_array_equal(found.values, again.values)
    other = simulate.interventions(sem, 5, targets, 2, kind=kind, rng=seed + 1)
    assert (found.values != other.values).all()


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_mechanism_of_the_target_changes(kind):
    found = parts(simulate.interventions(SEM, MANY, [1], MANY, kind=kind, rng=5))
    for rows in found.values():
        for child, parents in ((0, []), (2, [0, 1])):
            intercept, slopes, variance = fitted(rows, child, parents)
            assert abs(intercept) < 0.05
            np.testing.assert_allclose(slopes, SEM.weights[parents, child], atol=0.03)
            assert abs(variance / SEM.variances[child] - 1) < 0.04
    intercept, slopes, variance = fitted(found[OBSERVATIONAL], 1, [0])
    assert abs(intercept) < 0.05
    assert abs(slopes[0] - 0.8) < 0.03
    assert abs(variance / 2 - 1) < 0.04
    # The standard deviation of 1 without interventions is √(.64 + 2).
    intercept, slopes, variance = fitted(found["1"], 1, [0])
    assert abs(abs(intercept) - 2 * np.sqrt(2.64)) < 0.05
    assert 0.5 * 0.96 < variance / 2 < 2 * 1.04
    assert abs(variance / 2 - 1) > 0.04, "the noise of this seed has another variance"
    expected = {"hard": 0.0, "shift": 0.8}
    if kind == "soft":
        assert 0.25 - 0.03 < abs(slopes[0]) < 1.03
        assert abs(slopes[0] - 0.8) > 0.03, "the slope of this seed is another"
    else:
        assert abs(slopes[0] - expected[kind]) < 0.03


def test_strengths_are_as_documented():
    """Over many experiments on one variable, means go up and down, and variances and slopes fill their ranges."""
    root = simulate.LinearSEM(np.zeros((1, 1)), np.array([4.0]))
    found = parts(simulate.interventions(root, 0, [[0]] * 400, 400, shift=3, factors=(0.25, 4), rng=6))
    means = np.array([rows.mean() for rows in found.values()])
    variances = np.array([rows.var() for rows in found.values()]) / 4
    assert abs(np.abs(means) - 6).max() < 1.0
    assert 0.4 < (means > 0).mean() < 0.6
    assert 0.2 < variances.min() < 0.3
    assert 3.2 < variances.max() < 4.8
    assert 0.42 < (variances < 1).mean() < 0.58, "factors are uniform on the scale of logarithms"
    pair = simulate.LinearSEM(np.array([[0, 1.0], [0, 0]]), np.ones(2))
    found = parts(
        simulate.interventions(
            pair, 0, [1] * 200, 2000, kind="soft", shift=0, factors=(1, 1), weights=(0.3, 0.6), rng=7
        )
    )
    fits = [fitted(rows, 1, [0]) for rows in found.values()]
    slopes = np.array([fit[1][0] for fit in fits])
    assert 0.2 < np.abs(slopes).min() < 0.4
    assert 0.5 < np.abs(slopes).max() < 0.7
    assert 0.4 < (slopes > 0).mean() < 0.6
    assert max(abs(fit[0]) for fit in fits) < 0.12
    assert max(abs(fit[2] - 1) for fit in fits) < 0.15


def test_several_targets_of_one_environment():
    found = parts(simulate.interventions(SEM, 0, {"both": [2, 0, 2], "none": []}, MANY, rng=8))
    assert set(found) == {"both", "none"}
    assert abs(np.corrcoef(found["both"].T)[0, 2]) < 0.02
    assert abs(np.corrcoef(found["both"].T)[1, 2]) < 0.02
    np.testing.assert_allclose(fitted(found["both"], 1, [0])[1], 0.8, atol=0.03)
    np.testing.assert_allclose(np.cov(found["none"].T), SEM.covariance(), atol=0.1)
    assert simulate.interventions(SEM, 0, {"both": [2, 0, 2]}, 1).targets == {"both": (0, 2)}


def test_labels_of_the_callers_own():
    found = simulate.interventions(SEM, 0, {OBSERVATIONAL: [], "drug": 1}, 3, rng=1)
    assert found.labels.tolist() == [OBSERVATIONAL] * 3 + ["drug"] * 3
    assert found.targets == {OBSERVATIONAL: (), "drug": (1,)}


@given(st.integers(1, 9), st.integers(0, 12), st.data())
def test_targets_are_spread_evenly(p, environments, data):
    size = data.draw(st.integers(1, p))
    drawn = simulate.draw_targets(p, environments, size, data.draw(st.integers(0, 2**32 - 1)))
    assert [len(set(each)) for each in drawn] == [size] * environments
    counts = np.bincount([node for each in drawn for node in each], minlength=p)
    assert len(counts) == p
    assert np.ptp(counts) <= 1 if environments else not counts.any()


def test_targets_are_random():
    firsts = {simulate.draw_targets(5, 1, 1, seed)[0] for seed in range(60)}
    assert firsts == {(node,) for node in range(5)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"targets": [3]}, r"Environment '1' targets 3, .* numbered 0 to 2"),
        ({"targets": {"drug": [0, -1]}}, r"Environment 'drug' targets -1, which is no column"),
        ({"targets": {"drug": ["mek"]}}, r"targets 'mek', which is no column"),
        ({"targets": ["1"]}, r"targets '1', which is no column"),
        ({"targets": [[True]]}, r"targets True, which is no column"),
        ({"targets": [1.0]}, r"targets 1.0, which is no column"),
        ({"targets": {1: [0], "1": [1]}}, r"two of the 2 in targets read the same"),
        ({"targets": {OBSERVATIONAL: []}}, r"give another label"),
        ({"targets": [], "n_observational": 0}, r"no rows to draw"),
        ({"n_observational": -1}, "n_observational is a whole number of at least 0, not -1"),
        ({"n_per_environment": 0}, "n_per_environment is a whole number of at least 1, not 0"),
        ({"kind": "firm"}, "kind is one of hard, soft, shift, not 'firm'"),
        ({"factors": (2, 1)}, r"factors=\(low, high\) needs 0 < low ≤ high, not \(2, 1\)"),
        ({"weights": 0.5}, r"weights=\(low, high\)"),
    ],
)
def test_what_cannot_be_is_refused(words, message):
    usual = {"sem": SEM, "n_observational": 3, "targets": [1], "n_per_environment": 3}
    with pytest.raises(OptionError, match=message):
        simulate.interventions(**(usual | words))


def test_targets_that_cannot_be_drawn():
    with pytest.raises(OptionError, match="size is a whole number from 1 to 4, not 5"):
        simulate.draw_targets(4, 2, 5)
    with pytest.raises(OptionError, match="at least 0, not -1"):
        simulate.draw_targets(4, -1)
    with pytest.raises(OptionError, match="rng is 'today'"):
        simulate.draw_targets(4, 1, rng="today")


def test_a_sparse_model_is_refused():
    dag = simulate.random_dag(5, degree=2, sparse=True)
    with pytest.raises(ValueError, match="interventions"):
        simulate.interventions(simulate.linear_sem(dag), 3, [1], 3)
