"""The rows behind a result, where the caller still has them: what moments do not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError
from rfdag.input.description import Description
from rfdag.input.reading import in_memory, places_of
from rfdag.input.text import Table
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.result import Result

Floats = NDArray[np.float64]
CELLS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Rows:
    """Shape of every column's distribution.

    ``skewness`` and ``kurtosis`` (that of a Gaussian is 0) are those of the standardised column, ``distinct`` counts
    its different values, ``lowest`` and ``highest`` are its extremes.
    """

    hash: str
    skewness: Floats
    kurtosis: Floats
    distinct: NDArray[np.int64]
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, data: Any, result: Result, form: Description | None = None) -> Rows:
        """Return what the data say of the columns of the result; raise if they are others."""
        table = in_memory(data, form=form)
        n, p = table.values.shape
        if p != len(result.names) or (result.n_samples is not None and n != result.n_samples):
            rows = "exact input" if result.n_samples is None else counted(result.n_samples, "row")
            raise OptionError(
                f"data= has {counted(n, 'row')} and {counted(p, 'column')}, the result {rows} and "
                f"{counted(len(result.names), 'variable')}; pass the data that the result was learnt from, or leave "
                "data out."
            )
        # Names that the result does not have are those that learn(…, names=…) replaced.
        places = places_of(result.names, table, data) or range(p)
        shapes = [_shape(table.values[:, at]) for at in places]
        skewness, kurtosis, distinct, lowest, highest = map(np.array, zip(*shapes, strict=True))
        return cls(_hash(data, table), skewness, kurtosis, distinct, lowest, highest)


def files_of(data: Any) -> list[Path]:
    """Return the files that data are read from; none if they are not files.

    >>> files_of("a.csv"), files_of([[1.0]])
    ([PosixPath('a.csv')], [])
    """
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        return sorted(entry for entry in path.iterdir() if entry.is_file()) if path.is_dir() else [path]
    if isinstance(data, list | tuple) and data and all(isinstance(entry, str | Path) for entry in data):
        return [Path(entry).expanduser() for entry in data]
    return []


def _hash(data: Any, table: Table) -> str:
    digest = hashlib.sha256()
    for piece in _bytes_of(data, table):
        digest.update(piece)
    return digest.hexdigest()


def _bytes_of(data: Any, table: Table) -> Iterator[bytes]:
    files = files_of(data)
    for path in files:
        with open(path, "rb") as handle:
            while piece := handle.read(CELLS_AT_ONCE):
                yield piece
    if not files:
        yield repr(tuple(map(str, table.names))).encode(errors="surrogatepass")
        step = max(1, CELLS_AT_ONCE // len(table.names))
        for start in range(0, len(table.values), step):
            yield np.ascontiguousarray(table.values[start : start + step], "<f8").tobytes()


def _shape(column: Floats) -> tuple[float, float, int, float, float]:
    lowest, highest = float(column.min()), float(column.max())
    # Near 1 first, so that fourth powers neither overflow nor vanish.
    centred = column / max(abs(lowest), abs(highest))
    centred = centred - centred.mean()
    centred /= np.sqrt((centred**2).mean())
    skewness, kurtosis = float((centred**3).mean()), float((centred**4).mean()) - 3
    return skewness, kurtosis, len(np.unique(column)), lowest, highest
