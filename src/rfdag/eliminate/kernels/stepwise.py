"""Compiled loops of the stepwise cost: states of a beam over a dense graph, and what their continuations cost.

A state is the lower triangle of its matrix of partial correlations, of opposite sign: row i begins at i (i − 1) / 2.
With v variables remaining, before = (n − v + 1) / c and after = (n − v + 2) / c, a removal of k is estimated by

    paid[k]    D̃_k = Σ_i min(before · K²_ik, 1), every edge judged as if the others stayed
    ahead[k]   H(V∖k) = Σ_{i<j ∈ V∖k} min(after · K'²_ij, 1), the bound on the cost of what is left

over all pairs and not only those of neighbours of k: on a dense graph nearly all are neighbours, loops without lists
are several times faster, and H depends on the set alone. `pay` then drops the edges of k one after the other.
"""

import math

import numpy as np

from rfdag.runtime.compilation import kernel

LEAST = 1e-12
"""The smallest 1 − K² and the smallest diagonal that are divided by."""


# The sums only rank candidates, so their order may vary; this allows the compiler to vectorise them.
@kernel(fastmath={"reassoc", "contract"}, allocates=True)
def follow(first, last, v, before, after, parents, slots, old, new, paid, ahead):
    """Write states first to last − 1, each without one variable more, and estimate all their continuations.

    State e over v variables is state parents[e] of ``old``, over v + 1, without the variable in slots[e].
    """
    square, scale = np.zeros((v, v)), np.empty((v, v))
    a, b = np.empty(v), np.empty(v)
    root = math.sqrt(after)
    for e in range(first, last):
        source, target, gone = old[parents[e]], new[e], slots[e]
        row = source[gone * (gone - 1) // 2 :]
        for t in range(gone):
            a[t] = row[t]
        for t in range(gone, v):
            a[t] = source[(t + 1) * t // 2 + gone]
        for t in range(v):
            b[t] = 1.0 / math.sqrt(max(1.0 - a[t] * a[t], LEAST))
        costs, bounds = paid[e], ahead[e]
        for s in range(v):
            at = s if s < gone else s + 1
            row, mine, store = source[at * (at - 1) // 2 :], square[s], target[s * (s - 1) // 2 :]
            a_s, b_s = a[s], b[s]
            for t in range(min(gone, s)):
                mine[t] = min(max((row[t] - a_s * a[t]) * (b_s * b[t]), -1.0), 1.0)
            for t in range(gone, s):
                mine[t] = min(max((row[t + 1] - a_s * a[t]) * (b_s * b[t]), -1.0), 1.0)
            total = 0.0
            for t in range(s):
                store[t] = mine[t]
                weight = min(mine[t] * mine[t] * before, 1.0)
                costs[t] += weight
                total += weight
            costs[s] = total
            for t in range(s):
                square[t, s] = mine[t]
        for s in range(v):
            mine, factor = square[s], scale[s]
            for k in range(v):
                factor[k] = root / max(1.0 - mine[k] * mine[k], LEAST)
            # The pairs of k itself do not count.
            factor[s] = 0.0
            bounds[s] = 0.0
        # Candidates k side by side. Four rows at a time, so that row s and the sums are read once for all of them.
        for s in range(1, v):
            mine, factor = square[s], scale[s]
            whole = s - s % 4
            for t in range(0, whole, 4):
                k0, k1, k2, k3 = square[t], square[t + 1], square[t + 2], square[t + 3]
                f0, f1, f2, f3 = scale[t], scale[t + 1], scale[t + 2], scale[t + 3]
                e0, e1, e2, e3 = mine[t], mine[t + 1], mine[t + 2], mine[t + 3]
                for k in range(v):
                    x, f = mine[k], factor[k]
                    y0, y1, y2, y3 = e0 - x * k0[k], e1 - x * k1[k], e2 - x * k2[k], e3 - x * k3[k]
                    bounds[k] += (
                        min(y0 * y0 * (f * f0[k]), 1.0)
                        + min(y1 * y1 * (f * f1[k]), 1.0)
                        + (min(y2 * y2 * (f * f2[k]), 1.0) + min(y3 * y3 * (f * f3[k]), 1.0))
                    )
            for t in range(whole, s):
                k0, f0, e0 = square[t], scale[t], mine[t]
                for k in range(v):
                    y0 = e0 - mine[k] * k0[k]
                    bounds[k] += min(y0 * y0 * (factor[k] * f0[k]), 1.0)


@kernel(fastmath={"reassoc", "contract"}, allocates=True)
def pay(first, last, v, n, c, states, slots, matrices, costs):
    """Store the stepwise cost of removals first to last − 1, each of the variable in slots[e] of state states[e].

    Backward elimination from the regression on all remaining variables: while an edge is worth less than c, the
    weakest is dropped, and with it the variable at its other end. An edge i is worth −n ln(1 − K²_ik), by what
    dropping it lowers twice the log-likelihood. The cost is what the dropped ones were worth, divided by c, plus one
    for each edge that stays.

    ``gone[s]`` is the row of the s-th dropped variable in the precision matrix at that moment, divided by the root of
    its diagonal, so that the current entry (i, j) is the original one minus Σ_s gone[s, i] gone[s, j].
    """
    gone = np.empty((v, v))
    row, diagonal, strength, w = np.empty(v), np.empty(v), np.empty(v), np.empty(v)
    left = np.empty(v, np.bool_)
    worth_keeping = 1.0 - math.exp(-c / n)
    for e in range(first, last):
        matrix, k = matrices[states[e]], slots[e]
        source = matrix[k * (k - 1) // 2 :]
        for t in range(k):
            row[t] = source[t]
        for t in range(k + 1, v):
            row[t] = matrix[t * (t - 1) // 2 + k]
        row[k] = 0.0
        for t in range(v):
            diagonal[t] = 1.0
            left[t] = t != k
        own, total, dropped = 1.0, 0.0, 0
        while dropped < v - 1:
            for t in range(v):
                strength[t] = row[t] * row[t] / max(diagonal[t], LEAST)
            i = -1
            for t in range(v):
                if left[t] and (i < 0 or strength[t] < strength[i]):
                    i = t
            share = strength[i] / max(own, LEAST)
            if share >= worth_keeping:
                break
            total -= n * math.log(1.0 - share)
            left[i] = False
            source = matrix[i * (i - 1) // 2 :]
            for t in range(i):
                w[t] = source[t]
            for t in range(i + 1, v):
                w[t] = matrix[t * (t - 1) // 2 + i]
            w[i] = 1.0
            for s in range(dropped):
                earlier = gone[s]
                f = earlier[i]
                for t in range(v):
                    w[t] -= f * earlier[t]
            scale = 1.0 / math.sqrt(max(diagonal[i], LEAST))
            store, f = gone[dropped], row[i] * scale
            for t in range(v):
                x = w[t] * scale
                store[t] = x
                diagonal[t] -= x * x
                row[t] -= f * x
            own -= f * f
            dropped += 1
        costs[e] = total / c + (v - 1 - dropped)
