"""Compressed files, unpacked while they are read, up to what an honest file may hold.

A file of a few kilobytes can be made to unpack to terabytes. It is refused once it has shown more than that.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from rfdag.errors import FileError, listed
from rfdag.runtime.memory import TRIFLE

MOST_TIMES = 500
"""Times its own size that a compressed file may unpack to. Text of numbers takes about a fifth when packed; tables of
which one cell in a hundred is not 0 reach 200."""

UNPACK_IT = "If you trust it, unpack it yourself, and name what comes out of it."
"""What to do with a file that is refused."""

PROBLEMS = (gzip.BadGzipFile, lzma.LZMAError, zlib.error)
"""What unpacking raises beside EOFError and OSError."""


def require_plausible(path: Path, unpacked: float, advice: str = UNPACK_IT) -> None:
    """Raise if a file unpacks to so many bytes that it was made to fill the memory or the disk."""
    packed = path.stat().st_size
    if unpacked > max(TRIFLE, MOST_TIMES * packed):
        raise FileError(
            f"{path} takes {packed / 1e6:.2g} MB and unpacks to {unpacked / 1e6:.0f} MB or more. Up to {MOST_TIMES} "
            f"times its size are read; data are seldom packed to a hundredth. {advice}"
        )


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed, by its ending.

    >>> is_packed(Path("rows.csv.GZ")), is_packed(Path("rows.csv"))
    (True, False)
    """
    return path.suffix.lower() in UNPACK


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading its bytes, unpacked."""
    return io.BufferedReader(_Limited(path)) if is_packed(path) else path.open("rb")


class _Limited(io.RawIOBase):
    """The bytes in a compressed file, as long as they are not implausibly many."""

    def __init__(self, path: Path) -> None:
        self._path, self._count = path, 0
        self._handle: IO[bytes] = UNPACK[path.suffix.lower()](path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._handle.read(len(buffer))
        self._count += len(content)
        require_plausible(self._path, self._count)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._handle.close()
        super().close()


def _zstd(path: Path) -> IO[bytes]:
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError(f"Unpacking {path} needs pyarrow: pip install 'rfdag[parquet]'") from None
    unpacked: Any = arrow.CompressedInputStream(arrow.OSFile(str(path)), "zstd")
    return unpacked  # type: ignore[no-any-return]


def _zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise FileError(f"{path} holds {listed(names) or 'no files'}; it needs one file. Unpack it, and name the file.")
    return archive.open(names[0])


UNPACK: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstd,
    ".zip": _zip,
}
"""How compressed files are opened, by their ending."""
