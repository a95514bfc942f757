"""When a partial correlation counts as an edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

from scipy.special import ndtri

from rfdag.errors import DataError, OptionError, keyword


class Threshold(Protocol):
    """The size above which a partial correlation over ``size`` variables is an edge."""

    def __call__(self, size: int) -> float:
        """Return τ for a set of ``size`` remaining variables."""


@dataclass(frozen=True)
class FisherZ:
    """Fisher's z-test at level ``alpha``: the paper's Appendix A.

    A pair of ``size`` remaining variables is tested given the ``size - 2`` others, so the threshold falls
    during the elimination.

    >>> round(FisherZ(1000, 0.001)(20), 4)
    0.1048
    """

    n_samples: int
    alpha: float
    share: float = 1.0
    """What a row counts for, where values are missing."""

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and 0 < self.alpha < 1):
            raise OptionError(
                f"{keyword('alpha')} is the level of a test and lies between 0 and 1, not {self.alpha!r}; try "
                f"{keyword('alpha', 0.001)}."
            )

    def require(self, size: int) -> None:
        """Raise unless ``size`` variables can be tested with this many samples."""
        if self.n_samples <= size + 1:
            raise DataError(
                f"Found {self.n_samples} rows and {size} columns. Testing a pair "
                f"given the {size - 2} other columns needs more than {size + 1} rows. Use more rows, fewer "
                f"columns, or {keyword('method', 'soft')}, which judges by BIC and takes any number of rows."
            )

    def __call__(self, size: int) -> float:
        """Return τ for ``size`` remaining variables."""
        return math.tanh(-float(ndtri(self.alpha / 2)) / math.sqrt(self.share * (self.n_samples - size - 1)))


@dataclass(frozen=True)
class Tolerance:
    """A fixed bound on rounding errors, for exact input."""

    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if not (isinstance(self.tolerance, Real) and 0 <= self.tolerance < 1):
            raise OptionError(f"{keyword('tolerance')} lies in [0, 1), not {self.tolerance!r}; the default is 1e-8.")

    def __call__(self, size: int) -> float:
        """Return the tolerance, whatever the size."""
        return self.tolerance
