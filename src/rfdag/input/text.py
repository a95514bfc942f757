"""Text files: how they begin, and small ones read as a whole."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rfdag.errors import DataError, keyword
from rfdag.input.cells import Heading, heading_of, table_of
from rfdag.input.columns import Account
from rfdag.input.description import DELIMITERS, Description
from rfdag.input.dialect import LINES_LOOKED_AT, USUAL, Dialect, best_spelling, find_dialect, rows_of
from rfdag.input.files import reading, require_memory
from rfdag.input.packing import MEMORY_OF_TEXT, UTF16, all_bytes, decoded, kind_of
from rfdag.input.table import Table
from rfdag.runtime.unpacking import is_packed

_SEP = re.compile(r"\s*\"?sep=(.)\"?\s*")
"""A first line that tells Excel the sign between cells."""


class Beginning(NamedTuple):
    """How a text file begins.

    Attributes
    ----------
    dialect
        How it is written.
    heading
        Names of its columns, and how many lines come before its rows.
    skipped
        Lines before all others that only say how the file is written.
    lines
        Lines before the first row of data.
    """

    dialect: Dialect
    heading: Heading
    skipped: int
    lines: int

    @property
    def plain(self) -> bool:
        """Whether a header and numbers in Python's spelling are all there is."""
        return (
            self.dialect.spelling[:2] == (".", None)
            and self.dialect.delimiter != " "
            and not self.heading.titles
            and not self.heading.labelled
            and "" not in self.heading.names
        )


def beginning_of(path: Path, lines: Sequence[str], form: Description) -> Beginning:
    """Return how a text file begins, given its first lines."""
    told = _SEP.fullmatch(lines[0]) if lines else None
    skipped = 0 if told is None else 1
    if told is not None and form.delimiter is None:
        dialect = find_dialect(path, lines[1:], replace(form, delimiter=told[1]), kind_of(path))
    else:
        dialect = find_dialect(path, lines[skipped:], form, kind_of(path))
    rows = list(rows_of(lines[skipped:], dialect.delimiter, skipped))
    heading = heading_of(path, rows, form, dialect.spelling)
    if len(heading.names) == 1:
        _check_delimiter(path, dialect.delimiter, str(rows[max(heading.first - 1, 0)][1][0]))
    before = rows[heading.first - 1][0] if heading.first else skipped
    return Beginning(dialect, heading, skipped, before)


def read_text(path: Path, form: Description) -> Table:
    """Read a CSV, TSV or TXT file: one line per row, the first of which names the columns."""
    with reading(path):
        if not is_packed(path):
            require_memory(path, MEMORY_OF_TEXT * path.stat().st_size)
            table = _plain_table(path, form)
            if table is not None:
                return table
        content = decoded(all_bytes(path), path, form.encoding)
        table = _table_in(content.text, path, form)
    return _with_remarks(table, [] if content.usual else [f"encoding {content.encoding}"])


def _plain_table(path: Path, form: Description) -> Table | None:
    """Return the table of a file that holds a header and plain numbers in UTF-8; None if it holds anything else."""
    if form.encoding is not None:
        return None
    with open(path, "rb") as handle:
        first = b"".join(islice(handle, LINES_LOOKED_AT))
    if first.startswith(UTF16) or b"\0" in first or b"\r" in first.replace(b"\r\n", b""):
        return None
    try:
        start = beginning_of(path, first.decode("utf-8-sig").splitlines(keepends=True), form)
        if not start.plain:
            return None
        with open(path, encoding="utf-8-sig", newline="") as text, warnings.catch_warnings():
            # An empty table is an error of its own later on.
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            values = np.loadtxt(
                text,
                delimiter=start.dialect.delimiter,
                skiprows=start.lines,
                ndmin=2,
                quotechar='"',
                comments=None,
            )
    except ValueError:
        # Among them UnicodeDecodeError, and errors of ours, which the whole file may show to be none.
        return None
    values = values.reshape(-1, len(start.heading.names)) if not values.size else values
    if values.shape[1] != len(start.heading.names):
        return None
    return _with_remarks(Table(values, start.heading.names, origin=str(path)), _about(start, path, form))


def _table_in(text: str, path: Path, form: Description) -> Table:
    """Return the table that a text holds."""
    lines = list(islice(io.StringIO(text, newline=""), LINES_LOOKED_AT))
    start = beginning_of(path, lines, form)
    body = io.StringIO(text, newline="")
    for _ in range(start.skipped):
        next(body)
    rows = list(rows_of(body, start.dialect.delimiter, start.skipped))
    table = table_of(path, rows, form, start.dialect.spelling)
    if table.words:
        # The first lines need not show how all numbers are written.
        spelling = best_spelling(path, rows, form, start.dialect)
        if spelling != start.dialect.spelling:
            start = start._replace(dialect=start.dialect._replace(spelling=spelling))
            table = table_of(path, rows, form, spelling)
    return _with_remarks(table, _about(start, path, form))


def _about(start: Beginning, path: Path, form: Description) -> list[str]:
    """Return what was found of how a file is written, where the user did not say it and it is not as usual."""
    if form.delimiter is not None and form.decimal is not None:
        return []
    usual = form.delimiter or USUAL.get(kind_of(path), start.dialect.delimiter)
    found = start.dialect.described(usual)
    return [] if found is None else [found]


def _with_remarks(table: Table, remarks: Sequence[str]) -> Table:
    account = table.account
    return table._replace(account=Account(account.left_out, (*remarks, *account.remarks))) if remarks else table


def _check_delimiter(path: Path, delimiter: str, first: str) -> None:
    counts = {other: first.count(other) for other in DELIMITERS if other != delimiter}
    likely = max(counts, key=lambda other: counts[other])
    if counts[likely]:
        raise DataError(
            f"{path} has one column when cut at {DELIMITERS.get(delimiter, repr(delimiter))}s, and "
            f"{counts[likely] + 1} when cut at {DELIMITERS[likely]}s. Pass {keyword('delimiter', likely)}."
        )
