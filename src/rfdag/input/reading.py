"""From whatever the user has to what the engines need: moments, or a DAG to play oracle."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, GraphError, OptionError, as_columns, keyword, listed, not_numbers
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.sparse import as_sparse, read_sparse
from rfdag.graphs.dag import Graph, find_cycle
from rfdag.input import dask as partitions
from rfdag.input.checks import (
    refuse_duplicates,
    refuse_missing,
    refuse_moments,
    refuse_unusable,
    require_some_rows,
    require_two_columns,
    require_two_rows,
)
from rfdag.input.dask import Partitions
from rfdag.input.description import WRITING, Description
from rfdag.input.sources import open_source
from rfdag.input.streaming import Source
from rfdag.input.text import Table, read_table

Input = Literal["data", "correlation", "covariance", "precision", "dag"]
INPUTS = ("data", "correlation", "covariance", "precision", "dag")


def read(
    source: Any,
    *,
    input: Input = "data",
    n_samples: int | None = None,
    names: Sequence[Hashable] | None = None,
    form: Description | None = None,
    check_size: Callable[[int, int], None] = lambda rows, columns: None,
    threads: int = 1,
    report: Callable[[float], None] = lambda share: None,
    in_blocks: Callable[[int], bool] = lambda columns: False,
    blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] = Moments.from_data,
    moments: Callable[[NDArray[Any], tuple[Hashable, ...]], Moments] = Moments.from_data,
    tolerance: float = 1e-8,
) -> Evidence:
    """Return the moments of the source, or the oracle of a DAG; sparse arrays are kept as such.

    ``check_size`` is told the number of rows and columns before any costly work, and may refuse; where only reading
    tells how many rows there are, after that. ``threads`` and ``report`` serve what is read in pieces. Data with so
    many columns that they are to be learnt ``in_blocks`` come back as the table they are. ``moments`` makes the moments
    of a table in memory. Moments of data that are known already pass through.
    """
    if input not in INPUTS:
        raise OptionError(f"{keyword('input')} is one of {listed(INPUTS)}, not {input!r}.")
    if isinstance(source, Evidence):
        if source.n_samples is not None and not source.sparse:
            check_size(source.n_samples, len(source.names))
        return source
    if input in ("data", "dag") and n_samples is not None:
        raise OptionError(
            f"{keyword('n_samples')} goes with a matrix of moments; with {keyword('input', input)} leave it out."
        )
    sparse = as_sparse(source) if input != "data" else None
    if sparse is not None:
        return read_sparse(sparse, input, n_samples, _labels(tuple(range(sparse.shape[-1])), names), tolerance)
    stream = open_source(source, form, threads) if input == "data" else None
    if isinstance(stream, Source) and stream.rows == len(stream.names):
        # As large as what is computed from it: it can be looked at as a whole, and may turn out to be no data.
        source, form, stream = _put_together(stream), None, None
    if stream is not None:
        if in_blocks(len(stream.names)):
            raise OptionError(
                f"Found {len(stream.names)} columns that are read in pieces; blocks of columns are found in a table in "
                f"memory. Pass an array or a frame, or {keyword('blocks', False)} if a matrix of all columns "
                "fits into memory."
            )
        return _from_stream(stream, names, check_size, threads, report)
    if input == "dag" and hasattr(source, "adj") and hasattr(source, "nodes"):
        source, names = _from_networkx(source, names)
    if input != "data" and nw.dependencies.is_pandas_dataframe(source):
        source = _with_rows_like_columns(source)
    table = as_table(source, form)
    table = Table(table.values, _labels(table.names, names))
    refuse_unusable(table)
    if input == "dag":
        return _oracle(table)
    rows, columns = table.values.shape
    require_two_columns(table.names)
    if input == "data":
        require_two_rows(rows)
        refuse_moments(table.values)
        if in_blocks(columns):
            return blocks(table.values, table.names)
        check_size(rows, columns)
        return moments(table.values, table.names)
    if n_samples is None and input != "precision":
        raise OptionError(
            f"A {input} matrix does not say how many rows it comes from; pass {keyword('n_samples')}. (Only a "
            f"precision matrix may be exact, without {keyword('n_samples')}.)"
        )
    if n_samples is not None:
        if not isinstance(n_samples, int | np.integer) or n_samples < 2:
            raise OptionError(f"{keyword('n_samples')} is a number of rows, at least 2, not {n_samples!r}.")
        n_samples = int(n_samples)
        check_size(n_samples, columns)
    if input == "precision":
        return Moments.from_precision(table.values, n_samples, table.names, tolerance)
    build = {"correlation": Moments.from_correlation, "covariance": Moments.from_covariance}[input]
    return build(table.values, n_samples, table.names)


def _from_stream(
    stream: Source | Partitions,
    names: Sequence[Hashable] | None,
    check_size: Callable[[int, int], None],
    threads: int,
    report: Callable[[float], None],
) -> Moments:
    """Return the moments of what is read in pieces."""
    labels = _labels(stream.names, names)
    require_two_columns(labels)
    if any(stream.missing):
        refuse_missing(labels, stream.missing, [])
    if stream.rows is not None:
        require_some_rows(stream.rows, len(labels))
        require_two_rows(stream.rows)
        check_size(stream.rows, len(labels))
    summary = stream.summarise(threads, report)
    require_some_rows(summary.count, len(labels))
    if not summary.usable:
        infinite = [name for name, count in zip(labels, summary.infinite, strict=True) if count]
        refuse_missing(labels, summary.missing.tolist(), infinite, summary.holed)
    require_two_rows(summary.count)
    if stream.rows is None:
        check_size(summary.count, len(labels))
    return Moments.from_summary(summary, labels)


def in_memory(source: Any, names: Sequence[Hashable] | None = None, form: Description | None = None) -> Table:
    """Return all rows of data as one checked table; what comes in pieces is put together."""
    if partitions.is_collection(source):
        raise DataError(
            f"Found a Dask {type(source).__name__}; the rows themselves are needed, in memory. Pass its .compute()."
        )
    if isinstance(source, Moments) or hasattr(type(source), "adj"):
        raise DataError(f"Found a {type(source).__name__}, which has no rows; pass data, one row per sample.")
    stream = open_source(source, form, threads=1)
    table = _put_together(stream) if isinstance(stream, Source) else as_table(source, form)
    table = Table(table.values, _labels(table.names, names))
    refuse_unusable(table)
    require_two_columns(table.names)
    require_two_rows(len(table.values))
    refuse_moments(table.values, rows_needed=True)
    return table


def _put_together(stream: Source) -> Table:
    """Return all rows of what comes in pieces, which can be read once."""
    blocks = [np.array(block) for piece in stream.pieces for block in piece.blocks()]
    return Table(np.concatenate([np.empty((0, len(stream.names))), *blocks]), stream.names)


def as_table(source: Any, form: Description | None = None) -> Table:
    """Return numbers and column names of an array, a data frame of any kind, or a file."""
    if isinstance(source, str | Path):
        return read_table(source, form)
    if form is not None and not form.is_plain_text:
        raise OptionError(f"{WRITING} belong to a text file; this input is not a path.")
    if isinstance(source, Table):
        return source
    if type(source).__module__.startswith("pyarrow") and hasattr(source, "to_struct_array"):
        source = _whole_table(source)
    # These two allow a name twice, which narwhals refuses without saying which.
    if nw.dependencies.is_pandas_dataframe(source):
        refuse_duplicates(list(source.columns))
    elif nw.dependencies.is_pyarrow_table(source):
        refuse_duplicates(source.column_names)
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    return _from_array(source)


def places_of(names: Sequence[Hashable], table: Table, source: Any) -> list[int] | None:
    """Return where the named columns stand in a table read from a source; None if the source does not name them.

    Columns of an array, or of a file without a header, are numbered: these numbers are places, not names, though
    columns may be called 2, 0, 1.

    >>> array = np.eye(3)
    >>> places_of([2, 0, 1], as_table(array), array) is None
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


