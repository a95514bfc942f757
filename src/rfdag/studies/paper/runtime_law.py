"""How the time of RFD grows with the number of variables: Proposition 4 of the paper and its corollary."""

from __future__ import annotations

import functools
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

import rfdag
from rfdag.eliminate import OracleEngine, eliminate
from rfdag.eliminate.elimination import EDGES_UP_TO
from rfdag.errors import NumericalWarning
from rfdag.graphs.dag import Graph
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import linear_sem, random_dag, standardise
from rfdag.studies.bench.workloads import simulation_generator
from rfdag.studies.paper.draws import sample_covariance
from rfdag.studies.paper.statistics import growth, median_band, rounded
from rfdag.studies.paper.study import Claim, Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

SIZES = (20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640, 905)
FAMILIES: dict[str, dict[str, Any]] = {"density 1/2": {"density": 0.5}, "degree 4": {"degree": 4}}
INPUTS = ("exact", "data")
DEPTHS = (1, 2, 3)
ROWS_A_VARIABLE = 20
ALPHA = 1e-3
MAX_PATHS = 10**9
"""More paths than there ever are: the bound is on a search that drops none."""

LEAST_SECONDS = 0.05
"""Short calls are repeated until they took this long together."""

EXPECTED = 4
"""Exponent by which the time of a larger graph is predicted, to see whether it is worth starting."""


def plan(scope: Scope) -> list[Key]:
    """List the cells, one graph each, small ones first: they show how far to go."""
    fixed = {
        "seed": scope.seed,
        "limit": scope.allowed(10, 0.25),
        "rows": ROWS_A_VARIABLE,
        "alpha": ALPHA,
        "max_paths": MAX_PATHS,
        "least": LEAST_SECONDS,
        "version": own_version(),
        "revision": revision(measure, simulation_generator, _seconds, sample_covariance),
    }
    return [
        {"family": family, "drawn": FAMILIES[family], "input": given, "w": depth, "p": p, "graph": graph, **fixed}
        for p in SIZES
        for family in FAMILIES
        for given in INPUTS
        for depth in DEPTHS
        for graph in range(scope.count(3, 2))
    ]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw one graph, and data of it where asked, and time RFD on it."""
    _compile()
    point = f"runtime {key['family']} {key['p']}"
    generator = simulation_generator(point, key["seed"], key["graph"])
    dag = random_dag(key["p"], rng=generator, **key["drawn"])
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        seconds, capped = _seconds(dag, key, generator)
    place = {name: key[name] for name in ("family", "input", "w", "p", "graph")}
    return [{**place, "seconds": seconds, "capped": capped}]


def _seconds(dag: Graph, key: Key, generator: np.random.Generator) -> tuple[float, int]:
    """Return the processor's seconds of a run of RFD (median of some if short) and how many searches were cut."""
    n = key["rows"] * len(dag)
    if key["input"] == "data":
        # Variables of unit variance: as drawn, variances in large dense models outgrow double precision.
        covariance = sample_covariance(standardise(linear_sem(dag, generator)), n, generator)
    # A search that does not look ahead follows one path, and takes no bound on their number.
    bound = {"max_paths": key["max_paths"]} if key["w"] > 1 else {}
    spent: list[float] = []
    while sum(spent) < key["least"]:
        began = time.thread_time()
        if key["input"] == "exact":
            trace = eliminate(OracleEngine(dag), depth=key["w"], max_paths=key["max_paths"]).trace
        else:
            trace = rfdag.learn(
                covariance,
                input="covariance",
                n_samples=n,
                method="rfd",
                depth=key["w"],
                alpha=key["alpha"],
                n_jobs=1,
                progress=False,
                **bound,
            ).trace
        spent.append(max(time.thread_time() - began, 1e-6))
    return float(np.median(spent)), trace.capped


@functools.cache
def _compile() -> None:
    """Run everything once, so that no time holds the loading of compiled code."""
    dag = random_dag(8, 0.5, rng=1)
    for given in INPUTS:
        key = {"input": given, "w": 2, "rows": 20, "alpha": ALPHA, "max_paths": MAX_PATHS, "least": 1e-9}
        _seconds(dag, key, np.random.default_rng(0))


