"""All rows of a stream in memory, if they fit."""

from __future__ import annotations

import operator

import numpy as np

from rfdag.input.files import require_memory
from rfdag.input.table import Floats, Stream, Table
from rfdag.input.weights import checked_weights

FEWER = "Here all rows are needed in memory: read fewer columns or rows."
"""What to do if a table does not fit."""


def gathered(stream: Table | Stream) -> Table:
    """Return all rows of a stream in memory, NaN in columns that are not numbers; raise if they do not fit."""
    if isinstance(stream, Table):
        return stream
    columns = len(stream.names)
    if stream.rows is not None:
        what = f"A table of {stream.rows} rows and {columns} columns"
        require_memory(what, 2.0 * 8 * stream.rows * columns, FEWER)
    numbers = [at for at in range(columns) if at not in stream.words]
    values = np.concatenate((stream if len(numbers) == columns else stream.only(numbers)).fold(_kept, operator.add))
    if len(numbers) < columns:
        read, values = values, np.full((len(values), columns), np.nan)
        values[:, numbers] = read
    table = Table(values, stream.names, stream.words, account=stream.account, origin=stream.origin)
    if stream.weighted:
        table = checked_weights(table._replace(values=values[:, :-1], weights=values[:, -1].copy()))
    return table


def _kept(block: Floats) -> list[Floats]:
    """Return a copy of a block that stays in memory, if there is room for it and for the table it becomes part of."""
    require_memory("The next part of the table", 2.0 * block.nbytes, FEWER)
    return [np.array(block, order="C")]
