"""Linear Gaussian structural equation models, and samples from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csc_array, diags_array, eye_array, issparse

from rfdag.errors import OptionError
from rfdag.graphs.dag import Graph, as_dag, topological_order
from rfdag.graphs.sparse import refuse_sparse, same_pattern
from rfdag.runtime.memory import require_rows
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.values import numbers, pair, shown, whole

Floats = NDArray[np.float64]


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
    low, high = pair("weights", weights)
    noise = _one_each("variances", variances, dag.shape[0])
    if not ((noise > 0) & (noise < np.inf)).all():
        raise OptionError("The variance of a noise is above 0 and finite; one given is not.")
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
    require_model(sem)
    refuse_sparse(sem.weights, "standardise")
    p = len(sem.weights)
    shares = None
    if r2 is not None:
        shares = _one_each("r2", r2, p)
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
    require_model(sem)
    n = whole("n", n, 1)
    require_rows(n, sem.weights.shape[0])
    generator = generator_from(rng, "rng")
    with np.errstate(over="ignore", invalid="ignore"):
        values = (_sample_sparse if issparse(sem.weights) else _sample_full)(sem, n, generator)
    if not np.isfinite(values).all():
        largest = float(np.abs(sem.weights).max())
        raise OptionError(f"Rows of this model exceed the largest number; its weights go up to {largest:.3g}.")
    return values


def require_model(sem: LinearSEM) -> None:
    """Raise unless this is a linear model."""
    if not isinstance(sem, LinearSEM):
        raise OptionError(f"sem is a LinearSEM, as linear_sem returns it, not {shown(sem)}.")


def _one_each(name: str, given: ArrayLike, p: int) -> Floats:
    """Return an argument that is one number for all variables or one for each, as an array of its own."""
    found = numbers(name, given)
    if found.shape not in ((), (p,)):
        raise OptionError(f"{name} is one number, or {p} of them, not an array of shape {found.shape}.")
    return np.broadcast_to(found, p).copy()


def _sample_full(sem: LinearSEM, n: int, generator: np.random.Generator) -> Floats:
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
