"""Compiled loops that move variables in an order: where one fits best, and what the move changes.

The words and arrays are those of `rfdag.orders.kernels.fits`. Each variable is scored in its own moments: when x passes
z, what z gains or loses is found in the matrix and the rows of z.

Python calls one kernel, `refine`: each that it calls is compiled with all that this one calls.
"""

import math

from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.orders import tuning
from rfdag.orders.kernels.fits import (
    COUNT,
    COVARIANCES,
    FIRST,
    LIMIT,
    MINE,
    NOBODY,
    NONE,
    ORDER,
    PLACE,
    ROLES,
    ROWS,
    SCORE,
    STALE,
    THEIRS,
    TINY,
    VARIANCES,
    WHICH,
    WORTH,
    add_parent,
    basis_over,
    choose_parents,
    drop_parent,
    least_loss,
    load_fit,
)
from rfdag.runtime.compilation import kernel, part

HOPE = tuning.PRICES_SAVED_BY_JOINING
"""Prices of an edge that a variable may save when x joins its parents and makes others needless."""

NOTICEABLE = tuning.NOTICEABLE_Z2
"""z² from which a variable may matter to one whose parents have changed, and is tried again."""

PLAUSIBLE = tuning.PLAUSIBLE_Z2
"""z² in the regression on all predecessors from which one of them may be a parent: of a hundred, chance makes five."""

RARER = tuning.PLAUSIBLE_Z2_PER_EFOLD
"""What is added per e-fold more predecessors, so that chance makes no more than these."""

FIT, RENEW, REINSERT, MOVE = range(4)
"""What `refine` does."""


@part()
def _place_of_parent(parents, m, x):
    for t in range(m):
        if parents[t] == x:
            return t
    return -1


@part(inline=True)
def best_place_before(state, price, x, work):
    """Return (gain, position) of the best place towards the sources.

    There x loses each variable it passes as a parent, and may become one of its parents. What x itself loses never
    comes back, so the way ends where the variables still to pass cannot make up for it.
    """
    order, counts, limits, which = state.places[ORDER], state.places[COUNT], state.places[LIMIT], state.places[WHICH]
    scores, rows, variances, covariances = (
        state.values[SCORE],
        state.values[ROWS],
        state.left[VARIANCES],
        state.left[COVARIANCES],
    )
    knowledge, operations, triangle = state.knowledge, work.operations, work.triangle
    parents, fit, theirs = work.parents[MINE], work.fits[MINE], work.parents[THEIRS]
    free = knowledge.shape[1] == 0
    at = state.places[PLACE, x]
    # The most that the variables up to j could gain; by the parents they would drop, a little more than this.
    hope = work.path
    total = 0.0
    for j in range(at):
        z = order[j]
        if counts[z] < limits[z] and variances[z, x] > TINY and (free or knowledge[ROLES, z, x] != FORBIDDEN):
            share = covariances[z, x] * covariances[z, x] / variances[z, x]
            gain = rows[z] * math.log(max(variances[z, z] - share, TINY) / variances[z, z]) + price
            if gain < -WORTH:
                total += gain - HOPE * price
        hope[j] = total
    operations[0] += at
    best = 0.0
    position = at
    if total < 0.0:
        m = load_fit(state, x, state.parents[x], counts[x], parents, fit, operations)
        change = 0.0
        score = scores[x]
        for j in range(at - 1, -1, -1):
            z = order[j]
            if change + hope[j] >= best - WORTH or not (free or knowledge[FIRST, z, x] == 0):
                break
            t = _place_of_parent(parents, m, z)
            if t >= 0:
                operations[0] += len(order) * (m - t)
                drop_parent(x, t, parents, fit, m)
                m, fresh = choose_parents(state, price, x, j, NOBODY, limits[x], parents, fit, m - 1, work)
                change += fresh - score
                score = fresh
            if hope[j] < (hope[j - 1] if j > 0 else 0.0):
                # x joins the parents of z and makes others needless. Only the parents enter, so that the cost does not
                # depend on the number of variables.
                C, own, count = state.matrices[which[z]], state.parents[z], counts[z]
                for t in range(count):
                    theirs[t] = own[t]
                theirs[count] = x
                count += 1
                while True:
                    left = basis_over(C, z, theirs, count, triangle)
                    least, loss = least_loss(z, theirs, knowledge, count, triangle)
                    operations[0] += count * (count + 1) * (count + 2) // 3
                    if least < 0 or rows[z] * math.log((left + loss) / left) - price >= -WORTH:
                        break
                    count -= 1
                    for t in range(least, count):
                        theirs[t] = theirs[t + 1]
                change += rows[z] * math.log(left) + price * count - scores[z]
            if change < best - WORTH:
                best = change
                position = j
    return best, position


