"""What the report shows of several environments: rows, targets, what changed, and tests that all else stayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfdag.report.rounding import rounded
from rfdag.result.environments import intercepts_in_words

if TYPE_CHECKING:
    from rfdag.result import Result

MOST_SHOWN = 200
"""Environments that the page lists."""
TESTED_UP_TO = 20_000
"""Pairs of a variable and an environment up to which each variable is tested in each environment."""
WORST = 3
"""Tests of an environment that are shown, those that fit worst."""


def environments(result: Result) -> dict[str, Any] | None:
    """Return one row for each environment; None where rows come from one."""
    found = result.interventions
    if found is None:
        return None
    tested = result.by_environment is not None and len(found.environments) * len(result.names) <= TESTED_UP_TO
    place = {name: at for at, name in enumerate(result.names)}
    rows = []
    for each in found.environments[:MOST_SHOWN]:
        tests = result.invariance(each.label) if tested else ()
        rows.append(
            {
                "label": each.label,
                "rows": each.rows,
                "targets": [
                    [place[target.variable], target.mechanism, *rounded([target.gain])] for target in each.targets
                ],
                "tests": len(tests),
                "worst": [[place[test.variable], *rounded([test.p_value])] for test in tests[:WORST]],
            }
        )
    return {
        "found": found.found,
        "intercepts": intercepts_in_words(found),
        "tested": tested,
        "all": len(found.environments),
        "rows": rows,
    }
