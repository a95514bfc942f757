"""The score of environments, literally and slowly, from the rows themselves. Imports nothing from rfdag."""

import itertools
import math

import numpy as np


def family_score(rows, labels, y, parents, targeted, *, kind, centred, price_of_parent, price):
    """s(y, P): the rows that do not target y, what parents cost, and y's mechanism wherever it is a target.

    ``targeted`` are the labels of the environments that target y. Variances are in units of the pooled ones.
    """
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    parents = list(parents)
    kept = ~np.isin(labels, list(targeted))
    shifted = rows.copy()
    if centred:
        for label in set(labels):
            shifted[labels == label] -= rows[labels == label].mean(axis=0)
    free = shifted[kept] - shifted[kept].mean(axis=0)
    slopes = _slopes(free[:, parents], free[:, y])
    total = kept.sum() * math.log(np.mean((free[:, y] - free[:, parents] @ slopes) ** 2))
    total += price_of_parent * len(parents)
    for label in targeted:
        here = rows[labels == label] - rows[labels == label].mean(axis=0)
        total += mechanism_cost(here[:, parents], here[:, y], slopes, kind, price)
    return total


def mechanism_cost(x, y, slopes, kind, price):
    """The least of cut, shift and own slopes, those that the kind of intervention allows."""
    n, m = x.shape
    costs = []
    if kind in ("hard", "auto"):
        costs.append(n * math.log(np.mean(y**2)) + 2 * price)
    if kind in ("soft", "auto"):
        costs.append(n * math.log(np.mean((y - x @ slopes) ** 2)) + 2 * price)
        if m and n > 2 * m + 4:
            costs.append(n * math.log(np.mean((y - x @ _slopes(x, y)) ** 2)) + (2 + m) * price)
    return min(costs)


def best_targets(rows, labels, y, parents, free, **options):
    """The set of environments, among those that are free to be targets, with the least score; of all sets."""
    sets = itertools.chain.from_iterable(itertools.combinations(free, size) for size in range(len(free) + 1))
    enough = 2 * len(parents) + 4
    possible = [each for each in sets if (~np.isin(labels, each)).sum() > enough]
    scores = [family_score(rows, labels, y, parents, each, **options) for each in possible]
    return min(zip(scores, possible, strict=True))


def _slopes(x, y):
    return np.linalg.lstsq(x, y, rcond=None)[0]
