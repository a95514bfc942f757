"""Compiled loops of the soft cost: a beam of elimination states, scored completely or where a removal changed them.

**Weights.** The weight of an edge is φ(z²) = (z² − noise) / c, clipped to [0, 1]. Over v remaining variables, with
before = (n − v + 1) / c, after = (n − v + 2) / c and quiet = noise / c, that is before · K² − quiet now and
after · K'² − quiet once a candidate k is removed. The scores of a candidate are

    paid[k]   D̃_k = Σ_i φ(z²_ik), the cost of its removal
    gains[k]  R̃_k − F̃_k = Σ_{i<j ∈ N_k} φ(z²_ij) − φ(z'²_ij), the weight that pairs of its neighbours lose

**States.** A state is a base matrix over m slots, and the removals since it was computed, which are pending. With w_s
the row of the s-th removed variable, divided by the root of its diagonal, entry (i, j) of the current precision matrix
is

    base_ij − Σ_s w_si w_sj

and its diagonal is d_i. Stored are u_i = 1 / √d_i, and u_i = 0 for removed variables, so that their partial
correlations −(base_ij − Σ_s w_si w_sj) u_i u_j are zero. ``pool[s, e]`` is w_s of the e-th state of step s, and
``line[s]`` is the index e that a state descends from: states with a common history share its vectors. After ``every``
steps they are applied all at once, and everything is scored; in between only the neighbours of removed variables are.

One file: every loop works on the same state, and numba compiles them into each other.
"""

import math
from typing import NamedTuple

import numpy as np

from rfdag.runtime.compilation import kernel

TILE = 32
"""Rows and columns of a matrix that are transposed together."""

SHARPNESS = 1e9
"""Costs are compared after rounding to multiples of the reciprocal of this."""

LEFT, SLOTS, PENDING, COUNT, SIDE, BANK, DUE = range(7)
"""Entries of ``Beam.now``: variables left, slots of the bases, pending steps, number of states, which half of the
states' and of the matrices' arrays is in use, and whether everything must be scored."""


class Rule(NamedTuple):
    """Constants of the soft cost: the weight of an edge, which variables are neighbours, the weight of the bound."""

    n: float
    c: float
    quiet: float
    z_near: float
    mu: float


class Beam(NamedTuple):
    """All states: of every array with two halves one is in use, and the other is written next.

    There are, per state, its ``base`` and ``line``, the cost ``spent``, the ``key`` of the removed set, and per slot u,
    D̃, R̃ − F̃ and whether these are ``stale``; ``pool`` holds the pending vectors. The ``offer_…`` arrays describe the
    continuations: their cost, their value (smaller is better), their key. For those chosen at each removal,
    ``parents``, ``slots`` and ``variables`` hold the state that was continued and what was removed. ``keys`` has one
    key per variable. Under constraints, ``waiting`` is the number of remaining variables that must follow each
    variable, and ``earlier[k]`` marks those that must precede k; otherwise both are empty.
    """

    now: np.ndarray
    matrices: np.ndarray
    members: np.ndarray
    base: np.ndarray
    line: np.ndarray
    spent: np.ndarray
    key: np.ndarray
    u: np.ndarray
    paid: np.ndarray
    gains: np.ndarray
    stale: np.ndarray
    pool: np.ndarray
    offer_spent: np.ndarray
    offer_value: np.ndarray
    offer_key: np.ndarray
    parents: np.ndarray
    slots: np.ndarray
    variables: np.ndarray
    keys: np.ndarray
    waiting: np.ndarray
    earlier: np.ndarray


class Work(NamedTuple):
    """Workspace of one thread: the neighbours of every variable of one state, and arrays for scoring one of them.

    The neighbours of i are near[start[i] : end[i]], with their entries a, and b = 1 / (1 − a²).
    """

    start: np.ndarray
    end: np.ndarray
    near: np.ndarray
    a: np.ndarray
    b: np.ndarray
    row: np.ndarray
    scale: np.ndarray
    pending: np.ndarray
    entries: np.ndarray


@kernel()
def scales(rule, v):
    """Return ``before`` and ``after`` for v variables, and the squared K above which two are neighbours."""
    degrees = rule.n - v + 1.0
    return degrees / rule.c, (degrees + 1.0) / rule.c, rule.z_near * rule.z_near / degrees


