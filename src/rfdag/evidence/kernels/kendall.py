"""Compiled loops of Kendall's rank correlation: pairs of rows that two columns order differently (Knight, 1966)."""

import numpy as np

from rfdag.runtime.compilation import kernel, part

RUN = 16
"""Numbers that are sorted by insertion before runs are merged."""


@kernel(allocates=True)
def discordances(codes, order, first, begin, end, swaps, joint):
    """Store for columns from ``begin`` to ``end`` how many pairs of rows they order otherwise than ``first``, and ties.

    ``codes`` (p × n) are ranks as whole numbers, equal ones for ties; ``order`` (p × n) sorts each column. Pairs that
    are tied in either column do not count as ordered otherwise.
    """
    n = codes.shape[1]
    along = order[first]
    base = codes[first]
    y, room = np.empty(n, codes.dtype), np.empty(n, codes.dtype)
    for other in range(begin, end):
        column = codes[other]
        for t in range(n):
            y[t] = column[along[t]]
        ties = 0
        low = 0
        while low < n:
            high = low + 1
            while high < n and base[along[high]] == base[along[low]]:
                high += 1
            if high - low > 1:
                y[low:high].sort()
                equal = 1
                for t in range(low + 1, high):
                    if y[t] == y[t - 1]:
                        ties += equal
                        equal += 1
                    else:
                        equal = 1
            low = high
        joint[other] = ties
        swaps[other] = _inversions(y, room)


@part()
def _inversions(y, room):
    """Return how many pairs of y stand in the wrong order; y is overwritten."""
    n = len(y)
    count = 0
    for begin in range(0, n, RUN):
        for t in range(begin + 1, min(begin + RUN, n)):
            value = y[t]
            at = t
            while at > begin and y[at - 1] > value:
                y[at] = y[at - 1]
                at -= 1
            y[at] = value
            count += t - at
    width = RUN
    source, target = y, room
    while width < n:
        for begin in range(0, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            left, right = begin, middle
            for t in range(begin, end):
                if left < middle and (right >= end or source[left] <= source[right]):
                    target[t] = source[left]
                    left += 1
                else:
                    target[t] = source[right]
                    right += 1
                    count += middle - left
        source, target = target, source
        width *= 2
    return count
