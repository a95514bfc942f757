"""Many columns and few rows: clusters of columns are searched one by one, their edges joined, and the whole refined.

With few rows an elimination of all columns at once is slow, and no better than eliminations of the neighbourhoods that
matter to each. The edges that clusters find are joined, the strongest first, as long as they make no cycle; the order
that results is where refinement over all columns begins. No array of all pairs of columns is made.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.eliminate import Trace
from rfdag.errors import Message
from rfdag.evidence.local import correlations_of
from rfdag.evidence.moments import Moments
from rfdag.graphs.sparse import acyclic_part, sparse_moral_graph, sparse_topological_order
from rfdag.methods.cluster_task import ClusterTask, Learnt, learnt_on_workers
from rfdag.methods.found import INTERRUPTED, Found, graph_of
from rfdag.methods.run import Run
from rfdag.orders import tuning
from rfdag.orders.candidates import Candidates, Nearest, candidate_counts, nearest
from rfdag.orders.clusters import Cluster, find_clusters
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.estimator import UsedEstimator
from rfdag.runtime.deadline import Clock, OutOfTime
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread
from rfdag.runtime.workers import on_cluster
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.methods.soft import Soft

Integers = NDArray[np.int64]


def found_in_clusters(method: Soft, moments: Moments, run: Run) -> Found:
    """Return the order that the edges of all clusters make, with parents chosen by BIC, after one descent."""
    moments.refuse_copies()
    local = moments.local_on_demand()
    p = local.size
    report = run.stage("Finding clusters")
    close = nearest(partial(correlations_of, local), p, tuning.NEAREST, report, run.threads)
    clusters = find_clusters(close, tuning.CORE_OF_CLUSTER, tuning.HALO_OF_CLUSTER)
    run.clock.lap("clusters")
    learnt, interrupted = _learn_all(method, moments.moments, clusters, run)
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
    try:
        if interrupted:
            raise KeyboardInterrupt
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
        warnings=(
            *_remarks(moments, clusters, run),
            *((INTERRUPTED,) if interrupted else ()),
            *_left(len(clusters) - len(learnt), len(clusters)),
        ),
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


def _left(count: int, clusters: int) -> tuple[str, ...]:
    """Return what the user should know of clusters that were not learnt."""
    if not count:
        return ()
    return (Message(f"Clusters that were not learnt, and in which edges are missing: {count} of {clusters}."),)


def _used(method: Soft, moments: Moments, clusters: list[Cluster], run: Run) -> UsedEstimator:
    """Return which estimator the search of most clusters started from, and why."""
    rows, size = moments.rows, int(np.median([len(cluster.variables) for cluster in clusters]))
    name = run.estimation.chosen(rows, size, any_rows=method.any_rows).name
    reason = run.estimation.reason(rows, size, any_rows=method.any_rows)
    return UsedEstimator(name, f"in {_in_words(clusters)}; {reason}")


def _in_words(clusters: list[Cluster]) -> str:
    largest = max(len(cluster.variables) for cluster in clusters)
    return f"{counted(len(clusters), 'cluster')} of up to {largest} columns"


def _learn_all(method: Soft, moments: Moments, clusters: list[Cluster], run: Run) -> tuple[list[Learnt], bool]:
    """Search the clusters, side by side: on the workers of a Dask cluster, or on as many threads as there are.

    The second value is whether the user interrupted that. What was learnt until then is returned, unless it is nothing.
    """
    rows, columns = moments.rows, len(moments.names)
    gamma = method.starting_gamma(rows, columns, run.estimation) * math.log(columns)

    def task(cluster: Cluster) -> ClusterTask:
        part = replace(moments.arranged(cluster.variables), given=None, columns=(), notes=())
        return ClusterTask(method, part, cluster, columns, gamma / math.log(len(cluster.variables)))

    search = learnt_on_workers if on_cluster() else _learnt_on_threads
    report = run.stage("Learning clusters")
    learnt: dict[int, Learnt] = {}
    interrupted = False
    try:
        for number, found in search([partial(task, cluster) for cluster in clusters], run):
            learnt[number] = found
            report(len(learnt) / len(clusters))
    except KeyboardInterrupt:
        if not learnt:
            raise
        interrupted = True
    return [learnt[number] for number in sorted(learnt)], interrupted


def _learnt_on_threads(tasks: Sequence[Callable[[], ClusterTask]], run: Run) -> Iterator[tuple[int, Learnt]]:
    """Search clusters on threads of this process; yield each one's number and what it gave.

    Where the user interrupts that, clusters that are being searched yield the best found until then, if there is one.
    """

    def learn(task: Callable[[], ClusterTask]) -> Learnt:
        return task().learn(alone)

    stop = threading.Event()
    # No estimate is cut short to leave time for a search: there is nothing to return before all clusters are done.
    alone = replace(
        run,
        threads=1,
        limit=run.limit.unless(stop.is_set),
        deadline=run.limit.unless(stop.is_set),
        estimating=1.0,
        bar=Progress(False),
        clock=Clock(),
    )

    with one_blas_thread(), ThreadPoolExecutor(run.threads) as pool:
        waiting = {pool.submit(learn, task): number for number, task in enumerate(tasks)}
        try:
            for finished in as_completed(waiting):
                yield waiting[finished], finished.result()
        except BaseException as ended:
            # Leaving the pool waits for its workers; let them end soon.
            stop.set()
            by_user = isinstance(ended, KeyboardInterrupt)
            pool.shutdown(wait=by_user, cancel_futures=True)
            for each, number in waiting.items() if by_user else ():
                if not each.cancelled():
                    with suppress(OutOfTime):
                        yield number, each.result()
            raise


def _joined(learnt: list[Learnt], p: int) -> tuple[Integers, csr_array]:
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


def _candidates(learnt: list[Learnt], close: Nearest, dag: csr_array) -> csr_array:
    """Mark pairs that may be edges: Markov blankets, and the largest correlations and partial correlations."""
    near = np.concatenate([each.near for each in learnt], axis=1)
    by_partial = csr_array((np.ones(near.shape[1], bool), (near[0], near[1])), shape=dag.shape)
    by_correlation = close.first(candidate_counts(dag.shape[0])[0])
    return csr_array(sparse_moral_graph(dag) + by_partial + by_correlation)
