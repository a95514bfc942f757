"""When a search should return what it has, and how long each part of a run took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A moment in time, or a signal from elsewhere, after which a search should return what it has."""

    moment: float | None = None
    cancelled: Callable[[], bool] = lambda: False

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline that many seconds from now; with None it never passes."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Return whether it has passed."""
        return (self.moment is not None and time.monotonic() >= self.moment) or self.cancelled()


class Clock:
    """Seconds spent in each part of a run."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Count the time since the last lap, or the start, for this part."""
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
