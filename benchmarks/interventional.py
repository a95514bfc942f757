"""Compare rfdag with other packages on rows of several environments, targets known or unknown, for the documentation.

    python benchmarks/interventional.py [--own | --others] [--workloads single-p20-e20-n10000]
                                        [--contenders gies,rfdag-targets] [--graphs 5] [--limit 120] [--seed 1000]

How cells are kept and counted is said in benchmarks/comparing.py. Writes benchmarks/results/interventional.csv, and
into docs/interventions.md the tables between its markers `contenders`, `workloads`, `targets` and those of `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from comparing import Comparing, Summed, beside_each_other, list_of_workloads
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.studies.bench.catalogue import AnyContender, AnyWorkload
from rfdag.studies.bench.cells import Cell
from rfdag.studies.bench.interventional import CONTENDERS
from rfdag.studies.bench.interventional_workloads import WORKLOADS
from rfdag.studies.bench.tables import Row, summed_up

PAGE = "interventions.md"
SECTIONS = {
    "small": [name for name in WORKLOADS if name.startswith(("single-p10-", "single-p20-"))],
    "kinds": [name for name in WORKLOADS if name.startswith(("hard-", "soft-", "shift-", "double-"))],
    "large": [name for name in WORKLOADS if name.startswith(("single-p100-", "single-p1000-"))],
}
"""The workloads of each table of the page."""
LARGEST = {"gies": 20, "gnies": 20, "causaldag-igsp": 100, "causaldag-ut-igsp": 100, "flop-20-pooled": 100}
"""Variables of the largest workload that a contender runs on, if not all: there it is late or far behind already."""
FINDING = ("rfdag-unknown", "causaldag-ut-igsp")
"""Contenders that find targets."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    measured = Comparing("interventional", WORKLOADS, contenders_of).run(__doc__, arguments)
    if measured is not None:
        write(*measured)


def contenders_of(workload: AnyWorkload) -> list[AnyContender]:
    """Return the contenders but those that are too slow for so many variables."""
    return [each for each in CONTENDERS.values() if workload.p <= LARGEST.get(each.name, workload.p)]


def write(found: dict[str, list[Cell]], about: str) -> None:
    """Write the table as CSV, and the tables of the page."""
    summed: Summed = {name: summed_up(WORKLOADS[name], cells, WORKLOADS[name].graphs) for name, cells in found.items()}
    write_tables("interventional", [{"workload": name, **row} for name, rows in summed.items() for row in rows])
    page = ROOT / "docs" / PAGE
    for section, names in SECTIONS.items():
        chosen = [name for name in names if name in found]
        if not chosen:
            continue
        text = markdown(beside_each_other({name: summed[name] for name in chosen}, short_name, []))
        made = provenance([cell for name in chosen for cell in found[name]])
        update_section(page, section, f"{text}\n{about}\n\n{made}")
    update_section(page, "targets", markdown(scores_of_targets(summed)))
    calls = [
        {"contender": f"`{each.name}`", "package": each.package, "call": f"`{each.call}`"}
        for each in CONTENDERS.values()
    ]
    update_section(page, "contenders", markdown(calls))
    update_section(page, "workloads", markdown(list_of_workloads(WORKLOADS, grouped=False)))


def scores_of_targets(summed: Summed) -> list[Row]:
    """Return the mean F1 of the targets that contenders find, a row for each workload."""
    table: list[Row] = []
    for name, rows in summed.items():
        of_name = {str(row["contender"]): row for row in rows}
        scores = {f"`{each}`": of_name[each]["F1 of targets"] if each in of_name else "–" for each in FINDING}
        table.append({"workload": f"`{name}`", **scores})
    return table


def short_name(workload: str) -> str:
    """Return a workload's name without its number of rows.

    >>> short_name("single-p20-e80-n10000")
    'single-p20-e80'
    """
    return workload.rpartition("-")[0]


if __name__ == "__main__":
    main()
