"""The methods `plot` and `report` of a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfdag.result.exporting import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rfdag.plots.order import Ranks
    from rfdag.plots.strengths import Weights


class Plotting:
    """The methods `plot` and `report` of a result."""

    def plot(
        self,
        kind: str = "auto",
        *,
        ax: Axes | None = None,
        graph: Kind = "icpdag",
        weights: Weights = None,
        ranks: Ranks | None = None,
        truth: Any = None,
    ) -> Axes:
        """Draw the result and return matplotlib's Axes.

        Parameters
        ----------
        kind
            "graph": nodes in layers from left to right, every cause left of its effects; arrows where the direction is
            compelled, dashed lines for edges that the equivalence class leaves undirected, dotted ones for
            `close_calls` (up to 500 variables). "matrix": edges as a heat map in causal order, for any number of
            variables. "order": the place of every variable, and the places it may have. "trace": the scores R, F and D
            at each step of the elimination. "truth": right, missing, extra and reversed edges. "auto": "truth" or
            "order" if ``truth`` or ``ranks`` is given, else a graph up to 100 variables and a matrix above. Other kinds
            can be added to ``rfdag.plots.kinds.PLOTS``.
        ax
            Axes to draw on. By default a figure of suitable size is created: ``.figure.savefig(…)`` saves it, and
            notebooks show it when the call is the last line of a cell.
        graph
            What "graph" and "matrix" show and "truth" compares: "icpdag", the equivalence class, which is that of all
            environments where rows come from several; "cpdag", the class without their experiments; or "dag".
        weights
            What the width of edges, or their shade, represents: "partial_correlation" (the default where known),
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
        from rfdag.plots.availability import require_matplotlib

        require_matplotlib()
        from rfdag.plots.kinds import draw

        options = {"graph": graph, "weights": weights, "ranks": ranks, "truth": truth}
        return draw(self, kind, ax, options)  # type: ignore[arg-type]

    def report(self, path: str | Path, *, truth: Any = None, data: Any = None, bootstrap: Any = None) -> Path:
        """Write one self-contained HTML page about the result, and return its path.

        The page works offline, loads nothing from a server, and shows order, graph, edges, every step of the
        elimination, how well the graph fits the data, and how to repeat the run.

        Parameters
        ----------
        path
            The file, written whole or not at all.
        truth
            A graph to compare with: a DAG or CPDAG as a matrix in the order of the columns, a result or a
            `rfdag.exchange` graph.
        data
            The data that the result was learnt from, in any form that `rfdag.learn` accepts: for their hash, and for
            the shape of each column's distribution, which the result does not store.
        bootstrap
            A bootstrap of the same variables, to show how often its runs have each edge, and each variable's places.

        Examples
        --------
        >>> import rfdag
        >>> result = rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag", names=["rain", "sprinkler", "wet"])
        >>> result.report("wet.html").name
        'wet.html'
        """
        from rfdag.report.page import write_report

        return write_report(self, path, truth=truth, data=data, bootstrap=bootstrap)  # type: ignore[arg-type]
