"""Compiled loops that fit one variable: choosing its parents among its predecessors by the Gaussian BIC.

Every variable y is scored in moments of its own: ``gram``, the correlations of y and its candidates, and the number
``n`` of rows behind it; `State` holds those of all. The score of y with parents P is n ln var(y | P) + price · Σ f_xy
over x in P; smaller is better. The factor f_xy is 1 unless values are missing (`rfdag.evidence.pair_rows`).

Only the candidates of y can be its parents (`rfdag.orders.candidates`). Its list holds them and y itself, ascending;
parents, fits and what is left of variances are numbered along this list. If x is a candidate of y, y is one of x, and
the mirror tells where each stands in the list of the other. Where a list holds all variables, numbers along it are the
variables themselves, and all variables may share one gram matrix.

A fit of y on parents P is a Gram–Schmidt basis of P, one row per parent: row t holds the covariance of every variable
of the list with the t-th basis vector. From the rows come two vectors,

    variances[q]    var(q | P)
    covariances[q]  cov(q, y | P)

so that q would explain covariances[q]² / variances[q] more of y, known at once for all q. Adding a parent adds a row,
leaving one out rotates rows, each O(k · |P|) for k candidates. The vectors are kept for every variable of an order, so
whether x should become a parent of y is answered in O(1), and only variables whose parents change are ever fitted anew.

A ``fit`` is one array: the variances, the covariances, then the basis; the numbers of its ``parents`` are another.

A tuple of many arrays is slow to compile at each use, so arrays of one kind are rows of one array, and a function looks
each of them up once. Slices are copied in loops: an assignment between them compiles its error messages, too.
"""

import math
from typing import NamedTuple

import numpy as np

from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.runtime.compilation import part

TINY = 1e-13
"""Share of its variance left below which a variable counts as explained by others: what rounding leaves of 1."""

WORTH = 1e-7
"""Least gain in score for which parents or an order are changed; keeps searches from repeating themselves."""

ORDER, PLACE, COUNT, STALE, GRAM, LIMIT, OWN = range(7)
"""Rows of ``State.places``: the order, where each variable is in it, the number of its parents, whether it should be
tried elsewhere; where its gram matrix begins, the bound on the number of its parents, and where it stands in its own
list."""

SCORE, ROWS = range(2)
"""Rows of ``State.values``: the score of each variable, and the number of rows it is scored on."""

LISTED, MIRROR = range(2)
"""Rows of ``State.lists``: the variables of all lists, one list after the other, and where the owner of a list stands
in theirs."""

VARIANCES, COVARIANCES, BASIS = range(3)
"""Rows of a fit; the basis begins with the last."""

ROLES, FIRST = range(2)
"""Planes of ``State.knowledge``: what x may be to y as a parent, and whether x must precede z."""

WEIGHTS, COLUMN, TRIANGLE = range(3)
"""Rows of ``Work.triangle``: the covariances of y with the basis, a column of the inverse, and the triangle itself."""

MINE, THEIRS = range(2)
"""Fits in a workspace: that of the variable that moves, and that of another."""

NONE: int = np.int64(0)  # type: ignore[assignment]
NOBODY: int = np.int64(-1)  # type: ignore[assignment]
"""Numbers to pass to functions, as numpy integers: numba would compile a function anew for each plain one."""


class State(NamedTuple):
    """An order, and for each variable its parents and what the others could still contribute.

    The list of y reaches from starts[y] to starts[y + 1], k of them; the k × k correlations along it begin at
    grams[places[GRAM, y]]. ``left`` has the variances and the covariances given the parents, along the lists.
    ``factors`` has the factors of the prices along the lists; it is empty where all are 1. ``knowledge`` is empty where
    there is none.
    """

    grams: np.ndarray
    factors: np.ndarray
    starts: np.ndarray
    lists: np.ndarray
    places: np.ndarray
    parents: np.ndarray
    values: np.ndarray
    left: np.ndarray
    knowledge: np.ndarray


class Work(NamedTuple):
    """Workspace of a search, and the number of operations so far.

    There is room for two fits and their parents, for what each parent explains, for the candidates along a way through
    the order and the scores there, and for parents before a move.
    """

    fits: np.ndarray
    parents: np.ndarray
    triangle: np.ndarray
    way: np.ndarray
    path: np.ndarray
    before: np.ndarray
    operations: np.ndarray


@part(inline=True)
def list_of(state, y):
    """Return the list of y: its candidates and y itself."""
    return state.lists[LISTED, state.starts[y] : state.starts[y + 1]]


