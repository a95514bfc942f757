"""How the commands speak: errors as messages, names that cannot steer a terminal, lists of files, JSON."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.markup import escape as _without_markup

from rfdag.commands.declared import DeclaredCommand, Offered
from rfdag.errors import LongRunWarning, Message, OptionError, RfdagError, as_argument
from rfdag.runtime.terminal import Console, drop_output

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

TOO_LITTLE = "The memory that this process may use is not enough. Use fewer rows, columns or jobs, or raise the limit."

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

Command = TypeVar("Command", bound=Callable[..., None])
Spell = Callable[[str, str | None], str]


def reported(command: Command) -> Command:
    """Return a command that turns rfdag's errors into a message and an exit status."""
    signature = inspect.signature(command, eval_str=True)
    wanted = [name for name, parameter in signature.parameters.items() if parameter.annotation is typer.Context]

    @functools.wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        try:
            command(**dict.fromkeys(wanted, context), **given)
            _flush_output()
        except BrokenPipeError:
            # The reader has seen enough.
            drop_output("stdout")
        except KeyboardInterrupt:
            Console(stderr=True).print("Interrupted.", highlight=False)
            raise typer.Exit(INTERRUPTED) from None
        except (RfdagError, ImportError, OSError, MemoryError) as problem:
            words = escape(TOO_LITTLE if isinstance(problem, MemoryError) else _spoken(problem, context))
            Console(stderr=True, soft_wrap=True).print(f"[bold red]Error:[/bold red] {words}", highlight=False)
            with suppress(OSError):
                _flush_output()
            raise typer.Exit(2 if isinstance(problem, OptionError) else 1) from None

    # Typer hands over its context where a parameter is annotated so.
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    others = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
    run.__signature__ = signature.replace(parameters=[context, *others])  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def _flush_output() -> None:
    """Write what is still to be written to standard output; where that fails, drop it and raise."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        drop_output("stdout")
        raise


def note(text: str) -> None:
    """Print a remark to the terminal, beside what the command prints."""
    Console(stderr=True, soft_wrap=True).print(escape(text), highlight=False)


def warn_in_words(context: typer.Context) -> None:
    """Let warnings about a run be printed as messages, as the command line spells them, until filters are restored."""

    def show(message: Warning | str, *where: Any, **others: Any) -> None:
        words = next((part for part in getattr(message, "args", ()) if isinstance(part, Message)), None)
        text = str(message) if words is None else words.spelled(spelling(context))
        Console(stderr=True, soft_wrap=True).print(
            f"[bold yellow]Warning:[/bold yellow] {escape(text)}", highlight=False
        )

    warnings.simplefilter("always", LongRunWarning)
    warnings.showwarning = show


def _spoken(problem: Exception, context: typer.Context) -> str:
    """Return what an error says, in the spelling of the command line."""
    message = next((part for part in problem.args if isinstance(part, Message)), None)
    return str(problem) if message is None else message.spelled(spelling(context))


def spelling(context: typer.Context) -> Spell:
    """Return how the running command spells an option of the library, or else `rfdag learn`.

    An option that neither has stays as in Python.
    """
    root: Any = context.find_root().command
    learn = root.commands.get("learn") if hasattr(root, "commands") else None
    options: dict[str, Any] = {}
    offered: dict[str, Offered] = {}
    for command in [learn, context.command] if learn is not None else [context.command]:
        options |= {each.name: each for each in command.get_params(context) if each.param_type_name == "option"}
        offered |= command.offered if isinstance(command, DeclaredCommand) else {}

    def spell(name: str, code: str | None) -> str:
        if name not in options:
            return as_argument(name, code)
        flag: str = options[name].opts[0]
        if code is None:
            return flag
        try:
            value = ast.literal_eval(code)
        except (ValueError, SyntaxError):
            # Something that stands for a value.
            return f"{flag} {code}"
        if isinstance(value, bool) and options[name].secondary_opts:
            return flag if value else str(options[name].secondary_opts[0])
        value = tuple(value) if isinstance(value, list) else value
        text = offered[name].any.text(value) if name in offered else str(value)
        return f"{flag} {shlex.quote(text)}"

    return spell


def spelled(text: str, spell: Spell) -> str:
    """Return a message in a spelling; a text from a file, which does not mark its options, as it is."""
    return text.spelled(spell) if isinstance(text, Message) else text


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
    typer.echo(json.dumps(content, indent=2, default=str, ensure_ascii=False, allow_nan=False))
