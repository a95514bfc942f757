"""A journal: entries in a file of JSON lines, each written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rfdag.errors import FileError
from rfdag.runtime.json_text import parsed


class Journal:
    """A file that only grows. If a run is killed in the middle of a line, only that line is lost.

    Parameters
    ----------
    path
        The file; it and its folder are created if needed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened for appending at once, so that an error appears now and not after hours of work. An incomplete
            # line may end within a character, which must not make the rest unreadable.
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
        """Yield the entries that were there when the journal was opened; other lines are skipped."""
        # Not splitlines, which also splits at characters that may occur within an entry.
        for line in self._text.split("\n"):
            try:
                entry = parsed(line)
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
                f"{self.path} could not be written to ({problem.strerror or problem}). Its entries are safe: free some "
                "space, and run the same command again to resume."
            ) from None
