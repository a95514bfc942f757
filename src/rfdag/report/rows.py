"""The rows behind a result, where the caller still has them: what moments do not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError
from rfdag.evidence.gaps import filled_from_others
from rfdag.input.checks import check_columns, check_complete, check_no_moments, check_rows, check_usable
from rfdag.input.description import Description
from rfdag.input.reading import check_has_rows, places_of, read
from rfdag.input.sources import files_of, is_path
from rfdag.input.table import Stream, Table
from rfdag.report.shapes import Shapes, values_per_column
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.result import Result

Floats = NDArray[np.float64]
CELLS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Rows:
    """Shape of every column's distribution.

    ``skewness`` and ``kurtosis`` (that of a Gaussian is 0) are those of the standardised column, ``distinct`` counts
    its different values, those of data that are read in pieces only up to ``distinct_up_to``, ``lowest`` and
    ``highest`` are its extremes.
    """

    hash: str
    skewness: Floats
    kurtosis: Floats
    distinct: NDArray[np.int64]
    distinct_up_to: int | None
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, data: Any, result: Result, form: Description | None = None) -> Rows:
        """Return what the data show of the columns of the result; raise if they are other data.

        Data that are read in pieces are read once more, and never are in memory as a whole.
        """
        check_has_rows(data)
        form = _of_the_run(data, result) if form is None else form
        found = _of_the_result(read(data, form), data, result)
        check_columns(found.names)
        if found.rows is not None and not found.weighted:
            check_rows(found.rows)
            _check_size(found.rows, found, result)
        digest = hashlib.sha256()
        files = files_of(data)
        for piece in _bytes_in(files):
            digest.update(piece)
        if not files:
            digest.update(repr(tuple(map(str, found.names))).encode(errors="surrogatepass"))
        gappy = _has_gaps(result)
        if isinstance(found, Table):
            check_usable(found, gaps=gappy)
            check_no_moments(found.values, rows_needed=True)
            if not files:
                for piece in _bytes_of(found.values):
                    digest.update(piece)
            # Of columns with gaps the shape of what is known.
            whole = filled_from_others(found.values) if np.isnan(found.values).any() else found.values
            shapes, up_to = Shapes.of_table(whole), None
        else:

            def of(block: Floats) -> Shapes:
                # One thread reads, so that blocks come in the order of the rows.
                if not files:
                    digest.update(np.ascontiguousarray(block, "<f8").tobytes())
                return Shapes.of(block[:, : len(found.names)])

            shapes, up_to = found.fold(of, Shapes.joined), values_per_column(len(found.names))
            missing = [0] * len(found.names) if gappy else shapes.missing.tolist()
            check_complete(found.names, missing, shapes.infinite.tolist())
            if not found.weighted:
                _check_size(shapes.count, found, result)
        # Names that the result does not have are those that learn(…, names=…) replaced.
        places = places_of(result.names, found, data) or list(range(len(found.names)))
        return cls(
            digest.hexdigest(),
            shapes.skewness[places],
            shapes.kurtosis[places],
            shapes.distinct[places],
            up_to,
            shapes.lowest[places],
            shapes.highest[places],
        )


def _of_the_run(data: Any, result: Result) -> Description:
    """Return the description that the run had, without what only files have where the data are no file."""
    described = result.settings.description
    if is_path(data):
        return described
    return replace(described, **{name: Description.declared()[name].default for name in described.of_cells()})


def _of_the_result(found: Table | Stream, data: Any, result: Result) -> Table | Stream:
    """Return the columns that became variables of the result; all of them where they have no names."""
    places = places_of(result.names, found, data)
    return found if places is None or len(places) == len(found.names) else found.only(places)


def _has_gaps(result: Result) -> bool:
    """Return whether values were missing in the rows that the result was learnt from."""
    return any(column.missing for column in result.columns)


def _check_size(rows: int, found: Table | Stream, result: Result) -> None:
    columns = len(found.names)
    # Rows with gaps count for fewer than they are.
    same = result.n_samples is None or rows == result.n_samples or (_has_gaps(result) and rows > result.n_samples)
    if columns != len(result.names) or not same:
        expected = "exact input" if result.n_samples is None else counted(result.n_samples, "row")
        raise OptionError(
            f"data= has {counted(rows, 'row')} and {counted(columns, 'column')}, the result {expected} and "
            f"{counted(len(result.names), 'variable')}; pass the data that the result was learnt from, or leave "
            "data out."
        )


def _bytes_in(files: Iterable[Path]) -> Iterator[bytes]:
    for path in files:
        with open(path, "rb") as handle:
            while piece := handle.read(CELLS_AT_ONCE):
                yield piece


def _bytes_of(values: NDArray[Any]) -> Iterator[bytes]:
    step = max(1, CELLS_AT_ONCE // values.shape[1])
    for start in range(0, len(values), step):
        yield np.ascontiguousarray(values[start : start + step], "<f8").tobytes()
