"""How often the equivalence class changes when the columns of a data set are put into another order.

    python benchmarks/reproducible.py [--sets 60] [--seed 6000]

Every data set is learnt as it is and with its columns permuted. Beside the default, the same search runs on the columns
as they come, not arranged by the data, in the same process. Writes benchmarks/results/reproducible.csv and its section
of docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.evidence.moments import Moments
from rfdag.simulate import linear_sem, random_dag, sample

Row = dict[str, Any]
Floats = NDArray[np.float64]

SIZES: tuple[tuple[int, int, dict[str, float]], ...] = (
    (10, 50, {"density": 0.5}),
    (10, 200, {"density": 0.5}),
    (20, 200, {"degree": 2}),
    (20, 200, {"density": 0.5}),
    (20, 1000, {"density": 0.5}),
    (30, 200, {"degree": 3}),
    (30, 300, {"density": 0.5}),
    (50, 40, {"degree": 2}),
    (50, 200, {"degree": 3}),
    (100, 500, {"degree": 4}),
)


def as_given(moments: Moments) -> NDArray[np.int64]:
    """Return the columns as they come."""
    return np.arange(len(moments.names))


def learnt(rows: Floats, places: NDArray[np.int64], **options: Any) -> tuple[NDArray[np.int8], float]:
    """Return the class of permuted columns, in the order in which they were drawn, and the time it took."""
    start = time.perf_counter()
    found = rfdag.learn(rows[:, places], progress=False, **options)
    seconds = time.perf_counter() - start
    graph = np.empty_like(found.cpdag)
    graph[np.ix_(places, places)] = found.cpdag
    return graph, seconds


def measure(p: int, n: int, size: dict[str, float], sets: int, seed: int) -> Row:
    """Return the shares of changed classes over several data sets."""
    changed = {"default": 0, "beams": 0, "as given": 0}
    times: dict[str, list[float]] = {name: [] for name in changed}
    for number in range(sets):
        generator = np.random.default_rng([seed, p, n, number])
        sem = linear_sem(random_dag(p, rng=generator, **size), generator)  # type: ignore[arg-type]
        rows = sample(sem, n, generator)
        places = generator.permutation(p)
        for name in changed:
            options = {} if name == "default" else {"exact": False}
            with mock.patch.object(Moments, "places_by_data", as_given) if name == "as given" else nullcontext():
                (one, first), (other, second) = (learnt(rows, each, **options) for each in (np.arange(p), places))
            changed[name] += not np.array_equal(one, other)
            times[name] += [first, second]
    kind = "density ½" if "density" in size else f"degree {size['degree']:g}"
    return {
        "variables": p,
        "rows": n,
        "graphs": kind,
        "changed": f"{changed['default'] / sets:.0%}",
        "with exact=False": f"{changed['beams'] / sets:.0%}",
        "columns as given": f"{changed['as given'] / sets:.0%}",
        "time / as given": round(median(times["default"]) / median(times["as given"]), 2),
        "exact=False / as given": round(median(times["beams"]) / median(times["as given"]), 2),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=6000)
    options = parser.parse_args(arguments)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rfdag.learn(np.random.default_rng(1).normal(size=(50, 25)), exact=False)
        for p, n, size in SIZES:
            rows.append(measure(p, n, size, options.sets, options.seed))
            print(rows[-1], flush=True)
    write_tables("reproducible", rows)
    about = f"{options.sets} data sets a row, seed {options.seed}."
    update_section(ROOT / "docs" / "accuracy.md", "reproducible", f"{markdown(rows)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
