"""Greedy sparsest permutation: from DAG to sparser DAG by reversals of covered edges.

Solus, Wang, Uhler: Consistency guarantees for greedy permutation-based causal inference algorithms, Biometrika 2021.

An edge i → j is covered when i and j have the same parents but for i itself. Reversing it leaves the DAG in its
Markov equivalence class, but some of the common parents may then no longer be needed, by i or by j; without those the
DAG is sparser and still an independence map. The search reverses covered edges until this happens, and starts again.

Sets of nodes are the bits of a Python integer, and a DAG is the list of its nodes' parent sets: see
`rfdag.graphs.node_sets`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import OptionError
from rfdag.evidence.independence import Independence
from rfdag.graphs.cliques import cliques
from rfdag.graphs.dag import Graph, as_dag, check_order, order_near, topological_order
from rfdag.graphs.equivalence import cpdag
from rfdag.graphs.node_sets import Parents, as_matrix, as_parents, members
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import tuning
from rfdag.orders.families import Families
from rfdag.orders.parents import induced_dag
from rfdag.runtime.deadline import Deadline, OutOfTime

DEPTH = tuning.GSP_DEPTH
"""Default number of reversals in a row that may leave the number of edges as it is: the authors' choice."""


@dataclass(frozen=True)
class Outcome:
    """The sparsest DAG found, one of its orders, and how the search ended.

    ``complete`` means that nothing sparser was within reach, ``interrupted`` that the user ended the search before.
    ``visited`` counts the DAGs whose covered edges were examined or, without a bound on the depth, the families.
    """

    dag: Graph
    order: NDArray[np.int64]
    complete: bool
    interrupted: bool
    visited: int


