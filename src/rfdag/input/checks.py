"""Checks of tables: empty ones, missing values, duplicate names, and matrices of moments passed as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, OptionError, as_column, as_columns, keyword, listed
from rfdag.input.table import Stream, Table
from rfdag.input.words import not_numbers
from rfdag.values import is_hashable, shown
from rfdag.wording import counted

Rows = TypeVar("Rows", Table, Stream)


def usable(rows: Rows, *, categories: bool = True) -> Rows:
    """Return rows all of whose columns are numbers; raise, with what the others hold, if some are not.

    ``categories`` says whether columns may be called categories.
    """
    if rows.words:
        words = {rows.names[at]: each for at, each in sorted(rows.words.items())}
        raise not_numbers(rows.origin, words, len(rows.names) - len(words), categories=categories)
    return rows


def check_no_moments(values: NDArray[Any], *, rows_needed: bool = False) -> None:
    """Raise if a matrix of moments has been passed as data; where rows are needed, it is of no use at all."""
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
        # A constant column has an error of its own.
        return None
    diagonal = np.diag(values).astype(np.float64)
    if not (diagonal > 0).all() or (np.abs(values) > np.sqrt(np.outer(diagonal, diagonal)) * (1 + 1e-9)).any():
        return None
    return "correlation" if _alike(diagonal, np.ones(columns)) else "covariance"


def _alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return bool(np.allclose(a, b, rtol=1e-12, atol=0.0))


def check_columns(names: Sequence[Hashable]) -> None:
    """Raise unless there are two columns, of which one may come before the other."""
    if len(names) == 0:
        raise DataError("Found 0 feature(s) while a minimum of 1 is required.")
    if len(names) < 2:
        raise DataError(
            f"Found 1 feature(s), the column {names[0]!r} (n_features=1); an order needs at least two columns."
        )


def check_not_empty(rows: int, columns: int) -> None:
    """Raise if the table is empty."""
    if rows == 0:
        raise DataError(
            f"Found 0 sample(s) (shape=({rows}, {columns})) while a minimum of 1 is required: the table is empty."
        )


def check_rows(rows: int) -> None:
    """Raise unless there are two rows, without which nothing can vary."""
    if rows < 2:
        raise DataError(f"Found {rows} sample(s): learning needs rows, many of them, one for each sample.")


def check_duplicates(names: Sequence[Hashable]) -> None:
    """Raise if several columns have one name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"Several columns are called {listed(twice)}; give every column a name of its own.")


def checked_names(found: tuple[Hashable, ...], wanted: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """Return the names that were found, or those that are wanted instead: hashable, one for each column.

    >>> checked_names((0, 1), ["a", "b"])
    ('a', 'b')
    """
    if wanted is not None:
        try:
            wanted = tuple(wanted)
        except TypeError:
            raise OptionError(f"names is a list with a name for each column, not {shown(wanted)}.") from None
        if len(wanted) != len(found):
            raise OptionError(f"names has {len(wanted)} entries for {len(found)} columns; give one for each.")
        unhashable = [name for name in wanted if not is_hashable(name)]
        if unhashable:
            raise OptionError(f"A name is text, a number or another hashable value, not {listed(unhashable)}.")
        found = wanted
    check_duplicates(found)
    return found


def check_usable(table: Table, *, gaps: bool = False) -> None:
    """Raise if the table is empty or has infinite values, or missing ones; with ``gaps`` a column may miss some."""
    values = table.values
    check_not_empty(*values.shape)
    if values.shape[1] == 0:
        raise DataError(f"Found 0 feature(s) (shape={values.shape}) while a minimum of 1 is required.")
    # Sums let one pass find a NaN or infinity without a mask as large as the table.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = values.dtype.kind == "f" and not np.isfinite(values.sum(axis=0)).all()
    if suspicious and not np.isfinite(values).all():
        missing = np.isnan(values)
        infinite = np.isinf(values).sum(axis=0).tolist()
        counts = missing.sum(axis=0).tolist()
        if gaps or len(values) > 1:
            check_some_values(table.names, counts, len(values))
        check_complete(table.names, [0] * len(counts) if gaps else counts, infinite, int(missing.any(axis=1).sum()))


def check_some_values(names: Sequence[Hashable], missing: Sequence[int], rows: int) -> None:
    """Raise if all values of a column are missing.

    >>> check_some_values(["age", "bmi", "sex"], [0, 19, 5], rows=19)
    Traceback (most recent call last):
        ...
    rfdag.errors.DataError: Column 'bmi' has no values: all 19 are missing. Leave it out with drop=['bmi'].
    """
    empty = [name for name, count in zip(names, missing, strict=True) if count == rows]
    if not empty:
        return
    cure = f" Leave {'it' if len(empty) == 1 else 'them'} out with {keyword('drop', empty)}."
    raise DataError(
        f"{_titled(empty)} no values: all {rows} are missing.{cure if len(names) - len(empty) >= 2 else ''}"
    )


def check_complete(
    names: Sequence[Hashable], missing: Sequence[int], infinite: Sequence[int] = (), rows: int | None = None
) -> None:
    """Raise if columns have missing or infinite values, given how many of each, and how many rows miss any if known.

    >>> check_complete(["age", "bmi", "sex"], [0, 19, 0], rows=19)
    Traceback (most recent call last):
        ...
    rfdag.errors.DataError: Column 'bmi' has 19 missing values (NaN). Drop these rows with missing='drop', or the column
    with drop=['bmi'], or fill the values in first.
    """
    absent = {name: count for name, count in zip(names, missing, strict=True) if count} if any(missing) else {}
    unbounded = [name for name, count in zip(names, infinite, strict=True) if count] if any(infinite) else []
    sentences = []
    if absent:
        sentences.append(_about_missing(absent, rows))
    if unbounded:
        sentences.append(f"{_titled(unbounded)} infinite values (inf).")
    if sentences:
        concerned = list(dict.fromkeys([*absent, *unbounded]))
        columns = "the column" if len(concerned) == 1 else "these columns"
        enough = len(names) - len(concerned) >= 2
        raise DataError(
            f"{' '.join(sentences)} Drop these rows with {keyword('missing', 'drop')}, "
            + (f"or {columns} with {keyword('drop', concerned)}, " if enough else "")
            + "or fill the values in first."
        )


def _about_missing(counts: dict[Hashable, int], rows: int | None) -> str:
    if len(counts) == 1:
        (count,) = counts.values()
        return f"{_titled(counts)} {counted(count, 'missing value')} (NaN)."
    each = ", ".join(f"{count} in {as_column(name)}" for name, count in list(counts.items())[:5])
    concerned = "" if rows is None else f", {counted(rows, 'row')} in all"
    return f"{_titled(counts)} missing values (NaN): {each}{concerned}."


def _titled(names: Sequence[Hashable] | dict[Hashable, int]) -> str:
    """Return columns as the subject of a sentence, with its verb."""
    listing = as_columns(names)
    if len(names) == 1:
        return f"{listing.capitalize() if listing.startswith('column ') else f'Column {listing}'} has"
    return f"{listing.capitalize() if listing.startswith('column ') else f'Columns {listing}'} have"
