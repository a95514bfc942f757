"""Compiled loops of the dense engine, on the matrix K of partial correlations.

The remaining variables fill the leading ``v`` rows and columns of K; removing one moves the last into its
place, so every loop runs over contiguous rows. K has a multiple of BLOCK columns and zeros beyond column v,
so that blocks of candidates are always complete; ``blocks`` is K divided into them, blocks[i, b, t] = K_ik with
k = b · BLOCK + t. Inside a block, loops run over a length that the compiler does not know, which keeps it
from unrolling them and allows it to vectorise.

Notation: ``tau`` is the threshold for the current v variables, ``tau_after`` the one for the v − 1 left once a
candidate k is removed. Removing k changes K_ij to

    (K_ij + K_ik K_jk) / sqrt((1 − K_ik²)(1 − K_jk²)).
"""

import math

import numpy as np

from rfdag.runtime.compilation import kernel, part

BLOCK = 16
"""Candidates per block of the pruning bound: two cache lines of a row."""

SLACK = 1e-12
"""Slack of a pruning bound, far above rounding errors, so that pruning never changes a count."""


@part()
def _row_peaks(row, i, v, peaks, sums):
    """Store in peaks[b] the largest |K_ik| over the candidates k ≠ i of block b; return whether some are invalid.

    The largest number of several may hide one that is none; their sum does not. ``sums`` has room for those of a block.
    """
    highest = 0.0
    row[i // BLOCK, i % BLOCK] = 0.0
    for b in range((v + BLOCK - 1) // BLOCK):
        block = row[b]
        peak = 0.0
        for t in range(block.shape[0]):
            size = abs(block[t])
            peak = size if size > peak else peak
        for t in range(block.shape[0]):
            sums[t] += block[t]
        peaks[b] = peak
        highest = peak if peak > highest else highest
    row[i // BLOCK, i % BLOCK] = 1.0
    total = 0.0
    for t in range(sums.shape[0]):
        total += sums[t]
    return not (highest <= 1.0 and total == total)


@part()
def _row_edges(row, i, tau, margin, peaks, edges, degrees, edges_i, edges_j):
    """Append the edges from row i to earlier rows; return how many there are now, and the smallest distance to tau.

    A block whose largest entry is below tau by more than the smallest distance so far has no edge and no smaller
    distance. Entries are stored first and counted only if they qualify: cheaper than an unpredictable branch.
    """
    start = edges
    for b in range(i // BLOCK + 1):
        if peaks[b] > tau - margin:
            block = row[b]
            for t in range(min(block.shape[0], i - b * BLOCK)):
                size = abs(block[t])
                edges_j[edges] = b * BLOCK + t
                edges += size > tau
                distance = abs(size - tau)
                margin = distance if distance < margin else margin
    degrees[i] = edges - start
    for e in range(start, edges):
        edges_i[e] = i
        degrees[edges_j[e]] += 1
    return edges, margin


@kernel(allocates=True)
def scan(blocks, v, tau, margin, degrees, edges_i, edges_j, peaks):
    """List edges, count degrees, find block peaks; return the number of edges, and ``margin`` or a smaller distance."""
    edges = np.int64(0)
    sums = np.zeros(BLOCK)
    for i in range(v):
        _row_peaks(blocks[i], i, v, peaks[i], sums)
        edges, margin = _row_edges(blocks[i], i, tau, margin, peaks[i], edges, degrees, edges_i, edges_j)
    return edges, margin


@kernel(allocates=True)
def marginalise(K, blocks, v, k, tau_after, margin, a, u, degrees, edges_i, edges_j, peaks):
    """Remove k: the last variable takes its place, the rank-one update is applied, and the rest is scanned.

    Each row is scanned while it is still in the cache. Returns (status, edges, margin). The status is −1, or the
    position (after the swap) of a variable that k determines or whose entries left [−1, 1]; K is then invalid and must
    be recomputed. The rest is as in `scan`.
    """
    last = v - 1
    for i in range(v):
        a[i] = K[k, i]
    if k != last:
        for i in range(v):
            K[k, i] = K[last, i]
        for i in range(v):
            K[i, k] = K[i, last]
        K[k, k] = 1.0
        a[k] = a[last]
    for i in range(last):
        K[i, last] = 0.0
    for i in range(last):
        left = 1.0 - a[i] * a[i]
        if not left > 1e-15:
            return i, 0, margin
        u[i] = 1.0 / math.sqrt(left)
    edges = np.int64(0)
    sums = np.zeros(BLOCK)
    for i in range(last):
        row = K[i]
        a_i = a[i]
        u_i = u[i]
        for j in range(last):
            row[j] = (row[j] + a_i * a[j]) * (u_i * u[j])
        row[i] = 1.0
        if _row_peaks(blocks[i], i, last, peaks[i], sums):
            return i, 0, margin
        edges, margin = _row_edges(blocks[i], i, tau_after, margin, peaks[i], edges, degrees, edges_i, edges_j)
    return -1, edges, margin


@kernel(allocates=True)
def count_removals(blocks, tau_after, peaks, edges_i, edges_j, edges, first, step, removals):
    """Add to removals[b, t] the edges first, first + step, … that vanish when candidate t of block b is removed.

    An edge can only vanish if |K_ik K_jk| ≥ |K_ij| − tau_after, which rules out most blocks at once.
    K_ii = 1 makes the bound zero at k = i and k = j, so these never count.
    """
    n_blocks = len(removals)
    square = tau_after * tau_after
    open_blocks = np.empty(n_blocks, np.int64)
    for e in range(first, edges, step):
        i = edges_i[e]
        j = edges_j[e]
        r = blocks[i, j // BLOCK, j % BLOCK]
        needed = abs(r) - tau_after - SLACK
        m = 0
        for b in range(n_blocks):
            open_blocks[m] = b
            m += peaks[i, b] * peaks[j, b] >= needed
        for s in range(m):
            row_i = blocks[i, open_blocks[s]]
            row_j = blocks[j, open_blocks[s]]
            counts = removals[open_blocks[s]]
            for t in range(row_i.shape[0]):
                x = r + row_i[t] * row_j[t]
                counts[t] += x * x <= square * (1.0 - row_i[t] * row_i[t]) * (1.0 - row_j[t] * row_j[t])


@kernel()
def count_fills(K, v, tau, tau_after, peaks, first, step, fills):
    """Add to fills[k] the non-edges of rows first, first + step, … that appear when k is removed."""
    blocks = (v + BLOCK - 1) // BLOCK
    square = tau_after * tau_after
    for i in range(first, v, step):
        for j in range(i):
            r = K[i, j]
            if abs(r) > tau:
                continue
            for block in range(blocks):
                top = abs(r) + peaks[i, block] * peaks[j, block]
                shrink = (1.0 - peaks[i, block] ** 2) * (1.0 - peaks[j, block] ** 2)
                if top * top > square * shrink - SLACK:
                    for k in range(block * BLOCK, block * BLOCK + BLOCK):
                        if k != i and k != j:
                            a = K[i, k]
                            b = K[j, k]
                            x = r + a * b
                            fills[k] += x * x > square * (1.0 - a * a) * (1.0 - b * b)


@kernel(allocates=True)
def neighbour_scores(K, v, tau, tau_after, first, step, removals, fills):
    """Score candidates first, first + step, … on the pairs inside their neighbourhood (Propositions 1, 2)."""
    near = np.empty(v, np.int64)
    square = tau_after * tau_after
    for k in range(first, v, step):
        m = 0
        for i in range(v):
            if i != k and abs(K[k, i]) > tau:
                near[m] = i
                m += 1
        vanish = 0
        missing = 0
        for s in range(1, m):
            i = near[s]
            a = K[k, i]
            for t in range(s):
                j = near[t]
                r = K[i, j]
                if abs(r) > tau:
                    b = K[k, j]
                    x = r + a * b
                    vanish += x * x <= square * (1.0 - a * a) * (1.0 - b * b)
                else:
                    missing += 1
        removals[k] = vanish
        fills[k] = missing


@kernel()
def list_changes(K, v, k, tau, tau_after, removed, filled):
    """List the edges that vanish and appear when k is removed, as far as there is room; return the counts."""
    n_removed = 0
    n_filled = 0
    square = tau_after * tau_after
    for i in range(1, v):
        if i == k:
            continue
        a = K[k, i]
        for j in range(i):
            if j == k:
                continue
            b = K[k, j]
            x = K[i, j] + a * b
            after = x * x > square * (1.0 - a * a) * (1.0 - b * b)
            if abs(K[i, j]) > tau:
                if not after:
                    if n_removed < len(removed):
                        removed[n_removed, 0] = i
                        removed[n_removed, 1] = j
                    n_removed += 1
            elif after:
                if n_filled < len(filled):
                    filled[n_filled, 0] = i
                    filled[n_filled, 1] = j
                n_filled += 1
    return n_removed, n_filled
