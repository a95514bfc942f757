"""Pairs of residues modulo the prime 2³¹ − 1, packed into one 64-bit integer, and a DAG's precision matrix in them.

The halves are two independent draws; each operation works on both. A number is zero iff both halves are.
"""

from rfdag.runtime.compilation import kernel, part

BITS = 31
PRIME = 2**BITS - 1
ONE = (1 << BITS) | 1


@part()
def product(x, y):
    """Return x y in both halves."""
    high = (x >> BITS) * (y >> BITS) % PRIME
    low = (x & PRIME) * (y & PRIME) % PRIME
    return (high << BITS) | low


@part()
def difference(x, y):
    """Return x − y in both halves."""
    high = (x >> BITS) - (y >> BITS)
    low = (x & PRIME) - (y & PRIME)
    high += PRIME if high < 0 else 0
    low += PRIME if low < 0 else 0
    return (high << BITS) | low


@part()
def reciprocal(x):
    """Return x to the power PRIME − 2, its inverse in both halves."""
    result = ONE
    exponent = PRIME - 2
    while exponent:
        if exponent & 1:
            result = product(result, x)
        x = product(x, x)
        exponent >>= 1
    return result


@part()
def is_unit(x):
    """Return whether one can divide by x: neither half is zero."""
    return (x >> BITS) != 0 and (x & PRIME) != 0


@kernel()
def list_lengths(children, child_start, parents, parent_start, first, last, mark, lengths):
    """Count the neighbours of nodes first … last − 1 in the moral graph: children, parents, their other parents.

    ``mark`` must not exceed i when node i is counted; zeros will do at the start.
    """
    for i in range(first, last):
        mark[i] = i + 1
        for at in range(child_start[i], child_start[i + 1] + 1):
            c = i if at == child_start[i + 1] else children[at]
            if mark[c] != i + 1:
                mark[c] = i + 1
                lengths[i] += 1
            for e in range(parent_start[c], parent_start[c + 1]):
                if mark[parents[e]] != i + 1:
                    mark[parents[e]] = i + 1
                    lengths[i] += 1


@kernel()
def precision(children, child_start, parents, parent_start, begin, end, weights, variances, state):
    """Write rows begin … end − 1 of Σ_c ω_c b_c b_cᵀ into the lists, b_c = 1 at c and −weight at its parents.

    That is (I − A) Ω (I − A)ᵀ. ``weights`` are those of the edges in the order of ``parents``. The starts of the lists
    are set already; the lists are empty.
    """
    neighbour, value, mark = state.neighbour, state.value, state.mark
    for i in range(begin, end):
        first = state.start[i]
        total = 0
        own = 0
        for at in range(child_start[i], child_start[i + 1] + 1):
            c = i if at == child_start[i + 1] else children[at]
            scaled = variances[c]
            for e in range(parent_start[c], parent_start[c + 1]):
                if parents[e] == i:
                    scaled = difference(0, product(weights[e], variances[c]))
            for e in range(parent_start[c], parent_start[c + 1] + 1):
                j = c if e == parent_start[c + 1] else parents[e]
                negative = product(scaled, weights[e]) if j != c else difference(0, scaled)
                if j == i:
                    own = difference(own, negative)
                    continue
                if mark[j] == 0:
                    neighbour[first + total] = j
                    value[first + total] = 0
                    total += 1
                    mark[j] = total
                value[first + mark[j] - 1] = difference(value[first + mark[j] - 1], negative)
        for e in range(first, first + total):
            mark[neighbour[e]] = 0
        state.length[i] = total
        state.diagonal[i] = own
