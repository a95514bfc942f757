"""The version of the code that computes results: the package's version, and a digest of the sources."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import rfdag

AROUND = (
    "cli.py",
    "commands",
    "effects",
    "exchange",
    "notebooks",
    "plots",
    "report",
    "studies",
    "wording.py",
)
"""Parts of the package that do not affect results: they run the computation, or show and export what it found."""

SOURCES = (".py", ".cu")


@functools.cache
def own_version() -> str:
    """Return rfdag's version with a digest of its sources, since an edited checkout may give other results.

    >>> own_version().startswith(rfdag.__version__ + "+")
    True
    """
    root = Path(rfdag.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in SOURCES and path.relative_to(root).parts[0] not in AROUND:
            digest.update(path.read_bytes())
    return f"{rfdag.__version__}+{digest.hexdigest()[:8]}"
