"""Sheets of Excel files, through openpyxl."""

from __future__ import annotations

import importlib
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from types import ModuleType
from typing import Any

from rfdag.errors import FileError, OptionError, RfdagError, keyword, listed
from rfdag.input.cells import table_of
from rfdag.input.description import Description
from rfdag.input.dialect import Row, spellings
from rfdag.input.files import reading, require_memory
from rfdag.input.table import Table
from rfdag.runtime.unpacking import require_plausible
from rfdag.wording import with_nearest

ENDINGS = (".xlsx", ".xlsm")

AS_CSV = "If you trust it, open it in a spreadsheet program and save the sheet as CSV."
"""What to do with a file that is refused."""

MOST_ROWS = 2**20
"""Rows of a sheet, by Excel's own limit."""

GAPS = 2**24
"""Cells up to which a sheet may be mostly empty."""

MEMORY_OF_XML = 4.0
"""Bytes of memory for each byte of XML: a cell takes at least 15 in the file, and its text about 60."""

DEFINITIONS = b"<!DOCTYPE"
"""How the part of XML begins that defines entities."""

BYTES_AT_ONCE = 2**20


def require_openpyxl() -> ModuleType:
    """Import openpyxl, or say how to install it."""
    try:
        return importlib.import_module("openpyxl")
    except ImportError:
        raise ImportError("Reading Excel files needs openpyxl: pip install 'rfdag[excel]'") from None


def read_excel(path: Path, form: Description) -> Table:
    """Read a sheet of an Excel file: the one named, or the only one that holds something."""
    with _book(path) as book:
        sheet = _chosen(path, book, form)
        rows = _as_wide_as_the_widest(path, list(_rows(path, book[sheet])))
    return table_of(f"{path}, sheet {sheet!r}", rows, form, spellings(form)[0], place="row")


@contextmanager
def _book(path: Path) -> Iterator[Any]:
    openpyxl = require_openpyxl()
    with reading(path):
        try:
            _require_honest(path)
            # What openpyxl leaves out, such as styles and charts, is nothing to warn of.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(path, read_only=True, data_only=True)
                try:
                    yield book
                finally:
                    book.close()
        except (RfdagError, OSError, MemoryError):
            raise
        except Exception as problem:
            # openpyxl lets through whatever its parsers raise, on opening a book and on every row.
            raise FileError(f"{path} is damaged or no Excel file ({problem}); write it again.") from None


def _require_honest(path: Path) -> None:
    """Raise for what only files made to do harm hold: parts of implausible sizes, and XML that defines entities."""
    unpacked = _unpacked(path)
    require_plausible(path, unpacked, AS_CSV)
    require_memory(path, MEMORY_OF_XML * unpacked, AS_CSV)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as part:
                before = b""
                while read := part.read(BYTES_AT_ONCE):
                    # Without the zeros that UTF-16 has between its letters.
                    text = before + read.replace(b"\0", b"")
                    if DEFINITIONS in text:
                        raise FileError(
                            f"{path} defines entities in its part {name!r}, which no spreadsheet does and which can "
                            f"stand for any amount of text. {AS_CSV}"
                        )
                    before = text[1 - len(DEFINITIONS) :]


def _unpacked(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _require_filled(path: Path, cells: int, most: int) -> None:
    """Raise if more cells are met than were written into the file: the others are gaps between those."""
    if cells > max(GAPS, most):
        raise FileError(
            f"{path} has a sheet of {cells} cells or more, most of them empty, as a cell far from the others stretches "
            f"it. Delete what stands outside of the table. {AS_CSV}"
        )


def _as_wide_as_the_widest(path: Path, rows: list[Row]) -> list[Row]:
    width = max((len(cells) for _, cells in rows), default=0)
    _require_filled(path, width * len(rows), _unpacked(path))
    return [(number, cells + [""] * (width - len(cells))) for number, cells in rows]


def _chosen(path: Path, book: Any, form: Description) -> str:
    if form.sheet is not None:
        if form.sheet not in book.sheetnames:
            raise OptionError(
                f"{path} has no sheet {with_nearest([form.sheet], book.sheetnames)}; it has {listed(book.sheetnames)}."
            )
        return form.sheet
    filled = [name for name in book.sheetnames if next(_rows(path, book[name]), None) is not None]
    if len(filled) > 1:
        raise OptionError(f"{path} has the sheets {listed(filled)}. Pass {keyword('sheet', filled[0])}, or another.")
    return filled[0] if filled else str(book.sheetnames[0])


def _rows(path: Path, sheet: Any) -> Iterator[Row]:
    """Yield the number and the cells of every row that is not empty, as text, up to its last cell."""
    # What a sheet says of its own size need not be true.
    sheet.reset_dimensions()
    met, most = 0, _unpacked(path)
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_ROWS:
            raise FileError(f"{path} has rows beyond {MOST_ROWS}, which Excel cannot have written. {AS_CSV}")
        met += len(row)
        _require_filled(path, met, most)
        cells = ["" if cell is None else _text(cell) for cell in row]
        if any(cells):
            yield number, cells


def _text(cell: object) -> str:
    """Return a cell as a text file would hold it."""
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="seconds" if cell.time() != time() else "auto").removesuffix(
            " 00:00:00"
        )
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
