"""The contenders, and the program that runs one of them on one data set in a process and environment of its own.

    python contenders.py CONTENDER[=VALUE] ROWS.npy ANSWER.npz

This file is run as it stands inside a peer's environment, so it imports nothing but the standard library and NumPy
before the peer itself. The answer holds a graph (1 at [i, j] for i → j, 2 in both places for i – j) and the seconds of
the call alone, after a warm-up on small data.

Penalties are on one scale: an edge costs λ ln n where the fit is measured as n ln variance. λ is 2 unless a
contender's name says otherwise, and tests are at level 0.001. `TUNED` has the contenders that take another λ or level;
`series` runs these over a range of values.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Graph = NDArray[np.int8]
Answer = Callable[[Floats], Graph]

ALPHA = 1e-3
NONLINEAR_ALPHA = 0.01
"""Level of the tests on nonlinear data: kernel tests have little power at 0.001."""
PENALTY = 2.0

FEW, ENOUGH_COLUMNS = 5, 40
"""Columns of the data to warm up on: for every contender, and at most for those of this package."""


@dataclass(frozen=True)
class Contender:
    """A way to learn a graph: its name, the environment it lives in, and the call."""

    name: str
    home: str
    """Environment: "rfdag" is the one that this package is installed in."""
    package: str
    """Distribution whose version is reported."""
    call: str
    """The call, for people."""
    answer: Answer
    group: str = ""
    """The group of workloads that it is for, if it is not for all of them: on others it is run only where named."""


@dataclass(frozen=True)
class Tuned:
    """Contenders that differ in one value only: the level α of their tests, or the price λ of an edge."""

    name: str
    home: str
    package: str
    call: str
    """The call, for people; {value} and {half} are where the value and half of it stand."""
    answer: Callable[[float], Answer]

    def at(self, value: float, name: str = "", *, group: str = "") -> Contender:
        """Return the contender with that value, under a name of its own if given.

        >>> TUNED["causal-learn-ges"].at(2.0).call
        'ges(X, lambda_value=1.0)'
        """
        call = self.call.format(value=value, half=value / 2)
        return Contender(name or self.name, self.home, self.package, call, self.answer(value), group)


def main() -> None:
    """Warm up, run, save."""
    name, source, target = sys.argv[1:]
    rows = np.load(source)
    name, _, value = name.partition("=")
    contender = TUNED[name].at(float(value)) if value else CONTENDERS[name]
    answer = contender.answer
    # Kernels of rfdag are loaded when they are needed, and which ones are depends on the size.
    warm_up(answer, min(rows.shape[1], ENOUGH_COLUMNS) if contender.home == "rfdag" else FEW)
    # Imports and compilation are over; from now on the time limit counts.
    open(f"{target}.started", "wb").close()
    start = time.perf_counter()
    graph = answer(rows)
    seconds = time.perf_counter() - start
    save(target, graph, seconds)


def warm_up(answer: Answer, columns: int = FEW) -> None:
    """Have a contender import and compile what it needs, by calls on small data.

    What it needs may depend on the number of ``columns``, and on whether few or many of them are neighbours.
    """
    # Some peers break ties at random and take no seed.
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    generator = np.random.default_rng(0)
    answer(generator.normal(size=(100, FEW)))
    if columns > FEW:
        apart = generator.normal(size=(5 * columns, columns))
        answer(apart)
        answer(apart @ np.triu(generator.uniform(0.5, 1.0, size=(columns, columns))))


def save(target: str, graph: Graph, seconds: float, **more: NDArray[Any]) -> None:
    """Write an answer, and ``more`` arrays with it; a file that is there is whole, whenever the process is ended."""
    unfinished, content = f"{target}.part", {"graph": graph, "seconds": np.array(seconds), **more}
    with open(unfinished, "wb") as handle:
        np.savez(handle, allow_pickle=False, **content)
    os.replace(unfinished, target)


def _rfdag(**options: Any) -> Answer:
    def answer(rows: Floats) -> Graph:
        import rfdag

        # Peers ask this variable, too: so one setting keeps all of them to one thread.
        threads = os.environ.get("OMP_NUM_THREADS")
        return rfdag.learn(rows, progress=False, n_jobs=int(threads) if threads else None, **options).dag

    return answer


def _flop(restarts: int, penalty: float) -> Answer:
    def answer(rows: Floats) -> Graph:
        import flopsearch

        return np.asarray(flopsearch.flop(rows, penalty, restarts=restarts), np.int8)

    return answer


def _tetrad(algorithm: str, option: str) -> Callable[[float], Answer]:
    def tuned(value: float) -> Answer:
        def answer(rows: Floats) -> Graph:
            import tetrad_port

            names = [str(column) for column in range(rows.shape[1])]
            found = getattr(tetrad_port, f"run_{algorithm}_raw")(np.asfortranarray(rows), names, **{option: value})
            return _from_marks(len(names), found.edges)

        return answer

    return tuned


def _causal_learn_boss(rows: Floats) -> Graph:
    from causallearn.search.PermutationBased.BOSS import boss

    return from_endpoints(boss(rows, parameters={"lambda_value": PENALTY / 2}, verbose=False).graph)


def _causal_learn_ges(penalty: float) -> Answer:
    def answer(rows: Floats) -> Graph:
        from causallearn.search.ScoreBased.GES import ges

        return from_endpoints(ges(rows, lambda_value=penalty / 2)["G"].graph)

    return answer


def _causal_learn_pc(alpha: float, test: str = "fisherz") -> Answer:
    def answer(rows: Floats) -> Graph:
        from causallearn.search.ConstraintBased.PC import pc

        return from_endpoints(pc(rows, alpha=alpha, indep_test=test, stable=True, show_progress=False).G.graph)

    return answer


def _ges(rows: Floats) -> Graph:
    import ges
    from ges.scores.gauss_obs_l0_pen import GaussObsL0Pen

    score = GaussObsL0Pen(rows, lmbda=PENALTY / 2 * math.log(len(rows)))
    return from_mutual(ges.fit(score)[0])


def _xges(rows: Floats) -> Graph:
    from xges import XGES

    search = XGES(alpha=PENALTY)
    search.fit(rows, verbose=0)
    return from_mutual(search.get_adjacency_matrix())


def _causaldag_gsp(alpha: float) -> Answer:
    def answer(rows: Floats) -> Graph:
        from causaldag import gsp

        return _from_pairs(rows.shape[1], gsp(set(range(rows.shape[1])), _fisher_z(rows, alpha)).arcs)

    return answer


def _causaldag_min_degree(alpha: float) -> Answer:
    def answer(rows: Floats) -> Graph:
        from causaldag import permutation2dag, threshold_ug
        from graphical_model_learning.algorithms.dag.gsp import min_degree_alg_amat

        tester = _fisher_z(rows, alpha)
        order = min_degree_alg_amat(threshold_ug(set(range(rows.shape[1])), tester).to_amat())
        return _from_pairs(rows.shape[1], permutation2dag(order, tester).arcs)

    return answer


def _causaldag_pc(rows: Floats) -> Graph:
    from causaldag import pcalg

    found = pcalg(set(range(rows.shape[1])), _fisher_z(rows, ALPHA))
    return _from_pairs(rows.shape[1], found.arcs, found.edges)


def _fisher_z(rows: Floats, alpha: float) -> Any:
    from causaldag import MemoizedCI_Tester, partial_correlation_suffstat, partial_correlation_test

    return MemoizedCI_Tester(partial_correlation_test, partial_correlation_suffstat(rows), alpha=alpha)


def _direct_lingam(rows: Floats) -> Graph:
    from lingam import DirectLiNGAM

    # lingam indexes [effect, cause].
    return (DirectLiNGAM().fit(rows).adjacency_matrix_.T != 0).astype(np.int8)


def from_endpoints(endpoints: NDArray[Any]) -> Graph:
    """Translate causal-learn's marks: −1 (tail) at [i, j] and 1 (arrow) at [j, i] mean i → j.

    Two arrowheads or a circle mean that the direction is undecided, and count as undirected.
    """
    directed = (endpoints == -1) & (endpoints.T == 1)
    adjacent = (endpoints != 0) | (endpoints.T != 0)
    return (directed + 2 * (adjacent & ~directed & ~directed.T)).astype(np.int8)


def from_mutual(matrix: NDArray[Any]) -> Graph:
    """Translate a matrix in which i – j is a non-zero at both [i, j] and [j, i]."""
    there = matrix != 0
    return there.astype(np.int8) + (there & there.T)


def _from_marks(p: int, edges: Iterable[str]) -> Graph:
    """Translate Tetrad's notation, as in "3 --> 7"."""
    graph = np.zeros((p, p), np.int8)
    for edge in edges:
        first, mark, second = edge.split()
        i, j = int(first), int(second)
        if mark == "-->":
            graph[i, j] = 1
        elif mark == "<--":
            graph[j, i] = 1
        else:
            graph[i, j] = graph[j, i] = 2
    return graph


