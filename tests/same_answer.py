"""The same data in many forms, and what tells answers apart.

``python tests/same_answer.py --seed 1 --seeds 20 --small`` prints the answers to all problems of these seeds, to
compare them with those of another process.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import polars
import pyarrow
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

import rfdag
from rfdag import simulate
from rfdag.errors import DataWarning, NumericalWarning

SCORES = 1e-9
"""Part of a score, or of a point where it is less, by which scores may differ: rounding, far below an edge's cost."""
UNDECIDED = 1e-10
"""Distance of a partial correlation from its threshold below which rounding may decide, as warnings have it."""
LETTERS = np.array(list("abcdefghij"))


@dataclass(frozen=True)
class Problem:
    """Data as an array of numbers, and the options it is learnt with.

    Attributes
    ----------
    kind
        "rows", "matrix", "precision" or "graph".
    categorical
        Columns that hold codes of categories.
    labels
        The environment of each row; None where there is one.
    """

    name: str
    values: NDArray[Any] = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    kind: str = "rows"
    categorical: tuple[int, ...] = ()
    labels: NDArray[Any] | None = field(default=None, repr=False)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [f"v{at}" for at in range(self.values.shape[1])]

    def learn(self, data: Any = None, **more: Any) -> Any:
        """Learn from other data that should say the same, or from the array."""
        options = {**self.options, **more}
        plain = data is None or isinstance(data, np.ndarray | list)
        if self.categorical and plain:
            options["categorical"] = [self.names[at] for at in self.categorical]
        if self.labels is not None:
            options.setdefault("environments", self.labels)
        if "names" not in options and (plain or self.kind in ("graph", "precision")):
            options["names"] = self.names
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            warnings.simplefilter("ignore", NumericalWarning)
            return rfdag.learn(self.values if data is None else data, progress=False, **options)

    def frame(self) -> Any:
        """Return the table as a pandas frame, with words for categories and the labels in the last column."""
        frame = pandas.DataFrame(self.values, columns=self.names)
        for at in self.categorical:
            codes = self.values[:, at]
            frame[self.names[at]] = np.where(np.isnan(codes), None, LETTERS[np.nan_to_num(codes).astype(int)])
        if self.labels is not None:
            frame["condition"] = self.labels
        return frame

    def of_frame(self) -> dict[str, Any]:
        """Return the options with which a frame is learnt."""
        return {} if self.labels is None else {"environments": "condition"}


def linear(p: int, n: int, seed: int, **size: Any) -> NDArray[Any]:
    """Return rows of a random linear model, of numbers that 32 bits hold."""
    generator = np.random.default_rng([seed, p, n, 40])
    model = simulate.linear_sem(simulate.random_dag(p, rng=generator, **size), rng=generator)
    return simulate.sample(model, n, rng=generator).astype(np.float32).astype(np.float64)


def problems(seed: int, *, small: bool) -> Iterator[Problem]:
    """Yield problems of all kinds, small ones or of the sizes that people have."""
    generator = np.random.default_rng([seed, 41])
    for p in (8,) if small else (10, 20, 40, 60):
        yield Problem(f"plain, p = {p}", linear(p, 20 * p, seed, degree=3))
    p = 8 if small else 25
    yield Problem("dense", linear(p, 20 * p, seed, density=0.5))
    p = 12 if small else 40
    yield Problem("fewer rows than columns", linear(p, p - 3, seed, degree=2))
    p = 7 if small else 20
    rows = linear(p, (15 if small else 30) * p, seed, degree=3)
    yield Problem("whole numbers", np.round(20 * rows).clip(-2000, 2000))
    codes = np.column_stack([np.searchsorted(np.quantile(column, [0.35, 0.7]), column) for column in rows.T])
    mixed, chosen = rows.copy(), tuple(range(0, p, 2))
    mixed[:, chosen] = codes[:, chosen]
    yield Problem("mixed", mixed, categorical=chosen)
    holes = generator.random(rows.shape) < 0.05
    yield Problem("missing values", np.where(holes, np.nan, rows), {"missing": "em"})
    labels = np.array(["a", "b", "c"])[generator.integers(0, 3, len(rows))]
    changed = rows.copy()
    changed[labels == "b", 1] = np.float32(3) + (0.5 * generator.normal(size=(labels == "b").sum())).astype(np.float32)
    changed[labels == "c", 2] += 2
    targets = {"a": [], "b": ["v1"], "c": ["v2"]}
    yield Problem("environments", changed, {"targets": targets}, labels=labels)
    yield Problem("method rfd", rows, {"method": "rfd"})
    if not small:
        yield Problem("method gsp", rows, {"method": "gsp"})
    matrix = np.corrcoef(rows.T)
    np.fill_diagonal(matrix, 1.0)
    matrix = ((matrix + matrix.T) / 2).astype(np.float32).astype(np.float64)
    yield Problem("correlations", matrix, {"input": "correlation", "n_samples": len(rows)}, "matrix")
    dag = simulate.random_dag(p, rng=generator, degree=3)
    weights = np.round(8 * simulate.linear_sem(dag, rng=generator).weights) / 8
    precision = (np.eye(p) - weights) @ (np.eye(p) - weights).T
    yield Problem("exact precision matrix", precision, {"input": "precision"}, "precision")
    yield Problem("DAG", np.asarray(dag, float), {"input": "dag"}, "graph")
    yield Problem("categories", codes.astype(float), categorical=tuple(range(p)))
    yield Problem("gaps and categories", np.where(holes, np.nan, mixed), {"missing": "em"}, categorical=chosen)
    yield Problem("gaps, pairwise", np.where(holes, np.nan, rows), {"missing": "pairwise"})
    yield Problem("curves", rows, {"basis": 3})
    yield Problem("ranks", rows, {"correlation": "spearman"})
    yield Problem("targets unknown", changed, {"targets": "unknown", "observational": ["a"]}, labels=labels)


