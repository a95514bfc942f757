"""The lasso of one column on others, from correlations: solved by scikit-learn on few columns, then made exact."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.columns import EMPTY, Column

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT = 1e-11
"""Distance from the conditions of the optimum at which a solution counts as exact."""

JOINING = 20
"""Columns that join the few in one round: those that violate the conditions most."""

FIRST, LAST = 1e-6, 1e-15
"""Tolerances of the descent: rough at first, since what follows makes its solution exact."""


class LassoColumns:
    """Lasso regressions of each variable on others, with one λ.

    The coefficients β of variable j on a set A minimise ½ βᵀ S_AA β − S_jA β + λ ‖β‖₁, S being the correlation matrix.
    Coordinate descent (scikit-learn's) finds the support and the signs s of β on a small working set; with these known
    the solution is that of a linear system, S_AA β = S_Aj − λ s. Columns that violate the conditions of the optimum
    join the working set until none is left.

    Parameters
    ----------
    correlation
        Matrix S.
    factor
        Matrix F with FᵀF = S, which stands for the rows.
    regularisation
        λ.

    Examples
    --------
    >>> S = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> column = LassoColumns(S, np.linalg.cholesky(S).T, 0.1).solve(0, np.array([1, 2]))
    >>> column.support, column.values
    (array([1]), array([0.5]))
    """

    def __init__(self, correlation: Floats, factor: Floats, regularisation: float) -> None:
        self._S = np.ascontiguousarray(correlation)
        self._F = np.asfortranarray(factor)
        self.regularisation = regularisation

    def solve(self, variable: int, others: Integers, start: Column = EMPTY) -> Column:
        """Return the regression of a variable on ``others``; its own entry is 1 / residual variance."""
        S, strength = self._S, self.regularisation
        kept = np.isin(start.support, others)
        support, values = start.support[kept], start.values[kept]
        exact = self._with_signs(variable, support, np.sign(values))
        working, tolerance = support, FIRST
        while True:
            if exact is None:
                support, values, exact = self._descended(variable, working, support, values, tolerance)
            if exact is not None:
                values = exact
            signs = np.sign(values)
            gradient = S[others, variable] - S[np.ix_(others, support)] @ values
            excess = np.abs(gradient) - strength
            inside = np.searchsorted(others, support)
            slack = -np.delete(excess, inside)
            excess[inside] = np.abs(gradient[inside] - strength * signs)
            worst = excess.max(initial=0.0)
            if worst <= EXACT or tolerance < LAST:
                margin = min(slack.min(initial=np.inf), np.abs(values).min(initial=np.inf))
                residual = 1.0 - 2 * values @ S[support, variable] + values @ S[np.ix_(support, support)] @ values
                return Column(support, values, 1.0 / max(float(residual), 1e-12), float(margin))
            joining = np.setdiff1d(others[excess > EXACT], working)
            if len(joining):
                most = np.argsort(-excess[np.searchsorted(others, joining)], kind="stable")[:JOINING]
                working = np.union1d(working, joining[most])
            else:
                tolerance /= 100
            exact = None

    def _with_signs(self, variable: int, support: Integers, signs: Floats) -> Floats | None:
        """Return the solution with this support and these signs; None if it has others."""
        if not len(support):
            return np.empty(0)
        try:
            target = self._S[support, variable] - self.regularisation * signs
            values: Floats = np.linalg.solve(self._S[np.ix_(support, support)], target)
        except np.linalg.LinAlgError:
            return None
        return values if (np.sign(values) == signs).all() else None

    def _descended(
        self, variable: int, working: Integers, support: Integers, values: Floats, tolerance: float
    ) -> tuple[Integers, Floats, Floats | None]:
        """Return support and values by coordinate descent on the working set, and the exact values if they agree."""
        if not len(working):
            return working, np.empty(0), np.empty(0)
        from sklearn import config_context
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import lasso_path

        start = np.zeros(len(working))
        start[np.searchsorted(working, support)] = values
        n = len(self._F)
        with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
            # Whether it is good enough is judged by the conditions of the optimum.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, found, _ = lasso_path(
                self._F[:, working],
                self._F[:, variable],
                alphas=[self.regularisation / n],
                precompute=np.ascontiguousarray(self._S[np.ix_(working, working)]),
                Xy=self._S[working, variable].copy(),
                coef_init=start,
                tol=tolerance,
                max_iter=10_000,
                check_input=False,
            )
        found = found[:, 0]
        at = np.flatnonzero(found)
        support, values = working[at], found[at]
        return support, values, self._with_signs(variable, support, np.sign(values))
