"""Contests on data: rows drawn from random DAGs, tuned contenders on them, and how near each comes to the truth."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from rfdag import metrics
from rfdag.graphs.dag import Graph
from rfdag.simulate import linear_sem, sample
from rfdag.studies.bench import contenders, environments, harness, series
from rfdag.studies.bench.cells import distance
from rfdag.studies.bench.contenders import TUNED
from rfdag.studies.bench.workloads import Drawn, Generator, Workload
from rfdag.studies.paper.draws import draw_dag
from rfdag.studies.paper.statistics import Band, mean_band, median_band, rounded
from rfdag.studies.paper.study import Record, Scope, revision


@dataclass(frozen=True)
class Entry:
    """A method, the tuned contender that stands for it, and the values it is run with, from sparse to dense."""

    method: str
    contender: str
    values: tuple[float, ...]

    @property
    def home(self) -> str:
        """The environment it lives in."""
        return TUNED[self.contender].home

    def version(self, peers: Path) -> str | None:
        """Return the version of its package, or None where that is not installed."""
        return environments.version_of(TUNED[self.contender].package, self.home, peers)


def present(entries: Sequence[Entry], scope: Scope, every: int = 1) -> list[tuple[str, str, list[Entry]]]:
    """Return the environments that are installed, each with its version and entries; a quick run thins their values."""
    homes: dict[str, list[Entry]] = {}
    for entry in entries:
        homes.setdefault(entry.home, []).append(replace(entry, values=entry.values[::every]) if scope.quick else entry)
    versions = {home: found[0].version(scope.peers) for home, found in homes.items()}
    return [(home, version, homes[home]) for home, version in versions.items() if version is not None]


@functools.cache
def random_graphs(name: str, p: int, n: int, density: str) -> Workload:
    """Return Erdős–Rényi DAGs with weights ±[.25, 1] and unit noise; columns are shuffled and standardised."""

    def source(generator: Generator) -> Drawn:
        sem = linear_sem(draw_dag(p, density, generator), generator)
        return Drawn(sem.dag, sample(sem, n, generator))

    return Workload(name, "", density, p, n, source)


def key_of(workload: Workload, graph: int, seed: int, entries: Sequence[Entry], limit: float) -> dict[str, Any]:
    """Return what identifies a contest, except for versions: the data themselves, the calls and their limit."""
    return {
        "graph": graph,
        "seed": seed,
        "data": _digest(workload, seed, graph),
        "calls": [[entry.method, entry.contender, list(entry.values)] for entry in entries],
        "limit": limit,
    }


@functools.cache
def _digest(workload: Workload, seed: int, graph: int) -> str:
    return harness.digest(workload.draw(seed, graph).rows)


def entries_of(calls: Sequence[Any]) -> list[Entry]:
    """Return the entries that a key lists."""
    return [Entry(method, contender, tuple(values)) for method, contender, values in calls]


def run(entries: Sequence[Entry], drawn: Drawn, limit: float, peers: Path) -> list[Record]:
    """Run entries with all of their values on one data set; return a record for every call."""
    calls = [(entry, value) for entry in entries for value in entry.values]
    outcomes = harness.series(
        [(entry.contender, value) for entry, value in calls], drawn.rows, limit, peers, stop_when_late=True
    )
    return [
        {
            "method": entry.method,
            "package": f"{TUNED[entry.contender].package} {entry.version(peers)}",
            "value": value,
            "limit": limit,
            **scores(outcome, drawn.true),
        }
        for (entry, value), outcome in zip(calls, outcomes, strict=True)
    ]


def scores(outcome: harness.Outcome, true: Graph | None) -> Record:
    """Return the record of a call: its time and how near its graph is to the true one, or why there is none."""
    found: dict[str, Any] = dict.fromkeys(("seconds", "tpr", "fpr", "f1", "shd", "edges"))
    if isinstance(outcome, harness.Late | harness.Failed):
        return {**found, "late": isinstance(outcome, harness.Late), "failure": outcome.reason}
    graph, seconds = outcome
    found |= {"seconds": seconds, "edges": int(((graph != 0) | (graph != 0).T).sum()) // 2}
    if true is not None:
        skeleton = metrics.skeleton(true, graph)._asdict()
        found |= {name: _known(skeleton[name]) for name in ("tpr", "fpr", "f1")} | {"shd": distance(true, graph)}
    return {**found, "late": False, "failure": ""}


def made_by(*functions: Callable[..., Any]) -> str:
    """Return the digest of a study's functions with all that makes a contest's numbers from its data."""
    return revision(*functions, run, scores, distance, contenders, series)


def summed_up(records: Sequence[Record]) -> dict[str, Any]:
    """Return the figures of calls with the same settings on different graphs, each with its 95 % band.

    Scores are those of finished calls. A late call counts with its time limit, so that times are too low where there
    are such.
    """
    finished = [record for record in records if record["seconds"] is not None]
    times = [record["limit"] if record["late"] else record["seconds"] for record in records]
    times = [seconds for seconds in times if seconds is not None]
    counts = {
        "graphs": len(records),
        "finished": len(finished),
        "late": sum(record["late"] for record in records),
        "failed": sum(bool(record["failure"]) and not record["late"] for record in records),
    }
    means = {
        name: [record[name] for record in finished if record[name] is not None] for name in ("tpr", "fpr", "f1", "shd")
    }
    return {
        **counts,
        **{key: entry for name, values in means.items() for key, entry in _banded(name, values, mean_band).items()},
        **_banded("seconds", times, median_band),
        **_banded("mean_seconds", times, mean_band),
        "failure": _commonest(record["failure"] for record in records if record["failure"] and not record["late"]),
    }


def _banded(name: str, values: ArrayLike, centre: Callable[[ArrayLike], Band]) -> dict[str, float | None]:
    named = zip((name, f"{name}_low", f"{name}_high"), centre(values), strict=True)
    return {key: None if math.isnan(end) else rounded(end) for key, end in named}


def _commonest(messages: Iterable[str]) -> str:
    return next((message for message, _ in Counter(messages).most_common(1)), "")


def _known(score: float) -> float | None:
    return None if math.isnan(score) else score
