"""Method "gsp": the greedy sparsest permutation, by a search over covered edges."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from rfdag.eliminate import Elimination, Engine, eliminate, replay
from rfdag.evidence.evidence import Evidence
from rfdag.methods.by_rule import obeying
from rfdag.methods.found import CUT_SHORT, INTERRUPTED, Found
from rfdag.methods.rfd import Counting
from rfdag.methods.run import Run
from rfdag.options import option, options
from rfdag.orders import tuning
from rfdag.orders.covered_edges import gsp
from rfdag.runtime.deadline import OutOfTime


@options
class Gsp(Counting):
    """The greedy sparsest permutation search over covered edges, started from the order of a rule.

    L. Solus, Y. Wang, C. Uhler: Consistency guarantees for greedy permutation-based causal inference, 2021.
    """

    name: ClassVar[str] = "gsp"
    needs: ClassVar[tuple[str, ...]] = ("matrices",)
    replays: ClassVar[bool] = True

    depth: int | None = option(
        default=None,
        meaning="How many covered edges in a row may be reversed without losing an edge; None for any number.",
        least=1,
    )
    initial: Literal["rfd", "min-degree"] = option(default="rfd", meaning="Which rule's order the search starts from.")
    runs: int = option(
        default=1, meaning="How often it starts: ties are broken at random after the first time.", least=1
    )

    @property
    def eliminations(self) -> int:
        """One for each start."""
        return self.runs

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the sparsest DAG that covered-edge searches find."""
        generator = run.generator()
        starts = self._starts(engine, run, generator)
        try:
            outcome = gsp(
                [start.order for start in starts],
                evidence.independence(self.alpha),
                depth=self.depth,
                generator=generator,
                deadline=run.deadline,
                report=run.bar.stage("Searching covered edges"),
                most_visited=tuning.MOST_VISITS_IN_VAIN,
                constraints=run.constraints,
            )
        except OutOfTime:
            found = replace(Found.of(starts[0]), warnings=(CUT_SHORT,))
        else:
            found = Found(
                outcome.order,
                outcome.dag,
                replay(engine, outcome.order, run.bar.stage("Recording the elimination")).trace,
                warnings=(INTERRUPTED,) if outcome.interrupted else () if outcome.complete else (CUT_SHORT,),
                interrupted=outcome.interrupted,
            )
        return obeying(found, evidence, run, self.alpha)

    def _starts(self, engine: Engine, run: Run, generator: np.random.Generator) -> list[Elimination]:
        """Return the eliminations to start from: as many as asked for, or as time allows, but at least one."""
        report = run.stage("Eliminating")
        starts: list[Elimination] = []
        for number in range(self.runs):
            if starts and run.deadline.passed():
                break

            def reported(share: float, number: int = number) -> None:
                report((number + share) / self.runs)

            try:
                # The first run starts from the rule's own order; the others break its ties at random.
                start = eliminate(
                    engine.copy(),
                    self.initial,
                    generator=generator if number else run.tie_breaker(),
                    report=reported,
                    constraints=run.constraints,
                )
            except OutOfTime:
                if not starts:
                    raise
                break
            starts.append(start)
        return starts
