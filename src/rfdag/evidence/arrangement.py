"""Moments with their columns in an arrangement that depends on the data alone, not on how they were given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.runtime.device import on_host

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rfdag.evidence.pair_rows import PairRows

Floats = NDArray[np.float64]

DIGITS = 9
"""Decimals of sums of correlations that are more than rounding."""


class Arrangeable:
    """What moments can tell about their columns, and how they are arranged otherwise."""

    if TYPE_CHECKING:
        names: tuple[Hashable, ...]
        factor: Floats
        resident: Any
        means: Floats
        scales: Floats
        partial: Floats | None
        pair_rows: PairRows | None

    def places_by_data(self) -> NDArray[np.int64]:
        """Return the columns sorted by the sum of their correlations with all columns.

        Only columns with equal sums, up to rounding, stay in the order in which they were given.
        """
        sums = on_host(self.resident.T @ self.resident.sum(axis=1))
        return np.argsort(np.round(sums, DIGITS), kind="stable")

    def arranged(self, places: NDArray[np.int64]) -> Self:
        """Return the same moments with the columns in another arrangement: the i-th is the one at places[i] here."""
        known: dict[str, Any] = {
            "names": tuple(self.names[at] for at in places.tolist()),
            **self.arranged_factor(places),
            "means": self.means[places],
            "scales": self.scales[places],
            "partial": None if self.partial is None else self.partial[np.ix_(places, places)],
            "pair_rows": None if self.pair_rows is None else self.pair_rows.among(places),
            "given": self,
        }
        return replace(self, **known)  # type: ignore[type-var]

    def arranged_factor(self, places: NDArray[np.int64]) -> dict[str, Any]:
        """Return the factor, by the name of its field, with its columns in another arrangement."""
        return {"factor": np.ascontiguousarray(self.factor[:, places])}
