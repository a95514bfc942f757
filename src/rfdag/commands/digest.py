"""A result in words: in full into a pipe; on a terminal its strongest parts, and a summary that stays in sight."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.padding import Padding
from rich.table import Table

from rfdag.commands.next_steps import Step, strongest
from rfdag.commands.speech import Spell, escape, print_files, printable, spelled
from rfdag.errors import as_argument
from rfdag.input.columns import in_words
from rfdag.knowledge.compliance import summed_up
from rfdag.result import Edge, Result
from rfdag.result.close_calls import MARK
from rfdag.result.optimality import optimality_in_words
from rfdag.result.ordering import MEANING, order_in_words
from rfdag.result.pricing import price_in_words
from rfdag.result.remarks import MARK_EXPLAINED, advice_on_directions, close_calls_in_words, marked
from rfdag.runtime.terminal import Console
from rfdag.wording import count_of_tests, counted, without_middle

Remark = tuple[str, str]
"""A label and a text of the summary."""
STATISTICS = {"coefficient": "coefficient", "partial_correlation": "partial corr.", "gain": "BIC gain"}
EDGES_SHOWN = 60
ORDER_SHOWN = 1000
EDGES_ON_TERMINAL = 20
ORDER_ON_TERMINAL = 100
NARROW = 64
"""Columns of a terminal below which the table of edges has one number for each edge, not three."""
AROUND_NAMES = {1: 23, 3: 53}
"""Columns that a table of edges with so many numbers takes beside the names."""
LABELS = 14
"""Columns that the labels of the summary take."""
NAMED = 6
"""Things that a line of the summary names; the rest are counted."""
LONGEST = 24
"""Characters of a name in the summary."""


def tell(result: Result, files: Sequence[Path], steps: Sequence[Step], spell: Spell = as_argument) -> None:
    """Print a result, and on a terminal what to do with it next; ``spell`` writes the options in warnings."""
    console = Console()
    warnings = [escape(spelled(warning, spell)) for warning in result.warnings]
    calls, advice = close_calls_in_words(result, _short), advice_on_directions(result)
    remarks = [("Close calls", calls)] if calls else []
    remarks += [] if advice is None else [("Directions", escape(spelled(advice, spell)))]
    if console.is_terminal:
        _tell_terminal(console, result, files, steps, remarks, warnings)
    else:
        _tell_pipe(console, result, files, remarks, warnings)


def shortened(name: object, limit: int) -> str:
    """Return a name that fits, without its middle if need be: ends tell long names apart.

    >>> shortened("rain", 9), shortened("temperature_north", 9)
    ('rain', 'temp…orth')
    """
    return without_middle(printable(name), limit)


def _tell_pipe(
    console: Console, result: Result, files: Sequence[Path], remarks: Sequence[Remark], warnings: Sequence[str]
) -> None:
    console.print(f"[bold]{_run(result)}[/bold]\n", highlight=False)
    _tell_order(console, result, ORDER_SHOWN)
    _tell_edges(console, result, result.edges[:EDGES_SHOWN])
    for label, text in remarks:
        console.print(f"\n[bold]{label}[/bold]: {text}", highlight=False)
    _tell_path(console, result)
    if result.columns:
        console.print(f"\n[bold]Columns[/bold]: {escape(in_words(result.columns))}", highlight=False)
    if result.reading:
        console.print(f"\n[bold]Read[/bold]: {escape('; '.join(result.reading))}", highlight=False)
    if result.judged_by is not None:
        console.print(f"\n[bold]Judged by[/bold]: {result.judged_by}", highlight=False)
    for title, told in _environments(result):
        console.print(f"\n[bold]{title}[/bold]: {escape(told)}", highlight=False)
    if result.estimator is not None:
        console.print(f"\n[bold]Estimator[/bold]: {escape(str(result.estimator))}", highlight=False)
    if result.tests:
        console.print(f"\n[bold]Tests[/bold]: {count_of_tests(result.tests)}", highlight=False)
    if result.compliance:
        console.print(f"\n[bold]Knowledge[/bold]: {escape(summed_up(result.compliance))}", highlight=False)
    if result.score is not None:
        console.print(f"\n[bold]{_score_label(result)}[/bold]: {_bic(result)}", highlight=False)
    for warning in warnings:
        console.print(f"[yellow]Warning:[/yellow] {warning}", highlight=False)
    print_files(console, files)


def _tell_terminal(
    console: Console,
    result: Result,
    files: Sequence[Path],
    steps: Sequence[Step],
    remarks: Sequence[Remark],
    warnings: Sequence[str],
) -> None:
    _tell_order(console, result, ORDER_ON_TERMINAL)
    _tell_edges(console, result, strongest(result.edges)[:EDGES_ON_TERMINAL])
    _tell_path(console, result)
    console.print()
    console.rule("[bold]Summary[/bold]", align="left", style="dim")
    grid = Table.grid()
    grid.add_column(width=LABELS, style="bold")
    grid.add_column(overflow="fold")
    for label, text in [*_summary(result, remarks, warnings), *_places(files)]:
        grid.add_row(label, text)
    console.print(grid, highlight=False)
    # What may be copied is left to the terminal to wrap.
    for label, text in steps:
        console.print(f"[bold]{label:<{LABELS}}[/bold]{escape(text)}", highlight=False, soft_wrap=True)


def _run(result: Result) -> str:
    unknown = "tests of your own" if result.tests and result.input == "data" else "exact input"
    rows = unknown if result.n_samples is None else counted(result.n_samples, "row")
    seconds = sum(result.timings.values())
    return f"{counted(len(result.names), 'variable')}, {rows}, method {result.method.name}, {seconds:.2f} s"


def _score_label(result: Result) -> str:
    return "BDeu" if result.score_name == "bdeu" else "BIC"


def _bic(result: Result) -> str:
    price = price_in_words(result)
    textbook = "" if price == "ln n" or result.score_name is not None else " (ln n in the textbook's BIC)"
    known = optimality_in_words(result)
    return f"{result.score:.1f}{f', {known}' if known else ''}; an edge costs {price}{textbook}"


def _tell_order(console: Console, result: Result, limit: int) -> None:
    console.print(f"[bold]Causal order[/bold] ({MEANING})", highlight=False)
    more = len(result.order) - limit
    rest = f", … and {more} more; --out writes them all." if more > 0 else ""
    console.print(Padding(order_in_words(result, limit, escape) + rest, (0, 0, 0, 2)), highlight=False)


def _tell_edges(console: Console, result: Result, edges: Sequence[Edge]) -> None:
    undecided = sum(not edge.directed for edge in result.edges)
    ranked = "; strongest first" if console.is_terminal and len(edges) > 1 and not result.tests else ""
    console.print(
        f"\n[bold]{counted(len(result.edges), 'edge')}[/bold], {undecided} of which could point either way{ranked}",
        highlight=False,
    )
    if edges:
        marks = marked(result)
        console.print(_table(console, edges, marks))
        if any((edge.source, edge.target) in marks for edge in edges):
            console.print(Padding(MARK_EXPLAINED, (0, 0, 0, 2)), highlight=False, style="dim")
    if len(result.edges) > len(edges):
        console.print(f"  … and {len(result.edges) - len(edges)} more; --out writes them all.", highlight=False)


def _table(console: Console, edges: Sequence[Edge], marks: Container[tuple[Hashable, Hashable]]) -> Table:
    statistics = [name for name in STATISTICS if name == "gain" or not _narrow(console)]
    limit = (console.width - AROUND_NAMES[len(statistics)]) // 2 if console.is_terminal else None
    table = Table("source", "", "target", box=None, pad_edge=True)
    for name in statistics:
        table.add_column(STATISTICS[name], justify="right")
    for edge in edges:
        numbers = [getattr(edge, name) for name in statistics]
        cells = ["" if number is None else f"{number:+.3g}" for number in numbers]
        source, target = (
            escape(name if limit is None else shortened(name, max(limit, 4))) for name in (edge.source, edge.target)
        )
        mark = f" {MARK}" if (edge.source, edge.target) in marks else ""
        table.add_row(source, _arrow(edge) + mark, target, *cells)
    return table


def _narrow(console: Console) -> bool:
    return console.is_terminal and console.width < NARROW


def _arrow(edge: Edge) -> str:
    return "→" if edge.directed else "–"


def _tell_path(console: Console, result: Result) -> None:
    if not result.path:
        return
    console.print("\n[bold]Penalties compared[/bold] (the least extended BIC is chosen)")
    table = Table("penalty", "edges", "extended BIC", "", box=None, pad_edge=True)
    for point in result.path:
        chosen = "chosen" if point.chosen else ""
        table.add_row(f"{point.penalty:g}", str(point.edges), f"{point.criterion:.1f}", chosen)
    console.print(table, highlight=False)


def _summary(result: Result, remarks: Sequence[Remark], warnings: Sequence[str]) -> Iterator[Remark]:
    """Yield the lines of the summary, each with its label."""
    yield "Run", _run(result)
    edges = result.edges
    undecided = [edge for edge in edges if not edge.directed]
    if edges:
        yield "Edges", f"{len(edges)}: {len(edges) - len(undecided)} compelled, {len(undecided)} could point either way"
    else:
        yield "Edges", "none: no two variables are adjacent at this setting"
    # Where the class leaves a direction open, either end may be a cause of the other.
    unsure = {name for edge in undecided for name in (edge.source, edge.target)}
    causes, effects = {edge.source for edge in edges}, {edge.target for edge in edges}
    groups = {
        "First causes": causes - effects - unsure,
        "Last effects": effects - causes - unsure,
        "Unconnected": set(result.names) - causes - effects if edges else set(),
    }
    for label, members in groups.items():
        if members:
            yield label, _named(name for name in result.order if name in members)
    # Tests leave open how strong a dependence is.
    if len(edges) > 1 and not result.tests:
        yield (
            "Strongest",
            ", ".join(
                " ".join((_short(edge.source), _arrow(edge), _short(edge.target))) for edge in strongest(edges)[:3]
            ),
        )
    yield from remarks
    if result.columns:
        yield "Columns", escape(in_words(result.columns))
    if result.reading:
        yield "Read", escape("; ".join(result.reading))
    if result.judged_by is not None:
        yield "Judged by", result.judged_by
    for title, told in _environments(result):
        yield title, escape(told)
    if result.estimator is not None:
        yield "Estimator", escape(str(result.estimator))
    if result.tests:
        yield "Tests", count_of_tests(result.tests)
    if result.compliance:
        yield "Knowledge", escape(summed_up(result.compliance))
    if result.score is not None:
        yield _score_label(result), _bic(result)
    for warning in warnings:
        yield "[yellow]Warning[/yellow]", f"[yellow]{warning}[/yellow]"


def _named(names: Iterable[Hashable]) -> str:
    every = list(names)
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return ", ".join(map(_short, every[:NAMED])) + more


def _short(name: Hashable) -> str:
    return escape(shortened(name, LONGEST))


def _places(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield where the files are, folder by folder."""
    for folder, paths in groupby(files, key=lambda path: path.parent):
        first, *others = paths
        names = ", ".join(escape(path.name) for path in (first, *others))
        yield "Written", f"{escape(folder)}: {names}" if others else escape(first)


def _environments(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what was found of several environments, each part with its title."""
    from rfdag.result.environments import environments_in_words

    for line in environments_in_words(result.interventions):
        title, _, told = line.partition(": ")
        yield title[0].upper() + title[1:], told
