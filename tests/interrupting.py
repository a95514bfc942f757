"""Ctrl-C at any line of rfdag's own code, and what must be true of a result that it leaves; see test_interrupts.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import rfdag

SOURCE = Path(rfdag.__file__).parent
SEARCHING = tuple(str(SOURCE / name) for name in ("methods", "orders", "eliminate", "graphs", "learning.py"))
"""Where lines are counted: Python looks for signals between any two lines, but reading and reports keep nothing."""


class Lines:
    """Counts lines as they run, and raises KeyboardInterrupt before one of them.

    Python looks for a signal where a call begins or a loop turns, so it may come between two lines, and hardly within
    one.
    """

    def __init__(self, stop: int | None = None) -> None:
        self.stop, self.count, self.where = stop, 0, ""

    def _within(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self.stop:
                code = frame.f_code
                self.where = f"{Path(code.co_filename).relative_to(SOURCE)}:{frame.f_lineno} {code.co_name}"
                raise KeyboardInterrupt
        return self._within

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._within if frame.f_code.co_filename.startswith(SEARCHING) else None

    def run(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns, or KeyboardInterrupt if it raises that."""
        sys.settrace(self._entered)
        try:
            return call()
        except KeyboardInterrupt:
            return KeyboardInterrupt
        finally:
            sys.settrace(None)


def problem_with(found: Any) -> str:
    """Return what is wrong with a result; nothing if its order and DAG are valid and its score is the DAG's."""
    if not isinstance(found, rfdag.Result):
        return ""
    place = {name: at for at, name in enumerate(found.order)}
    if len(place) != len(found.order) or set(place) != set(found.names):
        return "the order is no permutation"
    sources, targets = found.dag.nonzero()
    places = np.array([place[name] for name in found.names])
    if not (places[sources] < places[targets]).all():
        return "an edge points backwards"
    if found.score is not None and (found.moments is not None or found.can_rescore):
        again = found.score_of(found.dag)
        if abs(again - found.score) > 1e-6 * max(abs(again), 1.0):
            return f"the score is {found.score}, and that of the DAG {again}"
    return ""
