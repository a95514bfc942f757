"""What every method is: its options, what it needs, and the way from evidence to an order."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Literal, Self

from rfdag.eliminate import Engine, FisherZ
from rfdag.errors import DataError, OptionError, keyword
from rfdag.evidence.environments import EnvironmentMoments, without_environments
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.mixed import MixedMoments
from rfdag.methods.found import OUT_OF_TIME, Found
from rfdag.methods.pace import (
    ELIMINATING,
    ESTIMATING,
    crowding,
    seconds_of_finishing,
    seconds_of_inverse,
    until_order,
)
from rfdag.methods.run import Run
from rfdag.methods.warnings import warnings_about
from rfdag.options import Options, option, options
from rfdag.orders import costs, tuning
from rfdag.orders.compiling import NO_KERNELS, Kernels
from rfdag.precision.estimation import Estimation
from rfdag.runtime.compilation import SECONDS, announce
from rfdag.runtime.threads import blas_threads_for, one_blas_thread

UNMET = {
    "matrices": "this needs dense matrices, and sparse input is eliminated once, by counts. Leave it out, or pass "
    ".toarray().",
    "rows": "this is decided by a sample, and the input is exact. Leave it out.",
}
"""Why an option is refused where evidence lacks what it needs."""


@options
class Method(Options):
    """A way to find an order: its options, and what it does with evidence."""

    name: ClassVar[str]
    exhaustive: ClassVar[bool] = False
    """Whether it finds the best DAG of all."""
    by_tests: ClassVar[bool] = False
    """Whether it takes a test of conditional independence in place of partial correlations."""
    by_columns: ClassVar[bool] = False
    """Whether columns of an estimate can be made again after a removal: if it follows one elimination at a time."""
    replays: ClassVar[bool] = False
    """Whether it goes through the elimination of its order again, for the trace."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What evidence must have for this method: "matrices", dense ones."""

    alpha: float = option(
        default=1e-3,
        meaning="Level of the test that decides whether a pair is an edge: of a partial correlation, or of `test`.",
        above=0,
        below=1,
        needs=("rows",),
    )

    @property
    def scope(self) -> Pairs:
        """Which pairs count as removed or filled."""
        return "all"

    @property
    def by_bic(self) -> bool:
        """Whether parents are chosen by BIC."""
        return False

    @property
    def refining(self) -> bool:
        """Whether the order is refined."""
        return False

    @property
    def any_rows(self) -> bool:
        """Whether it gets by with fewer rows than columns, since it judges orders by their BIC alone."""
        return False

    @property
    def beam_width(self) -> int:
        """How many states its first beams hold; 0 without beams."""
        return 0

    @property
    def widens(self) -> bool:
        """Whether wider beams may follow."""
        return False

    def solves(self, columns: int) -> bool:
        """Return whether it looks at all sets of so many variables, in place of any other search."""
        return False

    def narrows(self, columns: int) -> bool:
        """Return whether it looks at a few candidates for each of so many variables, in place of p × p arrays."""
        return False

    def in_clusters(self, rows: int, columns: int, estimation: Estimation, device: str = "cpu") -> bool:
        """Return whether data of this size are searched in clusters at first."""
        return False

    def proves_by(self, columns: int) -> Literal["", "all sets", "branch and bound"]:
        """Return how it proves its answer after the search, if the user asked for that."""
        return ""

    def with_beam(self, width: int) -> Self:
        """Return the same method with beams of this width, where it has any."""
        return self

    @property
    def eliminations(self) -> int:
        """How many eliminations by counts it does."""
        return 1

    @property
    def looks_ahead(self) -> bool:
        """Whether it keeps a second state of the elimination to look ahead with."""
        return False

    @property
    def refinements(self) -> float:
        """How many times an order is refined; a scoring without refinement counts for a tenth."""
        return costs.ORDERS_SCORED

    @property
    def price(self) -> float:
        """The penalty λ of the BIC that the search uses."""
        return 2.0

    def starting_gamma(self, rows: int, columns: int, estimation: Estimation) -> float:
        """Return γ of the BIC that the search begins with."""
        return 0.0

    def require_rows(self, rows: int, columns: int, estimation: Estimation) -> None:
        """Raise unless there are rows enough for what the method tests."""
        if not self.any_rows and estimation.chosen(rows, columns, any_rows=False).name == "sample":
            FisherZ(rows, self.alpha).require(columns)
        elif rows < tuning.LEAST_ROWS:
            raise DataError(
                f"Found {rows} rows and {columns} columns; a BIC needs at least "
                f"{tuning.LEAST_ROWS} rows, and far more to mean anything."
            )

    def refuse_unserved(self, evidence: Evidence, run: Run) -> None:
        """Raise for options, or a method, that this evidence cannot serve."""
        if evidence.tested and not self.by_tests:
            raise OptionError(
                f"Method {self.name!r} weighs partial correlations, and tests give none; use "
                f"{keyword('method', 'rfd')}, {keyword('method', 'gsp')} or a baseline."
            )
        if not evidence.offers.issuperset(self.needs):
            raise OptionError(
                f"Method {self.name!r} searches over whole orders and needs dense matrices; on sparse input use "
                f"{keyword('method', 'rfd')}, or pass .toarray()."
            )
        if run.until is not None and (evidence.exact or evidence.sparse):
            raise OptionError(
                f"{keyword('search_for')} goes on with restarts, which are judged by a BIC: this needs rows, and dense "
                "matrices. Leave it out."
            )
        if self.by_columns and "alpha" in self.given() and run.estimation.by_columns:
            raise OptionError(
                f"{keyword('alpha')} is the level of a test, and {keyword('precision', run.estimation.precision)} "
                f"decides about edges by its strength: pass {keyword('regularisation', ...)} instead."
            )
        for given in (self, run.estimation):
            for need, sentence in UNMET.items():
                idle = [name for name in given.given() if need in given.declared()[name].needs]
                if idle and need not in evidence.offers:
                    raise OptionError(f"{', '.join(map(keyword, idle))}: {sentence}")

    def learn_mixed(self, evidence: MixedMoments, run: Run) -> Found:
        """Return what the method finds where a variable may be several columns; raise if it cannot do with that."""
        evidence.refuse(
            f"Method {self.name!r} weighs partial correlations of single columns (use {keyword('method', 'soft')})"
        )

    def learn_environments(self, evidence: EnvironmentMoments, run: Run) -> Found:
        """Return what the method finds in rows from several environments; raise if it cannot do with these."""
        raise OptionError(
            f"Method {self.name!r} learns from rows of one environment, and there are {len(evidence.labels)}. Use "
            f"{keyword('method', 'soft')}, or {without_environments()}."
        )

    def learn(self, evidence: Evidence, run: Run) -> Found:
        """Return what the method finds: estimate, make an engine, find an order, refine it."""
        if evidence.mixed is not None:
            return self.learn_mixed(evidence.mixed, run)
        if evidence.by_environment is not None:
            return self.learn_environments(evidence.by_environment, run)
        self.refuse_unserved(evidence, run)
        self._compile(evidence, run)
        # Once the order is replayed, refinement has the time that was kept for this.
        refining = self._in_time(evidence, run, replayed=True)
        run = self._in_time(evidence, run)
        return self.search(evidence, run, refining)

    def search(self, evidence: Evidence, run: Run, refining: Run) -> Found:
        """Return what the method finds once it has estimated; ``refining`` is the run as it is for refinement."""
        return self.found_in(run.estimated(evidence, self), run, refining)

    def found_in(self, evidence: Evidence, run: Run, refining: Run) -> Found:
        """Return what the method finds in estimated evidence."""
        columns = len(evidence.names)
        # An estimate, as much as an exact precision matrix, is there already.
        inverts = getattr(evidence, "partial", evidence) is None
        inverting = seconds_of_inverse(columns, run.threads) if inverts else 0.0
        run.limit.require_room(inverting)
        with run.bar.expecting(inverting), blas_threads_for(float(columns) ** 3):
            engine = evidence.engine(alpha=self.alpha, pairs=self.scope, threads=run.threads)
        if hasattr(engine, "check"):
            engine.check = run.limit.require
        run.clock.lap("precision")
        with one_blas_thread():
            found = self.find(evidence, engine, run)
            run.clock.lap("elimination")
            found = self.refined(found, evidence, refining)
            run.clock.lap("refinement")
        if found.scored is not None and len(found.scored.exhausted):
            # A perfect fit scores the logarithm of what rounding leaves: no score of it bounds another.
            found = replace(found, proof=None)
        warnings = warnings_about(evidence, found, engine.settled, exhaustive=self.exhaustive)
        estimator = run.used_estimator(evidence, self)
        return self.concluded(replace(found, warnings=(*warnings, *found.warnings), estimator=estimator), evidence, run)

    @staticmethod
    def concluded(found: Found, evidence: Evidence, run: Run) -> Found:
        """Return what was found, and whether time allowed all of it."""
        # Where tests decide, the evidence says itself which of them time has not allowed.
        late = run.deadline.cut_short and not evidence.tested
        return replace(
            found,
            warnings=(*found.warnings, OUT_OF_TIME) if late else found.warnings,
            interrupted=found.interrupted or late,
        )

    def _compile(self, evidence: Evidence, run: Run) -> None:
        """Announce that kernels are compiled, if they have to be, and compile the method's own if it has any."""
        if evidence.kernel is None:
            return
        own = NO_KERNELS if evidence.exact or evidence.sparse else self.own_kernels(len(evidence.names))
        self.compile_announced(Kernels((evidence.kernel, *own.kernels), own.compile), run)

    @staticmethod
    def compile_announced(own: Kernels, run: Run) -> None:
        """Announce that kernels are compiled, if they have to be, and compile them."""
        if announce(own.kernels, run.bar.compiling):
            with run.bar.expecting(SECONDS):
                own.compile()
            run.bar.compiled()

    def own_kernels(self, columns: int) -> Kernels:
        """Return the kernels besides that of the evidence that take long to compile, for so many variables."""
        return NO_KERNELS

    def _in_time(self, evidence: Evidence, run: Run, *, replayed: bool = False) -> Run:
        """Return a run that ends early enough to make a result, and whose estimator leaves time for the search.

        ``replayed`` tells that the elimination of the order has been gone through again already.
        """
        if run.limit.moment is None or evidence.sparse or evidence.tested:
            return run
        columns, rows = len(evidence.names), evidence.n_samples
        # What begins in clusters has no elimination to go through.
        replays = self.replays and (rows is None or not self.in_clusters(rows, columns, run.estimation, run.device))
        finishing = seconds_of_finishing(columns, replayed=replays and not replayed, scored=self.by_bic)
        finishing *= crowding() if finishing > 0.1 else 1.0
        run = replace(run, deadline=run.deadline.sooner(finishing), limit=run.limit.sooner(finishing))
        if rows is None:
            return run
        stages = until_order(self, run.estimation, rows, columns, run.threads)
        return replace(run, estimating=stages[ESTIMATING] / max(stages[ESTIMATING] + stages[ELIMINATING], 1e-9))

    @abstractmethod
    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the order and the DAG that the method's search finds."""

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Return what was found with its order refined, where the method does so."""
        return found
