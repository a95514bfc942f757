"""Elimination by kernel tests and PC with the same tests, at other degrees and levels than `rfdag reproduce` shows.

    python benchmarks/nonparametric.py [--graphs 4] [--seed 3021]

Additive data of 10 variables and 500 rows, sigmoid and quadratic effects. Writes benchmarks/results/nonparametric.csv
and the second table in docs/tests.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.errors import DataWarning, NumericalWarning
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import random_dag
from rfdag.studies.bench.additive import CURVES, additive_sample
from rfdag.studies.bench.workloads import simulation_generator
from rfdag.studies.paper.nonparametric import found_by_pc, found_by_rfd

P, ROWS = 10, 500
SETTINGS = ((2.0, 0.01), (2.0, 0.05), (3.0, 0.05))
"""Degrees and levels."""
FINDERS = {"RFD": found_by_rfd, "PC": found_by_pc}


def measure(degree: float, alpha: float, curve: str, graphs: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row per test: F1 and number of tests of both methods on the same data."""
    drawn = []
    for graph in range(graphs):
        generator = simulation_generator(f"nonparametric {degree} {curve}", seed, graph)
        dag = random_dag(P, None, generator, degree=degree)
        drawn.append((dag, additive_sample(dag, ROWS, curve, generator)))
    for test in ("kci", "rcit"):
        row: dict[str, Any] = {"degree": degree, "level": alpha, "effects": curve, "test": test}
        counts = {}
        for name, find in FINDERS.items():
            found = [(dag, *find(rows, test, alpha)) for dag, rows in drawn]
            row[f"F1, {name}"] = round(float(np.mean([metrics.skeleton(dag, graph).f1 for dag, graph, _ in found])), 3)
            counts[name] = float(np.mean([tests for *_, tests in found]))
        row |= {f"tests, {name}": round(count) for name, count in counts.items()}
        row["share of PC's tests"] = f"{counts['RFD'] / counts['PC']:.0%}"
        print(row, flush=True)
        yield row


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=3021)
    options = parser.parse_args()
    warnings.simplefilter("ignore", NumericalWarning)
    warnings.simplefilter("ignore", DataWarning)
    with one_blas_thread():
        rows = [
            row
            for degree, alpha in SETTINGS
            for curve in CURVES
            for row in measure(degree, alpha, curve, options.graphs, options.seed)
        ]
    write_tables("nonparametric", rows)
    about = f"{options.graphs} graphs a row, {P} variables, {ROWS} rows, seed {options.seed}."
    update_section(ROOT / "docs" / "tests.md", "other settings", f"{markdown(rows)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
