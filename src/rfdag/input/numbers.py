"""Cells of text as numbers: decimal signs, thousands, missing values, true and false."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.input.words import Words, words_of

Floats = NDArray[np.float64]

BOOLEANS = {"true": 1.0, "false": 0.0}
MISSING = frozenset({"", "na", "nan", "n/a", "#n/a", "null", "none", "?", "."})
"""What stands for a missing value, in lower case."""

SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-"})
"""Spaces, apostrophes and minus signs that programs write beside those of the keyboard."""


class Spelling(NamedTuple):
    """How numbers are written.

    >>> Spelling(",", ".").number("1.234,5")
    1234.5
    """

    decimal: str = "."
    thousands: str | None = None
    missing: frozenset[str] = MISSING

    def pattern(self) -> re.Pattern[str]:
        """Return what a number looks like."""
        return _pattern(self.decimal, self.thousands)

    def plain(self, cell: str) -> str | None:
        """Return a cell as Python writes numbers, "nan" if it stands for a missing value; None if it is no number."""
        text = cell.translate(SPACES).strip()
        lowered = text.lower()
        if lowered in self.missing:
            return "nan"
        if lowered in BOOLEANS:
            return str(BOOLEANS[lowered])
        if not self.pattern().fullmatch(text):
            return None
        return (
            text.replace(self.thousands, "").replace(self.decimal, ".")
            if self.thousands
            else text.replace(self.decimal, ".")
        )

    def number(self, cell: str) -> float:
        """Return the number that a cell is; raise ValueError if it is none."""
        plain = self.plain(cell)
        if plain is None:
            raise ValueError(f"{cell!r} is no number")
        return float(plain)

    def is_number(self, cell: str) -> bool:
        """Return whether a cell is a number or stands for a missing one."""
        return self.plain(cell) is not None

    def are_numbers(self, cells: Sequence[str]) -> bool:
        """Return whether all cells are numbers or stand for missing ones."""
        return self._as_python_writes_them(cells) is not None or all(map(self.is_number, cells))

    def _as_python_writes_them(self, cells: Sequence[str]) -> Floats | None:
        """Return the numbers of cells that all are as Python writes them, many times as fast as one by one."""
        if self.decimal != "." or self.thousands is not None:
            return None
        try:
            # A number that is too large becomes infinite, and is refused as such.
            with np.errstate(over="ignore"):
                return np.array(cells).astype(np.float64)
        except ValueError:
            return None

    def column(self, cells: Sequence[str], places: Sequence[str]) -> Floats | Words:
        """Return the numbers of a column, NaN where one is missing; or what it holds if it is none.

        ``places`` says where each cell is, for messages.
        """
        numbers = self._as_python_writes_them(cells)
        if numbers is not None:
            return numbers
        plain = [self.plain(cell) for cell in cells]
        if None in plain or _are_booleans(cells, plain):
            return words_of(cells, plain, places)
        return np.array(plain).astype(np.float64) if plain else np.empty(0)


def _are_booleans(cells: Sequence[str], plain: Sequence[str | None]) -> bool:
    """Return whether all cells that are not missing are true or false: these are categories, not numbers."""
    there = [cell for cell, text in zip(cells, plain, strict=True) if text != "nan"]
    return bool(there) and all(cell.strip().lower() in BOOLEANS for cell in there)


@cache
def _pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    sign = re.escape(decimal)
    whole = r"\d+" if thousands is None else rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
    # "1." is a number, "1," rather the first of two cells.
    fraction = rf"(?:{sign}\d*)?" if decimal == "." else rf"(?:{sign}\d+)?"
    return re.compile(rf"[+-]?(?:(?:{whole}{fraction}|{sign}\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.IGNORECASE)
