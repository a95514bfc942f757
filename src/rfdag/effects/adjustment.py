"""What to adjust for: sets of variables read off a DAG."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rfdag.graphs.dag import as_full_dag, check_node, check_nodes, reached
from rfdag.graphs.equivalence import encoded
from rfdag.graphs.sparse import refuse_sparse
from rfdag.values import one_of

METHODS = ("optimal", "parents")


def adjustment_set(dag: ArrayLike, cause: int, outcome: int, method: str = "optimal") -> list[int] | None:
    """Return the nodes to adjust for when the total effect of ``cause`` on ``outcome`` is estimated by regression.

    Parameters
    ----------
    dag
        Adjacency matrix.
    cause
        A node.
    outcome
        Another node.
    method
        "parents": the parents of the cause. "optimal": the parents of all nodes on directed paths from the cause to the
        outcome, without the cause, these nodes and their descendants. Of all valid sets it gives the smallest variance.

    Returns
    -------
    list of int or None
        The nodes, ascending, or None when the outcome is not a descendant of the cause, so that there is no effect.

    Examples
    --------
    >>> confounded = [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    >>> adjustment_set(confounded, 1, 2, "parents"), adjustment_set(confounded, 1, 2)
    ([0], [0, 3])
    >>> adjustment_set(confounded, 2, 1) is None
    True

    References
    ----------
    L. Henckel, E. Perković, M. Maathuis: Graphical criteria for efficient total effect estimation via adjustment in
    causal linear models, JRSS B 2022.
    """
    one_of("adjustment", method, METHODS)
    dag = as_full_dag(dag, "adjustment_set")
    cause, outcome = check_nodes([check_node(each, len(dag)) for each in (cause, outcome)], len(dag))
    edges = dag != 0
    after = reached(edges, [cause]) - {cause}
    if outcome not in after:
        return None
    if method == "parents":
        return np.flatnonzero(dag[:, cause]).tolist()
    on_the_way = after & reached(edges.T, [outcome])
    forbidden = {cause} | reached(edges, sorted(on_the_way))
    chosen = set(np.flatnonzero(dag[:, sorted(on_the_way)].any(axis=1)).tolist()) - forbidden
    return sorted(chosen)


def is_identified(cpdag: ArrayLike, cause: int, outcome: int) -> bool:
    """Return whether the total effect of ``cause`` on ``outcome`` is the same in all DAGs of an equivalence class.

    It is if no path that could be directed from the cause to the outcome begins with an undirected edge. In a CPDAG, a
    path could be directed if none of its edges points back. Where knowledge has directed further edges, some of these
    paths could not, so that an effect may be identified although False is returned.

    Parameters
    ----------
    cpdag
        Matrix with 1 at (i, j) for i → j, and 2 at (i, j) and (j, i) for i – j.
    cause
        A node.
    outcome
        Another node.

    Examples
    --------
    >>> from rfdag.graphs import cpdag
    >>> class_of_a_fork = cpdag([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    >>> is_identified(class_of_a_fork, 1, 0), is_identified(class_of_a_fork, 1, 3), is_identified(class_of_a_fork, 3, 0)
    (False, False, True)

    References
    ----------
    E. Perković: Identifying causal effects in maximally oriented partially directed acyclic graphs, UAI 2020.
    """
    refuse_sparse(cpdag, "is_identified")
    graph = encoded(cpdag)
    cause, outcome = check_nodes([check_node(each, len(graph)) for each in (cause, outcome)], len(graph))
    onwards = graph != 0
    onwards[:, cause] = False
    return outcome not in reached(onwards, np.flatnonzero(graph[cause] == 2).tolist())
