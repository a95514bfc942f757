"""Compiled loops of the sparse engines: scores over lists of neighbours, kept up to date, and the whole elimination.

The lists are those of `rfdag.eliminate.kernels.lists`. In floating point, |K_ij| = |θ_ij| / sqrt(θ_ii θ_jj) is compared
with a threshold; in the finite field, every entry is an edge. The list of a removed variable is reduced to its parents.

Scores are kept for all variables, and a key computed from them is kept in a tournament tree: each inner node has the
smallest key below it and how many variables share it.

One file: scores, tournament and elimination share one state, and numba compiles them into each other.
"""

import math

import numpy as np

from rfdag.eliminate.kernels.field_arithmetic import product
from rfdag.eliminate.kernels.lists import DONE, ENTRIES, LEFT, NO_ROOM, PAUSED, TAIL, WORK, room_for, subtract
from rfdag.runtime.compilation import kernel, part

RFD, MIN_DEGREE, MIN_FILL, MAX_REMOVE, RANDOM = range(5)

DEGREE_BITS = 24
"""Bits of a key for the degree; the others hold removal and fill scores up to 2³⁹."""

NEVER = np.iinfo(np.int64).max


@part()
def _affected(state, k, common):
    """Queue variables whose scores may change: the neighbours of k, and all with ``common`` neighbours among them."""
    queue, mark = state.queue, state.mark
    first, m = state.start[k], state.length[k]
    for t in range(m):
        queue[t] = state.neighbour[first + t]
        mark[queue[t]] = common + 1
    count = m
    for t in range(m):
        i = queue[t]
        for e in range(state.start[i], state.start[i] + state.length[i]):
            j = state.neighbour[e]
            if mark[j] < common:
                mark[j] += 1
                if mark[j] == common:
                    queue[count] = j
                    count += 1
    for t in range(m):
        i = queue[t]
        mark[i] = 0
        for e in range(state.start[i], state.start[i] + state.length[i]):
            mark[state.neighbour[e]] = 0
        state.counters[WORK] += 2 * state.length[i]
    return count


@part()
def _leave_parents(state, k, tau):
    """Reduce the list of a removed variable to its parents, with their coefficients."""
    first = state.start[k]
    write = first
    for e in range(first, first + state.length[k]):
        i, x = state.neighbour[e], state.value[e]
        # The diagonal of i as it was before the removal.
        before = state.diagonal[i] + x * x / state.diagonal[k]
        size = abs(x) / math.sqrt(before * state.diagonal[k])
        state.margin[0] = min(state.margin[0], abs(size - tau))
        if size > tau:
            state.neighbour[write] = i
            state.value[write] = -x / state.diagonal[k]
            write += 1
    state.length[k] = write - first


@part()
def _score_partial(state, m, tau, tau_after, pairs):
    """Compare |K| with the thresholds before and after a removal, as the dense engine does.

    ``critical`` is the largest |K| below its threshold: the score is valid until a threshold falls below that.
    """
    neighbour, value, diagonal, mark, near = state.neighbour, state.value, state.diagonal, state.mark, state.seen
    d_m = diagonal[m]
    critical = 0.0
    count = 0
    hub = 0
    for e in range(state.start[m], state.start[m] + state.length[m]):
        i = neighbour[e]
        size = abs(value[e]) / math.sqrt(d_m * diagonal[i])
        state.margin[0] = min(state.margin[0], abs(size - tau))
        if size > tau:
            near[count] = e - state.start[m]
            if state.length[i] > state.length[neighbour[state.start[m] + near[hub]]]:
                hub = count
            count += 1
            mark[i] = count
        else:
            critical = max(critical, size)
    adjacent = 0
    vanish = 0
    if pairs and count > 1:
        # A pair is found from either of its ends, so the longest list need not be visited.
        for t in range(count):
            if t == hub:
                continue
            at = state.start[m] + near[t]
            i, a = neighbour[at], value[at]
            d_i = diagonal[i]
            for e in range(state.start[i], state.start[i] + state.length[i]):
                j = neighbour[e]
                u = mark[j] - 1
                if u >= 0 and (u == hub or u < t):
                    size = abs(value[e]) / math.sqrt(d_i * diagonal[j])
                    if size > tau:
                        adjacent += 1
                        b = value[state.start[m] + near[u]]
                        left = (d_i - a * a / d_m) * (diagonal[j] - b * b / d_m)
                        x = value[e] - a * b / d_m
                        if x * x <= tau_after * tau_after * left:
                            vanish += 1
                            if left > 0.0:
                                critical = max(critical, abs(x) / math.sqrt(left))
                    else:
                        critical = max(critical, size)
            state.counters[WORK] += state.length[i]
    for t in range(count):
        mark[neighbour[state.start[m] + near[t]]] = 0
    state.counters[WORK] += state.length[m]
    state.degree[m] = count
    state.removal[m] = vanish
    state.fill[m] = count * (count - 1) // 2 - adjacent
    return critical


