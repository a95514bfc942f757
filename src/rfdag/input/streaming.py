"""Data read in pieces, several at a time: what does not fit into memory is summed up without ever being there."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.summary import Summary, joined_in_pairs

Floats = NDArray[np.float64]

CELLS_PER_BLOCK = 2**21
"""Numbers in memory at a time, for each thread: 16 megabytes. Wide tables take as many rows as columns."""

MANY = 2**16
"""As many threads as there are."""


class Piece(NamedTuple):
    """Some of the rows, read when asked for, in blocks that may be overwritten; and their share of the work."""

    blocks: Callable[[], Iterable[Floats]]
    weight: float


@dataclass(frozen=True)
class Source:
    """Columns with names whose rows come in pieces.

    Attributes
    ----------
    names
        One name per column of the blocks.
    pieces
        The pieces, from the first row to the last. How rows are cut must not depend on the number of threads.
    weight
        That of all pieces together, if known.
    rows
        Number of rows, if known before they are read.
    readers
        How many threads may read at the same time.
    missing
        Number of missing values of each column, where that is known before; empty or zeros where not.
    """

    names: tuple[Hashable, ...]
    pieces: Iterable[Piece]
    weight: float | None
    rows: int | None = None
    missing: tuple[int, ...] = ()
    readers: int = MANY

    def summarise(self, threads: int = 1, report: Callable[[float], None] = lambda share: None) -> Summary:
        """Read all rows once and return their summary.

        At most one piece per thread is in memory, and one more. The summary does not depend on the number of threads:
        pieces are joined in their own order.
        """
        # Threads belong to pieces here; those of BLAS would only be in their way.
        from rfdag.runtime.threads import one_blas_thread

        with (
            one_blas_thread(),
            closing(_summaries(self.pieces, min(threads, self.readers))) as summaries,
        ):
            summary = joined_in_pairs(_reported(summaries, self.weight, report))
        return Summary.of(np.empty((0, len(self.names)))) if summary is None else summary


class File(ABC):
    """A file whose rows can be read in pieces.

    Attributes
    ----------
    path, names
        Where it is, and its columns.
    weight
        That of all its pieces.
    rows
        Number of rows, if known before they are read.
    """

    path: Path
    names: tuple[Hashable, ...]
    weight: float
    rows: int | None = None

    @abstractmethod
    def pieces(self, names: Sequence[Any]) -> Iterator[Piece]:
        """Yield its rows, the columns in the order of the names."""

    def readers(self) -> int:
        """Return how many threads may read it at the same time."""
        return MANY

    def nulls(self) -> dict[Hashable, int]:
        """Return how many missing values its columns have, where there are any and the file says so."""
        return {}


class _Stopped(Exception):
    """The scan was ended from outside."""


def rows_per_block(columns: int) -> int:
    """Return how many rows are read and factorised at a time.

    >>> rows_per_block(128), rows_per_block(10_000)
    (16384, 10000)
    """
    return max(CELLS_PER_BLOCK // max(columns, 1), columns, 1)


def _reported(
    summaries: Iterable[tuple[Summary, float]], total: float | None, report: Callable[[float], None]
) -> Iterator[Summary]:
    done = 0.0
    for summary, weight in summaries:
        done += weight
        if total:
            report(min(done / total, 1.0))
        yield summary


def _summaries(pieces: Iterable[Piece], threads: int) -> Generator[tuple[Summary, float]]:
    """Yield the summary and weight of each piece, in order."""
    stop = threading.Event()

    def work(piece: Piece) -> Summary | None:
        return joined_in_pairs(_summary(block, stop) for block in piece.blocks())

    def finished(summary: Summary | None, piece: Piece) -> Iterator[tuple[Summary, float]]:
        if summary is not None:
            yield summary, piece.weight

    if threads == 1:
        for piece in pieces:
            yield from finished(work(piece), piece)
        return
    ahead: deque[tuple[Future[Summary | None], Piece]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="rfdag-read") as pool:
        try:
            for piece in pieces:
                ahead.append((pool.submit(work, piece), piece))
                del piece
                if len(ahead) > threads:
                    future, first = ahead.popleft()
                    yield from finished(future.result(), first)
                    del first
            while ahead:
                future, first = ahead.popleft()
                yield from finished(future.result(), first)
        finally:
            # However this ends, leaving the pool waits for its threads: let them end at their next block.
            stop.set()
            for future, _ in ahead:
                future.cancel()


def _summary(block: Floats, stop: threading.Event) -> Summary:
    if stop.is_set():
        raise _Stopped
    return Summary.of(block)
