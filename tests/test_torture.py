"""Rows that strain arithmetic: the answer of 50 digits, or a clear error or warning, and nothing from libraries below."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import rfdag
import torture
from rfdag import errors

SEED = 2
CASES = list(torture.strained(SEED))


def off_by(condition, rows):
    """Return by how much a score may be off: by rounding of correlations, which their least eigenvalue magnifies."""
    return rows * (1e-13 + 2e-16 * condition)


def learnt(rows):
    """Return what is learnt, or the error that says why not, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = rfdag.learn(rows, progress=False)
        except errors.RfdagError as error:
            found = error
    return found, list(caught)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_fifty_digits_or_there_is_a_word(case):
    found, caught = learnt(case.rows)
    for each in caught:
        assert issubclass(each.category, (errors.DataWarning, errors.NumericalWarning)), each
    if isinstance(found, errors.RfdagError):
        assert len(str(found)) > 40
        return
    price = found.penalty * math.log(len(case.rows)) + 2 * found.gamma * math.log(len(found.names))
    reference = torture.Reference(case.rows, price)
    assert reference.usable
    condition = reference.condition
    slack = off_by(condition, len(case.rows))
    told = any(issubclass(each.category, errors.NumericalWarning) for each in caught)
    assert slack < 1e-3 or told, f"condition {condition:.1e}"
    assert np.isfinite(found.score)
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.residual_variances).all()
    if told:
        return
    assert found.score == pytest.approx(reference.score(found.dag), abs=slack)
    assert reference.score(found.dag) <= reference.least() + slack
    for y in range(len(found.names)):
        parents = np.flatnonzero(found.dag[:, y])
        np.testing.assert_allclose(
            found.coefficients[parents, y], reference.slopes(y, tuple(parents.tolist())), rtol=slack, atol=0
        )
