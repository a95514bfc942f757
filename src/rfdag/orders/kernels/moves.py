"""Compiled loops that move variables in an order: where one fits best, and what the move changes.

The words and arrays are those of `rfdag.orders.kernels.fits`. Each variable is scored in its own moments: when x passes
z, what z gains or loses is found in the matrix and the rows of z.
"""

import math

import numpy as np

from rfdag.orders import tuning
from rfdag.orders.kernels.fits import (
    TINY,
    WORTH,
    add_parent,
    basis_over,
    choose_parents,
    drop_parent,
    least_loss,
    load_fit,
    may_join,
    must_precede,
    refit,
    score_of,
    shrink,
    store_fit,
    worth_joining,
)
from rfdag.runtime.compilation import kernel

HOPE = tuning.PRICES_SAVED_BY_JOINING
"""Prices of an edge that a variable may save when x joins its parents and makes others needless."""

NOTICEABLE = tuning.NOTICEABLE_Z2
"""z² from which a variable may matter to one whose parents have changed, and is tried again."""


@kernel()
def _gain_of_joining(local, price, x, z, state, work):
    """Return the change of score of z when x joins its parents and makes others needless.

    Only the parents enter, so that the cost does not depend on the number of variables.
    """
    C, n = local.matrices[local.which[z]], local.rows[z]
    m = state.counts[z]
    parents = work.theirs.parents
    parents[:m] = state.parents[z, :m]
    parents[m] = x
    m += 1
    while True:
        left = basis_over(C, z, parents, m, work.triangle, work.weights)
        least, loss = least_loss(z, parents, state.roles, m, work.triangle, work.weights, work.column)
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
def _best_place_before(local, price, x, state, work):
    """Return (gain, position) of the best place towards the sources.

    There x loses each variable it passes as a parent, and may become one of its parents. What x itself loses never
    comes back, so the way ends where the variables still to pass cannot make up for it.
    """
    C, n, limit = local.matrices[local.which[x]], local.rows[x], local.limits[x]
    order, place, mine = state.order, state.place, work.mine
    at = place[x]
    # The most that the variables up to j could gain; by the parents they would drop, a little more than this.
    hope = work.path
    total = 0.0
    for j in range(at):
        z = order[j]
        if state.counts[z] < local.limits[z] and state.variances[z, x] > TINY and may_join(state.roles, z, x):
            share = state.covariances[z, x] * state.covariances[z, x] / state.variances[z, x]
            left = state.variances[z, z]
            gain = local.rows[z] * math.log(max(left - share, TINY) / left) + price
            if gain < -WORTH:
                total += gain - HOPE * price
        hope[j] = total
    if total == 0.0:
        return 0.0, at
    best = 0.0
    position = at
    m = load_fit(C, x, state, mine)
    change = 0.0
    score = state.scores[x]
    for j in range(at - 1, -1, -1):
        if change + hope[j] >= best - WORTH:
            break
        z = order[j]
        if must_precede(state.first, z, x):
            break
        t = _place_of_parent(mine.parents, m, z)
        if t >= 0:
            drop_parent(x, t, mine, m)
            m = choose_parents(C, n, price, x, state.roles, place, j, -1, limit, mine, m - 1, work)
            fresh = score_of(n, price, x, mine, m)
            change += fresh - score
            score = fresh
        if hope[j] < (hope[j - 1] if j > 0 else 0.0):
            change += _gain_of_joining(local, price, x, z, state, work)
        if change < best - WORTH:
            best = change
            position = j
    return best, position


@kernel()
def _best_place_after(local, price, x, state, work):
    """Return (gain, position) of the best place towards the sinks.

    There each variable passed loses x as a parent, and may become a parent of x. What x can gain on the whole way
    is found first; the way ends where the losses of the others outweigh it.
    """
    C, n, limit = local.matrices[local.which[x]], local.rows[x], local.limits[x]
    order, place, mine, theirs = state.order, state.place, work.mine, work.theirs
    at = place[x]
    end = at + 1
    while end < len(order) and not must_precede(state.first, x, order[end]):
        end += 1
    gained = work.path
    m = load_fit(C, x, state, mine)
    total = 0.0
    for j in range(at + 1, end):
        z = order[j]
        if (
            m < limit
            and worth_joining(n, price, mine.variances[z], mine.covariances[z], mine.variances[x])
            and may_join(state.roles, x, z)
        ):
            add_parent(C, z, x, mine, m)
            m = shrink(n, price, x, state.roles, mine, m + 1, work)
            total = score_of(n, price, x, mine, m) - state.scores[x]
        gained[j] = total
    best = 0.0
    position = at
    lost = 0.0
    for j in range(at + 1, end):
        if lost + total >= best - WORTH:
            break
        z = order[j]
        if _place_of_parent(state.parents[z], state.counts[z], x) >= 0:
            C_z, n_z = local.matrices[local.which[z]], local.rows[z]
            count = load_fit(C_z, z, state, theirs)
            drop_parent(z, _place_of_parent(theirs.parents, count, x), theirs, count)
            count = choose_parents(
                C_z, n_z, price, z, state.roles, place, j, x, local.limits[z], theirs, count - 1, work
            )
            lost += score_of(n_z, price, z, theirs, count) - state.scores[z]
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
    """Return the position between ``at`` and ``to`` up to which a variable may move without breaking a constraint."""
    x = state.order[at]
    step = 1 if to > at else -1
    while at != to:
        z = state.order[at + step]
        if must_precede(state.first, x, z) if step > 0 else must_precede(state.first, z, x):
            break
        at += step
    return at


@kernel()
def move(local, price, at, to, force, state, work):
    """Move the variable at ``at`` to ``to``, choose parents anew where that matters, and return the change of score.

    A move that does not lower the score is undone, unless ``force``. Variables to which the move may matter are
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
            affected = worth_joining(
                local.rows[y], price, state.variances[y, x], state.covariances[y, x], state.variances[y, y]
            )
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
        refit(local, price, y, state, work)
        change += state.scores[y]
    if change >= 0.0 and not force:
        _shift(state, to, at)
        for e in range(count):
            y = touched[e]
            state.counts[y] = before[e, widest]
            state.parents[y, : state.counts[y]] = before[e, : state.counts[y]]
            m = load_fit(local.matrices[local.which[y]], y, state, work.theirs)
            store_fit(local.rows[y], price, y, work.theirs, m, state)
        return 0.0
    for e in range(count):
        y = touched[e]
        n = local.rows[y]
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
def reinsert(local, price, x, state, work):
    """Put x where it lowers the score most; return the change, 0 when it stays."""
    state.stale[x] = False
    at = state.place[x]
    gain, to = _best_place_before(local, price, x, state, work)
    other_gain, other = _best_place_after(local, price, x, state, work)
    if other_gain < gain:
        to = other
    if to == at:
        return 0.0
    return move(local, price, at, to, False, state, work)


@kernel()
def reinsert_stale(local, price, variables, state, work):
    """Reinsert those of ``variables`` that are stale, one after the other; return how many moved."""
    moves = 0
    for x in variables:
        if state.stale[x] and reinsert(local, price, x, state, work) < 0.0:
            moves += 1
    return moves
