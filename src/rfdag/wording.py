"""Wording shared by messages: counts, times, lists of alternatives, the BIC, misspelt names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches

from rfdag.errors import listed


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the singular or plural.

    >>> counted(1, "edge"), counted(2, "edge")
    ('1 edge', '2 edges')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def count_of_tests(tests: Mapping[int, int]) -> str:
    """Return how many tests were done in all, and how many given each number of others.

    >>> count_of_tests({0: 45, 1: 20, 3: 1})
    '66: 45 given no others, 20 given 1, 1 given 3'
    """
    each = ", ".join(f"{count} given {size or 'no others'}" for size, count in sorted(tests.items()))
    return f"{sum(tests.values())}: {each}"


def alternatives(words: Sequence[str]) -> str:
    """Return words separated by commas, the last by "or".

    >>> alternatives(["a"]), alternatives(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def edge_price(penalty: float, gamma: float = 0.0) -> str:
    """Return what an edge costs in the BIC: λ ln n + 2 γ ln p.

    >>> edge_price(2.0), edge_price(1.0), edge_price(1.0, 0.5)
    ('2 ln n', 'ln n', 'ln n + ln p')
    """
    parts = [(penalty, "ln n"), *([(2 * gamma, "ln p")] if gamma else [])]
    return " + ".join(f"{weight:g} {term}" if weight != 1 else term for weight, term in parts)


def bic_explained(penalty: float, gamma: float = 0.0) -> str:
    """Return a sentence that states which BIC is meant, as the default differs from the textbook's.

    >>> bic_explained(2.0)
    'This BIC charges 2 ln n per edge; the textbook BIC (penalty=1) charges ln n.'
    >>> bic_explained(1.0)
    'This BIC charges ln n per edge, as the textbook BIC does.'
    """
    price = edge_price(penalty, gamma)
    if price == "ln n":
        return "This BIC charges ln n per edge, as the textbook BIC does."
    textbook = "penalty=1, gamma=0" if gamma else "penalty=1"
    return f"This BIC charges {price} per edge; the textbook BIC ({textbook}) charges ln n."


def spoken(seconds: float) -> str:
    """Return a time as people say it.

    >>> spoken(0.3), spoken(44), spoken(600), spoken(9000)
    ('1 s', '44 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def nearest(name: object, names: Iterable[Hashable]) -> Hashable | None:
    """Return the name with the most similar spelling, ignoring case; None if no name is similar.

    >>> nearest("MPG", ["mg", "mpg"]), nearest("wieght", ["weight"]), nearest("foo", ["bar"])
    ('mpg', 'weight', None)
    """
    spelt = {str(other).casefold(): other for other in names}
    close = get_close_matches(str(name).casefold(), spelt, n=1)
    return spelt[close[0]] if close else None


def with_nearest(unknown: Iterable[Hashable], names: Iterable[Hashable]) -> str:
    """Return unknown names, each with the known name nearest in spelling, if any.

    >>> with_nearest(["wieght", "MPG", "foo"], ["mpg", "weight"])
    "'wieght' (nearest: 'weight'), 'MPG' (nearest: 'mpg'), 'foo'"
    """
    there = list(names)

    def shown(name: object) -> str:
        near = nearest(name, there)
        return repr(name) if near is None else f"{name!r} (nearest: {near!r})"

    return listed(unknown, shown=shown)


def without_middle(text: str, longest: int, tail: int | None = None) -> str:
    """Return a text shortened to ``longest`` characters by omitting its middle; the last ``tail`` are kept.

    >>> without_middle("rain", 9), without_middle("temperature_north", 9)
    ('rain', 'temp…orth')
    >>> without_middle("temperature_north", 9, tail=3)
    'tempe…rth'
    """
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2 if tail is None else tail
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
