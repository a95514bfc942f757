"""Dask collections: every partition is folded where it is, and the parts are joined in pairs by the cluster itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, RfdagError, listed
from rfdag.input.checks import usable
from rfdag.input.coding import (
    NAMED,
    OBJECTS,
    Codable,
    Coder,
    Coding,
    Counting,
    Encoded,
    Reading,
    Tally,
    encoded_numbers,
)
from rfdag.input.columns import Account
from rfdag.input.frames import from_array, from_frame, is_frame
from rfdag.input.table import Floats, Folded, Table
from rfdag.input.words import MIXED, TEXT, Words

RETRIES = 2
"""How often a partition that fails is tried again."""

PATIENCE = 30.0
"""Seconds without any worker after which waiting for one is given up."""

GLANCE = 0.05
"""Seconds between looks at what the cluster has done."""


def is_collection(source: object) -> bool:
    """Return whether a source belongs to Dask."""
    return type(source).__module__.partition(".")[0] == "dask" and hasattr(source, "dask")


class Partitions(Codable):
    """A Dask DataFrame or Array, computed on the client in use or else by Dask's own threads.

    It is a `rfdag.input.table.Stream`.

    Attributes
    ----------
    names
        One name per column.
    rows
        None: it is known only once the partitions are computed.
    missing
        Empty, for the same reason.
    in_memory
        Always false.
    repeatable
        Always true.
    words, levels, level_counts, account, origin
        See `rfdag.input.table.Stream`.
    codings
        How the columns that hold codes, or places in an order, are read.
    uncertain
        Places of the columns of objects: their partitions show whether they hold numbers or text.
    """

    rows: int | None = None
    missing: tuple[int, ...] = ()
    in_memory: bool = False
    repeatable: bool = True
    weighted: ClassVar[bool] = False
    account: Account = Account()
    origin: str = "The Dask collection"

    def __init__(self, collection: Any, threads: int = 1) -> None:
        kind = type(collection).__name__
        self.words: Mapping[int, Words] = {}
        self.levels: Mapping[int, tuple[str, ...]] = {}
        self.level_counts: Mapping[int, NDArray[np.int64]] = {}
        self.codings: Mapping[int, Coding] = {}
        self._threads = threads
        if hasattr(collection, "dtypes") and collection.ndim == 2:
            self.words = _words_in(collection.dtypes)
            self.uncertain = frozenset(at for at, each in enumerate(collection.dtypes) if each == np.dtype(object))
            self.names: tuple[Hashable, ...] = tuple(collection.columns)
            self._columns: tuple[Hashable, ...] | None = self.names
            self._collection = collection
        elif hasattr(collection, "rechunk") and collection.ndim == 2:
            self.names = tuple(range(collection.shape[1]))
            self._columns = None
            # Every block needs whole rows.
            self._collection = collection.rechunk({1: -1})
        else:
            raise DataError(
                f"Found a Dask {kind}{_shape_of(collection)}; pass a Dask DataFrame or an Array with one row per "
                "sample and one column per variable."
            )

    def renamed(self, names: tuple[Hashable, ...]) -> Partitions:
        """Return the same columns under other names."""
        renamed = copy(self)
        renamed.names = names
        return renamed

    def only(self, places: Sequence[int]) -> Partitions:
        """Return some of the columns; the others are not computed."""
        some = copy(self)
        some.names = tuple(self.names[at] for at in places)
        some.words = {to: self.words[at] for to, at in enumerate(places) if at in self.words}
        some.levels = {to: self.levels[at] for to, at in enumerate(places) if at in self.levels}
        some.level_counts = {to: self.level_counts[at] for to, at in enumerate(places) if at in self.level_counts}
        some.codings = {to: self.codings[at] for to, at in enumerate(places) if at in self.codings}
        some.missing = tuple(self.missing[at] for at in places) if self.missing else ()
        some.uncertain = frozenset(to for to, at in enumerate(places) if at in self.uncertain)
        if self._columns is None:
            some._collection = self._collection[:, list(places)]
        else:
            some._columns = tuple(self._columns[at] for at in places)
            some._collection = self._collection[list(some._columns)]
        return some

    def accounted(self, account: Account) -> Partitions:
        """Return the same rows with another account."""
        accounted = copy(self)
        accounted.account = account
        return accounted

    def fold(
        self,
        of: Callable[[Floats], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded:
        """Compute all partitions; return what ``of`` makes of blocks of their rows, and ``join`` of neighbours.

        See `rfdag.input.table.Stream.fold`.
        """
        kinds = {at: coding.kind for at, coding in self.codings.items()}
        reading = Reading(kinds, Coder(self.names, self.codings)) if self.codings else None
        read = partial(_folded, columns=self._columns, reading=reading, join=join)
        return self._computed(read, of, join, threads, report)

    @property
    def can_code(self) -> bool:
        """Always true."""
        return True

    def tallied(self, kinds: Mapping[int, str], counting: Counting) -> Tally:
        """Read the columns of some kinds, by their places, and return how often each of their levels occurs."""
        places = list(kinds)
        some = self.only(places)
        reading = Reading({to: kinds[at] for to, at in enumerate(places)}, counting)
        read = partial(_tallied, columns=some._columns, reading=reading)
        tally: Tally = some._computed(read, None, counting.joined, self._threads, lambda share: None)
        return tally

    def coded(
        self,
        codings: Mapping[int, Coding],
        levels: Mapping[int, tuple[str, ...]],
        counts: Mapping[int, NDArray[np.int64]],
        missing: Mapping[int, int],
    ) -> Partitions:
        """Return the same rows, some columns of which are read as codes of these levels."""
        coded = copy(self)
        coded.words = {at: words for at, words in self.words.items() if at not in codings}
        coded.levels = {**self.levels, **levels}
        coded.level_counts = {**self.level_counts, **counts}
        coded.codings = {**self.codings, **codings}
        known = self.missing or (0,) * len(self.names)
        coded.missing = tuple(missing.get(at, count) for at, count in enumerate(known))
        return coded

    def _computed(
        self,
        read: Callable[..., Any],
        of: Any,
        join: Callable[[Any, Any], Any],
        threads: int,
        report: Callable[[float], None],
    ) -> Any:
        """Return what ``read`` makes of all partitions, given ``of``, and ``join`` of neighbours."""
        from dask import delayed

        parts = np.ravel(np.asarray(self._collection.to_delayed(), dtype=object)).tolist()
        folded, joined = delayed(read, pure=True), delayed(join, pure=True)
        # One node for all: what is folded with may hold megabytes, and would otherwise go along with every partition.
        shared = delayed(of, pure=True)
        leaves = [folded(part, at, shared) for at, part in enumerate(parts)]
        level = leaves
        while len(level) > 1:
            pairs = [joined(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
            level = pairs + level[2 * len(pairs) :]
        client = _client()
        if client is None:
            return _by_threads(level[0], threads, report)
        return _by_cluster(client, leaves, level[0], report)


def _words_in(kinds: Any) -> dict[int, Words]:
    """Return the columns that are not numbers, by their places."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

    # Whether an object is a number is known only where its partition is.
    return {
        at: Words(TEXT if is_string_dtype(kind) or is_bool_dtype(kind) or _is_category(kind) else str(kind))
        for at, kind in enumerate(kinds)
        if is_bool_dtype(kind) or not (is_numeric_dtype(kind) or kind == np.dtype(object))
    }


