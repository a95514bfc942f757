"""Results as versioned JSON: readable anywhere, no pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import csr_array, issparse

from rfdag.eliminate.trace import Trace
from rfdag.errors import DataMessage, FileError, OptionError, listed
from rfdag.evidence.moments import Moments
from rfdag.evidence.regressions import Regressions
from rfdag.graphs.dag import as_dag, check_order
from rfdag.graphs.sparse import entries_at
from rfdag.input.checks import check_duplicates
from rfdag.input.columns import Column
from rfdag.input.files import require_memory
from rfdag.methods.settings import Settings
from rfdag.methods.soft import Soft
from rfdag.names import decode_name, encode_name
from rfdag.orders.exact import Proof
from rfdag.orders.path import PathPoint
from rfdag.orders.portfolio import Attempt
from rfdag.orders.reversals import Alternative
from rfdag.precision.estimator import UsedEstimator
from rfdag.result.environment_storage import (
    decode_environments,
    decode_interventions,
    encode_environments,
    encode_interventions,
)
from rfdag.result.mixed_storage import decode_mixed, encode_mixed
from rfdag.result.records import (
    ROUNDING,
    counts,
    decode_pair_rows,
    encode_pair_rows,
    numbers,
    record,
    value_as,
)
from rfdag.result.trace_storage import decode_trace, encode_trace
from rfdag.runtime.json_text import memory_of, parsed
from rfdag.runtime.memory import TRIFLE, available_memory
from rfdag.values import path_of

if TYPE_CHECKING:
    from rfdag.result.result import Result

FORMAT = "rfdag-result"
VERSION = 3
ARRAYS = ("factor", "means", "scales", "partial")
NUMBERS = ("kind", "tolerance", "ddof", "correlated")
TOO_LARGE = "Load it on a machine with more memory."
"""What to do with a file whose content does not fit."""
BYTES_PER_PAIR = 24
"""Memory for each pair of variables in the full matrices of a result: the DAG, coefficients, partial correlations."""
Content = TypeVar("Content")


def encode(result: Result, *, with_moments: bool) -> dict[str, Any]:
    """Return the result as an object that JSON can hold."""
    from rfdag import __version__
    from rfdag.knowledge.files import to_parts

    names = [encode_name(name) for name in result.names]
    place = {name: at for at, name in enumerate(result.names)}
    weights, variances, partial = result.coefficients, result.residual_variances, result.partial_correlations
    sources, targets = result.dag.nonzero()
    # What rows with gaps are worth is not kept without moments.
    kept = result.gains is not None or (result.moments is not None and result.moments.pair_rows is not None)
    gains = [edge.gain for edge in result.edges] if kept else None
    return {
        "format": FORMAT,
        "version": VERSION,
        "rfdag": __version__,
        "names": names,
        "order": [place[name] for name in result.order],
        "sparse": bool(issparse(result.dag)),
        "edges": np.column_stack([sources, targets]).tolist(),
        "coefficients": None if weights is None else _known(entries_at(weights, sources, targets)),
        "residual_variances": None if variances is None else _known(variances),
        "partial_correlations": None if partial is None else entries_at(partial, sources, targets).tolist(),
        "gains": gains,
        "n_samples": result.n_samples,
        "score": result.score,
        "gamma": result.gamma,
        "attempts": [asdict(attempt) for attempt in result.attempts],
        "path": [asdict(point) for point in result.path],
        "settings": result.settings.to_dict(),
        "timings": result.timings,
        "warnings": list(result.warnings),
        "about_data": [at for at, warning in enumerate(result.warnings) if isinstance(warning, DataMessage)],
        "columns": [{**column._asdict(), "name": encode_name(column.name)} for column in result.columns],
        "interrupted": result.interrupted,
        "estimator": None if result.estimator is None else result.estimator._asdict(),
        "proof": None if result.proof is None else asdict(result.proof),
        "rivals": [{"cost": cost, "edges": np.argwhere(dag).tolist()} for cost, dag in result.rivals],
        "tests": {str(size): count for size, count in result.tests.items()},
        "reading": list(result.reading),
        "means": None if result.means is None else _known(result.means),
        "knowledge": None if result.knowledge is None else to_parts(result.knowledge),
        "trace": encode_trace(result.trace) if isinstance(result.recorded, Trace) else None,
        "moments": _encode_moments(result.moments) if with_moments else None,
        "mixed": encode_mixed(result.mixed) if with_moments else None,
        "interventions": encode_interventions(result.interventions),
        "by_environment": encode_environments(result.by_environment) if with_moments else None,
    }


def _known(numbers: Any) -> list[float | None]:
    """Return numbers as JSON holds them, which knows neither NaN nor infinity."""
    return [number if math.isfinite(number) else None for number in numbers.tolist()]


def read(path: str | Path) -> Result:
    """Return the result in a file; raise with a description of the file if it is something else."""
    return read_as(path, FORMAT, VERSION, decode, "a result of rfdag", "rfdag learn --out or Result.save")


def read_as(
    path: str | Path, form: str, version: int, decode: Callable[[dict[str, Any]], Content], what: str, writer: str
) -> Content:
    """Return the content of a file of this format and version; raise with a description if it is something else."""
    path = path_of(path)
    if path.is_dir():
        inside = path / f"{form.removeprefix('rfdag-')}.json"
        raise FileError(
            f"{path} is a folder; pass {inside}."
            if inside.is_file()
            else f"{path} is a folder without {inside.name}; pass {what}, a file that {writer} writes."
        )
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name and the folder.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{path} could not be read ({problem}).") from None
    require_memory(path, memory_of(text), TOO_LARGE)
    try:
        content = parsed(text)
    except json.JSONDecodeError as problem:
        raise FileError(
            f"{path} is not JSON ({problem}); pass {what}, a file that {writer} writes. If this is one, it is "
            "incomplete; save it again."
        ) from None
    if not isinstance(content, dict) or content.get("format") != form:
        raise FileError(f"{path} is JSON but not {what}; pass a file that {writer} writes.")
    if content.get("version") != version:
        raise FileError(
            f"{path} has format version {content.get('version')!r} and this rfdag reads version {version}; "
            f"read it with rfdag {content.get('rfdag')}, or save it again."
        )
    try:
        return decode(content)
    except OptionError as problem:
        raise FileError(
            f"{path} was made with options that this rfdag does not have: {problem.message.template} Add a method, "
            "rule or estimator of your own to rfdag's table before you load its results."
        ) from None
    except MemoryError as problem:
        raise FileError(f"{path} needs more memory than is free ({problem}). {TOO_LARGE}") from None
    except (KeyError, TypeError, IndexError, ValueError, ArithmeticError, AttributeError, RecursionError) as problem:
        raise FileError(
            f"{path} is incomplete or damaged ({type(problem).__name__}: {problem}); save it again."
        ) from None


def decode(content: dict[str, Any]) -> Result:
    """Return the result that `encode` described."""
    from rfdag.knowledge.files import from_parts
    from rfdag.result.result import Result

    known, used = content.get("knowledge"), content.get("estimator")
    names = tuple(decode_name(name) for name in content["names"])
    p, sparse = len(names), value_as(bool, content.get("sparse", False), "sparse")
    _require_room(content, p)
    edges = counts(content["edges"], "edges", -1, 2, below=p)
    if len(np.unique(edges, axis=0)) < len(edges):
        raise ValueError("edges that are listed twice")
    rows, columns = edges.T
    at_edges = partial(_at_edges, rows, columns, p, sparse)
    dag = at_edges(np.ones(len(rows), np.int8))
    check_duplicates(names)
    n_samples = value_as(int | None, content["n_samples"], "n_samples")
    if n_samples is not None and n_samples < 1:
        raise ValueError(f"{n_samples!r} rows")
    interventions = decode_interventions(content.get("interventions"), names)
    by_environment = decode_environments(content.get("by_environment"), names)
    if by_environment is not None and interventions is None:
        raise ValueError("moments of environments without their targets")
    gamma = value_as(float, content["gamma"], "gamma")
    if not Soft.declared()["gamma"].admits(gamma):
        raise ValueError(f"{gamma:g} as gamma")
    if sparse and content.get("mixed") is not None:
        raise ValueError("a sparse graph of mixed variables")
    if interventions and by_environment and interventions.labels != by_environment.labels:
        raise ValueError(f"environments {listed(interventions.labels)} and {listed(by_environment.labels)}")
    return Result(
        names=names,
        order=tuple(names[at] for at in _order_of(content["order"], dag)),
        dag=dag,
        recorded=Trace.empty() if content["trace"] is None else decode_trace(content["trace"], p),
        moments=_decode_moments(content["moments"], names, n_samples),
        n_samples=n_samples,
        score=value_as(float | None, content["score"], "score"),
        gamma=gamma,
        attempts=tuple(record(Attempt, attempt) for attempt in content["attempts"]),
        path=tuple(record(PathPoint, point) for point in content["path"]),
        settings=Settings.from_dict(content["settings"]),
        regressions=_decode_regressions(content, p, at_edges),
        timings=value_as(dict[str, float], content["timings"], "timings"),
        warnings=_decode_warnings(content),
        interrupted=value_as(bool, content["interrupted"], "interrupted"),
        tests={int(size): count for size, count in value_as(dict[str, int], content.get("tests", {}), "tests").items()},
        columns=tuple(_decode_column(column) for column in content.get("columns", ())),
        reading=value_as(tuple[str, ...], content.get("reading", []), "reading"),
        means=None if content["means"] is None else numbers(content["means"], "means", p, missing=True),
        gains=None if content.get("gains") is None else at_edges(numbers(content["gains"], "gains", len(rows))),
        mixed=decode_mixed(content.get("mixed"), names),
        interventions=interventions,
        by_environment=by_environment,
        knowledge=None if known is None else from_parts(known),
        estimator=None if used is None else record(UsedEstimator, used),
        proof=record(Proof, content["proof"]) if content.get("proof") else None,
        rivals=tuple(_decode_rival(rival, p) for rival in content.get("rivals", ())),
    )


def _at_edges(rows: Any, columns: Any, p: int, sparse: bool, values: Any) -> Any:
    """Return a matrix, or a sparse array, with these values at the edges."""
    matrix = csr_array((values, (rows, columns)), shape=(p, p))
    return matrix if sparse else matrix.toarray()


def _decode_regressions(content: dict[str, Any], p: int, at_edges: Callable[[Any], Any]) -> Regressions | None:
    if content["coefficients"] is None:
        return None
    edges, correlations = len(content["edges"]), content["partial_correlations"]
    # Where parents determine a variable, rounding may leave less than nothing.
    variances = np.maximum(numbers(content["residual_variances"], "residual_variances", p, missing=True), 0.0)
    partial_correlations = None if correlations is None else numbers(correlations, "partial_correlations", edges)
    if partial_correlations is not None and (np.abs(partial_correlations) > 1 + ROUNDING).any():
        raise ValueError("partial_correlations beyond 1")
    return Regressions(
        at_edges(numbers(content["coefficients"], "coefficients", edges, missing=True)),
        variances,
        None if partial_correlations is None else at_edges(partial_correlations),
    )


def _require_room(content: dict[str, Any], p: int) -> None:
    """Raise unless the matrices fit into memory: a few names are a small file and may be a large matrix."""
    per_pair = (0 if content.get("sparse") else BYTES_PER_PAIR) + len(content.get("rivals", ()))
    needed, free = float(per_pair) * p * p, available_memory()
    if needed > max(TRIFLE, free):
        raise MemoryError(f"{needed / 1e9:.1f} GB for matrices of {p} variables; {free / 1e9:.1f} GB are free")


def _order_of(places: Any, dag: Any) -> list[int]:
    """Return an order of a DAG's nodes; raise unless each is there once, and edges lead forwards."""
    order = np.array(check_order(places, dag.shape[0]), np.int64)
    rank = np.argsort(order)
    sources, targets = dag.nonzero()
    if (rank[sources] >= rank[targets]).any():
        raise ValueError("edges that lead backwards in the order")
    return order.tolist()


