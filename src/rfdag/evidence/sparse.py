"""Learning from sparse input: a DAG or a precision matrix as a SciPy sparse array of any format.

Nothing on this way makes a p × p array: checks, elimination and answer follow the number of entries.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from rfdag.eliminate.elimination import Elimination
from rfdag.eliminate.engines.engine import LostPrecision
from rfdag.eliminate.engines.sparse import MOST_VARIABLES, SparseEngine, SparseOracleEngine, eliminate_sparse
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import GraphError, MatrixError, OptionError, as_columns, listed
from rfdag.evidence.moments import Regressions
from rfdag.graphs.sparse import canonical, same_pattern, sparse_dag
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.settings import Settings
from rfdag.orders.sparse_parents import Family, families_by_marginals, families_by_separation, with_families

SYMMETRIC = 1e-8
"""Relative difference of two mirrored entries that passes for rounding."""


@dataclass(frozen=True, eq=False)
class SparseOracle:
    """A known sparse DAG, which answers every question about conditional independence."""

    names: tuple[Hashable, ...]
    dag: csr_array = field(repr=False)
    n_samples: None = None

    def engine(self, settings: Settings) -> SparseOracleEngine:
        """Return the engine, ready to eliminate."""
        return SparseOracleEngine(self.dag)


@dataclass(frozen=True, eq=False)
class SparsePrecision:
    """A sparse precision matrix as partial correlations without their diagonal, and the roots of its diagonal."""

    names: tuple[Hashable, ...]
    n_samples: int | None
    partial: csr_array = field(repr=False)
    roots: Any = field(repr=False)

    def engine(self, settings: Settings) -> SparseEngine:
        """Return the engine, ready to eliminate."""
        if self.n_samples is None:
            return SparseEngine(self.partial, Tolerance(settings.tolerance))
        threshold = FisherZ(self.n_samples, settings.alpha)
        threshold.require(len(self.names))
        return SparseEngine(self.partial, threshold)

    def regressions(self, engine: SparseEngine, changed: list[Family]) -> Regressions:
        """Return every variable's coefficients on its parents, and residual variances, in the units of the input."""
        slopes, variances = engine.regressions()
        known = [family for family in changed if family.variance is not None]
        slopes = with_families(slopes, known, values=True)
        for family in known:
            variances[family.child] = family.variance
        children = slopes.indices
        parents = np.repeat(np.arange(len(self.roots)), np.diff(slopes.indptr))
        weights = same_pattern(slopes, slopes.data * self.roots[parents] / self.roots[children])
        # Those given the other parents alone would take more than the elimination knows.
        return Regressions(weights, variances / self.roots**2, None)  # type: ignore[arg-type]


Sparse = SparseOracle | SparsePrecision


def as_sparse(source: Any) -> Any:
    """Return the sparse array that the source is, or that its file holds; None if it is something else."""
    if issparse(source):
        return source
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".npz":
        path = Path(source).expanduser()
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist()):
                    return load_npz(path)
    return None


def read_sparse(matrix: Any, input: str, n_samples: int | None, names: tuple[Hashable, ...]) -> Sparse:
    """Return the evidence in a sparse array, checked; the array itself is left as it is."""
    if len(names) > MOST_VARIABLES:
        raise OptionError(f"Found {len(names)} variables; an elimination takes up to {MOST_VARIABLES}.")
    if input == "dag":
        if not names:
            raise GraphError("The DAG has no nodes; it needs at least one.")
        return SparseOracle(names, sparse_dag(matrix, names))
    if input == "precision":
        return _precision(matrix, n_samples, names)
    raise OptionError(
        f"Found a sparse {type(matrix).__name__} as input={input!r}; sparse arrays are taken as input='precision' or "
        "'dag'. A sparse correlation or covariance matrix has a full inverse; pass its .toarray()."
    )


