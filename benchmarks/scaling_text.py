"""The parts of docs/scaling.md: sections, targets and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from measurement import Row
from report import markdown

NOTHING = "–"


class Check(NamedTuple):
    """A target and the value that was reached."""

    what: str
    target: str
    reached: str
    met: bool


class Section(NamedTuple):
    """A section of the page, and the targets that it reports."""

    text: str
    checks: Sequence[Check] = ()


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as readable text.

    >>> number(0.012345), number(20000), number(1234.5)
    ('0.0123', '20 000', '1234')
    """
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ") if value >= 10_000 else str(value)
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:.0f}"


def signed(value: float, digits: int = 4) -> str:
    """Return a difference as readable text.

    >>> signed(-0.00471)
    '−0.0047'
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def at_most(what: str, value: float, bound: float, unit: str = "") -> Check:
    """Return a check of a value against an upper bound."""
    return Check(what, f"≤ {number(bound)}{unit}", f"{number(value)}{unit}", value <= bound)


def verdict(check: Check | None) -> Row:
    """Return the last columns of a row of a table."""
    if check is None:
        return {"target": NOTHING, "met": NOTHING}
    return {"target": check.target, "met": "yes" if check.met else "**no**"}


def measured(part: dict[str, Any]) -> str:
    """Return when, where and with which sources the rows of a part were measured."""
    versions = sorted({f"{row['version']} ({row['date']})" for row in part["rows"] if "version" in row})
    sources = f" Sources: {', '.join(versions)}." if versions else ""
    return f"*{part['provenance'].strip('*').rstrip()}{sources}*\n"


def table(rows: Sequence[Row], columns: Sequence[str] | None = None, digits: int = 3) -> str:
    """Return rows as Markdown with readable numbers; columns that a row lacks stay empty."""
    names = columns or list(dict.fromkeys(name for row in rows for name in row))

    def shown(entry: str | float | None) -> str:
        return entry if isinstance(entry, str) else number(entry, digits)

    return markdown([{name: shown(row.get(name)) for name in names} for row in rows])
