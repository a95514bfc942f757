"""Algorithm 1: remove variables from the moral graph one by one until none is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.engine import Engine, Integers, Removal
from rfdag.eliminate.search import Choice, choose, position_of
from rfdag.eliminate.trace import Trace
from rfdag.knowledge.constraints import Constraints

EDGES_UP_TO = 200
"""Number of variables up to which the trace lists the edges that each step removed and filled."""


@dataclass(frozen=True)
class Elimination:
    """An order, a source first, the DAG that it induces, and the trace of its steps."""

    order: Integers
    dag: NDArray[np.int8]
    trace: Trace


def eliminate(
    engine: Engine,
    rule: str = "rfd",
    *,
    depth: int = 1,
    max_paths: int = 1000,
    generator: np.random.Generator | None = None,
    report: Callable[[float], None] = lambda share: None,
    constraints: Constraints | None = None,
) -> Elimination:
    """Remove all variables and return the order, the minimal I-MAP it induces and the trace.

    The parents of a variable are its neighbours in the moral subgraph when it is removed: the remaining variables are
    then exactly its predecessors, and a neighbour is one that depends on it given all the others. So the minimal I-MAP
    D_π of Section 2 is obtained together with the order.

    ``report`` is called with the share of the work done, between 0 and 1, and may raise. The order obeys
    ``constraints``; the DAG does not take into account which neighbours they allow as parents.
    """
    if rule == "random" and generator is None:
        generator = np.random.default_rng(0)
    total = len(engine.remaining)
    dag = np.zeros((total, total), np.int8)
    with_edges = total <= EDGES_UP_TO
    removals: list[Removal] = []
    choices: list[Choice] = []
    search_of: list[int] = []
    done = 0.0
    while len(engine.remaining):
        choice = choose(engine, rule, depth, max_paths, generator, constraints, partial(report, done))
        for variable in choice.variables:
            happened = engine.remove(position_of(engine, variable), with_edges=with_edges)
            dag[happened.parents, variable] = 1
            removals.append(happened)
            search_of.append(len(choices))
        choices.append(choice)
        done = 1 - (len(engine.remaining) / total) ** 3
        report(done)
    return Elimination(
        order=np.array([happened.variable for happened in reversed(removals)]),
        dag=dag,
        trace=_trace(removals, choices, search_of),
    )


def replay(engine: Engine, order: Integers, report: Callable[[float], None] = lambda share: None) -> Elimination:
    """Eliminate in a given order, the last variable first, and record the steps; report the share done."""
    removals = []
    total = len(order)
    dag = np.zeros((total, total), np.int8)
    for variable in order[::-1]:
        happened = engine.remove(position_of(engine, int(variable)), with_edges=total <= EDGES_UP_TO)
        dag[happened.parents, variable] = 1
        removals.append(happened)
        report(1 - (len(engine.remaining) / total) ** 3)
    choices = [Choice((happened.variable,), ties=1, capped=False) for happened in removals]
    return Elimination(order.copy(), dag, _trace(removals, choices, list(range(total))))


def _trace(removals: list[Removal], choices: list[Choice], search_of: list[int]) -> Trace:
    removed = [happened.removed for happened in removals if happened.removed is not None]
    filled = [happened.filled for happened in removals if happened.filled is not None]
    recorded = len(removed) == len(removals)
    return Trace(
        node=np.array([happened.variable for happened in removals]),
        removal=np.array([happened.removal for happened in removals]),
        fill=np.array([happened.fill for happened in removals]),
        degree=np.array([len(happened.parents) for happened in removals]),
        ties=np.array([choices[search].ties for search in search_of]),
        threshold=np.array([happened.threshold for happened in removals]),
        search=np.array(search_of),
        removed_edges=tuple(removed) if recorded else None,
        filled_edges=tuple(filled) if recorded else None,
        smallest_margin=float(min(happened.margin for happened in removals)),
        capped=sum(choice.capped for choice in choices),
        neighbours=tuple(happened.parents for happened in removals) if recorded else None,
    )
