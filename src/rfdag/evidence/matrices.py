"""Matrices of moments: checks, factors, condition, and which columns depend on which others."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, qr

from rfdag.errors import DataError, MatrixError, Message, as_columns, keyword
from rfdag.evidence.awkward import awkward_error, dependent_among
from rfdag.evidence.summary import reciprocal_condition
from rfdag.input.checks import checked_names

Floats = NDArray[np.float64]

FEWEST_ROWS = 10
"""Rows below which the default search finds edges among unrelated columns: in about a tenth of their pairs, or more.

Chosen on 60 tables of Gaussian columns of each size, and measured on 200 others: 24 % of the pairs of 3 columns at 5
rows and 9 % at 9, 19 % of those of 5 columns at 7 rows and 11 % at 9; at 13 rows 7 % of those of 10 columns.
"""

DOUBTFUL = 1e8
"""Condition of the factor above which a partial correlation may be off by more than about 1e-8."""

ROUNDED = 0.01
"""Points of BIC by which rounding may change a score before it is reported; an edge costs hundreds of times as much."""

SQUARED = 1e4
"""Condition of the factor above which tests do without the correlation matrix, whose condition is the square."""

FLOOR = 1e-8
"""Share of a variance that scores of several environments take for the least."""

HOPELESS = 1e13
"""Condition of the factor above which columns count as linearly dependent."""

SINGULAR = 1e8
"""The same for a matrix given ready-made: forming it has squared the condition of the data."""


def triangle_of(factor: Floats) -> Floats:
    """Return R of a QR decomposition of the factor, unless the factor is such an R already."""
    if len(factor) <= factor.shape[1] and not np.tril(factor, -1).any():
        return factor
    triangle: Floats = qr(factor, mode="r", check_finite=False)[0][: factor.shape[1]]
    return triangle


def column_norms(matrix: Floats) -> Floats:
    """Return the Euclidean norm of each column."""
    norms: Floats = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    return norms


def condition_of(triangle: Floats) -> float:
    """Return the condition number of an upper triangle in the 1-norm; infinite if it is singular."""
    reciprocal = reciprocal_condition(triangle)
    return math.inf if reciprocal == 0 else 1 / reciprocal


def dependence(triangle: Floats, names: Sequence[Hashable]) -> DataError:
    """Return the error that says which columns depend on which others."""
    groups = dependent_among(triangle, names, HOPELESS)
    if groups:
        return awkward_error(groups, len(names))
    return DataError(
        "The columns are so nearly dependent that partial correlations would be rounding noise; drop or combine the "
        "most similar columns."
    )


def about_dependence(condition: float) -> tuple[str, ...]:
    """Return a warning about columns that nearly depend on each other, given the condition of the factor."""
    if condition <= DOUBTFUL:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): partial correlations may be off by "
            f"about {condition * 1e-16:.0e}. Consider dropping or combining the most similar columns."
        ),
    )


def about_scores(condition: float, rows: int) -> tuple[str, ...]:
    """Return a warning that rounding changes the BIC of columns that nearly depend on each other.

    Scores come from the correlation matrix, whose condition is the square of the factor's.

    >>> about_scores(1e4, 1000)
    ()
    >>> print(*about_scores(1e7, 1000))
    The columns are nearly dependent (condition number 1.0e+07): by rounding, the BIC may be off by about 10, and edges
    between the most similar columns cannot be told apart. Consider dropping or combining these columns.
    """
    off = 1e-16 * rows * condition**2
    if off < ROUNDED:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): by rounding, the BIC may be off by "
            f"about {off:.1g}, and edges between the most similar columns cannot be told apart. Consider dropping or "
            "combining these columns."
        ),
    )


def about_floor(condition: float) -> tuple[str, ...]:
    """Return a warning that scores with a floor cannot tell columns apart, given the condition of the factor.

    >>> about_floor(1e3)
    ()
    """
    if condition**2 < 1 / FLOOR:
        return ()
    return (
        Message(
            f"The columns are nearly dependent (condition number {condition:.1e}): what leaves less than {FLOOR:.0e} "
            "of a variance counts as leaving that much, so edges between the most similar columns cannot be told "
            "apart. Consider dropping or combining these columns."
        ),
    )


def about_exact_input(condition: float, tolerance: float) -> tuple[str, ...]:
    """Return a warning about a precision matrix whose rounding may pass for edges, given the factor's condition."""
    # Elimination in doubles loses as many digits as the covariance has, which is the square.
    rounding = 1e-16 * condition**2
    if rounding <= tolerance:
        return ()
    return (
        Message(
            f"The precision matrix is ill-conditioned ({condition**2:.0e}): rounding of about {rounding:.0e} may pass "
            f"for edges at tolerance {tolerance:.0e}. If it comes from a known DAG, pass that with "
            f"{keyword('input', 'dag')}, which is exact."
        ),
    )


