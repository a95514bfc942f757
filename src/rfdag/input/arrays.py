"""NumPy's files: .npy with one array, .npz with an array and perhaps names."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Hashable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, FileError, listed
from rfdag.input.files import reading, require_memory
from rfdag.input.table import Table


def read_npy(path: Path) -> Table:
    """Read the array of a .npy file; its columns are numbered from 0."""
    with reading(path), open(path, "rb") as handle:
        values = _array_in(path, path.stat().st_size, handle)
    return Table(values, tuple(range(values.shape[1])))


def read_npz(path: Path) -> Table:
    """Read the only array of a .npz file, or the one called "data" or "X", and the "names" of its columns if given."""
    with reading(path), zipfile.ZipFile(path) as archive:
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
            f"{path} declares {shape[0]} × {shape[1]} numbers but is too short to hold them; write it again."
        )
    require_memory(path, 2.0 * 8 * cells)
    values = np.frombuffer(handle.read(cells * dtype.itemsize), dtype=dtype)
    return values.reshape(shape, order="F" if fortran else "C").astype(np.float64)
