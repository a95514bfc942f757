"""The picture of a graph as a matrix, for any number of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import NDArray

from rfdag.graphs.sparse import entries_at
from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.labels import labels
from rfdag.plots.strengths import Weights, strengths
from rfdag.plots.ticks import name_ticks

if TYPE_CHECKING:
    from rfdag.result import Result
    from rfdag.result.exporting import Kind

FINEST = 400
"""Most cells of the picture along a side: smaller ones could not be seen."""
SHADES = LinearSegmentedColormap.from_list("rfdag", ["#ffffff", palette.SKY, palette.BLUE, "#00263d"])
FAINTEST = 0.25
"""Shade of the weakest edge, so that it is seen."""


def draw_matrix(result: Result, ax: Axes | None, graph: Kind, weights: Weights) -> Axes:
    """Draw the adjacency matrix in causal order, causes in rows; undirected edges are on both sides.

    Where variables are too many to see, a cell stands for several, and shows the strongest of its edges.
    """
    p = len(result.names)
    axes = framed_axes(7.6, 7.0) if ax is None else ax
    rows, columns, strength, meaning = _entries(result, graph, weights)
    image, span = pooled(rows, columns, FAINTEST + (1 - FAINTEST) * strength, p)
    edge = 0.5 + span * len(image)
    shown = axes.imshow(
        np.ma.masked_equal(image, 0),
        cmap=SHADES,
        vmin=0,
        vmax=1,
        interpolation="nearest",
        extent=(0.5, edge, edge, 0.5),
    )
    axes.plot([0.5, p + 0.5], [0.5, p + 0.5], color=palette.GREY, linewidth=0.6, label="_diagonal")
    axes.set_xlim(0.5, p + 0.5)
    axes.set_ylim(p + 0.5, 0.5)
    write_axes(axes, result, span, len(rows))
    if meaning and len(rows):
        bar = axes.figure.colorbar(shown, ax=axes, shrink=0.6, label=meaning)
        marks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        bar.set_ticks([FAINTEST + (1 - FAINTEST) * mark for mark in marks], labels=[f"{mark:.1f}" for mark in marks])
        bar.ax.set_ylim(FAINTEST, 1)
    return axes


def pooled(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float64], p: int
) -> tuple[NDArray[np.float64], int]:
    """Return the largest value of each cell of the picture, and how many variables a cell spans.

    >>> pooled(np.array([0, 2]), np.array([1, 3]), np.array([0.5, 1.0]), 4)[0].shape
    (4, 4)
    """
    span = -(-p // FINEST)
    side = -(-p // span)
    image = np.zeros((side, side))
    np.maximum.at(image, (rows // span, columns // span), values)
    return image, span


def _entries(
    result: Result, graph: Kind, weights: Weights
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], str]:
    """Return row, column and strength of all entries, by place in the order."""
    sources, targets = result.dag.nonzero()
    rank = np.argsort(result.causal_order)
    strength, meaning = strengths(result, weights)
    rows, columns = rank[sources], rank[targets]
    if graph != "dag":
        undecided = entries_at(getattr(result, graph), sources, targets) == 2
        rows, columns = np.append(rows, columns[undecided]), np.append(columns, rows[undecided])
        strength = np.append(strength, strength[undecided])
    return rows, columns, strength, meaning


def write_axes(axes: Axes, result: Result, span: int, n_entries: int) -> None:
    """Put names along both axes of a matrix in causal order, and what rows and columns are."""
    places = np.arange(1, len(result.names) + 1)
    names = labels(result.order, longest=14)
    name_ticks(axes.yaxis, places, names)
    name_ticks(axes.xaxis, places, names, rotation=90)
    axes.set_ylabel("cause, in causal order")
    cells = f"; a cell shows the strongest of {span} × {span}" if span > 1 else ""
    axes.set_xlabel(f"effect{cells}" if n_entries else "effect; no edges")
