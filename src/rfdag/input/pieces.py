"""Rows that are read in pieces, several at a time: tables that do not fit into memory are never there as a whole."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rfdag.input.columns import Account
from rfdag.input.table import Floats, Folded, joined_in_pairs, of_nothing
from rfdag.input.words import Words
from rfdag.runtime.threads import one_blas_thread

ANY_NUMBER = 2**16
"""As many threads as there are."""


class Piece(NamedTuple):
    """Some of the rows, read when asked for, in blocks that may be overwritten; and their share of the work."""

    blocks: Callable[[], Iterable[Floats]]
    weight: float


@dataclass(frozen=True)
class Pieces:
    """Named columns whose rows come in pieces: a `rfdag.input.table.Stream`.

    Attributes
    ----------
    names
        One name per column of the blocks.
    cut
        Returns the pieces, from the first row to the last, with the columns at the places it is given. How rows are
        cut must not depend on the number of threads.
    weight
        That of all pieces together, if known.
    rows
        Number of rows, if known before they are read.
    missing
        Number of missing values of each column, where that is known before; empty or zeros where not.
    readers
        How many threads may read at the same time.
    in_memory
        Whether the rows are in memory already, and are only converted in pieces.
    repeatable
        Whether the source that they come from can be opened and read again.
    words, account, origin
        See `rfdag.input.table.Stream`.
    places
        Where the columns are in the source; None for all of them.
    """

    names: tuple[Hashable, ...]
    cut: Callable[[Sequence[int]], Iterable[Piece]]
    weight: float | None
    rows: int | None = None
    missing: tuple[int, ...] = ()
    readers: int = ANY_NUMBER
    in_memory: bool = False
    repeatable: bool = False
    words: Mapping[int, Words] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    origin: str = "The table"
    places: tuple[int, ...] | None = None
    weighted: ClassVar[bool] = False

    def renamed(self, names: tuple[Hashable, ...]) -> Pieces:
        """Return the same columns under other names."""
        return replace(self, names=names)

    def only(self, places: Sequence[int]) -> Pieces:
        """Return some of the columns; the others are not read."""
        source = range(len(self.names)) if self.places is None else self.places
        return replace(
            self,
            names=tuple(self.names[at] for at in places),
            missing=tuple(self.missing[at] for at in places) if self.missing else (),
            words={to: self.words[at] for to, at in enumerate(places) if at in self.words},
            places=tuple(source[at] for at in places),
        )

    def accounted(self, account: Account) -> Pieces:
        """Return the same rows with another account."""
        return replace(self, account=account)

    def fold(
        self,
        of: Callable[[Floats], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded:
        """Return what ``of`` makes of blocks of rows and ``join`` of neighbouring blocks.

        At most one piece per thread is in memory, and one more. See `rfdag.input.table.Stream.fold`.
        """
        pieces = self.cut(range(len(self.names)) if self.places is None else self.places)
        # Threads belong to pieces here; those of BLAS would only be in their way.
        with (
            one_blas_thread(),
            closing(_folded_pieces(pieces, of, join, min(threads, self.readers))) as folded,
        ):
            whole = joined_in_pairs(_reported(folded, self.weight, report), join)
        return of_nothing(of, len(self.names)) if whole is None else whole


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
    words
        The columns that are not numbers, by name, where that is known before they are read.
    """

    path: Path
    names: tuple[Hashable, ...]
    weight: float
    rows: int | None = None
    words: Mapping[Hashable, Words] = {}

    @abstractmethod
    def pieces(self, names: Sequence[Any]) -> Iterator[Piece]:
        """Yield its rows, the columns in the order of the names."""

    def readers(self) -> int:
        """Return how many threads may read it at the same time."""
        return ANY_NUMBER

    def nulls(self) -> dict[Hashable, int]:
        """Return how many missing values its columns have, where there are any and the file counts them."""
        return {}


class _Stopped(Exception):
    """The reading was ended from outside."""


def _reported(
    parts: Iterable[tuple[Folded, float]], total: float | None, report: Callable[[float], None]
) -> Iterator[Folded]:
    done = 0.0
    for part, weight in parts:
        done += weight
        if total:
            report(min(done / total, 1.0))
        yield part


def _folded_pieces(
    pieces: Iterable[Piece],
    of: Callable[[Floats], Folded],
    join: Callable[[Folded, Folded], Folded],
    threads: int,
) -> Generator[tuple[Folded, float]]:
    """Yield what the rows of each piece fold to, with the weight of the piece, in order."""
    stop = threading.Event()

    def of_block(block: Floats) -> Folded:
        if stop.is_set():
            raise _Stopped
        return of(block)

    def work(piece: Piece) -> Folded | None:
        return joined_in_pairs(map(of_block, piece.blocks()), join)

    def finished(part: Folded | None, piece: Piece) -> Iterator[tuple[Folded, float]]:
        if part is not None:
            yield part, piece.weight

    if threads == 1:
        for piece in pieces:
            yield from finished(work(piece), piece)
        return
    ahead: deque[tuple[Future[Folded | None], Piece]] = deque()
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
