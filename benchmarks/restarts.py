"""Compare the BIC, accuracy and time of the default with FLOP, over many graphs of seeds that nothing was tuned on.

    python benchmarks/restarts.py [--graphs 20] [--seed 3000] [--limit 120] [--workloads scale-free2-p100-n1000]

FLOP lives in the environment that `make peers` makes. Every cell is kept in benchmarks/results/restarts.jsonl, so that
an interrupted run goes on from there; delete the cells of FLOP to time both in one run. With OMP_NUM_THREADS=1 every
contender keeps to one thread, so that two runs of different workloads can go side by side. Writes
benchmarks/results/restarts.csv and its section of docs/accuracy.md.

BICs are all at λ = 2 and γ = 0. The default raises γ where the weakest edges look like noise, which makes this BIC
worse and the graph better; so the BIC compared is that of the same search at γ = 0 (`rfdag-gamma-0`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import harness
from rfdag.studies.bench.cells import Cell, Ledger
from rfdag.studies.bench.environments import FOLDER
from rfdag.studies.bench.workloads import WORKLOADS

Row = dict[str, Any]

OURS, PLAIN, QUICK, PEER = "rfdag", "rfdag-gamma-0", "flop-0", "flop-20"
CHOSEN = (
    "degree8-p100-n1000", "degree8-p200-n1000", "degree8-p60-n300", "scale-free2-p100-n1000", "scale-free4-p100-n1000",
    "hubs-p100-n1000", "weak-p100-n1000", "iscm-p100-n1000", "ecoli70-n150", "ecoli70-n500", "magic-niab-n150",
    "magic-niab-n500",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(CHOSEN))
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--seed", type=int, default=3000)
    options = parser.parse_args(arguments)
    settings = harness.Settings(options.limit, options.seed, options.graphs, ROOT / FOLDER)
    ledger = Ledger(RESULTS / "restarts.jsonl")
    rows: list[Row] = []
    every: list[Cell] = []
    with Progress() as progress:
        for name in options.workloads.split(","):
            names = [OURS, PLAIN, QUICK, PEER]
            cells = harness.compare([WORKLOADS[name]], names, settings, ledger, progress)[name]
            every += cells
            rows.append(row_of(name, cells))
            print(rows[-1], flush=True)
    write_tables("restarts", rows)
    about = f"{options.graphs} graphs a row, seed {options.seed}."
    update_section(ROOT / "docs" / "accuracy.md", "restarts", f"{markdown(rows)}\n{about}\n\n{provenance(every)}")


def row_of(name: str, cells: Sequence[Cell]) -> Row:
    """Return the means of one workload, over the graphs that all have finished."""
    by_graph: dict[int, dict[str, Cell]] = {}
    for cell in cells:
        if cell.key.contender in (OURS, PLAIN, QUICK, PEER) and not cell.failure:
            by_graph.setdefault(cell.key.graph, {})[cell.key.contender] = cell
    done = [found for found in by_graph.values() if len(found) == 4]

    def average(contender: str, what: str) -> float:
        return mean(getattr(found[contender], what) for found in done)

    def seconds(contender: str) -> float:
        return median(found[contender].seconds or 0.0 for found in done)

    return {
        "workload": name,
        "graphs": len(done),
        "BIC − FLOP 20": round(average(PLAIN, "bic") - average(PEER, "bic"), 1),
        "SHD": average(OURS, "shd"),
        "SHD, FLOP 20": average(PEER, "shd"),
        "F1 − FLOP 20": round(average(OURS, "f1") - average(PEER, "f1"), 4),
        "seconds": round(seconds(OURS), 2),
        "time / FLOP 0": round(seconds(OURS) / seconds(QUICK), 2),
    }


if __name__ == "__main__":
    main()
