"""A graph laid out for drawing: where its boxes are, and the route of every edge between them.

In: the width of each node's box, and the edges. Out: coordinates, in the unit of the widths, y downwards. This is
geometry alone: matplotlib's figures, the report and the notebooks all draw what it returns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from rfdag.plots.layering import Layering, heights, layered, sorted_layers
from rfdag.plots.packing import packed

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

STUB = 0.41
"""How far an edge runs straight before it reaches a box, for its arrowhead; like all lengths here in box heights."""
NEAREST, FARTHEST = 1.4, 10.6
"""Least and largest distance between layers, unless a tall drawing needs more."""
STEEPNESS = 0.25
"""By how much layers move apart, in parts of the height that the steepest edges between them climb."""
PORTS = 0.7
"""The part of a box's side over which edges are spread."""
SHAPE = 0.6
"""Least width of a drawing, in parts of its height: a hub with many children would be a thin column otherwise."""
GAP = 0.6
"""Between the boxes of nodes without edges."""
BESIDE, BELOW = 1.6, 0.9
"""Between two parts of a graph that no edge connects, side by side and one below the other."""
LABELLED_UP_TO = 60
"""Number of edges up to which each may have a label."""
LABEL_ROOM = 3.4
"""Distance of layers where edges have labels."""
QUARTER = np.array([27, 27, 9, 1]) / 64
"""Weights of the four points of a curve that give the point at a quarter of it."""
LANDSCAPE = 3.0
"""Width of a block of nodes without edges, in parts of its height, where nothing else decides it."""


@dataclass(frozen=True)
class Layout:
    """Where everything is, to the right and downwards.

    Attributes
    ----------
    centre
        Of each node's box, as (n, 2).
    width
        Of each node's box.
    box
        The height of all boxes.
    routes
        For each edge the points of its way from the right side of its source to the left side of its target: where it
        starts; then, for every pair of layers it passes between, where a curve begins, its two control points and
        where it ends; and where it arrives. Between curves it runs level.
    layer
        Of each node that has edges, 0 on the left of the part of the graph that it is connected to; -1 for the others,
        which are in rows below.
    """

    centre: Numbers
    width: Numbers
    box: float
    routes: tuple[Numbers, ...]
    layer: Integers

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of all boxes and edges."""
        half = np.stack([self.width / 2, np.full(len(self.width), self.box / 2)], axis=1)
        reached = np.concatenate([self.centre - half, self.centre + half, *self.routes])
        (left, top), (right, bottom) = reached.min(axis=0), reached.max(axis=0)
        return float(left), float(right), float(top), float(bottom)

    def label_points(self, edges: Integers) -> Numbers:
        """Return where each edge has room for a label: where the edges of its more crowded end have come apart."""
        leaving, arriving = (Counter(column.tolist()) for column in edges.T)
        points = [
            QUARTER @ (route[1:5] if arriving[target] > leaving[source] else route[-2:-6:-1])
            for (source, target), route in zip(edges.tolist(), self.routes, strict=True)
        ]
        return np.array(points).reshape(-1, 2)

    def numbered(self, places: Integers) -> Layout:
        """Return the same layout with its nodes in another order: the i-th is the one that was at ``places[i]``."""
        return replace(self, centre=self.centre[places], width=self.width[places], layer=self.layer[places])


def laid_out(widths: ArrayLike, edges: Integers, box: float, *, labelled: bool = False) -> Layout:
    """Return the layout of a graph without cycles, causes on the left.

    Parts that no edge connects are laid out one by one, and packed closely; nodes without edges are in rows below.

    Parameters
    ----------
    widths
        The width of each node's box; nodes come in the order in which they are to be shown.
    edges
        (m, 2) numbers of nodes, each edge from its source to its target.
    box
        The height of a box, in the same unit; all distances follow from it.
    labelled
        Whether layers are so far apart that edges have room for labels.

    Examples
    --------
    >>> layout = laid_out([10, 10, 10], np.array([[0, 1], [1, 2], [0, 2]]), box=5)
    >>> bool((np.diff(layout.centre[:, 0]) > 0).all()), len(layout.routes)
    (True, 3)
    """
    width = np.asarray(widths, np.float64)
    centre = np.zeros((len(width), 2))
    layer = np.full(len(width), -1)
    routes: list[Numbers] = [np.empty((0, 2))] * len(edges)
    apart = LABEL_ROOM if labelled else NEAREST
    parts = list(_connected(edges, len(width)))
    drawings = [
        _connected_layout(width[nodes], np.searchsorted(nodes, edges[own]), box, apart or NEAREST)
        for nodes, own in parts
    ]
    for (nodes, own), drawn, shift in zip(parts, drawings, _shifts(drawings, box), strict=True):
        centre[nodes], layer[nodes] = drawn.centre + shift, drawn.layer
        for at, route in zip(own.tolist(), drawn.routes, strict=True):
            routes[at] = route + shift
    adjacent = np.flatnonzero(layer >= 0)
    alone = np.flatnonzero(layer < 0)
    above = Layout(centre[adjacent], width[adjacent], box, tuple(routes), layer[adjacent])
    centre[alone] = _rows(width[alone], above if len(adjacent) else None, box)
    return Layout(centre, width, box, tuple(routes), layer)


def _connected(edges: Integers, n_nodes: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield the nodes and the numbers of the edges of every part that hangs together by edges."""
    if not len(edges):
        return
    ones = np.ones(len(edges))
    graph = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    _, label = connected_components(graph, directed=False)
    for part in np.unique(label[edges[:, 0]]):
        yield np.flatnonzero(label == part), np.flatnonzero(label[edges[:, 0]] == part)


