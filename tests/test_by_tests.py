"""Elimination by tests of conditional independence: orders, economy, bad tests, early ends."""

from __future__ import annotations

import itertools
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import rfdag
from rfdag.eliminate import IndependenceEngine
from rfdag.errors import DataError, DataWarning, IndependenceError, NumericalWarning, OptionError
from rfdag.independence import TESTS, ByTests
from rfdag.independence.answers import needed
from rfdag.independence.d_separation import DSeparation
from rfdag.independence.first_graph import first_graph
from rfdag.independence.questions import Questions
from rfdag.runtime.deadline import Deadline
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import dags

COLLIDER = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
NAMES = ["rain", "sprinkler", "wet"]
CONDITIONING = ["all", "blanket"]
METHODS = ["rfd", "min-degree", "min-fill", "max-remove", "random"]


def separated(dag):
    """A user's own test that knows the truth, and keeps account of how it is called."""
    calls = []
    answer = DSeparation(dag)

    def own_test(i, j, given):
        calls.append((i, j, given))
        return answer(i, j, given)

    own_test.calls = calls
    return own_test


def linear_rows(seed=0, p=8, n=400):
    dag = random_dag(p, degree=3, rng=[seed, 5])
    return dag, sample(linear_sem(dag, rng=[seed, 6]), n, rng=[seed, 7])


# Exact answers.


@pytest.mark.parametrize("conditioning", CONDITIONING)
@pytest.mark.parametrize("method", METHODS)
def test_d_separation_gives_the_orders_of_the_oracle(method, conditioning):
    for seed in range(8):
        dag = random_dag(9, degree=3, rng=[seed, 1])
        by_tests = rfdag.learn(dag, method, input="dag", test="d-separation", conditioning=conditioning)
        oracle = rfdag.learn(dag, method, input="dag")
        assert by_tests.order == oracle.order
        np.testing.assert_array_equal(by_tests.dag, oracle.dag)
        for part in ("removal", "fill", "degree", "ties"):
            np.testing.assert_array_equal(getattr(by_tests.trace, part), getattr(oracle.trace, part))


@pytest.mark.parametrize("depth", [2, 3])
def test_any_depth(depth):
    for seed in range(4):
        dag = random_dag(8, 0.5, rng=[seed, 2])
        by_tests = rfdag.learn(dag, input="dag", test="d-separation", depth=depth)
        assert by_tests.order == rfdag.learn(dag, "rfd", input="dag", depth=depth).order


@pytest.mark.parametrize("conditioning", CONDITIONING)
def test_gsp(conditioning):
    for seed in range(4):
        dag = random_dag(7, 0.5, rng=[seed, 3])
        by_tests = rfdag.learn(dag, "gsp", input="dag", test="d-separation", conditioning=conditioning)
        oracle = rfdag.learn(dag, "gsp", input="dag")
        assert by_tests.order == oracle.order
        np.testing.assert_array_equal(by_tests.cpdag, oracle.cpdag)


@given(dags(max_nodes=7), st.sampled_from(CONDITIONING))
def test_the_first_graph_is_the_moral_graph(dag, conditioning):
    p = len(dag)
    asked = Questions(DSeparation(dag), range(p), "d-separation")
    edges = first_graph(asked, 0.01, conditioning, lambda share: None)
    found = {frozenset((int(i), int(j))) for i, j in np.argwhere(edges)}
    assert found == reference.moral_subgraph(reference.Population(dag), list(range(p)))


def test_knowledge_is_obeyed_and_the_dag_is_the_oracles():
    for seed in range(5):
        dag = random_dag(7, degree=3, rng=[seed, 4])
        sources, targets = np.nonzero(dag)
        knowledge = {"forbidden": [(int(targets[0]), int(sources[0]))], "roots": [int(sources[0])]}
        if dag[:, sources[0]].any():
            knowledge.pop("roots")
        by_tests = rfdag.learn(dag, input="dag", test="d-separation", conditioning="blanket", knowledge=knowledge)
        oracle = rfdag.learn(dag, "rfd", input="dag", knowledge=knowledge)
        np.testing.assert_array_equal(by_tests.dag, oracle.dag)
        assert all(record.holds for record in by_tests.compliance)


