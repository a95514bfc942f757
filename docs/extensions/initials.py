"""Keep the initials of authors: in reStructuredText a line that begins with `C. Squires` is the third of a list."""

from __future__ import annotations

import re
from typing import Any


def escaped(line: str) -> str:
    r"""Return a line whose first word is an initial as text.

    >>> print(escaped("C. Squires, J. Amaniampong, C. Uhler"))
    C\. Squires, J. Amaniampong, C. Uhler
    """
    return re.sub(r"^(\s*[A-Z])\. (?=[A-Z])", r"\1\\. ", line)


def escape(app: Any, kind: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    """Escape the initials of a docstring, in place."""
    lines[:] = map(escaped, lines)


def setup(app: Any) -> dict[str, bool]:
    """Escape what numpydoc has made of docstrings."""
    app.connect("autodoc-process-docstring", escape, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
