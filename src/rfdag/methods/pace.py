"""How long parts of a run take on this machine, for what must be known before they begin."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rfdag.orders import costs, tuning
from rfdag.runtime.threads import one_blas_thread, thread_count

if TYPE_CHECKING:
    from rfdag.methods.method import Method
    from rfdag.precision.estimation import Estimation


@cache
def slowness() -> float:
    """Return how many times longer this machine takes than the one that the constants come from."""
    matrix = np.random.default_rng(0).normal(size=(costs.ORDER_OF_PRODUCT, costs.ORDER_OF_PRODUCT))
    times = []
    with one_blas_thread():
        for _ in range(4):
            start = time.perf_counter()
            matrix @ matrix
            times.append(time.perf_counter() - start)
    return min(max(min(times) / costs.SECONDS_PER_PRODUCT, 0.1), 10.0)


def crowding() -> float:
    """Return how many times longer a thread takes at present because there is more work than cores, at least 1."""
    try:
        return max(1.0, os.getloadavg()[0] / thread_count(None))
    except (AttributeError, OSError):
        # Not known on every system.
        return 1.0


def at_once(threads: int) -> float:
    """Return how many times faster so many threads are than one, for beams and matrices."""
    return float(threads**costs.POWER_OF_THREADS)


def on_this_machine(seconds: float) -> float:
    """Return the time on this machine of what takes so long on the one that the constants come from."""
    # What takes no time on any machine is not worth the comparison.
    return seconds * slowness() if seconds > costs.SECONDS_WORTH_ANNOUNCING / 100 else seconds


def seconds_of_moments(rows: int, columns: int, threads: int) -> float:
    """Return how long the moments of rows in memory take."""
    return on_this_machine(costs.SECONDS_PER_ROW_AND_PAIR * rows * float(columns) ** 2 / at_once(threads))


def seconds_of_inverse(columns: int, threads: int) -> float:
    """Return how long the partial correlations of so many columns take, which nothing can interrupt."""
    return on_this_machine(costs.SECONDS_PER_PRECISION * float(columns) ** 3 / at_once(threads))


def seconds_of_beams(columns: int, states: int, threads: int) -> float:
    """Return how long beams take that follow so many states in all."""
    return on_this_machine(
        costs.SECONDS_PER_BEAM_STATE * states * float(columns) ** costs.POWER_OF_BEAM_STATE / at_once(threads)
    )


def seconds_of_all_sets(columns: int, threads: int) -> float:
    """Return how long it takes to find the best DAG over all sets of variables."""
    return on_this_machine(costs.SECONDS_PER_FAMILY * columns * 2.0 ** (columns - 1) / at_once(threads))


def seconds_of_proof() -> float:
    """Return how long branch and bound takes at most where the user asks for a proof."""
    return on_this_machine(tuning.SECONDS_TO_PROVE * tuning.STEPS_ON_REQUEST / tuning.STEPS_TO_PROVE)


def seconds_of_elimination(columns: int, threads: int) -> float:
    """Return how long an elimination by counts takes."""
    return on_this_machine(costs.SECONDS_PER_ELIMINATION * float(columns) ** 3 / at_once(threads))


def seconds_of_refinement(columns: int, orders: float) -> float:
    """Return how long the refinement of so many orders takes."""
    return on_this_machine(costs.SECONDS_PER_REFINED_ORDER * orders * float(columns) ** 2)


def seconds_of_narrow_refinement(columns: int, rows: int | None = None) -> float:
    """Return how long the refinement takes in which each variable has a few candidates.

    All pairs are screened by a matrix of correlations, or by so many ``rows`` where there is none.
    """
    pair = costs.SECONDS_PER_SCREENED_PAIR if rows is None else rows * costs.SECONDS_PER_ROW_AND_SCREENED_PAIR
    return on_this_machine(costs.SECONDS_PER_NARROW_COLUMN * columns + pair * float(columns) ** 2)


def seconds_of_clusters(rows: int, columns: int, threads: int) -> float:
    """Return how long it takes to find and to search all clusters of so many columns."""
    compared = costs.SECONDS_PER_ROW_AND_COMPARED_PAIR * min(rows, columns) * float(columns) ** 2
    return on_this_machine((costs.SECONDS_PER_CLUSTERED_COLUMN * columns + compared) / threads)


def seconds_of_finishing(columns: int, *, replayed: bool, scored: bool) -> float:
    """Return how long it takes to make a result of an order: its BIC, and the trace of the elimination behind it."""
    seconds = costs.SECONDS_PER_REPLAY * float(columns) ** 3 if replayed else 0.0
    return on_this_machine(seconds + (costs.SECONDS_PER_SCORED_ORDER * float(columns) ** 2 if scored else 0.0))


READING, ESTIMATING, ELIMINATING = "Reading", "Estimating partial correlations", "Eliminating"
"""The stages until there is an order, in sequence, as the progress bar calls them."""


def until_order(method: Method, estimation: Estimation, rows: int, columns: int, threads: int) -> dict[str, float]:
    """Return how long each stage is expected to take until a method has a first order of data."""
    if method.in_clusters(rows, columns, estimation):
        reading, searching = seconds_of_moments(rows, columns, threads), seconds_of_clusters(rows, columns, threads)
        return {READING: reading, ESTIMATING: 0.0, ELIMINATING: searching}
    estimator = estimation.chosen(rows, columns, any_rows=method.any_rows)
    estimating = on_this_machine(estimator.seconds(columns, threads, removals=False))
    if method.solves(columns):
        searching = seconds_of_all_sets(columns, threads)
    elif method.beam_width:
        searching = seconds_of_beams(columns, len(tuning.DENSE_SETTINGS) * method.beam_width, threads)
    else:
        removals = estimator.seconds(columns, threads, removals=method.by_columns) - estimator.seconds(columns, threads)
        searching = seconds_of_elimination(columns, threads) + on_this_machine(removals)
    return {
        READING: seconds_of_moments(rows, columns, threads),
        ESTIMATING: estimating + seconds_of_inverse(columns, threads),
        ELIMINATING: searching,
    }
