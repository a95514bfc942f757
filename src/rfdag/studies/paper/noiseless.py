"""How sparse the DAGs of found orders are when conditional independence is known: Section 5.1 of the paper."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

import rfdag
from rfdag.eliminate import OracleEngine, eliminate, replay
from rfdag.graphs import moral_graph
from rfdag.graphs.dag import Graph
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import random_dag
from rfdag.studies.bench.workloads import simulation_generator
from rfdag.studies.paper import noiseless_claims, orderings
from rfdag.studies.paper.draws import density_of, draw_dag
from rfdag.studies.paper.statistics import mean_band, paired_difference, rounded
from rfdag.studies.paper.study import Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

DENSITIES = ("1/p", "2/p", "4/p", "1/2")
SIZES = tuple(range(10, 101, 10))
QUICK_SIZES = (10, 30, 60)

RULES = {
    "RP": ("random", 1, 1000),
    "MD": ("min-degree", 1, 1000),
    "MF": ("min-fill", 1, 1000),
    "MR": ("max-remove", 1, 1000),
    "RFD": ("rfd", 1, 1000),
    "RFD w=2": ("rfd", 2, 1000),
    # With more paths a call takes many seconds at p = 100.
    "RFD w=3": ("rfd", 3, 100),
}
"""Rule, depth and paths followed at once of the eliminations."""

LEARNT = {"RFD + covered edges": "soft", "SP": "sp"}
"""Rule of `rfdag.learn` for searches that do not end with an elimination."""

ON_ELIMINATION_GRAPH = {
    "MD elimination": orderings.minimum_degree,
    "MF elimination": orderings.minimum_fill,
    "MMD (SuperLU)": orderings.multiple_minimum_degree,
}

ORDERINGS = (
    orderings.minimum_degree,
    orderings.minimum_fill,
    orderings.multiple_minimum_degree,
    orderings.greedy,
    orderings.missing_pairs,
)
"""What makes those orders."""

METHODS = (*RULES, *ON_ELIMINATION_GRAPH, *LEARNT)

MOST_FOR_SP = 14
"""Variables up to which the sparsest permutation is found in under a second."""

MOST_FOR_QUICK_DEPTH = 30
"""Variables up to which a quick run looks three removals ahead."""


BEYOND, EXACTLY = "edges beyond the true ones (%)", "exactly recovered (%)"
"""Labels of the axes of the two measures."""

Curve = Callable[[Any, str, Sequence[Row]], None]
"""Puts one method's points into a panel."""


class Outcome(NamedTuple):
    """The DAG of a found order, the seconds it took to find, and how many searches had to drop paths."""

    dag: Graph
    seconds: float
    capped: int


def plan(scope: Scope) -> list[Key]:
    """List the cells: a few graphs of one density and size each, with all methods on them."""
    made_by = revision(measure, simulation_generator, draw_dag, density_of, *MAKERS)
    return [
        {
            "density": density,
            "p": p,
            "graphs": [first, min(first + _chunk(p), graphs)],
            "seed": scope.seed,
            "methods": methods_for(p, quick=scope.quick),
            "rules": options(),
            "version": own_version(),
            "scipy": scipy.__version__,
            "revision": made_by,
        }
        for graphs in [scope.count(100, 5)]
        for density in DENSITIES
        for p in (QUICK_SIZES if scope.quick else SIZES)
        for first in range(0, graphs, _chunk(p))
    ]


def options() -> list[list[Any]]:
    """Return what the methods are called with, for the keys of cells."""
    return [*map(list, RULES.values()), list(LEARNT.values())]


def methods_for(p: int, *, quick: bool) -> list[str]:
    """Return the methods that are fast enough for graphs of p nodes."""
    skipped = {"SP"} if p > MOST_FOR_SP else set()
    if quick and p > MOST_FOR_QUICK_DEPTH:
        skipped.add("RFD w=3")
    return [method for method in METHODS if method not in skipped]


