"""Columns of categories in rows that are read in pieces: levels are counted first, then they are read as codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, keyword
from rfdag.input.words import DATES, FEW_WORDS, MOST_LEVELS, TEXT, Coded, Words, are_dates, not_numbers

Floats = NDArray[np.float64]
Entry = str | float

WORDS, NAMED, OBJECTS = "words", "named", "objects"
"""Columns of text; of numbers that the user calls categories; and of objects that may be either."""


class Encoded(NamedTuple):
    """A column of some rows: the number of the entry that each row has, −1 where it is missing, and the entries.

    Attributes
    ----------
    codes, entries
        Which entry each row has, and the different entries: text, or numbers.
    declared
        Whether a category type says what is missing: then "NA" is a level as any other.
    order
        The levels in the order that the type declares; None where it declares none.
    numbers
        Whether a column of objects holds numbers, which are left alone.
    """

    codes: NDArray[np.int64]
    entries: Sequence[Entry]
    declared: bool = False
    order: tuple[str, ...] | None = None
    numbers: bool = False


class Reading(NamedTuple):
    """What is made of columns as they are read: of the numbers among them, and of the others, encoded.

    ``kinds`` says which columns are encoded, by their places among those that are read. ``of`` may write into the
    numbers; it is pickled where other processes do the work.
    """

    kinds: Mapping[int, str]
    of: Callable[[Floats, Mapping[int, Encoded]], Any]


class Coding(NamedTuple):
    """How a column of some kind is read: the numbers that stand for its levels, and what stands for a missing one."""

    kind: str
    numbers: Mapping[Entry, float]
    absent: Absences

    def of(self, column: Encoded, name: Hashable) -> Floats:
        """Return the numbers of a column; raise if it has a level that is not known."""
        levels = [self.absent.level(entry, declared=column.declared) for entry in column.entries]
        values = np.array([np.nan if level is None else self.numbers.get(level, np.inf) for level in levels] + [np.nan])
        found = values[column.codes]
        stray = np.isinf(found)
        if stray.any():
            level = levels[int(column.codes[stray][0])]
            raise DataError(
                f"Column {name!r} has the level {level!r}, which was not there when its levels were counted: the rows "
                "have changed between two readings. Learn from rows that stay the same."
            )
        return found


class Absences(NamedTuple):
    """What stands for a missing entry: among text, and beside it what the user says."""

    words: frozenset[str]
    marks: frozenset[str]

    def level(self, entry: Entry, *, declared: bool = False) -> Entry | None:
        """Return the level that an entry is; None where it stands for a missing one.

        >>> absences = Absences(frozenset({"na"}), frozenset({"-9"}))
        >>> absences.level(" f "), absences.level("NA"), absences.level("NA", declared=True), absences.level(-9.0)
        ('f', None, 'NA', None)
        """
        if not isinstance(entry, str):
            return None if entry != entry or any(_is_number(mark, entry) for mark in self.marks) else entry
        lowered = entry.strip().lower()
        missing = lowered in self.marks or (not declared and lowered in self.words)
        return None if missing else entry.strip()


@dataclass(frozen=True)
class Coder:
    """Writes the numbers of levels into a block: of all columns that have a coding, by their places."""

    names: tuple[Hashable, ...]
    codings: Mapping[int, Coding]

    def __call__(self, block: Floats, columns: Mapping[int, Encoded]) -> Floats:
        """Return the block with the numbers of levels."""
        for at, column in columns.items():
            block[:, at] = self.codings[at].of(column, self.names[at])
        return block


class Tally(NamedTuple):
    """How often each level occurs in some rows, by the places of columns; and the orders that their types declare."""

    rows: int
    counts: Mapping[int, Mapping[Entry, int]]
    orders: Mapping[int, frozenset[tuple[str, ...]]]
    numbers: frozenset[int]
    """Columns of objects that hold numbers in some rows."""
    declared: frozenset[int]
    """Columns of a category type in some rows."""


@dataclass(frozen=True)
class Counting:
    """Counts the levels of columns, and raises once a column has too many for categories."""

    names: tuple[Hashable, ...]
    absent: Absences
    origin: str
    others: int
    """How many columns there are beside these."""
    asked: frozenset[int] = frozenset()
    """Places of columns that the user calls categories, whatever they hold."""

    def __call__(self, block: Floats, columns: Mapping[int, Encoded]) -> Tally:
        """Return how often each level occurs."""
        counts: dict[int, dict[Entry, int]] = {}
        for at, column in columns.items():
            times = np.bincount(column.codes + 1, minlength=len(column.entries) + 1)[1:].tolist()
            counts[at] = {}
            for entry, count in zip(column.entries, times, strict=True):
                level = self.absent.level(entry, declared=column.declared)
                if count and level is not None:
                    counts[at][level] = counts[at].get(level, 0) + count
        orders = {at: frozenset(() if each.order is None else (each.order,)) for at, each in columns.items()}
        numbers = frozenset(at for at, each in columns.items() if each.numbers)
        declared = frozenset(at for at, each in columns.items() if each.declared)
        return self._checked(Tally(len(block), counts, orders, numbers, declared))

    def joined(self, one: Tally, other: Tally) -> Tally:
        """Return the counts of neighbouring rows together."""
        counts = {at: dict(found) for at, found in one.counts.items()}
        for at, more in other.counts.items():
            for level, count in more.items():
                counts[at][level] = counts[at].get(level, 0) + count
        orders = {at: found | other.orders[at] for at, found in one.orders.items()}
        numbers, declared = one.numbers | other.numbers, one.declared | other.declared
        return self._checked(Tally(one.rows + other.rows, counts, orders, numbers, declared))

    def nothing(self) -> Tally:
        """Return the counts of no rows."""
        places = range(len(self.names))
        return Tally(0, {at: {} for at in places}, dict.fromkeys(places, frozenset()), frozenset(), frozenset())

    def refuse_others(self, tally: Tally, places: Iterable[int]) -> None:
        """Raise if columns hold dates, decimal commas or text that is all different, unless the user asks for them."""
        others = {self.names[at]: words for at in places if (words := self._other_than_categories(tally, at))}
        if others:
            raise not_numbers(self.origin, others, self.others + len(self.names) - len(others))

    def _other_than_categories(self, tally: Tally, at: int) -> Words | None:
        levels = tuple(map(level_text, tally.counts[at]))
        if at in self.asked or not levels:
            return None
        found = Words(TEXT, levels[:2], "", len(levels) == tally.rows >= FEW_WORDS, max(len(levels) - 2, 0))
        if at not in tally.declared and are_dates(levels):
            return found._replace(kind=DATES)
        return found if found.all_different or found.decimal_commas else None

    def _checked(self, tally: Tally) -> Tally:
        many = [at for at, levels in tally.counts.items() if len(levels) > MOST_LEVELS]
        self.refuse_others(tally, many)
        for at in many:
            levels = tally.counts[at]
            if not any(isinstance(level, str) for level in levels):
                refuse_many_numbers(self.names[at])
            refuse_many(self.names[at], len(levels), sorted(map(level_text, levels)))
        return tally


class Codable(ABC):
    """A stream whose columns of text can be counted, and then be read as codes.

    Attributes
    ----------
    codings
        How the columns that hold codes, or places in an order, are read.
    uncertain
        Places of columns of which only their rows show whether they hold numbers or text.
    """

    names: tuple[Hashable, ...]
    words: Mapping[int, Words]
    codings: Mapping[int, Coding]
    uncertain: frozenset[int] = frozenset()

    @property
    @abstractmethod
    def can_code(self) -> bool:
        """Whether its source can be read in another way than as numbers."""

    @abstractmethod
    def tallied(self, kinds: Mapping[int, str], counting: Counting) -> Tally:
        """Read the columns of some kinds, by their places, and return how often each of their levels occurs."""

    @abstractmethod
    def coded(
        self,
        codings: Mapping[int, Coding],
        levels: Mapping[int, tuple[str, ...]],
        counts: Mapping[int, NDArray[np.int64]],
        missing: Mapping[int, int],
    ) -> Self:
        """Return the same rows, some columns of which are read as codes of these levels."""


class Growing:
    """Gives each entry of some columns the next number when it first occurs: for rows that are read once.

    It remembers the entries, and is not for several threads.
    """

    def __init__(self) -> None:
        self.places: dict[int, dict[Entry, int]] = {}
        self.orders: dict[int, dict[str, None]] = {}

    def __call__(self, block: Floats, columns: Mapping[int, Encoded]) -> Floats:
        """Return the block with the numbers of entries, −1 where one is missing."""
        for at, column in columns.items():
            known = self.places.setdefault(at, {})
            numbers = [known.setdefault(entry, len(known)) for entry in column.entries]
            block[:, at] = np.array([*numbers, -1], np.float64)[column.codes]
            if column.declared:
                declared = column.order or tuple(map(level_text, column.entries))
                self.orders.setdefault(at, {}).update(dict.fromkeys(declared))
        return block

    def words(self, at: int, codes: Floats, known: Words) -> Words:
        """Return what a column holds, given the numbers that its entries were given and what is known of it."""
        entries = tuple(map(level_text, self.places.get(at, ())))
        return known._replace(
            examples=known.examples or entries[:2],
            all_different=len(codes) > 2 and len(entries) == len(codes) and bool((codes >= 0).all()),
            others=known.others if known.examples else max(len(entries) - 2, 0),
            coded=Coded(codes.astype(np.int64), entries),
            levels=tuple(self.orders[at]) if at in self.orders else None,
        )


def encoded_numbers(column: Floats, name: Hashable) -> Encoded:
    """Return a column of numbers as entries and their places; raise for infinite ones, which are no level."""
    if np.isinf(column).any():
        raise DataError(f"Column {name!r} has infinite values, which are no level. Replace them first.")
    known = ~np.isnan(column)
    entries, places = np.unique(column[known], return_inverse=True)
    codes = np.full(len(column), -1, np.int64)
    codes[known] = places
    return Encoded(codes, entries.tolist())


def shared_order(orders: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the order of levels that contains all others; None where there is none.

    >>> shared_order([("S", "L"), ("S", "M", "L")]), shared_order([("S", "L"), ("L", "M")])
    (('S', 'M', 'L'), None)
    """
    every = sorted(orders, key=lambda order: (len(order), order))
    if not every:
        return None
    longest = every[-1]
    place = {level: at for at, level in enumerate(longest)}
    for order in every:
        places = [place.get(level, -1) for level in order]
        if -1 in places or places != sorted(places):
            return None
    return longest