def is_numbered(table: Table) -> bool:
    """Return whether the columns are called by their places, as those of an array are."""
    return table.names == tuple(range(len(table.names)))


def _whole_table(source: Any) -> Any:
    """Return an Arrow table or record batch as a table, without the index that pandas hides in it."""
    import pyarrow

    table = source if isinstance(source, pyarrow.Table) else pyarrow.Table.from_batches([source])
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


def _with_rows_like_columns(matrix: Any) -> Any:
    """Return a square frame with its rows in the order of its columns, if they are labelled at all."""
    import pandas

    rows, columns = list(matrix.index), list(matrix.columns)
    if rows == columns:
        return matrix
    refuse_duplicates(columns)
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


def _from_frame(frame: nw.DataFrame[Any]) -> Table:
    names = tuple(frame.columns)
    if not names:
        raise DataError("The data frame has no columns; it needs at least two.")
    values = np.empty((len(frame), len(names)))
    words: dict[Hashable, str] = {}
    for at, name in enumerate(names):
        column = frame.get_column(name)
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            values[:, at] = column.cast(nw.Float64).to_numpy()
        elif column.dtype == nw.Object and all(_is_number(entry) for entry in column.to_numpy()):
            values[:, at] = column.to_numpy().astype(np.float64)
        else:
            words[name] = str(column.dtype).partition("(")[0]
    if words:
        raise not_numbers("These columns are", words)
    return Table(values, names)


