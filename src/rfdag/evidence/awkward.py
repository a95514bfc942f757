"""Columns that cannot stand beside the others: constant, copies, linear combinations; named in groups, or left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from rfdag.errors import AwkwardError, DataMessage, Group, as_columns, keyword
from rfdag.input.columns import Column
from rfdag.wording import counted

Floats = NDArray[np.float64]

COPY = 1e-12
"""Distance of a correlation from ±1 up to which one column is a copy of the other."""

ROUNDED_COPY = 5e-5
"""The same for copies that were rounded, which can be told apart: they differ by less than 1 % of their deviation."""

NAMED = 100
"""Columns, and groups of them, that a message names; an error holds all of them in ``groups``."""

COMBINATIONS_NAMED = 3
"""Linear combinations up to which a message tells each with its columns; of more, it tells the rank of the table."""

PAIRS_NAMED = 3
"""Groups of near copies that a warning names."""

CONSTANT, BLURRED, COPIES, RANKS, COMBINED = "constant", "nearly constant", "copies", "same order", "combination"

INTRODUCTIONS = {
    CONSTANT: "These columns are constant",
    BLURRED: "These columns vary too little for their mean",
    COPIES: "Columns are linearly dependent",
    RANKS: "By ranks, columns are copies of each other",
    COMBINED: "Columns are linearly dependent",
}


def copies_among(pairs: NDArray[np.int64], names: Sequence[Hashable], kind: str = COPIES) -> tuple[Group, ...]:
    """Return the groups of columns that are copies of each other, given such pairs, ascending; the first of each stays.

    >>> copies_among(np.array([[0, 2]]), ["a", "b", "c"])
    (Group(kind='copies', kept=('a',), left=('c',)),)
    """
    groups: dict[int, list[int]] = {}
    seen: set[int] = set()
    for i, j in pairs.tolist():
        if i in groups or i not in seen:
            groups.setdefault(i, []).append(j)
            seen.add(j)
    return tuple(Group(kind, (names[i],), tuple(names[j] for j in copies)) for i, copies in groups.items())


def equal_columns(values: NDArray[Any], names: Sequence[Hashable]) -> tuple[Group, ...]:
    """Return the columns that are constant, and the groups of copies up to scale, without comparing all pairs.

    >>> equal_columns(np.array([[1.0, 5.0, -2.0], [2.0, 1.0, -4.0], [4.0, 2.0, -8.0]]), ["a", "b", "c"])
    (Group(kind='copies', kept=('a',), left=('c',)),)
    """
    alike: dict[bytes, list[Hashable]] = {}
    constant: list[Group] = []
    for at, name in enumerate(names):
        column = values[:, at] - values[:, at].mean()
        size = np.linalg.norm(column)
        if (values[:, at] == values[0, at]).all():
            constant.append(Group(CONSTANT, (), (name,)))
        else:
            # Nine digits tell columns apart that no rounding makes equal; the sign is that of the largest entry.
            shape = np.round(column / size * np.sign(column[np.argmax(np.abs(column))]), 9) + 0.0
            alike.setdefault(shape.tobytes(), []).append(name)
    return (*constant, *(Group(COPIES, (first,), tuple(copies)) for first, *copies in alike.values() if copies))


def dependent_among(triangle: Floats, names: Sequence[Hashable], hopeless: float) -> tuple[Group, ...]:
    """Return the columns that those before them determine, each with these, given R of a QR decomposition.

    ``hopeless`` is the condition from which columns count as dependent.

    >>> rows = np.random.default_rng(0).normal(size=(50, 2))
    >>> rows = np.column_stack([rows, rows.sum(axis=1)])
    >>> dependent_among(np.linalg.qr(rows / np.linalg.norm(rows, axis=0), mode="r"), ["a", "b", "sum"], 1e13)
    (Group(kind='combination', kept=('a', 'b'), left=('sum',)),)
    """
    kept, left = _split(triangle, 10 / hopeless)
    if not left:
        # Rounding has spread a dependence over several columns: take them by size instead.
        _, r, order = qr(triangle, mode="economic", pivoting=True)
        sizes = np.abs(np.diag(r))
        rank = int((sizes > sizes[0] * 10 / hopeless).sum())
        kept, left = order[:rank].tolist(), order[rank:].tolist()
    if not left:
        return ()
    solution = np.linalg.lstsq(triangle[:, kept], triangle[:, left], rcond=None)[0]
    groups = []
    for at, dependent in enumerate(left):
        weights = np.abs(solution[:, at])
        on = sorted(kept[to] for to in np.flatnonzero(weights > 1e-6 * weights.max(initial=0.0)))
        kind = COPIES if len(on) == 1 else COMBINED
        groups.append(Group(kind, tuple(names[to] for to in on), (names[dependent],)))
    return tuple(groups)


def _split(factor: Floats, tolerance: float) -> tuple[list[int], list[int]]:
    """Return the columns that add to the span of those before them, and the others.

    ``tolerance`` is the share of a column's length that may be rounding.
    """
    kept: list[int] = list(range(factor.shape[1]))
    left: list[int] = []
    while True:
        r = qr(factor[:, kept], mode="r", check_finite=False)[0]
        found: list[int] = []
        for at in range(len(kept)):
            # The direction that a dependent column adds is noise: what points there is new for the columns after it.
            # With fewer rows than columns the last columns add none.
            new = [row for row in (*found, at) if row < len(r)]
            rest = np.linalg.norm(r[new, at])
            if rest <= tolerance * np.linalg.norm(r[:, at]):
                found.append(at)
        if not found:
            return kept, sorted(left)
        left += [kept[at] for at in found]
        for at in reversed(found):
            del kept[at]


def about_copies(copies: Sequence[Group]) -> tuple[str, ...]:
    """Return a warning about columns that are copies of others but for rounding, if there are any.

    >>> print(*about_copies(copies_among(np.array([[0, 1]]), ["kg", "lb"])))
    'lb' is nearly a copy of 'kg': edges of the two cannot be told apart. Pass awkward='keep-one' to leave such columns
    out.
    """
    if not copies:
        return ()
    each = "; ".join(
        f"{as_columns(group.left)} {'is nearly a copy' if len(group.left) == 1 else 'are nearly copies'} of "
        f"{as_columns(group.kept)}"
        for group in copies[:PAIRS_NAMED]
    )
    more = f"; and {counted(len(copies) - PAIRS_NAMED, 'group')} more" if len(copies) > PAIRS_NAMED else ""
    return (
        DataMessage(
            f"{each[0].upper()}{each[1:]}{more}: edges of the two cannot be told apart. Pass "
            f"{keyword('awkward', 'keep-one')} to leave such columns out."
        ),
    )


def awkward_error(groups: Sequence[Group], columns: int) -> AwkwardError:
    """Return the error for groups of columns, which names them and says how to leave them out of all columns."""
    left = [name for group in groups for name in group.left]
    every = [name for group in groups for name in (*group.kept, *group.left)]
    keep, drop = keyword("awkward", "keep-one"), keyword("awkward", "drop")
    if sum(group.kind == COMBINED for group in groups) > COMBINATIONS_NAMED:
        rank = columns - len(set(left))
        advice = (
            f"The table has rank {rank} of {columns}, as after a reduction to principal components. Pass the data from "
            f"before that, or {keep} to leave out {counted(columns - rank, 'column')} that others determine."
        )
    elif columns - len(set(left)) < 2:
        advice = (
            f"Without {as_columns(left, NAMED)} fewer than two columns are left, and an order needs two: add columns "
            "that vary on their own."
        )
    elif set(every) == set(left):
        advice = f"Pass {keep} to leave {'it' if len(left) == 1 else 'them'} out."
    else:
        both = as_columns(dict.fromkeys(every), NAMED)
        rest = f", or {drop} to leave out {both}" if columns - len(set(every)) >= 2 else ""
        advice = f"Pass {keep} to leave out {as_columns(left, NAMED)}{rest}."
    return AwkwardError(f"{sentences_about(groups)} {advice}", groups)


def sentences_about(groups: Sequence[Group]) -> str:
    """Return what is wrong with groups of columns, without advice.

    >>> sentences_about([Group(CONSTANT, (), ("flat",)), Group(COPIES, ("kg",), ("lb",))])
    "These columns are constant: 'flat'. Columns are linearly dependent: 'lb' is a copy of 'kg' up to scale."
    """
    sentences = []
    for kind in dict.fromkeys(group.kind for group in groups):
        of_kind = [group for group in groups if group.kind == kind]
        if kind == COMBINED and len(of_kind) > COMBINATIONS_NAMED:
            kept = dict.fromkeys(name for group in of_kind for name in group.kept)
            left = [name for group in of_kind for name in group.left]
            of = f"{as_columns(left)} are linear combinations of {as_columns(kept)}"
            sentences.append(f"{INTRODUCTIONS[kind]}: {of}.")
            continue
        shown = "; ".join(_described(group) for group in of_kind[:NAMED])
        more = f"; and {counted(len(of_kind) - NAMED, 'group')} more" if len(of_kind) > NAMED else ""
        sentences.append(f"{INTRODUCTIONS[kind]}: {shown}{more}.")
    return " ".join(sentences)


def _described(group: Group) -> str:
    left, kept = as_columns(group.left, NAMED), as_columns(group.kept, NAMED)
    if not group.kept:
        return left
    verb = "is" if len(group.left) == 1 else "are"
    if group.kind == RANKS:
        orders = "orders" if len(group.left) == 1 else "order"
        return f"{left} {orders} the rows as {kept} does, or in reverse"
    if group.kind == COPIES:
        return f"{left} {verb} {'a copy' if verb == 'is' else 'copies'} of {kept} up to scale"
    return f"{left} {verb} a linear combination of {kept}"


def left_out(groups: Iterable[Group], policy: str) -> dict[Hashable, Column]:
    """Return the columns to leave out under a policy, "drop" or "keep-one", with the reason for each."""
    out: dict[Hashable, Column] = {}
    for group in groups:
        reason = {CONSTANT: "it is constant", BLURRED: "it varies too little for its mean"}.get(group.kind)
        for name in group.left:
            out[name] = Column(name, "numbers", f"left out: {reason or _why(group)}")
        for name in group.kept if policy == "drop" else ():
            out.setdefault(name, Column(name, "numbers", f"left out: {as_columns(group.left)} depends on it"))
    return out


def _why(group: Group) -> str:
    kept = as_columns(group.kept, NAMED)
    if group.kind == RANKS:
        return f"it orders the rows as {kept} does, or in reverse"
    return f"it is a copy of {kept} up to scale" if group.kind == COPIES else f"it is a linear combination of {kept}"
