"""Values that options take: plain ones, lists of names, and objects of the user's own, which no file holds."""

from __future__ import annotations

import csv
import errno
import io
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import FileError, OptionError, keyword

LONGEST_SHOWN = 80
"""Letters of a value that messages show."""

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
            self.values = _doubles(values)
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


def is_hashable(value: object) -> bool:
    """Return whether something can be looked up; a tuple that holds a list only looks as if it could.

    >>> is_hashable(("a", 1)), is_hashable(("a", []))
    (True, False)
    """
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether one can go through something; an array without dimensions only looks as if one could.

    >>> is_iterable([1]), is_iterable(np.array(1)), is_iterable(1)
    (True, False, False)
    """
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0


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


def whole(name: str, value: Any, least: float, most: float = math.inf) -> int:
    """Return an argument that is a whole number within limits; raise for anything else.

    >>> whole("n", np.int8(3), 1)
    3
    >>> whole("n", 0.5, 1)
    Traceback (most recent call last):
    rfdag.errors.OptionError: n is a whole number of at least 1, not 0.5.
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return int(value)
    limits = f"of at least {least}" if math.isinf(most) else f"from {least} to {most}"
    raise OptionError(f"{keyword(name)} is a whole number {limits}, not {shown(value)}.")


def real(name: str, value: Any, needed: str = "a finite number") -> float:
    """Return an argument that is a finite number; raise for anything else, in words for what is needed.

    >>> real("shift", "far")
    Traceback (most recent call last):
    rfdag.errors.OptionError: shift is a finite number, not 'far'.
    """
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value):
        return float(value)
    raise OptionError(f"{keyword(name)} is {needed}, not {shown(value)}.")


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return an argument that is a number from low to high; raise for anything else.

    >>> between("density", 2, 0, 1)
    Traceback (most recent call last):
    rfdag.errors.OptionError: density is a number between 0 and 1, not 2.
    """
    needed = f"a number between {low:g} and {high:g}"
    if not low <= real(name, value, needed) <= high:
        raise OptionError(f"{keyword(name)} is {needed}, not {shown(value)}.")
    return float(value)


def pair(name: str, value: Any) -> tuple[float, float]:
    """Return an argument that is two numbers, low and high with 0 < low ≤ high; raise for anything else.

    >>> pair("weights", 1)
    Traceback (most recent call last):
    rfdag.errors.OptionError: weights=(low, high) needs 0 < low ≤ high, not 1.
    """
    if isinstance(value, tuple | list) and len(value) == 2:
        low, high = (float(each) if isinstance(each, Real) else math.nan for each in value)
        if 0 < low <= high < math.inf:
            return low, high
    raise OptionError(f"{name}=(low, high) needs 0 < low ≤ high, not {shown(value)}.")


def one_of(name: str, value: Any, words: Sequence[str]) -> str:
    """Return an argument that is one of some words; raise for anything else.

    >>> one_of("compare", "all", ("classes", "graphs"))
    Traceback (most recent call last):
    rfdag.errors.OptionError: compare is one of classes, graphs, not 'all'.
    """
    if isinstance(value, str) and value in words:
        return value
    raise OptionError(f"{keyword(name)} is one of {', '.join(words)}, not {shown(value)}.")


def switch(name: str, value: Any) -> bool:
    """Return an argument that is true or false; raise for anything else.

    >>> switch("hard", "no")
    Traceback (most recent call last):
    rfdag.errors.OptionError: hard is True or False, not 'no'.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise OptionError(f"{keyword(name)} is True or False, not {shown(value)}.")


def entries(name: str, value: Any, what: str = "names") -> tuple[Any, ...]:
    """Return the hashable entries of an argument that is a list; raise for anything else.

    >>> entries("names", 3)
    Traceback (most recent call last):
    rfdag.errors.OptionError: names is a list of names, not 3.
    """
    try:
        found = tuple(value)
    except TypeError:
        found = None
    if found is None or not is_hashable(found):
        raise OptionError(f"{keyword(name)} is a list of {what}, not {shown(value)}.")
    return found


def mapping_of(value: Any) -> Mapping[Any, Any]:
    """Return an argument that gives values to variables; raise for anything else.

    >>> mapping_of(["age"])
    Traceback (most recent call last):
    rfdag.errors.OptionError: Variables are given with their values, as in {'age': 40}, not as ['age'].
    """
    if isinstance(value, Mapping):
        return value
    raise OptionError(f"Variables are given with their values, as in {{'age': 40}}, not as {shown(value)}.")


def path_of(value: Any) -> Path:
    """Return an argument that names a file or folder as its path, with the user's home for ~; raise for anything else.

    >>> path_of(3)
    Traceback (most recent call last):
    rfdag.errors.OptionError: path is the name of a file, not 3.
    """
    try:
        path = Path(value).expanduser()
        path.stat()
    except TypeError:
        raise OptionError(f"{keyword('path')} is the name of a file, not {shown(value)}.") from None
    except RuntimeError:
        raise FileError(f"{value} begins with ~ and the name of a user whom this system does not have.") from None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            raise FileError(f"{shown(str(value))} is longer than the name of a file can be; shorten it.") from None
        # It is not there, or not to be read: whoever opens it says what that means.
        return path
    except ValueError:
        raise FileError(f"{shown(str(value))} has characters that no name of a file can have; rename it.") from None
    return path


def text_of(value: Any) -> str:
    """Return an argument that is text; raise for anything else.

    >>> text_of(b"a")
    Traceback (most recent call last):
    rfdag.errors.OptionError: text is the content of a file, as a str, not b'a'.
    """
    if isinstance(value, str):
        return value
    raise OptionError(f"text is the content of a file, as a str, not {shown(value)}.")


def csv_rows(text: str) -> list[list[str]]:
    """Return the cells of the lines of CSV that are not empty; raise for text that is none.

    >>> csv_rows("a,b")
    [['a', 'b']]
    """
    try:
        return [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as problem:
        raise FileError(f"The text is no CSV ({problem}). Look for quotation marks that are never closed.") from None


def numbers(name: str, value: Any) -> NDArray[np.float64]:
    """Return an argument that is an array of numbers, as a copy; raise for anything else.

    >>> numbers("r2", "high")
    Traceback (most recent call last):
    rfdag.errors.OptionError: r2 is an array of numbers, not 'high'.
    """
    try:
        return _doubles(value)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{keyword(name)} is an array of numbers, not {shown(value)}.") from None


def _doubles(value: Any) -> NDArray[np.float64]:
    """Return numbers as a new array; raise TypeError or ValueError for anything else, complex ones included."""
    given = unmasked(value)
    if given.dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.array(given, np.float64)


def unmasked(given: Any) -> NDArray[Any]:
    """Return an array-like as an array, which shares its memory where it can; raise ValueError if entries are masked.

    NumPy itself would take what lies behind the mask, or NaN with a warning.

    >>> unmasked(np.ma.array([1, 2], mask=[True, False]))
    Traceback (most recent call last):
    ValueError: entries are masked
    """
    rows = given if isinstance(given, list | tuple) else []
    entries_of_rows = (entry for row in rows if isinstance(row, list | tuple) for entry in row)
    if any(map(is_masked, chain([given], rows, entries_of_rows))):
        raise ValueError("entries are masked")
    return np.asarray(given)


def is_masked(value: object) -> bool:
    """Return whether something is a masked array with masked entries, or the constant that stands for one."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def shown(value: Any) -> str:
    """Return a value for a message: as Python writes it, cut where that is long.

    >>> shown("a" * 200)[-6:]
    'aaaaa…'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


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
