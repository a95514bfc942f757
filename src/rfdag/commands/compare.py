"""`rfdag compare`: a found graph beside the true one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from rfdag.commands.graph_files import matrix_of, read_graph
from rfdag.commands.speech import JsonFlag, print_json
from rfdag.errors import GraphError, listed
from rfdag.runtime.terminal import Console

MEANINGS = {
    "shd": "pairs that differ between the CPDAGs",
    "f1": "of the skeleton",
    "tpr": "true adjacencies found",
    "fpr": "absent adjacencies found",
    "precision": "found adjacencies that are true",
    "order_error": "compelled true edges that the order reverses",
    "sid": "interventions predicted wrongly (DAGs)",
    "ancestor_aid": "effects adjusted for wrongly (DAGs)",
    "true_edges": "",
    "found_edges": "",
}


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(compare))


def compare(
    truth: Annotated[Path, typer.Argument(help="True graph: edges as CSV (source, target), or a result as JSON.")],
    found: Annotated[Path, typer.Argument(help="Found graph, in either form.")],
    as_json: JsonFlag = False,
) -> None:
    """Compare a found graph with the true one."""
    scores = _scores(truth, found)
    if as_json:
        print_json({name: None if math.isnan(value) else value for name, value in scores.items()})
        return
    shown = Table("measure", "value", "meaning")
    for name, value in scores.items():
        shown.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value), MEANINGS[name])
    console = Console()
    console.print(shown)
    for note in notes_on(scores):
        console.print(note, highlight=False)


def notes_on(scores: Mapping[str, float]) -> list[str]:
    """Return sentences on scores that seem to contradict each other, and on those that are not numbers.

    >>> notes_on({"shd": 0, "sid": 0, "ancestor_aid": 0, "found_edges": 2, "true_edges": 2})
    []
    """
    notes = []
    far = [name for name in ("sid", "ancestor_aid") if scores[name] > 0]
    if scores["shd"] == 0 and far:
        notes.append(
            "The two DAGs are Markov equivalent (shd 0): they imply the same independences, by which data without "
            f"interventions cannot tell them apart. {' and '.join(far)} compare the DAGs themselves, in which edges "
            "that the class leaves undirected point different ways, and so predict different interventions."
        )
    if scores["shd"] > 0 and not far:
        notes.append(
            "sid and ancestor_aid are 0 although the graphs differ: adjusting as the found DAG says gives the true "
            "effects, as it does where the found DAG has the true edges and others along the same order."
        )
    undefined = [name for name, value in scores.items() if math.isnan(value)]
    if undefined:
        notes.append(f"nan ({', '.join(undefined)}): nothing to count, such as no compelled edge in the truth.")
    return notes


def _scores(truth: Path, found: Path) -> dict[str, float]:
    from rfdag import metrics
    from rfdag.graphs import topological_order

    true, other = read_graph(truth), read_graph(found)
    stray = sorted(true.nodes - other.nodes)
    if other.order and stray:
        raise GraphError(
            f"{truth} has variables that {found} has not: {listed(stray)}. Compare graphs on the same variables."
        )
    names = sorted(true.nodes | other.nodes)
    if not names:
        raise GraphError(f"Neither {truth} nor {found} has an edge or a variable; there is nothing to compare.")
    true_dag, found_dag = matrix_of(true.edges, names, truth), matrix_of(other.edges, names, found)
    place = {name: at for at, name in enumerate(names)}
    order = [place[name] for name in other.order] or topological_order(found_dag)
    skeleton = metrics.skeleton(true_dag, found_dag)
    return {
        "shd": metrics.shd(true_dag, found_dag),
        "f1": skeleton.f1,
        "tpr": skeleton.tpr,
        "fpr": skeleton.fpr,
        "precision": skeleton.precision,
        "order_error": metrics.order_error(true_dag, order),
        "sid": metrics.sid(true_dag, found_dag).mistakes,
        "ancestor_aid": metrics.aid(true_dag, found_dag).mistakes,
        "true_edges": int(true_dag.sum()),
        "found_edges": int(found_dag.sum()),
    }
