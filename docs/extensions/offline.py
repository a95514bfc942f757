"""Refuse a site that would load anything from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LOADED = {
    ".html": re.compile(
        r"""<(?:script|img|iframe|source|link|object|embed)\b[^>]*?\s(?:src|srcset|href|data)=["']?((?:https?:)?//[^"'\s>]*)"""
    ),
    ".css": re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]*)"""),
}
"""The addresses that a browser asks for by itself; links wait for a reader."""


def loaded_from_elsewhere(text: str, suffix: str) -> list[str]:
    """Return the addresses elsewhere that a file of this kind would load.

    >>> loaded_from_elsewhere('<a href="https://x.org">a link</a><img src="figures/soft.svg">', ".html")
    []
    >>> loaded_from_elsewhere('<script src=https://x.org/a.js></script> <img src="//x.org/b.png">', ".html")
    ['https://x.org/a.js', '//x.org/b.png']
    >>> loaded_from_elsewhere('@import "https://x.org/c.css"; p {background: url(//x.org/d.png), url(e.png)}', ".css")
    ['https://x.org/c.css', '//x.org/d.png']
    """
    return LOADED[suffix].findall(text)


def check(app: Any, exception: Exception | None) -> None:
    """Warn of each file that would ask addresses elsewhere; warnings fail the build."""
    if exception is not None or app.builder.format != "html":
        return
    # Here and not above: doctests import this file where Sphinx may not be installed.
    from sphinx.util.logging import getLogger

    folder = Path(app.outdir)
    for path in sorted(path for path in folder.rglob("*") if path.suffix in LOADED):
        asked = loaded_from_elsewhere(path.read_text(encoding="utf-8"), path.suffix)
        if asked:
            name, addresses = path.relative_to(folder), ", ".join(asked)
            getLogger(__name__).warning("%s would load %s; put a copy into docs/ instead.", name, addresses)


def setup(app: Any) -> dict[str, bool]:
    """Check every site after it was built."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
