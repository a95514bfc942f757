"""`rfdag reproduce`: the paper's figures, from the command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from rfdag.bench.environments import FOLDER as PEERS
from rfdag.plots.plotting import require_matplotlib

if TYPE_CHECKING:
    from rfdag.experiments.pages import Outcome
    from rfdag.experiments.running import Completed, Workers
    from rfdag.experiments.study import Scope, Study

PAGE = "reproduction.md"
"""The page that collects all figures of a run."""
SIGNS = {True: "[green]held[/green]:", False: "[red]did not hold[/red]:", None: "[yellow]cannot tell[/yellow]:"}


def register(app: typer.Typer, reported: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(reproduce))


def reproduce(
    figures: Annotated[list[str] | None, typer.Argument(help="Names of figures (--list tells them), or all.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the files; a run begun there goes on. reproduction, or reproduction-quick with --quick, "
            "unless given."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer graphs and sizes: all figures in minutes.")] = False,
    graphs: Annotated[int | None, typer.Option(help="Graphs a point; each figure has its own number.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the graphs and their data.", min=0)] = 2021,
    limit: Annotated[
        float | None, typer.Option(help="Seconds after which a call is ended; each figure has its own.", min=0.001)
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Cells run at once; one a core unless given.", min=1)] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, to run on its cluster.", metavar="ADDRESS")
    ] = None,
    peers: Annotated[Path, typer.Option(help="Folder of the peers' environments (rfdag bench --setup).")] = PEERS,
    page: Annotated[
        Path | None, typer.Option(help="Where to write the page that collects the figures; in the folder unless given.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the figures, and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Rerun the paper's experiments, draw their figures, and say which of its claims hold."""
    from rfdag.experiments import catalogue
    from rfdag.experiments.running import Workers
    from rfdag.experiments.study import Scope

    if show_list:
        _list(catalogue.chosen([catalogue.EVERYTHING]), as_json)
        return
    studies = catalogue.chosen(figures or [])
    require_matplotlib()
    folder = (out or Path("reproduction-quick" if quick else "reproduction")).expanduser()
    # Workers may be other processes in other folders.
    scope = Scope(quick, graphs, seed, limit, peers.expanduser().absolute())
    outcomes, written = _run(studies, scope, folder, Workers(jobs, dask), as_json)
    if page is not None or len(outcomes) > 1:
        written.append(_collect(outcomes, folder, (page or folder / PAGE).expanduser()))
    if as_json:
        _print_json(outcomes, written)
    else:
        _tell(outcomes, written)


def _run(
    studies: Sequence[Study], scope: Scope, folder: Path, workers: Workers, as_json: bool
) -> tuple[list[Outcome], list[Path]]:
    """Run, draw and write one study after the other, so that what is finished is there even if the next is not.

    Returns the outcomes and the files.
    """
    from rfdag.experiments.pages import Outcome
    from rfdag.experiments.running import complete
    from rfdag.files import write_folder
    from rfdag.progress import Progress

    aside = Console(stderr=True, soft_wrap=True)
    outcomes, written = [], []
    _tell_missing(aside, studies, scope)
    try:
        for study in studies:
            with Progress(False if as_json else None) as progress:
                done = complete(study, scope, folder, workers, progress)
                progress.stage(f"{study.name}: drawing")
                outcome = Outcome.of(study, scope, study.table(done.records))
            _tell_foreign(aside, study, folder, done)
            written += write_folder(folder, outcome.files())
            outcomes.append(outcome)
    except KeyboardInterrupt:
        aside.print(
            f"Stopped. What was run is kept in {escape(str(folder))}; the same command goes on from there.",
            highlight=False,
        )
        raise typer.Exit(130) from None
    return outcomes, written


def _collect(outcomes: Sequence[Outcome], folder: Path, page: Path) -> Path:
    """Write the page that collects the figures."""
    from rfdag.experiments.pages import collected
    from rfdag.files import write_text

    way = os.path.relpath(folder, page.parent)
    return write_text(page, collected(outcomes, "" if way == "." else f"{Path(way).as_posix()}/"))


def _tell_missing(console: Console, studies: Sequence[Study], scope: Scope) -> None:
    from rfdag.bench import environments

    homes = dict.fromkeys(home for study in studies for home in study.homes)
    missing = [home for home in homes if environments.version_of(home, home, scope.peers) is None]
    if missing:
        console.print(
            f"Left out, since {escape(str(scope.peers))} has no environment for them: {', '.join(missing)}. `rfdag "
            "bench --setup` makes it.",
            highlight=False,
        )


def _tell_foreign(console: Console, study: Study, folder: Path, done: Completed) -> None:
    if done.foreign:
        place = folder / "cells" / f"{study.cells}.jsonl"
        console.print(
            f"{study.name}: {escape(str(place))} also holds {done.foreign} cells of other settings or versions. They "
            "stay there and were not used.",
            highlight=False,
        )


def _tell(outcomes: Sequence[Outcome], written: Sequence[Path]) -> None:
    console = Console()
    for outcome in outcomes:
        if outcome.claims:
            console.print(f"[bold]{outcome.study.name}[/bold]: {escape(outcome.study.title)}", highlight=False)
        for claim in outcome.claims:
            console.print(Padding(f"{SIGNS[claim.held]} {escape(claim.statement)}", (0, 0, 0, 2)), highlight=False)
            console.print(Padding(f"[dim]{escape(claim.numbers)}[/dim]", (0, 0, 0, 4)), highlight=False)
    console.print("Written")
    for path in written:
        console.print(f"  {escape(str(path))}", highlight=False, soft_wrap=True)


def _print_json(outcomes: Sequence[Outcome], written: Sequence[Path]) -> None:
    from dataclasses import asdict

    content: dict[str, Any] = {
        "figures": [
            {
                "name": outcome.study.name,
                "claims": [asdict(claim) for claim in outcome.claims],
                "rows": outcome.rows,
                "left_out": outcome.left_out,
            }
            for outcome in outcomes
        ],
        "files": [str(path) for path in written],
    }
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _list(studies: Sequence[Study], as_json: bool) -> None:
    if as_json:
        content = [{"name": each.name, "title": each.title, "source": each.source} for each in studies]
        sys.stdout.write(json.dumps({"figures": content}, indent=2, ensure_ascii=False) + "\n")
        return
    shown = Table("figure", "what it shows", "where it comes from")
    for study in studies:
        shown.add_row(study.name, study.title, study.source)
    Console().print(shown)
