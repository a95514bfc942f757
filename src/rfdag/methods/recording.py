"""An elimination that is gone through only when its trace is asked for: over many variables that takes long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import Trace, replay
from rfdag.evidence.evidence import Pairs
from rfdag.evidence.moments import Moments
from rfdag.runtime.threads import one_blas_thread


@dataclass(frozen=True, eq=False)
class Recording:
    """What it takes to record an elimination: the moments, the order, and how pairs are tested and counted."""

    moments: Moments
    order: NDArray[np.int64]
    alpha: float
    pairs: Pairs

    def arranged(self, places: NDArray[np.int64]) -> Recording:
        """Return the same with variables numbered as they were given: what was i is now places[i].

        A result keeps it, and so nothing of it stays on a device.
        """
        given = self.moments.given or self.moments
        return replace(self, moments=given.moments, order=places[self.order])

    def __call__(self) -> Trace:
        """Go through the elimination and return its trace."""
        engine = self.moments.engine(alpha=self.alpha, pairs=self.pairs, threads=1)
        with one_blas_thread():
            return replay(engine, self.order).trace
