"""What it costs to reverse an edge of a DAG over variables of several columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.family_fits import scores_of
from rfdag.orders.family_scores import FamilyScore
from rfdag.orders.reversals import Family, Reversing

Integers = NDArray[np.int64]


class FamilyReversing(Reversing):
    """Reverses edges of one DAG, each on its own, judged by the score of its families.

    Parameters
    ----------
    dag
        The DAG, a full matrix.
    score
        Scores a variable given parents.
    constraints
        Which variables may and must be parents of which, and which must precede which; the DAG obeys them.

    Examples
    --------
    >>> from rfdag.orders.family_scores import BlockScore
    >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
    >>> covariance = np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]])
    >>> score = BlockScore(covariance, np.arange(4), None, 100)
    >>> round(FamilyReversing(collider, score).reverse(0, 2).cost, 1)
    9.2
    """

    def __init__(self, dag: Graph, score: FamilyScore, constraints: Constraints | None = None) -> None:
        self._score = score
        self._prepare(dag, np.full(len(dag), score.most_parents), constraints)

    def _scored(self, y: int, parents: Integers) -> Family | None:
        """Return y with some parents and what each is worth."""
        fewer = [(y, np.delete(parents, at)) for at in range(len(parents))]
        whole, *others = scores_of(self._score, [(y, parents), *fewer]).tolist()
        return Family(parents, whole, np.array(others) - whole)
