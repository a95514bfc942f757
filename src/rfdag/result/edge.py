"""One edge of a result, with its numbers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class Edge(NamedTuple):
    """One edge of the DAG.

    ``coefficient`` is that of the regression of the target on all its parents, in the units of the data (by rank
    correlations: in standard deviations of the Gaussian variables behind the ranks), and
    ``partial_correlation`` that of the two given the other parents; None for an oracle. ``gain`` is by how much the
    BIC would be worse without the edge, at the price of an edge that the result was learnt with; None on exact input.
    ``directed`` is False if the edge is undirected in the Markov equivalence class.
    """

    source: Hashable
    target: Hashable
    coefficient: float | None
    partial_correlation: float | None
    gain: float | None
    directed: bool
