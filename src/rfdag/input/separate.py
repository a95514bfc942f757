"""Several tables, each from an environment of its own, as one table with labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rfdag.errors import OptionError, keyword
from rfdag.input.description import Description
from rfdag.input.gathering import gathered
from rfdag.input.origins import Origins
from rfdag.input.several import together
from rfdag.input.table import Stream, Table
from rfdag.wording import counted

Read = Callable[[Any, Description, "Sequence[Hashable] | None"], "Table | Stream"]


def read_separate(source: Any, form: Description, names: Sequence[Hashable] | None, read: Read) -> Table:
    """Return the rows of a list of tables, with the environment of each row: one for each table.

    ``read`` opens one of them.
    """
    if not isinstance(source, list | tuple) or not all(_is_table(each) for each in source):
        raise OptionError(
            f"{keyword('targets')} go with environments: pass {keyword('environments', ...)}, a column of labels or "
            "one label for each row, or the data as a list of tables, one for each environment."
        )
    labels = labels_of(source, form)
    alone = replace(form, environments=None, targets=None, observational=None)
    tables = [gathered(read(each, alone, names)) for each in source]
    codes = np.repeat(np.arange(len(tables)), [table.rows for table in tables])
    joined = together(tables, [f"environment {label!r}" for label in labels], form)
    return joined._replace(origins=Origins(codes, labels))


def labels_of(source: Sequence[Any], form: Description) -> tuple[str, ...]:
    """Return the labels of a list of tables: the names of files, unless targets are a list; else numbers from 1 on.

    >>> labels_of(["a.csv", "b.csv"], Description(targets="unknown"))
    ('a', 'b')
    """
    numbers = tuple(str(at + 1) for at in range(len(source)))
    given = form.targets or ()
    pairs = [each for each in given if isinstance(each, tuple)]
    if pairs and tuple(label for label, _ in pairs) == tuple(str(at + 1) for at in range(len(pairs))):
        if len(pairs) != len(source):
            raise OptionError(
                f"{keyword('targets')} has {counted(len(pairs), 'list')}, and there are "
                f"{counted(len(source), 'table')}; give one list for each."
            )
        return numbers
    stems = tuple(Path(each).stem for each in source if isinstance(each, str | Path))
    return stems if len(set(stems)) == len(source) else numbers


def _is_table(source: Any) -> bool:
    """Return whether an entry of a list is a table of its own: a path, a frame, or an array of rows."""
    if isinstance(source, str | Path):
        return True
    return not np.isscalar(source) and np.ndim(source) != 1 if not hasattr(source, "columns") else True
