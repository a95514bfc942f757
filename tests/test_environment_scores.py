"""The compiled score of environments against the rows themselves, and its search for targets against all sets."""

import numpy as np
import pytest

from environment_reference import best_targets, family_score
from rfdag.evidence.by_environment import environment_moments
from rfdag.evidence.moments import Moments
from rfdag.input.description import Description
from rfdag.input.environments import design_of
from rfdag.orders.environment_scores import EnvironmentScore

P = 6
LABELS = ("a", "b", "c", "d")
COUNTS = (90, 25, 40, 12)
TARGETS = {"a": [], "b": [1], "c": [1, 4], "d": [0]}
PRICES = {"price_of_parent": 9.0, "price": 4.0}


def rows_of(seed):
    """Return rows in which the targets above do something else in each environment."""
    generator = np.random.default_rng([seed, 31])
    labels = np.repeat(LABELS, COUNTS)
    weights = np.triu(generator.normal(size=(P, P)), 1)
    rows = np.zeros((len(labels), P))
    for y in range(P):
        rows[:, y] = rows @ weights[:, y] + generator.normal(size=len(rows))
        for place, label in enumerate(LABELS):
            if y in TARGETS[label]:
                at = labels == label
                noise = generator.normal(size=at.sum())
                rows[at, y] = (rows[at, :y] @ generator.normal(size=y) if place == 2 else 0) + 2 * place + 0.6 * noise
    return rows, labels


def score_of(rows, labels, *, unknown=False, kind="auto", centred=False, known=LABELS):
    names = tuple(range(P))
    form = Description(
        environments=labels,
        targets="unknown" if unknown else TARGETS,
        observational=["a"] if unknown else None,
    )
    codes = np.searchsorted(known, labels)
    evidence = environment_moments(rows, codes, Moments.from_data(rows, names), design_of(form, known, names))
    others = np.array([np.delete(np.arange(P), y) for y in range(P)])
    return EnvironmentScore(evidence, others, kind=kind, centred=centred, **PRICES), others


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("kind", ["auto", "hard", "soft"])
def test_scores_with_known_targets_are_those_of_the_rows(kind, centred):
    generator = np.random.default_rng(8)
    for seed in range(4):
        rows, labels = rows_of(seed)
        score, others = score_of(rows, labels, kind=kind, centred=centred)
        for y in range(P):
            at = [label for label in LABELS if y in TARGETS[label]]
            parents = generator.permutation(others[y])[: generator.integers(0, 4)]
            own, added = score.scan(np.array([y]), np.append(parents, 0)[None], np.array([len(parents)]), others)
            options = {"kind": kind, "centred": centred, **PRICES}
            assert own[0] == pytest.approx(family_score(rows, labels, y, parents, at, **options), rel=1e-9)
            for x, found in zip(others[y], added[0], strict=True):
                if x in parents:
                    assert found == np.inf
                else:
                    expected = family_score(rows, labels, y, [*parents, x], at, **options)
                    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("kind", ["auto", "hard", "soft"])
def test_unknown_targets_are_the_best_of_all_and_a_parent_may_change_them(kind, centred):
    generator = np.random.default_rng(9)
    changed = 0
    for seed in range(8):
        rows, labels = rows_of(seed)
        score, others = score_of(rows, labels, unknown=True, kind=kind, centred=centred)
        for y in range(P):
            parents = generator.permutation(others[y])[: generator.integers(0, 4)]
            own, added = score.scan(np.array([y]), np.append(parents, 0)[None], np.array([len(parents)]), others)
            chosen = [LABELS[e] for e in score.targets(y, parents)]
            options = {"kind": kind, "centred": centred, **PRICES}
            assert "a" not in chosen
            assert own[0] == pytest.approx(family_score(rows, labels, y, parents, chosen, **options), rel=1e-9)
            least, _ = best_targets(rows, labels, y, parents, LABELS[1:], **options)
            assert own[0] == pytest.approx(least, abs=1e-6)
            # A candidate has the targets chosen without it or, where it gains nothing with these, others.
            free = [place for place, x in enumerate(others[y]) if x not in parents]
            for place in free:
                family = [*parents, others[y][place]]
                with_these = family_score(rows, labels, y, family, chosen, **options)
                if added[0, place] != pytest.approx(with_these, rel=1e-9):
                    changed += 1
                    least, _ = best_targets(rows, labels, y, family, LABELS[1:], **options)
                    assert with_these > own[0]
                    assert added[0, place] == pytest.approx(least, rel=1e-9)
    assert changed > 0


