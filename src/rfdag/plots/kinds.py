"""The kinds of pictures by name: which is meant, and whether it can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from rfdag.errors import OptionError
from rfdag.plots.graph import draw_graph
from rfdag.plots.matrix import draw_matrix
from rfdag.plots.order import draw_order
from rfdag.plots.trace import draw_trace
from rfdag.plots.truth import draw_truth
from rfdag.result.exporting import Kind as GraphKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def draw(result: Result, kind: str, ax: Axes | None, options: Mapping[str, Any]) -> Axes:
    """Draw one kind of picture of a result."""
    if options["graph"] not in get_args(GraphKind):
        raise OptionError(f"graph is one of {', '.join(get_args(GraphKind))}, not {options['graph']!r}.")
    given = [name for name, value in options.items() if name != "graph" and value is not None]
    plot = PLOTS[_chosen(len(result.names), kind, given)]
    return plot.draw(result, ax, **{name: options[name] for name in plot.options})


def _chosen(p: int, kind: str, given: list[str]) -> str:
    """Return the kind of picture; raise where the options given do not go with it."""
    if kind != "auto" and kind not in PLOTS:
        raise OptionError(f"kind is one of {', '.join(['auto', *PLOTS])}, not {kind!r}.")
    if kind == "auto":
        by_size = "graph" if p <= GRAPH_UP_TO else "matrix"
        kind = "truth" if "truth" in given else "order" if "ranks" in given else by_size
    for name in given:
        if name not in PLOTS[kind].options:
            takers = " or ".join(repr(other) for other, plot in PLOTS.items() if name in plot.options)
            raise OptionError(f"{name}= belongs to kind {takers}, not to {kind!r}.")
    if kind == "truth" and "truth" not in given:
        raise OptionError("kind='truth' needs truth=, the graph to compare with: a matrix in the order of the columns.")
    if p > PLOTS[kind].most:
        raise OptionError(
            f"kind={kind!r} draws up to {PLOTS[kind].most:g} variables, and these are {p}; kind='matrix' draws any "
            "number."
        )
    return kind
