"""What a run on a GPU needs, found out before it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rfdag.eliminate.beams.gpu import bytes_of_states
from rfdag.eliminate.engines.gpu import bytes_of_engine
from rfdag.evidence.gpu import bytes_of_moments
from rfdag.methods.settings import Settings
from rfdag.orders.portfolio import NARROWEST
from rfdag.runtime.device import reporting, require_device, require_memory


def checker(settings: Settings) -> Callable[[int, int], None]:
    """Return a function that is told numbers of rows and columns, and raises unless they fit these settings.

    On a GPU, that includes the memory of the device, and the device itself is tried at once.
    """
    if settings.device == "cpu":
        return settings.require_rows
    require_device()

    def check(rows: int, columns: int) -> None:
        settings.require_rows(rows, columns)
        require_memory(columns, width_of(settings), lambda p, width: bytes_needed(settings, rows, p, width))

    return check


@contextmanager
def problems_of(device: str) -> Iterator[None]:
    """Turn what the device reports in the middle of the work into an error of ours."""
    if device == "cpu":
        yield
    else:
        require_device()
        with reporting():
            yield


def width_of(settings: Settings) -> int:
    """Return how many states the first beams hold; 0 for rules without a beam."""
    if settings.rule != "soft":
        return 0
    return NARROWEST if settings.beam == "auto" else settings.beam


def bytes_needed(settings: Settings, rows: int, p: int, width: int) -> float:
    """Return the most device memory that is in use at a time: for the moments, or for the elimination.

    The elimination keeps the factor of the data, to start afresh from; a search that looks ahead makes a copy of the
    state.
    """
    engines = 2 if (settings.depth or 1) > 1 else 1
    elimination = 8.0 * p * p + engines * bytes_of_engine(p) + bytes_of_states(p, width)
    return max(bytes_of_moments(rows, p), elimination)
