"""All rows of a stream in memory, if they fit."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from rfdag.input.coding import WORDS, Growing, Reading
from rfdag.input.files import FEWER, require_memory
from rfdag.input.origins import Origins
from rfdag.input.pieces import Pieces
from rfdag.input.table import Floats, Stream, Table
from rfdag.input.weights import checked_weights
from rfdag.input.words import TEXT, Words


def gathered(stream: Table | Stream, advice: str = FEWER) -> Table:
    """Return all rows of a stream in memory; raise, with some advice, if they do not fit.

    Columns that are not numbers are NaN. Their text is kept in `Words.coded` where they are read as text.
    """
    if isinstance(stream, Table):
        return stream
    columns = len(stream.names)
    if stream.rows is not None:
        what = f"A table of {stream.rows} rows and {columns} columns"
        require_memory(what, 2.0 * 8 * stream.rows * columns, advice)
    texts = _texts_in(stream)
    read = [at for at in range(columns) if at not in stream.words or at in texts]
    some = stream if len(read) == columns else stream.only(read)
    keep, growing = partial(_kept, advice), Growing()
    if texts and isinstance(some, Pieces):
        reading = Reading({to: WORDS for to, at in enumerate(read) if at in texts}, growing)
        parts = some.read_as(reading, keep, operator.add) or [np.empty((0, len(read)))]
    else:
        parts = some.fold(keep, operator.add)
    values = np.concatenate(parts)
    words: dict[int, Words] = dict(stream.words)
    for to, at in enumerate(read):
        if at in texts:
            words[at] = growing.words(to, values[:, to], words[at])
            values[:, to] = np.nan
    if len(read) < columns:
        found, values = values, np.full((len(values), columns), np.nan)
        values[:, read] = found
    table = Table(values, stream.names, words, stream.levels, account=stream.account, origin=stream.origin)
    labels = getattr(stream, "labels", ())
    if labels:
        codes = values[:, -1].astype(np.int64)
        table = table._replace(values=values[:, :-1], origins=Origins(codes, labels).of_rows(codes >= 0))
    if stream.weighted:
        table = checked_weights(table._replace(values=values[:, :-1], weights=values[:, -1].copy()))
    return table


def _texts_in(stream: Stream) -> list[int]:
    """Return the places of the columns of text whose text can be kept."""
    if not isinstance(stream, Pieces) or not stream.can_code or stream.codings:
        return []
    return [at for at, words in stream.words.items() if words.kind == TEXT]


def _kept(advice: str, block: Floats) -> list[Floats]:
    """Return a copy of a block that stays in memory, if there is room for it and for the table it becomes part of."""
    require_memory("The next part of the table", 2.0 * block.nbytes, advice)
    return [np.array(block, order="C")]
