"""Which variables can be parents of which: all others, or those for which there is some evidence.

A local search compares a variable with its candidates again and again. Of a hundred variables or more, most are never
parents of it in any order worth a look. Candidates are its Markov blanket in a DAG whose parents were chosen among all
variables, and those with which its correlations are strongest; neither suffices alone. A true parent may be nearly
uncorrelated with its child, given all others or not, where effects cancel, and the blanket in one order lacks what
another order needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from rfdag.evidence.local import Lists
from rfdag.orders import tuning
from rfdag.runtime.device import array_module, on_host
from rfdag.runtime.progress import Shares
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENTRIES_AT_ONCE = 1 << 22
"""Entries of a matrix that are ranked at a time, so that the copies are small: 32 MB."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each variable a list: the variables that can be its parents, and the variable itself, ascending.

    Being candidates is mutual. The list of y reaches from ``starts[y]`` to ``starts[y + 1]`` in the two rows of
    ``lists``: the variables, and the number that y has in the list of each.

    >>> Candidates.all(3).lists[0].reshape(3, 3)
    array([[0, 1, 2],
           [0, 1, 2],
           [0, 1, 2]])
    >>> some = Candidates.among(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool))
    >>> some.starts, some.lists[0]
    (array([0, 2, 5, 7]), array([0, 1, 0, 1, 2, 1, 2]))
    >>> some.lists[1], some.own
    (array([0, 0, 1, 1, 0, 2, 1]), array([0, 1, 1]))
    """

    starts: Integers
    lists: Integers

    @staticmethod
    @lru_cache(maxsize=1)
    def all(p: int) -> Candidates:
        """Return lists in which every variable has all others; the last ones are remembered, since many orders ask."""
        numbers = np.arange(p, dtype=np.int64)
        lists = np.empty((2, p, p), np.int64)
        lists[0], lists[1] = numbers, numbers[:, None]
        return Candidates(p * np.arange(p + 1, dtype=np.int64), lists.reshape(2, p * p))

    @classmethod
    def among(cls, pairs: NDArray[np.bool_] | csr_array) -> Self:
        """Return lists of the pairs that are marked at least once, in a full matrix or a sparse one."""
        marked = coo_array(pairs)
        p = marked.shape[0]
        itself = np.arange(p, dtype=np.int64)
        owners, others = marked.row.astype(np.int64), marked.col.astype(np.int64)
        rows, columns = np.concatenate([owners, others, itself]), np.concatenate([others, owners, itself])
        graph = csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=(p, p))
        graph.sum_duplicates()
        starts = graph.indptr.astype(np.int64)
        # The number of each variable in the list; transposed, that of the owner in the list of each variable.
        graph.data = np.arange(graph.nnz) - np.repeat(starts[:-1], np.diff(starts))
        mirror = graph.T.tocsr()
        mirror.sort_indices()
        return cls(starts, np.stack([graph.indices.astype(np.int64), mirror.data]))

    def with_pairs(self, pairs: csr_array) -> Self:
        """Return lists that have these pairs of variables, too."""
        if self.complete or not pairs.nnz:
            return self
        return type(self).among(pairs + self.pairs)

    @property
    def pairs(self) -> csr_array:
        """The variables that are candidates of each other, marked in a sparse matrix, and all with themselves."""
        p = len(self.starts) - 1
        return csr_array((np.ones(len(self.owners), bool), self.lists[0], self.starts), shape=(p, p))

    def same_lists(self, other: Candidates) -> NDArray[np.bool_]:
        """Return which variables have the same list in other candidates.

        >>> pair, chain = (np.array(pairs, bool) for pairs in ([[0, 1], [0, 0]], [[0, 0], [0, 0]]))
        >>> Candidates.among(pair).same_lists(Candidates.among(chain))
        array([False, False])
        """
        same = np.diff(self.starts) == np.diff(other.starts)
        mine, theirs = same[self.owners], same[other.owners]
        differing = self.lists[0, mine] != other.lists[0, theirs]
        same[self.owners[mine][differing]] = False
        return same

    @cached_property
    def owners(self) -> Integers:
        """The variable that each place of the lists belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def own(self) -> Integers:
        """For each variable its number in its own list."""
        if self.complete:
            return np.arange(len(self.starts) - 1, dtype=np.int64)
        return self.lists[1, self.lists[0] == self.owners]

    @cached_property
    def complete(self) -> bool:
        """Whether every variable is a candidate for every other."""
        p = len(self.starts) - 1
        return bool(self.starts[-1] == p * p)

    @cached_property
    def widest(self) -> int:
        """The length of the longest list."""
        return int(np.diff(self.starts).max())

    @property
    def as_lists(self) -> Lists:
        """The lists as moments take them."""
        return Lists(self.starts, self.lists[0])

    def of(self, y: int) -> Integers:
        """Return the list of a variable."""
        return self.as_lists.of(y)


