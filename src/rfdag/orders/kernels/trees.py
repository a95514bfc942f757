"""Compiled walks down the trees of parent sets: what a variable scores among the predecessors that it has."""

import math

from rfdag.runtime.compilation import kernel, part

UNSEEN = -1
"""In place of a node that is not made yet, and of the length of a list that is not known yet."""

PAIR = 32
"""By how many bits the second variable of a pair is shifted that a branch adds; it is never variable 0."""

SINGLE = (1 << PAIR) - 1
"""The bits of the first variable, or the only one."""

TO_SHRINK = -2
"""In a request, in place of a branch: the parents of this node are to be shrunk."""


@part()
def _walk(y, limit, place, root, first, count, branches, child, wanted, asked):
    """Return the node at which y ends among the variables placed before ``limit``; UNSEEN if a node is not known yet.

    What is not known is written to ``wanted``, a node and the branch that is to be made, the ``asked``-th so far.
    """
    node = root[y]
    while True:
        found = UNSEEN
        for at in range(first[node], first[node] + count[node]):
            added = branches[at]
            if place[added & SINGLE] < limit and (added <= SINGLE or place[added >> PAIR] < limit):
                found = at
                break
        if found == UNSEEN:
            return node
        below = child[found]
        if below == UNSEEN:
            if asked < len(wanted):
                wanted[asked, 0] = node
                wanted[asked, 1] = found
            return UNSEEN
        node = below


@part()
def _scored(y, limit, place, root, first, count, branches, child, final, wanted, asked):
    """Return the score of y among the variables placed before ``limit``; NaN, and what is wanted, where unknown."""
    node = _walk(y, limit, place, root, first, count, branches, child, wanted, asked)
    if node == UNSEEN:
        return math.nan
    score = final[node]
    if math.isnan(score) and asked < len(wanted):
        wanted[asked, 0] = node
        wanted[asked, 1] = TO_SHRINK
    return score


@kernel()
def weigh_places(x, order, low, high, root, first, count, branches, child, final, place, totals, work, wanted):
    """Write the change of the score for every place from ``low`` to ``high`` where x may be put; return what is wanted.

    ``order`` lacks x. ``totals[t]`` is the sum over x and the variables from ``low`` to ``high`` if x stands before the
    t-th of them. A return above 0 is the number of requests in ``wanted``: the totals mean nothing then.
    """
    m = len(order)
    asked = 0
    far = m + 2
    for t in range(m):
        place[order[t]] = t
    before, behind, own = work[0], work[1], work[2]
    for t in range(low, high):
        y = order[t]
        place[x] = far
        before[t] = _scored(y, t, place, root, first, count, branches, child, final, wanted, asked)
        if math.isnan(before[t]):
            asked = min(asked + 1, len(wanted))
        place[x] = -1
        behind[t] = _scored(y, t, place, root, first, count, branches, child, final, wanted, asked)
        if math.isnan(behind[t]):
            asked = min(asked + 1, len(wanted))
    place[x] = far
    for t in range(low, high + 1):
        own[t] = _scored(x, t, place, root, first, count, branches, child, final, wanted, asked)
        if math.isnan(own[t]):
            asked = min(asked + 1, len(wanted))
    if asked > 0:
        return asked
    total = 0.0
    for t in range(low, high):
        total += behind[t]
    for t in range(low, high + 1):
        totals[t] = total + own[t]
        if t < high:
            total += before[t] - behind[t]
    return 0


@kernel()
def ends_of(order, root, first, count, branches, child, final, place, ends, wanted):
    """Write the node at which every variable of an order ends; return the number of requests in ``wanted``."""
    asked = 0
    for t in range(len(order)):
        place[order[t]] = t
    for t in range(len(order)):
        node = _walk(order[t], t, place, root, first, count, branches, child, wanted, asked)
        if node == UNSEEN:
            asked = min(asked + 1, len(wanted))
        elif math.isnan(final[node]):
            if asked < len(wanted):
                wanted[asked, 0] = node
                wanted[asked, 1] = TO_SHRINK
            asked = min(asked + 1, len(wanted))
        ends[order[t]] = node
    return asked


@kernel()
def rank_branches(own, out, lists, singles, least, first, count, branches, nodes, used):
    """Append, for each of some nodes, the candidates that lower its score, the best first; return the entries used.

    ``own`` and ``out`` are the scores of the nodes and those with candidates added, ``lists`` what these are: so many
    ``singles``, then pairs, which are added where no single one of those that may be there helps.
    """
    for r in range(len(nodes)):
        begin = better = used
        for q in range(out.shape[1]):
            if q == singles:
                better = used
            if out[r, q] < own[r] - least:
                # Insertion: few candidates lower the score. Scores that differ by rounding count as equal.
                at = used
                while at > better and out[r, branches[at - 1]] > out[r, q] + least:
                    branches[at] = branches[at - 1]
                    at -= 1
                branches[at] = q
                used += 1
        for at in range(begin, used):
            branches[at] = lists[r, branches[at]]
        first[nodes[r]] = begin
        count[nodes[r]] = used - begin
    return used
