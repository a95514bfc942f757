"""Files on disk: tables and edges, read with care."""

from __future__ import annotations

import csv
import math
import warnings
import zipfile
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, FileError, OptionError, keyword, listed
from rfdag.input.description import DELIMITERS, Description
from rfdag.runtime.memory import available_memory

BOOLEANS = {"true": 1.0, "false": 0.0}
MISSING = {"", "na", "nan", "n/a", "null", "none", "?", "."}


class Table(NamedTuple):
    """Numbers with a name for each column."""

    values: NDArray[np.float64]
    names: tuple[Hashable, ...]


def read_table(path: str | Path, form: Description | None = None) -> Table:
    """Read a CSV, TSV, TXT, NPY or NPZ file.

    A text file has one line per row, and its first line names the columns. An NPZ file holds one array, or one
    called "data" or "X", and may hold "names".
    """
    path = Path(path).expanduser()
    form = form or Description()
    if path.is_dir():
        raise FileError(f"{path} is a folder; name one file in it.")
    readers: dict[str, Callable[[Path], Table]] = {
        ".csv": lambda path: _read_text(path, form),
        ".tsv": lambda path: _read_text(path, form),
        ".txt": lambda path: _read_text(path, form),
        ".npy": _read_npy,
        ".npz": _read_npz,
    }
    if path.suffix.lower() not in readers:
        known = ", ".join(readers)
        raise FileError(
            f"{path} ends in {path.suffix!r}; files ending in {known} can be read. Convert it, or pass a DataFrame."
        )
    with reading(path):
        return readers[path.suffix.lower()](path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong when a file is read into errors that say what to do."""
    try:
        yield
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name, or the folder: {path.parent.resolve()}") from None
    except PermissionError:
        raise FileError(f"{path} may not be read by this user; change its permissions or copy it.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is damaged or not in UTF-8; save it as UTF-8 text.") from None
    except (EOFError, zipfile.BadZipFile) as problem:
        raise FileError(f"{path} is damaged or not what its ending says ({problem}); write it anew.") from None


def read_edges(path: str | Path) -> set[tuple[str, str]]:
    """Read a CSV of edges whose first two columns are "source" and "target", or "from" and "to"."""
    path = Path(path).expanduser()
    try:
        rows = list(_rows(path, ","))
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{path} could not be read ({problem}).") from None
    header = [cell.strip().lower() for cell in rows[0][1][:2]] if rows else []
    if header not in (["source", "target"], ["from", "to"]):
        raise FileError(
            f"{path} does not begin with the columns source,target (or from,to) but with {header}; a graph is a CSV "
            "of edges, or a result saved as JSON."
        )
    for line, row in rows:
        if len(row) < 2:
            raise FileError(f"{path}, line {line}: an edge needs a source and a target.")
    return {(row[0].strip(), row[1].strip()) for _, row in rows[1:]}


def _require_memory(path: Path, needed: float) -> None:
    free = available_memory()
    if needed > free:
        raise FileError(
            f"{path} needs about {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free. Save it as Parquet, "
            "which is read in pieces, read fewer columns or rows, or compute the correlation matrix elsewhere and pass "
            f"it with {keyword('n_samples')} and {keyword('input', 'correlation')}."
        )


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
    line, first = next(_rows(path, delimiter), (0, []))
    if not first:
        raise DataError(f"{path} is empty; it needs a line of names and at least two rows of numbers.")
    if first[0].startswith("#"):
        raise DataError(f"{path} begins with the comment {first[0]!r}; remove the lines that start with '#'.")
    if len(first) == 1:
        _suspect_delimiter(path, delimiter, first[0])
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


def _read_text(path: Path, form: Description) -> Table:
    names, heading_lines, delimiter, cell = read_heading(path, form)
    has_header = heading_lines > 0
    size = path.stat().st_size
    _require_memory(path, 2 * 8 * size / max(cell / 2, 2))
    if names[0] == "" and has_header:
        return _read_labelled(path, delimiter, form.decimal, names)
    refuse_nameless(path, names)
    try:
        if form.decimal != ".":
            raise ValueError("NumPy reads decimal points only")
        with open(path, encoding="utf-8-sig", newline="") as handle, warnings.catch_warnings():
            # An empty table is refused later, in words of our own.
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            values = np.loadtxt(
                handle, delimiter=delimiter, skiprows=int(has_header), ndmin=2, quotechar='"', comments=None
            )
    except ValueError:
        # NumPy stops at the first cell it cannot read; look at all of them and tell the whole story.
        lines = list(_rows(path, delimiter))[int(has_header) :]
        values = parse(path, lines, names, form.decimal)
    if values.size and values.shape[1] != len(names):
        raise DataError(
            f"{path} has {len(names)} names in its first line and {values.shape[1]} numbers in the second; give "
            "every column one name."
        )
    return Table(values.reshape(-1, len(names)), names)


def _read_labelled(path: Path, delimiter: str, decimal: str, names: tuple[Hashable, ...]) -> Table:
    """Read a square matrix whose rows begin with the names of the columns, as data frames write it."""
    lines = list(_rows(path, delimiter))[1:]
    if [row[0].strip() for _, row in lines] != list(names[1:]):
        refuse_nameless(path, names)
    values = parse(path, [(line, row[1:]) for line, row in lines], names[1:], decimal)
    return Table(values, names[1:])


def refuse_nameless(path: Path, names: tuple[Hashable, ...]) -> None:
    """Raise if a column has no name."""
    nameless = [at + 1 for at, name in enumerate(names) if name == ""]
    if nameless:
        raise DataError(
            f"{path} gives no name to column {listed(nameless)}. If that is the row number which pandas writes, "
            "write the file with index=False or delete that column; if lines end with a delimiter, remove it."
        )


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
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


def _suspect_delimiter(path: Path, delimiter: str, first: str) -> None:
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


def _read_npy(path: Path) -> Table:
    with open(path, "rb") as handle:
        values = _array_in(path, path.stat().st_size, handle)
    return Table(values, tuple(range(values.shape[1])))


def _read_npz(path: Path) -> Table:
    with zipfile.ZipFile(path) as archive:
        arrays = [name[: -len(".npy")] for name in archive.namelist() if name.endswith(".npy")]
        tables = [name for name in arrays if name != "names"]
        chosen = [name for name in ("data", "X") if name in tables] or tables
        if len(tables) != 1 and chosen == tables:
            raise FileError(
                f"{path} holds the arrays {listed(arrays)}; it needs one, or one called 'data'. Save the table alone."
            )
        entry = archive.getinfo(f"{chosen[0]}.npy")
        with archive.open(entry) as handle:
            values = _array_in(path, entry.file_size, handle)
        names: tuple[Hashable, ...] = tuple(range(values.shape[1]))
        if "names" in arrays:
            with archive.open("names.npy") as handle:
                found = np.lib.format.read_array(handle, allow_pickle=False)
            if len(found) != len(names):
                raise FileError(f"{path} has {len(found)} names for {len(names)} columns; give one name each.")
            names = tuple(found.tolist())
    return Table(values, names)


def _array_in(path: Path, size: int, handle: IO[bytes]) -> NDArray[np.float64]:
    try:
        version = np.lib.format.read_magic(handle)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(handle)
    except ValueError as problem:
        raise FileError(f"{path} is not a NumPy file ({problem}); write it with np.save.") from None
    if dtype.kind not in "biuf":
        raise FileError(f"{path} holds entries of type {dtype}; save an array of numbers.")
    if len(shape) != 2:
        raise DataError(f"{path} holds an array of shape {shape}; a table has rows and columns.")
    cells = math.prod(shape)
    if cells * dtype.itemsize > size - handle.tell():
        raise FileError(
            f"{path} announces {shape[0]} × {shape[1]} numbers but is too short to hold them; write it anew."
        )
    _require_memory(path, 2.0 * 8 * cells)
    values = np.frombuffer(handle.read(cells * dtype.itemsize), dtype=dtype)
    return values.reshape(shape, order="F" if fortran else "C").astype(np.float64)
