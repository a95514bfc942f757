"""The command line: `rfdag learn` and the other commands, over the same functions as the library."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import rfdag
from rfdag.bench.command import register as register_bench
from rfdag.commands.bootstrap import register as register_bootstrap
from rfdag.commands.choices import DELIMITERS
from rfdag.commands.speech import escape as _escape
from rfdag.commands.speech import printable as _printable
from rfdag.effect_command import register as register_effect
from rfdag.errors import GraphError, NumericalWarning, OptionError, RfdagError, listed
from rfdag.experiments.command import register as register_reproduce

if TYPE_CHECKING:
    from rfdag.files import TextFormat

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Causal order, DAG and Markov equivalence class from data, by the Removal-Fill-Degree algorithm.",
    epilog="Exit status: 0 done, 1 a problem with the data or a file, 2 a problem with the options.",
)
EDGES_SHOWN = 60
ORDER_SHOWN = 1000
MOST_DRAWN = 100_000
"""Edges up to which the files for drawing programs are written."""
OPTIONS = {
    "delimiter": "--delimiter",
    "decimal": "--decimal",
    "header": "--header",
    "input": "--input",
    "n_samples": "--n-samples",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "alpha": "--alpha",
    "depth": "--depth",
    "rule": "--rule",
    "penalty": "--penalty",
    "gamma": "--gamma",
    "rescoring": "--rescoring",
    "initial": "--initial",
    "runs": "--runs",
    "restarts": "--restarts",
    "refine": "--refine",
    "beam": "--beam",
    "parents": "--parents",
    "time_limit": "--time-limit",
    "max_paths": "--max-paths",
    "precision": "--precision",
    "device": "--device",
    "method": "--method",
    "share": "--share",
    "corrected": "--corrected",
    "threshold": "--threshold",
    "density": "--density",
    "degree": "--degree",
}
Command = TypeVar("Command", bound=Callable[..., None])


class Rule(StrEnum):
    """How the next variable is chosen."""

    SOFT = "soft"
    GSP = "gsp"
    SP = "sp"
    RFD = "rfd"
    MIN_DEGREE = "min-degree"
    MIN_FILL = "min-fill"
    MAX_REMOVE = "max-remove"
    RANDOM = "random"


class Input(StrEnum):
    """What the file holds."""

    DATA = "data"
    CORRELATION = "correlation"
    COVARIANCE = "covariance"
    PRECISION = "precision"
    DAG = "dag"


class Pairs(StrEnum):
    """Which pairs count as removed or filled."""

    ALL = "all"
    NEIGHBOURS = "neighbours"


class Rescoring(StrEnum):
    """How often a beam scores candidates anew."""

    AUTO = "auto"
    EXACT = "exact"
    LAZY = "lazy"


class Precision(StrEnum):
    """Whether data are learnt as a whole or in blocks."""

    AUTO = "auto"
    DENSE = "dense"
    BLOCKS = "blocks"


class Device(StrEnum):
    """Where scores and eliminations are computed."""

    CPU = "cpu"
    CUDA = "cuda"


class Initial(StrEnum):
    """Whose order rule gsp starts from."""

    RFD = "rfd"
    MIN_DEGREE = "min-degree"


class Parents(StrEnum):
    """How a variable's parents are chosen among its predecessors."""

    AUTO = "auto"
    BIC = "bic"
    THRESHOLD = "threshold"


JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def main() -> None:
    """Run the program."""
    app()