def _connected_layout(width: Numbers, edges: Integers, box: float, apart: float) -> Layout:
    """Return the layout of nodes that all hang together."""
    layering = layered(edges, len(width))
    points, columns = _points(layering, width, box, apart)
    routes = _routes(layering, points, columns, width, box)
    return Layout(points[: len(width)], width, box, routes, layering.layer[: len(width)])


def _shifts(drawings: Sequence[Layout], box: float) -> Numbers:
    """Return by how much to move each drawing, so that they are close together and none overlaps another."""
    if len(drawings) < 2:
        return np.zeros((len(drawings), 2))
    left, right, top, bottom = np.array([drawn.extent for drawn in drawings]).T
    corners = packed(np.stack([right - left, bottom - top], axis=1), (BESIDE * box, BELOW * box))
    return corners - np.stack([left, top], axis=1)


def _points(layering: Layering, width: Numbers, box: float, apart: float) -> tuple[Numbers, Numbers]:
    """Return the centre of every node and bend, and the left and right end of every layer, stubs included."""
    height = box * heights(layering, sorted_layers(layering))
    n_layers = int(layering.layer.max()) + 1
    widest = np.zeros(n_layers)
    np.maximum.at(widest, layering.layer[: len(width)], width + 2 * STUB * box)
    between = _between(layering, height, box, apart)
    lacking = SHAPE * float(np.ptp(height)) - float(widest.sum() + between.sum())
    between *= max(1.0, 1 + lacking / float(between.sum()))
    left = np.concatenate([[0.0], np.cumsum(widest[:-1] + between)])
    columns = np.stack([left, left + widest], axis=1)
    return np.stack([columns.mean(axis=1)[layering.layer], height], axis=1), columns


def _between(layering: Layering, height: Numbers, box: float, apart: float) -> Numbers:
    """Return the distance of every layer from the next: steep edges need more room to turn."""
    starts, ends = layering.segments.T
    climbs, begins = np.abs(height[ends] - height[starts]), layering.layer[starts]
    own = [climbs[begins == at] for at in range(int(layering.layer.max()))]
    steep = [float(np.quantile(climb, 0.9)) if len(climb) else 0.0 for climb in own]
    distance: Numbers = np.minimum(apart * box + STEEPNESS * np.array(steep), FARTHEST * box)
    return distance


def _routes(layering: Layering, points: Numbers, columns: Numbers, width: Numbers, box: float) -> tuple[Numbers, ...]:
    chains = layering.chains
    leaving = _ports([chain[0] for chain in chains], [points[chain[1], 1] for chain in chains], box)
    arriving = _ports([chain[-1] for chain in chains], [points[chain[-2], 1] for chain in chains], box)
    routes = []
    for chain, out, into in zip(chains, leaving, arriving, strict=True):
        levels = points[chain, 1] + np.array([out, *[0.0] * (len(chain) - 2), into])
        start = points[chain[0], 0] + width[chain[0]] / 2
        end = points[chain[-1], 0] - width[chain[-1]] / 2
        routes.append(_route(start, end, columns[layering.layer[chain]], levels))
    return tuple(routes)


def _route(start: float, end: float, passed: Numbers, levels: Numbers) -> Numbers:
    """Return the points of one edge, which passes layers at these levels.

    Within a layer it runs level, so that it touches no box above or below.
    """
    points = [(start, levels[0])]
    for at in range(1, len(levels)):
        right, left = passed[at - 1, 1], passed[at, 0]
        middle = (right + left) / 2
        before, after = levels[at - 1], levels[at]
        points += [(right, before), (middle, before), (middle, after), (left, after)]
    return np.array([*points, (end, levels[-1])])


def _ports(nodes: Sequence[int], towards: Sequence[float], box: float) -> Numbers:
    """Return by how much below its node's middle each edge leaves or arrives, in the order of where it goes."""
    offset = np.zeros(len(nodes))
    owners, goals = np.array(nodes), np.array(towards)
    # Edges sorted by node, and those of a node by where they go.
    ranked = np.lexsort((goals, owners))
    _, first, count = np.unique(owners[ranked], return_index=True, return_counts=True)
    at = np.arange(len(nodes)) - np.repeat(first, count)
    offset[ranked] = PORTS * box * ((at + 0.5) / np.repeat(count, count) - 0.5)
    return offset


def _rows(widths: Numbers, above: Layout | None, box: float) -> Numbers:
    """Return the centres of nodes without edges, in rows below the others."""
    gap, step = GAP * box, (1 + GAP) * box
    room = math.sqrt(LANDSCAPE * step * float((widths + gap).sum()))
    left, top = 0.0, 0.0
    if above is not None:
        left, right, _, bottom = above.extent
        room, top = max(room, right - left), bottom + box
    centre = np.zeros((len(widths), 2))
    x, y = left, top + box / 2
    for at, width in enumerate(widths.tolist()):
        if x > left and x + width > left + room:
            x, y = left, y + step
        centre[at] = x + width / 2, y
        x += width + gap
    return centre
