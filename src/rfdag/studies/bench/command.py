"""`rfdag bench`: the comparison with the peers, from the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rfdag.commands import completion
from rfdag.commands.graph_files import read_truth
from rfdag.commands.speech import JsonFlag, escape, print_json
from rfdag.runtime.terminal import Console
from rfdag.studies.bench.environments import FOLDER
from rfdag.studies.bench.names import CONTENDERS, GROUPS, WORKLOADS

if TYPE_CHECKING:
    from rfdag.studies.bench.cells import Cell
    from rfdag.studies.bench.harness import Settings
    from rfdag.studies.bench.tables import Row

NAMES = ("contender", "workload", "group", "environment")
"""Columns of names that can be typed in again, so that they are shown in full."""


def register(app: typer.Typer, reported: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(bench))


def bench(
    data: Annotated[
        Path | None, typer.Argument(help="Your own data, to run all contenders on; workloads if left out.")
    ] = None,
    truth: Annotated[Path | None, typer.Option(help="True edges of your own data, as CSV (source, target).")] = None,
    workloads: Annotated[
        str | None,
        typer.Option(
            help="Names of workloads or groups, separated by commas; quick unless given.",
            autocompletion=completion.separated_by_commas((*GROUPS, *WORKLOADS)),
        ),
    ] = None,
    contenders: Annotated[
        str | None,
        typer.Option(
            help="Names of contenders or environments, separated by commas; all unless given.",
            autocompletion=completion.separated_by_commas(CONTENDERS),
        ),
    ] = None,
    graphs: Annotated[
        int | None, typer.Option(help="Graphs of each workload; 5 unless given, 1 for workload quick.", min=1)
    ] = None,
    limit: Annotated[float, typer.Option(help="Time limit of a call, in seconds.", min=0.001)] = 120.0,
    seed: Annotated[int, typer.Option(help="Seed of the graphs and their data.", min=0)] = 1000,
    peers: Annotated[Path, typer.Option(help="Folder of the peers' environments.")] = FOLDER,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for bench.jsonl, bench.csv and bench.md; an interrupted run is continued."),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List workloads and contenders, and exit.")] = False,
    setup: Annotated[
        bool, typer.Option("--setup", help="Install the peers, or those of --contenders, into their folder, and exit.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Compare rfdag with other programs, on simulated data or your own."""
    from rfdag.errors import OptionError
    from rfdag.studies.bench import harness

    settings = harness.Settings(limit=limit, seed=seed, graphs=graphs, peers=peers.expanduser())
    if setup:
        _set_up(peers, _split(contenders))
    elif show_list:
        _list(settings, as_json)
    elif data is not None:
        if workloads is not None:
            raise OptionError("Give either a file of your own or --workloads, not both.")
        _on_own_data(data, truth, _split(contenders), settings, out, as_json)
    else:
        if truth is not None:
            raise OptionError("--truth goes with a file of your own; name that file, too.")
        _on_workloads(_split(workloads), _split(contenders), settings, out, as_json)


def _on_workloads(
    workloads: Sequence[str] | None,
    contenders: Sequence[str] | None,
    settings: Settings,
    out: Path | None,
    as_json: bool,
) -> None:
    from rfdag.runtime.progress import Progress
    from rfdag.studies.bench import harness, tables
    from rfdag.studies.bench.catalogue import WORKLOADS
    from rfdag.studies.bench.workloads import QUICK, chosen_among

    wanted = chosen_among(WORKLOADS, workloads or [QUICK])
    _report_missing(contenders, settings, {workload.group for workload in wanted})
    rows: list[Row] = []
    ledger = _ledger(out)
    with Progress(False if as_json else None) as progress:
        found = harness.compare(wanted, contenders, settings, ledger, progress)
    for workload in wanted:
        rows += tables.summed_up(workload, found[workload.name], settings.graphs or workload.graphs)
    cells = [cell for workload in wanted for cell in found[workload.name]]
    _report(rows, cells, settings, out, as_json)


