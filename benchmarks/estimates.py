"""The times and sizes that `rfdag.methods.preflight` expects, measured again, and how far they are off.

    python benchmarks/estimates.py [--sizes 200 400 800 1600]

Runs are on one thread and counted in the processor's time, so that a busy machine changes little. Prints what to write
into src/rfdag/orders/costs.py.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import rfdag
from report import markdown
from rfdag.eliminate import replay
from rfdag.errors import NumericalWarning
from rfdag.evidence.moments import Moments
from rfdag.methods.pace import slowness
from rfdag.methods.preflight import estimate
from rfdag.orders import costs, tuning
from rfdag.orders.scores import ScoredOrder
from rfdag.precision.averaged import averaged_partial_correlations
from rfdag.simulate import linear_sem, random_dag, sample

DEGREE, WIDTH = 8, 8


def processor(work: Callable[[], rfdag.Result]) -> tuple[rfdag.Result, dict[str, float]]:
    """Return a result and its timings, turned from the clock on the wall to the processor's."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    share = (time.process_time() - cpu) / (time.perf_counter() - wall)
    return result, {name: seconds * share for name, seconds in result.timings.items()}


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def parts(rows: NDArray[np.float64]) -> dict[str, float]:
    """Return the constants of parts that a run does not time by themselves."""
    p = rows.shape[1]
    moments = Moments.from_data(rows)
    local, order = moments.local(), np.random.default_rng(0).permutation(p)
    engine = moments.engine(alpha=1e-3, pairs="all", threads=1)
    few = Moments.from_data(rows[: p // 5])
    averaging = seconds(lambda: averaged_partial_correlations(few.correlation, p // 5, gamma=tuning.FEW_ROWS_GAMMA))
    return {
        "SECONDS_PER_REPLAY": seconds(lambda: replay(engine, order)) / p**3,
        "SECONDS_PER_SCORED_ORDER": seconds(lambda: ScoredOrder(local, order)) / p**2,
        "SECONDS_PER_AVERAGED_MODEL": averaging / tuning.AVERAGED_MODELS / p**2,
    }


def measure(p: int) -> dict[str, float]:
    """Return the constants as one size gives them."""
    n = 2 * p
    rows = sample(linear_sem(random_dag(p, degree=DEGREE, rng=1), rng=1), n, rng=1)
    _, hard = processor(lambda: rfdag.learn(rows, method="rfd", n_jobs=1, progress=False))
    plain, beams = processor(lambda: rfdag.learn(rows, beam=WIDTH, refine=False, n_jobs=1, progress=False))
    whole, default = processor(lambda: rfdag.learn(rows, n_jobs=1, progress=False))
    states = WIDTH * len(plain.attempts)
    followed = sum(attempt.width for attempt in whole.attempts)
    others = parts(rows)
    replayed = others["SECONDS_PER_REPLAY"] * p**3
    polishing = (
        default["elimination"]
        + default["refinement"]
        - (beams["elimination"] - replayed) * followed / states
        - replayed
    )
    expected = estimate(n, p, whole.settings).seconds / slowness()
    return {
        "p": p,
        "SECONDS_PER_ROW_AND_PAIR": hard["moments"] / (n * p**2),
        "SECONDS_PER_PRECISION": hard["precision"] / p**3,
        "SECONDS_PER_ELIMINATION": hard["elimination"] / p**3,
        "SECONDS_PER_BEAM_STATE": (beams["elimination"] - replayed) / states / p**costs.POWER_OF_BEAM_STATE,
        "SECONDS_PER_REFINED_ORDER": max(polishing, 0.0) / costs.ORDERS_REFINED / p**2,
        **others,
        "default (s)": sum(default.values()),
        "expected (s)": expected,
    }


def product() -> float:
    """Return the least time of the product that machines are compared by."""
    matrix = np.random.default_rng(0).normal(size=(costs.ORDER_OF_PRODUCT, costs.ORDER_OF_PRODUCT))
    times = []
    for _ in range(50):
        start = time.perf_counter()
        matrix @ matrix
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 400, 800, 1600])
    options = parser.parse_args()
    warnings.simplefilter("ignore", NumericalWarning)
    with threadpool_limits(1):
        measure(60)
        rows = [measure(p) for p in options.sizes]
        print(markdown([{name: f"{value:.3g}" for name, value in row.items()} for row in rows]))
        print(f"SECONDS_PER_PRODUCT = {product():.2g}")
    for name in (
        "SECONDS_PER_ROW_AND_PAIR",
        "SECONDS_PER_PRECISION",
        "SECONDS_PER_ELIMINATION",
        "SECONDS_PER_BEAM_STATE",
        "SECONDS_PER_REFINED_ORDER",
        "SECONDS_PER_REPLAY",
        "SECONDS_PER_SCORED_ORDER",
        "SECONDS_PER_AVERAGED_MODEL",
    ):
        print(f"{name} = {median(row[name] for row in rows):.2g}")


if __name__ == "__main__":
    main()
