"""The kernels of the default method, compiled at once by running them on three variables.

    python -m rfdag.orders.compiling

compiles those of the refinement: the second of the two processes that share the work on first use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import DenseEngine, FisherZ, replay
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.kernels import soft
from rfdag.evidence.local import SharedMoments
from rfdag.orders.kernels import moves
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.second_process import compiling_beside, end_with_parent

DEFAULT_KERNELS = (soft.advance, moves.refine)
"""Those that take longest."""

ROWS = 100
"""Number of rows behind the correlations."""


def compile_default() -> None:
    """Compile what the default method needs, on two cores if there are."""
    with compiling_beside(__name__, moves.refine):
        compile_beams()
    compile_refinement()


def compile_beams() -> None:
    """Compile a beam search, and the elimination that is recorded in the end."""
    partial = _chain()
    SoftBeam(partial, ROWS, 2, 0.5, c=2.0).search()
    replay(DenseEngine(partial, FisherZ(ROWS, 0.01)), np.arange(len(partial)))


def compile_refinement() -> None:
    """Compile the scoring and the refinement of an order."""
    descend(ScoredOrder(SharedMoments(_chain(), ROWS), np.array([2, 0, 1])), np.random.default_rng(0))


def _chain() -> NDArray[np.float64]:
    """Return correlations, or partial correlations, of three variables."""
    return np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 1.0]])


if __name__ == "__main__":
    end_with_parent()
    compile_refinement()
