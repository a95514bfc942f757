"""Method "sp": the sparsest permutation itself, the best of all orders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
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
from rfdag.runtime.deadline import OutOfTime


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
        report = run.stage("Eliminating")
        if not evidence.exact and self.by_bic:
            scored = self._optimum(evidence, run, self.price, report)
            return Found(scored.order, scored.dag, replay(engine, scored.order), scored)
        if run.constraints is None:
            # A beam as wide as there are sets keeps the cheapest elimination of each.
            order = beam_search(EngineStates(engine, _counting(report, 2 << p)), 2**p, mu=0.0).orders[0]
        else:
            order = sparsest_order(evidence.independence(self.alpha), run.constraints, report)
        elimination = replay(engine, order)
        return obeying(replace(Found.of(elimination), order=order), evidence, run, self.alpha)

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Compare the best DAGs of all penalties."""
        if evidence.exact or found.scored is None:
            return found
        report = run.bar.stage("Comparing penalties", run.deadline)
        # That of the penalty searched at is known.
        orders = {self.price: found.scored}
        for number, penalty in enumerate(self.penalties):

            def reported(share: float, number: int = number) -> None:
                report((number + share) / len(self.penalties))

            with suppress(OutOfTime):
                if penalty not in orders:
                    orders[penalty] = self._optimum(evidence, run, penalty, reported)
        return self.compared(found, orders)

    def _optimum(self, evidence: Evidence, run: Run, penalty: float, report: Callable[[float], None]) -> ScoredOrder:
        moments, rows = sample_of(evidence)
        gamma = self.starting_gamma(rows, len(moments.names), run.estimation)
        local = moments.local()
        order, dag = best_dag(local, penalty, gamma, run.constraints, report)
        return ScoredOrder(local, order, penalty, gamma, dag, run.constraints)


def _counting(report: Callable[[float], None], total: int) -> Callable[[], None]:
    """Return what to call once for every set that is scored or made, of so many in all."""
    done = count(1)
    return lambda: report(next(done) / total)
