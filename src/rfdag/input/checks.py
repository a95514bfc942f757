"""What is wrong with data, in words: tables that are empty or have holes, names that come twice, moments as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, as_column, as_columns, keyword, listed
from rfdag.input.text import Table
from rfdag.wording import counted


def refuse_moments(values: NDArray[Any], *, rows_needed: bool = False) -> None:
    """Raise if a matrix of moments has been passed as data; where rows are needed, it is of no use in any way."""
    kind = _moments_instead(values)
    if not kind:
        return
    found = f"Found a {kind} matrix, it seems: {len(values)} rows and columns, symmetric."
    if rows_needed:
        raise DataError(f"{found} The rows behind it are needed, which a matrix of moments does not have.")
    other = " (if it is not a precision matrix)" if kind == "covariance" else ""
    raise DataError(
        f"{found} As data its rows would pass for samples; pass {keyword('input', kind)}{other} and "
        f"{keyword('n_samples', ...)}, the number of rows that it comes from."
    )


def _moments_instead(values: NDArray[Any]) -> Literal["correlation", "covariance"] | None:
    """Return which matrix of moments has been passed as data, if one has.

    >>> _moments_instead(np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]]))
    'correlation'
    """
    rows, columns = values.shape
    # A row and a column first: few tables that are square get further, and they may be large.
    if rows != columns or columns < 3 or not _alike(values[0], values[:, 0]) or not _alike(values, values.T):
        return None
    if (values == values[0]).all(axis=0).any():
        # A column that does not vary is a complaint of its own.
        return None
    diagonal = np.diag(values).astype(np.float64)
    if not (diagonal > 0).all() or (np.abs(values) > np.sqrt(np.outer(diagonal, diagonal)) * (1 + 1e-9)).any():
        return None
    return "correlation" if _alike(diagonal, np.ones(columns)) else "covariance"


def _alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return bool(np.allclose(a, b, rtol=1e-12, atol=0.0))


def require_two_columns(names: Sequence[Hashable]) -> None:
    """Raise unless there are two columns, of which one may come before the other."""
    if len(names) == 0:
        raise DataError("Found 0 feature(s) while a minimum of 1 is required.")
    if len(names) < 2:
        raise DataError(
            f"Found 1 feature(s), the column {names[0]!r} (n_features=1); an order needs at least two columns."
        )


def require_some_rows(rows: int, columns: int) -> None:
    """Raise if the table is empty."""
    if rows == 0:
        raise DataError(
            f"Found 0 sample(s) (shape=({rows}, {columns})) while a minimum of 1 is required: the table is empty."
        )


def require_two_rows(rows: int) -> None:
    """Raise unless something can vary."""
    if rows < 2:
        raise DataError(f"Found {rows} sample(s) (n_samples={rows}); learning needs many rows.")


def refuse_duplicates(names: Sequence[Hashable]) -> None:
    """Raise if several columns have one name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"Several columns are called {listed(twice)}; give every column a name of its own.")


def refuse_unusable(table: Table) -> None:
    """Raise if the table is empty or has missing or infinite values."""
    values = table.values
    require_some_rows(*values.shape)
    if values.shape[1] == 0:
        raise DataError(f"Found 0 feature(s) (shape={values.shape}) while a minimum of 1 is required.")
    # Sums let one pass find a NaN or infinity without a mask as large as the table.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = values.dtype.kind == "f" and not np.isfinite(values.sum(axis=0)).all()
    if suspicious and not np.isfinite(values).all():
        holes = np.isnan(values)
        infinite = [name for name, column in zip(table.names, values.T, strict=True) if np.isinf(column).any()]
        refuse_missing(table.names, holes.sum(axis=0).tolist(), infinite, int(holes.any(axis=1).sum()))


def refuse_missing(
    names: Sequence[Hashable], missing: Sequence[int], infinite: list[Hashable], rows: int | None = None
) -> NoReturn:
    """Raise, naming the columns with missing values, how many rows have any (if known), and those with infinities."""
    holes = {name: count for name, count in zip(names, missing, strict=True) if count}
    sentences = []
    if holes:
        counts = ", ".join(f"{count} in {as_column(name)}" for name, count in list(holes.items())[:5])
        concerned = "" if rows is None else f"; {counted(rows, 'row')} concerned"
        sentences.append(f"missing values (NaN) in {as_columns(holes)} ({counts}{concerned})")
    if infinite:
        sentences.append(f"infinite values (inf) in {as_columns(infinite)}")
    raise DataError(f"Found {' and '.join(sentences)}. Drop these rows or columns, or fill the values in first.")
