"""How the commands speak: errors as messages, names that cannot steer a terminal, lists of files, JSON."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape as _without_markup

from rfdag.errors import OptionError, RfdagError

OPTIONS = {
    "delimiter": "--delimiter",
    "decimal": "--decimal",
    "header": "--header",
    "input": "--input",
    "n_samples": "--n-samples",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "alpha": "--alpha",
    "depth": "--depth",
    "rule": "--rule",
    "penalty": "--penalty",
    "gamma": "--gamma",
    "rescoring": "--rescoring",
    "initial": "--initial",
    "runs": "--runs",
    "restarts": "--restarts",
    "refine": "--refine",
    "beam": "--beam",
    "parents": "--parents",
    "time_limit": "--time-limit",
    "max_paths": "--max-paths",
    "precision": "--precision",
    "device": "--device",
    "method": "--method",
    "share": "--share",
    "corrected": "--corrected",
    "threshold": "--threshold",
    "density": "--density",
    "degree": "--degree",
}
"""Options of the library and their spelling on the command line."""
FLAGS = ("header", "refine", "corrected")
_SPEECH = re.compile(
    # What is quoted, a path and the name of a file are the user's own words, whatever they contain.
    r"""(?<!\w)(?:'[^']*'|"[^"]*")|[^\s'"]*[/\\][^\s'"]*|[^\s'"]*\.[A-Za-z][^\s'"]*"""
    # A word needs no quotes in a shell; what else is quoted may.
    rf"|(?<![\w-])(?P<set>{'|'.join(OPTIONS)})=(?:'(?P<word>[\w-]+)'|(?P<truth>True|False)\b)?"
    # Only names with an underscore cannot be taken for a word of the sentence.
    rf"|(?<![\w-])(?P<named>{'|'.join(name for name in OPTIONS if '_' in name)})(?![\w-])"
)
Command = TypeVar("Command", bound=Callable[..., None])


def reported(command: Command) -> Command:
    """Return a command that turns rfdag's errors into a message and an exit status."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            # The reader has seen enough; let nothing complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (RfdagError, ImportError, OSError) as problem:
            words = escape(spoken(str(problem)))
            Console(stderr=True, soft_wrap=True).print(f"[bold red]Error:[/bold red] {words}", highlight=False)
            raise typer.Exit(2 if isinstance(problem, OptionError) else 1) from None

    return run  # type: ignore[return-value]


def spoken(message: str) -> str:
    """Return a message of the library with its options in the spelling of the command line.

    >>> spoken("n_samples goes with a matrix; pass n_jobs=2 and header=False.")
    '--n-samples goes with a matrix; pass --jobs 2 and --no-header.'
    >>> spoken("pass input='data' and decimal=','")
    "pass --input data and --decimal ','"
    >>> spoken("There is no file n_samples.csv and no column 'n_jobs'.")
    "There is no file n_samples.csv and no column 'n_jobs'."
    """
    return _SPEECH.sub(_said, message)


def _said(found: re.Match[str]) -> str:
    """Return one option as the command line spells it, and what is none as it is."""
    name = found["set"] or found["named"]
    if name is None:
        return found[0]
    if found["truth"] is not None and name in FLAGS:
        return f"--{name}" if found["truth"] == "True" else f"--no-{name}"
    if found["set"] is None:
        return OPTIONS[name]
    return f"{OPTIONS[name]} {found['word'] or found['truth'] or ''}"


def printable(text: object) -> str:
    """Return text without characters that would steer a terminal or break a line.

    >>> print(printable("two" + chr(10) + "lines").replace(chr(92), "/"))
    two/nlines
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


def escape(text: object) -> str:
    """Return text that Rich prints as it is, but for what would steer a terminal."""
    return _without_markup(printable(text))


def print_files(console: Console, files: Sequence[Path]) -> None:
    """List the files that were written."""
    if files:
        console.print("\n[bold]Written[/bold]")
    for path in files:
        console.print(f"  {escape(path)}", highlight=False, soft_wrap=True)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(content, indent=2, default=str, ensure_ascii=False, allow_nan=False) + "\n")
