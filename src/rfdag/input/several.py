"""Several tables with the same columns as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rfdag.errors import FileError, keyword, listed
from rfdag.input.coding import shared_order
from rfdag.input.columns import Account
from rfdag.input.description import Description
from rfdag.input.gathering import gathered
from rfdag.input.table import Stream, Table
from rfdag.input.words import FEW_WORDS, TEXT, Coded, Words


def together(opened: Iterable[Table | Stream], called: Sequence[str], form: Description) -> Table:
    """Return the rows of several tables with the same columns, one after the other."""
    tables = [gathered(rows) for rows in opened]
    if len(tables) == 1:
        return tables[0]
    names = shared_columns([table.names for table in tables], called, form)
    tables = [table.only([table.names.index(name) for name in names]) for table in tables]
    words = {at: _words_together(at, tables) for at in range(len(names)) if any(at in each.words for each in tables)}
    left_out = dict.fromkeys(column for table in tables for column in table.account.left_out)
    remarks = dict.fromkeys(remark for table in tables for remark in table.account.remarks)
    values = np.concatenate([table.values for table in tables])
    return Table(values, names, words, account=Account(tuple(left_out), tuple(remarks)))


def _words_together(at: int, tables: Sequence[Table]) -> Words:
    """Return what a column holds in several tables, in some of which it is not numbers."""
    every = [table.words[at] for table in tables if at in table.words]
    known = next((words for words in every if words.kind != TEXT), every[0])
    place: dict[str, int] = {}
    codes = []
    for table in tables:
        words = table.words.get(at)
        if words is None and np.isnan(table.values[:, at]).all():
            codes.append(np.full(table.rows, -1))
        elif words is None or words.coded is None:
            return known._replace(coded=None)
        else:
            numbers = [place.setdefault(entry, len(place)) for entry in words.coded.entries]
            codes.append(np.array([*numbers, -1])[words.coded.codes])
    coded = Coded(np.concatenate(codes).astype(np.int64), tuple(place))
    declared = [words.levels for words in every if words.levels is not None]
    union = tuple(dict.fromkeys(level for levels in declared for level in levels))
    return known._replace(
        all_different=len(place) == len(coded.codes) > FEW_WORDS,
        coded=coded,
        levels=(shared_order(declared) or union) if len(declared) == len(every) else None,
    )


def shared_columns(every: Sequence[Sequence[Any]], called: Sequence[str], form: Description) -> tuple[Any, ...]:
    """Return the columns of several tables; raise if they differ and the user does not say which to use."""
    first, *others = every
    of_first, of_others = set(first), list(map(set, others))
    shared = tuple(name for name in first if all(name in names for names in of_others))
    if form.columns is not None:
        return shared
    for names, known, there in zip(others, of_others, called[1:], strict=True):
        lacking = [name for name in first if name not in known]
        extra = [name for name in names if name not in of_first]
        if lacking or extra:
            differences = [f"lacks {listed(lacking)}"] if lacking else []
            differences += [f"has {listed(extra)} besides"] if extra else []
            use = f"Pass {keyword('columns', list(shared))} to use those that all have, or name" if shared else "Name"
            raise FileError(
                f"The files do not have the same columns: {there} {' and '.join(differences)}, compared with "
                f"{called[0]}. {use} the files that belong together."
            )
    return tuple(first)
