"""Where a picture is drawn: on the axes given, or on a figure of its own, which needs no pyplot and no closing."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

LEAST = (4.0, 2.2)
"""Width and height in inches of the smallest figure made."""
LARGEST = (22.0, 16.0)


class Picture(Axes):
    """Axes on a figure of their own; a notebook shows the figure when they are the last value of a cell."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        figure: Any = self.figure
        figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def own_axes(width: float, height: float, *, below: float = 0.0) -> Axes:
    """Return axes that fill a new figure of about this size in inches, but for a strip below.

    >>> own_axes(5, 3).figure.get_size_inches().tolist()
    [5.0, 3.0]
    """
    figure = Figure(figsize=(_within(0, width), _within(1, height + below)), facecolor="white")
    share = below / figure.get_figheight()
    return figure.add_axes((0.0, share, 1.0, 1.0 - share), axes_class=Picture)


def framed_axes(width: float, height: float) -> Axes:
    """Return axes with room for ticks and titles on a new figure of about this size in inches."""
    figure = Figure(figsize=(_within(0, width), _within(1, height)), layout="constrained", facecolor="white")
    return figure.add_subplot(axes_class=Picture)


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Return width and height of axes."""
    box, whole = axes.get_position(original=True), axes.figure.bbox
    points = 72 / axes.figure.dpi
    return box.width * whole.width * points, box.height * whole.height * points


def _within(side: int, inches: float) -> float:
    return min(max(inches, LEAST[side]), LARGEST[side])
