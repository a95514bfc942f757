"""Scores of variables of several columns against slow references, and the searches that use them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mixed_reference as slow
from rfdag.evidence.mixing import mixed_moments
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.orders.family_fits import gains_of, score_of, scores_of
from rfdag.orders.family_scores import BlockScore, CountScore, family_score
from rfdag.orders.reinsertion import descend
from rfdag.orders.restarts import iterate
from rfdag.orders.tree_order import TreeOrder
from rfdag.orders.trees import Trees

FROZEN = json.loads((Path(__file__).parent / "tetrad_degenerate_gaussian.json").read_text(encoding="utf-8"))


def everything(p):
    return np.array([[x for x in range(p) if x != y] for y in range(p)])


def codes_of(seed, n=300, levels=(2, 3, 4, 2, 3)):
    """Return codes that depend on each other along a chain, a level of some never drawn."""
    generator = np.random.default_rng([seed, 5])
    codes = np.zeros((len(levels), n), np.uint8)
    for at, count in enumerate(levels):
        fresh = generator.integers(0, count, n)
        copied = codes[at - 1] % count if at else fresh
        codes[at] = np.where(generator.random(n) < 0.6, copied, fresh)
    return codes, np.array(levels)


def mixed_table(seed=1, n=400):
    generator = np.random.default_rng([seed, 9])
    x = generator.normal(size=n)
    kind = np.argmax(np.outer(x, [1.5, 0, -1.5]) + generator.gumbel(size=(n, 3)), axis=1)
    flag = (x + generator.normal(size=n) > 0).astype(float)
    z = (kind == 1) + generator.normal(size=n)
    w = z + flag + generator.normal(size=n)
    rows = np.column_stack([x, kind, flag, z, w])
    return Table(rows, ("x", "kind", "flag", "z", "w"), levels={1: ("a", "b", "c"), 2: ("no", "yes")})


def blocks_of(table):
    return [
        slow.indicators(table.values[:, at]) if at in table.levels else table.values[:, [at]]
        for at in range(len(table.names))
    ]


FAMILIES = [(0, ()), (1, (0,)), (3, (1,)), (4, (2, 3)), (1, (0, 3)), (2, (0, 1, 4)), (3, (0, 1, 2, 4))]


@pytest.mark.parametrize(("price", "extra"), [(6.0, 0.0), (12.0, 3.0)])
def test_blocks_score_as_least_squares_do(price, extra):
    table = mixed_table()
    white, _, starts = mixed_moments(table).white
    score = BlockScore(white, starts, None, table.rows, price, extra)
    families = [(child, np.array(parents, int)) for child, parents in FAMILIES]
    expected = [slow.gaussian(blocks_of(table), *family, price, extra) for family in FAMILIES]
    np.testing.assert_allclose(scores_of(score, families), expected, atol=1e-8)


def test_the_scores_with_candidates_added_are_those_of_larger_families():
    table = mixed_table()
    white, _, starts = mixed_moments(table).white
    score = BlockScore(white, starts, None, table.rows)
    _, added = score.scan(np.array([4, 4]), np.array([[0, 0], [1, 2]]), np.array([0, 2]), everything(5))
    for row, parents in enumerate([(), (1, 2)]):
        for at, x in enumerate(everything(5)[4]):
            if x in parents:
                assert added[row, at] == np.inf
            else:
                (alone,) = scores_of(score, [(4, np.array(sorted((*parents, x))))])
                assert added[row, at] == pytest.approx(alone)


def test_columns_that_parents_determine_are_skipped_and_not_counted():
    """A level of one category that follows from another's: least squares counts its rank as well."""
    generator = np.random.default_rng(3)
    fine = generator.integers(0, 4, 500)
    coarse = fine // 2
    other = (generator.random(500) < 0.3 + 0.4 * coarse).astype(float)
    table = Table(
        np.column_stack([fine, coarse, other]), ("fine", "coarse", "other"), levels={0: tuple("abcd"), 1: tuple("xy")}
    )
    evidence = mixed_moments(table)
    assert set(evidence.determined) == {"fine", "coarse"}
    white, _, starts = evidence.white
    score = BlockScore(white, starts, None, 500, 6.0)
    expected = slow.gaussian(blocks_of(table), 2, (0, 1), 6.0, 0.0)
    (found,) = scores_of(score, [(2, np.array([0, 1]))])
    assert found == pytest.approx(expected, abs=1e-6)
    _, added = score.scan(np.array([2]), np.array([[0]]), np.array([1]), everything(3))
    assert added[0, 1] == np.inf


