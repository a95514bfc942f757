"""`rfdag reproduce`: the paper's figures, from the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table

from rfdag.commands import completion
from rfdag.commands.speech import JsonFlag, escape, print_json
from rfdag.errors import OptionError
from rfdag.runtime.terminal import Console
from rfdag.studies.bench.environments import FOLDER as PEERS
from rfdag.studies.paper import catalogue

if TYPE_CHECKING:
    from rfdag.runtime.progress import Progress
    from rfdag.runtime.workers import Workers
    from rfdag.studies.paper.pages import Outcome
    from rfdag.studies.paper.running import Completed
    from rfdag.studies.paper.study import Scope, Study

PAGE = "reproduction.md"
"""The page that collects all figures of a run."""
SIGNS = {True: "[green]held[/green]:", False: "[red]did not hold[/red]:", None: "[yellow]cannot tell[/yellow]:"}


def register(app: typer.Typer, reported: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(reproduce))


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of figures (--list shows them), or all.",
            autocompletion=completion.several("figures", (*catalogue.names(), catalogue.EVERYTHING)),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the files; an interrupted run is continued. Default: reproduction, or reproduction-quick "
            "with --quick."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer graphs and sizes: all figures in minutes, maybe too few to decide."),
    ] = False,
    graphs: Annotated[
        int | None, typer.Option(help="Graphs for each point; each figure has its own number.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the graphs and their data.", min=0)] = 2021,
    limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds for a call of a method on data; each figure has its own. Of runtime, the longest call begun.",
            min=0.001,
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Cells run at once; one for each core unless given.", min=1)] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, to run on its cluster.", metavar="ADDRESS")
    ] = None,
    peers: Annotated[Path, typer.Option(help="Folder of the peers' environments (rfdag bench --setup).")] = PEERS,
    page: Annotated[
        Path | None, typer.Option(help="Where to write the page that collects all figures; in the folder unless given.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the figures, and exit.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Rerun the paper's experiments, draw their figures, and report which of its claims hold."""
    from rfdag.plots.availability import require_matplotlib
    from rfdag.runtime.workers import Workers
    from rfdag.studies.paper.study import Scope

    if show_list:
        _list(catalogue.chosen([catalogue.EVERYTHING]), as_json)
        return
    studies = catalogue.chosen(figures or [])
    everything = len(studies) == len(catalogue.names())
    if page is not None and not everything:
        raise OptionError(f"--page collects all figures; name {catalogue.EVERYTHING} with it.")
    require_matplotlib()
    folder = (out or Path("reproduction-quick" if quick else "reproduction")).expanduser()
    # Workers may be other processes in other folders.
    scope = Scope(quick, graphs, seed, limit, peers.expanduser().absolute())
    aside = Console(stderr=True, soft_wrap=True)
    _report_missing(aside, studies, scope)
    outcomes, written = _run(studies, scope, folder, Workers(jobs, dask), aside, show=not as_json)
    if everything and len(outcomes) == len(studies):
        written.append(_collect(outcomes, folder, (page or folder / PAGE).expanduser()))
    if as_json:
        _print_json(outcomes, written, quick=quick)
    else:
        _print_claims(outcomes, written, quick=quick)
    if len(outcomes) < len(studies):
        raise typer.Exit(1)


def _run(
    studies: Sequence[Study], scope: Scope, folder: Path, workers: Workers, aside: Console, *, show: bool
) -> tuple[list[Outcome], list[Path]]:
    """Run, draw and write one study after the other, so that what is finished is there even if the next is not.

    Returns the outcomes and the files. A study in which a cell failed is reported and has no outcome.
    """
    from rfdag.runtime.progress import Progress
    from rfdag.runtime.writing import write_folder
    from rfdag.studies.paper.pages import Outcome
    from rfdag.studies.paper.running import Run

    outcomes, written = [], []
    try:
        with Progress(None if show else False) as progress:
            costs = _costs(studies, scope, folder)
            for at, study in enumerate(studies):
                # Read again: a study before may have run the same cells.
                run = Run(study, scope, folder)
                done = run.complete(workers, _reporter(progress, study, sum(costs[:at]), sum(costs)))
                _report_foreign(aside, study, folder, done)
                if done.failures:
                    _report_failures(aside, study, done)
                    continue
                outcome = Outcome.of(study, scope, study.table(done.records))
                _report_replaced(aside, folder, outcome)
                written += write_folder(folder, outcome.files())
                outcomes.append(outcome)
    except KeyboardInterrupt:
        aside.print(
            f"Stopped. Finished cells are kept in {escape(folder)}; the same command continues from there.",
            highlight=False,
        )
        raise typer.Exit(130) from None
    return outcomes, written


