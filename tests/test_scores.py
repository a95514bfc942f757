"""Scores of orders: moments that differ from variable to variable, the exact search, and the limit on parents."""

import dataclasses

import numpy as np
import pytest

from reference import all_dags, local_bic
from rfdag.evidence.local import SharedMoments
from rfdag.knowledge import Knowledge
from rfdag.orders.exact import Problem, best_dag
from rfdag.orders.kernels import moves
from rfdag.orders.limits import most_parents, warning_about_cap
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder, price_of_edge
from rfdag.simulate import linear_sem, random_dag, sample

FIRST_TOTAL = -1041.6273414540897
LAST_TOTAL = -1157.4011555767488
LAST_ORDER = [0, 10, 5, 6, 8, 1, 7, 2, 11, 4, 3, 9]
BEST_ORDER = [5, 3, 11, 4, 6, 7, 10, 9, 8, 2, 1, 0]
KNOWING_ORDER = [10, 1, 7, 11, 9, 0, 5, 6, 4, 8, 3, 2]


@dataclasses.dataclass
class Groups:
    """Groups of variables, each scored in rows of its own."""

    data: list
    which: np.ndarray

    def __post_init__(self):
        self.matrices = np.stack([np.corrcoef(rows.T) for rows in self.data])

    @property
    def size(self):
        return len(self.which)

    @property
    def n_samples(self):
        return max(map(len, self.data))

    price_factors = None

    @property
    def directions(self):
        return self.n_samples - 1

    def rows(self, y):
        return len(self.data[self.which[y]])

    def gram(self, y, candidates):
        chosen = np.append(y, candidates)
        return self.matrices[self.which[y]][np.ix_(chosen, chosen)]

    def rows_of_each(self):
        return [self.data[number] for number in self.which]


