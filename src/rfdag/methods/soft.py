"""Method "soft", the default: edges weighed by their evidence, beams of eliminations, orders refined by BIC."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from rfdag.eliminate import Engine, Trace, replay
from rfdag.errors import OptionError, as_columns, keyword
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.mixed import MixedMoments
from rfdag.evidence.moments import Moments, sample_of
from rfdag.methods.by_rule import found_by_rule, obeying
from rfdag.methods.clustered import found_in_clusters
from rfdag.methods.found import INTERRUPTED, Found, graph_of
from rfdag.methods.interventional import found_in_environments
from rfdag.methods.judged import DENSE, Refinable
from rfdag.methods.mixed import found_in_mixed
from rfdag.methods.pace import seconds_of_all_sets
from rfdag.methods.proving import best_of_penalties, found_over_all_sets, proven
from rfdag.methods.recording import Recording
from rfdag.methods.run import Run
from rfdag.options import option, options
from rfdag.orders import block_tuning, costs, tuning
from rfdag.orders.branching import MOST_VARIABLES
from rfdag.orders.compiling import ALL_SETS, BEAMS, COUNTS, ENVIRONMENTS, MIXED, Kernels
from rfdag.orders.portfolio import Outcome, search_orders
from rfdag.precision.estimation import Estimation
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.memory import matrices_fit
from rfdag.runtime.threads import one_blas_thread


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

    exact: bool | Literal["auto"] = option(
        default="auto",
        meaning=(
            "Whether the best DAG of all by BIC is found, not only a good one; `Result.optimal` tells if it was. "
            '"auto" looks at all sets of up to 20 variables in place of the beams; from 21 to 30 it tries for a second '
            "or two to prove that nothing is better than what the search found, which succeeds on sparse graphs. True "
            "takes the time and memory it needs: for up to 25 variables it always succeeds, up to 62 on sparse graphs. "
            "With categories, curves or several environments it is up to 8 variables by default, up to 16 with True. "
            "False leaves it at beams and refinement, and so does "
            '"auto" where their options are given (`beam`, `rescoring`, `restarts`, `refine`).'
        ),
        needs=DENSE,
    )

    clusters: bool | Literal["auto"] = option(
        default="auto",
        meaning=(
            "Whether the search begins in clusters of a few hundred columns that correlate with each other, and goes "
            "on over all columns from the edges that these find: without any p × p array, for up to 10⁵ columns. "
            '"auto" does so from 1000 columns on where rows are few (less than 1.25 per column), and where such arrays '
            "do not fit into memory."
        ),
        needs=DENSE,
    )

    score: Literal["auto", "gaussian", "multinomial", "bdeu"] = option(
        default="auto",
        meaning=(
            'What judges orders where variables are categories: "gaussian", the degenerate Gaussian BIC of their '
            'indicators, which takes numbers and categories together; "multinomial", the BIC of counts, or "bdeu", '
            'their marginal likelihood with a prior that prefers fewer edges, for categories alone. "auto" is '
            '"bdeu" where all variables are categories without missing values, else "gaussian". With the default '
            "`penalty`, a probability costs (ln n) / 2 in the multinomial BIC, as in the textbooks."
        ),
    )
    sample_size: float = option(
        default=block_tuning.SAMPLE_SIZE,
        meaning='Equivalent sample size of score "bdeu": the rows that its prior counts for.',
        above=0,
    )

    def check(self) -> None:
        """Raise where the options do not go together."""
        super().check()
        if "sample_size" in self.given() and self.score not in ("auto", "bdeu"):
            raise OptionError(
                f"{keyword('sample_size')} belongs to {keyword('score', 'bdeu')}; with {keyword('score', self.score)} "
                "leave it out."
            )
        if "penalty" in self.given() and self.score == "bdeu":
            raise OptionError(
                f"{keyword('penalty')} is the price of an edge in a BIC, and {keyword('score', 'bdeu')} has none: "
                f"leave it out, or pass {keyword('gamma')} for the prior on edges."
            )
        if self.clusters is True and not (self.refining and self.by_bic):
            raise OptionError(
                f"{keyword('clusters', True)} begins in clusters and refines over all columns by BIC; leave out "
                f"{keyword('refine', False)} and {keyword('parents', 'threshold')}."
            )
        if self.clusters is True and self.exact is True:
            raise OptionError(
                f"{keyword('exact', True)} proves answers of few columns, and {keyword('clusters', True)} is for many: "
                "leave one of them out."
            )
        if self.exact is True and not (self.refining and self.by_bic):
            raise OptionError(
                f"{keyword('exact', True)} asks for the best DAG by BIC; leave out {keyword('refine', False)} and "
                f"{keyword('parents', 'threshold')}."
            )

    @property
    def asks_for_beams(self) -> bool:
        """Whether options of beams and of refinement are given."""
        return not {"beam", "rescoring", "restarts", "refine"}.isdisjoint(self.given())

    @property
    def seeks_best(self) -> bool:
        """Whether the best DAG of all is to be found or proven where that can be done."""
        by_default = self.exact == "auto" and not self.asks_for_beams and self.refining and self.by_bic
        return self.exact is True or by_default

    def solves(self, columns: int) -> bool:
        """Return whether it looks at all sets of so many variables, in place of beams."""
        return self.seeks_best and not self.asks_for_beams and columns <= tuning.LARGEST_P_FOR_ALL_SETS

    def scores_all_families(self, columns: int) -> bool:
        """Return whether it compares all graphs of so many variables where these are more than a column each."""
        if self.exact is True:
            return self.seeks_best and columns <= tuning.LARGEST_P_FOR_FAMILIES_ON_REQUEST
        return self.seeks_best and not self.asks_for_beams and columns <= tuning.LARGEST_P_FOR_ALL_FAMILIES

    def proves_by(self, columns: int) -> Literal["", "all sets", "branch and bound"]:
        """Return how it proves its answer after the search, if the user asked for that."""
        if self.exact is not True or self.solves(columns):
            return ""
        return "all sets" if columns <= tuning.LARGEST_P_ON_REQUEST else "branch and bound"

    def refuse_unserved(self, evidence: Evidence, run: Run) -> None:
        """Raise for options that this evidence cannot serve."""
        super().refuse_unserved(evidence, run)
        idle = [name for name in ("score", "sample_size") if name in self.given()]
        if idle and self.score != "gaussian":
            raise OptionError(
                f"{' and '.join(map(keyword, idle))}: this counts levels where all columns are categories, and here "
                f"are numbers, or two levels beside numbers. Leave it out, or name columns of codes with "
                f"{keyword('categorical', ...)}."
            )
        if self.exact is True and len(evidence.names) > MOST_VARIABLES:
            raise OptionError(
                f"{keyword('exact', True)} takes up to {MOST_VARIABLES} variables, and there are "
                f"{len(evidence.names)}. Leave it out, or choose variables with {keyword('columns', ...)}."
            )

    def score_for(self, evidence: MixedMoments, *, counted: bool) -> str:
        """Return the name of the score that judges orders over evidence, given whether there are rows to count.

        Raise where the score that was asked for needs them and there are none.
        """
        if self.score == "gaussian":
            return "gaussian"
        if counted:
            by_bic = self.score == "multinomial" or (self.score == "auto" and "penalty" in self.given())
            return "multinomial" if by_bic else "bdeu"
        if self.score == "auto":
            return "gaussian"
        numbers = [name for name, is_one in zip(evidence.names, evidence.categorical, strict=True) if not is_one]
        if numbers:
            raise OptionError(
                f"{keyword('score', self.score)} counts rows of categories, and {as_columns(numbers)} "
                f"{'holds' if len(numbers) == 1 else 'hold'} numbers. Leave it out; or pass "
                f"{keyword('categorical', numbers)} if the numbers are codes."
            )
        raise OptionError(
            f"{keyword('score', self.score)} counts complete rows, and values are missing. Pass "
            f"{keyword('missing', 'drop')} with it, or leave it out."
        )

    def family_options(self, evidence: MixedMoments) -> dict[str, Any]:
        """Return what the score of variables of several columns is called with."""
        score = self.score_for(evidence, counted=evidence.counted)
        gamma = self.gamma
        if gamma == "auto":
            few = Estimation.few(evidence.n_samples, len(evidence.covariance)) and score == "gaussian"
            gamma = tuning.FEW_ROWS_GAMMA if few else 0.0
            gamma = block_tuning.BDEU_GAMMA if score == "bdeu" else gamma
        return {"score": score, "penalty": self.price, "gamma": gamma, "sample_size": self.sample_size}

    def learn_mixed(self, evidence: MixedMoments, run: Run) -> Found:
        """Return the best order that eliminations of whole variables, descents and restarts find."""
        self.compile_announced(
            COUNTS if self.score_for(evidence, counted=evidence.counted) != "gaussian" else MIXED, run
        )
        return found_in_mixed(self, evidence, run)

    def learn_environments(self, evidence: EnvironmentMoments, run: Run) -> Found:
        """Return the best order that searches in the pooled rows, descents and restarts find."""
        self.compile_announced(ENVIRONMENTS, run)
        return found_in_environments(self, evidence, run)

    def narrows(self, columns: int) -> bool:
        """Return whether it looks at a few candidates for each of so many variables, if the graph is sparse."""
        return self.refining and self.by_bic and columns >= tuning.LEAST_P_FOR_FEWER_CANDIDATES

    def in_clusters(self, rows: int, columns: int, estimation: Estimation, device: str = "cpu") -> bool:
        """Return whether data of this size are searched in clusters at first."""
        if self.clusters != "auto" or not (self.refining and self.by_bic):
            return self.clusters is True
        if columns < tuning.LEAST_P_FOR_CLUSTERS or estimation.precision != "auto" or "beam" in self.given():
            return False
        on_host = device == "cpu"
        return estimation.few(rows, columns) or (on_host and not matrices_fit(columns, costs.MATRICES_OF_ELIMINATION))

    def search_arranged(self, evidence: Moments, run: Run, refining: Run) -> Found:
        """Return what is found over all columns at once, or from clusters of them on."""
        _, rows = sample_of(evidence)
        if not self.in_clusters(rows, len(evidence.names), run.estimation, run.device):
            return super().search_arranged(evidence, run, refining)
        with one_blas_thread():
            found = found_in_clusters(self, evidence, run)
            run.clock.lap("elimination")
            found = self.refined(found, evidence, refining)
            run.clock.lap("refinement")
        return self.concluded(replace(found, warnings=(*evidence.notes, *found.warnings)), evidence, run)

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

    def own_kernels(self, columns: int) -> Kernels:
        """Return those of beams and refinement, or those that few variables need."""
        return ALL_SETS if self.solves(columns) else BEAMS

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the best order, by BIC, of a portfolio of beams."""
        if evidence.exact or evidence.sparse:
            beam = None if self.beam == "auto" else self.beam
            return found_by_rule(evidence, engine, run, alpha=self.alpha, refine=self.refining, beam=beam, rule="rfd")
        # Three quarters of the time are left for beams, in case the first does not suffice.
        columns, quarter = len(evidence.names), run.limit.share(0.25)
        time = min(quarter.left(), run.deadline.left() / 4) / costs.TIME_TO_SPARE
        if self.solves(columns) and time > seconds_of_all_sets(columns, run.threads):
            within = run.bar.stage("Eliminating", quarter)
            with suppress(OutOfTime):
                return found_over_all_sets(self, evidence, engine, run, within)
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
        found, interrupted = self._recorded(outcome, moments, engine, run)
        found = replace(
            found,
            attempts=outcome.attempts,
            operations=outcome.operations,
            warnings=(INTERRUPTED,) if interrupted else (),
            interrupted=interrupted,
        )
        return obeying(found, evidence, run, self.alpha)

    def _recorded(self, outcome: Outcome, moments: Moments, engine: Engine, run: Run) -> tuple[Found, bool]:
        """Return the best order of beams with a trace of its elimination, and whether the user interrupted.

        Over many variables, and once the user has interrupted, the elimination is gone through when it is asked for.
        """
        best = outcome.best if self.by_bic else None
        interrupted, found = outcome.interrupted, None
        if best is None or not (interrupted or (not best.candidates.complete and moments.partial is None)):
            try:
                found = Found.of(replay(engine, outcome.eliminated, run.bar.stage("Recording the elimination")))
            except KeyboardInterrupt:
                if best is None:
                    raise
                interrupted = True
        if best is None:
            assert found is not None
            return found, interrupted
        if found is not None:
            return replace(found, order=best.order, dag=graph_of(best), scored=best), interrupted
        recording = Recording(moments, outcome.eliminated, self.alpha, self.scope)
        # An estimate of partial correlations is not made again.
        recorded = recording if moments.partial is None else Trace.empty()
        return Found(best.order, graph_of(best), recorded, best), interrupted

    def refined(self, found: Found, evidence: Evidence, run: Run) -> Found:
        """Refine the order, and prove it the best of all where that can be done; or compare the best of all."""
        if found.proof is not None:
            return best_of_penalties(self, found, evidence, run)
        found = super().refined(found, evidence, run)
        columns = len(found.order)
        most = MOST_VARIABLES if self.exact is True else tuning.LARGEST_P_TO_PROVE
        if evidence.exact or evidence.sparse or not self.seeks_best or columns > most:
            return found
        return proven(self, found, evidence, run, asked=self.exact is True)
