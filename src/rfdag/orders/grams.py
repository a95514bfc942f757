"""Correlations of each variable with its candidates, and of these with each other: all that its scores need.

Where every variable is a candidate, they are those of one matrix, or of few, that variables share. Where there are
few candidates, each variable has a small matrix of its own, so that memory grows with the number of variables and not
with its square, and a fit reads numbers that lie side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.local import GroupedMoments, LocalMoments, Places
from rfdag.orders.candidates import Candidates

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SPARE = 2.5
"""How many times larger than needed the memory is that matrices of later lists are added to; what is not written to is
never taken from the system."""


@dataclass(frozen=True, eq=False)
class Grams:
    """For each variable the correlations along its list, row after row, from ``starts`` on in ``entries``.

    >>> from rfdag.evidence.local import SharedMoments
    >>> chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> some = Candidates.among(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool))
    >>> Grams.along(some, SharedMoments(chain, n_samples=100)).of(0)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    candidates: Candidates
    starts: Integers
    room: _Room

    @property
    def entries(self) -> Floats:
        """The correlations along all lists, and others."""
        return self.room.entries

    @classmethod
    def along(
        cls,
        candidates: Candidates,
        moments: LocalMoments,
        known: Grams | None = None,
        check: Callable[[], None] = lambda: None,
        threads: int = 1,
    ) -> Grams:
        """Return the correlations along all lists; those of lists that are the same in ``known`` are not made again.

        ``check`` is called again and again, from any of the ``threads``, and may raise.
        """
        p = moments.size
        if candidates.complete:
            grouped = cast(GroupedMoments, moments)
            shared = np.ascontiguousarray(grouped.matrices).reshape(-1)
            return cls(candidates, grouped.which * (p * p), _Room(shared, len(shared)))
        if known is not None and known.candidates is candidates:
            return known
        sizes = np.diff(candidates.starts) ** 2
        same, starts = np.zeros(p, bool), np.zeros(p, np.int64)
        if known is not None and not known.candidates.complete:
            same = candidates.same_lists(known.candidates)
            starts[same] = known.starts[same]
        new = np.flatnonzero(~same)
        first = known.room.taken(int(sizes[new].sum())) if known is not None and same.any() else None
        if known is not None and first is not None:
            room = known.room
        else:
            # All in new memory: what is no longer needed is left behind.
            kept, total = np.flatnonzero(same), int(sizes.sum())
            room, first = _Room(np.empty(int(SPARE * total)), total), int(sizes[kept].sum())
            if known is not None and len(kept):
                np.concatenate([known.of(y).reshape(-1) for y in kept.tolist()], out=room.entries[:first])
                starts[kept] = np.cumsum(sizes[kept]) - sizes[kept]
        starts[new] = first + np.cumsum(sizes[new]) - sizes[new]
        moments.write_along(candidates.as_lists, Places(new, starts[new], room.entries), check, threads)
        return cls(candidates, starts, room)

    def of(self, y: int) -> Floats:
        """Return the correlations along the list of a variable."""
        k = int(self.candidates.starts[y + 1] - self.candidates.starts[y])
        return self.entries[self.starts[y] : self.starts[y] + k * k].reshape(k, k)

    def among(self, variables: Integers, numbers: Integers) -> Floats:
        """Return the correlations of some of each list, a row of ``numbers``, and then of its owner, as a stack."""
        chosen = np.column_stack([numbers, self.candidates.own[variables]])
        lengths = np.diff(self.candidates.starts)[variables]
        rows = self.starts[variables][:, None] + chosen * lengths[:, None]
        return self.entries[rows[:, :, None] + chosen[:, None, :]]


class _Room:
    """Memory for matrices, some of it not used yet; several searches may add to it at the same time."""

    def __init__(self, entries: Floats, used: int) -> None:
        self.entries = entries
        self._used = used
        self._lock = threading.Lock()

    def taken(self, size: int) -> int | None:
        """Return where so many entries begin that are free from now on for the caller alone; None if there are none."""
        with self._lock:
            if self._used + size > len(self.entries):
                return None
            self._used += size
            return self._used - size
