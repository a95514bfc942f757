"""Neighbourhoods by the lasso, which a removal updates exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.columns import EMPTY, Column
from rfdag.evidence.columns import ByColumns
from rfdag.evidence.moments import Moments
from rfdag.orders import tuning
from rfdag.precision.definite import made_definite
from rfdag.precision.estimator import Estimator, Request
from rfdag.precision.lasso import LassoColumns
from rfdag.precision.selection import strengths, total_score

Floats = NDArray[np.float64]


class Nodewise(Estimator):
    """Each variable regressed on all others by the lasso; two are adjacent if each is in the other's regression.

    λ is that of the least extended BIC, one for all variables.

    N. Meinshausen, P. Bühlmann: High-dimensional graphs and variable selection with the lasso, Annals of Statistics
    2006.
    """

    name: ClassVar[str] = "nodewise"
    start: ClassVar[str] = "lasso regressions"
    regularised: ClassVar[bool] = True
    by_columns: ClassVar[bool] = True

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations of neighbourhood regressions."""
        moments.refuse_copies()
        solver, columns = nodewise(moments, request)
        partial, remarks = made_definite(partial_of_regressions(columns), self.name)
        return moments.estimated(
            partial,
            moments.rows + len(columns),
            remarks,
            regularisation=solver.regularisation,
            by_columns=ByColumns(solver, tuple(columns)) if request.by_columns else None,
        )

    def seconds(self, columns: int, threads: int, *, removals: bool = False) -> float:
        """Return how long it is expected to take, a few strengths tried."""
        solved = 6 * columns + (tuning.COLUMNS_PER_REMOVAL * columns if removals else 0)
        return solved * (5e-4 + 2e-9 * columns**2)


def nodewise(moments: Moments, request: Request) -> tuple[LassoColumns, list[Column]]:
    """Return the solver with its λ, as asked for or of the least extended BIC, and the columns of all variables."""
    correlation, rows, p = moments.correlation, moments.rows, len(moments.names)
    given = request.regularisation
    grid = strengths(rows, p) if given is None else np.array([given])
    everything = np.arange(p)
    columns = [EMPTY] * p
    best: tuple[float, LassoColumns, list[Column]] | None = None
    for at, strength in enumerate(grid):
        if best is not None and request.deadline.passed():
            break
        solver = LassoColumns(correlation, moments.factor, float(strength))
        for variable in range(p):
            if best is not None and request.deadline.passed():
                return best[1], best[2]
            columns[variable] = solver.solve(variable, np.delete(everything, variable), columns[variable])
            request.report((at + (variable + 1) / p) / len(grid))
        score = total_score(correlation, range(p), columns, rows, request.gamma)
        if best is None or score < best[0]:
            best = score, solver, list(columns)
        elif score > best[0]:
            # Weaker strengths only add to the neighbourhoods.
            break
    assert best is not None
    return best[1], best[2]


def partial_of_regressions(columns: Sequence[Column]) -> Floats:
    """Return partial correlations ±√(β_ij β_ji) of two variables' coefficients on each other; 0 if signs disagree.

    >>> first, second = Column(np.array([1]), np.array([0.5])), Column(np.array([0]), np.array([0.125]))
    >>> partial_of_regressions([first, second])
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """
    coefficients = np.zeros((len(columns), len(columns)))
    for variable, column in enumerate(columns):
        coefficients[column.support, variable] = column.values
    partial: Floats = np.sign(coefficients) * np.sqrt(np.maximum(coefficients * coefficients.T, 0.0))
    np.clip(partial, -0.99, 0.99, out=partial)
    np.fill_diagonal(partial, 1.0)
    return partial
