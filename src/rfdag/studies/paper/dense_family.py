"""The dense graphs B_K that RFD recovers exactly: Section 4 of the paper, and the same from data."""

from __future__ import annotations

import functools
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

import rfdag
from rfdag import metrics
from rfdag.eliminate import OracleEngine
from rfdag.errors import NumericalWarning
from rfdag.graphs.dag import Graph
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import dense_dag, linear_sem
from rfdag.studies.bench.workloads import simulation_generator
from rfdag.studies.paper import noiseless
from rfdag.studies.paper.draws import sample_covariance
from rfdag.studies.paper.statistics import rounded
from rfdag.studies.paper.study import Claim, Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

EXACT = tuple(range(2, 13))
QUICK_EXACT = tuple(range(2, 9))
FROM_DATA = tuple(range(2, 13))
QUICK_FROM_DATA = (2, 3, 4, 5)
SAMPLES = tuple(10**power for power in range(2, 8))
QUICK_SAMPLES = (10**2, 10**4, 10**6)

ON_GRAPHS = ("RFD", "MD", "MF", "MR", "RFD + covered edges")
ON_DATA: dict[str, dict[str, Any]] = {"RFD": {"method": "rfd", "alpha": 1e-3}, "soft + refinement": {}}
"""Options of `rfdag.learn`."""

NINE_OF_TEN = 0.9


