"""The picture of the places that variables have in the orders of a bootstrap's runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from rfdag.plots import palette
from rfdag.plots.labels import labels
from rfdag.plots.order import draw_intervals, mark_size, place_axes, write_places

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap


def draw_frequency_order(bootstrap: Bootstrap, ax: Axes | None) -> Axes:
    """Draw the variables from top to bottom by their median place, each with the interval of 90 % of the runs."""
    p = len(bootstrap.names)
    axes = place_axes(ax, p)
    ranks = sorted(bootstrap.ranks, key=lambda rank: (rank.median, rank.mean))
    draw_intervals(axes, np.array([(rank.lower, rank.median, rank.upper) for rank in ranks]), "90 % of the runs")
    place = {name: at for at, name in enumerate(bootstrap.result.order, start=1)}
    plain = [place[rank.variable] for rank in ranks]
    axes.plot(
        plain,
        np.arange(1, p + 1),
        "|",
        color=palette.BLACK,
        markersize=2 * mark_size(p),
        label="place in the plain run",
    )
    axes.grid(axis="x", color=palette.PALE, linewidth=0.6)
    write_places(axes, labels(rank.variable for rank in ranks))
    return axes