@kernel()
def matrix(beam, bank, base):
    """Return a base matrix."""
    m = beam.now[SLOTS]
    return beam.matrices[bank, base * m * m : (base + 1) * m * m].reshape((m, m))


# These sums only rank candidates, so their order may vary; this allows the compiler to vectorise them.
@kernel(fastmath={"reassoc", "contract"})
def _row_now(base, pool, line, steps, i, m, row):
    """Store the first m entries of row i of the precision matrix after the pending steps."""
    source = base[i]
    for j in range(m):
        row[j] = source[j]
    s = 0
    while s + 4 <= steps:
        w0, w1, w2, w3 = pool[s, line[s]], pool[s + 1, line[s + 1]], pool[s + 2, line[s + 2]], pool[s + 3, line[s + 3]]
        f0, f1, f2, f3 = w0[i], w1[i], w2[i], w3[i]
        for j in range(m):
            row[j] -= f0 * w0[j] + f1 * w1[j] + f2 * w2[j] + f3 * w3[j]
        s += 4
    while s < steps:
        w0 = pool[s, line[s]]
        f0 = w0[i]
        for j in range(m):
            row[j] -= f0 * w0[j]
        s += 1


@kernel(fastmath={"reassoc", "contract"})
def _normalise(row, u, m, i):
    """Convert a row of the precision matrix to partial correlations of opposite sign, with zero on the diagonal."""
    u_i = u[i]
    for j in range(m):
        row[j] = min(max(row[j] * (u_i * u[j]), -1.0), 1.0)
    row[i] = 0.0


@kernel(fastmath={"reassoc", "contract"})
def _weigh(row, m, before, quiet):
    total = 0.0
    for j in range(m):
        x = min(row[j] * row[j] * before - quiet, 1.0)
        total += max(x, 0.0)
    return total


@kernel()
def _list_near(row, m, near_square, near):
    """List the slots whose partial correlation squared exceeds ``near_square``; return how many.

    Each slot is stored first and counted only if it qualifies: cheaper than an unpredictable branch.
    """
    found = 0
    for j in range(m):
        near[found] = j
        found += row[j] * row[j] > near_square
    return found


@kernel()
def _copy(source, target):
    # Faster here than an assignment of slices.
    for j in range(len(target)):
        target[j] = source[j]


@kernel()
def _look_up(row, near, a, b):
    """Store the entries of ``row`` at its neighbours, and 1 / (1 − a²)."""
    for t in range(len(near)):
        x = row[near[t]]
        a[t] = x
        b[t] = 1.0 / max(1.0 - x * x, 1e-12)


# One function with plain loops over views that start at zero: other forms are several times slower.
@kernel(fastmath={"reassoc", "contract"})
def _gain(base, near, a, b, scale, pending, before, after, quiet, entries):
    """Return R̃ − F̃ of a variable: over the pairs i, j of its neighbours, Σ φ(z²_ij) − φ(z'²_ij).

    The variable's own entries are in a, and b = 1 / (1 − a²). The current entry (i, j) is scale_i scale_j base_ij minus
    the products of the ``pending`` vectors at i and j.
    """
    total = 0.0
    for s in range(1, len(near)):
        row = base[near[s]]
        for t in range(s):
            entries[t] = row[near[t]]
        if len(pending):
            own = scale[s]
            for t in range(s):
                entries[t] *= own * scale[t]
            for r in range(len(pending)):
                w = pending[r]
                f = w[s]
                for t in range(s):
                    entries[t] -= f * w[t]
        a_s = a[s]
        b_s = b[s] * after
        for t in range(s):
            entry = entries[t]
            x = min(entry * entry * before - quiet, 1.0)
            y = entry - a_s * a[t]
            y = min(y * y * (b_s * b[t]) - quiet, 1.0)
            total += max(x, 0.0) - max(y, 0.0)
    return total


