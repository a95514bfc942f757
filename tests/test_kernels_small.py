"""Kernels against what they mean, on a few variables: quick enough to run as plain Python, without a compiler."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln

import mixed_reference as slow
from kernel_parts import entry
from reference import best_score
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.mixing import mixed_moments
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.orders import branching, environment_tuning, plausible, tuning
from rfdag.orders.candidates import Candidates
from rfdag.orders.environment_scores import with_relatives
from rfdag.orders.exact import Problem, best_dag
from rfdag.orders.families import Families
from rfdag.orders.family_fits import scores_of
from rfdag.orders.family_scores import BlockScore, CountScore, family_score
from rfdag.orders.kernels import branching as sets
from rfdag.orders.kernels import counts, exact, fits, moves
from rfdag.orders.limits import most_parents
from rfdag.orders.reversals import Reversing
from rfdag.orders.scores import ScoredOrder

N = 50
candidates_within = entry(moves._candidates_within)


def correlations(p, seed):
    """Correlations of a few rows, so that weak and strong ones occur."""
    generator = np.random.default_rng([p, seed])
    return np.corrcoef((generator.normal(size=(12, p)) @ generator.normal(size=(p, p))).T)


def subsets(items):
    return itertools.chain.from_iterable(itertools.combinations(items, size) for size in range(len(items) + 1))


def score_of(correlation, price, y, parents):
    """n ln var(y | parents) + price · parents, by determinants."""
    held = [*parents, y]
    inner = np.linalg.slogdet(correlation[np.ix_(parents, parents)])[1] if parents else 0.0
    return N * (np.linalg.slogdet(correlation[np.ix_(held, held)])[1] - inner) + price * len(parents)


# Sets of parents

PRICES = np.array([3.0, 5.0, 2.5, 4.0])


def scores_of_sets(gram, limit, forbidden=0, required=0, at_once=3):
    """Return the scores of all sets, a few in a call."""
    scores = np.full(1 << (len(gram) - 1), np.nan)
    given, chosen, at = np.empty((len(gram),) * 3), np.empty(len(gram), np.int64), np.zeros(2, np.int64)
    given[0] = gram
    room = given, chosen, np.empty(len(gram)), at
    calls = 1
    while exact.score_families(float(N), PRICES[: len(gram) - 1], limit, forbidden, required, *room, at_once, scores):
        calls += 1
    assert calls == -(-len(scores) // at_once)
    return scores


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("limit", "forbidden", "required"), [(4, 0, 0), (2, 0b0100, 0), (3, 0b1000, 0b0001)])
def test_every_set_of_parents_is_scored(limit, forbidden, required, seed):
    gram = correlations(5, seed)
    scores = scores_of_sets(gram, limit, forbidden, required)
    for mask in range(16):
        parents = [x + 1 for x in range(4) if mask >> x & 1]
        allowed = len(parents) <= limit and not mask & forbidden and mask & required == required
        cost = PRICES[np.array(parents, int) - 1].sum()
        expected = score_of(gram, 0.0, 0, parents) + cost if allowed else math.inf
        assert scores[mask] == pytest.approx(expected, abs=1e-9)


def test_what_parents_determine_adds_nothing():
    gram = np.corrcoef(np.array([[1.0, 2, 3, 5], [1.0, 3, 2, 1], [2.0, 6, 4, 2]]))
    scores = scores_of_sets(gram, 2)
    assert scores[0b11] == pytest.approx(scores[0b01] + PRICES[1])
    assert scores[0b10] == pytest.approx(scores[0b01] - PRICES[0] + PRICES[1])


def test_supersets_are_at_most_their_subsets():
    scores = np.random.default_rng(1).normal(size=16)
    spread = scores.copy()
    exact.spread_to_supersets(spread, 4, 0, 1)
    exact.spread_to_supersets(spread, 4, 1, 4)
    for mask in range(16):
        assert spread[mask] == min(scores[part] for part in range(16) if part & ~mask == 0)


def families_listed(gram, prices, limit, required, bits, most_steps, masks, scores, at_once=5):
    """Return how many families are listed, −1 if they are too many, and the steps taken, a few in a call."""
    m = len(gram) - 1
    matrices, known = np.empty((2, m + 1, m + 1, m + 1)), np.zeros((6, m + 1), np.int64)
    lowest = np.full((2, m + 1), np.inf)
    lowest[1, 0] = 0.0
    matrices[0, 0], matrices[1, 0], known[sets.NEWEST] = gram, np.linalg.inv(gram), -1
    at = np.zeros(3, np.int64)
    if not required:
        masks[0], scores[0], lowest[0, 0], at[sets.COUNT] = 0, 0.0, 0.0, 1
    room = matrices, known, lowest, np.empty_like(masks), masks, scores
    cheapest = np.minimum.accumulate(prices[::-1])[::-1]
    task = float(N), np.array([prices, cheapest]), limit, required, bits, float(most_steps), at
    while sets.list_families(*task, at[sets.STEPS] + at_once, *room):
        assert at[sets.COUNT] >= 0
    return int(at[sets.COUNT]), int(at[sets.STEPS])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("m", "limit", "required"), [(4, 4, 0), (4, 2, 0), (4, 4, 1), (4, 3, 2), (6, 6, 0), (6, 4, 2)])
def test_families_listed_are_those_better_than_their_subsets(m, limit, required, seed):
    gram, prices = correlations(m + 1, seed), (1.0, 4.0)[seed % 2] + np.arange(m)[::-1] * (seed // 2)
    bits = 1 << np.array([3, 0, 4, 1, 6, 2])[:m]
    masks, scores = np.zeros(1 << m, np.int64), np.zeros(1 << m)
    count, steps = families_listed(gram, prices, limit, required, bits, 1e9, masks, scores)
    best = {}
    for members in subsets(range(m)):
        if set(range(required)) <= set(members) and len(members) <= limit:
            score = score_of(gram, 0.0, 0, [x + 1 for x in members]) + prices[list(members)].sum()
            if all(score < other - 1e-7 for smaller, other in best.items() if smaller < frozenset(members)):
                best[frozenset(members)] = score
    expected = {sum(int(bits[x]) for x in members): score for members, score in best.items()}
    assert dict(zip(masks[:count].tolist(), scores[:count], strict=True)) == pytest.approx(expected)
    assert len(set(masks[:count].tolist())) == count
    assert steps > 0
    # Without steps or room for all of them, there are none.
    arguments = gram, prices, limit, required, bits
    assert families_listed(*arguments, steps / 2, masks, scores)[0] == -1
    assert families_listed(*arguments, 1e9, masks[:count], scores[:count]) == (count, steps)
    if count > 1:
        assert families_listed(*arguments, 1e9, masks[: count - 1], scores[: count - 1])[0] == -1


def families_of(task):
    """The families of all variables as branch and bound keeps them, one variable after the other."""
    listed = [branching.families_of(task, y, 1e9)[0] for y in range(task.p)]
    start = np.cumsum([0, *(len(each.masks) for each in listed)])
    return start, np.concatenate([each.masks for each in listed]), np.concatenate([each.scores for each in listed])


@pytest.mark.parametrize("before", [(), ((3, 1),)])
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_is_the_least_cost_of_a_group_that_comes_last(before, seed):
    task = Problem(SharedMoments(correlations(5, seed), N), 1.0)
    start, masks, scores = families_of(task)
    earlier = np.zeros(5, np.int64)
    for first, second in before:
        earlier[second] |= 1 << first
    group = np.array([0, 1, 3])
    bounds = np.full(8, np.nan)
    sets.bound_group(group, earlier, start, masks, scores, bounds)

    def cheapest(z, waiting):
        within = [scores[at] for at in range(start[z], start[z + 1]) if not any(masks[at] >> w & 1 for w in waiting)]
        return min(within)

    for subset in range(8):
        left = [int(group[t]) for t in range(3) if subset >> t & 1]
        costs = [
            sum(cheapest(z, order[at:]) for at, z in enumerate(order))
            for order in itertools.permutations(left)
            if not any(order.index(a) > order.index(b) for a, b in before if a in left and b in left)
        ]
        assert bounds[subset] == pytest.approx(min(costs))


# The best DAG


@pytest.mark.parametrize("group", [2, 3, 9])
@pytest.mark.parametrize(
    ("p", "seed", "penalty"),
    [(2, 0, 2.0), (4, 1, 0.5), (5, 2, 1.0), *((6, seed, 0.5) for seed in range(3, 9)), (6, 9, 2.0)],
)
def test_branch_and_bound_finds_the_best_of_all(p, seed, penalty, group, monkeypatch):
    monkeypatch.setattr(tuning, "LARGEST_GROUP", group)
    task = Problem(SharedMoments(correlations(p, seed), N), penalty)
    limit = int(most_parents(task.moments)[0])
    least = best_score(task.moments.matrices[0], N, task.price, limit)
    proof, solution = branching.prove(task, least + 30.0, most_sets=1 << 8, most_steps=1e9)
    assert proof.complete
    assert proof.lower_bound == pytest.approx(least, abs=1e-6)
    assert scored(task, solution) == pytest.approx(least, abs=1e-6)
    assert scored(task, best_dag(task)) == pytest.approx(least, abs=1e-6)
    assert branching.prove(task, least, most_sets=1 << 8, most_steps=1e9)[1] is None
    # The smallest sets of all orders but the best are left out.
    assert proof.sets <= 1 << p


@pytest.mark.parametrize("most", [8, 12, 16])
def test_without_room_what_is_left_bounds_the_score(most):
    task = Problem(SharedMoments(correlations(6, 3), N), 0.5)
    least = scored(task, best_dag(task))
    proof, _ = branching.prove(task, least + 20.0, most_sets=most, most_steps=1e9)
    assert not proof.complete
    assert proof.lower_bound <= least + 1e-9
    assert proof.lower_bound > least - 100.0


@pytest.mark.parametrize("penalty", [0.5, 9.0])
@pytest.mark.parametrize("seed", range(3))
def test_both_searches_obey_what_is_known(seed, penalty):
    known = Knowledge(tiers=[[3], [0, 1]], required=[(0, 4)], forbidden=[(1, 2)]).constraints(range(5))
    task = Problem(SharedMoments(correlations(5, seed), N), penalty, constraints=known)
    orders = [order for order in itertools.permutations(range(5)) if known.obeyed_by(np.array(order))]

    def cheapest(y, before):
        return min(
            score_of(task.moments.matrices[0], task.price, y, list(parents))
            for parents in subsets(before)
            if (y != 4 or 0 in parents) and not (y == 2 and 1 in parents)
        )

    possible = [order for order in orders if order.index(0) < order.index(4)]
    least = min(sum(cheapest(y, order[:at]) for at, y in enumerate(order)) for order in possible)
    _, solution = branching.prove(task, least + 1.0, most_sets=1 << 8, most_steps=1e9)
    for found in (solution, best_dag(task)):
        assert scored(task, found) == pytest.approx(least, abs=1e-6)
        assert known.obeyed_by(found.order)


def scored(task, solution):
    """The score of a DAG whose edges point along its order."""
    place = np.argsort(solution.order)
    assert all(place[x] < place[y] for x, y in np.argwhere(solution.dag))
    correlation = task.moments.matrices[0]
    return sum(score_of(correlation, task.price, y, np.flatnonzero(solution.dag[:, y]).tolist()) for y in range(task.p))


# Moves within an order


@pytest.mark.parametrize("seed", range(6))
def test_a_move_marks_the_variables_that_it_may_matter_to(seed):
    generator = np.random.default_rng(seed)
    scored = ScoredOrder(SharedMoments(correlations(6, seed), N), generator.permutation(6), 0.5)
    for _ in range(10):
        before = [set(scored.parents_of(y).tolist()) for y in range(6)]
        scored._state.places[fits.STALE] = 0
        at, to = generator.permutation(6)[:2]
        scored.move(int(at), int(to), force=True)
        expected = set()
        left = scored._state.left.reshape(2, 6, 6)
        for y in range(6):
            now = set(scored.parents_of(y).tolist())
            if now != before[y]:
                z2 = N * left[1, y] ** 2
                expected |= before[y] | now | {y}
                expected |= {x for x in range(6) if z2[x] > tuning.NOTICEABLE_Z2 * left[0, y, y] * left[0, y, x]}
        assert set(scored.stale.tolist()) == expected


def test_variables_that_move_are_counted():
    """0 → 2 ← 1 in an order that has the collider first, where every edge is needed."""
    gram = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])
    scored = ScoredOrder(SharedMoments(gram, N), np.array([2, 0, 1]))
    before = scored.total
    moved = scored.reinsert_stale(np.array([2]))
    assert (moved, scored.order.tolist()) == (1, [0, 1, 2])
    assert scored.total < before


@pytest.mark.parametrize("seed", range(4))
def test_candidates_on_the_way_come_by_their_place(seed):
    generator = np.random.default_rng(seed)
    pairs = np.ones((12, 12), bool)
    pairs[0, 5] = pairs[5, 0] = False
    candidates = Candidates.among(csr_array(pairs))
    order = generator.permutation(12)
    scored = ScoredOrder(SharedMoments(correlations(12, seed), N), order, candidates=candidates)
    way = np.full(12, -1, np.int64)
    found = candidates_within(scored._state, 0, 2, 11, way)
    on_the_way = [x for x in order[2:11] if x not in (0, 5)]
    place = [x for x in candidates.of(0)[way[:found]] if x != 0]
    assert place == on_the_way


def test_parents_that_matter_together_are_kept_and_found_by_renewing():
    """Each of two near copies says little of their difference, so growing from nothing takes neither."""
    near, share = 0.95, 0.9
    slope = share * (1 - near) / math.sqrt(2 - 2 * near)
    gram = np.array([[1.0, near, slope], [near, 1.0, -slope], [slope, -slope, 1.0]])
    moments, dag = SharedMoments(gram, N), np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], np.int8)
    given = ScoredOrder(moments, np.arange(3), parents=dag, renewing=False)
    assert given.dag.tolist() == dag.tolist()
    grown = ScoredOrder(moments, np.arange(3), renewing=False)
    assert grown.parents_of(2).tolist() == []
    grown._state.places[fits.STALE] = 0
    grown.settled = True
    assert grown.renew() == 1
    assert grown.dag.tolist() == dag.tolist()
    assert (grown.stale.tolist(), grown.settled) == ([2], False)
    assert grown.total == pytest.approx(given.total)
    assert grown.renew() == 0
    # Nothing is stale, so that nothing moves.
    grown._state.places[fits.STALE] = 0
    assert grown.reinsert_stale(np.arange(3)) == 0


@pytest.mark.parametrize("seed", range(6))
def test_what_is_plausible_is_so_along_lists_and_along_the_order(seed):
    moments = SharedMoments(correlations(6, seed), 14)
    scored = ScoredOrder(moments, np.random.default_rng(seed).permutation(6), 0.5)
    among = plausible.Among(scored._state, 6, 1)
    among.mark(np.arange(6), 0)
    found, known = plausible.in_order(moments, scored._state, scored.most_parents)
    np.testing.assert_array_equal(among.known, known)
    np.testing.assert_array_equal(among.found.reshape(6, 6)[known], found.reshape(6, 6)[known])


def test_reversals_obey_what_is_known():
    """2 must follow 0: in 0 → 1 → 2 the second edge may be reversed, in 0 → 1 ← 2 the first would bring 2 before 0."""
    dag = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    moments = SharedMoments(np.array([[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]]), N)
    free = Reversing(dag, moments, 2.0).reverse(1, 2)
    known = Knowledge(tiers=[[0], [2]]).constraints(range(3))
    obeying = Reversing(dag, moments, 2.0, known).reverse(1, 2)
    assert obeying.dag.tolist() == free.dag.tolist()
    assert obeying.cost == pytest.approx(free.cost)
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], np.int8)
    assert Reversing(collider, moments, 2.0).reverse(0, 1) is not None
    assert Reversing(collider, moments, 2.0, known).reverse(0, 1) is None


# Scores of families


def test_what_a_parent_costs_beside_the_penalty():
    """2 γ ln p for each parent, of columns and of categories."""
    table = Table(np.random.default_rng(1).normal(size=(40, 3)), ("a", "b", "c"))
    plain, dear = (family_score(mixed_moments(table), gamma=gamma) for gamma in (0.0, 0.5))
    family = [(2, np.array([0, 1]))]
    assert scores_of(dear, family) - scores_of(plain, family) == pytest.approx(2 * math.log(3))
    columns = [table.values[:, [at]] for at in range(3)]
    assert scores_of(plain, family) == pytest.approx(slow.gaussian(columns, 2, (0, 1), math.log(40), math.log(40)))
    codes = np.random.default_rng(2).integers(0, 2, (3, 40)).astype(np.uint8)
    counted = [CountScore(codes, np.full(3, 2), np.ones(40, np.int32), gamma=gamma) for gamma in (0.0, 0.5)]
    assert scores_of(counted[1], family) - scores_of(counted[0], family) == pytest.approx(2 * math.log(3))
    assert [score.most_parents for score in counted] == [2, 2]
    # Added as a candidate, a parent costs as much.
    numbers = np.array([2]), np.array([[0, 0]]), np.array([1]), np.array([[1], [0], [1]])
    own, added = dear.scan(*numbers)
    assert added[0, 0] == pytest.approx(scores_of(dear, family)[0])
    assert own[0] == pytest.approx(scores_of(dear, [(2, np.array([0]))])[0])


def test_blocks_may_have_as_many_parents_as_rows_bear():
    starts = np.array([0, 2, 4, 6, 8, 10])
    assert [BlockScore(np.eye(10), starts, None, n).most_parents for n in (3, 7, 9, 50)] == [1, 2, 3, 4]


def test_the_logarithm_of_the_gamma_function_is_exact():
    log_gamma = entry(counts._log_gamma)
    for x in (1e-3, 0.1, 0.5, 1.5, 3.0, 7.9, 8.0, 8.1, 20.0, 500.0):
        assert log_gamma(x) == pytest.approx(gammaln(x), rel=1e-13, abs=5e-13)


def test_few_candidates_are_the_neighbours_and_parents_of_children(monkeypatch):
    monkeypatch.setattr(environment_tuning, "MOST_CANDIDATES", 3)
    dag = np.zeros((7, 7), np.int8)
    dag[[0, 1, 2, 3], [2, 2, 3, 4]] = 1
    found = [[x for x in row if x >= 0] for row in with_relatives(dag).tolist()]
    # Parents, their parents, children, and their parents.
    edges = dag != 0
    for y in range(7):
        near = set(np.flatnonzero(edges[y] | edges[:, y]))
        for child in np.flatnonzero(edges[y]):
            near |= set(np.flatnonzero(edges[:, child]))
        for parent in np.flatnonzero(edges[:, y]):
            near |= set(np.flatnonzero(edges[:, parent]))
        assert found[y] == sorted(near - {y})
    assert with_relatives(dag[:4, :4]).tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_a_family_is_tested_once():
    asked = []

    class Asked:
        def dependent(self, node, others):
            asked.append((node, others.tolist()))
            return others < 1

    families = Families(Asked())
    assert [families.needed(2, 0b11), families.needed(2, 0b11), families.needed(2, 0b10)] == [0b01, 0b01, 0]
    assert asked == [(2, [0, 1]), (2, [1])]
