"""Compiled loops of the soft rule, over a batch of elimination states.

State b is the matrix K[b, :v, :v] of partial correlations over v remaining variables. With
φ(z²) = min(z² / c, 1), before = (n − v + 1) / c and after = (n − v + 2) / c, so that φ = min(before · K², 1) now
and min(after · K'², 1) once a candidate is removed:

    paid[b, k]   D̃_k = Σ_i φ(z²_ik), what removing k costs
    ahead[b, k]  H − D̃_k − Σ_{i<j ∈ N_k} (φ(z²_ij) − φ(z'²_ij)), what the rest will then still have to pay
"""

import math

import numpy as np

from rfdag.compilation import kernel


# Sums that only rank candidates may be taken in any order, and must be, to run four at a time.
@kernel(fastmath={"reassoc", "contract"})
def _weigh(row, v, scale):
    total = 0.0
    for j in range(v):
        x = row[j] * row[j] * scale
        total += x if x < 1.0 else 1.0
    return total


@kernel(fastmath={"reassoc", "contract"})
def _gain_of_row(row, a, b, stop, a_i, b_i, before):
    """Return Σ_j<stop φ(z²_ij) − φ(z'²_ij), rows and factors given contiguously."""
    total = 0.0
    for j in range(stop):
        x = row[j] * row[j] * before
        y = row[j] + a_i * a[j]
        y = y * y * (b_i * b[j])
        total += (x if x < 1.0 else 1.0) - (y if y < 1.0 else 1.0)
    return total


@kernel()
def _gain(K, v, k, before, after, near_square, near, a, b, packed):
    """Return R̃_k − F̃_k: how much lighter the pairs of neighbours of k become when k is removed."""
    row = K[k]
    found = 0
    for i in range(v):
        # Stored before the question whether it counts: cheaper than a branch no processor foresees.
        near[found] = i
        found += row[i] * row[i] > near_square
    m = 0
    for t in range(found):
        i = near[t]
        if i != k:
            near[m] = i
            a[m] = row[i]
            b[m] = 1.0 / max(1.0 - row[i] * row[i], 1e-12)
            m += 1
    total = 0.0
    for s in range(1, m):
        source = K[near[s]]
        for t in range(s):
            packed[t] = source[near[t]]
        total += _gain_of_row(packed, a, b, s, a[s], b[s] * after, before)
    return total


@kernel()
def costs(K, v, n, c, z_near, first, step, gains, known, paid, ahead):
    """Fill paid and ahead of the states first, first + step and so on.

    ``gains`` holds R̃ − F̃ of each candidate where ``known``; the others are computed and kept there.
    """
    before = (n - v + 1.0) / c
    after = (n - v + 2.0) / c
    near_square = z_near * z_near / (n - v + 1.0)
    near = np.empty(v, np.int64)
    a, b, packed = np.empty(v), np.empty(v), np.empty(v)
    for state in range(first, len(paid), step):
        matrix = K[state]
        total = 0.0
        for k in range(v):
            # The diagonal weighs 1.
            paid[state, k] = _weigh(matrix[k], v, before) - min(before, 1.0)
            total += paid[state, k]
        for k in range(v):
            if not known[state, k]:
                gains[state, k] = _gain(matrix, v, k, before, after, near_square, near, a, b, packed)
                known[state, k] = True
            ahead[state, k] = total / 2 - paid[state, k] - gains[state, k]


@kernel()
def inherit(K, v, n, z_near, states, positions, gains, known, next_gains, next_known):
    """Hand the gains of each state on to its successors, where the removal does not touch them.

    Those of the neighbours of the variable removed are to be computed anew.
    """
    near_square = z_near * z_near / (n - v + 1.0)
    last = v - 1
    for e in range(len(states)):
        state, k = states[e], positions[e]
        row = K[state, k]
        for i in range(last):
            source = last if i == k else i
            next_gains[e, i] = gains[state, source]
            next_known[e, i] = known[state, source] and row[source] * row[source] <= near_square


@kernel()
def select(values, paid, keys, width, states, positions):
    """Choose the ``width`` least values of different keys; return how many were chosen.

    Equal keys mean equal removed sets, and so equal states: of those met, the one that paid least is followed.
    Ties go to the earlier entry.
    """
    count = 0
    taken = np.empty(width, np.uint64)
    flat = values.ravel()
    columns = values.shape[1]
    for e in np.argsort(flat, kind="mergesort"):
        key = keys[e // columns, e % columns]
        known = -1
        for s in range(count):
            if taken[s] == key:
                known = s
                break
        if known >= 0:
            if paid[e // columns, e % columns] < paid[states[known], positions[known]]:
                states[known] = e // columns
                positions[known] = e % columns
            continue
        taken[count] = key
        states[count] = e // columns
        positions[count] = e % columns
        count += 1
        if count == width:
            break
    return count


@kernel()
def extend(K, v, states, positions, first, step, successors):
    """Write into successors[e] the state states[e] without the variable at positions[e].

    The last variable takes the place of the one removed. Entries are kept inside [−1, 1]: where rounding or
    near-determinism would leave it, the pair is as strong as can be.
    """
    a, u = np.empty(v), np.empty(v)
    last = v - 1
    for e in range(first, len(states), step):
        source = K[states[e]]
        target = successors[e]
        k = positions[e]
        for i in range(v):
            a[i] = source[k, i]
        a[k] = a[last]
        for i in range(last):
            u[i] = 1.0 / math.sqrt(max(1.0 - a[i] * a[i], 1e-12))
        for i in range(last):
            row = source[last if i == k else i]
            goal = target[i]
            a_i = a[i]
            u_i = u[i]
            for j in range(last):
                goal[j] = (row[j] + a_i * a[j]) * (u_i * u[j])
            if k < last:
                goal[k] = (row[last] + a_i * a[k]) * (u_i * u[k])
            for j in range(last):
                goal[j] = min(max(goal[j], -1.0), 1.0)
            goal[i] = 1.0
