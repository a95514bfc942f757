"""Eliminations of variables of several columns against slow linear algebra."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rfdag.eliminate.beams.blocks import BlockSetting, block_orders
from rfdag.eliminate.kernels.blocks import marginalise, weigh_edges, weigh_removals
from rfdag.evidence.expansion import Expansion, Powers, whitened
from rfdag.knowledge import Knowledge

STARTS = np.array([0, 2, 3, 6, 7])
NOISE, CAP, NEAR = 2.0, 6.0, 4.0


def white_covariance(seed=0, n=200):
    """Return the covariance of four variables of 2, 1, 3 and 1 columns, those of each uncorrelated."""
    generator = np.random.default_rng([seed, 3])
    rows = generator.normal(size=(n, 7)) @ (np.eye(7) + 0.4 * np.triu(generator.normal(size=(7, 7)), 1))
    covariance = np.cov(rows.T)
    for first, last in itertools.pairwise(STARTS):
        inverse = np.linalg.inv(np.linalg.cholesky(covariance[first:last, first:last]))
        covariance[first:last] = inverse @ covariance[first:last]
        covariance[:, first:last] = covariance[:, first:last] @ inverse.T
    return covariance


def strength(precision, columns_i, columns_j):
    both = [*columns_i, *columns_j]
    dets = [np.linalg.slogdet(precision[np.ix_(some, some)])[1] for some in (both, columns_i, columns_j)]
    return dets[1] + dets[2] - dets[0]


def columns_of(variable):
    return list(range(STARTS[variable], STARTS[variable + 1]))


def paid_for(precision, i, j, rows):
    freedom = len(columns_of(i)) * len(columns_of(j))
    weight = rows * strength(precision, columns_of(i), columns_of(j))
    return min(max(weight - NOISE * freedom, 0.0), CAP * freedom), weight / freedom


def test_removing_a_variable_marginalises_its_columns():
    precision = np.linalg.inv(white_covariance())
    after = precision.copy()
    marginalise(after, 3, 6)
    left = [0, 1, 2, 6]
    expected = np.linalg.inv(np.linalg.inv(precision)[np.ix_(left, left)])
    np.testing.assert_allclose(after[np.ix_(left, left)], expected, atol=1e-10)
    assert not after[3:6, left].any()


@pytest.mark.parametrize("seed", range(4))
def test_edges_and_removals_weigh_what_determinants_say(seed):
    precision, rows, p = np.linalg.inv(white_covariance(seed)), 150.0, 4
    paid, ratio, lighter = np.zeros((p, p)), np.zeros((p, p)), np.zeros(p)
    alive = np.ones(p, bool)
    weigh_edges(precision, STARTS, alive, rows, NOISE, CAP, paid, ratio)
    weigh_removals(precision, STARTS, alive, alive, rows, NOISE, CAP, NEAR, paid, ratio, lighter)
    for i, j in itertools.combinations(range(p), 2):
        assert (paid[i, j], ratio[i, j]) == pytest.approx(paid_for(precision, i, j, rows))
    for k in range(p):
        after = precision.copy()
        marginalise(after, STARTS[k], STARTS[k + 1])
        close = [i for i in range(p) if i != k and ratio[i, k] > NEAR]
        expected = sum(
            paid[i, j] - paid_for(after, i, j, rows + len(columns_of(k)))[0]
            for i, j in itertools.combinations(close, 2)
        )
        assert lighter[k] == pytest.approx(expected)


def test_a_variable_that_nothing_depends_on_beyond_others_goes_last():
    """In x → y ← z each of several columns, y is the sink; a wider beam pays no more."""
    generator = np.random.default_rng(4)
    x, z = generator.normal(size=(2, 2000, 2))
    y = x @ [[1.0, 0.5], [0.0, 1.0]] + z @ [[1.0, 0.0], [0.3, 1.0]] + generator.normal(size=(2000, 2))
    raw = np.cov(np.hstack([x, y, z]).T)
    names = ("x", "y", "z")
    white, _, starts = whitened(raw, Expansion(names, tuple(Powers(0.0, 1.0, 2) for _ in names)))
    setting = BlockSetting(2.0, 6.0, 0.7)
    for width in (1, 4):
        assert block_orders(white, starts, 2000, setting, width)[0][-1] == 1
    constraints = Knowledge(tiers=[["y"], ["x", "z"]]).constraints(names)
    assert block_orders(white, starts, 2000, setting, 1, constraints)[0][0] == 1


def test_what_only_a_removal_touches_is_weighed_anew_and_the_order_is_much_the_same(monkeypatch):
    generator = np.random.default_rng(6)
    weights = np.triu((generator.random((40, 40)) < 0.08) * generator.uniform(0.5, 1.0, (40, 40)), 1)
    rows = np.zeros((1000, 40))
    for at in range(40):
        rows[:, at] = rows @ weights[:, at] + generator.normal(size=1000)
    correlation = np.corrcoef(rows.T)
    setting, starts = BlockSetting(2.0, 6.0, 0.7), np.arange(41)
    exact = block_orders(correlation, starts, 1000, setting)[0]
    monkeypatch.setattr("rfdag.eliminate.beams.blocks.LARGEST_EXACT", 10)
    lazy = block_orders(correlation, starts, 1000, setting)[0]

    def against(order):
        place = np.argsort(order)
        return sum(place[i] > place[j] for i, j in np.argwhere(weights))

    assert against(lazy) <= against(exact) + 5
    assert sorted(lazy.tolist()) == list(range(40))
