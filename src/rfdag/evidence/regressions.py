"""Every variable regressed on its parents, from a factor of the correlation matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from rfdag.runtime.threads import one_blas_thread

Floats = NDArray[np.float64]


class Regressions(NamedTuple):
    """Every variable regressed on its parents.

    ``coefficients`` (row → column) and ``variances``, those of the residuals, are in the units of the data;
    ``partial_correlations`` (row → column) are those of parent and child given the other parents; None where unknown.
    """

    coefficients: Floats
    variances: Floats
    partial_correlations: Floats


def regressions_on(dag: NDArray[np.int8], factor: Floats) -> Regressions:
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
    p = len(dag)
    coefficients, partial = np.zeros((p, p)), np.zeros((p, p))
    variances = np.empty(p)
    # Families are small: threads of BLAS would only wait for each other.
    with one_blas_thread():
        for child in range(p):
            parents = np.flatnonzero(dag[:, child])
            q, r = qr(factor[:, parents], mode="economic") if len(parents) else (None, None)
            target = factor[:, child]
            residual = target
            if q is not None:
                projected = q.T @ target
                slopes = coefficients[parents, child] = solve_triangular(r, projected)
                residual = target - q @ projected
                # A parent explains slope² / ‖row of R⁻¹‖² more than the others do.
                size = np.sqrt((solve_triangular(r, np.eye(len(parents))) ** 2).sum(axis=1))
                own = slopes / size
                partial[parents, child] = own / np.sqrt(residual @ residual + own**2)
            variances[child] = residual @ residual
    return Regressions(coefficients, variances, partial)
