"""Kendall's rank correlation of all pairs of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.kernels.kendall import discordances
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 500_000
"""Numbers that are compared with a column between two reports: less than a tenth of a second."""


def kendall(values: NDArray[Any], threads: int = 1, report: Callable[[float], None] = lambda done: None) -> Floats:
    """Return Kendall's τ_b of all pairs of columns, none of which is constant.

    Every pair takes time n ln n (Knight, 1966), as `scipy.stats.kendalltau` does; each column is sorted only once, and
    threads share the columns.

    Examples
    --------
    >>> kendall(np.array([[1, 2, 7], [2, 1, 5], [3, 3, 1]])).round(3)
    array([[ 1.   ,  0.333, -1.   ],
           [ 0.333,  1.   , -0.333],
           [-1.   , -0.333,  1.   ]])
    """
    n, p = values.shape
    codes, order = np.empty((p, n), np.int64), np.empty((p, n), np.int64)
    tied = np.empty(p, np.int64)
    for at in range(p):
        _, codes[at], counts = np.unique(values[:, at], return_inverse=True, return_counts=True)
        order[at] = np.argsort(codes[at], kind="stable")
        tied[at] = (counts * (counts - 1) // 2).sum()
    swaps, joint = np.zeros((p, p), np.int64), np.zeros((p, p), np.int64)
    columns = max(1, CELLS_AT_ONCE // n)

    def work(first: int, step: int) -> None:
        for at in range(first, p - 1, step):
            for begin in range(at + 1, p, columns):
                require_wanted()
                discordances(codes, order, at, begin, min(begin + columns, p), swaps[at], joint[at])
                if first == 0:
                    report(1 - ((p - 1 - at) / p) ** 2)

    share(work, threads)
    pairs = n * (n - 1) // 2
    # Pairs ordered alike less those ordered otherwise, of the pairs that are tied in neither column.
    excess = pairs - tied[:, None] - tied + joint - 2 * swaps
    free = np.sqrt((pairs - tied).astype(np.float64))
    upper = np.triu(excess / free / free[:, None], 1)
    found: Floats = upper + upper.T
    np.fill_diagonal(found, 1.0)
    return found
