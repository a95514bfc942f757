"""Random DAGs, linear structural equation models on them, and samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, issparse

from rfdag.errors import OptionError, keyword
from rfdag.graphs.dag import Graph, as_dag, topological_order
from rfdag.graphs.sparse import refuse_sparse, same_pattern
from rfdag.runtime.randomness import Seed, generator_from

__all__ = [
    "LinearSEM",
    "block_dag",
    "dense_dag",
    "linear_sem",
    "random_dag",
    "sample",
    "scale_free_dag",
    "standardise",
]

Floats = NDArray[np.float64]

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
    if p < 1:
        raise OptionError(f"A graph has at least one node, not p={p}.")
    if (density is None) == (degree is None):
        raise OptionError(EITHER)
    if density is None:
        assert degree is not None
        if not 0 <= degree <= max(p - 1, 0):
            raise OptionError(
                f"A node of a graph with p={p} has 0 to {p - 1} neighbours, not {keyword('degree', degree)}."
            )
        density = degree / max(p - 1, 1)
    if not 0 <= density <= 1:
        raise OptionError(f"{keyword('density')} is a probability between 0 and 1, not {density}.")
    generator = generator_from(rng, "rng")
    if sparse:
        return sparse_random_dag([p], [density], generator)
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
    if not 1 <= m < p:
        raise OptionError(f"A scale-free graph needs 1 ≤ m < p; m={m} and p={p} were given.")
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
    counts = np.asarray(sizes, np.int64)
    if counts.ndim != 1 or not len(counts) or (counts < 1).any():
        raise OptionError("Blocks have at least one node each, and there is at least one block.")
    if (density is None) == (degree is None):
        raise OptionError(EITHER)
    if (degree is not None and degree < 0) or (density is not None and not 0 <= density <= 1):
        raise OptionError(
            f"{keyword('density')} lies between 0 and 1 and {keyword('degree')} is not negative; not {density} and "
            f"{degree}."
        )
    within = np.full(len(counts), density) if degree is None else np.minimum(degree / np.maximum(counts - 1, 1), 1.0)
    return sparse_random_dag(counts, within, generator_from(rng, "rng"))


def dense_dag(K: int) -> Graph:
    """Return the paper's B_K: a complete DAG on K(K−1)/2 nodes, each a child of its own pair of K sources.

    Nodes 0 … K−1 are the sources. Although the graph has O(K⁴) edges, RFD recovers it exactly.

    >>> dense_dag(2)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    if K < 2:
        raise OptionError(f"B_K needs K ≥ 2 sources, not {K}.")
    pairs = list(combinations(range(K), 2))
    p = K + len(pairs)
    dag = np.zeros((p, p), np.int8)
    dag[K:, K:] = np.triu(np.ones((len(pairs), len(pairs)), np.int8), 1)
    for node, pair in enumerate(pairs, start=K):
        dag[list(pair), node] = 1
    return dag


@dataclass(frozen=True)
class LinearSEM:
    """A linear Gaussian structural equation model: x_j = Σ_i weights[i, j] x_i + Normal(0, variances[j]).

    ``weights`` is a matrix, or a csr_array for a sparse graph; ``dag`` and ``precision()`` are then sparse too.
    """

    weights: Floats
    variances: Floats

    @property
    def dag(self) -> Graph:
        """The graph of the non-zero weights."""
        return (self.weights != 0).astype(np.int8)

    def covariance(self) -> Floats:
        """Return the exact covariance matrix of the variables."""
        if issparse(self.weights):
            raise OptionError("The covariance of a sparse model is a full matrix; use precision(), which is sparse.")
        effects = self._total_effects()
        return (effects.T * self.variances) @ effects

    def precision(self) -> Floats:
        """Return the exact inverse covariance matrix, with exact zeros where the moral graph has no edge.

        >>> sem = LinearSEM(np.array([[0, 0.5], [0, 0]]), np.ones(2))
        >>> sem.precision()
        array([[ 1.25, -0.5 ],
               [-0.5 ,  1.  ]])
        """
        if issparse(self.weights):
            noise = diags_array(1 / self.variances)
            left = eye_array(len(self.variances), format="csr") - self.weights
            return (left @ noise @ left.T).tocsr()
        left = np.eye(len(self.weights)) - self.weights
        return (left / self.variances) @ left.T

    def _total_effects(self) -> Floats:
        """Return (I − A)⁻¹ by one triangular solve in a topological order."""
        order = topological_order(self.dag)
        into = np.ix_(order, order)
        identity = np.eye(len(order))
        effects = np.empty_like(identity)
        effects[into] = solve_triangular(identity - self.weights[into], identity, unit_diagonal=True)
        return effects