def plan(scope: Scope) -> list[Key]:
    """List the cells: the scores of one B_K, one shuffled B_K with all rules, or one model of it with all sizes n."""
    made_by = revision(
        measure,
        _scores,
        _exact,
        _from_data,
        _record,
        _generator,
        simulation_generator,
        noiseless.outcome,
        shuffled,
        sample_covariance,
    )
    fixed = {"seed": scope.seed, "version": own_version(), "revision": made_by}
    exact, from_data = (QUICK_EXACT, QUICK_FROM_DATA) if scope.quick else (EXACT, FROM_DATA)
    rules = [f"{method}: {noiseless.RULES.get(method)}" for method in ON_GRAPHS]
    options = [f"{method}: {options}" for method, options in ON_DATA.items()]
    draws = range(scope.count(10, 2))
    return [
        *({"kind": "scores", "K": K, **fixed} for K in exact),
        *({"kind": "exact", "K": K, "draw": draw, "methods": rules, **fixed} for K in exact for draw in draws),
        *(
            {"kind": "data", "K": K, "draw": draw, "n": n, "methods": options, **fixed}
            for K in from_data
            for n in (QUICK_SAMPLES if scope.quick else SAMPLES)
            for draw in draws
        ),
    ]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Run one cell."""
    _compile()
    with one_blas_thread(), warnings.catch_warnings():
        # Near dependence is the same for every method, and shows in what is found.
        warnings.simplefilter("ignore", NumericalWarning)
        return {"scores": _scores, "exact": _exact, "data": _from_data}[key["kind"]](key)


def _scores(key: Key) -> list[Record]:
    """Remove the nodes that have parents in the true order, and note removal scores: of each in its turn, of others."""
    K = key["K"]
    engine = OracleEngine(dense_dag(K))
    own, others = [], []
    for node in range(len(engine.remaining) - 1, K - 1, -1):
        removals = engine.removals()
        position = int(np.flatnonzero(engine.remaining == node)[0])
        own.append(int(removals[position]))
        others.append(int(np.delete(removals, position).max()))
        engine.remove(position)
    return [{"kind": "scores", "K": K, "removals": own, "of_others": others}]


def _exact(key: Key) -> list[Record]:
    """Let the rules order a B_K whose nodes were renumbered."""
    generator = _generator(key)
    dag = shuffled(dense_dag(key["K"]), generator)
    records: list[Record] = []
    for method in ON_GRAPHS:
        found = noiseless.outcome(method, dag, generator)
        records.append(_record(key, None, method, dag, found.dag, found.seconds))
    return records


def _from_data(key: Key) -> list[Record]:
    """Draw weights for a B_K and a sample of them, and learn from its covariance."""
    generator = _generator(key)
    dag = shuffled(dense_dag(key["K"]), generator)
    sem = linear_sem(dag, generator)
    covariance = sample_covariance(sem, key["n"], generator)
    records: list[Record] = []
    for method, options in ON_DATA.items():
        began = time.perf_counter()
        found = rfdag.learn(
            covariance, input="covariance", n_samples=key["n"], n_jobs=1, progress=False, **options
        ).dag  # fmt: skip
        records.append(_record(key, key["n"], method, dag, found, time.perf_counter() - began))
    return records


def _record(key: Key, n: int | None, method: str, dag: Graph, found: Graph, seconds: float) -> Record:
    distance = metrics.shd(dag, found)
    return {
        "kind": key["kind"],
        "K": key["K"],
        "draw": key["draw"],
        "n": n,
        "method": method,
        "ratio": float(found.sum() / dag.sum()),
        "exact": distance == 0,
        "f1": metrics.skeleton(dag, found).f1,
        "shd": distance,
        "seconds": seconds,
    }


def _generator(key: Key) -> np.random.Generator:
    point = f"dense family {key['kind']} {key['K']} {key.get('n')}"
    return simulation_generator(point, key["seed"], key["draw"])


def shuffled(dag: Graph, generator: np.random.Generator) -> Graph:
    """Return the DAG with its nodes numbered at random, so that no tie is broken by the numbers of B_K."""
    label = generator.permutation(len(dag))
    renamed = np.zeros_like(dag)
    renamed[np.ix_(label, label)] = dag
    return renamed


@functools.cache
def _compile() -> None:
    """Run everything once, so that no time holds the loading of compiled code."""
    fixed = {"K": 3, "draw": 0, "seed": 0}
    _exact({"kind": "exact", **fixed})
    _from_data({"kind": "data", "n": 1000, **fixed})


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up by K, number of rows and method; scores of the true order have rows of their own."""
    groups: dict[tuple[str, int, int, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["kind"], record["K"], record.get("n") or 0, record.get("method", "")].append(record)
    return [_row(groups[group]) for group in sorted(groups, key=_place)]


def _place(group: tuple[str, int, int, str]) -> tuple[int, int, int, int]:
    kind, K, n, method = group
    methods = ["", *ON_GRAPHS, *ON_DATA]
    return ("scores", "exact", "data").index(kind), K, n, methods.index(method)


def _row(records: Sequence[Record]) -> Row:
    first = records[0]
    K = first["K"]
    scored = first["kind"] == "scores"

    def mean(name: str) -> float | None:
        return None if scored else rounded(float(np.mean([record[name] for record in records])))

    return {
        "setting": first["kind"],
        "K": K,
        "p": K + K * (K - 1) // 2,
        "edges": int(dense_dag(K).sum()),
        "n": first.get("n"),
        "method": first.get("method"),
        "models": None if scored else len(records),
        "exact": mean("exact"),
        "ratio": mean("ratio"),
        "f1": mean("f1"),
        "shd": mean("shd"),
        "median_seconds": None if scored else rounded(float(np.median([record["seconds"] for record in records]))),
        "least_removal": min(first["removals"]) if scored else None,
        "most_removal": max(first["removals"]) if scored else None,
        "removals_of_one": first["removals"].count(1) if scored else None,
        "most_removal_of_others": max(first["of_others"]) if scored else None,
    }


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw ratio and time on exact graphs against K, and recovery from data against n, a panel for each K."""
    return {
        "dense-family": _draw_exact([row for row in rows if row["setting"] == "exact"]),
        "dense-family-data": _draw_data(rows, "exact", "exactly recovered (%)", 100),
        "dense-family-f1": _draw_data(rows, "f1", "F1 of adjacencies", 1),
        "dense-family-data-time": _draw_data(rows, "median_seconds", "seconds", 1),
    }


def _draw_exact(rows: Sequence[Row]) -> Any:
    from rfdag.studies.paper import look

    figure, axes = look.canvas(1, 3, width=9.0, height=3.2)
    for panel, name, label, scale in zip(
        axes[0],
        ("ratio", "exact", "median_seconds"),
        ("edges found / true edges", "exactly recovered (%)", "seconds to the order"),
        (1, 100, 1),
        strict=True,
    ):
        for method in ON_GRAPHS:
            points = [row for row in rows if row["method"] == method]
            look.curve(panel, method, [row["K"] for row in points], [scale * row[name] for row in points])
        panel.set_xlabel("sources K")
        panel.set_ylabel(label)
    axes[0][2].set_yscale("log")
    look.legend(figure, axes.flat)
    return figure


def _draw_data(rows: Sequence[Row], name: str, label: str, scale: float) -> Any:
    from rfdag.studies.paper import look

    rows = [row for row in rows if row["setting"] == "data"]
    sizes = sorted({row["K"] for row in rows})
    figure, axes = look.canvas(-(-len(sizes) // 4), 4, width=9.0, height=2.4, sharex=True, sharey=True)
    for panel, K in zip(axes.flat, sizes, strict=False):
        for method in ON_DATA:
            points = [row for row in rows if row["method"] == method and row["K"] == K]
            look.curve(panel, method, [row["n"] for row in points], [scale * row[name] for row in points])
        panel.set_title(f"K = {K}, p = {K + K * (K - 1) // 2}")
        panel.set_xscale("log")
        if name == "median_seconds":
            panel.set_yscale("log")
        panel.set_xlabel("rows n")
        panel.xaxis.set_tick_params(labelbottom=True)
    for panel in axes.flat[len(sizes) :]:
        panel.remove()
    for panel in axes[:, 0]:
        panel.set_ylabel(label)
    look.legend(figure, axes.flat)
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Hold Section 4's statements on B_K against the rows."""
    scores = [row for row in rows if row["setting"] == "scores"]
    if not scores:
        return []
    return [_recovered(rows), _removal_of_one(scores), _dense(scores), *(_with_rows(rows, name) for name in ON_DATA)]


def _recovered(rows: Sequence[Row]) -> Claim:
    exact = [row for row in rows if row["setting"] == "exact"]
    shares = {method: [row["exact"] for row in exact if row["method"] == method] for method in ON_GRAPHS}
    sizes = sorted({row["K"] for row in exact})
    listed = ", ".join(f"{method} {sum(share == 1 for share in each)}" for method, each in shares.items())
    statement = "RFD recovers every B_K exactly, up to Markov equivalence"
    if not exact:
        return Claim(statement, None, "no exact graphs were run")
    return Claim(
        statement,
        all(share == 1 for share in shares["RFD"]),
        f"K = {sizes[0]} … {sizes[-1]}; of {len(sizes)} graphs recovered under every random numbering: {listed}",
    )


def _removal_of_one(scores: Sequence[Row]) -> Claim:
    largest = max(scores, key=lambda row: int(row["K"]))
    nodes = sum(row["p"] - row["K"] for row in scores)
    ones = sum(row["removals_of_one"] for row in scores)
    certain = all(row["least_removal"] > 0 and row["most_removal_of_others"] == 0 for row in scores)
    return Claim(
        "the removal score of each node with parents becomes exactly 1 once all nodes after it are removed",
        ones == nodes,
        f"the score is 1 for {ones} of {nodes} nodes and reaches {largest['most_removal']} at K = {largest['K']}; "
        + (
            "but it is above zero for each in its turn and zero for all others, which is what recovery needs"
            if certain
            else "nor is it above zero for each in its turn and zero for all others"
        ),
    )


def _dense(scores: Sequence[Row]) -> Claim:
    largest = max(scores, key=lambda row: int(row["K"]))
    pairs = {row["K"]: row["K"] * (row["K"] - 1) // 2 for row in scores}
    missing = {row["K"]: row["p"] * (row["p"] - 1) // 2 - row["edges"] for row in scores}
    possible = largest["p"] * (largest["p"] - 1) // 2
    K = largest["K"]
    return Claim(
        "B_K is dense: fewer than K(K−1)/2 · (K + 1) pairs are not adjacent, of O(K⁴)",
        all(missing[row["K"]] < pairs[row["K"]] * (row["K"] + 1) for row in scores),
        f"at K = {K}, {missing[K]} of {possible} pairs are not adjacent (bound {pairs[K] * (K + 1)}): density "
        f"{largest['edges'] / possible:.2f}",
    )


def _with_rows(rows: Sequence[Row], method: str) -> Claim:
    points = [row for row in rows if row["setting"] == "data" and row["method"] == method]
    statement = f"beyond the paper: from data, {method} recovers B_K in nine of ten models once rows are enough"
    if not points:
        return Claim(statement, None, "no data were drawn")
    enough = {K: _least_enough([row for row in points if row["K"] == K]) for K in sorted({row["K"] for row in points})}
    most = max(row["n"] for row in points)
    last = {row["K"]: row for row in points if row["n"] == most}
    listed = ", ".join(
        f"K = {K}: n = {n:.0e}"
        if n
        else f"K = {K}: never ({last[K]['exact']:.0%} exact, F1 {last[K]['f1']:.3f} at n = {most:.0e})"
        for K, n in enough.items()
    )
    held = all(n is not None for n in enough.values())
    return Claim(statement, held, f"least n from which on nine of ten are exact: {listed}")


def _least_enough(points: Sequence[Row]) -> int | None:
    """Return the least number of rows from which on nine of ten models are recovered."""
    enough = None
    for row in sorted(points, key=lambda row: int(row["n"]), reverse=True):
        if row["exact"] < NINE_OF_TEN:
            break
        enough = int(row["n"])
    return enough


def highlights(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of exact graphs for RFD, and those from data with the most rows."""
    most = max((row["n"] for row in rows if row["n"]), default=None)
    return [
        row for row in rows if (row["setting"] == "exact" and row["method"] == "RFD") or (most and row["n"] == most)
    ]


def cost(key: Key) -> float:
    """Return about how long a cell takes."""
    p = key["K"] * (key["K"] + 1) / 2
    return float(0.05 + (p / 36) ** 3 * (2.0 if key["kind"] == "data" else 0.1))


ABOUT = (
    "B_K is a complete DAG on K(K−1)/2 nodes, each with its own pair of K sources besides. Exact: the nodes are "
    "numbered at random ten times, and the rules see the graph through the finite-field oracle; recovery is up to "
    "Markov equivalence. The scores are those of removing nodes in the true order. From data: ten models for each K "
    "and n, weights uniform on ±[0.25, 1]; the covariance matrix of n rows is drawn from its Wishart distribution, "
    "which is the same as that of n rows drawn and allows n up to 10⁷. RFD tests at level α = .001 whatever n, so that "
    "false edges do not die out; soft + refinement is what `rfdag.learn` does by default."
)

STUDIES = (
    Study(
        name="dense-family",
        title="The dense family B_K",
        source="Section 4, performance on dense graphs; from data it goes beyond the paper",
        about=ABOUT,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=claims,
        highlights=highlights,
        cost=cost,
    ),
)
