"""What runs on resampled rows agree on: frequencies of edges, directions and ancestors, and places in the order."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.bootstrapping.consensus import consensus_dag, require_threshold
from rfdag.bootstrapping.resampling import Sampling
from rfdag.bootstrapping.showing import Showing
from rfdag.exchange import exports
from rfdag.graphs.dag import Graph
from rfdag.result import storage
from rfdag.result.result import SAVE_MOMENTS_UP_TO, Result
from rfdag.runtime.notebook import ShownInNotebooks
from rfdag.runtime.writing import write_text
from rfdag.values import switch, whole
from rfdag.wording import counted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FORMAT = "rfdag-bootstrap"
VERSION = 1
OFTEN = 0.9
"""Frequency from which a summary lists an edge; the pair is then hardly ever wrong, its direction more often."""


class Pair(NamedTuple):
    """Two variables that are adjacent in some run; the more frequent direction is source → target."""

    source: Hashable
    target: Hashable
    frequency: float
    """Share of the runs in which they are adjacent."""
    forward: float
    """Share of the runs whose equivalence class has source → target."""
    backward: float
    """Share of the runs whose equivalence class has target → source."""
    undirected: float
    """Share of the runs whose equivalence class has source – target, undirected."""


class Rank(NamedTuple):
    """The place of a variable in the orders of all runs; 1 is the first, a source."""

    variable: Hashable
    mean: float
    median: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Bootstrap(Showing, ShownInNotebooks):
    """How often runs on resampled rows found each edge, direction and ancestor, and the place of each variable.

    Row and column i of a matrix belong to the i-th of `names`.

    Attributes
    ----------
    result
        The plain run on all rows.
    runs
        How many runs were counted.
    sampling
        How their rows were drawn.
    random_state
        The seed of all runs.
    directed
        Number of runs whose equivalence class has i → j.
    undirected
        Number of runs whose equivalence class has i – j.
    ancestors
        Number of runs whose equivalence class has a directed path from i to j.
    places
        (runs, p) the place of each variable in an order of each run, from 1.
    """

    result: Result
    runs: int
    sampling: Sampling
    random_state: int
    directed: Integers = field(repr=False)
    undirected: Integers = field(repr=False)
    ancestors: Integers = field(repr=False)
    places: Integers = field(repr=False)

    def __post_init__(self) -> None:
        for counts in (self.directed, self.undirected, self.ancestors, self.places):
            counts.setflags(write=False)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The variables, in the order of the data's columns."""
        return self.result.names

    @property
    def drawn(self) -> str:
        """Which rows each run was given, in words."""
        rows = self.result.n_samples
        assert rows is not None
        if self.sampling.sampling == "subsample":
            return f"{self.sampling.size(rows)} of {rows} rows each"
        worth = ", counted as about half as many" if self.sampling.corrected else ""
        return f"{rows} rows drawn with replacement each{worth}"

    @cached_property
    def edge_frequency(self) -> Floats:
        """The share of runs in which i and j are adjacent; symmetric."""
        return _frozen((self.directed + self.directed.T + self.undirected) / self.runs)

    @cached_property
    def direction_frequency(self) -> Floats:
        """The share of runs with i → j, where an undirected edge of the equivalence class counts half each way.

        The two directions add up to the edge's frequency.
        """
        return _frozen((self.directed + self.undirected / 2) / self.runs)

    @cached_property
    def compelled_frequency(self) -> Floats:
        """The share of runs whose equivalence class has i → j; undirected edges do not count."""
        return _frozen(self.directed / self.runs)

    @cached_property
    def ancestor_frequency(self) -> Floats:
        """The share of runs whose equivalence class has a directed path from i to j; undirected edges do not count."""
        return _frozen(self.ancestors / self.runs)

    @cached_property
    def ranks(self) -> tuple[Rank, ...]:
        """The place of each variable over all runs: mean, median, and the interval that holds 90 % of them."""
        lower, median, upper = np.percentile(self.places, [5, 50, 95], axis=0)
        columns = (self.places.mean(axis=0), median, lower, upper)
        return tuple(map(Rank, self.names, *(column.tolist() for column in columns)))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair that is adjacent in some run, the most frequent first."""
        often = np.triu(self.edge_frequency, 1)
        rows = [self._pair(i, j) for i, j in np.argwhere(often > 0).tolist()]
        return tuple(sorted(rows, key=lambda pair: -pair.frequency))

    def _pair(self, i: int, j: int) -> Pair:
        if self.directed[j, i] > self.directed[i, j]:
            i, j = j, i
        counts = (self.directed[i, j], self.directed[j, i], self.undirected[i, j])
        shares = (float(count / self.runs) for count in (sum(counts), *counts))
        return Pair(self.names[i], self.names[j], *shares)

    def consensus(self, threshold: float = 0.5) -> Graph:
        """Return a DAG with the pairs that are adjacent in at least this share of the runs.

        A pair gets the direction that most runs found. If most left it undirected, it is directed so that no new
        v-structure arises, where possible; as in any member of an equivalence class, that direction is arbitrary. An
        arrow that would close a cycle with more frequent ones is reversed if some run had the pair that way, and left
        out otherwise. The knowledge of the plain run holds.
        """
        require_threshold(threshold)
        medians = np.array([rank.median for rank in self.ranks])
        known = self.result.knowledge
        before = known.constraints(self.names).before if known else None
        lines = self.undirected / self.runs
        return consensus_dag(self.compelled_frequency, lines, medians, float(threshold), before)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return `pairs` as a data frame: "pandas", "polars" or "pyarrow"."""
        return exports.frame_of(Pair._fields, self.pairs, backend)

    def to_json(self, *, moments: bool | None = None) -> str:
        """Return the bootstrap as JSON text; ``moments`` is that of `Result.to_json`."""
        keep = len(self.names) <= SAVE_MOMENTS_UP_TO if moments is None else switch("moments", moments)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "result": storage.encode(self.result, with_moments=keep),
            "runs": self.runs,
            "sampling": asdict(self.sampling),
            "random_state": self.random_state,
            "directed": _triples(self.directed),
            "undirected": _triples(self.undirected),
            "ancestors": _triples(self.ancestors),
            "places": self.places.tolist(),
        }
        return json.dumps(content, allow_nan=False) + "\n"

    def save(self, path: str | Path, *, moments: bool | None = None) -> Path:
        """Write `to_json` to a file, whole or not at all, and return its path."""
        return write_text(path, self.to_json(moments=moments))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return what `save` wrote."""
        return storage.read_as(path, FORMAT, VERSION, cls._decode, "a bootstrap of rfdag", "Bootstrap.save")

    @classmethod
    def _decode(cls, content: dict[str, Any]) -> Self:
        result = storage.decode(content["result"])
        counts = {name: _counts(content[name], len(result.names)) for name in ("directed", "undirected", "ancestors")}
        return cls(
            result=result,
            runs=content["runs"],
            sampling=Sampling.from_dict(content["sampling"]),
            random_state=content["random_state"],
            places=np.array(content["places"], np.int64),
            **counts,
        )

    def __repr__(self) -> str:
        return (
            f"Bootstrap({counted(self.runs, 'run')}, {len(self.names)} variables, sampling={self.sampling.sampling!r})"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, limit: int = 20) -> str:
        """Return a few lines of text: what was drawn, and the most frequent edges."""
        limit = whole("limit", limit, 0)
        frequent = [pair for pair in self.pairs if pair.frequency >= OFTEN]
        undirected = sum(max(pair.forward, pair.backward) < pair.frequency / 2 for pair in frequent)
        lines = [
            f"rfdag bootstrap: {counted(self.runs, 'run')}, {len(self.names)} variables, {self.drawn}",
            f"edges in {OFTEN:.0%} of the runs or more: {len(frequent)}, of which {undirected} mostly undirected; the "
            f"plain run has {int(self.result.dag.sum())}",
        ]
        for pair in frequent[:limit]:
            arrow = "→" if pair.forward >= pair.frequency / 2 else "–"
            lines.append(f"  {pair.source} {arrow} {pair.target}: {pair.frequency:.2f} (this way {pair.forward:.2f})")
        if len(frequent) > limit:
            lines.append(f"  … and {len(frequent) - limit} more")
        return "\n".join(lines)


def _frozen(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix


def _triples(counts: Integers) -> list[list[int]]:
    rows, columns = counts.nonzero()
    return np.column_stack([rows, columns, counts[rows, columns]]).tolist()


def _counts(triples: list[list[int]], p: int) -> Integers:
    counts = np.zeros((p, p), np.int64)
    rows, columns, values = np.array(triples, np.int64).reshape(-1, 3).T
    counts[rows, columns] = values
    return counts
