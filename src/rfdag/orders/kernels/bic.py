"""Compiled loops of the Gaussian BIC: choosing parents among predecessors, and moving one variable in an order.

``C`` is the correlation matrix. The score of y with parents P is n ln var(y | P) + price · |P|; smaller is better.

A fit of y on parents P is a Gram–Schmidt basis of P, one row per parent: row t holds the covariance of every variable
with the t-th basis vector. From the rows come two vectors,

    variances[q]    var(q | P)
    covariances[q]  cov(q, y | P)

so that q would explain covariances[q]² / variances[q] more of y, known at once for all q. Taking a parent in adds a
row, leaving one out rotates rows, each O(p · |P|). The vectors are kept for every variable of an order, so whether x
should join the parents of y is answered in O(1), and only variables whose parents change are ever fitted anew.

Background knowledge has its say in two matrices, which are empty where there is none: ``roles[y, x]``, what x may be to
y as a parent, and ``first[x, z]``, whether x must come before z.
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
"""Least gain in score for which parents or an order are changed; keeps searches from going in circles."""

HOPE = tuning.PRICES_SAVED_BY_JOINING
"""Prices of an edge that a variable may save when x joins its parents and makes others needless."""

NOTICEABLE = tuning.NOTICEABLE_Z2
"""z² from which a variable may matter to one whose parents have changed, and is looked at again."""

PLAUSIBLE = tuning.PLAUSIBLE_Z2
"""z² in the regression on all predecessors from which one of them may be a parent: of a hundred, chance makes five."""

RARER = tuning.PLAUSIBLE_Z2_PER_EFOLD
"""What is added per e-fold more predecessors, so that chance makes no more than these."""


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
    """Room for two fits, for asking what each parent is worth, and for the scores along a way through the order."""

    mine: Fit
    theirs: Fit
    triangle: np.ndarray
    weights: np.ndarray
    column: np.ndarray
    path: np.ndarray


@kernel(fastmath={"reassoc", "contract"})
def _add(C, x, y, fit, m):
    """Take x in as parent number m."""
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
def _drop(y, at, fit, m):
    """Leave out the parent number ``at`` of m.

    Rotations of neighbouring rows make the last row the only one that this parent had its say in.
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
    # All that the row says of the parent that went is what it had left.
    fit.variances[gone] = row[gone] * row[gone]
    fit.covariances[gone] = row[gone] * weight


@kernel()
def _load(C, y, state, fit):
    """Make ``fit`` that of y as it stands in the order; return how many parents it has."""
    m = 0
    for q in range(C.shape[0]):
        fit.variances[q] = 1.0
        fit.covariances[q] = C[y, q]
    for t in range(state.counts[y]):
        x = state.parents[y, t]
        # Parents that were given may explain each other.
        if fit.variances[x] > TINY:
            _add(C, x, y, fit, m)
            m += 1
    return m


@kernel()
def _may_join(roles, y, x):
    return len(roles) == 0 or roles[y, x] != FORBIDDEN


@kernel()
def _is_required(roles, y, x):
    return len(roles) > 0 and roles[y, x] == REQUIRED


@kernel()
def _must_precede(first, x, z):
    return len(first) > 0 and first[x, z]


@kernel(fastmath={"reassoc", "contract"})
def _least_loss(y, parents, roles, m, triangle, weights, column):
    """Return (number, share): which of m parents explains least of y beside the others, and how much.

    Required ones are not asked; −1 if there are no others.

    With L the triangle of the parents' own covariances with the basis and w those of y, parent t explains
    (L⁻ᵀ w)_t² / (L⁻ᵀ L⁻¹)_tt.
    """
    least = -1
    loss = np.inf
    for t in range(m):
        if _is_required(roles, y, parents[t]):
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
def _shrink(n, price, y, roles, fit, m, work):
    """Leave out parents, the least useful first, while that improves the score; return how many are left."""
    while m > 0:
        for s in range(m):
            work.weights[s] = fit.rows[s, y]
            for t in range(s + 1):
                work.triangle[s, t] = fit.rows[t, fit.parents[s]]
        least, loss = _least_loss(y, fit.parents, roles, m, work.triangle, work.weights, work.column)
        left = fit.variances[y]
        if least < 0 or n * math.log((left + loss) / left) - price >= -WORTH:
            break
        _drop(y, least, fit, m)
        m -= 1
    return m


@kernel()
def _worth_joining(n, price, variance, covariance, left):
    """Return whether a variable lowers the score of one it might become a parent of."""
    if variance <= TINY:
        return False
    share = covariance * covariance / variance
    return n * math.log(max(left - share, TINY) / left) + price < -WORTH


