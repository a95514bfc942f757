"""Tables in memory, and the questions that everything with rows answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rfdag.input.columns import Account
from rfdag.input.origins import Origins
from rfdag.input.words import Words

Floats = NDArray[np.float64]
Folded = TypeVar("Folded")

CELLS_PER_BLOCK = 2**21
"""Numbers in a block of rows: 16 megabytes. Wide tables take as many rows as columns."""


class Stream(Protocol):
    """Named columns whose rows can be read once, from the first to the last.

    Attributes
    ----------
    names
        One name per column.
    rows
        Number of rows; None if it is not known before they are read.
    missing
        Number of missing values of each column where that is known before reading; empty or zeros where not.
    in_memory
        Whether the rows are in memory already.
    repeatable
        Whether the source that they come from can be opened and read again.
    words
        The columns that are not numbers, by their places, with what they hold.
    levels
        The levels of the columns of categories, by their places; blocks hold their numbers, from 0 on, and NaN where
        one is missing.
    level_counts
        How many rows have each level, of all that are read: rows that are left out later, and weights, do not count.
    weighted
        Whether blocks of rows have one more column than there are names: how often each row counts.
    account
        What was done to the input so far.
    origin
        What the rows come from, as the subject of a sentence.
    """

    @property
    def names(self) -> tuple[Hashable, ...]: ...  # noqa: D102
    @property
    def rows(self) -> int | None: ...  # noqa: D102
    @property
    def missing(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def in_memory(self) -> bool: ...  # noqa: D102
    @property
    def repeatable(self) -> bool: ...  # noqa: D102
    @property
    def words(self) -> Mapping[int, Words]: ...  # noqa: D102
    @property
    def levels(self) -> Mapping[int, tuple[str, ...]]: ...  # noqa: D102
    @property
    def level_counts(self) -> Mapping[int, NDArray[np.int64]]: ...  # noqa: D102
    @property
    def weighted(self) -> bool: ...  # noqa: D102
    @property
    def account(self) -> Account: ...  # noqa: D102
    @property
    def origin(self) -> str: ...  # noqa: D102

    def only(self, places: Sequence[int]) -> Self:
        """Return some of the columns."""

    def accounted(self, account: Account) -> Self:
        """Return the same rows with another account."""

    def renamed(self, names: tuple[Hashable, ...]) -> Self:
        """Return the same columns under other names."""

    def fold(
        self,
        of: Callable[[Floats], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded:
        """Read all rows once, and return what ``of`` makes of blocks of rows and ``join`` of neighbouring blocks.

        ``of`` may overwrite the block. Both functions are pickled where other processes do the work. Blocks are joined
        in pairs, pairs of pairs, and so on: the answer does not depend on ``threads``. With one thread, blocks come in
        the order of the rows. ``report`` is called with the share of the rows done. Of no rows at all, ``of`` gets an
        empty block.
        """


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with a name for each column; ``values, names = table`` takes it apart.

    A table is a stream as well, all of which is in memory.

    Examples
    --------
    >>> table = Table(np.array([[1.0, 2.0], [3.0, 4.0]]), ("a", "b"))
    >>> table.rows, table.names
    (2, ('a', 'b'))
    >>> table.fold(lambda block: block.sum(axis=0), np.add)
    array([4., 6.])
    """

    values: NDArray[Any]
    names: tuple[Hashable, ...]
    words: Mapping[int, Words] = field(default_factory=dict)
    """The columns that are not numbers, by their places, with what they hold; their values are NaN."""
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The levels of the columns of categories, by their places; their values are the numbers of levels, from 0 on."""
    weights: Floats | None = None
    """How often each row counts; None where each counts once."""
    origins: Origins | None = None
    """Which environment each row comes from; None where that was not asked."""
    account: Account = field(default_factory=Account)
    """What was done to the input so far."""
    labels: tuple[str, ...] | None = None
    """Names of the rows, where the input has them in a column without a name or in an index."""
    origin: str = "The table"
    """What the rows come from, as the subject of a sentence."""

    def __iter__(self) -> Iterator[Any]:
        yield self.values
        yield self.names

    def _replace(self, **changes: Any) -> Table:
        """Return the table with other fields, as named tuples do."""
        return replace(self, **changes)

    def kept(self, rows: NDArray[Any]) -> Table:
        """Return some of the rows, by a mask or by their numbers."""
        return self._replace(
            values=self.values[rows],
            weights=None if self.weights is None else self.weights[rows],
            origins=None if self.origins is None else self.origins.of_rows(rows),
        )

    @property
    def weighted(self) -> bool:
        """Whether rows count differently often."""
        return self.weights is not None

    @property
    def level_counts(self) -> Mapping[int, NDArray[np.int64]]:
        """How many rows have each level of the columns of categories, by their places."""
        known = {at: self.values[:, at][np.isfinite(self.values[:, at])].astype(np.int64) for at in self.levels}
        return {at: np.bincount(codes, minlength=len(self.levels[at])) for at, codes in known.items()}

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def missing(self) -> tuple[int, ...]:
        """Empty: the values themselves tell."""
        return ()

    @property
    def in_memory(self) -> bool:
        """Always true."""
        return True

    @property
    def repeatable(self) -> bool:
        """Always true."""
        return True

    def renamed(self, names: tuple[Hashable, ...]) -> Table:
        """Return the same columns under other names."""
        return self._replace(names=names)

    def only(self, places: Sequence[int]) -> Table:
        """Return some of the columns.

        >>> Table(np.eye(3), ("a", "b", "c")).only([2, 0]).names
        ('c', 'a')
        """
        if list(places) == list(range(len(self.names))):
            return self
        return self._replace(
            values=self.values[:, places],
            names=tuple(self.names[at] for at in places),
            words={to: self.words[at] for to, at in enumerate(places) if at in self.words},
            levels={to: self.levels[at] for to, at in enumerate(places) if at in self.levels},
        )

    def accounted(self, account: Account) -> Table:
        """Return the same rows with another account."""
        return self._replace(account=account)

    def fold(
        self,
        of: Callable[[Floats], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded:
        """Return what ``of`` makes of blocks of rows and ``join`` of neighbouring blocks; see `Stream.fold`."""
        step = rows_per_block(len(self.names))
        copies = (
            np.array(self.values[start : start + step], dtype=np.float64, order="F")
            for start in range(0, self.rows, step)
        )
        folded = joined_in_pairs((of(copy) for copy in copies), join)
        report(1.0)
        return of_nothing(of, len(self.names)) if folded is None else folded


def rows_per_block(columns: int) -> int:
    """Return how many rows are read and worked on at a time.

    >>> rows_per_block(128), rows_per_block(10_000)
    (16384, 10000)
    """
    return max(CELLS_PER_BLOCK // max(columns, 1), columns, 1)


def joined_in_pairs(parts: Iterable[Folded], join: Callable[[Folded, Folded], Folded]) -> Folded | None:
    """Join parts pair by pair, pairs of pairs, and so on: in an order that depends on their number alone.

    >>> joined_in_pairs("abcde", lambda first, second: f"({first}{second})")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, Folded]] = []
    for part in parts:
        level = 0
        while waiting and waiting[-1][0] == level:
            part, level = join(waiting.pop()[1], part), level + 1
        waiting.append((level, part))
    if not waiting:
        return None
    _, last = waiting.pop()
    while waiting:
        last = join(waiting.pop()[1], last)
    return last


def of_nothing(of: Callable[[Floats], Folded], columns: int) -> Folded:
    """Return what a fold makes of a table without rows."""
    return of(np.empty((0, columns)))
