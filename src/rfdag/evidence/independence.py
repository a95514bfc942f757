"""Conditional independence: in a sample, in exact moments, and in a DAG.

A query concerns a whole family at once: which of these variables depend on a given one, each conditionally on the rest
of them? One decomposition, or one traversal of a DAG, answers for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from rfdag.eliminate.thresholds import FisherZ, Threshold, Tolerance
from rfdag.evidence.kernels import independence as kernels
from rfdag.graphs.dag import as_dag

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Answers = NDArray[np.bool_]

LEAST_VARIANCE = 1e-13
"""Residual share of its variance below which a variable counts as determined by others: the size of rounding errors."""


class Independence(Protocol):
    """Answers to queries of conditional independence.

    ``exact`` means that all answers hold in one distribution; answers from a sample may contradict each other.
    """

    exact: bool = False

    def dependent(self, node: int, others: Integers) -> Answers:
        """Return, for each of ``others``, whether it depends on ``node`` given the rest of them."""

    def independent(self, i: int, j: int, given: Sequence[int] = ()) -> bool:
        """Return whether i and j are independent given the variables ``given``."""
        return not self.dependent(i, np.array([j, *given]))[0]


class _PartialCorrelations(Independence):
    """Dependence as a partial correlation above a threshold; pairs that cannot be tested count as dependent.

    An edge is dropped only if independence was found. If families too large to be tested lost their edges, they would
    look sparse, and a search for sparse graphs would prefer them.
    """

    def __init__(self, threshold: Threshold, shares: Floats | None = None) -> None:
        self._threshold = threshold
        self._shares = shares

    def dependent(self, node: int, others: Integers) -> Answers:
        """Return, for each of ``others``, whether it depends on ``node`` given the rest of them."""
        lower = self._triangle(np.append(others, node))
        if lower is None:
            return np.ones(len(others), bool)
        sizes = np.empty(len(others))
        kernels.last_partial_correlations(lower, np.empty(len(lower)), sizes)
        if self._shares is not None:
            # Fisher's z of a pair for which a row counts less.
            sizes = np.tanh(np.arctanh(np.minimum(sizes, 1 - 1e-15)) * np.sqrt(self._shares[node, others]))
        return sizes > self._threshold(len(lower))

    def _triangle(self, chosen: Integers) -> Floats | None:
        """Return L with L Lᵀ the correlation matrix of the chosen variables; None if they cannot be tested."""
        raise NotImplementedError


class SampleIndependence(_PartialCorrelations):
    """Fisher's z-test at level ``alpha`` on the partial correlations of a sample.

    A pair given s others needs more than s + 3 rows; below that the pair counts as dependent.

    Parameters
    ----------
    correlation
        Correlation matrix of the variables.
    n_samples
        Number of rows behind it.
    alpha
        Level of the two-sided test.
    shares
        What a row counts for in the test of each pair; one unless given.

    Examples
    --------
    >>> chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> tests = SampleIndependence(chain, n_samples=1000, alpha=0.001)
    >>> tests.independent(0, 2), tests.independent(0, 2, given=[1])
    (False, True)
    """

    def __init__(
        self, correlation: ArrayLike, n_samples: int, alpha: float = 1e-3, shares: Floats | None = None
    ) -> None:
        super().__init__(FisherZ(n_samples, alpha), shares)
        self._correlation = np.ascontiguousarray(correlation, dtype=np.float64)
        self._most = n_samples - 2

    def _triangle(self, chosen: Integers) -> Floats | None:
        if len(chosen) > self._most:
            return None
        lower = np.empty((len(chosen), len(chosen)))
        return lower if kernels.decompose(self._correlation, chosen, LEAST_VARIANCE, lower) else None


class FactoredIndependence(_PartialCorrelations):
    """Partial correlations above a threshold, from the factor of the correlation matrix.

    Each family is decomposed from the factor: the matrix itself has the square of its condition.

    Parameters
    ----------
    factor
        Matrix F with FᵀF the correlation matrix, as `Moments` holds it.
    threshold
        Which partial correlations count as dependence, given the number of variables.
    shares
        What a row counts for in the test of each pair; one unless given.
    """

    def __init__(self, factor: ArrayLike, threshold: Threshold, shares: Floats | None = None) -> None:
        super().__init__(threshold, shares)
        self._factor = np.asarray(factor, dtype=np.float64)
        self._most = threshold.n_samples - 2 if isinstance(threshold, FisherZ) else self._factor.shape[1]

    def _triangle(self, chosen: Integers) -> Floats | None:
        if len(chosen) > self._most:
            return None
        upper: Floats = np.asarray(np.linalg.qr(self._factor[:, chosen], mode="r"))
        if len(upper) < len(chosen) or np.abs(np.diag(upper)).min() < LEAST_VARIANCE:
            return None
        return np.ascontiguousarray(upper.T)


class ExactIndependence(FactoredIndependence):
    """Partial correlations of exact moments, compared with a bound on rounding errors.

    Parameters
    ----------
    factor
        Matrix F with FᵀF the correlation matrix, as `Moments` holds it.
    tolerance
        Absolute partial correlation up to which it counts as zero.

    Examples
    --------
    >>> tests = ExactIndependence(np.linalg.cholesky([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]).T)
    >>> tests.independent(0, 2), tests.independent(0, 2, given=[1])
    (False, True)
    """

    exact = True

    def __init__(self, factor: ArrayLike, tolerance: float = 1e-8) -> None:
        super().__init__(factor, Tolerance(tolerance))


class GraphIndependence(Independence):
    """d-separation in a DAG.

    Parameters
    ----------
    dag
        Adjacency matrix, full or sparse; non-zero at (i, j) means i → j.

    Examples
    --------
    >>> tests = GraphIndependence([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> tests.independent(0, 1), tests.independent(0, 1, given=[2])
    (True, False)
    """

    exact = True

    def __init__(self, dag: ArrayLike) -> None:
        edges = as_dag(dag)
        self._lists = (*_neighbours(edges.T), *_neighbours(edges))

    def dependent(self, node: int, others: Integers) -> Answers:
        """Return, for each of ``others``, whether it is d-connected to ``node`` given the rest of them."""
        answers = np.empty(len(others), bool)
        kernels.connected(*self._lists, node, others, answers)
        return answers


def _neighbours(edges: NDArray[np.int8]) -> tuple[Integers, Integers]:
    """Return the column numbers of the entries, row by row, and the start of each row."""
    rows, columns = (csr_array(edges) if issparse(edges) else edges).nonzero()
    return columns.astype(np.int64), np.searchsorted(rows, np.arange(edges.shape[0] + 1))
