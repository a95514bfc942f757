"""The terminal: a console whose reader may leave before the end."""

from __future__ import annotations

import os
import sys

import rich.console


class Console(rich.console.Console):
    """Rich's console, which says nothing more once nobody reads: the work goes on, and is written to its files."""

    def on_broken_pipe(self) -> None:
        """Drop what is still to be printed, there and by others."""
        self.quiet = True
        drop_output("stderr" if self.stderr else "stdout")


def drop_output(name: str) -> None:
    """Let a standard stream, "stdout" or "stderr", lead nowhere, so that the interpreter does not fail to flush it."""
    stream = getattr(sys, name)
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