def _is_category(kind: Any) -> bool:
    from pandas import CategoricalDtype

    return isinstance(kind, CategoricalDtype)


def _shape_of(collection: Any) -> str:
    return f" of shape {collection.shape}" if hasattr(collection, "shape") else ""


def _folded(
    part: Any,
    at: int,
    of: Callable[[Floats], Folded],
    columns: tuple[Hashable, ...] | None,
    reading: Reading | None,
    join: Callable[[Folded, Folded], Folded],
) -> Folded:
    """Return what the rows of one partition fold to; runs on a worker."""
    from threadpoolctl import threadpool_limits

    table, encoded = _read(part, at, columns, reading)
    if reading is not None:
        table = table._replace(values=reading.of(np.array(table.values, np.float64), encoded))
    with threadpool_limits(1, user_api="blas"):
        return table.fold(of, join)


def _tallied(part: Any, at: int, of: None, columns: tuple[Hashable, ...] | None, reading: Reading) -> Tally:
    """Return how often each level occurs in one partition; runs on a worker."""
    table, encoded = _read(part, at, columns, reading)
    tally: Tally = reading.of(np.empty((table.rows, 0)), encoded)
    return tally


def _read(
    part: Any, at: int, columns: tuple[Hashable, ...] | None, reading: Reading | None
) -> tuple[Table, dict[int, Encoded]]:
    """Return the rows of one partition, and those of its columns encoded that are read so."""
    table = from_frame(part) if is_frame(part) else from_array(part)
    encoded: dict[int, Encoded] = {}
    for place, kind in reading.kinds.items() if reading is not None else ():
        if place < len(table.names):
            found = _encoded(table, place, kind)
            if found is not None:
                encoded[place] = found
    usable(table._replace(words={place: each for place, each in table.words.items() if place not in encoded}))
    if columns is not None and table.names != columns:
        raise DataError(
            f"Partition {at} of the Dask collection has the columns {listed(table.names)}, not {listed(columns)}; give "
            "all partitions the same columns in the same order."
        )
    return table._replace(words={}), encoded


