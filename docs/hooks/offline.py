"""Refuse a page of the site that would load anything from elsewhere."""

from __future__ import annotations

import re
from typing import Any

LOADED = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*?(?:src|srcset|href)=["']((?:https?:)?//[^"']*)["']""")


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Return the page as it is, or raise with the addresses it would ask.

    >>> on_post_page('<a href="https://example.org">a link is no request</a><img src="figures/soft.svg">', page=None)
    '<a href="https://example.org">a link is no request</a><img src="figures/soft.svg">'
    >>> LOADED.findall("<script src='https://x.org/a.js'></script>"), LOADED.findall('<img src="//x.org/b.png">')
    (['https://x.org/a.js'], ['//x.org/b.png'])
    """
    asked = sorted(set(LOADED.findall(output)))
    if asked:
        # Here and not above: doctests import this file where MkDocs may not be installed.
        from mkdocs.exceptions import PluginError

        raise PluginError(f"{page.file.src_uri} would load {', '.join(asked)}; put a copy into docs/assets instead.")
    return output
