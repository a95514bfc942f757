"""Words that the Tab key offers beside commands, options and choices.

Completion runs the program at every press of the key, so nothing here may load NumPy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

from rfdag.studies.bench.names import CONTENDERS, GROUPS, WORKLOADS
from rfdag.studies.paper import catalogue

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


def figures(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the figures of the paper that were not named yet."""
    named = ctx.params.get("figures") or ()
    return [name for name in (*catalogue.names(), catalogue.EVERYTHING) if name not in named]


def workloads(incomplete: str) -> list[str]:
    """Return the groups and workloads of the benchmark, after those that were named before a comma."""
    return list(_after_commas(incomplete, (*GROUPS, *WORKLOADS)))


def contenders(incomplete: str) -> list[str]:
    """Return the contenders of the benchmark, after those that were named before a comma."""
    return list(_after_commas(incomplete, CONTENDERS))


def _after_commas(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    before, comma, _ = incomplete.rpartition(",")
    named = before.split(",")
    return (before + comma + name for name in dict.fromkeys(names) if name not in named)