def test_what_parents_determine_scores_finitely():
    white = np.array([[1.0, 1.0], [1.0, 1.0]])
    (found,) = scores_of(BlockScore(white, np.arange(3), None, 100), [(1, np.array([0]))])
    assert np.isfinite(found)
    assert found < -1000


@pytest.mark.parametrize("discount", [1, 2])
def test_differences_are_those_of_tetrad(discount):
    rows, categorical = np.array(FROZEN["rows"]), FROZEN["categorical"]
    levels = {at: tuple(map(str, range(int(rows[:, at].max()) + 1))) for at in categorical}
    evidence = mixed_moments(Table(rows, tuple(FROZEN["names"]), levels=levels))
    white, _, starts = evidence.white
    score = BlockScore(white, starts, None, len(rows), discount * np.log(len(rows)))
    entries = FROZEN["scores"]
    with_parents = scores_of(score, [(each["child"], np.array(each["parents"])) for each in entries])
    alone = scores_of(score, [(each["child"], np.array([], int)) for each in entries])
    theirs = [each[f"discount {discount}"] for each in entries]
    np.testing.assert_allclose(alone - with_parents, theirs, rtol=0, atol=0.01)


def test_a_degree_of_freedom_costs_ln_n_and_a_parent_the_rest_of_the_penalty():
    evidence = mixed_moments(mixed_table())
    plain, dear = (family_score(evidence, penalty=penalty) for penalty in (1.0, 2.0))
    family = [(4, np.array([1, 2]))]
    assert scores_of(dear, family) - scores_of(plain, family) == pytest.approx(2 * np.log(400))


