"""Categories and curves from one end to the other: known truths, invariances, words, files, models."""

from __future__ import annotations

import numpy as np
import pytest

import rfdag
from rfdag.errors import AwkwardError, DataError, DataWarning, OptionError
from rfdag.evidence.mixing import is_mixed, mixed_moments
from rfdag.evidence.streamed import mixed_of_stream
from rfdag.graphs import cpdag
from rfdag.input.description import Description
from rfdag.input.reading import read
from rfdag.input.table import Table
from rfdag.metrics import shd
from rfdag.report.markov import mixed_markov_tests

pandas = pytest.importorskip("pandas")

COLLIDERS = np.zeros((6, 6), np.int8)
COLLIDERS[[0, 1, 2, 2, 4], [2, 2, 3, 4, 5]] = 1


def frame_of(n=3000, seed=1, dag=COLLIDERS, categorical=(False, True, True, False, True, False)):
    """Return a frame of numbers and categories on a DAG, these as text."""
    rows = rfdag.simulate.mixed(dag, n, np.array(categorical), (2, 4), [seed, 21])
    letters = np.array(list("abcdefgh"))
    return pandas.DataFrame(
        {
            f"v{at}": letters[rows.values[:, at].astype(int)] if categorical[at] else rows.values[:, at]
            for at in range(len(dag))
        }
    )


def discrete_frame(n=4000, seed=3):
    return frame_of(n, seed, categorical=(True,) * 6)


@pytest.mark.parametrize("frame", [frame_of(), discrete_frame()], ids=["mixed", "discrete"])
def test_a_known_graph_is_found(frame):
    result = rfdag.learn(frame)
    assert shd(result.cpdag, cpdag(COLLIDERS)) == 0
    assert result.score == pytest.approx(result.score_of(result.dag))
    assert result.score_of(COLLIDERS) == pytest.approx(result.score)
    assert result.moments is None
    assert result.optimal


@pytest.mark.parametrize("score", ["gaussian", "multinomial", "bdeu"])
def test_every_score_finds_it_among_categories(score):
    result = rfdag.learn(discrete_frame(), score=score)
    assert result.score_name == score
    assert shd(result.cpdag, cpdag(COLLIDERS)) <= (2 if score == "gaussian" else 0)


@pytest.mark.parametrize("frame", [frame_of(600), discrete_frame(600)], ids=["mixed", "discrete"])
def test_names_of_levels_and_the_order_of_rows_change_nothing(frame):
    plain = rfdag.learn(frame)
    other = frame.sample(frac=1.0, random_state=5)
    for name in other:
        if other[name].dtype == object:
            other[name] = other[name].map(dict(zip("abcdefgh", "qzbycxdw", strict=True)))
    again = rfdag.learn(other)
    assert again.order == plain.order
    np.testing.assert_array_equal(again.dag, plain.dag)
    assert again.score == pytest.approx(plain.score, rel=1e-10)


@pytest.mark.parametrize("frame", [frame_of(300, 7), discrete_frame(300)], ids=["mixed", "discrete"])
def test_the_order_of_columns_changes_nothing(frame):
    plain = rfdag.learn(frame)
    places = np.random.default_rng(9).permutation(frame.shape[1])
    again = rfdag.learn(frame.iloc[:, places])
    np.testing.assert_array_equal(again.cpdag, plain.cpdag[np.ix_(places, places)])


def test_two_levels_beside_numbers_are_columns_of_0_and_1_that_every_method_takes():
    generator = np.random.default_rng(4)
    smokes = generator.random(800) < 0.4
    age = generator.normal(50, 10, 800)
    risk = 0.1 * age + smokes + generator.normal(size=800)
    frame = pandas.DataFrame({"smokes": np.where(smokes, "yes", "no"), "age": age, "risk": risk})
    result = rfdag.learn(frame)
    assert result.mixed is None
    assert result.optimal
    assert {(edge.source, edge.target) for edge in result.edges} == {("smokes", "risk"), ("age", "risk")}
    assert result.effect("smokes", "risk").estimate == pytest.approx(1, abs=0.3)
    assert result.columns[0].taken_for == "two categories"
    assert result.columns[0].remarks == ("0 no, 1 yes",)
    assert rfdag.learn(frame, "rfd", alpha=0.01).dag[0, 2] == 1


