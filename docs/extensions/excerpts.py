"""Give the search the texts of all pages, for excerpts where pages are opened as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load(app: Any, page: str, template: str, context: Any, doctree: Any) -> None:
    """Load texts and script on the page of the search alone."""
    if page == "search":
        app.add_js_file("texts.js")
        app.add_js_file("excerpts.js")


def write(app: Any, exception: Exception | None) -> None:
    """Write the texts of all pages."""
    if exception is None and app.builder.format == "html":
        texts = {page: app.env.get_doctree(page).astext() for page in sorted(app.env.found_docs)}
        script = f"const TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
        (Path(app.outdir) / "_static" / "texts.js").write_text(script, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the texts when the pages are there."""
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
