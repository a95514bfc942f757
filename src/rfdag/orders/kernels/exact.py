"""Compiled loops of the exact search: the best parents within every set, and the best order of every set."""

import math

import numpy as np

from rfdag.orders.kernels.fits import TRIANGLE, WORTH, basis_over
from rfdag.runtime.compilation import kernel


@kernel(allocates=True)
def best_families(gram, n, price, limit, forbidden, required, least, family):
    """Fill, for every set S of the other variables, the least score of y with parents within S, and which they are.

    ``gram`` holds the correlations of y, which comes first, and the others. Sets are bit masks over the others. The
    best parents within S are S itself, if nothing in it is ``forbidden`` and all that is ``required`` is in it, or the
    best within S less one of its members. A set without such parents scores ∞.
    """
    p = gram.shape[0]
    chosen = np.empty(p - 1, np.int64)
    triangle = np.empty((TRIANGLE + p, p))
    for mask in range(1 << (p - 1)):
        m = 0
        for x in range(p - 1):
            if mask >> x & 1:
                chosen[m] = x + 1
                m += 1
        least[mask] = np.inf
        family[mask] = mask
        if m <= limit and mask & forbidden == 0 and mask & required == required:
            least[mask] = n * math.log(basis_over(gram, 0, chosen, m, triangle)) + price * m
        for x in range(p - 1):
            if mask >> x & 1:
                rest = mask & ~(1 << x)
                # A gain within rounding does not pay for another parent.
                if least[rest] <= least[mask] + WORTH:
                    least[mask] = least[rest]
                    family[mask] = family[rest]


@kernel(allocates=True)
def best_orders(p, least, first, best, last):
    """Fill, for every set of variables, the least score of its orders and which variable stands last in one.

    least[y, S] is the least score of y with parents within S, a mask over the variables without y. The best order of
    a set ends in some y of it that need not precede any of the rest, after the best order of the rest.
    """
    followers = np.zeros(p, np.int64)
    for x in range(p):
        for z in range(p):
            if len(first) > 0 and first[x, z]:
                followers[x] |= 1 << z
    best[0] = 0.0
    for mask in range(1, 1 << p):
        best[mask] = np.inf
        for y in range(p):
            if mask >> y & 1 and mask & followers[y] == 0:
                rest = mask & ~(1 << y)
                low = rest & ((1 << y) - 1)
                score = best[rest] + least[y, low | (rest >> (y + 1)) << y]
                if score < best[mask] - WORTH:
                    best[mask] = score
                    last[mask] = y
