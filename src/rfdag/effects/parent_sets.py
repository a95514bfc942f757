"""The parents a variable can have in the DAGs of one equivalence class."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import GraphError
from rfdag.graphs.cliques import cliques
from rfdag.graphs.dag import Graph, as_full_dag, check_node, reached, square
from rfdag.graphs.equivalence import consistent_extension, encoded
from rfdag.graphs.node_sets import as_parents, members

MOST_SETS = 4096
"""Sets of parents up to which a class is enumerated."""


def possible_parents(dag: Graph, cpdag: Graph, node: int) -> Iterator[tuple[list[int], Graph]]:
    """Yield every set of parents that ``node`` has in some DAG of the class, with one such DAG.

    Only edges in the node's undirected component are reversed. Neighbours can be parents together if they are pairwise
    adjacent, so that no v-structure arises (they are always adjacent to the certain parents), and if the rest of the
    component can be directed consistently. In a CPDAG it always can, but not where knowledge directs further edges.

    Parameters
    ----------
    dag
        A DAG of the class.
    cpdag
        Its CPDAG, or one with further edges directed and closed under Meek's rules.
    node
        A node.

    Examples
    --------
    >>> from rfdag.graphs import cpdag
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    >>> [parents for parents, _ in possible_parents(chain, cpdag(chain), 1)]
    [[], [0], [2]]

    References
    ----------
    M. Maathuis, M. Kalisch, P. Bühlmann: Estimating high-dimensional intervention effects from observational data,
    Annals of Statistics 2009.
    E. Perković, M. Kalisch, M. Maathuis: Interpreting and using CPDAGs with background knowledge, UAI 2017.
    """
    dag, cpdag = as_full_dag(dag, "possible_parents"), encoded(square(cpdag))
    if dag.shape != cpdag.shape:
        raise GraphError(f"The graphs have {len(dag)} and {len(cpdag)} nodes; a CPDAG has those of its DAGs.")
    node = check_node(node, len(dag))
    certain = np.flatnonzero(cpdag[:, node] == 1).tolist()
    undirected = np.flatnonzero(cpdag[node] == 2).tolist()
    near = cpdag[np.ix_(undirected, undirected)] != 0
    component = sorted(reached(cpdag == 2, [node]))
    found = cliques(as_parents((near | near.T).astype(np.int8)), (1 << len(undirected)) - 1)
    candidates = [[undirected[at] for at in members(clique)] for clique in islice(found, MOST_SETS + 1)]
    if len(candidates) > MOST_SETS:
        raise GraphError(
            f"The cause can have more than {MOST_SETS} sets of parents: {len(undirected)} of its edges are "
            "undirected. Direct some of them by knowledge, or estimate the effect in the DAG."
        )
    for chosen in sorted(candidates, key=lambda chosen: (len(chosen), chosen)):
        extension = _extended(dag, cpdag, component, node, chosen)
        if extension is not None:
            yield sorted([*certain, *chosen]), extension


def _extended(dag: Graph, cpdag: Graph, component: list[int], node: int, parents: list[int]) -> Graph | None:
    """Return a DAG of the class in which, of the undirected neighbours, ``parents`` point at the node, if any."""
    inside = np.ix_(component, component)
    if (cpdag[inside] == 1).any():
        whole = cpdag.copy()
        for other in np.flatnonzero(cpdag[node] == 2).tolist():
            source, target = (other, node) if other in parents else (node, other)
            whole[source, target], whole[target, source] = 1, 0
        try:
            local = consistent_extension(whole[inside])
        except GraphError:
            return None
    else:
        place = {other: at for at, other in enumerate(component)}
        local = _directed_from(cpdag[inside] == 2, [place[other] for other in (*parents, node)])
    # Arrows from outside form no v-structure or cycle with these: Meek's rules would have directed such edges.
    extension = dag.copy()
    extension[inside] = local
    return extension


def _directed_from(chordal: NDArray[np.bool_], first: list[int]) -> Graph:
    """Return a chordal graph directed without v-structures, along an order that begins with these nodes, a clique.

    Maximum cardinality search: the next node is one with the most neighbours among those before it (Tarjan and
    Yannakakis 1984). An order that begins with a clique is one of its orders.
    """
    before = chordal[first].sum(axis=0)
    rank = np.full(len(chordal), -1)
    rank[first] = range(len(first))
    for at in range(len(first), len(chordal)):
        following = int(np.where(rank < 0, before, -1).argmax())
        rank[following] = at
        before += chordal[following]
    return (chordal & (rank[:, None] < rank)).astype(np.int8)
