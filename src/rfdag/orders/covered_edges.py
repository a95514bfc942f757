"""Greedy sparsest permutation: from DAG to sparser DAG by reversals of covered edges.

Solus, Wang, Uhler: Consistency guarantees for greedy permutation-based causal inference algorithms, Biometrika 2021.

An edge i → j is covered when i and j have the same parents but for i itself. Reversing it leaves the DAG in its
Markov equivalence class, but some of the common parents may then no longer be needed, by i or by j; without those the
DAG is sparser and still an independence map. The search reverses covered edges until this happens, and starts again.

Sets of nodes are held as the bits of a Python integer, and a DAG as the list of its nodes' parent sets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import OptionError
from rfdag.evidence.independence import Independence
from rfdag.graphs.dag import Graph, as_dag, topological_order
from rfdag.graphs.equivalence import cpdag
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import tuning
from rfdag.orders.parents import induced_dag
from rfdag.runtime.deadline import Deadline

Parents = list[int]

DEPTH = tuning.GSP_DEPTH
"""Reversals in a row that may leave the number of edges as it is, unless told otherwise: the authors' choice."""


@dataclass(frozen=True)
class Outcome:
    """The sparsest DAG found, one of its orders, and how the search ended.

    ``complete`` tells that nothing sparser was within reach, ``interrupted`` that the user ended the search before.
    ``visited`` counts the DAGs whose covered edges were looked at or, without a bound on the depth, the families.
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

    Parameters
    ----------
    initial_orders
        Orders to start from, each a source first. An order given twice is searched twice, in another sequence.
    tests
        Answers questions of conditional independence.
    depth, generator, deadline, report, most_visited, constraints
        As in `covered_edge_search`. The first order's own DAG is always built.

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
            start = induced_dag(order, tests, constraints)
        except KeyboardInterrupt:
            if best is None:
                raise
            interrupted = True
            break
        found = _search(
            start, families, depth, generator, deadline, _within(report, run, len(initial_orders)), most_visited
        )
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
        Is told the share done of the search around the best DAG so far.
    most_visited
        How many DAGs (families without a bound on the depth) may be looked at in vain before the search gives up.
    constraints
        What the DAG must obey, as the first one does. Only edges that may point the other way are turned then, and
        without a bound on the depth the members of the class are walked through one by one.

    Examples
    --------
    >>> from rfdag.evidence.independence import GraphIndependence
    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> found = covered_edge_search([[0, 1, 0], [0, 0, 0], [1, 1, 0]], GraphIndependence(collider))
    >>> found.order, found.complete
    (array([0, 1, 2]), True)
    """
    return _search(
        as_dag(dag),
        Families(tests, constraints),
        depth,
        generator or np.random.default_rng(0),
        deadline or Deadline(),
        report,
        most_visited,
    )


class Families:
    """Which parents a node needs out of a set, each answer remembered: equivalent DAGs share most of their families."""

    def __init__(self, tests: Independence, constraints: Constraints | None = None) -> None:
        self.tests, self.constraints = tests, constraints
        self._known: dict[tuple[int, int], int] = {}
        if constraints is not None:
            self._allowed = [as_bits(np.flatnonzero(column)) for column in constraints.allowed.T]
            self._required = [as_bits(np.flatnonzero(column)) for column in constraints.required.T]
            self._earlier = [as_bits(np.flatnonzero(column)) for column in constraints.before.T]

    def needed(self, node: int, parents: int) -> int:
        """Return those of ``parents`` that depend on ``node`` given the rest of them, or are required."""
        known = self._known.get((node, parents))
        if known is None:
            others = members(parents)
            known = as_bits(others[self.tests.dependent(node, others)])
            if self.constraints is not None:
                known |= self._required[node] & parents
            self._known[node, parents] = known
        return known

    def may_turn(self, parents: Parents, i: int, j: int) -> bool:
        """Return whether the edge i → j may point the other way, in an order that obeys.

        It may not if i comes before j on another way as well: along edges and demands on the order.
        """
        if self.constraints is None:
            return True
        if not self._allowed[i] >> j & 1:
            return False
        above = 0
        fresh = (parents[j] & ~(1 << i)) | self._earlier[j]
        while fresh:
            above |= fresh
            beyond = 0
            for node in members(fresh).tolist():
                beyond |= parents[node] | self._earlier[node]
            fresh = beyond & ~above
        return not above >> i & 1


def reverse(parents: Parents, i: int, j: int, families: Families) -> Parents:
    """Return the DAG with its covered edge i → j turned, and without the common parents that i or j then need no more.

    No other edge can go: i and j still come after the same nodes, on which the two together depend through their
    common parents alone, and every other node has the predecessors it had.
    """
    common = parents[i]
    turned = parents.copy()
    turned[i] = families.needed(i, common | 1 << j) | 1 << j
    turned[j] = families.needed(j, common)
    return turned


