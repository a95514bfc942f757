"""The picture of a causal order, with the places each variable may have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from rfdag.errors import OptionError, listed
from rfdag.plots import palette
from rfdag.plots.canvas import framed_axes
from rfdag.plots.labels import labels
from rfdag.plots.ticks import name_ticks

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap, Rank
    from rfdag.result import Result

Ranks: TypeAlias = "Mapping[Hashable, Sequence[float]] | Iterable[Rank] | Bootstrap"
ROW = 0.2
"""Height of a variable in inches, where there are few."""
BARS_UP_TO = 150
"""Number of variables up to which each has a bar of its own."""


def draw_order(result: Result, ax: Axes | None, ranks: Ranks | None) -> Axes:
    """Draw the variables from top to bottom in causal order, each at its place.

    A pale bar (an area where they are many) spans the places that a variable can have in an order of the DAG. Where
    ``ranks`` is given, a line spans the interval of each variable, with a dot at its median.
    """
    p = len(result.names)
    axes = place_axes(ax, p)
    rows = np.arange(1, p + 1)
    earliest, latest = possible_places(result.dag, result.causal_order)
    _draw_allowed(axes, rows, earliest, latest)
    axes.plot(rows, rows, "|", color=palette.BLACK, markersize=2 * mark_size(p), label="place in the order")
    if ranks is not None:
        draw_intervals(axes, _intervals(result, ranks), "interval")
    write_places(axes, labels(result.order))
    return axes


def place_axes(ax: Axes | None, p: int) -> Axes:
    """Return axes with a row for each of p variables."""
    return framed_axes(7.0, 1.0 + ROW * min(p, 70)) if ax is None else ax


def mark_size(p: int) -> float:
    """Return the size of a dot in points, smaller where there are many variables."""
    return float(np.clip(250 / p, 1.5, 5.5))


def draw_intervals(axes: Axes, intervals: NDArray[np.float64], meaning: str) -> None:
    """Draw (low, median, high) of every row, from the top down."""
    low, median, high = intervals.T
    rows, size = np.arange(1, len(low) + 1), mark_size(len(low))
    axes.hlines(rows, low, high, color=palette.BLUE, linewidth=size / 3, label=meaning)
    axes.plot(median, rows, "o", color=palette.BLUE, markersize=size, label="median")


def write_places(axes: Axes, names: Sequence[str]) -> None:
    """Put the names of the rows and the places along the axes, and a legend above."""
    p = len(names)
    axes.set_xlim(0.5, p + 0.5)
    axes.set_ylim(p + 0.5, 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("place in the causal order, causes first")
    axes.spines[["top", "right"]].set_visible(False)
    name_ticks(axes.yaxis, np.arange(1, p + 1), names)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, fontsize=8)


def _draw_allowed(axes: Axes, rows: NDArray[Any], earliest: NDArray[Any], latest: NDArray[Any]) -> None:
    """Draw a bar for each variable, or one area where bars would be too thin to tell apart."""
    label = "places the DAG allows"
    if len(rows) > BARS_UP_TO:
        axes.fill_betweenx(rows, earliest, latest, step="mid", color=palette.PALE, linewidth=0, label=label)
        return
    thick = min(0.6, max(0.3, len(rows) / 300))
    axes.barh(rows, latest - earliest + thick, left=earliest - thick / 2, height=thick, color=palette.PALE, label=label)


def possible_places(dag: Any, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last place, from 1, that orders of the DAG give each variable of this one.

    >>> possible_places(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), np.array([0, 1, 2]))
    (array([1, 2, 1]), array([2, 3, 3]))
    """
    p = len(order)
    rank = np.argsort(order)
    sources, targets = (rank[ends] for ends in dag.nonzero())
    above = np.eye(p, dtype=bool)
    # By source, so that the ancestors of a node are complete before its children take them over.
    for at in np.argsort(sources, kind="stable"):
        above[targets[at]] |= above[sources[at]]
    return above.sum(axis=1), p + 1 - above.sum(axis=0)


def _by_name(ranks: Any) -> Mapping[Hashable, Sequence[float]]:
    """Return (low, median, high) by name, from any of the forms that ``ranks`` may have."""
    if isinstance(ranks, Mapping):
        return ranks
    try:
        return {rank.variable: (rank.lower, rank.median, rank.upper) for rank in getattr(ranks, "ranks", ranks)}
    except (TypeError, AttributeError):
        raise OptionError(
            "ranks= is a bootstrap, its .ranks, or a mapping from name to (low, median, high), not an object of type "
            f"{type(ranks).__name__}."
        ) from None


def _intervals(result: Result, given: Ranks) -> NDArray[np.float64]:
    ranks = _by_name(given)
    missing = [name for name in result.order if name not in ranks]
    if missing:
        raise OptionError(f"ranks= lacks {listed(missing)}; it needs (low, median, high) for every variable.")
    found = [tuple(ranks[name]) for name in result.order]
    wrong = [
        name
        for name, interval in zip(result.order, found, strict=True)
        if len(interval) != 3 or not interval[0] <= interval[1] <= interval[2]
    ]
    if wrong:
        raise OptionError(f"ranks= of {listed(wrong)} are not three growing numbers: low, median and high place.")
    return np.array(found, np.float64)