def _reporter(progress: Progress, study: Study, before: float, total: float) -> Callable[[float], None]:
    """Return a function that reports the share of all work done, from the cost that a study has spent."""
    report = progress.stage(study.name)

    def report_spent(spent: float) -> None:
        report(min((before + spent) / total, 1.0) if total else 1.0)

    report_spent(0.0)
    return report_spent


def _costs(studies: Sequence[Study], scope: Scope, folder: Path) -> list[float]:
    """Return what each study has left to run; studies that share cells count them once."""
    from rfdag.studies.paper.running import Run

    counted: set[str] = set()
    costs = []
    for study in studies:
        costs.append(0.0 if study.cells in counted else Run(study, scope, folder).cost)
        counted.add(study.cells)
    return costs


def _collect(outcomes: Sequence[Outcome], folder: Path, page: Path) -> Path:
    """Write the page that collects the figures."""
    from rfdag.runtime.writing import write_text
    from rfdag.studies.paper.pages import collected

    way = os.path.relpath(folder, page.parent)
    return write_text(page, collected(outcomes, "" if way == "." else f"{Path(way).as_posix()}/"))


def _report_missing(console: Console, studies: Sequence[Study], scope: Scope) -> None:
    from rfdag.studies.bench import environments

    homes = dict.fromkeys(home for study in studies for home in study.homes)
    missing = [home for home in homes if environments.version_of(home, home, scope.peers) is None]
    if missing:
        console.print(
            f"Left out, because they are not installed in {escape(scope.peers)}: {', '.join(missing)}. Install "
            "them with `rfdag bench --setup --peers FOLDER`.",
            highlight=False,
        )


def _report_foreign(console: Console, study: Study, folder: Path, done: Completed) -> None:
    if done.foreign:
        place = folder / "cells" / f"{study.cells}.jsonl"
        console.print(
            f"{study.name}: {escape(place)} also holds {done.foreign} cells of other settings or versions. They "
            "stay there and were not used.",
            highlight=False,
        )


def _report_failures(console: Console, study: Study, done: Completed) -> None:
    console.print(
        f"{study.name}: {len(done.failures)} cells failed, so it is not drawn; the other cells are kept, and the same "
        f"command tries these again. The first failed {escape(done.failures[0])}",
        highlight=False,
    )


def _report_replaced(console: Console, folder: Path, outcome: Outcome) -> None:
    """Report that files of another setting are about to be replaced."""
    page = folder / f"{outcome.study.name}.md"
    again = re.search(r"Again: `(.*)`", page.read_text(encoding="utf-8")) if page.is_file() else None
    if again is not None and again[1] != outcome.command():
        console.print(
            f"{outcome.study.name}: replaces the files that `{escape(again[1])}` made in {escape(folder)}. Its "
            "cells are kept, so that the same command writes them again at once.",
            highlight=False,
        )


def _print_claims(outcomes: Sequence[Outcome], written: Sequence[Path], *, quick: bool) -> None:
    from rfdag.studies.paper.pages import TOO_SMALL

    console = Console()
    for outcome in outcomes:
        if outcome.claims:
            console.print(f"[bold]{outcome.study.name}[/bold]: {escape(outcome.study.title)}", highlight=False)
        for claim in outcome.claims:
            console.print(Padding(f"{SIGNS[claim.held]} {escape(claim.statement)}", (0, 0, 0, 2)), highlight=False)
            console.print(Padding(f"[dim]{escape(claim.numbers)}[/dim]", (0, 0, 0, 4)), highlight=False)
    for outcome in outcomes:
        if outcome.claims:
            console.print(f"{outcome.study.name}: {outcome.verdicts}.", highlight=False)
    if quick:
        console.print(TOO_SMALL, style="yellow", highlight=False)
    console.print("Written")
    for path in written:
        console.print(f"  {escape(path)}", highlight=False, soft_wrap=True)


def _print_json(outcomes: Sequence[Outcome], written: Sequence[Path], *, quick: bool) -> None:
    from dataclasses import asdict

    content: dict[str, Any] = {
        "quick": quick,
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
    print_json(content)


def _list(studies: Sequence[Study], as_json: bool) -> None:
    if as_json:
        content = [{"name": each.name, "title": each.title, "source": each.source} for each in studies]
        print_json({"figures": content})
        return
    shown = Table("figure", "what it shows", "where it comes from")
    for study in studies:
        shown.add_row(study.name, study.title, study.source)
    Console().print(shown)
