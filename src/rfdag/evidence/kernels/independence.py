"""Compiled loops of the independence tests: partial correlations, walks of d-separation, and counts of categories."""

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


@part()
def _sort_rows(column, first, order, other):
    """Store ``order`` in ``other``, sorted by the codes of a column; ``first`` has an entry for each code and one more.

    Rows of one code stay in their order.
    """
    first[:] = 0
    for row in order:
        first[column[row] + 1] += 1
    for code in range(1, len(first)):
        first[code] += first[code - 1]
    for row in order:
        other[first[column[row]]] = row
        first[column[row]] += 1


@part()
def _spread(counts, present, levels, rows, extra, weights, spread):
    """Store each level's weight, and trace, trace of the square, and squared diagonal of the centred kernel.

    The kernel of two rows is the weight of their level where it is the same, else 0.
    """
    mean = 0.0
    for at in range(levels):
        count = counts[present[at]]
        weights[present[at]] = 1.0 / (count + extra)
        mean += weights[present[at]] * count * count
    mean /= rows * rows
    trace, diagonal, square, means = 0.0, 0.0, 0.0, 0.0
    for at in range(levels):
        count = counts[present[at]]
        total = weights[present[at]] * count
        own = weights[present[at]] - 2.0 * total / rows + mean
        trace += count * own
        diagonal += count * own * own
        square += total * total
        means += count * total * total / rows
    spread[0], spread[1], spread[2] = trace, square - 2.0 * means + rows * mean * rows * mean, diagonal


@kernel(allocates=True)
def contingency(codes, sizes, i, j, given, shrinkage, found):
    """Store how far the counts of i and j differ from independence in all strata of others, with mean and variance.

    ``codes`` has a row for each variable. In a stratum of N rows, the squared difference of a cell's count from the
    expected one is weighed by N over (row sum + κ) (column sum + κ), κ = shrinkage · √N; without κ it is Pearson's X².
    Mean and variance are those over all permutations of j within strata. ``found`` becomes: statistic, mean,
    variance, degrees of freedom, rows in strata of fewer than three, where nothing varies.
    """
    n = codes.shape[1]
    order, other = np.arange(n), np.empty(n, np.int64)
    widest = sizes[i]
    for variable in given:
        widest = max(widest, sizes[variable])
    first = np.empty(widest + 1, np.int64)
    _sort_rows(codes[i], first[: sizes[i] + 1], order, other)
    order, other = other, order
    for variable in given:
        _sort_rows(codes[variable], first[: sizes[variable] + 1], order, other)
        order, other = other, order

    of_i, of_j, cells = np.zeros(sizes[i], np.int64), np.zeros(sizes[j], np.int64), np.zeros(sizes[j], np.int64)
    present_i, present_j = np.empty(sizes[i], np.int64), np.empty(sizes[j], np.int64)
    weights_i, weights_j = np.empty(sizes[i]), np.empty(sizes[j])
    spread_i, spread_j = np.empty(3), np.empty(3)
    found[:] = 0.0
    start = 0
    while start < n:
        end = start + 1
        same = True
        while same and end < n:
            for variable in given:
                same &= codes[variable, order[start]] == codes[variable, order[end]]
            end += same
        levels_i, levels_j = 0, 0
        for at in range(start, end):
            a, b = codes[i, order[at]], codes[j, order[at]]
            if of_i[a] == 0:
                present_i[levels_i] = a
                levels_i += 1
            if of_j[b] == 0:
                present_j[levels_j] = b
                levels_j += 1
            of_i[a] += 1
            of_j[b] += 1
        rows = float(end - start)
        found[3] += (levels_i - 1) * (levels_j - 1)
        if rows < 3.0:
            found[4] += rows
        elif levels_i > 1 and levels_j > 1:
            extra = shrinkage * math.sqrt(rows)
            _spread(of_i, present_i, levels_i, rows, extra, weights_i, spread_i)
            _spread(of_j, present_j, levels_j, rows, extra, weights_j, spread_j)
            left = rows - 1.0
            mean = spread_i[0] * spread_j[0] / left
            # The variance of a generalised RV coefficient: Kazi-Aoual, Hitier, Sabatier and Lebreton (1995).
            variance = 2.0 * (left * spread_i[1] - spread_i[0] ** 2) * (left * spread_j[1] - spread_j[0] ** 2)
            variance /= left * left * (rows + 1.0) * (rows - 2.0)
            if rows > 3.0:
                uneven_i = rows * (rows + 1.0) * spread_i[2] - left * (spread_i[0] ** 2 + 2.0 * spread_i[1])
                uneven_j = rows * (rows + 1.0) * spread_j[2] - left * (spread_j[0] ** 2 + 2.0 * spread_j[1])
                variance += uneven_i * uneven_j / ((rows + 1.0) * rows * left * (rows - 2.0) * (rows - 3.0))
            # Where all counts follow from the margins there is nothing to learn, and rounding is no variance.
            if variance > 1e-12 * mean * mean:
                expected_i, expected_j = 0.0, 0.0
                for at in range(levels_i):
                    expected_i += weights_i[present_i[at]] * of_i[present_i[at]] ** 2
                for at in range(levels_j):
                    expected_j += weights_j[present_j[at]] * of_j[present_j[at]] ** 2
                statistic = expected_i * expected_j / (rows * rows)
                at = start
                while at < end:
                    a = codes[i, order[at]]
                    after = at + of_i[a]
                    for place in range(at, after):
                        cells[codes[j, order[place]]] += 1
                    for place in range(at, after):
                        b = codes[j, order[place]]
                        count = cells[b]
                        if count > 0:
                            statistic += weights_i[a] * weights_j[b] * count * (count - 2.0 * of_i[a] * of_j[b] / rows)
                            cells[b] = 0
                    at = after
                found[0] += rows * statistic
                found[1] += rows * mean
                found[2] += rows * rows * variance
        for at in range(levels_i):
            of_i[present_i[at]] = 0
        for at in range(levels_j):
            of_j[present_j[at]] = 0
        start = end
