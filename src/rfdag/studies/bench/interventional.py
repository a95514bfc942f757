"""Contenders that are told which rows belong to which experiment, and the program that runs one of them.

    python interventional.py CONTENDER ROWS.npy ANSWER.npz

Beside the rows there is ``environments.json``: the label of each row's environment, and the numbers of the columns that
each environment targets. Like `contenders`, which see for the answer and the penalties, this file is run as it stands
inside a peer's environment. The answer of a contender that finds targets has them, too, as pairs of the number of an
environment and that of a column.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Graph = NDArray[np.int8]
Targets = dict[str, tuple[int, ...]]

ALPHA = 1e-3
FEW, ENOUGH_COLUMNS = 5, 40
"""Columns of the data to warm up on: for every contender, and at most for those of this package."""
INTERVENTIONAL = "interventional"
"""The group of workloads on which only these contenders run, unless others are named."""
BESIDE = "environments.json"
"""The file beside the rows that has labels and targets."""


class Experiment(NamedTuple):
    """Rows of several environments."""

    rows: Floats
    labels: list[str]
    """The environment of each row."""
    targets: Targets
    """The columns that each environment targets."""

    @property
    def observational(self) -> list[str]:
        """The environments without targets."""
        return [label for label, columns in self.targets.items() if not columns]

    def among(self, labels: list[str]) -> Floats:
        """Return the rows of some environments."""
        return self.rows[np.isin(self.labels, labels)]


class Learned(NamedTuple):
    """A graph, and the targets of a contender that finds them."""

    graph: Graph
    targets: Targets | None = None


InterventionalAnswer = Callable[[Experiment], Learned]


@dataclass(frozen=True)
class InterventionalContender:
    """A way to learn a graph from rows of several environments."""

    name: str
    home: str
    """Environment of Python: "rfdag" is the one that this package is installed in."""
    package: str
    """Distribution whose version is reported."""
    call: str
    """The call, for people; E are the labels of the rows, T the targets, and Xₑ the rows of environment e."""
    answer: InterventionalAnswer


def main() -> None:
    """Warm up, run, save."""
    name, source, target = sys.argv[1:]
    given = json.loads(Path(source).with_name(BESIDE).read_text(encoding="utf-8"))
    targets = {label: tuple(columns) for label, columns in given["targets"].items()}
    experiment = Experiment(np.load(source), given["labels"], targets)
    contender = CONTENDERS[name]
    warm_up(contender, experiment.rows.shape[1])
    open(f"{target}.started", "wb").close()
    start = time.perf_counter()
    learned = contender.answer(experiment)
    seconds = time.perf_counter() - start
    found = {} if learned.targets is None else {"targets": as_pairs(learned.targets, list(targets))}
    _neighbour("contenders").save(target, learned.graph, seconds, **found)


def as_pairs(targets: Targets, labels: list[str]) -> NDArray[np.int64]:
    """Return targets as an array: in each row the number of an environment and that of a column.

    >>> as_pairs({"drug": (0, 2)}, ["control", "drug"])
    array([[1, 0],
           [1, 2]])
    """
    pairs = [(labels.index(label), column) for label, columns in targets.items() for column in columns]
    return np.array(pairs, np.int64).reshape(-1, 2)


def from_pairs(pairs: NDArray[np.int64], labels: list[str]) -> Targets:
    """Return the targets of each environment from such an array."""
    return {label: tuple(pairs[pairs[:, 0] == number, 1].tolist()) for number, label in enumerate(labels)}


def warm_up(contender: InterventionalContender, columns: int) -> None:
    """Have a contender import and compile what it needs, by calls on small data."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    generator = np.random.default_rng(0)
    contender.answer(similar(FEW, generator))
    columns = min(columns, ENOUGH_COLUMNS)
    if contender.home == "rfdag" and columns > FEW:
        contender.answer(similar(columns, generator))


def similar(columns: int, generator: np.random.Generator) -> Experiment:
    """Return small data of a chain: as it is, and with the first or second variable shifted."""
    counts = {"observational": 100 + 5 * columns, "first": 60, "second": 60}
    labels = [label for label, count in counts.items() for _ in range(count)]
    noise = generator.normal(size=(len(labels), columns))
    for column, label in enumerate(("first", "second")):
        noise[np.array(labels) == label, column] += 3.0
    rows = noise @ np.linalg.inv(np.eye(columns) - 0.7 * np.eye(columns, k=1))
    return Experiment(rows, labels, {"observational": (), "first": (0,), "second": (1,)})


def _learn(rows: Floats, **options: Any) -> Any:
    import rfdag

    threads = os.environ.get("OMP_NUM_THREADS")
    return rfdag.learn(rows, progress=False, n_jobs=int(threads) if threads else None, **options)


def _rfdag_targets(experiment: Experiment) -> Learned:
    targets = {label: list(columns) for label, columns in experiment.targets.items()}
    return Learned(_learn(experiment.rows, environments=np.array(experiment.labels), targets=targets).icpdag)


def _rfdag_unknown(experiment: Experiment) -> Learned:
    result = _learn(
        experiment.rows,
        environments=np.array(experiment.labels),
        targets="unknown",
        observational=experiment.observational,
    )
    number = {name: at for at, name in enumerate(result.names)}
    found = {label: tuple(number[name] for name in names) for label, names in result.targets.items()}
    return Learned(result.icpdag, found)


