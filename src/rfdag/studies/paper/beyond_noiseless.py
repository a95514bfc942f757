"""The noiseless study on graphs that the paper did not try: scale-free ones, and networks from practice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from rfdag import datasets
from rfdag.graphs.dag import Graph
from rfdag.simulate import scale_free_dag
from rfdag.studies.bench.workloads import simulation_generator
from rfdag.studies.paper import look, noiseless
from rfdag.studies.paper.noiseless_claims import NEARLY
from rfdag.studies.paper.study import Claim, Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

SCALE_FREE = {f"scale-free, m = {m}": m for m in (1, 2, 4)}
NETWORKS = ("ECOLI70", "MAGIC-NIAB", "Sachs")
KINDS = (*SCALE_FREE, *NETWORKS)
SIZES = tuple(range(20, 101, 20))
QUICK_SIZES = (20, 60)
CHUNK = 4
"""Graphs of a cell."""

BASELINES = ("MD", "MF", "MR", "MD elimination", "MF elimination", "MMD (SuperLU)")


def plan(scope: Scope) -> list[Key]:
    """List the cells: a few graphs of one kind and size each, with all methods on them."""
    made_by = revision(measure, simulation_generator, draw_dag, _network, *noiseless.MAKERS)
    graphs = scope.count(25, 4)
    return [
        {
            "kind": kind,
            "p": p,
            "graphs": [first, min(first + CHUNK, graphs)],
            "seed": scope.seed,
            "methods": noiseless.methods_for(p, quick=scope.quick),
            "rules": noiseless.options(),
            "version": own_version(),
            "scipy": scipy.__version__,
            "revision": made_by,
        }
        for kind in KINDS
        for p in _sizes(kind, quick=scope.quick)
        for first in range(0, graphs, CHUNK)
    ]


def _sizes(kind: str, *, quick: bool) -> tuple[int, ...]:
    if kind in SCALE_FREE:
        return QUICK_SIZES if quick else SIZES
    return (len(_network(kind)),)


def _network(kind: str) -> Graph:
    loaders = {
        "ECOLI70": lambda: datasets.ecoli70().sem.dag,
        "MAGIC-NIAB": lambda: datasets.magic_niab().sem.dag,
        "Sachs": datasets.sachs_truth,
    }
    return loaders[kind]()


def draw_dag(kind: str, p: int, generator: np.random.Generator) -> Graph:
    """Return a scale-free DAG, or a network with its nodes numbered at random: their numbers break ties."""
    if kind in SCALE_FREE:
        return scale_free_dag(p, SCALE_FREE[kind], generator)
    dag, places = _network(kind), generator.permutation(p)
    return dag[np.ix_(places, places)]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw the graphs of one cell and let every method order them."""
    noiseless.compile_all()
    records: list[Record] = []
    for graph in range(*key["graphs"]):
        point = f"noiseless {key['kind']} {key['p']}"
        generator = simulation_generator(point, key["seed"], graph)
        dag = draw_dag(key["kind"], key["p"], generator)
        place = {"kind": key["kind"], "p": key["p"], "graph": graph}
        records += noiseless.ordered(dag, key["methods"], generator, place)
    return records


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up the graphs of each kind, size and method."""
    return noiseless.summed_up(records, "kind", KINDS)


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw scale-free graphs by size, and the networks each as a column of points."""
    grown = [row for row in rows if row["kind"] in SCALE_FREE]
    found = [row for row in rows if row["kind"] in NETWORKS]
    pictures = {}
    if grown:
        pictures["beyond-noiseless"] = noiseless.panels(
            grown, "kind", noiseless.METHODS, noiseless.beyond_the_truth, noiseless.BEYOND
        )
    if found:
        pictures["beyond-noiseless-networks"] = _networks(found)
    return pictures


