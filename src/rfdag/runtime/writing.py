"""Files and folders of files, written completely or not at all."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rfdag.errors import FileError
from rfdag.values import path_of


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV.

    >>> print(csv_text(["name", "weight"], [["a,b", 0.5]]), end="")
    name,weight
    "a,b",0.5
    """
    lines = _Lines()
    # The writer quotes cells with characters of its line terminator, so that names keep their carriage returns.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return "".join(lines)


class _Lines(list[str]):
    """Lines of a CSV writer, each ended by a newline alone."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file completely or not at all; return its path."""
    with ready_to_write(path, text) as written:
        return written


@contextmanager
def ready_to_write(path: str | Path, content: str | bytes) -> Iterator[Path]:
    """Write to a temporary file, which replaces ``path`` once the body of the ``with`` statement succeeds."""
    path = path_of(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as handle:
            temporary = Path(handle.name)
            _put(handle, content)
        # A temporary file is private; the finished one follows the user's own mask.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        yield path
        temporary.replace(path)
    except OSError as problem:
        raise _unwritable(path, problem) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _put(handle: IO[bytes], content: str | bytes) -> None:
    """Write all of a file, to the disk: otherwise a power failure may leave an empty one under a name given later."""
    handle.write(content.encode() if isinstance(content, str) else content)
    handle.flush()
    os.fsync(handle.fileno())


def require_writable(path: str | Path) -> None:
    """Raise if a file cannot be written here, before anything is computed in vain."""
    path = path_of(path)
    try:
        if path.is_dir():
            raise IsADirectoryError
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as problem:
        raise _unwritable(path, problem) from None


def _unwritable(path: Path, problem: OSError) -> FileError:
    if path.is_dir():
        why = "it is a folder. Name a file in it, or another"
    elif not path.parent.exists():
        why = f"there is no folder {path.parent}. Make it, or choose a folder that exists"
    else:
        why = f"{problem.strerror or problem}. Choose a folder that you may write to, with room for the file"
    return FileError(f"{path} could not be written: {why}.")


def write_folder(folder: str | Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write several files into a folder, created if needed: all of them or none; return their paths."""
    folder = path_of(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".rfdag.") as staging:
            new, old = Path(staging) / "new", Path(staging) / "old"
            new.mkdir()
            old.mkdir()
            for name, content in contents.items():
                with (new / name).open("wb") as handle:
                    _put(handle, content)
            return _move_in(folder, list(contents), new, old)
    except OSError as problem:
        raise FileError(
            f"{folder} could not be written to ({problem.strerror or problem}). Choose a folder that you may "
            "write to, without folders that have the names of the files."
        ) from None


def _move_in(folder: Path, names: list[str], new: Path, old: Path) -> list[Path]:
    """Move files from ``new`` into the folder, over those that are there; undo everything if one fails.

    Each is there all the time, as it was or as it will be, even if the process is killed. What it was is kept in
    ``old`` meanwhile.
    """
    for name in names:
        if (folder / name).is_dir():
            raise IsADirectoryError(21, f"{name} is a folder")
        if (folder / name).exists():
            _keep(folder / name, old / name)
    moved: list[str] = []
    try:
        for name in names:
            moved.append(name)
            (new / name).replace(folder / name)
    except BaseException:
        for name in moved:
            if (old / name).exists():
                (old / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        raise
    return [folder / name for name in names]


def _keep(path: Path, kept: Path) -> None:
    """Give a file a second name, or copy it where the file system has no such thing."""
    try:
        kept.hardlink_to(path)
    except OSError:
        shutil.copy2(path, kept)
