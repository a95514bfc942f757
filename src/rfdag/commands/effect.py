"""`rfdag effect`: the effect of one variable on another in a saved result."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from rfdag.commands import completion
from rfdag.commands.speech import JsonFlag, escape, print_json

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect
    from rfdag.result import Result


class Adjustment(StrEnum):
    """What is held fixed."""

    OPTIMAL = "optimal"
    PARENTS = "parents"


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(effect))


def effect(
    result: Annotated[Path, typer.Argument(help="A result as JSON, as rfdag learn --out writes it.")],
    cause: Annotated[str, typer.Argument(help="Variable that would be set.", autocompletion=completion.variables)],
    outcome: Annotated[str, typer.Argument(help="Variable that may change.", autocompletion=completion.variables)],
    over_class: Annotated[
        bool, typer.Option("--range", help="All effects that the equivalence class leaves possible.")
    ] = False,
    adjustment: Annotated[Adjustment, typer.Option(help="Set adjusted for in the DAG.")] = Adjustment.OPTIMAL,
    level: Annotated[float, typer.Option(help="Of the confidence interval.")] = 0.95,
    as_json: JsonFlag = False,
) -> None:
    """Estimate the total effect of one variable on another from a saved result."""
    from rfdag.effects.lines import caveats, figures, headings, together
    from rfdag.result import load

    found = load(result)
    x, y = _name(found, cause), _name(found, outcome)
    effects: list[tuple[Sequence[Hashable], Effect]]
    if over_class:
        every = found.effect_range(x, y, level=level)
        effects = [(each.parents, each.effect) for each in every.possible]
        content: dict[str, Any] = {"possible": [each._asdict() | {"parents": parents} for parents, each in effects]}
        union = together(every)
    else:
        single = found.effect(x, y, adjustment=adjustment.value, level=level)  # type: ignore[arg-type]
        effects, content, union = [(single.adjustment, single)], single._asdict(), []
    if as_json:
        print_json(content)
        return
    console = Console()
    console.print(
        f"Total effect of [bold]{escape(cause)}[/bold] on [bold]{escape(outcome)}[/bold], {_units(found)}"
        + (", over the equivalence class" if over_class else ""),
        highlight=False,
    )
    first, *others = headings(f"parents of {escape(cause)}" if over_class else "adjusted for", level)
    table = Table(first, box=None, pad_edge=True)
    for heading in others:
        table.add_column(heading, justify="right")
    for names, each in effects:
        table.add_row(", ".join(map(escape, names)) or "nothing", *figures(each))
    console.print(table, highlight=False)
    for line in union:
        console.print(f" {line}", highlight=False)
    for caveat in caveats(effects[0][1]):
        console.print(caveat, style="dim")


def _units(result: Result) -> str:
    standard = result.input == "correlation" or result.settings.estimation.by_ranks
    return "in standard deviations" if standard else "in the units of the data"


def _name(result: Result, text: str) -> Hashable:
    """Return the variable that is called so; names of other types are given as text."""
    return next((name for name in result.names if str(name) == text), text)
