"""How fit the data are for a linear Gaussian method; what is not known is None, and the page says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr

from rfdag.errors import DataMessage, as_column
from rfdag.evidence.mixing import CATEGORIES
from rfdag.evidence.moments import Moments
from rfdag.evidence.rounding import DOUBTFUL
from rfdag.input.columns import USED, Column, in_words
from rfdag.report.rounding import rounded
from rfdag.report.rows import Rows
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.result import Result

EXPLAINED_UP_TO = 2000
"""Number of variables up to which each is regressed on all the others."""
MOST_COLUMNS = 400
"""Columns listed; of more, the most conspicuous."""
MOST_PAIRS = 10
NEARLY_ONE = 0.999
"""Share of a column's variance explained by the others from which it counts as nearly dependent."""
ENOUGH = 10
"""Rows per column that are not called few."""
Finding = tuple[str, str]
"""Whether it is "good", "warning" or "unknown", and a sentence."""
NO_ROWS: Finding = (
    "unknown",
    "Skewness, kurtosis and the number of different values are not shown: the rows were not given to the report. Pass "
    "data= to see them.",
)


def health(result: Result, rows: Rows | None) -> dict[str, Any]:
    """Return facts about the columns, and findings in words."""
    moments, n, p = result.moments, result.n_samples, len(result.names)
    explained = None if moments is None else explained_by_others(moments)
    condition = None if moments is None else moments.condition()
    shown = _most_conspicuous(explained, rows, p)
    return {
        "rows_per_column": None if n is None else round(n / p, 2),
        "condition": None if condition is None or not math.isfinite(condition) else float(f"{condition:.3g}"),
        "singular": condition is not None and math.isinf(condition),
        "known": {"moments": moments is not None, "rows": rows is not None, "explained": explained is not None},
        "findings": _findings(result, rows, explained, condition),
        "pairs": [] if moments is None or p > EXPLAINED_UP_TO else _closest(moments),
        "columns": _columns(result, rows, explained, shown),
        "columns_in_all": p,
        "left_out": [[str(column.name), column.taken_for, column.done] for column in _left_out(result)[:MOST_COLUMNS]],
        "understood": "; ".join([in_words(result.columns), *result.reading]) if result.columns else None,
    }


def explained_by_others(moments: Moments) -> NDArray[np.float64] | None:
    """Return the share of each column's variance that all others explain; None where rows are too few to tell.

    >>> explained_by_others(Moments.from_correlation([[1.0, 0.6], [0.6, 1.0]], n_samples=100)).round(2)
    array([0.36, 0.36])
    """
    p = len(moments.names)
    if p > EXPLAINED_UP_TO or len(moments.factor) < p:
        return None
    inverse, failed = lapack.dtrtri(qr(moments.factor, mode="r", check_finite=False)[0][:p])
    if failed:
        return None
    # Columns of the factor have length 1, so that the precision's diagonal is 1 / (1 − R²).
    shares: NDArray[np.float64] = np.clip(1 - 1 / (inverse**2).sum(axis=1), 0.0, 1.0)
    return shares


def _findings(result: Result, rows: Rows | None, explained: Any, condition: float | None) -> list[Finding]:
    return [
        *_about_columns(result),
        *_about_size(result),
        *_about_dependence(explained, condition),
        *_about_ranks(result),
        *([NO_ROWS] if rows is None else []),
    ]


def _about_size(result: Result) -> Iterator[Finding]:
    n, p = result.n_samples, len(result.names)
    missing = sum(column.missing for column in result.columns)
    if result.input == "data" and missing:
        each = ", ".join(
            f"{column.missing} of {as_column(column.name)}"
            for column in sorted(result.columns, key=lambda column: -column.missing)[:MOST_PAIRS]
            if column.missing
        )
        yield "warning", f"Values are missing: {each}. They were bridged, as the warning says."
    elif result.input == "data":
        yield "good", "No missing or infinite values and no constant columns are among the rows and columns used."
    elif result.input == "dag":
        yield "unknown", "The input was a graph; there are no data behind it."
    else:
        yield "unknown", f"The input was a {result.input} matrix; missing values behind it cannot be seen."
    if n is not None and n >= ENOUGH * p:
        yield "good", f"{n / p:.1f} rows per column."
    elif n is not None:
        yield (
            "warning",
            f"{n / p:.1f} rows per column; below {ENOUGH}, weak edges are missed and directions unsure.",
        )