def _chunk(p: int) -> int:
    """Return how many graphs a cell has, so that it takes seconds."""
    return next(count for most, count in ((20, 20), (40, 10), (60, 4), (100, 2)) if p <= most)


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw the graphs of one cell and let every method order them."""
    compile_all()
    records: list[Record] = []
    for graph in range(*key["graphs"]):
        point = f"noiseless {key['density']} {key['p']}"
        generator = simulation_generator(point, key["seed"], graph)
        dag = draw_dag(key["p"], key["density"], generator)
        place = {"density": key["density"], "p": key["p"], "graph": graph}
        records += ordered(dag, key["methods"], generator, place)
    return records


def ordered(dag: Graph, methods: Sequence[str], generator: np.random.Generator, place: Record) -> list[Record]:
    """Let every method order the nodes of a DAG; return a record of each, which also has its place."""
    records: list[Record] = []
    with one_blas_thread():
        for method in methods:
            found = outcome(method, dag, generator)
            records.append(
                {
                    **place,
                    "method": method,
                    "edges": int(dag.sum()),
                    "found": int(found.dag.sum()),
                    "seconds": found.seconds,
                    "capped": found.capped,
                }
            )
    return records


def outcome(method: str, dag: Graph, generator: np.random.Generator) -> Outcome:
    """Let a method find an order of a DAG's nodes through the finite-field oracle, and return the DAG it induces.

    Seconds are those from the DAG to the order. Ties go to the lowest node; only RP needs the generator.
    """
    began = time.perf_counter()
    if method in ON_ELIMINATION_GRAPH:
        order = ON_ELIMINATION_GRAPH[method](moral_graph(dag))
        seconds = time.perf_counter() - began
        return Outcome(replay(OracleEngine(dag), order).dag, seconds, 0)
    if method in LEARNT:
        found = rfdag.learn(dag, input="dag", method=LEARNT[method], n_jobs=1, progress=False)
        return Outcome(found.dag, time.perf_counter() - began, 0)
    rule, depth, max_paths = RULES[method]
    chance = generator if rule == "random" else None
    elimination = eliminate(OracleEngine(dag), rule, depth=depth, max_paths=max_paths, generator=chance)
    return Outcome(elimination.dag, time.perf_counter() - began, elimination.trace.capped)


@functools.cache
def compile_all() -> None:
    """Run everything once, so that no time holds the loading of compiled code."""
    dag = random_dag(6, 0.5, rng=1)
    for method in METHODS:
        outcome(method, dag, np.random.default_rng(0))


MAKERS = (ordered, outcome, *ORDERINGS)
"""What makes the numbers, whatever the graphs: for the digest of the sources."""


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up the graphs of each density, size and method."""
    return summed_up(records, "density", DENSITIES)


def summed_up(records: Sequence[Record], kind: str, kinds: Sequence[str]) -> list[Row]:
    """Sum up the graphs of each kind, size and method; differences are to RFD on the same graphs."""
    points: dict[tuple[str, int, str], dict[int, Record]] = defaultdict(dict)
    for record in records:
        points[record[kind], record["p"], record["method"]][record["graph"]] = record
    return [
        {kind: name, "p": p, "method": method, **_sums(points[name, p, method], points.get((name, p, "RFD"), {}))}
        for name in kinds
        for p in sorted({p for other, p, _ in points if other == name})
        for method in METHODS
        if (name, p, method) in points
    ]


def _sums(graphs: Mapping[int, Record], by_rfd: Mapping[int, Record]) -> Row:
    ratio = mean_band([_ratio(record) for record in graphs.values()])
    exact = mean_band([record["found"] == record["edges"] for record in graphs.values()])
    shared = sorted(graphs.keys() & by_rfd.keys())
    beyond = paired_difference([_ratio(graphs[at]) for at in shared], [_ratio(by_rfd[at]) for at in shared])
    return {
        "graphs": len(graphs),
        "ratio": rounded(ratio.mean),
        "ratio_low": rounded(ratio.low),
        "ratio_high": rounded(ratio.high),
        "exact": rounded(exact.mean),
        "exact_low": rounded(exact.low),
        "exact_high": rounded(exact.high),
        "beyond_rfd": rounded(beyond.mean),
        "beyond_rfd_low": rounded(beyond.low),
        "beyond_rfd_high": rounded(beyond.high),
        "median_seconds": rounded(float(np.median([record["seconds"] for record in graphs.values()]))),
        "capped": rounded(float(np.mean([record["capped"] > 0 for record in graphs.values()]))),
    }