@kernel()
def score_stale(rule, beam, e, work):
    """Score the stale candidates of state e one by one, on rows computed as needed."""
    side, m, v, steps = beam.now[SIDE], beam.now[SLOTS], beam.now[LEFT], beam.now[PENDING]
    before, after, near_square = scales(rule, v)
    base, line, u = matrix(beam, beam.now[BANK], beam.base[side, e]), beam.line[side, e], beam.u[side, e]
    row, near, scale, pending = work.row, work.near, work.scale, work.pending
    for i in range(m):
        if beam.stale[side, e, i]:
            _row_now(base, beam.pool, line, steps, i, m, row)
            _normalise(row, u, m, i)
            beam.paid[side, e, i] = _weigh(row, m, before, rule.quiet)
            found = _list_near(row, m, near_square, near)
            _look_up(row, near[:found], work.a, work.b)
            for t in range(found):
                scale[t] = u[near[t]]
            for s in range(steps):
                w = beam.pool[s, line[s]]
                for t in range(found):
                    pending[s, t] = w[near[t]] * scale[t]
            beam.gains[side, e, i] = _gain(
                base, near[:found], work.a, work.b, scale, pending[:steps], before, after, rule.quiet, work.entries
            )
            beam.stale[side, e, i] = False


@kernel()
def slots_left(beam, e):
    """Return the remaining slots of state e, ascending."""
    side, m = beam.now[SIDE], beam.now[SLOTS]
    slots = np.empty(beam.now[LEFT], np.int64)
    count = 0
    for j in range(m):
        if beam.u[side, e, j] > 0.0:
            slots[count] = j
            count += 1
    return slots


@kernel()
def _piece_ends(slots):
    """Return the ends of the contiguous pieces of ``slots``, which are ascending."""
    ends = np.empty(len(slots), np.int64)
    count = 0
    for at in range(1, len(slots)):
        if slots[at] != slots[at - 1] + 1:
            ends[count] = at
            count += 1
    ends[count] = len(slots)
    return ends[: count + 1]


@kernel()
def settle(beam, e, slots, first, step, fresh):
    """Write every ``step``-th row of state e, up to the diagonal, into ``fresh``, with all steps applied."""
    side, steps = beam.now[SIDE], beam.now[PENDING]
    base, line, u = matrix(beam, beam.now[BANK], beam.base[side, e]), beam.line[side, e], beam.u[side, e]
    ends = _piece_ends(slots)
    row = np.empty(beam.now[SLOTS])
    for at in range(first, len(slots), step):
        i = slots[at]
        _row_now(base, beam.pool, line, steps, i, i + 1, row)
        _normalise(row, u, i + 1, i)
        start = 0
        for end in ends:
            if start > at:
                break
            stop = min(end, at + 1)
            _copy(row[slots[start] :], fresh[at, start:stop])
            start = stop


@kernel()
def _mirror(fresh, first, last):
    """Fill rows first to last − 1 above the diagonal from below it, one tile at a time."""
    v = len(fresh)
    for start in range(first, v, TILE):
        for i in range(first, last):
            for j in range(max(start, i + 1), min(start + TILE, v)):
                fresh[i, j] = fresh[j, i]


