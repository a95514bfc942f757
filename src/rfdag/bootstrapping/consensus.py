"""One DAG from the frequencies of directed and undirected edges over many equivalence classes."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError, keyword
from rfdag.graphs.dag import Graph

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def require_threshold(threshold: object) -> None:
    """Raise unless this is a share of the runs, above 0 and at most 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise OptionError(f"{keyword('threshold')} is a share of the runs above 0, up to 1, not {threshold!r}.")


def consensus_dag(
    arrows: Floats, lines: Floats, places: Floats, threshold: float, before: Flags | None = None
) -> Graph:
    """Return a DAG with the pairs whose frequency of being adjacent reaches the threshold.

    A pair is directed if that direction is at least as frequent as an undirected edge between the two, starting with
    the most frequent one. An arrow that would close a cycle becomes undirected, or is left out if no run had the pair
    in any other way. The undirected edges are then directed without creating new v-structures, since no run had those;
    where that is impossible, with few.

    Parameters
    ----------
    arrows
        At (i, j) the frequency of i → j.
    lines
        At (i, j) the frequency of i – j; symmetric.
    places
        The typical place of each variable in the order; it decides where nothing else does.
    threshold
        The least frequency of a pair.
    before
        Whether i must precede j, at (i, j); transitively closed.

    Examples
    --------
    A chain of undirected edges does not become a collider:

    >>> lines = np.array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 1.0, 0]])
    >>> consensus_dag(np.zeros((3, 3)), lines, places=np.array([1.0, 3.0, 2.0]), threshold=0.5)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    directed, undirected = _decided(arrows, lines, places, threshold, before)
    for sink, left in _sinks(directed, undirected, places, before):
        directed[undirected[sink] & left, sink] = True
    return directed.astype(np.int8)


def _decided(
    arrows: Floats, lines: Floats, places: Floats, threshold: float, before: Flags | None
) -> tuple[Flags, Flags]:
    """Return which pairs are directed, without cycles, and which are undirected."""
    p = len(arrows)
    # Equal frequencies may differ in the last digit.
    arrows, lines = arrows.round(12), lines.round(12)
    adjacent = arrows + arrows.T + lines >= threshold - 1e-12
    clear = adjacent & (arrows >= lines) & (arrows >= arrows.T) & (arrows > 0)
    sources, targets = np.nonzero(clear)
    directed, undirected = np.zeros((p, p), bool), adjacent & ~clear & ~clear.T
    reach = np.eye(p, dtype=bool)
    if before is not None:
        reach |= before
    for at in np.lexsort((targets, sources, places[sources] - places[targets], -arrows[sources, targets])):
        i, j = sources[at], targets[at]
        if directed[j, i]:
            # Both directions were equally frequent, and the other was taken first.
            continue
        if not reach[j, i]:
            directed[i, j] = True
            reach[reach[:, i]] |= reach[j]
        elif arrows[j, i] + lines[i, j] > 0:
            undirected[i, j] = undirected[j, i] = True
    return directed, undirected & ~directed & ~directed.T


def _sinks(directed: Flags, undirected: Flags, places: Floats, before: Flags | None) -> Iterator[tuple[int, Flags]]:
    """Yield variables, each a sink among those that remain, and which variables remain then.

    This is Dor and Tarsi's construction (1992), which finds an extension without new v-structures if there is one. If
    there is none, the sink that creates the fewest is taken. Ties go to the variable with the last place.
    """
    left = np.ones(len(directed), bool)
    adjacent = directed | directed.T | undirected
    # A copy: arrows that the caller adds meanwhile point at variables already yielded.
    follows = directed.copy() if before is None else directed | before

    def new_colliders(node: int) -> int:
        near = np.flatnonzero(adjacent[node] & left)
        apart = ~adjacent[np.ix_(near, near)]
        np.fill_diagonal(apart, False)
        return int(apart[undirected[node, near]].sum())

    for _ in range(len(directed)):
        free = np.flatnonzero(left & ~(follows & left).any(axis=1))
        sink = min(free.tolist(), key=lambda node: (new_colliders(node), -places[node], node))
        left[sink] = False
        yield sink, left
