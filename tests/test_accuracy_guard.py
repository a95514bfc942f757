"""Accuracy of the default, and of its beams alone, on ordinary data: a guard against tuned numbers that are badly off.

Limits are at most one and a half times what is found (strong: none is). Search seeds 5 and 6 stay below them.
Refinement and restarts make up for much, so that beams are tested without them as well. Replacing numbers in
`rfdag.orders.tuning` showed which faults are caught (first what is found now, then with the fault):

    STEPWISE_SETTINGS = (c 60, μ .95)          dense 54 → 600, beams alone 49 → 635
    STEPWISE_SETTINGS = (c .5, μ 0)            dense 54 → 158, beams alone 49 → 176
    SPARSE_SETTINGS = (c 60, μ .95)            beams alone: sparse 19 → 423, scale-free 90 → 405, ECOLI70 32 → 81
    SPARSE_SETTINGS = (c .5, μ 0)              sparse 6 → 22; beams alone: sparse 19 → 557, scale-free 90 → 354
    LARGE_SETTINGS without noise (c 6, μ .5)   beams alone: large 58 → 128
    LARGE_SETTINGS = (c 60, μ .95)             beams alone: large 58 → 428
    DENSE_SHARE_OF_PAIRS = −1                  ECOLI70 18 → 24; beams alone: large 58 → 162
    FIRST_STEPWISE_BEAM = WIDEST_STEPWISE… = 1 dense 54 → 246, beams alone 49 → 284
    LAZY_STEPS = everything after 200 steps    ECOLI70 18 → 24; beams alone: large 58 → 159
    NEIGHBOUR_Z = 6                            beams alone: large 58 → 140
    MOST_FRUITLESS_RESTARTS = 0                scale-free 5 → 15
    MARGIN_SELECTION = 0                       strong 0 → 4
    penalty=6 instead of 2                     sparse 6 → 34

Not caught, as it changes nothing here: ORDERS_SCORED_PER_BEAM = 1, DENSE_SHARE_OF_PAIRS above 1,
STEPWISE_SHORTLIST = 1.
"""

from __future__ import annotations

import numpy as np
import pytest

import rfdag
from rfdag import datasets, metrics
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag

SEED = 4242
"""Of graphs and rows. Never 0, which is the search's own, nor a seed of tuning or of benchmarks."""


def draw(kind, graph):
    """Return a model and rows of it."""
    generator = np.random.default_rng([SEED, graph])
    if kind == "ECOLI70":
        sem, rows = datasets.ecoli70().sem, 2000
    elif kind == "strong":
        sem, rows = linear_sem(random_dag(100, degree=6, rng=generator), generator, weights=(0.4, 1.0)), 1000
    else:
        dag, rows = {
            "sparse": lambda: (random_dag(60, degree=8, rng=generator), 400),
            "dense": lambda: (random_dag(30, 0.5, generator), 900),
            "large": lambda: (random_dag(160, degree=6, rng=generator), 400),
            "scale-free": lambda: (scale_free_dag(60, 3, generator), 600),
        }[kind]()
        sem = linear_sem(dag, generator)
    return sem.dag, sample(sem, rows, generator)


def errors(kind, graphs, **options):
    """Return the SHD summed over some graphs."""
    drawn = [draw(kind, graph) for graph in graphs]
    return sum(metrics.shd(true, rfdag.learn(rows, **options).dag) for true, rows in drawn)


@pytest.mark.parametrize(
    ("kind", "graphs", "most"),
    [
        ("sparse", [0, 1], 10),
        ("dense", [0, 1, 2], 65),
        ("scale-free", [0, 1], 7),
        ("strong", [3, 4, 9], 0),
        ("ECOLI70", [0, 1], 20),
    ],
)
def test_the_default_is_as_accurate_as_it_was(kind, graphs, most):
    assert errors(kind, graphs) <= most


@pytest.mark.parametrize(
    ("kind", "graphs", "most"),
    [
        ("sparse", [0, 1], 40),
        ("dense", [0, 1, 2], 80),
        ("scale-free", [0, 1], 130),
        ("large", [0], 100),
        ("ECOLI70", [0, 1], 55),
    ],
)
def test_beams_alone_are_as_accurate_as_they_were(kind, graphs, most):
    assert errors(kind, graphs, refine=False) <= most
