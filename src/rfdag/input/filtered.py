"""Rows that are read in pieces, without gaps, with weights or with labels of environments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.input.coding import Codable
from rfdag.input.columns import Account
from rfdag.input.gaps import about_dropped, check_enough_left
from rfdag.input.table import Floats, Folded, Stream
from rfdag.input.words import Words


class Sifted(NamedTuple):
    """What was made of the rows that are left, their number, that of the others, and the gaps of each column."""

    folded: Any
    left: int
    dropped: int
    gaps: NDArray[np.int64]


@dataclass(frozen=True)
class Filtered:
    """A stream in which some numbers stand for missing ones, and rows with gaps may be left out.

    It is a `rfdag.input.table.Stream`.

    Attributes
    ----------
    stream
        The rows; where they are ``weighted``, their last column holds the weights.
    marks
        Numbers that stand for a missing value.
    drops
        Whether rows with a missing or infinite value are left out.
    weighted
        Whether the last column is no variable: how often each row counts.
    labels
        The labels of environments, if the last column is no variable but the number of the label of each row.
    tally
        How many rows the last reading left out, and the gaps of each column; empty before.
    """

    stream: Stream
    marks: tuple[float, ...] = ()
    drops: bool = False
    weighted: bool = False
    labels: tuple[str, ...] = ()
    tally: list[Sifted] = field(default_factory=list, repr=False, compare=False)

    @property
    def _apart(self) -> bool:
        """Whether the last column is no variable."""
        return self.weighted or bool(self.labels)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """One name per variable."""
        return self.stream.names[:-1] if self._apart else self.stream.names

    @property
    def rows(self) -> int | None:
        """Number of rows; None where some may be left out."""
        return None if self.drops else self.stream.rows

    @property
    def missing(self) -> tuple[int, ...]:
        """Missing values that are known before reading and are not left out."""
        known = self.stream.missing[:-1] if self._apart else self.stream.missing
        return () if self.drops else known

    @property
    def in_memory(self) -> bool:
        """Whether the rows are in memory already."""
        return self.stream.in_memory

    @property
    def repeatable(self) -> bool:
        """Whether they can be read again."""
        return self.stream.repeatable

    @property
    def words(self) -> Mapping[int, Words]:
        """The columns that are not numbers."""
        return self.stream.words

    @property
    def levels(self) -> Mapping[int, tuple[str, ...]]:
        """The levels of the columns of categories."""
        return {at: levels for at, levels in self.stream.levels.items() if at < len(self.names)}

    @property
    def level_counts(self) -> Mapping[int, NDArray[np.int64]]:
        """How many rows have each level, before any are left out."""
        return self.stream.level_counts

    @property
    def account(self) -> Account:
        """What was done to the input so far; once the rows are read, also how many were left out."""
        account = self.stream.account
        if not self.tally or not self.tally[0].dropped:
            return account
        (found,) = self.tally
        return account.plus(remarks=[about_dropped(found.dropped, found.dropped + found.left)])

    @property
    def origin(self) -> str:
        """What the rows come from."""
        return self.stream.origin

    def renamed(self, names: tuple[Hashable, ...]) -> Filtered:
        """Return the same columns under other names."""
        extra = self.stream.names[-1:] if self._apart else ()
        return replace(self, stream=self.stream.renamed((*names, *extra)))

    def only(self, places: Sequence[int]) -> Filtered:
        """Return some of the columns."""
        extra = [len(self.stream.names) - 1] if self._apart else []
        return replace(self, stream=self.stream.only([*places, *extra]), tally=[])

    def accounted(self, account: Account) -> Filtered:
        """Return the same rows with another account."""
        return replace(self, stream=self.stream.accounted(account))

    def fold(
        self,
        of: Callable[[Floats], Folded],
        join: Callable[[Folded, Folded], Folded],
        threads: int = 1,
        report: Callable[[float], None] = lambda share: None,
    ) -> Folded:
        """Return what ``of`` makes of the rows that are left; see `rfdag.input.table.Stream.fold`."""
        codes = self.stream.codings if isinstance(self.stream, Codable) else self.stream.levels
        numbers = [at for at in range(len(self.names)) if at not in codes] if codes else None
        sift = partial(_sifted, of, self.marks, self.drops, self._apart, numbers)
        found: Sifted = self.stream.fold(sift, partial(_joined, join), threads, report)
        self.tally[:] = [found]
        if self.drops:
            check_enough_left(self.names, found.gaps, found.dropped, found.left)
        folded: Folded = found.folded
        return folded


def _sifted(
    of: Callable[[Floats], Any],
    marks: tuple[float, ...],
    drops: bool,
    apart: bool,
    numbers: Sequence[int] | None,
    block: Floats,
) -> Sifted:
    """Return what is made of a block; ``numbers`` are the columns that hold no codes, None where all do not.

    ``apart`` tells that the last column is no variable.
    """
    variables = block[:, :-1] if apart else block
    if marks:
        found = np.isin(variables, marks)
        if numbers is not None:
            found[:, np.setdiff1d(np.arange(variables.shape[1]), numbers)] = False
        variables[found] = np.nan
    if not drops:
        return Sifted(of(block), len(block), 0, np.zeros(variables.shape[1], np.int64))
    bad = ~np.isfinite(variables)
    whole = ~bad.any(axis=1)
    return Sifted(of(np.asfortranarray(block[whole])), int(whole.sum()), int((~whole).sum()), bad.sum(axis=0))


def _joined(join: Callable[[Any, Any], Any], one: Sifted, other: Sifted) -> Sifted:
    return Sifted(
        join(one.folded, other.folded), one.left + other.left, one.dropped + other.dropped, one.gaps + other.gaps
    )