@part(inline=True)
def best_place_after(state, price, x, work):
    """Return (gain, position) of the best place towards the sinks.

    There each variable passed loses x as a parent, and may become a parent of x. What x can gain on the whole way
    is found first; the way ends where the losses of the others outweigh it.
    """
    order, counts, limits, which = state.places[ORDER], state.places[COUNT], state.places[LIMIT], state.places[WHICH]
    scores, knowledge, operations, all_parents = state.values[SCORE], state.knowledge, work.operations, state.parents
    parents, fit, theirs, their_fit = work.parents[MINE], work.fits[MINE], work.parents[THEIRS], work.fits[THEIRS]
    C, n, variances, covariances = state.matrices[which[x]], state.values[ROWS, x], fit[VARIANCES], fit[COVARIANCES]
    free = knowledge.shape[1] == 0
    p = len(order)
    at = state.places[PLACE, x]
    end = at + 1
    while end < p and (free or knowledge[FIRST, x, order[end]] == 0):
        end += 1
    gained = work.path
    m = load_fit(state, x, all_parents[x], counts[x], parents, fit, operations)
    total = 0.0
    for j in range(at + 1, end):
        z = order[j]
        if m < limits[x] and variances[z] > TINY and (free or knowledge[ROLES, x, z] != FORBIDDEN):
            share = covariances[z] * covariances[z] / variances[z]
            if n * math.log(max(variances[x] - share, TINY) / variances[x]) + price < -WORTH:
                add_parent(C, z, x, parents, fit, m)
                m += 1
                operations[0] += p * m
                m, score = choose_parents(state, price, x, at, NOBODY, NONE, parents, fit, m, work)
                total = score - scores[x]
        gained[j] = total
    operations[0] += end - at
    best = 0.0
    position = at
    lost = 0.0
    for j in range(at + 1, end):
        if lost + total >= best - WORTH:
            break
        z = order[j]
        if _place_of_parent(all_parents[z], counts[z], x) >= 0:
            count = load_fit(state, z, all_parents[z], counts[z], theirs, their_fit, operations)
            t = _place_of_parent(theirs, count, x)
            operations[0] += p * (count - t)
            drop_parent(z, t, theirs, their_fit, count)
            count, score = choose_parents(state, price, z, j, x, limits[z], theirs, their_fit, count - 1, work)
            lost += score - scores[z]
        if gained[j] + lost < best - WORTH:
            best = gained[j] + lost
            position = j
    return best, position


@part()
def _shift(order, place, at, to):
    """Take the variable at ``at`` out of the order and put it back at ``to``."""
    x = order[at]
    step = 1 if to > at else -1
    for j in range(at, to, step):
        order[j] = order[j + step]
        place[order[j]] = j
    order[to] = x
    place[x] = to


