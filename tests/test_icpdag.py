"""Interventional classes against brute force over DAGs, and the metrics that compare them by hand.

The references enumerate DAGs, and compare skeletons and v-structures, or ask of the covariances of every experiment
whether another DAG has parameters for them; they import nothing from rfdag.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_array

from rfdag import graphs, metrics
from rfdag.errors import GraphError

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])

# References. A DAG is a set of edges (i, j), for i → j.


def is_acyclic(edges, p):
    left = set(range(p))
    while left:
        sources = {j for j in left if not any(i in left for i, to in edges if to == j)}
        if not sources:
            return False
        left -= sources
    return True


def orientations(pairs, p):
    """Yield every DAG on these adjacent pairs."""
    for ways in itertools.product((False, True), repeat=len(pairs)):
        edges = frozenset((j, i) if way else (i, j) for (i, j), way in zip(pairs, ways, strict=True))
        if is_acyclic(edges, p):
            yield edges


def every_dag(p):
    pairs = list(itertools.combinations(range(p), 2))
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        yield from orientations(list(itertools.compress(pairs, chosen)), p)


def markov_class(edges):
    """Return the skeleton and v-structures of a DAG, which its Markov equivalents share."""
    skeleton = frozenset(frozenset(edge) for edge in edges)
    colliders = frozenset(
        (frozenset((i, k)), j)
        for (i, j), (k, also) in itertools.combinations(edges, 2)
        if j == also and frozenset((i, k)) not in skeleton
    )
    return skeleton, colliders


def hard_class(edges, family):
    """Hauser and Bühlmann 2012, Theorem 10: the graphs that are left when the edges into each target set are cut.

    The graph itself is among them, which changes nothing if no variable belongs to every set (a conservative family).
    """
    cut = [frozenset((i, j) for i, j in edges if j not in targets) for targets in family]
    return markov_class(edges), tuple(map(markov_class, cut))


def soft_class(edges, family):
    """Jaber et al. 2020, Theorem 1: for each two experiments, the graph with a source into all that may differ there.

    Each mechanism of a target is its own, so that also those of a node which both target may differ.
    """
    found = [
        markov_class(edges | {("experiment", target) for target in one | other})
        for one, other in itertools.combinations(family, 2)
    ]
    return markov_class(edges), tuple(found)


def random_covariances(edges, family, p, hard, generator):
    """Return the covariances of a linear model with random parameters in every experiment.

    Targets have parameters of their own in each, and no parents if they are hard.
    """
    weights, noise = generator.normal(size=(p, p)), generator.uniform(0.5, 2.0, p)
    found = []
    for targets in family:
        here, own = np.zeros((p, p)), noise.copy()
        for i, j in edges:
            here[i, j] = weights[i, j] if j not in targets else 0.0 if hard else generator.normal()
        for node in targets:
            own[node] = generator.uniform(0.5, 2.0)
        out = np.linalg.inv(np.eye(p) - here)
        found.append(out.T @ np.diag(own) @ out)
    return found


def has_parameters(edges, family, covariances, hard):
    """Return whether a DAG has parameters that give these covariances: those of nodes that are no targets shared."""
    p = len(covariances[0])
    parents = [[i for i, end in edges if end == j] for j in range(p)]
    shared = {}
    for targets, covariance in zip(family, covariances, strict=True):
        weights, noise = np.zeros((p, p)), np.zeros(p)
        for j in range(p):
            of_j = [] if hard and j in targets else parents[j]
            weights[of_j, j] = np.linalg.solve(covariance[np.ix_(of_j, of_j)], covariance[of_j, j])
            noise[j] = covariance[j, j] - covariance[j, of_j] @ weights[of_j, j]
            mechanism = np.append(weights[:, j], noise[j])
            if j not in targets and not np.allclose(shared.setdefault(j, mechanism), mechanism, atol=1e-7):
                return False
        out = np.linalg.inv(np.eye(p) - weights)
        if not np.allclose(out.T @ np.diag(noise) @ out, covariance, atol=1e-7):
            return False
    return True


def union(members, p):
    """Return the class as a matrix: 1 where all its members agree, 2 in both places where they do not."""
    found = np.zeros((p, p), np.int8)
    for i, j in set().union(*members):
        both = any((i, j) in edges for edges in members) and any((j, i) in edges for edges in members)
        found[i, j] = 2 if both else 1
    return found


def matrix_of(edges, p):
    dag = np.zeros((p, p), np.int8)
    for i, j in edges:
        dag[i, j] = 1
    return dag


def random_family(p, generator, *, observational):
    """Return the targets of some experiments, some of them repeated, that leave each node alone somewhere."""
    while True:
        sizes = generator.integers(1, p, generator.integers(1, 4))
        family = [frozenset(generator.choice(p, size, replace=False).tolist()) for size in sizes]
        family += family[: generator.integers(0, 2)]
        if observational:
            family.append(frozenset())
        if is_conservative(family, p):
            return family


def is_conservative(family, p):
    return all(any(node not in targets for targets in family) for node in range(p))


CLASSES = {True: hard_class, False: soft_class}


def check_all(p, families, hard):
    """Compare the classes of all DAGs on p nodes; return how many cases there were."""
    dags, cases = list(every_dag(p)), 0
    for family in families:
        members = defaultdict(list)
        for edges in dags:
            members[CLASSES[hard](edges, family)].append(edges)
        for of_class in members.values():
            expected = union(of_class, p)
            for edges in of_class:
                found = graphs.icpdag(matrix_of(edges, p), family, hard=hard)
                np.testing.assert_array_equal(found, expected, str((sorted(edges), family)))
                cases += 1
    return cases


# Against the references.


def test_the_reference_knows_all_dags():
    assert [sum(1 for _ in every_dag(p)) for p in range(1, 5)] == [1, 3, 25, 543]


@pytest.mark.parametrize("hard", [True, False])
def test_all_families_on_three_nodes(hard):
    sets = [frozenset(each) for size in range(4) for each in itertools.combinations(range(3), size)]
    families = [
        list(each)
        for size in (1, 2, 3)
        for each in itertools.combinations_with_replacement(sets, size)
        if is_conservative(each, 3)
    ]
    assert len(families) == 1 + 14 + 71
    assert check_all(3, families, hard) == 25 * len(families)


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("observational", [True, False])
def test_all_dags_on_four_nodes(hard, observational):
    generator = np.random.default_rng([4, 19, hard, observational])
    families = [random_family(4, generator, observational=observational) for _ in range(6)]
    assert check_all(4, families, hard) == 6 * 543


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("observational", [True, False])
def test_random_dags_on_five_nodes(hard, observational):
    generator = np.random.default_rng([5, 19, hard, observational])
    for _ in range(25):
        order = generator.permutation(5).tolist()
        edges = frozenset(
            (order[a], order[b]) for a, b in itertools.combinations(range(5), 2) if generator.random() < 0.6
        )
        family = random_family(5, generator, observational=observational)
        wanted = CLASSES[hard](edges, family)
        alike = [each for each in orientations(sorted(edges), 5) if CLASSES[hard](each, family) == wanted]
        found = graphs.icpdag(matrix_of(edges, 5), family, hard=hard)
        np.testing.assert_array_equal(found, union(alike, 5), str((sorted(edges), family)))


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("observational", [True, False])
def test_members_are_the_dags_that_the_distributions_do_not_tell_apart(hard, observational):
    """By the parameters of linear models, without any theorem."""
    generator = np.random.default_rng([6, 19, hard, observational])
    dags = list(every_dag(4))
    for number in generator.choice(len(dags), 15).tolist():
        family = random_family(4, generator, observational=observational)
        covariances = random_covariances(dags[number], family, 4, hard, generator)
        of_size = [each for each in dags if len(each) == len(dags[number])]
        members = [each for each in of_size if has_parameters(each, family, covariances, hard)]
        assert dags[number] in members
        found = graphs.icpdag(matrix_of(dags[number], 4), family, hard=hard)
        np.testing.assert_array_equal(found, union(members, 4), str((sorted(dags[number]), family)))


def test_two_soft_experiments_on_the_same_target_are_compared():
    pair = np.array([[0, 1], [0, 0]])
    assert graphs.icpdag(pair, [[0], [0], [1]]).tolist() == [[0, 1], [0, 0]]
    assert graphs.icpdag(pair, [[0], [1], [1]]).tolist() == [[0, 1], [0, 0]]
    assert graphs.icpdag(pair, [[0], [1]]).tolist() == [[0, 2], [2, 0]]
    assert graphs.icpdag(pair, [[0, 1], [0], [1]]).tolist() == [[0, 2], [2, 0]]
    assert graphs.icpdag(pair, [[0, 1], [0], [0], [1]]).tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize("hard", [True, False])
def test_targets_of_every_experiment_are_refused(hard):
    for family in ([[1]], [[1], [0, 1]], [[0, 1], [0, 1]], [range(3)]):
        with pytest.raises(GraphError, match="in every environment, so that no rows show"):
            graphs.icpdag(CHAIN, family, hard=hard)
    with pytest.raises(GraphError, match="Node 0, 2 are targets in every environment"):
        graphs.icpdag(CHAIN, [[0, 2], [2, 0]], hard=hard)


def test_soft_and_hard_experiments_beside_an_observational_one_reveal_the_same():
    generator = np.random.default_rng([7, 19])
    for edges in itertools.islice(every_dag(4), 0, 543, 7):
        family = random_family(4, generator, observational=True)
        dag = matrix_of(edges, 4)
        np.testing.assert_array_equal(graphs.icpdag(dag, family, hard=True), graphs.icpdag(dag, family))


@pytest.mark.parametrize("hard", [True, False])
def test_nothing_targeted_is_the_cpdag(hard):
    for edges in itertools.islice(every_dag(4), 0, 543, 11):
        dag = matrix_of(edges, 4)
        for family in ([], [[]], [[], []], [[], range(4)], [[], range(4), range(4)]):
            np.testing.assert_array_equal(graphs.icpdag(dag, family, hard=hard), graphs.cpdag(dag))


@pytest.mark.parametrize("hard", [True, False])
def test_sparse_graphs_give_the_same_class(hard):
    generator = np.random.default_rng([8, 19])
    for edges in itertools.islice(every_dag(4), 0, 543, 5):
        family = random_family(4, generator, observational=False)
        dag = matrix_of(edges, 4)
        found = graphs.icpdag(csr_array(dag), family, hard=hard)
        np.testing.assert_array_equal(found.toarray(), graphs.icpdag(dag, family, hard=hard))


# Metrics.


def test_shd_of_classes_by_hand():
    # The experiment on 2 decides 1 → 2 and leaves 0 – 1; in the graph the other way round, both edges follow from it.
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])
    fork = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    assert metrics.icpdag_shd(CHAIN, CHAIN.T, [[], [2]]) == 2
    assert metrics.icpdag_shd(CHAIN, fork, [[], [2]]) == 0
    assert metrics.icpdag_shd(CHAIN, fork, [[], [1]]) == 1
    assert metrics.icpdag_shd(CHAIN, CHAIN.T, [[], [1]]) == 2
    assert metrics.icpdag_shd(CHAIN, collider, [[], [2]]) == 2
    assert metrics.icpdag_shd(CHAIN, CHAIN, {"control": [], "drug": [2]}) == 0
    assert metrics.icpdag_shd(CHAIN, np.zeros((3, 3)), [[]]) == 2


def test_shd_of_a_class_that_was_found():
    # Without experiments nothing is directed, and both edges differ from those that the experiment on 1 decides.
    assert metrics.icpdag_shd(CHAIN, graphs.cpdag(CHAIN), [[], [1]]) == 2
    assert metrics.icpdag_shd(CHAIN, graphs.icpdag(CHAIN, [[], [2]]), [[], [2]]) == 0
    assert metrics.icpdag_shd(CHAIN, graphs.icpdag(CHAIN, [[], [2]]), [[], [1]]) == 1


def test_shd_of_a_class_by_the_targets_that_were_found():
    assert metrics.icpdag_shd(CHAIN, CHAIN, [[], [1]], [[], []]) == 2
    assert metrics.icpdag_shd(CHAIN, CHAIN, [[], [1]], [[], [2]]) == 1
    assert metrics.icpdag_shd(CHAIN, CHAIN, [[], [1]], {"1": [], "2": [1]}) == 0


def test_shd_of_hard_experiments_without_an_observational_one():
    pair = np.array([[0, 1], [0, 0]])
    assert metrics.icpdag_shd(pair, pair.T, [[0], [1]]) == 0
    assert metrics.icpdag_shd(pair, pair.T, [[0], [1]], hard=True) == 1


def test_shd_of_sparse_graphs_and_of_graphs_that_do_not_fit():
    assert metrics.icpdag_shd(csr_array(CHAIN), CHAIN.T, [[], [2]]) == 2
    with pytest.raises(GraphError, match="3 and 2 nodes"):
        metrics.icpdag_shd(CHAIN, np.zeros((2, 2)), [[]])
    with pytest.raises(GraphError, match="cycle"):
        metrics.icpdag_shd(np.array([[0, 1], [0, 0]]), np.array([[0, 1], [1, 0]]), [[]])


def test_target_scores_by_hand():
    true = {"control": [], "a": [1, 2], "b": [3]}
    assert metrics.target_scores(true, true) == (1, 1, 1)
    # The right variables in the wrong environments count for nothing.
    assert metrics.target_scores(true, {"a": [3], "b": [1, 2]}) == (0, 0, 0)
    assert metrics.target_scores(true, {"control": [1], "a": [1, 1], "b": [3]}) == (2 / 3, 2 / 3, 2 / 3)
    scores = metrics.target_scores(true, {"a": [1]})
    assert (scores.precision, scores.recall, scores.f1) == (1, 1 / 3, 0.5)
    np.testing.assert_equal(metrics.target_scores(true, {}), (np.nan, 0, 0))
    np.testing.assert_equal(metrics.target_scores({"control": []}, {}), (np.nan, np.nan, np.nan))
