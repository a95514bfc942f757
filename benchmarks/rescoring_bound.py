"""Could exact scores skip candidates by a bound? How fast such a bound grows, beside how far apart candidates are.

    python benchmarks/rescoring_bound.py [--p 1000] [--steps 60]

A removal of k turns x = K_ij into x' = (x − K_ik K_jk) / √((1 − K_ik²)(1 − K_jk²)). The weight of an edge changes by at
most n / c · |x'² − x²|, so by Cauchy and Schwarz D̃_i changes by at most n / c · (2 |K_ik| ‖K_i‖ ‖K_k‖ + K_ik² ‖K_k‖²)
plus what the roots change: a bound that costs O(1) a row. A candidate need not be scored while its value is above the
best one by more than the bounds since it was scored last. The script follows the exact elimination, and counts how
many candidates would have to be scored at each step. Also printed: the same with the smallest bound there can be, the
change of D̃ that really happened, which nobody knows without scoring. Data: degree 8, n = 2p, seed 1.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.moments import Moments
from rfdag.orders.beam_settings import neighbour_z
from rfdag.orders.tuning import LARGE_SETTINGS
from rfdag.simulate import linear_sem, random_dag, sample

Floats = NDArray[np.float64]
SETTING = LARGE_SETTINGS[0]


def weights(matrix: Floats, degrees: float) -> Floats:
    """Return the weight of each pair."""
    return np.asarray(np.clip((matrix**2 * degrees - SETTING.noise) / SETTING.c, 0.0, 1.0))


def without(matrix: Floats, k: int) -> Floats:
    """Return the matrix K after the removal of a variable."""
    row = np.delete(matrix[k], k)
    rest = np.delete(np.delete(matrix, k, 0), k, 1)
    scale = np.sqrt(1 - row**2)
    after = (rest - np.outer(row, row)) / scale / scale[:, None]
    np.fill_diagonal(after, 0.0)
    return np.asarray(after)


def values(matrix: Floats, n: int) -> tuple[Floats, Floats]:
    """Return D̃ and D̃ + μ · H of every candidate, up to what all have in common."""
    v = len(matrix)
    degrees = n - v + 1.0
    paid = weights(matrix, degrees).sum(axis=1)
    gains = np.empty(v)
    for k in range(v):
        near = np.flatnonzero(np.abs(matrix[k]) * np.sqrt(degrees) > neighbour_z(1000))
        pairs = matrix[np.ix_(near, near)]
        own = matrix[k, near]
        scale = np.sqrt(1 - own**2)
        after = (pairs - np.outer(own, own)) / scale / scale[:, None]
        np.fill_diagonal(after, 0.0)
        gains[k] = (weights(pairs, degrees) - weights(after, degrees + 1)).sum() / 2
    return paid, paid * (1 - SETTING.mu) - SETTING.mu * gains


def main() -> None:
    """Follow the first steps and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--p", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    p, n = options.p, 2 * options.p
    dag = random_dag(p, degree=8, rng=1)
    rows = sample(linear_sem(dag, rng=2), n, rng=3)
    # Opposite signs: K is the precision matrix scaled to ones on its diagonal.
    matrix = -Moments.from_data(rows).partial_correlations()
    np.fill_diagonal(matrix, 0.0)
    paid, value = values(matrix, n)
    # What each candidate may be below its last score, by the bound and by what happened.
    slack = np.zeros(p)
    real = np.zeros(p)
    known = value.copy()
    known_really = value.copy()
    scored, scored_really, steps, grown, gaps = [], [], [], [], []
    for _ in range(options.steps):
        k = int(value.argmin())
        norms = np.sqrt((matrix**2).sum(axis=1))
        scale = (n - len(matrix) + 1.0) / SETTING.c
        own = np.abs(matrix[k])
        bound = scale * (2 * own * norms * norms[k] + own**2 * norms[k] ** 2 + own**2 * norms**2)
        before = np.delete(paid, k)
        gaps.append(float(np.median(value) - value[k]))
        matrix = without(matrix, k)
        paid, value = values(matrix, n)
        keep = np.arange(len(bound)) != k
        slack, real, known, known_really = slack[keep], real[keep], known[keep], known_really[keep]
        grown.append(float(np.median(bound[keep])))
        slack += (1 - SETTING.mu) * bound[keep]
        real += (1 - SETTING.mu) * np.abs(paid - before)
        best = value.min()
        waiting, waiting_really = known - slack <= best, known_really - real <= best
        scored.append(float(waiting.mean()))
        scored_really.append(float(waiting_really.mean()))
        known[waiting], slack[waiting] = value[waiting], 0.0
        known_really[waiting_really], real[waiting_really] = value[waiting_really], 0.0
        steps.append(len(matrix))
    print(f"p = {p}, n = {n}, the first {options.steps} removals of the exact elimination; medians of steps")
    print(f"the median candidate is above the best by {np.median(gaps):.3g}")
    print(f"the bound on its change, at one step:     {np.median(grown):.3g}")
    print(f"candidates that must be scored:           {np.median(scored):.1%} of all")
    print(f"with the smallest bound there can be:     {np.median(scored_really):.1%} of all")


if __name__ == "__main__":
    main()
