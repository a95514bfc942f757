"""Moments and partial correlations on a GPU, as accurate as `rfdag.evidence.moments` makes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.eliminate.engines.gpu import GpuEngine, bytes_of_engine
from rfdag.eliminate.engines.gpu_oracle import GpuOracleEngine, bytes_of_oracle
from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.gpu_local import DeviceCorrelations
from rfdag.evidence.local import GroupedMoments, LocalMoments
from rfdag.evidence.matrices import HOPELESS, check_two_rows, dependence
from rfdag.evidence.moments import Floats, Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.profile import Look, Profile, Spread
from rfdag.evidence.row_factor import RowFactor
from rfdag.evidence.spread import check_spread, is_narrow, powers_of_two
from rfdag.evidence.summary import SURELY_ROUND, Summary
from rfdag.runtime.device import SPARE, cupy, free_memory, on_host, require_memory

STILL_ROUND = 1e6
"""Condition up to which a second round of products mends what the first has lost; beyond it a real QR is taken."""

FIELDS = tuple(entry.name for entry in fields(Moments))

CELLS_AT_ONCE = 2**27
"""Numbers worked on at a time, unless there are too many columns for that: a gigabyte."""


def bytes_of_moments(n: int, p: int) -> float:
    """Return the device memory that the moments of n rows take at least: matrices of products, a piece of the rows."""
    return 8.0 * (6.0 * p * p + 3.0 * min(n, _rows_at_once(p)) * p)


class _Fetched:
    """A factor that is copied from the device when the host asks for it: of many variables that takes long."""

    def __get__(self, moments: Any, owner: type) -> Floats:
        if moments is None:
            raise AttributeError("factor")
        known = moments.__dict__
        if known.get("factor") is None:
            known["factor"] = on_host(moments.held)
        found: Floats = known["factor"]
        return found

    def __set__(self, moments: Any, factor: Floats | None) -> None:
        moments.__dict__["factor"] = factor


@dataclass(frozen=True, eq=False)
class DeviceMoments(Moments):
    """Moments whose factor is on the device, where correlations and partial correlations are computed."""

    factor = _Fetched()  # type: ignore[assignment]

    held: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, moments: Moments) -> Self:
        """Return the same moments, with a copy of their factor on the device if there is none yet."""
        if isinstance(moments, cls):
            return moments
        known = {name: getattr(moments, name) for name in FIELDS}
        return cls(**known, held=cupy().asarray(moments.factor))

    @property
    def resident(self) -> Any:
        """The factor on the device."""
        return self.held

    @classmethod
    def from_data(
        cls,
        values: ArrayLike,
        names: Sequence[Hashable] | None = None,
        report: Callable[[float], None] = lambda share: None,
        *,
        looked_at: bool = True,
    ) -> Self:
        """Return the moments of an n × p array of finite numbers on the host, larger than the device if need be."""
        cp = cupy()
        values = np.asarray(values)
        n, p = values.shape
        labels = tuple(names) if names is not None else tuple(range(p))
        check_two_rows(n)
        rows = _Rows(values)
        rows.centre()
        factor, norms = _factor(rows)
        scales = norms / math.sqrt(n - 1) * cp.asnumpy(rows.units)
        extremes = cp.asnumpy(rows.lowest), cp.asnumpy(rows.highest)
        check_spread(labels, *extremes, scales)
        means = cp.asnumpy(rows.origins + rows.means * rows.units)
        seen = Look(values).profile(labels, n, extremes, Spread(means, scales)) if looked_at else Profile()
        return cls(labels, n, None, means, scales, notes=seen.notes, columns=seen.columns, held=factor)  # type: ignore[arg-type]

    @classmethod
    def from_summary(cls, summary: Summary, names: Sequence[Hashable] | None = None, *, looked_at: bool = True) -> Self:
        """Return the moments of rows that were summed up on the CPU; what is computed from here on is on the device."""
        return cls.of(Moments.from_summary(summary, names, looked_at=looked_at))

    def arranged_factor(self, places: NDArray[np.int64]) -> dict[str, Any]:
        """Return the factor on the device with its columns in another arrangement."""
        return {"factor": None, "held": self.held[:, cupy().asarray(places)]}

    def local(self) -> GroupedMoments:
        """Return what local scores ask: correlations on the device, if they fit there."""
        if not DeviceCorrelations.fit(len(self.names)):
            return super().local()
        return DeviceCorrelations(self.held, self.rows, self.directions, self.price_factors)

    def local_on_demand(self) -> LocalMoments:
        """Return the same; a matrix of all pairs is on the host only if it is asked for."""
        return self.local() if DeviceCorrelations.fit(len(self.names)) else super().local_on_demand()

    @property
    def correlation(self) -> Floats:
        """The correlation matrix."""
        correlation: Floats = cupy().asnumpy(self.held.T @ self.held)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    def partial_on_device(self, variables: NDArray[np.int64] | None = None) -> Any:
        """Return what `partial_correlations` returns, on the device."""
        cp = cupy()
        if variables is None and self.partial is not None:
            return cp.asarray(self.partial)
        triangle = _triangle(self.held if variables is None else self.held[:, cp.asarray(variables)])
        inverse, condition = _invert(triangle)
        if not condition < HOPELESS:
            names = self.names if variables is None else [self.names[at] for at in variables]
            raise dependence(cp.asnumpy(triangle), names)
        inverse /= cp.sqrt((inverse * inverse).sum(axis=1))[:, None]
        partial = inverse @ inverse.T
        del inverse
        cp.clip(partial, -1.0, 1.0, out=partial)
        cp.negative(partial, out=partial)
        cp.fill_diagonal(partial, 1.0)
        return partial

    def partial_correlations(self, variables: Sequence[int] | NDArray[np.int64] | None = None) -> Floats:
        """Return the correlation of each pair given all the others (of ``variables``), ones on the diagonal."""
        chosen = None if variables is None else np.asarray(variables)
        partial: Floats = cupy().asnumpy(self.partial_on_device(chosen))
        return partial

    @cached_property
    def moments(self) -> Moments:
        """The moments without anything on the device."""
        known = {name: getattr(self, name) for name in FIELDS}
        return Moments(**known | {"given": None if self.given is None else self.given.moments})

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> GpuEngine:
        """Return the engine on the device, ready to eliminate."""
        require_memory(len(self.names), 0, lambda p, _: bytes_of_engine(p))
        return GpuEngine(self.partial_on_device(), **self.state(alpha, pairs))

    def condition(self) -> float:
        """Return the condition number of the factor: the root of the correlation's."""
        if len(self.held) < len(self.names):
            return math.inf
        return super().condition() if self.partial is not None else _invert(_triangle(self.held))[1]


