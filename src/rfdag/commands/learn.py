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
from rfdag.commands.choices import (
    DELIMITERS,
    Device,
    Initial,
    Input,
    JsonFlag,
    Pairs,
    Parents,
    Precision,
    Rescoring,
    Rule,
)
from rfdag.commands.graph_files import GraphFile, dag_over, read_dag
from rfdag.commands.speech import print_json, printable
from rfdag.errors import FileError, NumericalWarning, OptionError

if TYPE_CHECKING:
    from rfdag.report.rerun import Given
    from rfdag.result import Result

MOST_DRAWN = 100_000
"""Edges up to which the files for drawing programs are written."""
FILES = ("result.json", "edges.csv", "order.txt", "graph.dot", "graph.graphml")
"""What `--out` writes."""


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(learn))


def learn(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="CSV, TSV, NPY, NPZ, Parquet or Feather file, a folder, or several files with the same columns."
        ),
    ],
    rule: Annotated[Rule, typer.Option(help="How variables are chosen for removal.")] = Rule.SOFT,
    beam: Annotated[str, typer.Option(help="Partial eliminations that rule soft follows at once, or auto.")] = "auto",
    rescoring: Annotated[Rescoring, typer.Option(help="How often a beam scores anew.")] = Rescoring.AUTO,
    depth: Annotated[
        int | None,
        typer.Option(help="Removals rule rfd looks ahead (1), or covered edges gsp turns in a row (any number)."),
    ] = None,
    initial: Annotated[Initial, typer.Option(help="Rule whose order gsp starts from.")] = Initial.RFD,
    runs: Annotated[int, typer.Option(help="How often gsp starts.")] = 1,
    alpha: Annotated[float, typer.Option(help="Level of the test for an edge.")] = 1e-3,
    pairs: Annotated[Pairs, typer.Option(help="Pairs counted as removed or filled.")] = Pairs.ALL,
    parents: Annotated[Parents, typer.Option(help="How parents are chosen.")] = Parents.AUTO,
    refine: Annotated[
        bool | None, typer.Option("--refine/--no-refine", help="Polish the order by BIC; rule soft does unless told.")
    ] = None,
    penalty: Annotated[
        str, typer.Option(help="Price of an edge in the BIC, in units of ln n; several, as in 1,2,4, are compared.")
    ] = "2",
    gamma: Annotated[str, typer.Option(help="Of the extended BIC: an edge costs 2 gamma ln p more; or auto.")] = "auto",
    restarts: Annotated[str, typer.Option(help="How often refinement is repeated, or auto.")] = "auto",
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best so far is taken.")] = None,
    max_paths: Annotated[int, typer.Option(help="Paths a search of depth > 1 follows at once.")] = 1000,
    precision: Annotated[
        Precision, typer.Option(help="Learn data from one matrix, or in blocks of correlated columns.")
    ] = Precision.AUTO,
    input: Annotated[Input, typer.Option(help="What the file holds.")] = Input.DATA,
    n_samples: Annotated[int | None, typer.Option(help="Rows behind a matrix of moments.")] = None,
    tolerance: Annotated[float, typer.Option(help="What counts as zero in an exact precision matrix.")] = 1e-8,
    delimiter: Annotated[str | None, typer.Option(help="Character between cells of a text file, or 'tab'.")] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign of a text file.")] = ".",
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Break ties at random with this seed.", min=0)] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores unless given.")] = None,
    device: Annotated[Device, typer.Option(help="Compute on the CPU, or on a GPU through CuPy.")] = Device.CPU,
    knowledge: Annotated[
        Path | None, typer.Option(help="Background knowledge: Tetrad's /knowledge text, or JSON.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result's files, made if need be.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML file for a report that works offline.")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="True graph to compare with in the report: edges as CSV, or a result as JSON.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Learn the causal order and the DAG of the columns of a file."""
    from rfdag.commands.digest import tell
    from rfdag.commands.next_steps import next_steps
    from rfdag.input.description import Description
    from rfdag.report.rerun import Given

    if truth is not None and report is None:
        raise OptionError("--truth is shown in a report; pass --report FILE with it.")
    form = Description(None if delimiter is None else DELIMITERS.get(delimiter, delimiter), decimal, header)
    given = Given(data, out, report, knowledge, form, truth)
    true = _looked_at_in_time(given)
    with warnings.catch_warnings():
        # The summary tells of them in its own words.
        warnings.simplefilter("ignore", NumericalWarning)
        result = rfdag.learn(
            data if len(data) > 1 else data[0],
            input=input.value,  # type: ignore[arg-type]
            n_samples=n_samples,
            knowledge=knowledge,
            rule=rule.value,
            beam=_whole_or_word(beam),  # type: ignore[arg-type]
            rescoring=rescoring.value,  # type: ignore[arg-type]
            parents=parents.value,  # type: ignore[arg-type]
            refine="auto" if refine is None else refine,
            penalty=_numbers("penalty", penalty),
            gamma=gamma if gamma == "auto" else _numbers("gamma", gamma),  # type: ignore[arg-type]
            restarts=_whole_or_word(restarts),  # type: ignore[arg-type]
            time_limit=time_limit,
            depth=depth,
            initial=initial.value,  # type: ignore[arg-type]
            runs=runs,
            alpha=alpha,
            pairs=pairs.value,  # type: ignore[arg-type]
            tolerance=tolerance,
            max_paths=max_paths,
            precision=precision.value,  # type: ignore[arg-type]
            **form._asdict(),
            n_jobs=jobs,
            random_state=seed,
            device=device.value,  # type: ignore[arg-type]
            progress=False if as_json else None,
        )
    page = None if report is None else _page(result, given, true, show=not as_json)
    files = _written(result, given, page)
    if as_json:
        print_json(_content(result, files))
    else:
        tell(result, files, next_steps(result, given))


def _whole_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _numbers(name: str, text: str) -> float | tuple[float, ...]:
    """Return one number, or several separated by commas."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{name} is a number, or several separated by commas, not {text!r}.") from None
    return values[0] if len(values) == 1 else values


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
    return report_text(result, truth=truth, data=data, form=given.form, given=given, progress=progress)


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
        "score": result.score,
        "penalty": result.penalty,
        "gamma": result.gamma,
        "path": [asdict(point) for point in result.path],
        "settings": result.settings.to_dict(),
        "timings": result.timings,
        "warnings": list(result.warnings),
        "compliance": [record._asdict() for record in result.compliance],
        "files": [str(path) for path in files],
    }
