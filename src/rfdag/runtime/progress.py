"""A progress bar for runs longer than two seconds, by default only on a terminal; and that kernels are compiled."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rfdag.runtime.deadline import Deadline, now
from rfdag.values import switch

PATIENCE = 2.0
"""Seconds before a bar appears."""

TICK = 0.5
"""Seconds between two shares of work that cannot report any itself."""


class Progress:
    """Shows the progress of a run.

    Parameters
    ----------
    show
        None shows a bar on a terminal, True always, False never; a function is called with the share of
        the work done, between 0 and 1, instead. That kernels are compiled is told without a terminal, too.
    """

    def __init__(self, show: bool | Callable[[float], None] | None = None) -> None:
        if show is not None and not callable(show):
            show = switch("progress", show)
        self._listener = show if callable(show) else None
        # There is no such stream in a process without a terminal, or whose starter has closed it.
        open_ = sys.stderr is not None
        self._wanted = open_ and (sys.stderr.isatty() if show is None else bool(show) and self._listener is None)
        self._silent = show is not None or not open_
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._start_bar)
        self._timer.daemon = True
        self._bar: Any = None
        self._task: Any = None
        self._compiles = False
        self._deadline = Deadline()
        self._begun = now()
        self.label = ""
        """The stage under way."""
        self.share = 0.0
        """The share of it that is done."""

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

    @contextmanager
    def until(self, deadline: Deadline) -> Iterator[None]:
        """Let every report of stages that begin within raise `OutOfTime` once a deadline has passed."""
        self._deadline = deadline
        try:
            yield
        finally:
            self._deadline = Deadline()

    def stage(self, label: str, deadline: Deadline | None = None) -> Callable[[float], None]:
        """Begin a stage and return the function to call with the share of it that is done.

        With a deadline, of a stage before which there is nothing to return, that function raises `OutOfTime` once it
        has passed.
        """
        limit = deadline or self._deadline
        with self._lock:
            self.label, self.share, self._begun = label, 0.0, now()
            if self._bar is not None:
                self._bar.update(self._task, description=self._described(), total=None, completed=0)

        def report(share: float) -> None:
            limit.require()
            self._report(share)

        return report

    @property
    def seconds(self) -> float:
        """The time since the stage under way began."""
        return now() - self._begun

    @contextmanager
    def expecting(self, seconds: float) -> Iterator[None]:
        """Show the share of the time that work within, which cannot report any, is expected to take."""
        if not self._wanted or seconds < TICK:
            yield
            return
        done = threading.Event()

        def tick() -> None:
            waited = 0.0
            while not done.wait(TICK):
                waited += TICK
                # Nears 1 and never reaches it, however wrong the expectation is.
                self._report(waited / (waited + seconds))

        ticking = threading.Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield
        finally:
            done.set()
            ticking.join()

    def say(self, message: str) -> None:
        """Print a line if bars are shown."""
        if self._wanted:
            from rfdag.runtime.terminal import Console

            Console(stderr=True).print(f"[dim]{message}[/dim]", highlight=False)

    def compiling(self, message: str) -> None:
        """Print a line, and mention in the label of every later stage that kernels are compiled.

        The line is printed where bars are shown, and by default elsewhere too: in scripts and in notebooks.
        """
        self._compiles = True
        if self._wanted:
            self.say(message)
        elif not self._silent:
            print(message, file=sys.stderr, flush=True)  # noqa: T201

    def compiled(self) -> None:
        """Record that kernels are compiled."""
        self._compiles = False

    def _described(self) -> str:
        if not self._compiles:
            return self.label
        return f"Compiling and {self.label.lower()}" if self.label else "Compiling"

    def _report(self, share: float) -> None:
        self.share = share
        if self._listener is not None:
            self._listener(share)
        if self._bar is not None:
            self._bar.update(self._task, total=1.0, completed=share)

    def _start_bar(self) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        from rfdag.runtime.terminal import Console

        with self._lock:
            if not self._wanted:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            bar = Bar(*columns, console=Console(stderr=True), transient=True)
            # Without a total the bar pulses, until the stage reports a share.
            self._task = bar.add_task(self._described(), total=None)
            bar.start()
            self._bar = bar


class Shares:
    """How far each of several tasks is, reported as one share that never falls, from any thread."""

    def __init__(self, count: int, report: Callable[[float], None]) -> None:
        self.count = count
        self._report = report
        self._done = [0.0] * count
        self._lock = threading.Lock()

    def reach(self, number: int, share: float) -> None:
        """Report that a task has come so far; it may fall back for a while."""
        with self._lock:
            if share > self._done[number]:
                self._done[number] = share
                self._report(sum(self._done) / self.count)
