"""What the Gaussian methods need to know of the data: its size, means, scales and correlation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, lapack, solve_triangular

from rfdag.eliminate.engines.dense import DenseEngine
from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.kernels import dense as kernels
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import MatrixError, OptionError, as_columns, keyword
from rfdag.evidence.arrangement import Arrangeable, by_content, given_back
from rfdag.evidence.columns import ByColumns, ColumnsIndependence
from rfdag.evidence.copies import Comparable
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import ExactIndependence, FactoredIndependence, Independence, SampleIndependence
from rfdag.evidence.local import FactoredMoments, GroupedMoments, LocalMoments, SharedMoments
from rfdag.evidence.matrices import (
    HOPELESS,
    SQUARED,
    check_two_rows,
    checked_matrix,
    chosen,
    column_norms,
    condition_of,
    dependence,
    directions_of,
    extremes_of,
    factor_of,
    roots_of_diagonal,
    triangle_in_some_order,
    triangle_of,
)
from rfdag.evidence.pair_rows import PairRows
from rfdag.evidence.profile import Look, Profile, Spread
from rfdag.evidence.regressions import Regressions, regressions_on
from rfdag.evidence.rounding import warnings_of
from rfdag.evidence.row_factor import RowFactor, rows_at_once
from rfdag.evidence.spread import check_spread, origins_and_units, shifted
from rfdag.evidence.summary import Summary
from rfdag.graphs.dag import Graph
from rfdag.input.checks import checked_names
from rfdag.input.columns import Column
from rfdag.input.weights import check_total, whole_rows
from rfdag.runtime.threads import blas_threads_for

Floats = NDArray[np.float64]

COLUMNS_AT_ONCE = 64
"""Columns that are arranged together, so that no other table as large is made."""


@dataclass(frozen=True, eq=False)
class Moments(Arrangeable, Comparable, Evidence):
    """The first two moments of a set of variables, in a form that keeps their accuracy.

    The correlation matrix is held as a factor F with FᵀF = correlation, taken from the data by a QR
    decomposition. Forming XᵀX instead would square the condition number, which for dense graphs is beyond
    double precision from about a hundred variables on.

    Attributes
    ----------
    names
        One hashable name per variable.
    n_samples
        Number of rows, or None when the moments are exact.
    factor
        Matrix F.
    means
        Means of the variables; zeros where unknown.
    scales
        Their standard deviations; ones where unknown.
    partial
        Partial correlations that are not those of the factor: of a precision matrix as given, so that its zeros stay
        exact, or estimated otherwise.
    ddof
        What is subtracted from the number of rows in ``scales``: 1 for those of data, 0 for those of a matrix, which
        is taken as it is.
    """

    names: tuple[Hashable, ...]
    n_samples: int | None
    factor: Floats = field(repr=False)
    means: Floats = field(repr=False)
    scales: Floats = field(repr=False)
    partial: Floats | None = field(default=None, repr=False)
    kind: str = "data"
    tolerance: float = 1e-8
    ddof: int = field(default=1, repr=False)
    worth: int | None = None
    """Rows that estimated partial correlations are worth; None where they are the sample's own."""
    remarks: tuple[str, ...] = ()
    """What the user should know of estimated partial correlations."""
    regularisation: float | None = field(default=None, repr=False)
    """The strength of a regularised estimate."""
    by_columns: ByColumns | None = field(default=None, repr=False)
    """How columns of an estimate are made again after a removal; None where a rank-one step updates it."""
    correlated: str = "pearson"
    """How columns were correlated; by ranks, variables have mean 0 and standard deviation 1."""
    notes: tuple[str, ...] = ()
    """What the user should know of the data themselves."""
    columns: tuple[Column, ...] = field(default=(), repr=False)
    """What each column of the rows was taken for; empty where there were none."""

    pair_rows: PairRows | None = field(default=None, repr=False)
    """How many rows each pair of columns is known in; None where values are missing nowhere."""

    given: Moments | None = field(default=None, repr=False)
    """The same moments with the columns as they were given, where they are arranged otherwise."""

    kernel: ClassVar[Any] = kernels.marginalise

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", checked_names(tuple(range(len(self.means))), self.names))
        if self.n_samples is not None and not isinstance(self.n_samples, Integral):
            raise OptionError(f"{keyword('n_samples')} is a whole number of rows, or None, not {self.n_samples!r}.")

    @classmethod
    def from_data(
        cls,
        values: ArrayLike,
        names: Sequence[Hashable] | None = None,
        report: Callable[[float], None] = lambda share: None,
        *,
        looked_at: bool = True,
    ) -> Self:
        """Return the moments of an n × p array of finite numbers, and what these look like if they are ``looked_at``.

        ``report`` is called with the share of rows done.

        Examples
        --------
        >>> moments = Moments.from_data([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], names=["a", "b"])
        >>> moments.correlation
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        values = np.asarray(values)
        lowest, highest = extremes_of(values, names)
        n, p = values.shape
        origins, units = origins_and_units(lowest, highest)
        step = rows_at_once(n, p)
        pieces = [slice(start, start + step) for start in range(0, n, step)]
        rows, places = RowFactor(p), by_content(values)
        columns = [slice(start, start + COLUMNS_AT_ONCE) for start in range(0, p, COLUMNS_AT_ONCE)]

        def scaled(piece: slice, some: NDArray[np.int64]) -> Floats:
            # Sums are rounded otherwise where the numbers of a row do not lie side by side.
            chosen = np.ascontiguousarray(values[piece][:, some])
            return np.asarray(shifted(chosen, None if origins is None else origins[some]) / units[some], np.float64)

        means = np.zeros(p)
        for piece, at in itertools.product(pieces, columns):
            means[places[at]] += scaled(piece, places[at]).sum(axis=0)
        means /= n
        with blas_threads_for(n * p * p):
            for piece in pieces:

                def write(room: Floats, piece: slice = piece) -> None:
                    for at in columns:
                        np.subtract(scaled(piece, places[at]), means[places[at]], out=room[:, at])

                rows.add_written(len(values[piece]), write)
                if len(pieces) > 1:
                    report(min(piece.stop / n, 1.0))
        look = Look(values) if looked_at else None
        factor = rows.factor[:, np.argsort(places)]
        del rows
        return cls._of_rows(names, n, factor, means, units, origins, (lowest, highest), look)

    @classmethod
    def from_summary(cls, summary: Summary, names: Sequence[Hashable] | None = None, *, looked_at: bool = True) -> Self:
        """Return the moments of rows that were summed up block by block; every number of them must be finite."""
        check_total(summary.count)
        n = whole_rows(summary.count)
        check_two_rows(n)
        extremes = summary.lowest, summary.highest
        look = Look(summary.sample.rows, whole=False) if looked_at else None
        factor = summary.factor.copy()
        return cls._of_rows(names, n, factor, summary.means, summary.units, None, extremes, look)

    @classmethod
    def _of_rows(
        cls,
        names: Sequence[Hashable] | None,
        n: int,
        factor: Floats,
        means: Floats,
        units: Floats,
        origins: NDArray[Any] | None,
        extremes: tuple[NDArray[Any], NDArray[Any]],
        look: Look | None,
    ) -> Self:
        """Return the moments of n rows, given the factor of (rows − origins) / units − means, which is overwritten."""
        labels = tuple(names) if names is not None else tuple(range(len(units)))
        norms = column_norms(factor)
        scales = norms / math.sqrt(n - 1) * units
        check_spread(labels, *extremes, scales)
        factor /= norms
        means = means * units if origins is None else origins + means * units
        seen = Profile() if look is None else look.profile(labels, n, extremes, Spread(means, scales))
        return cls(labels, n, factor, means, scales, notes=seen.notes, columns=seen.columns)

    @classmethod
    def from_correlation(
        cls, matrix: ArrayLike, n_samples: int | None, names: Sequence[Hashable] | None = None
    ) -> Moments:
        """Return the moments of a correlation matrix of ``n_samples`` rows."""
        matrix = checked_matrix(matrix, names, "correlation")
        labels = checked_names(tuple(range(len(matrix))), names)
        if (off := np.abs(np.diag(matrix) - 1) > 1e-8).any():
            raise MatrixError(
                f"A correlation matrix has ones on its diagonal; {as_columns(chosen(labels, off))} have other values. "
                f"Pass {keyword('input', 'covariance')} if it is a covariance matrix."
            )
        factor = factor_of(matrix, labels, "correlation", n_samples)
        return cls(labels, n_samples, factor, np.zeros(len(matrix)), np.ones(len(matrix)), kind="correlation", ddof=0)

    @classmethod
    def from_covariance(
        cls, matrix: ArrayLike, n_samples: int | None, names: Sequence[Hashable] | None = None
    ) -> Moments:
        """Return the moments of a covariance matrix of ``n_samples`` rows."""
        matrix = checked_matrix(matrix, names, "covariance")
        labels = checked_names(tuple(range(len(matrix))), names)
        scales = roots_of_diagonal(matrix, labels, "covariance")
        correlation = matrix / scales / scales[:, None]
        factor = factor_of(correlation, labels, "covariance", n_samples)
        return cls(labels, n_samples, factor, np.zeros(len(matrix)), scales, kind="covariance", ddof=0)

    @classmethod
    def from_precision(
        cls,
        matrix: ArrayLike,
        n_samples: int | None = None,
        names: Sequence[Hashable] | None = None,
        tolerance: float = 1e-8,
    ) -> Moments:
        """Return the moments of an inverse covariance matrix; exact when ``n_samples`` is None.

        Partial correlations up to ``tolerance`` then count as zero.
        """
        matrix = checked_matrix(matrix, names, "precision")
        labels = checked_names(tuple(range(len(matrix))), names)
        roots = roots_of_diagonal(matrix, labels, "precision")
        scaled = matrix / roots / roots[:, None]
        # L Lᵀ = precision gives L⁻ᵀ L⁻¹ = covariance, so F = L⁻¹ with its columns normalised.
        triangle, places = triangle_in_some_order(factor_of(scaled, labels, "precision"))
        inverse = solve_triangular(triangle.T, np.eye(len(matrix)), lower=True)[:, np.argsort(places)]
        norms = column_norms(inverse)
        partial = -scaled
        np.fill_diagonal(partial, 1.0)
        means = np.zeros(len(matrix))
        return cls(labels, n_samples, inverse / norms, means, norms / roots, partial, "precision", tolerance, ddof=0)

    @property
    def moments(self) -> Moments:
        """These moments."""
        return self

    @property
    def resident(self) -> Any:
        """The factor where it is computed with: here, or on a device."""
        return self.factor

    @property
    def rows(self) -> int:
        """The number of rows of moments that are those of a sample."""
        assert self.n_samples is not None
        return self.n_samples

    @cached_property
    def directions(self) -> int:
        """How many directions the rows span."""
        return directions_of(self.factor, self.rows)

    @property
    def correlation(self) -> Floats:
        """The correlation matrix."""
        correlation = self.factor.T @ self.factor
        np.fill_diagonal(correlation, 1.0)
        return correlation

    @property
    def variances(self) -> Floats:
        """Variances of the variables: maximum-likelihood estimates from data, those of the matrix given otherwise."""
        share = 1.0 if self.n_samples is None else (self.n_samples - self.ddof) / self.n_samples
        with np.errstate(over="ignore"):
            return np.asarray(self.scales**2 * share)

    @cached_property
    def price_factors(self) -> Floats | None:
        """How many times the usual price an edge between two variables costs; None where it is the same for all."""
        return None if self.pair_rows is None else self.pair_rows.price_factors(self.correlation)

    @cached_property
    def shares(self) -> Floats | None:
        """What a row counts for in a test of two variables given others; None where it counts once for all pairs.

        A test of many pairs at once counts all rows for what they are worth to the pair that has fewest.
        """
        if self.pair_rows is None:
            return None
        return np.minimum(self.pair_rows.worth(self.correlation) / self.rows, 1.0)

    def rows_behind(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return how many rows a regression of y on x and other variables is worth."""
        if self.pair_rows is None:
            return float(self.rows)
        family = np.array([*given, x, y])
        some = self.pair_rows.among(family)
        # Of each row as much is lost to gaps, and as many are lost to other coefficients as without them.
        share = some.worth(self.correlation[np.ix_(family, family)])[-2, -1] / some.counts.max()
        lost = len(given) + 2
        return float(share * (some.counts.max() - lost) + lost)

    def condition(self) -> float:
        """Return an estimate of the condition number of the factor: the root of the correlation's."""
        return self._estimated_condition

    @cached_property
    def _estimated_condition(self) -> float:
        """The condition number, which both thresholds and warnings ask for."""
        if len(self.factor) < len(self.names):
            return math.inf
        if self.partial is not None:
            return condition_of(cholesky(2 * np.eye(len(self.partial)) - self.partial))
        return condition_of(triangle_in_some_order(self.factor)[0])

    def partial_correlations(self, variables: Sequence[int] | NDArray[np.int64] | None = None) -> Floats:
        """Return the correlation of each pair given all the others (of ``variables``), ones on the diagonal.

        Examples
        --------
        >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
        >>> Moments.from_correlation(chain, n_samples=100).partial_correlations().round(3) + 0.0
        array([[1.   , 0.447, 0.   ],
               [0.447, 1.   , 0.447],
               [0.   , 0.447, 1.   ]])
        """
        if variables is None and self.partial is not None:
            return self.partial.copy()
        factor = self.factor if variables is None else self.factor[:, variables]
        triangle, places = triangle_in_some_order(factor)
        condition = math.inf if len(triangle) < triangle.shape[1] else condition_of(triangle)
        if variables is None:
            # A decomposition of many columns takes long, and the condition is asked for next.
            self.__dict__["_estimated_condition"] = condition
        if not condition < HOPELESS:
            if self.given is not None and variables is None:
                return self.given.partial_correlations()
            named = self.names if variables is None else [self.names[at] for at in variables]
            raise dependence(triangle_of(factor), named)
        # Rows of R⁻¹ span the same angles as the regression residuals: normalised, they give K at once.
        rows, _ = lapack.dtrtri(triangle)
        del triangle, factor
        rows /= column_norms(rows.T)[:, None]
        partial: Floats = rows @ rows.T
        del rows
        np.negative(partial, out=partial)
        np.clip(partial, -1.0, 1.0, out=partial)
        np.fill_diagonal(partial, 1.0)
        return given_back(partial, places)

    def estimated(self, partial: Floats, worth: int, remarks: tuple[str, ...] = (), **how: Any) -> Self:
        """Return the same moments with other partial correlations, the rows that these are worth, and warnings.

        ``how`` sets ``regularisation`` and ``by_columns``, where the estimate has them.
        """
        p = len(self.names)
        if np.shape(partial) != (p, p) or not np.isfinite(partial).all():
            raise OptionError(f"An estimate of partial correlations is a finite matrix of shape ({p}, {p}).")
        if worth < p + 2:
            raise OptionError(
                f"The estimate is worth {worth} rows; tests of {p} variables given all others need at least {p + 2}."
            )
        return replace(self, partial=partial, worth=worth, remarks=remarks, **how)

    def worth_a_share(self, share: float) -> Self:
        """Return the same moments as those of fewer rows: a share of them."""
        pair_rows = None if self.pair_rows is None else self.pair_rows.times(share)
        return replace(self, n_samples=max(2, whole_rows(share * self.rows)), pair_rows=pair_rows)

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Return the engine, ready to eliminate: the dense one, or that of an estimate made by columns."""
        if self.by_columns is not None:
            return self.by_columns.engine(pairs)
        return DenseEngine(self.partial_correlations(), **self.state(alpha, pairs), threads=threads)

    def state(self, alpha: float, pairs: Pairs) -> dict[str, Any]:
        """Return what a dense engine needs beside partial correlations and threads."""
        if self.n_samples is None:
            # Without noise both scopes agree (Proposition 1), and the pairs of neighbours are far fewer.
            return {"threshold": Tolerance(self.tolerance), "pairs": "neighbours", "settled": self._settled()}
        if self.worth is not None:
            return {"threshold": FisherZ(self.worth, alpha), "pairs": pairs}
        return {
            "threshold": FisherZ(self.n_samples, alpha, 1.0 if self.shares is None else float(self.shares.min())),
            "pairs": pairs,
            "recompute": self.partial_correlations,
            "settled": self._settled(),
        }

    def _settled(self) -> float:
        """Return the distance to a threshold below which rounding may have decided."""
        return max(1e-10, 1e-15 * self.condition())

    def local(self) -> GroupedMoments:
        """Return what local scores ask: the same correlation matrix and the same rows for every variable."""
        assert self.n_samples is not None
        return SharedMoments(self.correlation, self.n_samples, self.directions, self.price_factors)

    def local_on_demand(self) -> LocalMoments:
        """Return the same without a matrix of all pairs: correlations are formed when they are asked for."""
        return FactoredMoments(self.factor, self.rows, self.directions, self.price_factors)

    def independence(self, alpha: float) -> Independence:
        """Return tests of partial correlations: Fisher's at level ``alpha``, or against the tolerance if exact."""
        if self.n_samples is None:
            return ExactIndependence(self.factor, self.tolerance)
        if self.by_columns is not None:
            return ColumnsIndependence(*self.by_columns)
        if SQUARED < self.condition() < math.inf:
            return FactoredIndependence(self.factor, FisherZ(self.n_samples, alpha), self.shares)
        return SampleIndependence(self.correlation, self.n_samples, alpha, self.shares)

    def warnings(self, *, scored: bool = False) -> tuple[str, ...]:
        """Return what may be wrong with the numbers, in words; ``scored`` tells that parents were chosen by BIC."""
        return warnings_of(self, scored=scored)

    def regressions(self, dag: Graph) -> Regressions:
        """Return the regression of each variable on its parents.

        The variances of data are maximum-likelihood estimates, which divide by n; those of a matrix add up to the
        matrix.
        """
        return regressions_on(dag, self.factor).scaled(self.scales, self.variances)


def sample_of(evidence: Evidence) -> tuple[Moments, int]:
    """Return evidence that is neither exact nor sparse as the moments that it is, and the rows behind them."""
    assert isinstance(evidence, Moments)
    assert evidence.n_samples is not None
    return evidence, evidence.n_samples
