"""What can go wrong with any file: it is not there, may not be read, is damaged, changes, or is larger than memory."""

from __future__ import annotations

import csv
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rfdag.errors import FileError, RfdagError, keyword
from rfdag.runtime.memory import available_memory

DAMAGED = (EOFError, OSError, NotImplementedError, RuntimeError, csv.Error, zipfile.BadZipFile, zlib.error)
"""What is raised for text that is no CSV, and archives that are damaged, encrypted, or packed in an unknown way."""


class Version(NamedTuple):
    """What tells whether a file is still the same: where its content lies, its size, and when it was last written."""

    device: int
    inode: int
    size: int
    written: int

    @classmethod
    def of(cls, path: Path) -> Version | None:
        """Return the present version of a file; None if there is none, or if it is no file but a pipe."""
        try:
            found = path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@contextmanager
def reading(path: Path, version: Version | None = None) -> Iterator[None]:
    """Turn what goes wrong when a file is read into errors that say what to do.

    Among them is that it changes meanwhile, or is no longer in the ``version`` in which it was first looked at: what is
    read would be partly what it was, and partly what it is.
    """
    before = version or Version.of(path)
    if _differs(path, version):
        raise _changed(path)
    try:
        with _in_words(path):
            yield
    except Exception:
        if _differs(path, before):
            raise _changed(path) from None
        raise
    if _differs(path, before):
        raise _changed(path)


def _differs(path: Path, before: Version | None) -> bool:
    return before is not None and Version.of(path) != before


def _changed(path: Path) -> FileError:
    what = "changed" if path.exists() else "removed"
    return FileError(f"{path} was {what} while it was read. Read it when it is complete, or a copy of it.")


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except RfdagError:
        raise
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name, or the folder: {path.parent.resolve()}") from None
    except PermissionError:
        raise FileError(f"{path} may not be read by this user; change its permissions or copy it.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is damaged or not in UTF-8; save it as UTF-8 text.") from None
    except MemoryError:
        raise FileError(f"{path} needs more memory than is free. {IN_PIECES}") from None
    except DAMAGED as problem:
        raise FileError(f"{path} is damaged or not what its ending says ({problem}); write it again.") from None


IN_PIECES = (
    "Save it as Parquet, which is read in pieces, read fewer columns or rows, or compute the correlation matrix "
    f"elsewhere and pass it with {keyword('n_samples')} and {keyword('input', 'correlation')}."
)
"""What to do with a file that is too large to be read as a whole."""


FEWER = "Here all rows are needed in memory: read fewer columns or rows."
"""What to do with rows that do not fit where all of them are needed."""


def require_memory(what: object, needed: float, advice: str = IN_PIECES) -> None:
    """Raise unless so many bytes of memory are free for what is to be read."""
    free = available_memory()
    if needed > free:
        raise FileError(
            f"{what} needs about {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free. {advice}"
        )
