"""Compiled loops of the independence tests: partial correlations from a triangle, and walks of d-separation."""

import math

import numpy as np

from rfdag.runtime.compilation import kernel, part


@part(fastmath={"reassoc", "contract"})
def _dot(x, y, first, last):
    total = 0.0
    for t in range(first, last):
        total += x[t] * y[t]
    return total


@kernel()
def decompose(C, chosen, least, L):
    """Store L with L Lᵀ = C over ``chosen``; return False when a variance left is below ``least``."""
    for s in range(len(chosen)):
        row = C[chosen[s]]
        for t in range(s):
            L[s, t] = (row[chosen[t]] - _dot(L[s], L[t], 0, t)) / L[t, t]
        left = row[chosen[s]] - _dot(L[s], L[s], 0, s)
        if not left > least:
            return False
        L[s, s] = math.sqrt(left)
    return True


@kernel()
def last_partial_correlations(L, column, sizes):
    """Store the size of the correlation of the last variable with each other one given the rest.

    With X = L⁻¹ the precision matrix is XᵀX, and the last row of X is the only one to touch the last variable: so
    the partial correlation with k is −X_mk over the norm of column k of X.
    """
    m = len(L)
    for k in range(m - 1):
        column[k] = 1.0 / L[k, k]
        for s in range(k + 1, m):
            column[s] = -_dot(L[s], column, k, s) / L[s, s]
        sizes[k] = abs(column[m - 1]) / math.sqrt(_dot(column, column, k, m))


@kernel(allocates=True)
def connected(parents, parents_from, children, children_from, source, others, answers):
    """Store for each of ``others`` whether it is d-connected to ``source`` given the rest of them.

    The parents of c are parents[parents_from[c]:parents_from[c + 1]], and likewise its children. One walk answers for
    all: an open path to j is cut short at the first of the others it meets as a non-collider, and a collider that
    only j (or the source) opens leads on to j itself by its descent.
    """
    p = len(parents_from) - 1
    conditioned = np.zeros(p, np.bool_)
    opens_collider = np.zeros(p, np.bool_)
    todo = np.empty(2 * p + len(others), np.int64)
    waiting = 0
    for other in others:
        conditioned[other] = True
        opens_collider[other] = True
        todo[waiting] = other
        waiting += 1
    while waiting > 0:
        waiting -= 1
        node = todo[waiting]
        for at in range(parents_from[node], parents_from[node + 1]):
            parent = parents[at]
            if not opens_collider[parent]:
                opens_collider[parent] = True
                todo[waiting] = parent
                waiting += 1

    # A visit is a node and whether we came to it along an arrow, from a parent (node + p), or against one (node).
    visited = np.zeros(2 * p, np.bool_)
    visited[source] = True
    visited[source + p] = True
    todo[0] = source
    waiting = 1
    while waiting > 0:
        waiting -= 1
        visit = todo[waiting]
        node = visit % p
        blocked = conditioned[node]
        if (opens_collider[node] if visit >= p else not blocked) or node == source:
            for at in range(parents_from[node], parents_from[node + 1]):
                parent = parents[at]
                if not visited[parent]:
                    visited[parent] = True
                    todo[waiting] = parent
                    waiting += 1
        if not blocked:
            for at in range(children_from[node], children_from[node + 1]):
                child = children[at]
                if not visited[child + p]:
                    visited[child + p] = True
                    todo[waiting] = child + p
                    waiting += 1
    for at in range(len(others)):
        answers[at] = visited[others[at]] or visited[others[at] + p]
