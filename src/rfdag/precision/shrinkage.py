"""Correlations shrunk towards zero, as far as the number of rows asks for."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError, keyword
from rfdag.evidence.moments import Moments
from rfdag.precision.definite import partial_correlations
from rfdag.precision.estimator import Estimator, Request

Floats = NDArray[np.float64]


class Shrinkage(Estimator):
    """The inverse of (1 − δ) S + δ I, with Ledoit and Wolf's share δ for Gaussian rows.

    Their share needs the rows themselves; its expectation given the correlations (Rao and Blackwell) does not, and is
    closer to the best one.

    O. Ledoit, M. Wolf: A well-conditioned estimator for large-dimensional covariance matrices, 2004.
    Y. Chen, A. Wiesel, Y. Eldar, A. Hero: Shrinkage algorithms for MMSE covariance estimation, 2010.
    """

    name: ClassVar[str] = "shrinkage"
    start: ClassVar[str] = "shrunk correlations"
    regularised: ClassVar[bool] = True

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations of shrunk correlations."""
        moments.refuse_copies()
        correlation, rows = moments.correlation, moments.rows
        share = request.regularisation
        if share is not None and share > 1:
            raise OptionError(
                f"{keyword('regularisation', share)}: shrinkage takes a share of at most 1, the weight of the identity."
            )
        share = best_share(correlation, rows) if share is None else share
        precision = np.linalg.inv((1 - share) * correlation + share * np.eye(len(correlation)))
        return moments.estimated(
            partial_correlations((precision + precision.T) / 2), rows + len(correlation), regularisation=share
        )


def best_share(correlation: Floats, rows: int) -> float:
    """Return the share of the identity that makes the expected squared error least, for Gaussian rows.

    >>> best_share(np.eye(3), 100), round(best_share(np.array([[1.0, 0.5], [0.5, 1.0]]), 100), 3)
    (1.0, 0.126)
    """
    p = len(correlation)
    squares = float((correlation**2).sum())
    excess = squares - p
    if excess <= 0:
        return 1.0
    return min(1.0, ((rows - 2) / rows * squares + p**2) / ((rows + 2) * excess))