def margins(found: Any) -> tuple[float, float]:
    """Return by how much tests were decided, and by how many points of BIC the answer is apart from others."""
    if found.score is None:
        return found.trace.smallest_margin, math.inf
    gains = [abs(edge.gain) for edge in found.edges if edge.gain is not None]
    return math.inf, min([*gains, *(rival.cost for rival in found.rivals)], default=math.inf)


def within_rounding(score: float) -> float:
    """Return by how much a score may differ."""
    return SCORES * max(1.0, abs(score))


@dataclass(frozen=True)
class Answer:
    """What tells answers apart, by name.

    ``tie`` tells that by its own record the answer was so close to another that rounding decided.
    """

    order: tuple[str, ...]
    dag: tuple[tuple[str, str], ...]
    classes: tuple[tuple[str, str, int], ...]
    score: float | None
    tie: bool

    @classmethod
    def of(cls, found: Any) -> Answer:
        """Return that of a result."""
        names = [str(name) for name in found.names]
        full = [each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in (found.dag, found.cpdag)]
        edges, classes = (
            sorted((names[i], names[j], int(each[i, j])) for i, j in np.argwhere(each).tolist()) for each in full
        )
        order = tuple(map(str, found.order))
        margin, gain = margins(found)
        tie = margin <= UNDECIDED or gain <= within_rounding(found.score or 0.0)
        return cls(order, tuple(edge[:2] for edge in edges), tuple(classes), found.score, tie)

    def is_like(self, other: Answer, *, same_order: bool = True) -> bool:
        """Return whether two answers agree; of others only the class, where ties may be decided otherwise."""
        if (self.score is None) != (other.score is None):
            return False
        near = self.score is None or abs(self.score - other.score) <= within_rounding(self.score)
        exactly = not same_order or (self.order == other.order and self.dag == other.dag)
        return near and exactly and self.classes == other.classes


Form = Callable[[Problem, Path], Any]


def _spread_out(values: NDArray[Any]) -> NDArray[Any]:
    room = np.full((2 * values.shape[0], 3 * values.shape[1]), np.nan, values.dtype)
    room[::2, ::3] = values
    return room[::2, ::3]


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    values = values.copy()
    values.setflags(write=False)
    return values


LAYOUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "column by column in memory": np.asfortranarray,
    "every second row and third column of an array": _spread_out,
    "negative strides": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "the other byte order": lambda values: values.astype(values.dtype.newbyteorder(">")),
}


def in_memory(problem: Problem) -> Iterator[tuple[str, str, Any]]:
    """Yield a comparison, a form, and the answer to a problem in this form."""
    values = problem.values
    for name, change in LAYOUTS.items():
        yield "memory layout", name, problem.learn(change(values))
    fits = np.array_equal(values.astype(np.float32), values, equal_nan=True)
    whole = np.isfinite(values).all() and np.array_equal(values, np.round(values))
    types = [*([np.float32] if fits else []), *([np.int64, np.int32, np.int16] if whole else [])]
    types += [np.bool_, np.int8] if problem.kind == "graph" else []
    for kind in types:
        yield "type of numbers", kind.__name__, problem.learn(values.astype(kind))
    yield "twice in a row", "again", problem.learn()
    for threads in (1, 2, 4):
        yield "threads", f"n_jobs={threads}", problem.learn(n_jobs=threads)
    if problem.kind == "graph":
        for kind in (csr_array, csc_array, coo_array):
            yield "engine", kind.__name__, problem.learn(kind(values))
        graph = networkx.relabel_nodes(
            networkx.from_numpy_array(values != 0, create_using=networkx.DiGraph), dict(enumerate(problem.names))
        )
        yield "container", "networkx", problem.learn(graph)
    if problem.kind == "precision":
        for kind in (csr_array, csc_array, coo_array):
            # Sparse matrices have an elimination of their own, and no search for sparser DAGs that follows.
            yield "engine", kind.__name__, (problem.learn(kind(values), method="rfd"), problem.learn(method="rfd"))


