"""Columns that are not numbers: what they hold instead, and the error that names them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, as_column, as_columns, keyword
from rfdag.wording import counted

DATES, TEXT, MIXED = "dates", "text", "numbers and text"

FEW_WORDS = 3
"""Different words among numbers up to which they may stand for missing values."""

MOST_LEVELS = 50
"""Levels up to which a column is taken for categories."""

_BOOLEANS = ("true", "false")

MOST_NAMED = 100
"""Columns up to which a message names all of them."""

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( \d{1,2}:\d{2}(:\d{2})?)?"
    r"|\d{1,2}[-. ]?[A-Za-z]{3,9}\.?[- ]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
    r"|\d{1,2}:\d{2}(:\d{2})?"
)


class Coded(NamedTuple):
    """The different entries of a column, and the number of that which each row has; −1 where one is missing."""

    codes: NDArray[np.int64]
    entries: tuple[str, ...]


class Words(NamedTuple):
    """What a column holds that is not a column of numbers.

    Attributes
    ----------
    kind
        "text", "dates", "numbers and text", or the name of a type.
    examples
        Some of its different entries that are not numbers.
    place
        Where the first of them is, in words; empty where that is not known.
    all_different
        Whether no entry occurs twice.
    others
        How many different entries there are beside the examples.
    coded
        All entries, where they are at hand.
    levels
        All levels that a column of categories declares, in its order; None where it declares none.
    """

    kind: str
    examples: tuple[str, ...] = ()
    place: str = ""
    all_different: bool = False
    others: int = 0
    coded: Coded | None = None
    levels: tuple[str, ...] | None = None

    @property
    def cells(self) -> tuple[str, ...] | None:
        """The entries of all rows as text, empty where one is missing; None where they are not at hand."""
        if self.coded is None:
            return None
        texts = (*self.coded.entries, "")
        return tuple(texts[code] for code in self.coded.codes.tolist())

    @property
    def decimal_commas(self) -> bool:
        """Whether the examples are numbers with decimal commas."""
        return bool(self.examples) and all(re.fullmatch(r"[+-]?\d+,\d+", example) for example in self.examples)

    @property
    def repeats(self) -> bool:
        """Whether there are as few different entries as categories have levels, and each occurs twice on average."""
        return self.coded is not None and len(self.coded.entries) <= min(MOST_LEVELS, len(self.coded.codes) // 2)

    def described(self) -> str:
        """Return what the column holds, for a message.

        >>> Words("numbers and text", ("<5",), "line 7").described()
        "numbers, but '<5' in line 7"
        >>> Words("text", ("f", "m")).described()
        "text: 'f', 'm'"
        """
        shown = ", ".join(map(repr, self.examples[:2]))
        if self.kind == MIXED:
            more = self.others + len(self.examples) - 1
            others = f" and {counted(more, 'other word')}" if more else ""
            return f"numbers, but {self.examples[0]!r} in {self.place}{others}"
        if self.all_different:
            return f"{self.kind}, all different"
        return f"{self.kind}: {shown}{', …' if self.others else ''}" if shown else self.kind


def words_of(cells: Sequence[str], plain: Sequence[str | None], places: Sequence[str]) -> Words:
    """Return what a column of text holds, given its cells as numbers, and where they are.

    ``plain`` has "nan" where a cell is missing, and None where it is no number.
    """
    others = [
        (cell.strip(), place)
        for cell, text, place in zip(cells, plain, places, strict=True)
        if text is None or cell.strip().lower() in _BOOLEANS
    ]
    different = tuple(dict.fromkeys(cell for cell, _ in others))
    there = sum(text != "nan" for text in plain)
    mixed = MIXED if len(others) <= there / 2 else TEXT
    kind = DATES if are_dates(different) else mixed
    unique = len(cells) > FEW_WORDS and len(set(cells)) == len(cells)
    place: dict[str, int] = {}
    spelt = [cell.strip() for cell in cells]
    levels = {cell.lower() for cell in different}
    if levels.issubset(_BOOLEANS) and len(levels) < len(different):
        # Written in several ways, true and false are the same two levels all the same.
        spelt = [cell.lower() for cell in spelt]
    codes = np.array([place.setdefault(cell, len(place)) for cell in spelt], np.int64)
    return Words(
        kind,
        different[:FEW_WORDS],
        others[0][1],
        unique,
        max(len(different) - FEW_WORDS, 0),
        Coded(codes, tuple(place)),
    )


def are_dates(entries: Sequence[str]) -> bool:
    """Return whether all entries are dates or times, and there are some.

    >>> are_dates(["2024-05-07", "8 May 2024"]), are_dates(["May"]), are_dates([])
    (True, False, False)
    """
    return bool(entries) and all(_DATE.fullmatch(entry) for entry in entries)


def not_numbers(where: str, words: Mapping[Hashable, Words], usable: int, *, categories: bool = True) -> DataError:
    """Return the error for columns that are not numbers, beside which so many columns are.

    ``categories`` says whether columns may be called categories.

    >>> print(not_numbers("The table", {"born": Words("dates", ("2001-05-07",))}, usable=3))
    The table has a column that is not numbers: 'born' (dates: '2001-05-07'). Pass drop=['born'] to learn from the
    other 3 columns. Dates can be used as numbers, such as days since the first.
    """
    named = list(words)[:MOST_NAMED]
    found = ", ".join(f"{as_column(name)} ({words[name].described()})" for name in named)
    if len(words) > len(named):
        found += f" and {len(words) - len(named)} more"
    count = "a column that is" if len(words) == 1 else f"{len(words)} columns that are"
    cures = []
    mixed = {name: each for name, each in words.items() if each.kind == MIXED}
    marks = tuple(dict.fromkeys(mark for each in mixed.values() for mark in each.examples))
    if len(marks) > FEW_WORDS or any(each.others for each in mixed.values()):
        mixed, marks = {}, ()
    comma = next((each for each in words.values() if each.decimal_commas), None)
    if comma is not None:
        # Where a cell is, is known of text files alone; other tables were written by other means.
        option = f", or pass {keyword('decimal', ',')} if all columns are written so" if comma.place else ""
        cures.append(f"If {comma.examples[0]!r} is a number with a decimal comma, replace it by a point{option}.")
    spoilt = [name for name in words if name not in mixed]
    if spoilt and usable + len(mixed) >= 2:
        cures.append(
            f"Pass {keyword('drop', spoilt)} to learn from the other {counted(usable + len(mixed), 'column')}."
        )
    if marks:
        stand = "stands" if len(marks) == 1 else "stand"
        cures.append(
            f"If {', '.join(map(repr, marks))} {stand} for a missing value, pass {keyword('na_values', list(marks))}; "
            f"otherwise correct {'this cell' if len(marks) == 1 else 'these cells'}"
            + (f", or pass {keyword('drop', list(mixed))}." if usable >= 2 and not spoilt else ".")
        )
    kinds = {each.kind for each in words.values()}
    if any("date" in kind.lower() or "time" in kind.lower() or "duration" in kind.lower() for kind in kinds):
        cures.append("Dates can be used as numbers, such as days since the first.")
    repeating = [name for name, each in words.items() if each.kind in (TEXT, MIXED) and each.repeats]
    if categories and repeating and usable + len(repeating) >= 2:
        cures.append(
            f"If {as_columns(repeating)} {'holds' if len(repeating) == 1 else 'hold'} categories, pass "
            f"{keyword('categorical', repeating)}."
        )
    if not cures:
        cures.append("An order needs at least two columns of numbers or categories.")
    return DataError(f"{where} has {count} not numbers: {found}. {' '.join(cures)}")
