"""End blocks of code where their code ends: the empty line behind a session's output is for doctest alone."""

from __future__ import annotations

from typing import Any


def trim(app: Any, page: Any) -> None:
    """Take empty lines from the ends of a page's blocks."""
    # Here and not above: doctests import this file where Sphinx may not be installed.
    from docutils.nodes import Text, literal_block

    for block in page.findall(literal_block):
        code = block.astext().rstrip()
        block.rawsource, block.children = code, [Text(code)]


def setup(app: Any) -> dict[str, bool]:
    """Trim every page that was read."""
    app.connect("doctree-read", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
