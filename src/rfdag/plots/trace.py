"""The picture of an elimination, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.labels import labels
from rfdag.plots.ticks import name_ticks

if TYPE_CHECKING:
    from rfdag.result import Result

LINES = {
    "removal": ("R: edges removed", palette.BLUE, "o", "-"),
    "fill": ("F: edges filled in", palette.VERMILLION, "s", "--"),
    "degree": ("D: neighbours", palette.BLACK, "^", ":"),
}
"""For each score its name, colour, marker and line."""
LINEAR_UP_TO = 30
"""Largest score for which the axis is linear throughout."""


def draw_trace(result: Result, ax: Axes | None) -> Axes:
    """Draw the scores R, F and D of each variable at its removal, the first removed (a sink) on the left."""
    trace = result.trace
    axes = framed_axes(float(np.clip(0.22 * len(trace) + 2, 6, 16)), 3.8) if ax is None else ax
    steps = np.arange(1, len(trace) + 1)
    size = float(np.clip(250 / max(len(trace), 1), 1.5, 5))
    highest = 0
    for score, (meaning, color, marker, line) in LINES.items():
        values = getattr(trace, score)
        highest = max(highest, int(values.max(initial=0)))
        # Hollow, so that equal scores do not hide each other.
        axes.plot(
            steps, values, color=color, marker=marker, linestyle=line, label=meaning,
            linewidth=1.1, markersize=size, markerfacecolor="none",
        )  # fmt: skip
    if highest > LINEAR_UP_TO:
        axes.set_yscale("symlog", linthresh=LINEAR_UP_TO / 3)
        axes.set_ylim(bottom=-0.3)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(-0.3, 1.05 * max(highest, 1))
    axes.set_ylabel("at removal")
    axes.set_xlabel("removed, sinks first" if len(trace) else "no elimination was recorded")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=palette.PALE, linewidth=0.6)
    name_ticks(axes.xaxis, steps, labels(result.names[node] for node in trace.node.tolist()), rotation=90)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=8)
    return axes
