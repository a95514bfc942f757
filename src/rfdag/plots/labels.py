"""Names as labels of a figure: one short line, of letters the font has, each different from the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from rfdag.plots.shortening import one_line, shortened

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of every text that shows a name: dollars and underscores are plain letters."""
UNKNOWN = "\N{WHITE SQUARE}"
"""Stands for a letter that the font lacks."""


def labels(names: Iterable[Hashable], longest: int = 18) -> list[str]:
    """Return a label for each name: short, of letters that the font has.

    >>> labels(["age", "income of the household in thousands", 3, "3"])
    ['age', 'income of t…usands', '3', '3 (2)']
    """
    known = _letters()
    return shortened([_in_font(one_line(name), known) for name in names], longest)


def width_of(text: str, size: float) -> float:
    """Return the width of a text in points.

    >>> width_of("mm", 10) > width_of("m", 10) > 5
    True
    """
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width)


def _in_font(text: str, known: frozenset[int]) -> str:
    return "".join(letter if ord(letter) in known else UNKNOWN for letter in text)


def _letters() -> frozenset[int]:
    """Return the letters of the fonts in use; matplotlib warns at every other."""
    fonts = [findfont(FontProperties(family=[family])) for family in FontProperties().get_family()]
    return frozenset().union(*map(_letters_in, fonts))


@lru_cache(maxsize=8)
def _letters_in(path: str) -> frozenset[int]:
    return frozenset(get_font(path).get_charmap())
