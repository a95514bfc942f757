"""A graph laid out on a sheet, in points: boxes that hold the labels, and the courses of edges between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from rfdag.plots.labels import width_of
from rfdag.plots.layering import Layering, heights, layered, sorted_layers

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

FONT = 9.0
"""Size of a label where the sheet is shown at its own size."""
BOX = 17.0
"""Height of a node."""
PADDING = 6.0
"""From a label to the end of its box, on either side."""
STUB = 7.0
"""Way that an edge goes straight before it reaches a box, for its arrowhead."""
PORTS = 0.7
"""The part of a box's side over which edges are spread."""
SHAPE = 0.6
"""Least width of a sheet, in parts of its height."""
GRID_GAP = 10.0
"""Between the boxes of nodes without edges."""


@dataclass(frozen=True)
class Sheet:
    """Where everything is, in points, upwards and to the right.

    Attributes
    ----------
    centre, width
        Of each node's box.
    courses
        The path of each edge, from the right side of its source to the left side of its target.
    layer
        Of each node that has edges, 0 on the left; -1 for the others, which stand below in rows.
    """

    centre: Numbers
    width: Numbers
    courses: tuple[Path, ...]
    layer: Integers

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, lowest and highest point of all boxes and edges."""
        half = np.stack([self.width / 2, np.full(len(self.width), BOX / 2)], axis=1)
        reached = np.concatenate([self.centre - half, self.centre + half, *(path.vertices for path in self.courses)])
        (left, low), (right, high) = reached.min(axis=0), reached.max(axis=0)
        return float(left), float(right), float(low), float(high)


def laid_out(labels: Sequence[str], edges: Integers) -> Sheet:
    """Return the sheet of a graph without cycles; ``edges`` is (m, 2), and nodes come in the order to be shown.

    >>> sheet = laid_out(["a", "b", "c"], np.array([[0, 1], [1, 2], [0, 2]]))
    >>> bool((np.diff(sheet.centre[:, 0]) > 0).all())
    True
    """
    width = np.array([width_of(label, FONT) + 2 * PADDING for label in labels])
    joined = np.unique(edges)
    alone = np.setdiff1d(np.arange(len(labels)), joined)
    centre = np.zeros((len(labels), 2))
    layer = np.full(len(labels), -1)
    courses: tuple[Path, ...] = ()
    if len(joined):
        layering = layered(np.searchsorted(joined, edges), len(joined))
        points, columns = _points(layering, width[joined])
        centre[joined], layer[joined] = points[: len(joined)], layering.layer[: len(joined)]
        courses = _courses(layering, points, columns, width[joined])
    centre[alone] = _rows(width[alone], centre[joined], width[joined])
    return Sheet(centre, width, courses, layer)


def _points(layering: Layering, width: Numbers) -> tuple[Numbers, Numbers]:
    """Return the centre of every point, and the left and right end of every layer, stubs included."""
    height = -BOX * heights(layering, sorted_layers(layering))
    n_layers = int(layering.layer.max()) + 1
    widest = np.zeros(n_layers)
    np.maximum.at(widest, layering.layer[: len(width)], width + 2 * STUB)
    starts, ends = layering.segments.T
    rises = [np.abs(height[ends] - height[starts])[layering.layer[starts] == at] for at in range(n_layers - 1)]
    # Steep edges need more way from layer to layer, and tall sheets more than others: they are shrunk to be seen whole.
    between = np.array([min(24 + 0.25 * float(np.quantile(rise, 0.9)), 180.0) if len(rise) else 24.0 for rise in rises])
    lacking = SHAPE * float(np.ptp(height)) - float(widest.sum() + between.sum())
    between *= max(1.0, 1 + lacking / float(between.sum()))
    left = np.concatenate([[0.0], np.cumsum(widest[:-1] + between)])
    columns = np.stack([left, left + widest], axis=1)
    return np.stack([columns.mean(axis=1)[layering.layer], height], axis=1), columns


def _courses(layering: Layering, points: Numbers, columns: Numbers, width: Numbers) -> tuple[Path, ...]:
    leaving = _ports([chain[0] for chain in layering.chains], [points[chain[1], 1] for chain in layering.chains])
    arriving = _ports([chain[-1] for chain in layering.chains], [points[chain[-2], 1] for chain in layering.chains])
    courses = []
    for chain, out, into in zip(layering.chains, leaving, arriving, strict=True):
        levels = points[chain, 1] + np.array([out, *[0.0] * (len(chain) - 2), into])
        passed = columns[layering.layer[chain]]
        # Within its own layers an edge runs level, so that it touches no box above or below.
        start = points[chain[0], 0] + width[chain[0]] / 2
        end = points[chain[-1], 0] - width[chain[-1]] / 2
        courses.append(_course(start, end, passed, levels))
    return tuple(courses)


def _course(start: float, end: float, passed: Numbers, levels: Numbers) -> Path:
    vertices, codes = [(start, levels[0])], [Path.MOVETO]
    for at in range(1, len(levels)):
        right, left = passed[at - 1, 1], passed[at, 0]
        middle = (right + left) / 2
        vertices += [
            (right, levels[at - 1]),
            (middle, levels[at - 1]), (middle, levels[at]), (left, levels[at]),
        ]  # fmt: skip
        codes += [Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    return Path([*vertices, (end, levels[-1])], [*codes, Path.LINETO])


def _ports(nodes: list[int], towards: list[float]) -> Numbers:
    """Return by how much above its node's middle each edge leaves or arrives, in the order of where it goes."""
    offset = np.zeros(len(nodes))
    owners, heights_there = np.array(nodes), np.array(towards)
    for node in np.unique(owners):
        own = np.flatnonzero(owners == node)
        ranked = own[np.argsort(heights_there[own], kind="stable")]
        offset[ranked] = PORTS * BOX * ((np.arange(len(own)) + 0.5) / len(own) - 0.5)
    return offset


def _rows(alone: Numbers, others: Numbers, widths: Numbers) -> Numbers:
    """Return the centres of nodes without edges: in rows below the others, or by themselves."""
    if not len(alone):
        return np.empty((0, 2))
    cell, row = float(alone.max()) + GRID_GAP, BOX + GRID_GAP
    if len(others):
        left = float((others[:, 0] - widths / 2).min())
        room = float((others[:, 0] + widths / 2).max()) - left
        top = float(others[:, 1].min()) - 2 * row
        per_row = max(1, int((room + GRID_GAP) // cell))
    else:
        left, top = 0.0, 0.0
        per_row = math.ceil(math.sqrt(1.6 * len(alone) * row / cell))
    at = np.arange(len(alone))
    return np.stack([left + (at % per_row + 0.5) * cell - GRID_GAP / 2, top - (at // per_row) * row], axis=1)
