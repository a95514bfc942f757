"""What the commands say, and how."""

from __future__ import annotations


def printable(text: object) -> str:
    """Return text without characters that would steer a terminal or break a line.

    >>> print(printable("two" + chr(10) + "lines").replace(chr(92), "/"))
    two/nlines
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


def escape(text: object) -> str:
    """Return text as Rich prints it literally."""
    from rich.markup import escape

    return escape(printable(text))
