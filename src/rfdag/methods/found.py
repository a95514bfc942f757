"""An order and a DAG on their way to a result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import Elimination
from rfdag.errors import Message
from rfdag.evidence.regressions import Regressions
from rfdag.graphs.dag import Graph
from rfdag.orders.path import PathPoint
from rfdag.orders.portfolio import Attempt
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.estimator import UsedEstimator

INTERRUPTED = Message("The search was interrupted; this is the best order found until then.")
OUT_OF_TIME = Message("The time limit ended the search; this is the best order found until then.")
UNSCORED = Message("Time did not allow to choose parents by BIC: those of the DAG are the ones that tests choose.")
CUT_SHORT = Message("The covered-edge search ended before it had seen all DAGs; a sparser one may exist.")


@dataclass(frozen=True)
class Found:
    """What a method found.

    Attributes
    ----------
    order
        The variables as column numbers, a source first.
    dag
        The DAG.
    elimination
        The elimination that led there, before any refinement.
    scored
        The order with its scores, where parents were chosen by BIC.
    attempts
        The beams that were tried.
    path
        What each of several penalties gave.
    warnings
        What the user should know, in words.
    interrupted
        Whether Ctrl-C or the time limit ended the search before it was done.
    regressions
        Those that came along with the search; None if they are computed from the moments.
    estimator
        Which estimator of partial correlations was used, and why; None where nothing was estimated.
    tests
        How many tests of independence were done, by the number of variables that they condition on; empty where none
        decided.
    """

    order: NDArray[np.int64]
    dag: Graph
    elimination: Elimination
    scored: ScoredOrder | None = None
    attempts: tuple[Attempt, ...] = ()
    path: tuple[PathPoint, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    regressions: Regressions | None = None
    estimator: UsedEstimator | None = None
    tests: dict[int, int] = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        """The BIC, where parents were chosen by it."""
        return None if self.scored is None else self.scored.total

    @property
    def gamma(self) -> float:
        """γ of that BIC."""
        return 0.0 if self.scored is None else self.scored.gamma

    @classmethod
    def of(cls, elimination: Elimination) -> Found:
        """Return an elimination's own order and DAG."""
        return cls(elimination.order, elimination.dag, elimination)
