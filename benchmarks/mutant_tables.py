"""Tables of mutants: how many tests noticed, and why they did not notice the others."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from mutants import Mutant
from report import ROOT, markdown, provenance, update_section, write_tables

PACKAGES = ("eliminate.kernels", "eliminate.engines", "eliminate", "orders.kernels", "orders", "graphs", "metrics")
"""Rows of the table: a module counts for the first that it is in."""
NOTICED = ("killed", "too long")
EFFECTS = {"answer": "answers", "cost": "time or memory", "none": "nothing"}
"""What a mutant that no test notices changes; a mutant without a reason is taken to change answers."""
AROUND = 40
"""Letters shown on each side of a change."""
REASONS = ROOT / "benchmarks" / "mutant_reasons.csv"


def write(judged: Sequence[tuple[Mutant, Mapping[str, Any]]], about: str) -> None:
    """Write what became of each mutant, as benchmarks/results/soak_mutants.csv and into docs/reliability.md."""
    with open(REASONS, encoding="utf-8", newline="") as handle:
        reasons = {row["mutant"]: (row["effect"], row["reason"]) for row in csv.DictReader(handle)}
    by_package: dict[str, Counter[str]] = {package: Counter() for package in PACKAGES}
    rows: list[dict[str, Any]] = []
    survivors: list[dict[str, Any]] = []
    for mutant, entry in judged:
        noticed = entry["verdict"] in NOTICED
        effect, reason = ("", "") if noticed else reasons.get(mutant.name, ("answer", "not explained"))
        module = mutant.module.removeprefix("rfdag.")
        package = next(package for package in PACKAGES if module.startswith(package))
        by_package[package].update(["mutants", "noticed" if noticed else effect])
        rows.append(
            {
                "mutant": mutant.name,
                "module": module,
                "function": mutant.function,
                "kind": mutant.kind,
                "before": mutant.before,
                "after": mutant.after,
                "verdict": entry["verdict"],
                "by": entry["by"],
                "effect": effect,
                "reason": reason,
            }
        )
        if not noticed:
            change = " → ".join(f"`{each}`" for each in differing(mutant.before, mutant.after))
            survivors.append({"where": f"`{module}.{mutant.function}`", "change": change.replace("|", "\\|"),
                              "changes": EFFECTS[effect], "why no test fails": reason})  # fmt: skip
    write_tables("soak_mutants", rows)
    table = [summary(package.replace(".", "/"), counts) for package, counts in by_package.items() if counts]
    table.append(summary("all", sum(by_package.values(), Counter())))
    survivors.sort(key=lambda row: (list(EFFECTS.values()).index(row["changes"]), row["where"]))
    text = f"{markdown(table)}\n{about}\n\n{markdown(survivors)}\n{provenance()}"
    update_section(ROOT / "docs" / "reliability.md", "mutants", text)


def differing(before: str, after: str) -> tuple[str, str]:
    """Return two statements shortened to where they differ, and what is around it.

    >>> differing("x = min(a, b)", "x = max(a, b)")
    ('x = min(a, b)', 'x = max(a, b)')
    """
    at = shared(before, after)
    first = max(0, at - AROUND)
    behind = shared(before[at:][::-1], after[at:][::-1])
    found = []
    for text in (before, after):
        last = min(len(text), len(text) - behind + AROUND)
        found.append(("…" if first else "") + text[first:last] + ("…" if last < len(text) else ""))
    return found[0], found[1]


def shared(one: str, other: str) -> int:
    """Return how many letters two texts begin with alike."""
    alike = (a == b for a, b in zip(one, other, strict=False))
    return sum(1 for _ in takewhile(bool, alike))


def summary(name: str, counts: Counter[str]) -> dict[str, Any]:
    """Return a row of the table."""
    of_effect = counts["noticed"] + counts["answer"]
    return {
        "package": name,
        "mutants": counts["mutants"],
        "noticed": counts["noticed"],
        "share": f"{counts['noticed'] / counts['mutants']:.1%}",
        "not noticed: same answer": counts["none"],
        "time or memory": counts["cost"],
        "answers": counts["answer"],
        "noticed of those that change answers": f"{counts['noticed'] / max(of_effect, 1):.1%}",
    }
