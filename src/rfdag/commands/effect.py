"""`rfdag effect`: the effect of one variable on another in a saved result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rfdag.commands import completion
from rfdag.commands.speech import JsonFlag, escape, print_json, spelled, spelling
from rfdag.errors import EquivalenceWarning, OptionError
from rfdag.runtime.terminal import Console

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect, EffectRange
    from rfdag.result import Result


class Adjustment(StrEnum):
    """What is held fixed."""

    OPTIMAL = "optimal"
    PARENTS = "parents"


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(effect))


def effect(
    context: typer.Context,
    result: Annotated[Path, typer.Argument(help="A result as JSON, as rfdag learn --out writes it.")],
    cause: Annotated[str, typer.Argument(help="Variable that would be set.", autocompletion=completion.variables)],
    outcome: Annotated[str, typer.Argument(help="Variable that may change.", autocompletion=completion.variables)],
    over_class: Annotated[
        bool, typer.Option("--range", help="All effects that the equivalence class leaves possible, even if all agree.")
    ] = False,
    single: Annotated[
        bool,
        typer.Option("--single", help="The one effect in the DAG found, even if others are possible."),
    ] = False,
    adjustment: Annotated[Adjustment, typer.Option(help="Set adjusted for in the DAG.")] = Adjustment.OPTIMAL,
    level: Annotated[float, typer.Option(help="Of the confidence interval.")] = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Estimate the total effect of one variable on another from a saved result.

    Where the equivalence class leaves the effect open, all possible effects are printed.
    """
    from rfdag.effects.lines import caveats, figures, in_one_dag, span_of, together
    from rfdag.result import load

    if over_class and single:
        raise OptionError("--single prints one effect and --range all possible ones; leave one of them out.")
    found = load(result)
    x, y = _name(found, cause), _name(found, outcome)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", EquivalenceWarning)
        one = found.effect(x, y, adjustment=adjustment.value, level=level)  # type: ignore[arg-type]
    every = found.effect_range(x, y, level=level) if over_class else one.possible
    if as_json:
        print_json(_content(one, every, is_open=bool(raised)))
        return
    console = Console()
    if every is not None and not single:
        rows = [(each.parents, each.effect) for each in every.possible]
        _tell(console, found, rows, f"parents of {cause}", ", over the equivalence class")
        for line in together(every):
            console.print(f" {line}", highlight=False)
        if one.possible is not None:
            console.print(
                f"The class leaves the effect open: {span_of(every)}. In the DAG that was found it is "
                f"{figures(one)[0]} (--single). Knowledge of directions may narrow it down (rfdag learn --knowledge).",
                highlight=False,
            )
    else:
        _tell(console, found, [(one.adjustment, one)], "adjusted for", " in the DAG found" if raised else "")
        if every is not None:
            console.print(f"{in_one_dag(every)} (--range).", highlight=False)
        elif raised:
            problem = raised[0].message
            message = str(problem) if isinstance(problem, str) else spelled(problem.args[0], spelling(context))
            console.print(f"[yellow]Warning:[/yellow] {escape(message)}", highlight=False)
    for caveat in caveats(one if every is None else every.possible[0].effect):
        console.print(caveat, style="dim")


def _tell(
    console: Console, result: Result, rows: Sequence[tuple[Sequence[Hashable], Effect]], first: str, where: str
) -> None:
    """Print a title and a table of effects, each with what it is adjusted for."""
    from rfdag.effects.lines import figures, headings

    effect = rows[0][1]
    cause, outcome = escape(effect.cause), escape(effect.outcome)
    console.print(
        f"Total effect of [bold]{cause}[/bold] on [bold]{outcome}[/bold]{where}, {_units(result)}", highlight=False
    )
    title, *others = headings(escape(first), effect.level)
    table = Table(title, box=None, pad_edge=True)
    for heading in others:
        table.add_column(heading, justify="right")
    for names, each in rows:
        table.add_row(", ".join(map(escape, names)) or "nothing", *figures(each))
    console.print(table, highlight=False)


def _content(one: Effect, every: EffectRange | None, *, is_open: bool) -> dict[str, Any]:
    """Return the effect in the DAG, and beside it those that the class leaves possible."""
    each = [] if every is None else every.possible
    possible = [_plain(possible.effect) | {"parents": possible.parents} for possible in each]
    span = None if every is None else [every.low, every.high]
    return {**_plain(one), "open": is_open, "range": span, "possible": possible}


def _plain(effect: Effect) -> dict[str, Any]:
    return {name: value for name, value in effect._asdict().items() if name != "possible"}


def _units(result: Result) -> str:
    standard = result.input == "correlation" or result.settings.estimation.by_ranks
    return "in standard deviations" if standard else "in the units of the data"


def _name(result: Result, text: str) -> Hashable:
    """Return the variable that is called so; names of other types are given as text."""
    return next((name for name in result.names if str(name) == text), text)
