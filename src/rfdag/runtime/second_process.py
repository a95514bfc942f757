"""A second process that compiles some kernels into the disk cache while this one compiles others.

Numba compiles one function at a time in a process, so two processes need half the time. Nothing depends on the second:
what it has not compiled is compiled here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rfdag.runtime.compilation import COMPILED, is_kept, watched
from rfdag.runtime.threads import thread_count

PATIENCE = 60.0
"""Seconds to wait for the second process once this one has compiled its share."""


@contextmanager
def compiling_beside(module: str, kernel: Any) -> Iterator[None]:
    """Let another process run a module, which compiles ``kernel``, while the block runs; then wait for it.

    Where that cannot help (it is compiled already, or cannot be cached, or there is one core, or no interpreter to
    start), only the block runs. The process ends with the block, whatever ends it.
    """
    process = _started(module) if _may_help(kernel) else None
    try:
        yield
        if process is not None:
            with watched(), suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
    finally:
        if process is not None:
            process.kill()
            process.communicate()


def end_with_parent() -> None:
    """End this process when the one that started it ends: nothing is left behind, even if that one is killed."""

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _may_help(kernel: Any) -> bool:
    if not COMPILED or getattr(sys, "frozen", False) or not sys.executable or thread_count(None) < 2:
        return False
    folder = kernel.stats.cache_path
    if folder is None or kernel.signatures or is_kept(kernel):
        return False
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _started(module: str) -> subprocess.Popen[bytes] | None:
    # It finds the same packages as this one, and is quiet.
    code = f"import sys; sys.path[:] = {sys.path!r}; import runpy; runpy.run_module({module!r}, run_name='__main__')"
    silent = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=silent, stderr=silent, start_new_session=True
        )
    except OSError:
        return None
