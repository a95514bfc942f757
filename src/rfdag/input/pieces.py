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

import numpy as np
from numpy.typing import NDArray

from rfdag.input.coding import Codable, Coder, Coding, Counting, Reading, Tally
from rfdag.input.columns import Account
from rfdag.input.table import Floats, Folded, joined_in_pairs, of_nothing
from rfdag.input.words import Words
from rfdag.runtime.threads import one_blas_thread

ANY_NUMBER = 2**16
"""As many threads as there are."""


class Piece(NamedTuple):
    """Some of the rows, read when asked for, in blocks that may be overwritten; and their share of the work.

    Blocks are numbers, or what a `rfdag.input.coding.Reading` makes of them.
    """

    blocks: Callable[[], Iterable[Any]]
    weight: float


@dataclass(frozen=True)
class Pieces(Codable):
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
    words, levels, level_counts, account, origin
        See `rfdag.input.table.Stream`.
    places
        Where the columns are in the source; None for all of them.
    cut_as
        As ``cut``, with the columns read in another way than as numbers; None where the source cannot do that.
    codings
        How the columns that hold codes, or places in an order, are read.
    threads
        How many threads read when levels are counted.
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
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    level_counts: Mapping[int, NDArray[np.int64]] = field(default_factory=dict)
    cut_as: Callable[[Sequence[int], Reading], Iterable[Piece]] | None = None
    codings: Mapping[int, Coding] = field(default_factory=dict)
    threads: int = 1
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
            levels={to: self.levels[at] for to, at in enumerate(places) if at in self.levels},
            level_counts={to: self.level_counts[at] for to, at in enumerate(places) if at in self.level_counts},
            codings={to: self.codings[at] for to, at in enumerate(places) if at in self.codings},
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
        kinds = {at: coding.kind for at, coding in self.codings.items()}
        reading = Reading(kinds, Coder(self.names, self.codings)) if self.codings else None
        whole = self.read_as(reading, of, join, threads, report)
        return of_nothing(of, len(self.names)) if whole is None else whole

    def read_as(
        self,
        reading: Reading | None,
        of: Callable[[Any], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded | None:
        """Return as `fold` does what is made of blocks that are read in another way; None of no rows at all."""
        places = range(len(self.names)) if self.places is None else self.places
        if reading is None:
            pieces = self.cut(places)
        else:
            assert self.cut_as is not None
            pieces = self.cut_as(places, reading)
        # Threads belong to pieces here; those of BLAS would only be in their way.
        with (
            one_blas_thread(),
            closing(_folded_pieces(pieces, of, join, min(threads, self.readers))) as folded,
        ):
            return joined_in_pairs(_reported(folded, self.weight, report), join)

    @property
    def can_code(self) -> bool:
        """Whether the source can be read in another way than as numbers."""
        return self.cut_as is not None

    def tallied(self, kinds: Mapping[int, str], counting: Counting) -> Tally:
        """Read the columns of some kinds, by their places, and return how often each of their levels occurs."""
        places = list(kinds)
        reading = Reading({to: kinds[at] for to, at in enumerate(places)}, counting)
        tally = self.only(places).read_as(reading, _itself, counting.joined, self.threads)
        return counting.nothing() if tally is None else tally

    def coded(
        self,
        codings: Mapping[int, Coding],
        levels: Mapping[int, tuple[str, ...]],
        counts: Mapping[int, NDArray[np.int64]],
        missing: Mapping[int, int],
    ) -> Pieces:
        """Return the same rows, some columns of which are read as codes of these levels."""
        known = self.missing or (0,) * len(self.names)
        return replace(
            self,
            words={at: words for at, words in self.words.items() if at not in codings},
            levels={**self.levels, **levels},
            level_counts={**self.level_counts, **counts},
            codings={**self.codings, **codings},
            missing=tuple(missing.get(at, count) for at, count in enumerate(known)),
        )


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
    def pieces(self, names: Sequence[Any], reading: Reading | None = None) -> Iterator[Piece]:
        """Yield its rows, the columns in the order of the names, as numbers or as ``reading`` makes them."""

    def readers(self) -> int:
        """Return how many threads may read it at the same time."""
        return ANY_NUMBER


def _itself(block: Any) -> Any:
    return block


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
