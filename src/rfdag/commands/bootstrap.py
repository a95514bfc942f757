"""`rfdag bootstrap`: how sure the edges of a file are, from the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rfdag.commands.declared import RUNNING, DeclaredCommand, given_options
from rfdag.commands.output_files import Places, require_places, write_places
from rfdag.commands.speech import INTERRUPTED, JsonFlag, escape, print_files, print_json
from rfdag.commands.standard_input import SOURCES
from rfdag.errors import DataWarning, NumericalWarning
from rfdag.runtime.terminal import Console
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.graphs.dag import Graph
    from rfdag.report.rerun import Given

CONSENSUS = ("source", "target", "frequency", "direction_frequency")
FILES = ("bootstrap.json", "edges.csv", "ranks.csv", "consensus.csv")
"""What `--out` writes when all runs are complete."""
PAIRS_SHOWN = 40
RANKS_SHOWN = 40


class BootstrapCommand(DeclaredCommand):
    """A bootstrap takes what `rfdag learn` takes, but for options that only matrices, or blocks, have a use for."""

    sampled = True
    # Its own `runs` hide those of method "gsp".
    without = ("input", "n_samples", "tolerance", "test", "conditioning", "blocks", "runs")


def register(app: typer.Typer, reported: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command(cls=BootstrapCommand)(reported(bootstrap))


def bootstrap(
    ctx: typer.Context,
    data: Annotated[list[Path], typer.Argument(help=SOURCES, allow_dash=True)],
    runs: Annotated[int, typer.Option(help="How many times rows are drawn.")] = 200,
    threshold: Annotated[float, typer.Option(help="Least frequency of an edge of the consensus.")] = 0.5,
    knowledge: Annotated[Path | None, typer.Option(help="Prior knowledge: Tetrad's /knowledge text, or JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the files; a bootstrap begun there goes on.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="HTML file for a report with the frequencies, which works offline.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the frequencies: a .png, .svg or .pdf file.", metavar="FILE")
    ] = None,
    as_json: JsonFlag = False,
    n_jobs: Annotated[
        int | None,
        typer.Option("--jobs", help="Runs at once; one a core unless given.", min=1, rich_help_panel=RUNNING),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, to run on its cluster.", metavar="ADDRESS", rich_help_panel=RUNNING
        ),
    ] = None,
) -> None:
    """Learn again from rows drawn anew, and count how often each edge and direction is found."""
    import rfdag
    from rfdag.bootstrapping.consensus import require_threshold
    from rfdag.bootstrapping.runs import JOURNAL
    from rfdag.commands.standard_input import on_disk
    from rfdag.report.rerun import Given
    from rfdag.runtime.workers import Workers

    require_threshold(threshold)
    places = Places(out, report, plot)
    require_places(places, (*FILES, JOURNAL))
    given = Given(data, out, report, knowledge, plot=plot, threshold=None if plot is None else threshold)
    with on_disk(data) as paths:
        source = paths if len(paths) > 1 else paths[0]
        try:
            with Workers(n_jobs, dask).ready(), warnings.catch_warnings():
                warnings.simplefilter("ignore", NumericalWarning)
                warnings.simplefilter("ignore", DataWarning)
                found = rfdag.bootstrap(
                    source,
                    runs,
                    knowledge=knowledge,
                    n_jobs=None if dask else n_jobs,
                    out=out,
                    progress=False if as_json else None,
                    **given_options(ctx),
                )
        except KeyboardInterrupt:
            _tell_stopped(out)
            raise typer.Exit(INTERRUPTED) from None
        page = None if report is None else _page(found, source, given, show=not as_json)
    consensus = found.consensus(threshold)
    edges = _edges(found, consensus)
    picture = None if plot is None else _picture(found, plot, threshold)
    files = write_places(places, _texts(found, edges) if out is not None else {}, page, picture)
    if as_json:
        _print_json(found, edges, files)
    else:
        _tell(found, consensus, threshold, files)


def _edges(found: Bootstrap, consensus: Graph) -> list[tuple[Hashable, Hashable, float, float]]:
    """Return the edges of the consensus, with the frequencies of the pair and of the direction."""
    often, directions = found.edge_frequency, found.direction_frequency
    return [
        (found.names[i], found.names[j], float(often[i, j]), float(directions[i, j]))
        for i, j in zip(*map(list, consensus.nonzero()), strict=True)
    ]


def _texts(found: Bootstrap, edges: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Return the files of a bootstrap by name."""
    from rfdag.bootstrapping.frequencies import Pair, Rank
    from rfdag.runtime.writing import csv_text

    texts = [
        found.to_json(),
        csv_text(Pair._fields, found.pairs),
        csv_text(Rank._fields, found.ranks),
        csv_text(CONSENSUS, edges),
    ]
    return dict(zip(FILES, texts, strict=True))