def test_required_edges_survive_the_last_tests():
    rows = np.random.default_rng(3).normal(size=(200, 3))
    found = rfdag.learn(rows, test="fisher-z", knowledge={"required": [(0, 2)]})
    assert found.dag.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("separation", "gone"),
    [
        ((1, 3, (2,)), (1, 3)),  # given the other parent of 3
        ((1, 3, (0, 2)), (1, 3)),  # given the parent of 1, too
        ((2, 3, ()), (2, 3)),  # given anything, if it was ever asked
    ],
)
def test_parents_that_are_not_needed(separation, gone):
    dag = np.zeros((4, 4), np.int8)
    dag[[0, 1, 2], [1, 3, 3]] = 1
    asked = Questions(lambda *query: 0.9 if query == separation else 0.0, range(4), "mine")
    asked.p_values([(2, 3, ())])
    expected = dag.copy()
    expected[gone] = 0
    np.testing.assert_array_equal(needed(dag, asked, 0.01), expected)
    required = np.zeros((4, 4), bool)
    required[gone] = True
    np.testing.assert_array_equal(needed(dag, asked, 0.01, required), dag)


def test_parents_at_removal_are_there_for_the_asking():
    def collider(i, j, given):
        """All depend, but for 0 and 1 alone."""
        return 0.9 if ({i, j}, given) == ({0, 1}, ()) else 0.0

    def learnt(**options):
        return rfdag.learn(None, test=collider, names=range(3), **options)

    assert learnt().dag.sum() == learnt(parents="threshold").dag.sum() == 2
    found = learnt(knowledge={"tiers": [[2], [0, 1]]}, parents="threshold")
    assert found.dag.sum() == 3
    assert learnt(knowledge={"tiers": [[2], [0, 1]]}).dag.sum() == 2


# Economy.


def test_what_is_asked_of_the_users_function():
    own = separated(random_dag(9, degree=3, rng=11))
    found = rfdag.learn(None, test=own, names=list("abcdefghi"), n_jobs=1)
    once = own.calls[: found_tests(found)]
    assert len(set(once)) == len(once) == found_tests(found)
    for i, j, given_ in once:
        assert type(i) is type(j) is int
        assert i < j
        assert given_ == tuple(sorted(given_))
        assert not {i, j} & set(given_)
    by_size = {size: sum(len(given_) == size for _, _, given_ in once) for size in found.tests}
    assert found.tests == by_size


def found_tests(found):
    return sum(found.tests.values())


def test_fill_needs_no_test():
    """In a star of effects every removal of the centre fills; a chain of neighbours has nothing to retest."""
    chain = np.diag(np.ones(5), 1)
    found = rfdag.learn(chain, input="dag", test="d-separation")
    pairs = 6 * 5 // 2
    assert found.tests == {4: pairs}


def test_a_removal_retests_only_adjacent_neighbours():
    found = rfdag.learn(COLLIDER, input="dag", test="d-separation")
    # Three pairs first; then the removal of 2 asks for 0 and 1, that of 0 and of 1 for the other two.
    assert found.tests == {1: 3, 0: 3}


def test_blankets_condition_on_less():
    dag = random_dag(14, degree=2, rng=12)
    small, whole = (
        rfdag.learn(dag, input="dag", test="d-separation", conditioning=conditioning).tests
        for conditioning in ("blanket", "all")
    )
    assert max(small) < max(whole) == 12


