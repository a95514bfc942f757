"""A linear Gaussian model with names: to sample from, to intervene on, to compute likelihoods with."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array, issparse, lil_array
from scipy.sparse.linalg import spsolve

from rfdag.errors import DataError, OptionError, keyword, listed
from rfdag.input.table import Table
from rfdag.runtime.notebook import ShownInNotebooks
from rfdag.runtime.randomness import Seed
from rfdag.simulate import LinearSEM
from rfdag.simulate import sample as sample_centred
from rfdag.values import mapping_of, whole
from rfdag.wording import counted, with_nearest

if TYPE_CHECKING:
    from rfdag.result.result import Result

Floats = NDArray[np.float64]
Units = Literal["data", "centred", "standardised", "ranks"]


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(ShownInNotebooks):
    """A linear Gaussian model: x_j = intercepts[j] + Σ_i weights[i, j] x_i + Normal(0, variances[j]).

    Attributes
    ----------
    names
        The variables; vectors and matrices follow their order.
    sem
        The weights and the variances of the noise.
    intercepts
        One for each variable.
    units
        "data": in the units of the data. "centred": likewise, but with mean 0, as the means are unknown (for example
        from a covariance matrix). "standardised": mean 0 and standard deviation 1, as only correlations are known.
        "ranks": those of the Gaussian variables behind the ranks, with mean 0 and standard deviation 1, after learning
        by rank correlations.
    """

    names: tuple[Hashable, ...]
    sem: LinearSEM = field(repr=False)
    intercepts: Floats = field(repr=False)
    units: Units = "data"

    @classmethod
    def of(cls, result: Result) -> LinearModel:
        """Return the model given by a result's DAG and regressions."""
        weights, variances = result.coefficients, result.residual_variances
        if result.tests:
            raise DataError(
                "A test of conditional independence finds a graph and leaves open what a dependence looks like: there "
                f"are no coefficients. Learn without {keyword('test')} for a linear model."
            )
        if weights is None or variances is None:
            raise DataError(
                f"A result learnt from {keyword('input', result.input)} without numbers has a graph but no "
                "coefficients; learn from data, or from a correlation or covariance matrix, for a model."
            )
        intercepts = np.zeros(len(result.names))
        units: Units = "standardised" if result.input == "correlation" else "centred"
        if result.settings.estimation.by_ranks:
            units = "ranks"
        elif result.input == "data" and (means := result.natural_means) is not None:
            intercepts, units = means - means @ weights, "data"
        return cls(result.names, LinearSEM(weights, variances), intercepts, units)

    def mean(self) -> Floats:
        """Return the means of the variables.

        >>> chain = LinearModel(("a", "b"), LinearSEM(np.array([[0, 2.0], [0, 0]]), np.ones(2)), np.array([1.0, 3.0]))
        >>> chain.mean()
        array([1., 5.])
        """
        p = len(self.names)
        if issparse(self.sem.weights):
            means = spsolve((eye_array(p, format="csc") - self.sem.weights).T.tocsc(), self.intercepts)
        else:
            means = np.linalg.solve((np.eye(p) - self.sem.weights).T, self.intercepts)
        # What depends on nothing has its intercept as mean to the last digit: the value that it was set to, for one.
        without = np.asarray((self.sem.weights != 0).sum(axis=0)).ravel() == 0
        return np.where(without, self.intercepts, np.asarray(means, np.float64))

    def covariance(self) -> Floats:
        """Return the covariance matrix of the variables."""
        return self.sem.covariance()

    def sample(self, n: int, rng: Seed = None) -> Table:
        """Return n independent rows with the names of their columns, which can be passed to `rfdag.learn`.

        >>> from rfdag.datasets import ecoli70
        >>> ecoli70().sample(3).values.shape
        (3, 46)
        """
        return Table(sample_centred(self.sem, n, rng) + self.mean(), self.names)

    def do(self, values: Mapping[Hashable, float]) -> LinearModel:
        """Return the model in which the given variables are set to fixed values, independently of their causes.

        >>> chain = LinearModel(("a", "b"), LinearSEM(np.array([[0, 2.0], [0, 0]]), np.ones(2)), np.array([1.0, 3.0]))
        >>> chain.do({"a": 10}).mean(), chain.do({"b": 10}).mean()
        (array([10., 23.]), array([ 1., 10.]))
        """
        places = self._places(values)
        weights: Any = lil_array(self.sem.weights) if issparse(self.sem.weights) else self.sem.weights.copy()
        weights[:, places] = 0.0
        variances, intercepts = self.sem.variances.copy(), self.intercepts.copy()
        variances[places] = 0.0
        intercepts[places] = _finite(values)
        fixed = LinearSEM(weights.tocsr() if issparse(weights) else weights, variances)
        return replace(self, sem=fixed, intercepts=intercepts)

    def shift(self, amounts: Mapping[Hashable, float]) -> LinearModel:
        """Return the model in which amounts are added to variables, which still depend on their causes.

        >>> chain = LinearModel(("a", "b"), LinearSEM(np.array([[0, 2.0], [0, 0]]), np.ones(2)), np.array([1.0, 3.0]))
        >>> chain.shift({"a": 1}).mean()
        array([2., 7.])
        """
        intercepts = self.intercepts.copy()
        intercepts[self._places(amounts)] += _finite(amounts)
        return replace(self, intercepts=intercepts)

    def log_density(self, data: Any) -> Floats:
        """Return the log-density of every row: of an array in the order of ``names``, or of a frame with these columns.

        Under an intervention it is the density of the other variables, and −∞ for a row in which a variable does not
        have the value it was set to. A model by ranks has none: it does not know how columns follow from the Gaussian
        variables behind them.
        """
        self.require_density()
        values = self._aligned(data)
        residuals = values - np.asarray(values @ self.sem.weights) - self.intercepts
        free = self.sem.variances > 0
        variances = self.sem.variances[free]
        constant = np.log(2 * np.pi * variances).sum()
        # The square of a row far beyond the data may be infinite, and its density 0.
        with np.errstate(over="ignore"):
            densities: Floats = -0.5 * (constant + (residuals[:, free] ** 2 / variances).sum(axis=1))
        densities[(residuals[:, ~free] != 0).any(axis=1)] = -np.inf
        return densities

    def require_density(self) -> None:
        """Raise if the model cannot tell the density of rows in the units of the data."""
        if self.units == "ranks":
            raise OptionError(
                "This model was learnt by rank correlations. It describes the Gaussian variables behind the ranks, in "
                "standard units, and gives rows in the units of the data no density. Learn with "
                f"{keyword('correlation', 'pearson')} for that, or compare results by Result.score."
            )

    def log_likelihood(self, data: Any) -> float:
        """Return the log-likelihood of the rows together: the sum of `log_density`.

        >>> chain = LinearModel(("a", "b"), LinearSEM(np.array([[0, 2.0], [0, 0]]), np.ones(2)), np.zeros(2))
        >>> round(chain.log_likelihood([[0.0, 0.0], [1.0, 2.0]]), 3)
        -4.176
        """
        return float(self.log_density(data).sum())

    def __repr__(self) -> str:
        return f"LinearModel({counted(len(self.names), 'variable')}, units={self.units!r})"

    def __str__(self) -> str:
        return self.summary()

    def summary(self, limit: int = 20) -> str:
        """Return the equations as text, one line each.

        >>> chain = LinearModel(("a", "b"), LinearSEM(np.array([[0, 2.0], [0, 0]]), np.ones(2)), np.array([1.0, 3.0]))
        >>> print(chain)
        linear Gaussian model: 2 variables, units: data
        a = 1 + noise of variance 1
        b = 3 + 2 a + noise of variance 1
        """
        lines = [f"linear Gaussian model: {counted(len(self.names), 'variable')}, units: {self.units}"]
        limit = whole("limit", limit, 0)
        lines += [f"{name} = {self._equation(at)}" for at, name in enumerate(self.names[:limit])]
        more = len(self.names) - limit
        return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines)

    def _equation(self, at: int) -> str:
        """Return the right side of one equation."""
        column: Any = self.sem.weights[:, [at]]
        weights = (column.toarray() if issparse(column) else column).ravel()
        terms = [
            f"{'+' if weights[parent] > 0 else '-'} {abs(weights[parent]):.4g} {self.names[parent]}"
            for parent in np.flatnonzero(weights)
        ]
        variance = self.sem.variances[at]
        noise = [f"+ noise of variance {variance:.4g}"] if variance else []
        return " ".join([f"{self.intercepts[at]:.4g}", *terms, *noise])

    def _places(self, names: Mapping[Hashable, float]) -> list[int]:
        place = {name: at for at, name in enumerate(self.names)}
        unknown = [name for name in mapping_of(names) if name not in place]
        if unknown:
            raise OptionError(
                f"There is no variable {with_nearest(unknown, self.names)}; the model has {listed(self.names)}."
            )
        return [place[name] for name in names]

    def _aligned(self, data: Any) -> Floats:
        """Return the rows with their columns in the order of the model."""
        from rfdag.input.checks import check_usable
        from rfdag.input.reading import as_table, is_numbered, places_of

        table = as_table(data)
        check_usable(table)
        places = places_of(self.names, table, data)
        if places is not None:
            return table.values[:, places]
        if is_numbered(table):
            return self._in_order(table.values)
        lacking = [name for name in self.names if name not in table.names]
        raise DataError(
            f"The data lack the columns {with_nearest(lacking, table.names)} of the model; pass a frame with its "
            f"{len(self.names)} columns, or an array with as many in its order."
        )

    def _in_order(self, values: Floats) -> Floats:
        """Return columns without names, which are those of the model in its order if there are as many."""
        if values.shape[1] != len(self.names):
            raise DataError(
                f"The data have {values.shape[1]} columns without names, and the model has {len(self.names)}; pass as "
                "many in its order, or a frame with their names."
            )
        return values


def _finite(values: Mapping[Hashable, float]) -> Floats:
    numbers = np.array([_number(value) for value in values.values()])
    strange = [name for name, number in zip(values, numbers, strict=True) if not np.isfinite(number)]
    if strange:
        found = ", ".join(f"{name!r} was given {values[name]!r}" for name in strange[:5])
        raise OptionError(f"A variable is set to, or shifted by, a finite number; {found}.")
    return numbers


def _number(value: Any) -> float:
    """Return a value as a number, NaN if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
