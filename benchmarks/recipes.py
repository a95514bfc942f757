"""How well three recipes work: differences between two conditions, a table with lags, regulators before their targets.

    python benchmarks/recipes.py [--draws 40] [--seed 9000]

Each draw has a graph and rows of its own. Writes benchmarks/results/recipes.csv, and into docs/recipes.md the table
between its markers `recipes`.

    difference  Two conditions of 500 rows: a random DAG of 10 variables, weights ±[.5, 1.5], standard deviations of the
                noise in [.5, 1.5]. In the second condition one to three variables have another noise or mean, or one
                slope of theirs is lost or reversed. Found are the targets by `targets="unknown"`; `beside` are those
                of which tests between the conditions, variable by variable, find another mean or spread (Welch and
                Levene at .01, corrected by Bonferroni): they find what is downstream, too.
    lags        400 rows of a vector autoregression of 6 variables, each on itself (.5), with effects of ±[.3, .6]
                within the same step and after one. Found are edges by tiers of past and present, with none inside the
                past; `beside` is the same without the tiers.
    regulators  10 regulators, which depend on each other, and 30 targets, each of up to three regulators; 300 rows.
                Found are edges with the regulators as the first tier, without edges inside the second; `beside` is the
                same without that knowledge.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import rfdag
from report import ROOT, markdown, update_section, write_tables
from rfdag.simulate import random_dag
from rfdag.studies.bench.tables import Row

Floats = NDArray[np.float64]
Found = set[Any]

KINDS = ("noise", "mean", "slope")

STABLE = 0.9
"""Largest eigenvalue of an autoregression that is drawn: others are drawn again."""


def signed(generator: np.random.Generator, least: float, most: float, shape: tuple[int, ...]) -> Floats:
    """Draw numbers whose size is between two bounds, of either sign."""
    sizes: Floats = generator.uniform(least, most, shape) * generator.choice([-1.0, 1.0], shape)
    return sizes


def in_order(dag: NDArray[np.int8]) -> list[int]:
    """Return the variables of a DAG, a source first."""
    order: list[int] = []
    while len(order) < len(dag):
        order += [at for at in range(len(dag)) if at not in order and set(np.flatnonzero(dag[:, at])) <= set(order)]
    return order


def rows_of(dag: NDArray[np.int8], weights: Floats, means: Floats, noise: Floats, drawn: Floats) -> Floats:
    """Return the rows of a linear model, given standard normal draws."""
    rows = means + drawn * noise
    for at in in_order(dag):
        rows[:, at] += rows @ (weights[:, at] * (dag[:, at] != 0))
    return rows


def difference(generator: np.random.Generator) -> tuple[Found, Found, Found]:
    """Return the true targets between two conditions, those found, and those of tests variable by variable."""
    p, n = 10, 500
    dag = random_dag(p, degree=2, rng=generator)
    weights, noise = dag * signed(generator, 0.5, 1.5, (p, p)), generator.uniform(0.5, 1.5, p)
    other, means, spread = weights.copy(), np.zeros(p), noise.copy()
    targets = generator.choice(p, int(generator.integers(1, 4)), replace=False)
    for target in targets.tolist():
        parents = np.flatnonzero(dag[:, target])
        match generator.choice(KINDS) if len(parents) else generator.choice(KINDS[:2]):
            case "noise":
                spread[target] *= generator.choice([0.5, 2.0])
            case "mean":
                means[target] += generator.choice([-1.0, 1.0]) * noise[target]
            case _:
                other[generator.choice(parents), target] *= generator.choice([-1.0, 0.0])
    first = rows_of(dag, weights, np.zeros(p), noise, generator.normal(size=(n, p)))
    second = rows_of(dag, other, means, spread, generator.normal(size=(n, p)))
    labels = np.repeat(["first", "second"], n)
    found = rfdag.learn(
        np.concatenate([first, second]), environments=labels, targets="unknown", observational=["first"], n_jobs=1
    )
    changed = set(found.targets["second"])
    level = 0.01 / (2 * p)
    beside = {
        at
        for at in range(p)
        if stats.ttest_ind(first[:, at], second[:, at], equal_var=False).pvalue < level
        or stats.levene(first[:, at], second[:, at]).pvalue < level
    }
    return set(targets.tolist()), changed, beside


def edges_of(found: rfdag.Result) -> Found:
    """Return the edges of a result whose direction is found."""
    return {(found.names[i], found.names[j]) for i, j in np.argwhere(found.cpdag == 1).tolist()}


def lags(generator: np.random.Generator) -> tuple[Found, Found, Found]:
    """Return the true edges into the present, those found with tiers, and those found without."""
    p, n = 6, 400
    while True:
        now = random_dag(p, degree=1.5, rng=generator)
        before = (generator.random((p, p)) < 0.1) & ~np.eye(p, dtype=bool)
        weights, past = now * signed(generator, 0.3, 0.6, (p, p)), before * signed(generator, 0.3, 0.6, (p, p))
        past += 0.5 * np.eye(p)
        if np.abs(np.linalg.eigvals(past @ np.linalg.inv(np.eye(p) - weights))).max() < STABLE:
            break
    series = np.zeros((n + 200, p))
    order = in_order(now)
    for step in range(1, len(series)):
        series[step] = series[step - 1] @ past + generator.normal(size=p)
        for at in order:
            series[step, at] += series[step] @ weights[:, at]
    series = series[-n:]
    earlier, present = [f"x{at} before" for at in range(p)], [f"x{at}" for at in range(p)]
    table = np.column_stack([series[:-1], series[1:]])
    known = {"tiers": [earlier, present], "forbidden_within": [1]}
    options: dict[str, Any] = {"names": earlier + present, "n_jobs": 1}
    true: Found = {(present[i], present[j]) for i, j in np.argwhere(now).tolist()}
    true |= {(earlier[i], present[j]) for i, j in np.argwhere(past != 0).tolist()}
    with_tiers = edges_of(rfdag.learn(table, knowledge=known, **options))
    without = {edge for edge in edges_of(rfdag.learn(table, **options)) if not set(edge) <= set(earlier)}
    return true, with_tiers, without


def regulators(generator: np.random.Generator) -> tuple[Found, Found, Found]:
    """Return the true edges, those found with regulators as the first tier, and those found without knowledge."""
    first, second, n = 10, 30, 300
    p = first + second
    dag = np.zeros((p, p), np.int8)
    dag[:first, :first] = random_dag(first, degree=2, rng=generator)
    for at in range(first, p):
        dag[generator.choice(first, int(generator.integers(1, 4)), replace=False), at] = 1
    weights = dag * signed(generator, 0.4, 1.0, (p, p))
    rows = rows_of(dag, weights, np.zeros(p), np.ones(p), generator.normal(size=(n, p)))
    place = generator.permutation(p)
    names = [f"TF{at}" if at < first else f"gene{at}" for at in place.tolist()]
    true: Found = {tuple(f"TF{at}" if at < first else f"gene{at}" for at in edge) for edge in np.argwhere(dag).tolist()}
    known = {
        "tiers": [[name for name in names if name.startswith(kind)] for kind in ("TF", "gene")],
        "forbidden_within": [2],
    }
    found, without = (
        edges_of(rfdag.learn(rows[:, place], names=names, knowledge=knowledge, n_jobs=1)) for knowledge in (known, None)
    )
    return true, found, without


RECIPES: dict[str, Callable[[np.random.Generator], tuple[Found, Found, Found]]] = {
    "difference": difference,
    "lags": lags,
    "regulators": regulators,
}


def row_of(name: str, draws: int, seed: int) -> list[Row]:
    """Return a line of the recipe, and one of what is beside it."""
    outcomes = [RECIPES[name](np.random.default_rng([seed, at])) for at in range(draws)]
    lines: list[Row] = []
    for way, place in (("recipe", 1), ("beside", 2)):
        hits = np.array([len(each[0] & each[place]) for each in outcomes])
        missed = np.array([len(each[0] - each[place]) for each in outcomes])
        false = np.array([len(each[place] - each[0]) for each in outcomes])
        wrong = missed + false
        lines.append(
            {
                "recipe": name,
                "way": way,
                "draws": draws,
                "true": int((hits + missed).sum()),
                "of these found": int(hits.sum()),
                "false": int(false.sum()),
                "wrong in a draw, mean ± standard error": f"{wrong.mean():.2f} ± {wrong.std(ddof=1) / draws**0.5:.2f}",
                "worst": int(wrong.max()),
            }
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, learn, count, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=9000)
    chosen = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [line for name in RECIPES for line in row_of(name, chosen.draws, chosen.seed)]
    write_tables("recipes", rows)
    update_section(ROOT / "docs" / "recipes.md", "recipes", markdown(rows))


if __name__ == "__main__":
    main()
