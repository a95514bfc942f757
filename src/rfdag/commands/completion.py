"""Words that the Tab key offers beside commands, options and choices; commands hand in the names they know.

Completion runs the program at every press of the key, so nothing here may load NumPy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

PLAIN = re.compile(r"[\w@%+./][\w@%+./-]*")
"""Names that mean the same to every shell without quotes."""


def variables(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the variables of the result named before; names that a shell would take apart are left out."""
    try:
        names = json.loads(Path(ctx.params["result"]).expanduser().read_bytes())["names"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    texts = (str(name) for name in names if isinstance(name, str | int))
    # Shells take completions as code of theirs: a name from a file must not be any.
    return [name for name in texts if name.startswith(incomplete) and PLAIN.fullmatch(name)]


def several(parameter: str, names: Sequence[str]) -> Callable[[typer.Context, str], list[str]]:
    """Return the completion of a parameter that takes several names: those that were not given yet."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        given = ctx.params.get(parameter) or ()
        return [name for name in names if name not in given]

    return offered


def separated_by_commas(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the completion of an option that takes names separated by commas: those that were not given yet.

    >>> separated_by_commas(["sparse", "dense"])("sparse,")
    ['sparse,dense']
    """

    def offered(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        given = before.split(",")
        return [before + comma + name for name in dict.fromkeys(names) if name not in given]

    return offered
