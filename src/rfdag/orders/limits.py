"""How many parents a variable may have, and what is said where that limits an answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from rfdag.errors import Message, as_columns
from rfdag.evidence.local import LocalMoments
from rfdag.knowledge.constraints import Constraints
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.orders.scores import ScoredOrder

Integers = NDArray[np.int64]


def most_parents(moments: LocalMoments, constraints: Constraints | None = None) -> Integers:
    """Return for each variable the most parents it may have: half its rows, or as many as are required.

    A fit with nearly as many parents as rows explains everything and means nothing. Rows that repeat others count once.

    >>> from rfdag.evidence.local import SharedMoments
    >>> int(most_parents(SharedMoments(np.eye(30), n_samples=20))[0])
    9
    >>> int(most_parents(SharedMoments(np.eye(30), n_samples=20, directions=9))[0])
    4
    """
    p = moments.size
    halves = np.array([min(moments.rows(y) - 1, moments.directions) // 2 for y in range(p)], np.int64)
    enough = np.maximum(1, np.minimum(p - 1, halves))
    return enough if constraints is None else np.maximum(enough, int(constraints.required.sum(axis=0).max()))


def warning_about_cap(scored: ScoredOrder, names: Sequence[Hashable], *, exhaustive: bool = False) -> str | None:
    """Return the warning that the number of rows has limited the number of parents, or None if it has not.

    Parameters
    ----------
    scored
        The order that is returned.
    names
        Names of the variables.
    exhaustive
        Whether the search claims to find the best DAG of all; it then does so among smaller families only, whether or
        not a variable has reached the limit.
    """
    p = len(scored.order)
    capped = scored.most_parents < p - 1
    if not capped.any():
        return None
    most = counted(int(scored.most_parents.min()), "parent")
    directions = scored.moments.directions
    half = "half the rows" if directions == scored.n_samples - 1 else f"half of the {directions} directions they span"
    limit = f"With {scored.n_samples} rows, a variable may have at most {most} ({half})"
    reached = np.flatnonzero(capped & (np.diff(csc_array(scored.graph).indptr) >= scored.most_parents))
    if len(reached):
        columns = as_columns(names[at] for at in reached.tolist())
        return Message(f"{limit}. This limit was reached by {columns}; more rows may show more parents.")
    return Message(f"{limit}; the DAG found is the best of those.") if exhaustive else None
