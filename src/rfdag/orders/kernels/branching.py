"""Compiled loops of branch and bound: the families that can be best, bounds on what is left, the search over sets.

Sets of variables are bit masks in signed 64-bit integers. The families of y are masks[start[y] : start[y + 1]], the
best first, with their scores beside them: y's least score with parents within a set is that of the first of them that
lies within it. Few functions over plain arrays: each one takes long to compile.
"""

import math

import numpy as np

from rfdag.orders.kernels.fits import TINY, WORTH
from rfdag.runtime.compilation import kernel

LAYER, NEXT, STATES, GOAL, LOOKS = range(5)
"""Entries of the counters of a search: the size of the sets under way, the next of them, how many there are, the one
that leads to the best order (−1 before there is any), and how many families were looked at."""


HELD, KEPT, MEMBERS, SIZE, BRANCHES, NEWEST = range(6)
"""Rows of what is known at each depth of a list of families: which matrices hold, the members and their number, the
branches taken; and the set listed last of those whose last member was decided there."""

DEPTH, COUNT, STEPS = range(3)
"""Entries of how far a list of families is: the decisions made, the sets listed (−1 if too many), the steps taken."""


@kernel()
def list_families(n, prices, limit, required, bits, most_steps, at, end, matrices, known, lowest, older, masks, scores):
    """List the sets of candidates that score better as parents of y than all of their subsets; return whether to go on.

    It goes on where it was until ``end`` steps are taken in all. matrices[0, 0] and matrices[1, 0] hold the
    correlations and their inverse of y, which comes first, and the candidates; the first ``required`` candidates are in
    every set. ``bits`` are the masks of the candidates; ``prices`` are theirs as parents, and the least price from each
    on. ``lowest`` has the score of the best subset at each depth, and what the members there cost.

    Candidates are decided one after the other, and each is left out first, so that all subsets of a set come before it.
    What is left out raises the variance below which no set from there on can go, 1 / precision of y. Once a set of that
    variance would score no better than a subset that is listed, none from there on is needed.
    """
    covariance, inverse = matrices[0], matrices[1]
    m = covariance.shape[1] - 1
    held, kept, mask, size, branches, newest = (
        known[HELD],
        known[KEPT],
        known[MEMBERS],
        known[SIZE],
        known[BRANCHES],
        known[NEWEST],
    )
    lowest, costs = lowest[0], lowest[1]
    depth, count, steps = at[DEPTH], at[COUNT], at[STEPS]
    while depth >= 0:
        if steps > end:
            at[DEPTH], at[COUNT], at[STEPS] = depth, count, steps
            return True
        level = depth
        if branches[level] == 0:
            floor = -n * math.log(max(inverse[kept[level], 0, 0], 1.0)) + costs[level]
            if level == m or size[level] >= limit or floor + prices[1, level] >= lowest[level] - WORTH:
                depth -= 1
                continue
            # What is required is not left out.
            branches[level] = 1 if level < required else 0
        if branches[level] == 2:
            depth -= 1
            continue
        steps += (m - level) * (m - level) // 2 + 10
        if steps > most_steps:
            at[COUNT] = -1
            return False
        x = level + 1
        branches[level] += 1
        depth += 1
        branches[depth] = 0
        if branches[level] == 1:
            # Without the candidate: the precision of y and later candidates among all that are not left out.
            before, after = inverse[kept[level]], inverse[depth]
            pivot = 1.0 / max(before[x, x], TINY)
            after[0, 0] = before[0, 0] - before[x, 0] * before[x, 0] * pivot
            for j in range(x + 1, m + 1):
                slope = before[j, x] * pivot
                after[j, 0] = before[j, 0] - slope * before[x, 0]
                for i in range(x + 1, j + 1):
                    after[j, i] = before[j, i] - slope * before[i, x]
            held[depth], kept[depth] = held[level], depth
            mask[depth], size[depth] = mask[level], size[level]
            lowest[depth], costs[depth] = lowest[level], costs[level]
        else:
            # With it: the covariances of y and later candidates given it.
            before, after = covariance[held[level]], covariance[depth]
            pivot = 1.0 / before[x, x] if before[x, x] > TINY else 0.0
            after[0, 0] = before[0, 0] - before[x, 0] * before[x, 0] * pivot
            for j in range(x + 1, m + 1):
                slope = before[j, x] * pivot
                after[j, 0] = before[j, 0] - slope * before[x, 0]
                for i in range(x + 1, j + 1):
                    after[j, i] = before[j, i] - slope * before[i, x]
            held[depth], kept[depth] = depth, kept[level]
            mask[depth], size[depth] = mask[level] | bits[level], size[level] + 1
            costs[depth] = costs[level] + prices[0, level]
            best = lowest[level]
            other = newest[level]
            while other >= 0:
                steps += 1
                if masks[other] & ~mask[depth] == 0 and scores[other] < best:
                    best = scores[other]
                other = older[other]
            if size[depth] >= required:
                score = n * math.log(max(after[0, 0], TINY)) + costs[depth]
                if score < best - WORTH:
                    if count == len(masks):
                        at[COUNT] = -1
                        return False
                    masks[count], scores[count] = mask[depth], score
                    older[count], newest[level] = newest[level], count
                    best = score
                    count += 1
            lowest[depth] = best
    at[DEPTH], at[COUNT], at[STEPS] = depth, count, steps
    return False


