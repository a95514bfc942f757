"""Compiled steps of eliminations whose variables are blocks of columns: how strong edges are, and what removal does."""

import math

import numpy as np

from rfdag.runtime.compilation import kernel, part

LEAST_PIVOT = 1e-12
"""Pivot below which a column counts as determined by others."""


@part()
def _log_det(matrix, first, last, factor):
    """Return ln det of a diagonal block of a matrix, from row ``first`` to before ``last``."""
    total = 0.0
    for a in range(first, last):
        for b in range(first, a + 1):
            left = matrix[a, b]
            for t in range(first, b):
                left -= factor[a, t] * factor[b, t]
            if b < a:
                factor[a, b] = left / factor[b, b]
            else:
                left = max(left, LEAST_PIVOT)
                factor[a, a] = math.sqrt(left)
                total += math.log(left)
    return total


@part()
def _strength(block, width_i, width, factor):
    """Return −ln [det Θ_(ij) / (det Θ_ii det Θ_jj)], given the precision matrix of two blocks and their widths."""
    if width == 2:
        square = block[0, 1] * block[0, 1] / max(block[0, 0] * block[1, 1], LEAST_PIVOT)
        return -math.log(max(1.0 - square, LEAST_PIVOT))
    joint = _log_det(block, 0, width, factor)
    return _log_det(block, 0, width_i, factor) + _log_det(block, width_i, width, factor) - joint


@part()
def _copy_pair(precision, starts, i, j, block):
    """Copy the precision matrix of two blocks; return their widths, that of the first and that of both."""
    width_i = starts[i + 1] - starts[i]
    width = width_i + starts[j + 1] - starts[j]
    for a in range(width):
        ca = starts[i] + a if a < width_i else starts[j] + a - width_i
        for b in range(a + 1):
            cb = starts[i] + b if b < width_i else starts[j] + b - width_i
            block[a, b] = precision[ca, cb]
            block[b, a] = precision[ca, cb]
    return width_i, width


@part()
def _paid(weight, freedom, noise, cap):
    """Return what an edge pays whose weight has so many degrees of freedom."""
    return min(max(weight - noise * freedom, 0.0), cap * freedom)


@kernel(allocates=True)
def weigh_edges(precision, starts, which, rows, noise, cap, paid, ratio):
    """Write for all pairs of some variables what their edge pays, and its weight per degree of freedom."""
    p = len(starts) - 1
    widest = 0
    for v in range(p):
        widest = max(widest, starts[v + 1] - starts[v])
    block, factor = np.empty((2 * widest, 2 * widest)), np.empty((2 * widest, 2 * widest))
    for i in range(p):
        if not which[i]:
            continue
        for j in range(i):
            if which[j]:
                width_i, width = _copy_pair(precision, starts, i, j, block)
                freedom = width_i * (width - width_i)
                weight = rows * _strength(block, width_i, width, factor)
                paid[i, j] = paid[j, i] = _paid(weight, freedom, noise, cap)
                ratio[i, j] = ratio[j, i] = weight / freedom


@kernel(allocates=True)
def weigh_removals(precision, starts, which, alive, rows, noise, cap, near, paid, ratio, lighter):
    """Write for some variables by how much less the edges of their neighbours pay without them."""
    p = len(starts) - 1
    columns = precision.shape[0]
    widest = 0
    for v in range(p):
        widest = max(widest, starts[v + 1] - starts[v])
    block, factor = np.empty((2 * widest, 2 * widest)), np.empty((2 * widest, 2 * widest))
    pivot, across = np.empty((widest, widest)), np.empty((widest, columns))
    close = np.empty(p, np.int64)
    for k in range(p):
        if not which[k]:
            continue
        lighter[k] = 0.0
        count = 0
        for i in range(p):
            if alive[i] and i != k and ratio[i, k] > near:
                close[count] = i
                count += 1
        width_k = starts[k + 1] - starts[k]
        for a in range(width_k):
            for b in range(a + 1):
                pivot[a, b] = precision[starts[k] + a, starts[k] + b]
        _log_det(pivot, 0, width_k, factor)
        # L⁻¹ Θ_kj, for the columns of the neighbours.
        for s in range(count):
            for c in range(starts[close[s]], starts[close[s] + 1]):
                for a in range(width_k):
                    left = precision[starts[k] + a, c]
                    for t in range(a):
                        left -= factor[a, t] * across[t, c]
                    across[a, c] = left / factor[a, a]
        for s in range(count):
            for q in range(s):
                i, j = close[s], close[q]
                width_i, width = _copy_pair(precision, starts, i, j, block)
                for a in range(width):
                    ca = starts[i] + a if a < width_i else starts[j] + a - width_i
                    for b in range(width):
                        cb = starts[i] + b if b < width_i else starts[j] + b - width_i
                        for t in range(width_k):
                            block[a, b] -= across[t, ca] * across[t, cb]
                freedom = width_i * (width - width_i)
                weight = (rows + width_k) * _strength(block, width_i, width, factor)
                lighter[k] += paid[i, j] - _paid(weight, freedom, noise, cap)


@kernel()
def marginalise(precision, first, last):
    """Remove the columns from ``first`` to before ``last`` from a precision matrix: one rank-one step for each."""
    size = precision.shape[0]
    for k in range(first, last):
        root = math.sqrt(max(precision[k, k], LEAST_PIVOT))
        for i in range(size):
            if i == k or precision[i, k] == 0.0:
                continue
            weight = precision[i, k] / root
            for j in range(size):
                if j != k:
                    precision[i, j] -= weight * (precision[k, j] / root)
        for i in range(size):
            precision[i, k] = precision[k, i] = 0.0
        precision[k, k] = 1.0
