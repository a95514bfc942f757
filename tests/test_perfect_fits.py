"""Where parents explain a column without rest, its score is rounding, and no DAG is called the best of all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rfdag
from rfdag.errors import RfdagError


def share_left(rows, child, parents):
    """Return the share of a column's variance that least squares on others leaves."""
    design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
    left = rows[:, child] - design @ np.linalg.lstsq(design, rows[:, child], rcond=None)[0]
    return float((left**2).sum() / ((rows[:, child] - rows[:, child].mean()) ** 2).sum())


@pytest.mark.parametrize("method", ["soft", "sp"])
def test_no_perfect_fit_of_few_distinct_rows_is_called_optimal(method):
    perfect, others = 0, 0
    for seed in range(60):
        generator = np.random.default_rng([3206, seed])
        p = int(generator.integers(6, 10))
        kinds = int(generator.integers(5, p + 1))
        distinct = generator.integers(0, 4, (kinds, p)) if seed % 2 else generator.normal(size=(kinds, p))
        distinct = np.asarray(distinct, float)
        if seed % 3 == 0:
            # One column is what two others add up to, which few rows do not show otherwise.
            distinct[:, 0] = distinct[:, 1] + distinct[:, 2]
        rows = distinct[generator.integers(0, kinds, int(generator.integers(p - 1, p + 4)))]
        names = [f"v{at}" for at in range(p)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = rfdag.learn(rows, method, names=names)
            except RfdagError:
                continue
        left = [share_left(rows, at, np.flatnonzero(result.dag[:, at])) for at in range(p)]
        exhausted = [name for name, share in zip(names, left, strict=True) if share < 1e-20]
        if exhausted:
            assert (result.optimal, result.gap, result.lower_bound) == (None, None, None)
            told = next(text for text in result.warnings if "explain all of the variance" in text)
            assert all(f"'{name}'" in told for name in exhausted)
            assert not any("is the best of those" in text for text in result.warnings)
            assert "best of all DAGs" not in result.summary()
            perfect += 1
        elif min(left) > 1e-9:
            assert result.optimal
            others += 1
    assert perfect > 3
    assert others > 3
