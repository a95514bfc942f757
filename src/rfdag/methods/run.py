"""What one run has beside its evidence and its method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np

from rfdag.errors import Message
from rfdag.evidence.columns import Watched
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import sample_of
from rfdag.knowledge import Knowledge
from rfdag.knowledge.constraints import Constraints
from rfdag.precision.estimation import Estimation
from rfdag.precision.estimator import Request, UsedEstimator
from rfdag.runtime.deadline import Clock, Deadline
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import blas_threads_for


class Priced(Protocol):
    """What an estimator must know of a method: its price of an edge, and whether it gets by with few rows."""

    @property
    def price(self) -> float:
        """The penalty λ of the BIC."""

    @property
    def any_rows(self) -> bool:
        """Whether it gets by with fewer rows than columns."""

    by_columns: ClassVar[bool]
    """Whether columns of an estimate can be made again after a removal."""

    def starting_gamma(self, rows: int, columns: int, estimation: Estimation) -> float:
        """Return γ of the BIC."""


@dataclass(frozen=True)
class Run:
    """What one run has beside its evidence and its method.

    Attributes
    ----------
    estimation
        How partial correlations are estimated.
    knowledge
        Prior knowledge, by name.
    constraints
        The same for the variables of the evidence, as arrays.
    threads
        How many threads may be used.
    random_state
        The seed; None breaks ties by position and uses seed 0 for everything else.
    device
        Where the work is done, "cpu" or "cuda".
    deadline
        When to return the best so far.
    limit
        When to give up if there is nothing to return; not before the deadline.
    until
        Until when to go on with restarts, where the user asks for that; None never.
    estimating
        Share of the time left that an estimator may take, where that is limited: the search needs the rest.
    bar
        Where progress is shown.
    clock
        What counts the time of each part.
    """

    estimation: Estimation = field(default_factory=Estimation)
    knowledge: Knowledge | None = None
    constraints: Constraints | None = None
    threads: int = 1
    random_state: int | None = None
    device: str = "cpu"
    deadline: Deadline = field(default_factory=Deadline)
    limit: Deadline = field(default_factory=Deadline)
    until: Deadline | None = None
    estimating: float = 1.0
    bar: Progress = field(default_factory=lambda: Progress(False))
    clock: Clock = field(default_factory=Clock)

    def stage(self, label: str) -> Callable[[float], None]:
        """Begin a stage before whose end there is nothing to return: its reports raise once time is over."""
        return self.bar.stage(label, self.limit)

    def estimated(self, evidence: Evidence, method: Priced) -> Evidence:
        """Return evidence with the partial correlations that an elimination starts from, where they are estimated."""
        if not _sampled(evidence):
            return evidence
        moments, rows = sample_of(evidence)
        columns = len(moments.names)
        estimator = self.estimation.chosen(rows, columns, any_rows=method.any_rows)
        request = Request(
            penalty=method.price,
            gamma=method.starting_gamma(rows, columns, self.estimation),
            threads=self.threads,
            generator=self.tie_breaker(),
            constraints=self.constraints,
            deadline=self.deadline.share(self.estimating),
            limit=self.limit,
            report=self.stage("Estimating partial correlations"),
            regularisation=self.estimation.regularisation,
            by_columns=method.by_columns,
        )
        with blas_threads_for(float(columns) ** 3):
            estimate = estimator(moments, request)
        if estimate.by_columns is not None and self.limit.moment is not None:
            solver = Watched(estimate.by_columns.solver, self.limit.require)
            estimate = replace(estimate, by_columns=estimate.by_columns._replace(solver=solver))
        if estimate.worth is None or not self.estimation.few(rows, columns):
            return estimate
        few = Message(
            f"{rows} rows are few for {columns} columns: the search began from {estimator.start} instead of the "
            "sample's partial correlations, and its order is far from certain."
        )
        return replace(estimate, remarks=(few, *estimate.remarks))

    def used_estimator(self, evidence: Evidence, method: Priced) -> UsedEstimator | None:
        """Return which estimator made the partial correlations of evidence, and why; None where it is exact."""
        if not _sampled(evidence):
            return None
        moments, rows = sample_of(evidence)
        size = rows, len(moments.names)
        name = self.estimation.chosen(*size, any_rows=method.any_rows).name
        reason = self.estimation.reason(*size, any_rows=method.any_rows)
        return UsedEstimator(name, reason, moments.worth, moments.regularisation)

    def tie_breaker(self) -> np.random.Generator | None:
        """Return a generator that breaks ties, or None to break them by lowest index."""
        return None if self.random_state is None else np.random.default_rng(self.random_state)

    def generator(self) -> np.random.Generator:
        """Return a generator for all other draws."""
        return np.random.default_rng(self.random_state or 0)


def _sampled(evidence: Evidence) -> bool:
    """Return whether evidence is moments of a sample, whose partial correlations are estimated."""
    return not (evidence.exact or evidence.sparse or evidence.tested)
