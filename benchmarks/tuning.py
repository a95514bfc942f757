"""Repeats the choice of a constant in `rfdag.orders.tuning`, on the tuning seeds.

    python benchmarks/tuning.py --list
    python benchmarks/tuning.py dense-settings [--graphs 3] [--size 1.0]

Prints a table: for every value and kind of graph the mean SHD of the CPDAG, F1 of the skeleton and processor time. The
value in use is marked. Every value sees the same data.

Graphs are drawn from seeds 20 to 34 and 77 to 79, which no benchmark reports: those use 1000 and more, and the search
itself uses 0. With three graphs a constant takes minutes and shows large effects only; choose with ten or more. A
constant that is compiled into kernels gets a process of its own for every value, which compiles first.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import markdown
from rfdag import metrics
from rfdag.errors import NumericalWarning
from rfdag.orders import tuning
from rfdag.orders.kernels import moves
from rfdag.orders.tuning import Setting
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag

Graph = NDArray[np.int8]
Floats = NDArray[np.float64]

SEEDS = (*range(20, 35), 77, 78, 79)
COMPILED = {
    "NOTICEABLE_Z2": (moves, "NOTICEABLE"),
}
"""Constants that kernels are compiled with, the module of these kernels, and the name there."""


@dataclass(frozen=True)
class Kind:
    """A kind of data: a function that draws a DAG of a size, the number of variables, and rows per variable."""

    dag: Callable[[int, np.random.Generator], Graph]
    p: int
    rows: float
    weights: tuple[float, float] = (0.25, 1.0)

    def draw(self, seed: int, size: float) -> tuple[Graph, Floats]:
        """Return a DAG and rows of it."""
        p = round(self.p * size)
        generator = np.random.default_rng([seed, p])
        dag = self.dag(p, generator)
        return dag, sample(linear_sem(dag, generator, weights=self.weights), round(self.rows * p), generator)


KINDS = {
    "dense": Kind(lambda p, rng: random_dag(p, 0.5, rng), 40, 20),
    "dense, 10 rows a variable": Kind(lambda p, rng: random_dag(p, 0.5, rng), 40, 10),
    "sparse": Kind(lambda p, rng: random_dag(p, degree=8, rng=rng), 60, 5),
    "strong": Kind(lambda p, rng: random_dag(p, degree=6, rng=rng), 100, 10, (0.4, 1.0)),
    "large": Kind(lambda p, rng: random_dag(p, degree=8, rng=rng), 200, 5),
    "very large": Kind(lambda p, rng: random_dag(p, degree=8, rng=rng), 500, 2),
    "scale-free": Kind(lambda p, rng: scale_free_dag(p, 3, rng), 60, 10),
    "tiny": Kind(lambda p, rng: random_dag(p, 0.5, rng), 6, 20),
    "small": Kind(lambda p, rng: random_dag(p, 2 / p, rng), 20, 2),
    "few rows": Kind(lambda p, rng: random_dag(p, degree=4, rng=rng), 100, 0.5),
}


@dataclass(frozen=True)
class Choice:
    """A constant, or several that belong together, other values to try, and the kinds of graphs that tell."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    kinds: tuple[str, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def compiled(self) -> bool:
        """Whether kernels are compiled with the value."""
        return self.names[0] in COMPILED

    @property
    def used(self) -> Any:
        """The value in use."""
        values = tuple(getattr(tuning, name) for name in self.names)
        return values if len(self.names) > 1 else values[0]

    @property
    def tried(self) -> tuple[Any, ...]:
        """The values to try, the one in use first."""
        return (self.used, *(value for value in self.values if value != self.used))

    @contextlib.contextmanager
    def replaced(self, value: Any) -> Iterator[None]:
        """Put a value in the place of the one in use."""
        with contextlib.ExitStack() as stack:
            for name, number in zip(self.names, value if len(self.names) > 1 else (value,), strict=True):
                stack.enter_context(mock.patch.object(tuning, name, number))
                if name in COMPILED:
                    module, constant = COMPILED[name]
                    stack.enter_context(mock.patch.object(module, constant, number))
            yield


def one(name: str, *values: Any, kinds: tuple[str, ...], **options: Any) -> Choice:
    """Return the choice of a single constant."""
    return Choice((name,), values, kinds, tuple(options.items()))


