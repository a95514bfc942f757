"""Cells: what one contender made of one data set, and the ledger in which they are kept."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag import metrics
from rfdag.errors import GraphError
from rfdag.evidence.moments import Moments
from rfdag.graphs import consistent_extension, cpdag, icpdag
from rfdag.graphs.dag import Graph, as_dag
from rfdag.runtime.journal import Journal
from rfdag.studies.bench.interventional import Targets
from rfdag.studies.bench.interventional_workloads import InterventionalDrawn

Floats = NDArray[np.float64]

PENALTY = 2.0
"""λ of the BIC by which all graphs are scored."""


class Key(NamedTuple):
    """What a cell is of. A run that meets a key it has met before need not run again."""

    workload: str
    seed: int
    graph: int
    contender: str
    version: str
    data: str
    """Digest of the rows, so that cells of other data are not used."""


@dataclass(frozen=True)
class Cell:
    """One contender on one data set: its scores, or why there are none."""

    key: Key
    limit: float
    seconds: float | None = None
    edges: int | None = None
    bic: float | None = None
    shd: int | None = None
    f1: float | None = None
    tpr: float | None = None
    fpr: float | None = None
    failure: str = ""
    late: bool = False
    """Whether the failure was to end in time."""
    targets_f1: float | None = None
    """F1 of the targets, of a contender that finds them."""

    def holds(self, limit: float) -> bool:
        """Return whether a run with that time limit would have come to the same."""
        if self.late:
            return limit <= self.limit
        return self.seconds is None or self.seconds <= limit


class Ledger:
    """Cells in a file of JSON lines, each written as soon as it is known; without a path they are only remembered."""

    def __init__(self, path: Path | None = None) -> None:
        self._journal = None if path is None else Journal(path)
        self._cells: dict[Key, Cell] = {}
        for content in self._journal or ():
            try:
                cell = Cell(Key(**content.pop("key")), **content)
            except (KeyError, TypeError):
                # Of another version of this program: that cell is run again.
                continue
            self._cells[cell.key] = cell

    def find(self, key: Key, limit: float) -> Cell | None:
        """Return the cell of a key if a run with that time limit would come to the same."""
        cell = self._cells.get(key)
        return cell if cell is not None and cell.holds(limit) else None

    def add(self, cell: Cell) -> None:
        """Remember a cell and write it down."""
        self._cells[cell.key] = cell
        if self._journal is not None:
            content = {name: entry for name, entry in asdict(cell).items() if name != "key"}
            self._journal.write({"key": cell.key._asdict()} | content)


def scored(
    key: Key, limit: float, found: Graph, rows: Floats | None, true: Graph | None, seconds: float | None
) -> Cell:
    """Return the cell of a graph that was found; without rows, as where not all columns are numbers, it has no BIC."""
    shd = f1 = tpr = fpr = None
    if true is not None:
        skeleton = metrics.skeleton(true, found)
        shd = distance(true, found)
        f1, tpr, fpr = (None if math.isnan(score) else score for score in (skeleton.f1, skeleton.tpr, skeleton.fpr))
    edges = int(((found != 0) | (found != 0).T).sum()) // 2
    score = None if rows is None else bic(rows, found)
    return Cell(key, limit, seconds, edges, score, shd, f1, tpr, fpr)


def scored_in_environments(
    key: Key,
    limit: float,
    found: Graph,
    found_targets: Targets | None,
    drawn: InterventionalDrawn,
    seconds: float | None,
) -> Cell:
    """Return the cell of a graph found in several environments: its class is that by the targets that were found.

    Where targets were given, or not asked for, it is the class by the true ones. There is no BIC, since which rows
    count for a variable depends on the targets.
    """
    adjacency = metrics.skeleton(drawn.true, found)
    f1, tpr, fpr = (None if math.isnan(score) else score for score in (adjacency.f1, adjacency.tpr, adjacency.fpr))
    edges = int(((found != 0) | (found != 0).T).sum()) // 2
    shd = distance_in_environments(drawn.true, found, drawn.targets, found_targets)
    of_targets = None if found_targets is None else metrics.target_scores(drawn.targets, found_targets).f1
    return Cell(key, limit, seconds, edges, None, shd, f1, tpr, fpr, targets_f1=of_targets)


def bic(rows: Floats, graph: Graph) -> float | None:
    """Return the Gaussian BIC of a graph's DAGs, smaller is better; 0 is the empty graph's.

    It is None for a graph that extends to no DAG (tests may contradict each other), and where a variable has as many
    parents as there are rows.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> bic(rows, np.zeros((3, 3), np.int8))
    0.0
    """
    try:
        dag = consistent_extension(graph) if (graph == 2).any() else as_dag(graph)
    except GraphError:
        return None
    n = len(rows)
    if dag.sum(axis=0).max() >= n - 1:
        return None
    factor = Moments.from_data(rows).factor
    total = PENALTY * math.log(n) * int(dag.sum())
    for child in np.flatnonzero(dag.any(axis=0)):
        family = [*np.flatnonzero(dag[:, child]), child]
        # The last diagonal entry is, up to its sign, the root of the variance that the parents leave.
        left = abs(float(np.linalg.qr(factor[:, family]).R[-1, -1]))
        total += 2 * n * math.log(max(left, np.finfo(float).tiny))
    return total


def distance(true: Graph, found: Graph) -> int:
    """Return the structural Hamming distance of the classes, also to a graph that has none."""
    try:
        return metrics.shd(true, found)
    except GraphError:
        # A cycle, as contradicting tests can give: there is no equivalence class, so the graph is compared as it is.
        return _differing(cpdag(true), found)


def distance_in_environments(true: Graph, found: Graph, true_targets: Targets, targets: Targets | None) -> int:
    """Return the structural Hamming distance of the interventional classes, also to a graph that has none."""
    try:
        return metrics.icpdag_shd(true, found, true_targets, targets)
    except GraphError:
        return _differing(icpdag(true, true_targets.values()), found)


def _differing(first: Graph, second: Graph) -> int:
    differs = first != second
    return int(np.triu(differs | differs.T).sum())
