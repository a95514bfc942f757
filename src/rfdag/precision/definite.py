"""From a precision matrix, of which an estimate may fall short, to partial correlations that can be eliminated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import Message, OptionError, as_column, as_columns, keyword
from rfdag.evidence.moments import Moments

Floats = NDArray[np.float64]

FLOOR = 0.05
"""Least eigenvalue that a repaired matrix with ones on its diagonal has."""

ASYMMETRY = 1e-8
"""Difference of two entries that should be equal, in units of the roots of their diagonal, that counts as rounding."""


def checked_precision(matrix: Any, moments: Moments, who: str) -> Floats:
    """Return what an estimator returned as a matrix of numbers, or raise with what is wrong with it.

    Parameters
    ----------
    matrix
        What it returned.
    moments
        What it was given.
    who
        Its name.
    """
    p, names = len(moments.names), moments.names
    needed = f"an estimator returns a symmetric precision matrix of shape ({p}, {p})."
    try:
        found = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{who} returned {type(matrix).__name__}; {needed}") from None
    if found.shape != (p, p):
        raise OptionError(f"{who} returned an array of shape {found.shape}; {needed}")
    wrong = np.argwhere(~np.isfinite(found))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise OptionError(
            f"{who} returned {found[i, j]} at {as_column(names[i])}, {as_column(names[j])}; all entries of a precision "
            "matrix are finite."
        )
    low = np.flatnonzero(np.diag(found) <= 0)
    if len(low):
        raise OptionError(
            f"{who} returned a diagonal that is not positive at {as_columns([names[at] for at in low])}; the diagonal "
            "of a precision matrix is 1 / residual variance."
        )
    roots = np.sqrt(np.diag(found))
    difference = np.abs(found - found.T) / (roots * roots[:, None])
    if difference.max() > ASYMMETRY:
        i, j = np.unravel_index(int(difference.argmax()), difference.shape)
        raise OptionError(
            f"{who} returned {found[i, j]:.6g} at {as_column(names[i])}, {as_column(names[j])} and {found[j, i]:.6g} "
            "the other way round; a precision matrix is symmetric."
        )
    return (found + found.T) / 2


def partial_correlations(precision: Floats) -> Floats:
    """Return the partial correlations of a symmetric matrix with a positive diagonal.

    >>> partial_correlations(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[ 1. , -0.5],
           [-0.5,  1. ]])
    """
    roots = np.sqrt(np.diag(precision))
    partial: Floats = -precision / roots / roots[:, None]
    np.fill_diagonal(partial, 1.0)
    return partial


def made_definite(partial: Floats, who: str) -> tuple[Floats, tuple[str, ...]]:
    """Return partial correlations that belong to a positive definite precision matrix, and a warning if they did not.

    All entries are brought nearer to zero by the same factor: so zeros, signs and ranks of entries stay what they are.

    >>> bad = np.array([[1.0, -0.8, -0.8], [-0.8, 1.0, -0.8], [-0.8, -0.8, 1.0]])
    >>> good, warnings = made_definite(-bad + 2 * np.eye(3), "mine")
    >>> bool(np.linalg.eigvalsh(2 * np.eye(3) - good)[0] > 0.049), len(warnings)
    (True, 1)
    """
    unit = 2 * np.eye(len(partial)) - partial
    lowest = float(np.linalg.eigvalsh(unit)[0])
    if lowest >= FLOOR:
        return partial, ()
    factor = (1 - FLOOR) / (1 - lowest)
    repaired = factor * partial
    np.fill_diagonal(repaired, 1.0)
    definite = "nearly singular" if lowest > 0 else "not positive definite"
    warning = Message(
        f"The estimate of {keyword('precision', who)} is {definite} (lowest eigenvalue {lowest:.2g} where the diagonal "
        f"is 1): its partial correlations were multiplied by {factor:.2f}, which keeps zeros and signs."
    )
    return repaired, (warning,)
