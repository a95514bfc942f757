"""The workloads: families of graphs with a size and a number of rows, each with the draw that makes its data."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rfdag import datasets
from rfdag.errors import OptionError
from rfdag.graphs.dag import Graph, topological_order
from rfdag.simulate import LinearSEM, linear_sem, random_dag, sample, scale_free_dag, standardise
from rfdag.studies.bench.additive import CURVES, additive_sample
from rfdag.studies.bench.transforms import monotone

Floats = NDArray[np.float64]
Generator = np.random.Generator

GRAPHS = 5
"""Graphs of a workload unless it has its own number."""

QUICK = "quick"
"""The workload that is run when none is named."""


class Drawn(NamedTuple):
    """Rows to learn from, and the graph behind them where it is known."""

    true: Graph | None
    rows: Floats


@dataclass(frozen=True)
class Workload:
    """A family of graphs and a sample size."""

    name: str
    group: str
    family: str
    """What the graphs and their data are, in a few words."""
    p: int
    n: int
    source: Callable[[Generator], Drawn]
    graphs: int = GRAPHS
    same_as: str = ""
    """The workload with the same graphs and draws, if they are those of another."""

    def draw(self, seed: int, graph: int) -> Drawn:
        """Return the rows of one graph, columns shuffled and standardised, so that place and scale tell nothing."""
        generator = simulation_generator(self.same_as or self.name, seed, graph)
        true, rows = self.source(generator)
        places = generator.permutation(rows.shape[1])
        rows = rows[:, places]
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        return Drawn(None if true is None else true[np.ix_(places, places)], rows)


class Grouped(Protocol):
    """What has a name and belongs to a group."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def group(self) -> str:
        """The name of the group."""


Load = TypeVar("Load", bound=Grouped)
"""A kind of workload."""


def simulation_generator(name: str, seed: int, number: int) -> Generator:
    """Return the generator that draws one graph and its data.

    Its stream is never one that a search draws from. A search is seeded with a single integer (0 unless
    ``random_state`` says otherwise), and NumPy pads such a seed with zeros: ``default_rng([0, 0, 0])`` is
    ``default_rng(0)``. The checksum of the name keeps the second number from being zero.

    >>> simulation_generator("quick", 0, 0).random() == np.random.default_rng(0).random()
    False
    """
    return np.random.default_rng([seed, zlib.crc32(name.encode()), number])


def chosen(names: Iterable[str]) -> list[Workload]:
    """Return the workloads of that name or in a group of that name, each once.

    >>> [workload.name for workload in chosen(["sachs"])]
    ['sachs-log', 'sachs-raw']
    """
    return chosen_among(WORKLOADS, names)


def chosen_among(known: Mapping[str, Load], names: Iterable[str]) -> list[Load]:
    """Return those of the known workloads that have that name or are in a group of that name, each once."""
    found: dict[str, Load] = {}
    for name in names:
        of_name = [workload for workload in known.values() if name in (workload.name, workload.group)]
        if not of_name:
            groups = dict.fromkeys(workload.group for workload in known.values())
            raise OptionError(
                f"There is no workload {name!r}. Known are the groups {', '.join(groups)} and the workloads "
                f"{', '.join(known)}."
            )
        found |= {workload.name: workload for workload in of_name}
    return list(found.values())


def _drawn_from(n: int, model: Callable[[Generator], LinearSEM]) -> Callable[[Generator], Drawn]:
    def source(generator: Generator) -> Drawn:
        sem = model(generator)
        return Drawn(sem.dag, sample(sem, n, generator))

    return source


def _erdos_renyi(name: str, group: str, p: int, n: int, **size: float) -> Workload:
    def model(generator: Generator) -> LinearSEM:
        return linear_sem(random_dag(p, rng=generator, **size), generator)  # type: ignore[arg-type]

    if "degree" in size:
        family = f"degree {size['degree']:g}"
    else:
        family = "density 1/2" if size["density"] == 0.5 else "density 2/p"
    return Workload(f"{name}-p{p}-n{n}", group, family, p, n, _drawn_from(n, model))


def _monotone(name: str, p: int, n: int) -> Iterator[Workload]:
    """Yield a sparse workload with every column transformed, and beside it the same as drawn, to compare with."""
    plain = _erdos_renyi(name, "monotone", p, n, degree=8)

    def source(generator: Generator) -> Drawn:
        # A generator of its own, so that what is drawn after the rows stays the same.
        (own,) = generator.spawn(1)
        drawn = plain.source(generator)
        return Drawn(drawn.true, monotone(drawn.rows, own))

    family = "degree 8, columns transformed"
    yield Workload(f"monotone-p{p}-n{n}", "monotone", family, p, n, source, same_as=plain.name)
    family = "degree 8, the same as drawn"
    yield Workload(f"untransformed-p{p}-n{n}", "monotone", family, p, n, plain.source, same_as=plain.name)


