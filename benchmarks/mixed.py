"""Compare rfdag with other packages on categories, mixed columns, missing values and curves, for the documentation.

    python benchmarks/mixed.py [--own | --others] [--workloads discrete,mixed] [--contenders boss-bdeu,mixpc]
                               [--graphs 5] [--limit 120] [--seed 1000]

How cells are kept and counted is said in benchmarks/comparing.py. Writes benchmarks/results/mixed.csv, and if
docs/mixed.md exists, the tables between its markers `contenders`, `workloads`, `discrete`, `mixed`, `missing` and
`nonlinear`.
"""

from __future__ import annotations

from collections.abc import Sequence

from comparing import Comparing, beside_each_other, list_of_workloads
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.studies.bench.catalogue import AnyContender, AnyWorkload
from rfdag.studies.bench.cells import Cell
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.tables import Row, summed_up
from rfdag.studies.bench.typed import DISCRETE, TYPED
from rfdag.studies.bench.typed_workloads import WORKLOADS

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
    measured = Comparing("mixed", WORKLOADS, contenders_of).run(__doc__, arguments)
    if measured is not None:
        write(*measured)


def contenders_of(workload: AnyWorkload) -> list[AnyContender]:
    """Return the contenders that are for the group of a workload; on a large network the fast ones alone."""
    entries: list[AnyContender] = [each for each in TYPED.values() if workload.group in each.groups]
    entries += [CONTENDERS[name] for name in BESIDE.get(workload.group, ())]
    large = workload.group == DISCRETE and workload.p > LARGE
    entries = [each for each in entries if SLOW.get(each.name, workload.name) == workload.name]
    return [each for each in entries if not large or each.name in FAST]


def write(found: dict[str, list[Cell]], about: str) -> None:
    """Write the table as CSV, and the tables of the page."""
    loads = {name: WORKLOADS[name] for name in found}
    summed = {name: summed_up(loads[name], cells, loads[name].graphs) for name, cells in found.items()}
    write_tables("mixed", [{"workload": name, **row} for name, rows in summed.items() for row in rows])
    page = ROOT / "docs" / PAGE
    if not page.exists():
        return
    for group in dict.fromkeys(load.group for load in loads.values()):
        names = [name for name, load in loads.items() if load.group == group]
        cells = [cell for name in names for cell in found[name]]
        counted = [name for name in names if loads[name].p <= LARGE]
        text = markdown(beside_each_other({name: summed[name] for name in names}, short_name, counted))
        update_section(page, group, f"{text}\n{about}\n\n{provenance(cells)}")
    update_section(page, "contenders", markdown(list_of_contenders()))
    update_section(page, "workloads", markdown(list_of_workloads(WORKLOADS, grouped=True)))


def short_name(workload: str) -> str:
    """Return a workload's name without what all of its group have in common.

    >>> short_name("asia-n10000"), short_name("mar-5-p50-n1000"), short_name("mixed-p20-n1000")
    ('asia', 'mar-5', 'mixed-p20-n1000')
    """
    if WORKLOADS[workload].group == "mixed":
        return workload
    return workload.removesuffix("-n10000").removesuffix("-p50-n1000").removesuffix("-p20-n1000")


def list_of_contenders() -> list[Row]:
    """Return what the contenders are."""
    return [
        {"contender": f"`{each.name}`", "package": each.package, "call": f"`{each.call}`", "on": ", ".join(each.groups)}
        for each in TYPED.values()
    ]


if __name__ == "__main__":
    main()
