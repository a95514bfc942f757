"""NumPy's files: .npy with one array, .npz with an array and perhaps names."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Hashable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, FileError, listed
from rfdag.input.files import reading, require_memory
from rfdag.input.table import Table
from rfdag.runtime.unpacking import require_plausible

SAVE_IT = "If you trust it, load it with np.load and save its table with np.save."
"""What to do with a .npz file that was packed too well."""


def read_npy(path: Path) -> Table:
    """Read the array of a .npy file; its columns are numbered from 0."""
    with reading(path), open(path, "rb") as handle:
        values = _array_in(path, path.stat().st_size, handle)
    return Table(values, tuple(range(values.shape[1])))


def read_npz(path: Path) -> Table:
    """Read the only array of a .npz file, or the one called "data" or "X", and the "names" of its columns if given."""
    with reading(path), zipfile.ZipFile(path) as archive:
        require_plausible(path, sum(entry.file_size for entry in archive.infolist()), SAVE_IT)
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
            entry = archive.getinfo("names.npy")
            with archive.open(entry) as handle:
                found = _names_in(path, entry.file_size, handle)
            if len(found) != len(names):
                raise FileError(f"{path} has {len(found)} names for {len(names)} columns; give one name each.")
            names = _listed_names(path, found)
    return Table(values, names)


def _header_of(path: Path, handle: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether it is in Fortran's order, and the type; nothing in an array's bytes is unpickled."""
    try:
        version = np.lib.format.read_magic(handle)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(handle)
    except Exception as problem:
        # NumPy parses a header as code of Python, and passes on whatever a parser has to object.
        raise FileError(f"{path} is not a NumPy file ({problem}); write it with np.save.") from None
    if any(side < 0 for side in shape):
        raise FileError(f"{path} is not a NumPy file (its shape is {shape}); write it with np.save.")
    return shape, fortran, dtype


def _names_in(path: Path, size: int, handle: IO[bytes]) -> NDArray[Any]:
    shape, _, dtype = _header_of(path, handle)
    if dtype.hasobject or len(shape) != 1:
        raise FileError(
            f"{path} has names of type {dtype} and shape {shape}; they are a list of text or of numbers. Save them "
            "with names=np.array(names, dtype=str)."
        )
    if shape[0] * dtype.itemsize > size - handle.tell():
        raise FileError(f"{path} declares {shape[0]} names but is too short to hold them; write it again.")
    return np.frombuffer(_whole(path, handle, shape[0] * dtype.itemsize), dtype=dtype, count=shape[0])


def _listed_names(path: Path, found: NDArray[Any]) -> tuple[Hashable, ...]:
    try:
        return tuple(found.tolist())
    except (SystemError, ValueError):
        raise FileError(f"{path} has names with letters that do not exist; write it again.") from None


def _whole(path: Path, handle: IO[bytes], size: int) -> bytes:
    """Return so many bytes; raise if there are fewer, whatever the file says of its size."""
    content = handle.read(size)
    if len(content) < size:
        raise FileError(f"{path} ends after {len(content)} of {size} bytes of an array; write it again.")
    return content


def _array_in(path: Path, size: int, handle: IO[bytes]) -> NDArray[np.float64]:
    shape, fortran, dtype = _header_of(path, handle)
    if dtype.kind not in "biuf":
        raise FileError(f"{path} holds entries of type {dtype}; save an array of numbers.")
    if len(shape) != 2:
        raise DataError(f"{path} holds an array of shape {shape}; a table has rows and columns.")
    cells = math.prod(shape)
    if cells * dtype.itemsize > size - handle.tell():
        raise FileError(
            f"{path} declares {shape[0]} × {shape[1]} numbers but is too short to hold them; write it again."
        )
    require_memory(path, 2.0 * 8 * cells)
    values = np.frombuffer(_whole(path, handle, cells * dtype.itemsize), dtype=dtype, count=cells)
    # Some of the patterns that stand for NaN set off an alarm when they are converted.
    with np.errstate(invalid="ignore"):
        return values.reshape(shape, order="F" if fortran else "C").astype(np.float64)
