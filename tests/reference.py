"""The paper, literally and slowly. Imports nothing from rfdag, so that agreement means something.

Graphs are sets of frozensets {i, j} (undirected) or of pairs (i, j) meaning i → j. `Population` answers by
d-separation, `Sample` by inverting the covariance of exactly the variables asked about.
"""

from __future__ import annotations

import functools
import itertools
import math

import networkx as nx
import numpy as np
from scipy.stats import norm


class Population:
    """Conditional independence in a DAG, by d-separation."""

    def __init__(self, dag):
        self.graph = nx.DiGraph()
        self.graph.add_nodes_from(range(len(dag)))
        self.graph.add_edges_from((int(i), int(j)) for i, j in np.argwhere(dag))

    def dependent(self, i, j, given):
        return not nx.is_d_separator(self.graph, {i}, {j}, set(given))


class Sample:
    """Conditional independence by Fisher's z-test on a covariance matrix."""

    def __init__(self, covariance, n, alpha):
        self.covariance, self.n, self.alpha = covariance, n, alpha

    def partial_correlation(self, i, j, given):
        chosen = [i, j, *given]
        precision = np.linalg.inv(self.covariance[np.ix_(chosen, chosen)])
        return -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])

    def dependent(self, i, j, given):
        r = self.partial_correlation(i, j, given)
        z = math.sqrt(self.n - len(given) - 3) * abs(0.5 * math.log((1 + r) / (1 - r)))
        return z > norm.ppf(1 - self.alpha / 2)


def moral_subgraph(world, nodes):
    """Definition 1."""
    return {
        frozenset((i, j))
        for i, j in itertools.combinations(sorted(nodes), 2)
        if world.dependent(i, j, [other for other in sorted(nodes) if other not in (i, j)])
    }


def removed_edges(world, nodes, k):
    """Definition 2."""
    return _induced(moral_subgraph(world, nodes), k) - moral_subgraph(world, set(nodes) - {k})


def fill_edges(world, nodes, k):
    """Definition 3."""
    return moral_subgraph(world, set(nodes) - {k}) - _induced(moral_subgraph(world, nodes), k)


def neighbours(world, nodes, k):
    return {next(iter(edge - {k})) for edge in moral_subgraph(world, nodes) if k in edge}


def degree(world, nodes, k):
    return len(neighbours(world, nodes, k))


def removed_among_neighbours(world, nodes, k):
    near = neighbours(world, nodes, k)
    return {edge for edge in removed_edges(world, nodes, k) if edge <= near}


def missing_among_neighbours(world, nodes, k):
    """The right-hand side of Proposition 1."""
    edges = moral_subgraph(world, nodes)
    pairs = itertools.combinations(sorted(neighbours(world, nodes, k)), 2)
    return {frozenset(pair) for pair in pairs if frozenset(pair) not in edges}


def rfd_step(world, nodes, w, removal=removed_edges, fill=fill_edges):
    """Algorithm 2; among the paths left, the lexicographically first. Returns (path, number of ties)."""
    paths = [((), 0, 0)]
    best = 0
    while w > 0 and best == 0:
        new_paths = []
        for path, r_path, d_path in paths:
            left = sorted(set(nodes) - set(path))
            if not left:
                new_paths.append((path, r_path, d_path))
                continue
            r = {k: len(removal(world, left, k)) for k in left}
            if max(r.values()) > 0:
                chosen = [k for k in left if r[k] == max(r.values())]
            else:
                f = {k: len(fill(world, left, k)) for k in left}
                chosen = [k for k in left if f[k] == min(f.values())]
            new_paths += [((*path, k), r[k], degree(world, left, k)) for k in chosen]
        w -= 1
        paths = new_paths
        best = max(r for _, r, _ in paths)
    paths = [entry for entry in paths if entry[1] == best]
    least = min(d for _, _, d in paths)
    tied = sorted(path for path, _, d in paths if d == least)
    return tied[0], len(tied)


def rfd(world, p, w=1, removal=removed_edges, fill=fill_edges):
    """Algorithm 1; the order has a source first."""
    nodes, removed = set(range(p)), []
    while nodes:
        path, _ = rfd_step(world, nodes, w, removal, fill)
        removed += path
        nodes -= set(path)
    return removed[::-1]