def _networks(rows: Sequence[Row]) -> Any:
    """Draw, method by method, how far from the truth the networks' DAGs are and how often they are exact."""
    names = [name for name in NETWORKS if any(row["kind"] == name for row in rows)]
    methods = [method for method in noiseless.METHODS if any(row["method"] == method for row in rows)]
    figure, axes = look.canvas(1, 2 * len(names), width=10.0, height=3.6, sharey=True)
    for panel, (name, measured) in zip(
        axes.flat, ((name, measured) for name in names for measured in ("ratio", "exact")), strict=True
    ):
        for at, method in enumerate(methods):
            row = next((row for row in rows if row["kind"] == name and row["method"] == method), None)
            if row is not None:
                _point(panel, measured, at, method, row)
        panel.set_title(name if measured == "ratio" else " ")
        panel.set_xlabel("edges beyond (%)" if measured == "ratio" else "exact (%)")
        panel.set_yticks(range(len(methods)), methods)
    axes[0, 0].invert_yaxis()
    return figure


def _point(panel: Any, measured: str, at: int, method: str, row: Row) -> None:
    color, marker, _ = look.style(method)
    if measured == "ratio":
        low, mean, high = (100 * (row[name] - 1) for name in ("ratio_low", "ratio", "ratio_high"))
        panel.plot([low, high], [at, at], color=color, linewidth=1.4)
        panel.set_xscale("symlog", linthresh=1, linscale=0.5)
        panel.set_xlim(left=-0.05)
        panel.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    else:
        mean = 100 * row["exact"]
        panel.set_xlim(-5, 105)
    panel.plot([mean], [at], color=color, marker=marker, linestyle="none", markersize=6, clip_on=False)


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check for every kind of graph whether the paper's statements on random graphs hold there, too."""
    return [_on(kind, [row for row in rows if row["kind"] == kind]) for kind in KINDS if _has(rows, kind)]


def _has(rows: Sequence[Row], kind: str) -> bool:
    return any(row["kind"] == kind for row in rows)


def _on(kind: str, rows: Sequence[Row]) -> Claim:
    largest = max(row["p"] for row in rows)
    at: Mapping[str, Row] = {row["method"]: row for row in rows if row["p"] == largest}
    best = min(BASELINES, key=lambda method: float(at[method]["ratio"]))
    behind = sum(row["beyond_rfd_high"] < 0 for row in rows if row["method"] in BASELINES)
    worst = max(float(row["ratio"]) for row in rows if row["method"] == "RFD")
    covered = at["RFD + covered edges"]
    return Claim(
        f"beyond the paper: on {kind} RFD is nearly as sparse as the truth and behind no baseline",
        worst <= NEARLY and behind == 0,
        f"at p = {largest}: RFD {at['RFD']['ratio']:.4f}, exact on {at['RFD']['exact']:.0%}; best baseline {best} "
        f"{at[best]['ratio']:.4f}; with covered edges {covered['ratio']:.4f}, exact on {covered['exact']:.0%}; behind "
        f"a baseline at {behind} points",
    )


def cost(key: Key) -> float:
    """Return about how long a cell takes."""
    return noiseless.cost(key)


STUDIES = (
    Study(
        name="beyond-noiseless",
        title="Other graphs without noise",
        source="Beyond the paper: its noiseless study on scale-free graphs and networks from practice",
        about=(
            "The study `noiseless` on scale-free DAGs (Barabási and Albert "
            "with m edges for each new node, directed by a random order) and on three networks from practice: ECOLI70 "
            "(46 genes, 70 edges), MAGIC-NIAB (44 traits and markers, 66 edges) and the 20 edges that "
            "example-causal-datasets lists as true of the Sachs proteins. A network is one graph; its nodes are "
            "renumbered each time, since the numbers break ties. Bands are over graphs or numberings."
        ),
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=claims,
        highlights=lambda rows: [row for row in rows if row["method"] in ("RFD", "RFD + covered edges", "MD", "MR")],
        cost=cost,
    ),
)
