"""Compiled loops that fit one variable: choosing its parents among its predecessors by the Gaussian BIC.

Every variable y is scored in moments of its own: a correlation matrix ``C`` and the number ``n`` of rows behind it;
`Local` holds those of all. The score of y with parents P is n ln var(y | P) + price · |P|; smaller is better.

A fit of y on parents P is a Gram–Schmidt basis of P, one row per parent: row t holds the covariance of every variable
with the t-th basis vector. From the rows come two vectors,

    variances[q]    var(q | P)
    covariances[q]  cov(q, y | P)

so that q would explain covariances[q]² / variances[q] more of y, known at once for all q. Adding a parent adds a row,
leaving one out rotates rows, each O(p · |P|). The vectors are kept for every variable of an order, so whether x should
become a parent of y is answered in O(1), and only variables whose parents change are ever fitted anew.

Background knowledge comes in two matrices, which are empty where there is none: ``roles[y, x]``, what x may be to y as
a parent, and ``first[x, z]``, whether x must precede z.
"""

import math
from typing import NamedTuple

import numpy as np

from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.orders import tuning
from rfdag.runtime.compilation import kernel

TINY = 1e-13
"""Share of its variance left below which a variable counts as explained by others: what rounding leaves of 1."""

WORTH = 1e-7
"""Least gain in score for which parents or an order are changed; keeps searches from repeating themselves."""

PLAUSIBLE = tuning.PLAUSIBLE_Z2
"""z² in the regression on all predecessors from which one of them may be a parent: of a hundred, chance makes five."""

RARER = tuning.PLAUSIBLE_Z2_PER_EFOLD
"""What is added per e-fold more predecessors, so that chance makes no more than these."""


class Local(NamedTuple):
    """The moments in which each variable is scored: C_y = matrices[which[y]] and n_y = rows[y].

    Each matrix is p × p with ones on its diagonal. ``limits[y]`` bounds the number of parents of y.
    """

    matrices: np.ndarray
    which: np.ndarray
    rows: np.ndarray
    limits: np.ndarray


class State(NamedTuple):
    """An order, and for each variable its parents and what the others could still contribute."""

    order: np.ndarray
    place: np.ndarray
    parents: np.ndarray
    counts: np.ndarray
    scores: np.ndarray
    variances: np.ndarray
    covariances: np.ndarray
    stale: np.ndarray
    roles: np.ndarray
    first: np.ndarray


class Fit(NamedTuple):
    """Room for one variable's parents while they change: with the ``rows`` E_t and the two vectors."""

    parents: np.ndarray
    rows: np.ndarray
    variances: np.ndarray
    covariances: np.ndarray


class Work(NamedTuple):
    """Room for two fits, for what each parent explains, and for the scores along a way through the order."""

    mine: Fit
    theirs: Fit
    triangle: np.ndarray
    weights: np.ndarray
    column: np.ndarray
    path: np.ndarray


@kernel(fastmath={"reassoc", "contract"})
def add_parent(C, x, y, fit, m):
    """Add x as parent number m."""
    row, scale = fit.rows[m], 1.0 / math.sqrt(fit.variances[x])
    p = C.shape[0]
    for q in range(p):
        row[q] = C[x, q]
    for t in range(m):
        other = fit.rows[t]
        factor = other[x]
        for q in range(p):
            row[q] -= factor * other[q]
    for q in range(p):
        row[q] *= scale
    weight = row[y]
    for q in range(p):
        fit.variances[q] -= row[q] * row[q]
        fit.covariances[q] -= row[q] * weight
    fit.parents[m] = x
    for t in range(m + 1):
        fit.variances[fit.parents[t]] = 0.0
        fit.covariances[fit.parents[t]] = 0.0
    fit.variances[y] = max(fit.variances[y], TINY)


