"""The kinds of pictures by name: which is meant, and whether it can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from rfdag.errors import OptionError
from rfdag.plots.frequency_graph import draw_frequency_graph
from rfdag.plots.frequency_matrix import draw_frequency_matrix
from rfdag.plots.frequency_order import draw_frequency_order
from rfdag.plots.graph import draw_graph
from rfdag.plots.matrix import draw_matrix
from rfdag.plots.order import draw_order
from rfdag.plots.trace import draw_trace
from rfdag.plots.truth import draw_truth
from rfdag.result.exporting import Kind as GraphKind
from rfdag.values import one_of, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

GRAPH_UP_TO = 100
"""Number of variables up to which "auto" draws a graph; above, its matrix."""
DRAWN_UP_TO = 2000
"""Number of variables up to which a graph or an order can be drawn at all."""


class PlotKind(NamedTuple):
    """One kind of picture: the function that draws it, the options it takes, and for how many variables it serves.

    The function is called with a result, the axes or None, and the options as keywords; it returns the axes.
    """

    draw: Callable[..., Axes]
    options: tuple[str, ...] = ()
    most: float = float("inf")


PLOTS = {
    "graph": PlotKind(draw_graph, ("graph", "weights"), DRAWN_UP_TO),
    "order": PlotKind(draw_order, ("ranks",), DRAWN_UP_TO),
    "matrix": PlotKind(draw_matrix, ("graph", "weights")),
    "trace": PlotKind(draw_trace),
    "truth": PlotKind(draw_truth, ("graph", "truth")),
}
"""The kinds of pictures by name; add one to draw it by its name."""

BOOTSTRAP_PLOTS = {
    "graph": PlotKind(draw_frequency_graph, ("threshold",), DRAWN_UP_TO),
    "matrix": PlotKind(draw_frequency_matrix),
    "order": PlotKind(draw_frequency_order, (), DRAWN_UP_TO),
}
"""The same for bootstraps; the function is called with a bootstrap."""


def draw(result: Result, kind: str, ax: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Draw one kind of picture of a result."""
    _require_axes(ax)
    one_of("graph", options["graph"], get_args(GraphKind))
    given = [name for name, value in options.items() if name != "graph" and value is not None]
    plot = PLOTS[_chosen(len(result.names), kind, given)]
    return plot.draw(result, ax, **{name: options[name] for name in plot.options})


def draw_bootstrap(bootstrap: Bootstrap, kind: str, ax: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Draw one kind of picture of a bootstrap."""
    _require_axes(ax)
    given = {name: value for name, value in options.items() if value is not None}
    plot = BOOTSTRAP_PLOTS[_by_name(BOOTSTRAP_PLOTS, len(bootstrap.names), kind, list(given))]
    return plot.draw(bootstrap, ax, **given)


def _require_axes(ax: Axes | None) -> None:
    if ax is not None and not hasattr(ax, "get_position"):
        raise OptionError(f"ax is an Axes of matplotlib to draw on, or None, not {shown(ax)}.")


def _chosen(p: int, kind: str, given: list[str]) -> str:
    """Return the kind of picture of a result; raise where the options given do not go with it."""
    one_of("kind", kind, ("auto", *PLOTS))
    if kind == "auto" and ("truth" in given or "ranks" in given):
        kind = "truth" if "truth" in given else "order"
    kind = _by_name(PLOTS, p, kind, given)
    if kind == "truth" and "truth" not in given:
        raise OptionError("kind='truth' needs truth=, the graph to compare with: a matrix in the order of the columns.")
    return kind


def _by_name(plots: Mapping[str, PlotKind], p: int, kind: str, given: list[str]) -> str:
    """Return the kind of picture, by the number of variables for "auto"; raise if it cannot be drawn."""
    one_of("kind", kind, ("auto", *plots))
    if kind == "auto":
        kind = "graph" if p <= GRAPH_UP_TO else "matrix"
    for name in given:
        if name not in plots[kind].options:
            takers = " or ".join(repr(other) for other, plot in plots.items() if name in plot.options)
            raise OptionError(f"{name}= belongs to kind {takers}, not to {kind!r}.")
    if p > plots[kind].most:
        raise OptionError(
            f"kind={kind!r} draws up to {plots[kind].most:g} variables, and these are {p}; kind='matrix' draws any "
            "number."
        )
    return kind