def level_text(entry: Entry) -> str:
    """Return an entry as the text of a level.

    >>> level_text("f"), level_text(2.0), level_text(0.5)
    ('f', '2', '0.5')
    """
    if isinstance(entry, str):
        return entry
    return f"{entry:.17g}" if entry % 1 else f"{entry:.0f}"


def refuse_many(name: Hashable, count: int, examples: Sequence[str]) -> None:
    """Raise if a column has more levels than categories have."""
    if count > MOST_LEVELS:
        raise DataError(
            f"Column {name!r} is text with more than {MOST_LEVELS} levels ({', '.join(map(repr, examples[:3]))}, …): "
            f"an identifier, a date or a comment? Leave it out with {keyword('drop', [name])}, or group its levels "
            "first."
        )


def refuse_many_numbers(name: Hashable, count: int | None = None) -> None:
    """Raise for a column of numbers with more of them than categories have levels; ``count`` where it is known."""
    found = f"{count} different numbers, more" if count is not None else "more different numbers"
    raise DataError(
        f"Column {name!r} has {found} than the {MOST_LEVELS} levels of a category. "
        f"Take it out of {keyword('categorical')}, or group its values first."
    )


def _is_number(mark: str, number: float) -> bool:
    try:
        return float(mark) == number
    except ValueError:
        return False