def covered_edges(parents: Parents) -> list[tuple[int, int]]:
    """Return the edges i → j with pa(j) = pa(i) ∪ {i}, sorted."""
    with_parents: dict[int, list[int]] = {}
    for node, mine in enumerate(parents):
        with_parents.setdefault(mine, []).append(node)
    return [(i, j) for i, mine in enumerate(parents) for j in with_parents.get(mine | 1 << i, ())]


def as_parents(dag: Graph) -> Parents:
    """Return the parent sets of a DAG."""
    return [as_bits(np.flatnonzero(column)) for column in dag.T]


def as_matrix(parents: Parents) -> Graph:
    """Return the adjacency matrix of parent sets."""
    dag = np.zeros((len(parents), len(parents)), np.int8)
    for child, mine in enumerate(parents):
        dag[members(mine), child] = 1
    return dag


def members(bits: int) -> NDArray[np.int64]:
    """Return the nodes of a set, ascending.

    >>> members(0b10110)
    array([1, 2, 4])
    """
    octets = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))


def as_bits(nodes: NDArray[np.int64]) -> int:
    """Return the set of some nodes.

    >>> bin(as_bits(np.array([1, 2, 4])))
    '0b10110'
    """
    return sum(1 << node for node in nodes.tolist())


class _Spent(Exception):
    """The search may not go on: its time is over, or it visited too many in vain."""


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
    constraints = families.constraints
    if constraints is not None and not depth:
        # Which members of the class obey shows only on the way through them.
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
            # Without a bound the whole class decides; but what is at hand is found sooner than the class is known.
            sparser = _sparser_nearby(best, families, depth or 0, generator, visit, report)
            if sparser is None and not depth:
                sparser = _sparser_in_class(best, families, generator, visit, report)
            if sparser is None:
                complete = True
                break
            best = sparser
    except _Spent:
        pass
    except KeyboardInterrupt:
        interrupted = True
    dag = as_matrix(best)
    order = topological_order(dag)
    if constraints is not None:
        order = constraints.arrange(order, dag)
        dag = induced_dag(order, families.tests, constraints)
        if dag.sum() > start.sum():
            dag, order = start, constraints.arrange(topological_order(start), start)
    return Outcome(dag, order, complete, interrupted, visited)


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
        edges = [edge for edge in covered_edges(parents) if families.may_turn(parents, *edge)]
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
        turned = reverse(parents, i, j, families)
        if (turned[i], turned[j]) != (parents[i] | 1 << j, parents[i]):
            return turned
        mark = hash(tuple(turned))
        if len(path) <= depth and mark not in seen:
            seen.add(mark)
            path.append(expand(turned))
    return None


def _sparser_in_class(
    start: Parents,
    families: Families,
    generator: np.random.Generator,
    visit: Callable[[], None],
    report: Callable[[float], None],
) -> Parents | None:
    """Return a sparser DAG that is a member of the start's Markov equivalence class, less parents a node does not need.

    The members need not be listed, nor walked through edge by edge: all that matters of them is their families, and
    those are known. In some member a node has its compelled parents and a set C of its undirected neighbours as
    parents iff C is a clique.
    """
    essential = cpdag(as_matrix(start))
    compelled = as_parents((essential == 1).astype(np.int8))
    joined = as_parents((essential == 2).astype(np.int8))
    # Nodes take turns, so that one with many cliques does not keep the others waiting.
    turns = deque((node, _cliques(joined, joined[node])) for node in generator.permutation(len(start)).tolist())
    while turns:
        report(1 - len(turns) / len(start))
        node, cliques = turns.popleft()
        clique = next(cliques, None)
        if clique is None:
            continue
        visit()
        family = compelled[node] | clique
        needed = families.needed(node, family)
        if needed != family:
            sparser = _oriented(start, joined, [*members(clique).tolist(), node])
            sparser[node] = needed
            return sparser
        turns.append((node, cliques))
    return None


def _oriented(start: Parents, joined: list[int], first: list[int]) -> Parents:
    """Return the member of the class that directs the undirected edges around the clique ``first`` away from it.

    Maximum cardinality search: whoever has most placed neighbours is next. On a chordal graph this makes no new
    v-structure, and the nodes of a clique are such a beginning in any sequence.
    """
    oriented = start.copy()
    placed = 0
    reached = dict.fromkeys(first, 0)
    queue = list(first)
    while reached:
        node = queue.pop(0) if queue else max(reached, key=lambda other: (reached[other], -other))
        del reached[node]
        oriented[node] = start[node] & ~joined[node] | joined[node] & placed
        placed |= 1 << node
        for other in members(joined[node] & ~placed).tolist():
            reached[other] = (joined[other] & placed).bit_count()
    return oriented


def _cliques(joined: list[int], among: int) -> Iterator[int]:
    """Yield every clique within ``among``, the empty one first."""
    waiting = [(0, among)]
    while waiting:
        clique, others = waiting.pop()
        yield clique
        while others:
            lowest = others & -others
            others ^= lowest
            waiting.append((clique | lowest, others & joined[lowest.bit_length() - 1]))


def _within(report: Callable[[float], None], run: int, runs: int) -> Callable[[float], None]:
    return lambda share: report((run + share) / runs)