def _reported(command: Command) -> Command:
    """Turn rfdag's errors into a message and an exit status."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            # The reader has seen enough; let nothing complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (RfdagError, ImportError, OSError) as problem:
            words = _spoken(str(problem))
            Console(stderr=True, soft_wrap=True).print(f"[bold red]Error:[/bold red] {_escape(words)}", highlight=False)
            raise typer.Exit(2 if isinstance(problem, OptionError) else 1) from None

    return run  # type: ignore[return-value]


def _spoken(message: str) -> str:
    """Return a message of the library with its options in the spelling of the command line."""
    for name, option in OPTIONS.items():
        message = re.sub(rf"\b{name}=", f"{option} ", message)
        if "_" in name:
            # Only these names cannot be taken for a word of the sentence.
            message = re.sub(rf"\b{name}\b", option, message)
    message = message.replace("--corrected True", "--corrected")
    for flag in ("header", "refine"):
        message = message.replace(f"--{flag} True", f"--{flag}").replace(f"--{flag} False", f"--no-{flag}")
    return message


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rfdag {rfdag.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
@_reported
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
    if truth is not None and report is None:
        raise OptionError("--truth is shown in a report; pass --report FILE with it.")
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
            delimiter=None if delimiter is None else DELIMITERS.get(delimiter, delimiter),
            decimal=decimal,
            header=header,
            n_jobs=jobs,
            random_state=seed,
            device=device.value,  # type: ignore[arg-type]
            progress=False if as_json else None,
        )
    files: list[Path] = []
    if out is not None:
        from rfdag.files import write_folder

        files = write_folder(out, _files_of(result))
    if report is not None:
        from rfdag.files import TextFormat

        form = TextFormat(None if delimiter is None else DELIMITERS.get(delimiter, delimiter), decimal, header)
        files.append(_write_report(result, report, truth, data if input is Input.DATA else None, form))
    if as_json:
        _print_json(
            {
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
        )
        return
    _print_result(result, files)


@app.command()
@_reported
def simulate(
    out: Annotated[Path, typer.Argument(help="Folder for data.csv and truth.csv, made if need be.")],
    nodes: Annotated[int, typer.Option(help="Number of variables.")] = 20,
    samples: Annotated[int, typer.Option(help="Number of rows.")] = 1000,
    density: Annotated[float | None, typer.Option(help="Probability of an edge; 0.2 unless degree is given.")] = None,
    degree: Annotated[float | None, typer.Option(help="Expected neighbours of a variable, instead.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the graph, its weights and the rows.", min=0)] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a random DAG with linear Gaussian data on it."""
    import numpy as np

    from rfdag.files import write_folder
    from rfdag.simulate import linear_sem, random_dag, sample

    generator = np.random.default_rng(seed)
    density = 0.2 if density is None and degree is None else density
    sem = linear_sem(random_dag(nodes, density, generator, degree=degree), generator)
    rows = sample(sem, samples, generator)
    width = len(str(nodes))
    names = [f"x{at:0{width}d}" for at in range(1, nodes + 1)]
    edges = [(names[i], names[j], repr(float(sem.weights[i, j]))) for i, j in np.argwhere(sem.dag)]
    files = write_folder(
        out,
        {
            "data.csv": _csv(names, ([repr(float(cell)) for cell in row] for row in rows)),
            "truth.csv": _csv(("source", "target", "weight"), edges),
        },
    )
    if as_json:
        _print_json({"nodes": nodes, "samples": samples, "edges": len(edges), "files": [str(path) for path in files]})
        return
    console = Console()
    console.print(f"Simulated {samples} rows of {nodes} variables with {len(edges)} edges (seed {seed}).")
    _print_files(console, files)


@app.command()
@_reported
def compare(
    truth: Annotated[Path, typer.Argument(help="True graph: edges as CSV (source, target), or a result as JSON.")],
    found: Annotated[Path, typer.Argument(help="Found graph, in either form.")],
    as_json: JsonFlag = False,
) -> None:
    """Compare a found graph with the true one."""
    import math

    from rfdag import metrics
    from rfdag.graphs import topological_order

    (true_nodes, true_edges, _), (found_nodes, found_edges, order) = _read_graph(truth), _read_graph(found)
    stray = sorted(true_nodes - found_nodes)
    if order and stray:
        raise GraphError(
            f"{truth} has variables that {found} has not: {listed(stray)}. Compare graphs on the same variables."
        )
    names = sorted(true_nodes | found_nodes)
    if not names:
        raise GraphError(f"Neither {truth} nor {found} has an edge or a variable; there is nothing to compare.")
    true_dag, found_dag = _matrix(truth, names, true_edges), _matrix(found, names, found_edges)
    places = [names.index(name) for name in order] if order else topological_order(found_dag)
    scores = metrics.skeleton(true_dag, found_dag)
    table = {
        "shd": metrics.shd(true_dag, found_dag),
        "f1": scores.f1,
        "tpr": scores.tpr,
        "fpr": scores.fpr,
        "precision": scores.precision,
        "order_error": metrics.order_error(true_dag, places),
        "sid": metrics.sid(true_dag, found_dag).mistakes,
        "ancestor_aid": metrics.aid(true_dag, found_dag).mistakes,
        "true_edges": int(true_dag.sum()),
        "found_edges": int(found_dag.sum()),
    }
    if as_json:
        _print_json({name: None if math.isnan(value) else value for name, value in table.items()})
        return
    meanings = {
        "shd": "pairs joined differently in the CPDAGs",
        "f1": "of the skeleton",
        "tpr": "true adjacencies found",
        "fpr": "absent adjacencies found",
        "precision": "found adjacencies that are true",
        "order_error": "compelled true edges the order turns round",
        "sid": "interventions predicted wrongly (DAGs)",
        "ancestor_aid": "effects adjusted for wrongly (DAGs)",
        "true_edges": "",
        "found_edges": "",
    }
    shown = Table("measure", "value", "meaning")
    for name, value in table.items():
        shown.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value), meanings[name])
    Console().print(shown)


register_effect(app, _reported)
register_bootstrap(app, _reported)
register_bench(app, _reported)
register_reproduce(app, _reported)