def _about_dependence(explained: Any, condition: float | None) -> Iterator[Finding]:
    if condition is not None:
        if math.isinf(condition):
            yield "warning", "There are fewer rows than columns: the correlation matrix cannot be inverted."
        elif condition > DOUBTFUL:
            yield (
                "warning",
                f"Condition number {condition:.1e}: columns are so nearly dependent that rounding errors matter.",
            )
        else:
            yield "good", f"Condition number {condition:.3g}: far from the limits of double precision."
    if explained is not None:
        near = int((explained > NEARLY_ONE).sum())
        if near:
            are = "is" if near == 1 else "are"
            yield "warning", f"{counted(near, 'column')} {are} explained by the others to more than {NEARLY_ONE:.1%}."
        else:
            yield "good", f"No column is explained by the others to more than {NEARLY_ONE:.1%}."


def _about_ranks(result: Result) -> Iterator[Finding]:
    if result.settings.estimation.by_ranks:
        yield (
            "good",
            "Columns were correlated by ranks, which no increasing transformation changes. Coefficients are those of "
            "the Gaussian variables behind the ranks, in standard deviations.",
        )


def _about_columns(result: Result) -> Iterator[Finding]:
    """Yield what was found when the rows were read: the same sentences as in the result's warnings."""
    found = [warning for warning in result.warnings if isinstance(warning, DataMessage)]
    yield from (("warning", warning) for warning in found)
    categories = sum(column.taken_for == CATEGORIES for column in result.columns)
    if categories:
        yield "good", f"{counted(categories, 'column')} of categories, whose levels stand in the table below."
    if result.columns and not found:
        yield (
            "good",
            "Nothing odd was found in the columns: no missing values as numbers, row numbers, codes or curvature.",
        )


def _left_out(result: Result) -> list[Column]:
    return [column for column in result.columns if column.done != USED]


def _most_conspicuous(explained: Any, rows: Rows | None, p: int) -> NDArray[np.int64]:
    if p <= MOST_COLUMNS:
        return np.arange(p)
    oddness = np.zeros(p)
    if explained is not None:
        oddness += explained
    if rows is not None:
        oddness += np.abs(rows.skewness) + np.abs(rows.kurtosis) / 3
    return np.argsort(-oddness, kind="stable")[:MOST_COLUMNS]


def _closest(moments: Moments) -> list[list[Any]]:
    """Return the pairs with the largest correlations."""
    rows, columns = np.triu_indices(len(moments.names), 1)
    values = moments.correlation[rows, columns]
    best = np.argsort(-np.abs(values), kind="stable")[:MOST_PAIRS]
    return [[int(rows[at]), int(columns[at]), round(float(values[at]), 4)] for at in best]


def _columns(result: Result, rows: Rows | None, explained: Any, shown: Any) -> dict[str, Any]:
    moments = result.moments
    columns: dict[str, Any] = {"variable": shown.tolist()}
    known = {column.name: column for column in result.columns}
    if known:
        each = [known.get(result.names[at], Column(result.names[at], "")) for at in shown.tolist()]
        columns |= {"taken": [one.taken_for for one in each], "remarks": ["; ".join(one.remarks) for one in each]}
    # Ranks keep neither.
    if moments is not None and moments.correlated == "pearson":
        columns |= {"mean": rounded(moments.means[shown]), "sd": rounded(moments.scales[shown])}
    if explained is not None:
        columns["explained"] = rounded(explained[shown])
    if rows is not None:
        for name in ("lowest", "highest", "skewness", "kurtosis"):
            columns[name] = rounded(getattr(rows, name)[shown])
        columns |= {"distinct": rows.distinct[shown].tolist(), "distinct_up_to": rows.distinct_up_to}
    return columns
