"""Calls that take seconds, each in a process that is interrupted while it runs; see soak_interrupts.py.

    python benchmarks/interrupted_calls.py NAME FOLDER

reads a line from standard input for every call, which is "go" or a time limit, says when the call begins, and answers
with a line of JSON how it ended, and when.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import rfdag
from interrupting import SOURCE, problem_with  # type: ignore[import-not-found]
from rfdag.errors import TimeLimitError
from rfdag.runtime import progress
from rfdag.runtime.compilation import seconds_compiling
from rfdag.simulate import draw_targets, interventions, linear_sem, mixed, random_dag, sample


@dataclass(frozen=True)
class Call:
    """A call that is interrupted.

    Attributes
    ----------
    prepare
        Makes its input in a folder, which is kept for other processes.
    options
        Those of `rfdag.learn`.
    run
        What is called with the input and the options.
    """

    prepare: Callable[[Path], Any]
    options: dict[str, Any] = field(default_factory=dict)
    run: Callable[..., Any] = rfdag.learn


def rows(p: int, n: int, *, degree: float | None = 4, density: float | None = None) -> Callable[[Path], Any]:
    """Return what draws rows of a linear model."""

    def draw(folder: Path) -> Any:
        generator = np.random.default_rng([p, n, 31])
        dag = random_dag(p, density, generator, degree=None if density else degree)
        return sample(linear_sem(dag, generator), n, generator)

    return draw


def with_gaps(p: int, n: int) -> Callable[[Path], Any]:
    """Return what draws rows a tenth of whose values are missing."""

    def draw(folder: Path) -> Any:
        found = rows(p, n)(folder)
        found[np.random.default_rng(32).random(found.shape) < 0.1] = np.nan
        return found

    return draw


def with_categories(p: int, n: int, share: float = 0.5) -> Callable[[Path], Any]:
    """Return what draws rows of numbers and categories."""

    def draw(folder: Path) -> Any:
        import pandas

        generator = np.random.default_rng([p, n, 33])
        found = mixed(random_dag(p, degree=3, rng=generator), n, share, rng=generator)
        frame = pandas.DataFrame(np.asarray(found.values), columns=[f"v{at}" for at in range(p)])
        chosen = [name for name, is_one in zip(frame, found.categorical, strict=True) if is_one]
        return frame.astype(dict.fromkeys(chosen, "category"))

    return draw


def in_environments(p: int, n: int) -> Callable[[Path], Any]:
    """Return what draws rows of an observed and of five disturbed environments."""

    def draw(folder: Path) -> Any:
        generator = np.random.default_rng([p, n, 34])
        model = linear_sem(random_dag(p, degree=3, rng=generator), generator)
        drawn = interventions(model, n, draw_targets(p, 5, 2, generator), n, rng=generator)
        labels = np.asarray(drawn.labels)
        return [drawn.values[labels == label] for label in dict.fromkeys(drawn.labels)]

    return draw


def parquet(files: int, n: int, p: int) -> Callable[[Path], Path]:
    """Return what writes a folder of Parquet files."""

    def write(folder: Path) -> Path:
        import pandas

        place = folder / f"parquet-{files}-{n}-{p}"
        if not place.exists():
            place.mkdir()
            for at, part in enumerate(np.array_split(rows(p, files * n)(folder), files)):
                frame = pandas.DataFrame(part, columns=[f"v{column}" for column in range(p)])
                frame.to_parquet(place / f"part-{at:03}.parquet")
        return place

    return write


def text(p: int, n: int) -> Callable[[Path], Path]:
    """Return what writes a CSV file."""

    def write(folder: Path) -> Path:
        import pandas

        path = folder / f"rows-{p}-{n}.csv"
        if not path.exists():
            frame = pandas.DataFrame(rows(p, n)(folder), columns=[f"v{column}" for column in range(p)])
            frame.to_csv(path, index=False, float_format="%.10g")
        return path

    return write


def sparse_precision(p: int) -> Callable[[Path], Any]:
    """Return what makes the precision matrix of a sparse model."""

    def make(folder: Path) -> Any:
        from scipy.sparse import csr_array, eye_array

        generator = np.random.default_rng([p, 35])
        model = linear_sem(random_dag(p, degree=2, rng=generator, sparse=True), generator)
        rest = eye_array(p, format="csr") - csr_array(model.weights)
        return csr_array(rest @ rest.T)

    return make


def true_dag(p: int) -> Callable[[Path], Any]:
    """Return what draws a DAG."""
    return lambda folder: random_dag(p, degree=6, rng=np.random.default_rng([p, 36]))


CALLS = {
    "500 columns": Call(rows(500, 2000), {"n_jobs": 1}),
    "500 columns, 2 threads": Call(rows(500, 2000), {"n_jobs": 2}),
    "1000 columns": Call(rows(1000, 4000), {"n_jobs": 1}),
    "dense graph of 100": Call(rows(100, 1000, density=0.4), {"n_jobs": 1}),
    "dense graph of 150, 2 threads": Call(rows(150, 2000, density=0.2), {"n_jobs": 2}),
    "few rows": Call(rows(300, 150), {"n_jobs": 1}),
    "wide, in clusters": Call(rows(1500, 150), {"n_jobs": 1}),
    "wide, in clusters, 2 threads": Call(rows(1500, 150), {"n_jobs": 2}),
    "rfd": Call(rows(1500, 6000), {"method": "rfd", "n_jobs": 1}),
    "rfd, three ahead": Call(rows(300, 1000, density=0.2), {"method": "rfd", "depth": 3, "n_jobs": 1}),
    "gsp": Call(rows(200, 1000, degree=6), {"method": "gsp", "runs": 10, "n_jobs": 1}),
    "sp of a DAG": Call(true_dag(15), {"method": "sp", "input": "dag", "n_jobs": 1}),
    "exact=True, 23 columns": Call(rows(23, 200, density=0.6), {"exact": True, "n_jobs": 1}),
    "exact=True, 23 columns, 2 threads": Call(rows(23, 200, density=0.6), {"exact": True, "n_jobs": 2}),
    "30 columns, a proof": Call(rows(30, 400), {"n_jobs": 1}),
    "penalties": Call(rows(200, 1000), {"penalty": [1.0, 2.0, 4.0], "n_jobs": 1}),
    "restarts=2000": Call(rows(60, 500), {"restarts": 2000, "n_jobs": 1}),
    "blocks=True": Call(rows(2000, 400, degree=1.2), {"blocks": True, "n_jobs": 1}),
    "Parquet in pieces": Call(parquet(8, 100_000, 60), {"n_jobs": 1}),
    "text in pieces": Call(text(60, 150_000), {"n_jobs": 2}),
    "text as a whole": Call(text(400, 12_000), {"n_jobs": 1}),
    "numbers and categories": Call(with_categories(120, 2000), {"n_jobs": 1}),
    "categories, by counts": Call(with_categories(60, 2000, 1.0), {"n_jobs": 1}),
    "curves": Call(rows(120, 1000), {"basis": "auto", "n_jobs": 1}),
    "missing values": Call(with_gaps(250, 2000), {"n_jobs": 1}),
    "unknown targets": Call(in_environments(100, 400), {"targets": "unknown", "n_jobs": 1}),
    "ranks": Call(rows(150, 4000), {"correlation": "kendall", "n_jobs": 1}),
    "graphical lasso": Call(rows(200, 150), {"precision": "graphical-lasso", "n_jobs": 1}),
    "nodewise": Call(rows(300, 150), {"precision": "nodewise", "n_jobs": 1}),
    "clime": Call(rows(60, 100), {"precision": "clime", "n_jobs": 1}),
    "kernel test": Call(rows(8, 250), {"test": "hsic", "n_jobs": 1}),
    "a DAG of 1000": Call(true_dag(1000), {"input": "dag", "n_jobs": 1}),
    "sparse precision matrix": Call(sparse_precision(50_000), {"input": "precision", "n_jobs": 1}),
    "bootstrap, 2 processes": Call(rows(60, 500), {"runs": 60, "n_jobs": 2}, rfdag.bootstrap),
}
"""All calls by name."""


@dataclass
class Watch:
    """What is known of the call under way."""

    running: bool = False
    stage: str = ""
    handled: list[tuple[float, str, str]] = field(default_factory=list)

    def begin(self) -> None:
        """Forget the call before."""
        self.stage, self.handled, self.running = "", [], True

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the call as Python does, and note where it was."""
        if not self.running:
            return
        self.handled.append((time.monotonic(), self.stage, where(frame)))
        raise KeyboardInterrupt


