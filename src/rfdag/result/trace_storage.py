"""The record of an elimination as JSON holds it."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.trace import Trace
from rfdag.result.records import counts, numbers, value_as


def encode_trace(trace: Trace) -> dict[str, Any]:
    """Return the steps, less the names of the variables."""
    encoded: dict[str, Any] = {}
    for entry in fields(trace):
        if entry.name == "names":
            continue
        value = getattr(trace, entry.name)
        if isinstance(value, np.ndarray):
            encoded[entry.name] = value.tolist()
        elif isinstance(value, tuple):
            encoded[entry.name] = [edges.tolist() for edges in value]
        else:
            # An oracle has no margin; JSON has no infinity.
            encoded[entry.name] = None if value == math.inf else value
    return encoded


def decode_trace(content: dict[str, Any], p: int) -> Trace:
    """Return the record that `encode_trace` described, of p variables."""
    node = counts(content["node"], "node", -1, below=p)
    steps = len(node)

    def of_steps(name: str, *shape: int) -> tuple[NDArray[np.int64], ...] | None:
        found = content.get(name)
        if found is None:
            return None
        if len(found) != steps:
            raise ValueError(f"{name} of {len(found)} steps instead of {steps}")
        return tuple(counts(each, name, -1, *shape, below=p) for each in found)

    margin = value_as(float | None, content["smallest_margin"], "smallest_margin")
    return Trace(
        node=node,
        **{name: counts(content[name], name, steps) for name in ("removal", "fill", "degree", "ties", "search")},
        threshold=numbers(content["threshold"], "threshold", steps),
        removed_edges=of_steps("removed_edges", 2),
        filled_edges=of_steps("filled_edges", 2),
        smallest_margin=math.inf if margin is None else margin,
        capped=value_as(int, content["capped"], "capped"),
        neighbours=of_steps("neighbours"),
        names=None,
    )
