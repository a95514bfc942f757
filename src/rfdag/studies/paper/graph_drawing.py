"""Drawing small graphs: circles with names, lines and arrows that stop at them and go round others.

Colour, line and a mark all show what became of an edge, so that it can be read in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.plots import palette
from rfdag.plots.strokes import Stroke, handle

Point = tuple[float, float]
Edge = tuple[int, int]
Positions = Mapping[int, Point]

RADIUS = 0.19
"""Radius of a node's circle, where neighbours are about one unit apart."""
CLEARANCE = 0.07
"""Least distance of an edge from the circle of a node that is not its own."""
BENDS = (0.0, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3, 0.4, -0.4, 0.55, -0.55)
"""How far an edge may bow, in parts of its length, to the left if positive; the first that clears all is taken."""

SEGMENTS = 32
"""Straight pieces that an edge is drawn in."""


STROKES = {
    "edge": Stroke(palette.BLACK, 1.2, "-", "edge"),
    "fill": Stroke(palette.BLUE, 2.6, (0, (3.2, 1.2)), "fill edge"),
    "removed": Stroke(palette.VERMILLION, 1.6, (0, (1, 1.6)), "removed edge", "x"),
    "extra": Stroke(palette.ORANGE, 2.6, (0, (5, 1.2, 1, 1.2)), "in the elimination graph alone"),
    "gone": Stroke("#bdbdbd", 0.8, "-", "removed node and its edges"),
    "marriage": Stroke(palette.GREEN, 1.8, (0, (5, 2)), "joins parents of a common child"),
}
"""Kinds of edges by name."""


@dataclass(frozen=True)
class Picture:
    """A graph as it is drawn: edges by kind, and the nodes that are gone."""

    positions: Positions
    edges: Mapping[str, Iterable[Edge]]
    """By the name of a stroke; an edge is a pair of names."""
    directed: bool = False
    gone: frozenset[int] = frozenset()
    bends: Mapping[Edge, float] = field(default_factory=dict)
    """Bends that were asked for; the others are found."""
    radius: float = RADIUS

    def course(self, edge: Edge) -> NDArray[np.float64]:
        """Return the points of an edge, bent as asked for or as needed."""
        bend = self.bends.get(edge)
        if bend is None:
            bend = find_bend(self.positions, edge, self.radius)
        return course(self.positions, edge, bend, self.radius)


def draw_graph(axes: Any, picture: Picture, title: str = "") -> None:
    """Draw a graph on axes of its own."""
    axes.set_axis_off()
    axes.set_aspect("equal", anchor="N")
    reached = [np.array(list(picture.positions.values()), np.float64)]
    for kind, edges in picture.edges.items():
        for edge in sorted(edges):
            reached.append(picture.course(edge))
            _draw_edge(axes, picture, edge, kind, reached[-1])
    for node in picture.positions:
        _draw_node(axes, picture, node)
    everything = np.concatenate(reached)
    margin = 1.3 * picture.radius
    (left, low), (right, high) = everything.min(axis=0) - margin, everything.max(axis=0) + margin
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    if title:
        axes.set_title(title, fontsize=9)


def draw_legend(figure: Any, kinds: Sequence[str], columns: int = 5) -> None:
    """Say below a figure what each kind of edge means."""
    figure.legend(
        [handle(STROKES[kind]) for kind in kinds],
        [STROKES[kind].meaning for kind in kinds],
        loc="outside lower center",
        ncols=min(columns, len(kinds)),
        frameon=False,
        fontsize=9,
        handlelength=3.4,
    )


def course(positions: Positions, edge: Edge, bend: float = 0.0, radius: float = RADIUS) -> NDArray[np.float64]:
    """Return the points of an edge from circle to circle, one below the other.

    ``bend`` is how far it bows to the left, in parts of its length.

    >>> course({1: (0, 0), 2: (1, 0)}, (1, 2), radius=0.25)[[0, -1]].round(2)
    array([[0.25, 0.  ],
           [0.75, 0.  ]])
    """
    start, end = (np.array(positions[node], np.float64) for node in edge)
    along = end - start
    left = np.array([-along[1], along[0]])
    # A parabola bows half as far as its control point is off.
    control = (start + end) / 2 + 2 * bend * left
    t = np.linspace(0, 1, 401)[:, None]
    points = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
    outside = np.minimum(np.hypot(*(points - start).T), np.hypot(*(points - end).T)) >= radius
    return points[outside]


def clearance(positions: Positions, edge: Edge, bend: float = 0.0, radius: float = RADIUS) -> float:
    """Return how far an edge stays from the circles of all nodes that are not its own.

    >>> clearance({1: (0, 0), 2: (2, 0), 3: (1, 1)}, (1, 2), radius=0.25)
    0.75
    """
    points = course(positions, edge, bend, radius)
    others = [np.array(point) for node, point in positions.items() if node not in edge]
    return min((float(np.hypot(*(points - other).T).min()) - radius for other in others), default=np.inf)


def find_bend(positions: Positions, edge: Edge, radius: float = RADIUS) -> float:
    """Return the least bend that leads an edge round all other nodes; where none does, the one that comes closest.

    >>> find_bend({1: (0, 0), 2: (1, 0), 3: (2, 0)}, (1, 2))
    0.0
    >>> find_bend({1: (0, 0), 2: (1, 0), 3: (2, 0)}, (1, 3))
    0.2
    """
    room = {bend: clearance(positions, edge, bend, radius) for bend in BENDS}
    return next((bend for bend in BENDS if room[bend] >= CLEARANCE), max(BENDS, key=lambda bend: room[bend]))


def _draw_edge(axes: Any, picture: Picture, edge: Edge, kind: str, points: NDArray[np.float64]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    stroke = STROKES[kind]
    line = FancyArrowPatch(
        path=Path(points[np.linspace(0, len(points) - 1, SEGMENTS + 1).astype(int)]),
        arrowstyle="-|>" if picture.directed else "-",
        mutation_scale=9,
        color=stroke.color,
        linewidth=stroke.width,
        linestyle=stroke.line,
        capstyle="butt",
        joinstyle="miter",
        zorder=1 if kind == "gone" else 2,
        label=f"{kind} {edge[0]} {edge[1]}",
    )
    # The points end at the circles already.
    line.shrinkA = line.shrinkB = 0
    axes.add_patch(line)
    if stroke.mark:
        axes.plot(
            *points[len(points) // 2], stroke.mark, color=stroke.color, markersize=6, markeredgewidth=1.6, zorder=3
        )


def _draw_node(axes: Any, picture: Picture, node: int) -> None:
    from matplotlib.patches import Circle

    gone = node in picture.gone
    axes.add_patch(
        Circle(
            picture.positions[node],
            picture.radius,
            facecolor="white",
            edgecolor="#9a9a9a" if gone else palette.BLACK,
            linewidth=1.1,
            linestyle=(0, (2, 1.5)) if gone else "-",
            zorder=4,
            label=f"node {node}",
        )
    )
    axes.text(
        *picture.positions[node],
        str(node),
        ha="center",
        va="center_baseline",
        fontsize=9,
        color="#8a8a8a" if gone else palette.BLACK,
        zorder=5,
    )
