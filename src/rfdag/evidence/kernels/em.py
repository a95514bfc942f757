"""Compiled half of an EM step: what the missing values of rows are expected to be, given the others."""

import math

import numpy as np

from rfdag.runtime.compilation import kernel, part


@part(fastmath={"reassoc", "contract"})
def _dot(one, other, count):
    """Return the sum of the products of the first ``count`` numbers."""
    total = 0.0
    for at in range(count):
        total += one[at] * other[at]
    return total


@kernel(allocates=True)
def expect(rows, patterns, weights, precision, mean, products, sums):
    """Add what is expected of the missing values of some rows, given the others, to sums and products.

    With Θ the precision matrix and m the missing columns of a row, E(x_m | x_o) = μ_m − Θ_mm⁻¹ Θ_mo (x_o − μ_o), and
    the covariance that this leaves is Θ_mm⁻¹. The inverse is made by sweeps, a row after the other: loops over
    neighbouring numbers without sums, which processors do several at a time.

    Parameters
    ----------
    rows
        The rows, NaN where a value is missing; rows with the same gaps stand one after the other.
    patterns
        Where each group of rows with the same gaps begins, and where the last one ends.
    weights
        How often each row counts.
    precision, mean
        The current estimate.
    products
        In row m, receives the products of what is expected at m, less its mean, with the known values less theirs, and
        twice over half of those with all that is expected, the covariance that is left included.
    sums
        Receives the sums of what is expected, less the mean.

    Returns
    -------
    The sum over rows of ln det Θ_mm, by which the log-likelihood of a whole row exceeds that of its known part.
    """
    columns = rows.shape[1]
    missing = np.empty(columns, np.int64)
    swept, pivot = np.empty((columns, columns)), np.empty(columns)
    apart, pull, filled = np.empty(columns), np.empty(columns), np.empty(columns)
    logs = 0.0
    for group in range(len(patterns) - 1):
        first, last = patterns[group], patterns[group + 1]
        m = 0
        for c in range(columns):
            if math.isnan(rows[first, c]):
                missing[m] = c
                m += 1
        log_det = 0.0
        for a in range(m):
            line = precision[missing[a]]
            for b in range(a + 1):
                swept[a, b] = line[missing[b]]
        for k in range(m):
            for b in range(k):
                pivot[b] = swept[k, b]
            for a in range(k, m):
                pivot[a] = swept[a, k]
            left = max(pivot[k], 1e-300)
            log_det += math.log(left)
            for a in range(m):
                share = pivot[a] / left
                line = swept[a]
                for b in range(a + 1):
                    line[b] -= share * pivot[b]
            for b in range(k):
                swept[k, b] = pivot[b] / left
            swept[k, k] = -1.0 / left
            for a in range(k + 1, m):
                swept[a, k] = pivot[a] / left
        # The lower half of −Θ_mm⁻¹ is complete now; rows are read whole.
        for a in range(m):
            for b in range(a):
                swept[b, a] = swept[a, b]
        total = 0.0
        for row in range(first, last):
            weight = weights[row]
            total += weight
            values = rows[row]
            for c in range(columns):
                value = values[c]
                apart[c] = 0.0 if math.isnan(value) else value - mean[c]
            for a in range(m):
                pull[a] = _dot(precision[missing[a]], apart, columns)
            for a in range(m):
                filled[a] = _dot(swept[a], pull, m)
            for a in range(m):
                here = weight * filled[a]
                sums[missing[a]] += here
                line = products[missing[a]]
                for c in range(columns):
                    line[c] += here * apart[c]
                here *= 0.5
                for b in range(m):
                    line[missing[b]] += here * filled[b]
        for a in range(m):
            line = products[missing[a]]
            half = 0.5 * total
            for b in range(m):
                line[missing[b]] -= half * swept[a, b]
        logs += total * log_det
    return logs
