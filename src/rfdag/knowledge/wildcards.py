"""Names of knowledge that stand for several columns: ``lab*`` is every column that begins with "lab"."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

WILDCARD = "*"
"""Stands for any letters, or none, as in Tetrad."""


def is_wildcard(name: Hashable) -> bool:
    """Return whether a name may stand for several columns."""
    return isinstance(name, str) and WILDCARD in name


def columns_meant(variables: Iterable[Hashable], names: Sequence[Hashable]) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the columns that each variable of some knowledge stands for, in the order of the columns.

    A name that a column has stands for this column alone. Names read from a file are text, so "3" also stands for the
    column 3.

    >>> columns_meant(["lab*", "age", "3", "x*"], ["lab1", "age", 3, "lab2"])
    {'lab*': ('lab1', 'lab2'), 'age': ('age',), '3': (3,), 'x*': ()}
    """
    spelt: dict[Hashable, Hashable] = {str(name): name for name in reversed(names)}
    spelt |= {name: name for name in names}
    return {
        name: (spelt[name],) if name in spelt else _matching(name, names) if is_wildcard(name) else ()
        for name in variables
    }


def _matching(name: Hashable, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    pattern = re.compile(".*".join(map(re.escape, str(name).split(WILDCARD))), re.DOTALL)
    return tuple(other for other in names if pattern.fullmatch(str(other)))
