"""Compare rfdag with other packages on all workloads of `rfdag.studies.bench`, for the documentation.

    python benchmarks/accuracy.py [--own] [--workloads sparse,dense] [--contenders rfdag,flop-0]
                                  [--graphs 5] [--limit 60] [--seed 1000]

Peers run in the environments that `make peers` makes. Every cell is kept in benchmarks/results/accuracy.jsonl, so that
a run that was interrupted goes on from there, and a peer that is not installed keeps the rows measured before. Cells of
rfdag are kept, too, but count only for the sources they were measured with: after a change, ``--own`` runs those of
rfdag again and none of the peers'. Defaults of rfdag were chosen on other seeds.

Writes benchmarks/results/accuracy.csv and docs/accuracy.md from all cells that were run with these settings, now or
before; not if a workload that has cells of peers has none of rfdag as its sources are now.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import harness
from rfdag.studies.bench.cells import Cell, Ledger
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.environments import FOLDER, OWN
from rfdag.studies.bench.tables import Row, summed_up
from rfdag.studies.bench.workloads import QUICK, WORKLOADS, Workload, chosen


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(name for name in WORKLOADS if name != QUICK))
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--contenders", help="all unless given")
    which.add_argument("--own", action="store_true", help="run rfdag's contenders alone")
    parser.add_argument("--graphs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args(arguments)
    settings = harness.Settings(options.limit, options.seed, options.graphs, ROOT / FOLDER)
    ledger = Ledger(RESULTS / "accuracy.jsonl")
    with Progress() as progress:
        for workload in chosen(options.workloads.split(",")):
            names = own_contenders(workload) if options.own else _split(options.contenders)
            harness.compare([workload], names, settings, ledger, progress)
            print(workload.name, flush=True)
        known = harness.compare(list(WORKLOADS.values()), None, replace(settings, fresh=False), ledger, progress)
    found = {name: cells for name, cells in known.items() if any(cell.key.contender in CONTENDERS for cell in cells)}
    outdated = [name for name, cells in found.items() if "rfdag" not in {cell.key.contender for cell in cells}]
    if outdated:
        raise SystemExit(
            "Nothing was written, because these workloads have no cells of rfdag as its sources are now: "
            f"{','.join(outdated)}. Run them with `python benchmarks/accuracy.py --own`."
        )
    write(found, settings)


def own_contenders(workload: Workload) -> list[str]:
    """Return the contenders of rfdag on a workload, those for its group included."""
    return [contender.name for contender in harness.chosen(None, workload.group) if contender.home == OWN]


def write(found: dict[str, list[Cell]], settings: harness.Settings) -> None:
    """Write the table as CSV and into its page."""
    graphs = settings.graphs or 0
    rows: list[Row] = [row for name, cells in found.items() for row in summed_up(WORKLOADS[name], cells, graphs)]
    every = [cell for cells in found.values() for cell in cells]
    about = f"{graphs} graphs a row, seed {settings.seed}, at most {settings.limit:g} s a call."
    kept = harness.missing(harness.chosen(None), settings.peers)
    if kept:
        packages = ", ".join(dict.fromkeys(contender.package for contender in kept))
        about += f" Rows of these packages were measured in an earlier run: {packages}."
    write_tables("accuracy", rows)
    update_section(ROOT / "docs" / "accuracy.md", "accuracy", f"{markdown(rows)}\n{about}\n\n{provenance(every)}")


def _split(names: str | None) -> list[str] | None:
    return names.split(",") if names else None


if __name__ == "__main__":
    main()
