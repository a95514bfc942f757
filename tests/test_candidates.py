"""Searches with fewer candidates for parents: the lists, and that they lead to the same answers where they may."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from reference import local_bic
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.graphs import moral_graph
from rfdag.graphs.sparse import sparse_moral_graph
from rfdag.knowledge import Knowledge
from rfdag.methods import judged
from rfdag.orders import plausible, portfolio, tuning
from rfdag.orders.candidates import Candidates, strongest
from rfdag.orders.narrowing import narrowed, reconsidered
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder, price_of_edge
from rfdag.runtime.deadline import OutOfTime
from rfdag.simulate import linear_sem, random_dag, sample, scale_free_dag


def rows_of(p, n=300, seed=1, **size):
    dag = random_dag(p, degree=4, rng=seed) if not size else scale_free_dag(p, size["m"], rng=seed)
    rows = sample(linear_sem(dag, rng=seed + 1), n, rng=seed + 2)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def some_pairs(p, share, seed):
    return csr_array(np.random.default_rng(seed).random((p, p)) < share)


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_lists_are_mutual_and_ascend(share):
    p = 12
    pairs = some_pairs(p, share, 1)
    candidates = Candidates.among(pairs)
    wanted = pairs.toarray() | pairs.toarray().T | np.eye(p, dtype=bool)
    for y in range(p):
        listed = candidates.of(y)
        np.testing.assert_array_equal(listed, np.flatnonzero(wanted[y]))
        assert listed[candidates.own[y]] == y
        for q, z in enumerate(listed):
            assert candidates.of(z)[candidates.lists[1, candidates.starts[y] + q]] == y
    assert candidates.complete == (share == 1.0)
    assert candidates.widest == wanted.sum(axis=1).max()


def test_all_candidates_are_lists_of_all():
    every, given = Candidates.all(7), Candidates.among(csr_array(np.ones((7, 7), bool)))
    np.testing.assert_array_equal(every.starts, given.starts)
    np.testing.assert_array_equal(every.lists, given.lists)
    assert every.with_pairs(some_pairs(7, 0.5, 2)) is every


@pytest.mark.parametrize("seed", range(3))
def test_the_sparse_moral_graph_is_the_moral_graph(seed):
    dag = random_dag(15, 0.2, rng=seed)
    marked = sparse_moral_graph(dag).toarray()
    np.fill_diagonal(marked, False)
    np.testing.assert_array_equal(marked, moral_graph(dag))


def test_pairs_are_added():
    p = 9
    first, more = some_pairs(p, 0.1, 3), some_pairs(p, 0.1, 4)
    joint, at_once = Candidates.among(first).with_pairs(more), Candidates.among(first + more)
    np.testing.assert_array_equal(joint.lists, at_once.lists)


def test_the_strongest_are_those_of_largest_correlation(monkeypatch):
    monkeypatch.setattr(tuning, "CANDIDATES_BY_CORRELATION", 2)
    monkeypatch.setattr(tuning, "CANDIDATES_BY_PARTIAL_CORRELATION", 1)
    moments = Moments.from_data(rows_of(10))
    correlation, partial = moments.correlation, moments.partial_correlations()
    marked = strongest(correlation, partial).toarray()
    for y in range(10):
        by_size = [x for x in np.argsort(-np.abs(correlation[y])) if x != y]
        by_partial = [x for x in np.argsort(-np.abs(partial[y])) if x != y]
        assert set(np.flatnonzero(marked[y])) == {*by_size[:2], by_partial[0]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("knowing", [False, True])
def test_a_search_among_few_scores_as_least_squares_do(seed, knowing):
    """Parents are candidates that obey, the total is that of least squares, and no candidate more or less is better."""
    p = 14
    rows = rows_of(p, seed=seed + 10)
    candidates = Candidates.among(some_pairs(p, 0.25, seed))
    known = Knowledge(required=[(0, 5)], forbidden=[(3, 4), (4, 3)]).constraints(range(p)) if knowing else None
    generator = np.random.default_rng(seed)
    order = generator.permutation(p)
    order = known.arrange(order) if known else order
    found = ScoredOrder(SharedMoments(np.corrcoef(rows.T), 300), order, constraints=known, candidates=candidates)
    for _ in range(3):
        found.reverse_edge(generator)
        descend(found, generator)
        price = price_of_edge(300, p, 2.0)
        total = local_bic([rows] * p, found.dag, price)
        assert found.total == pytest.approx(total, abs=1e-7)
        place = np.argsort(found.order)
        for y in range(p):
            assert set(np.flatnonzero(found.dag[:, y])) <= set(found.candidates.of(y))
            for x in found.candidates.of(y):
                if place[x] < place[y] and (not knowing or {x, y} not in ({0, 5}, {3, 4})):
                    other = found.dag.copy()
                    other[x, y] ^= 1
                    assert local_bic([rows] * p, other, price) > total - 1e-6
    assert not knowing or (found.dag[0, 5] and not found.dag[3, 4] and not found.dag[4, 3])


def test_lists_that_lack_one_pair_find_the_order_of_all():
    """The general lists and the shortcut for lists of all variables take the same steps."""
    rows = rows_of(20)
    correlation = np.corrcoef(rows.T)
    weakest = np.unravel_index(np.abs(correlation).argmin(), correlation.shape)
    pairs = np.ones((20, 20), bool)
    pairs[weakest] = pairs[weakest[::-1]] = False
    moments, start = SharedMoments(correlation, 300), np.random.default_rng(3).permutation(20)
    every, lists = (ScoredOrder(moments, start, candidates=each) for each in (None, Candidates.among(pairs)))
    assert not lists.candidates.complete
    for found in (every, lists):
        descend(found, np.random.default_rng(5))
    np.testing.assert_array_equal(every.order, lists.order)
    assert every.total == pytest.approx(lists.total, abs=1e-8)


def test_plausible_parents_along_the_order_and_one_by_one():
    """Two ways to the same z², against regressions by least squares."""
    n, p = 200, 9
    rows = rows_of(p, n)
    correlation, order = np.corrcoef(rows.T), np.random.default_rng(4).permutation(p)
    may_be, solid = plausible.along(correlation, order, np.full(p, float(n)))
    assert solid == p
    for i in range(1, p):
        y, before = order[i], order[:i]
        residual = rows[:, y] - rows[:, before] @ np.linalg.lstsq(rows[:, before], rows[:, y], rcond=None)[0]
        slopes = np.linalg.lstsq(rows[:, before], rows[:, y], rcond=None)[0]
        variances = np.diag(np.linalg.inv(rows[:, before].T @ rows[:, before])) * (residual @ residual)
        expected = (n - i) * slopes**2 / variances > plausible.least_z2(i)
        np.testing.assert_array_equal(may_be[y, before], expected)
        np.testing.assert_array_equal(plausible.among(correlation, y, before, n), expected)
    doubled = np.ones((2, 2))
    assert plausible.among(doubled, 1, np.array([0]), n) is None
    assert plausible.along(doubled, np.array([0, 1]), np.full(2, 9.0))[1] == 1


def test_missing_candidates_are_found_again():
    rows = rows_of(25)
    moments, start = SharedMoments(np.corrcoef(rows.T), 300), np.random.default_rng(3).permutation(25)
    poor = ScoredOrder(moments, start, candidates=Candidates.among(csr_array((25, 25), dtype=bool)))
    assert poor.edges == 0
    better = reconsidered(poor)
    assert better.total < poor.total
    assert better.total == pytest.approx(ScoredOrder(moments, start).total, abs=1e-6)
    np.testing.assert_array_equal(better.order, start)
    assert (sparse_moral_graph(better.dag).toarray() <= matrix_of(better.candidates)).all()
    descend(better, np.random.default_rng(1))
    full = ScoredOrder(moments, start)
    assert reconsidered(full) is None


def matrix_of(candidates):
    p = len(candidates.starts) - 1
    return csr_array(
        (np.ones(len(candidates.owners)), (candidates.owners, candidates.lists[0])), shape=(p, p)
    ).toarray()


def few_candidates(monkeypatch, by_correlation, by_partial):
    monkeypatch.setattr(tuning, "CANDIDATES_BY_CORRELATION", by_correlation)
    monkeypatch.setattr(tuning, "CANDIDATES_BY_PARTIAL_CORRELATION", by_partial)
    monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", 0)


def test_narrowing_keeps_order_parents_and_count(monkeypatch):
    few_candidates(monkeypatch, 2, 3)
    moments = Moments.from_data(rows_of(30))
    full = ScoredOrder(SharedMoments(moments.correlation, 300), np.random.default_rng(3).permutation(30))
    few = narrowed(full, strongest(moments.correlation, moments.partial_correlations()))
    assert not few.candidates.complete
    assert few.operations == full.operations + few.own_operations > full.operations
    assert few.copy().operations == 0
    np.testing.assert_array_equal(few.order, full.order)
    assert (sparse_moral_graph(full.dag).toarray() <= matrix_of(few.candidates)).all()
    assert few.total <= full.total + 1e-9
    dearer = few.at_price(4.0, 0.0)
    assert dearer.edges < few.edges
    np.testing.assert_array_equal(dearer.candidates.lists, few.candidates.lists)


@pytest.mark.parametrize("options", [{}, {"knowledge": {"required": [(3, 7)], "forbidden": [(1, 2), (2, 1)]}}])
def test_fewer_candidates_give_one_answer_for_any_number_of_threads(monkeypatch, options):
    few_candidates(monkeypatch, 3, 6)
    narrowings = []
    narrow = portfolio.narrowed
    monkeypatch.setattr(portfolio, "narrowed", lambda *args: narrowings.append(narrow(*args)) or narrowings[-1])
    first, second = (rfdag.learn(rows_of(60, 600), n_jobs=threads, **options) for threads in (1, 2))
    assert len(narrowings) >= 6
    assert not any(each.candidates.complete for each in narrowings)
    assert first.order == second.order
    assert first.score == second.score
    if options:
        assert first.dag[3, 7]
        assert not first.dag[1, 2]
        assert not first.dag[2, 1]


def test_a_deadline_ends_a_search_with_fewer_candidates(monkeypatch):
    """Out of time before parents are looked at once more, the order found until then is returned."""
    few_candidates(monkeypatch, 3, 6)

    def late(scored, check):
        raise OutOfTime

    monkeypatch.setattr(judged, "reconsidered", late)
    result = rfdag.learn(rows_of(60, 600))
    assert sorted(result.order) == list(range(60))
    assert len(result.edges) > 60


def test_a_descent_without_renewing_settles_nothing():
    scored = ScoredOrder(SharedMoments(np.eye(6), 100), np.arange(6))
    assert descend(scored, np.random.default_rng(1), renewing=False) == 0
    assert not scored.settled
    descend(scored, np.random.default_rng(1))
    assert scored.settled


@pytest.mark.parametrize("size", [{}, {"m": 2}])
def test_learn_with_fewer_candidates_is_as_good(monkeypatch, size):
    """The whole search, with few candidates in place of all: the BIC is the same or nearly so."""
    few_candidates(monkeypatch, 4, 8)
    gaps = []
    for seed in (11, 21, 31):
        rows = rows_of(60, 600, seed, **size)
        scores = []
        for least in (1000, 40):
            monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", least)
            result = rfdag.learn(rows, gamma=0)
            scores.append(result.score)
            assert result.score == pytest.approx(
                local_bic([rows] * 60, result.dag, price_of_edge(600, 60, 2.0)), abs=1e-5
            )
        gaps.append(scores[1] - scores[0])
    assert max(gaps) < 15
