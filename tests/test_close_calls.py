"""Close calls: edges that hang on little, and what is said of them and of edges without a direction."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rfdag
from rfdag.evidence.local import SharedMoments
from rfdag.graphs import cpdag, find_cycle
from rfdag.notebooks import view
from rfdag.orders.reversals import Reversing
from rfdag.orders.rivals import CLOSE
from rfdag.plots.graph import CLOSE_DIRECTED, STROKES
from rfdag.result.close_calls import MARK, CloseCall
from rfdag.result.ordering import order_in_words
from rfdag.result.remarks import advice_on_directions, close_calls_in_words
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import dags

COLLIDER = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
NAMES = ["rain", "sprinkler", "wet"]


def rows_of(dag, n, seed, weight=(0.3, 0.3)):
    return sample(linear_sem(dag, rng=1, weights=weight), n, rng=seed)


@pytest.fixture(scope="module")
def weak():
    """A collider that the data just about show."""
    return rfdag.learn(rows_of(COLLIDER, 150, 4), names=NAMES)


@pytest.fixture(scope="module")
def larger():
    return rfdag.learn(sample(linear_sem(random_dag(10, degree=3, rng=6), rng=6), 200, rng=7))


@pytest.fixture(scope="module")
def cars():
    return rfdag.learn(rfdag.datasets.auto_mpg_path())


@pytest.fixture(scope="module")
def chain():
    dag = np.eye(5, k=1, dtype=np.int8)
    return rfdag.learn(sample(linear_sem(dag, rng=1, weights=(0.8, 0.9)), 500, rng=1), names=list("abcde"))


def best_of_all_subsets(result, child, candidates, keep=()):
    """The least local score over all sets of parents, by regressions on the correlation matrix."""
    correlation, n = result.moments.correlation, result.n_samples
    price = result.penalty * np.log(n) + 2 * result.gamma * np.log(len(result.names))
    scores = []
    for size in range(len(candidates) + 1):
        for chosen in itertools.combinations(candidates, size):
            given = [*chosen, *keep]
            inner, across = correlation[np.ix_(given, given)], correlation[given, child]
            left = 1 - across @ np.linalg.solve(inner, across) if given else 1.0
            scores.append(n * np.log(left) + price * len(given))
    return min(scores)


def test_the_cost_of_a_reversal_is_the_difference_of_the_scores(larger):
    """Where no graph but the reversed one is close, the record has its cost, which `score_of` confirms."""
    price = larger.penalty * np.log(larger.n_samples)
    reversing = Reversing(larger.dag, larger.moments.local(), price)
    tried = 0
    for i, j in np.argwhere(larger.cpdag == 1).tolist():
        found = reversing.reverse(i, j)
        assert found.dag[j, i] == 1
        assert found.dag[i, j] == 0
        assert not find_cycle(found.dag)
        assert found.cost == pytest.approx(larger.score_of(found.dag) - larger.score, abs=1e-6)
        others = [k for k in range(10) if k not in (i, j)]
        assert (found.dag[:, others] == larger.dag[:, others]).all()
        tried += 1
    assert tried > 3


def test_the_parents_of_a_reversed_edge_are_nearly_the_best(larger):
    """Dropping one parent after the other is compared with trying all sets."""
    price = larger.penalty * np.log(larger.n_samples)
    reversing = Reversing(larger.dag, larger.moments.local(), price)
    gaps = []
    for i, j in np.argwhere(larger.cpdag == 1).tolist():
        below = {i} | {k for k in range(10) if reversing._descends[i, k]}
        candidates = sorted(set(np.flatnonzero(larger.dag[:, i] | larger.dag[:, j]).tolist()) - below)
        best = best_of_all_subsets(larger, j, candidates) + best_of_all_subsets(larger, i, candidates, [j])
        now = sum(best_of_all_subsets(larger, end, (), np.flatnonzero(larger.dag[:, end]).tolist()) for end in (i, j))
        gaps.append(reversing.reverse(i, j).cost - (best - now))
    assert min(gaps) > -1e-6
    assert np.median(gaps) == pytest.approx(0, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(dags(min_nodes=2, max_nodes=7), st.integers(0, 100))
def test_no_reversal_makes_a_cycle(dag, seed):
    correlation = np.corrcoef(sample(linear_sem(dag, seed), 60, rng=seed).T)
    reversing = Reversing(dag, SharedMoments(np.atleast_2d(correlation), 60), price=8.0)
    for i, j in np.argwhere(dag).tolist():
        found = reversing.reverse(i, j)
        assert found is None or not find_cycle(found.dag)


def test_a_weak_collider_is_a_close_call_in_both_arrows(weak):
    """Either arrow falls if the third pair is made adjacent, whatever the strength of the arrows themselves."""
    assert (weak.cpdag == COLLIDER).all()
    assert {(call.source, call.target) for call in weak.close_calls} == {("rain", "wet"), ("sprinkler", "wet")}
    assert {call.change for call in weak.close_calls} == {"reversal"}
    assert all(0 < call.cost < CLOSE for call in weak.close_calls)
    strong = rfdag.learn(rows_of(COLLIDER, 2000, 4, (0.8, 0.8)), names=NAMES)
    assert strong.close_calls == ()


def test_a_weak_edge_is_a_close_call_by_its_gain(larger):
    removals = {(call.source, call.target): call.cost for call in larger.close_calls if call.change == "removal"}
    weak = {(edge.source, edge.target): edge.gain for edge in larger.edges if edge.gain < CLOSE}
    for ends, gain in weak.items():
        call = next(call for call in larger.close_calls if (call.source, call.target) == ends)
        assert call.cost <= gain + 1e-9
    assert all(cost <= weak.get(ends, CLOSE) for ends, cost in removals.items())
    assert list(larger.close_calls) == sorted(larger.close_calls, key=lambda call: call.cost)


def test_arrows_that_hang_on_a_weak_one_are_close_too():
    """wet → slippery is compelled by the collider before it alone."""
    dag = np.zeros((4, 4), np.int8)
    dag[[0, 1, 2], [2, 2, 3]] = 1
    weights = np.zeros((4, 4))
    weights[[0, 1, 2], [2, 2, 3]] = 0.3, 0.3, 0.9
    covariance = rfdag.simulate.LinearSEM(weights, np.ones(4)).covariance()
    result = rfdag.learn(covariance, input="covariance", n_samples=200, names=[*NAMES, "slippery"])
    assert (result.cpdag == dag).all()
    calls = {(call.source, call.target): call for call in result.close_calls}
    assert calls["wet", "slippery"].change == "reversal"
    assert calls["wet", "slippery"].cost == pytest.approx(calls["rain", "wet"].cost)


def test_undirected_edges_are_no_close_calls_for_their_direction(chain):
    assert not any(edge.directed for edge in chain.edges)
    assert chain.close_calls == ()


def test_knowledge_rules_alternatives_out(weak):
    for known in ({"roots": ["rain", "sprinkler"]}, {"required": [("rain", "wet"), ("sprinkler", "wet")]}):
        informed = rfdag.learn(rows_of(COLLIDER, 150, 4), names=NAMES, knowledge=known)
        assert (informed.dag == weak.dag).all()
        assert informed.close_calls == ()
    later = rfdag.learn(rows_of(COLLIDER, 150, 4), names=NAMES, knowledge={"tiers": [["rain"], ["wet"]]})
    assert ("rain", "wet") not in {(call.source, call.target) for call in later.close_calls}


def test_what_is_required_cannot_be_removed():
    """No data speak for this edge, so that a graph without it is better; but it must stay."""
    rows = np.random.default_rng(1).normal(size=(100, 3))
    result = rfdag.learn(rows, names=NAMES, knowledge={"required": [("rain", "wet")]})
    assert result.edges[0].gain < 0
    assert result.close_calls == ()


@pytest.mark.parametrize(("cause", "other"), [("rain", "sprinkler"), ("sprinkler", "rain")])
def test_a_forbidden_reversal_is_no_close_call(cause, other, weak):
    known = rfdag.Knowledge(forbidden=[("wet", cause)])
    informed = rfdag.learn(rows_of(COLLIDER, 150, 4), names=NAMES, knowledge=known)
    assert [(call.source, call.target) for call in informed.close_calls] == [(other, "wet")]
    reversing = Reversing(COLLIDER, weak.moments.local(), 10.0, known.constraints(NAMES))
    assert reversing.reverse(NAMES.index(cause), 2) is None
    assert reversing.reverse(NAMES.index(other), 2) is not None


def test_cars_have_close_calls_among_directed_edges_alone(cars):
    directed = {(edge.source, edge.target): edge.directed for edge in cars.edges}
    assert not all(directed.values())
    assert ("origin", "mpg") in [call[:2] for call in cars.close_calls]
    assert all(directed[call[:2]] for call in cars.close_calls if call.change == "reversal")


def test_there_are_none_without_a_score(weak):
    rows = rows_of(COLLIDER, 150, 4)
    assert rfdag.learn(COLLIDER, input="dag").close_calls == ()
    assert rfdag.learn(rows, method="rfd").score is None
    assert rfdag.learn(rows, method="rfd").close_calls == ()
    assert rfdag.learn(rows, test="fisher-z").close_calls == ()
    assert rfdag.learn(np.random.default_rng(1).normal(size=(50, 3))).close_calls == ()


def test_without_moments_only_removals_are_found(larger, weak, tmp_path):
    bare = rfdag.load(larger.save(tmp_path / "bare.json", moments=False))
    gains = {(edge.source, edge.target) for edge in bare.edges if edge.gain < CLOSE}
    assert {(call.source, call.target) for call in bare.close_calls} == gains
    assert {call.change for call in bare.close_calls} <= {"removal"}
    again = rfdag.load(weak.save(tmp_path / "weak.json", moments=True))
    assert [call[:3] for call in again.close_calls] == [call[:3] for call in weak.close_calls]


def test_columns_that_determine_each_other_are_left_alone():
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
    singular = SharedMoments(np.array([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]]), 100)
    assert Reversing(collider, singular, price=9.2).reverse(0, 2) is None


def test_text_picture_and_notebook_mark_them(weak):
    assert "close calls: 2 edges hang on less than 6 BIC units: rain → wet (reversal, 5.7)" in str(weak)
    page = view(weak)
    assert f"→ {MARK}" in page
    assert "Close calls" in page
    assert 'stroke-dasharray="1.5 2.5"' in page
    labels = [text.get_text() for text in weak.plot().get_legend().get_texts()]
    assert CLOSE_DIRECTED.meaning in labels
    assert "causes" not in labels
    assert len({str(stroke.line) for stroke in STROKES}) == len(STROKES)
    assert len({stroke.meaning for stroke in STROKES}) == len(STROKES)


def test_many_close_calls_are_counted(weak):
    calls = tuple(CloseCall("rain", "wet", "removal", float(cost)) for cost in range(5))
    crowded = replace(weak)
    crowded.__dict__["close_calls"] = calls
    assert close_calls_in_words(crowded).startswith("1 edge hangs on")


def test_more_variables_than_can_be_looked_at_have_no_marks(weak, monkeypatch):
    monkeypatch.setattr("rfdag.result.remarks.LOOKED_FOR_UP_TO", 2)
    assert close_calls_in_words(weak) is None
    assert "close calls" not in str(weak)


def test_knowledge_is_suggested_where_most_edges_are_undirected(chain, weak, cars):
    advice = advice_on_directions(chain)
    assert advice.startswith("4 of 4 edges could point either way")
    assert "knowledge=" in advice
    assert advice.spelled(lambda name, value: f"--{name}").endswith("pass --knowledge.")
    assert str(advice) in str(chain)
    assert "could point either way. What" in view(chain)
    assert advice_on_directions(weak) is None
    assert (cars.cpdag == 2).sum() == 2 * 3
    assert advice_on_directions(cars) is None
    pair = rfdag.learn(rows_of(np.array([[0, 1], [0, 0]]), 200, 1, (0.9, 0.9)))
    assert (pair.cpdag == 2).any()
    assert advice_on_directions(pair) is None


def test_orders_have_arrows_only_where_something_is_compelled(chain, weak):
    assert "→" not in order_in_words(chain, 10)
    assert order_in_words(chain, 10) == ", ".join(chain.order)
    assert order_in_words(weak, 10).endswith(" → wet")
    assert order_in_words(weak, 10).count("→") == 1
    assert order_in_words(weak, 2).count("→") == 0
    alone = rfdag.learn(np.random.default_rng(3).normal(size=(100, 3)), names=["x", "y", "z"])
    assert not alone.edges
    assert "→" not in str(alone).splitlines()[1].partition(": ")[2]


@settings(max_examples=30, deadline=None)
@given(dags(min_nodes=2, max_nodes=7))
def test_every_arrow_of_an_order_is_compelled(dag):
    result = rfdag.learn(dag, input="dag")
    words = order_in_words(result, 100)
    pairs = list(itertools.pairwise(result.order))
    compelled = cpdag(result.dag)
    for (early, late), joint in zip(pairs, re.findall(" → |, ", words), strict=True):
        assert (joint == " → ") == (compelled[early, late] == 1)