def where(frame: FrameType | None) -> str:
    """Return the innermost place in rfdag."""
    while frame is not None and not frame.f_code.co_filename.startswith(str(SOURCE)):
        frame = frame.f_back
    if frame is None:
        return ""
    return f"{os.path.relpath(frame.f_code.co_filename, SOURCE)}:{frame.f_lineno} {frame.f_code.co_name}"


def ended(call: Call, given: Any, limit: float | None, watch: Watch) -> dict[str, Any]:
    """Run a call, and return how it ended."""
    options = call.options if limit is None else call.options | {"time_limit": limit}
    found, how, compiling = None, "KeyboardInterrupt", seconds_compiling()
    # The signal may come before or after the call itself, and a second one while the first is handled.
    try:
        try:
            watch.begin()
            print("begin", flush=True)
            begun = time.monotonic()
            found = call.run(given, progress=False, **options)
            how = "result"
        except TimeLimitError:
            how = "TimeLimitError"
        except KeyboardInterrupt:
            pass
        except BaseException as other:
            how = f"{type(other).__name__}: {other}"
        watch.running = False
    except KeyboardInterrupt:
        watch.running = False
    at, cpu = time.monotonic(), time.process_time()
    problem = problem_with(found)
    return {
        "ended": how if not problem else f"a wrong result: {problem}",
        "interrupted": bool(getattr(found, "interrupted", False) or getattr(found, "optimal", False)),
        "at": at,
        "cpu": cpu,
        "seconds": at - begun - (seconds_compiling() - compiling),
        "handled": watch.handled,
    }


def main() -> None:
    """Answer until the input ends."""
    call, folder = CALLS[sys.argv[1]], Path(sys.argv[2])
    watch, lost = Watch(), []
    stage = progress.Progress.stage

    def noted(self: Any, label: str, *others: Any) -> Any:
        watch.stage = label
        return stage(self, label, *others)

    progress.Progress.stage = noted  # type: ignore[method-assign, assignment]
    sys.unraisablehook = lambda problem: lost.append(repr(problem.exc_value))
    signal.signal(signal.SIGINT, watch.handle)
    warnings.simplefilter("ignore")
    given = call.prepare(folder)
    for line in sys.stdin:
        lost.clear()
        answer = ended(call, given, None if line.strip() == "go" else float(line), watch)
        print(json.dumps(answer | {"lost": list(lost)}), flush=True)


if __name__ == "__main__":
    main()
