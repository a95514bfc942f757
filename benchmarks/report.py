"""Tables written by the runs that made them: CSV for machines, Markdown for the docs."""

from __future__ import annotations

import csv
import datetime
import io
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from rfdag.files import write_text

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
LIBRARIES = ("rfdag", "numpy", "scipy", "numba")

Row = Mapping[str, object]


def write_tables(name: str, rows: Sequence[Row]) -> None:
    """Write rows as benchmarks/results/NAME.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    RESULTS.mkdir(exist_ok=True)
    write_text(RESULTS / f"{name}.csv", text.getvalue())


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table."""
    header = list(rows[0])
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(_shown(row[name]) for name in header) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def provenance() -> str:
    """Return one line: when, where and with what a table was made."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    day = datetime.date.today().isoformat()
    return f"*{day}; {platform.machine()}, {cores} cores; Python {platform.python_version()}, {libraries}.*\n"


def update_section(page: Path, section: str, text: str) -> None:
    """Replace what stands between a page's markers of that section."""
    start, end = f"<!-- {section}: begin -->\n", f"<!-- {section}: end -->\n"
    content = page.read_text(encoding="utf-8")
    before, _, rest = content.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no section {section!r} between markers.")
    write_text(page, before + start + text + end + after)


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