def gsp(
    initial_orders: Sequence[ArrayLike],
    tests: Independence,
    *,
    depth: int | None = DEPTH,
    generator: np.random.Generator | None = None,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    most_visited: int | None = None,
    constraints: Constraints | None = None,
) -> Outcome:
    """Return the sparsest DAG that covered-edge searches from several orders find, the first of several such.

    The DAG is D_π of the returned order: each node has the parents that it needs among its predecessors. With exact
    tests the search ends in such a DAG, and every order of it induces it. Tests on a sample may contradict each other,
    and a DAG reached by reversals need not be induced by any order. Then the result is the sparsest of three DAGs:
    those induced by two orders of the DAG found, of which one stays near the initial order, and by the initial order
    itself.

    Parameters
    ----------
    initial_orders
        Orders to start from, each a source first. An order given twice is searched twice, in another sequence.
    tests
        Answers questions of conditional independence.
    depth, generator, deadline, report, most_visited, constraints
        As in `covered_edge_search`. If the deadline passes before the first order's own DAG is known, `OutOfTime` is
        raised.

    Examples
    --------
    >>> from rfdag.evidence.independence import GraphIndependence
    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> gsp([[2, 0, 1]], GraphIndependence(collider)).dag
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    generator = generator or np.random.default_rng(0)
    deadline = deadline or Deadline()
    families = Families(tests, constraints)
    best: Outcome | None = None
    visited = 0
    complete = True
    interrupted = False
    for run, order in enumerate(initial_orders):
        if best is not None and deadline.passed():
            complete = False
            break
        try:
            start = induced_dag(order, tests, constraints, deadline.require)
        except (KeyboardInterrupt, OutOfTime) as ended:
            if best is None:
                raise
            interrupted, complete = isinstance(ended, KeyboardInterrupt), False
            break
        found = _search(
            start, families, depth, generator, deadline, _within(report, run, len(initial_orders)), most_visited
        )
        initial = np.array(check_order(order, len(start)), np.int64)
        try:
            found = _induced(found, initial, start, tests, constraints, deadline.require)
        except (KeyboardInterrupt, OutOfTime) as ended:
            by_user = isinstance(ended, KeyboardInterrupt)
            found = replace(found, dag=start, order=initial, interrupted=found.interrupted or by_user, complete=False)
        visited += found.visited
        complete &= found.complete
        interrupted = found.interrupted
        if best is None or found.dag.sum() < best.dag.sum():
            best = found
        if interrupted:
            break
    if best is None:
        raise OptionError("GSP starts from an order, and initial_orders has none; pass at least one.")
    return replace(best, complete=complete and not interrupted, interrupted=interrupted, visited=visited)


def covered_edge_search(
    dag: ArrayLike,
    tests: Independence,
    *,
    depth: int | None = DEPTH,
    generator: np.random.Generator | None = None,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
    most_visited: int | None = None,
    constraints: Constraints | None = None,
) -> Outcome:
    """Return a DAG none of whose covered edges, nor those of the DAGs near it, leads to a sparser one.

    The number of edges never rises, and the best DAG so far is returned whenever the search is ended early.

    Parameters
    ----------
    dag
        Where to start: a minimal independence map, such as an elimination returns or `induced_dag`.
    tests
        Answers questions of conditional independence.
    depth
        How many reversals in a row may leave the number of edges as it is. None or 0 does not bound them: the search
        then ends when every member of the DAG's equivalence class needs all its edges, which with exact tests holds
        for the sparsest DAGs alone. It need not list the members for that, and is often the faster search.
    generator
        Decides which covered edges are tried first; seed 0 unless given.
    deadline
        When to return the best DAG so far.
    report
        Called with the share done of the search around the best DAG so far.
    most_visited
        How many DAGs (families without a bound on the depth) may be examined in vain before the search gives up.
    constraints
        What the DAG must obey, as the first one does. Only edges that may point the other way are reversed then, and
        without a bound on the depth the members of the class are visited one by one.

    Examples
    --------
    >>> from rfdag.evidence.independence import GraphIndependence
    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> found = covered_edge_search([[0, 1, 0], [0, 0, 0], [1, 1, 0]], GraphIndependence(collider))
    >>> found.order, found.complete
    (array([0, 1, 2]), True)
    """
    start = as_dag(dag)
    found = _search(
        start,
        Families(tests, constraints),
        depth,
        generator or np.random.default_rng(0),
        deadline or Deadline(),
        report,
        most_visited,
    )
    if constraints is None:
        return found
    order = constraints.arrange(found.order, found.dag)
    try:
        induced = induced_dag(order, tests, constraints, (deadline or Deadline()).require)
    except OutOfTime:
        induced = None
    if induced is None or induced.sum() > start.sum():
        induced, order = start, constraints.arrange(topological_order(start), start)
    return replace(found, dag=induced, order=order)


def reverse(parents: Parents, i: int, j: int, families: Families) -> Parents:
    """Return the DAG with its covered edge i → j reversed, less the common parents that i or j then need no more.

    No other edge can go: i and j still follow the same nodes, on which the two together depend through their common
    parents alone, and every other node has the predecessors it had.
    """
    common = parents[i]
    changed = parents.copy()
    changed[i] = families.needed(i, common | 1 << j) | 1 << j
    changed[j] = families.needed(j, common)
    return changed


def covered_edges(parents: Parents) -> list[tuple[int, int]]:
    """Return the edges i → j with pa(j) = pa(i) ∪ {i}, sorted."""
    with_parents: dict[int, list[int]] = {}
    for node, mine in enumerate(parents):
        with_parents.setdefault(mine, []).append(node)
    return [(i, j) for i, mine in enumerate(parents) for j in with_parents.get(mine | 1 << i, ())]


class _Spent(Exception):
    """The search must end: its time is over, or it visited too many in vain."""


def _search(
    start: Graph,
    families: Families,
    depth: int | None,
    generator: np.random.Generator,
    deadline: Deadline,
    report: Callable[[float], None],
    most_visited: int | None,
) -> Outcome:
    best = as_parents(start)
    if families.constraints is not None and not depth:
        # Which members of the class obey the constraints shows only on the way through them.
        depth = len(best) ** 2
    visited = in_vain = 0
    complete = interrupted = False

    def visit() -> None:
        nonlocal visited, in_vain
        if deadline.passed() or in_vain == most_visited:
            raise _Spent
        visited += 1
        in_vain += 1

    try:
        while True:
            in_vain = 0
            # Without a bound the whole class decides; but a sparser DAG nearby is found sooner than the class is known.
            sparser = _sparser_nearby(best, families, depth or 0, generator, visit, report)
            if sparser is None and not depth:
                sparser = _sparser_in_class(best, families, generator, visit, report)
            if sparser is None:
                complete = True
                break
            best = sparser
    except (_Spent, OutOfTime):
        pass
    except KeyboardInterrupt:
        interrupted = True
    dag = as_matrix(best)
    return Outcome(dag, topological_order(dag), complete, interrupted, visited)


def _induced(
    found: Outcome,
    initial: NDArray[np.int64],
    start: Graph,
    tests: Independence,
    constraints: Constraints | None,
    check: Callable[[], None],
) -> Outcome:
    """Return the outcome with an order and the DAG that it induces, as `gsp` describes; ``start`` is initial's."""
    if constraints is None and tests.exact:
        return found
    if constraints is None:
        first, near = found.order, order_near(initial, found.dag)
    else:
        first, near = (constraints.arrange(order, found.dag) for order in (found.order, initial))
    dag = induced_dag(first, tests, constraints, check)
    if np.array_equal(dag, found.dag):
        return replace(found, dag=dag, order=first)
    choices = [(induced_dag(near, tests, constraints, check), near), (dag, first), (start, initial)]
    dag, order = min(choices, key=lambda choice: int(choice[0].sum()))
    return replace(found, dag=dag, order=order)


