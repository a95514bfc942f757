"""How beams are set: which settings, how wide, how often everything is scored; by the graph and its size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rfdag.orders import tuning
from rfdag.orders.tuning import Setting

Floats = NDArray[np.float64]


def may_be_lazy(p: int, refine: bool) -> bool:
    """Return whether lazy scores are as good as exact ones over p variables of a sparse graph.

    Refinement makes up for what they lose, and over many variables nothing is lost. Over few, an unrefined answer is
    wanted at once, and a refined one can wait.

    >>> may_be_lazy(20, refine=True), may_be_lazy(100, refine=True), may_be_lazy(100, refine=False)
    (False, True, False)
    """
    few = p <= tuning.EXACT_P_IF_REFINED
    return not few if refine else few or p > tuning.EXACT_P_IF_UNREFINED


def steps_between_scores(p: int) -> int:
    """Return after how many steps a lazy beam over p variables scores everything again.

    >>> steps_between_scores(500)
    16
    """
    return next(steps for most, steps in tuning.LAZY_STEPS if p > most)


def neighbour_z(p: int) -> float:
    """Return z from which two of p variables are neighbours in a beam.

    >>> neighbour_z(100), neighbour_z(1000)
    (2.5, 2.8)
    """
    return tuning.NEIGHBOUR_Z if p < tuning.VERY_LARGE_P else tuning.NEIGHBOUR_Z_FOR_VERY_LARGE_P


def settings_for(partial: Floats, n_samples: int) -> tuple[Setting, ...]:
    """Return the settings to try: those for dense, sparse or large sparse graphs, by the share of clear edges."""
    p = len(partial)
    clear = np.count_nonzero(np.abs(partial) > tuning.CLEAR_Z / math.sqrt(n_samples - p + 1)) - p
    if clear > tuning.DENSE_SHARE_OF_PAIRS * p * (p - 1):
        return tuning.DENSE_SETTINGS
    if p < tuning.LARGE_P:
        return tuning.SPARSE_SETTINGS
    return tuning.LARGE_SETTINGS if p < tuning.HUGE_P else tuning.LARGE_SETTINGS[:1]


def first_width(p: int, *, stepwise: bool) -> int:
    """Return the width of the first beams over p variables.

    >>> first_width(50, stepwise=False), first_width(50, stepwise=True), first_width(100, stepwise=True)
    (8, 64, 16)
    >>> first_width(1000, stepwise=False), first_width(10_000, stepwise=False)
    (4, 1)
    """
    if not stepwise:
        return max(1, min(tuning.NARROWEST_BEAM, int(tuning.MOST_FIRST_BEAM_ENTRIES / p**2)))
    affordable = int(tuning.FIRST_STEPWISE_WORK / p**4)
    return min(tuning.FIRST_STEPWISE_BEAM, max(tuning.NARROWEST_BEAM, affordable))


def next_width(p: int, width: int, *, stepwise: bool) -> int | None:
    """Return the width of the beams that follow those of ``width``, or None if they would be too wide.

    >>> next_width(50, 8, stepwise=False), next_width(50, 512, stepwise=False), next_width(50, 1024, stepwise=True)
    (32, None, 4096)
    """
    wider = width * tuning.BEAM_GROWTH
    if stepwise:
        return wider if wider <= tuning.WIDEST_STEPWISE_BEAM and wider * p**4 <= tuning.MOST_STEPWISE_WORK else None
    widest = tuning.WIDEST_BEAM_FOR_SMALL_P if p <= tuning.SMALL_P else tuning.WIDEST_BEAM
    return wider if wider <= widest and wider * p * p <= tuning.MOST_BEAM_ENTRIES else None


def slack_after(slack: float) -> float:
    """Return the slack of wider beams under the stepwise cost, given that of the beams before.

    >>> slack_after(math.inf), slack_after(6.0)
    (6.0, 7.5)
    """
    return tuning.STEPWISE_SLACK if math.isinf(slack) else slack + tuning.STEPWISE_SLACK_GROWTH
