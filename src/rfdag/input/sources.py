"""Everything rows can come from, each with the reader that opens it: append a reader of your own to `READERS`."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from rfdag.errors import FileError, OptionError, keyword, listed
from rfdag.input import arrow
from rfdag.input import dask as partitions
from rfdag.input.arrays import read_npy, read_npz
from rfdag.input.coding import Reading
from rfdag.input.delimited import TextFile
from rfdag.input.description import Description
from rfdag.input.excel import ENDINGS as EXCEL
from rfdag.input.excel import read_excel
from rfdag.input.files import reading
from rfdag.input.frames import framed, from_array, from_frame, is_frame, makes_frame
from rfdag.input.gathering import gathered
from rfdag.input.packing import kind_of
from rfdag.input.pieces import File, Piece, Pieces
from rfdag.input.several import shared_columns, together
from rfdag.input.spooling import spooled
from rfdag.input.table import Stream, Table
from rfdag.input.text import read_text
from rfdag.input.words import Words
from rfdag.runtime.unpacking import is_packed
from rfdag.values import path_of

TEXT_IN_PIECES_FROM = 2**26
"""Bytes from which a text file is read in pieces, if pyarrow is installed: 64 MB."""

PACKED = 5
"""Times that text is larger than what it is packed into, about."""

PARQUET = (".parquet", ".pq")
IPC = (".feather", ".arrow", ".ipc")
TEXT = (".csv", ".tsv", ".txt")
ARRAYS = {".npy": read_npy, ".npz": read_npz}


class Reader(Protocol):
    """Opens one kind of source.

    Examples
    --------
    A reader of your own, here of dicts of columns, makes `rfdag.learn` and all that reads data take one more source:

    >>> import numpy as np
    >>> class Columns:
    ...     def reads(self, source):
    ...         return isinstance(source, dict)
    ...     def open(self, source, form, threads):
    ...         return Table(np.column_stack(list(source.values())), tuple(source))
    >>> READERS.append(Columns())
    >>> open_source({"a": [1.0, 2.0], "b": [3.0, 5.0]}).names
    ('a', 'b')
    >>> del READERS[-1]
    """

    def reads(self, source: Any) -> bool:
        """Return whether this reader can open a source."""

    def open(self, source: Any, form: Description, threads: int) -> Table | Stream:
        """Return its rows, as a table in memory or as a stream.

        ``form`` says how a text file is written, ``threads`` how many threads will read.
        """


def open_source(source: Any, form: Description | None = None, threads: int = 1) -> Table | Stream:
    """Return the rows of a source as the last of `READERS` opens it that can."""
    form = form or Description()
    if form.of_cells() and not is_path(source) and not _is_open_file(source):
        raise _not_text(form, "this input is not a path")
    reader = next(reader for reader in reversed(READERS) if reader.reads(source))
    return reader.open(source, form, threads)


def _not_text(form: Description, what: str) -> OptionError:
    told = form.of_cells()
    belong = "says how a text or Excel file is" if len(told) == 1 else "say how a text or Excel file is"
    return OptionError(f"{', '.join(map(keyword, told))} {belong} written; {what}. Leave it out.")


def is_path(source: Any) -> bool:
    """Return whether a source is the path of a file or folder, a pattern of paths, or a list of paths."""
    paths = source if isinstance(source, list | tuple) and len(source) else [source]
    return all(isinstance(path, str | Path) for path in paths)


def lies_elsewhere(source: Any) -> bool:
    """Return whether a source is no table in memory but a path or several, a dataset, a stream or a Dask collection."""
    if is_path(source) or partitions.is_collection(source):
        return True
    return arrow.is_stream(source) and not hasattr(source, "to_pandas")


def files_of(source: Any) -> list[Path]:
    """Return the files that a source is read from, in the order of their rows; none if it is not read from files.

    A folder stands for the files in it and in its subfolders, a pattern for the files that match.

    >>> files_of("a.csv"), files_of([[1.0]])
    ([PosixPath('a.csv')], [])
    """
    if not is_path(source):
        return []
    if isinstance(source, list | tuple):
        return [path_of(path) for path in source]
    path = path_of(source)
    return _inside(path) if path.is_dir() else _matching(path) or [path]


class Arrays:
    """Arrays and nested lists; anything else raises an error that names what was found."""

    def reads(self, source: Any) -> bool:
        """Return true."""
        return True

    def open(self, source: Any, form: Description, threads: int) -> Table:
        """Return the numbers; columns are numbered from 0."""
        return from_array(source)


class Frames:
    """Data frames: pandas, polars, Arrow's record batches, others that narwhals knows, and what makes one (AnnData)."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a data frame, or makes one."""
        return is_frame(source) or makes_frame(source)

    def open(self, source: Any, form: Description, threads: int) -> Table:
        """Return its numbers and names."""
        return from_frame(framed(source))


