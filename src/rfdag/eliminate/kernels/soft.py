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

**Compilation.** A tuple of many arrays is slow to compile at each use, so arrays of one kind are planes of one array,
and a function looks each of them up once. Matrices are flat, the rows one after the other. Functions that run once per
state are inlined into `advance`; the loops over entries are functions of their own.

One file: every loop works on the same state, and numba compiles them into each other.
"""

import math
from typing import NamedTuple

import numpy as np

from rfdag.runtime.compilation import kernel, part

TILE = 32
"""Rows and columns of a matrix that are transposed together."""

SHARPNESS = 2.0**20
"""Costs are compared after rounding to multiples of the reciprocal of this. Removals that have nothing to do with each
other cost the same in either order; on a grid of 1e−9, with a thousand variables, rounding errors told them apart."""

LEFT, SLOTS, PENDING, COUNT, SIDE, BANK, DUE = range(7)
"""Entries of ``Beam.now``: variables left, slots of the bases, pending steps, number of states, which half of the
states' and of the matrices' arrays is in use, and what is due."""

NOTHING, EVERYTHING, RECORD = range(3)
"""What may be due before a step: that everything is scored anew, or only to record that it was."""

SETTLE, SURVEY, LIGHTEN = range(3)
"""Stages of `renew`: write the rows up to the diagonal, with all steps applied; complete them and find D̃ and the
neighbours; compute R̃ − F̃ and make the new matrix the base."""

U, PAID, GAINS = range(3)
"""Planes of ``Beam.scores``: u, D̃ and R̃ − F̃. A gain that is not a number is stale."""

SPENT, VALUE = range(2)
"""Planes of ``Beam.offers``: the cost with this removal, and what continuations are ranked by (smaller is better)."""

STATE, SLOT, VARIABLE = range(3)
"""Planes of ``Beam.history``: the state that was continued, and the slot and variable that were removed."""

ADVANCE, RENEW, SCORE = range(3)
"""Kinds of tasks: steps of the whole beam; or what threads share of one: scoring a state anew, or where it is stale."""


class Task(NamedTuple):
    """What `advance` does: for one state, stages ``begin`` to ``end`` − 1 on each ``step``-th row, from ``first`` on.

    One kernel does everything that Python asks for, because each is compiled with all that it calls.
    """

    kind: int
    state: int = 0
    begin: int = SETTLE
    end: int = LIGHTEN + 1
    first: int = 0
    step: int = 1


class Rule(NamedTuple):
    """Constants of the soft cost: the weight of an edge, which variables are neighbours, the weight of the bound."""

    n: float
    c: float
    quiet: float
    z_near: float
    mu: float


class Beam(NamedTuple):
    """All states: of every array with two halves one is in use, and the other is written next.

    There are, per state, its ``line`` (at the end of it the number of its base), the cost ``spent``, the ``key`` of the
    removed set, and per slot its ``scores`` and the variable there (``members``, per base); ``pool`` holds the pending
    vectors. ``offers`` and ``offer_keys`` describe the continuations, and ``history`` those chosen at each removal.
    ``variable_keys`` has one key per variable. Under constraints, ``waiting`` is the number of remaining variables that
    must follow each variable, and ``earlier[k]`` marks those that must precede k; otherwise both are empty.
    """

    now: np.ndarray
    matrices: np.ndarray
    members: np.ndarray
    line: np.ndarray
    spent: np.ndarray
    key: np.ndarray
    scores: np.ndarray
    pool: np.ndarray
    offers: np.ndarray
    offer_keys: np.ndarray
    history: np.ndarray
    variable_keys: np.ndarray
    waiting: np.ndarray
    earlier: np.ndarray


class Work(NamedTuple):
    """Workspace of one thread: the neighbours of every variable of one state, and arrays for scoring one of them.

    The neighbours of i are near[start[i] : end[i]], with their entries a, and b = 1 / (1 − a²). ``slots`` are those
    that remain, and ``ends`` the ends of their contiguous pieces. ``least`` and ``taken`` are for selecting
    continuations. ``operations`` has the number of operations so far.
    """

    start: np.ndarray
    end: np.ndarray
    near: np.ndarray
    a: np.ndarray
    b: np.ndarray
    slots: np.ndarray
    ends: np.ndarray
    row: np.ndarray
    scale: np.ndarray
    pending: np.ndarray
    entries: np.ndarray
    least: np.ndarray
    taken: np.ndarray
    operations: np.ndarray


# These sums only rank candidates, so their order may vary; this allows the compiler to vectorise them.
@part(fastmath={"reassoc", "contract"})
def _row_now(base, size, pool, line, steps, i, m, row):
    """Store the first m entries of row i of the precision matrix over ``size`` slots after the pending steps."""
    source = base[i * size : i * size + m]
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


@part(fastmath={"reassoc", "contract"})
def _normalise(row, u, m, i):
    """Convert a row of the precision matrix to partial correlations of opposite sign, with zero on the diagonal."""
    u_i = u[i]
    for j in range(m):
        row[j] = min(max(row[j] * (u_i * u[j]), -1.0), 1.0)
    row[i] = 0.0


@part(fastmath={"reassoc", "contract"})
def _weigh(row, m, before, quiet):
    total = 0.0
    for j in range(m):
        x = min(row[j] * row[j] * before - quiet, 1.0)
        total += max(x, 0.0)
    return total


@part()
def _list_near(row, m, near_square, near, a, b):
    """List the slots whose partial correlation squared exceeds ``near_square``, with their entries; return how many.

    Each slot is stored first and counted only if it qualifies: cheaper than an unpredictable branch.
    """
    found = 0
    for j in range(m):
        near[found] = j
        found += row[j] * row[j] > near_square
    for t in range(found):
        x = row[near[t]]
        a[t] = x
        b[t] = 1.0 / max(1.0 - x * x, 1e-12)
    return found


# One function with plain loops over views that start at zero: other forms are several times slower.
@part(fastmath={"reassoc", "contract"})
def _gain(base, size, near, a, b, scale, pending, before, after, quiet, entries):
    """Return R̃ − F̃ of a variable: over the pairs i, j of its neighbours, Σ φ(z²_ij) − φ(z'²_ij).

    The variable's own entries are in a, and b = 1 / (1 − a²). The current entry (i, j) is scale_i scale_j base_ij minus
    the products of the ``pending`` vectors at i and j; ``base`` has rows of ``size`` entries.
    """
    total = 0.0
    for s in range(1, len(near)):
        row = base[near[s] * size :]
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


@part(inline=True)
def score_stale(rule, beam, e, work):
    """Score the stale candidates of state e one by one, on rows computed as needed."""
    now, pool = beam.now, beam.pool
    m, v, steps = now[SLOTS], now[LEFT], now[PENDING]
    degrees = rule.n - v + 1.0
    before, after, near_square = degrees / rule.c, (degrees + 1.0) / rule.c, rule.z_near * rule.z_near / degrees
    line, scores = beam.line[now[SIDE], e], beam.scores[now[SIDE]]
    base = beam.matrices[now[BANK], line[-1] * m * m :]
    u, paid, gains = scores[U, e], scores[PAID, e], scores[GAINS, e]
    near, a, b, row, scale, pending = work.near, work.a, work.b, work.row, work.scale, work.pending
    operations = 0
    for i in range(m):
        if math.isnan(gains[i]):
            _row_now(base, m, pool, line, steps, i, m, row)
            _normalise(row, u, m, i)
            paid[i] = _weigh(row, m, before, rule.quiet)
            found = _list_near(row, m, near_square, near, a, b)
            for t in range(found):
                scale[t] = u[near[t]]
            for s in range(steps):
                w = pool[s, line[s]]
                for t in range(found):
                    pending[s, t] = w[near[t]] * scale[t]
            gains[i] = _gain(
                base, m, near[:found], a, b, scale, pending[:steps], before, after, rule.quiet, work.entries
            )  # fmt: skip
            operations += (steps + 1) * (m + found * (found - 1) // 2)
    work.operations[0] += operations


@part(inline=True)
def renew(rule, beam, e, task, lists, work):
    """Apply all pending steps of state e and score all its candidates, as far as it is in the task.

    Threads that share one state begin each stage together, and list the neighbours in the same workspace ``lists``.
    """
    first, step = task.first, task.step
    now, pool, scores = beam.now, beam.pool, beam.scores[beam.now[SIDE]]
    m, v, steps, bank = now[SLOTS], now[LEFT], now[PENDING], now[BANK]
    degrees = rule.n - v + 1.0
    before, after, quiet = degrees / rule.c, (degrees + 1.0) / rule.c, rule.quiet
    near_square = rule.z_near * rule.z_near / degrees
    line, members, u, paid, gains = (
        beam.line[now[SIDE], e],
        beam.members,
        scores[U, e],
        scores[PAID, e],
        scores[GAINS, e],
    )
    base, fresh = beam.matrices[bank, line[-1] * m * m :], beam.matrices[1 - bank, e * v * v :]
    slots, piece_ends, row, entries, none = work.slots, work.ends, work.row, work.entries, work.pending[:0]
    starts, ends, near, a, b = lists.start, lists.end, lists.near, lists.a, lists.b
    operations = 0
    for stage in range(task.begin, task.end):
        if stage == SETTLE:
            count = 0
            pieces = 0
            for j in range(m):
                if u[j] > 0.0:
                    if count > 0 and slots[count - 1] != j - 1:
                        piece_ends[pieces] = count
                        pieces += 1
                    slots[count] = j
                    count += 1
            piece_ends[pieces] = v
            for at in range(first, v, step):
                i = slots[at]
                _row_now(base, m, pool, line, steps, i, i + 1, row)
                _normalise(row, u, i + 1, i)
                start = 0
                piece = 0
                while start <= at:
                    stop = min(piece_ends[piece], at + 1)
                    shift = slots[start] - start
                    for j in range(start, stop):
                        fresh[at * v + j] = row[shift + j]
                    start = stop
                    piece += 1
                operations += (steps + 1) * (i + 1)
        elif stage == SURVEY:
            tiles = -(-v // TILE)
            # Lists are stored one after the other; each thread starts after the room for all lists of earlier threads.
            place = first * -(-tiles // step) * TILE * (v + 1)
            for tile in range(first, tiles, step):
                top = tile * TILE
                bottom = min(top + TILE, v)
                for left in range(top, v, TILE):
                    for i in range(top, bottom):
                        for j in range(max(left, i + 1), min(left + TILE, v)):
                            fresh[i * v + j] = fresh[j * v + i]
                for at in range(top, bottom):
                    whole = fresh[at * v : at * v + v]
                    whole[at] = 0.0
                    paid[at] = _weigh(whole, v, before, quiet)
                    starts[at] = place
                    place += _list_near(whole, v, near_square, near[place:], a[place:], b[place:])
                    ends[at] = place
                    whole[at] = 1.0
        else:
            for k in range(first, v, step):
                start, found = starts[k], ends[k] - starts[k]
                gains[k] = _gain(
                    fresh, v, near[start : start + found], a[start:], b[start:], entries, none, before, after, quiet,
                    entries,
                )  # fmt: skip
                members[1 - bank, e, k] = members[bank, line[-1], slots[k]]
                u[k] = 1.0
                operations += v + found * (found - 1) // 2
    work.operations[0] += operations


@kernel(inline=True)
def select(values, paid, keys, width, states, positions, least, taken):
    """Choose the ``width`` smallest values with different keys; return how many were chosen.

    Costs are compared to nine decimals, so that rounding does not decide. Equal keys mean equal removed sets, and so
    equal states: of those no worse than the last one chosen, the one with the smallest cost so far is followed. Ties go
    to the earlier entry. Infinite values are not candidates.
    """
    rows, columns = values.shape
    count = 0
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


@part(inline=True)
def choose(rule, beam, width, work):
    """Choose the continuations to follow."""
    now, members, waiting, offers, offer_keys = beam.now, beam.members, beam.waiting, beam.offers, beam.offer_keys
    side, m, count = now[SIDE], now[SLOTS], now[COUNT]
    line, scores, spent, key = beam.line[side], beam.scores[side], beam.spent[side], beam.key[side]
    variable_keys = beam.variable_keys
    for e in range(count):
        base = line[e, -1]
        ahead = 0.0
        for j in range(m):
            ahead += scores[PAID, e, j]
        ahead /= 2.0
        for j in range(m):
            variable, paid = members[now[BANK], base, j], scores[PAID, e, j]
            held = waiting.shape[2] > 0 and waiting[side, e, variable] > 0
            total = spent[e] + paid if scores[U, e, j] > 0.0 and not held else np.inf
            offers[SPENT, e, j] = total
            offers[VALUE, e, j] = total + rule.mu * (ahead - paid - scores[GAINS, e, j])
            offer_keys[e, j] = key[e] ^ variable_keys[variable]
    work.operations[0] += count * m
    step = len(variable_keys) - now[LEFT]
    history = beam.history[:, step]
    count = select(
        offers[VALUE, :count, :m], offers[SPENT], offer_keys, width, history[STATE], history[SLOT],
        work.least, work.taken,
    )  # fmt: skip
    for e in range(count):
        history[VARIABLE, e] = members[now[BANK], line[history[STATE, e], -1], history[SLOT, e]]
    now[COUNT] = count


@part(fastmath={"reassoc", "contract"})
def _leave(base, pool, line, steps, m, k, before, quiet, near_square, w, u, paid, gains):
    """Remove slot k: store its vector in w, and update u, D̃ and the gains, which become stale near k.

    D̃ of every variable loses its pair with k; other changes for variables not near k wait until everything is scored
    again.
    """
    _row_now(base, m, pool, line, steps, k, m, w)
    u_k = u[k]
    w[k] = 0.0
    for j in range(m):
        w[j] *= u_k
        x = w[j] * u[j]
        x = x * x
        gains[j] = np.nan if x > near_square else gains[j]
        paid[j] -= max(min(x * before - quiet, 1.0), 0.0)
        u[j] /= math.sqrt(max(1.0 - x, 1e-12))
    u[k] = 0.0
    paid[k] = 0.0
    gains[k] = 0.0


@part(inline=True)
def extend(rule, beam, work):
    """Write chosen states into the other half, each with one more pending step."""
    now, line, scores, pool, waiting = beam.now, beam.line, beam.scores, beam.pool, beam.waiting
    side, m, v, steps = now[SIDE], now[SLOTS], now[LEFT], now[PENDING]
    matrices, history, offers, earlier = beam.matrices, beam.history, beam.offers, beam.earlier
    spent, key, offer_keys = beam.spent, beam.key, beam.offer_keys
    degrees = rule.n - v + 1.0
    before, near_square = degrees / rule.c, rule.z_near * rule.z_near / degrees
    at = history.shape[1] - v
    for e in range(now[COUNT]):
        source, k = history[STATE, at, e], history[SLOT, at, e]
        base = line[side, source, -1]
        for s in range(steps):
            line[1 - side, e, s] = line[side, source, s]
        line[1 - side, e, steps] = e
        line[1 - side, e, -1] = base
        spent[1 - side, e] = offers[SPENT, source, k]
        key[1 - side, e] = offer_keys[source, k]
        for j in range(len(earlier)):
            waiting[1 - side, e, j] = waiting[side, source, j] - earlier[history[VARIABLE, at, e], j]
        for plane in range(3):
            for j in range(m):
                scores[1 - side, plane, e, j] = scores[side, plane, source, j]
        _leave(
            matrices[now[BANK], base * m * m :], pool, line[side, source], steps, m, k, before, rule.quiet, near_square,
            pool[steps, e], scores[1 - side, U, e], scores[1 - side, PAID, e], scores[1 - side, GAINS, e],
        )  # fmt: skip
        work.operations[0] += (steps + 2) * m


@kernel()
def advance(rule, beam, task, lists, work, width, every, steps):
    """Take this many steps of the whole beam, or as many as are left; or do another task."""
    now, line = beam.now, beam.line
    for _ in range(min(steps, now[LEFT] - 1)):
        first, last = task.state, task.state + 1
        if task.kind == ADVANCE:
            first, last = 0, now[COUNT]
        if task.kind == RENEW or now[DUE] == EVERYTHING:
            for e in range(first, last):
                renew(rule, beam, e, task, lists, work)
        if task.kind == RENEW:
            break
        if now[DUE] != NOTHING:
            for e in range(now[COUNT]):
                line[now[SIDE], e, -1] = e
            now[SLOTS] = now[LEFT]
            now[PENDING] = 0
            now[BANK] = 1 - now[BANK]
        for e in range(first, last):
            score_stale(rule, beam, e, work)
        if task.kind == SCORE:
            break
        choose(rule, beam, width, work)
        extend(rule, beam, work)
        now[SIDE] = 1 - now[SIDE]
        now[LEFT] -= 1
        now[PENDING] += 1
        now[DUE] = EVERYTHING if now[PENDING] == every else NOTHING
