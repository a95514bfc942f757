"""Columns with many gaps beside columns with none: false edges, errors of graphs, and coverage of intervals.

    python benchmarks/uneven_gaps.py [--tables 200] [--graphs 20] [--seed 12000]

Writes benchmarks/results/uneven_gaps_*.csv and the sections of docs/mixed.md that show them. What the search does with
gaps was chosen on other seeds (101, 777).
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
from rfdag.errors import RfdagError
from rfdag.graphs import cpdag
from rfdag.metrics import shd
from rfdag.simulate import linear_sem, random_dag, sample

WAYS = "em", "pairwise", "drop"
SHARES = 0.0, 0.2, 0.5, 0.8, 0.9
TESTED = 20, 4, 1000
"""Variables, degree and rows of the graphs."""

REGRESSED = 6, 500
"""Variables and rows of the tables with intervals."""

Floats = NDArray[np.float64]


def with_missing(rows: Floats, share: float, columns: int, generator: np.random.Generator) -> Floats:
    """Return rows with a share of some columns, drawn at random, missing completely at random."""
    gaps = rows.copy()
    chosen = generator.permutation(rows.shape[1])[:columns]
    lost = generator.random(rows.shape) < share
    gaps[:, chosen] = np.where(lost[:, chosen], np.nan, rows[:, chosen])
    return gaps


def rows_for(share: float, columns: int) -> int:
    """Return how many rows a table has: 500, or as many as leave 45 to a pair of columns with gaps."""
    return max(500, round(45 / (1 - share) ** min(columns, 2)))


def false_edges(share: float, columns: int, way: str, tables: int, seed: int) -> float | None:
    """Return the share of tables of ten independent columns in which there is an edge; None if rows are too few."""
    wrong = 0
    for table in range(tables):
        generator = np.random.default_rng([seed, table, columns, round(100 * share)])
        rows = generator.normal(size=(rows_for(share, columns), 10))
        try:
            found = rfdag.learn(with_missing(rows, share, columns, generator), missing=way, progress=False)
        except RfdagError:
            return None
        wrong += len(found.edges) > 0
    return wrong / tables


def about_false_edges(tables: int, seed: int) -> list[dict[str, Any]]:
    """Return the table of false edges."""
    found = []
    for columns in (1, 3, 10):
        for share in SHARES[1:]:
            row: dict[str, Any] = {"columns with gaps": columns, "missing": f"{100 * share:.0f} %"}
            row["rows"] = rows_for(share, columns)
            for way in WAYS:
                wrong = false_edges(share, columns, way, tables, seed)
                row[way] = "too few rows" if wrong is None else f"{wrong:.3f}"
            found.append(row)
            print(row, flush=True)
    return found


def about_graphs(graphs: int, seed: int) -> list[dict[str, Any]]:
    """Return the table of structural Hamming distances."""
    p, degree, n = TESTED
    found = []
    for columns, share in ((0, 0.0), (1, 0.8), (3, 0.5), (3, 0.8), (6, 0.6), (20, 0.1), (20, 0.3)):
        distances: dict[str, list[float]] = {way: [] for way in WAYS}
        for graph in range(graphs):
            generator = np.random.default_rng([seed, graph, p])
            dag = random_dag(p, degree=degree, rng=generator)
            rows = sample(linear_sem(dag, generator), n, generator)
            gaps = with_missing(rows / rows.std(axis=0), share, columns, generator)
            for way in WAYS:
                try:
                    learnt = rfdag.learn(gaps, missing=way, progress=False)
                except RfdagError:
                    continue
                distances[way].append(shd(cpdag(dag), learnt.cpdag))
        row: dict[str, Any] = {"columns with gaps": columns, "missing": f"{100 * share:.0f} %"}
        for way, values in distances.items():
            done = len(values) == graphs
            error = np.std(values, ddof=1) / np.sqrt(graphs) if done else 0.0
            row[way] = f"{np.mean(values):.1f} ± {error:.1f}, {max(values):.0f}" if done else "too few rows"
        found.append(row)
        print(row, flush=True)
    return found


def about_intervals(tables: int, seed: int) -> list[dict[str, Any]]:
    """Return the table of the share of 95 % intervals that cover the effect, the graph being known."""
    p, n = REGRESSED
    names = [f"v{at}" for at in range(p)]
    found = []
    for columns, share in ((0, 0.0), (6, 0.2), (1, 0.8), (3, 0.7), (2, 0.5)):
        covered: dict[str, list[bool]] = {way: [] for way in WAYS[:2]}
        for table in range(tables):
            generator = np.random.default_rng([seed, table, 7])
            dag = random_dag(p, 0.5, rng=generator)
            sem = linear_sem(dag, generator)
            gaps = with_missing(sample(sem, n, generator), share, columns, generator)
            effects = np.linalg.inv(np.eye(p) - sem.weights)
            known = {
                "required": [[names[x], names[y]] for x, y in np.argwhere(dag)],
                "forbidden": [[names[x], names[y]] for x, y in np.argwhere(dag == 0) if x != y],
            }
            for way, hits in covered.items():
                result = rfdag.learn(gaps, missing=way, names=names, knowledge=known, progress=False)
                for x, y in np.argwhere((effects != 0) & ~np.eye(p, dtype=bool)):
                    effect = result.effect(names[x], names[y])
                    assert effect.low is not None
                    assert effect.high is not None
                    hits.append(effect.low <= effects[x, y] <= effect.high)
        row: dict[str, Any] = {"columns with gaps": columns, "missing": f"{100 * share:.0f} %"}
        found.append(row | {way: f"{np.mean(hits):.3f}" for way, hits in covered.items()} | {"effects": len(hits)})
        print(found[-1], flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=12000)
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = {
            "false-edges": (about_false_edges(options.tables, options.seed), f"{options.tables} tables a row"),
            "uneven-graphs": (
                about_graphs(options.graphs, options.seed),
                f"{options.graphs} graphs a row: mean, standard error, and the worst",
            ),
            "uneven-intervals": (about_intervals(options.tables, options.seed), f"{options.tables} tables a row"),
        }
    for name, (rows, about) in parts.items():
        write_tables(f"uneven_gaps_{name}", rows)
        text = f"{markdown(rows)}\n{about}, seed {options.seed}.\n\n{provenance()}"
        update_section(ROOT / "docs" / "mixed.md", name, text)


if __name__ == "__main__":
    main()
