"""Columns of categories: found among those that are not numbers, or named, and read as codes of their levels."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, OptionError, as_column, keyword, listed
from rfdag.input.coding import (
    NAMED,
    OBJECTS,
    WORDS,
    Absences,
    Codable,
    Coding,
    Counting,
    Entry,
    level_text,
    refuse_many,
    refuse_many_numbers,
    shared_order,
)
from rfdag.input.description import Description
from rfdag.input.gathering import gathered
from rfdag.input.numbers import BOOLEANS, MISSING
from rfdag.input.selection import matching
from rfdag.input.table import Stream, Table
from rfdag.input.words import MIXED, MOST_LEVELS, TEXT, Coded, Words, not_numbers
from rfdag.wording import counted

Floats = NDArray[np.float64]

READ_ONCE = (
    "These rows can be read once only, so that all are needed in memory to find the levels of columns of text: pass a "
    "file or a dataset, or leave these columns out."
)
"""What to do if rows that are read once do not fit into memory."""

BETWEEN = "<"
"""Sign between the levels of an ordinal column as a user writes them: "size: S < M < L"."""


class Asked(NamedTuple):
    """What the user said of columns, by name: that they are categories, or ordinal, perhaps with their levels."""

    categorical: frozenset[Hashable]
    ordinal: Mapping[Hashable, tuple[str, ...]]


def asked_of(form: Description, names: Sequence[Hashable], called: str) -> Asked:
    """Return what the options ``categorical`` and ``ordinal`` say of these columns; raise for names of none."""
    categorical = frozenset(names[at] for at in matching(form.categorical or (), names, "categorical", called))
    ordinal: dict[Hashable, tuple[str, ...]] = {}
    for entry in form.ordinal or ():
        name, _, rest = entry.partition(":") if isinstance(entry, str) and entry not in names else (entry, "", "")
        levels = tuple(level.strip() for level in rest.split(BETWEEN)) if rest else ()
        for at in matching((name,), names, "ordinal", called):
            ordinal[names[at]] = levels
    both = [name for name in ordinal if name in categorical]
    if both:
        raise OptionError(
            f"{keyword('categorical')} and {keyword('ordinal')} both name {listed(both)}; a column is one or the other."
        )
    return Asked(categorical, ordinal)


def is_category(words: Words) -> bool:
    """Return whether a column that is not numbers is one of categories: text that repeats and is no mistyped number."""
    return words.kind == TEXT and not words.all_different and not words.decimal_commas


def with_categories(table: Table, form: Description, variables: Sequence[int]) -> Table:
    """Return a table in which columns of categories are codes, with their levels; others stay as they are.

    ``variables`` are the places that may become variables: those of weights, for example, are left alone.
    """
    asked = asked_of(form, [table.names[at] for at in variables], table.origin)
    levels = dict(table.levels)
    words = dict(table.words)
    changed: dict[int, Floats] = {}
    marks = {str(mark).strip().lower() for mark in form.na_values or ()}
    for at in variables:
        name = table.names[at]
        if at in levels:
            if name in asked.ordinal:
                changed[at] = _ranked(table.values[:, at], levels.pop(at), asked.ordinal[name], name)
            continue
        found = words.get(at)
        if found is None:
            if name in asked.categorical:
                changed[at], levels[at] = _codes_of_numbers(table.values[:, at], name, marks)
            continue
        if found.coded is not None and found.kind == MIXED and name not in {*asked.categorical, *asked.ordinal}:
            if not found.others and all(example.lower() in marks for example in found.examples):
                changed[at] = _numbers_beside(found.coded, marks)
                del words[at]
            continue
        if found.coded is None or not (is_category(found) or name in asked.categorical or name in asked.ordinal):
            continue
        codes, every = _codes_of_text(found, name, marks, ordered=name in asked.ordinal)
        if name in asked.ordinal:
            changed[at] = _ranked(codes, every, asked.ordinal[name], name, declared=found.levels is not None)
        else:
            changed[at], levels[at] = codes, every
        del words[at]
    if not changed:
        return table
    values = np.array(table.values, np.float64)
    for at, column in changed.items():
        values[:, at] = column
    return table._replace(values=values, words=words, levels=levels)


def with_coded_columns(stream: Stream, form: Description, variables: Sequence[int]) -> Table | Stream:
    """Return a stream in which columns of categories are codes, with their levels; others stay as they are.

    The levels are counted in a first reading, where there may be any. Rows that can be read once only are returned as
    a table in memory instead, as `with_categories` takes it.
    """
    asked = asked_of(form, [stream.names[at] for at in variables], stream.origin)
    if not isinstance(stream, Codable) or not stream.can_code:
        return stream
    kinds = _kinds_in(stream, asked, variables)
    # What is refused anyway is refused before the rows are read.
    stray = {at: words for at, words in stream.words.items() if at not in kinds}
    if stray:
        found = {stream.names[at]: stray[at] for at in sorted(stray)}
        raise not_numbers(stream.origin, found, len(stream.names) - len(stray))
    if not kinds:
        return stream
    if not stream.repeatable:
        return gathered(stream, READ_ONCE)
    absent = Absences(MISSING - {"none"}, frozenset(str(mark).strip().lower() for mark in form.na_values or ()))
    places = list(kinds)
    names = tuple(stream.names[at] for at in places)
    named = frozenset(to for to, name in enumerate(names) if name in asked.categorical or name in asked.ordinal)
    counting = Counting(names, absent, stream.origin, len(variables) - len(places), named)
    tally = stream.tallied(kinds, counting)
    counting.refuse_others(tally, range(len(places)))
    codings: dict[int, Coding] = {}
    levels: dict[int, tuple[str, ...]] = {}
    counts: dict[int, NDArray[np.int64]] = {}
    missing: dict[int, int] = {}
    for to, at in enumerate(places):
        counted_levels, name = tally.counts[to], names[to]
        if kinds[at] == OBJECTS and to in tally.numbers and not counted_levels:
            continue
        every, times, declared = _levels_counted(counted_levels, tally.orders[to])
        numbers = np.arange(len(every), dtype=np.float64)
        if name in asked.ordinal:
            numbers = _ranked(numbers, every, asked.ordinal[name], name, declared=declared)
        else:
            levels[at], counts[at] = every, times
        number = dict(zip(every, numbers.tolist(), strict=True))
        codings[at] = Coding(kinds[at], {level: number[level_text(level)] for level in counted_levels}, absent)
        missing[at] = tally.rows - int(times.sum())
    return stream.coded(codings, levels, counts, missing)


def _kinds_in(stream: Codable, asked: Asked, variables: Sequence[int]) -> dict[int, str]:
    """Return the columns that may be of categories, by their places."""
    kinds: dict[int, str] = {}
    for at in variables:
        name, words = stream.names[at], stream.words.get(at)
        if words is not None and (is_category(words) or name in asked.categorical or name in asked.ordinal):
            kinds[at] = WORDS
        elif words is None and name in asked.categorical:
            kinds[at] = NAMED
        elif words is None and at in stream.uncertain:
            kinds[at] = OBJECTS
    return kinds


def _levels_counted(
    found: Mapping[Entry, int], orders: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], NDArray[np.int64], bool]:
    """Return the levels that were counted in their order, their counts, and whether a type declares the order."""
    times: dict[str, int] = {}
    for level, count in found.items():
        times[level_text(level)] = times.get(level_text(level), 0) + count
    order = shared_order(orders)
    declared = order is not None and set(times) <= set(order)
    if declared and order is not None:
        every = tuple(level for level in order if level in times)
    elif found and not any(isinstance(level, str) for level in found):
        every = tuple(map(level_text, sorted(found, key=float)))
    else:
        every = tuple(sorted(times, key=sorting_key))
    return every, np.array([times[level] for level in every], np.int64), declared


def _codes_of_text(words: Words, name: Hashable, marks: set[str], *, ordered: bool) -> tuple[Floats, tuple[str, ...]]:
    """Return the codes of a column of text, NaN where a cell is missing, and its levels."""
    assert words.coded is not None
    codes, entries = words.coded
    # A category type says itself what is missing, and "none" may well be a level.
    absent = marks if words.levels is not None else MISSING - {"none"} | marks
    occurring = set(np.unique(codes[codes >= 0]).tolist())
    different = {
        entry.strip() for at, entry in enumerate(entries) if at in occurring and entry.strip().lower() not in absent
    }
    refuse_many(name, len(different), sorted(different))
    if words.levels is not None:
        # Levels that a frame declares, used or not, in its order.
        every = tuple(dict.fromkeys(level.strip() for level in words.levels if level.strip() in different))
    else:
        every = tuple(sorted(different, key=sorting_key))
    number = {level: float(at) for at, level in enumerate(every)}
    values = np.array([number.get(entry.strip(), np.nan) for entry in entries] + [np.nan])
    return values[codes], every


def _numbers_beside(column: Coded, marks: set[str]) -> Floats:
    """Return the numbers of a column beside which there are only words that stand for missing ones."""
    numbers = [np.nan if entry.strip().lower() in marks else float(entry) for entry in column.entries]
    return np.array([*numbers, np.nan])[column.codes]


def _codes_of_numbers(values: NDArray[Any], name: Hashable, marks: set[str]) -> tuple[Floats, tuple[str, ...]]:
    """Return the codes of a column of numbers that the user calls categories, and the numbers as levels."""
    column = np.array(values, np.float64)
    if np.isinf(column).any():
        raise DataError(f"Column {name!r} has infinite values, which are no level. Replace them first.")
    for mark in marks:
        try:
            column[column == float(mark)] = np.nan
        except ValueError:
            continue
    known = np.isfinite(column)
    different, codes = np.unique(column[known], return_inverse=True)
    if len(different) > MOST_LEVELS:
        refuse_many_numbers(name, len(different))
    column[known] = codes
    return column, tuple(map(level_text, different.tolist()))


def _ranked(
    codes: NDArray[Any], every: tuple[str, ...], order: tuple[str, ...], name: Hashable, *, declared: bool = False
) -> Floats:
    """Return the places 1, 2, … of the levels of an ordinal column in their order."""
    if not order:
        numbers = [leading_number(level) for level in every]
        if not declared and any(number is None for number in numbers):
            shown = f" {BETWEEN} ".join(every[:4])
            raise OptionError(
                f"Column {name!r} holds text whose order is not known: {listed(every)}. Give its levels in order, as "
                f"in {keyword('ordinal', [f'{name}: {shown}'])}, or pass an ordered category."
            )
        order = every if declared else tuple(sorted(every, key=sorting_key))
    missing = [level for level in every if level not in order]
    if missing:
        raise OptionError(
            f"{keyword('ordinal')} gives the levels of {as_column(name)} as {' < '.join(order)}, and the column has "
            f"{listed(missing)} besides. Name all of them, in order."
        )
    place = np.array([float(order.index(level) + 1) for level in every])
    ranks = np.full(len(codes), np.nan)
    known = np.isfinite(codes)
    ranks[known] = place[codes[known].astype(np.int64)]
    return ranks


def with_booleans(table: Table) -> Table:
    """Return a table with columns of true and false as 0 and 1: matrices and rows for a model are numbers.

    >>> words = Words(TEXT, coded=Coded(np.array([0, 1]), ("True", "False")))
    >>> with_booleans(Table(np.full((2, 1), np.nan), ("a",), {0: words})).values
    array([[1.],
           [0.]])
    """
    values, words = table.values, dict(table.words)
    for at, found in table.words.items():
        if found.coded is None or not all(entry.lower() in BOOLEANS for entry in found.coded.entries):
            continue
        numbers = np.array([*(BOOLEANS[entry.lower()] for entry in found.coded.entries), np.nan])
        values = np.array(values, np.float64)
        values[:, at] = numbers[found.coded.codes]
        del words[at]
    return table._replace(values=values, words=words)


_NUMBER = re.compile(r"\d+(\.\d+)?")


def leading_number(level: str) -> float | None:
    """Return the number that a level begins with, if it does.

    >>> leading_number("10-20 years"), leading_number("often"), leading_number("3.11.7")
    (10.0, None, 3.11)
    """
    found = _NUMBER.match(level.lstrip("<>=≤≥ "))
    return float(found[0]) if found else None


def sorting_key(level: str) -> tuple[float, str]:
    """Return by what levels are sorted: those that begin with numbers by these, all others as text.

    >>> sorted(["10+", "2-9", "none"], key=sorting_key)
    ['2-9', '10+', 'none']
    """
    number = leading_number(level)
    return (np.inf if number is None else number, level)


def about_categories(levels: Mapping[int, Sequence[str]], names: Sequence[Hashable]) -> str | None:
    """Return which columns were taken for categories, in words; None where none were."""
    if not levels:
        return None
    each = [names[at] for at in sorted(levels)]
    return f"{counted(len(each), 'column')} of categories: {listed(each)}"
