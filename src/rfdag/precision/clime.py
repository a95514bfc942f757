"""CLIME: the precision matrix of least ℓ₁ norm that nearly inverts the correlation matrix, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.columns import EMPTY, Column
from rfdag.errors import OptionError, keyword
from rfdag.evidence.columns import ByColumns
from rfdag.evidence.moments import Moments
from rfdag.orders import tuning
from rfdag.precision.definite import made_definite, partial_correlations
from rfdag.precision.estimator import Estimator, Request
from rfdag.precision.selection import strengths, total_score
from rfdag.runtime.workers import outcomes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ZERO = 1e-9
"""Entries up to this are zeros of the linear program, up to rounding."""

SAMPLED = 20
"""Columns, spread over all, that λ is chosen on: every column takes a linear program per strength."""

SECONDS, POWER, WORTH_PROCESSES = 7e-10, 3.2, 5.0
"""A column of p variables takes about SECONDS · p^POWER; below this many seconds in all, processes do not pay."""


class ClimeColumns:
    """Columns of CLIME with one λ: β of least ‖β‖₁ with ‖S β − e_j‖∞ ≤ λ, by HiGHS through SciPy.

    Parameters
    ----------
    correlation
        Matrix S.
    regularisation
        λ.

    Examples
    --------
    >>> column = ClimeColumns(np.array([[1.0, 0.5], [0.5, 1.0]]), 0.1).solve(0, np.array([1]))
    >>> column.support, column.values.round(3), round(column.own, 3)
    (array([1]), array([-0.467]), 1.133)
    """

    def __init__(self, correlation: Floats, regularisation: float) -> None:
        self._S = np.ascontiguousarray(correlation)
        self.regularisation = regularisation

    def solve(self, variable: int, others: Integers, start: Column = EMPTY) -> Column:
        """Return the column of a variable over itself and ``others``; a start is of no use to the linear program."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        chosen = np.append(others, variable)
        S = self._S[np.ix_(chosen, chosen)]
        unit = np.zeros(len(chosen))
        unit[-1] = 1.0
        strength = self.regularisation
        # β = u − v with u, v ≥ 0; without whole numbers among the variables this is a plain linear program.
        found = milp(
            np.ones(2 * len(chosen)),
            constraints=LinearConstraint(np.hstack([S, -S]), unit - strength, unit + strength),
            bounds=Bounds(0, np.inf),
        )
        if found.x is None:
            raise OptionError(
                f"No column of CLIME is within λ = {strength:.3g} of the inverse ({found.message.strip()}). Pass a "
                f"larger {keyword('regularisation')}, or {keyword('precision', 'nodewise')}."
            )
        beta = found.x[: len(chosen)] - found.x[len(chosen) :]
        at = np.flatnonzero(np.abs(beta[:-1]) > ZERO)
        margin = float(np.abs(beta[at]).min(initial=np.inf))
        return Column(others[at], beta[at], max(float(beta[-1]), ZERO), margin)


class Clime(Estimator):
    """Constrained ℓ₁ minimisation for the inverse; of two entries that should be equal the smaller counts.

    λ is that of the least extended BIC, judged on 20 columns.

    T. Cai, W. Liu, X. Luo: A constrained ℓ₁ minimization approach to sparse precision matrix estimation, JASA 2011.
    """

    name: ClassVar[str] = "clime"
    start: ClassVar[str] = "the columns of CLIME"
    regularised: ClassVar[bool] = True
    by_columns: ClassVar[bool] = True

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations of CLIME."""
        moments.refuse_copies()
        correlation, rows, p = moments.correlation, moments.rows, len(moments.names)
        strength = request.regularisation
        # Not even one linear program can be interrupted.
        request.limit.require_room(SECONDS * p**POWER)
        if strength is None:
            strength = _chosen_strength(correlation, rows, request)
        solver = ClimeColumns(correlation, strength)
        columns = solved(solver, range(p), p, request)
        partial, remarks = made_definite(partial_correlations(smaller_of_two(columns)), self.name)
        return moments.estimated(
            partial,
            rows + p,
            remarks,
            regularisation=strength,
            by_columns=ByColumns(solver, tuple(columns)) if request.by_columns else None,
        )

    def seconds(self, columns: int, threads: int, *, removals: bool = False) -> float:
        """Return how long it is expected to take: a linear program for every column, and some to choose λ."""
        program = SECONDS * columns**POWER
        start = program * (columns + 6 * min(SAMPLED, columns)) / threads
        # Programs shrink while variables are removed, one after the other.
        return start + (tuning.COLUMNS_PER_REMOVAL * columns * program / (POWER + 1) if removals else 0.0)


def solved(solver: ClimeColumns, variables: Sequence[int], p: int, request: Request) -> list[Column]:
    """Return the columns of some variables over all p of them, solved in several processes where that pays."""
    everything = np.arange(p)
    if request.threads > 1 and SECONDS * p**POWER * len(variables) > WORTH_PROCESSES:
        from joblib import Parallel, delayed

        run = Parallel(n_jobs=request.threads, backend="loky", return_as="generator")
        each = (delayed(solver.solve)(variable, np.delete(everything, variable)) for variable in variables)
        tasks = outcomes(run(each))
    else:
        tasks = (solver.solve(variable, np.delete(everything, variable)) for variable in variables)
    columns = []
    for column in tasks:
        columns.append(column)
        request.report(len(columns) / len(variables))
    return columns


def smaller_of_two(columns: Sequence[Column]) -> Floats:
    """Return the symmetric matrix of columns: of the entries ij and ji the one of smaller size.

    >>> first, second = Column(np.array([1]), np.array([-0.5]), 2.0), Column(np.array([0]), np.array([-0.1]), 3.0)
    >>> smaller_of_two([first, second])
    array([[ 2. , -0.1],
           [-0.1,  3. ]])
    """
    matrix = np.zeros((len(columns), len(columns)))
    for variable, column in enumerate(columns):
        matrix[column.support, variable] = column.values
        matrix[variable, variable] = column.own
    return np.where(np.abs(matrix) <= np.abs(matrix.T), matrix, matrix.T)


def _chosen_strength(correlation: Floats, rows: int, request: Request) -> float:
    p = len(correlation)
    some = np.unique(np.linspace(0, p - 1, min(SAMPLED, p)).astype(int)).tolist()
    best, least = None, np.inf
    for strength in strengths(rows, p):
        if best is not None and request.deadline.passed():
            break
        try:
            columns = solved(ClimeColumns(correlation, float(strength)), some, p, request)
        except OptionError:
            # Too weak a strength may leave nothing feasible where rows are few.
            break
        score = total_score(correlation, some, columns, rows, request.gamma)
        if score > least:
            break
        best, least = float(strength), score
    if best is None:
        best = float(strengths(rows, p)[0])
    return best
