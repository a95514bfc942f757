"""Interventional equivalence: which directions experiments reveal beyond those that independences do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, as_dag, check_nodes
from rfdag.graphs.equivalence import cpdag
from rfdag.graphs.meek import Edge, Oriented
from rfdag.graphs.sparse import issparse
from rfdag.values import is_iterable, switch

Targets = Collection[int]


def icpdag(dag: Any, targets: Iterable[Targets], *, hard: bool = False) -> Graph:
    """Return the interventional equivalence class of a DAG: 1 for i → j where all its members agree, 2 for i – j.

    Parameters
    ----------
    dag
        Adjacency matrix, node i in row and column i.
    targets
        The nodes that each experiment targets; an empty one is observational.
    hard
        Whether targets lose all their parents. This matters only where no experiment is observational: hard
        interventions then reveal more than soft ones.

    Examples
    --------
    In a chain no direction is decided by independences. An experiment on the middle decides both:

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> icpdag(chain, [[], [1]])
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    >>> icpdag(chain, [[], [2]])
    array([[0, 2, 0],
           [2, 0, 1],
           [0, 0, 0]], dtype=int8)

    References
    ----------
    A. Hauser, P. Bühlmann: Characterization and greedy learning of interventional Markov equivalence classes of
    directed acyclic graphs, JMLR 2012, for hard interventions. K. D. Yang, A. Katcoff, C. Uhler: Characterizing and
    learning equivalence classes of causal DAGs under interventions, ICML 2018, for soft ones.
    """
    dag = as_dag(dag)
    graph = Oriented(cpdag(dag))
    graph.direct(revealed_edges(dag, targets, hard=hard))
    return graph.matrix(sparse=issparse(dag))


def targeted(targets: Iterable[Targets], size: int) -> list[list[int]]:
    """Return the nodes that each experiment targets, checked."""
    if isinstance(targets, str) or not is_iterable(targets):
        raise GraphError(f"Targets are a list of nodes for each experiment, not {targets!r}.")
    return [check_nodes(list(each) if is_iterable(each) else [each], size) for each in targets]


def revealed_edges(dag: Any, targets: Iterable[Targets], *, hard: bool = False) -> list[Edge]:
    """Return the edges of a DAG one end of which, and not the other, belongs to some set of targets.

    Soft interventions are compared with an experiment in which the mechanisms are known to be undisturbed. Where there
    is none, each takes that part in turn: its own targets are then disturbed in all the others.

    >>> revealed_edges([[0, 1], [0, 0]], [[0], [1]], hard=True), revealed_edges([[0, 1], [0, 0]], [[0], [1]])
    ([(0, 1)], [])
    """
    dag = as_dag(dag)
    distinct = list(dict.fromkeys(frozenset(each) for each in targeted(targets, dag.shape[0])))
    sets: Sequence[frozenset[int]] = distinct
    if not switch("hard", hard) and frozenset() not in distinct:
        sets = [one | other for one, other in combinations(distinct, 2)]
    sources, ends = (places.tolist() for places in dag.nonzero())
    member = np.zeros((len(sets), dag.shape[0]), bool)
    for at, each in enumerate(sets):
        member[at, list(each)] = True
    apart = (member[:, sources] != member[:, ends]).any(axis=0) if len(sets) else np.zeros(len(sources), bool)
    return [pair for pair, revealed in zip(zip(sources, ends, strict=True), apart.tolist(), strict=True) if revealed]
