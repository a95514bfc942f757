"""Several tables with the same columns as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rfdag.errors import FileError, keyword, listed
from rfdag.input.columns import Account
from rfdag.input.description import Description
from rfdag.input.table import Stream, Table
from rfdag.input.words import Words


def whole(rows: Table | Stream) -> Table:
    """Return a small stream as a table."""
    if isinstance(rows, Table):
        return rows
    numbers = [at for at in range(len(rows.names)) if at not in rows.words]
    parts = rows.only(numbers).fold(lambda block: [np.array(block)], lambda one, other: one + other)
    read = np.concatenate(parts)
    values = np.full((len(read), len(rows.names)), np.nan)
    values[:, numbers] = read
    return Table(values, rows.names, rows.words, account=rows.account, origin=rows.origin)


def together(opened: Iterable[Table | Stream], called: Sequence[str], form: Description) -> Table:
    """Return the rows of several tables with the same columns, one after the other."""
    tables = [whole(rows) for rows in opened]
    if len(tables) == 1:
        return tables[0]
    names = shared_columns([table.names for table in tables], called, form)
    tables = [table.only([table.names.index(name) for name in names]) for table in tables]
    words: dict[int, Words] = {}
    for table in tables:
        words |= {at: each._replace(cells=None) for at, each in table.words.items()}
    left_out = dict.fromkeys(column for table in tables for column in table.account.left_out)
    remarks = dict.fromkeys(remark for table in tables for remark in table.account.remarks)
    values = np.concatenate([table.values for table in tables])
    return Table(values, names, words, account=Account(tuple(left_out), tuple(remarks)))


def shared_columns(every: Sequence[Sequence[Any]], called: Sequence[str], form: Description) -> tuple[Any, ...]:
    """Return the columns of several tables; raise if they differ and the user does not say which to use."""
    first, *others = every
    shared = tuple(name for name in first if all(name in set(names) for names in others))
    if form.columns is not None:
        return shared
    for names, there in zip(others, called[1:], strict=True):
        lacking = [name for name in first if name not in set(names)]
        extra = [name for name in names if name not in set(first)]
        if lacking or extra:
            differences = [f"lacks {listed(lacking)}"] if lacking else []
            differences += [f"has {listed(extra)} besides"] if extra else []
            use = f"Pass {keyword('columns', list(shared))} to use those that all have, or name" if shared else "Name"
            raise FileError(
                f"The files do not have the same columns: {there} {' and '.join(differences)}, compared with "
                f"{called[0]}. {use} the files that belong together."
            )
    return tuple(first)
