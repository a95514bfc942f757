"""Options of methods that choose parents by BIC or by tests, and that can refine their order by BIC."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import Moments, sample_of
from rfdag.graphs.dag import Graph
from rfdag.methods.found import INTERRUPTED, UNSCORED, Found, graph_of
from rfdag.methods.method import Method
from rfdag.methods.run import Run
from rfdag.options import option, options
from rfdag.orders import costs, tuning
from rfdag.orders.margin import noise_at_the_margin
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.path import compare, follow_path
from rfdag.orders.reinsertion import descend
from rfdag.orders.restarts import iterate
from rfdag.orders.rivals import Rivals, rivals_of
from rfdag.orders.scores import ScoredOrder, price_of_edge
from rfdag.precision.estimation import Estimation
from rfdag.runtime.deadline import Deadline, OutOfTime

DENSE = ("rows", "matrices")


@options
class Judged(Method):
    """A method whose parents are chosen by BIC or by tests."""

    by_bic_itself: ClassVar[bool] = False
    """Whether the method judges orders by their BIC, and so by default their parents."""

    parents: Literal["auto", "bic", "threshold"] = option(
        default="auto",
        meaning=(
            'How a variable\'s parents are chosen among its predecessors: "bic" grows and shrinks them by the '
            'Gaussian BIC; "threshold" takes its neighbours at its removal, the paper\'s D_π at level alpha. '
            '"auto" is "bic" for methods "soft" and "sp" and for refined orders, else "threshold".'
        ),
        needs=DENSE,
    )
    penalty: float | tuple[float, ...] = option(
        default=2.0,
        meaning=(
            "Price of an edge in the BIC, in units of ln n; the textbook's BIC has 1. Several make a path: the "
            "order is refined at each, and the one whose DAG has the least extended BIC (γ = ½) is chosen; "
            "`Result.path` has them all."
        ),
        least=0,
        most=1e6,
        needs=DENSE,
    )
    gamma: float | Literal["auto"] = option(
        default="auto",
        meaning=(
            'γ of the extended BIC (Chen and Chen, 2008): an edge costs 2 γ ln p more. "auto" is ¼ where rows '
            "are few (less than 1.25 per column; ½ from 500 columns on) and where a refined DAG's weakest edges look "
            "like noise, else 0, the plain BIC; `Result.gamma` has the one used."
        ),
        least=0,
        most=1e6,
        needs=DENSE,
    )

    def check(self) -> None:
        """Raise where the options do not go together."""
        super().check()
        if isinstance(self.penalty, tuple) and len(set(self.penalty)) < len(self.penalty):
            raise OptionError(f"A path of penalties has different ones, not {self.penalty!r}.")
        given = self.given()
        idle = [name for name in ("penalty", "gamma") if name in given]
        if idle and not self.by_bic:
            raise OptionError(
                f"{' and '.join(map(keyword, idle))} belong{'s' if len(idle) == 1 else ''} to the BIC, and "
                f"{self.chooses_by_tests}: pass {keyword('parents', 'bic')}, or leave "
                f"{'it' if len(idle) == 1 else 'them'} out."
            )
        if "alpha" in given and self.by_bic and self.by_bic_itself:
            raise OptionError(
                f"{keyword('alpha')} is the level of a test, and method {self.name!r} decides by BIC: leave it out, "
                f"choose {keyword('method', 'rfd')}, or pass {keyword('parents', 'threshold')}"
                f"{' with ' + keyword('refine', False) if 'refine' in self.declared() else ''}."
            )

    @property
    def chooses_by_tests(self) -> str:
        """How it is that parents are chosen by tests, in words."""
        chooser = keyword("parents", "threshold") if self.parents == "threshold" else f"method {self.name!r}"
        return f"{chooser} chooses by tests"

    @property
    def by_bic(self) -> bool:
        """Whether parents are chosen by BIC: by default where the order was, or was refined, by it."""
        return self.by_bic_itself if self.parents == "auto" else self.parents == "bic"

    @property
    def any_rows(self) -> bool:
        """Whether it gets by with fewer rows than columns: if it judges orders by their BIC alone."""
        return self.by_bic_itself and self.by_bic

    @property
    def penalties(self) -> tuple[float, ...]:
        """The penalties to try, ascending."""
        return tuple(sorted(self.penalty)) if isinstance(self.penalty, tuple) else (self.penalty,)

    @property
    def searched(self) -> int:
        """Which of the penalties the search itself uses: the middle one."""
        return len(self.penalties) // 2

    @property
    def price(self) -> float:
        """The penalty that the search itself uses."""
        return self.penalties[self.searched]

    def starting_gamma(self, rows: int, columns: int, estimation: Estimation) -> float:
        """Return γ of the BIC that the search begins with."""
        if self.gamma != "auto":
            return self.gamma
        regularised = estimation.chosen(rows, columns, any_rows=self.any_rows).name != "sample"
        few = regularised and estimation.few(rows, columns)
        if not few:
            return 0.0
        many = columns >= tuning.LEAST_P_FOR_HIGHER_GAMMA
        return tuning.FEW_ROWS_GAMMA_FOR_MANY_COLUMNS if many else tuning.FEW_ROWS_GAMMA

    def search(self, evidence: Evidence, run: Run, refining: Run) -> Found:
        """Return what the method finds; where it judges orders by BIC, whatever the arrangement of the columns.

        Ties, and what is tried first, then depend on the data alone: the columns are arranged by them, and what is
        found is numbered back. Only an estimator of the user's own sees all columns as they were given.
        """
        if not (self.by_bic_itself and self.by_bic) or not isinstance(evidence, Moments) or evidence.exact:
            return super().search(evidence, run, refining)
        places = evidence.places_by_data()
        constraints = None if run.constraints is None else run.constraints.arranged(places)
        arranged, refining = (replace(each, constraints=constraints) for each in (run, refining))
        moments, rows = sample_of(evidence)
        in_clusters = self.in_clusters(rows, len(moments.names), run.estimation, run.device)
        if run.estimation.own and not in_clusters:
            moments = sample_of(run.estimated(evidence, self))[0].arranged(places)
            return self.found_in(moments, arranged, refining).arranged(places)
        return self.search_arranged(moments.arranged(places), arranged, refining).arranged(places)

    def search_arranged(self, evidence: Moments, run: Run, refining: Run) -> Found:
        """Return what the method finds in columns that are arranged by the data."""
        return super().search(evidence, run, refining)

    def scored(
        self, order: NDArray[np.int64], evidence: Evidence, run: Run, parents: Graph | None = None
    ) -> ScoredOrder:
        """Return an order with its parents chosen by BIC, starting from ``parents``."""
        moments, rows = sample_of(evidence)
        gamma = self.starting_gamma(rows, len(moments.names), run.estimation)
        return ScoredOrder(moments.local(), order, self.price, gamma, parents, run.constraints, run.limit.require)

    def sees_noise(self, scored: ScoredOrder) -> bool:
        """Return whether the price of an edge is to be raised because the weakest edges are mostly noise."""
        if self.gamma != "auto" or len(self.penalties) > 1 or scored.gamma >= tuning.MARGIN_GAMMA:
            return False
        return noise_at_the_margin(scored, price_of_edge(scored.n_samples, len(scored.order), self.price, scored.gamma))

    def compared(self, found: Found, orders: Mapping[float, ScoredOrder], *, interrupted: bool = False) -> Found:
        """Return the best of the orders by penalty."""
        best, points = compare(orders)
        return replace(
            found,
            order=best.order,
            dag=graph_of(best),
            scored=best,
            path=points if isinstance(self.penalty, tuple) else (),
            interrupted=interrupted,
            warnings=tuple(dict.fromkeys((*found.warnings, INTERRUPTED) if interrupted else found.warnings)),
        )


@options
class Refinable(Judged):
    """A method whose order can be refined by BIC."""

    refines_itself: ClassVar[bool] = False
    """Whether the order is refined unless the user says otherwise."""

    refine: bool | Literal["auto"] = option(
        default="auto",
        meaning=(
            "Whether the order is refined: variables are taken out and put back where the BIC is best. On exact "
            'input, where there is no BIC, covered edges are searched for a sparser DAG instead. "auto" does so '
            'for method "soft".'
        ),
        needs=("matrices",),
    )
    restarts: int | Literal["auto"] = option(
        default="auto",
        meaning=(
            "How often refinement is repeated from the best order with some edges reversed. A number is exactly "
            'so many times. "auto" goes on until several in a row have brought nothing: 50, fewer the longer '
            'each takes, none on large dense graphs. So a small number makes the search shorter than "auto" '
            "does; on few variables 1000 cost little."
        ),
        least=0,
        needs=DENSE,
    )

    def check(self) -> None:
        """Raise where the options do not go together."""
        if self.refining and self.parents == "threshold":
            raise OptionError(
                f"An order is refined by the BIC of its parents; with {keyword('parents', 'threshold')} pass "
                f"{keyword('refine', False)}."
            )
        if self.restarts not in ("auto", 0) and not self.refining:
            raise OptionError(
                f"{keyword('restarts')} repeat a refinement; pass {keyword('refine', True)} with them, or leave them "
                "out."
            )
        super().check()

    @property
    def refining(self) -> bool:
        """Whether the order is refined."""
        return self.refines_itself if self.refine == "auto" else self.refine

    @property
    def by_bic(self) -> bool:
        """Whether parents are chosen by BIC: by default where the order was, or was refined, by it."""
        return self.by_bic_itself or self.refining if self.parents == "auto" else self.parents == "bic"

    @property
    def refinements(self) -> float:
        """How many times an order is refined, restarts included; a scoring without refinement counts for a tenth."""
        return costs.ORDERS_REFINED * len(self.penalties) if self.refining else super().refinements

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Choose parents by BIC and refine the order where asked, at every penalty."""
        if evidence.exact or evidence.sparse or not self.by_bic:
            return found
        refinement = _Refinement(self, evidence, run, found)
        # The thresholded DAG is a good start for a refinement; an order that is only scored starts from scratch.
        try:
            start = found.scored or self.scored(found.order, evidence, run, found.dag if self.refining else None)
        except OutOfTime:
            return replace(found, warnings=(*found.warnings, UNSCORED))
        orders = follow_path(refinement(start), self.penalties, self.searched, refinement, run.deadline.require)
        if self.refining and len(self.penalties) == 1:
            orders = {self.price: refinement.without_noise(orders[self.price])}
        best = self.compared(found, orders, interrupted=refinement.interrupted)
        return best if best.scored is None else replace(best, rivals=rivals_of(best.scored, refinement.rivals))