def _encoded(table: Table, at: int, kind: str) -> Encoded | None:
    """Return a column of a partition as its different entries; None where it has both text and numbers."""
    words = table.words.get(at)
    if words is not None:
        if words.coded is None or (words.kind == MIXED and kind != NAMED and words.levels is None):
            return None
        return Encoded(*words.coded, declared=words.levels is not None, order=words.levels)
    if kind == OBJECTS:
        return Encoded(np.full(table.rows, -1, np.int64), (), numbers=True)
    return encoded_numbers(table.values[:, at], table.names[at])


def _client() -> Any:
    """Return the client of dask.distributed in use, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _by_threads(root: Any, threads: int, report: Callable[[float], None]) -> Any:
    from dask.callbacks import Callback

    def count(key: Any, value: Any, graph: Any, state: Any, worker: Any) -> None:
        done = len(state["finished"])
        report(done / (done + len(state["waiting"]) + len(state["ready"]) + len(state["running"])))

    try:
        with Callback(posttask=count):
            whole = root.compute(num_workers=threads)
    except (RfdagError, MemoryError):
        raise
    except Exception as problem:
        raise DataError(f"The Dask collection could not be computed ({_reason_of(problem)}).") from problem
    return whole


def _by_cluster(client: Any, leaves: list[Any], root: Any, report: Callable[[float], None]) -> Any:
    """Compute on a cluster, whose scheduler gives the work of a dead worker to another."""
    count = len(leaves)
    waiting = dict(enumerate(client.compute([*leaves, root], retries=RETRIES)))
    whole = waiting[count]
    try:
        failed = _await(client, waiting, count, report)
        if failed:
            raise _failure(failed, count)
        folded = whole.result()
    except BaseException:
        client.cancel([*waiting.values(), whole])
        raise
    return folded


def _await(client: Any, waiting: dict[int, Any], count: int, report: Callable[[float], None]) -> dict[int, Any]:
    """Wait until every future is done and return those that failed.

    Futures are taken out of ``waiting`` as they end, so that the cluster can drop what has been joined.
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
        f"{_named(list(failed), count)} missing: {_reason(first)}. Check these partitions, or the memory and the "
        "logs of the workers, and run again."
    )


def _named(places: list[int], count: int) -> str:
    """Return which partitions are concerned; the last place stands for all of them joined."""
    parts = sorted(at for at in places if at < count)
    return f"Partitions {listed(parts)} of {count}, counted from 0, are" if parts else "The answer of all partitions is"


def _exception(future: Any) -> BaseException | None:
    try:
        problem: BaseException | None = future.exception()
    except BaseException as cancelled:  # a cancelled future raises instead of returning
        return cancelled
    return problem


def _reason(future: Any) -> str:
    problem = _exception(future)
    return future.status if problem is None else _reason_of(problem)


def _reason_of(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
