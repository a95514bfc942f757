"""The moments a variable is scored in: correlations of it and its candidates, and the number of rows behind them.

A score of y given some parents needs only the moments of y and these parents, and each y may have its own: computed
without the rows in which an experiment set y, for example. So scores ask for "the moments of y and these candidates",
and not for one matrix of all variables.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class LocalMoments(Protocol):
    """What local scores ask of the data.

    ``size`` is the number of variables, ``n_samples`` the number of all rows, on which the price of an edge depends.
    """

    @property
    def size(self) -> int:
        """The number of variables."""

    @property
    def n_samples(self) -> int:
        """The number of all rows."""

    def rows(self, y: int) -> int:
        """Return n_y, the number of rows in which variable y is scored."""

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates, in the rows of y."""


class GroupedMoments(LocalMoments, Protocol):
    """Local moments in few matrices: groups of variables share one, over all variables as candidates.

    The search over orders compares each variable with many others at every step and reads these matrices directly.
    """

    @property
    def matrices(self) -> Floats:
        """The m correlation matrices, an array of shape (m, p, p)."""

    @property
    def which(self) -> Integers:
        """For each variable the number of its matrix."""


class SharedMoments:
    """One correlation matrix for all variables, with the same rows behind each.

    Parameters
    ----------
    correlation
        Correlation matrix of the variables; it is not copied.
    n_samples
        Number of rows behind it.

    Examples
    --------
    >>> moments = SharedMoments(np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 1.0]]), n_samples=100)
    >>> moments.rows(2)
    100
    >>> moments.gram(2, np.array([0]))
    array([[1. , 0.2],
           [0.2, 1. ]])
    """

    def __init__(self, correlation: Floats, n_samples: int) -> None:
        self.matrices: Floats = np.ascontiguousarray(correlation)[None]
        self.which: Integers = np.zeros(len(correlation), np.int64)
        self.n_samples = n_samples

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.which)

    def rows(self, y: int) -> int:
        """Return the number of rows, which is the same for every variable."""
        return self.n_samples

    def gram(self, y: int, candidates: Integers) -> Floats:
        """Return the correlations of y, which comes first, and the candidates."""
        chosen = np.append(y, candidates)
        return self.matrices[0][np.ix_(chosen, chosen)]