@pytest.mark.parametrize("kind", ["auto", "hard", "soft"])
def test_parents_that_gain_something_beside_other_targets_are_seen(kind):
    """Slopes of either sign, of which those without targets show nothing."""
    for seed in range(10):
        generator = np.random.default_rng([seed, 33])
        rows = generator.normal(size=(320, P))
        labels = np.repeat(LABELS, 80)
        y, x, z = generator.permutation(P)[:3]
        signs = generator.permutation([1.0, 1.0, -1.0, -1.0]) if seed % 2 else generator.permutation([1, 1, -1, 0.5])
        if kind == "hard":
            # An environment that cuts the child, beside means that hide what it does elsewhere.
            signs = np.array([1.0, 1.0, 1.0, 0.0])
            rows[240:, x] += 3.0
            rows[240:, y] -= 0.6
        rows[:, y] += 0.7 * np.repeat(signs, 80) * rows[:, x] + rows[:, z]
        score, others = score_of(rows, labels, unknown=True, kind=kind)
        place = others[y].tolist().index(x)
        for parents in ([], [z]):
            own, added = score.scan(np.array([y]), np.array([[*parents, 0]]), np.array([len(parents)]), others)
            options = {"kind": kind, "centred": False, **PRICES}
            least, _ = best_targets(rows, labels, y, [*parents, x], LABELS[1:], **options)
            if least < own[0] - 1e-6:
                assert added[0, place] < own[0] - 1e-6


def test_single_changes_of_many_environments_find_nearly_the_best_targets():
    best, tried = 0, 0
    for seed in range(6):
        generator = np.random.default_rng([seed, 34])
        many = tuple("abcdefgh")
        labels = np.repeat(many, 40)
        rows = generator.normal(size=(320, P))
        rows[:, 2] += rows[:, 0] * np.repeat(generator.choice([1.0, 1.0, 1.0, -1.0], 8), 40) + rows[:, 1]
        rows[labels == "c", 2] += 2.0
        score, others = score_of(rows, labels, unknown=True, known=many)
        for parents in ([], [0], [0, 1]):
            own, _ = score.scan(np.array([2]), np.array([[*parents, 0]]), np.array([len(parents)]), others)
            options = {"kind": "auto", "centred": False, **PRICES}
            least, _ = best_targets(rows, labels, 2, parents, many[1:], **options)
            assert own[0] >= least - 1e-6
            best += own[0] <= least + 1e-6
            tried += 1
    assert best >= 0.8 * tried


def test_too_few_rows_for_the_parents_are_no_score():
    rows, labels = rows_of(1)
    kept = np.concatenate([np.flatnonzero(labels == label)[:5] for label in LABELS])
    score, others = score_of(rows[kept], labels[kept], unknown=True)
    # All other environments together have too few rows for five slopes of their own once any is a target.
    own, _ = score.scan(np.array([5]), np.arange(6)[None], np.array([5]), others)
    assert np.isfinite(own[0])
    assert score.targets(5, np.arange(5)) in ([], [1], [2], [3])


def test_a_variable_may_have_half_as_many_parents_as_rows_count_for_it():
    rows, labels = rows_of(1)
    kept = np.concatenate([np.flatnonzero(labels == label)[:3] for label in LABELS])
    # Known targets: nine rows do not target 0, twelve count for 2, of which three are spared.
    assert score_of(rows[kept], labels[kept])[0].most_parents == 4
    assert score_of(rows, labels)[0].most_parents == P - 1


def test_parents_need_more_rows_than_there_are_numbers():
    """Six rows do not target 1."""
    rows, labels = rows_of(2)
    kept = np.concatenate([np.flatnonzero(labels == label)[:3] for label in LABELS])
    score, others = score_of(rows[kept], labels[kept])
    finite = []
    for m in range(2, 5):
        own, added = score.scan(np.array([1]), np.array([[3, 2, 5, 0]]), np.array([m]), others)
        finite.append((np.isfinite(own[0]), np.isfinite(added[0]).any()))
    assert finite == [(True, True), (True, False), (False, False)]