def _on_own_data(
    data: Path,
    truth: Path | None,
    contenders: Sequence[str] | None,
    settings: Settings,
    out: Path | None,
    as_json: bool,
) -> None:
    from rfdag.evidence.moments import Moments
    from rfdag.input.checks import check_usable
    from rfdag.input.reading import as_table
    from rfdag.runtime.progress import Progress
    from rfdag.studies.bench import harness, tables
    from rfdag.studies.bench.workloads import Drawn, Workload

    table = as_table(data)
    check_usable(table)
    # This refuses constant columns by name, before a contender stumbles over them.
    Moments.from_data(table.values, table.names)
    true = None if truth is None else read_truth(truth, table.names)
    n, p = table.values.shape
    workload = Workload(data.name, "own", data.name, p, n, lambda generator: Drawn(true, table.values), graphs=1)
    settings = replace(settings, graphs=1)
    _report_missing(contenders, settings, {""})
    with Progress(False if as_json else None) as progress:
        cells = harness.compare([workload], contenders, settings, _ledger(out), progress)[workload.name]
    _report(tables.own_data(cells), cells, settings, out, as_json)


def _ledger(out: Path | None) -> Any:
    from rfdag.studies.bench.cells import Ledger

    return Ledger(None if out is None else out.expanduser() / "bench.jsonl")


def _report_missing(contenders: Sequence[str] | None, settings: Settings, groups: Iterable[str]) -> None:
    from rfdag.studies.bench import harness

    absent = [each for group in groups for each in harness.missing(harness.chosen(contenders, group), settings.peers)]
    if absent:
        names = ", ".join(dict.fromkeys(contender.name for contender in absent))
        Console(stderr=True, soft_wrap=True).print(
            f"Left out, because they are not installed in {settings.peers}: {names}. Install them with `rfdag bench "
            "--setup`.",
            highlight=False,
        )


def _report(rows: Sequence[Row], cells: Sequence[Cell], settings: Settings, out: Path | None, as_json: bool) -> None:
    from rfdag.runtime.writing import write_folder
    from rfdag.studies.bench import tables

    if not rows:
        return
    about = f"Seed {settings.seed}, at most {settings.limit:g} s a call."
    files = []
    if out is not None:
        text = f"{tables.markdown(rows)}\n{about}\n\n{tables.provenance(cells)}"
        files = write_folder(out, {"bench.csv": tables.csv_text(rows), "bench.md": text})
        files.append(out.expanduser() / "bench.jsonl")
    if as_json:
        print_json(
            {"rows": rows, "seed": settings.seed, "limit": settings.limit, "files": [str(path) for path in files]}
        )
        return
    console = Console()
    for graphs, of_graphs in groupby(rows, _graphs):
        if graphs:
            console.print(f"[bold]{escape(graphs)}[/bold]", highlight=False)
        console.print(_drawn([_without_graphs(row) for row in of_graphs]), highlight=False)
        console.print()
    console.print(about, highlight=False)
    for path in files:
        console.print(f"Written: {escape(path)}", highlight=False, soft_wrap=True)


def _list(settings: Settings, as_json: bool) -> None:
    from rfdag.studies.bench import environments
    from rfdag.studies.bench.catalogue import CONTENDERS, WORKLOADS

    workloads: list[Row] = [
        {"workload": each.name, "group": each.group, "graphs": each.family, "p": each.p, "n": each.n}
        for each in WORKLOADS.values()
    ]
    contenders: list[Row] = [
        {
            "contender": each.name,
            "environment": each.home,
            "version": environments.version_of(each.package, each.home, settings.peers) or "not installed",
            "call": each.call,
        }
        for each in CONTENDERS.values()
    ]
    if as_json:
        print_json({"workloads": workloads, "contenders": contenders})
        return
    console = Console()
    console.print(_drawn(workloads))
    console.print(_drawn(contenders))


def _set_up(peers: Path, contenders: Sequence[str] | None) -> None:
    from rfdag.studies.bench import environments
    from rfdag.studies.bench.catalogue import homes_of

    console = Console(soft_wrap=True)
    failures = environments.make(
        peers.expanduser(), lambda message: console.print(escape(message), highlight=False), homes_of(contenders)
    )
    if failures:
        raise typer.Exit(1)


def _graphs(row: Row) -> str:
    """Return which graphs a row is about, in words; nothing for data of the user's own."""
    return f"{row['graphs']}; p = {row['p']}, n = {row['n']}" if "graphs" in row else ""


def _without_graphs(row: Row) -> Row:
    return {name: entry for name, entry in row.items() if name not in ("graphs", "p", "n")}


def _drawn(rows: Sequence[Row]) -> Table:
    """Return a table for the terminal; where it is narrow, headings and long texts are wrapped, but no name."""
    from rfdag.studies.bench.tables import shown

    table = Table(box=None, pad_edge=True)
    for name in rows[0]:
        numbers = all(isinstance(row[name], float | int) or not row[name] for row in rows)
        table.add_column(name, no_wrap=name in NAMES, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(entry)) for entry in row.values()))
    return table


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]
