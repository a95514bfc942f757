"""Compilation of kernels on first use, and the message that announces it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

try:
    from numba import njit
    from numba.core import event as compiler
except ModuleNotFoundError as missing:
    if missing.name != "numba":
        raise
    njit = compiler = None

MESSAGE = "rfdag compiles its kernels for this machine, once; this takes up to a minute."
SLOW = (
    "numba is not installed: rfdag runs its kernels as plain Python, about a hundred times slower. "
    "Install it with: pip install numba"
)
COMPILED = njit is not None
"""Whether kernels are compiled."""

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


def kernel(
    *, fastmath: bool | set[str] = False, inline: bool = False, allocates: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on first use, without the interpreter lock.

    The compiled form is cached on disk if possible: beside the source, in the user's cache folder, or in
    NUMBA_CACHE_DIR. Otherwise every process compiles again. Without numba the function stays plain Python, which is
    slow unless a GPU does the heavy work.

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
    return _compiler(fastmath=fastmath, inline="always" if inline else "never", _nrt=allocates)


def part(*, fastmath: bool | set[str] = False, allocates: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that only kernels call: nothing is compiled to call them from Python."""
    return _compiler(fastmath=fastmath, _nrt=allocates, no_cpython_wrapper=True)


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


def announce(kernel: Any, show: Callable[[str], None]) -> None:
    """Announce that kernels will be compiled, unless ``kernel``, one of them, is compiled or cached on disk."""
    if not COMPILED:
        _warn_once()
    elif not (kernel.signatures or is_kept(kernel)):
        logger.info(MESSAGE)
        show(MESSAGE)


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
    # Numba compiles in constants of other modules, but only checks the kernel's own file for changes.
    modules = [value for value in kernel.py_func.__globals__.values() if isinstance(value, ModuleType)]
    ours = [Path(module.__file__) for module in modules if module.__name__.startswith("rfdag.") and module.__file__]
    changed = max(path.stat().st_mtime for path in (source, *ours))
    return [(entry, entry.stat().st_mtime < changed) for entry in entries]
