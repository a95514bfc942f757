"""From what users have to a checked, named table or a stream of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from rfdag.errors import DataError
from rfdag.input import dask as partitions
from rfdag.input.categories import with_booleans
from rfdag.input.checks import (
    check_columns,
    check_complete,
    check_no_moments,
    check_rows,
    check_usable,
    checked_names,
    usable,
)
from rfdag.input.description import Description
from rfdag.input.frames import is_numbered, places_of
from rfdag.input.gathering import gathered
from rfdag.input.preparation import prepared
from rfdag.input.separate import read_separate
from rfdag.input.sources import open_source
from rfdag.input.table import Stream, Table
from rfdag.input.weights import repeated

__all__ = ["as_table", "in_memory", "is_numbered", "places_of", "read"]


def read(
    source: Any,
    form: Description | None = None,
    names: Sequence[Hashable] | None = None,
    threads: int = 1,
) -> Table | Stream:
    """Return the rows of a source under their names, as a table in memory or as a stream.

    Parameters
    ----------
    source
        Anything that one of `rfdag.input.sources.READERS` opens.
    form
        How the source is written, and which of it is used.
    names
        One name per column of the source, in place of those that it has.
    threads
        How many threads will read.

    Returns
    -------
    Table or Stream
        A table in memory has no infinite values, and no missing ones unless the description bridges gaps. Those of a
        stream are found when it is read, but for missing values that its files count.

    Examples
    --------
    >>> read([[1.0, 2.0], [3.0, 5.0]], names=["a", "b"]).names
    ('a', 'b')
    """
    form = form or Description()
    if form.targets is not None and form.environments is None and not isinstance(source, Table):
        return read_separate(source, form, names, partial(read, threads=threads))
    found = open_source(source, form, threads)
    if form.transpose:
        found = prepared(found, form)
        found = found.renamed(checked_names(found.names, names))
    else:
        found = prepared(found.renamed(checked_names(found.names, names)), form)
    if isinstance(found, Table):
        check_usable(found, gaps=form.bridges_gaps)
    elif not form.bridges_gaps:
        check_complete(found.names, found.missing)
    return found


def in_memory(
    source: Any, names: Sequence[Hashable] | None = None, form: Description | None = None, *, gaps: bool = False
) -> Table:
    """Return all rows of data as one checked table; a stream is read into memory, if it fits.

    Missing values are refused unless the caller can do with ``gaps`` and the description bridges them.
    """
    check_has_rows(source)
    form = form or Description()
    found = read(source, form, names)
    table = gathered(found)
    check_usable(table, gaps=gaps and form.bridges_gaps)
    check_columns(table.names)
    check_rows(table.rows)
    check_no_moments(table.values, rows_needed=True)
    return repeated(table)


def check_has_rows(source: Any) -> None:
    """Raise for sources whose rows are not at hand: Dask collections, graphs, and moments."""
    if partitions.is_collection(source):
        raise DataError(
            f"Found a Dask {type(source).__name__}; the rows themselves are needed, in memory. Pass its .compute()."
        )
    if hasattr(type(source), "adj") or hasattr(type(source), "partial_correlations"):
        raise DataError(f"Found a {type(source).__name__}, which has no rows; pass data, one row per sample.")


def as_table(source: Any, form: Description | None = None) -> Table:
    """Return numbers and column names of a source, all in memory and not yet checked.

    >>> as_table([[1, 2], [3, 4]]).names
    (0, 1)
    """
    opened = open_source(source, form)
    return gathered(usable(with_booleans(opened) if isinstance(opened, Table) else opened, categories=False))
