"""Column names as JSON holds them: text, numbers, dates, and tuples of these."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from rfdag.errors import FileError


def encode_name(name: Hashable) -> Any:
    """Return a column's name in a form that JSON can hold."""
    if isinstance(name, np.generic):
        name = name.item()
    if name is None or isinstance(name, str | bool | int):
        return name
    if isinstance(name, float) and math.isfinite(name):
        return name
    if isinstance(name, tuple):
        return {"tuple": [encode_name(part) for part in name]}
    if isinstance(name, datetime.datetime) and datetime.datetime.fromisoformat(name.isoformat()) == name:
        return {"datetime": name.isoformat()}
    if type(name) is datetime.date:
        return {"date": name.isoformat()}
    raise FileError(
        f"The name {name!r} is a {type(name).__name__}, which JSON cannot hold; rename the column to text, a number, "
        "a date or a tuple of these."
    )


def decode_name(name: Any) -> Hashable:
    """Return the name that `encode_name` wrote."""
    match name:
        case {"tuple": list(parts), **rest} if not rest:
            return tuple(map(decode_name, parts))
        case {"date": str(text), **rest} if not rest:
            return _parsed(datetime.date, text)
        case {"datetime": str(text), **rest} if not rest:
            return _parsed(datetime.datetime, text)
        case dict() | list():
            raise FileError(
                f"Found {name!r} in place of a column's name; a name is text or a number, or one of the objects "
                "{'tuple': [...]}, {'date': '2024-12-31'} and {'datetime': '2024-12-31T12:00:00'}."
            )
    result: Hashable = name
    return result


def _parsed(kind: type[datetime.date], text: str) -> datetime.date:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        raise FileError(
            f"Found the {kind.__name__} {text!r} in a column's name; it is written as in ISO 8601."
        ) from None
