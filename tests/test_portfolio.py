"""When a search by several beams goes on with wider ones, and what that finds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import rfdag
from rfdag.evidence.local import SharedMoments
from rfdag.graphs import topological_order
from rfdag.orders import portfolio
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.tuning import Setting
from rfdag.runtime.deadline import Deadline
from rfdag.simulate import linear_sem, random_dag, sample

PRICE = 10.0
SETTINGS = (Setting(6.0, 0.4), Setting(5.0, 0.3), Setting(4.0, 0.25))


def certain_after(rounds, *, stepwise=True, refine_each=True):
    """Return whether the search ends after rounds of beams, each a list of scores before and after refinement."""
    task = SimpleNamespace(stepwise=stepwise, refine_each=refine_each, p=50, fits=lambda width: True)
    search = portfolio._Portfolio(task, 1, Deadline(), Deadline(), lambda share: None)
    given = iter([pair for each in rounds for pair in each])

    def attempt(beams, threads, shares, number, setting, generator):
        before, after = next(given)
        return portfolio._Trial(setting, np.arange(50), before, SimpleNamespace(total=after, price=PRICE))

    search._attempt = attempt
    for number, each in enumerate(rounds):
        beams = portfolio._Round(64 * 4**number, SETTINGS[: len(each)])
        found, improved = search.run(beams, np.random.default_rng(1))
    return search.certain(found, improved)


@pytest.mark.parametrize(
    ("rounds", "ends"),
    [
        # All settings agree.
        ([[(5, 5), (7, 5), (6, 5)]], True),
        # Two of three may agree by chance, and a first round is cheap to repeat.
        ([[(5, 5), (7, 5), (9, 8)]], False),
        # A wider round that ends elsewhere, no better, has lost its way.
        ([[(30, 20), (90, 80), (95, 90)], [(40, 29), (90, 80), (95, 90)]], False),
        # One that finds the best score again has not, if some beam came to rest there by itself.
        ([[(20, 20), (90, 80), (95, 90)], [(40, 20), (90, 80), (95, 90)]], True),
        ([[(30, 20), (90, 80), (95, 90)], [(40, 20), (90, 80), (95, 90)]], False),
        ([[(30, 20), (90, 80)], [(40, 20), (90, 85)], [(40, 20), (90, 86)]], False),
        ([[(30, 20), (90, 80)], [(40, 20), (90, 85)], [(40, 20), (90, 86)], [(40, 20), (90, 87)]], True),
        # Nor has a third whose order refinement cannot improve, if it is about as good as the best.
        ([[(30, 20), (90, 80)], [(40, 29), (90, 85)], [(29, 29), (90, 87)]], True),
        ([[(30, 20), (90, 80)], [(40, 29), (90, 85)], [(31, 31), (90, 87)]], False),
        ([[(30, 20), (90, 80)], [(29, 29), (90, 85)]], False),
        # What has improved is not certain yet.
        ([[(30, 20), (90, 80)], [(40, 29), (90, 85)], [(19, 15), (90, 87)]], False),
        # The deadline ended the round before it found anything.
        ([[(30, 20), (90, 80), (95, 90)], []], True),
    ],
)
def test_a_search_over_a_dense_graph_ends_once_its_answer_is_confirmed(rounds, ends):
    assert certain_after(rounds) is ends


def test_orders_that_are_not_refined_confirm_nothing_by_themselves():
    rounds = [[(20, 20), (80, 80)], [(25, 25), (81, 81)], [(26, 26), (82, 82)]]
    assert certain_after(rounds)
    assert not certain_after(rounds, refine_each=False)


def test_under_the_soft_cost_a_round_in_vain_ends_the_search():
    rounds = [[(30, 20), (90, 80), (95, 90)], [(40, 29), (90, 80), (95, 90)]]
    assert certain_after(rounds, stepwise=False)
    assert not certain_after(rounds[:1], stepwise=False)


def test_the_search_ends_with_beams_around_the_best_order_for_as_long_as_they_improve_it():
    """Each round begins from the best order so far."""
    task = SimpleNamespace(stepwise=True, refine_each=True, p=50, fits=lambda width: True)
    search = portfolio._Portfolio(task, 1, Deadline(), Deadline(), lambda share: None)
    totals, around = iter([20, 15, 17, 18, 14, 16, 16, 14, 15, 14]), []

    def attempt(beams, threads, shares, number, setting, generator):
        total = next(totals)
        around.append(None if beams.around is None else beams.around.tolist())
        order = np.roll(np.arange(50), total)
        return portfolio._Trial(setting, order, total, SimpleNamespace(total=total, price=PRICE, order=order))

    search._attempt = attempt
    search.run(portfolio._Round(64, SETTINGS[:1]), np.random.default_rng(1))
    search.look_around(np.random.default_rng(1))
    assert search.best.score == 14
    assert around == [None, *(np.roll(np.arange(50), begun).tolist() for begun in [20] * 3 + [15] * 3 + [14] * 3)]


def test_a_dense_graph_with_few_rows_is_not_given_up_while_beams_disagree():
    """Beams of width 64 and 256 end 156 and 164 above the BIC of the true order, which no two settings agree on."""
    generator = np.random.default_rng([5025, 50, 500])
    sem = linear_sem(random_dag(50, 0.5, generator), generator)
    rows = sample(sem, 500, generator)
    moments = SharedMoments(np.corrcoef(rows.T), n_samples=500)

    def score(order):
        return ScoredOrder(moments, np.array(order, np.int64)).total

    found = rfdag.learn(rows, restarts=0)
    assert score(found.order) <= score(topological_order(sem.dag))
    assert rfdag.metrics.skeleton(sem.dag, found.dag).f1 > 0.9
