"""Values that options take: plain ones, lists of names, and objects of the user's own, which no file holds."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rfdag.errors import OptionError

OBJECT = "object"
"""Under which a file names an object of the user's own."""


@dataclass(frozen=True)
class Absent:
    """An object of the user's own that a file names and cannot hold: it can be shown, not used."""

    name: str

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Raise, since there is nothing to call."""
        raise OptionError(f"A file names {self.name}, an object of its user's own, and does not hold it. Pass it anew.")

    def __repr__(self) -> str:
        return self.name


class Numbers:
    """An array of numbers as the value of an option: compared as a whole, and named in files rather than held there.

    >>> Numbers([1, 2]) == Numbers([1.0, 2.0]), Numbers([1, 2])
    (True, 2 numbers)
    """

    def __init__(self, values: ArrayLike) -> None:
        try:
            self.values = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError(f"Found {type(values).__name__} whose entries are not all numbers.") from None
        self.values.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __repr__(self) -> str:
        return f"{self.values.size} numbers"


class Labels:
    """One label for each of many rows as the value of an option: compared as a whole, and named in files.

    >>> Labels(["a", "b"]) == Labels(("a", "b")), Labels([1, 1.0, None]).texts, Labels([True])
    (True, ('1', '1', ''), 1 label)
    """

    def __init__(self, values: Any) -> None:
        array = np.asarray(values, dtype=object)
        if array.ndim != 1:
            raise OptionError(f"Found labels of shape {array.shape}; give one label for each row.")
        self.texts = tuple(map(label_text, array.tolist()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self.texts == other.texts

    def __hash__(self) -> int:
        return hash(self.texts)

    def __repr__(self) -> str:
        return f"{len(self.texts)} label{'' if len(self.texts) == 1 else 's'}"


def label_text(value: Any) -> str:
    """Return a label as text: whole numbers without a point, nothing for a missing one.

    >>> label_text(2.0), label_text("day 1"), label_text(float("nan"))
    ('2', 'day 1', '')
    """
    if value is None or (isinstance(value, Real) and value != value):
        return ""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and float(value).is_integer():
        return str(int(float(value)))
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def is_object(value: Any) -> bool:
    """Return whether an option's value is an object of the user's own: something to call, or an array.

    >>> is_object(max), is_object("max"), is_object(0.5), is_object(Numbers([0.5]))
    (True, False, False, True)
    """
    return isinstance(value, Numbers | Labels) or (not isinstance(value, str | type) and callable(value))


def name_of(value: Any) -> str:
    """Return what an object of the user's own is called.

    >>> from functools import partial
    >>> name_of(max), name_of(partial(max, 1)), name_of(Absent("mine.test"))
    ('builtins.max', 'functools.partial', 'mine.test')
    """
    if isinstance(value, Absent | Numbers | Labels):
        return repr(value)
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def plain(value: Any) -> Any:
    """Return NumPy's numbers and sequences as Python's own, which files can hold."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    if isinstance(value, Real) and not isinstance(value, int | float):
        return float(value)
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(plain(entry) for entry in value)
    return value


def number(text: str, *, whole: bool) -> float:
    """Return the number that a text is; raise ValueError if it is none."""
    try:
        return int(text)
    except ValueError:
        if whole:
            raise
        return float(text)


def cut(text: str) -> tuple[str, ...]:
    """Return the entries of a list as it is typed: separated by commas, in quotes where they hold one.

    >>> cut('age,"weight, kg"')
    ('age', 'weight, kg')
    """
    return tuple(next(csv.reader([text], skipinitialspace=True), []))


def joined(entries: Iterable[Hashable]) -> str:
    """Return a list as one types it.

    >>> joined(["age", "weight, kg", 3])
    'age,"weight, kg",3'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(entries)
    return line.getvalue()
