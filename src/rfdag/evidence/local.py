"""The moments a variable is scored in: correlations of it and its candidates, and the number of rows behind them.

A score of y given some parents needs only the moments of y and these parents, and each y may have its own: computed
without the rows in which an experiment set y, for example. So scores ask for "the moments of y and these candidates",
and not for one matrix of all variables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.evidence.kernels.gathering import gather
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AT_ONCE = 64
"""Matrices of correlations that are written between two looks at the time."""


class Lists(NamedTuple):
    """Variables in lists, one for each variable: that of y is ``members[starts[y] : starts[y + 1]]``."""

    starts: Integers
    members: Integers

    def of(self, y: int) -> Integers:
        """Return the list of a variable."""
        return self.members[self.starts[y] : self.starts[y + 1]]


class Places(NamedTuple):
    """Where matrices of some variables are to be written: each from its place in ``entries`` on, row after row.

    They lie one after the other, without gaps.
    """

    variables: Integers
    starts: Integers
    entries: Floats

    def some(self, which: slice) -> Places:
        """Return those of some of the variables."""
        return Places(self.variables[which], self.starts[which], self.entries)


class LocalMoments(Protocol):
    """What local scores ask of the data.

    ``size`` is the number of variables, ``n_samples`` the number of all rows, on which the price of an edge depends.
    ``price_factors`` say how many times that price an edge between two variables costs, where rows that have both are
    few; None where it is the same for all.
    """

    price_factors: Floats | None

    @property
    def size(self) -> int:
        """The number of variables."""

    @property
    def n_samples(self) -> int:
        """The number of all rows."""

    @property
    def directions(self) -> int:
        """How many directions the rows span: one less than there are, fewer where some repeat others."""

    def rows(self, y: int) -> int:
        """Return n_y, the number of rows in which variable y is scored."""

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates, in the rows of y."""

    def write_along(self, lists: Lists, places: Places, check: Callable[[], None], threads: int) -> None:
        """Write the correlations along the lists of some variables, each in its own rows.

        ``check`` is called again and again, from any of the threads, and may raise.
        """

    def of_residuals(self, children: Integers, coefficients: csr_array) -> Any:
        """Return the correlations of all variables with what is left of some children, each in its own rows.

        ``coefficients`` has a row for each of the children: what is subtracted from it, in standard units. The array is
        on the device if the moments are.
        """


class GroupedMoments(LocalMoments, Protocol):
    """Local moments in few matrices: groups of variables share one, over all variables as candidates.

    A search that takes all variables for candidates compares each with many others at every step and reads these
    matrices directly.
    """

    @property
    def matrices(self) -> Floats:
        """The m correlation matrices, an array of shape (m, p, p)."""

    @property
    def which(self) -> Integers:
        """For each variable the number of its matrix."""


def factors_at(factors: Floats | None, parents: Integers, children: Integers | int) -> Floats:
    """Return how many times the usual price some edges cost, given the factors of all pairs; None for once each.

    >>> factors_at(None, np.array([1, 2]), 0)
    array([1., 1.])
    """
    return np.ones(len(parents)) if factors is None else np.asarray(factors[parents, children], np.float64)


