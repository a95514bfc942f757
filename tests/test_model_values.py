"""A model of categories and curves gives one answer, however it is asked: means, probabilities and drawn rows agree.

The references are literal: all combinations of levels for tables; for the rest rows drawn with formulas of their own.
"""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest

import rfdag
from rfdag.errors import DataWarning
from rfdag.evidence.expansion import Category, Expansion, Powers
from rfdag.result import mixed_model
from rfdag.result.mixed_model import Family, MixedModel
from rfdag.result.storage import decode

pandas = pytest.importorskip("pandas")

SEED = 3205
KINDS = ("linear", "mixed", "curves", "mixed curves", "tables")
DRAWS = 40_000


def random_model(kind, seed):
    """Return a model with random parents, regressions and tables, in which variables have 2 to 6 units of spread."""
    generator = np.random.default_rng([SEED, KINDS.index(kind), seed])
    p = int(generator.integers(3, 7))
    degree = 3 if "curves" in kind else 1
    share = {"linear": 0.0, "curves": 0.0, "tables": 1.0}.get(kind, 0.5)
    parts, names = [], tuple(f"v{at}" for at in range(p))
    for _ in range(p):
        if generator.random() < share:
            levels = int(generator.integers(2, 5))
            counts = generator.integers(5, 50, levels)
            parts.append(Category(tuple("abcd"[:levels]), np.arange(levels), counts, (), tuple("abcd"[:levels])))
        else:
            mean, deviation = generator.normal(0, 10), generator.uniform(2, 6)
            parts.append(Powers(mean, deviation, degree, mean - 3 * deviation, mean + 5 * deviation))
    expansion = Expansion(names, tuple(parts))
    order = generator.permutation(p)
    families = [None] * p
    for place, at in enumerate(order.tolist()):
        parents = np.sort(order[:place][generator.random(place) < 0.6])[:3]
        width, columns = int(expansion.widths[at]), int(expansion.widths[parents].sum())
        is_category = isinstance(parts[at], Category)
        intercepts = generator.dirichlet(np.ones(width + 1))[1:] if is_category else generator.normal(0, 0.3, width)
        slopes = generator.normal(0, 0.15 if is_category else 0.4, (columns, width)) / (1 if degree == 1 else 4)
        table = None
        if kind == "tables":
            shape = [len(parts[parent].levels) for parent in parents] + [width + 1]
            table = generator.dirichlet(np.full(width + 1, 0.7), size=shape[:-1])
        families[at] = Family(parents, intercepts, slopes, 0.3 * np.eye(width), table)
    return MixedModel(names, tuple(order.tolist()), expansion, tuple(families))


def random_setting(model, seed):
    """Return values of one or two variables, some of them outside of the data."""
    generator = np.random.default_rng([SEED, 9, seed])
    setting = {}
    for at in generator.choice(len(model.names), int(generator.integers(1, 3)), replace=False).tolist():
        part = model.expansion.parts[at]
        if isinstance(part, Category):
            setting[model.names[at]] = str(generator.choice(part.levels))
        else:
            setting[model.names[at]] = part.mean + part.deviation * float(generator.choice([-7, -2, 0.5, 3, 4.5, 9]))
    return setting


def literal_columns(part, value):
    """Return the columns of one variable in rows: by the definition that docs/mixed.md gives."""
    if isinstance(part, Category):
        frequent = max(range(len(part.levels)), key=lambda level: (part.counts[level], -level))
        others = sorted((level for level in range(len(part.levels)) if level != frequent),
                        key=lambda level: (-part.counts[level], level))  # fmt: skip
        return np.column_stack([(value == level).astype(float) for level in others])
    standard = (value - part.mean) / part.deviation
    if part.degree == 1:
        return standard[:, None]
    standard = np.minimum(np.maximum(standard, -4), 4)
    return np.column_stack([standard, standard * standard, standard * standard * standard])


def literal_chances(part, indicated):
    frequent = max(range(len(part.levels)), key=lambda level: (part.counts[level], -level))
    others = sorted((level for level in range(len(part.levels)) if level != frequent),
                    key=lambda level: (-part.counts[level], level))  # fmt: skip
    chances = np.zeros((len(indicated), len(part.levels)))
    for place, level in enumerate(others):
        chances[:, level] = np.minimum(np.maximum(indicated[:, place], 0), 1)
    chances[:, frequent] = np.maximum(0, 1 - chances.sum(axis=1))
    return chances / chances.sum(axis=1)[:, None]


def literal_expectation(model, at, values):
    family, part = model.families[at], model.expansion.parts[at]
    if family.table is not None:
        return family.table[tuple(values[:, family.parents].astype(int).T)] + np.zeros((len(values), 1))
    columns = [literal_columns(model.expansion.parts[parent], values[:, parent]) for parent in family.parents]
    x = np.hstack([np.zeros((len(values), 0)), *columns])
    expected = family.intercepts + x @ family.slopes
    if isinstance(part, Category):
        return literal_chances(part, expected)
    return expected[:, :1] * part.deviation + part.mean