@given(seed=st.integers(0, 10**6), weighted=st.booleans(), size=st.sampled_from([None, 0.5, 3.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_counts_score_as_the_reference_does(seed, weighted, size):
    """By words of bits where rows count once, one after the other where they do not."""
    codes, levels = codes_of(seed, n=130)
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 4, codes.shape[1]).astype(np.int32) if weighted else np.ones(130, np.int32)
    score = CountScore(codes, levels, weights, sample_size=size)
    children = np.array([0, 1, 2, 4])
    parents, sizes = np.array([[0, 0], [0, 0], [1, 3], [2, 3]]), np.array([0, 1, 2, 2])
    own, added = score.scan(children, parents, sizes, everything(5))
    for row, child in enumerate(children):
        given_to = tuple(parents[row, : sizes[row]])

        def expected(family, child=child):
            if size is None:
                return slow.multinomial(codes, levels, child, family, weights, 2.0)
            return slow.bdeu(codes, levels, child, family, weights, size)

        assert own[row] == pytest.approx(expected(given_to), abs=1e-7)
        for at, x in enumerate(everything(5)[child]):
            if x not in given_to and np.isfinite(added[row, at]):
                assert added[row, at] == pytest.approx(expected((*given_to, x)), abs=1e-7)
            elif x not in given_to:
                # Left out only where its price alone is more than all it could gain.
                assert expected((*given_to, x)) >= own[row]


def test_a_share_of_the_rows_counts_for_as_much():
    codes, levels = codes_of(2)
    ones = np.ones(codes.shape[1], np.int32)
    whole = CountScore(codes, levels, ones, sample_size=1.0)
    half = CountScore(codes, levels, ones, 0.5, sample_size=1.0)
    family = [(2, np.array([1]))]
    assert scores_of(half, family) == pytest.approx(scores_of(whole, family) / 2)


@pytest.mark.parametrize("kind", ["blocks", "counts"])
def test_trees_choose_the_parents_that_growing_and_shrinking_does(kind):
    codes, levels = codes_of(7)
    if kind == "counts":
        score = CountScore(codes, levels, np.ones(codes.shape[1], np.int32), sample_size=1.0)
    else:
        white, _, starts = mixed_moments(mixed_table()).white
        score = BlockScore(white, starts, None, 400, 3.0)

    def one(child, parents):
        return float(scores_of(score, [(child, np.array(parents, int))])[0])

    generator = np.random.default_rng(1)
    pairs = [
        [tuple(sorted(generator.choice(others, 2, replace=False).tolist())) for _ in range(2)]
        for others in everything(5)
    ]
    trees = Trees(score, everything(5), pairs=pairs)
    for order in np.random.default_rng(1).permuted(np.tile(np.arange(5), (12, 1)), axis=1):
        found = TreeOrder(trees, order, price=1.0)
        for at, child in enumerate(order.tolist()):
            parents, value = slow.grown_and_shrunk(
                one, child, sorted(order[:at].tolist()), score.most_parents, pairs[child]
            )
            assert tuple(found.parents_of(child)) == parents
            assert found.scores[child] == pytest.approx(value)
        assert found.total == pytest.approx(score_of(score, found.dag))


def searched(score, order, threads=1, restarts=20, constraints=None):
    scored = TreeOrder(Trees(score, everything(score.size), constraints, threads), order, constraints, price=10.0)
    generator = np.random.default_rng(4)
    descend(scored, generator)
    return iterate(scored, generator, restarts, threads=threads)[0]


@pytest.mark.parametrize("seed", range(12))
def test_a_search_finds_the_best_of_all_dags_of_five_categories(seed):
    codes, levels = codes_of(seed)
    ones = np.ones(codes.shape[1], np.int32)
    score = CountScore(codes, levels, ones, sample_size=2.0)
    best = slow.best_score(lambda child, parents: slow.bdeu(codes, levels, child, parents, ones, 2.0), 5, 4)
    assert searched(score, np.arange(5)).total == pytest.approx(best, abs=1e-6)


def test_the_answer_does_not_depend_on_threads():
    white, _, starts = mixed_moments(mixed_table(5, n=150)).white
    score = BlockScore(white, starts, None, 150)
    one, two = (searched(score, np.arange(5)[::-1], threads) for threads in (1, 2))
    assert one.order.tolist() == two.order.tolist()
    assert one.total == two.total


def test_orders_and_parents_obey_what_is_known():
    names = ("x", "kind", "flag", "z", "w")
    known = Knowledge(tiers=[["w"], ["z", "flag"]], required=[("w", "x")], forbidden=[("x", "kind"), ("kind", "x")])
    constraints = known.constraints(names)
    white, _, starts = mixed_moments(mixed_table()).white
    score = BlockScore(white, starts, None, 400)
    found = searched(score, constraints.arrange(np.arange(5)), constraints=constraints)
    assert constraints.obeyed_by(found.order)
    assert found.dag[4, 0] == 1
    assert not found.dag[0, 1]
    assert not found.dag[1, 0]
    assert not found.dag[2:4, 4].any()


def test_gains_are_what_the_score_loses_without_an_edge():
    white, _, starts = mixed_moments(mixed_table()).white
    score = BlockScore(white, starts, None, 400)
    dag = np.zeros((5, 5), np.int8)
    dag[[0, 2, 3], [1, 4, 4]] = 1
    gains = gains_of(score, dag)
    for i, j in np.argwhere(dag):
        without = dag.copy()
        without[i, j] = 0
        assert gains[i, j] == pytest.approx(score_of(score, without) - score_of(score, dag))
    assert (gains != 0).sum() == 3
