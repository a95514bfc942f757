"""Messages that name options: what brings each about, and what its advice comes to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import rfdag
from rfdag.evidence.moments import Moments
from rfdag.independence.reading import read_tests
from rfdag.simulate import linear_sem, sample

OUT = "(left out)"
"""In place of a value: the advice is to leave the option out."""
SOURCE = "(source)"
"""In place of an option: the advice is to pass other data."""

NAMES = list("abcd")
CHAIN = np.eye(4, k=1, dtype=int)
SEM = linear_sem(CHAIN, rng=1)
ROWS = pd.DataFrame(sample(SEM, 80, rng=2), columns=NAMES)
GAPS = ROWS.mask(ROWS.index.to_numpy()[:, None] + 10 * np.arange(4) == 30)
DAG = pd.DataFrame(CHAIN, index=NAMES, columns=NAMES)
COVARIANCE, CORRELATION = ROWS.cov(), ROWS.corr()
PRECISION = pd.DataFrame(SEM.precision(), index=NAMES, columns=NAMES)
FEW = pd.DataFrame(np.random.default_rng(3).normal(size=(6, 6)), columns=list("abcdef"))
CODES = pd.DataFrame(np.random.default_rng(9).integers(1, 5, size=(200, 3)), columns=list("abc"))
MATRIX: dict[str, Any] = {"input": "correlation", "n_samples": 80}


@dataclass(frozen=True)
class Case:
    """A message, and what its advice comes to.

    Attributes
    ----------
    place
        The file that makes it.
    words
        A piece of its text that no other message of this file has.
    source
        Data; or a function that makes them, given a folder.
    options
        Options with which the message comes.
    advice
        For each way that the message names: the options to pass, or to leave out, or other data.
    call
        What is called.
    also
        Functions that contribute options to the message, as "file:function".
    restated
        Options that the message names without saying that they are given or advising them.
    under
        Prepares circumstances, such as little memory.
    terminal
        Whether the command line can bring it about; only data in files and frames can be.
    """

    place: str
    words: str
    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    advice: tuple[Mapping[str, Any], ...] = ()
    call: Callable[..., Any] = rfdag.learn
    also: tuple[str, ...] = ()
    restated: tuple[str, ...] = ()
    under: Callable[[Any], None] | None = None
    terminal: bool = True


def bootstrap(source: Any, **options: Any) -> Any:
    """Learn from few draws of rows, without other processes."""
    return rfdag.bootstrap(source, n_jobs=1, **{"runs": 3, **options})


# Circumstances


class FakeCudaError(RuntimeError):
    """Stands for errors of CUDA."""


def gpu(count: int = 1, free: int = 10**10, problem: str = "", total: int = 6) -> Callable[[Any], None]:
    """Return what puts a fake CuPy in place: devices, free bytes, a problem when they are counted, what a sum gives."""

    def counted() -> int:
        if problem:
            raise FakeCudaError(problem)
        return count

    fake = SimpleNamespace(
        arange=lambda size: np.array([total]),
        cuda=SimpleNamespace(
            runtime=SimpleNamespace(
                CUDARuntimeError=FakeCudaError, getDeviceCount=counted, memGetInfo=lambda: (free, free)
            ),
            driver=SimpleNamespace(CUDADriverError=type("DriverError", (RuntimeError,), {})),
            memory=SimpleNamespace(OutOfMemoryError=type("OutOfMemory", (MemoryError,), {})),
        ),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 0),
    )
    return lambda monkeypatch: monkeypatch.setitem(sys.modules, "cupy", fake)


def failing_gpu(kind: str) -> Callable[[Any], None]:
    """Return what puts a fake CuPy in place that passes all checks and then fails in one of two ways."""

    def prepare(monkeypatch: Any) -> None:
        gpu()(monkeypatch)
        import cupy

        failure = cupy.cuda.memory.OutOfMemoryError if kind == "memory" else FakeCudaError

        def fail(values: Any) -> Any:
            raise failure("illegal address")

        monkeypatch.setattr("rfdag.evidence.gpu._Rows", fail)

    return prepare


def memory(size: float, *modules: str) -> Callable[[Any], None]:
    """Return what makes so many bytes of memory available, as some modules see it."""

    def prepare(monkeypatch: Any) -> None:
        for module in modules:
            monkeypatch.setattr(f"rfdag.{module}.available_memory", lambda: size)
        for module in ("runtime.memory", "methods.preflight"):
            monkeypatch.setattr(f"rfdag.{module}.TRIFLE", 0)

    return prepare


def few_families(monkeypatch: Any) -> None:
    """Let all families be scored of no more than two variables."""
    monkeypatch.setattr("rfdag.orders.tuning.LARGEST_P_FOR_FAMILIES_ON_REQUEST", 2)


def impatient(monkeypatch: Any) -> None:
    """Make an estimate by CLIME too long to wait for."""
    from rfdag.precision.clime import Clime

    monkeypatch.setattr(Clime, "seconds", lambda self, columns, threads, *, removals=False: 1e6 * (columns > 2))


def slow(monkeypatch: Any) -> None:
    """Let every run be expected to take 25 minutes for each column."""
    from rfdag.methods import preflight

    def estimate(rows: int, columns: int, *rest: Any) -> preflight.Estimate:
        return preflight.Estimate((preflight.Part("beams", 0.0, 1500.0 * columns),))

    monkeypatch.setattr(preflight, "estimate", estimate)


def out_of_time(monkeypatch: Any) -> None:
    """Let a second pass whenever the time is asked for."""
    from itertools import count

    from rfdag.methods import timing
    from rfdag.runtime import deadline, progress

    seconds = count()
    for module in (deadline, progress, timing):
        monkeypatch.setattr(module, "now", lambda: float(next(seconds)))


def not_converging(monkeypatch: Any) -> None:
    """Let the graphical lasso fail where its strength is small."""
    from rfdag.precision import graphical_lasso

    solve = graphical_lasso.sparse_precision
    monkeypatch.setattr(
        graphical_lasso, "sparse_precision", lambda S, strength: None if strength < 0.05 else solve(S, strength)
    )


def drawn_once(monkeypatch: Any) -> None:
    """Let a run of a bootstrap fail with the first rows that are unfit."""
    monkeypatch.setattr("rfdag.bootstrapping.runs.DRAWS", 1)


# Data


def as_file(name: str, content: str | bytes) -> Callable[[Any], Any]:
    """Return what writes a file."""

    def write(folder: Any) -> Any:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def parquet(folder: Any, frame: pd.DataFrame = ROWS) -> Any:
    """Return a file that is read in pieces."""
    path = folder / "rows.parquet"
    frame.to_parquet(path)
    return path


def batches(frame: pd.DataFrame) -> Callable[[Any], Any]:
    """Return what makes a stream that can be read once."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return lambda folder: pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


