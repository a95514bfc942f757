"""An order and a DAG on their way to a result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import Elimination
from rfdag.eliminate.trace import Trace, Unrecorded
from rfdag.errors import Message
from rfdag.evidence.interventions import Interventions
from rfdag.evidence.mixed import MixedMoments
from rfdag.evidence.regressions import Regressions
from rfdag.graphs.dag import Graph
from rfdag.graphs.sparse import renumbered
from rfdag.orders.exact import Proof
from rfdag.orders.path import PathPoint
from rfdag.orders.portfolio import Attempt
from rfdag.orders.reversals import Alternative
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.estimator import UsedEstimator

LARGEST_P_FOR_FULL_MATRICES = 10_000
"""Number of variables up to which a DAG and its coefficients are full matrices: each takes up to 800 MB."""

INTERRUPTED = Message("The search was interrupted; this is the best order found until then.")
OUT_OF_TIME = Message("The time limit ended the search; this is the best order found until then.")
UNSCORED = Message("Time did not allow to choose parents by BIC: those of the DAG are the ones that tests choose.")
CUT_SHORT = Message("The covered-edge search ended before it had seen all DAGs; a sparser one may exist.")


def graph_of(scored: ScoredOrder) -> Graph:
    """Return the DAG of an order as a result holds it: as a full matrix, or as a sparse array of many variables."""
    dag: Graph = scored.graph if len(scored.order) > LARGEST_P_FOR_FULL_MATRICES else scored.dag
    return dag


@dataclass(frozen=True)
class Found:
    """What a method found.

    Attributes
    ----------
    order
        The variables as column numbers, a source first.
    dag
        The DAG.
    recorded
        The trace of the elimination that led there, before any refinement, or what records it when it is called.
    scored
        The order with its scores, while a search by BIC is under way.
    total, extension
        The BIC and its γ once that order is given up; those of blocks are their sum and the largest.
    attempts
        The beams that were tried.
    operations
        Those that scoring and refining the orders of the beams took.
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
    proof
        What is known of the best score of all; None where nothing is.
    rivals
        Other DAGs nearly as good, each with what it adds to the BIC: all classes of few variables, else some.
    tests
        How many tests of independence were done, by the number of variables that they condition on; empty where none
        decided.
    """

    order: NDArray[np.int64]
    dag: Graph
    recorded: Trace | Unrecorded
    scored: ScoredOrder | None = None
    total: float | None = None
    extension: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    operations: int = 0
    path: tuple[PathPoint, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    regressions: Regressions | None = None
    estimator: UsedEstimator | None = None
    proof: Proof | None = None
    rivals: tuple[Alternative, ...] = ()
    tests: dict[int, int] = field(default_factory=dict)
    gains: NDArray[np.float64] | None = None
    """By how much the score would be worse without each edge, where that does not follow from partial correlations."""
    evidence: MixedMoments | None = None
    """The evidence that was chosen, where there were several."""
    interventions: Interventions | None = None
    """What was found of each environment, where there are several."""

    def arranged(self, places: NDArray[np.int64]) -> Found:
        """Return the same with variables numbered otherwise: what was i is now places[i]."""
        return replace(
            self,
            order=places[self.order],
            dag=renumbered(self.dag, places),
            recorded=self.recorded.arranged(places),
            scored=None,
            gains=None if self.gains is None else renumbered(self.gains, places),
            total=self.score,
            extension=self.gamma,
            rivals=tuple(Alternative(cost, renumbered(dag, places)) for cost, dag in self.rivals),
        )

    @property
    def score(self) -> float | None:
        """The BIC, where parents were chosen by it."""
        return self.total if self.scored is None else self.scored.total

    @property
    def gamma(self) -> float:
        """γ of that BIC."""
        return self.extension if self.scored is None else self.scored.gamma

    @classmethod
    def of(cls, elimination: Elimination) -> Found:
        """Return an elimination's own order and DAG."""
        return cls(elimination.order, elimination.dag, elimination.trace)
