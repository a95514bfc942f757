"""Data frames of any kind, arrays and nested lists as tables."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, GraphError, as_column, keyword, listed
from rfdag.input.categories import sorting_key
from rfdag.input.checks import check_duplicates
from rfdag.input.files import FEWER, require_memory
from rfdag.input.table import Stream, Table
from rfdag.input.words import DATES, FEW_WORDS, MIXED, TEXT, Coded, Words, are_dates
from rfdag.values import shown

SHOWN = 2
"""Entries of a column of text that a message shows."""


def is_frame(source: Any) -> bool:
    """Return whether a source is a data frame, lazy or not, or an Arrow table or record batch.

    >>> is_frame([[1.0, 2.0]])
    False
    """
    if isinstance(source, np.ndarray | list | tuple):
        # narwhals would find that out, too, in the time of a tenth of a small problem.
        return False
    if nw.dependencies.is_pandas_dataframe(source) or _is_arrow(source):
        # Both allow a name twice, at which narwhals would stop here.
        return True
    return isinstance(nw.from_native(source, pass_through=True), nw.DataFrame | nw.LazyFrame)


def makes_frame(source: Any) -> bool:
    """Return whether a source is no data frame but makes one by its method ``to_df``, as an AnnData does.

    >>> makes_frame([[1.0, 2.0]])
    False
    """
    return callable(getattr(type(source), "to_df", None)) and not is_frame(source)


def framed(source: Any) -> Any:
    """Return the data frame that an AnnData or its like makes: rows by observation, columns by variable.

    Any other source is returned as it is.
    """
    if not makes_frame(source):
        return source
    kind, shape = type(source).__name__, tuple(getattr(source, "shape", ()))
    if len(shape) == 2:
        # What is sparse there is dense in the frame, and once more in the table.
        require_memory(f"A {kind} of {shape[0]} × {shape[1]} numbers", 2.0 * 8 * shape[0] * shape[1], FEWER)
    try:
        frame = source.to_df()
    except ValueError as problem:
        raise DataError(
            f"The {kind} makes no data frame: {problem}. Pass a frame or an array of its numbers."
        ) from None
    if not is_frame(frame):
        raise DataError(f"The {kind} makes a {type(frame).__name__} by .to_df(); a data frame is needed. Pass one.")
    return frame


def from_frame(source: Any) -> Table:
    """Return the numbers and column names of a data frame."""
    if _is_arrow(source):
        source = _whole_table(source)
    if nw.dependencies.is_pandas_dataframe(source):
        check_duplicates(list(source.columns))
    elif nw.dependencies.is_pyarrow_table(source):
        check_duplicates(source.column_names)
    frame = nw.from_native(source)
    table = _from_columns(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)
    return table._replace(labels=_labels_of(source))


def _labels_of(source: Any) -> tuple[str, ...] | None:
    """Return the labels of the rows of a pandas frame, where its index is more than a count."""
    if not nw.dependencies.is_pandas_dataframe(source):
        return None
    import pandas

    return None if isinstance(source.index, pandas.RangeIndex) else tuple(map(str, source.index))


def _is_arrow(source: Any) -> bool:
    return type(source).__module__.startswith("pyarrow") and hasattr(source, "to_struct_array")


def _whole_table(source: Any) -> Any:
    """Return an Arrow table or record batch as a table, without the index that pandas hides in it."""
    import pyarrow

    table = source if isinstance(source, pyarrow.Table) else pyarrow.Table.from_batches([source])
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


def with_rows_like_columns(matrix: Any) -> Any:
    """Return a square matrix; of a pandas frame whose rows are labelled, with its rows in the order of its columns."""
    if not nw.dependencies.is_pandas_dataframe(matrix):
        return matrix
    import pandas

    rows, columns = list(matrix.index), list(matrix.columns)
    if rows == columns:
        return matrix
    check_duplicates(columns)
    # Columns may be called 2, 0, 1: rows that only count from 0 are no labels, but those that were given are.
    if len(rows) == len(columns) and set(rows) == set(columns) and not isinstance(matrix.index, pandas.RangeIndex):
        return matrix.loc[columns]
    if rows == list(range(len(rows))):
        return matrix
    stray = [name for name in rows if name not in columns] or rows
    raise GraphError(
        f"The rows of the frame are labelled {listed(stray)}, the columns {listed(columns)}. A graph or matrix needs "
        "the same labels on both, or rows numbered from 0."
    )


def _from_columns(frame: nw.DataFrame[Any]) -> Table:
    names = tuple(frame.columns)
    if not names:
        raise DataError("The data frame has no columns; it needs at least two.")
    values = np.empty((len(frame), len(names)))
    words: dict[int, Words] = {}
    for at, name in enumerate(names):
        column = frame.get_column(name)
        if column.dtype.is_numeric():
            values[:, at] = column.cast(nw.Float64).to_numpy()
        elif column.dtype == nw.Object and _are_numbers(column.to_numpy()):
            values[:, at] = [np.nan if _is_absent(entry) else float(entry) for entry in column.to_list()]
        else:
            values[:, at] = np.nan
            words[at] = _words_in(column)
    return Table(values, names, words)


def _words_in(column: nw.Series[Any]) -> Words:
    """Return what a column holds that is not numbers."""
    kind = str(column.dtype).partition("(")[0]
    declared = kind in ("Categorical", "Enum")
    if kind in ("String", "Categorical", "Enum", "Object", "Boolean"):
        kind = TEXT
    elif kind in ("Date", "Datetime", "Time", "Duration"):
        kind = DATES
    codes, entries = _coded(column)
    if kind == TEXT and not declared and are_dates([str(entry).strip() for entry in entries]):
        kind = DATES
    words = _words_among(codes, entries, kind)._replace(levels=_levels_of(column, entries) if declared else None)
    # Whatever a category type declares is a level, numbers as well.
    if kind != TEXT or declared or not any(map(_is_number, entries)):
        return words
    number = np.array([_is_number(entry) for entry in entries])
    text = [str(entry) for entry, is_number in zip(entries, number, strict=True) if not is_number]
    row = int(np.flatnonzero((codes >= 0) & ~number[codes])[0])
    shown = tuple(text[:FEW_WORDS])
    return words._replace(kind=MIXED, examples=shown, place=f"row {row}", others=len(text) - len(shown))


def _levels_of(column: nw.Series[Any], entries: Sequence[Any]) -> tuple[str, ...]:
    """Return the levels that a category type declares, in its order; without an order in polars, sorted."""
    if nw.dependencies.is_polars_series(column.to_native()) and column.dtype == nw.Categorical:
        # polars keeps the categories of all columns together, in the order in which a program meets them.
        return tuple(sorted(map(str, entries), key=sorting_key))
    return tuple(map(_as_text, column.cat.get_categories().to_list()))


def _coded(column: nw.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the different entries of a column, and which of them each row has; −1 where it is missing."""
    native = column.to_native()
    if nw.dependencies.is_pandas_series(native):
        import pandas

        try:
            codes, different = pandas.factorize(native)
        except TypeError:
            raise DataError(
                f"{as_column(native.name)} holds objects such as {shown(native.dropna().iloc[0])}; a cell is a number, "
                "text, or missing. Leave the column out, or make numbers of it."
            ) from None
        return np.asarray(codes, np.int64), list(different)
    if nw.dependencies.is_polars_series(native) and column.dtype in (nw.String, nw.Enum, nw.Categorical):
        polars = nw.dependencies.get_polars()
        text = native.cast(polars.String)
        different = text.drop_nulls().unique(maintain_order=True)
        encoded = text.cast(polars.Enum(different)).to_physical()
        return encoded.cast(polars.Int64).fill_null(-1).to_numpy(), different.to_list()
    return coded(column.to_list())


