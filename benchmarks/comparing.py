"""What scripts share that run contenders on workloads and keep every cell: arguments, the run, tables side by side.

Peers run in the environments that `rfdag bench --setup` makes. Every cell is kept in benchmarks/results/NAME.jsonl, so
that a run that was interrupted goes on from there, and a peer that is not installed keeps the rows measured before.
Cells of rfdag count only for the sources they were measured with: after a change, ``--own`` runs those of rfdag again
and none of the peers'. ``--others`` runs the peers alone, and writes no table. No table is written, either, if a
workload that has cells of peers has none of rfdag as its sources are now.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from report import RESULTS, ROOT
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import harness
from rfdag.studies.bench.catalogue import CONTENDERS, AnyContender, AnyWorkload
from rfdag.studies.bench.cells import Cell, Ledger
from rfdag.studies.bench.environments import FOLDER, OWN
from rfdag.studies.bench.tables import Row
from rfdag.studies.bench.workloads import chosen_among

Summed = dict[str, Sequence[Row]]
"""Rows of contenders by workload, as `summed_up` returns them."""


@dataclass(frozen=True)
class Comparing:
    """Which contenders run on which workloads.

    Attributes
    ----------
    name
        That of the script, its ledger and its table.
    workloads
        All of them by name.
    contenders_of
        Returns the contenders that run on a workload.
    """

    name: str
    workloads: Mapping[str, AnyWorkload]
    contenders_of: Callable[[AnyWorkload], list[AnyContender]]

    def run(self, about: str | None, arguments: Sequence[str] | None) -> tuple[dict[str, list[Cell]], str] | None:
        """Do what the arguments say; return all cells by workload, and how they were made; None for no table."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--workloads", default=",".join(self.workloads), help="names or groups")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--own", action="store_true", help="run rfdag's contenders alone")
        which.add_argument("--others", action="store_true", help="run all but rfdag's contenders, and write no table")
        which.add_argument("--contenders", help="all unless given")
        parser.add_argument("--graphs", type=int, help="at most; as many as a workload has unless given")
        parser.add_argument("--limit", type=float, default=120)
        parser.add_argument("--seed", type=int, default=1000)
        options = parser.parse_args(arguments)
        ledger = Ledger(RESULTS / f"{self.name}.jsonl")
        settings = harness.Settings(options.limit, options.seed, peers=ROOT / FOLDER)
        with Progress() as progress:
            for workload in chosen_among(self.workloads, options.workloads.split(",")):
                entries = self.contenders_of(workload)
                if options.own or options.others:
                    entries = [each for each in entries if (each.home == OWN) == options.own]
                names = [each.name for each in entries]
                if options.contenders:
                    names = [name for name in names if name in options.contenders.split(",")]
                graphs = min(workload.graphs, options.graphs or workload.graphs)
                harness.compare([workload], names, replace(settings, graphs=graphs), ledger, progress)
                print(workload.name, flush=True)
            found = self._known(settings, ledger, progress)
        if options.others:
            return None
        outdated = [name for name, cells in found.items() if not any(is_own(cell) for cell in cells)]
        if outdated:
            raise SystemExit(
                "Nothing was written, because these workloads have no cells of rfdag as its sources are now: "
                f"{','.join(outdated)}. Run them with `python benchmarks/{self.name}.py --own`."
            )
        return found, f"Seed {settings.seed}, at most {settings.limit:g} s a call."

    def _known(self, settings: harness.Settings, ledger: Ledger, progress: Progress) -> dict[str, list[Cell]]:
        """Return the cells that the ledger has."""
        found = {}
        for workload in self.workloads.values():
            names = [each.name for each in self.contenders_of(workload)]
            known = replace(settings, graphs=workload.graphs, fresh=False)
            cells = harness.compare([workload], names, known, ledger, progress)[workload.name]
            if any(cell.key.contender in names for cell in cells):
                found[workload.name] = cells
        return found


def is_own(cell: Cell) -> bool:
    """Return whether a cell is of one of rfdag's contenders."""
    contender = CONTENDERS.get(cell.key.contender)
    return contender is not None and contender.home == OWN


def beside_each_other(summed: Summed, short_name: Callable[[str], str], counted: Sequence[str]) -> list[Row]:
    """Return a row for each contender and a column for each workload, with mean SHD and median time.

    The last column is the mean over the workloads that are counted, if there are several; it is empty for a contender
    that did not finish on all of their graphs.
    """
    names = dict.fromkeys(str(row["contender"]) for rows in summed.values() for row in rows)
    table: list[Row] = []
    for name in names:
        if name == "complete graph":
            continue
        of_name = {load: row for load, rows in summed.items() for row in rows if row["contender"] == name}
        shds = [of_name[load]["SHD"] for load in counted if load in of_name and is_whole(of_name[load])]
        mean = f"{fmean(float(str(shd)) for shd in shds):.1f}" if shds and len(shds) == len(counted) else "–"
        cells = {short_name(load): entry(of_name.get(load)) for load in summed}
        last = {"mean": mean} if len(counted) > 1 else {}
        table.append({"contender": f"`{name}`" if name in CONTENDERS else name} | cells | last)
    return table


def is_whole(row: Row) -> bool:
    """Return whether a contender finished on all graphs."""
    return " of " not in str(row["graphs counted"])


def entry(row: Row | None) -> str:
    """Return mean SHD and median time, or why there is none."""
    if row is None:
        return "–"
    counted = str(row["graphs counted"])
    if row["SHD"] == "–":
        return counted.partition(": ")[2] or "–"
    taken = f"{row['time (s)']:.2g} s" if isinstance(row["time (s)"], float) else ""
    some = "" if is_whole(row) else counted.partition(":")[0]
    notes = ", ".join(part for part in (taken, some) if part)
    return f"{row['SHD']} ({notes})" if notes else str(row["SHD"])


def list_of_workloads(workloads: Mapping[str, AnyWorkload], *, grouped: bool) -> list[Row]:
    """Return what workloads are."""
    return [
        {"workload": f"`{each.name}`"}
        | ({"group": each.group} if grouped else {})
        | {"data": each.family, "graphs": each.graphs, "variables": each.p, "rows": each.n}
        for each in workloads.values()
    ]
