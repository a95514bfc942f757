"""Telling the user, once, that kernels are being compiled: the only slow thing about a first run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

MESSAGE = "rfdag compiles its kernels for this machine, once; this takes a few seconds."
logger = logging.getLogger("rfdag")


def announce(kernel: Any, say: Callable[[str], None]) -> None:
    """Say that ``kernel`` and its fellows will be compiled, unless they are or their cache is on disk."""
    if kernel.signatures or _cached(kernel):
        return
    logger.info(MESSAGE)
    say(MESSAGE)


def _cached(kernel: Any) -> bool:
    """Return whether a compiled form is on disk that is no older than the source."""
    source = Path(kernel.py_func.__code__.co_filename)
    name = f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi"
    entries = Path(kernel.stats.cache_path).glob(name) if kernel.stats.cache_path else iter(())
    changed = source.stat().st_mtime
    return any(entry.stat().st_mtime >= changed for entry in entries)
