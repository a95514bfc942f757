"""How strong edges are, by what the caller asks for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import OptionError, listed
from rfdag.graphs.sparse import entries_at, issparse

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

Weights: TypeAlias = "str | ArrayLike | Mapping[tuple[Hashable, Hashable], float] | Bootstrap | None"
NAMED = ("partial_correlation", "coefficient", "equal")


class Strengths(NamedTuple):
    """One number from 0 to 1 per edge of the DAG, and what it stands for; empty where all are equal."""

    values: NDArray[np.float64]
    meaning: str


def strengths(result: Result, weights: Weights) -> Strengths:
    """Return the strength of every edge of the DAG, in the order of ``dag.nonzero()``.

    ``weights`` is "partial_correlation", "coefficient" or "equal"; a matrix or a mapping from (source, target); a
    bootstrap, for its frequencies; or None for partial correlations where they are known.
    """
    sources, targets = result.dag.nonzero()
    if weights is None:
        weights = "equal" if result.partial_correlations is None else "partial_correlation"
    if isinstance(weights, str):
        return _named(result, weights, sources, targets)
    if hasattr(weights, "edge_frequency"):
        return Strengths(entries_at(_frequencies(result, weights), sources, targets), "share of the runs")
    found = (
        _of_mapping(result, weights, sources, targets)
        if isinstance(weights, Mapping)
        else entries_at(_checked(result, weights), sources, targets)
    )
    return Strengths(_scaled(result, np.asarray(found, np.float64), sources, targets, at_least=1.0), "weight")


def _named(result: Result, weights: str, sources: NDArray[Any], targets: NDArray[Any]) -> Strengths:
    if weights not in NAMED:
        raise OptionError(
            f"weights is one of {', '.join(NAMED)}, a matrix, a mapping from (source, target) or a bootstrap, not "
            f"{weights!r}."
        )
    if weights == "equal":
        return Strengths(np.ones(len(sources)), "")
    matrix = result.coefficients if weights == "coefficient" else result.partial_correlations
    if matrix is None:
        raise OptionError(
            f"This result has no {weights}s: its input was exact and sparse, a DAG, or its moments were not kept. "
            "Pass weights='equal'."
        )
    # Correlations have a scale of their own, so that pictures can be compared; coefficients have none.
    least = 1.0 if weights == "partial_correlation" else 0.0
    values = _scaled(result, entries_at(matrix, sources, targets), sources, targets, at_least=least)
    return Strengths(values, f"|{weights.replace('_', ' ')}|")


def _of_mapping(
    result: Result, weights: Mapping[Any, float], sources: NDArray[Any], targets: NDArray[Any]
) -> list[float]:
    known = set(result.names)
    strange = [end for pair in weights for end in pair if end not in known]
    if strange:
        raise OptionError(f"weights= names {listed(dict.fromkeys(strange))}, which are no variables of this result.")
    pairs = [(result.names[i], result.names[j]) for i, j in zip(sources.tolist(), targets.tolist(), strict=True)]
    return [weights.get((i, j), weights.get((j, i), 0.0)) for i, j in pairs]


def _frequencies(result: Result, bootstrap: Any) -> Any:
    """Return how often each pair was adjacent in a bootstrap, in the order of the result's columns."""
    place = {name: at for at, name in enumerate(bootstrap.names)}
    missing = [name for name in result.names if name not in place]
    if missing:
        raise OptionError(f"weights= is a bootstrap without {listed(missing)}; pass one of the same columns.")
    into = [place[name] for name in result.names]
    return bootstrap.edge_frequency[np.ix_(into, into)]


def _checked(result: Result, weights: Any) -> Any:
    matrix: Any = weights.tocsr() if issparse(weights) else np.asarray(weights)
    p = len(result.names)
    if matrix.shape != (p, p) or matrix.dtype.kind not in "biuf":
        raise OptionError(
            f"weights= is an array of shape {matrix.shape} and type {matrix.dtype}; it needs a number for every pair, "
            f"so {p} rows and columns."
        )
    if issparse(matrix):
        matrix.sort_indices()
    return matrix


def _scaled(
    result: Result, values: NDArray[np.float64], sources: NDArray[Any], targets: NDArray[Any], *, at_least: float
) -> NDArray[np.float64]:
    size = np.abs(values)
    if not np.isfinite(size).all():
        at = int(np.flatnonzero(~np.isfinite(size))[0])
        edge = f"{result.names[sources[at]]!r} → {result.names[targets[at]]!r}"
        raise OptionError(f"weights= has {values[at]} at {edge}; every edge needs a finite number.")
    largest = max(float(size.max(initial=0.0)), at_least)
    return size / largest if largest > 0 else size