def _nonlinear(curve: str, p: int, n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        dag = random_dag(p, rng=generator, degree=3)
        return Drawn(dag, additive_sample(dag, n, curve, generator))

    return Workload(f"{curve}-p{p}-n{n}", "nonlinear", f"degree 3, {curve} effects", p, n, source, graphs=10)


def _robust(name: str, family: str, model: Callable[[Generator], LinearSEM]) -> Workload:
    return Workload(f"{name}-p100-n1000", "robust", family, 100, 1000, _drawn_from(1000, model))


def _degree_8(generator: Generator) -> Graph:
    return random_dag(100, rng=generator, degree=8)


def _scale_free(m: int, generator: Generator) -> LinearSEM:
    return linear_sem(scale_free_dag(100, m, generator), generator)


def _hubs(generator: Generator) -> LinearSEM:
    """Return a model of degree 2 with five hubs, each of which is adjacent to 20 more variables."""
    p, hubs, neighbours = 100, 5, 20
    dag = random_dag(p, rng=generator, degree=2)
    place = np.argsort(topological_order(dag))
    for hub in range(hubs):
        for other in generator.choice(np.delete(np.arange(p), hub), neighbours, replace=False).tolist():
            first, last = sorted((hub, other), key=place.__getitem__)
            dag[first, last] = 1
    return linear_sem(dag, generator)


def _internally_standardised(generator: Generator) -> LinearSEM:
    return standardise(linear_sem(_degree_8(generator), generator))


def _random_r2(generator: Generator) -> LinearSEM:
    return standardise(linear_sem(_degree_8(generator), generator), generator.uniform(0.2, 0.9, 100))


def _unequal_variances(generator: Generator) -> LinearSEM:
    return linear_sem(_degree_8(generator), generator, variances=generator.uniform(0.5, 2.0, 100))


def _weak_weights(generator: Generator) -> LinearSEM:
    return linear_sem(_degree_8(generator), generator, weights=(0.1, 0.5))


def _network(name: str, load: Callable[[], datasets.Network], p: int, n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        network = load()
        return Drawn(network.sem.dag, network.sample(n, generator).values)

    return Workload(f"{name.lower()}-n{n}", "networks", name, p, n, source)


def _sachs(name: str, family: str, *, raw: bool) -> Workload:
    def source(_: Generator) -> Drawn:
        return Drawn(datasets.sachs_truth(), datasets.sachs(raw=raw).values)

    return Workload(name, "sachs", family, 11, 7466, source)


def _all() -> Iterable[Workload]:
    quick = _erdos_renyi(QUICK, QUICK, 15, 500, degree=4)
    yield Workload(QUICK, QUICK, quick.family, quick.p, quick.n, quick.source, graphs=1)
    for p, n in ((100, 1000), (200, 1000), (60, 300)):
        yield _erdos_renyi("degree8", "sparse", p, n, degree=8)
    for p, n in ((100, 1000), (200, 1000), (60, 300)):
        yield from _monotone("degree8", p, n)
    for p, rows_a_variable in (*((p, 20) for p in (20, 40, 60, 80, 100)), (50, 60), (100, 60), (50, 10)):
        yield _erdos_renyi("dense", "dense", p, rows_a_variable * p, density=0.5)
    for n in (100, 200):
        yield _erdos_renyi("degree4", "few-rows", 200, n, degree=4)
    yield _erdos_renyi("dense", "small", 20, 40, density=0.5)
    yield _erdos_renyi("sparse", "small", 20, 40, density=0.1)
    for p in (10, 15):
        for curve in CURVES:
            yield _nonlinear(curve, p, 500)
    for m in (2, 4):
        yield _robust(f"scale-free{m}", f"scale-free, m = {m}", functools.partial(_scale_free, m))
    yield _robust("hubs", "hubs: degree 2, five of 20 and more", _hubs)
    yield _robust("iscm", "degree 8, internally standardised", _internally_standardised)
    yield _robust("r2", "degree 8, R² from U(.2, .9)", _random_r2)
    yield _robust("unequal", "degree 8, noise variances from U(.5, 2)", _unequal_variances)
    yield _robust("weak", "degree 8, weights ±[.1, .5]", _weak_weights)
    for n in (150, 500, 5000):
        yield _network("ECOLI70", datasets.ecoli70, 46, n)
    for n in (150, 500, 5000):
        yield _network("MAGIC-NIAB", datasets.magic_niab, 44, n)
    yield _sachs("sachs-log", "Sachs, log(x + 10)", raw=False)
    yield _sachs("sachs-raw", "Sachs, as measured", raw=True)


WORKLOADS = {workload.name: workload for workload in _all()}