def _page(found: Bootstrap, source: Any, given: Given, *, show: bool) -> str:
    from rfdag.report.page import report_text

    form = found.result.settings.description
    progress = None if show else False
    return report_text(found.result, data=source, form=form, given=given, progress=progress, bootstrap=found)


def _picture(found: Bootstrap, path: Path, threshold: float) -> bytes:
    """Return the picture of a graph, or of a matrix, which needs no threshold, where variables are many."""
    from rfdag.plots.kinds import GRAPH_UP_TO
    from rfdag.plots.saving import picture_bytes

    is_graph = len(found.names) <= GRAPH_UP_TO
    return picture_bytes(found.plot("graph", threshold=threshold) if is_graph else found.plot("matrix"), path)


def _tell(found: Bootstrap, consensus: Graph, threshold: float, files: Sequence[Path]) -> None:
    from rfdag.bootstrapping.frequencies import OFTEN

    console = Console()
    console.print(
        f"[bold]{counted(found.runs, 'run')}[/bold] over {len(found.names)} variables, {found.drawn}",
        highlight=False,
    )
    frequent = sum(pair.frequency >= OFTEN for pair in found.pairs)
    console.print(
        f"\n[bold]{counted(len(found.pairs), 'pair')}[/bold] adjacent at least once, {frequent} in {OFTEN:.0%} of the "
        "runs or more",
        highlight=False,
    )
    pairs = Table("source", "", "target", box=None, pad_edge=True)
    for heading in ("adjacent", "this way", "other way", "undirected"):
        pairs.add_column(heading, justify="right")
    for pair in found.pairs[:PAIRS_SHOWN]:
        arrow = "→" if pair.forward >= pair.frequency / 2 else "–"
        shares = [f"{share:.2f}" for share in pair[2:]]
        pairs.add_row(escape(pair.source), arrow, escape(pair.target), *shares)
    if found.pairs:
        console.print(pairs, highlight=False)
    _tell_rest(console, len(found.pairs) - PAIRS_SHOWN)
    console.print("\n[bold]Places in the order[/bold] (1 is the first; 90 % of the runs lie in the interval)")
    places = Table("variable", box=None, pad_edge=True)
    for heading in ("median", "interval"):
        places.add_column(heading, justify="right")
    for rank in sorted(found.ranks, key=lambda rank: (rank.median, rank.mean))[:RANKS_SHOWN]:
        places.add_row(escape(rank.variable), f"{rank.median:g}", f"{rank.lower:.0f} – {rank.upper:.0f}")
    console.print(places, highlight=False)
    _tell_rest(console, len(found.ranks) - RANKS_SHOWN)
    console.print(
        f"\n[bold]Consensus[/bold]: {counted(int(consensus.sum()), 'edge')} found in {threshold:.0%} of the runs or "
        f"more; the plain run has {int(found.result.dag.sum())}{_scores(found, consensus)}",
        highlight=False,
    )
    print_files(console, files)


def _scores(found: Bootstrap, consensus: Graph) -> str:
    """Say what the consensus is worth on all rows, where graphs were judged by BIC."""
    plain = found.result
    if plain.score is None or (plain.moments is None and not plain.can_rescore):
        return ""
    from rfdag.result.pricing import price_in_words

    price = price_in_words(plain)
    return f". BIC on all rows, {price} per edge: {plain.score_of(consensus):.1f}, of the plain run {plain.score:.1f}"


def _tell_stopped(out: Path | None) -> None:
    from rfdag.bootstrapping.runs import JOURNAL

    if out is None:
        kept = "nothing is kept without --out FOLDER."
    elif (out.expanduser() / JOURNAL).exists():
        kept = f"the runs that were complete are kept in {escape(out)}; the same command goes on from there."
    else:
        kept = "no run was complete."
    Console(stderr=True, soft_wrap=True).print(f"Stopped: {kept}", highlight=False)


def _tell_rest(console: Console, more: int) -> None:
    if more > 0:
        console.print(f"  … and {more} more; --out writes them all.", highlight=False)


def _print_json(found: Bootstrap, edges: Sequence[Sequence[Any]], files: Sequence[Path]) -> None:
    content = {
        "runs": found.runs,
        "rows": found.result.n_samples,
        "method": found.result.method.name,
        "sampling": found.sampling.sampling,
        "seed": found.random_state,
        "order": list(found.result.order),
        "pairs": [pair._asdict() for pair in found.pairs],
        "ranks": [rank._asdict() for rank in found.ranks],
        "consensus": [dict(zip(CONSENSUS, edge, strict=True)) for edge in edges],
        "files": [str(path) for path in files],
    }
    print_json(content)