def greedy(world, p, score):
    """A baseline: always remove the node of least score, of lowest index among equals."""
    nodes, removed = set(range(p)), []
    while nodes:
        k = min(sorted(nodes), key=lambda k: score(world, sorted(nodes), k))
        removed.append(k)
        nodes -= {k}
    return removed[::-1]


BASELINES = {
    "min-degree": degree,
    "min-fill": lambda world, nodes, k: len(fill_edges(world, nodes, k)),
    "max-remove": lambda world, nodes, k: -len(removed_edges(world, nodes, k)),
}


def minimal_imap(world, order):
    """D_π of Section 2, conditioning on the other predecessors."""
    return {
        (i, j)
        for at, j in enumerate(order)
        for i in order[:at]
        if world.dependent(i, j, [k for k in order[:at] if k != i])
    }


def elimination_graph(dag, nodes):
    """Remove the other nodes from the moral graph one by one, joining the neighbours of each."""
    graph = nx.moral_graph(Population(dag).graph)
    for gone in set(graph) - set(nodes):
        graph.add_edges_from(itertools.combinations(list(graph[gone]), 2))
        graph.remove_node(gone)
    return {frozenset(edge) for edge in graph.edges}


def maximal_nodes(dag, nodes):
    graph = Population(dag).graph
    return {k for k in nodes if not nx.descendants(graph, k) & set(nodes)}


def cpdag(dag):
    """By definition: what all members of the Markov equivalence class agree on. Exponential in the edges."""
    dag = np.asarray(dag)
    pairs = [tuple(pair) for pair in np.argwhere(dag)]
    fingerprint = _v_structures(dag)
    union = np.zeros_like(dag)
    for turned in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), turn in zip(pairs, turned, strict=True):
            other[(j, i) if turn else (i, j)] = 1
        if nx.is_directed_acyclic_graph(Population(other).graph) and _v_structures(other) == fingerprint:
            union |= other
    return np.where((union == 1) & (union.T == 1), 2, union)


def _v_structures(dag):
    found = set()
    for k in range(len(dag)):
        for i, j in itertools.combinations(np.flatnonzero(dag[:, k]).tolist(), 2):
            if not (dag[i, j] or dag[j, i]):
                found.add((i, k, j))
    return found


def _induced(edges, k):
    return {edge for edge in edges if k not in edge}


def local_bic(rows_of, dag, price):
    """Σ_y n_y ln(RSS_y / TSS_y) + price · edges: each variable regressed, by least squares, in rows of its own.

    ``rows_of[y]`` is the data in which variable y is scored.
    """
    total = 0.0
    for y, rows in enumerate(rows_of):
        centred = rows - rows.mean(axis=0)
        parents = np.flatnonzero(np.asarray(dag)[:, y])
        slopes = np.linalg.lstsq(centred[:, parents], centred[:, y], rcond=None)[0]
        residual = centred[:, y] - centred[:, parents] @ slopes
        total += len(rows) * math.log(residual @ residual / (centred[:, y] @ centred[:, y])) + price * len(parents)
    return total


def all_dags(p):
    """Every DAG of p nodes, by its orders; some more than once."""
    pairs = list(itertools.combinations(range(p), 2))
    for order in itertools.permutations(range(p)):
        for chosen in itertools.product((0, 1), repeat=len(pairs)):
            dag = np.zeros((p, p), int)
            for (i, j), edge in zip(pairs, chosen, strict=True):
                dag[order[i], order[j]] = edge
            yield dag


def best_score(S, n, price, limit, before=()):
    """The least BIC of all DAGs: over sets of nodes, each with a last one that has its best parents among the rest.

    Families are scored one by one, by determinants. ``before`` are pairs of which the first must precede the second.
    """
    p = len(S)
    nodes = range(p)

    def score(y, family):
        held = [*family, y]
        inner = np.linalg.slogdet(S[np.ix_(family, family)])[1] if family else 0.0
        return n * (np.linalg.slogdet(S[np.ix_(held, held)])[1] - inner) + price * len(family)

    @functools.cache
    def family(y, among):
        options = [score(y, among)] if len(among) <= limit else []
        return min([*options, *(family(y, tuple(x for x in among if x != left)) for left in among)])

    @functools.cache
    def best(chosen):
        if not chosen:
            return 0.0
        last = [y for y in chosen if not any((y, z) in before for z in chosen)]
        rests = {y: tuple(x for x in chosen if x != y) for y in last}
        return min(best(rest) + family(y, rest) for y, rest in rests.items())

    return best(tuple(nodes))


