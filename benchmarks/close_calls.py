"""How many wrong arrows, and how many right ones, `Result.close_calls` marks.

    python benchmarks/close_calls.py [--graphs 100] [--seed 32062]

Writes benchmarks/results/close_calls.csv and its section of docs/concepts.md. A compelled arrow is right if the CPDAG
of the true DAG compels it too. How reversals are scored was chosen on other graphs: Erdős–Rényi DAGs with seeds 0 to 59
of `random_dag`, not standardised, which this script does not draw.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.graphs import cpdag
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag, standardise

Row = dict[str, Any]
PAGE = ROOT / "docs" / "concepts.md"
SIZES = ((10, 200), (10, 1000), (30, 500), (60, 1000))
"""Variables and rows."""


def erdos_renyi(p: int, generator: np.random.Generator) -> NDArray[np.int8]:
    """Return a DAG with four neighbours a node, on average."""
    return random_dag(p, None, generator, degree=4)


def scale_free(p: int, generator: np.random.Generator) -> NDArray[np.int8]:
    """Return a scale-free DAG with two edges for each node."""
    return scale_free_dag(p, 2, generator)


KINDS: dict[str, Callable[[int, np.random.Generator], NDArray[np.int8]]] = {
    "Erdős–Rényi": erdos_renyi,
    "scale-free": scale_free,
}


def arrows_of(kind: str, p: int, n: int, generator: np.random.Generator) -> Iterator[tuple[bool, bool]]:
    """Yield for each compelled arrow found on one graph whether it is right, and whether it is a close call."""
    sem = standardise(linear_sem(KINDS[kind](p, generator), generator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rfdag.learn(sample(sem, n, generator), progress=False)
    truth, close = cpdag(sem.dag), {(call.source, call.target) for call in result.close_calls}
    for i, j in np.argwhere(result.cpdag == 1).tolist():
        yield bool(truth[i, j] == 1), (i, j) in close


def measure(kind: str, p: int, n: int, graphs: int, seed: int) -> Row:
    """Return the shares over several graphs."""
    each = [list(arrows_of(kind, p, n, np.random.default_rng([seed, p, n, graph]))) for graph in range(graphs)]
    found = [arrow for graph in each for arrow in graph]
    right, close = np.array(found, bool).T
    # Wrong arrows of one graph are marked together, so errors are those of graphs.
    wrong = np.array([[sum(not right for right, _ in graph), sum(arrow == (False, True) for arrow in graph)]
                      for graph in each])  # fmt: skip
    share = close[~right].mean()
    error = np.sqrt(graphs / (graphs - 1) * ((wrong[:, 1] - share * wrong[:, 0]) ** 2).sum()) / wrong[:, 0].sum()
    return {
        "graphs": kind,
        "variables": p,
        "rows": n,
        "compelled arrows": len(found),
        "wrong": int((~right).sum()),
        "wrong ones marked": f"{share:.0%} ± {error:.0%}",
        "right ones marked": f"{close[right].mean():.0%}",
        "wrong, if marked": f"{(~right[close]).mean():.0%}",
        "wrong, if not": f"{(~right[~close]).mean():.0%}",
    }


def rows_of(graphs: int, seed: int) -> Iterator[Row]:
    """Yield the rows of the table."""
    for kind in KINDS:
        for p, n in SIZES:
            row = measure(kind, p, n, graphs, seed)
            print(row, flush=True)
            yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=32062)
    options = parser.parse_args(arguments)
    rows = list(rows_of(options.graphs, options.seed))
    write_tables("close_calls", rows)
    about = (
        f"{options.graphs} DAGs per row, seed {options.seed}; shares of wrong ones marked with their standard errors "
        "over DAGs."
    )
    update_section(PAGE, "close-calls", f"{markdown(rows)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