class SharedMoments:
    """One correlation matrix for all variables, with the same rows behind each.

    Parameters
    ----------
    correlation
        Correlation matrix of the variables; it is not copied.
    n_samples
        Number of rows behind it.
    directions
        How many directions these rows span; None for one less than there are rows.
    price_factors
        How many times the usual price an edge between two variables costs; once unless given.

    Examples
    --------
    >>> moments = SharedMoments(np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 1.0]]), n_samples=100)
    >>> moments.rows(2)
    100
    >>> moments.gram(2, np.array([0]))
    array([[1. , 0.2],
           [0.2, 1. ]])
    """

    def __init__(
        self, correlation: Floats, n_samples: int, directions: int | None = None, price_factors: Floats | None = None
    ) -> None:
        self.matrices: Floats = np.ascontiguousarray(correlation)[None]
        self.which: Integers = np.zeros(len(correlation), np.int64)
        self.n_samples = n_samples
        self.directions = n_samples - 1 if directions is None else directions
        self.price_factors = price_factors

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.which)

    def rows(self, y: int) -> int:
        """Return the number of rows, which is the same for every variable."""
        return self.n_samples

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates."""
        return self.along(y, np.append(y, candidates))

    def along(self, y: int, variables: Integers) -> Floats:
        """Return the correlations of some variables with each other."""
        return self.matrices[0][np.ix_(variables, variables)]

    def write_along(self, lists: Lists, places: Places, check: Callable[[], None], threads: int) -> None:
        """Write the correlations along the lists of some variables."""
        _in_pieces(lambda piece: gather(self.matrices[0], *lists, *piece), places, check, threads)

    def of_residuals(self, children: Integers, coefficients: csr_array) -> Floats:
        """Return the correlations of all variables with what is left of some children."""
        correlation = self.matrices[0]
        return correlation[children] - coefficients @ correlation


class FactoredMoments:
    """The same moments of every variable, formed on demand from a factor: a matrix of all pairs need not be there.

    Parameters
    ----------
    factor
        Matrix F with FᵀF the correlation matrix, such as standardised rows.
    n_samples
        Number of rows behind it.
    directions
        How many directions these rows span; None for one less than there are rows.
    price_factors
        How many times the usual price an edge between two variables costs; once unless given.

    Examples
    --------
    >>> moments = FactoredMoments(np.array([[1.0, 0.6], [0.0, 0.8]]), n_samples=100)
    >>> moments.gram(1, np.array([0]))
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    def __init__(
        self, factor: Floats, n_samples: int, directions: int | None = None, price_factors: Floats | None = None
    ) -> None:
        # Columns are gathered again and again.
        self._columns = np.ascontiguousarray(factor.T)
        self.n_samples = n_samples
        self.directions = n_samples - 1 if directions is None else directions
        self.price_factors = price_factors

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self._columns)

    @cached_property
    def matrices(self) -> Floats:
        """The correlation matrix of few variables, each of which is a candidate for all others."""
        return self.along(0, np.arange(self.size))[None]

    @cached_property
    def which(self) -> Integers:
        """For each variable the number of its matrix."""
        return np.zeros(self.size, np.int64)

    def rows(self, y: int) -> int:
        """Return the number of rows, which is the same for every variable."""
        return self.n_samples

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates."""
        return self.along(y, np.append(y, candidates))

    def along(self, y: int, variables: Integers) -> Floats:
        """Return the correlations of some variables with each other."""
        columns = self._columns[variables]
        found = columns @ columns.T
        np.fill_diagonal(found, 1.0)
        return found

    def write_along(self, lists: Lists, places: Places, check: Callable[[], None], threads: int) -> None:
        """Write the correlations along the lists of some variables."""

        def write(piece: Places) -> None:
            for y, start in zip(piece.variables.tolist(), piece.starts.tolist(), strict=True):
                found = self.along(y, lists.of(y))
                piece.entries[start : start + found.size] = found.ravel()

        _in_pieces(write, places, check, threads)

    def of_residuals(self, children: Integers, coefficients: csr_array) -> Floats:
        """Return the correlations of all variables with what is left of some children."""
        return (self._columns[children] - coefficients @ self._columns) @ self._columns.T


def correlations_of(moments: LocalMoments, variables: Integers) -> Any:
    """Return the correlations of some variables with all, each in its own rows.

    >>> correlations_of(SharedMoments(np.array([[1.0, 0.5], [0.5, 1.0]]), 100), np.array([1]))
    array([[0.5, 1. ]])
    """
    return moments.of_residuals(variables, csr_array((len(variables), moments.size)))


def _in_pieces(write: Callable[[Places], None], places: Places, check: Callable[[], None], threads: int) -> None:
    """Write all matrices, a few between two looks at the time."""

    def some(worker: int, workers: int) -> None:
        for first in range(worker * AT_ONCE, len(places.variables), workers * AT_ONCE):
            require_wanted()
            check()
            write(places.some(slice(first, first + AT_ONCE)))

    share(some, threads)
