"""The errors that rfdag raises.

Every error derives from `RfdagError`, and so from `ValueError`. A message states what was found, what is needed and
what to do, and names the columns concerned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from numbers import Integral
from typing import NamedTuple

__all__ = [
    "AwkwardError",
    "DataError",
    "DataWarning",
    "DeviceError",
    "EquivalenceWarning",
    "FileError",
    "GraphError",
    "IndependenceError",
    "LongRunWarning",
    "MatrixError",
    "NumericalError",
    "NumericalWarning",
    "OptionError",
    "RfdagError",
    "TimeLimitError",
]


class Message(str):
    """A sentence that may name options: as text in Python's spelling, by `spelled` in that of the command line.

    Options are marked by `keyword`.

    >>> message = Message(f"Pass {keyword('header', False)}.")
    >>> print(message)
    Pass header=False.
    >>> print(message.spelled(lambda name, value: f"--no-{name}"))
    Pass --no-header.
    """

    template: str

    def __new__(cls, template: str) -> Message:
        """Return the sentence of a template, in Python's spelling."""
        if isinstance(template, Message):
            return template
        message = super().__new__(cls, _KEYWORD.sub(lambda found: found[1], template))
        message.template = template
        return message

    def spelled(self, spell: Callable[[str, str | None], str]) -> str:
        """Return the sentence with each option as ``spell`` writes it, given its name and the code of its value."""

        def written(found: re.Match[str]) -> str:
            name, given, value = found[1].partition("=")
            return spell(name, value if given else None)

        return _KEYWORD.sub(written, self.template)

    def __reduce__(self) -> tuple[type[Message], tuple[str]]:
        return type(self), (self.template,)


_KEYWORD = re.compile("\x02([^\x02\x03]*)\x03")
"""An option in a template: marked by two control characters, which occur in no sentence."""


def keyword(name: str, *values: object) -> str:
    """Return an option for a `Message`: its name alone, or the argument with this value; ``...`` is any value.

    >>> print(Message(f"Pass {keyword('n_samples', ...)}, as in {keyword('n_samples', 50)}."))
    Pass n_samples=…, as in n_samples=50.
    """
    if not values:
        return f"\x02{name}\x03"
    return f"\x02{name}={'…' if values[0] is ... else repr(values[0])}\x03"


def as_argument(name: str, value: str | None) -> str:
    """Return an option in Python's spelling, given its name and the code of its value."""
    return name if value is None else f"{name}={value}"


class RfdagError(ValueError):
    """Base class of all errors that rfdag raises deliberately."""

    def __init__(self, message: str = "") -> None:
        super().__init__(Message(message))

    @property
    def message(self) -> Message:
        """The message, which can also be spelled for the command line."""
        message: Message = self.args[0]
        return message


class DataError(RfdagError):
    """The data cannot be used: empty, missing values, constant or dependent columns, too few rows."""


class Group(NamedTuple):
    """Columns that cannot all be used.

    Attributes
    ----------
    kind
        "constant", "nearly constant", "copies", "same order" or "combination".
    kept
        The columns that determine the others.
    left
        The columns to leave out so that the rest can be used.
    """

    kind: str
    kept: tuple[Hashable, ...]
    left: tuple[Hashable, ...]


class AwkwardError(DataError):
    """Columns are constant, copies of each other, or linear combinations of others: ``groups`` names all of them."""

    def __init__(self, message: str = "", groups: Iterable[Group] = ()) -> None:
        super().__init__(message)
        self.groups = tuple(groups)

    def __reduce__(self) -> tuple[type[AwkwardError], tuple[str, tuple[Group, ...]]]:
        return type(self), (self.message, self.groups)


class MatrixError(RfdagError):
    """A matrix is not a valid correlation, covariance or precision matrix."""


class GraphError(RfdagError):
    """A graph is not what it should be: a cycle in a DAG, an unknown node, no consistent extension."""


class IndependenceError(RfdagError):
    """A test of conditional independence raised, or returned something that is no p-value."""


class OptionError(RfdagError):
    """An option has an invalid value, or contradicts another."""


class FileError(RfdagError):
    """A file cannot be read or written."""


class DataMessage(Message):
    """A sentence of warning about the data themselves: `DataWarning` is its category."""


class NumericalError(RfdagError):
    """The elimination lost precision to rounding, and recomputing from the data did not help."""


class DeviceError(RfdagError, RuntimeError):
    """There is no GPU, it reports an error, or the problem does not fit into its memory."""


class TimeLimitError(RfdagError, TimeoutError):
    """The time limit passed before there was an order to return."""


class NumericalWarning(UserWarning):
    """The result is valid, but rounding may have affected it."""


class DataWarning(UserWarning):
    """The result is valid, but the data are not what the method takes them for."""


class LongRunWarning(UserWarning):
    """The run is expected to take more than an hour; it is issued before the run starts."""


class EquivalenceWarning(UserWarning):
    """The answer is that of one DAG; others of its equivalence class, which fit as well, give other answers."""


def category_of(message: str) -> type[Warning]:
    """Return the category that a message of `Result.warnings` is issued under."""
    return DataWarning if isinstance(message, DataMessage) else NumericalWarning


def listed(names: Iterable[object], limit: int = 5, shown: Callable[[object], str] = repr) -> str:
    """Return names for a message: quoted and comma-separated, with a count of those beyond the limit.

    >>> listed(["a", 3, "b"])
    "'a', 3, 'b'"
    >>> listed(range(9), limit=2)
    '0, 1 and 7 more'
    """
    every = list(names)
    first = ", ".join(map(shown, every[:limit]))
    return first if len(every) <= limit else f"{first} and {len(every) - limit} more"


def as_column(name: object) -> str:
    """Return a column for a message: its name in quotes, or its number if it has no name.

    >>> as_column("age"), as_column(3)
    ("'age'", 'column 3')
    """
    return f"column {name}" if isinstance(name, Integral) and not isinstance(name, bool) else repr(name)


def as_columns(names: Iterable[object], limit: int = 5) -> str:
    """Return columns for a message, with a count of those beyond the limit.

    >>> as_columns([1, 4]), as_columns(["a", "b", "c"], limit=2)
    ('column 1, column 4', "'a', 'b' and 1 more")
    """
    return listed(names, limit, as_column)
