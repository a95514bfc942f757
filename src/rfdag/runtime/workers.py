"""Parallel workers: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from rfdag.errors import OptionError

T = TypeVar("T")

ENDING = 2.0
"""Seconds that joblib has to end its processes."""

CONNECT_WITHIN = 10
"""Seconds within which a Dask scheduler must answer."""


@dataclass(frozen=True)
class Workers:
    """Where joblib runs its tasks: in processes of this machine, or on a Dask cluster."""

    jobs: int | None = None
    """How many tasks run at once; None is one per core, or all workers of the cluster."""
    dask: str | None = None
    """Address of a Dask scheduler."""

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Make joblib send its tasks to these workers."""
        from joblib import parallel_config

        jobs = self.jobs or -1
        if self.dask is None:
            with parallel_config(backend="loky", n_jobs=jobs):
                yield
            return
        with _client(self.dask), parallel_config(backend="dask", n_jobs=jobs):
            yield


def on_cluster() -> bool:
    """Return whether joblib sends tasks from here to a Dask cluster; not from a task that runs there itself.

    >>> on_cluster()
    False
    """
    if "distributed" not in sys.modules:
        return False
    from distributed import get_worker
    from joblib.parallel import get_active_backend

    try:
        get_worker()
    except ValueError:
        return type(get_active_backend()[0]).__name__ == "DaskDistributedBackend"
    return False


def outcomes(tasks: Generator[T, None, None]) -> Iterator[T]:
    """Yield what tasks of joblib return, which Ctrl-C ends as soon as joblib has ended its processes.

    That takes it some hundredths of a second. It must not be interrupted once more meanwhile: joblib would then wait a
    second for files of the processes.

    >>> list(outcomes(square for square in (1, 4)))
    [1, 4]
    """
    usual = signal.getsignal(signal.SIGINT)
    # Signals only reach the main thread, and only it may say who handles them.
    handled = callable(usual) and threading.current_thread() is threading.main_thread()
    handler = _First(usual) if handled else None
    with closing(tasks):
        while True:
            try:
                if handler is not None:
                    signal.signal(signal.SIGINT, handler)
                outcome = next(tasks)
            except StopIteration:
                return
            finally:
                if handler is not None:
                    signal.signal(signal.SIGINT, usual)
            yield outcome


class _First:
    """Handles the user's interrupts as usual, but ignores others for a while after one that raised."""

    def __init__(self, usual: Any) -> None:
        self._usual, self._until = usual, 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() < self._until:
            return
        try:
            self._usual(number, frame)
        except BaseException:
            self._until = time.monotonic() + ENDING
            raise


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("A Dask cluster needs the package distributed: pip install 'rfdag[dask]'") from None
    try:
        client = Client(address, timeout=CONNECT_WITHIN)
    except (OSError, ValueError) as problem:
        raise OptionError(
            f"No Dask scheduler answers at {address} ({problem}). Pass the address that `dask scheduler` prints, such "
            "as tcp://host:8786."
        ) from None
    with client:
        yield client