@kernel()
def _choose(C, n, price, y, roles, place, before, banned, limit, fit, m, work):
    """Grow and shrink the parents of y among the variables placed before ``before``, until nothing improves.

    Returns their number. ``banned`` is no candidate wherever it stands; ``limit`` bounds the number.
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
                    if share > best and q != banned and _may_join(roles, y, q):
                        best = share
                        pivot = q
            if pivot < 0 or not _worth_joining(
                n, price, fit.variances[pivot], fit.covariances[pivot], fit.variances[y]
            ):
                break
            _add(C, pivot, y, fit, m)
            m += 1
            grown = True
        count = m
        m = _shrink(n, price, y, roles, fit, m, work)
        if m == count or not grown:
            return m


@kernel()
def _score(n, price, y, fit, m):
    return n * math.log(fit.variances[y]) + price * m


@kernel()
def _store(n, price, y, fit, m, state):
    """Make the parents of ``fit`` those of y in the order."""
    for t in range(m):
        state.parents[y, t] = fit.parents[t]
    state.counts[y] = m
    state.variances[y] = fit.variances
    state.covariances[y] = fit.covariances
    state.scores[y] = _score(n, price, y, fit, m)


@kernel()
def _refit(C, n, price, y, limit, state, work):
    """Choose the parents of y anew among its predecessors, starting from those it has."""
    before = state.place[y]
    kept = 0
    for t in range(state.counts[y]):
        if state.place[state.parents[y, t]] < before:
            state.parents[y, kept] = state.parents[y, t]
            kept += 1
    state.counts[y] = kept
    m = _load(C, y, state, work.theirs)
    m = _choose(C, n, price, y, state.roles, state.place, before, -1, limit, work.theirs, m, work)
    _store(n, price, y, work.theirs, m, state)


@kernel()
def score_order(C, n, price, limit, state, work):
    """Choose the parents of every variable among its predecessors, starting from those given that are such."""
    p = C.shape[0]
    for at in range(p):
        state.place[state.order[at]] = at
    for y in range(p):
        _refit(C, n, price, y, limit, state, work)


@kernel()
def renew(C, n, price, limit, inverse, state, work):
    """Try to better each variable's parents by starting from its regression on all predecessors.

    Growing from nothing misses parents that show only beside others; where most predecessors are parents, leaving out
    what the full regression finds needless serves better. With L⁻¹ of the correlations along the order, predecessor j
    of the i-th variable has z² = (n − i) (L⁻¹)_ij² / Σ_k<i (L⁻¹)_kj² there. ``inverse`` is L⁻¹, as far along the order
    as variables do not depend on those before. Returns how many variables changed.
    """
    sizes = np.zeros(len(inverse))
    fit = work.theirs
    changed = 0
    for i in range(len(inverse)):
        y = state.order[i]
        # A regression on nearly as many variables as there are rows tells nothing.
        if 0 < i <= limit:
            m = 0
            least = PLAUSIBLE + RARER * max(math.log(i / 100.0), 0.0)
            fit.covariances[:] = C[y]
            fit.variances[:] = 1.0
            for j in range(i):
                x = state.order[j]
                plausible = (n - i) * inverse[i, j] ** 2 > least * sizes[j] and _may_join(state.roles, y, x)
                if (plausible or _is_required(state.roles, y, x)) and fit.variances[x] > TINY:
                    _add(C, x, y, fit, m)
                    m += 1
            m = _shrink(n, price, y, state.roles, fit, m, work)
            m = _choose(C, n, price, y, state.roles, state.place, i, -1, limit, fit, m, work)
            if _score(n, price, y, fit, m) < state.scores[y] - WORTH:
                _store(n, price, y, fit, m, state)
                state.stale[y] = True
                changed += 1
        for j in range(i + 1):
            sizes[j] += inverse[i, j] ** 2
    return changed


@kernel(fastmath={"reassoc", "contract"})
def _basis_over(C, y, parents, m, triangle, weights):
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


@kernel()
def _gain_of_joining(C, n, price, x, z, state, work):
    """Return the change of score of z when x joins its parents and makes others needless.

    Only the parents are looked at, so this costs nothing in the number of variables.
    """
    m = state.counts[z]
    parents = work.theirs.parents
    parents[:m] = state.parents[z, :m]
    parents[m] = x
    m += 1
    while True:
        left = _basis_over(C, z, parents, m, work.triangle, work.weights)
        least, loss = _least_loss(z, parents, state.roles, m, work.triangle, work.weights, work.column)
        if least < 0 or n * math.log((left + loss) / left) - price >= -WORTH:
            return n * math.log(left) + price * m - state.scores[z]
        m -= 1
        for t in range(least, m):
            parents[t] = parents[t + 1]


@kernel()
def _place_of_parent(parents, m, x):
    for t in range(m):
        if parents[t] == x:
            return t
    return -1


@kernel()
def _best_place_before(C, n, price, x, limit, state, work):
    """Return (gain, position) of the best place towards the sources.

    There x loses each variable it passes as a parent, and may become one of its parents. What x itself loses never
    comes back, so the way ends where the variables still to pass cannot make up for it.
    """
    order, place, mine = state.order, state.place, work.mine
    at = place[x]
    # What those from the first up to j could gain at most; by the parents they would drop, a little more than this.
    hope = work.path
    total = 0.0
    for j in range(at):
        z = order[j]
        if state.counts[z] < limit and state.variances[z, x] > TINY and _may_join(state.roles, z, x):
            share = state.covariances[z, x] * state.covariances[z, x] / state.variances[z, x]
            left = state.variances[z, z]
            gain = n * math.log(max(left - share, TINY) / left) + price
            if gain < -WORTH:
                total += gain - HOPE * price
        hope[j] = total
    if total == 0.0:
        return 0.0, at
    best = 0.0
    position = at
    m = _load(C, x, state, mine)
    change = 0.0
    score = state.scores[x]
    for j in range(at - 1, -1, -1):
        if change + hope[j] >= best - WORTH:
            break
        z = order[j]
        if _must_precede(state.first, z, x):
            break
        t = _place_of_parent(mine.parents, m, z)
        if t >= 0:
            _drop(x, t, mine, m)
            m = _choose(C, n, price, x, state.roles, place, j, -1, limit, mine, m - 1, work)
            fresh = _score(n, price, x, mine, m)
            change += fresh - score
            score = fresh
        if hope[j] < (hope[j - 1] if j > 0 else 0.0):
            change += _gain_of_joining(C, n, price, x, z, state, work)
        if change < best - WORTH:
            best = change
            position = j
    return best, position


@kernel()
def _best_place_after(C, n, price, x, limit, state, work):
    """Return (gain, position) of the best place towards the sinks.

    There each variable passed loses x as a parent, and may become a parent of x. What x can gain on the whole way
    is found first; it ends where the losses of the others have eaten that up.
    """
    order, place, mine, theirs = state.order, state.place, work.mine, work.theirs
    at = place[x]
    end = at + 1
    while end < len(order) and not _must_precede(state.first, x, order[end]):
        end += 1
    gained = work.path
    m = _load(C, x, state, mine)
    total = 0.0
    for j in range(at + 1, end):
        z = order[j]
        if (
            m < limit
            and _worth_joining(n, price, mine.variances[z], mine.covariances[z], mine.variances[x])
            and _may_join(state.roles, x, z)
        ):
            _add(C, z, x, mine, m)
            m = _shrink(n, price, x, state.roles, mine, m + 1, work)
            total = _score(n, price, x, mine, m) - state.scores[x]
        gained[j] = total
    best = 0.0
    position = at
    lost = 0.0
    for j in range(at + 1, end):
        if lost + total >= best - WORTH:
            break
        z = order[j]
        if _place_of_parent(state.parents[z], state.counts[z], x) >= 0:
            count = _load(C, z, state, theirs)
            _drop(z, _place_of_parent(theirs.parents, count, x), theirs, count)
            count = _choose(C, n, price, z, state.roles, place, j, x, limit, theirs, count - 1, work)
            lost += _score(n, price, z, theirs, count) - state.scores[z]
        if gained[j] + lost < best - WORTH:
            best = gained[j] + lost
            position = j
    return best, position


@kernel()
def _shift(state, at, to):
    """Take the variable at ``at`` out of the order and put it back at ``to``."""
    order, place = state.order, state.place
    x = order[at]
    step = 1 if to > at else -1
    for j in range(at, to, step):
        order[j] = order[j + step]
        place[order[j]] = j
    order[to] = x
    place[x] = to


@kernel()
def within_reach(state, at, to):
    """Return how far on its way from ``at`` to ``to`` a variable comes before it would pass one that it may not."""
    x = state.order[at]
    step = 1 if to > at else -1
    while at != to:
        z = state.order[at + step]
        if _must_precede(state.first, x, z) if step > 0 else _must_precede(state.first, z, x):
            break
        at += step
    return at


@kernel()
def move(C, n, price, at, to, limit, force, state, work):
    """Move the variable at ``at`` to ``to``, choose parents anew where that matters, and return the change of score.

    Unless ``force``, a move that does not lower the score is undone. Variables to which the move may matter are
    marked stale.
    """
    x = state.order[at]
    _shift(state, at, to)
    touched = np.empty(abs(at - to) + 1, np.int64)
    count = 0
    widest = 0
    for j in range(min(at, to), max(at, to) + 1):
        y = state.order[j]
        if y == x:
            affected = True
        elif to > at:
            affected = _place_of_parent(state.parents[y], state.counts[y], x) >= 0
        else:
            affected = _worth_joining(n, price, state.variances[y, x], state.covariances[y, x], state.variances[y, y])
        if affected:
            touched[count] = y
            count += 1
            widest = max(widest, state.counts[y])
    # Parents before the move, and after them their number.
    before = np.empty((count, widest + 1), np.int64)
    change = 0.0
    for e in range(count):
        y = touched[e]
        before[e, widest] = state.counts[y]
        before[e, : state.counts[y]] = state.parents[y, : state.counts[y]]
        change -= state.scores[y]
        _refit(C, n, price, y, limit, state, work)
        change += state.scores[y]
    if change >= 0.0 and not force:
        _shift(state, to, at)
        for e in range(count):
            y = touched[e]
            state.counts[y] = before[e, widest]
            state.parents[y, : state.counts[y]] = before[e, : state.counts[y]]
            m = _load(C, y, state, work.theirs)
            _store(n, price, y, work.theirs, m, state)
        return 0.0
    for e in range(count):
        y = touched[e]
        for t in range(before[e, widest]):
            state.stale[before[e, t]] = True
        for t in range(state.counts[y]):
            state.stale[state.parents[y, t]] = True
        for q in range(len(state.order)):
            # True of y itself, too.
            if n * state.covariances[y, q] ** 2 > NOTICEABLE * state.variances[y, y] * state.variances[y, q]:
                state.stale[q] = True
    return change


@kernel()
def reinsert(C, n, price, x, limit, state, work):
    """Put x where it lowers the score most; return the change, 0 when it stays."""
    state.stale[x] = False
    at = state.place[x]
    gain, to = _best_place_before(C, n, price, x, limit, state, work)
    other_gain, other = _best_place_after(C, n, price, x, limit, state, work)
    if other_gain < gain:
        to = other
    if to == at:
        return 0.0
    return move(C, n, price, at, to, limit, False, state, work)


@kernel()
def reinsert_stale(C, n, price, variables, limit, state, work):
    """Reinsert those of ``variables`` that are stale, one after the other; return how many moved."""
    moves = 0
    for x in variables:
        if state.stale[x] and reinsert(C, n, price, x, limit, state, work) < 0.0:
            moves += 1
    return moves


@kernel()
def best_families(C, n, price, limit, y, roles, least, family):
    """Fill, for every set S of the other variables, the least score of y with parents within S, and which they are.

    Sets are bit masks over the variables without y. The best parents within S are S itself, if all of it may be and
    all that must be is in it, or the best within S less one of its members. A set without such parents scores ∞.
    """
    p = C.shape[0]
    others = np.empty(p - 1, np.int64)
    for x in range(p - 1):
        others[x] = x if x < y else x + 1
    chosen = np.empty(p - 1, np.int64)
    triangle, weights = np.empty((p, p)), np.empty(p)
    forbidden = 0
    required = 0
    for x in range(p - 1):
        if not _may_join(roles, y, others[x]):
            forbidden |= 1 << x
        if _is_required(roles, y, others[x]):
            required |= 1 << x
    for mask in range(1 << (p - 1)):
        m = 0
        for x in range(p - 1):
            if mask >> x & 1:
                chosen[m] = others[x]
                m += 1
        least[mask] = np.inf
        family[mask] = mask
        if m <= limit and mask & forbidden == 0 and mask & required == required:
            least[mask] = n * math.log(_basis_over(C, y, chosen, m, triangle, weights)) + price * m
        for x in range(p - 1):
            if mask >> x & 1:
                rest = mask & ~(1 << x)
                # Not for a gain that is rounding: then the fewer parents the better.
                if least[rest] <= least[mask] + WORTH:
                    least[mask] = least[rest]
                    family[mask] = family[rest]


@kernel()
def best_orders(p, least, first, best, last):
    """Fill, for every set of variables, the least score of its orders and which variable stands last in one.

    least[y, S] is the least score of y with parents within S, a mask over the variables without y. The best order of
    a set ends in some y of it that need not come before any of the rest, after the best order of the rest.
    """
    followers = np.zeros(p, np.int64)
    for x in range(p):
        for z in range(p):
            if _must_precede(first, x, z):
                followers[x] |= 1 << z
    best[0] = 0.0
    for mask in range(1, 1 << p):
        best[mask] = np.inf
        for y in range(p):
            if mask >> y & 1 and mask & followers[y] == 0:
                rest = mask & ~(1 << y)
                low = rest & ((1 << y) - 1)
                score = best[rest] + least[y, low | (rest >> (y + 1)) << y]
                if score < best[mask] - WORTH:
                    best[mask] = score
                    last[mask] = y
