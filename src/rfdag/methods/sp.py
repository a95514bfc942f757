"""Method "sp": the sparsest permutation itself, the best of all orders."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rfdag.eliminate import Engine, replay
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import sample_of
from rfdag.methods.by_rule import obeying
from rfdag.methods.found import Found
from rfdag.methods.judged import Judged
from rfdag.methods.run import Run
from rfdag.options import options
from rfdag.orders import tuning
from rfdag.orders.scores import ScoredOrder, best_dag
from rfdag.orders.sp import sparsest_order


@options
class Sp(Judged):
    """The best of all orders, for up to 16 variables: by BIC of parents grown and shrunk on data, by edges elsewhere.

    With ``parents="threshold"`` and on exact input it is the order of fewest edges.

    T. Silander, P. Myllymäki: A simple approach for finding the globally optimal Bayesian network structure, 2006.
    """

    name: ClassVar[str] = "sp"
    needs: ClassVar[tuple[str, ...]] = ("matrices",)
    by_bic_itself: ClassVar[bool] = True
    exhaustive: ClassVar[bool] = True

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the best of all DAGs by BIC, or of all orders by edges."""
        p = len(evidence.names)
        if p > tuning.LARGEST_P_FOR_EXACT:
            raise OptionError(
                f"Method 'sp' looks at all sets of variables, of which {p} have {2.0**p:.0e}; it takes up to "
                f"{tuning.LARGEST_P_FOR_EXACT}. Use {keyword('method', 'soft')} with {keyword('restarts', 1000)}."
            )
        report = run.bar.stage("Eliminating")
        if not evidence.exact and self.by_bic:
            scored = self._optimum(evidence, run, self.price)
            return Found(scored.order, scored.dag, replay(engine, scored.order), scored)
        if run.constraints is None:
            # A beam as wide as there are sets keeps the cheapest elimination of each.
            order = beam_search(EngineStates(engine), 2**p, mu=0.0, report=report).orders[0]
        else:
            order = sparsest_order(evidence.independence(self.alpha), run.constraints)
        elimination = replay(engine, order)
        return obeying(replace(Found.of(elimination), order=order), evidence, run, self.alpha)

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Compare the best DAGs of all penalties."""
        if evidence.exact or found.scored is None:
            return found
        # That of the penalty searched at is known.
        orders = [
            found.scored if place == self.searched else self._optimum(evidence, run, penalty)
            for place, penalty in enumerate(self.penalties)
        ]
        return self.compared(found, orders)

    def _optimum(self, evidence: Evidence, run: Run, penalty: float) -> ScoredOrder:
        moments, rows = sample_of(evidence)
        gamma = self.starting_gamma(rows, len(moments.names), run.estimation)
        local = moments.local()
        order, dag = best_dag(local, penalty, gamma, run.constraints)
        return ScoredOrder(local, order, penalty, gamma, dag, run.constraints)
