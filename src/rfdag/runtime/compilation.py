"""How kernels are compiled, and telling the user, once, that it happens: the only slow thing about a first run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

try:
    from numba import njit
except ModuleNotFoundError as missing:
    if missing.name != "numba":
        raise
    njit = None

MESSAGE = "rfdag compiles its kernels for this machine, once; this takes up to a minute."
SLOW = (
    "numba is not installed: rfdag runs its kernels as plain Python, about a hundred times slower. "
    "Install it with: pip install numba"
)
COMPILED = njit is not None
"""Whether kernels are compiled."""

logger = logging.getLogger("rfdag")


def kernel(*, fastmath: bool | set[str] = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on first use, without the interpreter lock.

    The compiled form is kept on disk where there is a place for it: beside the source, in the user's cache
    folder, or in NUMBA_CACHE_DIR. Where there is none, every process compiles anew. Without numba the function stays
    as it is; a GPU does the heavy work then, or patience.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        if not COMPILED:
            return function
        try:
            kept = njit(nogil=True, cache=True, fastmath=fastmath)(function)
        except RuntimeError:
            return njit(nogil=True, fastmath=fastmath)(function)
        _forget_outdated(kept)
        return kept

    return compiled


def announce(kernel: Any, say: Callable[[str], None]) -> None:
    """Say that ``kernel`` and its fellows will be compiled, unless they are or their cache is on disk."""
    if not COMPILED:
        _warn_once()
    elif not (kernel.signatures or is_kept(kernel)):
        logger.info(MESSAGE)
        say(MESSAGE)


@cache
def _warn_once() -> None:
    logger.warning(SLOW)


def is_kept(kernel: Any) -> bool:
    """Return whether a compiled form is on disk that is no older than the source."""
    return any(not outdated for _, outdated in _on_disk(kernel))


def _forget_outdated(kernel: Any) -> None:
    """Remove what is on disk of an earlier source: it may speak of types that are gone, which numba trips over."""
    with suppress(OSError):
        for entry, outdated in _on_disk(kernel):
            if outdated:
                entry.unlink(missing_ok=True)


def _on_disk(kernel: Any) -> list[tuple[Path, bool]]:
    """Return the compiled forms on disk, and whether they are older than the source or a module that it uses."""
    source = Path(kernel.py_func.__code__.co_filename)
    name = f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi"
    entries = Path(kernel.stats.cache_path).glob(name) if kernel.stats.cache_path else iter(())
    # Numba compiles constants in, and looks at the kernel's own file alone to see whether they have changed.
    modules = [value for value in kernel.py_func.__globals__.values() if isinstance(value, ModuleType)]
    ours = [Path(module.__file__) for module in modules if module.__name__.startswith("rfdag.") and module.__file__]
    changed = max(path.stat().st_mtime for path in (source, *ours))
    return [(entry, entry.stat().st_mtime < changed) for entry in entries]
