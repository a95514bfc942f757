"""A matrix that is spoilt during an elimination is computed anew: the answer is that without the fault."""

import numpy as np
import pytest

import rfdag
from rfdag.eliminate.engines.dense import DenseEngine
from rfdag.errors import NumericalError
from rfdag.evidence.moments import Moments
from torture import model

METHODS = {
    "rfd": {"method": "rfd"},
    "rfd, depth 2": {"method": "rfd", "depth": 2, "pairs": "neighbours"},
    "min-degree": {"method": "min-degree"},
    "max-remove": {"method": "max-remove"},
    "gsp": {"method": "gsp"},
    "soft": {"method": "soft", "refine": False, "parents": "threshold"},
}
P = 12


@pytest.fixture(scope="module")
def rows():
    return model(P, 300, 5)


def spoil(monkeypatch, value, steps):
    """Put a value into K just before some steps of every elimination; return the list of those that were spoilt."""
    spoilt = []
    honest = DenseEngine._marginalise

    def marginalise(engine, position):
        left = engine._size
        if left in steps:
            i, j = [at for at in range(left) if at != position][:2]
            engine._K[i, j] = engine._K[j, i] = value
            spoilt.append(left)
        honest(engine, position)

    monkeypatch.setattr(DenseEngine, "_marginalise", marginalise)
    return spoilt


def watch(monkeypatch, change=lambda fresh: fresh):
    """Count how often K is computed anew, and change what comes of it."""
    asked = []
    honest = Moments.partial_correlations

    def partial_correlations(moments, variables=None):
        fresh = honest(moments, variables)
        if variables is None:
            return fresh
        asked.append(len(variables))
        return change(fresh)

    monkeypatch.setattr(Moments, "partial_correlations", partial_correlations)
    return asked


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.5, -40.0, 1e300])
@pytest.mark.parametrize("name", METHODS)
def test_the_answer_is_that_without_a_fault(rows, name, value, monkeypatch):
    undisturbed = rfdag.learn(rows, **METHODS[name])
    spoilt, asked = spoil(monkeypatch, value, {4, P - 1}), watch(monkeypatch)
    found = rfdag.learn(rows, **METHODS[name])
    assert set(spoilt) == {4, P - 1}
    assert {3, P - 2} <= set(asked)
    assert found.order == undisturbed.order
    np.testing.assert_array_equal(found.dag, undisturbed.dag)
    for what in ("node", "removal", "fill", "degree"):
        np.testing.assert_array_equal(getattr(found.trace, what), getattr(undisturbed.trace, what))


@pytest.mark.parametrize("value", [np.nan, 1.5])
@pytest.mark.parametrize("name", METHODS)
def test_a_second_fault_is_an_error_that_names_columns(rows, name, value, monkeypatch):
    spoil(monkeypatch, value, {5})

    def change(fresh):
        fresh[0, 1] = fresh[1, 0] = value
        return fresh

    watch(monkeypatch, change)
    with pytest.raises(NumericalError, match="became deterministic"):
        rfdag.learn(rows, names=[f"v{at}" for at in range(P)], **METHODS[name])


def test_what_is_computed_anew_against_drift_is_checked_as_well(rows, monkeypatch):
    monkeypatch.setattr("rfdag.eliminate.engines.dense_state.DRIFT", 0.0)
    undisturbed = rfdag.learn(rows, "rfd")
    asked = watch(monkeypatch)
    assert rfdag.learn(rows, "rfd").order == undisturbed.order
    assert len(asked) > P - 4
    watch(monkeypatch, lambda fresh: np.where(np.eye(len(fresh)) == 1, 1.0, np.nan))
    with pytest.raises(NumericalError, match="became deterministic"):
        rfdag.learn(rows, "rfd")
