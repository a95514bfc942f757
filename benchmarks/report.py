"""Tables written by the runs that made them: CSV for machines, Markdown for the docs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rfdag.runtime.writing import write_text
from rfdag.studies.bench.tables import Row, csv_text, markdown, provenance

__all__ = ["RESULTS", "ROOT", "known_rows", "markdown", "provenance", "update_section", "write_tables"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def write_tables(name: str, rows: Sequence[Row]) -> None:
    """Write rows as benchmarks/results/NAME.csv."""
    RESULTS.mkdir(exist_ok=True)
    write_text(RESULTS / f"{name}.csv", csv_text(rows))


def known_rows(name: str) -> list[dict[str, str]]:
    """Return the rows that an earlier run has written, as text; none if there was none."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def update_section(page: Path, section: str, text: str) -> None:
    """Replace what stands between a page's markers of that section."""
    start, end = f"<!-- {section}: begin -->\n", f"<!-- {section}: end -->\n"
    content = page.read_text(encoding="utf-8")
    before, _, rest = content.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no section {section!r} between markers.")
    write_text(page, before + start + text + end + after)
