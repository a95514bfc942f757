"""What a run returns: frozen, printable, saved and loaded without pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.trace import Trace, Unrecorded
from rfdag.errors import Message
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.interventions import Interventions
from rfdag.evidence.local import factors_at
from rfdag.evidence.mixed import MixedMoments
from rfdag.evidence.moments import Moments
from rfdag.evidence.regressions import Regressions
from rfdag.exchange import exports
from rfdag.graphs.dag import Graph
from rfdag.graphs.sparse import entries_at, freeze
from rfdag.input.columns import Account, Column, in_words
from rfdag.knowledge import Knowledge
from rfdag.knowledge.compliance import Compliance, compliance, summed_up
from rfdag.methods.found import Found
from rfdag.methods.method import Method
from rfdag.methods.settings import Settings
from rfdag.orders.exact import Proof
from rfdag.orders.path import PathPoint
from rfdag.orders.portfolio import Attempt
from rfdag.orders.reversals import Alternative
from rfdag.orders.scores import price_of_edge
from rfdag.precision.estimator import UsedEstimator
from rfdag.result.close_calls import Judging
from rfdag.result.edge import Edge
from rfdag.result.environments import environments_in_words
from rfdag.result.estimating import Estimating
from rfdag.result.exporting import Exporting, Kind
from rfdag.result.intervened import Intervened
from rfdag.result.optimality import Bounded, optimality_in_words
from rfdag.result.ordering import MEANING, order_in_words
from rfdag.result.plotting import Plotting
from rfdag.result.pricing import price_in_words
from rfdag.result.remarks import remarks
from rfdag.result.scoring import Scoring
from rfdag.runtime.notebook import ShownInNotebooks
from rfdag.runtime.writing import write_text
from rfdag.values import switch, whole
from rfdag.wording import count_of_tests, counted

if TYPE_CHECKING:
    import networkx


SAVE_MOMENTS_UP_TO = 200
"""Number of variables up to which moments are saved by default."""


@dataclass(frozen=True, eq=False)
class Result(ShownInNotebooks, Bounded, Estimating, Exporting, Intervened, Judging, Plotting, Scoring):
    """A causal order, the DAG it induces, and how they were found.

    Attributes
    ----------
    names
        The variables, in the order of the input's columns; matrices follow this order.
    order
        The variables in causal order, a source first.
    dag
        (p, p) int8 matrix; 1 at (i, j) means i → j. A csr_array, like all matrices here, where the input was sparse or
        was learnt in blocks.
    recorded
        The trace, or what makes it when `trace` is asked for.
    moments
        Sample size and correlation of the data; None for an oracle, where a ``test`` decided, or if a file does not
        contain them.
    n_samples
        The number of rows behind the result; None when the input was exact.
    score
        Gaussian BIC of the DAG, n Σ ln var(y | parents) + price · edges over standardised variables; smaller is
        better. The price of an edge is λ ln n + 2 γ ln p, with the `penalty` λ, 2 by default (the textbook's BIC has
        1), and `gamma`. None when parents were not chosen by it.
    gamma
        γ of the extended BIC; 0 is the plain BIC.
    attempts
        The beams that method "soft" tried, with their settings, widths and scores.
    path
        What each of several penalties gave, and which was chosen; empty when one was given.
    settings
        The method with its options, and all other options of the run.
    timings
        Seconds spent on each part.
    warnings
        What you should know about the numbers, as sentences.
    knowledge
        The prior knowledge that the run was given; None if there was none.
    means
        Means of the variables, in the order of the columns; zeros for matrices and rank correlations, None for an
        oracle.
    proof
        What is known of the best score of all, where the best DAG was found or proven; see `optimal`, `lower_bound`
        and `gap`. None where nothing is known.
    rivals
        Other DAGs whose BIC is worse by less than 6, each with its ``cost``, the closest first. With up to 5 variables
        in one environment, all numbers, there is one for every equivalence class that is so close (and obeys the
        knowledge). Otherwise these are some of the graphs that are nearly as good, those that the search came across:
        one of each BIC, and at most 32. A cost below 0 is that of a better graph, which the search has missed.
    estimator
        Which estimator of partial correlations the elimination started from, and why; None where nothing was
        estimated.
    interrupted
        Whether Ctrl-C or the time limit ended the search before it was done: this is then the best found until that
        moment, and `warnings` says which of them it was.
    tests
        How many tests of independence were done, by the number of variables that they condition on, where a ``test``
        decided; a question that was asked again counts once.
    columns
        What each column of the data was taken for, what was done with it, and what may be wrong with it; empty for
        matrices, DAGs and moments, of which no column is known.
    mixed
        The moments of variables that stand for several columns each, where there are categories or powers; `moments`
        is None then.
    by_environment
        The moments of each environment, where rows come from several; `moments` is None then.
    interventions
        What was found of each environment, an `rfdag.evidence.interventions.Interventions`; see also `targets`.
    gains
        By how much the score would be worse without each edge (row → column), for variables of several columns and rows
        from several environments; None where that follows from the partial correlations.
    reading
        How the input was understood and which rows were left out, as phrases; empty where there is nothing to say.
    """

    names: tuple[Hashable, ...]
    order: tuple[Hashable, ...]
    dag: Graph = field(repr=False)
    recorded: Trace | Unrecorded = field(repr=False)
    moments: Moments | None = field(repr=False)
    n_samples: int | None
    score: float | None
    gamma: float
    attempts: tuple[Attempt, ...] = field(repr=False)
    path: tuple[PathPoint, ...] = field(repr=False)
    settings: Settings
    timings: dict[str, float] = field(repr=False)
    warnings: tuple[str, ...] = ()
    knowledge: Knowledge | None = None
    interrupted: bool = False
    means: NDArray[np.float64] | None = field(default=None, repr=False)
    estimator: UsedEstimator | None = None
    proof: Proof | None = field(default=None, repr=False)
    rivals: tuple[Alternative, ...] = field(default=(), repr=False)
    tests: dict[int, int] = field(default_factory=dict, repr=False)
    columns: tuple[Column, ...] = field(default=(), repr=False)
    reading: tuple[str, ...] = field(default=(), repr=False)
    mixed: MixedMoments | None = field(default=None, repr=False)
    by_environment: EnvironmentMoments | None = field(default=None, repr=False)
    interventions: Interventions | None = field(default=None, repr=False)
    gains: NDArray[np.float64] | None = field(default=None, repr=False)
    regressions: InitVar[Regressions | None] = None

    def __post_init__(self, regressions: Regressions | None) -> None:
        freeze(self.dag)
        if regressions is not None:
            # Values from a file need not be computed, and cannot be if it has no moments.
            self.__dict__["_regressions"] = regressions

    @classmethod
    def of(
        cls,
        found: Found,
        evidence: Evidence,
        settings: Settings,
        *,
        account: Account,
        knowledge: Knowledge | None,
        timings: dict[str, float],
    ) -> Self:
        """Return the result of what a method found in evidence."""
        return cls(
            names=evidence.names,
            order=tuple(evidence.names[at] for at in found.order),
            dag=found.dag,
            recorded=found.recorded,
            moments=evidence.moments,
            mixed=evidence.mixed,
            by_environment=None if evidence.by_environment is None else evidence.by_environment.kept(),
            interventions=found.interventions,
            n_samples=evidence.n_samples,
            score=found.score,
            gamma=found.gamma,
            attempts=found.attempts,
            path=found.path,
            settings=settings.about(evidence),
            timings=timings,
            warnings=(*(remark for remark in account.remarks if isinstance(remark, Message)), *found.warnings),
            reading=tuple(remark for remark in account.remarks if not isinstance(remark, Message)),
            knowledge=knowledge,
            interrupted=found.interrupted,
            means=evidence.means if evidence.by_environment is None else None,
            estimator=found.estimator,
            proof=found.proof,
            rivals=found.rivals,
            tests=found.tests,
            columns=(*evidence.columns, *account.left_out),
            gains=found.gains,
            regressions=found.regressions,
        )

    @cached_property
    def trace(self) -> Trace:
        """Every step of the winning elimination, before any refinement, the first removed (a sink) first.

        From 1000 variables on it is recorded when you first ask for it, which takes seconds to minutes. It is empty
        where no elimination of all variables led to the answer (see `clusters` of `rfdag.Soft`).
        """
        trace = self.recorded if isinstance(self.recorded, Trace) else self.recorded()
        return replace(trace, names=self.names)

    @property
    def method(self) -> Method:
        """The method that found it, with its options."""
        return self.settings.method

    @property
    def input(self) -> str:
        """What the run was given: "data", "correlation", "covariance", "precision" or "dag"."""
        return self.settings.description.input

    @property
    def causal_order(self) -> NDArray[np.int64]:
        """The order as column numbers, a source first."""
        place = {name: at for at, name in enumerate(self.names)}
        return np.array([place[name] for name in self.order])

    @cached_property
    def compliance(self) -> tuple[Compliance, ...]:
        """One record per constraint of the knowledge: what it asked for, whether it holds, and the evidence."""
        return compliance(self.knowledge, self.names, self.order, self.dag) if self.knowledge else ()

    @cached_property
    def _regressions(self) -> Regressions | None:
        if self.mixed is not None:
            found = self.mixed.regressions(self.dag)
        elif self.by_environment is not None:
            found = self._fitted_by_environment.regressions
        elif self.moments is not None:
            found = self.moments.regressions(self.dag)
        else:
            return None
        for array in found:
            freeze(array)
        return found

    @property
    def coefficients(self) -> NDArray[np.float64] | None:
        """Regression coefficients (row → column) in the units of the data; None for oracles and sparse estimates.

        By rank correlations they are in standard deviations of the Gaussian variables behind the ranks.
        """
        return None if self._regressions is None else self._regressions.coefficients

    @property
    def partial_correlations(self) -> NDArray[np.float64] | None:
        """Correlation of parent (row) and child (column) given its other parents; None for oracles and sparse input."""
        return None if self._regressions is None else self._regressions.partial_correlations

    @property
    def residual_variances(self) -> NDArray[np.float64] | None:
        """Variance of each variable given its parents; None for oracles and sparse estimates."""
        return None if self._regressions is None else self._regressions.variances

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of the DAG, by source and target in the input's order."""
        sources, targets = self.dag.nonzero()
        unknown = [None] * len(sources)
        weights: list[float | None] = list(unknown)
        partial: list[float | None] = list(unknown)
        gains: list[float | None] = list(unknown)
        if self._regressions is not None:
            # Where an end is a category there is no single coefficient.
            slopes = entries_at(self._regressions.coefficients, sources, targets).tolist()
            weights = [None if math.isnan(slope) else slope for slope in slopes]
        if self._regressions is not None and self._regressions.partial_correlations is not None:
            correlations = entries_at(self._regressions.partial_correlations, sources, targets)
            partial = correlations.tolist()
            if self.gains is not None:
                gains = entries_at(self.gains, sources, targets).tolist()
            elif self.n_samples is not None:
                price = price_of_edge(self.n_samples, len(self.names), self.penalty, self.gamma)
                factors = None if self.moments is None else self.moments.price_factors
                prices = price * factors_at(factors, sources, targets)
                gains = (-self.n_samples * np.log1p(-np.minimum(correlations**2, 1 - 1e-15)) - prices).tolist()
        directed = (entries_at(self.icpdag, sources, targets) == 1).tolist()
        ends = ([self.names[at] for at in places.tolist()] for places in (sources, targets))
        return tuple(map(Edge, *ends, weights, partial, gains, directed))

    def to_networkx(self, graph: Kind = "dag") -> networkx.DiGraph:
        """Return a networkx.DiGraph: the DAG with coefficients as edge attributes, or a class.

        An edge (i, j) is i → j; in a class, edges (i, j) and (j, i) are i – j.
        """
        return exports.to_networkx(self, graph)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the table of edges as a data frame: "pandas", "polars" or "pyarrow"."""
        return exports.to_frame(self, backend)

    def to_csv(self) -> str:
        """Return the table of edges as CSV text."""
        return exports.to_csv(self)

    def to_dot(self) -> str:
        """Return the DAG in Graphviz's language; undirected edges have no arrowhead."""
        return exports.to_dot(self)

    def to_graphml(self) -> str:
        """Return the DAG as GraphML text."""
        return exports.to_graphml(self)

    def to_json(self, *, moments: bool | None = None) -> str:
        """Return the result as JSON text that `rfdag.load` reads from a file.

        ``moments`` determines whether the correlation matrix is included; None includes it up to 200 variables.
        """
        from rfdag.result import storage

        keep = len(self.names) <= SAVE_MOMENTS_UP_TO if moments is None else switch("moments", moments)
        return json.dumps(storage.encode(self, with_moments=keep), allow_nan=False) + "\n"

    def save(self, path: str | Path, *, moments: bool | None = None) -> Path:
        """Write `to_json` to a file, whole or not at all, and return its path."""
        return write_text(path, self.to_json(moments=moments))

    def __eq__(self, other: object) -> bool:
        """Return whether two results are equal; moments are compared through the numbers that follow from them."""
        from rfdag.result import storage

        if not isinstance(other, Result):
            return NotImplemented
        return storage.encode(self, with_moments=False) == storage.encode(other, with_moments=False)

    def __hash__(self) -> int:
        return hash((self.names, self.order, self.score))

    def __repr__(self) -> str:
        # Names and edges in full could fill many screens.
        return (
            f"Result({counted(len(self.names), 'variable')}, {counted(int(self.dag.sum()), 'edge')}, "
            f"method={self.method.name!r}, "
            f"input={self.input!r}, n_samples={self.n_samples})"
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, limit: int = 20) -> str:
        """Return a few lines of text: order, number of edges, warnings."""
        limit = whole("limit", limit, 0)
        more = f", … ({len(self.order) - limit} more)" if len(self.order) > limit else ""
        undecided = int((self.icpdag == 2).sum()) // 2
        # A function of the user's own may have no rows behind it, and is not exact for that.
        unknown = "by tests" if self.tests and self.input == "data" else "exact"
        rows = unknown if self.n_samples is None else counted(self.n_samples, "row")
        price = f"{price_in_words(self)} in the BIC"
        lines = [
            f"rfdag result: {counted(len(self.names), 'variable')}, {rows}, method {self.method.name}",
            f"order ({MEANING}): {order_in_words(self, limit)}{more}",
            f"edges: {int(self.dag.sum())}, of which {undecided} could point either way",
            *([f"score: {self.score:.1f}, {known}"] if (known := optimality_in_words(self)) else []),
            *remarks(self),
            *([f"columns: {in_words(self.columns)}"] if self.columns else []),
            *([f"read: {'; '.join(self.reading)}"] if self.reading else []),
            *([f"judged by: {self.judged_by}"] if self.judged_by else []),
            *environments_in_words(self.interventions),
            *([f"partial correlations: {self.estimator}"] if self.estimator else []),
            *([f"penalty: {self.penalty:g}, chosen of {len(self.path)}; an edge costs {price}"] if self.path else []),
            *([f"tests: {count_of_tests(self.tests)}"] if self.tests else []),
            *([f"knowledge: {summed_up(self.compliance)}"] if self.compliance else []),
            *(f"warning: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)


def load(path: str | Path) -> Result:
    """Return a result that was saved with `Result.save`.

    >>> load("nowhere.json")
    Traceback (most recent call last):
    rfdag.errors.FileError: There is no file nowhere.json; check the name and the folder.
    """
    from rfdag.result import storage

    return storage.read(path)