def _rfdag_observational(experiment: Experiment) -> Learned:
    return Learned(_learn(experiment.among(experiment.observational)).cpdag)


def _rfdag_pooled(experiment: Experiment) -> Learned:
    return Learned(_learn(experiment.rows).cpdag)


def _flop_observational(experiment: Experiment) -> Learned:
    return _flop(experiment.among(experiment.observational))


def _flop_pooled(experiment: Experiment) -> Learned:
    return _flop(experiment.rows)


def _flop(rows: Floats) -> Learned:
    import flopsearch

    return Learned(np.asarray(flopsearch.flop(rows, 2.0, restarts=20), np.int8))


def _gies(experiment: Experiment) -> Learned:
    import gies
    from gies.scores.gauss_int_l0_pen import GaussIntL0Pen

    rows = [experiment.among([label]) for label in experiment.targets]
    targets = [list(columns) for columns in experiment.targets.values()]
    score = GaussIntL0Pen(rows, targets, lmbda=math.log(len(experiment.rows)))
    return Learned(_neighbour("contenders").from_mutual(gies.fit(score)[0]))


def _gnies(experiment: Experiment) -> Learned:
    import gnies

    rows = [experiment.among([label]) for label in experiment.targets]
    # The variables that it returns are those targeted anywhere: not in which environment.
    _, graph, _ = gnies.fit(rows, lmbda=math.log(len(experiment.rows)), center=False)
    return Learned(_neighbour("contenders").from_mutual(graph))


def _causaldag_igsp(experiment: Experiment) -> Learned:
    from causaldag import igsp

    nodes, independence, invariance, changed = _causaldag(experiment)
    settings = [{"interventions": set(experiment.targets[label])} for label in changed]
    return Learned(_from_arcs(igsp(settings, nodes, independence, invariance).arcs, len(nodes)))


def _causaldag_ut_igsp(experiment: Experiment) -> Learned:
    from causaldag import unknown_target_igsp

    nodes, independence, invariance, changed = _causaldag(experiment)
    settings: list[dict[str, set[int]]] = [{"known_interventions": set()} for _ in changed]
    dag, found = unknown_target_igsp(settings, nodes, independence, invariance)
    targets = {label: tuple(sorted(map(int, columns))) for label, columns in zip(changed, found, strict=True)}
    return Learned(_from_arcs(dag.arcs, len(nodes)), dict.fromkeys(experiment.targets, ()) | targets)


def _causaldag(experiment: Experiment) -> tuple[set[int], Any, Any, list[str]]:
    """Return what both algorithms ask for: nodes, the two tests, and the environments that are not observational."""
    from causaldag import (
        MemoizedCI_Tester,
        MemoizedInvarianceTester,
        gauss_invariance_suffstat,
        gauss_invariance_test,
        partial_correlation_suffstat,
        partial_correlation_test,
    )

    observed = experiment.among(experiment.observational)
    changed = [label for label, columns in experiment.targets.items() if columns]
    independence = MemoizedCI_Tester(partial_correlation_test, partial_correlation_suffstat(observed), alpha=ALPHA)
    known = gauss_invariance_suffstat(observed, [experiment.among([label]) for label in changed])
    invariance = MemoizedInvarianceTester(gauss_invariance_test, known, alpha=ALPHA)
    return set(range(experiment.rows.shape[1])), independence, invariance, changed


def _from_arcs(arcs: Any, p: int) -> Graph:
    graph = np.zeros((p, p), np.int8)
    for i, j in arcs:
        graph[i, j] = 1
    return graph


# fmt: off
CONTENDERS = {
    contender.name: contender
    for contender in (
        InterventionalContender(
            "rfdag-targets", "rfdag", "rfdag", "learn(X, environments=E, targets=T)", _rfdag_targets,
        ),
        InterventionalContender(
            "rfdag-unknown", "rfdag", "rfdag",
            'learn(X, environments=E, targets="unknown", observational=["observational"])', _rfdag_unknown,
        ),
        InterventionalContender(
            "rfdag-observational", "rfdag", "rfdag", "learn(X), observational rows", _rfdag_observational,
        ),
        InterventionalContender("rfdag-pooled", "rfdag", "rfdag", "learn(X), all rows", _rfdag_pooled),
        InterventionalContender("gies", "gies", "gies", "fit(GaussIntL0Pen([X₀, …], T, lmbda=log(n)))", _gies),
        InterventionalContender("gnies", "gnies", "gnies", "fit([X₀, …], lmbda=log(n), center=False)", _gnies),
        InterventionalContender(
            "causaldag-igsp", "causaldag", "causaldag", f"igsp(T, nodes, tests at {ALPHA})", _causaldag_igsp,
        ),
        InterventionalContender(
            "causaldag-ut-igsp", "causaldag", "causaldag", f"unknown_target_igsp(nodes, tests at {ALPHA})",
            _causaldag_ut_igsp,
        ),
        InterventionalContender(
            "flop-20-observational", "flopsearch", "flopsearch", "flop(X, 2.0, restarts=20), observational rows",
            _flop_observational,
        ),
        InterventionalContender(
            "flop-20-pooled", "flopsearch", "flopsearch", "flop(X, 2.0, restarts=20), all rows", _flop_pooled,
        ),
    )
}
# fmt: on


def _neighbour(name: str) -> Any:
    """Import a file beside this one; its folder stays off the path, where it would hide modules of the peer."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"There is no {name}.py beside {__file__}.")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
