"""A study that squares numbers: for tests of what `rfdag reproduce` does with every study."""

from __future__ import annotations

import os

from rfdag.runtime.workers import Workers
from rfdag.studies.paper import look
from rfdag.studies.paper.running import Run
from rfdag.studies.paper.study import Claim, Study


def plan(scope):
    """Squares of a few numbers; the key tells the exponent, too, as a setting that may change."""
    return [{"number": number, "exponent": 2, "seed": scope.seed} for number in range(scope.count(6, 3))]


def measure(key, scope):
    calls = os.environ.get("CALLS")
    if calls:
        with open(calls, "a") as handle:
            handle.write(f"{key['number']}\n")
    if key["number"] == int(os.environ.get("STUMBLE", "-1")):
        raise ZeroDivisionError("a stumbling block")
    return [{"number": key["number"], "value": key["number"] ** key["exponent"] + key["seed"]}]


def table(records):
    return sorted(records, key=lambda record: record["number"])


def draw(rows):
    figure, axes = look.canvas()
    look.curve(axes[0, 0], "RFD", [row["number"] for row in rows], [row["value"] for row in rows])
    return {"squares": figure}


def claims(rows):
    return [Claim("squares grow", all(row["value"] >= row["number"] for row in rows), f"{len(rows)} numbers")]


SQUARES = Study("squares", "Squares of numbers", "Section 0", "Squares.", plan, measure, table, draw, claims)
ONE = Workers(jobs=1)


def complete(study, scope, folder, workers, report=lambda spent: None):
    return Run(study, scope, folder).complete(workers, report)


def values(completed):
    return [row["value"] for row in table(completed.records)]
