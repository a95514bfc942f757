"""Many columns and few rows: clusters of columns are searched one by one, their edges joined, and the whole refined.

With few rows an elimination of all columns at once is slow, and no better than eliminations of the neighbourhoods that
matter to each. The edges that clusters find are joined, the strongest first, as long as they make no cycle; the order
that results is where refinement over all columns begins. No array of all pairs of columns is made.
"""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.eliminate import Trace
from rfdag.errors import Message
from rfdag.evidence.local import correlations_of
from rfdag.evidence.moments import Moments, sample_of
from rfdag.graphs.sparse import acyclic_part, sparse_moral_graph, sparse_topological_order
from rfdag.methods.found import INTERRUPTED, Found, graph_of
from rfdag.methods.run import Run
from rfdag.orders import tuning
from rfdag.orders.candidates import Candidates, Nearest, nearest
from rfdag.orders.clusters import Cluster, find_clusters
from rfdag.orders.fitted import regressions_of
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.portfolio import Attempt, search_orders
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.estimator import UsedEstimator
from rfdag.runtime.deadline import Clock, OutOfTime
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.methods.soft import Soft

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class _Learnt:
    """What one cluster gave: edges with an end in its core, with their gains; near columns by partial correlations."""

    edges: Integers
    gains: Floats
    near: Integers
    attempts: tuple[Attempt, ...]
    operations: int


def found_in_clusters(method: Soft, moments: Moments, run: Run) -> Found:
    """Return the order that the edges of all clusters make, with parents chosen by BIC, after one descent."""
    moments.refuse_copies()
    local = moments.local_on_demand()
    p = local.size
    report = run.stage("Finding clusters")
    close = nearest(partial(correlations_of, local), p, tuning.NEAREST, report, run.threads)
    clusters = find_clusters(close, tuning.CORE_OF_CLUSTER, tuning.HALO_OF_CLUSTER)
    run.clock.lap("clusters")
    learnt = _learn_all(method, moments.moments, clusters, run)
    order, dag = _joined(learnt, p)
    if run.constraints is not None:
        order = run.constraints.arrange(order)
    scored = ScoredOrder(
        local,
        order,
        method.price,
        method.starting_gamma(moments.rows, p, run.estimation),
        dag,
        run.constraints,
        run.limit.require,
        Candidates.among(_candidates(learnt, close, dag)),
        renewing=False,
        threads=run.threads,
    )
    interrupted = False
    try:
        scored = reconsidered(scored, run.deadline.require, run.threads) or scored
        descend(scored, run.generator(), run.deadline, run.bar.stage("Joining clusters"))
    except OutOfTime:
        # There is an order, and the deadline knows that it ended the search.
        pass
    except KeyboardInterrupt:
        interrupted = True
    return Found(
        scored.order,
        graph_of(scored),
        Trace.empty(),
        scored,
        attempts=tuple(attempt for each in learnt for attempt in each.attempts),
        operations=sum(each.operations for each in learnt) + scored.operations,
        warnings=(*_remarks(moments, clusters, run), *((INTERRUPTED,) if interrupted else ())),
        interrupted=interrupted,
        estimator=_used(method, moments, clusters, run),
    )


def _remarks(moments: Moments, clusters: list[Cluster], run: Run) -> tuple[str, ...]:
    """Return what the user should know of rows that are few."""
    rows, columns = moments.rows, len(moments.names)
    if not run.estimation.few(rows, columns):
        return ()
    return (
        Message(
            f"{rows} rows are few for {columns} columns: the search began in {_in_words(clusters)}, and its order is "
            "far from certain."
        ),
    )


def _used(method: Soft, moments: Moments, clusters: list[Cluster], run: Run) -> UsedEstimator:
    """Return which estimator the search of most clusters started from, and why."""
    rows, size = moments.rows, int(np.median([len(cluster.variables) for cluster in clusters]))
    name = run.estimation.chosen(rows, size, any_rows=method.any_rows).name
    reason = run.estimation.reason(rows, size, any_rows=method.any_rows)
    return UsedEstimator(name, f"in {_in_words(clusters)}; {reason}")