def _whole_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _numbers(name: str, text: str) -> float | tuple[float, ...]:
    """Return one number, or several separated by commas."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{name} is a number, or several separated by commas, not {text!r}.") from None
    return values[0] if len(values) == 1 else values


def _files_of(result: rfdag.Result) -> dict[str, str]:
    texts = {
        "result.json": result.to_json(),
        "edges.csv": result.to_csv(),
        "order.txt": "".join(f"{_printable(name)}\n" for name in result.order),
    }
    if len(result.edges) <= MOST_DRAWN:
        texts |= {"graph.dot": result.to_dot(), "graph.graphml": result.to_graphml()}
    return texts


def _write_report(
    result: rfdag.Result, path: Path, truth: Path | None, data: list[Path] | None, form: TextFormat
) -> Path:
    from rfdag.report.page import write_report

    matrix = None
    if truth is not None:
        names = list(map(str, result.names))
        nodes, edges, _ = _read_graph(truth)
        stray = sorted(nodes - set(names))
        if stray:
            raise GraphError(
                f"{truth} has variables that the data have not: {listed(stray)}. Compare graphs on the same variables."
            )
        matrix = _matrix(truth, names, edges)
    source = data if data is None or len(data) > 1 else data[0]
    return write_report(result, path, truth=matrix, data=source, form=form)


def _print_result(result: rfdag.Result, files: list[Path]) -> None:
    console = Console()
    rows = "exact input" if result.n_samples is None else f"{result.n_samples} rows"
    seconds = sum(result.timings.values())
    console.print(
        f"[bold]{_counted(len(result.names), 'variable')}[/bold], {rows}, rule {result.settings.rule}, {seconds:.2f} s",
        highlight=False,
    )
    console.print("\n[bold]Causal order[/bold] (causes first)")
    shown = " → ".join(_escape(name) for name in result.order[:ORDER_SHOWN])
    more = len(result.order) - ORDER_SHOWN
    rest = f" → … and {more} more; --out writes them all." if more > 0 else ""
    console.print(Padding(shown + rest, (0, 0, 0, 2)), highlight=False)
    edges = result.edges
    undecided = sum(not edge.directed for edge in edges)
    console.print(
        f"\n[bold]{_counted(len(edges), 'edge')}[/bold], {undecided} of which could point either way", highlight=False
    )
    statistics = ("coefficient", "partial_correlation", "gain")
    table = Table("source", "", "target", box=None, pad_edge=True)
    for heading in ("coefficient", "partial corr.", "BIC gain"):
        table.add_column(heading, justify="right")
    for edge in edges[:EDGES_SHOWN]:
        numbers = [getattr(edge, name) for name in statistics]
        cells = ["" if number is None else f"{number:+.3g}" for number in numbers]
        table.add_row(_escape(edge.source), "→" if edge.directed else "–", _escape(edge.target), *cells)
    if edges:
        console.print(table)
    if len(edges) > EDGES_SHOWN:
        console.print(f"  … and {len(edges) - EDGES_SHOWN} more; --out writes them all.", highlight=False)
    if result.path:
        _print_path(console, result)
    if result.compliance:
        from rfdag.compliance import summed_up

        console.print(f"\n[bold]Knowledge[/bold]: {_escape(summed_up(result.compliance))}", highlight=False)
    for warning in result.warnings:
        console.print(f"[yellow]Warning:[/yellow] {_escape(warning)}", highlight=False)
    _print_files(console, files)


def _print_path(console: Console, result: rfdag.Result) -> None:
    console.print("\n[bold]Penalties compared[/bold] (the least extended BIC is chosen)")
    table = Table("penalty", "edges", "extended BIC", "", box=None, pad_edge=True)
    for point in result.path:
        chosen = "chosen" if point.chosen else ""
        table.add_row(f"{point.penalty:g}", str(point.edges), f"{point.criterion:.1f}", chosen)
    console.print(table, highlight=False)


def _print_files(console: Console, files: list[Path]) -> None:
    if files:
        console.print("\n[bold]Written[/bold]")
        for path in files:
            console.print(f"  {_escape(path)}", highlight=False, soft_wrap=True)


def _print_json(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content, indent=2, default=str, ensure_ascii=False, allow_nan=False) + "\n")


def _csv(header: Any, rows: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _read_graph(path: Path) -> tuple[set[str], set[tuple[str, str]], list[str]]:
    """Return nodes, edges and (from a result) the order."""
    if path.suffix.lower() == ".json":
        result = rfdag.load(path)
        edges = {(str(edge.source), str(edge.target)) for edge in result.edges}
        return set(map(str, result.names)), edges, list(map(str, result.order))
    from rfdag.files import read_edges

    edges = read_edges(path)
    return {name for edge in edges for name in edge}, edges, []


def _matrix(path: Path, names: list[str], edges: set[tuple[str, str]]) -> Any:
    from rfdag.graphs import as_dag, find_cycle

    matrix = [[int((source, target) in edges) for target in names] for source in names]
    cycle = find_cycle(matrix)
    if cycle:
        arrows = " → ".join(repr(names[node]) for node in cycle)
        raise GraphError(f"{path} is not a DAG: it has the cycle {arrows}. Remove or turn one of these edges.")
    return as_dag(matrix)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