@kernel()
def bound_group(members, earlier, start, masks, scores, bounds):
    """Fill, for every set of a group's members, a bound on what they cost if they alone are still to be placed.

    They come one after the other, and the next one may have any parents but those still to be placed. ``earlier[z]``
    are the variables that must precede z.
    """
    k = len(members)
    bounds[0] = 0.0
    for subset in range(1, 1 << k):
        waiting = 0
        for t in range(k):
            if subset >> t & 1:
                waiting |= 1 << members[t]
        lowest = np.inf
        for t in range(k):
            z = members[t]
            if subset >> t & 1 and earlier[z] & waiting == 0:
                rest = bounds[subset ^ (1 << t)]
                for at in range(start[z], start[z + 1]):
                    if rest + scores[at] >= lowest:
                        break
                    if masks[at] & waiting == 0:
                        lowest = rest + scores[at]
                        break
        bounds[subset] = lowest


@kernel(allocates=True)
def search_sets(
    p, earlier, start, masks, scores, group, place, bounds, states, costs, origin, beside, table, heads, counters,
    least, most_states,
):  # fmt: skip
    """Expand so many sets, the smallest first, and return the number that were; 0 at the end, −1 where room is short.

    A set is that of the variables placed so far. Its cost is that of the best order of it found, and ``origin`` the
    set before it. Sets whose cost and bound come to ``least``, the best score known, are dropped. A variable that has
    its best parents of all among those placed is placed at once: that costs least, and takes nothing from the others.
    ``group`` and ``place`` tell, for each of several partitions, where each variable stands in its group, ``bounds``
    those of the groups; the largest sum counts. Sets of one size are a list, from ``heads`` on through ``beside``;
    ``table`` finds a set by its hash.
    """
    everything = (1 << p) - 1
    expanded = 0
    partitions, groups = bounds.shape[:2]
    remaining = np.empty((partitions, groups), np.int64)
    rest = np.empty(partitions)
    while counters[LAYER] < p and expanded < most_states:
        at = counters[NEXT]
        if at < 0:
            counters[LAYER] += 1
            if counters[LAYER] < p:
                counters[NEXT] = heads[counters[LAYER]]
            continue
        if counters[STATES] + p >= len(states) or 2 * (counters[STATES] + p) >= len(table):
            return -1
        counters[NEXT] = beside[at]
        expanded += 1
        placed, cost = states[at], costs[at]
        bound = -np.inf
        for k in range(partitions):
            for g in range(groups):
                remaining[k, g] = 0
            for z in range(p):
                if placed >> z & 1 == 0:
                    remaining[k, group[k, z]] |= 1 << place[k, z]
            rest[k] = 0.0
            for g in range(groups):
                rest[k] += bounds[k, g, remaining[k, g]]
            bound = max(bound, rest[k])
        if cost + bound >= least[0] - WORTH:
            continue
        # Place what has its best parents already.
        forced = False
        again = True
        while again:
            again = False
            for z in range(p):
                if placed >> z & 1 == 0 and earlier[z] & ~placed == 0:
                    family = start[z]
                    while family < start[z + 1] and scores[family] <= scores[start[z]] + WORTH:
                        if masks[family] & ~placed == 0:
                            placed |= 1 << z
                            cost += scores[family]
                            forced = again = True
                            break
                        family += 1
        if placed == everything:
            if cost < least[0] - WORTH:
                least[0] = cost
                counters[GOAL] = at
            continue
        for z in range(p):
            if forced:
                # One successor, which is expanded when its turn comes: others may lead there as well.
                after, paid = placed, cost
            elif placed >> z & 1 == 0 and earlier[z] & ~placed == 0:
                bound = -np.inf
                for k in range(partitions):
                    g = group[k, z]
                    after_z = remaining[k, g] ^ (1 << place[k, z])
                    bound = max(bound, rest[k] - bounds[k, g, remaining[k, g]] + bounds[k, g, after_z])
                # Families that cost more than what is left to pay need not be looked at.
                most = least[0] - WORTH - cost - bound
                family = start[z]
                while family < start[z + 1] and scores[family] < most and masks[family] & ~placed != 0:
                    family += 1
                counters[LOOKS] += family - start[z] + 1
                if family == start[z + 1] or scores[family] >= most:
                    continue
                after, paid = placed | 1 << z, cost + scores[family]
            else:
                continue
            slot = (after * 0x9E3779B97F4A7C1 >> 20) & (len(table) - 1)
            while table[slot] >= 0 and states[table[slot]] != after:
                slot = (slot + 1) & (len(table) - 1)
            found = table[slot]
            if found < 0:
                found = counters[STATES]
                counters[STATES] += 1
                table[slot] = found
                states[found] = after
                costs[found] = np.inf
                size = 0
                for bit in range(p):
                    size += after >> bit & 1
                beside[found] = heads[size]
                heads[size] = found
            if paid < costs[found] - WORTH or costs[found] == np.inf:
                costs[found] = paid
                origin[found] = at
            if forced:
                break
    return expanded
