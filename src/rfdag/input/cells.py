"""Rows of cells as people arrange them: title lines, a header, a line of units, rows, notes at the end."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from rfdag.errors import DataError, keyword, listed
from rfdag.input.columns import Account, Column
from rfdag.input.description import Description
from rfdag.input.dialect import Row, usual_width
from rfdag.input.numbers import Floats, Spelling
from rfdag.input.table import Table
from rfdag.input.words import Words
from rfdag.wording import counted

FEW_CELLS = 3
"""Cells from which a line with a single filled one is a title, not a row."""


class Heading(NamedTuple):
    """How a table begins.

    Attributes
    ----------
    names
        Names of the columns; "" where one has none, numbers where there is no header.
    first
        Place of the first row of data among the lines.
    titles
        How many lines were passed over before the header.
    labelled
        Whether the first column holds names of rows that the header leaves out.
    """

    names: tuple[Hashable, ...]
    first: int
    titles: int = 0
    labelled: bool = False


def heading_of(path: object, rows: Sequence[Row], form: Description, spelling: Spelling) -> Heading:
    """Return how a table begins, given its first lines or all of them."""
    if not rows:
        raise DataError(f"{path} is empty; it needs a line of names and at least two rows of numbers.")
    if rows[0][1][0].startswith("#"):
        return _after_comments(path, rows, form, spelling)
    width = usual_width(cells for _, cells in rows)
    at = next(at for at, (_, cells) in enumerate(rows) if not _is_title(rows, at, width))
    first = rows[at][1]
    has_header = form.header
    if has_header is None:
        if all(map(spelling.is_number, first)):
            raise DataError(
                f"The first line of {path} holds only numbers ({', '.join(first[:4])} …). Pass "
                f"{keyword('header', True)} if these are the names of the columns, "
                f"{keyword('header', False)} if they are the first row of data."
            )
        has_header = True
    if not has_header:
        return Heading(tuple(range(len(first))), at, at)
    names = tuple(cell.strip() for cell in first)
    labels = [cells[0] for _, cells in rows[at + 1 :] if len(cells) == width]
    if len(names) == width - 1 and _are_labels(labels, spelling) and (labels[0] == "1" or not labels[0].isdigit()):
        # As R's write.table leaves the corner out.
        return Heading(("", *names), at + 1, at, labelled=True)
    return Heading(names, at + 1, at, labelled=len(names) > 1 and names[0] == "" and _are_labels(labels, spelling))


def _are_labels(cells: Sequence[str], spelling: Spelling) -> bool:
    """Return whether a column without a name holds names of rows: all different, and text or whole numbers."""
    if not cells or len(set(cells)) < len(cells):
        return False
    text = [cell for cell in cells if not spelling.is_number(cell)]
    return len(text) == len(cells) or all(cell.strip().isdigit() for cell in cells)


def _after_comments(path: object, rows: Sequence[Row], form: Description, spelling: Spelling) -> Heading:
    """Return how a table begins whose first lines are comments, the last of which may name the columns."""
    comments = next((at for at, (_, cells) in enumerate(rows) if not cells[0].startswith("#")), len(rows))
    if comments == len(rows):
        raise DataError(f"{path} holds nothing but lines that begin with '#'; it needs rows of numbers.")
    last = [cell.lstrip("# ").strip() if not at else cell.strip() for at, cell in enumerate(rows[comments - 1][1])]
    first = rows[comments][1]
    if form.header is None and len(last) == len(first) > 1 and all(map(spelling.is_number, first)):
        return Heading(tuple(last), comments, comments - 1)
    found = heading_of(path, rows[comments:], form, spelling)
    return found._replace(first=found.first + comments, titles=found.titles + comments)


def _is_title(rows: Sequence[Row], at: int, width: int) -> bool:
    """Return whether a line before the table is a title: it has fewer cells, or a single filled one."""
    cells = rows[at][1]
    if at + 1 >= len(rows):
        return False
    filled = sum(bool(cell.strip()) for cell in cells)
    if len(cells) == width - 1 and filled == len(cells) and len(rows[at + 1][1]) == width and width > 2:
        return False
    return len(cells) < width or (len(cells) == width >= FEW_CELLS and filled == 1)


def table_of(path: object, rows: Sequence[Row], form: Description, spelling: Spelling, place: str = "line") -> Table:
    """Return rows of cells as a table; ``place`` is what the number of a row counts.

    Columns that are not numbers are noted in its ``words``.
    """
    heading = heading_of(path, rows, form, spelling)
    names, width = heading.names, len(heading.names)
    remarks = [f"{counted(heading.titles, 'title line')} before the names passed over"] if heading.titles else []
    data = list(rows[heading.first :])
    notes = _notes_at_the_end(data, width, spelling)
    if notes:
        data = data[:-notes]
        remarks.append(f"{counted(notes, 'line')} of notes at the end passed over")
    for line, cells in data:
        if len(cells) != width:
            raise ragged(path, place, line, len(cells), width)
    places = [f"{place} {line}" for line, _ in data]
    columns = [spelling.column(column, places) for column in zip(*(cells for _, cells in data), strict=True)]
    units = _units(data, columns, spelling)
    if units is not None:
        remarks.append(f"{place} {data[0][0]} passed over, which holds no numbers ({units})")
        data, places = data[1:], places[1:]
        columns = [spelling.column(column, places) for column in zip(*(cells for _, cells in data), strict=True)]
    return _assembled(path, names, columns, len(data), heading.labelled, remarks)


def check_named(path: object, names: Sequence[Hashable], before: int = 0) -> None:
    """Raise if a column has no name, ``before`` columns having come before."""
    nameless = [at + 1 + before for at, name in enumerate(names) if name == ""]
    if nameless:
        raise DataError(
            f"{path} gives no name to column {listed(nameless)}. If that is the row number which pandas writes, write "
            "the file with index=False; otherwise name it in the first line, or delete it."
        )


def ragged(path: object, place: str, line: int, found: int, width: int) -> DataError:
    """Return the error for a line with another number of cells than the header."""
    return DataError(
        f"{path}, {place} {line}: found {counted(found, 'cell')} where the first line has {width}. Every line needs "
        "the same number of cells; quote cells that contain the delimiter."
    )


def _notes_at_the_end(data: Sequence[Row], width: int, spelling: Spelling) -> int:
    """Return how many of the last lines are notes: a single cell of text, where rows have several."""
    count = 0
    for _, cells in reversed(data):
        filled = [cell for cell in cells if cell.strip()]
        if width < 2 or len(cells) == width or len(filled) != 1 or spelling.is_number(filled[0]):
            break
        count += 1
    return count if count < len(data) else 0


def _units(data: Sequence[Row], columns: Sequence[Floats | Words], spelling: Spelling) -> str | None:
    """Return the cells of a line of units below the header; None if there is no such line."""
    if len(data) < 3:
        return None
    first = data[0][1]
    if any(cell.strip() and spelling.is_number(cell) for cell in first):
        return None
    spoilt = [
        at
        for at, column in enumerate(columns)
        if isinstance(column, Words) and all(spelling.is_number(cells[at]) for _, cells in data[1:])
    ]
    return None if 2 * len(spoilt) < len(columns) else listed([cell.strip() for cell in first])


def _assembled(
    path: object,
    names: tuple[Hashable, ...],
    columns: Sequence[Floats | Words],
    rows: int,
    labelled: bool,
    remarks: Sequence[str],
) -> Table:
    """Return columns as a table, without those that have no name and hold names of rows, or nothing."""
    if not columns:
        columns = [np.empty(0)] * len(names)
    left_out: list[Column] = []
    labels: tuple[str, ...] | None = None
    kept = list(range(len(names)))
    if labelled:
        kept.remove(0)
        first = columns[0]
        labels = first.cells if isinstance(first, Words) else tuple(f"{number:g}" for number in first)
        left_out.append(Column("unnamed 1", "row identifiers", "left out, as the first column without a name"))
    for at in list(kept):
        column = columns[at]
        if names[at] == "" and not isinstance(column, Words) and np.isnan(column).all():
            kept.remove(at)
            left_out.append(Column(f"unnamed {at + 1}", "nothing", "left out, as it has no name and is empty"))
    values = np.empty((rows, len(kept)))
    words: dict[int, Words] = {}
    for to, at in enumerate(kept):
        column = columns[at]
        values[:, to] = np.nan if isinstance(column, Words) else column
        if isinstance(column, Words):
            words[to] = column
    called = tuple(names[at] for at in kept)
    check_named(path, called, int(labelled))
    return Table(
        values, called, words, account=Account(tuple(left_out), tuple(remarks)), labels=labels, origin=str(path)
    )
