"""How often the look at columns reports something: false alarms on harmless tables, and planted problems found.

    python benchmarks/health.py [--tables 200] [--seed 1700]

Writes benchmarks/results/health.csv and the table of docs/troubleshooting.md. The rules were chosen on tables of other
seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.evidence.profile import profile_of
from rfdag.simulate import linear_sem, random_dag
from rfdag.studies.bench.workloads import simulation_generator

Row = dict[str, Any]
Floats = NDArray[np.float64]
Generator = np.random.Generator
PAGE = ROOT / "docs" / "troubleshooting.md"
COLUMNS, DEGREE = 10, 3.0
ROWS = (100, 400, 2000)

NOISE: dict[str, Callable[[Generator, tuple[int, int]], Floats]] = {
    "Gaussian": lambda generator, size: generator.normal(size=size),
    "uniform": lambda generator, size: generator.uniform(-1, 1, size=size),
    "t(5)": lambda generator, size: generator.standard_t(5, size=size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "log-normal(½)": lambda generator, size: generator.lognormal(0, 0.5, size=size),
}
"""Noise of linear SEMs."""


def linear(generator: Generator, n: int, noise: str = "Gaussian") -> Floats:
    """Return rows of a random linear SEM, in standard units."""
    dag = random_dag(COLUMNS, None, generator, degree=DEGREE)
    weights = np.asarray(linear_sem(dag, generator).weights)
    drawn = NOISE[noise](generator, (n, COLUMNS))
    rows = (drawn - drawn.mean(axis=0)) @ np.linalg.inv(np.eye(COLUMNS) - weights)
    return rows / rows.std(axis=0)


def counts(generator: Generator, n: int) -> Floats:
    """Return rows half of whose columns are counts with means that follow the others."""
    rows = linear(generator, n)
    rows[:, ::2] = generator.poisson(np.exp(0.4 * rows[:, ::2] + 1.0))
    return rows


def cut(generator: Generator, n: int, values: int) -> Floats:
    """Return rows half of whose columns are cut into so many values."""
    rows = linear(generator, n)
    edges = np.quantile(rows[:, ::2], np.linspace(0, 1, values + 1)[1:-1])
    rows[:, ::2] = np.digitize(rows[:, ::2], edges)
    return rows


def scale(generator: Generator, n: int, skewed: float = 0.0) -> Floats:
    """Return rows of answers 1, …, 5 that have nothing to do with each other."""
    places = np.digitize(generator.normal(size=(n, COLUMNS)) + skewed, [-1.2, -0.4, 0.4, 1.2])
    return np.asarray(places + 1, np.float64)


UNRELATED: dict[str, Callable[[Generator, int], Any]] = {
    "Poisson(½)": lambda generator, n: generator.poisson(0.5, (n, COLUMNS)),
    "Poisson(1)": lambda generator, n: generator.poisson(1.0, (n, COLUMNS)),
    "Poisson(2)": lambda generator, n: generator.poisson(2.0, (n, COLUMNS)),
    "Poisson(5)": lambda generator, n: generator.poisson(5.0, (n, COLUMNS)),
    "binomial(3, ½)": lambda generator, n: generator.binomial(3, 0.5, (n, COLUMNS)),
    "geometric(½)": lambda generator, n: generator.geometric(0.5, (n, COLUMNS)),
    "answers 1, …, 5": scale,
    "answers 1, …, 5, mostly high": partial(scale, skewed=1.0),
}
"""Columns of counts and of answers that have nothing to do with each other."""

HARMLESS: dict[str, Callable[[Generator, int], Floats]] = {
    **{f"linear, {noise} noise": partial(linear, noise=noise) for noise in NOISE},
    "half of the columns counts": counts,
    **{f"all columns {name}": draw for name, draw in UNRELATED.items()},
    "half of the columns 0 and 1": lambda generator, n: cut(generator, n, 2),
    "half of the columns 0, 1, 2": lambda generator, n: cut(generator, n, 3),
    "half of the columns 0, …, 4": lambda generator, n: cut(generator, n, 5),
}
"""Tables that need no warning."""


def replaced(value: float, share: float, scale: float = 1.0) -> Callable[[Generator, Floats], None]:
    """Return what writes a number for some missing values of a column, which is rounded to whole numbers first."""

    def plant(generator: Generator, rows: Floats) -> None:
        rows[:, 0] = np.clip(np.round(scale * rows[:, 0] + 3 * scale), 0, None)
        rows[generator.permutation(len(rows))[: max(2, round(share * len(rows)))], 0] = value

    return plant


def codes(generator: Generator, rows: Floats, of: tuple[int, ...] = (1, 2, 3, 4), spread: float = np.inf) -> None:
    """Write codes of categories, which act on another column; the smaller ``spread``, the less equal their shares."""
    shares = np.full(len(of), 1 / len(of)) if np.isinf(spread) else generator.dirichlet(np.full(len(of), spread))
    code = generator.choice(len(of), size=len(rows), p=shares)
    rows[:, 0] = np.array(of)[code]
    rows[:, 1] += generator.normal(size=len(of))[code]


def written(column: Callable[[Generator, Floats], Any]) -> Callable[[Generator, Floats], None]:
    """Return what writes a column."""

    def plant(generator: Generator, rows: Floats) -> None:
        rows[:, 0] = column(generator, rows)

    return plant


PLANTED: dict[str, tuple[str, Callable[[Generator, Floats], None]]] = {
    "−999 in 2 %": ("missing values", replaced(-999, 0.02)),
    "99 in 5 % of whole numbers up to about 70": ("missing values", replaced(99, 0.05, 12.0)),
    "9 in 10 % of the answers 0, …, 5": ("missing values", replaced(9, 0.1)),
    "row number": ("all different", written(lambda generator, rows: np.arange(len(rows)))),
    "row number, shuffled": ("all different", written(lambda generator, rows: generator.permutation(len(rows)))),
    "codes 1, …, 4 that act on a column": ("codes", codes),
    "codes 1, …, 4 of unequal shares that act on a column": ("codes", partial(codes, spread=3.0)),
    "codes 0, 1, 2 that act on a column": ("codes", partial(codes, of=(0, 1, 2))),
    "numbers of six regions that act on a column": ("codes", partial(codes, of=(3, 11, 12, 27, 40, 68))),
    "codes 1, …, 4 that do nothing": ("codes", written(lambda generator, rows: generator.integers(1, 5, len(rows)))),
    "codes 1, …, 4 of unequal shares that do nothing": (
        "codes",
        written(lambda generator, rows: generator.choice(4, len(rows), p=generator.dirichlet(np.full(4, 3.0))) + 1),
    ),
    "log-normal(1½)": ("skewed|tails", written(lambda generator, rows: np.exp(1.5 * rows[:, 0]))),
    "half of a variance from x²": (
        "square",
        written(lambda generator, rows: rows[:, 1] ** 2 / np.sqrt(2) + generator.normal(size=len(rows))),
    ),
}
"""Problems of one column, and a word of the warning about it."""


def share(count: int, tables: int) -> str:
    """Return a share in percent; 0 if there is none."""
    return f"{100 * count / tables:.3g} %" if count else "0"


def main() -> None:
    """Count warnings about harmless tables and about planted problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1700)
    options = parser.parse_args()
    rows: list[Row] = []
    for name, draw in HARMLESS.items():
        row: Row = {"table": name, "reported": "anything"}
        for n in ROWS:
            generators = (simulation_generator(f"health {name} {n}", options.seed, at) for at in range(options.tables))
            found = sum(bool(profile_of(draw(each, n), range(COLUMNS)).notes) for each in generators)
            row[f"n = {n}"] = share(found, options.tables)
        rows.append(row)
    for name, (word, plant) in PLANTED.items():
        row = {"table": name, "reported": "the problem"}
        for n in ROWS:
            found = 0
            for at in range(options.tables):
                generator = simulation_generator(f"health {name} {n}", options.seed, at)
                values = linear(generator, n)
                plant(generator, values)
                notes = " ".join(profile_of(values, range(COLUMNS)).notes)
                found += any(one in notes for one in word.split("|"))
            row[f"n = {n}"] = share(found, options.tables)
        rows.append(row)
    for row in rows:
        print(row, flush=True)
    write_tables("health", rows)
    about = f"{options.tables} tables of {COLUMNS} columns each, seed {options.seed}; one column has the problem."
    update_section(PAGE, "health", f"{markdown(rows)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