def pointless(key: Key, records: Sequence[Record]) -> bool:
    """Return whether smaller graphs show that this one would take longer than allowed."""
    smaller = [record for record in records if _curve(record) == _curve(key) and record["p"] < key["p"]]
    if not smaller:
        return False
    nearest = max(record["p"] for record in smaller)
    known = float(np.median([record["seconds"] for record in smaller if record["p"] == nearest]))
    return bool(known * (key["p"] / nearest) ** EXPECTED > key["limit"])


def _curve(entry: Key | Record | Row) -> tuple[str, str, int]:
    return entry["family"], entry["input"], entry["w"]


def table(records: Sequence[Record]) -> list[Row]:
    """Return a row for each point, and for each curve one with the power law fitted to its larger half."""
    curves: dict[tuple[str, str, int], dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        curves[_curve(record)][record["p"]].append(record)
    rows: list[Row] = []
    for curve in sorted(curves, key=_place):
        by_size = [curves[curve][p] for p in sorted(curves[curve])]
        rows += map(_point, by_size)
        if len(by_size) > 1:
            rows.append(_fit(by_size))
    return rows


def _place(curve: tuple[str, str, int]) -> tuple[int, int, int]:
    family, given, depth = curve
    return list(FAMILIES).index(family), INPUTS.index(given), depth


def _point(records: Sequence[Record]) -> Row:
    seconds = median_band([record["seconds"] for record in records])
    return _row("point", records) | {
        "seconds": rounded(seconds.mean),
        "seconds_low": rounded(seconds.low),
        "seconds_high": rounded(seconds.high),
    }


def _fit(by_size: Sequence[Sequence[Record]]) -> Row:
    """Fit all graphs of the larger half of the sizes, at least two, where lower powers of p matter least.

    Above `EDGES_UP_TO` variables a trace no longer lists edges; a law is fitted to sizes of one kind.
    """
    small = [records for records in by_size if records[0]["p"] <= EDGES_UP_TO]
    large = by_size[len(small) :]
    by_size = large if len(large) > 3 else small if len(small) > 1 else by_size
    upper = [record for records in by_size[min(len(by_size) // 2, len(by_size) - 2) :] for record in records]
    law = growth([record["p"] for record in upper], [record["seconds"] for record in upper])
    # Two graphs give an exponent but no error of it.
    sure = len(upper) > 2
    return _row("fit", upper) | {
        "exponent": rounded(law.exponent, 4),
        "exponent_low": rounded(law.low, 4) if sure else None,
        "exponent_high": rounded(law.high, 4) if sure else None,
        "factor": rounded(law.factor),
        "bound": upper[0]["w"] + 3,
    }


def _row(kind: str, records: Sequence[Record]) -> dict[str, Any]:
    """Return the columns that rows of both kinds fill, and the others empty; sizes go from p to p_to."""
    family, given, depth = _curve(records[0])
    empty = ("seconds", "seconds_low", "seconds_high", "exponent", "exponent_low", "exponent_high", "factor", "bound")
    return {
        "row": kind,
        "family": family,
        "input": given,
        "w": depth,
        "p": min(record["p"] for record in records),
        "p_to": max(record["p"] for record in records),
        "graphs": len(records),
        "capped": sum(record["capped"] > 0 for record in records),
        **dict.fromkeys(empty),
    }


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw time against p with the fitted laws, and the bounds' slopes in grey."""
    from rfdag.studies.paper import look

    figure, axes = look.canvas(2, 2, width=9.0, height=3.2, sharex=True, sharey=True)
    for across, family in zip(axes, FAMILIES, strict=True):
        for panel, given in zip(across, INPUTS, strict=True):
            chosen = [row for row in rows if row["family"] == family and row["input"] == given]
            for depth in DEPTHS:
                _draw_curve(panel, [row for row in chosen if row["w"] == depth], "RFD" + f" w={depth}" * (depth > 1))
            laws = [f"w = {row['w']}: $p^{{{row['exponent']:.1f}}}$" for row in chosen if row["row"] == "fit"]
            panel.text(0.04, 0.95, "\n".join(laws), transform=panel.transAxes, va="top")
            panel.set(xscale="log", yscale="log", title=f"{family}, {'exact' if given == 'exact' else 'from data'}")
            panel.set_xticks([20, 50, 100, 200, 500, 1000], ["20", "50", "100", "200", "500", "1000"])
            panel.minorticks_off()
    for panel in axes[-1]:
        panel.set_xlabel("variables p")
    for panel in axes[:, 0]:
        panel.set_ylabel("seconds of the processor")
    look.legend(figure, axes.flat)
    return {"runtime": figure}


def _draw_curve(panel: Any, rows: Sequence[Row], method: str) -> None:
    from rfdag.plots import palette
    from rfdag.studies.paper import look

    points = [row for row in rows if row["row"] == "point"]
    fit = next((row for row in rows if row["row"] == "fit"), None)
    sizes = [row["p"] for row in points]
    low, high = ([row[name] for row in points] for name in ("seconds_low", "seconds_high"))
    look.curve(panel, method, sizes, [row["seconds"] for row in points], low, high)
    if fit is None:
        return
    ends = np.array([fit["p"], fit["p_to"]], dtype=float)
    law = fit["factor"] * ends ** fit["exponent"]
    panel.plot(ends, law, color=palette.BLACK, linewidth=0.8)
    panel.plot(ends, law[0] * (ends / ends[0]) ** fit["bound"], color=palette.GREY, linewidth=0.7, linestyle=":")


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Hold the bound of the corollary against every fitted exponent."""
    fits = [row for row in rows if row["row"] == "fit"]
    return [_bounded([row for row in fits if row["w"] == depth], depth) for depth in DEPTHS]


def _bounded(fits: Sequence[Row], depth: int) -> Claim:
    bound = depth + 3
    statement = f"RFD with depth {depth} takes O(p^{bound}) time (fitted exponents with their 95 % intervals)"
    listed = "; ".join(
        f"{row['family']}, {row['input']}: {_exponent(row)} for p = {row['p']} … {row['p_to']}" for row in fits
    )
    capped = sum(row["capped"] for row in fits)
    paths = f"paths were dropped in {capped} runs" if capped else "no path was dropped"
    return Claim(statement, _all_within(fits, bound), f"{listed}; {paths}" if fits else "nothing was fitted")


def _all_within(fits: Sequence[Row], bound: int) -> bool | None:
    """Return whether all exponents are surely at most the bound, or one surely is not; None if neither is sure."""
    intervals = [(row["exponent_low"], row["exponent_high"]) for row in fits]
    if any(low is not None and low > bound for low, _ in intervals):
        return False
    return True if fits and all(high is not None and high <= bound for _, high in intervals) else None


def _exponent(row: Row) -> str:
    if row["exponent_high"] is None:
        return f"{row['exponent']:.2f} (two graphs, no interval)"
    return f"{row['exponent']:.2f} [{row['exponent_low']:.2f}, {row['exponent_high']:.2f}]"


def highlights(rows: Sequence[Row]) -> list[Row]:
    """Return the fitted laws."""
    return [row for row in rows if row["row"] == "fit"]


def cost(key: Key) -> float:
    """Return about how long a cell takes."""
    return float(0.3 + min((key["p"] / 300) ** 3.5 * key["w"], 1.0) * key["limit"])


ABOUT = (
    "Time of one call against p on logarithmic axes, medians over graphs with 95 % intervals, in seconds of the "
    "processor on one thread. A black line is the power law fitted to the larger half of the sizes, whose exponents "
    "are in the corner; the dotted grey line from the same start has the slope of the bound, w + 3. Exact runs ask the "
    "finite-field oracle; runs from data (n = 20 p, α = .001) start from the covariance matrix, drawn from its Wishart "
    "distribution for a model whose variables were scaled to unit variance. Graphs are random, of density ½ or of four "
    "neighbours a node. The number of paths followed is not capped, unlike in `rfdag.learn` by default; sizes go as "
    "far as a call is expected to stay within ten seconds. Looking ahead costs only where no removal is certified at "
    "once, which is rare at density ½. Above 200 variables the list of edges of each step is no longer kept, which "
    "saves time; so a law is fitted to the sizes above if there are four or more, and otherwise to those below."
)

STUDIES = (
    Study(
        name="runtime",
        title="The law of the run time",
        source="Section 4, Proposition 4 and its corollary",
        about=ABOUT,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=claims,
        highlights=highlights,
        cost=cost,
        pointless=pointless,
    ),
)
