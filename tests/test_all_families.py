"""The best graph of all by any score of families: against all orders with all sets of parents, one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2

import mixed_reference as slow
import rfdag
from environment_reference import family_score
from rfdag.errors import OptionError
from rfdag.knowledge import Knowledge
from rfdag.methods import proving
from rfdag.orders.all_families import AllFamilies
from rfdag.orders.family_scores import CountScore
from rfdag.orders.interactions import acting_together as pairs_acting_together
from rfdag.orders.tree_order import TreeOrder
from rfdag.runtime.deadline import OutOfTime

pandas = pytest.importorskip("pandas")


class Drawn:
    """A score whose families score what was drawn for them: parents that count only together are the rule."""

    def __init__(self, p, most, seed, digits=None):
        self.size, self.most_parents = p, most
        generator = np.random.default_rng([seed, p, 61])
        self.known = {
            (y, parents): round(10 * generator.normal(), digits) if digits is not None else 10 * generator.normal()
            for y in range(p)
            for count in range(p)
            for parents in itertools.combinations([x for x in range(p) if x != y], count)
        }

    def of(self, y, parents):
        return self.known[y, tuple(sorted(parents))]

    def scan(self, children, parents, sizes, candidates):
        rows = zip(children.tolist(), parents.tolist(), sizes.tolist(), strict=True)
        return np.array([self.of(y, row[:size]) for y, row, size in rows]), np.empty((len(children), 1))

    def work(self, families, parents, candidates):
        return families


def scored(score, dag):
    return sum(score.of(y, np.flatnonzero(dag[:, y]).tolist()) for y in range(len(dag)))


def knowledge_of(generator, p):
    """Return knowledge on variables 0 … p − 1, and the same as pairs: before, forbidden and required."""
    order = generator.permutation(p).tolist()
    cut = int(generator.integers(1, p))
    tiers = [order[:cut], order[cut:]] if generator.random() < 0.7 else []
    before = [(x, y) for x in order[:cut] for y in order[cut:]] if tiers else []
    required = [(order[0], order[-1])] if generator.random() < 0.5 else []
    pairs = [(order[at], order[at + 1]) for at in range(p - 1) if generator.random() < 0.3]
    forbidden = [pair for pair in pairs if pair not in required]
    late = [(y, x) for x, y in before]
    known = Knowledge(tiers=tiers, required=required, forbidden=forbidden)
    return known.constraints(tuple(range(p))), {
        "before": before,
        "forbidden": forbidden + late,
        "required": required,
    }


@pytest.mark.parametrize("seed", range(12))
def test_no_order_and_no_parents_are_better_whatever_is_known(seed):
    generator = np.random.default_rng([seed, 3])
    p = int(generator.integers(2, 6))
    most = int(generator.integers(1, p))
    # Rounded scores are often equal.
    score = Drawn(p, most, seed, digits=None if seed % 3 else -1)
    for known in (False, True):
        constraints, pairs = knowledge_of(generator, p) if known else (None, {})
        families = AllFamilies(score, constraints)
        best = TreeOrder(families, families.best_order(), constraints, price=1.0)
        assert best.total == pytest.approx(slow.best_score(score.of, p, most, **pairs), abs=1e-5)
        assert scored(score, best.dag) == pytest.approx(best.total, abs=1e-5)
        assert constraints is None or constraints.obeyed_by(best.order)
        assert best.dag.sum(axis=0).max() <= most
        assert all(best.dag[edge] for edge in pairs.get("required", ()))
        assert not any(best.dag[edge] for edge in pairs.get("forbidden", ()))


def test_every_order_has_the_best_parents_and_of_equal_ones_the_fewest():
    score = Drawn(5, 4, seed=2, digits=-1)
    families = AllFamilies(score)
    for order in itertools.permutations(range(5)):
        found = TreeOrder(families, np.array(order), price=1.0)
        for at, y in enumerate(order):
            sets = [each for size in range(at + 1) for each in itertools.combinations(sorted(order[:at]), size)]
            least = min(score.of(y, each) for each in sets)
            first = min((each for each in sets if score.of(y, each) <= least + 1e-9), key=len)
            assert len(found.parents_of(y)) == len(first)
            assert score.of(y, found.parents_of(y).tolist()) == pytest.approx(least)


def test_families_are_shared_by_threads_and_what_asks_to_stop_stops(monkeypatch):
    score = Drawn(7, 6, seed=4)
    monkeypatch.setattr("rfdag.orders.all_families.WORK_AT_ONCE", 20)
    monkeypatch.setattr("rfdag.orders.all_families.WORK_FOR_THREADS", 1)
    np.testing.assert_array_equal(AllFamilies(score, threads=2).least, AllFamilies(score).least)

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AllFamilies(score, threads=2, report=stop)


def acting_together(seed, p, n=400):
    """Return codes of categories: half of them a product, a parity or a threshold of two others, with noise."""
    generator = np.random.default_rng([seed, p, 67])
    levels = generator.integers(2, 4, p)
    codes = np.zeros((p, n), np.uint8)
    for y in range(p):
        codes[y] = generator.integers(0, levels[y], n)
        if y >= 2 and generator.random() < 0.7:
            a, b = codes[generator.choice(y, 2, replace=False)].astype(int)
            acts = [(a + b) % levels[y], (a * b > 0).astype(int), (a + b > 1).astype(int)][generator.integers(3)]
            kept = generator.random(n) < 0.9
            codes[y, kept] = acts[kept]
    places = generator.permutation(p)
    return codes[places], levels[places]


def as_text(codes):
    return pandas.DataFrame({f"v{at}": np.array(list("abcd"))[code] for at, code in enumerate(codes)})


def reference_of(score, codes):
    """Return the score that `learn` has by default for categories, as a function of a child and its parents."""
    p, n = codes.shape
    codes = np.array([np.unique(code, return_inverse=True)[1] for code in codes])
    levels, weights = codes.max(axis=1) + 1, np.ones(n)
    if score == "bdeu":
        return lambda y, P: slow.bdeu(codes, levels, y, P, weights, 3.0) + 2 * math.log(p) * len(P)
    if score == "multinomial":
        return lambda y, P: slow.multinomial(codes, levels, y, P, weights, 2.0)
    blocks = [slow.indicators(code) for code in codes]
    return lambda y, P: slow.gaussian(blocks, y, P, math.log(n), math.log(n))


@pytest.mark.parametrize("score", ["bdeu", "multinomial", "gaussian"])
@pytest.mark.parametrize("seed", range(3))
def test_categories_that_act_together_have_the_best_graph_of_all(score, seed):
    codes, _ = acting_together(seed, 4)
    result = rfdag.learn(as_text(codes), score=score)
    assert result.optimal
    assert result.gap == 0.0
    assert result.lower_bound == result.score
    assert result.score == pytest.approx(slow.best_score(reference_of(score, codes), 4, 3), abs=1e-5)
    assert "the best of all DAGs (all 16 sets of variables)" in str(result)


@pytest.mark.parametrize("score", ["bdeu", "multinomial"])
def test_a_parity_of_two_is_a_collider(score):
    generator = np.random.default_rng(71)
    a, b = generator.random((2, 1000)) < [[0.5], [0.4]]
    parity = a ^ b ^ (generator.random(1000) < 0.05)
    codes = np.array([a, b, parity]).astype(np.uint8)
    result = rfdag.learn(as_text(codes), score=score)
    assert result.dag.sum() == 2
    assert result.dag.sum(axis=0).max() == 2
    assert result.score == pytest.approx(slow.best_score(reference_of(score, codes), 3, 2), abs=1e-5)


def test_mixed_tables_and_curves_have_the_best_graph_of_all():
    generator = np.random.default_rng(73)
    n = 300
    kind = generator.integers(0, 3, n)
    x = generator.normal(size=n)
    y = x * (kind - 1) + generator.normal(size=n)
    z = (x + generator.normal(size=n) > 0).astype(int) + (generator.random(n) < 0.1)
    frame = pandas.DataFrame({"x": x, "y": y, "kind": np.array(list("abc"))[kind], "z": np.array(list("pqr"))[z]})
    blocks = [x[:, None], y[:, None], slow.indicators(kind), slow.indicators(z)]
    mixed = rfdag.learn(frame)
    unit = math.log(n)
    best = slow.best_score(lambda y, P: slow.gaussian(blocks, y, P, unit, unit), 4, 3)
    assert mixed.optimal
    assert mixed.score == pytest.approx(best, abs=1e-5)

    # No value is so far out that it would be drawn in before powers are taken.
    rows = generator.uniform(-1, 1, (n, 4))
    rows[:, 1] += 2 * rows[:, 0] ** 2
    rows[:, 3] += rows[:, 1] - (rows[:, 2] + 0.5) ** 2
    powers = [np.column_stack([column**power for power in (1, 2, 3)]) for column in rows.T]

    def of_curves(child, parents):
        given = [rows[:, [child]] if at == child else powers[at] for at in range(4)]
        return slow.gaussian(given, child, parents, 2 * unit, 0.0)

    curved = rfdag.learn(rows, basis=3)
    assert curved.optimal
    assert curved.score == pytest.approx(slow.best_score(of_curves, 4, 3), abs=1e-4)


@pytest.mark.parametrize("intercepts", ["common", "environment"])
def test_environments_with_known_targets_have_the_best_graph_of_all(intercepts):
    generator = np.random.default_rng(79)
    labels = np.repeat(["a", "b", "c"], [150, 60, 50])
    rows = generator.normal(size=(260, 4))
    rows[:, 1] += rows[:, 0]
    rows[labels == "b", 1] = generator.normal(size=60)
    rows[:, 2] += rows[:, 1] - rows[:, 0]
    rows[:, 3] += rows[:, 2] * np.where(labels == "c", -1, 1)
    targets = {"a": [], "b": [1], "c": [3]}
    result = rfdag.learn(rows, environments=labels, targets=targets, intercepts=intercepts)
    unit = math.log(260)
    options = {"kind": "auto", "centred": intercepts == "environment", "price_of_parent": 2 * unit, "price": unit}

    def of_family(y, parents):
        return family_score(rows, labels, y, parents, [each for each in targets if y in targets[each]], **options)

    extra = 4 * 2 * unit if intercepts == "environment" else 0.0
    assert result.optimal
    assert result.score == pytest.approx(slow.best_score(of_family, 4, 3) + extra, abs=1e-5)
    unknown = rfdag.learn(rows, environments=labels, targets="unknown", observational=["a"])
    # A search chose the targets of each family.
    assert unknown.optimal is None


def test_the_order_of_columns_changes_nothing():
    for seed in range(5):
        codes, _ = acting_together(seed + 50, 6)
        frame = as_text(codes)
        places = np.random.default_rng(seed).permutation(6)
        plain, again = rfdag.learn(frame), rfdag.learn(frame.iloc[:, places])
        np.testing.assert_array_equal(again.cpdag, plain.cpdag[np.ix_(places, places)])
        assert again.score == pytest.approx(plain.score, abs=1e-8)


def test_knowledge_is_obeyed_by_the_best():
    codes, _ = acting_together(3, 4)
    known = Knowledge(tiers=[["v2", "v1"], ["v0", "v3"]], required=[("v1", "v0")], forbidden=[("v2", "v3")])
    result = rfdag.learn(as_text(codes), knowledge=known)
    late = [(y, x) for x in (2, 1) for y in (0, 3)]
    best = slow.best_score(
        reference_of("bdeu", codes),
        4,
        3,
        before=[(y, x) for x, y in late],
        forbidden=[(2, 3), *late],
        required=[(1, 0)],
    )
    assert result.score == pytest.approx(best, abs=1e-5)


def test_more_variables_are_searched_or_compared_on_request():
    codes, _ = acting_together(8, 9, n=200)
    frame = as_text(codes)
    searched, asked = rfdag.learn(frame), rfdag.learn(frame, exact=True)
    assert searched.optimal is None
    assert asked.optimal
    assert asked.score <= searched.score + 1e-6
    assert rfdag.learn(frame.iloc[:, :8]).optimal
    assert rfdag.learn(frame.iloc[:, :8], exact=False).optimal is None
    many = pandas.concat([frame, frame.add_suffix("_")], axis=1)
    with pytest.raises(OptionError, match="exact takes up to 16 variables"):
        rfdag.learn(many, exact=True)
    labels = np.repeat([0, 1], 100)
    rows = np.random.default_rng(1).normal(size=(200, 17))
    with pytest.raises(OptionError, match=r"exact=True takes up to 16 variables .* there are 17"):
        rfdag.learn(rows, environments=labels, targets={0: [], 1: [3]}, exact=True)


def test_where_time_does_not_suffice_there_is_a_search(monkeypatch):
    def late(*arguments):
        raise OutOfTime

    monkeypatch.setattr(proving, "AllFamilies", late)
    codes, _ = acting_together(2, 4)
    result = rfdag.learn(as_text(codes))
    assert result.optimal is None
    assert result.score is not None


def information(codes, *members):
    """Return n times the entropy of some variables together, in nats."""
    _, counts = np.unique(codes[list(members)], axis=1, return_counts=True)
    return float((counts * -np.log(counts / counts.sum())).sum())


def slow_pairs(codes):
    """Return the pairs of others that explain a variable while neither alone does, by the BIC, above chance."""
    p, n = codes.shape
    free = [len(np.unique(code)) - 1 for code in codes]
    found = [[] for _ in range(p)]
    for y in range(p):

        def gain(parents, y=y):
            fit = information(codes, y) + information(codes, *parents) - information(codes, y, *parents)
            return 2 * fit - math.log(n) * free[y] * (math.prod(free[x] + 1 for x in parents) - 1)

        for x, z in itertools.combinations([x for x in range(p) if x != y], 2):
            fits = [
                information(codes, y) + information(codes, *parents) - information(codes, y, *parents)
                for parents in ((x, z), (x,), (z,))
            ]
            rare = chi2.isf(1 / math.comb(p, 3), free[x] * free[y] * free[z])
            if 2 * (fits[0] - fits[1] - fits[2]) > rare and gain((x, z)) > 0 and gain((x,)) <= 0 and gain((z,)) <= 0:
                found[y].append((x, z))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_pairs_that_act_together_are_those_of_all_tables_of_three(seed):
    codes, levels = acting_together(seed, 7, n=250)
    score = CountScore(codes, levels, np.ones(250, np.int32))
    expected = slow_pairs(codes)
    assert [sorted(each) for each in pairs_acting_together(score, threads=2)] == expected
    # Equal rows as one that counts as often.
    kinds, weights = np.unique(codes, axis=1, return_counts=True)
    counted = CountScore(kinds, levels, weights.astype(np.int32))
    assert [sorted(each) for each in pairs_acting_together(counted)] == expected


def test_pairs_are_not_looked_for_where_that_takes_too_long(monkeypatch):
    monkeypatch.setattr("rfdag.orders.block_tuning.MOST_WORK_ON_TRIPLES", 1)
    codes = np.array([[0, 1] * 50, [0, 0, 1, 1] * 25, [0, 1, 1, 0] * 25], np.uint8)
    assert pairs_acting_together(CountScore(codes, np.full(3, 2), np.ones(100, np.int32))) == [[], [], []]


@pytest.mark.parametrize("p", [10, 36])
@pytest.mark.parametrize("score", ["bdeu", "multinomial"])
def test_a_parity_among_many_variables_is_found(score, p):
    generator = np.random.default_rng([p, 83])
    codes = generator.integers(0, 2, (p, 1000)).astype(np.uint8)
    noise = generator.random((3, 1000)) < 0.05
    codes[2] = codes[0] ^ codes[1] ^ noise[0]
    codes[4] = codes[2] ^ noise[1]
    codes[7] = np.where(noise[2], codes[7], codes[4] & codes[6])
    truth = np.zeros((p, p), np.int8)
    truth[[0, 1, 2, 4, 6], [2, 2, 4, 7, 7]] = 1
    places = generator.permutation(p)
    result = rfdag.learn(as_text(codes[places]), score=score)
    assert result.score <= result.score_of(truth[np.ix_(places, places)]) + 1e-6
    # Any two of the three explain the third, but one edge alone explains nothing.
    number = np.argsort(places)
    assert np.asarray(result.dag)[np.ix_(number[:3], number[:3])].sum() >= 2
