"""The strength λ of a regularised estimate, chosen by the extended BIC of its neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.columns import Column
from rfdag.orders import tuning

Floats = NDArray[np.float64]


def strengths(rows: int, columns: int) -> Floats:
    """Return the strengths to choose from, descending: multiples of √(ln p / n), the size of chance correlations.

    >>> strengths(1000, 100).round(3)
    array([0.109, 0.088, 0.071, 0.058, 0.048, 0.037])
    """
    return np.array(tuning.STRENGTHS) * math.sqrt(math.log(max(columns, 2)) / rows)


def neighbourhood_score(correlation: Floats, variable: int, column: Column, rows: int, gamma: float) -> float:
    """Return the extended BIC of a variable's regression on its neighbours: n ln variance + k (ln n + 2 γ ln p).

    The variance is that of least squares on the neighbours: what λ takes from coefficients would count against it. A
    neighbourhood of half as many variables as there are rows is not considered.

    J. Chen, Z. Chen: Extended Bayesian information criteria for model selection with large model spaces, 2008.
    """
    support = column.support
    if len(support) > max(rows // 2, 1):
        return math.inf
    target = correlation[support, variable]
    explained = target @ np.linalg.lstsq(correlation[np.ix_(support, support)], target)[0] if len(support) else 0.0
    price = math.log(rows) + 2 * gamma * math.log(len(correlation))
    return rows * math.log(max(1.0 - float(explained), 1e-12)) + len(support) * price


def total_score(
    correlation: Floats, variables: Sequence[int], columns: Sequence[Column], rows: int, gamma: float
) -> float:
    """Return the sum of the scores of several variables' neighbourhoods."""
    return sum(
        neighbourhood_score(correlation, variable, column, rows, gamma)
        for variable, column in zip(variables, columns, strict=True)
    )