@dataclass(frozen=True, eq=False)
class DeviceOracle(Oracle):
    """A known DAG whose elimination runs on the device."""

    kernel: ClassVar[Any] = None

    @classmethod
    def of(cls, oracle: Oracle) -> Self:
        """Return the same oracle, to be eliminated on the device."""
        return cls(oracle.dag, oracle.names)

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> GpuOracleEngine:
        """Return the engine on the device, ready to eliminate."""
        require_memory(len(self.names), 0, lambda p, _: bytes_of_oracle(p))
        return GpuOracleEngine(self.dag)


ON_DEVICE: dict[type[Evidence], Callable[[Any], Evidence]] = {
    Moments: DeviceMoments.of,
    DeviceMoments: DeviceMoments.of,
    Oracle: DeviceOracle.of,
    DeviceOracle: DeviceOracle.of,
}
"""How evidence is taken to the device; what is not listed stays on the CPU."""


def placed(evidence: Evidence, device: str) -> Evidence:
    """Return evidence whose elimination runs on a device."""
    if device == "cpu":
        return evidence
    if evidence.mixed is not None:
        evidence.mixed.refuse(f"{keyword('device', device)} is for variables of one column each")
    if type(evidence) not in ON_DEVICE:
        raise OptionError(
            f"Sparse input is eliminated on the CPU; leave {keyword('device', device)} out, or pass .toarray()."
        )
    return ON_DEVICE[type(evidence)](evidence)