DENSE = ("dense", "dense, 10 rows a variable")
SPARSE = ("sparse", "scale-free")
CHOICES = {
    choice.names[0].lower().replace("_", "-"): choice
    for choice in (
        one(
            "DENSE_SETTINGS",
            *[(Setting(c, mu),) for c in (2.0, 4.0, 8.0) for mu in (0.2, 0.4, 0.7)],
            (Setting(4.0, 0.2), Setting(4.0, 0.4), Setting(6.0, 0.25)),
            tuning.SPARSE_SETTINGS,
            kinds=DENSE,
            rescoring="lazy",
        ),
        one(
            "STEPWISE_SETTINGS",
            *[(Setting(c, mu),) for c in (3.0, 4.0, 5.0, 6.0, 9.0, 12.0) for mu in (0.2, 0.3, 0.4, 0.6)],
            kinds=DENSE,
        ),
        one("STEPWISE_SHORTLIST", 1, 2, 8, 1000, kinds=DENSE, beam=64),
        one(
            "SPARSE_SETTINGS",
            *[(Setting(c, mu),) for c in (4.0, 6.0, 9.0, 14.0) for mu in (0.3, 0.5, 0.7)],
            tuning.DENSE_SETTINGS,
            kinds=SPARSE,
        ),
        one(
            "LARGE_SETTINGS",
            *[(Setting(6.0, 0.5, noise),) for noise in (0.0, 1.0, 2.0, 3.0, 5.0)],
            tuning.SPARSE_SETTINGS,
            kinds=("large",),
        ),
        one("LARGE_P", 0, 50, 300, kinds=("sparse", "strong", "large")),
        one("DENSE_SHARE_OF_PAIRS", 0.1, 0.2, 0.45, 0.6, kinds=("dense", "sparse", "scale-free")),
        one("CLEAR_Z", 2.0, 3.0, kinds=("dense", "sparse", "scale-free")),
        one("NEIGHBOUR_Z", 1.5, 2.0, 3.0, 4.0, kinds=("sparse", "scale-free")),
        one("NEIGHBOUR_Z_FOR_VERY_LARGE_P", 2.5, 3.2, kinds=("very large",)),
        one("ORDERS_SCORED_PER_BEAM", 1, 4, 8, kinds=("dense", "sparse", "scale-free")),
        one("NARROWEST_BEAM", 2, 4, 16, 32, kinds=SPARSE),
        one("FIRST_STEPWISE_BEAM", 8, 16, 256, kinds=DENSE),
        one("WIDEST_STEPWISE_BEAM", 64, 256, 1024, 4096, kinds=DENSE),
        one("STEPWISE_SLACK", 3.0, 4.5, 9.0, math.inf, kinds=DENSE),
        one("STEPWISE_SLACK_GROWTH", 0.0, 0.75, 3.0, kinds=DENSE),
        one("STEPWISE_MARGIN", 1.0, 2.0, 3.0, kinds=DENSE),
        one("SETTINGS_AROUND", ((1.0, 0.3),), ((0.6, 0.3),), ((1.6, 0.3),), ((1.0, 0.2),), kinds=DENSE),
        one("REACH", 0, 5, 8, 25, kinds=DENSE),
        one("WIDTH_AROUND", 32, 64, 1024, kinds=DENSE),
        one("BEAM_GROWTH", 2, 8, kinds=("dense", "sparse")),
        one("WIDEST_BEAM", 8, 32, 512, kinds=("sparse", "strong")),
        one("WIDEST_BEAM_FOR_SMALL_P", 8, 32, 128, 2048, kinds=("small",)),
        one("SMALL_P", 0, 100, kinds=DENSE),
        Choice(
            ("LAZY_STEPS", "EXACT_P_IF_REFINED"),
            tuple((((0, steps),), 0) for steps in (1, 2, 5, 16, 32)),
            ("small", "sparse", "large"),
        ),
        one("EXACT_P_IF_REFINED", 0, 100, kinds=("small", "sparse")),
        one("EXACT_P_IF_UNREFINED", 0, 1000, kinds=("sparse", "large"), refine=False),
        one("NOTICEABLE_Z2", 1.0, 4.0, kinds=("dense", "sparse")),
        one("PLAUSIBLE_Z2", 2.0, 6.0, 9.0, kinds=("dense", "sparse")),
        one("PLAUSIBLE_Z2_PER_EFOLD", 0.0, 3.0, kinds=("large",)),
        one("LEAST_P_FOR_FEWER_CANDIDATES", 0, kinds=("sparse", "scale-free", "very large")),
        one("RESTARTS_FROM_ONE_ORDER", 1, 2, 8, kinds=("sparse", "scale-free"), restarts=40),
        one("MOST_EDGES_REVERSED", 1, 2, 4, 8, 16, kinds=("sparse", "scale-free"), restarts=40),
        one("VARIABLES_PER_EDGE_REVERSED", 1, 2, 8, kinds=("small", "sparse"), restarts=40),
        one("LEAST_P_FOR_REVERSALS", 0, 5, 12, kinds=("tiny",)),
        one("MOST_FRUITLESS_RESTARTS", 0, 4, 20, 200, kinds=("sparse", "strong", "scale-free")),
        one("RESTART_SHARE", 0.0, 1.0, 6.0, 12.0, kinds=("dense", "sparse", "strong", "scale-free")),
        one("LEAST_RESTART_OPERATIONS", 0.0, 3e8, kinds=("sparse", "strong", "scale-free")),
        one("MARGIN_GAMMA", 0.1, 0.5, 1.0, kinds=("sparse", "strong", "large")),
        one("MARGINS_COMPARED", 2, 10, kinds=("sparse", "strong", "large")),
        one("MARGIN_CROWDING", 0.5, 1.0, 4.0, 1e9, kinds=("sparse", "strong", "large")),
        one("MARGIN_SELECTION", 0.0, 1.0, 10.0, kinds=("sparse", "strong", "large")),
        one("AVERAGED_MODELS", 1, 2, 4, 16, kinds=("few rows",)),
        one("FEW_ROWS_PER_COLUMN", 1.0, 1.5, 2.5, kinds=("few rows", "small")),
        one("FEW_ROWS_GAMMA", 0.0, 0.1, 0.5, 1.0, kinds=("few rows",)),
    )
}