def in_containers(problem: Problem, folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield the same of containers and files."""
    frame, options = problem.frame(), problem.of_frame()
    if problem.kind != "rows":
        frame.index = problem.names
        yield "container", "pandas", problem.learn(frame)
        frame.to_csv(folder / "matrix.csv")
        yield "container", "CSV", problem.learn(folder / "matrix.csv")
        np.save(folder / "matrix.npy", problem.values)
        yield "container", "NPY", problem.learn(folder / "matrix.npy", names=problem.names)
        return
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    yield "container", "pandas", problem.learn(frame, **options)
    yield "container", "polars", problem.learn(polars.from_pandas(frame), **options)
    yield "container", "Arrow", problem.learn(table, **options)
    if not problem.categorical:
        yield "container", "list of lists", problem.learn(problem.values.tolist())
    frame.to_csv(folder / "table.csv", index=False, float_format="%.17g")
    yield "container", "CSV", problem.learn(folder / "table.csv", **options)
    frame.to_csv(folder / "table.tsv", index=False, sep="\t", float_format="%.17g")
    yield "container", "TSV", problem.learn(folder / "table.tsv", **options)
    polars.from_pandas(frame).write_parquet(folder / "table.parquet")
    yield "container", "Parquet", problem.learn(folder / "table.parquet", **options)
    table.to_pandas().to_feather(folder / "table.feather")
    yield "container", "Feather", problem.learn(folder / "table.feather", **options)
    if not problem.categorical:
        np.save(folder / "table.npy", problem.values)
        yield "container", "NPY", problem.learn(folder / "table.npy", names=problem.names)
    if problem.name != "fewer rows than columns":
        pieces = folder / "pieces"
        pieces.mkdir()
        for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
            frame.iloc[part].to_parquet(pieces / f"part-{number}.parquet", index=False)
        yield "read in pieces", "Parquet", problem.learn(pieces, **options)
        batches = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))
        if not problem.categorical and problem.labels is None:
            yield "read in pieces", "Arrow stream", problem.learn(batches, **options)


def rearranged(problem: Problem, generator: np.random.Generator) -> Iterator[tuple[str, str, Any]]:
    """Yield the same with rows and columns in another order, of which only the class must agree."""
    p = problem.values.shape[1]
    places = generator.permutation(p)
    if problem.kind == "rows":
        rows = generator.permutation(len(problem.values))
        labels = None if problem.labels is None else problem.labels[rows]
        yield "order of rows", "shuffled", replace(problem, labels=labels).learn(problem.values[rows])
        number = np.argsort(places)
        names = [problem.names[at] for at in places]
        options = {"names": names}
        if problem.categorical:
            options["categorical"] = [names[number[at]] for at in problem.categorical]
        moved = replace(problem, categorical=())
        yield "order of columns", "shuffled", moved.learn(problem.values[:, places], **options)
    elif problem.kind == "matrix":
        names = [problem.names[at] for at in places]
        yield "order of columns", "shuffled", problem.learn(problem.values[np.ix_(places, places)], names=names)


def answers(seed: int, *, small: bool) -> dict[str, Any]:
    """Return the answers to all problems, as JSON has them."""
    return {problem.name: astuple(Answer.of(problem.learn())) for problem in problems(seed, small=small)}


def from_json(entry: Any) -> Answer:
    """Return an answer that another process has printed."""
    order, dag, classes, score, tie = entry
    return Answer(tuple(order), tuple(map(tuple, dag)), tuple(map(tuple, classes)), score, tie)


def in_process(environment: Mapping[str, str], *options: str) -> dict[int, dict[str, Answer]]:
    """Return the answers of a process of its own, with the variables of this environment, by seed and problem."""
    words = [sys.executable, __file__, *options]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {
        int(seed): {name: from_json(entry) for name, entry in found.items()}
        for seed, found in json.loads(done.stdout).items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.seeds)
    sys.stdout.write(json.dumps({seed: answers(seed, small=options.small) for seed in seeds}) + "\n")
