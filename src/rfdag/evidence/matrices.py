"""Matrices of moments: checks, factors, condition, and which columns depend on which others."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, eigvalsh, qr

from rfdag.errors import DataError, MatrixError, as_columns, keyword
from rfdag.evidence.arrangement import by_entries, in_arrangement
from rfdag.evidence.awkward import awkward_error, dependent_among
from rfdag.evidence.summary import reciprocal_condition
from rfdag.input.checks import checked_names

Floats = NDArray[np.float64]

SQUARED = 1e4
"""Condition of the factor above which tests do without the correlation matrix, whose condition is the square."""

HOPELESS = 1e13
"""Condition of the factor above which columns count as linearly dependent."""

ROUNDING_OF_SQUARES = 1e-15
"""Share of the largest squared singular value that rounding leaves of one that is zero, for each of them."""

SINGULAR = 1e8
"""The same for a matrix given ready-made: forming it has squared the condition of the data."""


def triangle_of(factor: Floats) -> Floats:
    """Return R of a QR decomposition of the factor, unless the factor is such an R already."""
    if len(factor) <= factor.shape[1] and not np.tril(factor, -1).any():
        return factor
    triangle: Floats = qr(factor, mode="r", check_finite=False)[0][: factor.shape[1]]
    return triangle


def triangle_in_some_order(factor: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return R of a QR decomposition of a factor with its columns in some arrangement, and that arrangement.

    It is one in which the factor is a triangle already, if there is one.

    >>> triangle_in_some_order(np.array([[2.0, 1.0], [3.0, 0.0]]))
    (array([[1., 2.],
           [0., 3.]]), array([1, 0]))
    """
    if len(factor) > factor.shape[1]:
        return triangle_of(factor), np.arange(factor.shape[1])
    places = np.argsort(len(factor) - np.argmax(factor[::-1] != 0, axis=0), kind="stable")
    return triangle_of(factor[:, places]), places


def column_norms(matrix: Floats) -> Floats:
    """Return the Euclidean norm of each column."""
    norms: Floats = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    return norms


def condition_of(triangle: Floats) -> float:
    """Return the condition number of an upper triangle in the 1-norm; infinite if it is singular."""
    reciprocal = reciprocal_condition(triangle)
    return math.inf if reciprocal == 0 else 1 / reciprocal


def directions_of(factor: Floats, rows: int) -> int:
    """Return how many directions the rows behind a factor span: n − 1, but fewer where some rows repeat others.

    Rows that span as many directions as there are columns count as n − 1, too.

    >>> once = np.random.default_rng(0).normal(size=(4, 9))
    >>> [directions_of(rows - rows.mean(axis=0), len(rows)) for rows in (once, np.repeat(once, 3, axis=0))]
    [3, 3]
    """
    columns = factor.shape[1]
    if rows > columns and condition_of(triangle_of(factor)) < HOPELESS:
        return rows - 1
    squares = eigvalsh(factor @ factor.T if len(factor) < columns else factor.T @ factor)
    rank = int((squares > ROUNDING_OF_SQUARES * len(squares) * squares[-1]).sum())
    return rows - 1 if rank >= min(rows - 1, columns) else rank


def dependence(triangle: Floats, names: Sequence[Hashable]) -> DataError:
    """Return the error that says which columns depend on which others."""
    groups = dependent_among(triangle, names, HOPELESS)
    if groups:
        return awkward_error(groups, len(names))
    return DataError(
        "The columns are so nearly dependent that partial correlations would be rounding noise; drop or combine the "
        "most similar columns."
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
    places = by_entries(matrix)
    arranged, given = in_arrangement(matrix, places), np.argsort(places)
    try:
        factor: Floats = cholesky(arranged)
        if condition_of(factor) < SINGULAR:
            return factor[:, given]
    except LinAlgError:
        pass
    values, vectors = np.linalg.eigh(arranged)
    vectors = vectors[given]
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