def literal_means(model, setting, generator, draws=DRAWS):
    """Return what is expected of every variable, with standard errors: from many rows drawn at random."""
    values, means, errors = np.zeros((draws, len(model.names))), {}, {}
    for at in model.order:
        name, part = model.names[at], model.expansion.parts[at]
        if name in setting:
            value = part.levels.index(setting[name]) if isinstance(part, Category) else setting[name]
            values[:, at] = value
            own = np.eye(len(part.levels))[value] if isinstance(part, Category) else np.array([value])
            expected = np.tile(own, (draws, 1))
        else:
            expected = literal_expectation(model, at, values)
            if isinstance(part, Category):
                values[:, at] = (generator.random(draws)[:, None] > np.cumsum(expected, axis=1)[:, :-1]).sum(axis=1)
            else:
                noise = np.sqrt(model.families[at].noise[0, 0]) * part.deviation
                values[:, at] = expected[:, 0] + noise * generator.normal(size=draws)
        means[name] = expected.mean(axis=0)
        errors[name] = expected.std(axis=0) / np.sqrt(draws)
    return means, errors


def as_array(shown):
    return np.array(list(shown.values())) if isinstance(shown, dict) else np.array([shown])


def quiet_do(model, setting):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.do(setting)


@pytest.mark.parametrize("kind", KINDS)
def test_means_are_those_of_rows_drawn_literally(kind):
    for seed in range(6):
        model = random_model(kind, seed)
        for setting in ({}, random_setting(model, seed)):
            generator = np.random.default_rng([SEED, 1, seed])
            expected, errors = literal_means(model, setting, generator)
            found = (quiet_do(model, setting) if setting else model).mean()
            for name in model.names:
                np.testing.assert_allclose(
                    as_array(found[name]), expected[name], atol=1e-9 + 5.5 * errors[name].max(), rtol=1e-9
                )
                if name in setting and not isinstance(setting[name], str):
                    assert found[name] == setting[name]


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_rows_have_these_means(kind):
    n = 20_000
    for seed in range(6):
        model = random_model(kind, seed)
        setting = random_setting(model, seed)
        for each in (model, quiet_do(model, setting)):
            rows = each.sample(n, rng=seed).values
            for at, (name, mean) in enumerate(each.mean().items()):
                if isinstance(mean, dict):
                    shares = np.bincount(rows[:, at].astype(int), minlength=len(mean)) / n
                    np.testing.assert_allclose(shares, as_array(mean), atol=5 * 0.5 / np.sqrt(n))
                elif name in each.fixed:
                    assert (rows[:, at] == setting[name]).all()
                else:
                    assert rows[:, at].mean() == pytest.approx(mean, abs=5.5 * rows[:, at].std() / np.sqrt(n) + 1e-9)


@pytest.mark.parametrize("kind", ["mixed", "mixed curves", "tables"])
def test_probabilities_are_those_of_a_model_whose_parents_are_set(kind):
    seen = 0
    for seed in range(12):
        model = random_model(kind, seed)
        for at, name in enumerate(model.names):
            parents = [model.names[parent] for parent in model.families[at].parents]
            if not isinstance(model.expansion.parts[at], Category):
                continue
            setting = {other: value for other, value in random_setting(model, seed).items() if other in parents}
            for parent in parents:
                part = model.expansion.parts[model.names.index(parent)]
                inside = part.levels[0] if isinstance(part, Category) else part.mean + 0.7 * part.deviation
                setting.setdefault(parent, inside)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = model.probabilities(name, setting)
            rows = np.zeros((1, len(model.names)))
            for parent, value in setting.items():
                place = model.names.index(parent)
                part = model.expansion.parts[place]
                rows[0, place] = part.levels.index(value) if isinstance(part, Category) else value
            np.testing.assert_allclose(as_array(found), literal_expectation(model, at, rows)[0], atol=1e-12)
            set_there = as_array(quiet_do(model, setting).mean()[name]) if setting else as_array(model.mean()[name])
            np.testing.assert_allclose(as_array(found), set_there, atol=1e-12)
            seen += 1
    assert seen > 12


def enumerated(model, setting):
    """Return the probabilities of all levels: sums over all combinations of levels of all variables."""
    sizes = [len(part.levels) for part in model.expansion.parts]
    found = [np.zeros(size) for size in sizes]
    for levels in itertools.product(*map(range, sizes)):
        chance = 1.0
        for at, level in enumerate(levels):
            name, family = model.names[at], model.families[at]
            if name in setting:
                chance *= model.expansion.parts[at].levels[level] == setting[name]
            else:
                chance *= family.table[tuple(levels[parent] for parent in family.parents)][level]
        for at, level in enumerate(levels):
            found[at][level] += chance
    return dict(zip(model.names, found, strict=True))


