"""The picture of a bootstrap as a matrix: how often runs have each edge and direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.matrix import SHADES, pooled, write_axes

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap

NUMBERED_UP_TO = 16
"""Number of variables up to which cells show their numbers."""
NUMBERED_FROM = 0.05
"""Share from which a cell shows its number."""
OUTLINED_UP_TO = 100
"""Number of variables up to which the edges of the plain run have a frame."""
DARK = 0.5
"""Share from which a cell is so dark that its number is white."""


def draw_frequency_matrix(bootstrap: Bootstrap, ax: Axes | None) -> Axes:
    """Draw how often each variable (row) causes each other (column), both in the order of the plain run.

    A run that leaves an edge undirected counts half for either direction. Edges of the plain run are framed.
    """
    result = bootstrap.result
    p = len(result.names)
    axes = framed_axes(7.6, 7.0) if ax is None else ax
    order = result.causal_order
    shares = bootstrap.direction_frequency[np.ix_(order, order)]
    rows, columns = shares.nonzero()
    image, span = pooled(rows, columns, shares[rows, columns], p)
    edge = 0.5 + span * len(image)
    shown = axes.imshow(
        np.ma.masked_equal(image, 0), cmap=SHADES, vmin=0, vmax=1, interpolation="nearest",
        extent=(0.5, edge, edge, 0.5),
    )  # fmt: skip
    axes.plot([0.5, p + 0.5], [0.5, p + 0.5], color=palette.GREY, linewidth=0.6, label="_diagonal")
    axes.set_xlim(0.5, p + 0.5)
    axes.set_ylim(p + 0.5, 0.5)
    write_axes(axes, result, span, len(rows))
    if p <= OUTLINED_UP_TO and result.dag.any():
        _frame_edges(axes, np.argwhere(result.dag[np.ix_(order, order)] != 0))
    if p <= NUMBERED_UP_TO:
        for row, column in np.argwhere(shares >= NUMBERED_FROM).tolist():
            share = float(shares[row, column])
            color = "white" if share >= DARK else palette.BLACK
            axes.text(column + 1, row + 1, f"{share:.2f}", ha="center", va="center", fontsize=7, color=color)
    if len(rows):
        label = f"share of {bootstrap.runs} runs; undirected edges count half each way"
        axes.figure.colorbar(shown, ax=axes, shrink=0.6, label=label)
    return axes


def _frame_edges(axes: Axes, edges: NDArray[np.int64]) -> None:
    """Put a frame around the cells of the plain run's edges, and its meaning into a legend."""
    size = axes.get_xlim()[1] - axes.get_xlim()[0]
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (np.nan, np.nan)])
    outline = np.concatenate([corners + np.array([column + 0.5, row + 0.5]) for row, column in edges.tolist()])
    axes.plot(
        outline[:, 0], outline[:, 1], color=palette.VERMILLION, linewidth=float(np.clip(30 / size, 0.5, 1.6)),
        label="edge of the plain run",
    )  # fmt: skip
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=8)
