"""Compiled loops of the Gaussian BIC: choosing parents among candidates, and moving one variable in an order.

``C`` is the correlation matrix. The score of y with parents P is n ln var(y | P) + penalty · |P|; smaller is
better. Parents of y are parents[y, :counts[y]].

Choosing parents is a pivoted Cholesky decomposition of the candidates: each parent taken in is a pivot, after
which every other candidate's residual variance and its covariance with y are at hand. Going from m to m + 1
parents among c candidates costs O(c · m), so a whole choice costs O(c · m²).
"""

import math

import numpy as np

from rfdag.compilation import kernel

TINY = 1e-13
"""Share of its variance left below which a variable counts as explained by others: what rounding leaves of 1."""

WORTH = 1e-7
"""Least gain in score for which parents or an order are changed; keeps searches from going in circles."""


@kernel(fastmath={"reassoc", "contract"})
def _dot(x, y, m):
    total = 0.0
    for t in range(m):
        total += x[t] * y[t]
    return total


@kernel()
def _cholesky(C, y, chosen, m, L, w):
    """Decompose C over chosen[:m] into L Lᵀ, solve L w = C[chosen, y]; return the variance of y left."""
    left = 1.0
    for s in range(m):
        row = C[chosen[s]]
        for t in range(s):
            L[s, t] = (row[chosen[t]] - _dot(L[s], L[t], t)) / L[t, t]
        L[s, s] = math.sqrt(max(1.0 - _dot(L[s], L[s], s), TINY * TINY))
        w[s] = (row[y] - _dot(L[s], w, s)) / L[s, s]
        left -= w[s] * w[s]
    return max(left, TINY)


@kernel()
def _losses(L, w, m, inverse, losses):
    """Store how much of y's variance comes back when each of the m parents is left out.

    That is β² / (G⁻¹)_tt with β = L⁻ᵀ w and G⁻¹ = L⁻ᵀ L⁻¹; ``inverse`` receives L⁻ᵀ row by row.
    """
    for t in range(m):
        row = inverse[t]
        row[t] = 1.0 / L[t, t]
        for s in range(t + 1, m):
            total = 0.0
            for r in range(t, s):
                total += L[s, r] * row[r]
            row[s] = -total / L[s, s]
        beta = 0.0
        size = 0.0
        for s in range(t, m):
            beta += row[s] * w[s]
            size += row[s] * row[s]
        losses[t] = beta * beta / size


@kernel()
def shrink(C, n, penalty, y, chosen, m, L, w, inverse, losses):
    """Drop parents, the least useful first, while that improves the score; return (count, variance left)."""
    left = _cholesky(C, y, chosen, m, L, w)
    while m > 0:
        _losses(L, w, m, inverse, losses)
        least = 0
        for t in range(1, m):
            if losses[t] < losses[least]:
                least = t
        if n * math.log((left + losses[least]) / left) - penalty >= -WORTH:
            break
        m -= 1
        for t in range(least, m):
            chosen[t] = chosen[t + 1]
        left = _cholesky(C, y, chosen, m, L, w)
    return m, left


@kernel()
def choose_parents(C, n, penalty, y, candidates, n_candidates, chosen, m, limit, work):
    """Grow and shrink the parents of y among the candidates, starting from chosen[:m], until nothing improves.

    Returns (count, score). ``chosen`` holds the parents afterwards; those given that are no candidates are
    left out. ``limit`` bounds their number.
    """
    L, small, w, inverse, losses, variances, covariances, used, place = work
    for q in range(n_candidates):
        place[candidates[q]] = q
    kept = 0
    for t in range(m):
        if place[chosen[t]] >= 0:
            chosen[kept] = chosen[t]
            kept += 1
    m = kept
    while True:
        left = 1.0
        for q in range(n_candidates):
            variances[q] = 1.0
            covariances[q] = C[y, candidates[q]]
            used[q] = False
        taken = 0
        grown = False
        while True:
            pivot = -1
            if taken < m:
                pivot = place[chosen[taken]]
                if variances[pivot] < TINY:
                    # Explained by the parents before it: leave it out and go on with the next.
                    m -= 1
                    for t in range(taken, m):
                        chosen[t] = chosen[t + 1]
                    continue
            elif taken < limit:
                best = 0.0
                for q in range(n_candidates):
                    if not used[q] and variances[q] > TINY:
                        share = covariances[q] * covariances[q] / variances[q]
                        if share > best:
                            best = share
                            pivot = q
                if pivot >= 0 and n * math.log(max(left - best, TINY) / left) + penalty >= -WORTH:
                    pivot = -1
            if pivot < 0:
                break
            if taken == m:
                chosen[m] = candidates[pivot]
                m += 1
                grown = True
            used[pivot] = True
            root = math.sqrt(variances[pivot])
            row = C[candidates[pivot]]
            weight = covariances[pivot] / root
            pivot_row = L[pivot]
            for q in range(n_candidates):
                if not used[q]:
                    x = (row[candidates[q]] - _dot(L[q], pivot_row, taken)) / root
                    L[q, taken] = x
                    variances[q] -= x * x
                    covariances[q] -= x * weight
            left = max(left - weight * weight, TINY)
            taken += 1
        before = m
        m, left = shrink(C, n, penalty, y, chosen, m, small, w, inverse, losses)
        if m == before or not grown:
            break
    for q in range(n_candidates):
        place[candidates[q]] = -1
    return m, n * math.log(left) + penalty * m


