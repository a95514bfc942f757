"""Hostile values for any parameter; see arguments.py."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
from hypothesis import strategies as st
from scipy import sparse

import rfdag
from rfdag.exchange import NamedGraph
from taken import DAG, NAMES, rows, sem


def hostile_values() -> list[Any]:
    """Return values that something is wrong with, for most parameters at least."""
    values = rows()
    gaps, infinite = values.copy(), values.copy()
    gaps[3, 1], infinite[2, 2] = np.nan, np.inf
    whole = [0, 1, -1, 2, 5, 2**31, 2**63, -(2**63), 10**30]
    numbers = [0.5, -0.5, 1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 1j, np.float32(2), np.int8(-1)]
    texts = ["", "a", "é", "nan", "\ud800", "\0", "a" * 3000, "../..", "~nobody", "*", "auto", "all", b"", b"\xff"]
    empty: list[Any] = [None, (), [], {}, set(), frozenset(), [[]], [[[]]], np.zeros(0), np.zeros((0, 0))]
    nested: list[Any] = [
        [None], ["a"], ["a", "a"], [1, "a"], [[1, 2], [3]], [[0, "x"], ["y", 0]], [[0, 1], [1, 0]], [[0, 2], [0, 0]],
        [(0, 1)], [("a", "b")], [("a", "a")], {"a": 1}, {"a": "b"}, {"a": [1]}, {0: [0]}, {"tiers": "a"}, {None: None},
        {"a": math.nan}, [math.nan], [[math.nan] * 4] * 4, [True, False], [0, 0], [0, 1, 2, 3], [99], [-1], [2**63],
        ["0"],
        [[1e308, -1e308]] * 3, range(3), slice(2), {1, 2}, {"a", "b"},
    ]  # fmt: skip
    arrays: list[Any] = [
        np.array(1.0), np.array("a"), np.zeros((3, 0)), np.zeros((0, 3)), np.ones((4, 4)), np.eye(4),
        np.zeros((2, 2, 2)),
        np.full((4, 4), np.nan), np.full((4, 4), np.inf), np.full((4, 4), 1e300), np.full((4, 4), 1j), DAG * 2,
        DAG.T + DAG,
        DAG.astype(object), DAG.astype(str), np.triu(np.ones((3, 3)), 1), np.array([["a", "b"]] * 2), np.arange(4),
        np.array([None] * 4), np.array(["2020-01-01"] * 4, "datetime64[D]"), np.zeros(4, [("x", "f8"), ("y", "f8")]),
        np.ma.masked_array(DAG, DAG == 1), values, values[:1], values[:3], values[:, :1], gaps, infinite, values * 0,
        values.astype(np.float16), values.astype(object), values.astype(str), values * 1e300, values.astype(complex),
        np.column_stack([values, values[:, 0]]), values[::-1, ::-1], np.asfortranarray(values), values > 0, -DAG,
        np.iinfo(np.int64).max * DAG.astype(np.int64), np.array([[2**63 - 1, 0], [0, 2**63 - 1]]),
    ]  # fmt: skip
    sparses: list[Any] = [
        sparse.csr_array(DAG), sparse.coo_array(DAG * 1.5), sparse.csr_array((0, 0)), sparse.csr_array((3, 4)),
        sparse.csr_array(DAG + DAG.T), sparse.csr_array(np.full((2, 2), np.nan)), sparse.csr_array(DAG * 1j),
        sparse.eye_array(3),
    ]  # fmt: skip
    frames: list[Any] = [
        pandas.DataFrame(), pandas.DataFrame(values, columns=["a", "a", "b", "c"]),
        pandas.DataFrame(DAG, columns=list(NAMES)),
        pandas.DataFrame({"a": ["x", "y"] * 9, "b": range(18)}), pandas.DataFrame({"a": [None] * 9, "b": range(9)}),
        pandas.Series([1.0, 2.0]), pandas.DataFrame({"a": pandas.date_range("2020", periods=9), "b": range(9)}),
        pandas.DataFrame({"a": [[1]] * 9, "b": [{}] * 9}), pandas.DataFrame({0: [1.0, 2.0, 4.0], "0": [3.0, 5.0, 1.0]}),
    ]  # fmt: skip
    others: list[Any] = [
        True, False, object(), int, len, lambda *given, **named: None, ..., NotImplemented, ValueError("x"),
        decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1), Path("nowhere.csv"), Path(),
        networkx.DiGraph([(0, 1)]), networkx.DiGraph([(0, 1), (1, 0), (1, 1)]), networkx.MultiGraph([(0, 1)]),
        np.random.RandomState(1), sem(), NamedGraph(("x",), np.zeros((1, 1))), rfdag.Soft(), rfdag.Description(), rfdag,
        memoryview(b"abcd"), bytearray(b"a"), iter([1, 2]), (number for number in (0, 1)),
    ]  # fmt: skip
    return [*whole, *numbers, *texts, *empty, *nested, *arrays, *sparses, *frames, *others]


def hostile() -> st.SearchStrategy[Any]:
    """Values that something is wrong with: those above, and any nesting of small ones."""
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.text(max_size=3), st.binary(max_size=2)
    )
    nested = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.tuples(inner, inner),
            st.dictionaries(st.text(max_size=2), inner, max_size=3),
        ),
        max_leaves=6,
    )
    # Made anew for each draw: iterators end, and nothing may depend on what another call has changed.
    picked = st.integers(0, len(hostile_values()) - 1).map(lambda at: hostile_values()[at])
    square = st.integers(1, 4).flatmap(
        lambda p: st.lists(
            st.lists(st.sampled_from([0, 1, 2, -1, 0.5, math.nan]), min_size=p, max_size=p), min_size=p, max_size=p
        )
    )
    return st.one_of(picked, picked, square, nested)
