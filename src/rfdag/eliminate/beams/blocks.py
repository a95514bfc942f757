"""Beams of eliminations whose variables are blocks of columns, under the soft cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.kernels.blocks import marginalise, weigh_edges, weigh_removals

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RIDGE = 1e-4
"""Share of the identity in the covariance that is inverted, since categories may determine each other."""

NEAR = 4.0
"""Weight per degree of freedom above which an edge is looked at when its ends' neighbour is removed."""


LARGEST_EXACT = 100
"""Variables up to which everything is weighed anew at every step; of more, what a removal touches."""

STEPS_BETWEEN = 25
"""Steps between which only what removals touch is weighed anew, where variables are many."""

TOUCHED = 1.0
"""Weight per degree of freedom of an edge above which a removal touches its other end."""


class Free(Protocol):
    """What a beam asks of constraints."""

    def free(self, remaining: Integers) -> NDArray[np.bool_]:
        """Return which remaining variables may be removed."""


@dataclass(frozen=True)
class BlockSetting:
    """How edges weigh: nothing up to ``noise``, at most ``cap``, both per degree of freedom; ``mu`` looks ahead."""

    noise: float
    cap: float
    mu: float


@dataclass
class _State:
    """A partial elimination: what is left, what was removed and paid, and what its edges and removals weigh."""

    precision: Floats
    alive: NDArray[np.bool_]
    removed: tuple[int, ...]
    spent: float
    key: int
    paid: Floats
    ratio: Floats
    lighter: Floats

    @classmethod
    def first(cls, precision: Floats, p: int) -> _State:
        """Return the state before any removal."""
        empty = np.zeros((p, p))
        return cls(precision, np.ones(p, bool), (), 0.0, 0, empty, empty.copy(), np.zeros(p))

    def weigh(self, which: NDArray[np.bool_], starts: Integers, rows: float, setting: BlockSetting) -> None:
        """Weigh the edges among some variables, and the removal of those whose neighbourhoods these are part of."""
        numbers = rows, setting.noise, setting.cap
        weigh_edges(self.precision, starts, which, *numbers, self.paid, self.ratio)
        near = self.ratio > NEAR
        concerned = self.alive & (which | (near[:, which].sum(axis=1) > 1))
        weigh_removals(
            self.precision, starts, concerned, self.alive, *numbers, NEAR, self.paid, self.ratio, self.lighter
        )

    def without(self, k: int, spent: float, key: int, starts: Integers) -> _State:
        """Return the state after the removal of a variable; weights are still those of before."""
        precision, alive = self.precision.copy(), self.alive.copy()
        marginalise(precision, starts[k], starts[k + 1])
        alive[k] = False
        paid, ratio = self.paid.copy(), self.ratio.copy()
        paid[k], paid[:, k] = 0.0, 0.0
        ratio[k], ratio[:, k] = 0.0, 0.0
        return _State(precision, alive, (*self.removed, k), spent, key, paid, ratio, self.lighter.copy())


def block_orders(
    covariance: Floats,
    starts: Integers,
    rows: float,
    setting: BlockSetting,
    width: int = 1,
    constraints: Free | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> list[Integers]:
    """Return the orders of a beam of eliminations, the best by what their edges pay first.

    Removing a variable takes its columns out of the precision matrix. An edge weighs
    m · (−ln det Θ_(ij) + ln det Θ_ii + ln det Θ_jj), m the rows less the columns left, a likelihood ratio with k_i k_j
    degrees of freedom.

    Parameters
    ----------
    covariance, starts
        The covariance of all columns, those of one variable uncorrelated and with variance 1; where each begins.
    rows
        The number of rows behind it.
    setting
        How edges are weighed.
    width
        How many states are kept.
    constraints
        What orders must obey.
    report
        Called with the share done; may raise.

    Examples
    --------
    >>> collider = np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]])
    >>> block_orders(collider, np.arange(4), 200, BlockSetting(2.0, 6.0, 0.7))[0]
    array([1, 0, 2])
    """
    p, columns = len(starts) - 1, len(covariance)
    starts = np.ascontiguousarray(starts, np.int64)
    precision = np.asarray(np.linalg.inv((1 - RIDGE) * covariance + RIDGE * np.eye(columns)), np.float64)
    touched: dict[int, NDArray[np.bool_]] = {}
    keys = np.random.default_rng(0).integers(2**62, size=p)
    lazy = p > LARGEST_EXACT
    states = [_State.first(precision, p)]
    for step in range(p):
        report(step / p)
        found: dict[int, tuple[float, float, int, _State]] = {}
        for state in states:
            # Variables differ in columns, and so do states in what is left of them.
            left = columns - sum(int(starts[v + 1] - starts[v]) for v in state.removed)
            behind = max(rows - left, 1.0)
            if step == 0 or not lazy or step % STEPS_BETWEEN == 0:
                state.weigh(state.alive, starts, behind, setting)
            elif touched[state.key].any():
                state.weigh(touched[state.key] & state.alive, starts, behind, setting)
            own, whole = state.paid.sum(axis=0), state.paid.sum() / 2
            remaining = np.flatnonzero(state.alive)
            if constraints is not None:
                remaining = remaining[constraints.free(remaining)]
            for k in remaining.tolist():
                spent = state.spent + float(own[k])
                cost = round(spent + setting.mu * (whole - float(own[k]) - float(state.lighter[k])), 6)
                key = state.key ^ int(keys[k])
                if key not in found or (cost, spent) < found[key][:2]:
                    found[key] = (cost, spent, k, state)
        kept = sorted(found.items(), key=lambda entry: entry[1][:3])[:width]
        touched = {key: state.ratio[k] > TOUCHED for key, (_, _, k, state) in kept}
        states = [state.without(k, spent, key, starts) for key, (_, spent, k, state) in kept]
    states.sort(key=lambda state: state.spent)
    return [np.array(state.removed[::-1], np.int64) for state in states]
