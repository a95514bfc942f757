"""Independence tests, and the greedy sparsest permutation search on top of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import reference
import rfdag
from rfdag import metrics
from rfdag.errors import GraphError, OptionError
from rfdag.evidence.independence import ExactIndependence, GraphIndependence, SampleIndependence
from rfdag.evidence.moments import Moments
from rfdag.graphs import cpdag, d_separated, is_minimal_imap, markov_equivalent, minimal_imap, topological_order
from rfdag.graphs.cliques import cliques
from rfdag.graphs.node_sets import as_matrix, as_parents, members
from rfdag.knowledge import Knowledge
from rfdag.orders import covered_edges as gsp_module
from rfdag.orders.covered_edges import covered_edge_search, covered_edges, gsp, reverse
from rfdag.orders.families import Families
from rfdag.orders.parents import induced_dag
from rfdag.runtime.deadline import Deadline, OutOfTime
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import dags, dags_and_orders

seeds = st.integers(0, 2**32 - 1)
DEPTHS = [1, 4, None]


def questions(p):
    """Every pair with every set of others."""
    for i, j in itertools.combinations(range(p), 2):
        others = [k for k in range(p) if k not in (i, j)]
        for size in range(len(others) + 1):
            for condition in itertools.combinations(others, size):
                yield i, j, condition


def exact_tests(dag, seed=0):
    return ExactIndependence(Moments.from_precision(linear_sem(dag, seed).precision(), None).factor)


def sample_tests(seed=5, p=15, degree=4, n=300):
    generator = np.random.default_rng(seed)
    rows = sample(linear_sem(random_dag(p, rng=generator, degree=degree), generator), n, generator)
    return SampleIndependence(Moments.from_data(rows).correlation, n, 0.01)


# The answers to questions of independence.


@given(dags(max_nodes=5))
def test_d_separation_is_that_of_networkx_and_of_the_slow_walk(dag):
    tests, world = GraphIndependence(dag), reference.Population(dag)
    for i, j, condition in questions(len(dag)):
        separated = tests.independent(i, j, condition)
        assert separated == tests.independent(j, i, condition) == (not world.dependent(i, j, condition))
        assert separated == d_separated(dag, i, j, condition)


@pytest.mark.parametrize("density", [0.03, 0.1, 0.5])
def test_d_separation_in_large_graphs(density):
    generator = np.random.default_rng(3)
    dag = random_dag(70, density, generator)
    tests = GraphIndependence(dag)
    for _ in range(30):
        i, j, *condition = (int(node) for node in generator.permutation(70)[: generator.integers(2, 70)])
        assert tests.independent(i, j, condition) == d_separated(dag, i, j, condition)


@given(dags(max_nodes=5), seeds)
def test_exact_moments_answer_as_the_graph(dag, seed):
    from_graph, from_moments = GraphIndependence(dag), exact_tests(dag, seed)
    for i, j, condition in questions(len(dag)):
        assert from_moments.independent(i, j, condition) == from_graph.independent(i, j, condition)


def test_exact_moments_of_a_dense_graph_stay_above_rounding():
    dag = random_dag(60, 0.5, rng=1)
    order = np.random.default_rng(2).permutation(60)
    assert np.array_equal(induced_dag(order, exact_tests(dag)), induced_dag(order, GraphIndependence(dag)))


@pytest.mark.parametrize("n", [12, 60, 500])
def test_a_sample_is_tested_by_fishers_z_on_residuals(n):
    generator = np.random.default_rng(n)
    rows = sample(linear_sem(random_dag(6, 0.5, generator), generator), n, generator)
    rows -= rows.mean(axis=0)
    alpha = 0.05
    tests = SampleIndependence(Moments.from_data(rows).correlation, n, alpha)
    for i, j, condition in questions(6):
        given = rows[:, list(condition)]
        x, y = (rows[:, k] - given @ np.linalg.lstsq(given, rows[:, k])[0] for k in (i, j))
        r = x @ y / np.sqrt((x @ x) * (y @ y))
        z = np.sqrt(n - len(condition) - 3) * np.arctanh(r)
        assert tests.independent(i, j, condition) == (2 * norm.sf(abs(z)) >= alpha)


def test_what_cannot_be_tested_is_not_called_independent():
    p, n = 8, 9
    rows = np.random.default_rng(0).standard_normal((n, p))
    tests = SampleIndependence(Moments.from_data(rows).correlation, n, 1e-6)
    # Given s others a pair needs more than s + 3 rows.
    assert tests.independent(0, 1, [2, 3, 4, 5, 6])
    assert not tests.independent(0, 1, [2, 3, 4, 5, 6, 7])
    copies = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    assert not SampleIndependence(copies, 1000).independent(0, 2, [1])
    assert not ExactIndependence(np.array([[1.0, 1.0, 0.6], [0.0, 0.0, 0.8]])).independent(0, 2, [1])


@pytest.mark.parametrize(
    "tests", [sample_tests(p=6), exact_tests(random_dag(6, 0.5)), GraphIndependence(np.eye(6, k=1))]
)
def test_a_family_is_answered_as_its_pairs_are(tests):
    others = np.array([5, 0, 3, 1])
    pairs = [not tests.independent(2, int(k), [int(m) for m in others if m != k]) for k in others]
    assert tests.dependent(2, others).tolist() == pairs


# From an order to a DAG, and the move.


@given(dags_and_orders())
def test_an_order_induces_its_minimal_imap(case):
    dag, order = case
    assert np.array_equal(induced_dag(order, GraphIndependence(dag)), minimal_imap(dag, order))


@given(dags(max_nodes=7))
def test_covered_edges_by_definition(dag):
    pairs = [
        (i, j)
        for i, j in np.argwhere(dag).tolist()
        if set(np.flatnonzero(dag[:, i])) == set(np.flatnonzero(dag[:, j])) - {i}
    ]
    assert covered_edges(as_parents(dag)) == pairs


@given(dags(max_nodes=7))
def test_a_reversal_without_loss_stays_in_the_class(dag):
    needs_all = Families(GraphIndependence(dag))
    for i, j in covered_edges(as_parents(dag)):
        changed = as_matrix(reverse(as_parents(dag), i, j, needs_all))
        assert changed[j, i]
        assert not changed[i, j]
        assert markov_equivalent(changed, dag)


@given(dags_and_orders(max_nodes=7))
def test_a_reversal_gives_what_the_new_order_induces(case):
    dag, order = case
    tests = GraphIndependence(dag)
    start = induced_dag(order, tests)
    for i, j in covered_edges(as_parents(start)):
        changed = as_matrix(reverse(as_parents(start), i, j, Families(tests)))
        assert np.array_equal(changed, minimal_imap(dag, topological_order(changed)))


# The search.


@pytest.mark.parametrize("p", [4, 5, 6])
def test_without_a_bound_the_sparsest_of_all_orders_is_found(p):
    generator = np.random.default_rng(p)
    for density in (0.3, 0.6):
        dag = random_dag(p, density, generator)
        world = reference.Population(dag)
        sparsest = min(len(reference.minimal_imap(world, order)) for order in itertools.permutations(range(p)))
        found = gsp([generator.permutation(p)], GraphIndependence(dag), depth=None)
        assert found.complete
        assert found.dag.sum() == sparsest


@given(dags_and_orders(max_nodes=8))
def test_without_a_bound_the_class_of_the_truth_is_found_from_any_order(case):
    dag, order = case
    for tests in (GraphIndependence(dag), exact_tests(dag)):
        found = gsp([order], tests, depth=None)
        assert found.complete
        assert markov_equivalent(found.dag, dag)


@given(dags_and_orders(max_nodes=6))
def test_a_deep_enough_walk_finds_the_class_of_the_truth(case):
    dag, order = case
    assert markov_equivalent(gsp([order], GraphIndependence(dag), depth=1000).dag, dag)


@given(dags_and_orders(max_nodes=7), st.sampled_from(DEPTHS))
def test_every_stop_is_a_minimal_imap_of_fewer_edges(case, depth):
    dag, order = case
    tests = GraphIndependence(dag)
    start = induced_dag(order, tests)
    found = covered_edge_search(start, tests, depth=depth)
    assert is_minimal_imap(found.dag, dag)
    assert found.dag.sum() <= start.sum()
    assert not np.tril(found.dag[np.ix_(found.order, found.order)]).any()


@settings(max_examples=20)
@given(seeds)
def test_where_the_search_of_the_class_ends_no_walk_goes_on(seed):
    tests = sample_tests(seed, p=7, degree=3, n=100)
    found = covered_edge_search(induced_dag(range(7), tests), tests, depth=None)
    assert found.complete
    assert np.array_equal(covered_edge_search(found.dag, tests, depth=1000).dag, found.dag)


@pytest.mark.parametrize("depth", DEPTHS)
def test_edges_never_rise(depth, monkeypatch):
    counts = []

    def recorded(search):
        def wrapped(start, *rest):
            counts.append(as_matrix(start).sum())
            return search(start, *rest)

        return wrapped

    for name in ("_sparser_nearby", "_sparser_in_class"):
        monkeypatch.setattr(gsp_module, name, recorded(getattr(gsp_module, name)))
    dag = random_dag(15, 0.3, rng=4)
    gsp([range(15)], GraphIndependence(dag), depth=depth)
    assert len(counts) > 3
    assert counts == sorted(counts, reverse=True)


@given(dags(max_nodes=6))
def test_the_families_of_a_class_are_those_of_its_members(dag):
    """Every clique of undirected neighbours is, with the compelled parents, a family of some member."""
    essential = cpdag(dag)
    compelled, undirected = (as_parents((essential == kind).astype(np.int8)) for kind in (1, 2))
    listed, queue = {tuple(as_parents(dag))}, [as_parents(dag)]
    while queue:
        member = queue.pop()
        for i, j in covered_edges(member):
            changed = member.copy()
            changed[i], changed[j] = member[i] | 1 << j, member[i]
            if tuple(changed) not in listed:
                listed.add(tuple(changed))
                queue.append(changed)
    for node in range(len(dag)):
        found = list(cliques(undirected, undirected[node]))
        assert len(found) == len(set(found))
        assert {compelled[node] | clique for clique in found} == {member[node] for member in listed}
        for clique in found:
            first = [*members(clique).tolist(), node]
            member = gsp_module._oriented(as_parents(dag), undirected, first)
            assert member[node] == compelled[node] | clique
            assert tuple(member) in listed


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("knowing", [False, True])
def test_on_a_sample_the_dag_is_what_the_order_induces(depth, knowing):
    """Tests on a sample may contradict each other, so that a DAG reached by reversals need not be D_π of any order."""
    constraints = Knowledge(tiers=[[0, 1, 2], [3, 4, 5], [6, 7]]).constraints(range(8)) if knowing else None
    sparser = 0
    for seed in range(40):
        tests = sample_tests(seed, p=8, degree=4, n=60)
        orders = [np.random.default_rng(seed).permutation(8), np.arange(8)]
        if constraints is not None:
            orders = [constraints.arrange(order) for order in orders]
        found = gsp(orders, tests, depth=depth, constraints=constraints)
        assert np.array_equal(found.dag, induced_dag(found.order, tests, constraints))
        starts = [induced_dag(order, tests, constraints).sum() for order in orders]
        assert found.dag.sum() <= min(starts)
        sparser += found.dag.sum() < min(starts)
    assert sparser > 5


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_seed_decides_everything(depth):
    tests = sample_tests()
    orders = [range(15), range(14, -1, -1)]
    first, second = (gsp(orders, tests, depth=depth, generator=np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(first.dag, second.dag)
    assert np.array_equal(first.order, second.order)
    assert first.visited == second.visited


def test_of_several_runs_the_sparsest_is_kept():
    tests = sample_tests()
    orders = [np.random.default_rng(seed).permutation(15) for seed in range(4)]
    shares = []
    together = gsp(orders, tests, generator=np.random.default_rng(2), report=shares.append)
    generator = np.random.default_rng(2)
    alone = [gsp([order], tests, generator=generator) for order in orders]
    assert together.dag.sum() == min(outcome.dag.sum() for outcome in alone)
    assert together.dag.sum() < max(outcome.dag.sum() for outcome in alone)
    assert together.visited == sum(outcome.visited for outcome in alone)
    assert all(0 <= share <= 1 for share in shares)
    assert max(shares) == 1


@pytest.mark.parametrize("depth", DEPTHS)
def test_an_interrupt_returns_the_best_so_far(depth):
    tests = GraphIndependence(random_dag(15, 0.3, rng=4))
    start = induced_dag(range(15), tests)
    shares = []

    def stop(share):
        shares.append(share)
        if len(shares) > 20:
            raise KeyboardInterrupt

    found = gsp([range(15), range(15)], tests, depth=depth, report=stop)
    assert found.interrupted
    assert not found.complete
    assert found.dag.sum() < start.sum()
    assert len(shares) == 21


def test_an_interrupt_before_there_is_a_dag_is_passed_on():
    class Interrupted(GraphIndependence):
        answers = 0

        def dependent(self, node, others):
            self.answers += 1
            if self.answers > self.allowed:
                raise KeyboardInterrupt
            return super().dependent(node, others)

    tests = Interrupted(np.zeros((4, 4)))
    tests.allowed = 3
    with pytest.raises(KeyboardInterrupt):
        gsp([range(4)], tests)
    tests.answers, tests.allowed = 0, 6
    assert gsp([range(4), range(4)], tests).interrupted


def test_a_deadline_returns_the_first_orders_dag_if_it_is_known():
    tests = GraphIndependence(random_dag(15, 0.3, rng=4))
    orders = [range(15), range(14, -1, -1)]
    with pytest.raises(OutOfTime):
        gsp(orders, tests, deadline=Deadline.after(0))
    asked = itertools.count()
    found = gsp(orders, tests, deadline=Deadline(cancelled=lambda: next(asked) >= 15))
    assert np.array_equal(found.dag, induced_dag(range(15), tests))
    assert not found.complete
    assert not found.interrupted
    assert found.visited == 0


@pytest.mark.parametrize("depth", DEPTHS)
def test_visits_in_vain_can_be_bounded(depth):
    complete = np.triu(np.ones((12, 12)), 1)
    bounded = covered_edge_search(complete, GraphIndependence(complete), depth=depth, most_visited=5)
    assert bounded.visited == 5
    assert not bounded.complete


def test_a_dag_is_visited_once():
    """The class of a complete DAG has one member for each order."""
    complete = np.triu(np.ones((4, 4)), 1)
    found = covered_edge_search(complete, GraphIndependence(complete), depth=1000)
    assert found.visited == 24


def test_what_a_search_needs():
    with pytest.raises(OptionError, match="at least one"):
        gsp([], GraphIndependence(np.zeros((2, 2))))
    with pytest.raises(GraphError, match="more than once"):
        gsp([[0, 0]], GraphIndependence(np.zeros((2, 2))))


@pytest.mark.parametrize("initial", ["rfd", "min-degree"])
def test_the_rule_on_exact_input_finds_the_class(initial):
    for seed in range(1, 4):
        dag = random_dag(15, 0.3, rng=seed)
        precision = linear_sem(dag, rng=seed).precision()
        for found in (
            rfdag.learn(dag, input="dag", method="gsp", initial=initial),
            rfdag.learn(precision, input="precision", method="gsp", initial=initial),
        ):
            assert markov_equivalent(found.dag, dag)
            assert not found.warnings


def test_refinement_of_exact_input_is_a_covered_edge_search():
    """RFD alone misses some of these; refined, and as rule soft, it finds the class of each."""
    missed = 0
    for seed in range(1, 31):
        dag = random_dag(20, 0.2, rng=seed)
        plain = rfdag.learn(dag, input="dag", method="rfd")
        missed += plain.dag.sum() > dag.sum()
        for found in (rfdag.learn(dag, input="dag", method="rfd", refine=True), rfdag.learn(dag, input="dag")):
            assert markov_equivalent(found.dag, dag)
            assert found.trace.node.tolist() == found.causal_order[::-1].tolist()
    assert missed > 0


def test_the_rule_on_data():
    dag = random_dag(20, degree=3, rng=1)
    rows = sample(linear_sem(dag, rng=1), 1000, rng=1)
    start = rfdag.learn(rows, method="min-degree")
    found = rfdag.learn(rows, method="gsp", initial="min-degree")
    assert found.score is None
    assert found.dag.sum() <= start.dag.sum()
    assert metrics.shd(dag, found.dag) < metrics.shd(dag, start.dag)
    again = rfdag.learn(rows, method="gsp", initial="min-degree", runs=3, depth=2, random_state=5)
    assert again.order == rfdag.learn(rows, method="gsp", initial="min-degree", runs=3, depth=2, random_state=5).order
    polished = rfdag.learn(rows, method="gsp", refine=True)
    assert polished.score == pytest.approx(rfdag.learn(rows).score, abs=30)


@pytest.mark.parametrize(("p", "n"), [(3, 30), (6, 60)])
def test_dag_and_trace_follow_the_order_on_data(p, n):
    """The DAG is D_π of the order by the same tests, and the trace is the elimination along it."""
    for seed in range(60):
        generator = np.random.default_rng(seed)
        rows = sample(linear_sem(random_dag(p, 0.5, generator), generator), n, generator)
        found = rfdag.learn(rows, method="gsp", alpha=0.01)
        order = found.causal_order
        tests = SampleIndependence(np.corrcoef(rows.T), n, 0.01)
        assert np.array_equal(found.dag, induced_dag(order, tests))
        assert found.trace.node.tolist() == order[::-1].tolist()
        assert found.trace.degree.tolist() == found.dag.sum(axis=0)[order[::-1]].tolist()


def test_a_search_that_was_cut_short_says_so(monkeypatch):
    from rfdag.orders import tuning

    monkeypatch.setattr(tuning, "MOST_VISITS_IN_VAIN", 3)
    rows = sample(linear_sem(random_dag(15, 0.5, rng=1), rng=1), 300, rng=1)
    with pytest.warns(rfdag.errors.NumericalWarning, match="a sparser one may exist"):
        rfdag.learn(rows, method="gsp")
