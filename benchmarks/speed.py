"""Time and memory of rule rfd beside a floor: the correlation (BLAS) and its inverse (LAPACK) of the same data.

    python benchmarks/speed.py [--repeats 9]

The contenders alternate, so that a busy machine slows both; medians are reported, and the ratio of medians.
Memory is the peak of what NumPy allocates during a run, in p × p matrices of doubles, beyond the data. Writes
benchmarks/results/speed.csv and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.simulate import linear_sem, random_dag, sample

Floats = NDArray[np.float64]
WORKLOADS: tuple[dict[str, float], ...] = (
    {"p": 20, "n": 400, "density": 0.5},
    {"p": 100, "n": 2000, "density": 0.5},
    {"p": 300, "n": 600, "degree": 8},
    {"p": 1000, "n": 2000, "degree": 8},
)


def floor(rows: Floats) -> None:
    """Correlate and invert: what any Gaussian method has to do at least."""
    np.linalg.inv(np.corrcoef(rows.T))


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_matrices(rows: Floats) -> float:
    """Return the peak of memory beyond the data, in p × p matrices."""
    tracemalloc.start()
    try:
        rfdag.learn(rows, method="rfd", progress=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / (8 * rows.shape[1] ** 2)


def measure(workload: dict[str, float], repeats: int) -> dict[str, object]:
    """Alternate floor and learn on one data set."""
    p, n = int(workload["p"]), int(workload["n"])
    dag = random_dag(p, workload.get("density"), rng=11, degree=workload.get("degree"))
    rows = sample(linear_sem(dag, rng=12), n, rng=13)
    rfdag.learn(rows, method="rfd", progress=False)
    floor(rows)
    floors, totals, eliminations = [], [], []
    for _ in range(repeats):
        floors.append(seconds(lambda: floor(rows)))
        start = time.perf_counter()
        result = rfdag.learn(rows, method="rfd", progress=False)
        totals.append(time.perf_counter() - start)
        eliminations.append(result.timings["elimination"])
    shape = f"density {workload['density']}" if "density" in workload else f"degree {workload['degree']}"
    return {
        "p": p,
        "n": n,
        "graph": shape,
        "floor (s)": round(median(floors), 4),
        "learn (s)": round(median(totals), 4),
        "of which elimination (s)": round(median(eliminations), 4),
        "learn / floor": round(median(totals) / median(floors), 1),
        "peak memory (p × p)": round(peak_matrices(rows), 2),
    }


def failures_of(rows: list[dict[str, object]]) -> list[str]:
    """Return the targets that the measurements miss, in words."""
    by_size = {row["p"]: row for row in rows}
    checks = (
        (1000, "learn / floor", 15.0),
        (100, "learn (s)", 0.1),
        (1000, "peak memory (p × p)", 4.0),
    )
    return [
        f"{name} at p = {p} is {by_size[p][name]} > {bound}"
        for p, name, bound in checks
        if float(str(by_size[p][name])) > bound
    ]


def import_seconds(repeats: int) -> float:
    """Return the median time of `import rfdag` in a fresh interpreter, less that of an empty one."""
    times = {code: [] for code in ("pass", "import rfdag")}  # type: dict[str, list[float]]
    for _ in range(repeats):
        for code, found in times.items():
            found.append(seconds(lambda code=code: subprocess.run([sys.executable, "-c", code], check=True)))  # type: ignore[misc]
    return median(times["import rfdag"]) - median(times["pass"])


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    rows = []
    for workload in WORKLOADS:
        rows.append(measure(workload, options.repeats))
        print(rows[-1], flush=True)
    missed = failures_of(rows)
    verdict = "All targets hold." if not missed else "Missed: " + "; ".join(missed) + "."
    print(verdict)
    importing = f"`import rfdag` takes {import_seconds(options.repeats):.2f} s.\n"
    print(importing)
    write_tables("speed", rows)
    text = f"{markdown(rows)}\n{verdict} {importing}\n{provenance()}"
    update_section(ROOT / "docs" / "benchmarks.md", "speed", text)


if __name__ == "__main__":
    main()