@kernel(fastmath={"reassoc", "contract"})
def drop_parent(y, at, fit, m):
    """Leave out the parent number ``at`` of m.

    Rotations of neighbouring rows leave the last row as the only one to which this parent contributes.
    """
    rows = fit.rows
    p = rows.shape[1]
    gone = fit.parents[at]
    for t in range(at, m - 1):
        fit.parents[t] = fit.parents[t + 1]
        upper, lower = rows[t], rows[t + 1]
        a, b = upper[fit.parents[t]], lower[fit.parents[t]]
        size = math.sqrt(a * a + b * b)
        a /= size
        b /= size
        for q in range(p):
            u, v = upper[q], lower[q]
            upper[q] = a * u + b * v
            lower[q] = a * v - b * u
    row = rows[m - 1]
    weight = row[y]
    for q in range(p):
        fit.variances[q] += row[q] * row[q]
        fit.covariances[q] += row[q] * weight
    for t in range(m - 1):
        fit.variances[fit.parents[t]] = 0.0
        fit.covariances[fit.parents[t]] = 0.0
    # The last row holds all that the others left of this parent.
    fit.variances[gone] = row[gone] * row[gone]
    fit.covariances[gone] = row[gone] * weight


@kernel()
def load_fit(C, y, state, fit):
    """Fit y on its parents in ``state``; return how many of them the fit has."""
    m = 0
    for q in range(C.shape[0]):
        fit.variances[q] = 1.0
        fit.covariances[q] = C[y, q]
    for t in range(state.counts[y]):
        x = state.parents[y, t]
        # Given parents may determine each other.
        if fit.variances[x] > TINY:
            add_parent(C, x, y, fit, m)
            m += 1
    return m


@kernel()
def may_join(roles, y, x):
    """Return whether x may be a parent of y."""
    return len(roles) == 0 or roles[y, x] != FORBIDDEN


@kernel()
def is_required(roles, y, x):
    """Return whether x must be a parent of y."""
    return len(roles) > 0 and roles[y, x] == REQUIRED


@kernel()
def must_precede(first, x, z):
    """Return whether x must precede z."""
    return len(first) > 0 and first[x, z]


@kernel(fastmath={"reassoc", "contract"})
def least_loss(y, parents, roles, m, triangle, weights, column):
    """Return (number, share): which of m parents explains least of y beside the others, and how much.

    Required ones are left out; −1 if there are no others.

    With L the triangle of the parents' own covariances with the basis and w those of y, parent t explains
    (L⁻ᵀ w)_t² / (L⁻ᵀ L⁻¹)_tt.
    """
    least = -1
    loss = np.inf
    for t in range(m):
        if is_required(roles, y, parents[t]):
            continue
        column[t] = 1.0 / triangle[t, t]
        slope = column[t] * weights[t]
        size = column[t] * column[t]
        for s in range(t + 1, m):
            row = triangle[s]
            total = 0.0
            for r in range(t, s):
                total += row[r] * column[r]
            column[s] = -total / row[s]
            slope += column[s] * weights[s]
            size += column[s] * column[s]
        if slope * slope < loss * size:
            loss = slope * slope / size
            least = t
    return least, loss


@kernel()
def shrink(n, price, y, roles, fit, m, work):
    """Leave out parents, the least useful first, while that improves the score; return how many are left."""
    while m > 0:
        for s in range(m):
            work.weights[s] = fit.rows[s, y]
            for t in range(s + 1):
                work.triangle[s, t] = fit.rows[t, fit.parents[s]]
        least, loss = least_loss(y, fit.parents, roles, m, work.triangle, work.weights, work.column)
        left = fit.variances[y]
        if least < 0 or n * math.log((left + loss) / left) - price >= -WORTH:
            break
        drop_parent(y, least, fit, m)
        m -= 1
    return m


@kernel()
def worth_joining(n, price, variance, covariance, left):
    """Return whether a variable would lower the score as a parent, by its ``variance`` and ``covariance`` left."""
    if variance <= TINY:
        return False
    share = covariance * covariance / variance
    return n * math.log(max(left - share, TINY) / left) + price < -WORTH


@kernel()
def choose_parents(C, n, price, y, roles, place, before, banned, limit, fit, m, work):
    """Grow and shrink the parents of y among the variables placed before ``before``, until nothing improves.

    Returns their number, at most ``limit``. ``banned`` is no candidate wherever it is placed.
    """
    p = C.shape[0]
    while True:
        grown = False
        while m < limit:
            best = 0.0
            pivot = -1
            for q in range(p):
                if place[q] < before and fit.variances[q] > TINY:
                    share = fit.covariances[q] * fit.covariances[q] / fit.variances[q]
                    if share > best and q != banned and may_join(roles, y, q):
                        best = share
                        pivot = q
            if pivot < 0 or not worth_joining(n, price, fit.variances[pivot], fit.covariances[pivot], fit.variances[y]):
                break
            add_parent(C, pivot, y, fit, m)
            m += 1
            grown = True
        count = m
        m = shrink(n, price, y, roles, fit, m, work)
        if m == count or not grown:
            return m


