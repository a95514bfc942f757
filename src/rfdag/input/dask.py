"""Dask collections: every partition summed up where it lies, and the sums joined in pairs by the cluster itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, RfdagError, listed, not_numbers
from rfdag.evidence.summary import Summary, joined_in_pairs
from rfdag.input.streaming import rows_per_block

RETRIES = 2
"""How often a partition that fails is tried again."""

PATIENCE = 30.0
"""Seconds without any worker after which waiting for one is given up."""

GLANCE = 0.05
"""Seconds between looks at what the cluster has done."""


def is_collection(source: object) -> bool:
    """Return whether a source belongs to Dask."""
    return type(source).__module__.partition(".")[0] == "dask" and hasattr(source, "dask")


class Partitions:
    """A Dask DataFrame or Array, computed on the client in use or else by Dask's own threads.

    Attributes
    ----------
    names
        One name per column.
    rows
        None: only computing tells.
    missing
        Empty, for the same reason.
    """

    rows: int | None = None
    missing: tuple[int, ...] = ()

    def __init__(self, collection: Any) -> None:
        kind = type(collection).__name__
        if hasattr(collection, "dtypes") and collection.ndim == 2:
            _refuse_words(collection.dtypes)
            self.names: tuple[Hashable, ...] = tuple(collection.columns)
            self._collection = collection
        elif hasattr(collection, "rechunk") and collection.ndim == 2:
            self.names = tuple(range(collection.shape[1]))
            # Every block needs whole rows.
            self._collection = collection.rechunk({1: -1})
        else:
            raise DataError(
                f"Found a Dask {kind}{_shape_of(collection)}; pass a Dask DataFrame or an Array with one row per "
                "sample and one column per variable."
            )

    def summarise(self, threads: int = 1, report: Callable[[float], None] = lambda share: None) -> Summary:
        """Compute all partitions and return the summary of their rows."""
        from dask import delayed

        parts = np.ravel(np.asarray(self._collection.to_delayed(), dtype=object)).tolist()
        summarised, joined = delayed(_summary_of, pure=True), delayed(Summary.joined, pure=True)
        leaves = [summarised(part, self.names, at) for at, part in enumerate(parts)]
        level = leaves
        while len(level) > 1:
            pairs = [joined(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
            level = pairs + level[2 * len(pairs) :]
        client = _client()
        if client is None:
            return _by_threads(level[0], threads, report)
        return _by_cluster(client, leaves, level[0], report)


def _refuse_words(kinds: Any) -> None:
    from pandas.api.types import is_numeric_dtype

    # What an object is, only its partition can tell.
    words = {
        name: str(kind) for name, kind in kinds.items() if not (is_numeric_dtype(kind) or kind == np.dtype(object))
    }
    if words:
        raise not_numbers("These columns are", words)


def _shape_of(collection: Any) -> str:
    return f" of shape {collection.shape}" if hasattr(collection, "shape") else ""


def _summary_of(part: Any, names: Sequence[Hashable], at: int) -> Summary:
    """Return the summary of one partition; runs on a worker."""
    from threadpoolctl import threadpool_limits

    from rfdag.input.reading import as_table

    table = as_table(part)
    if not isinstance(part, np.ndarray) and table.names != tuple(names):
        raise DataError(
            f"Partition {at} of the Dask collection has the columns {listed(table.names)}, not {listed(names)}; give "
            "all partitions the same columns in the same order."
        )
    values: NDArray[Any] = table.values
    step = rows_per_block(len(names))
    with threadpool_limits(1, user_api="blas"):
        summary = joined_in_pairs(
            Summary.of(np.array(values[start : start + step], dtype=np.float64, order="F"))
            for start in range(0, len(values), step)
        )
    return Summary.of(np.empty((0, len(names)))) if summary is None else summary


def _client() -> Any:
    """Return the client of dask.distributed in use, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _by_threads(root: Any, threads: int, report: Callable[[float], None]) -> Summary:
    from dask.callbacks import Callback

    def count(key: Any, value: Any, graph: Any, state: Any, worker: Any) -> None:
        done = len(state["finished"])
        report(done / (done + len(state["waiting"]) + len(state["ready"]) + len(state["running"])))

    try:
        with Callback(posttask=count):
            summary: Summary = root.compute(num_workers=threads)
    except (RfdagError, MemoryError):
        raise
    except Exception as problem:
        raise DataError(f"The Dask collection could not be computed ({_said(problem)}).") from problem
    return summary


def _by_cluster(client: Any, leaves: list[Any], root: Any, report: Callable[[float], None]) -> Summary:
    """Compute on a cluster, whose scheduler gives the work of a dead worker to another."""
    count = len(leaves)
    waiting = dict(enumerate(client.compute([*leaves, root], retries=RETRIES)))
    whole = waiting[count]
    try:
        failed = _await(client, waiting, count, report)
        if failed:
            raise _failure(failed, count)
        summary: Summary = whole.result()
    except BaseException:
        client.cancel([*waiting.values(), whole])
        raise
    return summary


def _await(client: Any, waiting: dict[int, Any], count: int, report: Callable[[float], None]) -> dict[int, Any]:
    """Wait until every future is done and return those that failed.

    Futures are taken out of ``waiting`` as they end, so that the cluster can forget what has been joined.
    """
    failed: dict[int, Any] = {}
    seen = time.monotonic()
    while waiting:
        for at in [at for at, future in waiting.items() if future.done()]:
            future = waiting.pop(at)
            if future.status != "finished":
                failed[at] = future
        report(1 - len(waiting) / (count + 1))
        if client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif waiting and time.monotonic() - seen > PATIENCE:
            raise DataError(
                f"{_named([*waiting, *failed], count)} missing: the cluster has had no workers for {PATIENCE:.0f} "
                "seconds. Start workers and run again."
            )
        if waiting:
            time.sleep(GLANCE)
    return failed


def _failure(failed: dict[int, Any], count: int) -> RfdagError:
    first = failed[min(failed)]
    problem = _exception(first)
    if isinstance(problem, RfdagError):
        return problem
    return DataError(
        f"{_named(list(failed), count)} missing: {_reason(first)}. Look after these partitions, or the memory and the "
        "logs of the workers, and run again."
    )


def _named(places: list[int], count: int) -> str:
    """Say which partitions are concerned; the last place stands for the sum of all."""
    parts = sorted(at for at in places if at < count)
    return f"Partitions {listed(parts)} of {count}, counted from 0, are" if parts else "The sum of all partitions is"


def _exception(future: Any) -> BaseException | None:
    try:
        problem: BaseException | None = future.exception()
    except BaseException as cancelled:  # a cancelled future raises what it should return
        return cancelled
    return problem


def _reason(future: Any) -> str:
    problem = _exception(future)
    return future.status if problem is None else _said(problem)


def _said(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
