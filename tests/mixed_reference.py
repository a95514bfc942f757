"""Scores of categories and blocks of columns, literal and slow. Imports nothing from rfdag."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import gammaln


def indicators(codes):
    """Return an indicator for each level but the first."""
    levels = np.unique(codes)
    return (codes[:, None] == levels[1:]).astype(float)


def gaussian(blocks, child, parents, price, per_parent):
    """Return n ln det S(Y|P), with prices, of blocks of columns whose own spread is divided out."""
    n = len(blocks[child])
    y = blocks[child] - blocks[child].mean(axis=0)
    x = np.hstack([np.ones((n, 1)), *(blocks[parent] for parent in parents)])
    left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    rank = np.linalg.matrix_rank(x) - 1
    fit = n * (np.linalg.slogdet(left.T @ left)[1] - np.linalg.slogdet(y.T @ y)[1])
    return fit + price * y.shape[1] * rank + per_parent * len(parents)


def tables(codes, levels, child, parents, weights):
    """Return counts of the child's levels for every combination of the parents' levels that occurs."""
    found = {}
    for row in range(codes.shape[1]):
        key = tuple(int(codes[parent, row]) for parent in parents)
        found.setdefault(key, np.zeros(levels[child]))[codes[child, row]] += weights[row]
    return list(found.values())


def multinomial(codes, levels, child, parents, weights, penalty):
    """Return −2 ln likelihood + λ / 2 · ln n for each free probability."""
    fit = sum(
        -2 * count * math.log(count / table.sum())
        for table in tables(codes, levels, child, parents, weights)
        for count in table
        if count
    )
    free = (levels[child] - 1) * math.prod(levels[parent] for parent in parents)
    return fit + penalty / 2 * math.log(weights.sum()) * free


def bdeu(codes, levels, child, parents, weights, sample_size):
    """Return −2 ln of the marginal likelihood."""
    combinations = math.prod(levels[parent] for parent in parents)
    row, cell = sample_size / combinations, sample_size / combinations / levels[child]
    return -2 * sum(
        gammaln(row) - gammaln(row + table.sum()) + (gammaln(cell + table) - gammaln(cell)).sum()
        for table in tables(codes, levels, child, parents, weights)
    )


def grown_and_shrunk(score, child, predecessors, most, pairs=()):
    """Return the parents that a variable takes: added one by one while that helps, then dropped one by one.

    Where no single one helps, one of the ``pairs`` is added that does.
    """
    parents = ()
    now = score(child, parents)
    while True:
        left = [x for x in predecessors if x not in parents]
        for added in ([(x,) for x in left], [pair for pair in pairs if {*pair} <= {*left}]):
            larger = {each: tuple(sorted((*parents, *each))) for each in added if len(parents) + len(each) <= most}
            trials = {each: score(child, family) for each, family in larger.items()}
            best = min(trials, key=lambda each: (round(trials[each], 6), each), default=None)
            if best is not None and trials[best] < now - 1e-6:
                parents, now = larger[best], trials[best]
                break
        else:
            break
    while parents:
        fewer = {x: score(child, tuple(y for y in parents if y != x)) for x in parents}
        best = min(fewer, key=fewer.__getitem__)
        if fewer[best] >= now - 1e-6:
            break
        parents, now = tuple(y for y in parents if y != best), fewer[best]
    return parents, now


def best_score(score, p, most, *, before=(), forbidden=(), required=()):
    """Return the least score of all DAGs: over all orders, with the best of all sets of parents.

    Of each pair in ``before`` the first precedes the second; pairs in ``forbidden`` are no edges, those in ``required``
    are.
    """
    best = math.inf
    families = {
        (child, frozenset(parents)): score(child, tuple(sorted(parents)))
        for child in range(p)
        for size in range(most + 1)
        for parents in itertools.combinations([x for x in range(p) if x != child], size)
        if all((x, child) not in forbidden for x in parents) and all(x in parents for x, y in required if y == child)
    }
    for order in itertools.permutations(range(p)):
        if any(order.index(x) > order.index(y) for x, y in (*before, *required)):
            continue
        total = 0.0
        for at, child in enumerate(order):
            known = set(order[:at])
            total += min(value for (y, parents), value in families.items() if y == child and parents <= known)
        best = min(best, total)
    return best


def em_step(rows, mean, covariance):
    """Return the means and covariance after one step of EM, a row at a time, and the log-likelihood before it."""
    n, p = rows.shape
    total, squares, likelihood = np.zeros(p), np.zeros((p, p)), 0.0
    for row in rows:
        there = np.isfinite(row)
        known, gaps = np.flatnonzero(there), np.flatnonzero(~there)
        filled, spread = row.copy(), np.zeros((p, p))
        within = covariance[np.ix_(known, known)]
        apart = row[known] - mean[known]
        likelihood -= 0.5 * (
            len(known) * math.log(2 * math.pi) + np.linalg.slogdet(within)[1] + apart @ np.linalg.solve(within, apart)
        )
        if len(gaps):
            slopes = np.linalg.solve(within, covariance[np.ix_(known, gaps)])
            filled[gaps] = mean[gaps] + apart @ slopes
            spread[np.ix_(gaps, gaps)] = covariance[np.ix_(gaps, gaps)] - covariance[np.ix_(gaps, known)] @ slopes
        total += filled
        squares += np.outer(filled, filled) + spread
    following = total / n
    return following, squares / n - np.outer(following, following), likelihood


def worth_literally(counts, correlation, way):
    """How many rows each pair of columns is worth, of which counts are known together: the formula, pair by pair."""
    inverse = np.linalg.inv(correlation)
    p = len(counts)

    def share(x, k):
        square = inverse[x, k] ** 2 / (inverse[x, x] * inverse[k, k])
        return square * (1 if way == "em" else inverse[k, k])

    worth = np.diag(np.diag(counts)).astype(float)
    for x, y in itertools.permutations(range(p), 2):
        others = [k for k in range(p) if k not in (x, y)]
        g = {k: 1 / max(counts[x, k] / counts[x, x], counts[y, k] / counts[y, y]) - 1 for k in others}
        of_x = 1 + (counts[y, y] / counts[x, y] - 1) * share(x, x) + sum(g[k] * share(x, k) for k in others)
        of_y = 1 + (counts[x, x] / counts[x, y] - 1) * share(y, y) + sum(g[k] * share(y, k) for k in others)
        twice = sum(g[k] ** 2 * share(x, k) * share(y, k) for k in others)
        worth[x, y] = counts[x, x] * counts[y, y] / counts[x, y] / (of_x * of_y - twice)
    return worth
