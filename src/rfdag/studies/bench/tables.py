"""Tables: cells summed up in rows, and rows as CSV, Markdown and text."""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from statistics import fmean, median, stdev

from rfdag.runtime import writing
from rfdag.studies.bench.catalogue import CONTENDERS, AnyWorkload
from rfdag.studies.bench.cells import Cell
from rfdag.studies.bench.interventional_workloads import InterventionalWorkload
from rfdag.studies.bench.rulers import RULERS

LIBRARIES = ("rfdag", "numpy", "scipy", "numba")
FLOOR = "flop-0"
"""The contender whose time is the unit of the others'."""

Row = Mapping[str, object]


def summed_up(workload: AnyWorkload, cells: Sequence[Cell], graphs: int) -> list[Row]:
    """Return one row for every contender and ruler: means of the scores, medians of the times.

    Beside the mean SHD stand its standard error and the largest of all.

    Where there are experiments, the SHD is that of the interventional classes, and the targets found are scored, too.

    Where a contender finished on some of the graphs only, its row shows on how many, and its scores are of those.
    """
    by_contender = {name: [cell for cell in cells if cell.key.contender == name] for name in (*CONTENDERS, *RULERS)}
    floor = _median_time(by_contender[FLOOR])
    in_environments = isinstance(workload, InterventionalWorkload)
    rows: list[Row] = []
    for name, of_contender in by_contender.items():
        if not of_contender:
            continue
        finished = [cell for cell in of_contender if not cell.failure]
        failure = next((cell.failure for cell in of_contender if cell.failure), "")
        counted = str(graphs) if len(finished) == graphs else f"{len(finished)} of {graphs}"
        taken = _median_time(finished)
        targets = {"F1 of targets": _mean([cell.targets_f1 for cell in finished], 3)} if in_environments else {}
        balance = [cell.tpr - cell.fpr for cell in finished if cell.tpr is not None and cell.fpr is not None]
        rows.append(
            {
                "graphs": workload.family,
                "p": workload.p,
                "n": workload.n,
                "contender": name,
                "graphs counted": counted if not failure else f"{counted}: {failure}",
                "SHD": _mean(distances := [cell.shd for cell in finished], 1),
                "± SE": _standard_error(distances),
                "worst SHD": _worst(distances),
                "F1": _mean([cell.f1 for cell in finished], 3),
                "TPR − FPR": _mean(balance, 3),
                **targets,
                "time (s)": "" if taken is None else _significant(taken),
                "time / FLOP 0": "" if taken is None or not floor else _significant(taken / floor),
            }
        )
    return rows


def own_data(cells: Sequence[Cell]) -> list[Row]:
    """Return one row for every contender on a user's own data."""
    rows: list[Row] = []
    for cell in cells:
        row: dict[str, object] = {
            "contender": cell.key.contender,
            "edges": _shown_or(cell.edges, cell.failure or "–"),
            "BIC": "–" if cell.bic is None else round(cell.bic, 1),
            "time (s)": "" if cell.seconds is None else _significant(cell.seconds),
        }
        if any(other.shd is not None for other in cells):
            row |= {"SHD": _shown_or(cell.shd, "–"), "F1": "–" if cell.f1 is None else round(cell.f1, 3)}
        rows.append(row)
    return rows


def csv_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV; a row may lack what others have.

    >>> print(csv_text([{"p": 3, "F1": 0.5}]), end="")
    p,F1
    3,0.5
    """
    header = _header(rows)
    return writing.csv_text(header, ([row.get(name, "") for name in header] for row in rows))


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table.

    >>> print(markdown([{"p": 3, "F1": 0.5}]), end="")
    | p | F1 |
    | --- | --- |
    | 3 | 0.5 |
    """
    header = _header(rows)
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(shown(row.get(name, "")) for name in header) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(value: object) -> str:
    """Return an entry of a table as text.

    >>> shown(0.98765), shown(12345.0), shown(-1552.31), shown(None)
    ('0.9877', '12345', '-1552.3', '–')
    """
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}".removesuffix(".0")


def provenance(cells: Sequence[Cell] = ()) -> str:
    """Return one line: when, where and with what a table was made, the contenders of the cells included."""
    versions = {name: version(name) for name in LIBRARIES}
    for cell in cells:
        if cell.key.contender in CONTENDERS:
            versions[CONTENDERS[cell.key.contender].package] = cell.key.version
    libraries = ", ".join(f"{name} {number}" for name, number in versions.items())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    day = datetime.date.today().isoformat()
    counted = "one core" if cores == 1 else f"{cores} cores"
    return f"*{day}; {platform.machine()}, {counted}; Python {platform.python_version()}, {libraries}.*\n"


def _header(rows: Sequence[Row]) -> list[str]:
    """Return the names of all columns, in the order of the row that has most of them."""
    return max(map(list, rows), key=len)


def _median_time(cells: Sequence[Cell]) -> float | None:
    times = [cell.seconds for cell in cells if cell.seconds is not None]
    return median(times) if times else None


def _mean(scores: Sequence[float | None], digits: int) -> object:
    known = [score for score in scores if score is not None]
    return round(fmean(known), digits) if known else "–"


def _standard_error(scores: Sequence[float | None]) -> object:
    known = [score for score in scores if score is not None]
    return round(stdev(known) / math.sqrt(len(known)), 1) if len(known) > 1 else "–"


def _worst(scores: Sequence[float | None]) -> object:
    known = [score for score in scores if score is not None]
    return max(known) if known else "–"


def _significant(value: float) -> float:
    return float(f"{value:.3g}")


def _shown_or(value: object, otherwise: str) -> object:
    return otherwise if value is None else value
