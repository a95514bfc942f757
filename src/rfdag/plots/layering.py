"""Layers of a drawn graph, from left to right: few crossings, and edges that pass between the nodes.

The method of Sugiyama: every node has a layer to the right of its parents' layers; an edge that passes a layer has a
bend there, which takes up room among the nodes; each layer is sorted by the mean place of its neighbours until the
number of crossings stops falling; and each point is as near to the height of its neighbours as the room allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

SORTING_SWEEPS = 24
PLACING_SWEEPS = 24
STRAIGHTNESS = 8.0
"""Weight of the pull between two bends of one edge, relative to that between two nodes."""
BEND_ROOM = 0.3
"""Height of a bend, in parts of a node's."""
GAP = 0.45
"""Least distance of two nodes of a layer, in parts of a node's height; that of bends is smaller."""


@dataclass(frozen=True)
class Layering:
    """Nodes, and the bends of long edges after them, in layers.

    Attributes
    ----------
    layer
        The layer of each point, 0 on the left; the first points are the nodes.
    chains
        For each edge the points it passes, from its source over its bends to its target.
    n_nodes
        How many points are nodes.
    """

    layer: Integers
    chains: tuple[Integers, ...]
    n_nodes: int

    @cached_property
    def segments(self) -> Integers:
        """The pieces of all edges between neighbouring layers, as (m, 2) points."""
        pieces = [np.stack([chain[:-1], chain[1:]], axis=1) for chain in self.chains]
        return np.concatenate(pieces) if pieces else np.empty((0, 2), np.int64)


def layers_of(edges: Integers, n_nodes: int) -> Integers:
    """Return a layer for each node, every source left of its targets and edges short.

    ``edges`` is (m, 2), of a graph without cycles.

    >>> layers_of(np.array([[0, 1], [1, 2], [3, 2]]), 4)
    array([0, 1, 2, 1])
    """
    layer = np.zeros(n_nodes, np.int64)
    while True:
        pushed = layer.copy()
        np.maximum.at(pushed, edges[:, 1], layer[edges[:, 0]] + 1)
        if (pushed == layer).all():
            return _shortened(edges, layer)
        layer = pushed


def _shortened(edges: Integers, layer: Integers) -> Integers:
    """Move each node within its slack to where its edges are shortest, until none moves."""
    n_nodes = len(layer)
    parents = [edges[edges[:, 1] == node, 0] for node in range(n_nodes)]
    children = [edges[edges[:, 0] == node, 1] for node in range(n_nodes)]
    for _ in range(n_nodes):
        before = layer.copy()
        for node in np.argsort(-layer, kind="stable"):
            # The total length is linear in the layer, so that one end of the slack is best.
            if len(children[node]) > len(parents[node]):
                layer[node] = layer[children[node]].min() - 1
            elif len(parents[node]) > len(children[node]):
                layer[node] = layer[parents[node]].max() + 1
        if (layer == before).all():
            break
    return layer - layer.min(initial=0)


def layered(edges: Integers, n_nodes: int) -> Layering:
    """Return the layers, with a bend wherever an edge passes one."""
    layer = layers_of(edges, n_nodes)
    layers = [layer]
    chains = []
    fresh = n_nodes
    for source, target in edges.tolist():
        passed = np.arange(layer[source] + 1, layer[target])
        chains.append(np.array([source, *range(fresh, fresh + len(passed)), target], np.int64))
        layers.append(passed)
        fresh += len(passed)
    return Layering(np.concatenate(layers), tuple(chains), n_nodes)


def sorted_layers(layering: Layering) -> list[Integers]:
    """Return the points of each layer from the top down, so that few edges cross.

    >>> crossed = layered(np.array([[0, 3], [1, 2]]), 4)
    >>> crossings(crossed, sorted_layers(crossed))
    0
    """
    layer, segments = layering.layer, layering.segments
    n_layers = int(layer.max(initial=0)) + 1
    members = [np.flatnonzero(layer == at) for at in range(n_layers)]
    best, fewest = members, crossings(layering, members)
    for sweep in range(SORTING_SWEEPS):
        if not fewest:
            break
        place = _places(members, len(layer))
        forwards = sweep % 2 == 0
        near, far = segments.T if forwards else segments.T[::-1]
        for at in range(1, n_layers) if forwards else range(n_layers - 2, -1, -1):
            wanted = _means(place, near, far)
            members[at] = members[at][np.argsort(wanted[members[at]], kind="stable")]
            place[members[at]] = _evenly(len(members[at]))
        found = crossings(layering, members)
        if found < fewest:
            best, fewest = list(members), found
    return best


