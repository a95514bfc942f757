"""The best DAG of all: against all DAGs, an independent dynamic programme, and what branch and bound proves."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import rfdag
from reference import all_dags, best_score, local_bic
from rfdag.errors import NumericalWarning, OptionError
from rfdag.evidence.local import SharedMoments
from rfdag.knowledge import Knowledge
from rfdag.orders import branching, tuning
from rfdag.orders.exact import Problem, best_dag
from rfdag.orders.limits import most_parents
from rfdag.orders.scores import ScoredOrder, price_of_edge
from rfdag.simulate import linear_sem, random_dag, sample


def rows_of(p, n, seed, density=0.4):
    generator = np.random.default_rng([seed, p, n])
    return sample(linear_sem(random_dag(p, density, generator), generator), n, generator)


def problem(rows, **options):
    return Problem(SharedMoments(np.corrcoef(rows.T), len(rows)), **options)


def score_of(task, dag):
    """The score of a DAG, by least squares on rows with exactly the task's correlations."""
    correlation, n = task.moments.matrices[0], task.moments.n_samples
    total = 0.0
    for y in range(task.p):
        parents = np.flatnonzero(dag[:, y])
        left = 1.0
        if len(parents):
            slopes = np.linalg.solve(correlation[np.ix_(parents, parents)], correlation[parents, y])
            left -= slopes @ correlation[parents, y]
        total += n * np.log(left) + task.price * len(parents)
    return total


def proven(task, known):
    return branching.prove(task, known, most_sets=1 << 16, most_steps=1e9)


