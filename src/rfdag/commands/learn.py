"""`rfdag learn`: causal order and DAG of the columns of a file."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rfdag
from rfdag.commands.declared import RUNNING, DeclaredCommand, given_options
from rfdag.commands.graph_files import GraphFile, dag_over, read_dag
from rfdag.commands.speech import JsonFlag, print_json, printable, spelling
from rfdag.errors import DataWarning, FileError, NumericalWarning, OptionError

if TYPE_CHECKING:
    from rfdag.report.rerun import Given
    from rfdag.result import Result

MOST_DRAWN = 100_000
"""Edges up to which the files for drawing programs are written."""
FILES = ("result.json", "edges.csv", "order.txt", "graph.dot", "graph.graphml")
"""What `--out` writes."""


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command(cls=DeclaredCommand)(reported(learn))


def learn(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Argument(
            help="CSV, TSV, NPY, NPZ, Parquet or Feather file, a folder, or several files with the same columns."
        ),
    ],
    knowledge: Annotated[Path | None, typer.Option(help="Prior knowledge: Tetrad's /knowledge text, or JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result's files, made if need be.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file for a report that works offline.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True graph to compare with in the report: edges as CSV, or a result as JSON.")
    ] = None,
    as_json: JsonFlag = False,
    n_jobs: Annotated[
        int | None, typer.Option("--jobs", help="Threads; all cores unless given.", rich_help_panel=RUNNING)
    ] = None,
) -> None:
    """Learn the causal order and the DAG of the columns of a file."""
    from rfdag.commands.digest import tell
    from rfdag.commands.next_steps import next_steps
    from rfdag.report.rerun import Given

    if truth is not None and report is None:
        raise OptionError("--truth is shown in a report; pass --report FILE with it.")
    given = Given(data, out, report, knowledge, truth)
    true = _looked_at_in_time(given)
    with warnings.catch_warnings():
        # The summary tells of them in its own words.
        warnings.simplefilter("ignore", NumericalWarning)
        warnings.simplefilter("ignore", DataWarning)
        result = rfdag.learn(
            data if len(data) > 1 else data[0],
            knowledge=knowledge,
            n_jobs=n_jobs,
            progress=False if as_json else None,
            **given_options(ctx),
        )
    page = None if report is None else _page(result, given, true, show=not as_json)
    files = _written(result, given, page)
    if as_json:
        print_json(_content(result, files))
    else:
        tell(result, files, next_steps(result, given), spelling(ctx))


def _looked_at_in_time(given: Given) -> GraphFile | None:
    """Return the truth, if there is one; raise for what cannot be used or written, before a run that may take hours."""
    from rfdag.runtime.writing import require_writable

    if given.out is not None:
        _require_folder(given.out)
    if given.report is not None and _in_folder(given) and given.report.name.casefold() in FILES:
        raise OptionError(
            f"--out writes {given.report.name} into {given.out} itself; give the report another name, such as "
            f"{given.report.with_suffix('.html')}."
        )
    # A folder that is made for the other files is made for the report too.
    if given.report is not None and not (_in_folder(given) and not given.report.parent.exists()):
        require_writable(given.report)
    return None if given.truth is None else read_dag(given.truth)


def _require_folder(folder: Path) -> None:
    """Raise if the files of a result could not be written into a folder, which is made only after the run."""
    folder = folder.expanduser()
    try:
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as problem:
        raise FileError(
            f"{folder} could not be written to ({problem.strerror or problem}); choose a folder that you may write to."
        ) from None
    taken = [name for name in FILES if (folder / name).is_dir()]
    if taken:
        raise FileError(
            f"{folder} could not be written to: {taken[0]} in it is a folder. Rename that, or choose another folder."
        )


def _page(result: Result, given: Given, true: GraphFile | None, *, show: bool) -> str:
    """Return the report, compared with the truth where there is one."""
    from rfdag.report.page import report_text

    truth = None if true is None or given.truth is None else dag_over(true, result.names, given.truth)
    data = None if result.input != "data" else list(given.data) if len(given.data) > 1 else given.data[0]
    progress = None if show else False
    form = result.settings.description
    return report_text(result, truth=truth, data=data, form=form, given=given, progress=progress)


def _written(result: Result, given: Given, page: str | None) -> list[Path]:
    """Write the files of a result and its report, all or none, and return their paths."""
    from rfdag.runtime.writing import ready_to_write, write_folder

    texts = {} if given.out is None else _texts(result)
    if page is None or given.report is None:
        return [] if given.out is None else write_folder(given.out, texts)
    if given.out is not None and _in_folder(given):
        return write_folder(given.out, texts | {given.report.name: page})
    with ready_to_write(given.report, page) as path:
        files = [] if given.out is None else write_folder(given.out, texts)
    return [*files, path]


def _in_folder(given: Given) -> bool:
    """Return whether the report is one of the files of the folder."""
    if given.out is None or given.report is None:
        return False
    return given.report.expanduser().parent.resolve() == given.out.expanduser().resolve()


def _texts(result: Result) -> dict[str, str]:
    """Return the files of a result by name."""
    order = "".join(f"{printable(name)}\n" for name in result.order)
    texts = [result.to_json(), result.to_csv(), order]
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
        "compliance": [record._asdict() for record in result.compliance],
        "files": [str(path) for path in files],
    }
