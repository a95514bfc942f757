"""Compiled loops that move variables in an order: where one fits best, and what the move changes.

The words and arrays are those of `rfdag.orders.kernels.fits`. Each variable is scored in its own moments: when x passes
z, what z gains or loses is found in the matrix and the rows of z.

Python calls one kernel, `refine`: each that it calls is compiled with all that this one calls.
"""

import math

from rfdag.knowledge.constraints import FORBIDDEN
from rfdag.orders import tuning
from rfdag.orders.kernels.fits import (
    COUNT,
    COVARIANCES,
    FIRST,
    LIMIT,
    LISTED,
    MINE,
    MIRROR,
    NOBODY,
    NONE,
    ORDER,
    OWN,
    PLACE,
    ROLES,
    ROWS,
    SCORE,
    STALE,
    THEIRS,
    TINY,
    VARIANCES,
    WORTH,
    add_parent,
    basis_over,
    choose_parents,
    drop_parent,
    gram_of,
    least_loss,
    list_of,
    load_fit,
    price_at,
    price_of,
)
from rfdag.runtime.compilation import kernel, part

NOTICEABLE = tuning.NOTICEABLE_Z2
"""z² from which a variable may matter to one whose parents have changed, and is tried again."""

FIT, RENEW, REINSERT, MOVE = range(4)
"""What `refine` does."""


@part()
def _place_of_parent(parents, m, x):
    for t in range(m):
        if parents[t] == x:
            return t
    return -1


@part()
def _candidates_within(state, x, first, end, way):
    """Store the candidates of x at places from ``first`` to before ``end`` in ``way``, by place; return how many.

    They are numbered along the list of x, which is not at these places.
    """
    listed, order, place = list_of(state, x), state.places[ORDER], state.places[PLACE]
    k = len(listed)
    count = NONE
    if k == len(order):
        for j in range(first, end):
            way[count] = order[j]
            count += 1
        return count
    for q in range(k):
        if first <= place[listed[q]] < end:
            way[count] = q
            count += 1
    # Shell's sort, with gaps of 57, 23, 10, 4, 1 (Ciura, 2001).
    for gap in (57, 23, 10, 4, 1):
        for s in range(gap, count):
            q = way[s]
            at = place[listed[q]]
            t = s
            while t >= gap and place[listed[way[t - gap]]] > at:
                way[t] = way[t - gap]
                t -= gap
            way[t] = q
    return count