@part(inline=True)
def gram_of(state, y):
    """Return the correlations along the list of y, row after row."""
    first, k = state.places[GRAM, y], state.starts[y + 1] - state.starts[y]
    return state.grams[first : first + k * k]


@part(inline=True)
def price_at(state, price, y, q):
    """Return the price of the q-th of the list of y as a parent of y."""
    return price * state.factors[state.starts[y] + q] if len(state.factors) > 0 else price


@part()
def price_of(state, price, y, parents, m):
    """Return the price of m parents of y."""
    if len(state.factors) == 0:
        return price * m
    total = 0.0
    for t in range(m):
        total += state.factors[state.starts[y] + parents[t]]
    return price * total


@part(fastmath={"reassoc", "contract"})
def add_parent(gram, k, own, x, parents, fit, m):
    """Add the x-th of a list of k as parent number m of the one at ``own``."""
    variances, covariances, row = fit[VARIANCES], fit[COVARIANCES], fit[BASIS + m]
    scale = 1.0 / math.sqrt(variances[x])
    correlations = gram[x * k : (x + 1) * k]
    for q in range(k):
        row[q] = correlations[q]
    for t in range(m):
        other = fit[BASIS + t]
        factor = other[x]
        for q in range(k):
            row[q] -= factor * other[q]
    for q in range(k):
        row[q] *= scale
    weight = row[own]
    for q in range(k):
        variances[q] -= row[q] * row[q]
        covariances[q] -= row[q] * weight
    parents[m] = x
    for t in range(m + 1):
        variances[parents[t]] = 0.0
        covariances[parents[t]] = 0.0
    variances[own] = max(variances[own], TINY)


@part(fastmath={"reassoc", "contract"})
def drop_parent(k, own, at, parents, fit, m):
    """Leave out the parent number ``at`` of m from the fit of the one at ``own`` in a list of k.

    Rotations of neighbouring rows leave the last row as the only one to which this parent contributes.
    """
    variances, covariances = fit[VARIANCES], fit[COVARIANCES]
    gone = parents[at]
    for t in range(at, m - 1):
        parents[t] = parents[t + 1]
        upper, lower = fit[BASIS + t], fit[BASIS + t + 1]
        a, b = upper[parents[t]], lower[parents[t]]
        size = math.sqrt(a * a + b * b)
        a /= size
        b /= size
        for q in range(k):
            u, v = upper[q], lower[q]
            upper[q] = a * u + b * v
            lower[q] = a * v - b * u
    row = fit[BASIS + m - 1]
    weight = row[own]
    for q in range(k):
        variances[q] += row[q] * row[q]
        covariances[q] += row[q] * weight
    for t in range(m - 1):
        variances[parents[t]] = 0.0
        covariances[parents[t]] = 0.0
    # The last row holds all that the others left of this parent.
    variances[gone] = row[gone] * row[gone]
    covariances[gone] = row[gone] * weight


