"""Method "gsp": the greedy sparsest permutation, by a search over covered edges."""

from __future__ import annotations

from typing import ClassVar, Literal

from rfdag.eliminate import Engine, eliminate, replay
from rfdag.evidence.evidence import Evidence
from rfdag.methods.by_rule import obeying
from rfdag.methods.found import CUT_SHORT, INTERRUPTED, Found
from rfdag.methods.rfd import Counting
from rfdag.methods.run import Run
from rfdag.options import option, options
from rfdag.orders import tuning
from rfdag.orders.covered_edges import gsp


@options
class Gsp(Counting):
    """The greedy sparsest permutation search over covered edges, started from the order of a rule.

    L. Solus, Y. Wang, C. Uhler: Consistency guarantees for greedy permutation-based causal inference, 2021.
    """

    name: ClassVar[str] = "gsp"
    needs: ClassVar[tuple[str, ...]] = ("matrices",)

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

    @property
    def timed(self) -> bool:
        """The search can return the best so far."""
        return True

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the sparsest DAG that covered-edge searches find."""
        report = run.bar.stage("Eliminating")
        generator = run.generator()
        # The first run starts from the rule's own order; the others break its ties at random.
        orders = [
            eliminate(
                engine.copy(),
                self.initial,
                generator=generator if number else run.tie_breaker(),
                constraints=run.constraints,
            ).order
            for number in range(self.runs)
        ]
        outcome = gsp(
            orders,
            evidence.independence(self.alpha),
            depth=self.depth,
            generator=generator,
            deadline=run.deadline,
            report=report,
            most_visited=tuning.MOST_VISITS_IN_VAIN,
            constraints=run.constraints,
        )
        warnings = (INTERRUPTED,) if outcome.interrupted else () if outcome.complete else (CUT_SHORT,)
        found = Found(
            outcome.order,
            outcome.dag,
            replay(engine, outcome.order),
            warnings=warnings,
            interrupted=outcome.interrupted,
        )
        return obeying(found, evidence, run, self.alpha)
