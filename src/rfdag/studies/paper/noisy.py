"""Time and accuracy over the tuning ranges on few rows: Section 5.2 and Appendix B of the paper."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from rfdag.studies.bench.workloads import Workload
from rfdag.studies.paper import noisy_claims
from rfdag.studies.paper.contests import Entry, entries_of, key_of, made_by, present, random_graphs, run, summed_up
from rfdag.studies.paper.noiseless import DENSITIES
from rfdag.studies.paper.noisy_claims import shown
from rfdag.studies.paper.study import Key, Record, Row, Scope, Study

P = 20
N = 40
QUICK_DENSITIES = ("1/p", "1/2")

LEVELS = (1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.4)
"""Levels α of the tests, from sparse to dense."""

PENALTIES = (8.0, 4.0, 2.0, 1.5, 1.0, 0.5, 0.25, 0.1)
"""Prices λ of an edge in units of ln n."""

ENTRIES = (
    Entry("RFD", "rfdag-rfd", LEVELS),
    Entry("MD", "rfdag-min-degree", LEVELS),
    Entry("MD (causaldag)", "causaldag-min-degree", LEVELS),
    Entry("PC (causal-learn)", "causal-learn-pc", LEVELS),
    Entry("PC (tetrad-port)", "tetrad-pc", LEVELS),
    # At λ = .1 a call takes longer than the limit on nearly every graph.
    Entry("GES (causal-learn)", "causal-learn-ges", PENALTIES[:-1]),
    Entry("FGES (tetrad-port)", "tetrad-fges", PENALTIES),
    Entry("GSP (causaldag)", "causaldag-gsp", LEVELS),
    Entry("GSP (rfdag)", "rfdag-gsp", LEVELS),
    Entry("soft + refinement", "rfdag-soft", PENALTIES),
)
HOMES = tuple(dict.fromkeys(entry.home for entry in ENTRIES))


def plan(scope: Scope) -> list[Key]:
    """List the cells: a data set with all methods of one environment, over their tuning values."""
    made = made_by(measure)
    limit = scope.allowed(5.0, 3.0)
    return [
        {"density": density, "home": home, "version": version, "revision": made}
        | key_of(data_of(density), graph, scope.seed, entries, limit)
        for graph in range(scope.count(35, 3))
        for density in (QUICK_DENSITIES if scope.quick else DENSITIES)
        for home, version, entries in present(ENTRIES, scope, every=2)
    ]


def data_of(density: str) -> Workload:
    """Return the data of a density."""
    return random_graphs(f"noisy {density}", P, N, density)


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw a data set and make the calls of one environment on it."""
    drawn = data_of(key["density"]).draw(key["seed"], key["graph"])
    records = run(entries_of(key["calls"]), drawn, key["limit"], scope.peers)
    return [{"density": key["density"], "graph": key["graph"], **record} for record in records]


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up the graphs of each density, method and tuning value."""
    return tabulated(records, "density", DENSITIES, ENTRIES)


def tabulated(records: Sequence[Record], kind: str, kinds: Sequence[str], entries: Sequence[Entry]) -> list[Row]:
    """Sum up the data sets of each kind, method and tuning value."""
    points: dict[tuple[str, str, float], list[Record]] = defaultdict(list)
    for record in records:
        points[record[kind], record["method"], record["value"]].append(record)
    return [
        {
            kind: name,
            "method": entry.method,
            "value": value,
            "package": points[name, entry.method, value][0]["package"],
            **summed_up(points[name, entry.method, value]),
        }
        for name in kinds
        for entry in entries
        for value in entry.values
        if (name, entry.method, value) in points
    ]


def draw_times(rows: Sequence[Row], kind: str = "density", picture: str = "time") -> dict[str, Any]:
    """Draw the median time against the TPR, a panel a density."""
    from rfdag.studies.paper import look

    figure, axes = _panels(rows, kind)
    for panel, name in axes:
        for method, points in shown(rows, name, kind):
            look.curve(panel, method, *_columns(points, "tpr", "seconds", "seconds_low", "seconds_high"))
            cut = [row for row in points if row["late"]]
            color, marker, _ = look.style(method)
            panel.plot(*_columns(cut, "tpr", "seconds"), marker, color=color, markerfacecolor="white", zorder=3)
        panel.set(yscale="log", xlim=(0, 1), xlabel="true positive rate", ylabel="seconds a call")
        panel.label_outer()
    look.legend(figure, [panel for panel, _ in axes])
    return {picture: figure}


def draw_rates(rows: Sequence[Row], kind: str = "density", picture: str = "roc") -> dict[str, Any]:
    """Draw the TPR against the FPR, a panel a density."""
    from rfdag.plots import palette
    from rfdag.studies.paper import look

    figure, axes = _panels(rows, kind)
    for panel, name in axes:
        panel.plot([0, 1], [0, 1], color=palette.GREY, linewidth=0.8, zorder=0)
        for method, points in shown(rows, name, kind):
            look.curve(panel, method, *_columns(points, "fpr", "tpr"))
        panel.set(xlim=(-0.01, 0.8), ylim=(0, 1), xlabel="false positive rate", ylabel="true positive rate")
        panel.label_outer()
    look.legend(figure, [panel for panel, _ in axes])
    return {picture: figure}


def _panels(rows: Sequence[Row], kind: str) -> tuple[Any, list[tuple[Any, str]]]:
    from rfdag.studies.paper import look

    names = list(dict.fromkeys(row[kind] for row in rows))
    figure, axes = look.canvas((len(names) + 1) // 2, 2, height=3.6, sharex=True, sharey=True)
    for spare in axes.flat[len(names) :]:
        spare.remove()
    pairs = list(zip(axes.flat, names, strict=False))
    for panel, name in pairs:
        panel.set_title(f"density {name}" if kind == "density" else name)
    return figure, pairs


def _columns(rows: Sequence[Row], *names: str) -> list[list[float]]:
    return [[row[name] for row in rows] for name in names]


def ends(rows: Sequence[Row]) -> list[Row]:
    """Return the sparsest and the densest point of each method, on the densest graphs."""
    found: list[Row] = []
    for method, points in shown(rows, rows[-1]["density"]):
        for row in (points[0], points[-1]):
            columns = ("value", "tpr", "fpr", "seconds", "mean_seconds", "finished", "late")
            found.append({"density": row["density"], "method": method, **{name: row[name] for name in columns}})
    return found


def cost(key: Key) -> float:
    """Return about how many seconds a cell takes."""
    if key["home"] == "causal-learn":
        return {"1/p": 12.0, "2/p": 18.0, "4/p": 25.0, "1/2": 30.0}.get(str(key["density"]), 20.0)
    return 4.0


ABOUT = (
    f"Random DAGs with p = {P} nodes, weights ±[.25, 1] and unit noise; n = {N} rows, columns shuffled and "
    "standardised. Every method sees the same data, at about eight tuning values from very sparse to dense: levels α "
    f"from {LEVELS[0]:g} to {LEVELS[-1]:g} for tests (RFD, MD, PC, GSP), prices of λ ln n an edge, λ from "
    f"{PENALTIES[0]:g} down to {PENALTIES[-1]:g} ({ENTRIES[5].values[-1]:g} for causal-learn's GES), for scores. PC, "
    "GES and GSP are those of other packages as users run them; `soft + refinement` is `rfdag.learn` with its "
    "defaults and another penalty, and not in the paper.\n\n"
)
TIMES = (
    "A call has a process, one thread and a time limit of 5 s (3 s in a quick run) of its own; imports and a warm-up "
    "are not counted, and calls below 0.05 s are repeated up to five times. Times are medians over graphs, TPR a mean. "
    "A call that did not end in time counts with the limit, and a method is not tried at denser values on that graph: "
    "points with such calls have open markers, their times are too low, and their rates are those of the graphs "
    "that were finished. Points where less than half of the calls were finished are left out."
)
RATES = (
    "Mean rates over the graphs, of adjacencies; the line is what guessing gives. Points where less than half of the "
    "calls ended within their time limit are left out. Areas are those under the curve up to a false positive rate of "
    f"{noisy_claims.MOST_FPR:g}, over their largest possible value: the mean TPR there, between points interpolated, "
    "after the last one along a line to (1, 1). A curve that the time limit cut off before that rate has none."
)

STUDIES = (
    Study(
        name="time",
        title="Computation time against the density estimated",
        source="Section 5.2, noisy setting, first figure",
        about=ABOUT + TIMES,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw_times,
        claims=noisy_claims.time_claims,
        highlights=ends,
        runs="noisy",
        cost=cost,
        homes=HOMES,
    ),
    Study(
        name="roc",
        title="ROC curves on 20-node graphs",
        source="Appendix B",
        about=ABOUT + RATES,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw_rates,
        claims=noisy_claims.roc_claims,
        highlights=noisy_claims.areas,
        runs="noisy",
        cost=cost,
        homes=HOMES,
    ),
)
