"""`rfdag effect`: the effect of one variable on another in a saved result."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect
    from rfdag.result import Result


class Adjustment(StrEnum):
    """What is held fixed."""

    OPTIMAL = "optimal"
    PARENTS = "parents"


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to the program."""
    app.command(name="effect")(reported(show_effect))


def show_effect(
    result: Annotated[Path, typer.Argument(help="A result as JSON, as rfdag learn --out writes it.")],
    cause: Annotated[str, typer.Argument(help="Variable that would be set.")],
    outcome: Annotated[str, typer.Argument(help="Variable that may change.")],
    over_class: Annotated[
        bool, typer.Option("--range", help="All effects that the equivalence class leaves possible.")
    ] = False,
    adjustment: Annotated[Adjustment, typer.Option(help="Set adjusted for in the DAG.")] = Adjustment.OPTIMAL,
    level: Annotated[float, typer.Option(help="Of the confidence interval.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Estimate the total effect of one variable on another from a saved result."""
    from rfdag.result import load

    found = load(result)
    x, y = _name(found, cause), _name(found, outcome)
    effects: list[tuple[tuple[Hashable, ...], Effect]]
    if over_class:
        effects = [(each.parents, each.effect) for each in found.effect_range(x, y, level=level).possible]
    else:
        effect = found.effect(x, y, adjustment=adjustment.value, level=level)  # type: ignore[arg-type]
        effects = [(effect.adjustment, effect)]
    if as_json:
        content: dict[str, Any] = effects[0][1]._asdict()
        if over_class:
            content = {"possible": [effect._asdict() | {"parents": parents} for parents, effect in effects]}
        sys.stdout.write(json.dumps(content, indent=2, default=str, ensure_ascii=False, allow_nan=False) + "\n")
        return
    console = Console()
    console.print(
        f"Total effect of [bold]{_shown(cause)}[/bold] on [bold]{_shown(outcome)}[/bold], {_units(found)}"
        + (", over the equivalence class" if over_class else ""),
        highlight=False,
    )
    table = Table(f"parents of {_shown(cause)}" if over_class else "adjusted for", box=None, pad_edge=True)
    for heading in ("effect", "standard error", f"{level:.0%} interval"):
        table.add_column(heading, justify="right")
    for names, effect in effects:
        table.add_row(", ".join(map(_shown, names)) or "nothing", *_numbers(effect))
    console.print(table, highlight=False)
    console.print("The graph is taken as given: errors are those of the regression alone.", style="dim")


def _numbers(effect: Effect) -> tuple[str, str, str]:
    if effect.standard_error is None:
        return f"{effect.estimate:+.4g}", "exact input", ""
    return f"{effect.estimate:+.4g}", f"{effect.standard_error:.2g}", f"{effect.low:+.4g} to {effect.high:+.4g}"


def _units(result: Result) -> str:
    return "in standard deviations" if result.input == "correlation" else "in the units of the data"


def _name(result: Result, text: str) -> Hashable:
    """Return the variable that is called so; names of other types are given as text."""
    return next((name for name in result.names if str(name) == text), text)


def _shown(name: object) -> str:
    return escape("".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(name)))
