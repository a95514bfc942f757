"""Data that are piped into a command: `-` in place of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rfdag.errors import DataError, OptionError

DASH = Path("-")

SOURCES = (
    "CSV, TSV, Excel, Parquet, Feather, NPY or NPZ file, a folder, several files with the same columns, or - for "
    "standard input."
)
"""What the commands that learn take, for their help."""


@contextmanager
def on_disk(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths, that of a temporary file in place of a dash, which holds all of the standard input."""
    from rfdag.input.spooling import spooled

    if DASH not in paths:
        yield list(paths)
        return
    if len(paths) > 1:
        raise OptionError("Found - beside other files; standard input goes alone. Name all files, or join them first.")
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise DataError("Standard input is empty; pipe a table into the command, or name a file.")
    with spooled(content, "standard input") as path:
        yield [path]
