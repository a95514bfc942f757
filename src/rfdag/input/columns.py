"""What each column of the input was taken for, and what was done with it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

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
    """

    name: Hashable
    taken_for: str
    done: str = USED
    remarks: tuple[str, ...] = ()
