"""Compiled loops of the exact search: the score of every family, and the best order of every set.

Sets of variables are bit masks. Few functions over plain arrays: each one takes long to compile.
"""

import math

import numpy as np

from rfdag.orders.kernels.fits import TINY, WORTH
from rfdag.runtime.compilation import kernel


@kernel()
def score_families(n, prices, limit, forbidden, required, given, chosen, cost, at, most, scores):
    """Fill, for ``most`` sets S of other variables, the score of y with the parents S; return whether some are left.

    given[0] holds the correlations of y, which comes first, and the others; bit x of a set stands for the row x + 1. A
    set scores ∞ if it has more members than ``limit``, one that is ``forbidden``, or not all that are ``required``.
    ``prices`` are those of the others as parents. ``at`` keeps the size and the mask of the set that comes next, at
    first 0 and 0.

    Sets are visited so that each is the one before with a later variable added. Of the covariances given a set only
    those of y and of still later variables are kept, in ``given``, so that a set takes a few steps on average, whatever
    its size. ``chosen`` is room for its members, ``cost`` for what the first of them cost.
    """
    m = given.shape[1] - 1
    size, mask = at[0], at[1]
    cost[0] = 0.0
    for _ in range(most):
        left = max(given[size, 0, 0], TINY)
        allowed = size <= limit and mask & forbidden == 0 and mask & required == required
        scores[mask] = n * math.log(left) + cost[size] if allowed else np.inf
        x = chosen[size - 1] + 1 if size > 0 else 0
        if x == m:
            # The last variable was the last to add: leave it out, and put the next in the place of the one before.
            size -= 1
            if size <= 0:
                return False
            mask ^= 1 << (m - 1)
            size -= 1
            x = chosen[size] + 1
            mask ^= 1 << chosen[size]
        chosen[size] = x
        mask ^= 1 << x
        before, after = given[size], given[size + 1]
        cost[size + 1] = cost[size] + prices[x]
        size += 1
        # What earlier members determine adds nothing.
        inverse = 1.0 / before[x + 1, x + 1] if before[x + 1, x + 1] > TINY else 0.0
        slope = before[x + 1, 0] * inverse
        after[0, 0] = before[0, 0] - slope * before[x + 1, 0]
        for j in range(x + 2, m + 1):
            after[j, 0] = before[j, 0] - before[j, x + 1] * slope
            slope_j = before[j, x + 1] * inverse
            for i in range(x + 2, j + 1):
                after[j, i] = before[j, i] - slope_j * before[i, x + 1]
    at[0], at[1] = size, mask
    return True


@kernel()
def spread_to_supersets(scores, members, first, end):
    """Turn the score of every set into the least score of its subsets, over the members from ``first`` to ``end``."""
    for x in range(first, end):
        step = 1 << x
        for start in range(0, 1 << members, 2 * step):
            for at in range(start, start + step):
                scores[at + step] = min(scores[at + step], scores[at])


@kernel()
def order_sets(first, end, least, followers, best, last):
    """Fill, for the sets from ``first`` to before ``end``, the least score of their orders and what stands last in one.

    least[y, S] is the least score of y with parents within S, a mask over the variables without y. The best order of
    a set ends in some y of it that need not precede any of the rest, after the best order of the rest. Sets without
    such an order score ∞.
    """
    p = least.shape[0]
    for mask in range(first, end):
        lowest = np.inf
        for y in range(p):
            bit = 1 << y
            if mask & bit and mask & followers[y] == 0:
                rest = mask ^ bit
                score = best[rest] + least[y, rest & (bit - 1) | (rest >> (y + 1)) << y]
                # Of orders that differ by rounding alone, the first is taken.
                if score < lowest - WORTH or (lowest == np.inf and score < lowest):
                    lowest = score
                    last[mask] = y
        best[mask] = lowest
