"""Every variable regressed on its parents, from a factor of the correlation matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.sparse import csc_array

from rfdag.graphs.dag import Graph
from rfdag.graphs.sparse import issparse, same_pattern
from rfdag.runtime.threads import one_blas_thread

Floats = NDArray[np.float64]


class Regressions(NamedTuple):
    """Every variable regressed on its parents.

    ``coefficients`` (row → column) and ``variances``, those of the residuals, are in the units of the data;
    ``partial_correlations`` (row → column) are those of parent and child given the other parents; None where unknown.
    Both are sparse arrays where the DAG is one.
    """

    coefficients: Any
    variances: Floats
    partial_correlations: Any

    def scaled(self, scales: Floats, variances: Floats) -> Regressions:
        """Return the same for variables with these standard deviations and variances in place of ones."""
        sources, targets = self.coefficients.nonzero()
        # Of the largest and smallest scales doubles hold no squares and ratios, which is reported.
        with np.errstate(over="ignore"):
            ratios, squares = scales[targets] / scales[sources], self.variances * variances
            if issparse(self.coefficients):
                slopes = same_pattern(self.coefficients, self.coefficients.data * ratios)
            else:
                slopes = np.zeros_like(self.coefficients)
                slopes[sources, targets] = self.coefficients[sources, targets] * ratios
        return Regressions(slopes, squares, self.partial_correlations)


def regressions_on(dag: Graph, factor: Floats) -> Regressions:
    """Return the regression of each variable on its parents in units of standard deviations.

    Parameters
    ----------
    dag
        The parents of each variable, in its column.
    factor
        Matrix F with FᵀF the correlation matrix.

    Examples
    --------
    >>> found = regressions_on(np.array([[0, 1], [0, 0]], np.int8), np.linalg.cholesky([[1.0, 0.5], [0.5, 1.0]]).T)
    >>> found.coefficients[0, 1].round(3), found.variances.round(3)
    (np.float64(0.5), array([1.  , 0.75]))
    """
    p = dag.shape[0]
    by_child = csc_array(dag)
    by_child.sort_indices()
    coefficients, partial = np.zeros(by_child.nnz), np.zeros(by_child.nnz)
    variances = np.empty(p)
    # Families are small: threads of BLAS would only wait for each other.
    with one_blas_thread():
        for child in range(p):
            here = slice(by_child.indptr[child], by_child.indptr[child + 1])
            parents = by_child.indices[here]
            q, r = qr(factor[:, parents], mode="economic") if len(parents) else (None, None)
            target = factor[:, child]
            residual = target
            if q is not None:
                projected = q.T @ target
                slopes = coefficients[here] = solve_triangular(r, projected)
                residual = target - q @ projected
                # A parent explains slope² / ‖row of R⁻¹‖² more than the others do.
                size = np.sqrt((solve_triangular(r, np.eye(len(parents))) ** 2).sum(axis=1))
                own = slopes / size
                partial[here] = own / np.sqrt(residual @ residual + own**2)
            variances[child] = residual @ residual
    matrices = (
        csc_array((values, by_child.indices, by_child.indptr), shape=(p, p)) for values in (coefficients, partial)
    )
    slopes, own = (matrix.tocsr() if issparse(dag) else matrix.toarray() for matrix in matrices)
    return Regressions(slopes, variances, own)
