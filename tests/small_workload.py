"""A small workload, and data whose graph every contender finds: for tests of the comparison with peers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfdag.runtime.progress import Progress
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench import workloads

ROOT = Path(__file__).resolve().parent.parent
SILENT = Progress(False)

# 0 → 2 ← 1, and 3 – 4.
TRUE = np.zeros((5, 5), np.int8)
TRUE[[0, 1, 3], [2, 2, 4]] = 1


def tiny(p=6, n=60, graphs=2, group="tiny"):
    def source(generator):
        sem = linear_sem(random_dag(p, 0.5, generator), generator)
        return workloads.Drawn(sem.dag, sample(sem, n, generator))

    return workloads.Workload("tiny", group, "tiny graphs", p, n, source, graphs)


def data_of(true, n=5000, seed=1):
    """Uniform noise, so that DirectLiNGAM has something to hold on to."""
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-1, 1, (n, len(true)))
    rows[:, 2] += rows[:, 0] - rows[:, 1]
    rows[:, 4] += rows[:, 3]
    return rows / rows.std(axis=0)