class Nearest(NamedTuple):
    """For each variable, in a row, the others with which it correlates most, and how strongly."""

    variables: Integers
    strengths: Floats

    def first(self, count: int) -> csr_array:
        """Mark for each variable so many of them, the strongest."""
        p, most = self.variables.shape
        count = min(count, most)
        chosen = np.argpartition(-self.strengths, count - 1, axis=1)[:, :count]
        columns = np.take_along_axis(self.variables, chosen, axis=1)
        rows = np.repeat(np.arange(p), count)
        return csr_array((np.ones(p * count, bool), (rows, columns.ravel())), shape=(p, p))


def nearest(
    rows_of: Callable[[Integers], Any],
    p: int,
    count: int,
    report: Callable[[float], None] = lambda share: None,
    threads: int = 1,
) -> Nearest:
    """Return for each of p variables the ``count`` others whose entries are largest in its row of a matrix.

    ``rows_of`` returns some rows of that matrix, on the host or on a device, where they are ranked; ``report`` is
    called with the share of them done.

    >>> found = nearest(lambda rows: np.array([[1.0, 0.5, -0.6], [0.5, 1.0, 0.3], [-0.6, 0.3, 1.0]])[rows], 3, 1)
    >>> found.variables.ravel(), found.strengths.ravel()
    (array([2, 0, 0]), array([0.6, 0.5, 0.6]))
    """
    count = min(count, p - 1)
    found = Nearest(np.empty((p, count), np.int64), np.empty((p, count)))
    step = max(1, ENTRIES_AT_ONCE // p)
    shares = Shares(math.ceil(p / step), report)

    def rank(worker: int, workers: int) -> None:
        for first in range(worker * step, p, workers * step):
            require_wanted()
            rows = np.arange(first, min(first + step, p))
            entries = rows_of(rows)
            xp = array_module(entries)
            sizes = xp.abs(entries)
            sizes[xp.arange(len(rows)), xp.asarray(rows)] = -1.0
            chosen = xp.argpartition(sizes, p - count, axis=1)[:, p - count :]
            found.variables[rows] = on_host(chosen)
            found.strengths[rows] = on_host(xp.take_along_axis(sizes, chosen, axis=1))
            shares.reach(first // step, 1.0)

    share(rank, threads)
    return found


def candidate_counts(p: int) -> tuple[int, int]:
    """Return how many candidates each of p variables has at first, by correlations and by partial correlations.

    >>> candidate_counts(1000), candidate_counts(100_000)
    ((16, 32), (8, 16))
    """
    half = 1 if p < tuning.LEAST_P_FOR_FEWEST_CANDIDATES else 2
    return tuning.CANDIDATES_BY_CORRELATION // half, tuning.CANDIDATES_BY_PARTIAL_CORRELATION // half


def strongest(correlations_of: Callable[[Integers], Any], partial: Any, threads: int = 1) -> csr_array:
    """Mark for each variable those with which its correlations, and its partial correlations, are largest."""
    counts = candidate_counts(len(partial))
    marked = [
        nearest(rows_of, len(partial), count, threads=threads).first(count)
        for rows_of, count in zip((correlations_of, partial.__getitem__), counts, strict=True)
    ]
    return csr_array(marked[0] + marked[1])
