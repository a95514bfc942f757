"""Partial correlations where rows are too few for the sample's own: those of an average of sparse models.

With no more rows than columns the sample's correlation matrix has no inverse, and with a few more its inverse is noise.
But sparse DAGs can be fitted to any number of rows, and each has a precision matrix. A single one is as good as the
local optimum it stems from; the average over several, found from different random orders, keeps what they agree on and
fades what they do not. It is positive definite, so an elimination can run on it like on any other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.local import GroupedMoments, SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import costs, tuning
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.definite import partial_correlations
from rfdag.precision.estimator import Estimator, Request
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.progress import Shares
from rfdag.runtime.threads import one_blas_thread

Floats = NDArray[np.float64]


class Averaged(Estimator):
    """The average of sparse models, each fitted by BIC from a random order."""

    name: ClassVar[str] = "averaged"
    start: ClassVar[str] = "an average of sparse models"

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations of averaged models, which are worth n + p rows."""
        moments.refuse_copies()
        partial = averaged_partial_correlations(
            moments.correlation,
            moments.rows,
            directions=moments.directions,
            penalty=request.penalty,
            gamma=request.gamma,
            threads=request.threads,
            generator=request.generator,
            constraints=request.constraints,
            deadline=request.deadline,
            report=request.report,
        )
        return moments.estimated(partial, moments.rows + len(partial))

    def seconds(self, columns: int, threads: int, *, removals: bool = False) -> float:
        """Return how long it is expected to take: a refinement from a random order for every model."""
        refined = costs.SECONDS_PER_AVERAGED_MODEL * float(columns) ** 2
        return tuning.AVERAGED_MODELS * refined / min(threads, tuning.AVERAGED_MODELS)


def averaged_partial_correlations(
    correlation: Floats,
    n_samples: int,
    *,
    directions: int | None = None,
    penalty: float = 2.0,
    gamma: float = 0.0,
    threads: int = 1,
    generator: np.random.Generator | None = None,
    constraints: Constraints | None = None,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Floats:
    """Return the partial correlations of the averaged precision matrix of several models, ones on the diagonal.

    Each model is the DAG of least BIC that reinsertion finds from a random order that obeys the constraints. When the
    deadline passes, models under way are used as they are and others are left out; one is always there. Ctrl-C ends
    all of them: there is nothing to return yet.

    Parameters
    ----------
    correlation, n_samples
        Correlations of all variables, and the rows behind them.
    directions
        How many directions these rows span; None for one less than there are rows.
    penalty, gamma
        λ and γ of the BIC: an edge costs λ ln n + 2 γ ln p.
    threads
        How many models may be fitted at the same time.
    generator
        Draws the random orders; seed 0 unless given.
    constraints
        What orders and parents must obey.
    deadline
        When to average what there is.
    report
        Called with the share done, from any thread.
    """
    generator = generator or np.random.default_rng(0)
    deadline = deadline or Deadline()
    stop = threading.Event()
    patient = deadline.unless(lambda: stop.is_set() or deadline.cancelled())
    models = _Models(
        correlation, SharedMoments(correlation, n_samples, directions), penalty, gamma, constraints, patient
    )
    shares = Shares(tuning.AVERAGED_MODELS, report)
    report(0.0)
    # Threads of our own share the models.
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        try:
            fitted = pool.map(models.fit, range(shares.count), generator.spawn(shares.count), [shares] * shares.count)
            precisions = [precision for precision in fitted if precision is not None]
        except BaseException:
            # Leaving the pool waits for its workers; let them end soon.
            stop.set()
            raise
    return partial_correlations(np.mean(precisions, axis=0))


@dataclass(frozen=True)
class _Models:
    """What all models have in common."""

    correlation: Floats
    moments: GroupedMoments
    penalty: float
    gamma: float
    constraints: Constraints | None
    deadline: Deadline

    def fit(self, number: int, generator: np.random.Generator, shares: Shares) -> Floats | None:
        """Return the precision matrix of one model, or None past the deadline unless it is the first."""
        if number > 0 and self.deadline.passed():
            return None
        order = generator.permutation(len(self.correlation))
        if self.constraints is not None:
            order = self.constraints.arrange(order)
        scored = ScoredOrder(self.moments, order, self.penalty, self.gamma, constraints=self.constraints)
        descend(scored, generator, self.deadline, lambda share: shares.reach(number, 0.9 * share), thorough=False)
        precision = precision_of(scored.dag, self.correlation)
        shares.reach(number, 1.0)
        return precision


def precision_of(dag: NDArray[np.int8], correlation: Floats) -> Floats:
    """Return (I − A) D⁻¹ (I − A)ᵀ of the DAG fitted to a correlation matrix, A its coefficients, D its variances.

    >>> precision_of(np.array([[0, 1], [0, 0]], np.int8), np.array([[1.0, 0.5], [0.5, 1.0]])).round(3)
    array([[ 1.333, -0.667],
           [-0.667,  1.333]])
    """
    p = len(dag)
    difference = np.eye(p)
    for child in range(p):
        parents = np.flatnonzero(dag[:, child])
        slopes = np.linalg.solve(correlation[np.ix_(parents, parents)], correlation[parents, child])
        difference[parents, child] = -slopes
        difference[:, child] /= np.sqrt(max(1.0 - slopes @ correlation[parents, child], np.finfo(float).eps))
    return difference @ difference.T