@part(inline=True)
def best_place_before(state, price, x, work):
    """Return (gain, position) of the best place towards the sources.

    There x loses each variable it passes as a parent, and may become one of its parents. What x itself loses never
    comes back, so the way ends where the variables still to pass would not make up for it by taking x as a parent; what
    they could save by dropping others is not counted.
    """
    order, place, counts, limits, owns = (
        state.places[ORDER],
        state.places[PLACE],
        state.places[COUNT],
        state.places[LIMIT],
        state.places[OWN],
    )
    scores, rows, variances, covariances = (
        state.values[SCORE],
        state.values[ROWS],
        state.left[VARIANCES],
        state.left[COVARIANCES],
    )
    starts, mirror, knowledge, operations, triangle = (
        state.starts,
        state.lists[MIRROR],
        state.knowledge,
        work.operations,
        work.triangle,
    )
    parents, fit, theirs, way = work.parents[MINE], work.fits[MINE], work.parents[THEIRS], work.way
    free = knowledge.shape[1] == 0
    at = place[x]
    first = NONE
    if not free:
        first = at
        while first > 0 and knowledge[FIRST, order[first - 1], x] == 0:
            first -= 1
    listed = list_of(state, x)
    passed = _candidates_within(state, x, first, at, way)
    # What those up to the j-th gain by taking x as a parent.
    hope = work.path
    total = 0.0
    for j in range(passed):
        q = way[j]
        z = listed[q]
        mine, own = starts[z] + mirror[starts[x] + q], starts[z] + owns[z]
        if counts[z] < limits[z] and variances[mine] > TINY and (free or knowledge[ROLES, z, x] != FORBIDDEN):
            share = covariances[mine] * covariances[mine] / variances[mine]
            gain = rows[z] * math.log(max(variances[own] - share, TINY) / variances[own])
            gain += price_at(state, price, z, mirror[starts[x] + q])
            if gain < -WORTH:
                total += gain
        hope[j] = total
    operations[0] += len(listed)
    best = 0.0
    position = at
    if total < 0.0:
        m = load_fit(state, x, state.parents[x], counts[x], parents, fit, operations)
        change = 0.0
        score = scores[x]
        for j in range(passed - 1, -1, -1):
            if change + hope[j] >= best - WORTH:
                break
            q = way[j]
            z = listed[q]
            t = _place_of_parent(parents, m, q)
            if t >= 0:
                operations[0] += len(listed) * (m - t)
                drop_parent(len(listed), owns[x], t, parents, fit, m)
                m, fresh = choose_parents(state, price, x, place[z], NOBODY, limits[x], parents, fit, m - 1, work)
                change += fresh - score
                score = fresh
            if hope[j] < (hope[j - 1] if j > 0 else 0.0):
                # x joins the parents of z and makes others needless. Only the parents enter, so that the cost does not
                # depend on the number of variables.
                gram, given, count = gram_of(state, z), state.parents[z], counts[z]
                their_list = list_of(state, z)
                for t in range(count):
                    theirs[t] = given[t]
                theirs[count] = mirror[starts[x] + q]
                count += 1
                while True:
                    left = basis_over(gram, len(their_list), owns[z], theirs, count, triangle)
                    least, loss = least_loss(state, price, z, theirs, count, left, triangle)
                    operations[0] += count * (count + 1) * (count + 2) // 3
                    if least < 0:
                        break
                    gain = rows[z] * math.log((left + loss) / left)
                    if gain - price_at(state, price, z, theirs[least]) >= -WORTH:
                        break
                    count -= 1
                    for t in range(least, count):
                        theirs[t] = theirs[t + 1]
                change += rows[z] * math.log(left) + price_of(state, price, z, theirs, count) - scores[z]
            if change < best - WORTH:
                best = change
                position = place[z]
    return best, position


