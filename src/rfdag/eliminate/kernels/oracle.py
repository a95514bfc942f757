"""Compiled loops of the oracle: a precision matrix over the integers modulo a prime.

``theta`` has shape (2, p, p): two independent draws. An entry is structurally zero iff both read zero, and
the second is read only where the first does. The remaining variables fill the leading ``v`` rows and
columns, as in the dense engine.
"""

import numpy as np

from rfdag.runtime.compilation import kernel, part

PRIME = 2**31 - 1
"""A Mersenne prime: a product of two residues fits in 64 bits."""


@part()
def inverse(x):
    """Return x to the power PRIME − 2, its inverse modulo the prime."""
    result = 1
    exponent = PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * x % PRIME
        x = x * x % PRIME
        exponent >>= 1
    return result


@kernel()
def precision(parents, start, draws, variances, theta):
    """Fill theta with Σ_c ω_c b_c b_cᵀ, b_c = 1 at c and −weight at its parents: (I − A) Ω (I − A)ᵀ.

    The parents of c are parents[start[c]:start[c + 1]], with weights at the same places of draws.
    """
    for copy in range(2):
        for c in range(len(start) - 1):
            first = start[c]
            m = start[c + 1] - first
            for s in range(m + 1):
                i = c if s == m else parents[first + s]
                x = 1 if s == m else PRIME - draws[copy, first + s]
                scaled = x * variances[copy, c] % PRIME
                for t in range(m + 1):
                    j = c if t == m else parents[first + t]
                    y = 1 if t == m else PRIME - draws[copy, first + t]
                    theta[copy, i, j] = (theta[copy, i, j] + scaled * y) % PRIME


@part()
def adjacent(theta, i, j):
    """Return whether i and j are adjacent: whether either draw is non-zero."""
    return theta[0, i, j] != 0 or theta[1, i, j] != 0


@kernel()
def vanishes(theta, i, j, k):
    """Return whether the edge i – j vanishes when k is marginalised: θ_ij θ_kk = θ_ik θ_jk in both draws."""
    for copy in range(2):
        x = theta[copy, i, j] * theta[copy, k, k] % PRIME
        y = theta[copy, i, k] * theta[copy, j, k] % PRIME
        if x != y:
            return False
    return True


@part()
def neighbours(theta, v, k, near):
    """Store the neighbours of k and return how many there are."""
    m = 0
    for i in range(v):
        if i != k and adjacent(theta, i, k):
            near[m] = i
            m += 1
    return m


@kernel(allocates=True)
def score(theta, v, first, step, degrees, removals, fills):
    """Score candidates first, first + step, … exactly, on the pairs inside their neighbourhoods (Proposition 1).

    A node with R > 0 is maximal and then F = 0 (Propositions 2 and 3), so only nodes without fill are
    tested for removal.
    """
    near = np.empty(v, np.int64)
    for k in range(first, v, step):
        m = neighbours(theta, v, k, near)
        missing = 0
        for s in range(1, m):
            for t in range(s):
                missing += not adjacent(theta, near[s], near[t])
        vanish = 0
        if missing == 0:
            for s in range(1, m):
                for t in range(s):
                    vanish += vanishes(theta, near[s], near[t], k)
        degrees[k] = m
        removals[k] = vanish
        fills[k] = missing


@kernel(allocates=True)
def marginalise(theta, v, k):
    """Remove k: one elimination step on each draw, then the last variable takes the place of k.

    Returns False, with theta untouched, when a pivot is zero modulo the prime.
    """
    if theta[0, k, k] == 0 or theta[1, k, k] == 0:
        return False
    near = np.empty(v, np.int64)
    m = neighbours(theta, v, k, near)
    for copy in range(2):
        pivot = inverse(theta[copy, k, k])
        for s in range(m):
            i = near[s]
            scaled = theta[copy, i, k] * pivot % PRIME
            for t in range(m):
                j = near[t]
                product = scaled * theta[copy, j, k] % PRIME
                theta[copy, i, j] = (theta[copy, i, j] - product) % PRIME
        last = v - 1
        for i in range(v):
            theta[copy, k, i] = theta[copy, last, i]
        for i in range(v):
            theta[copy, i, k] = theta[copy, i, last]
    return True
