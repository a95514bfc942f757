"""Searches with fewer candidates for parents: the lists, and that they lead to the same answers where they may."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from reference import local_bic
from rfdag.evidence.local import FactoredMoments, SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.graphs import moral_graph
from rfdag.graphs.sparse import sparse_moral_graph
from rfdag.knowledge import Knowledge
from rfdag.methods import judged
from rfdag.orders import plausible, portfolio, tuning
from rfdag.orders.candidates import Candidates, strongest
from rfdag.orders.grams import Grams
from rfdag.orders.narrowing import reconsidered
from rfdag.orders.overlooked import overlooked
from rfdag.orders.recombination import recombine, united
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
    marked = strongest(correlation.__getitem__, partial).toarray()
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
    # The same along lists: one more variable, which is nobody's candidate, makes them differ from all others.
    wider = np.eye(p + 1)
    wider[:p, :p] = correlation
    lists = Candidates.among(np.pad(np.ones((p, p), bool), (0, 1)))
    for threads in (1, 3):
        scored = ScoredOrder(SharedMoments(wider, n), np.append(order, p), candidates=lists, threads=threads)
        marked, known = scored._plausible(np.arange(p + 1), lambda: None)
        np.testing.assert_array_equal(marked[: p * p].reshape(p, p), may_be)
        np.testing.assert_array_equal(np.flatnonzero(~known), np.sort([order[0], p]))


def test_nothing_is_plausible_among_variables_that_determine_each_other():
    doubled = np.ones((2, 2))
    assert plausible.along(doubled, np.array([0, 1]), np.full(2, 9.0))[1] == 1
    copies = np.eye(3)
    copies[:2, :2] = 1.0
    pair = Candidates.among(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], bool))
    scored = ScoredOrder(SharedMoments(copies, 50), np.arange(3), candidates=pair)
    marked, known = scored._plausible(np.arange(3), lambda: None)
    assert not marked.any()
    assert not known.any()


def test_threads_choose_the_same_parents():
    """Also where parents are required, and forbidden: what is plausible obeys, too."""
    rows = rows_of(40, 300)
    moments = SharedMoments(np.corrcoef(rows.T), 300)
    close = strongest(moments.matrices[0].__getitem__, np.linalg.inv(moments.matrices[0]))
    known = rfdag.Knowledge(required=[(0, 7), (3, 9)], forbidden=[(7, 11), (1, 2)]).constraints(range(40))
    for constraints in (None, known):
        order = np.arange(40)[::-1].copy() if constraints is None else constraints.arrange(np.arange(40)[::-1].copy())
        one, three = (
            ScoredOrder(
                moments, order, constraints=constraints, candidates=Candidates.among(close[:, :]), threads=threads
            )
            for threads in (1, 3)
        )
        np.testing.assert_array_equal(one.dag, three.dag)
        assert one.operations == three.operations
        assert one.total == three.total


def test_missing_candidates_are_found_again():
    """From no candidates at all, screening residuals again and again leads to the parents among all variables."""
    rows = rows_of(25)
    moments, start = SharedMoments(np.corrcoef(rows.T), 300), np.random.default_rng(3).permutation(25)
    scored = ScoredOrder(moments, start, candidates=Candidates.among(csr_array((25, 25), dtype=bool)))
    assert scored.edges == 0
    full = ScoredOrder(moments, start)
    assert reconsidered(full) is None
    while (better := reconsidered(scored)) is not None:
        assert better.total < scored.total
        np.testing.assert_array_equal(better.order, start)
        scored = better
    assert scored.total < full.total + 2 * scored.price
    assert not scored.candidates.complete


@pytest.mark.parametrize("knowing", [False, True])
def test_overlooked_pairs_by_least_squares(monkeypatch, knowing):
    """The largest z² of residuals and predecessors that are no candidates, computed from the rows one by one."""
    monkeypatch.setattr(tuning, "CANDIDATES_OVERLOOKED", 2)
    p, n = 12, 300
    rows = rows_of(p)
    known = Knowledge(forbidden=[(1, 2), (2, 1), (3, 4)]).constraints(tuple(range(p))) if knowing else None
    order = np.random.default_rng(5).permutation(p)
    scored = ScoredOrder(
        SharedMoments(np.corrcoef(rows.T), n),
        order,
        constraints=known,
        candidates=Candidates.among(some_pairs(p, 0.1, 4)),
    )
    expected = np.zeros((p, p), bool)
    place = np.argsort(order)
    for y in range(p):
        parents = scored.parents_of(y)
        residual = rows[:, y] - rows[:, parents] @ np.linalg.lstsq(rows[:, parents], rows[:, y], rcond=None)[0]
        others = [x for x in range(p) if place[x] < place[y] and x not in scored.candidates.of(y)]
        z2 = {x: (residual @ rows[:, x]) ** 2 / (residual @ residual) for x in others}
        z2 = {x: value / (rows[:, x] @ rows[:, x]) * n for x, value in z2.items()}
        largest = sorted((x for x in others if z2[x] > plausible.least_z2(place[y])), key=lambda x: -z2[x])[:2]
        expected[y, largest] = True
    if knowing:
        for x, y in ((1, 2), (2, 1), (3, 4)):
            expected[y, x] = False
    assert expected.any()
    np.testing.assert_array_equal(overlooked(scored).toarray(), expected)


def test_a_factor_gives_the_moments_of_a_matrix():
    rows = rows_of(15)
    shared = SharedMoments(np.corrcoef(rows.T), 300)
    factored = FactoredMoments(rows / np.sqrt(300), 300)
    chosen = np.array([3, 7, 2])
    np.testing.assert_allclose(factored.along(0, chosen), shared.along(0, chosen), atol=1e-12)
    np.testing.assert_allclose(factored.gram(4, chosen), shared.gram(4, chosen), atol=1e-12)
    slopes = csr_array(np.random.default_rng(1).normal(size=(3, 15)))
    np.testing.assert_allclose(factored.of_residuals(chosen, slopes), shared.of_residuals(chosen, slopes), atol=1e-11)
    lists, start = Candidates.among(some_pairs(15, 0.3, 2)), np.random.default_rng(3).permutation(15)
    one, other = (ScoredOrder(moments, start, candidates=lists) for moments in (shared, factored))
    for each in (one, other):
        descend(each, np.random.default_rng(4))
    np.testing.assert_array_equal(one.order, other.order)
    assert one.total == pytest.approx(other.total, abs=1e-8)


def test_correlations_of_lists_are_kept_and_made():
    """Whatever lists came before, each has the correlations along it."""
    correlation = Moments.from_data(rows_of(20)).correlation
    np.testing.assert_array_equal(correlation, correlation.T)
    moments = SharedMoments(correlation, 300)
    known = None
    for seed in range(6):
        lists = Candidates.among(some_pairs(20, 0.1, 1)).with_pairs(some_pairs(20, 0.01 * seed, seed))
        known = Grams.along(lists, moments, known)
        for y in range(20):
            np.testing.assert_array_equal(known.of(y), correlation[np.ix_(lists.of(y), lists.of(y))])


def both_orders(knowing=False, p=40):
    rows = rows_of(p, 400)
    known = Knowledge(tiers=[list(range(10)), list(range(10, p))]).constraints(tuple(range(p))) if knowing else None
    lists = Candidates.among(some_pairs(p, 0.4, 2))
    moments = SharedMoments(np.corrcoef(rows.T), 400)
    found = []
    for seed in (1, 2):
        start = np.random.default_rng(seed).permutation(p)
        start = start if known is None else known.arrange(start)
        scored = ScoredOrder(moments, start, candidates=lists, constraints=known)
        descend(scored, np.random.default_rng(seed))
        found.append(scored)
    return rows, *found


@pytest.mark.parametrize("knowing", [False, True])
def test_recombined_orders_are_no_worse_than_either(knowing):
    rows, one, other = both_orders(knowing)
    before = one.total, other.total
    assert recombine(one, other) > 0
    assert one.total <= min(before) + 1e-9
    place = np.argsort(one.order)
    sources, targets = one.dag.nonzero()
    assert (place[sources] < place[targets]).all()
    assert one.total == pytest.approx(local_bic([rows] * 40, one.dag, one.price), abs=1e-6)
    if knowing:
        assert set(one.order[:10]) == set(range(10))
    # What is kept of each fit is that of the parents: descending on from here stays exact.
    descend(one, np.random.default_rng(3))
    assert one.total == pytest.approx(local_bic([rows] * 40, one.dag, one.price), abs=1e-6)
    assert recombine(one, one.copy()) == 0


def test_two_places_that_differ_are_decided_apart():
    """Two independent halves, each right in one of two orders: together they are right in both."""
    halves = [rows_of(12, 400, seed) for seed in (5, 9)]
    rows = np.concatenate(halves, axis=1)
    moments = SharedMoments(np.corrcoef(rows.T), 400)
    lists = Candidates.among(csr_array(np.kron(np.eye(2), np.ones((12, 12))) > 0))
    good, poor = np.arange(24), np.random.default_rng(8).permutation(12)
    best = [ScoredOrder(moments, good, candidates=lists)]
    descend(best[0], np.random.default_rng(1))
    orders = [
        np.concatenate([[x for x in best[0].order if x < 12], poor + 12]),
        np.concatenate([poor, [x for x in best[0].order if x >= 12]]),
    ]
    one, other = (ScoredOrder(moments, np.array(order), candidates=lists) for order in orders)
    assert min(one.total, other.total) > best[0].total + 1
    joined = united([one, other])
    assert joined.total <= best[0].total + 1e-6


def matrix_of(candidates):
    p = len(candidates.starts) - 1
    return csr_array(
        (np.ones(len(candidates.owners)), (candidates.owners, candidates.lists[0])), shape=(p, p)
    ).toarray()


def few_candidates(monkeypatch, by_correlation, by_partial):
    monkeypatch.setattr(tuning, "CANDIDATES_BY_CORRELATION", by_correlation)
    monkeypatch.setattr(tuning, "CANDIDATES_BY_PARTIAL_CORRELATION", by_partial)
    monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", 0)


def test_more_candidates_keep_order_parents_and_count(monkeypatch):
    few_candidates(monkeypatch, 2, 3)
    moments = Moments.from_data(rows_of(30))
    lists = Candidates.among(strongest(moments.correlation.__getitem__, moments.partial_correlations()))
    few = ScoredOrder(
        SharedMoments(moments.correlation, 300), np.random.default_rng(3).permutation(30), candidates=lists
    )
    more = few.among(lists.with_pairs(some_pairs(30, 0.1, 5)))
    assert more.operations == few.operations + more.own_operations > few.operations
    assert more.copy().operations == 0
    np.testing.assert_array_equal(more.order, few.order)
    assert (matrix_of(lists) <= matrix_of(more.candidates)).all()
    assert more.total <= few.total + 1e-9
    dearer = few.at_price(4.0, 0.0)
    assert dearer.edges < few.edges
    np.testing.assert_array_equal(dearer.candidates.lists, few.candidates.lists)


@pytest.mark.parametrize("options", [{}, {"knowledge": {"required": [(3, 7)], "forbidden": [(1, 2), (2, 1)]}}])
def test_fewer_candidates_give_one_answer_for_any_number_of_threads(monkeypatch, options):
    few_candidates(monkeypatch, 3, 6)
    looked = []
    look = portfolio.reconsidered
    monkeypatch.setattr(portfolio, "reconsidered", lambda *args: looked.append(args[0]) or look(*args))
    first, second = (rfdag.learn(rows_of(60, 600), n_jobs=threads, **options) for threads in (1, 2))
    assert len(looked) >= 6
    assert not any(each.candidates.complete for each in looked)
    assert first.order == second.order
    assert first.score == second.score
    if options:
        assert first.dag[3, 7]
        assert not first.dag[1, 2]
        assert not first.dag[2, 1]


def test_a_deadline_ends_a_search_with_fewer_candidates(monkeypatch):
    """Out of time before parents are looked at once more, the order found until then is returned."""
    few_candidates(monkeypatch, 3, 6)

    def late(*_):
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