@pytest.mark.parametrize(("p", "seed"), [(1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (4, 3), (5, 4)])
@pytest.mark.parametrize(("penalty", "gamma"), [(2.0, 0.0), (0.5, 0.0), (1.0, 0.5)])
def test_no_dag_of_all_is_better(p, seed, penalty, gamma):
    rows = rows_of(p, 60, seed, 0.7) if p > 1 else np.random.default_rng(1).normal(size=(60, 1))
    task = Problem(SharedMoments(np.atleast_2d(np.corrcoef(rows.T)), 60), penalty, gamma)
    best = best_dag(task)
    price = price_of_edge(60, p, penalty, gamma)

    @functools.cache
    def family(y, parents):
        dag = np.zeros((p, p), int)
        dag[list(parents), y] = 1
        return local_bic([rows] * p, dag, price)

    least = min(
        sum(family(y, tuple(np.flatnonzero(dag[:, y]).tolist())) for y in range(p))
        for dag in {dag.tobytes(): dag for dag in all_dags(p)}.values()
    )
    assert local_bic([rows] * p, best.dag, price) == pytest.approx(least, abs=1e-6)
    place = np.argsort(best.order)
    assert all(place[x] < place[y] for x, y in np.argwhere(best.dag))


@pytest.mark.parametrize(
    ("p", "n", "density", "seed"), [(8, 100, 0.5, 1), (9, 15, 0.4, 2), (10, 400, 0.3, 3), (12, 200, 0.4, 4)]
)
def test_an_independent_dynamic_programme_agrees(p, n, density, seed):
    """Also where half the rows are fewer than the other variables, which limits the parents."""
    task = problem(rows_of(p, n, seed, density))
    limit = int(most_parents(task.moments)[0])
    least = best_score(task.moments.matrices[0], n, task.price, limit)
    assert score_of(task, best_dag(task).dag) == pytest.approx(least, abs=1e-6)
    assert best_dag(task).dag.sum(axis=0).max() <= limit
    proof, solution = proven(task, least + 1.0)
    assert proof.complete
    assert proof.lower_bound == pytest.approx(least, abs=1e-6)
    assert score_of(task, solution.dag) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_branch_and_bound_agrees_with_all_sets(seed):
    density, n = (0.15, 0.3, 0.6)[seed % 3], (40, 300)[seed % 2]
    task = problem(rows_of(13 + seed % 3, n, seed, density))
    least = score_of(task, best_dag(task, threads=1 + seed % 2).dag)
    worse = task.moments.n_samples * 0.0
    proof, solution = proven(task, worse)
    assert proof.complete
    assert proof.lower_bound == pytest.approx(least, abs=1e-6)
    assert score_of(task, solution.dag) == pytest.approx(least, abs=1e-6)
    scored = ScoredOrder(task.moments, solution.order, parents=solution.dag)
    assert scored.total == pytest.approx(least, abs=1e-6)
    # Known, it is confirmed and not found again.
    assert proven(task, least)[1] is None


def test_a_bound_is_no_proof():
    """Without room enough, what is known is a bound below the best; without steps enough, nothing."""
    task = problem(rows_of(15, 200, 5, 0.4))
    least = score_of(task, best_dag(task).dag)
    known = least + 50.0
    proof, _ = branching.prove(task, known, most_sets=40, most_steps=1e9)
    assert not proof.complete
    assert proof.lower_bound < least + 1e-6
    assert branching.prove(task, known, most_sets=40, most_steps=100) == (None, None)


def test_nearly_dependent_columns_are_not_bounded():
    rows = rows_of(8, 100, 6)
    rows[:, 7] = rows[:, 6] + 1e-7 * rows[:, 5]
    assert proven(problem(rows), 0.0) == (None, None)
    assert np.isfinite(score_of(problem(rows_of(8, 100, 6)), best_dag(problem(rows)).dag))


@pytest.mark.parametrize("seed", range(4))
def test_knowledge_is_obeyed_by_both(seed):
    known = Knowledge(tiers=[[3, 5], [0, 1, 2]], required=[(0, 4)], forbidden=[(1, 2), (3, 0)]).constraints(range(8))
    task = problem(rows_of(8, 80, seed), constraints=known)
    best = best_dag(task)
    least = score_of(task, best.dag)
    proof, solution = proven(task, least + 10.0)
    assert proof.complete
    assert score_of(task, solution.dag) == pytest.approx(least, abs=1e-6)
    for found in (best, solution):
        assert found.dag[0, 4]
        assert not found.dag[1, 2]
        assert not found.dag[3, 0]
        assert known.obeyed_by(found.order)
    free = score_of(task, best_dag(problem(rows_of(8, 80, seed))).dag)
    assert free < least + 1e-6


def test_order_constraints_agree_with_the_reference():
    rows = rows_of(7, 90, 8, 0.6)
    known = Knowledge(tiers=[[4, 5], [0, 1, 2, 3, 6]]).constraints(range(7))
    before = {(x, y) for x in (4, 5) for y in (0, 1, 2, 3, 6)}
    task = problem(rows, constraints=known)
    least = best_score(np.corrcoef(rows.T), 90, task.price, 6, before)
    assert score_of(task, best_dag(task).dag) == pytest.approx(least, abs=1e-6)


def test_the_default_is_proven_up_to_twenty_variables():
    rows = rows_of(12, 80, 9)
    result = rfdag.learn(rows)
    assert result.optimal
    assert result.gap == 0.0
    assert result.lower_bound == result.score
    assert result.proof.sets == 2**12
    assert not result.attempts
    assert "best of all DAGs" in result.summary()
    beams = rfdag.learn(rows, exact=False)
    assert beams.optimal is None
    assert beams.gap is None
    assert beams.attempts
    assert result.score <= beams.score + 1e-6
    other = rfdag.learn(rows, "sp")
    assert other.optimal
    assert other.score == pytest.approx(result.score, abs=1e-9)


def test_options_of_the_search_ask_for_the_search():
    rows = rows_of(10, 100, 10)
    for options in ({"beam": 4}, {"restarts": 5}, {"rescoring": "exact"}, {"refine": False}):
        result = rfdag.learn(rows, **options)
        assert result.attempts
        assert result.optimal is None
    both = rfdag.learn(rows, beam=4, exact=True)
    assert both.attempts
    assert both.optimal


def test_larger_sparse_graphs_are_proven():
    rows = rows_of(24, 300, 11, 0.08)
    result = rfdag.learn(rows, gamma=0)
    assert result.optimal
    assert not result.proof.exhaustive
    assert result.score <= rfdag.learn(rows, exact=False, gamma=0).score + 1e-6


def test_what_is_asked_for_is_found_on_dense_graphs(monkeypatch):
    rows = rows_of(15, 150, 12, 0.6)
    monkeypatch.setattr(tuning, "LARGEST_P_FOR_ALL_SETS", 10)
    monkeypatch.setattr(tuning, "STEPS_TO_PROVE", 1000)
    # Expectations go by both.
    monkeypatch.setattr(tuning, "SECONDS_TO_PROVE", 1e-6)
    assert rfdag.learn(rows).optimal is None
    asked = rfdag.learn(rows, exact=True)
    assert asked.optimal
    assert asked.proof.exhaustive
    monkeypatch.setattr(tuning, "LARGEST_P_ON_REQUEST", 10)
    bounded = rfdag.learn(rows, exact=True)
    assert bounded.optimal
    assert not bounded.proof.exhaustive
    assert bounded.score == pytest.approx(asked.score, abs=1e-6)


def test_penalties_and_gamma_are_those_of_the_result():
    rows = rows_of(9, 120, 13)
    for options in ({"penalty": 1.0}, {"gamma": 0.5}, {"penalty": (0.5, 1.0, 2.0)}):
        result = rfdag.learn(rows, **options)
        assert result.optimal
        price = price_of_edge(120, 9, result.penalty, result.gamma)
        least = best_score(np.corrcoef(rows.T), 120, price, 8)
        assert result.score == pytest.approx(least, abs=1e-6)
        assert result.lower_bound == pytest.approx(least, abs=1e-6)


def test_too_little_time_for_all_sets_leaves_beams(monkeypatch):
    rows = rows_of(18, 200, 14)
    rfdag.learn(rows, exact=False)
    monkeypatch.setattr(
        rfdag.methods.proving, "best_dag", lambda task, threads, report: [report(0.5) for _ in iter(int, 1)]
    )
    with pytest.warns(NumericalWarning, match="time limit"):
        result = rfdag.learn(rows, time_limit=3.0)
    assert result.attempts
    assert result.optimal is None


def test_a_proof_is_kept_in_files(tmp_path):
    rows = rows_of(10, 60, 15)
    result = rfdag.learn(rows)
    again = rfdag.load(result.save(tmp_path / "r.json"))
    assert again == result
    assert again.proof == result.proof
    searched = rfdag.learn(rows, restarts=100)
    assert searched.rivals
    assert all(0 < cost < 6 and searched.score_of(dag) == pytest.approx(searched.score + cost, abs=1e-3)
               for cost, dag in searched.rivals)  # fmt: skip
    reread = rfdag.load(searched.save(tmp_path / "s.json"))
    assert [cost for cost, _ in reread.rivals] == [cost for cost, _ in searched.rivals]
    assert all((mine == theirs).all() for (_, mine), (_, theirs) in zip(reread.rivals, searched.rivals, strict=True))


def test_what_cannot_be_asked_for_is_refused():
    rows = rows_of(6, 50, 16)
    with pytest.raises(OptionError, match="refine=False"):
        rfdag.learn(rows, exact=True, refine=False)
    with pytest.raises(OptionError, match="exact"):
        rfdag.learn(rows, "rfd", exact=True)
    with pytest.raises(OptionError, match="up to 25 variables"):
        rfdag.learn(rows_of(26, 200, 16, 0.1), "sp")
    with pytest.raises(OptionError, match="exact"):
        rfdag.learn(rows_of(70, 200, 16, 0.02), exact=True)


@pytest.mark.filterwarnings("ignore:30 rows are few:rfdag.errors.NumericalWarning")
@pytest.mark.parametrize(("p", "n", "density"), [(9, 60, 0.5), (25, 120, 0.15), (30, 300, 0.5), (32, 30, 0.1)])
def test_answers_do_not_depend_on_the_arrangement_of_columns(p, n, density):
    changed = 0
    for seed in range(6):
        rows = rows_of(p, n, 100 + seed, density)
        places = np.random.default_rng(seed).permutation(p)
        one, other = rfdag.learn(rows), rfdag.learn(rows[:, places])
        back = np.empty_like(other.cpdag)
        back[np.ix_(places, places)] = other.cpdag
        changed += not np.array_equal(back, one.cpdag)
        assert other.score == pytest.approx(one.score, abs=1e-6) or changed
    assert changed <= 1


def test_an_estimator_of_the_users_own_sees_columns_as_they_were_given():
    rows = rows_of(8, 100, 17)
    seen = []

    def own(moments, request):
        seen.append(moments.names)
        return np.linalg.inv(moments.correlation)

    found = rfdag.learn(rows, precision=own, exact=False)
    assert seen == [tuple(range(8))]
    np.testing.assert_array_equal(found.dag, rfdag.learn(rows, exact=False).dag)
