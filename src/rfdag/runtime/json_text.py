"""JSON written by others: whatever is wrong with it is one kind of error, and what it takes is known before."""

from __future__ import annotations

import json
import math
from typing import Any

BYTES_PER_MARK = {"[": 72, "{": 200, ",": 40, '"': 30}
"""Memory that lists, objects, members and texts take, by the mark that each has in JSON."""


def parsed(text: str) -> Any:
    """Return what JSON holds; brackets too deep and numbers too long for Python are errors like any other.

    >>> parsed('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parsed("[" * 100_000)
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: It has brackets within brackets, too deep to be read: line 1 column 1 (char 0)
    """
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        problem = "It has brackets within brackets, too deep to be read"
    except ValueError as other:
        problem = str(other).partition(";")[0]
    raise json.JSONDecodeError(problem, text, 0)


def _finite(text: str) -> float:
    """Return a number; raise for NaN and infinity, which JSON does not have, and numbers too large for a double."""
    number = float(text)
    if math.isfinite(number):
        return number
    raise ValueError(f"{text} is no finite number")


def memory_of(text: str) -> float:
    """Return about how many bytes the objects take that a JSON text becomes.

    >>> memory_of("[[], []]") > 2 * 64
    True
    """
    return float(len(text) + sum(size * text.count(mark) for mark, size in BYTES_PER_MARK.items()))