def _in_words(clusters: list[Cluster]) -> str:
    largest = max(len(cluster.variables) for cluster in clusters)
    return f"{counted(len(clusters), 'cluster')} of up to {largest} columns"


def _learn_all(method: Soft, moments: Moments, clusters: list[Cluster], run: Run) -> list[_Learnt]:
    """Search the clusters, side by side on as many threads as there are."""
    report = run.stage("Learning clusters")
    stop = threading.Event()
    alone = replace(
        run, threads=1, limit=run.limit.unless(stop.is_set), deadline=run.limit, bar=Progress(False), clock=Clock()
    )

    def learn(number: int) -> _Learnt:
        return _learn_one(method, moments, clusters[number], alone)

    learnt: dict[int, _Learnt] = {}
    with one_blas_thread(), ThreadPoolExecutor(run.threads) as pool:
        waiting = {pool.submit(learn, number): number for number in range(len(clusters))}
        try:
            for finished in as_completed(waiting):
                learnt[waiting[finished]] = finished.result()
                report(len(learnt) / len(clusters))
        except BaseException:
            # Leaving the pool waits for its workers; let them end soon.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [learnt[number] for number in range(len(clusters))]


def _learn_one(method: Soft, moments: Moments, cluster: Cluster, run: Run) -> _Learnt:
    """Search one cluster as if it were all there is, at the price that an edge has among all columns."""
    variables, core = cluster.variables, len(cluster.core)
    rows, columns = moments.rows, len(moments.names)
    gamma = method.starting_gamma(rows, columns, run.estimation) * math.log(columns) / math.log(len(variables))
    part = replace(moments.arranged(variables), given=None)
    constraints = None if run.knowledge is None else run.knowledge.among(part.names).constraints(part.names)
    part, _ = sample_of(replace(run, constraints=constraints).estimated(part, method))
    outcome = search_orders(
        part.partial_correlations(),
        part.local(),
        worth=part.worth,
        width=tuning.BEAM_OF_CLUSTER,
        penalty=method.price,
        gamma=gamma,
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
    return _Learnt(edges, gains, _nearest_in(part, variables, core), outcome.attempts, outcome.operations)


def _nearest_in(part: Moments, variables: Integers, core: int) -> Integers:
    """Return pairs of a column of the core and one whose partial correlation with it is among the largest."""
    partial = part.partial_correlations()
    found = nearest(partial.__getitem__, len(partial), tuning.CANDIDATES_BY_PARTIAL_CORRELATION).variables[:core]
    return np.stack([np.repeat(variables[:core], found.shape[1]), variables[found.ravel()]])


def _joined(learnt: list[_Learnt], p: int) -> tuple[Integers, csr_array]:
    """Return an order, a source first, and the DAG of the edges of all clusters, the strongest first, without cycles.

    The gains of an edge that several clusters found add up.
    """
    edges = np.concatenate([each.edges for each in learnt], axis=1)
    gains = np.concatenate([each.gains for each in learnt])
    votes = csr_array((gains, (edges[0], edges[1])), shape=(p, p))
    votes.sum_duplicates()
    sources, targets = votes.nonzero()
    strongest = np.lexsort((targets, sources, -votes.data))
    sources, targets = sources[strongest].astype(np.int64), targets[strongest].astype(np.int64)
    kept = acyclic_part(sources, targets, p)
    dag = csr_array((np.ones(int(kept.sum()), np.int8), (sources[kept], targets[kept])), shape=(p, p))
    return sparse_topological_order(dag), dag


def _candidates(learnt: list[_Learnt], close: Nearest, dag: csr_array) -> csr_array:
    """Mark pairs that may be edges: Markov blankets, and the largest correlations and partial correlations."""
    near = np.concatenate([each.near for each in learnt], axis=1)
    by_partial = csr_array((np.ones(near.shape[1], bool), (near[0], near[1])), shape=dag.shape)
    by_correlation = close.first(tuning.CANDIDATES_BY_CORRELATION)
    return csr_array(sparse_moral_graph(dag) + by_partial + by_correlation)
