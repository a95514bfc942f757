"""Workloads with experiments: rows of an observational environment and of others in which variables are targeted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph
from rfdag.simulate.dags import random_dag
from rfdag.simulate.interventions import Kind, draw_targets, interventions
from rfdag.simulate.linear import linear_sem
from rfdag.studies.bench.interventional import INTERVENTIONAL, Experiment, Targets
from rfdag.studies.bench.workloads import simulation_generator

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

GRAPHS = 10
"""Graphs of a workload unless it has its own number."""
FEW_GRAPHS = 3
"""Graphs of the largest workload."""


class InterventionalDrawn(NamedTuple):
    """Rows of several environments, which of them target what, and the graph behind them."""

    true: Graph
    rows: Floats
    labels: list[str]
    """The environment of each row."""
    targets: Targets
    """The columns that each environment targets; none where nothing was changed."""

    @property
    def experiment(self) -> Experiment:
        """What a contender is given."""
        return Experiment(self.rows, self.labels, self.targets)


@dataclass(frozen=True)
class InterventionalWorkload:
    """A family of graphs and of experiments on them."""

    name: str
    family: str
    """What the graphs and the experiments are, in a few words."""
    p: int
    n: int
    """All rows."""
    edges: int
    """Edges that are expected."""
    experiments: int
    """Environments with targets; one without is among the data, too."""
    n_experiment: int
    """Rows of each of them; the others are observational."""
    size: int = 1
    """Targets of each."""
    kind: Kind = "hard"
    graphs: int = GRAPHS
    group: str = INTERVENTIONAL

    def draw(self, seed: int, graph: int) -> InterventionalDrawn:
        """Return the rows of one graph, columns shuffled and standardised over all environments."""
        generator = simulation_generator(self.name, seed, graph)
        sem = linear_sem(random_dag(self.p, rng=generator, degree=2 * self.edges / self.p), generator)
        sets = draw_targets(self.p, self.experiments, self.size, generator)
        observational = self.n - self.experiments * self.n_experiment
        found = interventions(sem, observational, sets, self.n_experiment, kind=self.kind, rng=generator)
        places = generator.permutation(self.p)
        column_of = np.argsort(places)
        rows = found.values[:, places]
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        targets = {label: _at(column_of, columns) for label, columns in found.targets.items()}
        return InterventionalDrawn(sem.dag[np.ix_(places, places)], rows, found.labels.tolist(), targets)


def _at(column_of: Integers, nodes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(column_of[list(nodes)].tolist()))


def _workload(
    prefix: str, p: int, edges: int, experiments: int, n_experiment: int, n: int, *, size: int = 1, kind: Kind = "hard"
) -> InterventionalWorkload:
    targets = "one target" if size == 1 else f"{size} targets"
    family = f"{edges} edges, {experiments} × {n_experiment} rows with {targets} ({kind})"
    name = f"{prefix}-p{p}-e{edges}-n{n}"
    graphs = FEW_GRAPHS if p == 1000 else GRAPHS
    return InterventionalWorkload(name, family, p, n, edges, experiments, n_experiment, size, kind, graphs)


def _all() -> Iterator[InterventionalWorkload]:
    for p in (10, 20):
        for edges in (p, 4 * p):
            yield _workload("single", p, edges, p, 10_000 // (p + 1), 10_000)
    kinds: tuple[Kind, ...] = ("hard", "soft", "shift")
    for kind in kinds:
        yield _workload(kind, 20, 40, 10, 100, 2000, kind=kind)
    yield _workload("double", 20, 40, 10, 20, 400, size=2)
    yield _workload("single", 100, 400, 100, 20, 3000)
    yield _workload("single", 100, 100, 100, 5, 700)
    yield _workload("single", 1000, 2000, 500, 50, 26_000)


WORKLOADS = {workload.name: workload for workload in _all()}