@part()
def _score_field(state, m, pairs):
    """Count in the finite field: only a variable without fill can remove edges (Propositions 2 and 3)."""
    neighbour, value, diagonal, mark = state.neighbour, state.value, state.diagonal, state.mark
    first, count = state.start[m], state.length[m]
    adjacent = 0
    vanish = 0
    if pairs and count > 1:
        hub = 0
        for t in range(count):
            i = neighbour[first + t]
            mark[i] = t + 1
            if state.length[i] > state.length[neighbour[first + hub]]:
                hub = t
        for t in range(count):
            i = neighbour[first + t]
            if t != hub:
                for e in range(state.start[i], state.start[i] + state.length[i]):
                    u = mark[neighbour[e]] - 1
                    adjacent += u >= 0 and (u == hub or u < t)
                state.counters[WORK] += state.length[i]
        if 2 * adjacent == count * (count - 1):
            d_m = diagonal[m]
            for t in range(count):
                i = neighbour[first + t]
                if t != hub:
                    for e in range(state.start[i], state.start[i] + state.length[i]):
                        u = mark[neighbour[e]] - 1
                        if u >= 0 and (u == hub or u < t):
                            vanish += product(value[e], d_m) == product(value[first + t], value[first + u])
        for t in range(count):
            mark[neighbour[first + t]] = 0
    state.counters[WORK] += count
    state.degree[m] = count
    state.removal[m] = vanish
    state.fill[m] = count * (count - 1) // 2 - adjacent
    return 0.0


@part()
def score(state, m, tau, tau_after, pairs):
    """Score m: its degree, and with ``pairs`` its removed and filled edges among its neighbours."""
    if isinstance(state.diagonal[m], float):
        return _score_partial(state, m, tau, tau_after, pairs)
    else:
        return _score_field(state, m, pairs)


@part()
def _key_of(state, m, rule):
    """Return a key that is smallest for the variable that the rule removes next, NEVER for one that must wait."""
    if len(state.waiting) > 0 and state.waiting[m] > 0:
        return NEVER
    if rule == RFD:
        if state.removal[m] > 0:
            return -(state.removal[m] << DEGREE_BITS) + state.degree[m]
        return (state.fill[m] << DEGREE_BITS) + state.degree[m]
    if rule == MIN_DEGREE:
        return state.degree[m]
    if rule == MIN_FILL:
        return state.fill[m]
    if rule == MAX_REMOVE:
        return -state.removal[m]
    return 0


@part()
def _join(state, at):
    """Update an inner node of the tree from its two children; return whether it changed."""
    key, tally = state.key, state.tally
    one, other = 2 * at, 2 * at + 1
    if key[one] < key[other]:
        least, count = key[one], tally[one]
    elif key[one] > key[other]:
        least, count = key[other], tally[other]
    else:
        least, count = key[one], tally[one] + tally[other]
    changed = key[at] != least or tally[at] != count
    key[at] = least
    tally[at] = count
    if len(state.critical):
        most = max(state.critical[one], state.critical[other])
        changed = changed or state.critical[at] != most
        state.critical[at] = most
    return changed


@part()
def _place(state, m, key, critical):
    """Set the key of a variable, and update the tree above it as far as it changes."""
    at = len(state.key) // 2 + m
    state.key[at] = key
    state.tally[at] = key != NEVER
    if len(state.critical):
        state.critical[at] = critical
    at //= 2
    while at > 0 and _join(state, at):
        at //= 2


@part()
def _rescore(state, m, taus, rule):
    v = state.counters[LEFT]
    pairs = rule not in (MIN_DEGREE, RANDOM)
    critical = score(state, m, taus[v], taus[max(v - 1, 1)], pairs)
    _place(state, m, _key_of(state, m, rule), critical)


@kernel()
def score_range(state, first, last, taus, rule):
    """Score the remaining variables among first … last − 1, without updating the tree."""
    leaves = len(state.key) // 2
    v = state.counters[LEFT]
    pairs = rule not in (MIN_DEGREE, RANDOM)
    for m in range(first, last):
        if state.alive[m]:
            critical = score(state, m, taus[v], taus[max(v - 1, 1)], pairs)
            state.key[leaves + m] = _key_of(state, m, rule)
            state.tally[leaves + m] = state.key[leaves + m] != NEVER
            if len(state.critical):
                state.critical[leaves + m] = critical


