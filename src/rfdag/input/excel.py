"""Sheets of Excel files, through openpyxl."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from types import ModuleType
from typing import Any

from rfdag.errors import FileError, OptionError, keyword, listed
from rfdag.input.cells import table_of
from rfdag.input.description import Description
from rfdag.input.dialect import Row, spellings
from rfdag.input.files import reading
from rfdag.input.table import Table
from rfdag.wording import with_nearest

ENDINGS = (".xlsx", ".xlsm")


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
        rows = list(_rows(book[sheet]))
    return table_of(f"{path}, sheet {sheet!r}", rows, form, spellings(form)[0], place="row")


@contextmanager
def _book(path: Path) -> Iterator[Any]:
    openpyxl = require_openpyxl()
    with reading(path):
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        except (KeyError, zipfile.BadZipFile, openpyxl.utils.exceptions.InvalidFileException) as problem:
            raise FileError(f"{path} is damaged or no Excel file ({problem}); write it again.") from None
        try:
            yield book
        finally:
            book.close()


def _chosen(path: Path, book: Any, form: Description) -> str:
    if form.sheet is not None:
        if form.sheet not in book.sheetnames:
            raise OptionError(
                f"{path} has no sheet {with_nearest([form.sheet], book.sheetnames)}; it has {listed(book.sheetnames)}."
            )
        return form.sheet
    filled = [name for name in book.sheetnames if next(_rows(book[name]), None) is not None]
    if len(filled) > 1:
        raise OptionError(f"{path} has the sheets {listed(filled)}. Pass {keyword('sheet', filled[0])}, or another.")
    return filled[0] if filled else str(book.sheetnames[0])


def _rows(sheet: Any) -> Iterator[Row]:
    """Yield the number and the cells of every row that is not empty, as text."""
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_text(cell) for cell in row]
        if any(cells):
            yield number, cells


def _text(cell: object) -> str:
    """Return a cell as a text file would hold it."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="seconds" if cell.time() != time() else "auto").removesuffix(
            " 00:00:00"
        )
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
