"""How often the class of mixed and discrete data changes when columns, rows or names of levels are put otherwise.

    python benchmarks/mixed_reproducible.py [--sets 60] [--seed 7000]

Writes benchmarks/results/mixed_reproducible.csv and its section of docs/mixed.md. `benchmarks/reproducible.py` does the
same for columns of numbers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.simulate import mixed, random_dag

SIZES = ((10, 200, 0.5), (20, 200, 0.5), (20, 1000, 0.5), (50, 500, 0.5), (20, 200, 1.0), (20, 1000, 1.0))
"""Variables, rows, and the share of categories."""


def learnt(rows: NDArray[np.float64], categorical: NDArray[np.bool_], places: NDArray[np.int64]) -> Any:
    """Return the class of permuted columns, in the order in which they were drawn."""
    named = np.flatnonzero(categorical[places]).tolist()
    found = rfdag.learn(rows[:, places], categorical=named, progress=False)
    graph = np.empty_like(found.cpdag)
    graph[np.ix_(places, places)] = found.cpdag
    return graph


def measure(p: int, n: int, share: float, sets: int, seed: int) -> dict[str, Any]:
    """Return the shares of changed classes over several data sets."""
    changed = {"columns permuted": 0, "rows permuted": 0, "levels renamed": 0}
    for number in range(sets):
        generator = np.random.default_rng([seed, p, n, round(10 * share), number])
        drawn = mixed(random_dag(p, degree=4, rng=generator), n, share, rng=generator)
        rows, categorical, given = drawn.values, drawn.categorical, np.arange(p)
        renamed = rows.copy()
        for at in np.flatnonzero(categorical):
            renamed[:, at] = generator.permutation(int(rows[:, at].max()) + 1)[rows[:, at].astype(int)]
        plain = learnt(rows, categorical, given)
        others = (
            learnt(rows, categorical, generator.permutation(p)),
            learnt(rows[generator.permutation(n)], categorical, given),
            learnt(renamed, categorical, given),
        )
        for name, other in zip(changed, others, strict=True):
            changed[name] += not np.array_equal(plain, other)
    kind = "all categories" if share == 1 else "half categories"
    return {
        "variables": p,
        "rows": n,
        "columns are": kind,
        **{name: f"{count} of {sets}" for name, count in changed.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7000)
    options = parser.parse_args(arguments)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for p, n, share in SIZES:
            rows.append(measure(p, n, share, options.sets, options.seed))
            print(rows[-1], flush=True)
    write_tables("mixed_reproducible", rows)
    about = f"Changed classes of {options.sets} data sets a row, seed {options.seed}."
    update_section(ROOT / "docs" / "mixed.md", "reproducible", f"{markdown(rows)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
