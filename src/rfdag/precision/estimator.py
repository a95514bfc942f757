"""What an estimator of partial correlations is, what it may use, and the record of the one that was used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from rfdag.evidence.moments import Moments
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.deadline import Deadline


@dataclass(frozen=True)
class Request:
    """What an estimator may use beside the moments.

    Attributes
    ----------
    penalty, gamma
        λ and γ of the BIC that the search uses: an edge costs λ ln n + 2 γ ln p.
    threads
        How many threads or processes may work at the same time.
    generator
        What chance there is; None for a fixed seed.
    constraints
        What orders and parents must obey.
    deadline
        When to return what there is.
    limit
        When to raise if there is nothing yet, by its `require`; not before the deadline.
    report
        Called with the share done; raises once the limit has passed.
    regularisation
        The strength that the user asks for; None to choose it.
    by_columns
        Whether the elimination can estimate columns again after a removal; one with beams cannot.
    """

    penalty: float
    gamma: float
    threads: int = 1
    generator: np.random.Generator | None = None
    constraints: Constraints | None = None
    deadline: Deadline = field(default_factory=Deadline)
    limit: Deadline = field(default_factory=Deadline)
    report: Callable[[float], None] = lambda share: None
    regularisation: float | None = None
    by_columns: bool = False


class Estimator:
    """An estimator of partial correlations: a subclass for each, with its name.

    What it returns are the moments with three things set by `Moments.estimated`: the matrix of partial correlations,
    the rows that these are worth, and, where the elimination can do it and the estimate is made column by column, how a
    column is estimated again after a removal. Without the last, an elimination updates the matrix by its rank-one step.
    """

    name: ClassVar[str]
    start: ClassVar[str] = "your own estimate"
    """What a search begins from, in words."""
    regularised: ClassVar[bool] = False
    """Whether it has a strength that the user may give."""
    by_columns: ClassVar[bool] = False
    """Whether columns are estimated again after a removal."""

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations that an elimination starts from."""
        raise NotImplementedError

    def seconds(self, columns: int, threads: int, *, removals: bool = False) -> float:
        """Return how long it is expected to take beyond an inverse, with updates after all ``removals`` if asked."""
        return 0.0


class UsedEstimator(NamedTuple):
    """Which estimator a run used and why, the rows that its estimate is worth, and its strength if it has one."""

    name: str
    reason: str
    worth: int | None = None
    regularisation: float | None = None

    def __str__(self) -> str:
        strength = "" if self.regularisation is None else f", λ = {self.regularisation:.3g}"
        return f"{self.name}{strength} ({self.reason})"
