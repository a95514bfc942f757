"""Compiled local scores of variables that are blocks of columns: determinants of what parents leave of a covariance."""

import math

import numpy as np

from rfdag.runtime.compilation import kernel, part

ALIASED = 1e-8
"""Share of a column's variance that parents leave of it below which it counts as explained by them, and is skipped."""

FLOOR = 1e-8
"""Least share of variance that a child keeps: what its parents determine scores finitely."""


@part()
def _reduce(covariance, column, basis, rank):
    """Write what is left of a column given the first ``rank`` directions; return whether it adds a direction."""
    row = basis[rank]
    for c in range(covariance.shape[0]):
        row[c] = covariance[column, c]
    for t in range(rank):
        weight = basis[t, column]
        if weight != 0.0:
            for c in range(covariance.shape[0]):
                row[c] -= weight * basis[t, c]
    left = row[column]
    if left <= ALIASED:
        return False
    root = math.sqrt(left)
    for c in range(covariance.shape[0]):
        row[c] /= root
    return True


@part()
def _left(covariance, i, j, basis, rank):
    """Return the covariance of two columns given the directions so far."""
    total = covariance[i, j]
    for t in range(rank):
        total -= basis[t, i] * basis[t, j]
    return total


@kernel(allocates=True)
def scan_blocks(
    covariance, starts, widths, n, price, per_parent, factors, children, parents, sizes, candidates, own, out
):
    """Score children given parents, each alone and with each of its candidates added; infinite where one adds nothing.

    The score of y given P is n ln det S_{Y|P} + Σ_x f_xy (price · k_Y · rank(x) + per_parent) over x in P, where
    rank(x) counts the columns of x that do not follow from those of parents before it.

    Parameters
    ----------
    covariance
        That of all columns; those of one variable are uncorrelated, with variance 1.
    starts
        The columns of variable v are starts[v] … starts[v + 1] − 1.
    widths
        How many of its columns, the first ones, a variable has as a child.
    n, price, per_parent
        Rows; the price of a direction for each column of the child; that of a parent as such.
    factors
        f_xy; empty where all are 1.
    children, parents, sizes
        The variables to score, and their parents: the first ``sizes[r]`` of each row.
    candidates
        For each variable what may be added, −1 where its list has ended.
    own, out
        The scores; those with candidates stand in the order of their lists.
    """
    columns = covariance.shape[0]
    widest = 0
    for v in range(len(starts) - 1):
        widest = max(widest, starts[v + 1] - starts[v])
    most = 0
    for r in range(len(children)):
        total = 0
        for s in range(sizes[r]):
            total += starts[parents[r, s] + 1] - starts[parents[r, s]]
        most = max(most, total)
    basis = np.empty((most + 1, columns))
    both = np.empty((2 * widest, 2 * widest))
    for r in range(len(children)):
        y = children[r]
        first, width = starts[y], widths[y]
        rank = 0
        cost = 0.0
        for s in range(sizes[r]):
            x = parents[r, s]
            before = rank
            for c in range(starts[x], starts[x + 1]):
                if _reduce(covariance, c, basis, rank):
                    rank += 1
            times = factors[x, y] if len(factors) > 0 else 1.0
            cost += times * (price * width * (rank - before) + per_parent)
        for q in range(-1, candidates.shape[1]):
            x = -1 if q < 0 else candidates[y, q]
            if q >= 0 and x < 0:
                out[r, q:] = np.inf
                break
            added = 0
            if x >= 0:
                for s in range(sizes[r]):
                    if parents[r, s] == x:
                        added = -1
                if added < 0:
                    out[r, q] = np.inf
                    continue
                added = starts[x + 1] - starts[x]
            gained, logs = 0, 0.0
            for a in range(added + width):
                ca = starts[x] + a if a < added else first + a - added
                for b in range(a + 1):
                    cb = starts[x] + b if b < added else first + b - added
                    left = _left(covariance, ca, cb, basis, rank)
                    for t in range(b):
                        left -= both[a, t] * both[b, t]
                    if b < a:
                        both[a, b] = left / both[b, b] if both[b, b] > 0.0 else 0.0
                    elif a < added:
                        if left > ALIASED:
                            both[a, a] = math.sqrt(left)
                            gained += 1
                        else:
                            both[a, a] = 0.0
                    else:
                        left = max(left, FLOOR)
                        both[a, a] = math.sqrt(left)
                        logs += math.log(left)
            score = n * logs + cost
            if added > 0:
                times = factors[x, y] if len(factors) > 0 else 1.0
                score += times * (price * width * gained + per_parent)
            if q < 0:
                own[r] = score
            elif gained > 0:
                out[r, q] = score
            else:
                out[r, q] = np.inf
