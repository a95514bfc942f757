"""The search of one cluster of columns: on a thread of this machine, or on a worker of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.moments import Moments, sample_of
from rfdag.knowledge import Knowledge
from rfdag.methods.run import Run
from rfdag.orders import tuning
from rfdag.orders.candidates import candidate_counts, nearest
from rfdag.orders.clusters import Cluster
from rfdag.orders.fitted import regressions_of
from rfdag.orders.portfolio import Attempt, search_orders
from rfdag.precision.estimation import Estimation
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.workers import outcomes

if TYPE_CHECKING:
    from rfdag.methods.soft import Soft

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Learnt:
    """What one cluster gave: edges with an end in its core, with their gains; near columns by partial correlations."""

    edges: Integers
    gains: Floats
    near: Integers
    attempts: tuple[Attempt, ...]
    operations: int


@dataclass(frozen=True)
class ClusterTask:
    """All that the search of a cluster needs.

    Attributes
    ----------
    method
        The method that searches.
    moments
        Those of the columns of the cluster, its core first.
    cluster
        The numbers of these columns among all.
    columns
        How many columns there are in all.
    gamma
        γ of the BIC that makes the price of an edge what it is among all columns.
    """

    method: Soft
    moments: Moments
    cluster: Cluster
    columns: int
    gamma: float

    def learn(self, run: Run) -> Learnt:
        """Search the cluster as if it were all there is."""
        variables, core, part = self.cluster.variables, len(self.cluster.core), self.moments
        constraints = None if run.knowledge is None else run.knowledge.among(part.names).constraints(part.names)
        part, rows = sample_of(replace(run, constraints=constraints).estimated(part, self.method))
        outcome = search_orders(
            part.partial_correlations(),
            part.local(),
            worth=part.worth,
            width=tuning.BEAM_OF_CLUSTER,
            penalty=self.method.price,
            gamma=self.gamma,
            generator=run.tie_breaker(),
            deadline=run.deadline,
            limit=run.limit,
            constraints=constraints,
        )
        fitted = regressions_of(outcome.best).partial_correlations
        sources, targets = fitted.nonzero()
        inside = (sources < core) | (targets < core)
        edges = np.stack([variables[sources[inside]], variables[targets[inside]]])
        gains = -rows * np.log1p(-np.minimum(fitted.data[inside] ** 2, 1 - 1e-15))
        return Learnt(edges, gains, self._nearest(part), outcome.attempts, outcome.operations)

    def _nearest(self, part: Moments) -> Integers:
        """Return pairs of a column of the core and one whose partial correlation with it is among the largest."""
        variables, core = self.cluster.variables, self.cluster.core
        partial = part.partial_correlations()
        _, count = candidate_counts(self.columns)
        found = nearest(partial.__getitem__, len(partial), count).variables[: len(core)]
        return np.stack([np.repeat(core, found.shape[1]), variables[found.ravel()]])


def learnt_on_workers(tasks: Sequence[Callable[[], ClusterTask]], run: Run) -> Iterator[tuple[int, Learnt]]:
    """Search clusters on the workers that joblib sends tasks to; yield each one's number and what it gave.

    Each is made when there is a worker for it. A cluster whose worker dies is searched again on another one.
    """
    from joblib import Parallel, delayed

    def left() -> float | None:
        """Return the seconds that a task has which is handed out now."""
        return None if run.limit.moment is None else run.limit.left()

    parallel = Parallel(return_as="generator_unordered", batch_size=1)
    yield from outcomes(
        parallel(
            delayed(_learn_there)(number, task(), run.estimation, run.knowledge, run.random_state, left())
            for number, task in enumerate(tasks)
        )
    )


def _learn_there(
    number: int,
    task: ClusterTask,
    estimation: Estimation,
    knowledge: Knowledge | None,
    random_state: int | None,
    seconds: float | None,
) -> tuple[int, Learnt]:
    """Search one cluster in another process, within so many seconds."""
    from threadpoolctl import threadpool_limits

    limit = Deadline.after(seconds)
    run = Run(estimation=estimation, knowledge=knowledge, random_state=random_state, deadline=limit, limit=limit)
    with threadpool_limits(1):
        return number, task.learn(run)
