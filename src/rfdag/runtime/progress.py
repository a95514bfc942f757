"""Progress of runs longer than two seconds, a bar on a terminal, else lines; and that kernels are compiled."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, NamedTuple, Self

from rfdag.runtime.deadline import Deadline, now
from rfdag.values import switch
from rfdag.wording import spoken

PATIENCE = 2.0
"""Seconds before a bar or a first line appears."""

LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw a bar on."""

TICK = 0.5
"""Seconds between two shares of work that cannot report any itself."""

LEAST_SHARE_TO_GO_BY = 0.02
"""Share of a stage below which its time so far says little of the whole. Chosen, not measured."""

TRUSTED = 0.9
"""Share of work that cannot report any up to which its time is taken to be as expected."""


class Stage(NamedTuple):
    """One stage of a run, and how far it is.

    Attributes
    ----------
    label
        What it is called.
    begun
        When it began.
    done_before
        The share of it that had been done by then, as by an earlier run that is resumed.
    share
        The share of it that is done; it never falls.
    reported
        When that share was reached.
    """

    label: str
    begun: float
    done_before: float = 0.0
    share: float = 0.0
    reported: float = 0.0

    def left(self, moment: float) -> float | None:
        """Return the seconds left at a moment if the stage goes on as until its last report; None if that is unknown.

        It is unknown at the beginning, in stages that report no share, and once more time has passed than was expected.

        >>> Stage("Eliminating", begun=100.0, share=0.25, reported=110.0).left(115.0)
        25.0
        """
        since = self.share - self.done_before
        if since < LEAST_SHARE_TO_GO_BY or self.share >= 1:
            return None
        whole = (self.reported - self.begun) * (1 - self.done_before) / since
        left = self.begun + whole - moment
        return left if left > 0 else None

    def line(self, moment: float) -> str:
        """Return how far the stage is, as a line of text.

        >>> Stage("Eliminating", begun=100.0, share=0.25, reported=110.0).line(115.0)
        'Eliminating: 25%, about 25 s left'
        >>> Stage("Learning from all rows", begun=100.0).line(115.0)
        'Learning from all rows: 15 s so far'
        """
        left = self.left(moment)
        time = f"{spoken(moment - self.begun)} so far" if left is None else f"about {spoken(left)} left"
        return f"{self.label}: {f'{self.share:.0%}, ' if self.share else ''}{time}"


class Progress:
    """Shows the progress of a run.

    Parameters
    ----------
    show
        None shows a bar on a terminal and nothing elsewhere, True a bar on a terminal and lines elsewhere, False
        nothing; a function is called with the share of the stage under way that is done, between 0 and 1, instead.
        That kernels are compiled is told without a terminal, too.
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
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True
        self._ended = threading.Event()
        self._bar: Any = None
        self._task: Any = None
        self._compiles = False
        self._deadline = Deadline()
        # One value, replaced as a whole: the thread that draws reads it without a lock.
        self._stage = Stage("", now())

    def __enter__(self) -> Self:
        if self._wanted:
            # A timer rather than a check in each report: the first report may come only after a long stage.
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._ended.set()
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

    def stage(self, label: str, deadline: Deadline | None = None, done: float = 0.0) -> Callable[[float], None]:
        """Begin a stage and return the function to call with the share of it that is done.

        With a deadline, of a stage before which there is nothing to return, that function raises `OutOfTime` once it
        has passed. ``done`` is the share that had been done before.
        """
        limit = deadline or self._deadline
        with self._lock:
            self._stage = Stage(label, now(), done, done)
            self._begin_task()

        def report(share: float) -> None:
            limit.require()
            self._report(share)

        return report

    @property
    def label(self) -> str:
        """The stage under way."""
        return self._stage.label

    @property
    def share(self) -> float:
        """The share of it that is done."""
        return self._stage.share

    @property
    def seconds(self) -> float:
        """The time since the stage under way began."""
        return now() - self._stage.begun

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
                self._report(_expected_share(waited / seconds))

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
        with self._lock:
            if share > self._stage.share:
                # Work reports often: the clock is asked where somebody sees the time left.
                self._stage = self._stage._replace(share=share, reported=now() if self._wanted else 0.0)
            share = self._stage.share
            if self._bar is not None and share:
                self._bar.update(self._task, total=1.0, completed=share)
        if self._listener is not None:
            self._listener(share)

    def _start(self) -> None:
        """Begin to show the progress: as a bar on a terminal or in a notebook, else as a line from time to time."""
        from rfdag.runtime.terminal import Console

        console = Console(stderr=True)
        if console.is_interactive or console.is_jupyter:
            self._start_bar(console)
        else:
            self._print_lines(console)

    def _print_lines(self, console: Any) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    return
                if self.label:
                    line = self._stage._replace(label=self._described()).line(now())
                    console.print(line, highlight=False, markup=False, soft_wrap=True)
            self._ended.wait(LINE_EVERY)

    def _start_bar(self, console: Any) -> None:
        from rich.progress import BarColumn, ProgressColumn, TextColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        class Figures(ProgressColumn):
            """The share that is done and the time left, where they are known."""

            def render(_, task: Any) -> Text:  # noqa: N805
                return Text(self._figures())

        with self._lock:
            if not self._wanted:
                return
            bar = Bar(TextColumn("{task.description}"), BarColumn(), Figures(), console=console, transient=True)
            self._bar = bar
            self._begin_task()
            bar.start()

    def _begin_task(self) -> None:
        """Give the bar a task of its own for the stage under way: that of another keeps what it knows of its pace."""
        if self._bar is None:
            return
        if self._task is not None:
            self._bar.remove_task(self._task)
        # Without a total the bar pulses, until the stage reports a share.
        share = self.share
        self._task = self._bar.add_task(self._described(), total=1.0 if share else None, completed=share)

    def _figures(self) -> str:
        """Return the share that is done and the time left, as a bar shows them."""
        stage = self._stage
        left = stage.left(now())
        share = f"{stage.share:4.0%}" if stage.share else ""
        return share if left is None else f"{share} {timedelta(seconds=math.ceil(left))}"


def _expected_share(waited: float) -> float:
    """Return what share is done of work that cannot report any, given the time that passed in units of what it takes.

    It nears 1 and never reaches it, however wrong the expectation is.

    >>> _expected_share(0.5), round(_expected_share(1.8), 6), round(_expected_share(18.0), 6)
    (0.5, 0.95, 0.995)
    """
    return waited if waited <= TRUSTED else 1 - TRUSTED * (1 - TRUSTED) / waited


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