def _sparser_nearby(
    start: Parents,
    families: Families,
    depth: int,
    generator: np.random.Generator,
    visit: Callable[[], None],
    report: Callable[[float], None],
) -> Parents | None:
    """Return the first sparser DAG met on paths of at most ``depth`` reversals without loss, and one with loss."""

    def expand(parents: Parents) -> tuple[Parents, list[tuple[int, int]]]:
        visit()
        edges = [edge for edge in covered_edges(parents) if families.may_reverse(parents, *edge)]
        return parents, [edges[at] for at in generator.permutation(len(edges))]

    seen = {hash(tuple(start))}
    path = [expand(start)]
    at_first = len(path[0][1])
    while path:
        parents, edges = path[-1]
        if len(path) == 1:
            report(1 - len(edges) / max(at_first, 1))
        if not edges:
            path.pop()
            continue
        i, j = edges.pop()
        changed = reverse(parents, i, j, families)
        if (changed[i], changed[j]) != (parents[i] | 1 << j, parents[i]):
            return changed
        mark = hash(tuple(changed))
        if len(path) <= depth and mark not in seen:
            seen.add(mark)
            path.append(expand(changed))
    return None


def _sparser_in_class(
    start: Parents,
    families: Families,
    generator: np.random.Generator,
    visit: Callable[[], None],
    report: Callable[[float], None],
) -> Parents | None:
    """Return a sparser DAG that is a member of the start's Markov equivalence class, less parents a node does not need.

    The members need not be listed, nor visited edge by edge: all that matters of them is their families, and those
    are known. In some member a node has its compelled parents and a set C of its undirected neighbours as
    parents iff C is a clique.
    """
    essential = cpdag(as_matrix(start))
    compelled = as_parents((essential == 1).astype(np.int8))
    undirected = as_parents((essential == 2).astype(np.int8))
    # Nodes take turns, so that one with many cliques does not keep the others waiting.
    turns = deque((node, cliques(undirected, undirected[node])) for node in generator.permutation(len(start)).tolist())
    while turns:
        report(1 - len(turns) / len(start))
        node, waiting = turns.popleft()
        clique = next(waiting, None)
        if clique is None:
            continue
        visit()
        family = compelled[node] | clique
        needed = families.needed(node, family)
        if needed != family:
            sparser = _oriented(start, undirected, [*members(clique).tolist(), node])
            sparser[node] = needed
            return sparser
        turns.append((node, waiting))
    return None


def _oriented(start: Parents, undirected: list[int], first: list[int]) -> Parents:
    """Return the member of the class that directs the undirected edges around the clique ``first`` away from it.

    Maximum cardinality search: the node with most placed neighbours is next. On a chordal graph this makes no new
    v-structure, and the nodes of a clique are such a beginning in any sequence.
    """
    oriented = start.copy()
    placed = 0
    reached = dict.fromkeys(first, 0)
    queue = list(first)
    while reached:
        node = queue.pop(0) if queue else max(reached, key=lambda other: (reached[other], -other))
        del reached[node]
        oriented[node] = start[node] & ~undirected[node] | undirected[node] & placed
        placed |= 1 << node
        for other in members(undirected[node] & ~placed).tolist():
            reached[other] = (undirected[other] & placed).bit_count()
    return oriented


def _within(report: Callable[[float], None], run: int, runs: int) -> Callable[[float], None]:
    return lambda share: report((run + share) / runs)
