"""d-separation in a known DAG, as a test: for checks, and to count what an elimination asks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rfdag.evidence.independence import GraphIndependence


class DSeparation:
    """d-separation in a DAG as a test: a p-value of 1 where a pair is separated, else 0.

    Parameters
    ----------
    dag
        Adjacency matrix; non-zero at (i, j) means i → j.

    Examples
    --------
    >>> test = DSeparation([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> test(0, 1, ()), test(0, 1, (2,))
    (1.0, 0.0)
    """

    def __init__(self, dag: ArrayLike) -> None:
        self._answers = GraphIndependence(dag)

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return 1 if i and j are d-separated by others, else 0."""
        return float(not self._answers.dependent(i, np.array([j, *given]))[0])