@part()
def load_fit(state, y, given, count, parents, fit, operations):
    """Fit y on those of ``count`` given parents that precede it; return how many of them the fit has."""
    place, own, variances, covariances = state.places[PLACE], state.places[OWN, y], fit[VARIANCES], fit[COVARIANCES]
    listed, gram = list_of(state, y), gram_of(state, y)
    k = len(listed)
    m = NONE
    for q in range(k):
        variances[q] = 1.0
        covariances[q] = gram[own * k + q]
    for t in range(count):
        x = given[t]
        # Given parents may determine each other.
        if place[listed[x]] < place[y] and variances[x] > TINY:
            add_parent(gram, k, own, x, parents, fit, m)
            m += 1
    operations[0] += k * (m * (m + 1) // 2 + 1)
    return m


@part(fastmath={"reassoc", "contract"})
def least_loss(state, price, y, parents, m, left, triangle):
    """Return (number, share): which of m parents of y is least worth its price, and how much of y it explains.

    Required ones are left out; −1 if there are no others. ``left`` is the variance of y given all m.

    With L the triangle of the parents' own covariances with the basis and w those of y, parent t explains
    (L⁻ᵀ w)_t² / (L⁻ᵀ L⁻¹)_tt.
    """
    weights, column = triangle[WEIGHTS], triangle[COLUMN]
    knowledge, listed, even, n = state.knowledge, list_of(state, y), len(state.factors) == 0, state.values[ROWS, y]
    least = -1
    loss = lowest = np.inf
    for t in range(m):
        if knowledge.shape[1] > 0 and knowledge[ROLES, y, listed[parents[t]]] == REQUIRED:
            continue
        column[t] = 1.0 / triangle[TRIANGLE + t, t]
        slope = column[t] * weights[t]
        size = column[t] * column[t]
        for s in range(t + 1, m):
            row = triangle[TRIANGLE + s]
            total = 0.0
            for r in range(t, s):
                total += row[r] * column[r]
            column[s] = -total / row[s]
            slope += column[s] * weights[s]
            size += column[s] * column[s]
        if even:
            if slope * slope < loss * size:
                loss = slope * slope / size
                least = t
        else:
            share = slope * slope / size
            change = n * math.log((left + share) / left) - price_at(state, price, y, parents[t])
            if change < lowest:
                lowest, loss = change, share
                least = t
    return least, loss


@part()
def choose_parents(state, price, y, before, banned, limit, parents, fit, m, work):
    """Grow and shrink the parents of y among the candidates placed before ``before``, until nothing improves.

    Returns their number, at most ``limit``, and the score. The ``banned`` one of the list is no candidate wherever it
    is placed. With the limit NONE parents are only left out, the least useful first, while that improves the score.
    """
    gram, n = gram_of(state, y), state.values[ROWS, y]
    place, knowledge = state.places[PLACE], state.knowledge
    triangle, operations = work.triangle, work.operations
    variances, covariances = fit[VARIANCES], fit[COVARIANCES]
    free = knowledge.shape[1] == 0
    listed = list_of(state, y)
    k = len(listed)
    mine = state.places[OWN, y]
    even = len(state.factors) == 0
    while True:
        grown = False
        while m < limit:
            operations[0] += k
            best = lowest = 0.0
            pivot = NOBODY
            for q in range(k):
                # y itself is never placed before it.
                if place[listed[q] if k < len(place) else q] < before and variances[q] > TINY:
                    share = covariances[q] * covariances[q] / variances[q]
                    if even:
                        if share > best and q != banned and (free or knowledge[ROLES, y, listed[q]] != FORBIDDEN):
                            best = share
                            pivot = q
                    elif q != banned and (free or knowledge[ROLES, y, listed[q]] != FORBIDDEN):
                        gain = n * math.log(max(variances[mine] - share, TINY) / variances[mine])
                        gain += price_at(state, price, y, q)
                        if gain < lowest:
                            best, lowest = share, gain
                            pivot = q
            if pivot < 0:
                break
            gain = n * math.log(max(variances[mine] - best, TINY) / variances[mine])
            if not gain + price_at(state, price, y, pivot) < -WORTH:
                break
            add_parent(gram, k, mine, pivot, parents, fit, m)
            m += 1
            operations[0] += k * m
            grown = True
        count = m
        while m > 0:
            for s in range(m):
                triangle[WEIGHTS, s] = fit[BASIS + s, mine]
                for t in range(s + 1):
                    triangle[TRIANGLE + s, t] = fit[BASIS + t, parents[s]]
            least, loss = least_loss(state, price, y, parents, m, variances[mine], triangle)
            operations[0] += m * (m + 1) * (m + 2) // 6
            if least < 0:
                break
            gain = n * math.log((variances[mine] + loss) / variances[mine])
            if gain - price_at(state, price, y, parents[least]) >= -WORTH:
                break
            operations[0] += k * (m - least)
            drop_parent(k, mine, least, parents, fit, m)
            m -= 1
        if m == count or not grown:
            return m, n * math.log(variances[mine]) + price_of(state, price, y, parents, m)


@part(fastmath={"reassoc", "contract"})
def basis_over(gram, k, y, parents, m, triangle):
    """Store the Cholesky factor over m parents of the y-th of a list of k; return its variance given them."""
    weights = triangle[WEIGHTS]
    left = 1.0
    for s in range(m):
        row = gram[parents[s] * k : (parents[s] + 1) * k]
        own = triangle[TRIANGLE + s]
        size = 1.0
        weight = row[y]
        for t in range(s):
            other = triangle[TRIANGLE + t]
            total = row[parents[t]]
            for r in range(t):
                total -= own[r] * other[r]
            own[t] = total / other[t]
            size -= own[t] * own[t]
            weight -= own[t] * weights[t]
        own[s] = math.sqrt(max(size, TINY * TINY))
        weights[s] = weight / own[s]
        left -= weights[s] * weights[s]
    return max(left, TINY)
