"""The beam under the soft cost on a GPU, exact or lazy: the same scores at the same steps as `SoftBeam`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.counts import Found, beam_search
from rfdag.eliminate.engines.engine import Integers
from rfdag.eliminate.kernels.soft import SHARPNESS
from rfdag.knowledge.constraints import Constraints
from rfdag.runtime.device import blocks, cupy, kernels, shared_memory, with_shared

Floats = NDArray[np.float64]

TILE = 64
"""Rows and columns of the matrix that one block of threads updates."""

BASE, SOURCE, GONE, LINES = range(4)
"""Entries of a plan: a state's base, the state it continues, the slot removed, then its vector for each step."""

CHUNK = 128
"""Neighbours of a candidate whose pending steps are held in shared memory at once, both as rows and as columns."""

HEADS = 1024
"""Shared memory that the kernel `gains` reserves for other uses, in numbers of 8 bytes."""

BLOCKS = 528
"""Blocks that share the candidates to be scored again: four for each multiprocessor of a large GPU."""

STEPS_BETWEEN_REPORTS = 128


def bytes_of_states(p: int, width: int) -> float:
    """Return the device memory that ``width`` states take: two batches of matrices, and lists of neighbours."""
    stride = -(-p // 16) * 16
    return width * (2 * 8.0 + 4.0 + 8.0 + 2 * 8.0 / TILE) * stride * (stride + TILE) + 64.0 * 8 * width * p


class GpuBeam:
    """A beam search under the soft cost on a GPU; its states are `rfdag.eliminate.beams.counts.States`.

    Parameters are those of `SoftBeam` without ``threads``; ``partial`` may be on the device already. With
    ``rescore_every`` = 1 every candidate is scored at every step.
    """

    _m: int
    _steps: int
    _base_of: Integers
    _slots: Integers
    _lines: Integers

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
        self._kernels = kernels("soft", "soft_whole", "soft_steps")
        p = len(partial)
        self._n, self._c, self._quiet, self._z_near = float(n_samples), c, noise / c, z_near
        self._width, self._mu, self._every = width, mu, rescore_every
        self._constraints = constraints
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
        self._plan = cp.zeros((width, LINES + rescore_every), np.int32)

        self._bases[0, :p, :p] = -cp.asarray(partial)
        self._u[0, :p] = 1.0
        self._slot_list[0, :p] = self._members[0, :p] = cp.arange(p, dtype=np.int32)
        self._names = np.arange(p)[None]
        self._begin(1, p)
        self._look(1, p, into=self._bases)

    @property
    def variables(self) -> Integers:
        """The remaining variables, one row per state."""
        return np.take_along_axis(self._names[self._base_of], self._slots, axis=1)

    def costs(self) -> tuple[Floats, Floats]:
        """Return D̃ and the bound H after each removal."""
        count, m = len(self._slots), self._m
        paid, gains = (
            np.take_along_axis(self._cp.asnumpy(scores[:count, :m]), self._slots, axis=1)
            for scores in (self._paid, self._gains)
        )
        return paid, paid.sum(axis=1, keepdims=True) / 2 - paid - gains

    def extend(self, states: Integers, positions: Integers) -> None:
        """Replace the batch by the chosen continuations, each with one more pending step, and rescore what changed."""
        count, v = len(states), self._slots.shape[1]
        plan = np.empty((count, LINES + self._every), np.int32)
        plan[:, SOURCE], plan[:, GONE] = states, self._slots[states, positions]
        self._base_of, self._lines = self._base_of[states], self._lines[states]
        self._lines[:, self._steps] = np.arange(count)
        plan[:, BASE], plan[:, LINES:] = self._base_of, self._lines
        kept = np.ones((count, v), np.bool_)
        kept[np.arange(count), positions] = False
        self._slots = self._slots[states][kept].reshape(count, v - 1)
        self._plan[:count] = self._cp.asarray(plan)
        self._remove(count, v)
        if self._steps == self._every:
            self._names = self.variables
            self._flush(count, v - 1)
            self._begin(count, v - 1)
        else:
            self._rescore(count, v - 1)

    def search(self, report: Callable[[float], None] = lambda share: None) -> Found:
        """Return the orders found, the cheapest first.

        A beam of width 1 stays on the device throughout, unless there are constraints, which are checked on the host.
        """
        if self._width == 1 and self._constraints is None:
            return self._greedy(report)
        return beam_search(self, self._width, self._mu, report=report, constraints=self._constraints)

    def _greedy(self, report: Callable[[float], None]) -> Found:
        """Carry out the whole elimination of a single state without transfers to the host."""
        cp, p = self._cp, self._m
        spent, removed = cp.zeros(1), cp.empty(p, np.int32)
        self._plan[0] = 0
        for v in range(p, 1, -1):
            self._kernels.choose(
                (1,), (1024,),
                (self._u, np.int32(self._m), self._paid, self._gains, self._mu, SHARPNESS, self._members, spent,
                 self._plan, removed, np.int32(p - v)),
            )  # fmt: skip
            self._remove(1, v)
            if self._steps == self._every:
                self._flush(1, v - 1)
                self._steps, self._m = 0, v - 1
                self._stale_counts[:] = 0
            else:
                self._rescore(1, v - 1)
            if v % STEPS_BETWEEN_REPORTS == 0:
                cp.cuda.get_current_stream().synchronize()
                report(1 - (v / p) ** 3)
        order = cp.asnumpy(removed)[::-1].astype(np.int64)
        order[0] = p * (p - 1) // 2 - order[1:].sum()
        report(1.0)
        return Found(order[None], cp.asnumpy(spent))

    def _begin(self, count: int, m: int) -> None:
        """Start from matrices of m variables without pending steps."""
        self._m, self._steps = m, 0
        self._base_of = np.arange(count)
        self._slots = np.tile(np.arange(m), (count, 1))
        self._lines = np.zeros((count, self._every), np.int64)
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
