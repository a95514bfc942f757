"""The sample's own partial correlations."""

from __future__ import annotations

from typing import ClassVar

from rfdag.evidence.moments import Moments
from rfdag.precision.estimator import Estimator, Request


class Sample(Estimator):
    """The inverse of the sample's correlation matrix, by a QR decomposition of the rows."""

    name: ClassVar[str] = "sample"

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments as they are: their partial correlations are those of the sample."""
        return moments