class _Refinement:
    """Descents and restarts from one order after the other, until the user interrupts."""

    def __init__(self, method: Refinable, evidence: Evidence, run: Run, found: Found) -> None:
        self.interrupted = found.interrupted
        self._operations = found.operations
        self._method = method
        self._evidence = evidence
        self._run = run
        self._generator = run.generator()
        self._to_come = len(method.penalties)
        self.rivals = Rivals()

    def __call__(self, scored: ScoredOrder) -> ScoredOrder:
        """Return the order after a descent and its restarts."""
        # Where there are several penalties, each gets its share of the time to search for.
        until = None if self._run.until is None else self._run.until.share(1 / self._to_come)
        self._to_come -= 1
        return self._descended(scored, self._method.restarts, until)

    def without_noise(self, scored: ScoredOrder) -> ScoredOrder:
        """Return the order refined at a higher price, if its weakest edges are mostly noise."""
        if self._run.deadline.passed() or not self._method.sees_noise(scored):
            return scored
        try:
            dearer = scored.at_price(self._method.price, tuning.MARGIN_GAMMA, self._run.deadline.require)
        except OutOfTime:
            return scored
        return self._descended(dearer, self._method.restarts)

    def _descended(
        self, scored: ScoredOrder, restarts: int | Literal["auto"], until: Deadline | None = None
    ) -> ScoredOrder:
        if not self._method.refining or self.interrupted:
            return scored
        run = self._run
        try:
            descend(scored, self._generator, run.deadline, run.bar.stage("Refining"))
            scored, self.interrupted = iterate(
                scored,
                self._generator,
                restarts,
                run.deadline,
                run.bar.stage("Restarting"),
                until=until,
                threads=run.threads,
                rivals=self.rivals,
                operations=self._operations,
            )
            with suppress(OutOfTime):
                while (
                    not self.interrupted
                    and (other := reconsidered(scored, run.deadline.require, run.threads)) is not None
                ):
                    scored = other
                    descend(scored, self._generator, run.deadline, run.bar.stage("Refining"))
        except KeyboardInterrupt:
            self.interrupted = True
        return scored
