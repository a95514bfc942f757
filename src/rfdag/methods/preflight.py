"""What a run needs, found out before it starts: rows, memory, time, a device."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from rfdag.eliminate.beams.gpu import bytes_of_states
from rfdag.eliminate.engines.gpu import bytes_of_engine
from rfdag.errors import OptionError, keyword
from rfdag.evidence.gpu import bytes_of_moments
from rfdag.methods.method import Method
from rfdag.methods.settings import Settings
from rfdag.orders.portfolio import DENSE_SETTINGS, MOST_AT_ONCE, WIDER
from rfdag.runtime.device import require_device, require_memory
from rfdag.runtime.memory import TRIFLE, available_memory, beam_fits, bytes_of_beam, require_beam
from rfdag.runtime.threads import one_blas_thread

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


class Preflight:
    """What a run needs, asked before any costly work; what cannot fit is refused.

    Parameters
    ----------
    settings
        What the run is asked for.
    threads
        How many threads it may use.
    say
        Is told what to expect of a long run.
    """

    def __init__(self, settings: Settings, threads: int = 1, say: Callable[[str], None] = lambda message: None) -> None:
        self._settings = settings
        self._threads = threads
        self._say = say
        if settings.running.device != "cpu":
            require_device()

    def in_blocks(self, columns: int) -> bool:
        """Return whether data with so many columns are learnt in blocks."""
        blocks = self._settings.estimation.blocks
        if blocks == "auto":
            return self._settings.running.device == "cpu" and not fits(columns, self._settings.method)
        return blocks

    def check(self, rows: int, columns: int) -> None:
        """Raise unless the rows are enough and the run fits; say what to expect of a long one."""
        settings = self._settings
        settings.method.require_rows(rows, columns, settings.estimation)
        if settings.running.device != "cpu":
            width = settings.method.beam_width
            require_memory(columns, width, lambda p, width: bytes_on_device(settings.method, rows, p, width))
            return
        require_fit(columns, settings.method)
        expected = estimate(rows, columns, settings, self._threads)
        if expected.seconds >= LONG:
            logger.info(str(expected))
            self._say(str(expected))


def bytes_on_device(method: Method, rows: int, p: int, width: int) -> float:
    """Return the most device memory that is in use at a time: for the moments, or for the elimination.

    The elimination keeps the factor of the data, to start afresh from; a search that looks ahead copies the state.
    """
    engines = 2 if method.looks_ahead else 1
    elimination = 8.0 * p * p + engines * bytes_of_engine(p) + bytes_of_states(p, width)
    return max(bytes_of_moments(rows, p), elimination)


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
    method = settings.method
    matrix = 8.0 * columns**2
    cube = float(columns) ** 3
    at_once = threads**0.8
    parts = [
        Part("moments", 4 * matrix, MOMENTS * rows * columns**2 / at_once),
        Part("precision", MATRICES * matrix, PRECISION * cube / at_once),
    ]
    if method.beam_width:
        states, most = _states(columns, method)
        parts.append(
            Part(
                "beams",
                (MATRICES + MATRICES_OF_BIC) * matrix + bytes_of_beam(columns, most),
                STATE * states * columns**POWER_OF_STATE / at_once,
            )
        )
    else:
        parts.append(Part("elimination", MATRICES * matrix, REMOVALS * method.eliminations * cube / at_once))
    if method.by_bic:
        parts.append(
            Part("refinement", (MATRICES + MATRICES_OF_BIC) * matrix, POLISHING * method.refinements * columns**2)
        )
    # What takes no time on any machine is not worth the comparison.
    slower = _slowness() if sum(part.seconds for part in parts) > LONG / 100 else 1.0
    limit = math.inf if settings.running.time_limit is None else settings.running.time_limit
    return Estimate(tuple(Part(part.name, part.bytes, min(part.seconds * slower, limit)) for part in parts))


def matrices_of(method: Method) -> int:
    """Return how many matrices of p × p doubles a method needs at least."""
    return MATRICES + (MATRICES_OF_BIC if method.by_bic else 0)


def fits(columns: int, method: Method) -> bool:
    """Return whether so many columns can be learnt as a whole within the memory that is free."""
    needed = 8.0 * matrices_of(method) * columns**2
    return needed <= TRIFLE or needed <= available_memory()


def most_columns(method: Method) -> int:
    """Return how many columns can be learnt as a whole within the memory that is free."""
    return int(math.sqrt(available_memory() / (8.0 * matrices_of(method))))


def require_fit(columns: int, method: Method) -> None:
    """Raise unless so many columns can be learnt within the memory that is free."""
    if not fits(columns, method):
        free, most = available_memory(), most_columns(method)
        needed = 8.0 * matrices_of(method) * columns**2
        cures = [f"{keyword('blocks', True)} for columns that fall into groups", f"at most {most} columns"]
        if method.by_bic and 8.0 * MATRICES * columns**2 <= free:
            cures.insert(0, f"{keyword('method', 'rfd')} without refinement")
        raise OptionError(
            f"{columns} columns need about {needed / 1e9:.1f} GB of memory, {matrices_of(method)} matrices of all "
            f"pairs, and {free / 1e9:.1f} GB are free: enough for {most} columns. Use {', '.join(cures)}, or a sparse "
            f"precision matrix with {keyword('input', 'precision')}."
        )
    if method.beam_width:
        require_beam(columns, method.beam_width)


def _states(columns: int, method: Method) -> tuple[int, int]:
    """Return how many states all beams follow one after the other, and how many are in memory at the same time."""
    side_by_side = len(DENSE_SETTINGS)
    width = method.beam_width
    states, most = side_by_side * width, width
    if beam_fits(columns, side_by_side * width):
        most = side_by_side * width
    wider = WIDER * width
    # "auto" goes on to wider beams; a second round, of all settings but one, is typical.
    if method.widens and wider * columns**2 <= MOST_AT_ONCE and beam_fits(columns, wider):
        states += (side_by_side - 1) * wider
        most = max(most, (side_by_side - 1) * wider)
    return states, most


@cache
def _slowness() -> float:
    """Return how many times longer this machine takes than the one that the constants come from."""
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
