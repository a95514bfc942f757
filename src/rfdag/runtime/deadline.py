"""Time limits of a search, and the time spent in each part of a run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from rfdag.runtime.compilation import seconds_compiling


class OutOfTime(Exception):
    """The time limit passed, or is bound to pass, before there is anything to return."""


def now() -> float:
    """Return a time in seconds that stands still while kernels are compiled or loaded."""
    return time.monotonic() - seconds_compiling()


@dataclass(frozen=True)
class Deadline:
    """A moment in time, or an external signal, after which a search should return the best it has found.

    Parameters
    ----------
    moment
        The moment, in the time of `now`; None never passes.
    cancelled
        The signal.

    Examples
    --------
    >>> Deadline().passed(), Deadline.after(0).passed(), Deadline.after(60).sooner(60).passed()
    (False, True, True)
    """

    moment: float | None = None
    cancelled: Callable[[], bool] = lambda: False
    _met: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline this many seconds from now; None never passes."""
        return cls(None if seconds is None else now() + seconds)

    def passed(self) -> bool:
        """Return whether it has passed."""
        if self.moment is not None and now() >= self.moment:
            self._met.set()
            return True
        return self.cancelled()

    @property
    def cut_short(self) -> bool:
        """Whether its moment, or that of a deadline made from it, has ended any work: `passed` has said so."""
        return self._met.is_set()

    def require(self) -> None:
        """Raise `OutOfTime` if it has passed, where there is nothing to return."""
        if self.passed():
            raise OutOfTime

    def allows(self, seconds: float) -> bool:
        """Return whether work that cannot be interrupted is expected to end before it."""
        if self.moment is None or seconds <= self.left():
            return True
        self._met.set()
        return False

    def require_room(self, seconds: float) -> None:
        """Raise `OutOfTime` if work that cannot be interrupted is expected to outlast it."""
        if not self.allows(seconds):
            raise OutOfTime

    def left(self) -> float:
        """Return the seconds until its moment, at least 0."""
        return math.inf if self.moment is None else max(self.moment - now(), 0.0)

    def sooner(self, seconds: float) -> Self:
        """Return the same deadline so many seconds before."""
        return self if self.moment is None else replace(self, moment=self.moment - seconds)

    def share(self, part: float) -> Self:
        """Return the same deadline after this share of the time that is left."""
        return self if self.moment is None else replace(self, moment=now() + part * self.left())

    def unless(self, cancelled: Callable[[], bool]) -> Self:
        """Return the same deadline with another external signal."""
        return replace(self, cancelled=cancelled)


class Clock:
    """Seconds spent in each part of a run."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Count the time since the last lap, or the start, for this part."""
        moment = time.perf_counter()
        self.laps[name] = moment - self._last
        self._last = moment