class Tables:
    """Tables of ours, such as those of `rfdag.datasets`."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a table."""
        return isinstance(source, Table)

    def open(self, source: Table, form: Description, threads: int) -> Table:
        """Return the table as it is."""
        return source


class DaskCollections:
    """DataFrames and Arrays of Dask."""

    def reads(self, source: Any) -> bool:
        """Return whether the source belongs to Dask."""
        return partitions.is_collection(source)

    def open(self, source: Any, form: Description, threads: int) -> partitions.Partitions:
        """Return its partitions, not yet computed."""
        return partitions.Partitions(source, threads)


class ArrowStreams:
    """Tables, datasets, scanners and readers of Arrow."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is one of them."""
        return arrow.is_stream(source)

    def open(self, source: Any, form: Description, threads: int) -> Pieces:
        """Return its rows in pieces."""
        return arrow.in_pieces(source, threads)


class UnknownFiles:
    """Paths that no other reader takes."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a path."""
        return isinstance(source, str | Path)

    def open(self, source: str | Path, form: Description, threads: int) -> Table:
        """Raise an error that lists what can be read."""
        path = path_of(source)
        known = ", ".join((*TEXT, *ARRAYS, *EXCEL, *PARQUET, *IPC))
        raise FileError(
            f"{path} ends in {path.suffix!r}; files ending in {known} can be read. Convert it, or pass a DataFrame."
        )


class ArrayFiles:
    """Files of NumPy."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a .npy or .npz file."""
        return _kind_of_file(source) in ARRAYS

    def open(self, source: str | Path, form: Description, threads: int) -> Table:
        """Return the array, with the names that a .npz file may hold."""
        path = path_of(source)
        if form.of_cells():
            raise _not_text(form, f"{path} is neither")
        return ARRAYS[path.suffix.lower()](path)._replace(origin=str(path))


class ExcelFiles:
    """Excel files, of which one sheet is read."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is an Excel file."""
        return _kind_of_file(source) in EXCEL

    def open(self, source: str | Path, form: Description, threads: int) -> Table:
        """Return the numbers and names of the sheet."""
        return read_excel(path_of(source), form)


class TextFiles:
    """Text files that are small enough to be read as a whole."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is one text file, not large."""
        return _kind_of_file(source) in TEXT and not _is_large_text(path_of(source))

    def open(self, source: str | Path, form: Description, threads: int) -> Table:
        """Return its numbers and names."""
        if form.sheet is not None:
            raise OptionError(f"{keyword('sheet')} is for Excel files, which {source} is not. Leave it out.")
        return read_text(path_of(source), form)


class OpenFiles:
    """Files that are open for reading: of text, or of bytes of any kind that can be told from the first of them."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is an open file."""
        return _is_open_file(source)

    def open(self, source: Any, form: Description, threads: int) -> Table | Stream:
        """Return all rows, read to the end of the file."""
        content = source.read()
        if isinstance(content, str):
            content = content.encode()
        with spooled(content, "The input") as path:
            return gathered(open_source(path, form, threads))._replace(origin="The input")


class FilesInPieces:
    """Parquet, Feather and Arrow files, large text files, and several files together."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a list of paths, a folder, a pattern that matches, or one such file."""
        kind = _kind_of_file(source)
        if kind is None:
            return is_path(source)
        return kind in (*PARQUET, *IPC) or (kind in TEXT and _is_large_text(path_of(source)))

    def open(self, source: Any, form: Description, threads: int) -> Table | Stream:
        """Return the rows of all files, one after the other."""
        paths = files_of(source)
        if all(kind_of(path) in (*TEXT, *EXCEL, *ARRAYS) and not _is_large_text(path) for path in paths):
            return together([open_source(path, form, threads) for path in paths], list(map(str, paths)), form)
        return _in_pieces(paths, form, threads)