@kernel()
def refine(task, items, inverse, price, state, work):
    """Do a task for every row of ``items``; return how many changed something, and the change of the score.

    FIT
        Choose the parents of a variable among its predecessors, starting from those it has.
    RENEW
        The same for the variable at a place, starting from those that may matter in the regression on all predecessors,
        if the second number is 1; keep what is better. ``inverse`` is L⁻¹ along the order: predecessor j of the i-th
        variable has z² = (n − i) (L⁻¹)_ij² / Σ_k<i (L⁻¹)_kj² there. In a last row are these sums: zeros at first, for
        places from the first on.
    REINSERT
        If a variable is stale, put it where it lowers the score most.
    MOVE
        Move the variable at the first place to the second; undo it unless the score fell, or the third number is 1.

    After a move, parents are chosen anew where that matters, and the variables to which it may matter are marked stale.
    """
    order, place, counts, stale = state.places[ORDER], state.places[PLACE], state.places[COUNT], state.places[STALE]
    limits, scores, rows, all_parents = state.places[LIMIT], state.values[SCORE], state.values[ROWS], state.parents
    variances, covariances, knowledge = state.left[VARIANCES], state.left[COVARIANCES], state.knowledge
    parents, fit, before, operations = work.parents[THEIRS], work.fits[THEIRS], work.before, work.operations
    p = len(order)
    changed = 0
    total = 0.0
    for item in range(len(items)):
        x = items[item, 0]
        at = to = place[x]
        if task == MOVE:
            at, to, x = x, items[item, 1], order[x]
        elif task == REINSERT:
            if stale[x] == 0:
                continue
            stale[x] = 0
            gain, to = best_place_before(state, price, x, work)
            other_gain, other = best_place_after(state, price, x, work)
            if other_gain < gain:
                to = other
            if to == at:
                continue
        # What is to be fitted: each variable, the number of parents to start from, and these.
        end = 0
        if task == RENEW:
            i, x = x, order[x]
            # A regression on nearly as many variables as there are rows is meaningless.
            if items[item, 1] == 1 and 0 < i <= limits[x]:
                least = PLAUSIBLE + RARER * max(math.log(i / 100.0), 0.0)
                end = 2
                for j in range(i):
                    y = order[j]
                    plausible = (rows[x] - i) * inverse[i, j] ** 2 > least * inverse[-1, j]
                    if knowledge.shape[1] > 0:
                        role = knowledge[ROLES, x, y]
                        plausible = (plausible and role != FORBIDDEN) or role == REQUIRED
                    if plausible:
                        before[end] = y
                        end += 1
                before[0], before[1] = x, end - 2
            for j in range(i + 1):
                inverse[-1, j] += inverse[i, j] ** 2
        else:
            _shift(order, place, at, to)
            for j in range(min(at, to), max(at, to) + 1):
                y = order[j]
                if y == x:
                    affected = True
                elif to > at:
                    affected = _place_of_parent(all_parents[y], counts[y], x) >= 0
                else:
                    affected = False
                    if variances[y, x] > TINY:
                        share = covariances[y, x] * covariances[y, x] / variances[y, x]
                        gain = rows[y] * math.log(max(variances[y, y] - share, TINY) / variances[y, y]) + price
                        affected = gain < -WORTH
                if affected:
                    before[end], before[end + 1] = y, counts[y]
                    for t in range(counts[y]):
                        before[end + 2 + t] = all_parents[y, t]
                    end += 2 + counts[y]
        # With parents chosen anew; if that is no better, once more with those from before.
        undo = False
        while True:
            change = 0.0
            e = 0
            while e < end:
                y, count = before[e], before[e + 1]
                m = load_fit(state, y, before[e + 2 :], count, parents, fit, operations)
                if task == RENEW:
                    m, score = choose_parents(state, price, y, place[y], NOBODY, NONE, parents, fit, m, work)
                if undo:
                    score = rows[y] * math.log(fit[VARIANCES, y]) + price * m
                else:
                    m, score = choose_parents(state, price, y, place[y], NOBODY, limits[y], parents, fit, m, work)
                change -= scores[y]
                change += score
                if task != RENEW or score < scores[y] - WORTH:
                    for t in range(m):
                        all_parents[y, t] = parents[t]
                    counts[y] = m
                    scores[y] = score
                    for q in range(p):
                        variances[y, q] = fit[VARIANCES, q]
                        covariances[y, q] = fit[COVARIANCES, q]
                    if task == RENEW:
                        stale[y] = 1
                        changed += 1
                e += 2 + count
            if undo or task < REINSERT or change < 0.0 or (task == MOVE and items[item, 2] == 1):
                break
            undo = True
            _shift(order, place, to, at)
        if task >= REINSERT and not undo:
            total += change
            changed += change < 0.0
            e = 0
            while e < end:
                y, count = before[e], before[e + 1]
                for t in range(count):
                    stale[before[e + 2 + t]] = 1
                for t in range(counts[y]):
                    stale[all_parents[y, t]] = 1
                for q in range(p):
                    # True of y itself, too.
                    if rows[y] * covariances[y, q] ** 2 > NOTICEABLE * variances[y, y] * variances[y, q]:
                        stale[q] = 1
                operations[0] += p
                e += 2 + count
    return changed, total
