"""Which inputs are read in pieces: Arrow's files and streams, folders and lists of files, large texts, Dask."""

from __future__ import annotations

import glob
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from rfdag.errors import FileError, OptionError, listed
from rfdag.input import arrow
from rfdag.input import dask as partitions
from rfdag.input.delimited import TextFile
from rfdag.input.description import WRITING, Description
from rfdag.input.streaming import File, Source
from rfdag.input.text import reading

TEXT_IN_PIECES_FROM = 2**26
"""Bytes from which a text file is read in pieces, if pyarrow is installed: 64 MB."""

PARQUET = (".parquet", ".pq")
IPC = (".feather", ".arrow", ".ipc")
TEXT = (".csv", ".tsv", ".txt")


def lies_elsewhere(source: Any) -> bool:
    """Return whether a source is no table in memory: a path or several, a dataset, a stream, or Dask's."""
    paths = source if isinstance(source, list | tuple) and len(source) else [source]
    if all(isinstance(path, str | Path) for path in paths):
        return True
    return partitions.is_collection(source) or (arrow.is_stream(source) and not hasattr(source, "to_pandas"))


def open_source(source: Any, form: Description | None, threads: int) -> Source | partitions.Partitions | None:
    """Return a source to be read in pieces, or None for one that is a table in memory or a small file."""
    form = form or Description()
    if isinstance(source, str | Path):
        return _open_path(Path(source).expanduser(), form)
    if isinstance(source, list | tuple) and source and all(isinstance(path, str | Path) for path in source):
        return _joined([Path(path).expanduser() for path in source], form)
    if not (arrow.is_stream(source) or partitions.is_collection(source)):
        return None
    if not form.is_plain_text:
        raise OptionError(f"{WRITING} belong to a text file; this input is not a path.")
    return arrow.from_stream(source, threads) if arrow.is_stream(source) else partitions.Partitions(source)


def _open_path(path: Path, form: Description) -> Source | None:
    if path.is_dir():
        return _joined(_inside(path), form)
    if not path.exists() and (found := sorted(glob.glob(str(path), recursive=True))):
        return _joined([Path(name) for name in found], form)
    return _joined([path], form) if path.suffix.lower() in (*PARQUET, *IPC) or _is_large_text(path) else None


def _is_large_text(path: Path) -> bool:
    if path.suffix.lower() not in TEXT or not path.exists() or find_spec("pyarrow") is None:
        return False
    return path.stat().st_size >= TEXT_IN_PIECES_FROM


def _inside(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders that can be read, all of one kind; hidden ones are left out."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in (*PARQUET, *IPC, *TEXT)
        and path.is_file()
        and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]
    if not found:
        known = ", ".join((*PARQUET, *IPC, *TEXT))
        raise FileError(f"{folder} is a folder with no files ending in {known}; name a file, or a folder with some.")
    kinds = sorted({path.suffix.lower() for path in found})
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


def _opened(path: Path, form: Description) -> File:
    kind = path.suffix.lower()
    if kind in TEXT:
        return TextFile(path, form)
    if kind not in (*PARQUET, *IPC):
        known = ", ".join((*PARQUET, *IPC, *TEXT))
        raise FileError(f"{path} ends in {path.suffix!r}; several files together end in {known}. Convert it.")
    if not form.is_plain_text:
        raise OptionError(f"{WRITING} belong to a text file, which {path} is not.")
    with reading(path):
        return arrow.ParquetFile(path) if kind in PARQUET else arrow.IpcFile(path)


def _joined(paths: list[Path], form: Description) -> Source:
    """Return the rows of several files, one after the other, as one source."""
    files = [_opened(path, form) for path in paths]
    first = files[0]
    for file in files[1:]:
        _refuse_other_columns(first, file)
    counts = [file.rows for file in files]
    nulls = [file.nulls() for file in files]
    return Source(
        first.names,
        chain.from_iterable(file.pieces(first.names) for file in files),
        sum(file.weight for file in files),
        None if None in counts else sum(count for count in counts if count is not None),
        tuple(sum(of_file.get(name, 0) for of_file in nulls) for name in first.names),
        min(file.readers() for file in files),
    )


def _refuse_other_columns(first: File, file: File) -> None:
    lacking = [name for name in first.names if name not in set(file.names)]
    extra = [name for name in file.names if name not in set(first.names)]
    if lacking or extra:
        differences = [f"lacks {listed(lacking)}"] if lacking else []
        differences += [f"has {listed(extra)} besides"] if extra else []
        raise FileError(
            f"The files do not have the same columns: {file.path} {' and '.join(differences)}, compared with "
            f"{first.path}. Rename or drop columns, or name the files that belong together."
        )