def _decode_warnings(content: dict[str, Any]) -> tuple[str, ...]:
    """Return the warnings, those about the data as such; files of earlier versions do not tell them apart."""
    about_data = set(content.get("about_data", ()))
    found = value_as(tuple[str, ...], content["warnings"], "warnings")
    return tuple(DataMessage(warning) if at in about_data else warning for at, warning in enumerate(found))


def _decode_column(content: dict[str, Any]) -> Column:
    return record(Column, content, name=decode_name(content["name"]))


def _decode_rival(content: dict[str, Any], size: int) -> Alternative:
    dag = np.zeros((size, size), np.int8)
    dag[tuple(counts(content["edges"], "edges of a rival", -1, 2, below=size).T)] = 1
    return Alternative(value_as(float, content["cost"], "cost"), as_dag(dag))


def _encode_moments(moments: Moments | None) -> dict[str, Any] | None:
    if moments is None:
        return None
    arrays = {name: getattr(moments, name) for name in ARRAYS}
    return (
        {name: getattr(moments, name) for name in NUMBERS}
        | {name: None if array is None else array.tolist() for name, array in arrays.items()}
        | {"pair_rows": encode_pair_rows(moments.pair_rows)}
    )


def _decode_moments(
    content: dict[str, Any] | None, names: tuple[Hashable, ...], n_samples: int | None
) -> Moments | None:
    if content is None:
        return None
    missing = {"factor", "means", "scales"} - set(content)
    if missing:
        raise KeyError(f"moments lack {listed(sorted(missing))}")
    p, given = len(names), content.get("partial")
    factor = numbers(content["factor"], "factor", -1, p)
    if (np.abs(factor) > 1 + ROUNDING).any() or not np.allclose(
        np.linalg.norm(factor, axis=0), 1.0, rtol=0.0, atol=ROUNDING
    ):
        raise ValueError("a factor whose columns have other lengths than 1")
    scales = numbers(content["scales"], "scales", p)
    if (scales <= 0).any():
        raise ValueError(f"{scales.min():g} in scales")
    return Moments(
        names,
        n_samples,
        factor,
        numbers(content["means"], "means", p),
        scales,
        None if given is None else numbers(given, "partial", p, p),
        value_as(str, content["kind"], "kind"),
        value_as(float, content["tolerance"], "tolerance"),
        value_as(int, content["ddof"], "ddof"),
        # Files of earlier versions know of no other correlation.
        correlated=value_as(str, content.get("correlated", "pearson"), "correlated"),
        pair_rows=decode_pair_rows(content.get("pair_rows"), p),
    )
