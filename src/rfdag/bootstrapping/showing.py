"""The methods `plot` and `report` of a bootstrap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfdag.bootstrapping.consensus import require_threshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rfdag.result import Result


class Showing:
    """The methods `plot` and `report` of a bootstrap."""

    result: Result

    def plot(self, kind: str = "auto", *, ax: Axes | None = None, threshold: float | None = None) -> Axes:
        """Draw how often edges, directions and places were found, and return matplotlib's Axes.

        Parameters
        ----------
        kind
            "graph": the pairs that are adjacent in enough runs, as `consensus` directs them, every cause left of its
            effects; edges are wider and darker the more runs have them, dashed where the arrow is not what runs found
            most often, and up to 60 edges are labelled with both shares. "matrix": how often each variable causes each
            other, as a heat map in the order of the plain run, whose edges are framed. "order": the variables by their
            median place, with the interval that holds 90 % of the runs. "auto": a graph up to 100 variables and a
            matrix above.
        ax
            Axes to draw on. By default a figure of suitable size is created: ``.figure.savefig(…)`` saves it, and
            notebooks show it when the call is the last line of a cell.
        threshold
            For "graph": the least share of the runs in which a pair is adjacent; ½ unless given.

        Examples
        --------
        >>> import rfdag
        >>> sem = rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1)
        >>> rows = rfdag.simulate.sample(sem, 300, rng=2)
        >>> found = rfdag.bootstrap(rows, runs=10, n_jobs=1, names=["rain", "sprinkler", "wet"])
        >>> axes = found.plot("graph", threshold=0.8)
        >>> axes.figure.savefig("frequencies.svg")
        """
        from rfdag.plots.availability import require_matplotlib

        require_matplotlib()
        from rfdag.plots.kinds import draw_bootstrap

        if threshold is not None:
            require_threshold(threshold)
        return draw_bootstrap(self, kind, ax, {"threshold": threshold})  # type: ignore[arg-type]

    def report(self, path: str | Path, *, truth: Any = None, data: Any = None) -> Path:
        """Write the report of the plain run with the bootstrap in it, and return its path.

        The page is that of `Result.report`: its edges also have the shares of the runs that found them, and its order
        the places of each variable.

        Parameters
        ----------
        path
            The file, written whole or not at all.
        truth
            A graph to compare with, as in `Result.report`.
        data
            The data that were resampled, as in `Result.report`.

        Examples
        --------
        >>> import rfdag
        >>> sem = rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1)
        >>> found = rfdag.bootstrap(rfdag.simulate.sample(sem, 300, rng=2), runs=10, n_jobs=1)
        >>> found.report("stability.html").name
        'stability.html'
        """
        from rfdag.report.page import write_report

        return write_report(self.result, path, truth=truth, data=data, bootstrap=self)  # type: ignore[arg-type]
