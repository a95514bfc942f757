"""Running a study: the cells that are not known yet, side by side, each kept as soon as it completes."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rfdag.errors import FileError
from rfdag.runtime.journal import Journal
from rfdag.runtime.workers import Workers, outcomes
from rfdag.studies.paper.study import Key, Record, Scope, Study


class Completed(NamedTuple):
    """What is known of a study after its run."""

    records: list[Record]
    fresh: int
    """Cells that this run has added."""
    foreign: int
    """Cells in the same file that belong to other settings or versions, and were not used."""
    failures: list[str]
    """What went wrong in the cells that failed; the same command tries them again."""


class Run:
    """A study in a folder, with the cells it still lacks.

    A run that was ended goes on where it was. A cell is recognised by all that its outcome depends on, so that one
    made with another setting or version is neither used nor lost.
    """

    def __init__(self, study: Study, scope: Scope, folder: Path) -> None:
        self.study, self.scope = study, scope
        plan = {_canonical(key): key for key in study.plan(scope)}
        self._journal = Journal(folder / "cells" / f"{study.cells}.jsonl")
        known, self._foreign = _read(self._journal, plan)
        self._found = [record for records in known.values() for record in records]
        self._todo = [key for name, key in plan.items() if name not in known]

    @property
    def cost(self) -> float:
        """About how many seconds of one core the missing cells take."""
        return sum(map(self.study.cost, self._todo))

    def complete(self, workers: Workers, report: Callable[[float], None] = lambda spent: None) -> Completed:
        """Run the missing cells, keep each as it completes, and call ``report`` with the cost spent so far."""
        failures: list[str] = []
        fresh, self._spent = 0, 0.0
        for key, outcome in self._measured(workers):
            if isinstance(outcome, str):
                failures.append(outcome)
            else:
                self._journal.write({"cell": key, "records": outcome})
                self._found += outcome
                fresh += 1
            self._spent += self.study.cost(key)
            report(self._spent)
        report(self.cost)
        return Completed(self._found, fresh, self._foreign, failures)

    def _measured(self, workers: Workers) -> Iterator[tuple[Key, list[Record] | str]]:
        from joblib import Parallel, delayed

        if not self._todo:
            return
        with workers.ready():
            # A batch of one: a cell is to be kept when it completes, not when its neighbours do.
            run = Parallel(return_as="generator_unordered", batch_size=1)
            cells = (delayed(_measure)(self.study.measure, key, self.scope) for key in self._worthwhile())
            yield from outcomes(run(cells))

    def _worthwhile(self) -> Iterator[Key]:
        """Yield cells one by one as workers become free, so that the records so far can show whether they matter."""
        for key in self._todo:
            if self.study.pointless(key, self._found):
                self._spent += self.study.cost(key)
            else:
                yield key


def _measure(measure: Callable[[Key, Scope], list[Record]], key: Key, scope: Scope) -> tuple[Key, list[Record] | str]:
    """Run one cell; return its records, or what went wrong."""
    from threadpoolctl import threadpool_limits

    try:
        # As many cells run at once as there are cores.
        with threadpool_limits(1):
            return key, measure(key, scope)
    except Exception:
        return key, f"in the cell {_canonical(key)}:\n{traceback.format_exc()}"


def _read(journal: Journal, plan: dict[str, Key]) -> tuple[dict[str, list[Record]], int]:
    """Return the cells of the plan that a journal holds, and the number of others."""
    known: dict[str, list[Record]] = {}
    foreign = 0
    for entry in journal:
        if not isinstance(entry.get("cell"), dict) or not isinstance(entry.get("records"), list):
            raise FileError(
                f"{journal.path} has lines that are not cells of a study; choose another folder, or move that file."
            )
        name = _canonical(entry["cell"])
        if name in plan:
            known[name] = entry["records"]
        else:
            foreign += 1
    return known, foreign


def _canonical(key: Key) -> str:
    return json.dumps(key, sort_keys=True, ensure_ascii=False)
