"""Pieces of HTML: names, numbers, tables and bars."""

from __future__ import annotations

import html
import math
from collections.abc import Hashable, Iterable, Sequence

from rfdag.wording import without_middle

LONGEST = 40
"""Letters of a name that are shown; the rest shows when the pointer rests on it."""
BLUE, RED = "#3f8fce", "#d9702b"
"""Two colours that are seen on white and on black."""
TEXT = "padding:1px 10px 1px 0;border:0;vertical-align:top;text-align:left"
NUMBER = "padding:1px 10px 1px 0;border:0;vertical-align:top;text-align:right;white-space:nowrap"
QUIET = "opacity:0.7"


def escaped(text: object) -> str:
    """Return text that is shown as it is, and never read as HTML; what cannot be shown is replaced.

    >>> escaped("<b>&"), escaped(chr(0))
    ('&lt;b&gt;&amp;', '�')
    """
    shown = "".join("\ufffd" if _unprintable(letter) else letter for letter in str(text))
    return html.escape(shown)


def named(name: Hashable) -> str:
    """Return a name, its middle left out if it is long; letters from right to left do not turn what stands beside.

    >>> named("age")
    '<bdi>age</bdi>'
    """
    text = str(name)
    if not text.strip():
        return f"<bdi>{escaped(repr(text))}</bdi>"
    if len(text) <= LONGEST:
        return f"<bdi>{escaped(text)}</bdi>"
    return f'<bdi title="{escaped(text[:1000])}">{escaped(without_middle(text, LONGEST))}</bdi>'


def listing(names: Sequence[Hashable], limit: int, between: str = ", ") -> str:
    """Return names one after the other, the rest counted.

    >>> listing("abc", 2)
    '<bdi>a</bdi>, <bdi>b</bdi> … and 1 more'
    """
    more = f" … and {len(names) - limit} more" if len(names) > limit else ""
    return between.join(map(named, names[:limit])) + more


def number(value: float | None) -> str:
    """Return a number in three digits, nothing for None.

    >>> number(-0.12345), number(12345.0), number(None)
    ('−0.123', '12345', '')
    """
    if value is None or math.isnan(value):
        return ""
    shown = f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
    return shown.replace("-", "−")


def share(value: float) -> str:
    """Return a share in two digits.

    >>> share(2 / 3)
    '0.67'
    """
    return f"{value:.2f}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """Return a table of cells that are HTML already; the last ``numbers`` columns are set flush right."""
    text = len(headings) - numbers

    def line(tag: str, cells: Sequence[str], more: str = "") -> str:
        styles = [*[TEXT] * text, *[NUMBER] * numbers]
        inner = "".join(
            f'<{tag} style="{style}{more}">{cell}</{tag}>' for style, cell in zip(styles, cells, strict=True)
        )
        return f'<tr style="background:none">{inner}</tr>'

    head = f"<thead>{line('th', headings, ';font-weight:normal;opacity:0.7')}</thead>" if any(headings) else ""
    body = "".join(line("td", row) for row in rows)
    style = "border-collapse:collapse;border:0;margin:6px 0;font-variant-numeric:tabular-nums"
    return f'<table style="{style}">{head}<tbody>{body}</tbody></table>'


def bar(filled: float) -> str:
    """Return a bar that fills this share of its room."""
    return span(0.0, filled)


def span(low: float, high: float, mark: float | None = None) -> str:
    """Return a line from one share of its room to another, with a mark somewhere."""
    start, wide = 100 * low, max(100 * (high - low), 1.0)
    tick = "" if mark is None else f'<rect x="{100 * mark - 1:.1f}" y="0" width="2" height="10" fill="currentColor"/>'
    return (
        '<svg width="104" height="10" viewBox="-2 0 104 10" aria-hidden="true" style="vertical-align:middle">'
        '<rect x="0" y="4.5" width="100" height="1" fill="currentColor" opacity="0.25"/>'
        f'<rect x="{start:.1f}" y="2" width="{wide:.1f}" height="6" fill="{BLUE}"/>{tick}</svg>'
    )


def line(text: str, *, quiet: bool = False) -> str:
    """Return a paragraph."""
    return f'<div style="margin:4px 0{";" + QUIET if quiet else ""}">{text}</div>'


def view(title: str, *parts: str) -> str:
    """Return the whole: a title and what is under it. Dollars in names are no formulas to the notebook."""
    return (
        '<div class="tex2jax_ignore mathjax_ignore" style="max-width:64em;line-height:1.45;overflow-x:auto">'
        f"<div><strong>{title}</strong></div>{''.join(parts)}</div>"
    )


def _unprintable(letter: str) -> bool:
    """Return whether a letter is a control character, half of another, or turns the direction of what follows."""
    place = ord(letter)
    turns = 0x202A <= place <= 0x202E or 0x2066 <= place <= 0x2069
    return place < 0x20 or 0x7F <= place < 0xA0 or 0xD800 <= place < 0xE000 or place in (0xFFFE, 0xFFFF) or turns
