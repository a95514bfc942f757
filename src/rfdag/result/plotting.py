"""The method `plot` of a result: which picture is meant, and whether it can be drawn."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Literal, get_args

from rfdag.errors import OptionError
from rfdag.result.exporting import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rfdag.plots.order import Ranks
    from rfdag.plots.strengths import Weights
    from rfdag.result.result import Result

PlotKind = Literal["auto", "graph", "order", "matrix", "trace", "truth"]
KINDS: tuple[str, ...] = get_args(PlotKind)
GRAPH_UP_TO = 100
"""Number of variables up to which "auto" draws a graph; above, its matrix."""
DRAWN_UP_TO = 2000
"""Number of variables up to which a graph or an order can be drawn at all."""
OPTIONS = {"weights": ("graph", "matrix"), "ranks": ("order",), "truth": ("truth",)}
"""The kinds that an option belongs to."""


class Plotting:
    """The method `plot` of a result."""

    def plot(
        self,
        kind: PlotKind = "auto",
        *,
        ax: Axes | None = None,
        graph: Kind = "cpdag",
        weights: Weights = None,
        ranks: Ranks | None = None,
        truth: Any = None,
    ) -> Axes:
        """Draw the result and return matplotlib's Axes.

        Parameters
        ----------
        kind
            "graph": nodes in layers from left to right, every cause left of its effects; arrows where the direction is
            known, dashed lines where the equivalence class leaves it open. "matrix": the same as a heat map in causal
            order, for any number of variables. "order": the place of every variable, and the places it may have.
            "trace": the scores R, F and D at each step of the elimination. "truth": right, missing, extra and
            otherwise directed edges. "auto": "truth" or "order" if ``truth`` or ``ranks`` is given, else a graph up to
            100 variables and a matrix above.
        ax
            Axes to draw on. Without, a figure of fitting size is made: ``.figure.savefig(…)`` writes it, and notebooks
            show it when the call is the last of a cell.
        graph
            "cpdag", the equivalence class, or "dag": what "graph" and "matrix" show and "truth" compares.
        weights
            What the width of edges, or their shade, tells: "partial_correlation" (the default where known),
            "coefficient", "equal", a matrix with an entry for every pair of columns, a mapping from
            (source, target), or a bootstrap, for its ``edge_frequency``.
        ranks
            For "order": a bootstrap or its ``ranks``, for the places in 90 % of the runs; or a mapping from name to
            (low, median, high) of the variable's place, from 1.
        truth
            For "truth": a DAG or CPDAG as a matrix in the order of the columns, or another result.

        Examples
        --------
        >>> import rfdag
        >>> result = rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag", names=["rain", "sprinkler", "wet"])
        >>> axes = result.plot()
        >>> axes.figure.savefig("wet.svg")
        """
        require_matplotlib()
        options = {"weights": weights, "ranks": ranks, "truth": truth}
        if graph not in get_args(Kind):
            raise OptionError(f"graph is one of {', '.join(get_args(Kind))}, not {graph!r}.")
        result: Result = self  # type: ignore[assignment]
        kind = _chosen(len(result.names), kind, [name for name, value in options.items() if value is not None])
        if kind == "graph":
            from rfdag.plots.graph import draw_graph

            return draw_graph(result, ax, graph, weights)
        if kind == "matrix":
            from rfdag.plots.matrix import draw_matrix

            return draw_matrix(result, ax, graph, weights)
        if kind == "order":
            from rfdag.plots.order import draw_order

            return draw_order(result, ax, ranks)
        if kind == "truth":
            from rfdag.plots.truth import draw_truth

            return draw_truth(result, ax, graph, truth)
        from rfdag.plots.trace import draw_trace

        return draw_trace(result, ax)


def require_matplotlib() -> None:
    """Raise with what to install where matplotlib is not."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("Figures are drawn by matplotlib, which is not installed: pip install 'rfdag[plots]'")


def _chosen(p: int, kind: PlotKind, given: list[str]) -> PlotKind:
    """Return the kind of picture; raise where the options given do not go with it."""
    if kind not in KINDS:
        raise OptionError(f"kind is one of {', '.join(KINDS)}, not {kind!r}.")
    if kind == "auto":
        by_size: PlotKind = "graph" if p <= GRAPH_UP_TO else "matrix"
        kind = "truth" if "truth" in given else "order" if "ranks" in given else by_size
    for name in given:
        if kind not in OPTIONS[name]:
            raise OptionError(f"{name}= belongs to kind {' or '.join(map(repr, OPTIONS[name]))}, not to {kind!r}.")
    if kind == "truth" and "truth" not in given:
        raise OptionError("kind='truth' needs truth=, the graph to compare with: a matrix in the order of the columns.")
    if kind in ("graph", "order") and p > DRAWN_UP_TO:
        raise OptionError(
            f"kind={kind!r} draws up to {DRAWN_UP_TO} variables, and these are {p}; kind='matrix' draws any number."
        )
    return kind
