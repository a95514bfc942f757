"""The paper's baselines, and any rule that is added to `rfdag.eliminate.RULES`."""

from __future__ import annotations

from rfdag.eliminate import Engine
from rfdag.eliminate.rules import find_rule
from rfdag.evidence.evidence import Evidence
from rfdag.methods.by_rule import found_by_rule
from rfdag.methods.found import Found
from rfdag.methods.rfd import Counting
from rfdag.methods.run import Run
from rfdag.options import option, options


@options
class Baseline(Counting):
    """An elimination that removes, one after the other, the variable that a rule prefers.

    The paper compares with "min-degree", "min-fill", "max-remove" and "random". The name of the rule serves as the name
    of the method: ``learn(data, "min-fill")``.
    """

    rule: str = option(
        default="min-degree",
        meaning="Which variable is removed next, by the name of a rule in `rfdag.eliminate.RULES`.",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the rule."""
        return self.rule

    def check(self) -> None:
        """Raise where the options do not go together."""
        find_rule(self.rule)
        super().check()

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the order of the elimination."""
        return found_by_rule(evidence, engine, run, alpha=self.alpha, refine=self.refining, rule=self.rule)