def test_prior_knowledge_is_obeyed():
    result = rfdag.learn(frame_of(), knowledge={"tiers": [["v5"], ["v0", "v1", "v2", "v3", "v4"]]})
    assert result.order[0] == "v5"
    assert all(record.holds for record in result.compliance)


def test_rare_levels_are_pooled_and_reported():
    frame = frame_of()
    frame.loc[:2, "v1"] = "rare"
    frame.loc[3:5, "v1"] = "rarer"
    with pytest.warns(DataWarning, match=r"'v1': 2 levels with fewer than 5 rows pooled into 'rare or rarer'"):
        result = rfdag.learn(frame)
    assert "rare or rarer" in result.model().levels("v1")


def test_a_category_with_one_level_is_refused_or_left_out():
    frame = frame_of().assign(ward="north")
    with pytest.raises(AwkwardError, match=r"constant: 'ward'.*awkward='keep-one'"):
        rfdag.learn(frame)
    assert "ward" not in rfdag.learn(frame, awkward="keep-one").names


def test_more_than_fifty_levels_are_refused_by_name():
    frame = frame_of()
    frame["postcode"] = [f"P{at % 60}" for at in range(len(frame))]
    with pytest.raises(DataError, match=r"Column 'postcode' is text with more than 50 levels.*drop=\['postcode'\]"):
        rfdag.learn(frame)
    assert rfdag.learn(frame, drop=["postcode"]).names == tuple(f"v{at}" for at in range(6))


def test_numbers_and_text_in_one_column_are_refused_until_they_are_called_categories():
    frame = frame_of()
    frame["children"] = np.array([0, 1, 2, "3+"], dtype=object)[np.random.default_rng(1).integers(0, 4, len(frame))]
    frame["children"] = frame["children"].map(lambda entry: entry if entry == "3+" else int(entry))
    with pytest.raises(DataError, match="numbers, but '3\\+'"):
        rfdag.learn(frame)
    result = rfdag.learn(frame, categorical=["children"])
    assert result.model().levels("children") == ("0", "1", "2", "3+")


def test_nan_beside_the_word_na_are_both_missing():
    frame = frame_of()
    frame.loc[:100, "v1"] = "NA"
    frame.loc[200:300, "v1"] = np.nan
    with pytest.warns(DataWarning, match="6.7 % of 'v1'"):
        result = rfdag.learn(frame)
    assert next(column.missing for column in result.columns if column.name == "v1") == 202
    declared = frame.assign(v1=frame["v1"].astype("category"))
    with pytest.warns(DataWarning, match="3.4 % of 'v1'"):
        assert "NA" in rfdag.learn(declared).model().levels("v1")


def test_ordinal_columns_are_numbers_in_the_order_of_their_levels():
    frame = frame_of()
    frame["size"] = np.array(["S", "L", "M"])[np.digitize(frame["v3"], [-0.5, 0.5])]
    with pytest.raises(OptionError, match="text whose order is not known"):
        rfdag.learn(frame, ordinal=["size"])
    table = read(frame, Description(ordinal=["size: S < L < M"]))
    assert sorted(np.unique(table.values[:, table.names.index("size")])) == [1, 2, 3]
    with pytest.raises(OptionError, match=r"has 'L' besides"):
        rfdag.learn(frame, ordinal=["size: S < M"])


