"""Which continuations a wide beam on a GPU follows, by sorting; those of a narrow one are chosen by a kernel."""

from __future__ import annotations

from typing import Any

from rfdag.eliminate.kernels.soft import SHARPNESS
from rfdag.runtime.device import array_module

MOST_CHOSEN = 64
"""States up to which a kernel that chooses one after the other is faster than sorting."""

NEVER = 1e300
"""The value of what cannot be removed, as in the kernels."""


def choose_many(values: Any, keys: Any, costs: Any, width: int, sources: Any, slots: Any) -> int:
    """Write the states and slots of the ``width`` smallest values with different keys; return how many there are.

    Values are whole numbers. Ties go to the earlier entry, and of entries with equal keys, no worse than the last one
    chosen, the one with the smallest cost is followed. Where there are fewer, the last one is repeated.

    >>> import numpy as np
    >>> values, keys = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([[7, 8], [8, 9]], np.uint64)
    >>> sources, slots = np.empty(3, np.int32), np.empty(3, np.int32)
    >>> choose_many(values, keys, np.array([[5.0, 5.0], [4.0, 5.0]]), 2, sources, slots)
    2
    >>> sources[:2], slots[:2]
    (array([1, 1], dtype=int32), array([0, 1], dtype=int32))
    """
    xp = array_module(values)
    columns = values.shape[1]
    values, keys, costs = values.ravel(), keys.ravel(), costs.ravel()
    ranking = xp.argsort(values, kind="stable")
    # Entries with equal keys side by side, the best of them first.
    by_key = ranking[xp.argsort(keys[ranking], kind="stable")]
    first = xp.ones(len(by_key), bool)
    first[1:] = keys[by_key[1:]] != keys[by_key[:-1]]
    group = xp.empty(len(by_key), xp.int64)
    group[by_key] = xp.cumsum(first) - 1
    heads = by_key[first]
    distinct = xp.zeros(len(by_key), bool)
    distinct[heads] = values[heads] < NEVER
    chosen = ranking[distinct[ranking]][:width]
    last = values[chosen[-1]] if len(chosen) == width else NEVER
    # What is worse than the last one chosen is left out; of those that cost the least, the earliest is followed.
    allowed = xp.where((values <= last) & (values < NEVER), costs, xp.inf)
    starts, margin = xp.flatnonzero(first), 1.0 / SHARPNESS
    least = allowed[xp.lexsort(xp.stack([allowed, group.astype(float)]))[starts]]
    dearer = allowed > least[group] + margin
    order = xp.lexsort(xp.stack([xp.arange(float(len(group))), dearer.astype(float), group.astype(float)]))
    of = group[chosen]
    chosen = xp.where(least[of] + margin < costs[chosen], order[starts[of]], chosen)
    found = len(chosen)
    sources[:found], slots[:found] = chosen // columns, chosen % columns
    sources[found:width], slots[found:width] = sources[found - 1], slots[found - 1]
    return found
