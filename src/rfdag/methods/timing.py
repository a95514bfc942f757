"""The time that a run has, and what to say where it was too short for any order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rfdag.errors import TimeLimitError, keyword
from rfdag.methods.pace import ELIMINATING, ESTIMATING, READING, crowding, seconds_of_finishing, until_order
from rfdag.methods.settings import Settings
from rfdag.orders import costs
from rfdag.runtime.deadline import Deadline, OutOfTime, now
from rfdag.runtime.progress import LEAST_SHARE_TO_GO_BY, Progress
from rfdag.wording import spoken


class Schedule:
    """The time that a run has from now on.

    Parameters
    ----------
    settings
        What the run is asked for, its time among it.
    threads
        How many threads it may use.
    bar
        Knows which stage is under way, and how much of it is done.

    Attributes
    ----------
    limit
        When it must return.
    until
        Until when it goes on with restarts; None where it need not.
    """

    def __init__(self, settings: Settings, threads: int, bar: Progress) -> None:
        running = settings.running
        self._settings, self._threads, self._bar = settings, threads, bar
        self._begun = self._read = now()
        self.limit = Deadline.after(running.time_limit)
        self.until = None if running.search_for is None else Deadline.after(running.search_for)
        self._size: tuple[int, int] | None = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Turn the end of time before there is an order into an error that names a sufficient limit."""
        try:
            yield
        except OutOfTime:
            raise self._error() from None

    def learn_size(self, rows: int | None, columns: int) -> None:
        """Take note, when the data have been read, of their size, which expectations depend on."""
        self._read = now()
        self._size = None if rows is None else (rows, columns)

    def sufficient(self) -> float:
        """Return a limit, in seconds, within which the same run is expected to have an order."""
        elapsed, stages = now() - self._begun, self._expected()
        label, share, so_far = self._bar.label, self._bar.share, self._bar.seconds
        # The stage under way: as its share tells, where that is more than a beginning.
        needed = elapsed - so_far + so_far / (share if share > LEAST_SHARE_TO_GO_BY else 0.5)
        if label in stages:
            names = list(stages)
            at = names.index(label)
            if label != ELIMINATING or share <= LEAST_SHARE_TO_GO_BY:
                # How dense the graph is shows in the search alone.
                stages[ELIMINATING] *= costs.TIMES_LONGER_IF_DENSE
            before, after = (sum(stages[name] for name in part) for part in (names[:at], names[at + 1 :]))
            pace = self._pace(before - stages[READING] + share * stages[label]) if at else 1.0
            here = max(needed - elapsed + so_far, pace * stages[label])
            # An estimate that was cut short to leave time for the search will take all that it was expected to.
            needed = max(elapsed - so_far, before) + here + pace * after
        if self._size is not None:
            method, estimation = self._settings.method, self._settings.estimation
            clustered = method.in_clusters(*self._size, estimation, self._settings.running.device)
            replays = method.replays and not clustered
            needed += crowding() * seconds_of_finishing(self._size[1], replayed=replays, scored=method.by_bic)
        given = self._settings.running.time_limit or 0.0
        return rounded_up(max(costs.TIME_TO_SPARE * needed, costs.TIME_TO_SPARE * given) + 1)

    def _pace(self, expected: float) -> float:
        """Return how many times longer than expected the stages after reading have taken; so will the others.

        Reading says nothing of them: a file takes its own time.
        """
        taken = now() - self._read
        if taken < costs.LEAST_SECONDS_TO_GO_BY:
            return 1.0
        return min(max(taken / max(expected, 1e-9), 1.0), costs.MOST_BEHIND_SCHEDULE)

    def _expected(self) -> dict[str, float]:
        if self._size is None:
            return {}
        return until_order(self._settings.method, self._settings.estimation, *self._size, self._threads)

    def _error(self) -> TimeLimitError:
        given, enough = self._settings.running.time_limit, self.sufficient()
        stage = {READING: "reading", ESTIMATING: "estimating partial correlations"}.get(self._bar.label, "searching")
        cheaper = " and ".join(self._cheaper())
        return TimeLimitError(
            f"There is no order within {keyword('time_limit', given)}: after {now() - self._begun:.2g} s the run was "
            f"still {stage} ({self._bar.share:.0%} done). Pass {keyword('time_limit', enough)}, about {spoken(enough)}"
            f"{f', or {cheaper} for a shorter run' if cheaper else ''}."
        )

    def _cheaper(self) -> list[str]:
        """Return options that make the run shorter."""
        method, estimation = self._settings.method, self._settings.estimation
        options: dict[str, Any] = {}
        if self._size is not None and estimation.test is None:
            name = estimation.chosen(*self._size, any_rows=method.any_rows).name
            if name == "averaged":
                options["precision"] = "shrinkage"
            elif name in ("clime", "graphical-lasso"):
                options["precision"] = "nodewise"
        if method.beam_width > 1:
            options["beam"] = 1
        elif method.name in ("gsp", "sp"):
            options["method"] = "rfd" if method.name == "gsp" else "soft"
        return [keyword(name, value) for name, value in options.items()]


def rounded_up(seconds: float) -> int | float:
    """Return a time that is no shorter, as people would choose it: with one digit or two.

    >>> rounded_up(0.31), rounded_up(4.2), rounded_up(37), rounded_up(1234)
    (1, 5, 40, 1300)
    """
    if seconds <= 20:
        return max(1, math.ceil(seconds))
    step = 5 if seconds < 100 else 10 ** (int(math.log10(seconds)) - 1)
    return int(math.ceil(seconds / step) * step)
