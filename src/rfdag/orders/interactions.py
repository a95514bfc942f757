"""Pairs of categories that tell something of a third only together, as its parity does: no single parent shows them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from rfdag.orders import block_tuning
from rfdag.orders.family_scores import CountScore
from rfdag.orders.kernels.counts import count_pairs, count_triples
from rfdag.orders.trees import Pairs
from rfdag.runtime.threads import require_wanted, share

Floats = NDArray[np.float64]


def acting_together(score: CountScore, threads: int = 1, check: Callable[[], None] = lambda: None) -> Pairs:
    """Return, for each variable, the pairs of others that may be its parents only together, the clearest first.

    Of three variables 2 n (I(y; x, z) − I(y; x) − I(y; z)) is the same whichever is y (McGill, 1954). Where chance
    makes it as large in less than one triple of all, and the BIC of counts prefers both x and z to neither, and
    neither to each alone, they are a pair for y. There are none where counting takes too long. ``check`` may raise.

    W. J. McGill: Multivariate information transmission, 1954.

    Examples
    --------
    >>> a, b = np.random.default_rng(1).integers(0, 2, (2, 200))
    >>> codes = np.array([a, b, a ^ b]).astype(np.uint8)
    >>> acting_together(CountScore(codes, np.full(3, 2), np.ones(200, np.int32)))
    [[(1, 2)], [(0, 2)], [(0, 1)]]
    """
    pairs: Pairs = [[] for _ in score.levels]
    rows = len(score.logs) - 1
    if score.size < 3 or _work(score.levels.astype(np.float64), rows) > block_tuning.MOST_WORK_ON_TRIPLES:
        return pairs
    check()
    data = score.bits, score.bit_starts, score.levels, score.logs
    of_two = np.empty((score.size, score.size))
    count_pairs(*data, of_two)
    price, freedom, single = np.log(rows), score.levels - 1.0, np.diag(of_two)
    gains = 2 * (of_two - single[:, None] - single + score.logs[rows]) - price * np.outer(freedom, freedom)
    triples = _triples(data, of_two, threads, check)
    for *members, information in triples[np.argsort(-triples[:, 3], kind="stable")].tolist():
        for x, z, y in permutations(map(int, members)):
            both = information + gains[x, y] + gains[z, y] - price * freedom[x] * freedom[y] * freedom[z]
            if x < z and both > 0 and gains[x, y] <= 0 and gains[z, y] <= 0:
                pairs[y].append((x, z))
    return [each[: block_tuning.MOST_PAIRS_TOGETHER] for each in pairs]


def _triples(data: tuple[Any, ...], of_two: Floats, threads: int, check: Callable[[], None]) -> Floats:
    """Return the triples that tell more together than in pairs, a row for each, and how much, the order decided."""
    bits, _, levels, _ = data
    p = len(levels)
    largest = int((levels.max() - 1) ** 3)
    least = np.append(np.inf, chdtri(np.arange(1, largest + 1), 6 / (p * (p - 1) * (p - 2))))

    def some(first: int, step: int) -> list[Floats]:
        cells = np.empty((levels.max() ** 2, bits.shape[1]), np.uint64)
        totals = np.empty(len(cells), np.int64)
        found = np.empty((p * p, 3))
        each = []
        for a in range(first, p - 2, step):
            require_wanted()
            if first == 0:
                check()
            there = count_triples(*data, of_two, least, a, cells, totals, found)
            each.append(np.column_stack([np.full(there, a), found[:there]]))
        return each

    parts = [part for each in share(some, min(threads, p - 2)) for part in each]
    triples = np.concatenate(parts)
    return triples[np.lexsort(triples.T[2::-1])]


def _work(levels: Floats, rows: int) -> float:
    """Return about how many words of rows are compared."""
    total = levels.sum()
    return float(total**3 - 3 * total * (levels**2).sum() + 2 * (levels**3).sum()) / 6 * (rows / 64 + 1)
