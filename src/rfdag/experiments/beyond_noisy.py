"""The noisy study on graphs and data that the paper did not try: scale-free graphs, and networks from practice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rfdag import datasets
from rfdag.bench.workloads import Drawn, Generator, Workload
from rfdag.experiments import noisy
from rfdag.experiments.contests import Entry, held, made_by
from rfdag.experiments.noisy_claims import areas, efficient, roc_claims
from rfdag.experiments.study import Claim, Key, Record, Row, Scope, Study
from rfdag.simulate import linear_sem, sample, scale_free_dag

LEVELS = (1e-10, 1e-4, 1e-3, 0.01, 0.1, 0.3)
PENALTIES = (16.0, 4.0, 2.0, 1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Source:
    """Where data come from: their size, and the draw of one data set."""

    p: int
    n: int
    draw: Callable[[Generator], Drawn]


def _scale_free(p: int, m: int, n: int) -> Source:
    def draw(generator: Generator) -> Drawn:
        sem = linear_sem(scale_free_dag(p, m, generator), generator)
        return Drawn(sem.dag, sample(sem, n, generator))

    return Source(p, n, draw)


def _network(load: Callable[[], datasets.Network], p: int, n: int) -> Source:
    def draw(generator: Generator) -> Drawn:
        network = load()
        return Drawn(network.sem.dag, network.sample(n, generator).values)

    return Source(p, n, draw)


def _sachs(n: int) -> Source:
    def draw(generator: Generator) -> Drawn:
        rows = datasets.sachs().values
        return Drawn(datasets.sachs_truth(), rows[generator.choice(len(rows), n, replace=False)])

    return Source(11, n, draw)


SOURCES = {
    "scale-free, m = 2, p = 20, n = 40": _scale_free(20, 2, 40),
    "scale-free, m = 4, p = 50, n = 500": _scale_free(50, 4, 500),
    "ECOLI70, n = 150": _network(datasets.ecoli70, 46, 150),
    "ECOLI70, n = 500": _network(datasets.ecoli70, 46, 500),
    "MAGIC-NIAB, n = 500": _network(datasets.magic_niab, 44, 500),
    "Sachs, n = 1000": _sachs(1000),
}
QUICK = ("scale-free, m = 2, p = 20, n = 40", "Sachs, n = 1000")

ENTRIES = tuple(replace(entry, values=LEVELS if entry.values == noisy.LEVELS else PENALTIES) for entry in noisy.ENTRIES)


def plan(scope: Scope) -> list[Key]:
    """List the cells: a data set with all methods of one environment, over their tuning values."""
    homes = {home: [entry for entry in ENTRIES if entry.home == home] for home in noisy.HOMES}
    return [
        {
            "kind": kind,
            "graph": graph,
            "seed": scope.seed,
            "home": home,
            "calls": [
                [entry.method, entry.contender, list(entry.values[1::2] if scope.quick else entry.values)]
                for entry in entries
            ],
            "limit": scope.allowed(15.0, 3.0),
            "version": version,
            "revision": made_by(measure, _scale_free, _network, _sachs),
        }
        for graph in range(scope.count(6, 2))
        for kind in (QUICK if scope.quick else SOURCES)
        for home, entries in homes.items()
        for version in [entries[0].version(scope.peers)]
        if version is not None
    ]


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw a data set and make the calls of one environment on it."""
    source = SOURCES[key["kind"]]
    workload = Workload(f"beyond {key['kind']}", "", key["kind"], source.p, source.n, source.draw)
    drawn = workload.draw(key["seed"], key["graph"])
    entries = [Entry(method, contender, tuple(values)) for method, contender, values in key["calls"]]
    records = held(entries, drawn, key["limit"], scope.peers)
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
    """Ask whether what the paper says of random graphs holds here, too."""
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
    "The methods of the [noisy study](#roc-curves-on-20-node-graphs), at six tuning values each, on scale-free "
    "DAGs (weights ±[.25, 1], unit noise), on data drawn from the fitted regressions of the networks ECOLI70 and "
    "MAGIC-NIAB, and on rows drawn without replacement from the Sachs data, log(x + 10), where the 20 edges that "
    "example-causal-datasets lists count as true (other lists are in use, and the rows pool several "
    "interventional conditions, so that no method can be expected to find them). Columns are shuffled and "
    "standardised. A call may take 15 s (3 s in a quick run); points where less than half of the calls ended in "
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