def excel(folder: Any) -> Any:
    """Return a workbook with two sheets."""
    with pd.ExcelWriter(folder / "book.xlsx") as book:
        for sheet in ("May", "June"):
            ROWS.to_excel(book, sheet_name=sheet, index=False)
    return folder / "book.xlsx"


def two_files(folder: Any) -> list[Any]:
    """Return files whose columns differ."""
    paths = [folder / "first.csv", folder / "second.csv"]
    for path, frame in zip(paths, (ROWS, ROWS.rename(columns={"d": "e"})), strict=True):
        frame.to_csv(path, index=False)
    return paths


def tests_of_rows(folder: Any) -> Any:
    """Return evidence by tests."""
    return read_tests(ROWS, "fisher-z").evidence


def moments(folder: Any) -> Any:
    """Return moments that a user made."""
    return Moments.from_correlation(CORRELATION.to_numpy(), 80, NAMES)


def blurred() -> pd.DataFrame:
    return ROWS.assign(e=1e6 + 1e-10 * np.random.default_rng(1).normal(size=len(ROWS)))


def bent() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.normal(size=150)
    return pd.DataFrame({"a": x, "b": rng.normal(size=150), "c": x**2 + 0.5 * rng.normal(size=150)})


def scarce(rows: int) -> pd.DataFrame:
    """Return six columns of few rows."""
    return pd.DataFrame(np.random.default_rng(0).normal(size=(rows, 6)), columns=list("abcdef"))


def copies() -> pd.DataFrame:
    pounds = (ROWS["b"].round(2) / 0.4536).round(2)
    return ROWS.assign(kg=ROWS["b"].round(2), lb=pounds)[["a", "kg", "lb", "d"]]


def blocky(pairs: int = 2) -> pd.DataFrame:
    """Return pairs of columns, of which only those of a pair correlate."""
    rows = np.random.default_rng(5).normal(size=(200, 2 * pairs))
    rows[:, 1::2] += rows[:, ::2]
    return pd.DataFrame(rows, columns=list("abcdefghijklmnopqrst"[: 2 * pairs]))


def written(frame: pd.DataFrame, **options: Any) -> Callable[[Any], Any]:
    """Return what writes a frame as text."""
    return as_file("x.csv", frame.to_csv(index=False, **options))


def by_effect(source: Any, **options: Any) -> Any:
    """Return an effect in a result, with the options of either."""
    asked = {name: options.pop(name) for name in ("adjustment",) if name in options}
    return rfdag.learn(source, **options).effect("a", "b", **asked)


def knows(edges: Any) -> dict[str, Any]:
    return {"required": [list(edge) for edge in edges]}
