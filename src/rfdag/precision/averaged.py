"""Partial correlations where rows are too few for the sample's own: those of an average of sparse models.

With no more rows than columns the sample's correlation matrix has no inverse, and with a few more its inverse is noise.
But sparse DAGs can be fitted to any number of rows, and each has a precision matrix. A single one is as good as the
local optimum it stems from; the average over several, found from different random orders, keeps what they agree on and
fades what they do not. It is positive definite, so an elimination can run on it like on any other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.moments import Moments
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.estimator import Request

Floats = NDArray[np.float64]

MODELS = 8
"""Models that are averaged; chosen on other graphs than the benchmarks report, where 4 did less and 16 little more."""


def averaged(moments: Moments, request: Request) -> Moments:
    """Return the moments with the partial correlations of averaged models, which are worth n + p rows."""
    assert moments.n_samples is not None
    moments.refuse_copies()
    partial = averaged_partial_correlations(
        moments.correlation,
        moments.n_samples,
        penalty=request.penalty,
        gamma=request.gamma,
        threads=request.threads,
        generator=request.generator,
        constraints=request.constraints,
    )
    return moments.estimated(partial, moments.n_samples + len(partial))


def averaged_partial_correlations(
    correlation: Floats,
    n_samples: int,
    *,
    penalty: float = 2.0,
    gamma: float = 0.0,
    threads: int = 1,
    generator: np.random.Generator | None = None,
    constraints: Constraints | None = None,
) -> Floats:
    """Return the partial correlations of the averaged precision matrix of several models, ones on the diagonal.

    Each model is the DAG of least BIC that reinsertion finds from a random order that obeys the constraints.
    """
    generator = generator or np.random.default_rng(0)
    p = len(correlation)

    def fit(generator: np.random.Generator) -> Floats:
        order = generator.permutation(p)
        if constraints is not None:
            order = constraints.arrange(order)
        scored = ScoredOrder(correlation, n_samples, order, penalty, gamma, constraints=constraints)
        descend(scored, generator, thorough=False)
        return precision_of(scored.dag, correlation)

    with ThreadPoolExecutor(threads) as pool:
        precision = np.mean(list(pool.map(fit, generator.spawn(MODELS))), axis=0)
    roots = np.sqrt(np.diag(precision))
    partial: Floats = -precision / roots / roots[:, None]
    np.fill_diagonal(partial, 1.0)
    return partial


def precision_of(dag: NDArray[np.int8], correlation: Floats) -> Floats:
    """Return (I − A) D⁻¹ (I − A)ᵀ of the DAG fitted to a correlation matrix, A its coefficients, D its variances.

    >>> precision_of(np.array([[0, 1], [0, 0]], np.int8), np.array([[1.0, 0.5], [0.5, 1.0]])).round(3)
    array([[ 1.333, -0.667],
           [-0.667,  1.333]])
    """
    p = len(dag)
    difference = np.eye(p)
    for child in range(p):
        parents = np.flatnonzero(dag[:, child])
        slopes = np.linalg.solve(correlation[np.ix_(parents, parents)], correlation[parents, child])
        difference[parents, child] = -slopes
        difference[:, child] /= np.sqrt(max(1.0 - slopes @ correlation[parents, child], np.finfo(float).eps))
    return difference @ difference.T
