"""How a text file is written, found from its lines: the sign between cells, decimal signs, thousands."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rfdag.errors import DataError, keyword
from rfdag.input.description import DELIMITERS, Description
from rfdag.input.numbers import MISSING, Spelling

Row = tuple[int, list[str]]
"""Number of a line, and its cells."""

LINES_LOOKED_AT = 200
"""Lines from which a file's writing is found."""

REGULAR = 0.9
"""Share of the lines with the same number of cells from which a sign may be the one between them."""

SPELLINGS = ((".", None), (",", None), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
"""Decimal sign and sign between thousands, the usual first."""

USUAL = {".csv": ",", ".tsv": "\t"}
"""Signs between cells that endings promise."""


class Dialect(NamedTuple):
    """How a text file is written: the sign between its cells, and how its numbers are spelt."""

    delimiter: str
    spelling: Spelling

    def described(self, usual: str) -> str | None:
        """Return in words what is not as usual; None if all is."""
        parts = []
        if self.delimiter != usual:
            parts.append(f"cells separated by {DELIMITERS.get(self.delimiter, repr(self.delimiter))}s")
        if self.spelling.decimal == ",":
            parts.append("decimal commas")
        if self.spelling.thousands is not None:
            parts.append(f"{DELIMITERS.get(self.spelling.thousands, repr(self.spelling.thousands))}s between thousands")
        return ", ".join(parts) or None


def rows_of(lines: Iterable[str], delimiter: str, before: int = 0) -> Iterator[Row]:
    """Yield the number and the cells of every line that is not blank, ``before`` lines having come before."""
    blanks = delimiter == " "
    reader = csv.reader(
        (line.strip() for line in lines) if blanks else lines, delimiter=delimiter, skipinitialspace=blanks
    )
    for row in reader:
        if any(cell.strip() for cell in row):
            yield before + reader.line_num, row


def usual_width(rows: Iterable[Sequence[str]]) -> int:
    """Return how many cells most lines have; the larger number if several are as frequent.

    >>> usual_width([["a title"], ["1", "2"], ["3", "4"]])
    2
    """
    counts = Counter(map(len, rows))
    return max(counts, key=lambda count: (counts[count], count))


def spellings(form: Description) -> list[Spelling]:
    """Return the ways to write numbers that the user leaves possible."""
    marks = {str(mark).strip().lower() for mark in form.na_values or () if isinstance(mark, str)}
    missing = MISSING | marks
    choices = dict.fromkeys([*SPELLINGS, (form.decimal or ".", form.thousands)])
    return [
        Spelling(decimal, thousands, missing)
        for decimal, thousands in choices
        if form.decimal in (None, decimal) and form.thousands in (None, thousands)
    ]


def find_dialect(path: Path, lines: Sequence[str], form: Description, ending: str) -> Dialect:
    """Return how a text file is written, as far as its lines and the user say."""
    usual = USUAL.get(ending, ",")
    signs = [form.delimiter] if form.delimiter is not None else sorted(DELIMITERS, key=lambda sign: sign != usual)
    ways = spellings(form)
    best: tuple[tuple[bool, float, bool], Dialect, list[list[str]]] | None = None
    for sign in signs:
        cells = _regular_part(lines, sign)
        if cells is None:
            continue
        regular, table = cells
        share, way = _best(table, ways)
        merit = (regular >= REGULAR, share, sign == usual)
        if best is None or merit > best[0]:
            best = merit, Dialect(sign, way), table
        if best[0] == (True, 1.0, True):
            # Nothing can fit better than numbers alone between the signs that the ending promises.
            break
    if best is None:
        return Dialect(form.delimiter or usual, ways[0])
    _, found, table = best
    _refuse_two_readings(path, found, table, form)
    return found


def best_spelling(path: Path, rows: Sequence[Row], form: Description, found: Dialect) -> Spelling:
    """Return how numbers are written, as all rows of a file show, where its first lines left that open."""
    most = usual_width(cells for _, cells in rows)
    table = [cells for _, cells in rows if len(cells) == most]
    share, best = _best(table, spellings(form))
    if share <= _share_of_numbers(table, found.spelling):
        return found.spelling
    _refuse_two_readings(path, found._replace(spelling=best), table, form)
    return best


def _regular_part(lines: Sequence[str], sign: str) -> tuple[float, list[list[str]]] | None:
    """Return the share of lines with the usual number of cells, and these lines; None if lines have one cell."""
    try:
        rows = [row for _, row in rows_of(lines, sign)]
    except csv.Error:
        return None
    if not rows:
        return None
    most = usual_width(rows)
    if most < 2:
        return None
    regular = [row for row in rows if len(row) == most]
    return len(regular) / len(rows), regular


def _best(rows: list[list[str]], ways: Sequence[Spelling]) -> tuple[float, Spelling]:
    """Return the spelling in which the most columns are numbers, the first of several, and their share."""
    best = -1.0, ways[0]
    for way in ways:
        share = _share_of_numbers(rows, way)
        if share > best[0]:
            best = share, way
        if share == 1.0:
            break
    return best


def _share_of_numbers(rows: list[list[str]], way: Spelling) -> float:
    """Return the share of columns whose cells are numbers, but for the first line, which may name them."""
    columns = list(zip(*(rows[1:] or rows), strict=True))
    return sum(map(way.are_numbers, columns)) / len(columns)


def _refuse_two_readings(path: Path, found: Dialect, rows: list[list[str]], form: Description) -> None:
    """Raise where 1,234 may be a little more than one, or more than a thousand, and nothing else tells."""
    decimal, thousands, missing = found.spelling
    if (decimal, thousands) != (",", None) or form.decimal is not None:
        return
    other = Spelling(".", ",", missing)
    if _share_of_numbers(rows, other) < _share_of_numbers(rows, found.spelling):
        return
    both = (cell for row in rows[1:] or rows for cell in row if "," in cell and other.is_number(cell))
    example = next(filter(found.spelling.is_number, both), None)
    if example is None:
        return
    raise DataError(
        f"{path} has numbers such as {example.strip()!r}, which may be {found.spelling.number(example):g} or "
        f"{other.number(example):g}. Pass {keyword('decimal', ',')} for the one, {keyword('thousands', ',')} for the "
        "other."
    )