def test_codes_are_categories_where_the_user_says_so():
    generator = np.random.default_rng(6)
    region = generator.integers(1, 5, 1500)
    height = np.array([3.0, 0.0, 4.0, 1.0])[region - 1] + generator.normal(size=1500)
    weight = height + generator.normal(size=1500)
    rows = np.column_stack([region, height, weight])
    result = rfdag.learn(rows, names=["region", "height", "weight"], categorical=["region"])
    assert result.model().levels("region") == ("1", "2", "3", "4")
    assert {frozenset((edge.source, edge.target)) for edge in result.edges} == {
        frozenset(("region", "height")),
        frozenset(("height", "weight")),
    }
    with pytest.raises(OptionError, match="both name 'region'"):
        rfdag.learn(rows, names=["region", "height", "weight"], categorical=["region"], ordinal=["region"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "rfd"}, "Method 'rfd' weighs partial correlations"),
        ({"clusters": True}, "clusters are made of single columns"),
        ({"precision": "shrinkage"}, "an estimate of partial correlations"),
        ({"penalty": [1, 2]}, "Several values of penalty"),
        ({"score": "bdeu"}, "counts rows of categories, and 'v0', 'v3', 'v5' hold numbers"),
        ({"correlation": "kendall"}, "ranks columns of numbers"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_needs_single_columns_is_refused_by_name(options, words):
    with pytest.raises(OptionError, match=words):
        rfdag.learn(frame_of(300), **options)


def test_results_are_saved_whole():
    for frame in (frame_of(500), discrete_frame(500)):
        result = rfdag.learn(frame)
        text = result.to_json()
        assert "NaN" not in text
        import json

        from rfdag.result.storage import decode

        loaded = decode(json.loads(text))
        assert loaded == result
        assert loaded.judged_by == result.judged_by
        assert loaded.edges == result.edges
        assert loaded.close_calls[:1] == result.close_calls[:1] or not loaded.can_rescore
        mean, again = result.model().mean(), loaded.model().mean()
        assert mean.keys() == again.keys()


def test_a_model_of_categories_is_made_of_their_tables():
    frame = discrete_frame()
    result = rfdag.learn(frame)
    model = result.model()
    child = next(at for at, name in enumerate(result.names) if result.dag[:, at].sum() == 1)
    parent = int(np.flatnonzero(result.dag[:, child])[0])
    name, given = result.names[child], result.names[parent]
    for level in model.levels(given):
        found = model.probabilities(name, {given: level})
        shares = frame.loc[frame[given] == level, name].value_counts(normalize=True)
        assert sum(found.values()) == pytest.approx(1)
        for each, share in shares.items():
            assert found[each] == pytest.approx(share, abs=0.01)
    drawn = model.do({given: model.levels(given)[0]}).sample(4000, rng=8)
    assert (drawn.values[:, parent] == 0).all()
    again = rfdag.learn(model.sample(6000, rng=9))
    assert shd(again.cpdag, result.cpdag) == 0


def test_setting_a_category_moves_the_means_that_depend_on_it():
    generator = np.random.default_rng(2)
    group = generator.integers(0, 3, 4000)
    dose = np.array([0.0, 2.0, 5.0])[group] + generator.normal(size=4000)
    reply = 3 * dose + generator.normal(size=4000)
    frame = pandas.DataFrame({"group": np.array(["a", "b", "c"])[group], "dose": dose, "reply": reply})
    result = rfdag.learn(frame, knowledge={"tiers": [["group"], ["dose"], ["reply"]]})
    model = result.model()
    means = [model.do({"group": level}).mean()["reply"] for level in "abc"]
    np.testing.assert_allclose(means, [0, 6, 15], atol=0.6)
    assert model.do({"dose": 1.0}).mean()["reply"] == pytest.approx(3, abs=0.1)
    assert model.mean()["group"]["a"] == pytest.approx((group == 0).mean())
    assert result.effect("dose", "reply").estimate == pytest.approx(3, abs=0.05)
    with pytest.raises(DataError, match=r"'group' is categorical.*model\(\)\.do"):
        result.effect("group", "reply")
    with pytest.raises(OptionError, match="has the levels 'a', 'b', 'c', not 'd'"):
        model.do({"group": "d"})
    with pytest.raises(OptionError, match="There is no variable 'grup'"):
        model.do({"grup": "a"})


def test_effects_are_adjusted_for_categories():
    """A confounder of four levels: adjusting for its code alone would leave bias."""
    generator = np.random.default_rng(12)
    site = generator.integers(0, 4, 6000)
    x = np.array([0.0, 3.0, -2.0, 1.0])[site] + generator.normal(size=6000)
    y = 0.5 * x + np.array([5.0, -1.0, 2.0, 0.0])[site] + generator.normal(size=6000)
    frame = pandas.DataFrame({"site": np.array(["n", "e", "s", "w"])[site], "x": x, "y": y})
    result = rfdag.learn(frame, knowledge={"tiers": [["site"], ["x"], ["y"]]})
    effect = result.effect("x", "y")
    assert effect.adjustment == ("site",)
    assert effect.low < 0.5 < effect.high
    assert effect.standard_error < 0.03


def test_the_true_graph_passes_its_own_tests():
    frame = frame_of(4000)
    found, _ = mixed_markov_tests(rfdag.learn(frame).mixed, COLLIDERS, np.array([0, 1, 2, 3, 4, 5]))
    assert len(found) == 13
    assert 0.2 < found[:, 2].mean() < 0.8
    wrong, _ = mixed_markov_tests(rfdag.learn(frame).mixed, np.zeros((6, 6), np.int8), np.arange(6))
    assert wrong[:, 2].min() < 1e-10


def test_a_bootstrap_counts_edges_of_categories():
    found = rfdag.bootstrap(frame_of(600), runs=6, n_jobs=1)
    assert found.edge_frequency[2, 3] == 1
    discrete = rfdag.bootstrap(discrete_frame(600), runs=4, n_jobs=1, score="multinomial")
    assert discrete.edge_frequency.max() == 1
    again = rfdag.bootstrap(frame_of(600), runs=6, n_jobs=2)
    np.testing.assert_array_equal(found.edge_frequency, again.edge_frequency)


def test_rows_in_pieces_give_what_a_table_gives(tmp_path):
    pytest.importorskip("pyarrow")
    frame = frame_of(900)
    holed = frame.mask(np.random.default_rng(3).random(frame.shape) < 0.05)
    for name, data in (("whole", frame), ("holed", holed), ("counted", discrete_frame(900))):
        path = tmp_path / f"{name}.parquet"
        data.to_parquet(path, row_group_size=200)
        stream = read(path, Description())
        assert is_mixed(stream, 1)

        def fold(of, join, path=path):
            return read(path, Description()).fold(of, join)

        pieces = mixed_of_stream(fold, stream, "em")
        whole = mixed_moments(read(data), missing="em")
        assert pieces.n_samples == whole.n_samples
        np.testing.assert_allclose(pieces.covariance, whole.covariance, atol=1e-6)
        assert pieces.expansion.labels == whole.expansion.labels
        if whole.counts is not None:
            assert pieces.counts.codes.tolist() == whole.counts.codes.tolist()


def test_equal_rows_are_counted_together_where_there_are_few_kinds():
    rows = np.random.default_rng(1).integers(0, 2, (5000, 3))
    counts = mixed_moments(Table(rows, ("a", "b", "c"), levels=dict.fromkeys(range(3), ("n", "y")))).counts
    assert counts.codes.shape[1] == 8
    assert counts.weights.sum() == 5000


# --- Curves -----------------------------------------------------------------------------------------------------------


def curved_rows(n=1500, seed=2):
    generator = np.random.default_rng([seed, 31])
    a, b = generator.normal(size=(2, n))
    c = a**2 + b + 0.7 * generator.normal(size=n)
    d = 0.4 * c + 0.2 * c**2 + generator.normal(size=n)
    return np.column_stack([a, b, c, d])


TRUE_CURVES = np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.int8)


