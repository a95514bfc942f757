"""How near the truth RFD comes without noise: the figures the paper and this project claim."""

from __future__ import annotations

import numpy as np
import pytest

import rfdag
from rfdag.eliminate import DenseEngine, OracleEngine, Tolerance, eliminate
from rfdag.evidence.moments import Moments
from rfdag.graphs import markov_equivalent
from rfdag.simulate import dense_dag, linear_sem, random_dag

DENSITIES = {"1/p": lambda p: 1 / p, "2/p": lambda p: 2 / p, "4/p": lambda p: 4 / p, "1/2": lambda p: 0.5}
BASELINES = ["min-degree", "min-fill", "max-remove", "random"]


def ratios(p, density, rule="rfd", depth=1, graphs=100, seed=2026):
    """|D_π| / |D*| over random DAGs, empty ones left out."""
    generator = np.random.default_rng([seed, p])
    found = []
    for _ in range(graphs):
        dag = random_dag(p, density(p), generator)
        if dag.any():
            found.append(eliminate(OracleEngine(dag), rule, depth=depth).dag.sum() / dag.sum())
    return np.array(found)


@pytest.mark.parametrize("p", [10, 20, 30])
@pytest.mark.parametrize("density", DENSITIES)
def test_rfd_is_nearly_as_sparse_as_the_truth_and_ahead_of_the_baselines(p, density):
    rfd = ratios(p, DENSITIES[density])
    assert (rfd >= 1).all()
    assert rfd.mean() <= (1.02 if p >= 20 else 1.04)
    for rule in BASELINES:
        baseline = ratios(p, DENSITIES[density], rule)
        difference = rfd - baseline
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        assert difference.mean() <= 2 * error


@pytest.mark.parametrize("p", [10, 20, 30])
def test_depth_two_is_exact_on_most_dense_graphs(p):
    assert (ratios(p, DENSITIES["1/2"], depth=2) == 1).mean() >= 0.8


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("p", [10, 20, 30])
def test_the_default_recovers_the_class_of_almost_every_dag(p, density):
    generator = np.random.default_rng([7, p])
    exact = []
    for _ in range(100):
        dag = random_dag(p, DENSITIES[density](p), generator)
        found = rfdag.learn(dag, input="dag")
        exact.append(found.dag.sum() == dag.sum())
        assert exact[-1] == markov_equivalent(found.dag, dag)
    assert np.mean(exact) >= 0.99


@pytest.mark.parametrize("K", range(2, 11))
def test_dense_family_is_recovered(K):
    dag = dense_dag(K)
    assert markov_equivalent(eliminate(OracleEngine(dag)).dag, dag)


@pytest.mark.parametrize("K", range(2, 7))
def test_dense_family_is_recovered_from_its_precision_matrix(K):
    dag = dense_dag(K)
    partial = Moments.from_precision(linear_sem(dag, rng=K).precision(), None).partial_correlations()
    assert markov_equivalent(eliminate(DenseEngine(partial, Tolerance(), pairs="neighbours")).dag, dag)