def linear_sem(
    dag: ArrayLike,
    rng: Seed = None,
    *,
    weights: tuple[float, float] = (0.25, 1.0),
    variances: ArrayLike = 1.0,
) -> LinearSEM:
    """Return a model on ``dag`` with weights uniform on ±[low, high] and the given noise variances.

    Parameters
    ----------
    dag
        Adjacency matrix, full or sparse.
    rng
        Seed, generator or RandomState; None is seed 0.
    weights
        Smallest and largest absolute weight; the sign is random. The default is the paper's.
    variances
        Noise variance of each node, one number for all or one per node.

    Examples
    --------
    >>> linear_sem([[0, 1], [0, 0]], rng=3).weights.round(2)
    array([[ 0.  , -0.43],
           [ 0.  ,  0.  ]])
    """
    dag = as_dag(dag)
    low, high = weights if isinstance(weights, tuple | list) and len(weights) == 2 else (0.0, 0.0)
    if not 0 < low <= high:
        raise OptionError(f"weights=(low, high) needs 0 < low ≤ high, not {weights}.")
    noise = np.broadcast_to(np.asarray(variances, np.float64), dag.shape[0]).copy()
    if not (noise > 0).all():
        raise OptionError("The variance of a noise is above 0; one given is not.")
    generator = generator_from(rng, "rng")
    if issparse(dag):
        edges = len(dag.data)
        values = generator.uniform(low, high, edges) * generator.choice((-1.0, 1.0), edges)
        return LinearSEM(same_pattern(dag, values), noise)
    size = generator.uniform(low, high, dag.shape)
    sign = generator.choice((-1.0, 1.0), dag.shape)
    return LinearSEM(np.where(dag != 0, size * sign, 0.0), noise)


def standardise(sem: LinearSEM, r2: ArrayLike | None = None) -> LinearSEM:
    """Return the model in which every variable is scaled to variance 1 before it acts on others.

    In a model as drawn, the variances and the share explained by other variables (R²) increase along the causal order
    and so reveal it (Reisach et al.). Scaling the finished columns removes the first clue; scaling each variable while
    the model is built removes most of the second. The signs of the weights, and the ratios of weights into the same
    variable, are kept.

    Parameters
    ----------
    sem
        The model.
    r2
        Share of a variable's variance that its parents explain, one number for all or one per variable, between 0 and
        1; ignored for variables without parents. None keeps noise and weights in the same proportion as in ``sem``: the
        internally standardised model (iSCM) of Ormaniec et al.

    Examples
    --------
    >>> chain = linear_sem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], weights=(1, 1), rng=2)
    >>> np.diag(standardise(chain).covariance())
    array([1., 1., 1.])
    >>> standardise(chain, r2=0.36).weights.round(2)
    array([[ 0. ,  0.6,  0. ],
           [ 0. ,  0. , -0.6],
           [ 0. ,  0. ,  0. ]])

    References
    ----------
    A. Reisach, M. Tami, C. Seiler, A. Chambaz, S. Weichwald: A scale-invariant sorting criterion to find a causal
    order in additive noise models, NeurIPS 2023.
    W. Ormaniec, S. Sussex, L. Lorch, B. Schölkopf, A. Krause: Standardizing structural causal models, ICLR 2025.
    """
    refuse_sparse(sem.weights, "standardise")
    p = len(sem.weights)
    shares = None
    if r2 is not None:
        shares = np.broadcast_to(np.asarray(r2, np.float64), p)
        if not ((shares > 0) & (shares < 1)).all():
            raise OptionError("r2 is a share of variance above 0 and below 1; one given is not.")
    weights, variances, correlation = np.zeros((p, p)), np.ones(p), np.eye(p)
    for node in topological_order(sem.dag):
        parents = np.flatnonzero(sem.weights[:, node])
        if not parents.size:
            continue
        acting = sem.weights[parents, node]
        signal = acting @ correlation[np.ix_(parents, parents)] @ acting
        share = signal / (signal + sem.variances[node]) if shares is None else shares[node]
        weights[parents, node] = acting * np.sqrt(share / signal)
        variances[node] = 1 - share
        with_others = correlation[:, parents] @ weights[parents, node]
        correlation[:, node] = correlation[node] = with_others
        correlation[node, node] = 1
    return LinearSEM(weights, variances)


def sample(sem: LinearSEM, n: int, rng: Seed = None) -> Floats:
    """Return n independent rows drawn from the model; those of a sparse model are stored column by column.

    >>> sample(linear_sem([[0, 1], [0, 0]]), 3).shape
    (3, 2)
    """
    if n < 1:
        raise OptionError(f"A sample has at least one row, not n={n}.")
    generator = generator_from(rng, "rng")
    if issparse(sem.weights):
        return _sample_sparse(sem, n, generator)
    values = generator.standard_normal((n, len(sem.weights))) * np.sqrt(sem.variances)
    for node in topological_order(sem.dag):
        parents = np.flatnonzero(sem.weights[:, node])
        values[:, node] += values[:, parents] @ sem.weights[parents, node]
    return values


def _sample_sparse(sem: LinearSEM, n: int, generator: np.random.Generator) -> Floats:
    by_child = csc_array(sem.weights)
    # Variables are computed one after the other, so columns are kept contiguous.
    columns = generator.standard_normal((len(sem.variances), n))
    columns *= np.sqrt(sem.variances)[:, None]
    for node in topological_order(sem.dag).tolist():
        first, last = by_child.indptr[node], by_child.indptr[node + 1]
        if first < last:
            columns[node] += by_child.data[first:last] @ columns[by_child.indices[first:last]]
    return columns.T


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
