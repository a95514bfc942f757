"""Drawing a graph: boxes with names in layers, lines and arrows between them, a legend below."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from rfdag.plots import palette
from rfdag.plots.canvas import own_axes, size_in_points
from rfdag.plots.labels import PLAIN, labels
from rfdag.plots.sheet import BOX, FONT, Sheet, laid_out
from rfdag.plots.strokes import Stroke, handle

SMALLEST_FONT = 3.5
"""Below this size, in points, names are left out."""
MARGIN = 10.0
LEGEND = 0.38
"""Height in inches of the strip with the legend."""


class Link(NamedTuple):
    """An edge as it is drawn: along the layers, whichever way its arrow points."""

    source: int
    target: int
    stroke: Stroke
    width: float
    arrow: str
    """Arrowhead at "target", at "source", or "none"."""


class Entry(NamedTuple):
    """A line of the legend."""

    text: str
    stroke: Stroke | None = None
    arrow: bool = False

    @property
    def handle(self) -> Any:
        """A piece of the line, or nothing."""
        if self.stroke is None:
            return Line2D([], [], linestyle="none")
        return handle(self.stroke._replace(mark=">" if self.arrow else ""))


ARROWS = {"target": "-|>", "source": "<|-", "none": "-"}


def draw_network(
    ax: Axes | None, names: Sequence[Hashable], links: Sequence[Link], legend: Sequence[Entry] = ()
) -> Axes:
    """Draw nodes, given in causal order, and links, each from an earlier node to a later; return the axes."""
    ends = np.array([(link.source, link.target) for link in links], np.int64).reshape(-1, 2)
    texts = labels(names)
    sheet = laid_out(texts, ends)
    left, right, low, high = sheet.extent
    wide, tall = right - left + 2 * MARGIN, high - low + 2 * MARGIN
    axes = own_axes(wide / 72, tall / 72, below=LEGEND) if ax is None else ax
    room = size_in_points(axes)
    # Never larger than life: a small graph on large axes stays a small graph.
    scale = min(room[0] / wide, room[1] / tall, 1.0)
    _set_up(axes, ((left + right) / 2, (low + high) / 2), (room[0] / scale, room[1] / scale))
    for link, course in zip(links, sheet.courses, strict=True):
        _draw_link(axes, link, course, scale)
    _draw_nodes(axes, sheet, texts, scale)
    told = [] if FONT * scale >= SMALLEST_FONT else [Entry("too many names to show here")]
    _draw_legend(axes, [*legend, *told, *([] if links else [Entry("no edges")])])
    return axes


def _set_up(axes: Axes, centre: tuple[float, float], size: tuple[float, float]) -> None:
    axes.set_axis_off()
    axes.set_xlim(centre[0] - size[0] / 2, centre[0] + size[0] / 2)
    axes.set_ylim(centre[1] - size[1] / 2, centre[1] + size[1] / 2)
    axes.set_aspect("equal")


def _draw_link(axes: Axes, link: Link, course: Any, scale: float) -> None:
    line = FancyArrowPatch(
        path=course,
        arrowstyle=ARROWS[link.arrow],
        mutation_scale=max(9 * scale, 2.5) + link.width,
        color=link.stroke.color,
        linewidth=link.width * max(scale, 0.4),
        linestyle=link.stroke.line,
        capstyle="butt",
        joinstyle="miter",
        zorder=2,
        label=f"_{link.stroke.meaning}",
    )
    # A path ends at the boxes already.
    line.shrinkA = line.shrinkB = 0
    axes.add_artist(line)


def _draw_nodes(axes: Axes, sheet: Sheet, texts: Sequence[str], scale: float) -> None:
    size = FONT * scale
    for (x, y), width, text in zip(sheet.centre, sheet.width, texts, strict=True):
        axes.add_artist(
            FancyBboxPatch(
                (x - width / 2, y - BOX / 2),
                width,
                BOX,
                boxstyle=f"round,pad=0,rounding_size={0.4 * BOX}",
                facecolor="white",
                edgecolor=palette.BLACK,
                linewidth=max(0.9 * scale, 0.3),
                zorder=3,
            )
        )
        if size >= SMALLEST_FONT:
            axes.text(
                x, y, text, ha="center", va="center_baseline", fontsize=size, color=palette.BLACK, zorder=4, **PLAIN
            )


def _draw_legend(axes: Axes, legend: Sequence[Entry]) -> None:
    axes.legend(
        [entry.handle for entry in legend],
        [entry.text for entry in legend],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0.2,
        ncols=max(len(legend), 1),
        frameon=False,
        fontsize=FONT,
        handlelength=2.6,
        columnspacing=1.4,
    )
