"""What an estimator of partial correlations is, and what it may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rfdag.evidence.moments import Moments
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.deadline import Deadline


@dataclass(frozen=True)
class Request:
    """What an estimator may use beside the moments: the price of an edge, threads, chance and constraints."""

    penalty: float
    gamma: float
    threads: int = 1
    generator: np.random.Generator | None = None
    constraints: Constraints | None = None
    deadline: Deadline = field(default_factory=Deadline)
    report: Callable[[float], None] = lambda share: None


class Estimator(Protocol):
    """An estimator of partial correlations."""

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations that an elimination starts from."""
