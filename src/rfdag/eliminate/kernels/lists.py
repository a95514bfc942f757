"""Compiled loops over lists of neighbours: a sparse symmetric matrix Θ, and the removal of a variable from it.

The list of i takes ``length[i]`` places of a pool from ``start[i]`` on and may grow to ``room[i]``; then it moves to
the pool's end. Every entry is in the lists of both its ends. Removing k subtracts θ_ik θ_jk / θ_kk for i, j in the list
of k, diagonal included, and changes nothing else. This is why the state is Θ and not K, of which a removal rescales
whole rows.

The kernels work on two kinds of numbers, distinguished by their type: floating-point numbers, or pairs of residues
modulo a prime (see `rfdag.eliminate.kernels.field_arithmetic`).
"""

from typing import Any, NamedTuple

from rfdag.eliminate.kernels.field_arithmetic import difference, is_unit, product, reciprocal
from rfdag.runtime.compilation import kernel, part

TAIL, LEFT, ENTRIES, WORK = 0, 1, 2, 3
"""Entries of ``counters``: end of the pool's used part, variables left, list entries among them, steps taken."""

DONE, PAUSED, NO_ROOM, ZERO_PIVOT = -1, -2, -3, -4
"""Why a kernel returned; 0 or more is a variable that the one removed last determines."""

DETERMINED = 1e-15
"""Share of a diagonal entry below which the removed variable counts as determining the other."""


class State(NamedTuple):
    """All arrays of an elimination.

    Under constraints, ``waiting`` is the number of remaining direct successors of each node (variables, then barriers
    between groups of them), and earlier[earlier_from[k] : earlier_from[k + 1]] are the direct predecessors of k;
    otherwise these three are empty.
    """

    neighbour: Any
    value: Any
    start: Any
    length: Any
    room: Any
    diagonal: Any
    alive: Any
    counters: Any
    degree: Any
    removal: Any
    fill: Any
    key: Any
    tally: Any
    critical: Any
    margin: Any
    random: Any
    record: Any
    mark: Any
    seen: Any
    queue: Any
    after: Any
    waiting: Any
    earlier: Any
    earlier_from: Any


@part()
def _inverse(x):
    """Return 1 / x."""
    if isinstance(x, float):
        return 1.0 / x
    else:
        return reciprocal(x)


@part()
def _step(x, a, b, inverse):
    """Return x − a b · inverse."""
    if isinstance(x, float):
        return x - a * b * inverse
    else:
        return difference(x, product(product(a, b), inverse))


@part()
def _invertible(x):
    """Return whether one can divide by x; always true in floating point, where diagonals are checked as they fall."""
    if isinstance(x, float):
        return True
    else:
        return is_unit(x)


@part()
def _determined(after, before):
    """Return whether a diagonal entry has become zero, up to rounding."""
    if isinstance(after, float):
        return not after > DETERMINED * before
    else:
        return False


@part()
def _negligible(x, d_i, d_j, drop):
    """Return whether an entry is zero, up to rounding."""
    if isinstance(x, float):
        return x * x <= drop * drop * (d_i * d_j)
    else:
        return x == 0


@kernel()
def spread(indptr, indices, data, state):
    """Fill the lists from the rows of a matrix without diagonal, with some room to grow in each."""
    tail = 0
    for i in range(len(state.start)):
        length = indptr[i + 1] - indptr[i]
        state.start[i] = tail
        state.length[i] = length
        state.room[i] = spacious(length)
        for e in range(length):
            state.neighbour[tail + e] = indices[indptr[i] + e]
            state.value[tail + e] = data[indptr[i] + e]
        tail += state.room[i]
        state.counters[ENTRIES] += length
    state.counters[TAIL] = tail


@part()
def spacious(length):
    """Return the room that a list of this length is given."""
    return length + length // 4 + 2


@kernel()
def compact(state, neighbour, value):
    """Move all lists into a new pool, one after the other."""
    tail = 0
    for i in range(len(state.start)):
        first = state.start[i]
        for e in range(state.length[i]):
            neighbour[tail + e] = state.neighbour[first + e]
            value[tail + e] = state.value[first + e]
        state.start[i] = tail
        state.room[i] = spacious(state.length[i]) if state.alive[i] else state.length[i]
        tail += state.room[i]
    state.counters[TAIL] = tail


@part()
def _append(state, i, j, x):
    """Add an entry to the list of i, which moves to the pool's end when it is full."""
    if state.length[i] == state.room[i]:
        first, tail = state.start[i], state.counters[TAIL]
        for e in range(state.length[i]):
            state.neighbour[tail + e] = state.neighbour[first + e]
            state.value[tail + e] = state.value[first + e]
        state.start[i] = tail
        state.room[i] = 2 * state.length[i] + 2
        state.counters[TAIL] += state.room[i]
    at = state.start[i] + state.length[i]
    state.neighbour[at] = j
    state.value[at] = x
    state.length[i] += 1


@part()
def room_for(state, k):
    """Return how much of the pool removing k could take at worst, if the list of every neighbour moves."""
    need = 0
    first, m = state.start[k], state.length[k]
    for e in range(first, first + m):
        need += 2 * (state.length[state.neighbour[e]] + m) + 2
    return need


@part()
def subtract(state, k, drop):
    """Marginalise k: subtract its rank-one matrix from the lists of its neighbours.

    Returns DONE, or a variable that k determines, or ZERO_PIVOT; then nothing has changed.
    """
    neighbour, value, diagonal = state.neighbour, state.value, state.diagonal
    mark, seen, after = state.mark, state.seen, state.after
    first, m = state.start[k], state.length[k]
    if m > 0 and not _invertible(diagonal[k]):
        return ZERO_PIVOT
    zero = diagonal[k] - diagonal[k]
    inverse = _inverse(diagonal[k]) if m > 0 else zero
    for t in range(m):
        i = neighbour[first + t]
        after[t] = _step(diagonal[i], value[first + t], value[first + t], inverse)
        if _determined(after[t], diagonal[i]):
            return i
    for t in range(m):
        mark[neighbour[first + t]] = t + 1
        seen[t] = -1
    for t in range(m):
        i = neighbour[first + t]
        a = value[first + t]
        base = state.start[i]
        end = base + state.length[i]
        write = base
        for e in range(base, end):
            j = neighbour[e]
            if j == k:
                continue
            x = value[e]
            u = mark[j] - 1
            if u >= 0:
                seen[u] = t
                x = _step(x, a, value[first + u], inverse)
                if _negligible(x, after[t], after[u], drop):
                    continue
            neighbour[write] = j
            value[write] = x
            write += 1
        state.length[i] = write - base
        for u in range(m):
            if u != t and seen[u] != t:
                x = _step(zero, a, value[first + u], inverse)
                if not _negligible(x, after[t], after[u], drop):
                    _append(state, i, neighbour[first + u], x)
        state.counters[ENTRIES] += state.length[i] - (end - base)
        state.counters[WORK] += end - base + m
    for t in range(m):
        i = neighbour[first + t]
        diagonal[i] = after[t]
        mark[i] = 0
    state.counters[ENTRIES] -= m
    state.counters[LEFT] -= 1
    state.alive[k] = False
    return DONE
