"""Words for numbers, the same for the program and for notebooks."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1, "edge"), counted(2, "edge")
    ('1 edge', '2 edges')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
