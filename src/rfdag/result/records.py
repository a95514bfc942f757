"""What a file says, checked against what it has to say: records by the types of their fields, arrays by their shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.pair_rows import PairRows
from rfdag.values import shown

T = TypeVar("T")
LARGEST = np.finfo(np.float64).max
"""The largest number."""
MOST = np.iinfo(np.int64).max
"""The largest whole number."""
ROUNDING = 1e-6
"""By how much what was computed may miss what it must be."""


def record(kind: type[T], content: Mapping[str, Any], **known: Any) -> T:
    """Return a record of named fields from what JSON holds for them; raise ValueError where a field is something else.

    Fields that are ``known`` have been read already.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    ...     label: str | None = None
    >>> record(Point, {"x": 1}), record(Point, {"label": "a"}, x=2.0)
    (Point(x=1.0, label=None), Point(x=2.0, label='a'))
    >>> record(Point, {"x": "1"})
    Traceback (most recent call last):
    ValueError: '1' as x of Point
    """
    hints, name_of_kind = _hints(kind), kind.__name__  # type: ignore[arg-type]
    if not isinstance(content, dict):
        raise ValueError(f"{shown(content)} as {name_of_kind}")
    unknown = set(content) - set(hints)
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]!r} in {name_of_kind}")
    found = {
        name: value_as(hints[name], value, f"{name} of {name_of_kind}")
        for name, value in content.items()
        if name not in known
    }
    try:
        return kind(**found, **known)
    except TypeError:
        raise ValueError(f"{name_of_kind} of {', '.join(sorted(content)) or 'nothing'} alone") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def value_as(wanted: Any, value: Any, what: str) -> Any:
    """Return a value as a type says: lists become tuples and whole numbers may stand for others; else raise ValueError.

    >>> value_as(tuple[int, ...], [1, 2], "places"), value_as(dict[str, float], {"a": 1}, "seconds")
    ((1, 2), {'a': 1.0})
    """
    options = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    for option in options:
        kind, parts = get_origin(option) or option, get_args(option)
        if kind is Literal and isinstance(value, str) and value in parts:
            return value
        if kind is NoneType and value is None:
            return None
        if kind is tuple and isinstance(value, list):
            return tuple(value_as(parts[0], each, what) for each in value)
        if kind is dict and isinstance(value, dict):
            return {key: value_as(parts[1], each, what) for key, each in value.items()}
        if kind is float and type(value) in (int, float) and abs(value) <= LARGEST:
            return float(value)
        if kind in (int, str, bool) and type(value) is kind and (kind is not int or abs(value) <= MOST):
            return value
    raise ValueError(f"{shown(value)} as {what}")


def numbers(values: Any, what: str, *shape: int, missing: bool = False) -> NDArray[np.float64]:
    """Return an array of numbers of a shape, in which −1 stands for any length; NaN for null if some are ``missing``.

    >>> numbers([1, None], "means", 2, missing=True)
    array([ 1., nan])
    >>> numbers([1, 2, 3], "means", 2)
    Traceback (most recent call last):
    ValueError: means of shape (3,) instead of (2,)
    """
    return _array(values, what, shape, "iuf", missing=missing)


def counts(values: Any, what: str, *shape: int, least: int = 0, below: float = math.inf) -> NDArray[np.int64]:
    """Return an array of whole numbers, all of them at least ``least`` and below a bound.

    >>> counts([0, 3], "places", 2, below=3)
    Traceback (most recent call last):
    ValueError: 3 in places
    """
    found = _array(values, what, shape, "iu").astype(np.int64)
    wrong = (found < least) | (found >= below)
    if wrong.any():
        raise ValueError(f"{found[wrong].flat[0]} in {what}")
    return found


def products(values: Any, what: str, *shape: int) -> NDArray[np.float64]:
    """Return symmetric matrices of sums of products of columns, none of which exceeds what its columns allow.

    >>> products([[1, 2], [2, 1]], "covariance", 2, 2)
    Traceback (most recent call last):
    ValueError: covariance that no columns have
    """
    found = numbers(values, what, *shape)
    sizes = np.sqrt(np.maximum(np.diagonal(found, axis1=-2, axis2=-1), 0.0))
    most = sizes[..., :, None] * sizes[..., None, :]
    excess = np.abs(found) - most * (1 + ROUNDING)
    if (excess > ROUNDING).any() or (np.abs(found - np.swapaxes(found, -1, -2)) > ROUNDING * most).any():
        raise ValueError(f"{what} that no columns have")
    return found


def encode_pair_rows(pair_rows: PairRows | None) -> dict[str, Any] | None:
    """Return what rows with gaps are worth as JSON holds it."""
    if pair_rows is None:
        return None
    return {"counts": pair_rows.counts.tolist(), "rows": pair_rows.rows, "way": pair_rows.way}


def decode_pair_rows(content: Any, p: int) -> PairRows | None:
    """Return what rows with gaps are worth, of p variables."""
    if content is None:
        return None
    found = record(PairRows, content, counts=products(content["counts"], "counts of pairs", p, p))
    if not ((found.counts > 0).all() and found.counts.max() <= found.rows * (1 + ROUNDING)):
        raise ValueError("pairs without rows, or with more than there are")
    return found


def _array(values: Any, what: str, shape: tuple[int, ...], kinds: str, *, missing: bool = False) -> NDArray[Any]:
    try:
        given = np.array(values)
    except ValueError:
        raise ValueError(f"{what} of rows that differ in length") from None
    if given.dtype.kind == "O" and missing:
        given = np.array([math.nan if each is None else each for each in given.ravel()]).reshape(given.shape)
    least = [max(size, 0) for size in shape]
    if given.size == 0 and 0 in least:
        given = np.zeros(least, np.int64)
    if given.dtype.kind not in kinds and given.size:
        raise ValueError(f"{shown(values)} as {what}")
    if given.ndim != len(shape) or any(size not in (-1, have) for size, have in zip(shape, given.shape, strict=True)):
        raise ValueError(f"{what} of shape {given.shape} instead of {shape}")
    return given.astype(np.float64) if "f" in kinds else given
