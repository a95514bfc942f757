"""Random DAGs, as matrices and as sparse arrays."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from rfdag.errors import OptionError, keyword
from rfdag.graphs.dag import Graph
from rfdag.runtime.memory import require_matrix
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.values import between, entries, switch, whole

MOST_NODES = 2**31 - 1

EITHER = f"Give either {keyword('density')} (probability of an edge) or {keyword('degree')} (expected neighbours)."


def random_dag(
    p: int,
    density: float | None = None,
    rng: Seed = None,
    *,
    degree: float | None = None,
    sparse: bool = False,
) -> Graph:
    """Return an Erdős–Rényi DAG: each pair is adjacent with equal probability, directed by a random order.

    Parameters
    ----------
    p
        Number of nodes.
    density
        Probability of an edge; give this or ``degree``.
    rng
        Seed, generator or RandomState; None is seed 0.
    degree
        Expected number of neighbours of a node.
    sparse
        Whether to return a scipy.sparse.csr_array, in time and memory proportional to the number of edges. For the same
        seed the graph differs from the one without ``sparse``, but has the same distribution.

    Examples
    --------
    >>> random_dag(100_000, degree=4, sparse=True).shape
    (100000, 100000)
    >>> random_dag(4, 0.5, rng=1)
    array([[0, 1, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 0]], dtype=int8)
    """
    p = whole("p", p, 1, MOST_NODES)
    if (density is None) == (degree is None):
        raise OptionError(EITHER)
    if density is None:
        density = between("degree", degree, 0, p - 1) / max(p - 1, 1)
    density = between("density", density, 0, 1)
    generator = generator_from(rng, "rng")
    if switch("sparse", sparse):
        return sparse_random_dag([p], [density], generator)
    require_matrix(p, "p", f"or pass {keyword('sparse', True)}")
    upper = np.triu(generator.random((p, p)) < density, 1)
    order = generator.permutation(p)
    dag = np.zeros((p, p), np.int8)
    dag[np.ix_(order, order)] = upper
    return dag


def scale_free_dag(p: int, m: int, rng: Seed = None) -> Graph:
    """Return a scale-free DAG: a Barabási–Albert graph, directed by a random order.

    Nodes are added one by one, and each gets m neighbours among the earlier ones, chosen in proportion to their
    degrees; the first m + 1 nodes form a star. The causal order is independent of the order in which nodes are added.

    Parameters
    ----------
    p
        Number of nodes.
    m
        Number of neighbours that each new node gets; the graph has m (p − m) edges.
    rng
        Seed, generator or RandomState; None is seed 0.

    Examples
    --------
    >>> scale_free_dag(5, 1, rng=1)
    array([[0, 0, 0, 0, 0],
           [1, 0, 1, 0, 0],
           [0, 0, 0, 1, 0],
           [0, 0, 0, 0, 0],
           [1, 0, 0, 0, 0]], dtype=int8)

    References
    ----------
    A.-L. Barabási, R. Albert: Emergence of scaling in random networks, Science 1999.
    """
    p = whole("p", p, 2, MOST_NODES)
    m = whole("m", m, 1, p - 1)
    require_matrix(p, "p")
    generator = generator_from(rng, "rng")
    adjacent = np.zeros((p, p), bool)
    adjacent[:m, m] = True
    for node in range(m + 1, p):
        degrees = adjacent.sum(axis=0) + adjacent.sum(axis=1)
        chosen = generator.choice(node, m, replace=False, p=degrees[:node] / degrees.sum())
        adjacent[chosen, node] = True
    rank = generator.permutation(p)
    sources, targets = np.nonzero(adjacent)
    forward = rank[sources] < rank[targets]
    dag = np.zeros((p, p), np.int8)
    dag[np.where(forward, sources, targets), np.where(forward, targets, sources)] = 1
    return dag


def block_dag(
    sizes: ArrayLike, density: float | None = None, rng: Seed = None, *, degree: float | None = None
) -> csr_array:
    """Return a sparse DAG of independent blocks, each an Erdős–Rényi DAG; nodes are numbered at random over all blocks.

    Parameters
    ----------
    sizes
        Number of nodes of each block.
    density
        Probability of an edge within a block; give this or ``degree``.
    rng
        Seed, generator or RandomState; None is seed 0.
    degree
        Expected number of neighbours of a node; blocks too small for that are complete.

    Examples
    --------
    >>> block_dag([2, 3], 1.0).sum()
    np.int64(4)
    """
    counts = np.array([whole("sizes", size, 1, MOST_NODES) for size in entries("sizes", sizes, "numbers of nodes")])
    if not len(counts):
        raise OptionError("There is at least one block; sizes is empty.")
    if (density is None) == (degree is None):
        raise OptionError(EITHER)
    if degree is None:
        within = np.full(len(counts), between("density", density, 0, 1))
    else:
        within = np.minimum(between("degree", degree, 0, MOST_NODES) / np.maximum(counts - 1, 1), 1.0)
    return sparse_random_dag(counts, within, generator_from(rng, "rng"))


def dense_dag(K: int) -> Graph:
    """Return the paper's B_K: a complete DAG on K(K−1)/2 nodes, each a child of its own pair of K sources.

    Nodes 0 … K−1 are the sources. Although the graph has O(K⁴) edges, RFD recovers it exactly.

    >>> dense_dag(2)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    K = whole("K", K, 2, MOST_NODES)
    require_matrix(K * (K + 1) // 2, "K")
    pairs = list(combinations(range(K), 2))
    p = K + len(pairs)
    dag = np.zeros((p, p), np.int8)
    dag[K:, K:] = np.triu(np.ones((len(pairs), len(pairs)), np.int8), 1)
    for node, pair in enumerate(pairs, start=K):
        dag[list(pair), node] = 1
    return dag


def sparse_random_dag(sizes: ArrayLike, densities: ArrayLike, generator: np.random.Generator) -> csr_array:
    """Return independent Erdős–Rényi DAGs of these sizes and densities as one sparse array, nodes in random order."""
    counts = np.asarray(sizes, np.int64)
    p = int(counts.sum())
    offsets = np.cumsum(counts) - counts
    pairs = counts * (counts - 1) // 2
    edges = generator.binomial(pairs, np.asarray(densities))
    low, high = [], []
    for size, offset, count, chosen in zip(counts, offsets, pairs, edges, strict=True):
        numbers = _distinct(int(count), int(chosen), generator)
        # Pair number b (b − 1) / 2 + a is the pair a < b.
        b = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
        b -= b * (b - 1) // 2 > numbers
        b += b * (b + 1) // 2 <= numbers
        assert len(b) == 0 or int(b.max()) < size
        low.append(offset + numbers - b * (b - 1) // 2)
        high.append(offset + b)
    # A random numbering mixes the blocks and makes the causal order random.
    label = generator.permutation(p)
    rows, columns = label[np.concatenate(low)], label[np.concatenate(high)]
    dag = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(p, p))
    dag.sort_indices()
    return dag


def _distinct(count: int, chosen: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return ``chosen`` distinct numbers below ``count``; all such sets are equally likely."""
    if chosen > count // 2:
        return np.sort(generator.permutation(count)[:chosen])
    found = np.unique(generator.integers(0, max(count, 1), chosen))
    while len(found) < chosen:
        found = np.unique(np.concatenate([found, generator.integers(0, count, chosen - len(found))]))
    return found