class SeveralFrames:
    """Lists of data frames with the same columns."""

    def reads(self, source: Any) -> bool:
        """Return whether the source is a list of frames."""
        return isinstance(source, list | tuple) and len(source) > 0 and all(map(is_frame, source))

    def open(self, source: Any, form: Description, threads: int) -> Table:
        """Return the rows of all frames, one after the other."""
        return together([from_frame(frame) for frame in source], [f"frame {at}" for at in range(len(source))], form)


READERS: list[Reader] = [
    Arrays(),
    Frames(),
    Tables(),
    DaskCollections(),
    ArrowStreams(),
    UnknownFiles(),
    ArrayFiles(),
    ExcelFiles(),
    TextFiles(),
    FilesInPieces(),
    SeveralFrames(),
    OpenFiles(),
]
"""The readers. They are asked from the last to the first, so that one you append comes before those of rfdag."""


def _kind_of_file(source: Any) -> str | None:
    """Return the ending of one file, which need not exist; None for a folder, a pattern, a list or no path at all."""
    if not isinstance(source, str | Path):
        return None
    path = path_of(source)
    return None if path.is_dir() or _matching(path) else kind_of(path)


def _is_open_file(source: Any) -> bool:
    return hasattr(source, "read") and hasattr(source, "readline")


def _matching(pattern: Path) -> list[Path]:
    """Return the files that a pattern matches; none if it is the path of a file itself."""
    return [] if pattern.exists() else [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]


def _is_large_text(path: Path) -> bool:
    if kind_of(path) not in TEXT or not path.exists() or find_spec("pyarrow") is None:
        return False
    return path.stat().st_size * (PACKED if is_packed(path) else 1) >= TEXT_IN_PIECES_FROM


def _inside(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders that can be read, all of one kind; hidden ones are left out."""
    try:
        inside = sorted(folder.rglob("*"))
    except FileNotFoundError:
        raise FileError(
            f"Folders inside {folder} were removed while it was listed. Name a folder that nothing else writes to."
        ) from None
    found = [
        path
        for path in inside
        if kind_of(path) in (*PARQUET, *IPC, *TEXT, *EXCEL)
        and path.is_file()
        and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]
    if not found:
        known = ", ".join((*PARQUET, *IPC, *TEXT, *EXCEL))
        raise FileError(f"{folder} is a folder with no files ending in {known}; name a file, or a folder with some.")
    kinds = sorted({kind_of(path) for path in found})
    if len(kinds) > 1:
        raise FileError(
            f"{folder} holds files ending in {listed(kinds)}. Name those to read, as in '{folder}/*{kinds[0]}'."
        )
    keys = sorted({part.partition("=")[0] for path in found for part in path.relative_to(folder).parts if "=" in part})
    if keys:
        raise FileError(
            f"{folder} is divided by {listed(keys)}, which its files leave out. Pass pyarrow.dataset.dataset(folder, "
            "partitioning='hive') to read it with these columns, or the list of its files to read it without them."
        )
    return found


def _open_file(path: Path, form: Description) -> File:
    kind = kind_of(path)
    if kind in TEXT:
        return TextFile(path, form)
    if kind not in (*PARQUET, *IPC):
        known = ", ".join((*PARQUET, *IPC, *TEXT))
        raise FileError(f"{path} ends in {path.suffix!r}; several files together end in {known}. Convert it.")
    if is_packed(path):
        raise FileError(f"{path} is compressed as a whole, and has to be read at many places. Unpack it first.")
    if form.of_cells():
        raise _not_text(form, f"{path} is neither")
    with reading(path):
        return arrow.ParquetFile(path) if kind in PARQUET else arrow.IpcFile(path)


def _in_pieces(paths: list[Path], form: Description, threads: int) -> Pieces:
    """Return the rows of several files, one after the other, as one stream."""
    files = [_open_file(path, form) for path in paths]
    first = files[0]
    names = shared_columns([file.names for file in files], [str(file.path) for file in files], form)
    counts = [file.rows for file in files]
    words: dict[Any, Words] = {}
    for file in files:
        words |= file.words

    def cut(places: Sequence[int], reading: Reading | None = None) -> Iterator[Piece]:
        wanted = [names[at] for at in places]
        return chain.from_iterable(file.pieces(wanted, reading) for file in files)

    return Pieces(
        names,
        cut,
        sum(file.weight for file in files),
        None if None in counts else sum(count for count in counts if count is not None),
        readers=min(file.readers() for file in files),
        repeatable=True,
        words={at: words[name] for at, name in enumerate(names) if name in words},
        origin=str(first.path) if len(files) == 1 else "The table",
        cut_as=cut,
        threads=threads,
    )