def _from_pairs(p: int, arcs: Iterable[tuple[int, int]], edges: Iterable[Iterable[int]] = ()) -> Graph:
    graph = np.zeros((p, p), np.int8)
    for i, j in arcs:
        graph[i, j] = 1
    for i, j in edges:
        graph[i, j] = graph[j, i] = 2
    return graph


# fmt: off
TUNED = {
    tuned.name: tuned
    for tuned in (
        Tuned(
            "rfdag-rfd", "rfdag", "rfdag", 'learn(X, method="rfd", alpha={value})',
            lambda alpha: _rfdag(method="rfd", alpha=alpha),
        ),
        Tuned(
            "rfdag-min-degree", "rfdag", "rfdag", 'learn(X, method="min-degree", alpha={value})',
            lambda alpha: _rfdag(method="min-degree", alpha=alpha),
        ),
        Tuned(
            "rfdag-gsp", "rfdag", "rfdag", 'learn(X, method="gsp", alpha={value})',
            lambda alpha: _rfdag(method="gsp", alpha=alpha),
        ),
        Tuned(
            "rfdag-soft", "rfdag", "rfdag", "learn(X, penalty={value})", lambda penalty: _rfdag(penalty=penalty),
        ),
        Tuned(
            "rfdag-20", "rfdag", "rfdag", "learn(X, restarts=20, penalty={value})",
            lambda penalty: _rfdag(restarts=20, penalty=penalty),
        ),
        Tuned(
            "flop-0", "flopsearch", "flopsearch", "flop(X, {value}, restarts=0)", lambda penalty: _flop(0, penalty),
        ),
        Tuned(
            "flop-20", "flopsearch", "flopsearch", "flop(X, {value}, restarts=20)", lambda penalty: _flop(20, penalty),
        ),
        *(
            Tuned(
                f"tetrad-{algorithm}", "tetrad-port", "tetrad-port",
                f"run_{algorithm}_raw(X, names, penalty_discount={{value}})",
                _tetrad(algorithm, "penalty_discount"),
            )
            for algorithm in ("boss", "grasp", "fges")
        ),
        Tuned(
            "tetrad-pc", "tetrad-port", "tetrad-port", "run_pc_raw(X, names, alpha={value})",
            _tetrad("pc", "alpha"),
        ),
        Tuned(
            "causal-learn-ges", "causal-learn", "causal-learn", "ges(X, lambda_value={half})", _causal_learn_ges,
        ),
        Tuned(
            "causal-learn-pc", "causal-learn", "causal-learn",
            'pc(X, alpha={value}, indep_test="fisherz", stable=True)', _causal_learn_pc,
        ),
        Tuned("causaldag-gsp", "causaldag", "causaldag", "gsp(nodes, Fisher's z at {value})", _causaldag_gsp),
        Tuned(
            "causaldag-min-degree", "causaldag", "causaldag",
            "permutation2dag(min_degree_alg_amat(threshold_ug(…)), Fisher's z at {value})", _causaldag_min_degree,
        ),
    )
}

CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("rfdag", "rfdag", "rfdag", "learn(X)", _rfdag()),
        Contender("rfdag-20", "rfdag", "rfdag", "learn(X, restarts=20)", _rfdag(restarts=20)),
        Contender("rfdag-gamma-0", "rfdag", "rfdag", "learn(X, gamma=0)", _rfdag(gamma=0), "restarts"),
        TUNED["rfdag-rfd"].at(ALPHA),
        *(TUNED[name].at(PENALTY) for name in ("flop-0", "flop-20", "tetrad-boss", "tetrad-grasp", "tetrad-fges")),
        TUNED["tetrad-pc"].at(ALPHA),
        Contender(
            "causal-learn-boss", "causal-learn", "causal-learn", 'boss(X, parameters={"lambda_value": 1.0})',
            _causal_learn_boss,
        ),
        TUNED["causal-learn-ges"].at(PENALTY),
        TUNED["causal-learn-pc"].at(ALPHA),
        Contender("ges", "ges", "ges", "fit(GaussObsL0Pen(X, lmbda=log(n)))", _ges),
        Contender("xges", "xges", "xges", "XGES(alpha=2.0).fit(X)", _xges),
        TUNED["causaldag-gsp"].at(ALPHA),
        TUNED["causaldag-min-degree"].at(ALPHA),
        Contender("causaldag-pc", "causaldag", "causaldag", "pcalg(nodes, Fisher's z at 0.001)", _causaldag_pc),
        Contender("direct-lingam", "lingam", "lingam", "DirectLiNGAM().fit(X)", _direct_lingam),
        *(
            Contender(
                f"rfdag-{name}", "rfdag", "rfdag", f'learn(X, correlation="{name}")', _rfdag(correlation=name),
                group="monotone",
            )
            for name in ("normal-scores", "spearman", "kendall")
        ),
        *(
            Contender(
                f"rfdag-{name}", "rfdag", "rfdag", f'learn(X, test="{name}", alpha={NONLINEAR_ALPHA})',
                _rfdag(test=name, alpha=NONLINEAR_ALPHA), group="nonlinear",
            )
            for name in ("kci", "rcit", "fisher-z")
        ),
        *(
            Contender(
                f"causal-learn-pc-{name}", "causal-learn", "causal-learn",
                f'pc(X, alpha={NONLINEAR_ALPHA}, indep_test="{name}", stable=True)',
                _causal_learn_pc(NONLINEAR_ALPHA, name), group="nonlinear",
            )
            for name in ("kci", "rcit", "fisherz")
        ),
        TUNED["rfdag-20"].at(1.0, "rfdag-20-penalty-1", group="small"),
        TUNED["flop-20"].at(1.0, "flop-20-penalty-1", group="small"),
        TUNED["tetrad-boss"].at(1.0, "tetrad-boss-penalty-1", group="small"),
    )
}
# fmt: on


if __name__ == "__main__":
    main()
