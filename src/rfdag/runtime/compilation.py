"""Compilation of kernels on first use, and the message that announces it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

try:
    from numba import config, njit
    from numba.core import event as compiler
except ModuleNotFoundError as missing:
    if missing.name != "numba":
        raise
    config = njit = compiler = None

SECONDS = 15
"""What compiling takes on first use, on two cores that are not idle; measured by `benchmarks/first_call.py`."""

MESSAGE = f"rfdag compiles its kernels for this machine, once; this takes about {SECONDS} seconds."
INSTALLED = njit is not None
"""Whether numba is installed."""
COMPILED = INSTALLED and not config.DISABLE_JIT
"""Whether kernels are compiled."""
SLOW = (
    f"{'NUMBA_DISABLE_JIT is set' if INSTALLED else 'numba is not installed'}: rfdag runs its kernels as plain Python, "
    f"about a hundred times slower. {'Unset this variable.' if INSTALLED else 'Install it with: pip install numba'}"
)

KERNELS: list[Any] = []
"""All kernels of the modules imported so far, with which their compilation can be checked."""

logger = logging.getLogger("rfdag")


class _Stopwatch(compiler.Listener if COMPILED else object):  # type: ignore[misc]
    """Counts the seconds in which any thread compiles, loads a compiled kernel, or waits for another that does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = self._begun = 0.0
        self._busy = 0

    def on_start(self, event: object) -> None:
        """Start the watch, unless it runs already: a kernel that calls others is compiled with them."""
        with self._lock:
            if self._busy == 0:
                self._begun = time.monotonic()
            self._busy += 1

    def on_end(self, event: object) -> None:
        """Stop the watch at the end of the last thread."""
        with self._lock:
            self._busy -= 1
            if self._busy == 0:
                self._seconds += time.monotonic() - self._begun

    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            return self._seconds + (time.monotonic() - self._begun if self._busy else 0.0)


_WATCH = _Stopwatch()
if COMPILED:
    compiler.register("numba:compiler_lock", _WATCH)


def seconds_compiling() -> float:
    """Return for how many seconds this process has compiled kernels or loaded them, so far.

    >>> seconds_compiling() >= 0
    True
    """
    return _WATCH.seconds()


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Count the functions that are compiled, not loaded, within the block: a function returns how many so far."""

    class Counter(compiler.Listener if COMPILED else object):  # type: ignore[misc]
        found = 0

        def on_start(self, event: object) -> None:
            """Count when it is done."""

        def on_end(self, event: object) -> None:
            self.found += 1

    counter = Counter()
    with compiler.install_listener("numba:compile", counter) if COMPILED else nullcontext():
        yield lambda: counter.found


@contextmanager
def watched() -> Iterator[None]:
    """Count the time of a block as spent on compiling."""
    _WATCH.on_start(None)
    try:
        yield
    finally:
        _WATCH.on_end(None)


def kernel(
    *, fastmath: bool | set[str] = False, inline: bool = False, allocates: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on first use, without the interpreter lock.

    The compiled form is cached on disk if possible: beside the source, in the user's cache folder, or in
    NUMBA_CACHE_DIR. Otherwise every process compiles again. Without numba, and with NUMBA_DISABLE_JIT=1, the function
    stays plain Python, which is slow unless a GPU does the heavy work.

    Parameters
    ----------
    fastmath
        What the compiler may assume of floating-point numbers, as numba names it.
    inline
        Whether kernels that call this one contain it, under their own ``fastmath``, rather than call it. It compiles
        faster where it is called once.
    allocates
        Whether it creates arrays. Other kernels need not count references, which takes long to compile.
    """
    compiled = _compiler(fastmath=fastmath, inline="always" if inline else "never", _nrt=allocates)

    def registered(function: Callable[..., Any]) -> Any:
        if not COMPILED:
            return _quiet(function)
        kept = compiled(function)
        KERNELS.append(kept)
        return kept

    return registered


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function during which numbers overflow without a warning, as they do in compiled code."""

    @wraps(function)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return function(*arguments)

    return quiet


def part(
    *, fastmath: bool | set[str] = False, inline: bool = False, allocates: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator, like `kernel`, for functions that only kernels call.

    Nothing is compiled to call them from Python, except for those ``inline``, which are not compiled on their own.
    """
    return _compiler(
        fastmath=fastmath, inline="always" if inline else "never", _nrt=allocates, no_cpython_wrapper=not inline
    )


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    options |= {"nogil": True, "no_cfunc_wrapper": True}

    def compiled(function: Callable[..., Any]) -> Any:
        if not COMPILED:
            return function
        try:
            kept = njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)
        _forget_outdated(kept)
        return kept

    return compiled


def announce(kernels: Iterable[Any], show: Callable[[str], None]) -> bool:
    """Announce that kernels will be compiled, unless all these are compiled or cached on disk; return whether."""
    if not COMPILED:
        _warn_once()
        return False
    if all(kernel.signatures or is_kept(kernel) for kernel in kernels):
        return False
    logger.info(MESSAGE)
    show(MESSAGE)
    return True


@cache
def _warn_once() -> None:
    logger.warning(SLOW)


def is_kept(kernel: Any) -> bool:
    """Return whether a compiled form that is no older than the source is cached on disk."""
    return any(not outdated for _, outdated in _on_disk(kernel))


def _forget_outdated(kernel: Any) -> None:
    """Remove compiled forms of an earlier source: numba fails on those with types that no longer exist."""
    with suppress(OSError):
        for entry, outdated in _on_disk(kernel):
            if outdated:
                entry.unlink(missing_ok=True)


def _on_disk(kernel: Any) -> list[tuple[Path, bool]]:
    """Return the compiled forms on disk, each with whether it is older than the source or a module that it uses."""
    source = Path(kernel.py_func.__code__.co_filename)
    name = f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi"
    entries = Path(kernel.stats.cache_path).glob(name) if kernel.stats.cache_path else iter(())
    changed = max(path.stat().st_mtime for path in _sources(kernel.py_func))
    return [(entry, entry.stat().st_mtime < changed) for entry in entries]


def _sources(function: Any) -> set[Path]:
    """Return the files that a kernel is compiled from: its own, and those of our modules and kernels that it uses.

    Numba compiles them in, but checks the kernel's own file alone for changes.
    """
    found = {Path(function.__code__.co_filename)}
    for value in function.__globals__.values():
        if isinstance(value, ModuleType) and value.__name__.startswith("rfdag.") and value.__file__:
            found.add(Path(value.__file__))
        elif hasattr(value, "py_func"):
            found.add(Path(value.py_func.__code__.co_filename))
    return found