@kernel()
def score_of(n, price, y, fit, m):
    """Return the score of y with the m parents of ``fit``."""
    return n * math.log(fit.variances[y]) + price * m


@kernel()
def store_fit(n, price, y, fit, m, state):
    """Make the parents of ``fit`` those of y in the order."""
    for t in range(m):
        state.parents[y, t] = fit.parents[t]
    state.counts[y] = m
    state.variances[y] = fit.variances
    state.covariances[y] = fit.covariances
    state.scores[y] = score_of(n, price, y, fit, m)


@kernel()
def refit(local, price, y, state, work):
    """Choose the parents of y anew among its predecessors, starting from those it has."""
    C, n = local.matrices[local.which[y]], local.rows[y]
    before = state.place[y]
    kept = 0
    for t in range(state.counts[y]):
        if state.place[state.parents[y, t]] < before:
            state.parents[y, kept] = state.parents[y, t]
            kept += 1
    state.counts[y] = kept
    m = load_fit(C, y, state, work.theirs)
    m = choose_parents(C, n, price, y, state.roles, state.place, before, -1, local.limits[y], work.theirs, m, work)
    store_fit(n, price, y, work.theirs, m, state)


@kernel()
def score_some(local, price, first, last, state, work):
    """Choose the parents of some variables among their predecessors, starting from the given ones among these."""
    for y in range(first, last):
        refit(local, price, y, state, work)


@kernel()
def renew(local, matrix, inverse, price, first, last, sizes, state, work):
    """Try to improve the parents of variables at some places, starting from their regressions on all predecessors.

    Growing from nothing misses parents that show only beside others; where most predecessors are parents, leaving out
    what the full regression finds needless does better. With L⁻¹ of the correlations along the order, predecessor j
    of the i-th variable has z² = (n − i) (L⁻¹)_ij² / Σ_k<i (L⁻¹)_kj² there. ``inverse`` is L⁻¹ of the matrix numbered
    ``matrix``, as far along the order as variables do not depend on those before. Only the variables scored in that
    matrix are renewed; returns how many changed. ``sizes`` holds Σ_k<i (L⁻¹)_kj², zeros at first.
    """
    C = local.matrices[matrix]
    fit = work.theirs
    changed = 0
    for i in range(first, last):
        y = state.order[i]
        # A regression on nearly as many variables as there are rows is meaningless.
        if 0 < i <= local.limits[y] and local.which[y] == matrix:
            n = local.rows[y]
            m = 0
            least = PLAUSIBLE + RARER * max(math.log(i / 100.0), 0.0)
            fit.covariances[:] = C[y]
            fit.variances[:] = 1.0
            for j in range(i):
                x = state.order[j]
                plausible = (n - i) * inverse[i, j] ** 2 > least * sizes[j] and may_join(state.roles, y, x)
                if (plausible or is_required(state.roles, y, x)) and fit.variances[x] > TINY:
                    add_parent(C, x, y, fit, m)
                    m += 1
            m = shrink(n, price, y, state.roles, fit, m, work)
            m = choose_parents(C, n, price, y, state.roles, state.place, i, -1, local.limits[y], fit, m, work)
            if score_of(n, price, y, fit, m) < state.scores[y] - WORTH:
                store_fit(n, price, y, fit, m, state)
                state.stale[y] = True
                changed += 1
        for j in range(i + 1):
            sizes[j] += inverse[i, j] ** 2
    return changed


@kernel(fastmath={"reassoc", "contract"})
def basis_over(C, y, parents, m, triangle, weights):
    """Store the Cholesky factor of C over parents[:m] and its solution for y; return the variance of y left."""
    left = 1.0
    for s in range(m):
        row = C[parents[s]]
        own = triangle[s]
        size = 1.0
        weight = row[y]
        for t in range(s):
            other = triangle[t]
            total = row[parents[t]]
            for r in range(t):
                total -= own[r] * other[r]
            own[t] = total / other[t]
            size -= own[t] * own[t]
            weight -= own[t] * weights[t]
        own[s] = math.sqrt(max(size, TINY * TINY))
        weights[s] = weight / own[s]
        left -= weights[s] * weights[s]
    return max(left, TINY)
