"""Several penalties, compared."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rfdag
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.orders.margin import noise_at_the_margin
from rfdag.orders.scores import ScoredOrder
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.wording import edge_price

DAG = random_dag(20, degree=4, rng=2)
ROWS = sample(linear_sem(DAG, rng=2), 300, rng=2)
PENALTIES = [4, 0.5, 1, 2]


@pytest.fixture(scope="module")
def found():
    return rfdag.learn(ROWS, penalty=PENALTIES)


def test_a_path_has_a_point_for_every_penalty_in_ascending_order(found):
    assert [point.penalty for point in found.path] == sorted(PENALTIES)
    edges = [point.edges for point in found.path]
    assert edges == sorted(edges, reverse=True)
    assert [point.chosen for point in found.path].count(True) == 1


def test_the_chosen_point_is_the_result(found):
    (point,) = (point for point in found.path if point.chosen)
    assert found.penalty == point.penalty
    assert found.score == point.score
    assert found.dag.sum() == point.edges
    assert point.criterion == min(other.criterion for other in found.path)
    price = edge_price(point.penalty, found.gamma)
    assert f"penalty: {point.penalty:g}, chosen of 4; an edge costs {price} in the BIC" in str(found)


def test_the_criterion_is_the_extended_bic_of_the_dag(found):
    moments = Moments.from_data(ROWS)
    variances = moments.regressions(found.dag).variances / moments.scales**2 * 300 / 299
    price = math.log(300) + math.log(20)
    (point,) = (point for point in found.path if point.chosen)
    assert point.criterion == pytest.approx(300 * np.log(variances).sum() + price * found.dag.sum(), abs=1e-6)


def test_a_point_is_as_good_as_its_own_search(found):
    for point in found.path:
        alone = rfdag.learn(ROWS, penalty=point.penalty)
        assert point.score <= alone.score + 2 * math.log(300)
        assert not alone.path
        assert alone.penalty == point.penalty


def test_a_path_is_saved_and_read(found, tmp_path):
    again = rfdag.load(found.save(tmp_path / "r.json"))
    assert again.path == found.path
    assert again.penalty == found.penalty
    assert again.settings == found.settings


def test_a_path_without_refinement_keeps_the_order():
    found = rfdag.learn(ROWS, method="rfd", parents="bic", penalty=(1, 3))
    assert found.order == rfdag.learn(ROWS, method="rfd").order
    assert len(found.path) == 2


def test_the_extended_bic_asks_more_of_an_edge():
    plain, extended = rfdag.learn(ROWS, penalty=1.0), rfdag.learn(ROWS, penalty=1.0, gamma=1.0)
    assert extended.dag.sum() < plain.dag.sum()
    correlation = Moments.from_data(ROWS).correlation
    dearer = 1.0 + 2 * math.log(20) / math.log(300)
    same = ScoredOrder(SharedMoments(correlation, 300), extended.causal_order, penalty=dearer)
    assert same.total == pytest.approx(
        ScoredOrder(SharedMoments(correlation, 300), extended.causal_order, 1.0, 1.0).total
    )


def test_noise_at_the_margin_is_done_away_with():
    """Strong effects, many pairs: what barely pays its price is chance, and a higher one leaves it out."""
    dag = random_dag(100, degree=6, rng=2)
    rows = sample(linear_sem(dag, rng=2, weights=(0.4, 1.0)), 1000, rng=2)
    plain = rfdag.learn(rows, gamma=0.0)
    found = rfdag.learn(rows)
    assert (plain.gamma, found.gamma) == (0.0, 0.25)
    assert found.dag.sum() < plain.dag.sum()
    assert rfdag.metrics.shd(dag, found.dag) < rfdag.metrics.shd(dag, plain.dag)


@pytest.mark.parametrize(
    ("above", "noise"),
    [
        ([1, 1, 50, 60, 70], True),  # two that barely pay, and a void behind them
        ([1, 50, 60], True),
        ([50, 60, 70], False),  # none that barely pays
        ([1, 1, 3, 4, 5, 6, 7, 8], False),  # effects of every size
        ([1] * 30 + [50], False),  # too many for chance
    ],
)
def test_noise_is_told_from_effects(above, noise):
    """Each pair of variables 2k → 2k + 1 has the statistic price + above, and all are independent otherwise."""
    p, n, price = 100, 1000, 13.8
    correlation = np.eye(p)
    dag = np.zeros((p, p), np.int8)
    for k, extra in enumerate(above):
        r = math.sqrt(1 - math.exp(-(price + extra) / n))
        correlation[2 * k, 2 * k + 1] = correlation[2 * k + 1, 2 * k] = r
        dag[2 * k, 2 * k + 1] = 1
    scored = ScoredOrder(SharedMoments(correlation, n), np.arange(p), penalty=price / math.log(n), parents=dag)
    assert (scored.dag == dag).all()
    assert noise_at_the_margin(scored, price) == noise
