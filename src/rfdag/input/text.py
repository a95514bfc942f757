"""Text files: how they are written, and small ones read as a whole."""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, OptionError, keyword, listed
from rfdag.input.description import DELIMITERS, Description
from rfdag.input.files import reading, require_memory
from rfdag.input.table import Table

BOOLEANS = {"true": 1.0, "false": 0.0}
MISSING = {"", "na", "nan", "n/a", "null", "none", "?", "."}


class Heading(NamedTuple):
    """How a text file begins: names of its columns, lines before the first row of numbers, and length of a cell."""

    names: tuple[Hashable, ...]
    lines: int
    delimiter: str
    cell: float


def read_heading(path: Path, form: Description) -> Heading:
    """Read the first line of a text file."""
    usual = {".csv": ",", ".tsv": "\t"}
    delimiter = form.delimiter or usual.get(path.suffix.lower()) or _guess(path)
    if len(delimiter) != 1 or len(form.decimal) != 1 or delimiter == form.decimal:
        raise OptionError(
            f"A delimiter and a decimal sign are two different characters, not {delimiter!r} and {form.decimal!r}."
        )
    line, first = next(rows_in(path, delimiter), (0, []))
    if not first:
        raise DataError(f"{path} is empty; it needs a line of names and at least two rows of numbers.")
    if first[0].startswith("#"):
        raise DataError(f"{path} begins with the comment {first[0]!r}; remove the lines that start with '#'.")
    if len(first) == 1:
        _check_delimiter(path, delimiter, first[0])
    has_header = form.header
    if has_header is None:
        if all(_is_number(cell, form.decimal) for cell in first):
            raise DataError(
                f"The first line of {path} holds only numbers ({', '.join(first[:4])} …). Pass "
                f"{keyword('header', True)} if these are the names of the columns, "
                f"{keyword('header', False)} if they are the first row of data."
            )
        has_header = True
    cell = len(delimiter.join(first)) / len(first)
    if has_header:
        return Heading(tuple(cell.strip() for cell in first), line, delimiter, cell)
    return Heading(tuple(range(len(first))), 0, delimiter, cell)


def read_text(path: Path, form: Description) -> Table:
    """Read a CSV, TSV or TXT file: one line per row, the first of which names the columns."""
    with reading(path):
        return _read_whole(path, form)


def _read_whole(path: Path, form: Description) -> Table:
    names, heading_lines, delimiter, cell = read_heading(path, form)
    has_header = heading_lines > 0
    size = path.stat().st_size
    require_memory(path, 2 * 8 * size / max(cell / 2, 2))
    if names[0] == "" and has_header:
        return _read_labelled(path, delimiter, form.decimal, names)
    check_named(path, names)
    try:
        if form.decimal != ".":
            raise ValueError("NumPy reads decimal points only")
        with open(path, encoding="utf-8-sig", newline="") as handle, warnings.catch_warnings():
            # An empty table is an error of its own later on.
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            values = np.loadtxt(
                handle, delimiter=delimiter, skiprows=int(has_header), ndmin=2, quotechar='"', comments=None
            )
    except ValueError:
        # NumPy stops at the first cell it cannot read; the error is to name every such column.
        lines = list(rows_in(path, delimiter))[int(has_header) :]
        values = parse(path, lines, names, form.decimal)
    if values.size and values.shape[1] != len(names):
        raise DataError(
            f"{path} has {len(names)} names in its first line and {values.shape[1]} numbers in the second; give "
            "every column one name."
        )
    return Table(values.reshape(-1, len(names)), names)


def _read_labelled(path: Path, delimiter: str, decimal: str, names: tuple[Hashable, ...]) -> Table:
    """Read a square matrix whose rows begin with the names of the columns, as data frames write it."""
    lines = list(rows_in(path, delimiter))[1:]
    if [row[0].strip() for _, row in lines] != list(names[1:]):
        check_named(path, names)
    values = parse(path, [(line, row[1:]) for line, row in lines], names[1:], decimal)
    return Table(values, names[1:])


def check_named(path: Path, names: tuple[Hashable, ...]) -> None:
    """Raise if a column has no name."""
    nameless = [at + 1 for at, name in enumerate(names) if name == ""]
    if nameless:
        raise DataError(
            f"{path} gives no name to column {listed(nameless)}. If that is the row number which pandas writes, "
            "write the file with index=False or delete that column; if lines end with a delimiter, remove it."
        )


def rows_in(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not blank."""
    with open(path, encoding="utf-8-sig", newline="") as handle:
        yield from rows_of(handle, delimiter)


def rows_of(lines: Iterable[str], delimiter: str, before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not blank, ``before`` lines having come before."""
    reader = csv.reader(lines, delimiter=delimiter)
    for row in reader:
        if any(cell.strip() for cell in row):
            yield before + reader.line_num, row


def parse(
    path: Path, lines: list[tuple[int, list[str]]], names: tuple[Hashable, ...], decimal: str
) -> NDArray[np.float64]:
    """Read cell by cell; missing cells become NaN, true and false 1 and 0, other words are an error."""
    values = np.empty((len(lines), len(names)))
    words: dict[Hashable, tuple[int, str]] = {}
    for at, (line, row) in enumerate(lines):
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {line}: found {len(row)} cells where the first line has {len(names)}. Every line "
                "needs the same number of cells; quote cells that contain the delimiter."
            )
        for column, cell in enumerate(row):
            text = cell.strip().lower()
            if text in MISSING:
                values[at, column] = math.nan
            elif text in BOOLEANS:
                values[at, column] = BOOLEANS[text]
            elif _is_number(cell, decimal):
                values[at, column] = float(cell.replace(decimal, "."))
            else:
                words.setdefault(names[column], (line, cell))
    if words:
        found = "; ".join(f"{name!r} has {cell!r} in line {line}" for name, (line, cell) in list(words.items())[:3])
        comma = decimal == "." and all(_is_number(cell, ",") for _, cell in words.values())
        cure = (
            f"Pass {keyword('decimal', ',')} to read decimal commas."
            if comma
            else "Drop them or encode them as numbers."
        )
        raise DataError(f"{path} has columns that are not numbers: {listed(words)} ({found}). {cure}")
    return values


def _check_delimiter(path: Path, delimiter: str, first: str) -> None:
    counts = {other: first.count(other) for other in DELIMITERS if other != delimiter}
    likely = max(counts, key=lambda other: counts[other])
    if counts[likely]:
        raise DataError(
            f"{path} has one column when cut at {DELIMITERS.get(delimiter, repr(delimiter))}s, and "
            f"{counts[likely] + 1} when cut at {DELIMITERS[likely]}s. Pass {keyword('delimiter', likely)}."
        )


def _guess(path: Path) -> str:
    with open(path, encoding="utf-8-sig") as handle:
        first = handle.readline()
    return max(("\t", ",", ";", "|", " "), key=first.count)


def _is_number(cell: str, decimal: str = ".") -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True