def checked_matrix(matrix: ArrayLike, names: Sequence[Hashable] | None, kind: str) -> Floats:
    """Return a matrix of moments as an array, symmetric and finite; raise if it is not."""
    try:
        matrix = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MatrixError(f"Found a {type(matrix).__name__}; a {kind} matrix is a square array of numbers.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise MatrixError(
            f"Found an array of shape {matrix.shape}; a {kind} matrix is square, one row per column of the data. "
            f"Pass {keyword('input', 'data')} for data."
        )
    labels = checked_names(tuple(range(len(matrix))), names)
    bad = ~np.isfinite(matrix).all(axis=0)
    if bad.any():
        raise MatrixError(
            f"The {kind} matrix has missing or infinite entries in {as_columns(chosen(labels, bad))}; "
            "every entry must be a number."
        )
    if len(matrix) < 2:
        raise MatrixError(f"Found a {kind} matrix of one variable; an order needs at least two.")
    scale = np.sqrt(np.abs(np.diag(matrix)))
    difference = np.abs(matrix - matrix.T) > 1e-8 * np.maximum(np.outer(scale, scale), np.abs(matrix))
    if difference.any():
        i, j = np.argwhere(difference)[0]
        raise MatrixError(
            f"The {kind} matrix is not symmetric: entry ({labels[i]!r}, {labels[j]!r}) is {matrix[i, j]:.6g} but "
            f"({labels[j]!r}, {labels[i]!r}) is {matrix[j, i]:.6g}. Pass (M + M.T) / 2 if that is rounding."
        )
    return (matrix + matrix.T) / 2


def roots_of_diagonal(matrix: Floats, names: Sequence[Hashable], kind: str) -> Floats:
    """Return the roots of the diagonal; raise if it is not positive."""
    bad = ~(np.diag(matrix) > 0)
    if bad.any():
        raise MatrixError(
            f"The diagonal of a {kind} matrix is positive; it is not at {as_columns(chosen(names, bad))}. "
            "Drop constant variables."
        )
    roots: Floats = np.sqrt(np.diag(matrix))
    return roots


def factor_of(matrix: Floats, names: Sequence[Hashable], kind: str, n_samples: int | None = None) -> Floats:
    """Return F with FᵀF = matrix, or say why there is none.

    A singular matrix is refused, unless it comes from too few rows to be anything else.
    """
    try:
        factor: Floats = cholesky(matrix)
        if condition_of(factor) < SINGULAR:
            return factor
    except LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    if n_samples is not None and n_samples <= len(matrix) and values[0] > -1e-10 * values[-1]:
        root: Floats = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return root
    size = np.abs(vectors[:, 0])
    involved = [names[at] for at in np.argsort(-size) if size[at] > 0.1 * size.max()]
    what = (
        f"is not positive definite (smallest eigenvalue {values[0]:.3g})"
        if values[0] < -1e-10 * values[-1]
        else "is singular"
    )
    raise MatrixError(
        f"The {kind} matrix {what}, because of {as_columns(involved)}. Drop one of these variables, or compute the "
        "matrix from complete rows; learn(data) does both checks on the data itself."
    )


def chosen(names: Sequence[Hashable], mask: NDArray[np.bool_]) -> list[Hashable]:
    """Return the names that a mask selects."""
    return [names[int(at)] for at in np.flatnonzero(mask)]


def about_few_rows(rows: int) -> tuple[str, ...]:
    """Return the warning about rows that are too few, whatever the columns are."""
    few = Message(
        f"{rows} rows are too few to learn from: below {FEWEST_ROWS}, chance decides about much of the graph. Collect "
        "more rows, or take the graph as no more than a guess."
    )
    return (few,) if rows < FEWEST_ROWS else ()


def check_two_rows(n: int) -> None:
    """Raise unless there are rows enough for a correlation."""
    if n < 2:
        raise DataError(f"Found {n} row; a correlation needs at least two, and far more.")


def extremes_of(values: NDArray[Any], names: Sequence[Hashable] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lowest and the highest value of each column; raise unless the array has rows of finite numbers."""
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(
            f"Found an array of shape {values.shape} and type {values.dtype}; moments are those of a two-dimensional "
            "array of numbers, one row per sample. Pass other data to rfdag.learn."
        )
    check_two_rows(len(values))
    lowest, highest = values.min(axis=0), values.max(axis=0)
    gaps = ~(np.isfinite(lowest) & np.isfinite(highest))
    if gaps.any():
        labels = range(len(gaps)) if names is None else names
        raise DataError(f"Found missing or infinite values in {as_columns(chosen(labels, gaps))}. Drop these rows.")
    return lowest, highest