def lasso(S, j, others, strength, sweeps=20_000):
    """Coefficients of j on others that minimise ½ βᵀSβ − S_jβ + λ‖β‖₁, one coordinate after the other."""
    beta = np.zeros(len(others))
    gram, target = S[np.ix_(others, others)], S[others, j]
    for _ in range(sweeps):
        before = beta.copy()
        for i in range(len(others)):
            rest = target[i] - gram[i] @ beta + gram[i, i] * beta[i]
            beta[i] = np.sign(rest) * max(abs(rest) - strength, 0) / gram[i, i]
        if np.abs(beta - before).max(initial=0) < 1e-15:
            break
    return beta


def variance(S, k, given):
    """The variance of k that is left given others, from their covariances."""
    return S[k, k] - S[k, given] @ np.linalg.solve(S[np.ix_(given, given)], S[given, k]) if given else S[k, k]


def stepwise_cost(S, n, k, others, c):
    """What k costs after others: while the weakest parent is worth less than c, it is left out, for its worth / c."""
    parents, cost = list(others), 0.0
    while parents:
        worth = {
            i: n * math.log(variance(S, k, [j for j in parents if j != i]) / variance(S, k, parents)) for i in parents
        }
        weakest = min(parents, key=worth.get)
        if worth[weakest] >= c:
            break
        cost += worth[weakest] / c
        parents.remove(weakest)
    return cost + len(parents)


def soft_weights(S, n, nodes, c):
    """The weight min(z² / c, 1) of every pair of nodes, from the inverse of their covariance."""
    K = np.linalg.inv(S[np.ix_(nodes, nodes)])
    scale = np.sqrt(np.diag(K))
    weights = np.minimum((n - len(nodes) + 1) * (K / np.outer(scale, scale)) ** 2 / c, 1.0)
    np.fill_diagonal(weights, 0.0)
    return weights


def stepwise_beam(S, n, width, mu, c, shortlist, before=(), slack=math.inf, margin=1.0):
    """Pairs (cost, order) that a beam under the stepwise cost ends with, the cheapest first.

    A state is what has been removed, the last first, with its cost. ``before`` holds pairs (i, j): i must precede j.
    States that rank more than ``slack`` behind the first are given up, and continuations whose soft cost is more than
    ``margin`` times that behind are not on the shortlist.
    """
    p = len(S)
    states = [((), 0.0)]
    for _ in range(p - 1):
        offers = []
        for removed, spent in states:
            left = [i for i in range(p) if i not in removed]
            weights = soft_weights(S, n, left, c)
            for at, k in enumerate(left):
                others = [i for i in left if i != k]
                if any((k, i) in before for i in others):
                    continue
                ahead = soft_weights(S, n, others, c).sum() / 2
                offers.append((spent + weights[at].sum() + mu * ahead, removed, spent, k, others, ahead))
        listed = sorted(round(offer[0], 9) for offer in offers)[: shortlist * width]
        cut = min(listed[-1], listed[0] + margin * slack)
        exact = []
        for soft, removed, spent, k, others, ahead in offers:
            if round(soft, 9) <= cut:
                paid = spent + stepwise_cost(S, n, k, others, c)
                exact.append((round(paid + mu * ahead, 9), len(exact), (k, *removed), paid))
        chosen = {}
        last = min(exact)[0] + slack
        for rank, number, removed, paid in sorted(exact):
            if rank <= last and frozenset(removed) not in chosen and len(chosen) < width:
                chosen[frozenset(removed)] = number, removed, paid
        states = [(removed, paid) for _, removed, paid in sorted(chosen.values())]
    found = [(paid, [*(set(range(p)) - set(removed)), *removed]) for removed, paid in states]
    return sorted(found, key=lambda state: round(state[0], 9))
