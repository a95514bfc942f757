"""An estimator of the user's own: a function from moments to a precision matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rfdag.evidence.moments import Moments
from rfdag.precision.definite import checked_precision, made_definite, partial_correlations
from rfdag.precision.estimator import Estimator, Request
from rfdag.values import name_of


class Own(Estimator):
    """A function ``(moments, request)`` that returns a precision matrix, or moments by `Moments.estimated`.

    The matrix is checked, and repaired where it is not positive definite; it is worth n + p rows.
    """

    def __init__(self, function: Callable[[Moments, Request], Any]) -> None:
        self.name = name_of(function)  # type: ignore[misc]
        self._function = function

    def __call__(self, moments: Moments, request: Request) -> Moments:
        """Return the moments with the partial correlations that the function estimates."""
        found = self._function(moments, request)
        if isinstance(found, Moments):
            return found
        precision = checked_precision(found, moments, self.name)
        partial, remarks = made_definite(partial_correlations(precision), self.name)
        return moments.estimated(partial, moments.rows + len(partial), remarks)