def test_curves_are_found_by_powers_and_missed_by_lines():
    rows = curved_rows()
    assert rfdag.learn(rows, basis=3).dag.tolist() == TRUE_CURVES.tolist()
    with pytest.warns(DataWarning, match="basis=3"):
        assert rfdag.learn(rows).dag[0, 2] == 0


def test_powers_are_taken_where_they_pay():
    assert rfdag.learn(curved_rows(), basis="auto").mixed.expansion.widths.max() == 3
    straight = rfdag.simulate.sample(rfdag.simulate.linear_sem(TRUE_CURVES, rng=[1, 5]), 1500, [1, 6])
    chosen = rfdag.learn(straight, basis="auto")
    assert chosen.mixed.expansion.widths.max() == 1
    assert shd(chosen.cpdag, cpdag(TRUE_CURVES)) == 0


def test_a_curve_has_no_single_coefficient_and_the_model_follows_it():
    result = rfdag.learn(curved_rows(6000), basis=3)
    edge = next(edge for edge in result.edges if (edge.source, edge.target) == (0, 2))
    assert edge.coefficient is None
    assert edge.gain > 100
    with pytest.raises(DataError, match="is a curve, not a number"):
        result.effect(0, 2)
    model = result.model()
    assert model.do({0: 2.0}).mean()[2] - model.do({0: 0.0}).mean()[2] == pytest.approx(4, abs=0.5)


def test_powers_and_categories_go_together():
    frame = frame_of(2000)
    frame["v3"] = frame["v3"] ** 2
    result = rfdag.learn(frame, basis=3)
    assert "powers of numbers up to 3" in result.judged_by
    widths = dict(zip(result.names, result.mixed.expansion.widths.tolist(), strict=True))
    assert widths["v0"] == 3
    assert widths["v1"] == len(frame["v1"].unique()) - 1