def test_means_of_tables_are_sums_over_all_combinations():
    for seed in range(20, 60):
        model = random_model("tables", seed)
        for setting in ({}, random_setting(model, seed)):
            found = (model.do(setting) if setting else model).mean()
            for name, expected in enumerated(model, setting).items():
                np.testing.assert_allclose(as_array(found[name]), expected, atol=1e-12)


def test_tables_that_are_too_large_are_averaged(monkeypatch):
    model = random_model("tables", 31)
    exact = model.mean()
    monkeypatch.setattr(mixed_model, "MOST_COMBINATIONS", 1)
    for name, averaged in model.mean().items():
        np.testing.assert_allclose(as_array(averaged), as_array(exact[name]), atol=5 * 0.5 / 256)


def test_parents_that_depend_on_each_other():
    """A child that only unequal parents switch on: were they independent, it would be on in half of all rows."""
    generator = np.random.default_rng([SEED, 3])
    a = generator.integers(0, 2, 4000)
    b = np.where(generator.random(4000) < 0.9, a, 1 - a)
    c = np.where(generator.random(4000) < 0.05, 1 - (a ^ b), a ^ b)
    frame = pandas.DataFrame(dict(zip("abc", np.array(["no", "yes"])[[a, b, c]], strict=True)))
    result = rfdag.learn(frame, restarts=0, knowledge={"required": [("a", "b"), ("a", "c"), ("b", "c")]})
    model = result.model()
    assert model.mean()["c"]["yes"] == pytest.approx((frame["c"] == "yes").mean(), abs=0.005)
    assert (model.sample(50_000, rng=1).values[:, 2]).mean() == pytest.approx(model.mean()["c"]["yes"], abs=0.01)


def learnt_curve(n=1500):
    generator = np.random.default_rng([SEED, 4])
    x = generator.normal(3, 4, n)
    y = 0.02 * x**3 - 0.3 * x + generator.normal(size=n)
    c = np.where(generator.random(n) < 1 / (1 + np.exp(-y / 2)), "hot", "cold")
    frame = pandas.DataFrame({"x": x, "y": y, "c": c})
    tiers = {"tiers": [["x"], ["y"], ["c"]]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame, rfdag.learn(frame, basis=3, restarts=0, knowledge=tiers)


def test_what_lies_beyond_the_data_is_said_and_answered_alike(tmp_path):
    frame, result = learnt_curve()
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        streamed = rfdag.learn(path, basis=3, restarts=0, knowledge={"tiers": [["x"], ["y"], ["c"]]})
    low, high = frame["x"].min(), frame["x"].max()
    for each in (result, streamed, decode(json.loads(result.to_json()))):
        part = each.mixed.expansion.parts[0]
        assert (part.lowest, part.highest) == (low, high)
        model = each.model()
        for value in (low, high, float(frame["x"].median())):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert model.do({"x": value}).mean()["x"] == value
        far = frame["x"].mean() + 9 * frame["x"].std()
        with pytest.warns(DataWarning, match=rf"'x' is set to {far:.6g}.*{low:.6g} to {high:.6g}.*4 standard") as told:
            done = model.do({"x": far})
        assert told[0].filename == __file__
        mean, rows = done.mean(), done.sample(4000, rng=1).values
        assert mean["x"] == far
        assert (rows[:, 0] == far).all()
        assert rows[:, 1].mean() == pytest.approx(mean["y"], abs=5 * rows[:, 1].std() / np.sqrt(4000))
        assert [part.beyond(value) for value in (far, low, high, low - 1e-6)] == [True, False, False, True]
        assert mean["y"] == pytest.approx(quiet_do(model, {"x": far + 100}).mean()["y"])
        y = frame["y"].max() + 10 * frame["y"].std()
        with pytest.warns(DataWarning, match="'y' is set to"):
            found = model.probabilities("c", {"y": y})
        assert found == quiet_do(model, {"y": y}).mean()["c"]


def test_lines_are_continued_beyond_the_data():
    generator = np.random.default_rng([SEED, 5])
    group = generator.integers(0, 3, 600)
    dose = generator.normal(size=600) + group
    frame = pandas.DataFrame({"group": np.array(["a", "b", "c"])[group], "dose": dose, "reply": 3 * dose + 1})
    frame["reply"] += generator.normal(size=600)
    model = rfdag.learn(frame, restarts=0, knowledge={"tiers": [["group"], ["dose"], ["reply"]]}).model()
    with pytest.warns(DataWarning, match="'dose' is set to 50, .* its lines are continued"):
        found = model.do({"dose": 50}).mean()["reply"]
    assert found == pytest.approx(151, rel=0.05)
    ends = [model.do({"dose": value}).mean()["reply"] for value in (0.0, 1.0)]
    assert found == pytest.approx(ends[0] + 50 * (ends[1] - ends[0]))


def test_models_of_older_files_know_no_ends():
    _, result = learnt_curve(300)
    content = json.loads(result.to_json())
    for part in content["mixed"]["parts"]:
        part.pop("lowest", None), part.pop("highest", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode(content).model().do({"x": 1e6}).mean()["x"] == 1e6