def two_groups(p, seed, n=200):
    """Return rows of which the second group of variables does without the last, which follow another model."""
    generator = np.random.default_rng(seed)
    sem = linear_sem(random_dag(p, 0.5, generator), generator)
    rows = sample(sem, n, generator)
    rows[: n // 3] = sample(linear_sem(sem.dag, generator), n // 3, generator)
    return Groups([rows, rows[n // 3 :]], generator.permutation(p) % 2)


@pytest.mark.parametrize("seed", range(6))
def test_each_variable_is_scored_in_its_own_rows(seed):
    """Whatever is done to the order, the total is that of least squares in each variable's rows."""
    p = 12
    moments = two_groups(p, seed)
    price = price_of_edge(200, p, 2.0)
    generator = np.random.default_rng(seed)
    scored = ScoredOrder(moments, generator.permutation(p))

    def agrees():
        return scored.total == pytest.approx(local_bic(moments.rows_of_each(), scored.dag, price), abs=1e-7)

    assert agrees()
    for variable in generator.permutation(p):
        before = scored.total
        change = scored.reinsert(int(variable))
        assert scored.total == pytest.approx(before + change, abs=1e-7)
        assert agrees()
    for _ in range(10):
        scored.reverse_edge(generator)
        assert agrees()
    descend(scored, generator)
    assert agrees()
    assert scored.at_price(1.0, 0.0).dag.sum() >= scored.edges


@pytest.mark.parametrize("seed", range(4))
def test_parents_are_best_in_the_rows_of_their_child(seed):
    """No parent more or less would lower the score, by least squares."""
    p = 8
    moments = two_groups(p, seed)
    price = price_of_edge(200, p, 2.0)
    scored = ScoredOrder(moments, np.random.default_rng(seed).permutation(p))
    descend(scored, np.random.default_rng(seed))
    place = np.argsort(scored.order)
    least = local_bic(moments.rows_of_each(), scored.dag, price)
    for x in range(p):
        for y in range(p):
            if place[x] < place[y]:
                other = scored.dag.copy()
                other[x, y] ^= 1
                assert local_bic(moments.rows_of_each(), other, price) > least - 1e-6


@pytest.mark.parametrize("search", [moves.best_place_before, moves.best_place_after])
def test_a_place_is_judged_in_the_rows_of_those_passed(search):
    """A move gains what its search foresaw or, as parents are chosen anew, more; only rarely less."""
    foreseen = exceptions = 0
    for seed in range(12):
        scored = ScoredOrder(two_groups(12, seed), np.random.default_rng(seed).permutation(12))
        for variable in range(12):
            trial = scored.copy()
            gain, to = search(trial._state, trial._price, variable, trial._works[0])
            at = trial.order.tolist().index(variable)
            if to != at:
                foreseen += 1
                exceptions += trial.move(at, int(to), force=True) > gain + 1e-6
    assert foreseen > 50
    assert exceptions <= 3


@pytest.mark.parametrize("seed", range(3))
def test_the_best_dag_is_the_best_of_all_in_the_rows_of_each(seed):
    moments = two_groups(4, seed)
    best = best_dag(Problem(moments))
    order, dag = best.order, best.dag
    price = price_of_edge(200, 4, 2.0)
    least = min(local_bic(moments.rows_of_each(), other, price) for other in all_dags(4))
    assert local_bic(moments.rows_of_each(), dag, price) == pytest.approx(least, abs=1e-7)
    place = np.argsort(order)
    assert all(place[x] < place[y] for x, y in np.argwhere(dag))
    scored = ScoredOrder(moments, order, parents=dag)
    assert scored.total == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("p", [10, 60])
def test_equal_matrices_score_as_one(p):
    """Copies of one matrix lead to the same search, step by step, as the matrix itself."""
    rows = sample(linear_sem(random_dag(p, degree=4, rng=1), rng=2), 300, rng=3)
    generator = np.random.default_rng(4)
    copies = Groups([rows, rows, rows], generator.integers(3, size=p))
    start = generator.permutation(p)
    several, one = ScoredOrder(copies, start), ScoredOrder(SharedMoments(np.corrcoef(rows.T), len(rows)), start)
    for _ in range(3):
        for scored in (several, one):
            choices = np.random.default_rng(5)
            descend(scored, choices)
            for _ in range(4):
                scored.reverse_edge(choices)
        assert several.total == one.total
        np.testing.assert_array_equal(several.order, one.order)
        np.testing.assert_array_equal(several.dag, one.dag)


def test_one_matrix_gives_the_answers_of_old():
    """Orders and scores that were found before scores asked for local moments."""
    rows = sample(linear_sem(random_dag(12, 0.4, rng=1), rng=2), 150, rng=3)
    correlation = np.corrcoef(rows.T)
    scored = ScoredOrder(SharedMoments(correlation, 150), np.random.default_rng(4).permutation(12))
    assert scored.total == pytest.approx(FIRST_TOTAL, rel=1e-10)
    descend(scored, np.random.default_rng(5))
    assert scored.total == pytest.approx(LAST_TOTAL, rel=1e-10)
    assert scored.order.tolist() == LAST_ORDER
    assert best_dag(Problem(SharedMoments(correlation, 150))).order.tolist() == BEST_ORDER
    knowledge = Knowledge(required=[(0, 5)], forbidden=[(5, 3)]).constraints(range(12))
    knowing = best_dag(Problem(SharedMoments(correlation, 150), constraints=knowledge))
    assert knowing.order.tolist() == KNOWING_ORDER
    assert knowing.dag[0, 5]
    assert not knowing.dag[5, 3]


def test_rows_limit_the_parents_of_each_variable():
    moments = two_groups(30, 0, n=45)
    assert set(most_parents(moments)) == {22, 14}
    assert [most_parents(moments)[y] for y in range(30)] == [(moments.rows(y) - 1) // 2 for y in range(30)]
    order = np.arange(30)
    scored = ScoredOrder(moments, order, penalty=1e-9)
    counts = scored.dag.sum(axis=0)
    assert (counts <= scored.most_parents).all()
    assert (counts == scored.most_parents).any()
    enough = ScoredOrder(SharedMoments(np.eye(3), 100), np.arange(3))
    assert (enough.most_parents == 2).all()
    many = Knowledge(required=[(i, 9) for i in range(9)]).constraints(range(10))
    assert (most_parents(SharedMoments(np.eye(10), 5), many) == 9).all()


def test_the_limit_on_parents_is_reported():
    rows = np.random.default_rng(0).normal(size=(9, 6))
    rows[:, 5] = rows[:, :5].sum(axis=1) + 0.01 * rows[:, 5]
    scored = ScoredOrder(SharedMoments(np.corrcoef(rows.T), 9), np.arange(6))
    assert scored.dag[:, 5].sum() == 4
    assert warning_about_cap(scored, list("abcdef")) == (
        "With 9 rows, a variable may have at most 4 parents (half the rows). "
        "This limit was reached by 'f'; more rows may show more parents."
    )
    few = ScoredOrder(SharedMoments(np.eye(6), 9), np.arange(6))
    assert warning_about_cap(few, list("abcdef")) is None
    assert warning_about_cap(few, list("abcdef"), exhaustive=True) == (
        "With 9 rows, a variable may have at most 4 parents (half the rows); the DAG found is the best of those."
    )
    enough = ScoredOrder(SharedMoments(np.eye(6), 100), np.arange(6))
    assert warning_about_cap(enough, list("abcdef"), exhaustive=True) is None


def test_operations_are_counted_alike_every_time():
    """The same search counts the same; a denser graph costs more; a copy counts its own."""
    counts = []
    for degree in (2, 2, 8):
        rows = sample(linear_sem(random_dag(30, degree=degree, rng=1), rng=2), 300, rng=3)
        scored = ScoredOrder(SharedMoments(np.corrcoef(rows.T), 300), np.random.default_rng(4).permutation(30))
        begun = scored.operations
        descend(scored, np.random.default_rng(5))
        assert scored.operations > begun > 30 * 30
        assert scored.copy().operations == 0
        counts.append(scored.operations)
    assert counts[0] == counts[1] < counts[2]