@kernel()
def score_order(C, n, penalty, order, first, last, limit, parents, counts, scores, work):
    """Choose the parents of order[first:last] among their predecessors, starting from what is there."""
    for at in range(first, last):
        y = order[at]
        counts[y], scores[y] = choose_parents(C, n, penalty, y, order, at, parents[y], counts[y], limit, work)


@kernel()
def _without(parents, m, gone, rest):
    """Copy parents[:m] to rest, leaving one out; return how many were copied."""
    kept = 0
    for t in range(m):
        if parents[t] != gone:
            rest[kept] = parents[t]
            kept += 1
    return kept


@kernel()
def _with_one_more(C, n, penalty, y, chosen, m, extra, score, limit, work):
    """Return (count, score) of y when ``extra`` may join chosen[:m], dropping what it makes needless."""
    small, w, inverse, losses = work[1], work[2], work[3], work[4]
    if m >= limit:
        return m, score
    left = _cholesky(C, y, chosen, m, small, w)
    chosen[m] = extra
    row = C[extra]
    for t in range(m):
        small[m, t] = (row[chosen[t]] - _dot(small[m], small[t], t)) / small[t, t]
    variance = 1.0 - _dot(small[m], small[m], m)
    if variance < TINY:
        return m, score
    covariance = row[y] - _dot(small[m], w, m)
    share = covariance * covariance / variance
    if n * math.log(max(left - share, TINY) / left) + penalty >= -WORTH:
        return m, score
    m, left = shrink(C, n, penalty, y, chosen, m + 1, small, w, inverse, losses)
    return m, n * math.log(left) + penalty * m


@kernel()
def best_move(C, n, penalty, order, at, limit, parents, counts, scores, mine, theirs, others, work):
    """Return (gain, position): where the variable at ``at`` fits best, and the change of score there.

    Only that variable and those it passes are scored anew, one step at a time in either direction.
    """
    x = order[at]
    p = len(order)
    best = 0.0
    position = at
    # Towards the sources: x loses each variable it passes as a parent, and may become one of its parents.
    m = counts[x]
    for t in range(m):
        mine[t] = parents[x, t]
    score = scores[x]
    change = 0.0
    for j in range(at - 1, -1, -1):
        z = order[j]
        kept = _without(mine, m, z, mine)
        if kept < m:
            m, fresh = choose_parents(C, n, penalty, x, order, j, mine, kept, limit, work)
            change += fresh - score
            score = fresh
        for t in range(counts[z]):
            theirs[t] = parents[z, t]
        _, fresh = _with_one_more(C, n, penalty, z, theirs, counts[z], x, scores[z], limit, work)
        change += fresh - scores[z]
        if change < best - WORTH:
            best = change
            position = j
    # Towards the sinks: each variable passed loses x as a parent, and may become a parent of x.
    m = counts[x]
    for t in range(m):
        mine[t] = parents[x, t]
    score = scores[x]
    change = 0.0
    for j in range(at + 1, p):
        z = order[j]
        kept = _without(parents[z], counts[z], x, theirs)
        if kept < counts[z]:
            available = _without(order, j, x, others)
            _, fresh = choose_parents(C, n, penalty, z, others, available, theirs, kept, limit, work)
            change += fresh - scores[z]
        m, fresh = _with_one_more(C, n, penalty, x, mine, m, z, score, limit, work)
        change += fresh - score
        score = fresh
        if change < best - WORTH:
            best = change
            position = j
    return best, position


@kernel()
def move(order, at, to):
    """Take the variable at ``at`` out of the order and put it back at ``to``."""
    x = order[at]
    step = 1 if to > at else -1
    for j in range(at, to, step):
        order[j] = order[j + step]
    order[to] = x


@kernel()
def least_scores(C, n, penalty, limit, best, last, work):
    """Fill, for every set of variables, the least score of its orders and which variable stands last in one.

    Sets are bit masks. best[S] is the least of best[S∖y] + score(y | parents within S∖y) over the y of S: dynamic
    programming over what an elimination has left.
    """
    p = C.shape[0]
    candidates = np.empty(p, np.int64)
    chosen = np.empty(limit + 1, np.int64)
    best[0] = 0.0
    for mask in range(1, 1 << p):
        best[mask] = np.inf
        for y in range(p):
            if mask >> y & 1:
                rest = mask & ~(1 << y)
                count = 0
                for x in range(p):
                    if rest >> x & 1:
                        candidates[count] = x
                        count += 1
                _, score = choose_parents(C, n, penalty, y, candidates, count, chosen, 0, limit, work)
                if best[rest] + score < best[mask] - WORTH:
                    best[mask] = best[rest] + score
                    last[mask] = y
