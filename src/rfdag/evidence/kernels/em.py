"""Compiled half of an EM step: rows with missing values, filled with what the others lead one to expect."""

import math

import numpy as np

from rfdag.runtime.compilation import kernel


@kernel(allocates=True)
def fill_rows(rows, patterns, precision, mean, filled, spread, weights):
    """Fill the missing values of some rows by their expectation given the others.

    With Θ the precision matrix and m the missing columns of a row, E(x_m | x_o) = μ_m − Θ_mm⁻¹ Θ_mo (x_o − μ_o), and
    the covariance that this leaves is Θ_mm⁻¹.

    Parameters
    ----------
    rows
        The rows, NaN where a value is missing; rows with the same gaps stand one after the other.
    patterns
        Where each group of rows with the same gaps begins, and where the last one ends.
    precision, mean
        The current estimate.
    filled
        Receives the rows, less the mean.
    spread
        The sum of the covariances that are left is added to it.
    weights
        How often each row counts.

    Returns
    -------
    The sum over rows of ln det Θ_mm, by which the log-likelihood of a whole row exceeds that of its known part.
    """
    columns = rows.shape[1]
    missing, known = np.empty(columns, np.int64), np.empty(columns, np.int64)
    factor, inverse = np.empty((columns, columns)), np.empty((columns, columns))
    pull = np.empty(columns)
    logs = 0.0
    for group in range(len(patterns) - 1):
        first, last = patterns[group], patterns[group + 1]
        m, o = 0, 0
        for c in range(columns):
            if math.isnan(rows[first, c]):
                missing[m] = c
                m += 1
            else:
                known[o] = c
                o += 1
        log_det = 0.0
        for a in range(m):
            for b in range(a + 1):
                left = precision[missing[a], missing[b]]
                for t in range(b):
                    left -= factor[a, t] * factor[b, t]
                if b < a:
                    factor[a, b] = left / factor[b, b]
                else:
                    left = max(left, 1e-300)
                    factor[a, a] = math.sqrt(left)
                    log_det += math.log(left)
        # Θ_mm⁻¹ = L⁻ᵀ L⁻¹, a column of L⁻¹ after the other.
        for column in range(m):
            for a in range(column, m):
                left = 1.0 if a == column else 0.0
                for t in range(column, a):
                    left -= factor[a, t] * inverse[t, column]
                inverse[a, column] = left / factor[a, a]
        total = 0.0
        for row in range(first, last):
            total += weights[row]
            for s in range(o):
                filled[row, known[s]] = rows[row, known[s]] - mean[known[s]]
            for a in range(m):
                left = 0.0
                for s in range(o):
                    left += precision[missing[a], known[s]] * filled[row, known[s]]
                pull[a] = left
            for a in range(m - 1, -1, -1):
                left = 0.0
                for t in range(a + 1):
                    left += inverse[a, t] * pull[t]
                pull[a] = left
            for a in range(m):
                left = 0.0
                for t in range(a, m):
                    left += inverse[t, a] * pull[t]
                filled[row, missing[a]] = -left
        for a in range(m):
            for b in range(a + 1):
                left = 0.0
                for t in range(a, m):
                    left += inverse[t, a] * inverse[t, b]
                spread[missing[a], missing[b]] += total * left
                if a != b:
                    spread[missing[b], missing[a]] += total * left
        logs += total * log_det
    return logs
