"""The kernels of the default method, compiled by running them on three variables.

    python -m rfdag.orders.compiling

compiles those of the refinement: the second of the two processes that share the work on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate import DenseEngine, FisherZ, replay
from rfdag.eliminate.beams.blocks import BlockSetting, block_orders
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.kernels import soft
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.local import SharedMoments
from rfdag.orders.environment_scores import EnvironmentScore
from rfdag.orders.exact import Problem, best_dag
from rfdag.orders.family_scores import BlockScore, CountScore, FamilyScore
from rfdag.orders.interactions import acting_together
from rfdag.orders.kernels import blocks, counts, environments, exact, moves, trees
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.tree_order import TreeOrder
from rfdag.orders.trees import Pairs, Trees
from rfdag.runtime.second_process import compiling_beside, end_with_parent

ROWS = 100
"""Number of rows behind the correlations."""


class Kernels(NamedTuple):
    """Kernels that take longest to compile, by which it is known whether they are, and what compiles all of them."""

    kernels: tuple[Any, ...]
    compile: Callable[[], None]


def compile_beams() -> None:
    """Compile what beams and their refinement need, on two cores if there are."""
    with compiling_beside(__name__, moves.refine):
        SoftBeam(_chain(), ROWS, 2, 0.5, c=2.0).search()
        compile_replay()
    compile_refinement()


def compile_all_sets() -> None:
    """Compile what the best DAG of few variables needs, on two cores if there are."""
    with compiling_beside(__name__, moves.refine):
        best_dag(Problem(SharedMoments(_chain(), ROWS)))
        compile_replay()
    compile_refinement()


def compile_replay() -> None:
    """Compile the elimination that is recorded in the end."""
    partial = _chain()
    replay(DenseEngine(partial, FisherZ(ROWS, 0.01)), np.arange(len(partial)))


def compile_refinement() -> None:
    """Compile the scoring and the refinement of an order."""
    descend(ScoredOrder(SharedMoments(_chain(), ROWS), np.array([2, 0, 1])), np.random.default_rng(0))


def compile_mixed() -> None:
    """Compile what categories as indicators, and powers, need."""
    covariance, starts = _chain(), np.arange(4)
    block_orders(covariance, starts, ROWS, BlockSetting(2.0, 6.0, 0.7))
    _descend_by(BlockScore(covariance, starts, None, ROWS))


def compile_counts() -> None:
    """Compile what counts of levels need besides."""
    compile_mixed()
    codes = np.random.default_rng(0).integers(0, 2, (3, ROWS)).astype(np.uint8)
    score = CountScore(codes, np.full(3, 2), np.ones(ROWS, np.int32))
    _descend_by(score, acting_together(score))


def compile_environments() -> None:
    """Compile what rows from several environments need besides beams."""
    compile_beams()
    rng = np.random.default_rng(0)
    blocks = tuple(rng.normal(size=(ROWS, 3)) for _ in range(2))
    rows, nothing = np.full(2, ROWS), np.zeros(3)
    quiet = np.array([True, False])
    evidence = EnvironmentMoments(
        (0, 1, 2), ("a", "b"), rows, np.zeros((2, 3)), nothing, nothing + 1, ((), (1,)), quiet, blocks
    )
    others = np.array([[1, 2], [0, 2], [0, 1]])
    _descend_by(EnvironmentScore(evidence, others, price_of_parent=1.0))


def _descend_by(score: FamilyScore, pairs: Pairs | None = None) -> None:
    others = np.array([[1, 2], [0, 2], [0, 1]])
    descend(TreeOrder(Trees(score, others, pairs=pairs), np.array([2, 0, 1]), price=1.0), np.random.default_rng(0))


NO_KERNELS = Kernels((), lambda: None)
BEAMS = Kernels((soft.advance, moves.refine), compile_beams)
MIXED = Kernels((blocks.scan_blocks, trees.weigh_places), compile_mixed)
COUNTS = Kernels((blocks.scan_blocks, counts.scan_counts, trees.weigh_places), compile_counts)
ENVIRONMENTS = Kernels((soft.advance, environments.scan_environments, trees.weigh_places), compile_environments)
ALL_SETS = Kernels((exact.score_families, moves.refine), compile_all_sets)


def _chain() -> NDArray[np.float64]:
    """Return correlations, or partial correlations, of three variables."""
    return np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 1.0]])


if __name__ == "__main__":
    end_with_parent()
    compile_refinement()
