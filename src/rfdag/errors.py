"""What can go wrong, each with its own name.

Every error derives from `RfdagError`, and so from `ValueError`. A message says what was found, what is
needed and what to do, and names the columns concerned.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "DataError",
    "DeviceError",
    "FileError",
    "GraphError",
    "MatrixError",
    "NumericalError",
    "NumericalWarning",
    "OptionError",
    "RfdagError",
]


class RfdagError(ValueError):
    """Base of all errors that rfdag raises on purpose."""


class DataError(RfdagError):
    """The data cannot be used: empty, missing values, constant or dependent columns, too few rows."""


class MatrixError(RfdagError):
    """A correlation, covariance or precision matrix is not one."""


class GraphError(RfdagError):
    """A graph is not what it should be: a cycle in a DAG, an unknown node, no consistent extension."""


class OptionError(RfdagError):
    """An option has a value it cannot have."""


class FileError(RfdagError):
    """A file cannot be read, or a result cannot be written."""


class NumericalError(RfdagError):
    """The elimination lost its precision, and recomputing from the data did not help."""


class DeviceError(RfdagError, RuntimeError):
    """There is no GPU, it reports an error, or the problem does not fit into its memory."""


class NumericalWarning(UserWarning):
    """The answer stands, but rounding may have touched it."""


def listed(names: Iterable[object], limit: int = 5) -> str:
    """Return names for a message: quoted, comma-separated, the rest counted.

    >>> listed(["a", 3, "b"])
    "'a', 3, 'b'"
    >>> listed(range(9), limit=2)
    '0, 1 and 7 more'
    """
    every = [repr(name) for name in names]
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"