@pytest.mark.parametrize("conditioning", CONDITIONING)
@pytest.mark.parametrize("test", ["fisher-z", "rcit", "own"])
def test_threads_change_nothing(test, conditioning):
    dag, rows = linear_rows(seed=3, p=6, n=150)
    given_test = separated(dag) if test == "own" else test
    one, several = (
        rfdag.learn(rows, test=given_test, conditioning=conditioning, alpha=0.01, n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    assert (one.order, one.tests) == (several.order, several.tests)
    np.testing.assert_array_equal(one.dag, several.dag)


# Tests by name.


def test_fisher_z_given_all_is_the_elimination_by_partial_correlations():
    for seed in range(4):
        _, rows = linear_rows(seed)
        asked = Questions(TESTS["fisher-z"](rows, (), 0), range(rows.shape[1]), "fisher-z")
        tested = first_graph(asked, 0.01, "all", lambda share: None)
        partial = rfdag.Moments.from_data(rows).partial_correlations()
        threshold = rfdag.eliminate.FisherZ(len(rows), 0.01)(rows.shape[1])
        np.testing.assert_array_equal(tested, (np.abs(partial) > threshold) & ~np.eye(len(partial), dtype=bool))


def test_fisher_z_of_a_determined_variable_drops_no_edge():
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(50, 3))
    rows[:, 2] = rows[:, 0] + rows[:, 1]
    assert TESTS["fisher-z"](rows, (), 0)(0, 2, (1,)) == 0.0


def test_few_rows_are_named():
    rows = np.random.default_rng(0).normal(size=(6, 5))
    with pytest.raises(DataError, match="6 rows are too few to test a pair given 3 others"):
        rfdag.learn(rows, test="fisher-z", conditioning="all")


def nonlinear(n=200):
    generator = np.random.default_rng(8)
    cause = generator.normal(size=n)
    effects = cause[:, None] ** 2 + generator.normal(size=(n, 2)) / 3
    return np.column_stack([cause, effects])


@pytest.mark.parametrize("name", ["kci", "rcit", "hsic"])
def test_kernel_tests_see_what_correlations_do_not(name):
    rows = nonlinear()
    test, linear = TESTS[name](rows, (), 0), TESTS["fisher-z"](rows, (), 0)
    assert test(0, 1, ()) < 1e-4 < linear(0, 1, ())
    assert test(1, 2, ()) < 1e-4
    assert test(1, 2, (0,)) > 0.01
    assert test(0, 1, (2,)) < 0.1


@pytest.mark.parametrize("given_", [(), (2,), (2, 3)])
def test_kci_is_causal_learns(given_):
    from causallearn.utils.cit import CIT

    generator = np.random.default_rng(4)
    rows = generator.normal(size=(150, 4))
    rows[:, 1] += 0.3 * rows[:, 0]
    theirs = CIT(rows, "kci")(0, 1, given_)
    assert TESTS["kci"](rows, (), 0)(0, 1, given_) == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("name", ["rcit", "hsic"])
def test_seeds(name):
    rows = np.random.default_rng(5).normal(size=(120, 4))
    first, again, other = (TESTS[name](rows, (), seed)(0, 1, (2, 3)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", ["fisher-z", "hsic", "kci", "rcit"])
def test_levels_under_independence(name):
    """Of 60 independent pairs, tests at 5 % reject a few."""
    generator = np.random.default_rng(6)
    rejected = 0
    for _ in range(60):
        rows = generator.normal(size=(100, 3))
        rows[:, :2] += rows[:, [2]]
        rejected += TESTS[name](rows, (), 0)(0, 1, (2,)) < 0.05
    assert rejected <= 9


def weighted_squares(rows, strata):
    """Squared differences of counts from expected ones, by their definition, and what permutations in strata make them.

    Returns the statistic, and its mean and variance over all permutations of the second column within strata.
    """
    totals = np.zeros(3)
    for stratum in np.unique(strata):
        first, second = rows[strata == stratum].T
        n = len(first)

        def statistic(second, first=first, n=n):
            table = np.bincount(first * 5 + second, minlength=25).reshape(5, 5)
            r, c = table.sum(axis=1)[:, None], table.sum(axis=0)
            return (n * (table - r * c / n) ** 2 / ((r + n**0.5 / 2) * (c + n**0.5 / 2))).sum()

        every = [statistic(second[list(places)]) for places in itertools.permutations(range(n))]
        # Where the sums of rows and columns say all, a stratum says nothing.
        if np.var(every) > 1e-12:
            totals += statistic(second), np.mean(every), np.var(every)
    return totals


def test_g2_compares_with_all_permutations_in_strata():
    """Tables so sparse that the moments of all permutations can be counted."""
    from scipy.stats import gamma

    generator = np.random.default_rng(32061)
    for _ in range(15):
        strata = np.repeat(np.arange(3), generator.integers(1, 6, size=3))
        rows = generator.integers(generator.integers(2, 5), size=(len(strata), 2))
        statistic, mean, variance = weighted_squares(rows, strata)
        found = TESTS["g2"](np.column_stack([rows, strata]), (), 0)(0, 1, (2,))
        law = gamma(mean**2 / variance, scale=variance / mean) if variance else None
        assert found == pytest.approx(law.sf(statistic) if law else 1.0, abs=1e-9)


def test_g2_is_the_chi_squared_test_where_cells_are_full():
    from scipy.stats import chi2_contingency

    generator = np.random.default_rng(7)
    for _ in range(5):
        codes = np.column_stack([generator.permutation(np.arange(3000) % 3) for _ in range(2)]) * 10 - 1
        table = [[((codes[:, 0] == a) & (codes[:, 1] == b)).sum() for b in (-1, 9, 19)] for a in (-1, 9, 19)]
        assert TESTS["g2"](codes, (), 0)(0, 1, ()) == pytest.approx(chi2_contingency(table).pvalue, abs=0.002)


@pytest.mark.parametrize(("levels", "given", "n"), [(4, 2, 500), (6, 3, 500), (3, 3, 200), (6, 1, 50)])
@pytest.mark.parametrize("even", [True, False])
def test_g2_keeps_its_level_where_cells_are_sparse(levels, given, n, even):
    """χ² with the degrees of freedom of what occurs rejects up to all of these."""
    generator = np.random.default_rng([32063, levels, given, n])
    weights = np.full(levels, 1 / levels) if even else 0.4 ** np.arange(levels) / (0.4 ** np.arange(levels)).sum()
    found = []
    for _ in range(400):
        codes = generator.choice(levels, size=(n, given + 2), p=weights)
        found.append(TESTS["g2"](codes, (), 0)(0, 1, tuple(range(2, given + 2))))
    # Five standard errors above .05 and .01.
    assert np.mean(np.array(found) <= 0.05) < 0.105
    assert np.mean(np.array(found) <= 0.01) < 0.035


def test_g2_finds_dependence_where_cells_are_sparse():
    generator = np.random.default_rng(32064)
    found = []
    for _ in range(50):
        codes = generator.integers(4, size=(500, 4))
        copied = generator.random(500) < 0.3
        codes[copied, 1] = codes[copied, 0]
        found.append(TESTS["g2"](codes, (), 0)(0, 1, (2, 3)))
    assert np.mean(np.array(found) < 0.01) > 0.9


def test_g2_of_what_is_known_given_others():
    generator = np.random.default_rng(32065)
    parent = generator.integers(3, size=300)
    codes = np.column_stack([parent * 7, generator.integers(3, size=300), parent])
    test = TESTS["g2"](codes, (), 0)
    assert test(0, 1, (2,)) == 1.0
    assert test(0, 2, ()) < 1e-30
    assert test(0, 1, ()) == pytest.approx(TESTS["g2"](codes[::-1, [1, 0]] * -3, (), 0)(0, 1, ()))
    assert not test.warnings()
    alone = TESTS["g2"](np.column_stack([codes[:, :2], np.arange(300) // 2]), (), 0)
    assert alone(0, 1, (2,)) == 1.0
    assert len(alone.warnings()) == 1


def test_g2_learns_a_collider_and_tells_of_sparse_cells():
    generator = np.random.default_rng(9)
    coins = generator.integers(2, size=(400, 2))
    wet = coins.sum(axis=1) + (generator.random(400) < 0.1)
    found = rfdag.learn(np.column_stack([coins, wet]), names=NAMES, test="g2")
    assert found.order[-1] == "wet"
    assert found.dag.tolist() == COLLIDER.tolist()
    assert not found.warnings
    with pytest.warns(DataWarning, match="find strong dependence only"):
        rfdag.learn(generator.integers(12, size=(60, 3)), test="g2")


def test_g2_takes_codes_only():
    rows = np.column_stack([np.arange(50) % 2, np.random.default_rng(0).normal(size=50), np.arange(50) % 3])
    with pytest.raises(DataError, match="whole numbers, and 'weight' hold others"):
        rfdag.learn(rows, test="g2", names=["sex", "weight", "region"])


def test_constant_columns_are_named():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    rows[:, 1] = 4.0
    with pytest.raises(DataError, match="constant: 'sprinkler'"):
        rfdag.learn(rows, test="fisher-z", names=NAMES)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    with pytest.raises(ImportError, match=r"rfdag\[causal-learn\]"):
        rfdag.learn(nonlinear(), test="kci")


def test_a_test_of_ones_own_by_name(monkeypatch):
    monkeypatch.setitem(TESTS, "truth", lambda rows, names, seed: DSeparation(COLLIDER))
    assert rfdag.learn(nonlinear(), test="truth").order[-1] == 2


# Input of a user's function.


@pytest.mark.parametrize("make", [lambda: None, lambda: np.zeros((4, 3)) + np.arange(4)[:, None], "pandas", "polars"])
def test_a_function_alone_or_beside_data(make):
    if make == "pandas":
        import pandas

        data, names = pandas.DataFrame([["a", None, 1]], columns=NAMES), None
    elif make == "polars":
        import polars

        data, names = polars.DataFrame({name: [] for name in NAMES}), None
    else:
        data, names = make(), NAMES
    found = rfdag.learn(data, test=separated(COLLIDER), names=names)
    assert found.names == tuple(NAMES)
    assert found.order[-1] == "wet"
    assert found.coefficients is None
    assert "tests: 6" in found.summary()


def test_a_function_without_names():
    with pytest.raises(OptionError, match="pass names=…"):
        rfdag.learn(None, test=separated(COLLIDER))


def test_no_data_for_a_test_on_rows():
    with pytest.raises(DataError, match="Found no data"):
        rfdag.learn(None, test="fisher-z", names=NAMES)


# Bad tests.


@pytest.mark.parametrize(
    "value", [float("nan"), -0.1, 1.5, np.inf, None, "0.5", True, np.array([0.1, 0.2]), complex(0.5)]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_no_p_value_names_the_culprit(value, n_jobs):
    def bad(i, j, given):
        return value if (i, j) == (0, 2) else 0.5

    with pytest.raises(IndependenceError, match=r"bad of 'rain' and 'wet' given nothing returned .*between 0 and 1"):
        rfdag.learn(None, test=bad, names=NAMES, n_jobs=n_jobs)


def test_numbers_of_numpy_are_p_values():
    found = rfdag.learn(None, test=lambda i, j, given: np.float32(1.0), names=NAMES)
    assert not found.dag.any()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_test_that_raises_names_the_pair(n_jobs):
    def broken(i, j, given):
        if given == (1,):
            raise ZeroDivisionError("no variance")
        return 0.0

    with pytest.raises(IndependenceError, match=r"broken of 'rain' and 'wet' given 'sprinkler' raised ZeroDiv") as told:
        rfdag.learn(None, test=broken, names=NAMES, conditioning="all", n_jobs=n_jobs)
    assert isinstance(told.value.__cause__, ZeroDivisionError)


def test_asymmetric_tests_are_told():
    def lopsided(i, j, given):
        return 0.5 if i < j else 0.25 + 0.01 * i

    with pytest.warns(DataWarning, match=r"not symmetric: .* 3 of 3 pairs, by 0.24 for 'rain' and 'sprinkler'"):
        found = rfdag.learn(None, test=lopsided, names=NAMES)
    assert found.tests == {0: 3}


def test_symmetric_tests_are_asked_twenty_times_more():
    own = separated(random_dag(9, degree=3, rng=11))
    found = rfdag.learn(None, test=own, names=range(9), n_jobs=1)
    swapped = own.calls[found_tests(found) :]
    assert len(swapped) == 20
    assert all(i > j for i, j, _ in swapped)
    assert not found.warnings


# Early ends.


def late_after(moment, dag, monkeypatch):
    """A test during whose answer of that number the time limit passes."""
    answer = DSeparation(dag)
    calls = []

    def slow(i, j, given):
        calls.append(i)
        return answer(i, j, given)

    monkeypatch.setattr(Deadline, "passed", lambda self: self.moment is not None and len(calls) >= moment)
    return slow


@pytest.mark.parametrize("moment", [1, 30, 50, 70])
@pytest.mark.parametrize("method", ["rfd", "min-fill", "gsp"])
@pytest.mark.filterwarnings("ignore:The covered-edge search ended")
def test_a_time_limit_leaves_an_order(moment, method, monkeypatch):
    dag = random_dag(9, degree=3, rng=11)
    slow = late_after(moment, dag, monkeypatch)
    with pytest.warns(NumericalWarning, match=f"The time limit passed after {moment} test"):
        found = rfdag.learn(None, method, test=slow, names=range(9), time_limit=60, n_jobs=1)
    assert sorted(found.order) == list(range(9))
    assert found_tests(found) == moment
    assert not np.tril(found.dag[np.ix_(found.causal_order, found.causal_order)]).any()
    assert found.interrupted


def test_a_time_limit_that_does_not_pass():
    dag = random_dag(6, degree=2, rng=1)
    found = rfdag.learn(dag, input="dag", test="d-separation", time_limit=600)
    assert not found.warnings
    assert found.order == rfdag.learn(dag, "rfd", input="dag").order


@pytest.mark.parametrize("moment", [1, 20, 45, 60])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_leaves_an_order(moment, n_jobs):
    dag = random_dag(9, degree=3, rng=11)
    answer = DSeparation(dag)
    calls = []

    def interrupted(i, j, given):
        calls.append(i)
        if len(calls) == moment:
            raise KeyboardInterrupt
        return answer(i, j, given)

    with pytest.warns(NumericalWarning, match="interrupted after"):
        found = rfdag.learn(None, test=interrupted, names=range(9), n_jobs=n_jobs)
    assert found.interrupted
    assert sorted(found.order) == list(range(9))
    assert found_tests(found) < moment + n_jobs


def test_ctrl_c_between_two_tests(monkeypatch):
    dag = random_dag(9, degree=3, rng=11)
    degrees, calls = IndependenceEngine.degrees, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return degrees(self)

    monkeypatch.setattr(IndependenceEngine, "degrees", interrupted)
    own = separated(dag)
    with pytest.warns(NumericalWarning, match="interrupted after"):
        found = rfdag.learn(None, test=own, names=range(9))
    assert found.interrupted
    assert sorted(found.order) == list(range(9))
    assert found_tests(found) == len(own.calls)


def test_progress_is_reported():
    shares = []
    rfdag.learn(COLLIDER, input="dag", test="d-separation", progress=shares.append)
    assert shares
    assert shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares)


# What does not go together.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "kcit"}, "test is one of 'fisher-z'.*Did you mean 'kci'"),
        ({"conditioning": "all"}, "pass test=… with it"),
        ({"test": "fisher-z", "method": "soft"}, "Method 'soft' weighs partial correlations"),
        ({"test": "fisher-z", "method": "sp"}, "Method 'sp' weighs partial correlations"),
        ({"test": "fisher-z", "refine": True}, "refine: with test='fisher-z'"),
        ({"test": "fisher-z", "parents": "bic"}, "parents: with test='fisher-z'"),
        ({"test": "fisher-z", "pairs": "neighbours"}, "pairs: with test"),
        ({"test": "fisher-z", "correlation": "spearman"}, "correlation: with test"),
        ({"test": "fisher-z", "precision": "averaged"}, "precision: with test"),
        ({"test": "fisher-z", "blocks": True}, "blocks: with test"),
        ({"test": "fisher-z", "device": "cuda"}, "device: with test"),
        ({"test": "d-separation"}, "asked of a DAG; pass one with input='dag'"),
        ({"test": "fisher-z", "input": "dag"}, "a test on rows, and input='dag' has none"),
        ({"test": separated(COLLIDER), "input": "correlation", "n_samples": 9}, "test=… is a test on rows"),
        ({"test": 3}, "test is text, a function"),
    ],
)
def test_what_does_not_go_together(options, message):
    with pytest.raises(OptionError, match=message):
        rfdag.learn(nonlinear(), **options)


def test_level_of_exact_answers():
    with pytest.raises(OptionError, match="alpha: this is decided by a sample"):
        rfdag.learn(COLLIDER, input="dag", test="d-separation", alpha=0.01)


def test_evidence_by_tests_goes_in_as_it_is():
    evidence = ByTests(Questions(DSeparation(COLLIDER), NAMES, "mine"))
    assert rfdag.learn(evidence, "rfd").order[-1] == "wet"
    assert rfdag.learn(evidence, "rfd", names=["a", "b", "c"]).order[-1] == "c"
    with pytest.raises(OptionError, match="Method 'soft' weighs partial correlations, and tests give none"):
        rfdag.learn(evidence)


def test_margins_follow_the_answers():
    asked = Questions(lambda i, j, given: 0.3 if given else 0.8, "abc", "mine")
    assert asked.margin(0.5) == np.inf
    asked.p_values([(0, 1, ())])
    assert asked.margin(0.5) == pytest.approx(0.3)
    asked.p_values([(0, 1, (2,))])
    assert asked.margin(0.5) == pytest.approx(0.2)
    assert asked.margin(0.1) == pytest.approx(0.2)


def test_moments_know_no_other_test():
    with pytest.raises(OptionError, match="beside Moments"):
        rfdag.learn(rfdag.Moments.from_data(nonlinear()), test="fisher-z")


def test_bootstrap_refuses():
    with pytest.raises(OptionError, match="bootstrap"):
        rfdag.bootstrap(nonlinear(), runs=3, test="fisher-z")


# Results.


def test_results_are_saved_and_loaded(tmp_path):
    _, rows = linear_rows()
    found = rfdag.learn(rows, test="fisher-z", alpha=0.01)
    again = rfdag.load(found.save(tmp_path / "found.json"))
    assert again == found
    assert again.tests == found.tests
    content = json.loads((tmp_path / "found.json").read_text())
    del content["tests"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert rfdag.load(tmp_path / "old.json").tests == {}


def test_a_function_is_named_in_files_and_reports(tmp_path):
    found = rfdag.learn(None, test=separated(COLLIDER), names=NAMES)
    again = rfdag.load(found.save(tmp_path / "found.json"))
    assert repr(again.settings.estimation.test).endswith("own_test")
    text = found.report(tmp_path / "found.html").read_text()
    assert "own_test" in text
    assert "6: 3 given no others, 3 given 1" in text


def test_the_estimator():
    _, rows = linear_rows()
    fitted = rfdag.RFD(estimation=rfdag.Estimation(test="fisher-z")).fit(rows)
    assert fitted.result_.method.name == "rfd"
    assert not hasattr(fitted, "coef_")
    with pytest.raises(DataError, match="no coefficients"):
        fitted.score(rows)


def test_there_are_no_coefficients():
    _, rows = linear_rows()
    found = rfdag.learn(rows, test="fisher-z")
    assert found.moments is None
    assert found.coefficients is None
    assert found.n_samples == 400
    assert all(edge.coefficient is None for edge in found.edges)
    with pytest.raises(DataError, match="no coefficients"):
        found.model()
    with pytest.raises((DataError, OptionError)):
        found.effect(0, 1)


def test_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from rfdag.cli import app

    _, rows = linear_rows()
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c,d,e,f,g,h", comments="")
    words = ["learn", str(tmp_path / "rows.csv"), "--test", "fisher-z", "--conditioning", "all", "--alpha", "0.01"]
    told = CliRunner().invoke(app, words)
    expected = rfdag.learn(rows, names=list("abcdefgh"), test="fisher-z", conditioning="all", alpha=0.01)
    assert told.exit_code == 0
    assert f"Tests: {found_tests(expected)}: " in told.stdout
    content = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert content["order"] == list(expected.order)
    assert content["tests"] == {str(size): count for size, count in expected.tests.items()}
    refused = CliRunner().invoke(app, [*words, "--refine"])
    assert refused.exit_code == 2
    assert "--refine: with --test fisher-z" in refused.stderr