def _precision(matrix: Any, n_samples: int | None, names: tuple[Hashable, ...]) -> SparsePrecision:
    if len(names) < 2:
        raise MatrixError("Found a precision matrix of one variable or none; an order needs at least two.")
    if n_samples is not None and (not isinstance(n_samples, int | np.integer) or n_samples < 2):
        raise OptionError(f"n_samples is a number of rows, at least 2, not {n_samples!r}.")
    given = canonical(matrix, names, kind="precision matrix", error=MatrixError).astype(np.float64)
    diagonal = given.diagonal()
    bad = ~(diagonal > 0)
    if bad.any():
        raise MatrixError(
            "The diagonal of a precision matrix is positive; it is not, or not stored, at "
            f"{as_columns([names[at] for at in np.flatnonzero(bad)])}. Drop constant variables."
        )
    roots = np.sqrt(diagonal)
    entries = given.tocoo()
    rows, columns = entries.coords
    scaled = csr_array((entries.data / (roots[rows] * roots[columns]), (rows, columns)), shape=given.shape)
    _require_symmetry(scaled, given, names)
    entries = ((scaled + scaled.T) / 2).tocoo()
    rows, columns = entries.coords
    off = rows != columns
    rows, columns, values = rows[off], columns[off], -entries.data[off]
    beyond = np.abs(values) >= 1
    if beyond.any():
        i, j = int(rows[beyond][0]), int(columns[beyond][0])
        raise MatrixError(
            f"The precision matrix is not positive definite: {names[i]!r} and {names[j]!r} have a partial correlation "
            f"of {values[beyond][0]:.6g}, which lies beyond ±1. Estimate it anew, or add to its diagonal."
        )
    partial = csr_array((values, (rows, columns)), shape=given.shape)
    return SparsePrecision(names, None if n_samples is None else int(n_samples), partial, roots)


def _require_symmetry(scaled: csr_array, given: csr_array, names: tuple[Hashable, ...]) -> None:
    difference = abs(scaled - scaled.T).tocoo()
    rows, columns = difference.coords
    off = difference.data > SYMMETRIC
    if not off.any():
        return
    i, j = int(rows[off][0]), int(columns[off][0])
    one_sided = given[i, j] == 0 or given[j, i] == 0
    cure = "Pass M + M.T with its diagonal halved if only a triangle is stored, or (M + M.T) / 2 if that is rounding."
    raise MatrixError(
        f"The precision matrix is not symmetric: entry ({names[i]!r}, {names[j]!r}) is {given[i, j]:.6g} but "
        f"({names[j]!r}, {names[i]!r}) is {given[j, i]:.6g}{', or not stored' if one_sided else ''}; "
        f"{int(off.sum()) // 2} pairs differ. {cure}"
    )


def refuse_options(settings: Settings) -> None:
    """Raise for options that ask for what is not done on sparse input."""
    if settings.rule in ("gsp", "sp"):
        raise OptionError(
            f"rule={settings.rule!r} searches over whole orders and needs full matrices; on sparse input use "
            "rule='rfd', or pass .toarray()."
        )
    if settings.device != "cpu":
        raise OptionError(
            f"Sparse input is eliminated on the CPU; leave device={settings.device!r} out, or pass .toarray()."
        )
    asked = {
        "refine": settings.refine is True,
        "parents": settings.parents == "bic",
        "beam": settings.beam != "auto",
        "penalty": isinstance(settings.penalty, tuple),
        "gamma": settings.gamma != "auto",
        "restarts": settings.restarts not in ("auto", 0),
        "time_limit": settings.time_limit is not None,
    }
    wrong = [name for name, given in asked.items() if given]
    if wrong:
        raise OptionError(
            f"{listed(wrong)}: these ask for a search by BIC or over covered edges, which sparse input does not get. "
            "It is eliminated once, by rule 'rfd' or a baseline. Leave them out, or pass .toarray()."
        )


def eliminate_evidence(
    evidence: Sparse,
    engine: SparseEngine | SparseOracleEngine,
    settings: Settings,
    report: Callable[[float], None],
    constraints: Constraints | None = None,
) -> tuple[Elimination, Regressions | None]:
    """Return the elimination of sparse evidence, and the regressions that come with an exact precision matrix."""
    # Families that knowledge changes are read off a second way through the same order.
    spare = engine.copy() if constraints is not None and isinstance(engine, SparseEngine) else None
    changed: list[Family] = []
    try:
        elimination = eliminate_sparse(engine, **settings.by_counts(), report=report, constraints=constraints)
        if constraints is not None:
            found = elimination.dag, elimination.order
            if isinstance(spare, SparseEngine):
                changed = list(families_by_marginals(*found, spare, constraints))
            else:
                assert isinstance(evidence, SparseOracle)
                changed = list(families_by_separation(*found, evidence.dag, constraints))
            elimination = replace(elimination, dag=with_families(elimination.dag, changed))
    except LostPrecision as lost:
        gone, spoilt = (evidence.names[at] for at in lost.variables)
        raise MatrixError(
            f"The precision matrix is not positive definite, as far as doubles can tell: once {gone!r} is removed, "
            f"nothing is left of the variance of {spoilt!r}. Drop or combine the two, estimate the matrix anew, or add "
            "to its diagonal."
        ) from None
    if isinstance(evidence, SparsePrecision) and isinstance(engine, SparseEngine) and evidence.n_samples is None:
        return elimination, evidence.regressions(engine, changed)
    return elimination, None
