"""Interventional equivalence: which directions experiments reveal beyond those that independences do."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from rfdag.errors import GraphError, listed
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
        The nodes that each experiment targets; an empty one is observational. Two experiments may have the same
        targets: what they do to them may differ. Each node is left alone by some experiment.
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
    learning equivalence classes of causal DAGs under interventions, ICML 2018, for soft ones beside an observational
    experiment. A. Jaber, M. Kocaoglu, K. Shanmugam, E. Bareinboim: Causal discovery from soft interventions with
    unknown targets: characterization and learning, NeurIPS 2020, for any two experiments.
    """
    dag = as_dag(dag)
    graph = Oriented(cpdag(dag))
    graph.direct(revealed_edges(dag, targets, hard=hard))
    return graph.matrix(sparse=issparse(dag))


def targeted(targets: Iterable[Targets], size: int) -> list[list[int]]:
    """Return the nodes that each experiment targets, checked."""
    if isinstance(targets, str) or not is_iterable(targets):
        raise GraphError(f"Targets are a list of nodes for each experiment, not {targets!r}.")
    sets = [check_nodes(list(each) if is_iterable(each) else [each], size) for each in targets]
    always = targeted_everywhere(sets)
    if always:
        raise GraphError(f"{about_everywhere(f'Node {listed(always)}', len(always))}.")
    return sets


def targeted_everywhere(sets: Iterable[Targets]) -> list[int]:
    """Return what belongs to every one of some sets of targets, of none where there are no sets.

    >>> targeted_everywhere([[0, 2], [2]]), targeted_everywhere([])
    ([2], [])
    """
    every = [set(each) for each in sets]
    return sorted(set.intersection(*every)) if every else []


def about_everywhere(shown: str, count: int) -> str:
    """Return what is wrong with ``count`` targets of every environment, and what helps, without the full stop."""
    verb, them = ("is a target", "it is no target") if count == 1 else ("are targets", "they are no targets")
    return (
        f"{shown} {verb} in every environment, so that no rows show what happens without intervention. Add an "
        f"environment in which {them}"
    )


def revealed_edges(dag: Any, targets: Iterable[Targets], *, hard: bool = False) -> list[Edge]:
    """Return the edges of a DAG whose directions experiments reveal by themselves.

    A hard experiment reveals an edge if it targets one end and not the other. Soft ones are compared by twos: whatever
    either of them targets may have another mechanism in the other, also if both target it, and all else has the same.
    Two of them reveal an edge if one end may differ and the other may not.

    >>> revealed_edges([[0, 1], [0, 0]], [[0], [1]], hard=True), revealed_edges([[0, 1], [0, 0]], [[0], [1]])
    ([(0, 1)], [])
    >>> revealed_edges([[0, 1], [0, 0]], [[0], [0], [1]])
    [(0, 1)]
    """
    dag = as_dag(dag)
    sets = targeted(targets, dag.shape[0])
    sources, ends = (places.tolist() for places in dag.nonzero())
    member = np.zeros((len(sets), dag.shape[0]), bool)
    for at, each in enumerate(sets):
        member[at, each] = True
    # Soft experiments show that an end stays the same only if two of them leave it alone.
    known = np.full(dag.shape[0], True) if switch("hard", hard) else (~member).sum(axis=0) > 1
    here, there = member[:, sources], member[:, ends]
    apart = (here & ~there & known[ends]) | (there & ~here & known[sources])
    return list(itertools.compress(zip(sources, ends, strict=True), apart.any(axis=0).tolist()))
