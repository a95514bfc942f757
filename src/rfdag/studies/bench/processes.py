"""Processes of contenders: started, waited for, and ended with all that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

LONGEST_START = 600.0
"""Seconds that a contender may take for imports, compilation and its warm-up."""


@contextlib.contextmanager
def running(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, which is ended with its children when the block is left; its error output goes to a file."""
    # Into a file, not a pipe: a pipe would have to be read until the last of a contender's children is gone.
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        try:
            yield process
        finally:
            _end(process)


def wait(process: subprocess.Popen[bytes], started: Path, limit: float) -> str:
    """Wait for a process; return a message if it is late, and otherwise nothing."""
    deadline, begun = time.monotonic() + LONGEST_START, False
    while True:
        if not begun and started.exists():
            deadline, begun = time.monotonic() + limit, True
        try:
            process.wait(timeout=0.02)
            return ""
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                return f"over {limit:g} s" if begun else f"not started after {LONGEST_START:g} s"


def end_group(file: Path) -> None:
    """End the group of processes that a file names: the call that a series was ended in."""
    if file.exists():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(file.read_text(encoding="utf-8")), signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, if they have not ended."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
