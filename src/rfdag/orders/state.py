"""The arrays that the kernels of refinement work on: what they start from, and room to work in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from rfdag.knowledge.constraints import Constraints
from rfdag.orders.kernels import fits

Integers = NDArray[np.int64]


def knowledge_matrices(constraints: Constraints | None) -> NDArray[np.int8]:
    """Return the constraints as the kernels read them, empty where there are none."""
    if constraints is None:
        return np.empty((2, 0, 0), np.int8)
    return np.array([constraints.roles, constraints.before], np.int8)


def first_parents(child: int, parents: csc_array | None, constraints: Constraints | None) -> Integers:
    """Return the parents that a variable's fit begins with: the required ones, then those given that may be."""
    if parents is None:
        given = np.empty(0, np.int64)
    else:
        given = np.sort(parents.indices[parents.indptr[child] : parents.indptr[child + 1]]).astype(np.int64)
    if constraints is None:
        return given
    required = constraints.required_of(child)
    others = given[constraints.may_be_parents(given, child)]
    return np.concatenate([required, others[~np.isin(others, required)]])


def workspace(most: int, widest: int) -> fits.Work:
    """Return room to work in, for so many parents and lists of at most this length."""
    room = most + 2
    return fits.Work(
        fits=np.empty((2, fits.BASIS + room, widest)),
        parents=np.empty((2, room), np.int64),
        triangle=np.empty((fits.TRIANGLE + room, room)),
        way=np.empty(widest, np.int64),
        path=np.empty(widest),
        # Memory that is never written to is never taken from the system.
        before=np.empty(widest * (room + 1), np.int64),
        operations=np.zeros(1, np.int64),
    )
