"""From a source to the evidence in it: moments of rows or of a matrix, the oracle of a DAG, sparse arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from rfdag.errors import FileError, OptionError, keyword
from rfdag.evidence.correlations import CORRELATIONS, Correlation
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.profile import profile_of
from rfdag.evidence.sparse import as_sparse, read_sparse
from rfdag.input.checks import (
    check_columns,
    check_complete,
    check_no_moments,
    check_not_empty,
    check_rows,
    check_usable,
    checked_names,
)
from rfdag.input.description import Description
from rfdag.input.frames import with_rows_like_columns
from rfdag.input.graphs import from_networkx, is_networkx
from rfdag.input.reading import as_table, gathered, read
from rfdag.input.table import Stream, Table


def read_evidence(
    source: Any,
    *,
    input: str = "data",
    n_samples: int | None = None,
    names: Sequence[Hashable] | None = None,
    form: Description | None = None,
    check_size: Callable[[int, int], None] = lambda rows, columns: None,
    threads: int = 1,
    report: Callable[[float], None] = lambda share: None,
    in_blocks: Callable[[int], bool] = lambda columns: False,
    blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] = Moments.from_data,
    moments: type[Moments] = Moments,
    tolerance: float = 1e-8,
    correlation: str = "pearson",
) -> Evidence:
    """Return the evidence in a source.

    Parameters
    ----------
    source
        Rows, a matrix or a DAG, in any form that `rfdag.learn` takes.
    input, n_samples, tolerance, names
        As in `rfdag.learn`.
    form
        How a text file is written.
    check_size
        Called with the number of rows and columns before any costly work, and may raise; after reading where the
        number of rows is not known before.
    threads, report
        How many threads read what comes in pieces, and what is called with the share done.
    in_blocks
        Whether so many columns are to be learnt in blocks.
    blocks
        What makes evidence of numbers and names that are.
    moments
        The class that makes moments: `rfdag.evidence.gpu.DeviceMoments` for those on a GPU.
    correlation
        How columns are correlated: a name in `rfdag.evidence.correlations.CORRELATIONS`.

    Returns
    -------
    Evidence
        Moments of data or of a matrix, the oracle of a DAG, sparse evidence, or the evidence to find blocks in.

    Examples
    --------
    >>> read_evidence([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], names=["a", "b"]).correlation
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if input == "data":
        rows = read(source, form, names, threads)
        make = blocks if in_blocks(len(rows.names)) else None
        if make is not None and not rows.in_memory:
            raise OptionError(
                f"Found {len(rows.names)} columns that are read in pieces; blocks of columns are found in a table in "
                f"memory. Pass an array or a frame, or {keyword('blocks', False)} if a matrix of all columns fits into "
                "memory."
            )
        correlated = CORRELATIONS[correlation]
        # A square table is no larger than what is computed from it, and may turn out to be a matrix of moments.
        if make is not None or rows.rows == len(rows.names):
            rows = _gathered(rows)
        elif not _readable(rows, correlated):
            rows = _gathered_for(rows, correlated)
        if isinstance(rows, Table):
            return _of_table(rows, check_size, make, moments, correlated, threads, report)
        return _of_stream(
            rows, check_size, threads, report, moments, correlated, lambda: read(source, form, names, threads)
        )
    sparse = as_sparse(source)
    if sparse is not None:
        return read_sparse(sparse, input, n_samples, checked_names(tuple(range(sparse.shape[-1])), names), tolerance)
    if input == "dag" and is_networkx(source):
        source = from_networkx(source, names)
    table = as_table(with_rows_like_columns(source), form)
    table = table.renamed(checked_names(table.names, names))
    check_usable(table)
    if input == "dag":
        return Oracle(table.values, table.names)
    return _of_matrix(table, input, n_samples, tolerance, check_size)


def _gathered(rows: Table | Stream) -> Table:
    """Return all rows in memory, checked."""
    table = gathered(rows)
    if table is not rows:
        check_usable(table)
    return table


def _readable(rows: Table | Stream, correlated: Correlation) -> bool:
    """Return whether rows can be read as many times as a correlation needs."""
    return correlated.passes == 1 or (correlated.passes > 1 and getattr(rows, "repeatable", False))


def _gathered_for(rows: Stream, correlated: Correlation) -> Table:
    """Return all rows in memory, for a correlation that cannot do with reading them once, in pieces."""
    try:
        return _gathered(rows)
    except FileError as problem:
        asked = keyword("correlation", correlated.name)
        if correlated.passes > 1:
            sentence = f"{asked} reads rows twice, and this input can be read once."
            cure = "Or pass the files themselves, their folder or a dataset, which can be read again."
        else:
            sentence = f"{asked} compares all rows with each other."
            cure = f"Or pass {keyword('correlation', 'normal-scores')}, which reads rows in pieces."
        raise FileError(f"{sentence} {problem.message.template} {cure}") from None


def _of_table(
    table: Table,
    check_size: Callable[[int, int], None],
    blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] | None,
    moments: type[Moments],
    correlated: Correlation,
    threads: int,
    report: Callable[[float], None],
) -> Evidence:
    """Return the moments of rows in memory, or the evidence of blocks if they are learnt in blocks."""
    check_columns(table.names)
    check_rows(table.rows)
    check_no_moments(table.values)
    if blocks is not None:
        found = blocks(correlated.for_blocks(table.values), table.names)
        return found.with_profile(profile_of(table.values, table.names, correlated.kinds))
    check_size(table.rows, len(table.names))
    return correlated.of_table(table.values, table.names, moments, threads, report)


def _of_stream(
    stream: Stream,
    check_size: Callable[[int, int], None],
    threads: int,
    report: Callable[[float], None],
    moments: type[Moments],
    correlated: Correlation,
    again: Callable[[], Table | Stream],
) -> Moments:
    """Return the moments of rows that are read in pieces; they are summed up on the CPU, whatever the device."""
    columns = len(stream.names)
    check_columns(stream.names)
    if stream.rows is not None:
        check_not_empty(stream.rows, columns)
        check_rows(stream.rows)
        check_size(stream.rows, columns)
    opened = chain([stream], iter(again, None))

    def fold(of: Any, join: Any, report: Callable[[float], None]) -> Any:
        rows: Any = next(opened)
        return rows.fold(of, join, threads, report)

    def check(summary: Any) -> None:
        check_not_empty(summary.count, columns)
        check_complete(stream.names, summary.missing.tolist(), summary.infinite.tolist(), summary.incomplete)
        check_rows(summary.count)
        if stream.rows is None:
            check_size(summary.count, columns)

    return correlated.of_stream(fold, stream.names, moments, check, report)


def _of_matrix(
    table: Table, input: str, n_samples: int | None, tolerance: float, check_size: Callable[[int, int], None]
) -> Moments:
    """Return the moments that a matrix of them holds."""
    check_columns(table.names)
    if n_samples is not None:
        check_size(n_samples, len(table.names))
    elif input != "precision":
        raise OptionError(
            f"A {input} matrix does not say how many rows it comes from; pass {keyword('n_samples')}. (Only a "
            "precision matrix may be exact.)"
        )
    if input == "precision":
        return Moments.from_precision(table.values, n_samples, table.names, tolerance)
    build = {"correlation": Moments.from_correlation, "covariance": Moments.from_covariance}[input]
    return build(table.values, n_samples, table.names)