def measure(choice: Choice, value: Any, graphs: int, size: float) -> list[dict[str, list[float]]]:
    """Return SHD, F1 and seconds of every graph with this value, for every kind."""
    warnings.simplefilter("ignore", NumericalWarning)
    options = {"n_jobs": 1, "progress": False, **dict(choice.options)}
    found = []
    with choice.replaced(value):
        # Kernels are compiled before anything is timed.
        rfdag.learn(KINDS["tiny"].draw(SEEDS[-1], 1.0)[1], progress=False)
        for kind in choice.kinds:
            scores: dict[str, list[float]] = {"SHD": [], "F1": [], "seconds": []}
            for seed in SEEDS[:graphs]:
                true, rows = KINDS[kind].draw(seed, size)
                start = time.process_time()
                result = rfdag.learn(rows, **options)
                scores["seconds"].append(time.process_time() - start)
                scores["SHD"].append(metrics.shd(true, result.dag))
                scores["F1"].append(metrics.skeleton(true, result.dag).f1)
            found.append(scores)
    return found


def measure_apart(name: str, at: int, graphs: int, size: float) -> list[dict[str, list[float]]]:
    """Return the same from a process of its own, whose kernels are compiled with the value."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, name, "--graphs", str(graphs), "--size", str(size), "--value", str(at)]
        done = subprocess.run(
            command, env={**os.environ, "NUMBA_CACHE_DIR": folder}, check=True, capture_output=True, text=True
        )
    return json.loads(done.stdout)


def shown(value: Any) -> str:
    """Return a value as the table has it."""
    if isinstance(value, tuple) and value and isinstance(value[0], Setting):
        return ", ".join(f"({setting.c:g}, {setting.mu:g}, {setting.noise:g})" for setting in value)
    return str(value)


def table(name: str, graphs: int, size: float) -> str:
    """Return the table of one constant."""
    choice = CHOICES[name]
    measured = [
        measure_apart(name, at, graphs, size) if choice.compiled else measure(choice, value, graphs, size)
        for at, value in enumerate(choice.tried)
    ]
    rows: list[dict[str, object]] = []
    for at, kind in enumerate(choice.kinds):
        for value, found in zip(choice.tried, measured, strict=True):
            mean = {score: float(np.mean(numbers)) for score, numbers in found[at].items()}
            rows.append(
                {
                    "graphs": kind,
                    "value": f"{shown(value)}{' (in use)' if value == choice.used else ''}",
                    "SHD": f"{mean['SHD']:.1f}",
                    "F1": f"{mean['F1']:.4f}",
                    "seconds": f"{mean['seconds']:.2f}",
                }
            )
    return f"{' and '.join(choice.names)}, {graphs} graphs of seeds {SEEDS[0]} on:\n\n{markdown(rows)}"


def main() -> None:
    """Print a table, or which constants there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "constant", nargs="?", choices=[*CHOICES], metavar="NAME", help="a constant, as --list shows it"
    )
    parser.add_argument("--list", action="store_true", help="show the constants, their values and graphs")
    parser.add_argument("--graphs", type=int, default=3, choices=range(1, len(SEEDS) + 1), metavar="COUNT")
    parser.add_argument("--size", type=float, default=1.0, help="multiplies the number of variables")
    parser.add_argument("--value", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list or options.constant is None:
        for name, choice in CHOICES.items():
            print(f"{name:30} {shown(choice.used):>40}  on {'; '.join(choice.kinds)}")
        return
    choice = CHOICES[options.constant]
    if options.value is not None:
        print(json.dumps(measure(choice, choice.tried[options.value], options.graphs, options.size)))
        return
    print(table(options.constant, options.graphs, options.size))


if __name__ == "__main__":
    main()
