"""Questions about whole families, answered by tests of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.engines.independence import Conditioning, Query
from rfdag.evidence.independence import Answers, Independence, Integers
from rfdag.graphs.dag import Graph
from rfdag.independence.questions import Questions


class PairwiseTests(Independence):
    """Dependence as a p-value up to a level.

    Parameters
    ----------
    asked
        The test with its answers.
    alpha
        The level.
    conditioning
        "all" tests each variable given all the rest of its family. "blanket" looks for the few of the family that make
        a variable independent of the others: it takes those that depend at all, drops what these explain, adds what
        depends given them, and drops again. With exact answers that is the same.
    exact
        Whether all answers hold in one distribution.

    Examples
    --------
    >>> from rfdag.independence.d_separation import DSeparation
    >>> asked = Questions(DSeparation([[0, 0, 1], [0, 0, 1], [0, 0, 0]]), "abc", "d-separation")
    >>> PairwiseTests(asked, 0.01, "blanket", exact=True).dependent(0, np.array([1, 2]))
    array([ True,  True])
    """

    def __init__(self, asked: Questions, alpha: float, conditioning: Conditioning, *, exact: bool) -> None:
        self.exact = exact
        self._asked = asked
        self._alpha = alpha
        self._conditioning = conditioning

    def dependent(self, node: int, others: Integers) -> Answers:
        """Return, for each of ``others``, whether it depends on ``node`` given the rest of them."""
        family = [int(other) for other in others]
        if self._conditioning == "blanket":
            return np.isin(others, self._boundary(node, family))
        return self._depend(node, [(other, [each for each in family if each != other]) for other in family])

    def independent(self, i: int, j: int, given: object = ()) -> bool:
        """Return whether i and j are independent given the variables ``given``."""
        return self._asked.independent([(i, j, tuple(given))], self._alpha)[0]  # type: ignore[arg-type]

    def _depend(self, node: int, questions: list[tuple[int, list[int]]]) -> Answers:
        queries: list[Query] = [(node, other, tuple(given)) for other, given in questions]
        return ~np.array(self._asked.independent(queries, self._alpha), bool)

    def _boundary(self, node: int, family: list[int]) -> list[int]:
        """Return those of a family that make a variable independent of the rest of it, and none that is not needed."""
        chosen = [
            other for other, near in zip(family, self._depend(node, [(o, []) for o in family]), strict=True) if near
        ]
        chosen = self._shrunk(node, chosen)
        while True:
            outside = [other for other in family if other not in chosen]
            answers = self._depend(node, [(other, chosen) for other in outside])
            if not answers.any():
                return self._shrunk(node, chosen)
            chosen += [other for other, near in zip(outside, answers, strict=True) if near]

    def _shrunk(self, node: int, chosen: list[int]) -> list[int]:
        kept = list(chosen)
        for other in by_weakness(self._asked, node, chosen):
            rest = [each for each in kept if each != other]
            if not self._depend(node, [(other, rest)])[0]:
                kept = rest
        return kept


def by_weakness(asked: Questions, node: int, others: list[int]) -> list[int]:
    """Return variables in the order of their dependence on another without any condition, the weakest first."""
    values = asked.p_values([(node, other, ()) for other in others])
    strength = {other: -1.0 if value is None else value for other, value in zip(others, values, strict=True)}
    return sorted(others, key=lambda other: (-strength[other], other))


def needed(dag: Graph, asked: Questions, alpha: float, required: NDArray[np.bool_] | None = None) -> Graph:
    """Return a DAG without the parents that are not needed.

    An elimination tests an edge given the neighbours of either end, before its parents are known. So each parent is
    tested once more given the child's other parents, and then given its own parents, too: either set decides in the
    population. At last those go that any test so far has found independent of their child, for in a faithful
    distribution what is adjacent depends given any set. With exact answers and the order of a sparsest DAG, nothing
    is dropped.

    Parameters
    ----------
    dag
        The DAG.
    asked, alpha
        The test with its answers, and its level.
    required
        Edges that stay, as a matrix.
    """
    pruned = _retested(_retested(dag, asked, alpha), asked, alpha, with_own_parents=True)
    for i, j in asked.separated(alpha):
        pruned[i, j] = pruned[j, i] = 0
    return pruned if required is None else np.where(required, dag, pruned).astype(dag.dtype)


def _retested(dag: Graph, asked: Questions, alpha: float, *, with_own_parents: bool = False) -> Graph:
    """Return a DAG without the parents that tests find independent of their child, the weakest tried first."""
    pruned = dag.copy()
    waiting = {child: by_weakness(asked, child, np.flatnonzero(dag[:, child]).tolist()) for child in range(len(dag))}
    while waiting := {child: parents for child, parents in waiting.items() if parents}:
        # One question a child at a time, all children at once, about the graph as it was when the round began.
        batch = [(parents.pop(0), child) for child, parents in waiting.items()]
        queries: list[Query] = []
        for parent, child in batch:
            others = pruned[:, child] | pruned[:, parent] if with_own_parents else pruned[:, child]
            queries.append((parent, child, tuple(at for at in np.flatnonzero(others).tolist() if at != parent)))
        for (parent, child), gone in zip(batch, asked.independent(queries, alpha), strict=True):
            pruned[parent, child] = not gone
    return pruned