def coded(entries: Sequence[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the different entries of a sequence, and which of them each is; −1 where one is missing.

    >>> coded(["b", None, "a", "b"])
    (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    place: dict[Any, int] = {}
    codes = np.array([-1 if _is_absent(entry) else place.setdefault(entry, len(place)) for entry in entries], np.int64)
    return codes, list(place)


def _words_among(codes: NDArray[np.int64], entries: Sequence[Any], kind: str = TEXT) -> Words:
    different = tuple(map(_as_text, entries))
    unique = len(codes) > SHOWN and len(different) == len(codes)
    return Words(kind, different[:SHOWN], "", unique, max(len(different) - SHOWN, 0), coded=Coded(codes, different))


def _as_text(entry: object) -> str:
    """Return an entry as text; a number as it is written as a level."""
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)


def _is_absent(entry: object) -> bool:
    """Return whether an entry stands for a missing value: None, NaN, or the mark of a library."""
    return entry is None or entry != entry or str(entry) in ("<NA>", "NaT")


def _is_number(entry: object) -> bool:
    return isinstance(entry, numbers.Real | Decimal) and not isinstance(entry, bool | np.bool_) and entry == entry


def _are_numbers(entries: NDArray[Any]) -> bool:
    """Return whether all entries of a column of objects are numbers, or missing."""
    return all(_is_absent(entry) or _is_number(entry) for entry in entries) and any(map(_is_number, entries))


def from_array(source: Any) -> Table:
    """Return the numbers of an array or nested list, whose columns are numbered from 0."""
    if hasattr(source, "toarray"):
        raise DataError(
            f"Found a sparse {type(source).__name__}; as data, pass its .toarray(), which needs 8 bytes for every "
            f"entry. As {keyword('input', 'precision')} or {keyword('input', 'dag')} a sparse array is taken as it is."
        )
    try:
        values = np.asarray(source)
        if np.ma.isMaskedArray(source):
            values = np.ma.filled(source.astype(np.float64), np.nan)
    except ValueError:
        if not isinstance(source, list | tuple):
            raise _no_table(source) from None
        raise DataError("The rows have different lengths; a table has the same columns in every row.") from None
    if values.ndim == 0 and not isinstance(source, np.ndarray | np.generic):
        raise _no_table(source)
    if values.ndim != 2:
        hint = " Reshape your data: X.reshape(-1, 1) makes a column." if values.ndim == 1 else ""
        raise DataError(
            f"Found an array of shape {values.shape}; expected 2D array with one row per sample and one column "
            f"per variable.{hint}"
        )
    names = tuple(range(values.shape[1]))
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported; pass real numbers.")
    if values.dtype.kind not in "biuf":
        return _of_objects(values, names)
    return Table(values, names)


def _no_table(source: Any) -> DataError:
    """Return the error for what is no table."""
    found = "None" if source is None else f"an object of type {type(source).__name__}"
    if isinstance(source, dict):
        found = f"a dict with the keys {listed(source)}; pandas.DataFrame makes a frame of it"
    return DataError(f"Found {found}. Data are a two-dimensional array or list, a data frame, or the path of a file.")


def _of_objects(cells: NDArray[Any], names: tuple[int, ...]) -> Table:
    """Return the numbers in an array of text or objects."""
    values = np.full(cells.shape, np.nan)
    words = {}
    for at in names:
        try:
            values[:, at] = cells[:, at].astype(np.float64)
        except (TypeError, ValueError):
            words[at] = _words_among(*coded(cells[:, at].tolist()))
    return Table(values, names, words)


def places_of(names: Sequence[Hashable], table: Table | Stream, source: Any) -> list[int] | None:
    """Return where the named columns stand in a table read from a source; None if the source does not name them.

    Columns of an array, or of a file without a header, are numbered: these numbers are places, not names, though
    columns may be called 2, 0, 1.

    >>> array = np.eye(3)
    >>> places_of([2, 0, 1], from_array(array), array) is None
    True
    >>> named = Table(array, (0, 1, 2))
    >>> places_of([2, 0, 1], named, named)
    [2, 0, 1]
    """
    carries_names = isinstance(source, Table) or nw.dependencies.is_into_dataframe(source)
    if is_numbered(table) and not carries_names:
        return None
    place = {name: at for at, name in enumerate(table.names)}
    return [place[name] for name in names] if all(name in place for name in names) else None


def is_numbered(table: Table | Stream) -> bool:
    """Return whether the columns are called by their places, as those of an array are."""
    return table.names == tuple(range(len(table.names)))
