"""The beam under the soft cost on a GPU, exact or lazy: the same scores at the same steps as `SoftBeam`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.counts import Found, set_keys
from rfdag.eliminate.beams.gpu_choice import MOST_CHOSEN, choose_many
from rfdag.eliminate.beams.stepwise import orders_along
from rfdag.eliminate.kernels.soft import SHARPNESS
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.device import blocks, cupy, kernels, shared_memory, with_shared

Floats = NDArray[np.float64]

TILE = 64
"""Rows and columns of the matrix that one block of threads updates."""

LINES = 3
"""Entries of a plan before its lines: a state's base, the state it continues, the slot removed."""

CHUNK = 128
"""Neighbours of a candidate whose pending steps are held in shared memory at once, both as rows and as columns."""

HEADS = 1024
"""Shared memory that the kernel `gains` reserves for other uses, in numbers of 8 bytes."""

BLOCKS = 528
"""Blocks that share the candidates to be scored again: four for each multiprocessor of a large GPU."""

STEPS_BETWEEN_REPORTS = 128

MOST_STATES = 65_535
"""States of the widest beam: as many as CUDA starts blocks along a second axis."""


def bytes_of_states(p: int, width: int) -> float:
    """Return the device memory that ``width`` states take: two batches of matrices, and lists of neighbours."""
    stride = -(-p // 16) * 16
    return width * (2 * 8.0 + 4.0 + 8.0 + 2 * 8.0 / TILE) * stride * (stride + TILE) + 64.0 * 10 * width * p


class GpuBeam:
    """A beam search under the soft cost on a GPU, whose states stay there from the first step to the last.

    Parameters are those of `SoftBeam` without ``threads``; ``partial`` may be on the device already. With
    ``rescore_every`` = 1 every candidate is scored at every step.
    """

    def __init__(
        self,
        partial: Any,
        n_samples: int,
        width: int,
        mu: float,
        *,
        c: float,
        noise: float = 0.0,
        z_near: float = 2.5,
        rescore_every: int = 16,
        constraints: Constraints | None = None,
    ) -> None:
        cp = self._cp = cupy()
        self._kernels = kernels("soft", "soft_whole", "soft_steps", "soft_choice", MOST_CHOSEN=MOST_CHOSEN)
        p = self._p = len(partial)
        self._n, self._c, self._quiet, self._z_near = float(n_samples), c, noise / c, z_near
        self._width, self._mu, self._every = width, mu, rescore_every
        self._ld = -(-p // 16) * 16
        square = (width, self._ld, self._ld)
        self._bases, self._fresh = cp.empty(square), cp.empty(square)
        self._near, self._values = cp.empty(square, np.int32), cp.empty(square)
        tiles = blocks(p, TILE)
        self._weights = cp.empty((width, self._ld, tiles))
        self._bits = cp.empty((width, self._ld, tiles), np.uint64)
        lines = (width, self._ld)
        self._u, self._paid, self._gains = cp.zeros(lines), cp.zeros(lines), cp.zeros(lines)
        self._u_after, self._paid_after, self._gains_after = cp.zeros(lines), cp.zeros(lines), cp.zeros(lines)
        self._sums, self._counts = cp.zeros(lines, np.uint64), cp.zeros(lines, np.int32)
        self._slot_list, self._stale = cp.zeros(lines, np.int32), cp.zeros(lines, np.int32)
        self._members, self._members_after = cp.zeros(lines, np.int32), cp.zeros(lines, np.int32)
        self._stale_counts = cp.zeros((rescore_every, width), np.int32)
        self._stale_count_of = list(self._stale_counts)
        self._pool = cp.empty((rescore_every, width, self._ld))
        self._plan, self._plan_after = (cp.zeros((width, LINES + rescore_every), np.int32) for _ in range(2))
        self._offers, self._offer_keys = cp.empty(lines), cp.empty(lines, np.uint64)
        self._spent, self._spent_after = cp.zeros(width), cp.zeros(width)
        self._key, self._key_after = cp.zeros(width, np.uint64), cp.zeros(width, np.uint64)
        self._variable_keys = cp.asarray(set_keys(p))
        self._sources, self._slots, self._found = cp.empty(width, np.int32), cp.empty(width, np.int32), cp.ones(1, "i4")
        # For every step and state: which state it came from, and the variable that was removed.
        self._history = cp.empty((2, max(p - 1, 1), width), np.int32)
        self._before: Any = None
        self._waiting: Any = None
        if constraints is not None:
            self._before = cp.asarray(constraints.before, np.int32)
            self._waiting = self._before.sum(axis=1, dtype=np.int32)[None]

        self._bases[0, :p, :p] = -cp.asarray(partial)
        self._u[0, :p] = 1.0
        self._slot_list[0, :p] = self._members[0, :p] = cp.arange(p, dtype=np.int32)
        self._begin(p)
        self._look(1, p, into=self._bases)

    def search(self, report: Callable[[float], None] = lambda share: None) -> Found:
        """Return up to ``width`` complete orders, the cheapest first; ``report`` is called with the share done."""
        p, count = self._p, 1
        for v in range(p, 1, -1):
            following = most_sets(p, p - v + 1, self._width)
            self._choose(count, following, p - v)
            self._remove(following, v)
            if self._steps == self._every:
                self._flush(following, v - 1)
                self._begin(v - 1)
            else:
                self._rescore(following, v - 1)
            count = following
            if v % STEPS_BETWEEN_REPORTS == 0 or self._width > MOST_CHOSEN:
                self._cp.cuda.get_current_stream().synchronize()
                report(1 - (v / p) ** 3)
        found = int(self._found[0]) if p > 1 else 1
        sources, removed = (self._cp.asnumpy(part)[: p - 1].astype(np.int64) for part in self._history)
        orders = orders_along(np.zeros(found, np.int64), list(zip(sources, removed, strict=True)))
        orders[:, 0] = p * (p - 1) // 2 - orders[:, 1:].sum(axis=1)
        report(1.0)
        return Found.ranked(orders, self._cp.asnumpy(self._spent[:found]))

    def _choose(self, count: int, following: int, step: int) -> None:
        """Choose the states that follow ``count`` others, and write what they are."""
        fresh = np.int32(self._steps == 0)
        plan = (self._plan, np.int32(self._every))
        offers = (self._offers, self._offer_keys)
        size = (np.int64(self._ld), np.int32(self._m))
        waiting = 0 if self._waiting is None else self._waiting
        self._kernels.offer(
            (count,), (1024,),
            (self._u, *size, self._paid, self._gains, self._mu, SHARPNESS, self._members, *plan, fresh,
             self._variable_keys, waiting, np.int32(self._p), self._spent, self._key, *offers),
        )  # fmt: skip
        chosen = (self._sources, self._slots)
        if self._width <= MOST_CHOSEN:
            self._kernels.choose_few(
                (1,), (1024,),
                (*offers, *size, np.int32(count), np.int32(self._width), self._spent, self._paid, SHARPNESS, *chosen,
                 self._found),
            )  # fmt: skip
        else:
            here = (slice(0, count), slice(0, self._m))
            costs = self._spent[:count, None] + self._paid[here]
            self._found[0] = choose_many(self._offers[here], self._offer_keys[here], costs, self._width, *chosen)
        sources, removed = self._history[:, step]
        self._kernels.follow_chosen(
            (blocks(following, 256),), (256,),
            (np.int64(self._ld), self._paid, self._members, *plan, np.int32(self._steps), fresh, self._variable_keys,
             *chosen, np.int32(following), self._spent, self._key, self._plan_after, self._spent_after,
             self._key_after, sources, removed),
        )  # fmt: skip
        self._plan, self._plan_after = self._plan_after, self._plan
        self._spent, self._spent_after = self._spent_after, self._spent
        self._key, self._key_after = self._key_after, self._key
        if self._waiting is not None:
            self._waiting = self._waiting[sources[:following]] - self._before.T[removed[:following]]

    def _begin(self, m: int) -> None:
        """Start from matrices of m variables without pending steps."""
        self._m, self._steps = m, 0
        self._stale_counts[:] = 0

    def _remove(self, count: int, v: int) -> None:
        """Carry out the planned step of each state, with v variables before it."""
        before, _, near_square = self._scales(v)
        self._kernels.remove_slot(
            (blocks(self._m, 256), count), (256,),
            (*self._matrix(), np.int32(self._m), *self._pending(), before, self._quiet, near_square,
             self._u, self._paid, self._gains, self._u_after, self._paid_after, self._gains_after,
             self._stale, self._stale_count_of[self._steps]),
        )  # fmt: skip
        self._u, self._u_after = self._u_after, self._u
        self._paid, self._paid_after = self._paid_after, self._paid
        self._gains, self._gains_after = self._gains_after, self._gains
        self._steps += 1

    def _rescore(self, count: int, v: int) -> None:
        """Score the candidates again that the last step changed, with v variables left."""
        before, after, near_square = self._scales(v)
        stale = (self._stale, self._stale_count_of[self._steps - 1])
        grid = (min(self._m, BLOCKS), count)
        self._kernels.rescore_rows(
            grid, (1024,),
            (*self._matrix(), np.int32(self._m), *self._pending(), before, self._quiet, near_square, self._u, *stale,
             self._paid, self._counts, self._near, self._values),
            shared_mem=8 * self._every,
        )  # fmt: skip
        size = 2 * 8 * (4 + self._steps) * CHUNK
        with_shared(self._kernels.rescore_gains, size)(
            grid, (512,),
            (*self._matrix(), *self._pending(), before, after, self._quiet, self._u, *stale,
             self._counts, self._near, self._values, np.int32(CHUNK), self._gains),
            shared_mem=size,
        )  # fmt: skip

    def _flush(self, count: int, v: int) -> None:
        """Give every state its own matrix of v variables with all steps applied, and score everything again."""
        self._kernels.compact(
            (count,), (1024,),
            (self._u, np.int32(self._m), np.int32(self._ld), self._members, self._plan, np.int32(self._every),
             self._slot_list, self._members_after),
        )  # fmt: skip
        self._members, self._members_after = self._members_after, self._members
        self._look(count, v, into=self._fresh)
        self._bases, self._fresh = self._fresh, self._bases

    def _look(self, count: int, v: int, into: Any) -> None:
        """Score everything on the matrices with all steps applied, and write these ``into`` another batch if needed."""
        before, after, near_square = self._scales(v)
        tiles = blocks(v, TILE)
        size = 8 * 2 * TILE * self._steps
        with_shared(self._kernels.flush, size)(
            (tiles * (tiles + 1) // 2, count), (256,),
            (*self._matrix(), *self._pending(), self._u, self._slot_list, np.int32(v), before, self._quiet,
             near_square, into, self._weights, self._bits),
            shared_mem=size,
        )  # fmt: skip
        matrix = (into, np.int64(self._ld), np.int32(v))
        self._kernels.list_near(
            (v, count), (128,),
            (*matrix, self._weights, self._bits, self._u, self._paid, self._sums, self._counts, self._near,
             self._values),
        )  # fmt: skip
        chunk = min(v, shared_memory() // 8 - HEADS)
        with_shared(self._kernels.gains, 8 * chunk)(
            (v, count), (1024 if chunk > 13_000 else 512,),
            (*matrix, before, after, self._quiet, self._counts, self._near, self._values, np.int32(chunk), self._sums),
            shared_mem=8 * chunk,
        )  # fmt: skip
        self._kernels.settle(
            (blocks(v, 256), count), (256,),
            (np.int64(self._ld), np.int32(v), self._counts, self._sums, self._gains),
        )  # fmt: skip

    def _matrix(self) -> tuple[Any, ...]:
        return self._bases, np.int64(self._ld)

    def _pending(self) -> tuple[Any, ...]:
        return self._pool, np.int32(self._width), np.int32(self._steps), self._plan, np.int32(self._every)

    def _scales(self, v: int) -> tuple[float, float, float]:
        degrees = self._n - v + 1.0
        return degrees / self._c, (degrees + 1.0) / self._c, self._z_near * self._z_near / degrees


def most_sets(p: int, size: int, width: int) -> int:
    """Return how many sets of so many of p variables there are, but no more than ``width``.

    >>> most_sets(5, 1, 100), most_sets(5, 3, 100), most_sets(1000, 500, 8)
    (5, 10, 8)
    """
    count = 1
    for i in range(min(size, p - size)):
        count = count * (p - i) // (i + 1)
        if count >= width:
            return width
    return min(count, width)