def _ratio(record: Record) -> float:
    return float(record["found"] / record["edges"])


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw the ratio, the share of exact recoveries and the time against p, a panel a density."""
    on_elimination_graph = ["RFD", "MD", "MF", *ON_ELIMINATION_GRAPH]
    others = [method for method in METHODS if method not in ON_ELIMINATION_GRAPH]
    return {
        "noiseless": panels(rows, "density", others, beyond_the_truth, BEYOND),
        "noiseless-elimination-graph": panels(rows, "density", on_elimination_graph, beyond_the_truth, BEYOND),
        "noiseless-exact": panels(rows, "density", others, exactly, EXACTLY),
        "noiseless-time": panels(rows, "density", METHODS, _seconds, "seconds to the order"),
    }


def panels(rows: Sequence[Row], kind: str, methods: Sequence[str], put: Curve, label: str) -> Any:
    """Draw something against p, a panel for each kind of graph."""
    from rfdag.studies.paper import look

    kinds = list(dict.fromkeys(row[kind] for row in rows))
    columns = 3 if len(kinds) % 3 == 0 else 2
    figure, axes = look.canvas(-(-len(kinds) // columns), columns, width=9.0, height=3.2, sharey=True, sharex=True)
    for panel, name in zip(axes.flat, kinds, strict=False):
        for method in methods:
            points = [row for row in rows if row[kind] == name and row["method"] == method]
            if points:
                put(panel, method, points)
        panel.set_title(f"density {name}" if kind == "density" else name)
    for panel in axes[-1]:
        panel.set_xlabel("variables p")
    for panel in axes[:, 0]:
        panel.set_ylabel(label)
    look.legend(figure, axes.flat)
    return figure


def beyond_the_truth(panel: Any, method: str, points: Sequence[Row]) -> None:
    """Put the ratio and its band into a panel, as percents above 1."""
    from rfdag.studies.paper import look

    mean, low, high = ([100 * (row[name] - 1) for row in points] for name in ("ratio", "ratio_low", "ratio_high"))
    look.curve(panel, method, [row["p"] for row in points], mean, low, high)
    # Logarithmic, so that a thousandth and tenfold are both seen, with room for zero at the bottom.
    panel.set_yscale("symlog", linthresh=0.1, linscale=0.5)
    panel.set_ylim(bottom=-0.01)
    panel.set_yticks([0, 0.1, 1, 10, 100, 1000], ["0", "0.1", "1", "10", "100", "1000"])


def exactly(panel: Any, method: str, points: Sequence[Row]) -> None:
    """Put the share of exact recoveries into a panel."""
    from rfdag.studies.paper import look

    share, low, high = ([100 * row[name] for row in points] for name in ("exact", "exact_low", "exact_high"))
    look.curve(panel, method, [row["p"] for row in points], share, low, high)


def _seconds(panel: Any, method: str, points: Sequence[Row]) -> None:
    from rfdag.studies.paper import look

    look.curve(panel, method, [row["p"] for row in points], [row["median_seconds"] for row in points])
    panel.set_yscale("log")


def highlights(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the largest graphs."""
    largest = max(row["p"] for row in rows)
    return [row for row in rows if row["p"] == largest]


def cost(key: Key) -> float:
    """Return about how long a cell takes."""
    first, last = key["graphs"]
    return float((last - first) * (0.1 + (key["p"] / 100) ** 2.5))


ABOUT = (
    "Random DAGs of four densities, nodes numbered at random; every method sees the same ones through an exact "
    "oracle of conditional independence, elimination in a finite field. Shown is the number of edges of the "
    "minimal I-MAP that the found order induces, beyond the true number, with 95 % bands over graphs; the scale is "
    "logarithmic above 0.1 %. The ratio is 1 exactly where the Markov equivalence class is recovered. Ties go to "
    "the lowest node. A graph without edges has no ratio and is drawn again.\n\n"
    "RP is a random order; MD, MF and MR choose by degree, fill and removal in the moral subgraph, as the paper "
    "does. On the elimination graph, where edges are never taken away, MD, MF and SuperLU's multiple minimum "
    "degree are the orders of the sparse Cholesky factorisation. SP is the sparsest of all orders, up to "
    f"{MOST_FOR_SP} variables (of the sizes shown, 10). RFD looks w removals ahead, along at most 1000 paths "
    "(w = 2) or 100 (w = 3, column `capped`: share of graphs in which that cut the search short); with covered "
    "edges, it is what `rfdag.learn` does on a DAG. Seconds are those from the DAG to the order, on one thread."
)

STUDIES = (
    Study(
        name="noiseless",
        title="Sparsity of the induced DAG without noise",
        source="Section 5.1, noiseless setting",
        about=ABOUT,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=noiseless_claims.claims,
        highlights=highlights,
        cost=cost,
    ),
)
