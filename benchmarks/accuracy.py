"""Compare rfdag with other packages on all workloads of `rfdag.studies.bench`, for the documentation.

    python benchmarks/accuracy.py [--workloads sparse,dense] [--contenders rfdag,flop-0]
                                  [--graphs 5] [--limit 120] [--seed 1000]

Peers run in the environments that `make peers` makes; a peer without one is skipped with a message. Every cell is
stored in benchmarks/results/accuracy.jsonl, and an interrupted run resumes from there. Defaults of rfdag were chosen on
other seeds. Writes benchmarks/results/accuracy.csv and docs/accuracy.md with all workloads that have been run with
these settings, now or before.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import harness
from rfdag.studies.bench.cells import Cell, Ledger
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.environments import FOLDER
from rfdag.studies.bench.tables import Row, summed_up
from rfdag.studies.bench.workloads import QUICK, WORKLOADS, chosen


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(name for name in WORKLOADS if name != QUICK))
    parser.add_argument("--contenders", help="all unless given")
    parser.add_argument("--graphs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    names = options.contenders.split(",") if options.contenders else None
    settings = harness.Settings(options.limit, options.seed, options.graphs, ROOT / FOLDER)
    for contender in harness.missing(harness.chosen(names), settings.peers):
        print(f"{contender.name} is skipped: its environment has not been made.", flush=True)
    ledger = Ledger(RESULTS / "accuracy.jsonl")
    with Progress() as progress:
        wanted = chosen(options.workloads.split(","))
        harness.compare(
            wanted, names, settings, ledger, progress, lambda workload, cells: print(workload.name, flush=True)
        )
        known = harness.compare(list(WORKLOADS.values()), None, replace(settings, fresh=False), ledger, progress)
    rows: list[Row] = []
    every: list[Cell] = []
    for name, cells in known.items():
        if any(cell.key.contender in CONTENDERS for cell in cells):
            rows += summed_up(WORKLOADS[name], cells, options.graphs)
            every += cells
            if "rfdag" not in {cell.key.contender for cell in cells}:
                print(f"{name} has no rows for the current sources of rfdag; run it again.", flush=True)
    write_tables("accuracy", rows)
    about = f"{options.graphs} graphs per row, seed {options.seed}, at most {options.limit:g} s per call."
    update_section(ROOT / "docs" / "accuracy.md", "accuracy", f"{markdown(rows)}\n{about}\n\n{provenance(every)}")


if __name__ == "__main__":
    main()
