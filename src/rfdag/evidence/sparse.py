"""Learning from sparse input: a DAG or a precision matrix as a SciPy sparse array of any format.

Nothing on this way makes a p × p array: checks, elimination and answer follow the number of entries.
"""

from __future__ import annotations

import zipfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from rfdag.eliminate.engines.sparse import MOST_VARIABLES, SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.kernels import sparse as kernels
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import FileError, GraphError, MatrixError, OptionError, RfdagError, as_columns, keyword
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import GraphIndependence, Independence
from rfdag.evidence.spread import about_range
from rfdag.graphs.sparse import canonical, sparse_dag
from rfdag.input.checks import checked_names
from rfdag.input.files import reading
from rfdag.runtime.unpacking import require_plausible
from rfdag.values import path_of

SAVE_IT = "If you trust it, load it with scipy.sparse.load_npz and pass the array."
"""What to do with a file that was packed too well."""

SYMMETRIC = 1e-8
"""Relative difference of two mirrored entries that passes for rounding."""


class Sparse(Evidence):
    """Sparse evidence: a true DAG, or a precision matrix with the roots of its diagonal; what it is not is None."""

    sparse: ClassVar[bool] = True
    kernel: ClassVar[Any] = kernels.run
    dag: Any = None
    roots: Any = None

    def lost_precision(self, removed: int, spoilt: int) -> RfdagError:
        """Return the error for variables that rounding has spoilt."""
        return MatrixError(
            "The precision matrix is not positive definite, as far as doubles can tell: once "
            f"{self.names[removed]!r} is removed, nothing is left of the variance of {self.names[spoilt]!r}. Drop or "
            "combine the two, estimate the matrix anew, or add to its diagonal."
        )


@dataclass(frozen=True, eq=False)
class SparseOracle(Sparse):
    """A known sparse DAG, which answers every question about conditional independence."""

    names: tuple[Hashable, ...]
    dag: csr_array = field(repr=False)
    n_samples: None = None
    kind: str = "dag"

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> SparseOracleEngine:
        """Return the engine, ready to eliminate."""
        return SparseOracleEngine(self.dag)

    def independence(self, alpha: float) -> Independence:
        """Return the answers to questions of conditional independence."""
        return GraphIndependence(self.dag)


@dataclass(frozen=True, eq=False)
class SparsePrecision(Sparse):
    """A sparse precision matrix as partial correlations without their diagonal, and the roots of its diagonal."""

    names: tuple[Hashable, ...]
    n_samples: int | None
    partial: csr_array = field(repr=False)
    roots: Any = field(repr=False)
    tolerance: float = 1e-8
    kind: str = "precision"

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> SparseEngine:
        """Return the engine, ready to eliminate."""
        if self.n_samples is None:
            return SparseEngine(self.partial, Tolerance(self.tolerance))
        threshold = FisherZ(self.n_samples, alpha)
        threshold.require(len(self.names))
        return SparseEngine(self.partial, threshold)

    def warnings(self, *, scored: bool = False) -> tuple[str, ...]:
        """Return which variables vary too little or too much for their variances."""
        return about_range(self.names, 1 / self.roots)

    def independence(self, alpha: float) -> Independence:
        """Raise: the tests of a sparse precision matrix are those of its elimination."""
        raise OptionError("Tests of conditional independence need a dense matrix; pass .toarray().")


def as_sparse(source: Any) -> Any:
    """Return the sparse array that the source is, or that its file holds; None if it is something else."""
    if issparse(source):
        return source
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".npz":
        path = path_of(source)
        if path.is_file() and zipfile.is_zipfile(path):
            with reading(path), zipfile.ZipFile(path) as archive:
                if {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist()):
                    require_plausible(path, sum(entry.file_size for entry in archive.infolist()), SAVE_IT)
                    return _loaded(path)
    return None


def _loaded(path: Path) -> Any:
    """Return the sparse array in a file; objects, which only unpickling could read, are refused."""
    try:
        found = load_npz(path)
        if hasattr(found, "check_format"):
            # Places that point beyond its arrays would be followed otherwise.
            found.check_format(full_check=True)
        return found
    except Exception as problem:
        # SciPy and NumPy pass on whatever a parser of theirs has to object.
        raise FileError(
            f"{path} is no sparse array of numbers, or damaged ({problem}); write it with scipy.sparse.save_npz."
        ) from None


def read_sparse(
    matrix: Any, input: str, n_samples: int | None, names: Sequence[Hashable] | None, tolerance: float = 1e-8
) -> Sparse:
    """Return the evidence in a sparse array, checked; the array itself is left as it is."""
    if matrix.shape[-1] > MOST_VARIABLES:
        raise OptionError(f"Found {matrix.shape[-1]} variables; an elimination takes up to {MOST_VARIABLES}.")
    names = checked_names(tuple(range(matrix.shape[-1])), names)
    if input == "dag":
        if not names:
            raise GraphError("The DAG has no nodes; it needs at least one.")
        return SparseOracle(names, sparse_dag(matrix, names))
    if input == "precision":
        return _precision(matrix, n_samples, names, tolerance)
    raise OptionError(
        f"Found a sparse {type(matrix).__name__} as {keyword('input', input)}; sparse arrays are taken as "
        f"{keyword('input', 'precision')} or {keyword('input', 'dag')}. A sparse correlation or covariance matrix "
        "has a full inverse; pass its .toarray()."
    )


def _precision(matrix: Any, n_samples: int | None, names: tuple[Hashable, ...], tolerance: float) -> SparsePrecision:
    if len(names) < 2:
        raise MatrixError("Found a precision matrix of one variable or none; an order needs at least two.")
    if n_samples is not None and (not isinstance(n_samples, int | np.integer) or n_samples < 2):
        raise OptionError(f"{keyword('n_samples')} is a number of rows, at least 2, not {n_samples!r}.")
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
    return SparsePrecision(names, None if n_samples is None else int(n_samples), partial, roots, tolerance)


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
