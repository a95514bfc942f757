"""How much memory and time a run will take, told before it begins; and a refusal of what cannot fit."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from rfdag.errors import OptionError
from rfdag.methods.settings import Settings
from rfdag.orders.portfolio import DENSE_SETTINGS, MOST_AT_ONCE, NARROWEST, WIDER
from rfdag.runtime.memory import TRIFLE, available_memory, beam_fits, bytes_of_beam, require_beam

logger = logging.getLogger("rfdag")

LONG = 10.0
"""Seconds from which an expected run is worth a word."""

MATRICES = 6
"""Matrices of p × p doubles beside a beam: factor, partial correlations, the engine's copy, and room to work in."""

MATRICES_OF_BIC = 10
"""The same for an order with its parents and scores (nine), and the correlation behind it."""

# Seconds of one thread for a unit of work, as `python benchmarks/estimates.py` prints them: the processor's time, over
# graphs of degree 8 with n = 2p. A machine is compared with the one they come from by a product of two matrices.
PRODUCT = 2.8e-3
"""The product of two matrices of order 384."""

MOMENTS = 9.6e-11
"""For every row and pair of columns."""

PRECISION = 6.5e-11
"""Partial correlations: for p³."""

REMOVALS = 1.4e-9
"""An elimination by hard counts: for p³."""

STATE, POWER_OF_STATE = 4.5e-8, 2.2
"""One state of a beam, followed to the end: for p to this power."""

POLISHING = 1.1e-6
"""Refining one order: for p²."""

ORDERS_POLISHED = 5
"""Orders as whose refinement all of it takes: those of the beams, and the restarts of the best."""


@dataclass(frozen=True)
class Part:
    """One part of a run: the memory it takes, its predecessors' included, and its time."""

    name: str
    bytes: float
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to take, beyond the data."""

    parts: tuple[Part, ...]

    @property
    def bytes(self) -> float:
        """The most memory in use at a time."""
        return max(part.bytes for part in self.parts)

    @property
    def seconds(self) -> float:
        """The time of all parts."""
        return sum(part.seconds for part in self.parts)

    def __str__(self) -> str:
        parts = ", ".join(f"{part.name} {_spoken(part.seconds)}" for part in self.parts if part.seconds >= 0.5)
        return (
            f"Expected: about {_spoken(self.seconds)}{f' ({parts})' if parts else ''} and {self.bytes / 1e9:.2g} GB of "
            "memory."
        )


def estimate(rows: int, columns: int, settings: Settings, threads: int = 1) -> Estimate:
    """Return what `rfdag.learn` is expected to take for data of this size, on the CPU; right to a factor of a few.

    How long a search and its refinement last depends on the data. The estimate is for sparse graphs; a dense one takes
    several times as long.

    Examples
    --------
    >>> small = estimate(1000, 100, Settings())
    >>> large = estimate(10_000, 1000, Settings())
    >>> small.seconds < large.seconds and small.bytes < large.bytes
    True
    """
    matrix = 8.0 * columns**2
    cube = float(columns) ** 3
    at_once = threads**0.8
    parts = [
        Part("moments", 4 * matrix, MOMENTS * rows * columns**2 / at_once),
        Part("precision", MATRICES * matrix, PRECISION * cube / at_once),
    ]
    if settings.rule == "soft":
        states, most = _states(columns, settings)
        parts.append(
            Part(
                "beams",
                (MATRICES + MATRICES_OF_BIC) * matrix + bytes_of_beam(columns, most),
                STATE * states * columns**POWER_OF_STATE / at_once,
            )
        )
    else:
        parts.append(Part("elimination", MATRICES * matrix, REMOVALS * settings.runs * cube / at_once))
    if settings.by_bic:
        orders = ORDERS_POLISHED * len(settings.penalties) if settings.refined else 0.1
        parts.append(Part("refinement", (MATRICES + MATRICES_OF_BIC) * matrix, POLISHING * orders * columns**2))
    # What takes no time on any machine is not worth the comparison.
    slower = _slowness() if sum(part.seconds for part in parts) > LONG / 100 else 1.0
    limit = math.inf if settings.time_limit is None else settings.time_limit
    return Estimate(tuple(Part(part.name, part.bytes, min(part.seconds * slower, limit)) for part in parts))


def forewarned(
    check: Callable[[int, int], None], settings: Settings, threads: int, say: Callable[[str], None]
) -> Callable[[int, int], None]:
    """Return a function that checks numbers of rows and columns, refuses what cannot fit, and says what to expect.

    ``check`` is asked first. What runs on a GPU is measured by its own memory, which ``check`` knows.
    """

    def check_size(rows: int, columns: int) -> None:
        check(rows, columns)
        if settings.device != "cpu":
            return
        require_fit(columns, settings)
        expected = estimate(rows, columns, settings, threads)
        if expected.seconds >= LONG:
            logger.info(str(expected))
            say(str(expected))

    return check_size


def require_fit(columns: int, settings: Settings) -> None:
    """Raise unless so many columns can be learnt within the memory that is free."""
    least = MATRICES + (MATRICES_OF_BIC if settings.by_bic else 0)
    needed = 8.0 * least * columns**2
    if needed > TRIFLE and needed > (free := available_memory()):
        most = int(math.sqrt(free / (8.0 * least)))
        cures = ["precision='blocks' for columns that fall into groups", f"at most {most} columns"]
        if settings.by_bic and 8.0 * MATRICES * columns**2 <= free:
            cures.insert(0, "rule='rfd' with refine=False")
        raise OptionError(
            f"{columns} columns need about {needed / 1e9:.1f} GB of memory, {least} matrices of all pairs, and "
            f"{free / 1e9:.1f} GB are free: enough for {most} columns. Use {', '.join(cures)}, or a sparse precision "
            "matrix with input='precision'."
        )
    if settings.rule == "soft":
        require_beam(columns, NARROWEST if settings.beam == "auto" else settings.beam)


def _states(columns: int, settings: Settings) -> tuple[int, int]:
    """Return how many states all beams follow one after the other, and how many are in memory at the same time."""
    side_by_side = len(DENSE_SETTINGS)
    width = NARROWEST if settings.beam == "auto" else settings.beam
    states, most = side_by_side * width, width
    if beam_fits(columns, side_by_side * width):
        most = side_by_side * width
    wider = WIDER * width
    # "auto" goes on to wider beams; a second round, of all settings but one, is typical.
    if settings.beam == "auto" and wider * columns**2 <= MOST_AT_ONCE and beam_fits(columns, wider):
        states += (side_by_side - 1) * wider
        most = max(most, (side_by_side - 1) * wider)
    return states, most


@cache
def _slowness() -> float:
    """Return how many times longer this machine takes than the one that the constants come from."""
    from rfdag.runtime.threads import one_blas_thread

    matrix = np.random.default_rng(0).normal(size=(384, 384))
    times = []
    with one_blas_thread():
        for _ in range(4):
            start = time.perf_counter()
            matrix @ matrix
            times.append(time.perf_counter() - start)
    return min(max(min(times) / PRODUCT, 0.1), 10.0)


def _spoken(seconds: float) -> str:
    """Return a time as people say it.

    >>> _spoken(0.3), _spoken(44), _spoken(600), _spoken(9000)
    ('1 s', '44 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