def _is_number(entry: object) -> bool:
    return entry is None or isinstance(entry, numbers.Real | Decimal)


def _from_array(source: Any) -> Table:
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
        raise DataError("The rows have different lengths; a table has the same columns in every row.") from None
    if values.ndim == 0 and not isinstance(source, np.ndarray | np.generic):
        found = "None" if source is None else f"an object of type {type(source).__name__}"
        if isinstance(source, dict):
            found = f"a dict with the keys {listed(source)}; pandas.DataFrame makes a frame of it"
        raise DataError(
            f"Found {found}. Data are a two-dimensional array or list, a data frame, or the path of a file."
        )
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
        values = _as_numbers(values)
    return Table(values, names)


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    numbers = np.empty(values.shape)
    words: dict[int, object] = {}
    for at in range(values.shape[1]):
        try:
            numbers[:, at] = values[:, at].astype(np.float64)
        except (TypeError, ValueError) as problem:
            words[at] = problem
    if words:
        raise DataError(
            f"These columns are not numbers: {as_columns(words)} ({next(iter(words.values()))}). Drop them or encode "
            "them: every argument must be a number."
        )
    return numbers


def _from_networkx(graph: Any, names: Sequence[Hashable] | None) -> tuple[Graph, Sequence[Hashable]]:
    if not graph.is_directed():
        raise GraphError("The graph is undirected; an oracle needs a networkx.DiGraph without cycles.")
    nodes = list(graph.nodes) if names is None else list(names)
    place = {node: at for at, node in enumerate(nodes)}
    dag = np.zeros((len(nodes), len(nodes)), np.int8)
    unknown = [node for node in graph.nodes if node not in place]
    if unknown:
        raise GraphError(f"The graph has nodes {listed(unknown)} that names does not list; list every node.")
    for parent, child in graph.edges():
        dag[place[parent], place[child]] = 1
    return dag, nodes


def _oracle(table: Table) -> Oracle:
    values = table.values
    if values.shape[0] != values.shape[1]:
        raise GraphError(f"Found an array of shape {values.shape}; a DAG is a square matrix.")
    dag = (values != 0).astype(np.int8)
    cycle = find_cycle(dag)
    if cycle:
        arrows = " → ".join(repr(table.names[node]) for node in cycle)
        raise GraphError(f"This is not a DAG: it has the cycle {arrows}. Remove or turn one of these edges.")
    return Oracle(table.names, dag)


def _labels(found: tuple[Hashable, ...], names: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """Return the names that were found, or those that are wanted instead."""
    if names is not None:
        if len(names) != len(found):
            raise OptionError(f"names has {len(names)} entries for {len(found)} columns; give one for each.")
        unhashable = [name for name in names if not isinstance(name, Hashable)]
        if unhashable:
            raise OptionError(f"A name is text, a number or another hashable value, not {listed(unhashable)}.")
        found = tuple(names)
    refuse_duplicates(found)
    return found
