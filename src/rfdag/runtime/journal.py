"""A journal: entries in a file of JSON lines, each written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rfdag.errors import FileError


class Journal:
    """A file that only grows. A run that was ended in the middle of a line loses that line and no other.

    Parameters
    ----------
    path
        The file; it and its folder are made if need be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened for appending even before there is anything to append: better told now than after hours of work.
            # Half a line may end in half a letter, which must not make the rest unreadable.
            with open(path, "a+", encoding="utf-8", errors="replace") as handle:
                handle.seek(0)
                self._text = handle.read()
                if self._text and not self._text.endswith("\n"):
                    handle.write("\n")
        except OSError as problem:
            raise FileError(
                f"{path} could not be opened ({problem.strerror or problem}); choose another folder."
            ) from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the entries that were there when the journal was opened, without lines that are none."""
        # Not splitlines, which also splits at signs that a text inside an entry may hold.
        for line in self._text.split("\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add an entry."""
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        try:
            with open(self.path, "a", encoding="utf-8") as handle:
                handle.write(line + "\n")
        except OSError as problem:
            raise FileError(
                f"{self.path} could not be written to ({problem.strerror or problem}). What it holds is safe: make "
                "room, and the same command goes on from there."
            ) from None
