"""How often the equivalence class changes when the columns of a data set are put into another order.

    python benchmarks/reproducible.py [--sets 60] [--seed 6000]
    python benchmarks/reproducible.py --kinds 300 [--seed 6000] [--columns 10 25 60 100]

Every data set is learnt as it is and with its columns permuted. Beside the default, the same search runs on the columns
as they come, not arranged by the data, in the same process. Writes benchmarks/results/reproducible.csv and its section
of docs/accuracy.md. With --kinds, so many data sets of every kind (gaps, categories, ranks, powers, environments) are
learnt twice instead, and reproducible_kinds.csv and its section are written.
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
from rfdag.simulate import linear_sem, mixed, random_dag, sample

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


GAPS = 0.1
"""Share of the values that are missing where some are."""

KINDS: dict[str, dict[str, Any]] = {
    "numbers": {},
    "numbers with weights": {},
    "gaps, by maximum likelihood": {"missing": "em"},
    "gaps, pair by pair": {"missing": "pairwise"},
    "gaps and categories": {"missing": "em"},
    "half categories": {},
    "all categories": {},
    "Spearman's correlations": {"correlation": "spearman"},
    "Kendall's correlations": {"correlation": "kendall"},
    "normal scores": {"correlation": "normal-scores"},
    "powers": {"basis": 2},
    "environments": {"targets": "unknown"},
}
"""What is learnt, and with which options."""


def drawn(kind: str, p: int, n: int, generator: np.random.Generator) -> tuple[Floats, list[int], dict[str, Any]]:
    """Return rows of a kind, the places of their categories, and options that go with the rows."""
    dag = random_dag(p, degree=4, rng=generator)
    if "categories" in kind:
        found = mixed(dag, n, 1.0 if kind == "all categories" else 0.5, rng=generator)
        rows, categorical = np.array(found.values), np.flatnonzero(found.categorical).tolist()
    else:
        rows, categorical = np.array(sample(linear_sem(dag, generator), n, generator)), []
    if "gaps" in kind:
        rows[generator.random(rows.shape) < GAPS] = np.nan
    options: dict[str, Any] = {}
    if kind == "numbers with weights":
        options["weights"] = generator.integers(1, 4, n).astype(float)
    if kind == "environments":
        options["environments"] = generator.choice(["a", "b", "c"], n).tolist()
        rows[np.array(options["environments"]) == "b", 0] += 2
    return rows, categorical, options


def measure_kind(kind: str, p: int, n: int, sets: int, seed: int) -> Row:
    """Return how often the class, and any digit of the score, changed over several data sets."""
    classes = scores = 0
    for number in range(sets):
        generator = np.random.default_rng([seed, p, n, list(KINDS).index(kind), number])
        rows, categorical, options = drawn(kind, p, n, generator)
        found = []
        for places in (np.arange(p), generator.permutation(p)):
            named: dict[str, Any] = (
                {"categorical": np.flatnonzero(np.isin(places, categorical)).tolist()} if categorical else {}
            )
            result = rfdag.learn(rows[:, places], progress=False, **KINDS[kind], **options, **named)
            graph = np.empty_like(result.cpdag)
            graph[np.ix_(places, places)] = result.cpdag
            found.append((graph, result.score))
        classes += not np.array_equal(found[0][0], found[1][0])
        scores += found[0][1] != found[1][1]
    return {
        "columns are": kind,
        "variables": p,
        "rows": n,
        "another class": f"{classes} of {sets}",
        "another score, in any digit": f"{scores} of {sets}",
    }


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
    parser.add_argument("--kinds", type=int, default=0)
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 25, 60, 100])
    options = parser.parse_args(arguments)
    rows = []
    if options.kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for p in options.columns:
                for kind in KINDS:
                    rows.append(measure_kind(kind, p, max(200, 5 * p), options.kinds, options.seed))
                    print(rows[-1], flush=True)
        write_tables("reproducible_kinds", rows)
        about = f"{options.kinds} data sets a row, seed {options.seed}; {GAPS:.0%} of the values are missing in gaps."
        text = f"{markdown(rows)}\n{about}\n\n{provenance()}"
        update_section(ROOT / "docs" / "accuracy.md", "reproducible-kinds", text)
        return
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
