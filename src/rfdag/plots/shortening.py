"""Names on one line, and short forms of long ones that can be told apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from rfdag.wording import without_middle

KEPT = 4
"""How much is shown of what names share before they differ, so that a number is rarely cut in two."""


def one_line(name: Hashable) -> str:
    r"""Return a name as text without line breaks, an empty one as quotes.

    >>> one_line("two\n lines"), one_line(" "), one_line(3)
    ('two lines', '""', '3')
    """
    return " ".join(str(name).split()) or '""'


def shortened(lines: Sequence[str], longest: int = 18) -> list[str]:
    """Return every line in at most so many letters, or a few more where equal ones are numbered.

    The middle of a long line is left out; of those that would then look alike, the part where they differ is shown.

    >>> shortened(["age", "income of the household in thousands", "3", "3"])
    ['age', 'income of t…usands', '3', '3 (2)']
    >>> shortened(["measurement 1 at the clinic", "measurement 2 at the clinic"], longest=12)
    ['…ent 1 at t…', '…ent 2 at t…']
    >>> shortened(["3", "3", "3 (2)"])
    ['3', '3 (3)', '3 (2)']
    """
    # Columns often begin alike, and differ in their ends.
    tail = (longest - 1) * 2 // 5
    texts = _distinct(lines, [without_middle(line, longest, tail) for line in lines], longest)
    reserved, taken, found = set(texts), set(), []
    for text in texts:
        shown, number = text, 1
        while shown in taken or (number > 1 and shown in reserved):
            number += 1
            shown = f"{text} ({number})"
        taken.add(shown)
        found.append(shown)
    return found


def _distinct(lines: Sequence[str], texts: list[str], longest: int) -> list[str]:
    alike: dict[str, set[str]] = {}
    for line, text in zip(lines, texts, strict=True):
        alike.setdefault(text, set()).add(line)
    start = {text: _shared(group) - KEPT for text, group in alike.items()}
    return [
        text if len(alike[text]) == 1 else _piece(line, start[text], longest)
        for line, text in zip(lines, texts, strict=True)
    ]


def _shared(lines: set[str]) -> int:
    """Return how many letters all lines begin with."""
    first, last = min(lines), max(lines)
    return next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))


def _piece(line: str, start: int, longest: int) -> str:
    start = max(0, min(start, len(line) - longest + 1))
    end = start + longest - (start > 0)
    if end >= len(line):
        return f"…{line[start:]}"
    return f"{'…' if start else ''}{line[start : end - 1]}…"
