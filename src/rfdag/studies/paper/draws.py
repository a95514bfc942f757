"""Graphs and moments at random, as several studies draw them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.dag import Graph
from rfdag.simulate import LinearSEM, random_dag


def density_of(name: str, p: int) -> float:
    """Return the probability of an edge that a density's name means.

    >>> density_of("2/p", 50), density_of("1/2", 50)
    (0.04, 0.5)
    """
    above, below = name.split("/")
    return float(above) / (p if below == "p" else float(below))


def draw_dag(p: int, density: str, generator: np.random.Generator) -> Graph:
    """Return a random DAG with at least one edge: without any there is no ratio."""
    while True:
        dag = random_dag(p, density_of(density, p), generator)
        if dag.any():
            return dag


def sample_covariance(sem: LinearSEM, n: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the covariance matrix of n rows without drawing them: by Bartlett's decomposition of a Wishart matrix."""
    p = len(sem.weights)
    triangle = np.tril(generator.standard_normal((p, p)), -1)
    triangle += np.diag(np.sqrt(generator.chisquare(n - 1 - np.arange(p))))
    effects = np.linalg.inv(np.eye(p) - sem.weights)
    factor = (effects.T * np.sqrt(sem.variances)) @ triangle
    return factor @ factor.T / (n - 1)
