"""Method "sp": the sparsest permutation itself, the best of all orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import ClassVar

from rfdag.eliminate import Engine, replay
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence
from rfdag.methods.by_rule import obeying
from rfdag.methods.found import Found
from rfdag.methods.judged import Judged
from rfdag.methods.proving import all_sets_fit, best_of_penalties, found_over_all_sets
from rfdag.methods.run import Run
from rfdag.options import options
from rfdag.orders import tuning
from rfdag.orders.exact import bytes_of_all_sets
from rfdag.orders.sp import sparsest_order


@options
class Sp(Judged):
    """The best of all orders: by BIC on data, for up to 25 variables; by edges elsewhere, for up to 16.

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
        by_bic = not evidence.exact and self.by_bic
        most = tuning.LARGEST_P_ON_REQUEST if by_bic else tuning.LARGEST_P_FOR_SPARSEST_ORDER
        if p > most or not all_sets_fit(p):
            raise OptionError(
                f"Method 'sp' looks at all sets of variables, of which {p} have {2.0**p:.0e}, with "
                f"{bytes_of_all_sets(p):.0e} bytes of scores. It takes up to {most} variables, and half of the free "
                f"memory. Use {keyword('method', 'soft')}."
            )
        report = run.stage("Eliminating")
        if by_bic:
            return found_over_all_sets(self, evidence, engine, run, report)
        if run.constraints is None:
            # A beam as wide as there are sets keeps the cheapest elimination of each.
            order = beam_search(EngineStates(engine, _counting(report, 2 << p)), 2**p, mu=0.0).orders[0]
        else:
            order = sparsest_order(evidence.independence(self.alpha), run.constraints, report)
        elimination = replay(engine, order)
        return obeying(replace(Found.of(elimination), order=order), evidence, run, self.alpha)

    def solves(self, columns: int) -> bool:
        """Return whether it looks at all sets of so many variables."""
        return True

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Compare the best DAGs of all penalties."""
        return found if evidence.exact or found.scored is None else best_of_penalties(self, found, evidence, run)


def _counting(report: Callable[[float], None], total: int) -> Callable[[], None]:
    """Return what to call once for every set that is scored or made, of so many in all."""
    done = count(1)
    return lambda: report(next(done) / total)