@kernel()
def survey(rule, beam, e, first, step, fresh, work):
    """Complete every ``step``-th tile of rows of state e; find D̃ and the neighbours of each variable there."""
    side, v = beam.now[SIDE], beam.now[LEFT]
    before, _, near_square = scales(rule, v)
    tiles = -(-v // TILE)
    # Lists are stored one after the other; each thread starts after the room for all lists of earlier threads.
    place = first * -(-tiles // step) * TILE * (v + 1)
    for tile in range(first, tiles, step):
        _mirror(fresh, tile * TILE, min(tile * TILE + TILE, v))
        for at in range(tile * TILE, min(tile * TILE + TILE, v)):
            row = fresh[at]
            row[at] = 0.0
            beam.paid[side, e, at] = _weigh(row, v, before, rule.quiet)
            start = place
            place += _list_near(row, v, near_square, work.near[start:])
            work.start[at], work.end[at] = start, place
            _look_up(row, work.near[start:place], work.a[start:place], work.b[start:place])
            row[at] = 1.0


@kernel()
def lighten(rule, beam, e, first, step, fresh, work):
    """Compute R̃ − F̃ of every ``step``-th candidate of state e."""
    side, v = beam.now[SIDE], beam.now[LEFT]
    before, after, _ = scales(rule, v)
    nothing, entries = np.empty((0, 0)), np.empty(v)
    for k in range(first, v, step):
        mine = slice(work.start[k], work.end[k])
        a, b = work.a[mine], work.b[mine]
        beam.gains[side, e, k] = _gain(fresh, work.near[mine], a, b, a, nothing, before, after, rule.quiet, entries)


@kernel()
def adopt(beam, e, slots):
    """Make the new matrix, at place e of the other bank, the base of state e, with no pending steps."""
    side, v = beam.now[SIDE], beam.now[LEFT]
    members = beam.members[beam.now[BANK], beam.base[side, e]]
    for at in range(v):
        beam.members[1 - beam.now[BANK], e, at] = members[slots[at]]
        beam.u[side, e, at] = 1.0
        beam.stale[side, e, at] = False


@kernel()
def fresh_matrix(beam, e):
    """Return the array for the next base matrix of state e."""
    v = beam.now[LEFT]
    return beam.matrices[1 - beam.now[BANK], e * v * v : (e + 1) * v * v].reshape((v, v))


@kernel()
def renew(rule, beam, e, work):
    """Apply all pending steps of state e and score all its candidates."""
    slots, fresh = slots_left(beam, e), fresh_matrix(beam, e)
    settle(beam, e, slots, 0, 1, fresh)
    survey(rule, beam, e, 0, 1, fresh, work)
    lighten(rule, beam, e, 0, 1, fresh, work)
    adopt(beam, e, slots)


@kernel()
def renewed(beam):
    """Record that all states have their own matrix and are scored."""
    now = beam.now
    for e in range(now[COUNT]):
        beam.base[now[SIDE], e] = e
    now[SLOTS] = now[LEFT]
    now[PENDING] = 0
    now[BANK] = 1 - now[BANK]
    now[DUE] = 0


@kernel()
def select(values, paid, keys, width, states, positions):
    """Choose the ``width`` smallest values with different keys; return how many were chosen.

    Costs are compared to nine decimals, so that rounding does not decide. Equal keys mean equal removed sets, and so
    equal states: of those no worse than the last one chosen, the one with the smallest cost so far is followed. Ties go
    to the earlier entry. Infinite values are not candidates.
    """
    rows, columns = values.shape
    count = 0
    least = np.empty(width)
    taken = np.empty(width, np.uint64)
    bound = np.inf
    for e in range(rows):
        for j in range(columns):
            if not values[e, j] < bound:
                continue
            value = math.floor(values[e, j] * SHARPNESS + 0.5)
            if count == width and value >= least[count - 1]:
                continue
            key = keys[e, j]
            at = 0
            while at < count and taken[at] != key:
                at += 1
            if at < count:
                if value >= least[at]:
                    continue
            else:
                at = min(count, width - 1)
                count = min(count + 1, width)
            while at > 0 and least[at - 1] > value:
                least[at], taken[at] = least[at - 1], taken[at - 1]
                states[at], positions[at] = states[at - 1], positions[at - 1]
                at -= 1
            least[at], taken[at], states[at], positions[at] = value, key, e, j
            if count == width:
                bound = (least[count - 1] + 1.0) / SHARPNESS
    if rows == 1:
        return count
    cut = least[count - 1] if count == width else np.inf
    for e in range(rows):
        for j in range(columns):
            if values[e, j] < (cut + 1.0) / SHARPNESS and math.floor(values[e, j] * SHARPNESS + 0.5) <= cut:
                for at in range(count):
                    if taken[at] == keys[e, j]:
                        if paid[e, j] + 1.0 / SHARPNESS < paid[states[at], positions[at]]:
                            states[at], positions[at] = e, j
                        break
    return count


@kernel()
def choose(rule, beam, width):
    """Choose the continuations to follow."""
    side, m, v = beam.now[SIDE], beam.now[SLOTS], beam.now[LEFT]
    count = beam.now[COUNT]
    for e in range(count):
        u, paid, gains = beam.u[side, e], beam.paid[side, e], beam.gains[side, e]
        members = beam.members[beam.now[BANK], beam.base[side, e]]
        ahead = 0.0
        for j in range(m):
            ahead += paid[j]
        ahead /= 2.0
        for j in range(m):
            held = len(beam.earlier) > 0 and beam.waiting[side, e, members[j]] > 0
            spent = beam.spent[side, e] + paid[j] if u[j] > 0.0 and not held else np.inf
            beam.offer_spent[e, j] = spent
            beam.offer_value[e, j] = spent + rule.mu * (ahead - paid[j] - gains[j])
            beam.offer_key[e, j] = beam.key[side, e] ^ beam.keys[members[j]]
    step = len(beam.keys) - v
    parents, slots = beam.parents[step], beam.slots[step]
    count = select(beam.offer_value[:count, :m], beam.offer_spent, beam.offer_key, width, parents, slots)
    for e in range(count):
        beam.variables[step, e] = beam.members[beam.now[BANK], beam.base[side, parents[e]], slots[e]]
    beam.now[COUNT] = count


@kernel(fastmath={"reassoc", "contract"})
def _leave(base, pool, line, steps, m, k, before, quiet, near_square, w, u, paid, stale):
    """Remove slot k: store its vector in w, and update u, D̃ and the marks of what must be scored again.

    D̃ of every variable loses its pair with k; other changes for variables not near k wait until everything is scored
    again.
    """
    _row_now(base, pool, line, steps, k, m, w)
    u_k = u[k]
    w[k] = 0.0
    for j in range(m):
        w[j] *= u_k
        x = w[j] * u[j]
        x = x * x
        stale[j] |= x > near_square
        paid[j] -= max(min(x * before - quiet, 1.0), 0.0)
        u[j] /= math.sqrt(max(1.0 - x, 1e-12))
    u[k] = 0.0
    paid[k] = 0.0
    stale[k] = False


@kernel()
def extend(rule, beam, first, step):
    """Write chosen states into the other half, each with one more pending step."""
    side, m, v, steps = beam.now[SIDE], beam.now[SLOTS], beam.now[LEFT], beam.now[PENDING]
    before, _, near_square = scales(rule, v)
    at = len(beam.keys) - v
    for e in range(first, beam.now[COUNT], step):
        source, k = beam.parents[at, e], beam.slots[at, e]
        beam.base[1 - side, e] = beam.base[side, source]
        beam.line[1 - side, e, :steps] = beam.line[side, source, :steps]
        beam.line[1 - side, e, steps] = e
        beam.spent[1 - side, e] = beam.offer_spent[source, k]
        beam.key[1 - side, e] = beam.offer_key[source, k]
        if len(beam.earlier) > 0:
            earlier = beam.earlier[beam.variables[at, e]]
            for j in range(len(earlier)):
                beam.waiting[1 - side, e, j] = beam.waiting[side, source, j] - earlier[j]
        _copy(beam.u[side, source], beam.u[1 - side, e, :m])
        _copy(beam.paid[side, source], beam.paid[1 - side, e, :m])
        _copy(beam.gains[side, source], beam.gains[1 - side, e, :m])
        _copy(beam.stale[side, source], beam.stale[1 - side, e, :m])
        _leave(
            matrix(beam, beam.now[BANK], beam.base[side, source]), beam.pool, beam.line[side, source], steps, m, k,
            before, rule.quiet, near_square, beam.pool[steps, e], beam.u[1 - side, e], beam.paid[1 - side, e],
            beam.stale[1 - side, e],
        )  # fmt: skip


@kernel()
def extended(beam, every):
    """Record that all chosen states have been written."""
    now = beam.now
    now[SIDE] = 1 - now[SIDE]
    now[LEFT] -= 1
    now[PENDING] += 1
    now[DUE] = now[PENDING] == every


@kernel()
def advance(rule, beam, work, width, every, steps):
    """Take this many steps of the whole beam, or as many as are left."""
    now = beam.now
    for _ in range(min(steps, now[LEFT] - 1)):
        if now[DUE]:
            for e in range(now[COUNT]):
                renew(rule, beam, e, work)
            renewed(beam)
        for e in range(now[COUNT]):
            score_stale(rule, beam, e, work)
        choose(rule, beam, width)
        extend(rule, beam, 0, 1)
        extended(beam, every)


@kernel()
def orders(beam):
    """Return the order of every state, a source first: the variable left, then the removed ones, the last first."""
    now = beam.now
    side, p = now[SIDE], len(beam.keys)
    found = np.empty((now[COUNT], p), np.int64)
    for e in range(now[COUNT]):
        for j in range(now[SLOTS]):
            if beam.u[side, e, j] > 0.0:
                found[e, 0] = beam.members[now[BANK], beam.base[side, e], j]
        at = e
        for step in range(p - 2, -1, -1):
            found[e, p - 1 - step] = beam.variables[step, at]
            at = beam.parents[step, at]
    return found