def crossings(layering: Layering, members: list[Integers]) -> int:
    """Return how many pairs of pieces cross between their layers."""
    place = _places(members, len(layering.layer))
    starts = layering.layer[layering.segments[:, 0]]
    count = 0
    for at in range(len(members) - 1):
        left, right = place[layering.segments[starts == at]].T
        count += int(((left[:, None] < left) & (right[:, None] > right)).sum())
    return count


def heights(layering: Layering, members: list[Integers]) -> Numbers:
    """Return the height of each point, downwards, in units of a node's height.

    Points of a layer keep their order and their distance; within that, each is as near as can be to the mean of its
    neighbours.
    """
    size = np.where(np.arange(len(layering.layer)) < layering.n_nodes, 1.0, BEND_ROOM)
    offsets = [_offsets(size[points]) for points in members]
    height = np.zeros(len(size))
    for points, offset in zip(members, offsets, strict=True):
        height[points] = offset - offset.mean()
    pulls = _Pulls(layering)
    for direction in _directions(PLACING_SWEEPS):
        for at in range(len(members)) if direction != "left" else reversed(range(len(members))):
            points = members[at]
            wanted, weight = pulls.on(points, height, direction)
            fitted = isotonic_regression(wanted - offsets[at], weights=weight)
            height[points] = fitted.x + offsets[at]
    return height - (height - size / 2).min(initial=0.0)


class _Pulls:
    """What each point's neighbours on its left and right pull it to."""

    def __init__(self, layering: Layering) -> None:
        self._left, self._right = layering.segments.T
        bend = np.arange(len(layering.layer)) >= layering.n_nodes
        self._weight = np.where(bend[self._left] & bend[self._right], STRAIGHTNESS, 1.0)

    def on(self, points: Integers, height: Numbers, direction: str) -> tuple[Numbers, Numbers]:
        """Return the wanted heights of the points, and their weights: small where there are no neighbours."""
        total, weight = np.zeros(len(height)), np.full(len(height), 1e-3)
        total += 1e-3 * height
        if direction != "left":
            np.add.at(total, self._right, self._weight * height[self._left])
            np.add.at(weight, self._right, self._weight)
        if direction != "right":
            np.add.at(total, self._left, self._weight * height[self._right])
            np.add.at(weight, self._left, self._weight)
        return total[points] / weight[points], weight[points]


def _directions(sweeps: int) -> Iterator[str]:
    """Yield from which side neighbours count: in turns, and in the end from both."""
    for sweep in range(sweeps):
        yield ("right", "left")[sweep % 2]
    for _ in range(sweeps // 3):
        yield "both"


def _offsets(size: Numbers) -> Numbers:
    """Return the least distance of each point from the first of its layer."""
    apart = (size[:-1] + size[1:]) / 2 + GAP * np.minimum(size[:-1], size[1:])
    return np.concatenate([[0.0], np.cumsum(apart)])


def _places(members: list[Integers], n_points: int) -> Numbers:
    place = np.zeros(n_points)
    for points in members:
        place[points] = _evenly(len(points))
    return place


def _evenly(count: int) -> Numbers:
    """Return places around 0, so that layers of unequal size have a common middle."""
    return np.arange(count, dtype=np.float64) - (count - 1) / 2


def _means(place: Numbers, near: Integers, far: Integers) -> Numbers:
    """Return the mean place of each point's neighbours, its own where it has none."""
    count = np.bincount(far, minlength=len(place))
    total = np.bincount(far, weights=place[near], minlength=len(place))
    means: Numbers = np.where(count > 0, total / np.maximum(count, 1), place)
    return means
