"""Sharing the range of one kernel among threads; kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from numbers import Integral
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from rfdag.errors import OptionError, keyword

T = TypeVar("T")

MOST_STEPS_FOR_ONE_THREAD = 2e10
"""Multiplications of a decomposition up to which one thread does it in a second or two."""

WAKE_EVERY = 0.1
"""Seconds after which a thread that waits for others looks whether the user has interrupted."""


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None or −1 is one per core available to this process.

    >>> thread_count(3)
    3
    """
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise OptionError(
            f"{keyword('n_jobs')} is a number of threads ≥ 1, or −1 or None for all cores, not {n_jobs!r}."
        )
    return int(n_jobs)


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="rfdag")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Restrict BLAS and LAPACK to the calling thread, where our own threads share the work."""
    return _libraries().limit(limits=1, user_api="blas")


def blas_threads_for(steps: float) -> AbstractContextManager[object]:
    """Restrict BLAS and LAPACK to the calling thread unless a decomposition takes it more than a second or two.

    On a busy machine their threads wait for each other: what takes a tenth of a second alone then takes ten. ``steps``
    are its multiplications, to an order of magnitude: n p² for the moments of n rows, p³ for an inverse.
    """
    return one_blas_thread() if steps <= MOST_STEPS_FOR_ONE_THREAD else nullcontext()


class _Unwanted(BaseException):
    """Another worker has failed, or the user has interrupted."""


_HERE = threading.local()
"""Of each thread: the event that ends the shared work under way."""


def require_wanted() -> None:
    """End the work of this worker if another one has failed, or was interrupted; call it between two pieces."""
    ended = getattr(_HERE, "ended", None)
    if ended is not None and ended.is_set():
        raise _Unwanted


def share(work: Callable[[int, int], T], threads: int) -> list[T]:
    """Return ``work(first, step)`` for first = 0 … threads − 1 and step = threads, computed in parallel.

    Worker ``first`` does the pieces first, first + step, …: interleaved, so that workers take about equally long even
    if the cost grows along the range. The calling thread is one of the workers. Once one of them fails or is
    interrupted, the others end where they next call `require_wanted`; the error is raised when all have.
    """
    if threads == 1:
        return [work(0, 1)]
    ended = threading.Event()

    def part(first: int) -> T:
        before, _HERE.ended = getattr(_HERE, "ended", None), ended
        try:
            return work(first, threads)
        except BaseException:
            ended.set()
            raise
        finally:
            _HERE.ended = before

    # Threads do not survive a fork, so a pool belongs to the process that made it.
    pool = _pool(threads - 1, os.getpid())
    others = [pool.submit(part, first) for first in range(1, threads)]
    try:
        try:
            with suppress(_Unwanted):
                own = part(0)
            # In short waits: a library may have asked the system to go on with those that Ctrl-C breaks off.
            while wait(others, WAKE_EVERY).not_done:
                pass
        except BaseException:
            ended.set()
            raise
    finally:
        wait(others)
    for problem in (other.exception() for other in others):
        if problem is not None and not isinstance(problem, _Unwanted):
            raise problem
    return [own, *(other.result() for other in others)]
