"""Pieces of HTML: names, numbers, tables and bars."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Hashable, Iterable, Sequence

from rfdag.plots.palette import BLUE_ON_ANY
from rfdag.plots.shortening import shortened

LONGEST = 40
"""Letters of a name that are shown; the rest shows when the pointer rests on it."""
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


class Labels:
    """HTML for each of several names, of which long ones are shortened to parts in which they differ.

    >>> labels = Labels(["age", "x" * 60 + "1", "x" * 60 + "2"])
    >>> labels("age"), labels("x" * 60 + "1") == labels("x" * 60 + "2")
    ('<bdi>age</bdi>', False)
    """

    def __init__(self, names: Iterable[Hashable]) -> None:
        long = {name: str(name) for name in names if len(str(name)) > LONGEST}
        self._short = dict(zip(long, shortened(list(long.values()), LONGEST), strict=True))

    def __call__(self, name: Hashable) -> str:
        """Return the HTML of one of the names."""
        return named(name, self._short.get(name))


def named(name: Hashable, short: str | None = None) -> str:
    """Return a name, in a ``short`` form where there is one.

    Letters from right to left do not reorder the text beside it.

    >>> named("age")
    '<bdi>age</bdi>'
    """
    text = str(name)
    if not text.strip():
        return f"<bdi>{escaped(repr(text))}</bdi>"
    if short is None:
        return f"<bdi>{escaped(text)}</bdi>"
    return f'<bdi title="{escaped(text[:1000])}">{escaped(short)}</bdi>'


def listing(label: Callable[[Hashable], str], names: Sequence[Hashable], limit: int, between: str = ", ") -> str:
    """Return names one after the other, the rest counted.

    >>> listing(Labels("abc"), "abc", 2)
    '<bdi>a</bdi>, <bdi>b</bdi> … and 1 more'
    """
    more = f" … and {len(names) - limit} more" if len(names) > limit else ""
    return between.join(map(label, names[:limit])) + more


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
        f'<rect x="{start:.1f}" y="2" width="{wide:.1f}" height="6" fill="{BLUE_ON_ANY}"/>{tick}</svg>'
    )


def line(text: str, *, quiet: bool = False) -> str:
    """Return a paragraph."""
    return f'<div style="margin:4px 0{";" + QUIET if quiet else ""}">{text}</div>'


def cell(title: str, *parts: str) -> str:
    """Return a whole view: a title and the parts under it. The notebook does not take dollars in names for formulas."""
    return (
        '<div class="tex2jax_ignore mathjax_ignore" style="max-width:64em;line-height:1.45;overflow-x:auto">'
        f"<div><strong>{title}</strong></div>{''.join(parts)}</div>"
    )


def _unprintable(letter: str) -> bool:
    """Return whether a letter is a control character, half of another, or changes the direction of what follows."""
    place = ord(letter)
    redirects = 0x202A <= place <= 0x202E or 0x2066 <= place <= 0x2069
    return place < 0x20 or 0x7F <= place < 0xA0 or 0xD800 <= place < 0xE000 or place in (0xFFFE, 0xFFFF) or redirects
