"""Method "soft", the default: edges weighed by their evidence, beams of eliminations, orders refined by BIC."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

from rfdag.eliminate import Engine, replay
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import sample_of
from rfdag.methods.by_rule import found_by_rule, obeying
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.judged import DENSE, Refinable
from rfdag.methods.run import Run
from rfdag.options import option, options
from rfdag.orders import tuning
from rfdag.orders.portfolio import search_orders


@options
class Soft(Refinable):
    """The default: edges are weighed by their evidence instead of counted, beams follow many eliminations at once.

    On exact input it is method "rfd", followed by a search over covered edges in case that finds a sparser DAG; on
    sparse input it is "rfd".
    """

    name: ClassVar[str] = "soft"
    by_bic_itself: ClassVar[bool] = True
    refines_itself: ClassVar[bool] = True
    replays: ClassVar[bool] = True

    beam: int | Literal["auto"] = option(
        default="auto",
        meaning=(
            'How many partial eliminations are followed at once. "auto" widens from 8 to 128, on dense graphs '
            "from 64 to 4096, while the score improves and its settings disagree (on sparse graphs only with "
            "refinement). A beam of width B over "
            "p variables holds about 2 · B · p² doubles. On exact input a beam runs only if a width is given "
            "and the order is refined."
        ),
        least=1,
        needs=("matrices",),
    )
    rescoring: Literal["auto", "exact", "lazy"] = option(
        default="auto",
        meaning=(
            'Whether a beam scores every candidate anew at every step ("exact") or only the neighbours of what '
            'was removed, and all at times ("lazy", under the soft cost). "auto" is lazy on sparse graphs.'
        ),
        needs=DENSE,
    )

    @property
    def widens(self) -> bool:
        """Whether wider beams may follow."""
        return self.beam == "auto"

    def with_beam(self, width: int) -> Self:
        """Return the same method with beams of this width."""
        return replace(self, beam=width)

    @property
    def beam_width(self) -> int:
        """How many states the first beams hold."""
        return tuning.NARROWEST_BEAM if self.beam == "auto" else self.beam

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the best order, by BIC, of a portfolio of beams."""
        if evidence.exact or evidence.sparse:
            beam = None if self.beam == "auto" else self.beam
            return found_by_rule(evidence, engine, run, alpha=self.alpha, refine=self.refining, beam=beam, rule="rfd")
        moments, rows = sample_of(evidence)
        outcome = search_orders(
            engine.on_device if run.device == "cuda" else engine.partial,  # type: ignore[attr-defined]
            moments.local(),
            worth=moments.worth,
            width=self.beam,
            rescoring=self.rescoring,
            penalty=self.price,
            gamma=self.starting_gamma(rows, len(moments.names), run.estimation),
            refine=self.refining,
            threads=run.threads,
            generator=run.tie_breaker(),
            deadline=run.deadline,
            limit=run.limit,
            report=run.bar.stage("Eliminating"),
            device=run.device,
            constraints=run.constraints,
        )
        elimination = replay(engine, outcome.eliminated, run.bar.stage("Recording the elimination"))
        best = outcome.best if self.by_bic else None
        found = Found(
            elimination.order if best is None else best.order,
            elimination.dag if best is None else best.dag,
            elimination,
            best,
            outcome.attempts,
            warnings=(INTERRUPTED,) if outcome.interrupted else (),
            interrupted=outcome.interrupted,
        )
        return obeying(found, evidence, run, self.alpha)
