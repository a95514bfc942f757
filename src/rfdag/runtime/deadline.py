"""Time limits of a search, and the time spent in each part of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A moment in time, or an external signal, after which a search should return the best it has found."""

    moment: float | None = None
    cancelled: Callable[[], bool] = lambda: False

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline this many seconds from now; None never passes."""
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
