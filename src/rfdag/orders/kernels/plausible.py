"""Compiled loops that tell which candidates of a variable may be its parents, by its regression on all of them."""

import math

from rfdag.knowledge.constraints import FORBIDDEN, REQUIRED
from rfdag.orders.kernels.fits import LIMIT, OWN, PLACE, ROLES, ROWS, TINY, gram_of, list_of
from rfdag.runtime.compilation import kernel


@kernel(fastmath={"reassoc", "contract"})
def mark_plausible(variables, least_z2, state, chosen, triangle, found, known):
    """Mark along the list of each variable which candidates before it may be its parents, and of which it is known.

    With L the Cholesky factor of the correlations of m such candidates and then of y, candidate j has
    z² = (n − m) (L⁻¹)_mj² / Σ_s<m (L⁻¹)_sj². It may be a parent from ``least_z2[m]`` on, and a required one is. Nothing
    is marked where candidates depend on each other, or where rows are too few for all of them.
    """
    place, knowledge = state.places[PLACE], state.knowledge
    free = knowledge.shape[1] == 0
    for number in range(len(variables)):
        y = variables[number]
        listed, gram, n = list_of(state, y), gram_of(state, y), state.values[ROWS, y]
        k = len(listed)
        m = 0
        for q in range(k):
            x = listed[q]
            if place[x] < place[y] and (free or knowledge[ROLES, y, x] != FORBIDDEN):
                chosen[m] = q
                m += 1
        if m == 0 or m > state.places[LIMIT, y]:
            continue
        chosen[m] = state.places[OWN, y]
        solid = True
        for s in range(m + 1):
            row, first = triangle[s], chosen[s] * k
            size = 1.0
            for t in range(s):
                other = triangle[t]
                total = gram[first + chosen[t]]
                for r in range(t):
                    total -= row[r] * other[r]
                row[t] = total / other[t]
                size -= row[t] * row[t]
            if size < TINY:
                solid = False
                break
            row[s] = math.sqrt(size)
        if not solid:
            continue
        column = triangle[m + 1]
        for j in range(m):
            column[j] = 1.0 / triangle[j, j]
            others = column[j] * column[j]
            for s in range(j + 1, m + 1):
                row = triangle[s]
                total = 0.0
                for r in range(j, s):
                    total += row[r] * column[r]
                column[s] = -total / row[s]
                if s < m:
                    others += column[s] * column[s]
            required = not free and knowledge[ROLES, y, listed[chosen[j]]] == REQUIRED
            if required or (n - m) * column[m] * column[m] > least_z2[m] * others:
                found[state.starts[y] + chosen[j]] = True
        known[y] = True