@part(inline=True)
def best_place_after(state, price, x, work):
    """Return (gain, position) of the best place towards the sinks.

    There each variable passed loses x as a parent, and may become a parent of x. What x can gain on the whole way
    is found first; the way ends where the losses of the others outweigh it.
    """
    order, place, counts, limits, owns = (
        state.places[ORDER],
        state.places[PLACE],
        state.places[COUNT],
        state.places[LIMIT],
        state.places[OWN],
    )
    scores, knowledge, operations, all_parents = state.values[SCORE], state.knowledge, work.operations, state.parents
    parents, fit, theirs, their_fit = work.parents[MINE], work.fits[MINE], work.parents[THEIRS], work.fits[THEIRS]
    gram, n, variances, covariances = gram_of(state, x), state.values[ROWS, x], fit[VARIANCES], fit[COVARIANCES]
    starts, mirror, way = state.starts, state.lists[MIRROR], work.way
    free = knowledge.shape[1] == 0
    at = place[x]
    end = len(order)
    if not free:
        end = at + 1
        while end < len(order) and knowledge[FIRST, x, order[end]] == 0:
            end += 1
    listed = list_of(state, x)
    own = owns[x]
    passed = _candidates_within(state, x, at + 1, end, way)
    gained = work.path
    m = load_fit(state, x, all_parents[x], counts[x], parents, fit, operations)
    total = 0.0
    for j in range(passed):
        q = way[j]
        if m < limits[x] and variances[q] > TINY and (free or knowledge[ROLES, x, listed[q]] != FORBIDDEN):
            share = covariances[q] * covariances[q] / variances[q]
            gain = n * math.log(max(variances[own] - share, TINY) / variances[own])
            if gain + price_at(state, price, x, q) < -WORTH:
                add_parent(gram, len(listed), own, q, parents, fit, m)
                m += 1
                operations[0] += len(listed) * m
                m, score = choose_parents(state, price, x, at, NOBODY, NONE, parents, fit, m, work)
                total = score - scores[x]
        gained[j] = total
    operations[0] += len(listed)
    best = 0.0
    position = at
    lost = 0.0
    for j in range(passed):
        if lost + total >= best - WORTH:
            break
        z = listed[way[j]]
        mine = mirror[starts[x] + way[j]]
        if _place_of_parent(all_parents[z], counts[z], mine) >= 0:
            count = load_fit(state, z, all_parents[z], counts[z], theirs, their_fit, operations)
            t = _place_of_parent(theirs, count, mine)
            k = starts[z + 1] - starts[z]
            operations[0] += k * (count - t)
            drop_parent(k, owns[z], t, theirs, their_fit, count)
            count, score = choose_parents(
                state, price, z, place[z], mine, limits[z], theirs, their_fit, count - 1, work
            )
            lost += score - scores[z]
        if gained[j] + lost < best - WORTH:
            best = gained[j] + lost
            position = place[z]
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
def refine(task, items, plausible, price, state, work):
    """Do a task for every row of ``items``; return how many changed something, and the change of the score.

    FIT
        Choose the parents of a variable among its predecessors, starting from those it has.
    RENEW
        The same, starting from the ``plausible`` ones along its list; keep what is better.
    REINSERT
        If a variable is stale, put it where it lowers the score most.
    MOVE
        Move the variable at the first place to the second; undo it unless the score fell, or the third number is 1.

    After a move, parents are chosen anew where that matters, and the variables to which it may matter are marked stale.
    """
    order, place, counts, stale = state.places[ORDER], state.places[PLACE], state.places[COUNT], state.places[STALE]
    limits, scores, rows, all_parents = state.places[LIMIT], state.values[SCORE], state.values[ROWS], state.parents
    variances, covariances, starts = state.left[VARIANCES], state.left[COVARIANCES], state.starts
    lists, mirror, owns = state.lists[LISTED], state.lists[MIRROR], state.places[OWN]
    parents, fit, before, operations = work.parents[THEIRS], work.fits[THEIRS], work.before, work.operations
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
        before[0], before[1] = x, counts[x]
        end = 2
        if task == RENEW:
            for q in range(starts[x], starts[x + 1]):
                if plausible[q]:
                    before[end] = q - starts[x]
                    end += 1
            before[1] = end - 2
        else:
            for t in range(counts[x]):
                before[end] = all_parents[x, t]
                end += 1
        if task >= REINSERT:
            _shift(order, place, at, to)
            low, high = min(at, to), max(at, to)
            for q in range(starts[x], starts[x + 1]):
                y = lists[q]
                if y == x or not low <= place[y] <= high:
                    continue
                mine, own = starts[y] + mirror[q], starts[y] + owns[y]
                if to > at:
                    affected = _place_of_parent(all_parents[y], counts[y], mirror[q]) >= 0
                else:
                    affected = False
                    if variances[mine] > TINY:
                        share = covariances[mine] * covariances[mine] / variances[mine]
                        gain = rows[y] * math.log(max(variances[own] - share, TINY) / variances[own])
                        affected = gain + price_at(state, price, y, mirror[q]) < -WORTH
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
                    score = rows[y] * math.log(fit[VARIANCES, owns[y]]) + price_of(state, price, y, parents, m)
                else:
                    m, score = choose_parents(state, price, y, place[y], NOBODY, limits[y], parents, fit, m, work)
                change -= scores[y]
                change += score
                if task != RENEW or score < scores[y] - WORTH:
                    for t in range(m):
                        all_parents[y, t] = parents[t]
                    counts[y] = m
                    scores[y] = score
                    first = starts[y]
                    for q in range(starts[y + 1] - first):
                        variances[first + q] = fit[VARIANCES, q]
                        covariances[first + q] = fit[COVARIANCES, q]
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
                first, own = starts[y], starts[y] + owns[y]
                same = count == counts[y]
                for t in range(count):
                    if same and _place_of_parent(all_parents[y], count, before[e + 2 + t]) < 0:
                        same = False
                if same:
                    e += 2 + count
                    continue
                for t in range(count):
                    stale[lists[first + before[e + 2 + t]]] = 1
                for t in range(counts[y]):
                    stale[lists[first + all_parents[y, t]]] = 1
                for q in range(first, starts[y + 1]):
                    # True of y itself, too.
                    if rows[y] * covariances[q] ** 2 > NOTICEABLE * variances[own] * variances[q]:
                        stale[lists[q]] = 1
                operations[0] += starts[y + 1] - first
                e += 2 + count
    return changed, total
