"""A progress bar for runs longer than two seconds, by default only on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0
"""Seconds before a bar appears."""


class Progress:
    """Shows the progress of a run.

    Parameters
    ----------
    show
        None shows a bar on a terminal, True always, False never; a function is called with the share of
        the work done, between 0 and 1, instead.
    """

    def __init__(self, show: bool | Callable[[float], None] | None = None) -> None:
        self._listener = show if callable(show) else None
        self._wanted = sys.stderr.isatty() if show is None else bool(show) and self._listener is None
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._start_bar)
        self._timer.daemon = True
        self._bar: Any = None
        self._task: Any = None
        self._label = ""
        self._compiles = False

    def __enter__(self) -> Self:
        if self._wanted:
            # A timer rather than a check in each report: the first report may come only after a long stage.
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._wanted = False
            if self._bar is not None:
                self._bar.stop()

    def stage(self, label: str) -> Callable[[float], None]:
        """Begin a stage and return the function to call with the share of it that is done."""
        with self._lock:
            self._label = f"Compiling and {label.lower()}" if self._compiles else label
            if self._bar is not None:
                self._bar.update(self._task, description=self._label, total=None, completed=0)
        return self._report

    def say(self, message: str) -> None:
        """Print a line if bars are shown."""
        if self._wanted:
            from rich.console import Console

            Console(stderr=True).print(f"[dim]{message}[/dim]", highlight=False)

    def compiling(self, message: str) -> None:
        """Print a line as `say` does, and mention in the label of every later stage that kernels are compiled."""
        self._compiles = True
        self.say(message)

    def _report(self, share: float) -> None:
        if self._listener is not None:
            self._listener(share)
        if self._bar is not None:
            self._bar.update(self._task, total=1.0, completed=share)

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if not self._wanted:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            bar = Bar(*columns, console=Console(stderr=True), transient=True)
            # Without a total the bar pulses, until the stage reports a share.
            self._task = bar.add_task(self._label, total=None)
            bar.start()
            self._bar = bar
