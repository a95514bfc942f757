"""`rfdag learn`: causal order and DAG of the columns of a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rfdag
from rfdag.commands.declared import RUNNING, DeclaredCommand, given_options
from rfdag.commands.graph_files import GraphFile, dag_over, read_dag
from rfdag.commands.output_files import Places, require_places, write_places
from rfdag.commands.speech import JsonFlag, note, print_json, printable, spelling, warn_in_words
from rfdag.commands.standard_input import SOURCES
from rfdag.errors import DataWarning, NumericalWarning, OptionError

if TYPE_CHECKING:
    from rfdag.report.rerun import Given
    from rfdag.result import Result

MOST_DRAWN = 100_000
"""Edges up to which the files for drawing programs are written."""

CLUSTERS = "clusters"
"""The part of a run's timings that searches in clusters have."""

FILES = ("result.json", "edges.csv", "order.txt", "graph.dot", "graph.graphml")
"""What `--out` writes."""


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command(cls=DeclaredCommand)(reported(learn))


def learn(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Argument(help=SOURCES, allow_dash=True),
    ],
    knowledge: Annotated[Path | None, typer.Option(help="Prior knowledge: Tetrad's /knowledge text, or JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result's files, made if need be.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file for a report that works offline.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True graph to compare with in the report: edges as CSV, or a result as JSON.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the graph: a .png, .svg or .pdf file.", metavar="FILE")
    ] = None,
    moments: Annotated[
        bool | None,
        typer.Option(
            "--moments/--no-moments",
            help="Keep the correlation matrix in result.json, for rfdag effect; up to 200 variables unless given.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
    n_jobs: Annotated[
        int | None, typer.Option("--jobs", help="Threads; all cores unless given.", rich_help_panel=RUNNING)
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, to search clusters of columns on its workers.",
            metavar="ADDRESS",
            rich_help_panel=RUNNING,
        ),
    ] = None,
) -> None:
    """Learn the causal order and the DAG of the columns of a file."""
    from rfdag.commands.digest import tell
    from rfdag.commands.next_steps import next_steps
    from rfdag.commands.standard_input import on_disk
    from rfdag.report.rerun import Given
    from rfdag.runtime.workers import Workers

    if truth is not None and report is None:
        raise OptionError("--truth is shown in a report; pass --report FILE with it.")
    if moments is not None and out is None:
        raise OptionError("--moments are kept in result.json; pass --out FOLDER with it.")
    given = Given(data, out, report, knowledge, truth, moments, plot)
    true = _looked_at_in_time(given)
    with on_disk(data) as paths:
        source = paths if len(paths) > 1 else paths[0]
        workers = nullcontext() if dask is None else Workers(dask=dask).ready()
        with workers, warnings.catch_warnings():
            # The summary tells of them in its own words.
            warnings.simplefilter("ignore", NumericalWarning)
            warnings.simplefilter("ignore", DataWarning)
            warn_in_words(ctx)
            result = rfdag.learn(
                source,
                knowledge=knowledge,
                n_jobs=n_jobs,
                progress=False if as_json else None,
                **given_options(ctx),
            )
        if dask is not None and CLUSTERS not in result.timings:
            note("The search was not in clusters of columns, so the Dask cluster was not used.")
        page = None if report is None else _page(result, source, given, true, show=not as_json)
    files = _written(result, given, page)
    if as_json:
        print_json(_content(result, files))
    else:
        tell(result, files, next_steps(result, given), spelling(ctx))


def _looked_at_in_time(given: Given) -> GraphFile | None:
    """Return the truth, if there is one; raise for what cannot be used or written, before a run that may take hours."""
    require_places(_places(given), FILES)
    return None if given.truth is None else read_dag(given.truth)


def _places(given: Given) -> Places:
    return Places(given.out, given.report, given.plot)


def _page(result: Result, source: Any, given: Given, true: GraphFile | None, *, show: bool) -> str:
    """Return the report on data from a source, compared with the truth where there is one."""
    from rfdag.report.page import report_text

    truth = None if true is None or given.truth is None else dag_over(true, result.names, given.truth)
    data = source if result.input == "data" else None
    progress = None if show else False
    form = result.settings.description
    return report_text(result, truth=truth, data=data, form=form, given=given, progress=progress)


def _written(result: Result, given: Given, page: str | None) -> list[Path]:
    """Write the files of a result, its report and its picture, all or none, and return their paths."""
    texts = {} if given.out is None else _texts(result, given.moments)
    return write_places(_places(given), texts, page, None if given.plot is None else _picture(result, given.plot))


def _picture(result: Result, path: Path) -> bytes:
    from rfdag.plots.saving import picture_bytes

    return picture_bytes(result.plot(), path)


def _texts(result: Result, moments: bool | None) -> dict[str, str]:
    """Return the files of a result by name."""
    order = "".join(f"{printable(name)}\n" for name in result.order)
    texts = [result.to_json(moments=moments), result.to_csv(), order]
    if len(result.edges) <= MOST_DRAWN:
        texts += [result.to_dot(), result.to_graphml()]
    return dict(zip(FILES, texts, strict=False))


def _content(result: Result, files: Sequence[Path]) -> dict[str, Any]:
    return {
        "order": list(result.order),
        "edges": [edge._asdict() for edge in result.edges],
        "n_samples": result.n_samples,
        "method": result.method.name,
        "score": result.score,
        "penalty": result.penalty,
        "gamma": result.gamma,
        "estimator": None if result.estimator is None else result.estimator._asdict(),
        "tests": {str(size): count for size, count in result.tests.items()},
        "path": [asdict(point) for point in result.path],
        "settings": result.settings.to_dict(),
        "timings": result.timings,
        "warnings": list(result.warnings),
        "columns": [column._asdict() for column in result.columns],
        "reading": list(result.reading),
        "targets": {label: list(found) for label, found in result.targets.items()},
        "intercepts": None if result.interventions is None else result.interventions.intercepts,
        "compliance": [record._asdict() for record in result.compliance],
        "files": [str(path) for path in files],
    }
