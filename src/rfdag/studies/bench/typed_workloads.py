"""Workloads with categories, gaps or curves: discrete networks, mixed data, missing values, and additive models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import FileError
from rfdag.graphs.dag import Graph
from rfdag.simulate import DiscreteNetwork, discrete_network, linear_sem, mixed, random_dag, sample, with_gaps
from rfdag.studies.bench.curves import SMOOTH, curved_sample
from rfdag.studies.bench.typed import DISCRETE, MISSING, MIXED, NONLINEAR
from rfdag.studies.bench.workloads import Drawn, Generator, Workload, simulation_generator

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

GRAPHS = 10
"""Graphs of a workload unless it has its own number."""
NETWORKS = {"asia": 8, "sachs": 11, "child": 20, "insurance": 27, "alarm": 37, "hailfinder": 56, "pigs": 441}
"""Discrete networks and how many variables they have."""
DEGREE = 4
"""Expected neighbours of a variable in the groups mixed and missing."""
SHARES = (5, 10, 20, 30)
"""Missing cells, in percent."""


Mechanism = Literal["random", "completely random"]

WORDS: dict[str, Mechanism] = {"mar": "random", "mcar": "completely random"}
"""Mechanisms of `with_gaps` by their abbreviations."""


class TypedDrawn(NamedTuple):
    """Rows with codes of categories and NaN for missing cells, and the graph behind them."""

    true: Graph
    rows: Floats
    categorical: Mask


@dataclass(frozen=True)
class TypedWorkload:
    """A family of graphs and a sample size, like `Workload`, with columns that may be categories or have gaps."""

    name: str
    group: str
    family: str
    """What the graphs and their data are, in a few words."""
    p: int
    n: int
    source: Callable[[Generator], TypedDrawn]
    graphs: int = GRAPHS
    same_as: str = ""
    """The name by which the graphs and draws are seeded, if others share them."""

    def draw(self, seed: int, graph: int) -> TypedDrawn:
        """Return the rows of one graph, columns shuffled; numbers are standardised, codes and gaps stay."""
        generator = simulation_generator(self.same_as or self.name, seed, graph)
        true, rows, categorical = self.source(generator)
        places = generator.permutation(rows.shape[1])
        rows, categorical = rows[:, places], categorical[places]
        numbers = rows[:, ~categorical]
        rows[:, ~categorical] = (numbers - np.nanmean(numbers, axis=0)) / np.nanstd(numbers, axis=0)
        return TypedDrawn(true[np.ix_(places, places)], rows, categorical)


@functools.cache
def network(name: str) -> DiscreteNetwork:
    """Return a discrete network that the package pgmpy brings along."""
    package = find_spec("pgmpy")
    if package is None or not package.submodule_search_locations:
        raise FileError(f"The network {name} comes with the package pgmpy, which is not installed: pip install pgmpy.")
    return discrete_network(Path(package.submodule_search_locations[0]) / "utils" / "example_models" / f"{name}.bif.gz")


def _network(name: str, n: int) -> TypedWorkload:
    def source(generator: Generator) -> TypedDrawn:
        known = network(name)
        return TypedDrawn(known.dag, known.sample(n, generator), np.ones(len(known.names), bool))

    graphs = 1 if NETWORKS[name] > 100 else 5
    return TypedWorkload(f"{name}-n{n}", DISCRETE, f"network {name}", NETWORKS[name], n, source, graphs)


def _mixed(p: int, n: int) -> TypedWorkload:
    def source(generator: Generator) -> TypedDrawn:
        dag = random_dag(p, rng=generator, degree=DEGREE)
        rows = mixed(dag, n, 0.5, (2, 5), generator)
        return TypedDrawn(dag, rows.values, rows.categorical)

    return TypedWorkload(f"mixed-p{p}-n{n}", MIXED, f"degree {DEGREE}, half of the columns categories", p, n, source)


def _missing(mechanism: str, percent: int, p: int, n: int) -> TypedWorkload:
    def source(generator: Generator) -> TypedDrawn:
        sem = linear_sem(random_dag(p, rng=generator, degree=DEGREE), generator)
        rows = sample(sem, n, generator)
        # A generator of its own, so that all shares have the same complete rows and order of columns.
        (own,) = generator.spawn(1)
        if percent:
            rows = with_gaps(rows, percent / 100, own, mechanism=WORDS[mechanism])
        return TypedDrawn(sem.dag, rows, np.zeros(p, bool))

    family = f"degree {DEGREE}, complete"
    if percent:
        family = f"degree {DEGREE}, {percent} % missing {'completely ' if mechanism == 'mcar' else ''}at random"
    name = f"{mechanism}-{percent}-p{p}-n{n}" if percent else f"complete-p{p}-n{n}"
    return TypedWorkload(name, MISSING, family, p, n, source, same_as=f"missing-p{p}-n{n}")


def _nonlinear(curve: str, p: int, n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        dag = random_dag(p, rng=generator, degree=3)
        return Drawn(dag, curved_sample(dag, n, curve, generator))

    return Workload(f"{curve}-p{p}-n{n}", NONLINEAR, f"degree 3, {curve} effects", p, n, source, graphs=GRAPHS)


def _all() -> Iterator[Workload | TypedWorkload]:
    for curve in SMOOTH:
        yield _nonlinear(curve, 20, 1000)
    for name in NETWORKS:
        yield _network(name, 10_000)
    for p, n in ((20, 1000), (50, 1000), (20, 25_000)):
        yield _mixed(p, n)
    yield _missing("mar", 0, 50, 1000)
    for mechanism in WORDS:
        for percent in SHARES:
            yield _missing(mechanism, percent, 50, 1000)


WORKLOADS = {workload.name: workload for workload in _all()}
