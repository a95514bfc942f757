"""Compare rfdag with other packages on categories, mixed columns, missing values and curves, for the documentation.

    python benchmarks/mixed.py [--own | --others] [--workloads discrete,mixed] [--contenders boss-bdeu,mixpc]
                               [--graphs 5] [--limit 120] [--seed 1000]

Peers run in the environments that `rfdag bench --setup` makes. Every cell is kept in benchmarks/results/mixed.jsonl, so
that a run that was interrupted goes on from there, and a peer that is not installed keeps the rows measured before.
Cells of rfdag count only for the sources they were measured with: after a change, ``--own`` runs those of rfdag again
and none of the peers'. ``--others`` runs the peers alone, and writes no table.

Writes benchmarks/results/mixed.csv, and if docs/mixed.md exists, the tables between its markers `contenders`,
`workloads`, `discrete`, `mixed`, `missing` and `nonlinear`; not if a workload that has cells of peers has none of rfdag
as its sources are now.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from rfdag.studies.bench import harness
from rfdag.studies.bench.catalogue import AnyContender, AnyWorkload
from rfdag.studies.bench.cells import Cell, Ledger
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.environments import FOLDER, OWN
from rfdag.studies.bench.tables import Row, summed_up
from rfdag.studies.bench.typed import DISCRETE, TYPED
from rfdag.studies.bench.typed_workloads import WORKLOADS
from rfdag.studies.bench.workloads import chosen_among

PAGE = "mixed.md"
BESIDE = {"nonlinear": ("flop-20",)}
"""Contenders for columns of numbers that are shown beside those that know of curves."""
LARGE = 100
"""Variables of a network above which only `FAST` contenders run."""
SLOW = {"mixpc": "mixed-p20-n1000"}
"""Contenders that run on one workload only: on that one they are late already."""
FAST = ("rfdag-categorical", "boss-degenerate-gaussian", "boss-bdeu")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="names or groups")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--own", action="store_true", help="run rfdag's contenders alone")
    which.add_argument("--others", action="store_true", help="run all but rfdag's contenders, and write no table")
    which.add_argument("--contenders", help="all unless given")
    parser.add_argument("--graphs", type=int, help="at most; as many as a workload has unless given")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args(arguments)
    ledger = Ledger(RESULTS / "mixed.jsonl")
    found: dict[str, list[Cell]] = {}
    with Progress() as progress:
        for workload in chosen_among(WORKLOADS, options.workloads.split(",")):
            entries = contenders_of(workload)
            if options.own or options.others:
                entries = [each for each in entries if (each.home == OWN) == options.own]
            names = [each.name for each in entries]
            if options.contenders:
                names = [name for name in names if name in options.contenders.split(",")]
            graphs = min(workload.graphs, options.graphs or workload.graphs)
            settings = harness.Settings(options.limit, options.seed, graphs, ROOT / FOLDER)
            harness.compare([workload], names, settings, ledger, progress)
            print(workload.name, flush=True)
        for workload in WORKLOADS.values():
            names = [each.name for each in contenders_of(workload)]
            known = replace(settings, graphs=workload.graphs, fresh=False)
            cells = harness.compare([workload], names, known, ledger, progress)[workload.name]
            if any(cell.key.contender in names for cell in cells):
                found[workload.name] = cells
    if options.others:
        return
    outdated = [name for name, cells in found.items() if not any(is_own(cell) for cell in cells)]
    if outdated:
        raise SystemExit(
            "Nothing was written, because these workloads have no cells of rfdag as its sources are now: "
            f"{','.join(outdated)}. Run them with `python benchmarks/mixed.py --own`."
        )
    write(found, settings)


def contenders_of(workload: AnyWorkload) -> list[AnyContender]:
    """Return the contenders that are for the group of a workload; on a large network the fast ones alone."""
    entries: list[AnyContender] = [each for each in TYPED.values() if workload.group in each.groups]
    entries += [CONTENDERS[name] for name in BESIDE.get(workload.group, ())]
    large = workload.group == DISCRETE and workload.p > LARGE
    entries = [each for each in entries if SLOW.get(each.name, workload.name) == workload.name]
    return [each for each in entries if not large or each.name in FAST]


def is_own(cell: Cell) -> bool:
    """Return whether a cell is of one of rfdag's contenders."""
    name = cell.key.contender
    return name in TYPED and TYPED[name].home == OWN


