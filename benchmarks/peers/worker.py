"""Runs one contender on one data set, in a process and environment of its own.

    python worker.py CONTENDER DATA.npy ANSWER.npz

The answer holds a graph (1 at [i, j] for i → j, 2 in both places for i – j) and the seconds of the call alone, after
a warm-up on small data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Graph = NDArray[Any]


def rfdag(**options: Any) -> Callable[[Floats], Graph]:
    """Return rfdag with some options."""

    def answer(rows: Floats) -> Graph:
        import rfdag as package

        return package.learn(rows, progress=False, **options).dag

    return answer


def flop(restarts: int) -> Callable[[Floats], Graph]:
    """Return FLOP with λ = 2."""

    def answer(rows: Floats) -> Graph:
        import flopsearch

        return flopsearch.flop(rows, 2.0, restarts=restarts)

    return answer


def _of_causal_learn(endpoints: Graph) -> Graph:
    """Translate causal-learn's endpoints: −1 at [i, j] and 1 at [j, i] mean i → j."""
    graph = np.zeros(endpoints.shape, np.int8)
    graph[(endpoints == -1) & (endpoints.T == 1)] = 1
    graph[(endpoints == -1) & (endpoints.T == -1)] = 2
    return graph


def causal_learn_boss(rows: Floats) -> Graph:
    """Run causal-learn's BOSS with its λ set to the same price of an edge as ours."""
    from causallearn.search.PermutationBased.BOSS import boss

    return _of_causal_learn(boss(rows, parameters={"lambda_value": 1.0}, verbose=False).graph)


def causal_learn_pc(rows: Floats) -> Graph:
    """Run causal-learn's PC with Fisher's z-test."""
    from causallearn.search.ConstraintBased.PC import pc

    found = pc(rows, alpha=0.001, indep_test="fisherz", stable=True, show_progress=False)
    return _of_causal_learn(found.G.graph)


CONTENDERS: dict[str, Callable[[Floats], Graph]] = {
    "rfdag": rfdag(),
    "rfdag, 20 restarts": rfdag(restarts=20),
    "flopsearch, 0 restarts": flop(0),
    "flopsearch, 20 restarts": flop(20),
    "causal-learn BOSS": causal_learn_boss,
    "causal-learn PC": causal_learn_pc,
}


def main() -> None:
    """Warm up, run, save."""
    name, source, target = sys.argv[1:]
    rows = np.load(source)
    contender = CONTENDERS[name]
    contender(np.random.default_rng(0).normal(size=(100, 5)))
    start = time.perf_counter()
    graph = np.asarray(contender(rows))
    seconds = time.perf_counter() - start
    np.savez(target, graph=graph, seconds=seconds)


if __name__ == "__main__":
    main()