@kernel()
def plant(state):
    """Compute the inner nodes of the tree."""
    for at in range(len(state.key) // 2 - 1, 0, -1):
        _join(state, at)


@part()
def _watch_absent(state, tau):
    """Update the margin for pairs without an entry, whose distance from the threshold is τ."""
    v = state.counters[LEFT]
    if tau > 0.0 and state.counters[ENTRIES] < v * (v - 1):
        state.margin[0] = min(state.margin[0], tau)


@part()
def _watch_lists(state, k, tau):
    """Update the margin for the entries that removing k will change: τ may have come closer since they were scored."""
    for t in range(state.start[k], state.start[k] + state.length[k]):
        i = state.neighbour[t]
        for e in range(state.start[i], state.start[i] + state.length[i]):
            size = abs(state.value[e]) / math.sqrt(state.diagonal[i] * state.diagonal[state.neighbour[e]])
            state.margin[0] = min(state.margin[0], abs(size - tau))


@part()
def pick(state, at_random):
    """Return a variable with the smallest key: the one of lowest index, or a random one."""
    leaves = len(state.key) // 2
    least = state.key[1]
    at = 1
    turn = np.int64(0)
    if at_random:
        # A step of Vigna's splitmix64; the bias of the remainder is below 2⁻⁴⁰.
        state.random[0] += np.uint64(0x9E3779B97F4A7C15)
        z = state.random[0]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        turn = np.int64((z ^ (z >> np.uint64(31))) % np.uint64(state.tally[1]))
    while at < leaves:
        at *= 2
        if state.key[at] != least:
            at += 1
        elif turn >= state.tally[at]:
            turn -= state.tally[at]
            at += 1
    return at - leaves


@part()
def _awaken(state, tau_after, count):
    """Queue variables whose scores a lower threshold may change, after the ``count`` that are queued already."""
    leaves = len(state.key) // 2
    if not (len(state.critical) and state.critical[1] > tau_after):
        return count
    at = 1
    while True:
        # Traverse the tree in order, skipping every subtree without a critical variable.
        if state.critical[at] > tau_after:
            if at < leaves:
                at *= 2
                continue
            state.queue[count] = at - leaves
            count += 1
        while at & 1:
            at //= 2
            if at == 0:
                return count
        at += 1


@part(allocates=True)
def _release(state, k, taus, rule):
    """Update the direct predecessors of k after its removal; those without remaining successors become candidates.

    A barrier without remaining successors is released at once, and its predecessors are updated too.
    """
    size = len(state.start)
    gone = np.empty(len(state.waiting) - size + 1, np.int64)
    gone[0] = k
    count = 1
    while count > 0:
        count -= 1
        node = gone[count]
        for e in range(state.earlier_from[node], state.earlier_from[node + 1]):
            i = state.earlier[e]
            state.waiting[i] -= 1
            if state.waiting[i] == 0:
                if i < size:
                    _rescore(state, i, taus, rule)
                else:
                    gone[count] = i
                    count += 1


@kernel()
def advance(state, k, taus, rule, common, drop):
    """Remove k and update all scores; return the status of `subtract`, or NO_ROOM."""
    if state.counters[TAIL] + room_for(state, k) > len(state.neighbour):
        return NO_ROOM
    v = state.counters[LEFT]
    tau = taus[v]
    _watch_absent(state, tau)
    if len(state.critical):
        _watch_lists(state, k, tau)
    if rule in (MIN_DEGREE, RANDOM):
        score(state, k, tau, taus[max(v - 1, 1)], True)
    ties = state.tally[1]
    status = subtract(state, k, drop)
    if status != DONE:
        return status
    step = len(state.start) - v
    state.record[0, step] = k
    state.record[1, step] = state.removal[k]
    state.record[2, step] = state.fill[k]
    state.record[3, step] = state.degree[k]
    state.record[4, step] = ties
    count = _affected(state, k, common)
    if isinstance(state.diagonal[k], float):
        _leave_parents(state, k, tau)
    _place(state, k, NEVER, 0.0)
    for t in range(count):
        _rescore(state, state.queue[t], taus, rule)
    count = _awaken(state, taus[max(v - 2, 1)], 0)
    for t in range(count):
        _rescore(state, state.queue[t], taus, rule)
    if len(state.waiting) > 0:
        _release(state, k, taus, rule)
    return DONE


@kernel()
def run(state, taus, rule, common, drop, at_random, patience):
    """Remove variables by the rule until none is left, or until about ``patience`` list entries were visited.

    Returns (status, variable): DONE, PAUSED, or what stopped the removal of that variable.
    """
    limit = state.counters[WORK] + patience
    while state.counters[LEFT] > 0:
        if state.counters[WORK] >= limit:
            return PAUSED, -1
        k = pick(state, at_random)
        status = advance(state, k, taus, rule, common, drop)
        if status != DONE:
            return status, k
    return DONE, -1


@kernel()
def repeat(state, variables, drop):
    """Remove the variables one after the other without scoring; return how many were removed, and the status."""
    for done in range(len(variables)):
        k = variables[done]
        if state.counters[TAIL] + room_for(state, k) > len(state.neighbour):
            return done, NO_ROOM
        status = subtract(state, k, drop)
        if status != DONE:
            return done, status
    return len(variables), DONE


@kernel()
def parents_of(state, column_start, rows, values):
    """Write the lists of the removed variables, their parents, as the columns of a matrix."""
    for k in range(len(state.start)):
        for e in range(state.length[k]):
            rows[column_start[k] + e] = state.neighbour[state.start[k] + e]
            values[column_start[k] + e] = state.value[state.start[k] + e]
