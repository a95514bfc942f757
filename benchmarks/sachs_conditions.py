"""Compare what programs make of the Sachs data with the listed network, told the experimental conditions or not.

    python benchmarks/sachs_conditions.py [--limit 120]

Peers run in the environments that `rfdag bench --setup` makes; a peer that is not installed is left out. Writes
benchmarks/results/sachs_conditions.csv, and into docs/gallery/sachs.md the table between its markers `conditions`.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import datasets
from rfdag.errors import GraphError
from rfdag.graphs import icpdag
from rfdag.input.environments import read_targets
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import environments, harness
from rfdag.studies.bench.cells import Cell, Key
from rfdag.studies.bench.interventional import CONTENDERS, Experiment
from rfdag.studies.bench.tables import Row

Graph = NDArray[np.int8]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all contenders, count, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=120)
    limit = parser.parse_args(arguments).limit
    experiment, truth = sachs(), datasets.sachs_truth()
    peers = ROOT / environments.FOLDER
    chosen = [each for each in CONTENDERS.values() if not harness.missing([each], peers)]
    rows: list[Row] = []
    cells = []
    with Progress() as progress:
        for number, contender in enumerate(chosen):
            progress.stage(contender.name)(number / len(chosen))
            python = environments.python_of(contender.home, peers)
            command = [str(python), "-P", str(harness.INTERVENTIONAL_PROGRAM), contender.name]
            outcome = harness.run_on_environments(command, experiment, limit)
            rows.append({"contender": f"`{contender.name}`", **row_of(outcome, experiment, truth)})
            version = environments.version_of(contender.package, contender.home, peers) or ""
            cells.append(Cell(Key("", 0, 0, contender.name, version, ""), limit))
    write_tables("sachs_conditions", rows)
    page = ROOT / "docs" / "gallery" / "sachs.md"
    update_section(page, "conditions", f"{markdown(rows)}\n{provenance(cells)}")


def sachs() -> Experiment:
    """Return the cells, standardised, with their conditions and targets."""
    with datasets.sachs_conditions_path().open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
    rows = np.array([line[:-1] for line in lines], np.float64)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    known = read_targets(datasets.sachs_condition_targets_path())
    targets = {label: tuple(sorted(names.index(str(name)) for name in members)) for label, members in known.items()}
    return Experiment(rows, [line[-1] for line in lines], targets)


def row_of(outcome: harness.ExperimentOutcome, experiment: Experiment, truth: Graph) -> Row:
    """Return what a contender found beside the listed network, in edges of its class."""
    if isinstance(outcome, harness.Late | harness.Failed):
        return {"edges": outcome.reason}
    graph, seconds, targets = outcome
    try:
        # A DAG stands for its class by the targets; what has undirected edges is a class already.
        undirected = ((graph != 0) & (graph.T != 0)).any()
        found = graph if undirected else icpdag(graph, (targets or experiment.targets).values())
    except GraphError:
        found = graph
    return {**counted(found, truth), "time (s)": float(f"{seconds:.2g}")}


def counted(found: Graph, truth: Graph) -> Row:
    """Return how many edges of a class agree with a DAG.

    >>> counted(np.array([[0, 1, 1], [0, 0, 2], [0, 2, 0]]), np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]]))["edges"]
    3
    """
    directed = (found != 0) & (found.T == 0)
    undirected = np.triu((found != 0) & (found.T != 0))
    listed = (truth != 0) | (truth.T != 0)
    along, against = int((directed & (truth != 0)).sum()), int((directed & (truth.T != 0)).sum())
    return {
        "edges": int(directed.sum() + undirected.sum()),
        "directed as listed": along,
        "directed against the list": against,
        "listed, undirected": int((undirected & listed).sum()),
        "not listed": int(((directed | undirected) & ~listed).sum()),
    }


if __name__ == "__main__":
    main()
