"""From an opened source to the rows that are used: columns chosen, rows in place of columns, gaps, weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rfdag.errors import OptionError, as_column, keyword, listed
from rfdag.input.categories import with_categories, with_coded_columns
from rfdag.input.checks import checked_names, usable
from rfdag.input.coding import Codable
from rfdag.input.columns import Column
from rfdag.input.description import Description
from rfdag.input.filtered import Filtered
from rfdag.input.gaps import complete
from rfdag.input.origins import Origins, refuse_alike
from rfdag.input.selection import matches, matching
from rfdag.input.table import Stream, Table
from rfdag.input.weights import checked_weights
from rfdag.values import Absent, Labels, Numbers, label_text
from rfdag.wording import counted

NUMBERS = "numbers"
IDENTIFIERS = "row identifiers"
WEIGHTS = "weights"
LABELS = "labels"
AS_ASKED = "left out as asked"


def prepared(rows: Table | Stream, form: Description) -> Table | Stream:
    """Return the rows that are used, all of whose columns are numbers; what was left out is in their account."""
    if form.transpose:
        rows = transposed(rows, form)
    places = _chosen(rows, form)
    weights: Any = form.weights
    if isinstance(weights, Absent):
        weights()
    at_labels = None
    if form.environments is not None and not isinstance(form.environments, Labels):
        at_labels = _place(rows, form.environments, "environments")
        places = [at for at in places if at != at_labels]
    rows = _with_origins(rows, form, at_labels)
    at_weights = None if weights is None or isinstance(weights, Numbers) else _place(rows, weights, "weights")
    if at_weights is not None and at_weights in rows.words:
        raise OptionError(
            f"{keyword('weights')} names {rows.names[at_weights]!r}, which holds {rows.words[at_weights].kind}; name a "
            "column of numbers."
        )
    if at_weights is not None:
        places = [at for at in places if at != at_weights]
    rows = _without(rows, places, form, at_weights, at_labels)
    if isinstance(rows, Table):
        return _prepared_table(rows, form, at_weights is not None)
    if form.environments is not None:
        return _labelled(rows, form, at_weights, at_labels)
    if isinstance(form.weights, Numbers):
        raise OptionError(
            f"{keyword('weights')} as an array goes with rows in memory; these are read in pieces. Put the weights "
            f"into a column, and pass its name."
        )
    marks = marks_of(form)
    if form.missing == "drop" or marks or at_weights is not None:
        return Filtered(rows, marks, drops=form.missing == "drop", weighted=at_weights is not None)
    return rows


def transposed(rows: Table | Stream, form: Description) -> Table:
    """Return a table whose columns are the rows of another; their names are in the column that identifies rows."""
    if not isinstance(rows, Table):
        raise OptionError(
            f"{keyword('transpose')} needs all rows in memory, and these are read in pieces. Pass a data frame, or "
            "save the table with variables in columns."
        )
    dropped = {at for _, found in matches(form.drop or (), rows.names) for at in found}
    texts = [at for at in rows.words if at not in dropped]
    if form.id is not None:
        at_names = _place(rows, form.id)
    elif rows.labels is not None or not texts:
        at_names = None
    elif len(texts) == 1:
        at_names = texts[0]
    else:
        raise OptionError(
            f"Columns {listed([rows.names[at] for at in texts])} of {rows.origin} hold text; pass "
            f"{keyword('id', rows.names[texts[0]])} for the one with the names of the variables, and "
            f"{keyword('drop', [rows.names[at] for at in texts[1:]])} to leave the others out."
        )
    if at_names is None:
        names: tuple[Hashable, ...] = rows.labels or tuple(range(rows.rows))
    else:
        words = rows.words.get(at_names)
        found = words.cells if words is not None else None
        names = tuple(found) if found is not None else tuple(f"{entry:g}" for entry in rows.values[:, at_names])
    samples = usable(rows.only([at for at in range(len(rows.names)) if at != at_names and at not in dropped]))
    account = rows.account.plus(remarks=[f"rows taken as variables, {len(samples.names)} columns as samples"])
    return Table(
        np.ascontiguousarray(samples.values.T),
        checked_names(names, None),
        account=account,
        origin=rows.origin,
    )


def marks_of(form: Description) -> tuple[float, ...]:
    """Return the numbers that stand for a missing value.

    >>> marks_of(Description(na_values=["-999", 99, "n.d."]))
    (-999.0, 99.0)
    """
    marks = []
    for value in form.na_values or ():
        try:
            marks.append(float(value))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
    return tuple(marks)


def _chosen(rows: Table | Stream, form: Description) -> list[int]:
    """Return the places of the columns that the user does not leave out."""
    names = rows.names
    places = list(range(len(names)))
    if form.columns is not None:
        places = list(dict.fromkeys(_found(form.columns, rows, "columns")))
    # In a table that was turned round, what is not a variable was one of its former columns.
    out = set(_found(form.drop or (), rows, None if form.transpose else "drop"))
    if form.id is not None and not form.transpose:
        out.add(_place(rows, form.id))
    return [at for at in places if at not in out]


def _found(wanted: Iterable[Hashable], rows: Table | Stream, option: str | None) -> Iterator[int]:
    """Yield the places of the columns that the names of an option mean; raise for a name of an option without any."""
    return matching(wanted, rows.names, option, rows.origin)


def _place(rows: Table | Stream, name: Hashable, option: str = "id") -> int:
    return next(_found([name], rows, option))


def _with_origins(rows: Table | Stream, form: Description, at_labels: int | None) -> Table | Stream:
    """Return rows in memory with the environment that each comes from, where there are several."""
    labels: Any = form.environments
    if isinstance(labels, Absent):
        labels()
    if labels is None or not isinstance(rows, Table):
        return rows
    if at_labels is not None:
        return rows._replace(origins=Origins.of(_texts(rows, at_labels), as_column(rows.names[at_labels])))
    if len(labels.texts) != rows.rows:
        raise OptionError(
            f"{keyword('environments')} has {counted(len(labels.texts), 'label')}, and there are "
            f"{counted(rows.rows, 'row')}; pass one for each."
        )
    return rows._replace(origins=Origins.of(labels.texts, keyword("environments")))


def _labelled(rows: Stream, form: Description, at_weights: int | None, at_labels: int | None) -> Stream:
    """Return rows that are read in pieces with the environments in their last column."""
    if at_labels is None or at_weights is not None:
        raise OptionError(
            f"{keyword('environments')} as an array, or beside {keyword('weights', ...)}, go with rows in memory; "
            "these are read in pieces. Put the labels into a column, pass its name, and leave weights out."
        )
    last = len(rows.names) - 1
    labels = rows.levels.get(last)
    if labels is None:
        raise OptionError(
            f"The labels in {as_column(rows.names[last])} can be read once only. Pass a file or a dataset, which can "
            "be read again."
        )
    refuse_alike(labels, as_column(rows.names[last]))
    return Filtered(rows, marks_of(form), drops=form.missing == "drop", labels=labels)


def _texts(table: Table, at: int) -> Sequence[str]:
    """Return the cells of a column as text, empty where one is missing."""
    if at in table.levels:
        known = (*table.levels[at], "")
        return [known[-1] if np.isnan(code) else known[int(code)] for code in table.values[:, at]]
    words = table.words.get(at)
    if words is None:
        return list(map(label_text, table.values[:, at].tolist()))
    if words.cells is None:
        raise OptionError(
            f"{keyword('environments')} names {table.names[at]!r}, which holds {words.described()}; name a column of "
            "labels."
        )
    return words.cells


def _without(
    rows: Table | Stream, places: list[int], form: Description, at_weights: int | None, at_labels: int | None
) -> Table | Stream:
    """Return the rows with the columns at some places, the weights last; the account names the others."""
    kept = places if at_weights is None else [*places, at_weights]
    variables = len(places)
    if at_labels is not None and not isinstance(rows, Table):
        # Labels are coded like categories, in a first reading.
        kept, variables = [*places, at_labels], len(places) + 1
        form = replace(form, categorical=(*(form.categorical or ()), rows.names[at_labels]))
    if len(kept) == len(rows.names) and at_weights is None and at_labels is None:
        return _usable(rows.only(kept), form, variables)
    at_id = None if form.id is None or form.transpose else _place(rows, form.id)
    left_out, chosen = [], set(places)
    for at, name in enumerate(rows.names):
        if at == at_weights:
            left_out.append(Column(name, WEIGHTS, "used as weights"))
        elif at == at_labels:
            left_out.append(Column(name, LABELS, "used as environments"))
        elif at == at_id:
            left_out.append(Column(name, IDENTIFIERS, "left out, as it identifies rows"))
        elif at not in chosen:
            left_out.append(Column(name, rows.words[at].kind if at in rows.words else NUMBERS, AS_ASKED))
    account = rows.account.plus(left_out)
    return _usable(rows.only(kept), form, variables).accounted(account)


def _usable(rows: Table | Stream, form: Description, variables: int) -> Table | Stream:
    """Return rows whose columns are numbers or codes of categories; raise, with what they hold, if some are not."""
    asked = bool(form.categorical or form.ordinal)
    if not isinstance(rows, Table) and (rows.words or asked or (isinstance(rows, Codable) and rows.uncertain)):
        rows = with_coded_columns(rows, form, range(variables))
    if isinstance(rows, Table):
        rows = _without_marks(rows, marks_of(form), variables)
        rows = with_categories(rows, form, range(variables)) if rows.words or asked else rows
    return usable(rows)


def _without_marks(table: Table, marks: tuple[float, ...], variables: int) -> Table:
    """Return a table in which some numbers are missing; the numbers of levels and weights stay as they are."""
    if not marks:
        return table
    numbers = [at < variables and at not in table.levels for at in range(len(table.names))]
    return table._replace(values=np.where(np.isin(table.values, marks) & numbers, np.nan, table.values))


def _prepared_table(table: Table, form: Description, weighted: bool) -> Table:
    """Return a table in memory without gaps, where they are to be dropped, and with its weights apart."""
    values, weights = table.values, table.weights
    if weighted:
        values, weights = values[:, :-1], np.array(values[:, -1], np.float64)
        table = table._replace(values=values, names=table.names[:-1], weights=weights)
    elif isinstance(form.weights, Numbers):
        weights = form.weights.values
        if weights.shape != (len(values),):
            raise OptionError(
                f"{keyword('weights')} has the shape {weights.shape}, and there are {counted(len(values), 'row')}; "
                "pass one number for each."
            )
        table = table._replace(weights=np.array(weights))
    if form.missing == "drop":
        table = complete(table)
    return table if table.weights is None else checked_weights(table)
