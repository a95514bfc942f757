"""What each column of the input was taken for, what was done with it, and what was noticed on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from rfdag.errors import as_column, listed

USED = "used"
"""What was done with a column that is a variable of the result."""


class Column(NamedTuple):
    """A column of the input, as it was understood.

    Attributes
    ----------
    name
        Its name, as in the input.
    taken_for
        What it holds: "numbers", "whole numbers", "two values", "text", "dates", "row identifiers", "weights".
    done
        What was done with it: "used" for variables of the result, otherwise why it was left out.
    remarks
        What may be wrong with it, as short phrases: "−999 occurs 12 times".
    missing
        How many of its values are missing, in the rows that are used.
    """

    name: Hashable
    taken_for: str
    done: str = USED
    remarks: tuple[str, ...] = ()
    missing: int = 0


class Account(NamedTuple):
    """What was done to the input on the way to rows of numbers.

    Attributes
    ----------
    left_out
        The columns that are not variables of the result, each with the reason.
    remarks
        How a file was understood, and how many rows were left out, as sentences.
    """

    left_out: tuple[Column, ...] = ()
    remarks: tuple[str, ...] = ()

    def plus(self, left_out: Iterable[Column] = (), remarks: Iterable[str] = ()) -> Account:
        """Return the account with more columns and remarks.

        >>> Account().plus([Column("sex", "text", "left out as asked")]).left_out[0].name
        'sex'
        """
        return Account((*self.left_out, *left_out), (*self.remarks, *remarks))


def in_words(columns: Sequence[Column], limit: int = 5) -> str:
    """Return in a line what columns were taken for, and which were left out and why.

    >>> columns = [Column("age", "numbers"), Column("sex", "two values"), Column("town", "text", "left out: text")]
    >>> in_words(columns)
    "2 used: 1 of numbers, 1 of two values; 1 left out: 'town' (text)"
    >>> in_words(columns[:1])
    '1 used, of numbers'
    """
    used = [column for column in columns if column.done == USED]
    kinds = Counter(column.taken_for for column in used)
    each = ", ".join(f"{count} of {kind}" for kind, count in kinds.most_common())
    words = f"{len(used)} used"
    if used:
        words += f", of {next(iter(kinds))}" if len(kinds) == 1 else f": {each}"
    others = [column for column in columns if column.done != USED]
    if not others:
        return words

    def shown(column: object) -> str:
        assert isinstance(column, Column)
        return f"{as_column(column.name)} ({column.taken_for})"

    return f"{words}; {len(others)} left out: {listed(others, limit, shown)}"