class _Rows:
    """The rows of an array in pieces on the device; all of them stay there if they fit."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._cp = cupy()
        self._values = values
        self.size, columns = values.shape
        step = min(self.size, _rows_at_once(columns))
        self._pieces = [slice(start, start + step) for start in range(0, self.size, step)]
        self.means: Any = None
        fits = bytes_of_moments(*values.shape) + 8.0 * values.size < free_memory() - SPARE
        self._kept = [self._bring(piece) for piece in self._pieces] if fits else None

    def centre(self) -> None:
        """Bring the columns near 1 and their means to 0; those far from 0 for their spread are moved there first."""
        cp = self._cp
        extremes = [(piece.min(axis=0), piece.max(axis=0)) for piece in self]
        self.lowest = cp.min(cp.stack([low for low, _ in extremes]), axis=0)
        self.highest = cp.max(cp.stack([high for _, high in extremes]), axis=0)
        narrow = is_narrow(self.lowest, self.highest, cp) & (self.lowest != self.highest)
        self.origins = cp.where(narrow, self.lowest, 0.0)
        sizes = cp.maximum(cp.abs(self.lowest - self.origins), cp.abs(self.highest - self.origins))
        sizes = cp.where(self.lowest == self.highest, 1.0, sizes)
        self.units = cp.asarray(powers_of_two(cp.asnumpy(sizes)))
        self.means = sum(map(self._sums, self)) / self.size
        if self._kept is not None:
            self._kept = [self._centred(piece) for piece in self._kept]

    def __iter__(self) -> Iterator[Any]:
        """Yield piece after piece, centred once that is done."""
        if self._kept is not None:
            yield from self._kept
        else:
            for piece in self._pieces:
                rows = self._bring(piece)
                yield rows if self.means is None else self._centred(rows)

    def _bring(self, piece: slice) -> Any:
        return self._cp.asarray(np.ascontiguousarray(self._values[piece], dtype=np.float64))

    def _sums(self, piece: Any) -> Any:
        rows = piece - self.origins
        rows /= self.units
        return rows.sum(axis=0)

    def _centred(self, rows: Any) -> Any:
        rows -= self.origins
        rows /= self.units
        rows -= self.means
        return rows


def _factor(rows: _Rows) -> tuple[Any, Floats]:
    """Return F with unit columns and FᵀF the correlation matrix, and the norms of the columns.

    Products are fast and lose half the digits; a second round, on rows that the first has made nearly orthogonal,
    brings these back (CholeskyQR2). Where even that would fail, the rows are decomposed as they are.
    """
    cp = cupy()
    products = sum(piece.T @ piece for piece in rows)
    norms = cp.sqrt(cp.diag(products))
    safe = cp.where(norms > 0, norms, 1.0)
    products /= safe
    products /= safe[:, None]
    first = _cholesky(products)
    if first is not None:
        condition = _invert(first)[1]
        if condition < SURELY_ROUND:
            return first, cp.asnumpy(norms)
        if condition < STILL_ROUND:
            second = _cholesky(_products_of_solved(rows, first, safe))
            if second is not None:
                return second @ first, cp.asnumpy(norms)
    by_qr = RowFactor(len(safe), cp)
    for piece in rows:
        by_qr.add(piece / safe)
    factor = by_qr.factor
    sizes = cp.sqrt((factor * factor).sum(axis=0))
    return factor / cp.where(sizes > 0, sizes, 1.0), cp.asnumpy(norms * sizes)


def _products_of_solved(rows: _Rows, triangle: Any, norms: Any) -> Any:
    """Return QᵀQ for the rows Q R = X / norms, R being the triangle."""
    from cupyx.scipy.linalg import solve_triangular

    products = 0.0
    for piece in rows:
        solved = solve_triangular(triangle, (piece / norms).T, trans="T")
        products = products + solved @ solved.T
    return products


def _cholesky(matrix: Any) -> Any | None:
    """Return the upper Cholesky factor, or None where there is none."""
    cp = cupy()
    from cupyx import errstate

    try:
        with errstate(linalg="raise"):
            factor = cp.linalg.cholesky(matrix).T
    except np.linalg.LinAlgError:
        return None
    return cp.ascontiguousarray(factor) if bool(cp.isfinite(cp.diag(factor)).all()) else None


def _triangle(factor: Any) -> Any:
    """Return R of a QR decomposition of the factor, unless the factor is such an R already."""
    cp = cupy()
    if len(factor) <= factor.shape[1] and not bool(cp.tril(factor, -1).any()):
        return factor
    return cp.linalg.qr(factor, mode="r")


def _invert(triangle: Any) -> tuple[Any, float]:
    """Return the inverse of an upper triangle, and its condition number; infinite where there is no inverse."""
    cp = cupy()
    from cupyx.scipy.linalg import solve_triangular

    if len(triangle) < triangle.shape[1] or not bool(cp.diag(triangle).all()):
        return triangle, math.inf
    inverse = solve_triangular(triangle, cp.eye(len(triangle)))
    condition = float(cp.abs(triangle).sum(axis=0).max() * cp.abs(inverse).sum(axis=0).max())
    return inverse, condition if math.isfinite(condition) else math.inf


def _rows_at_once(p: int) -> int:
    return max(p, CELLS_AT_ONCE // p)
