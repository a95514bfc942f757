"""Where the page draws nodes and edges: layers from left to right, by the layering of the plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.plots.layering import Layering, heights, layered, sorted_layers
from rfdag.plots.shortening import shortened

if TYPE_CHECKING:
    from rfdag.result import Result

LETTER = 7.0
"""Width of a letter, of 12 pixels' height; wide enough for most."""
BOX, ROW, BETWEEN, STUB = 24.0, 30.0, 46.0, 9.0
"""Height of a node, of its place in a layer, way between layers, and straight way before a node, in pixels."""


def drawing(result: Result, sources: list[int], targets: list[int], missing: list[list[int]]) -> dict[str, Any]:
    """Return centre, width and label of every node, and the course of every edge, then of every missing pair.

    Lengths are in pixels.
    """
    edges = np.array([*zip(sources, targets, strict=True), *missing], np.int64).reshape(-1, 2)
    labels = shortened([" ".join(str(name).split()) or '""' for name in result.names])
    widths = np.array([_width(label) for label in labels])
    joined = np.unique(edges)
    alone = [at for at in result.causal_order.tolist() if at not in set(joined.tolist())]
    centre = np.zeros((len(widths), 2))
    courses: list[str] = []
    reach = [0.0, 0.0]
    if len(joined):
        layering = layered(np.searchsorted(joined, edges), len(joined))
        points, columns = _points(layering, widths[joined])
        centre[joined] = points[: len(joined)]
        courses = _courses(layering, points, columns, widths[joined])
        reach = [float(points[:, 1].min()), float(points[:, 1].max())]
    _stand_below(centre, widths, joined, alone)
    return {
        "x": np.round(centre[:, 0], 1).tolist(),
        "y": np.round(centre[:, 1], 1).tolist(),
        "width": widths.tolist(),
        "label": labels,
        "height": BOX,
        "courses": courses,
        "top": round(min(reach[0], float(centre[:, 1].min())) - BOX, 1),
        "bottom": round(max(reach[1], float(centre[:, 1].max())) + BOX, 1),
    }


def _width(label: str) -> float:
    # Letters beyond Latin, Greek and Cyrillic are about twice as wide.
    return 18 + LETTER * sum(2 if ord(letter) > 0x2000 and letter != "…" else 1 for letter in label)


def _points(layering: Layering, widths: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the centre of every node and bend, and the left and right end of every layer."""
    height = ROW * heights(layering, sorted_layers(layering))
    widest = np.zeros(int(layering.layer.max()) + 1)
    np.maximum.at(widest, layering.layer[: len(widths)], widths + 2 * STUB)
    starts, ends = layering.segments.T
    columns = np.zeros((len(widest), 2))
    x = 0.0
    for at, width in enumerate(widest.tolist()):
        columns[at] = x, x + width
        rises = np.abs(height[ends] - height[starts])[layering.layer[starts] == at]
        # Steep edges need more way from layer to layer.
        x += width + min(BETWEEN + 0.25 * float(np.quantile(rises, 0.9)) if len(rises) else 0.0, 220.0)
    return np.stack([columns.mean(axis=1)[layering.layer], height], axis=1), columns


def _courses(
    layering: Layering, points: NDArray[np.float64], columns: NDArray[np.float64], widths: NDArray[np.float64]
) -> list[str]:
    """Return the course of each edge as an SVG path, from its source's right side to its target's left."""
    leaving = _ports([chain[0] for chain in layering.chains], [points[chain[1], 1] for chain in layering.chains])
    arriving = _ports([chain[-1] for chain in layering.chains], [points[chain[-2], 1] for chain in layering.chains])
    courses = []
    for chain, out, into in zip(layering.chains, leaving.tolist(), arriving.tolist(), strict=True):
        levels = points[chain, 1] + np.array([out, *[0.0] * (len(chain) - 2), into])
        start = points[chain[0], 0] + widths[chain[0]] / 2
        end = points[chain[-1], 0] - widths[chain[-1]] / 2
        words = [f"M{start:.1f} {levels[0]:.1f}"]
        for at in range(1, len(chain)):
            right, left = columns[layering.layer[chain[at - 1]], 1], columns[layering.layer[chain[at]], 0]
            middle = (right + left) / 2
            from_, to = levels[at - 1], levels[at]
            words.append(f"H{right:.1f}C{middle:.1f} {from_:.1f} {middle:.1f} {to:.1f} {left:.1f} {to:.1f}")
        courses.append("".join([*words, f"H{end:.1f}"]))
    return courses


def _ports(nodes: list[int], towards: list[float]) -> NDArray[np.float64]:
    """Return how far from its node's middle each edge leaves or arrives, in the order of where it goes."""
    offset = np.zeros(len(nodes))
    owners, there = np.array(nodes), np.array(towards)
    for node in np.unique(owners):
        own = np.flatnonzero(owners == node)
        ranked = own[np.argsort(there[own], kind="stable")]
        offset[ranked] = 0.7 * BOX * ((np.arange(len(own)) + 0.5) / len(own) - 0.5)
    return offset


def _stand_below(
    centre: NDArray[np.float64], widths: NDArray[np.float64], joined: NDArray[np.int64], alone: list[int]
) -> None:
    """Put nodes without edges in rows below the others."""
    right = max(float((centre[joined, 0] + widths[joined] / 2).max(initial=0.0)), 600.0)
    x, y = 0.0, float(centre[joined, 1].max(initial=-2 * ROW)) + 2 * ROW
    for node in alone:
        if x and x + widths[node] > right:
            x, y = 0.0, y + ROW + 6
        centre[node] = x + widths[node] / 2, y
        x += widths[node] + 10
