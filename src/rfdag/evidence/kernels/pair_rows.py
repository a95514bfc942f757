"""Compiled loop over all pairs of variables and what each third one adds to the noise of their partial correlation."""

import numpy as np

from rfdag.runtime.compilation import kernel


@kernel(allocates=True)
def count_worth(counts, strengths, worth):
    """Store how many rows each pair of variables is worth, given all others; see `rfdag.evidence.pair_rows`."""
    p = len(counts)
    odds = np.empty((p, p))
    for x in range(p):
        for k in range(p):
            # The odds that k is missing where x is known.
            odds[x, k] = counts[x, x] / counts[x, k] - 1.0
    for x in range(p):
        worth[x, x] = counts[x, x]
        for y in range(x):
            of_x = 1.0 + odds[y, x] * strengths[x, x]
            of_y = 1.0 + odds[x, y] * strengths[y, y]
            twice = 0.0
            for k in range(p):
                if k != x and k != y:
                    missing = min(odds[x, k], odds[y, k])
                    a, b = missing * strengths[x, k], missing * strengths[y, k]
                    of_x += a
                    of_y += b
                    twice += a * b
            worth[x, y] = worth[y, x] = counts[x, x] * counts[y, y] / counts[x, y] / (of_x * of_y - twice)