def write(found: dict[str, list[Cell]], settings: harness.Settings) -> None:
    """Write the table as CSV, and the tables of the page."""
    loads = {name: WORKLOADS[name] for name in found}
    summed = {name: summed_up(loads[name], cells, loads[name].graphs) for name, cells in found.items()}
    write_tables("mixed", [{"workload": name, **row} for name, rows in summed.items() for row in rows])
    page = ROOT / "docs" / PAGE
    if not page.exists():
        return
    about = f"Seed {settings.seed}, at most {settings.limit:g} s a call."
    for group in dict.fromkeys(load.group for load in loads.values()):
        names = [name for name, load in loads.items() if load.group == group]
        cells = [cell for name in names for cell in found[name]]
        text = markdown(beside_each_other({name: summed[name] for name in names}))
        update_section(page, group, f"{text}\n{about}\n\n{provenance(cells)}")
    update_section(page, "contenders", markdown(list_of_contenders()))
    update_section(page, "workloads", markdown(list_of_workloads()))


def beside_each_other(summed: dict[str, Sequence[Row]]) -> list[Row]:
    """Return a row for each contender and a column for each workload, with mean SHD and median time.

    The last column is the mean over the workloads, without networks so large that only some contenders run; it is
    empty for a contender that did not finish on all of their graphs.
    """
    names = dict.fromkeys(str(row["contender"]) for rows in summed.values() for row in rows)
    counted = [name for name in summed if WORKLOADS[name].p <= LARGE]
    table: list[Row] = []
    for name in names:
        if name == "complete graph":
            continue
        of_name = {load: row for load, rows in summed.items() for row in rows if row["contender"] == name}
        shds = [of_name[load]["SHD"] for load in counted if load in of_name and _is_whole(of_name[load])]
        mean = f"{fmean(float(str(shd)) for shd in shds):.1f}" if shds and len(shds) == len(counted) else "–"
        cells = {short_name(load): _entry(of_name.get(load)) for load in summed}
        table.append({"contender": f"`{name}`" if name in {*TYPED, *CONTENDERS} else name} | cells | {"mean": mean})
    return table


def short_name(workload: str) -> str:
    """Return a workload's name without what all of its group have in common.

    >>> short_name("asia-n10000"), short_name("mar-5-p50-n1000"), short_name("mixed-p20-n1000")
    ('asia', 'mar-5', 'mixed-p20-n1000')
    """
    if WORKLOADS[workload].group == "mixed":
        return workload
    return workload.removesuffix("-n10000").removesuffix("-p50-n1000").removesuffix("-p20-n1000")


def _is_whole(row: Row) -> bool:
    return " of " not in str(row["graphs counted"])


def _entry(row: Row | None) -> str:
    if row is None:
        return "–"
    counted = str(row["graphs counted"])
    if row["SHD"] == "–":
        return counted.partition(": ")[2] or "–"
    taken = f"{row['time (s)']:.2g} s" if isinstance(row["time (s)"], float) else ""
    some = "" if _is_whole(row) else counted.partition(":")[0]
    notes = ", ".join(part for part in (taken, some) if part)
    return f"{row['SHD']} ({notes})" if notes else str(row["SHD"])


def list_of_contenders() -> list[Row]:
    """Return what the contenders are."""
    return [
        {"contender": f"`{each.name}`", "package": each.package, "call": f"`{each.call}`", "on": ", ".join(each.groups)}
        for each in TYPED.values()
    ]


def list_of_workloads() -> list[Row]:
    """Return what the workloads are."""
    return [
        {"workload": f"`{each.name}`", "group": each.group, "data": each.family, "graphs": each.graphs}
        | {"variables": each.p, "rows": each.n}
        for each in WORKLOADS.values()
    ]


if __name__ == "__main__":
    main()
