"""The noisy study on graphs and data that the paper did not try: scale-free graphs, and networks from practice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rfdag import datasets
from rfdag.simulate import linear_sem, sample, scale_free_dag
from rfdag.studies.bench.workloads import Drawn, Generator, Workload
from rfdag.studies.paper import noisy
from rfdag.studies.paper.contests import entries_of, key_of, made_by, present, run
from rfdag.studies.paper.noisy_claims import areas, efficient, roc_claims
from rfdag.studies.paper.study import Claim, Key, Record, Row, Scope, Study

LEVELS = (1e-10, 1e-4, 1e-3, 0.01, 0.1, 0.3)
PENALTIES = (16.0, 4.0, 2.0, 1.0, 0.5, 0.25)


def _scale_free(p: int, m: int, n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        sem = linear_sem(scale_free_dag(p, m, generator), generator)
        return Drawn(sem.dag, sample(sem, n, generator))

    return _workload(f"scale-free, m = {m}, p = {p}, n = {n}", p, n, source)


def _network(name: str, load: Callable[[], datasets.Network], n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        network = load()
        return Drawn(network.sem.dag, network.sample(n, generator).values)

    return _workload(f"{name}, n = {n}", len(load().names), n, source)


def _sachs(n: int) -> Workload:
    def source(generator: Generator) -> Drawn:
        rows = datasets.sachs().values
        return Drawn(datasets.sachs_truth(), rows[generator.choice(len(rows), n, replace=False)])

    return _workload(f"Sachs, n = {n}", 11, n, source)


def _workload(kind: str, p: int, n: int, source: Callable[[Generator], Drawn]) -> Workload:
    return Workload(kind, "", kind, p, n, source)


SOURCES = {
    workload.name: workload
    for workload in (
        _scale_free(20, 2, 40),
        _scale_free(50, 4, 500),
        _network("ECOLI70", datasets.ecoli70, 150),
        _network("ECOLI70", datasets.ecoli70, 500),
        _network("MAGIC-NIAB", datasets.magic_niab, 500),
        _sachs(1000),
    )
}
QUICK = ("scale-free, m = 2, p = 20, n = 40", "Sachs, n = 1000")

ENTRIES = tuple(replace(entry, values=LEVELS if entry.values == noisy.LEVELS else PENALTIES) for entry in noisy.ENTRIES)


def plan(scope: Scope) -> list[Key]:
    """List the cells: a data set with all methods of one environment, over their tuning values."""
    made = made_by(measure)
    limit = scope.allowed(8.0, 3.0)
    return [
        {"kind": kind, "home": home, "version": version, "revision": made}
        | key_of(SOURCES[kind], graph, scope.seed, entries, limit)
        for graph in range(scope.count(4, 2))
        for kind in (QUICK if scope.quick else SOURCES)
        for home, version, entries in present(ENTRIES, scope, every=3)
    ]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw a data set and make the calls of one environment on it."""
    drawn = SOURCES[key["kind"]].draw(key["seed"], key["graph"])
    records = run(entries_of(key["calls"]), drawn, key["limit"], scope.peers)
    return [{"kind": key["kind"], "graph": key["graph"], **record} for record in records]


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up the data sets of each kind, method and tuning value."""
    return noisy.tabulated(records, "kind", tuple(SOURCES), ENTRIES)


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw TPR against FPR and time against TPR, a panel for each source."""
    return {
        **noisy.draw_rates(rows, "kind", "beyond-noisy"),
        **noisy.draw_times(rows, "kind", "beyond-noisy-time"),
    }


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check whether the paper's statements on random graphs hold here, too."""
    found = [*roc_claims(rows, "kind"), efficient(rows, "kind")]
    return [
        replace(claim, statement=f"beyond the paper: {claim.statement.removeprefix('beyond the paper: ')}")
        for claim in found
        if claim is not None
    ]


def cost(key: Key) -> float:
    """Return about how many seconds a cell takes."""
    return 35.0 if key["home"] == "causal-learn" else 6.0


ABOUT = (
    "The methods of the study `roc`, at six tuning values each, on scale-free "
    "DAGs (weights ±[.25, 1], unit noise), on data drawn from the fitted regressions of the networks ECOLI70 and "
    "MAGIC-NIAB, and on rows drawn without replacement from the Sachs data, log(x + 10), where the 20 edges that "
    "example-causal-datasets lists count as true (other lists are in use, and the rows pool several "
    "interventional conditions, so that no method can be expected to find them). Columns are shuffled and "
    "standardised. A call may take 8 s (3 s in a quick run); points where less than half of the calls ended in "
    "time are left out, open markers are points where some did not."
)

STUDIES = (
    Study(
        name="beyond-noisy",
        title="Other graphs with noise",
        source="Beyond the paper: its noisy study on scale-free graphs, networks from practice, and Sachs",
        about=ABOUT,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=claims,
        highlights=lambda rows: areas(rows, "kind"),
        cost=cost,
        homes=noisy.HOMES,
    ),
)
