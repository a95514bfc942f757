"""Rows from several environments: targets known and unknown, from every kind of input, and what a result tells."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import rfdag
from rfdag.errors import DataError, DataWarning, FileError, OptionError
from rfdag.graphs import icpdag
from rfdag.metrics import icpdag_shd
from rfdag.report.verdicts import against_truth

P = 8
TARGETS = {"none": [], "drug a": [1], "drug b": [3], "both": [5, 6]}


def draw(dag, seed, kind="hard", counts=(400, 120, 120, 120)):
    """Return rows and labels; an own small simulator, so that that of the package is not its own judge."""
    generator = np.random.default_rng([seed, 20])
    weights = dag * generator.choice([-1, 1], dag.shape) * generator.uniform(0.4, 1.0, dag.shape)
    order = rfdag.graphs.topological_order(dag)
    rows, labels = [], []
    for (label, targets), n in zip(TARGETS.items(), counts, strict=True):
        values = np.zeros((n, P))
        for y in order:
            noise = generator.normal(size=n)
            if y not in targets:
                values[:, y] = values @ weights[:, y] + noise
            elif kind == "hard":
                values[:, y] = 2 + 0.7 * noise
            elif kind == "shift":
                values[:, y] = values @ weights[:, y] + 2 + 1.5 * noise
            else:
                values[:, y] = values @ (0.2 * weights[:, y]) + 2 + noise
        rows.append(values)
        labels += [label] * n
    return np.concatenate(rows), np.array(labels)


@pytest.fixture(scope="module")
def dag():
    return rfdag.simulate.random_dag(P, 0.45, rng=3)


@pytest.fixture(scope="module")
def data(dag):
    return draw(dag, 1)


@pytest.fixture(scope="module")
def known(data):
    rows, labels = data
    return rfdag.learn(rows, environments=labels, targets=TARGETS, progress=False)


def frame_of(data):
    rows, labels = data
    return pd.DataFrame(rows, columns=[f"x{at}" for at in range(P)]).assign(condition=labels)


NAMED = {label: [f"x{at}" for at in each] for label, each in TARGETS.items()}


@pytest.mark.parametrize("kind", ["hard", "soft", "shift"])
@pytest.mark.parametrize("unknown", [False, True])
def test_the_interventional_class_is_found(dag, kind, unknown):
    given = {"targets": "unknown", "observational": ["none"]} if unknown else {"targets": TARGETS}
    distances = []
    for seed in (1, 2, 3):
        rows, labels = draw(dag, seed, kind)
        result = rfdag.learn(rows, environments=labels, progress=False, **given)
        distances.append(icpdag_shd(dag, result.icpdag, TARGETS))
        assert {label: sorted(each) for label, each in result.targets.items()} == TARGETS
        assert result.interventions.found == unknown
    assert np.mean(distances) <= 1


def test_environments_tell_more_than_their_pooled_rows(dag, data, known):
    rows, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a mixture looks like curves
        pooled = rfdag.learn(rows, progress=False)
    assert icpdag_shd(dag, known.icpdag, TARGETS) < icpdag_shd(dag, pooled.cpdag, TARGETS)


def test_the_class_is_that_of_the_graph_and_the_targets(known):
    assert np.array_equal(known.icpdag, icpdag(known.dag, TARGETS.values()))
    assert (known.icpdag == 2).sum() < (known.cpdag == 2).sum() or not (known.cpdag == 2).any()


def test_every_kind_of_input_gives_the_same_answer(data, known, tmp_path):
    rows, labels = data
    frame = frame_of(data)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet")
    (tmp_path / "targets.json").write_text(json.dumps(NAMED))
    lines = [f"{label},{name},why" for label, each in NAMED.items() for name in each or [""]]
    (tmp_path / "targets.csv").write_text("\n".join(["condition,target,note", *lines]))
    for label, part in frame.groupby("condition"):
        part.drop(columns="condition").to_csv(tmp_path / f"{label}.csv", index=False)
    parts = [rows[labels == label] for label in TARGETS]
    answers = [
        rfdag.learn(frame, environments="condition", targets=NAMED, progress=False),
        rfdag.learn(tmp_path / "all.csv", environments="condition", targets=tmp_path / "targets.csv", progress=False),
        rfdag.learn(tmp_path / "all.parquet", environments="condition", targets=str(tmp_path / "targets.json")),
        rfdag.learn(parts, targets=list(TARGETS.values()), progress=False),
        rfdag.learn([tmp_path / f"{label}.csv" for label in TARGETS], targets=NAMED, progress=False),
    ]
    for answer in answers:
        assert np.array_equal(answer.dag, known.dag)
        assert answer.score == pytest.approx(known.score, rel=1e-9)
    assert list(answers[3].targets) == ["1", "2", "3", "4"]
    assert set(answers[4].targets) == set(TARGETS)


def test_the_order_of_columns_rows_and_labels_changes_nothing(data, known):
    rows, labels = data
    generator = np.random.default_rng(7)
    columns, shuffled = generator.permutation(P), generator.permutation(len(rows))
    named = {label: [int(np.flatnonzero(columns == at)[0]) for at in each] for label, each in TARGETS.items()}
    other = rfdag.learn(rows[shuffled][:, columns], environments=labels[shuffled], targets=named, progress=False)
    assert np.array_equal(other.icpdag, known.icpdag[np.ix_(columns, columns)])
    assert other.score == pytest.approx(known.score, rel=1e-9)


def test_scales_and_origins_change_nothing_but_units(data, known):
    rows, labels = data
    other = rfdag.learn(rows * 1e3 + 5e4, environments=labels, targets=TARGETS, progress=False)
    assert np.array_equal(other.icpdag, known.icpdag)
    assert np.allclose(other.coefficients, known.coefficients, rtol=1e-6)


def test_one_environment_is_plain_learning(data):
    rows, labels = data
    quiet = rows[labels == "none"]
    with pytest.warns(DataWarning, match="a single environment, 'none'"):
        alone = rfdag.learn(quiet, environments=["none"] * len(quiet), targets={"none": []}, progress=False)
    plain = rfdag.learn(quiet, progress=False)
    assert np.array_equal(alone.dag, plain.dag)
    assert alone.score == plain.score
    assert alone.interventions is None
    assert np.array_equal(alone.icpdag, plain.cpdag)


def test_batches_that_differ_in_their_means_get_intercepts(dag):
    rows, labels = draw(dag, 4)
    shifts = np.random.default_rng(5).normal(scale=3, size=(len(TARGETS), P))
    batches = rows + shifts[[list(TARGETS).index(label) for label in labels]]
    common = rfdag.learn(rows, environments=labels, targets=TARGETS, progress=False)
    result = rfdag.learn(batches, environments=labels, targets=TARGETS, progress=False)
    assert common.interventions.intercepts == "common"
    assert result.interventions.intercepts == "environment"
    assert result.interventions.compared["environment"] < result.interventions.compared["common"]
    assert icpdag_shd(dag, result.icpdag, TARGETS) <= 1
    asked = rfdag.learn(batches, environments=labels, targets=TARGETS, intercepts="environment", progress=False)
    assert asked.score == pytest.approx(result.score)


def test_mechanisms_are_named(dag):
    of = {}
    for kind in ("hard", "soft", "shift"):
        rows, labels = draw(dag, 6, kind, counts=(500, 400, 400, 400))
        result = rfdag.learn(rows, environments=labels, targets=TARGETS, progress=False)
        found = [target for each in result.interventions.environments for target in each.targets]
        of[kind] = {target.variable: target.mechanism for target in found if result.dag[:, target.variable].any()}
        assert all(target.gain > 20 for target in found)
    assert set(of["hard"].values()) == {"cut"}
    assert set(of["shift"].values()) == {"shift"}
    assert "own slopes" in of["soft"].values()


def test_a_target_that_is_left_out_fails_the_test_of_invariance(dag):
    rows, labels = draw(dag, 8, "shift")
    told = TARGETS | {"both": [5]}
    result = rfdag.learn(rows, environments=labels, targets=told, progress=False)
    worst = result.invariance("both")[0]
    assert worst.variable == 6
    assert worst.p_value < 1e-10
    right = rfdag.learn(rows, environments=labels, targets=TARGETS, progress=False)
    assert min(test.p_value for test in right.invariance("both")) > 1e-4
    with pytest.raises(OptionError, match="no environment 'drug' "):
        right.invariance("drug")


def test_coefficients_come_from_rows_without_the_intervention(data, known):
    rows, labels = data
    child = next(at for at in TARGETS["drug b"] if known.dag[:, at].any())
    parents = np.flatnonzero(known.dag[:, child])
    kept = rows[labels != "drug b"]
    design = np.column_stack([np.ones(len(kept)), kept[:, parents]])
    slopes = np.linalg.lstsq(design, kept[:, child], rcond=None)[0]
    assert np.allclose(known.coefficients[parents, child], slopes[1:])
    assert known.residual_variances[child] == pytest.approx(np.var(kept[:, child] - design @ slopes))
    model = known.model()
    assert model.intercepts[child] == pytest.approx(slopes[0])
    assert model.units == "data"


def test_effects_use_rows_in_which_nothing_on_the_way_is_a_target(data, known):
    rows, labels = data
    source, target = next((int(i), int(j)) for i, j in np.argwhere(known.dag) if j in TARGETS["drug a"])
    found = known.effect(source, target, adjustment="parents")
    leads = rfdag.graphs.ancestors(known.dag, [target]) - {source}
    kept = np.isin(labels, [label for label, each in TARGETS.items() if leads.isdisjoint(each)])
    assert 0 < kept.sum() < len(rows)
    columns = [source, *np.flatnonzero(known.dag[:, source])]
    design = np.column_stack([np.ones(kept.sum()), rows[kept][:, columns]])
    assert found.estimate == pytest.approx(np.linalg.lstsq(design, rows[kept, target], rcond=None)[0][1])


def test_the_score_of_the_dag_is_the_score(known, data):
    assert known.score_of(known.dag) == pytest.approx(known.score)
    source, target = np.argwhere(known.dag)[0]
    fewer = known.dag.copy()
    fewer[source, target] = 0
    edge = next(each for each in known.edges if (each.source, each.target) == (source, target))
    assert known.score_of(fewer) - known.score == pytest.approx(edge.gain)


def test_results_are_kept_in_files(known, tmp_path):
    known.save(tmp_path / "r.json")
    again = rfdag.load(tmp_path / "r.json")
    assert again == known
    assert again.targets == known.targets
    assert again.interventions == known.interventions
    assert np.array_equal(again.icpdag, known.icpdag)
    p_values = [[test.p_value for test in each.invariance("both")] for each in (again, known)]
    assert np.allclose(*p_values)
    assert again.score_of(again.dag) == pytest.approx(known.score)
    known.save(tmp_path / "short.json", moments=False)
    short = rfdag.load(tmp_path / "short.json")
    assert np.array_equal(short.icpdag, known.icpdag)
    with pytest.raises(OptionError, match="moments=True"):
        short.invariance("both")


def test_knowledge_is_obeyed(data):
    rows, labels = data
    free = rfdag.learn(rows, environments=labels, targets=TARGETS, progress=False)
    source, target = (int(at) for at in np.argwhere(free.dag)[0])
    known = {"forbidden": [[source, target]], "roots": [1]}
    result = rfdag.learn(rows, environments=labels, targets=TARGETS, knowledge=known, progress=False)
    assert not result.dag[source, target]
    assert not result.dag[:, 1].any()
    assert all(record.holds for record in result.compliance)
    wanted = next((i, j) for i in range(P) for j in range(P) if i < j and not free.dag[i, j] and not free.dag[j, i])
    required = rfdag.learn(
        rows, environments=labels, targets=TARGETS, knowledge={"required": [list(wanted)]}, progress=False
    )
    assert required.dag[wanted]


def test_a_bootstrap_draws_within_environments(data, known):
    rows, labels = data
    found = rfdag.bootstrap(rows, 12, environments=labels, targets=TARGETS, n_jobs=1, progress=False)
    assert found.result.targets == known.targets
    edges = known.dag.astype(bool)
    assert found.edge_frequency[edges | edges.T].mean() > 0.8
    assert found.edge_frequency[~(edges | edges.T)].mean() < 0.2


def test_the_estimator_takes_environments(data, known):
    rows, labels = data
    fitted = rfdag.RFD().fit(rows, environments=labels, targets=TARGETS)
    assert np.array_equal(fitted.icpdag_, known.icpdag)
    described = rfdag.RFD(description=rfdag.Description(environments=labels, targets=TARGETS)).fit(rows)
    assert np.array_equal(described.dag_, known.dag)
    assert np.isfinite(fitted.score(rows))


def test_pictures_and_pages_tell_of_targets(known, tmp_path):
    axes = known.plot()
    assert any("target" in text.get_text() for text in axes.get_legend().get_texts())
    page = known.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert '"label":"drug a"' in page
    assert "targets given: " in str(known)
    assert "drug a (120 rows): 1" in str(known)


def test_a_report_counts_edges_that_experiments_compel(known):
    assert (known.cpdag == 2).any()
    scores = {name: value for name, value, _ in against_truth(known, known.dag.T)["scores"]}
    assert scores["order error"] == 1.0


def signs_change(p, seed):
    """Return rows of a chain of pairs in which the slopes of some children have the other sign in half of the rows."""
    generator = np.random.default_rng([seed, 21])
    rows = generator.normal(size=(800, p))
    sign = np.repeat([1.0, -1.0], 400)
    for parent in range(0, p - 1, 2):
        rows[:, parent + 1] += sign * rows[:, parent]
    return rows, np.repeat(["control", "drug"], 400)


@pytest.mark.parametrize("p", [2, 3, 12, 70])
def test_a_parent_and_a_target_enter_together(p):
    rows, labels = signs_change(p, p)
    result = rfdag.learn(rows, environments=labels, targets="unknown", observational=["control"], progress=False)
    expected = np.zeros((p, p), int)
    expected[np.arange(0, p - 1, 2), np.arange(1, p, 2)] = 1
    assert result.score <= result.score_of(expected) + 1e-6
    assert (result.dag | result.dag.T)[expected == 1].all()
    assert {"control": 0, "drug": p // 2} == {label: len(each) for label, each in result.targets.items()}


def test_two_soft_experiments_on_one_target_direct_its_edges_as_the_score_does():
    generator = np.random.default_rng(22)
    x = generator.normal(size=(3, 500)) * [[1], [4], [1]]
    y = 1.5 * x + generator.normal(size=(3, 500)) * [[1], [1], [3]]
    tables = [np.column_stack(each) for each in zip(x, y, strict=True)]
    with pytest.warns(DataWarning, match="Every environment has targets"):
        result = rfdag.learn(tables, targets=[[0], [0], [1]], interventions="soft", progress=False)
    assert result.score_of([[0, 0], [1, 0]]) > result.score_of([[0, 1], [0, 0]]) + 100
    assert result.icpdag.tolist() == [[0, 1], [0, 0]]


def test_unknown_targets_that_are_nearly_all_variables_are_not_listed_without_a_warning():
    generator = np.random.default_rng(11)
    rows = generator.normal(size=(600, P))
    rows[300:] = np.exp(rows[300:] * 1.5)
    with pytest.warns(DataWarning, match="more than half of the variables"):
        result = rfdag.learn(
            rows, environments=[0] * 300 + [1] * 300, targets="unknown", observational=[0], progress=False
        )
    assert len(result.targets["1"]) > P / 2


def changed(**changes):
    return TARGETS | changes


BAD = {
    "a target that is no column": ({"targets": changed(both=[5, 88])}, OptionError, "name 88"),
    "a label without targets": ({"targets": {"none": [], "drug a": [1]}}, OptionError, "says nothing of environments"),
    "a label that does not occur": ({"targets": changed(placebo=[])}, OptionError, "'placebo'"),
    "a target everywhere": ({"targets": {label: [2] for label in TARGETS}}, OptionError, "target in every environment"),
    "no targets at all": ({"targets": None}, OptionError, "go with what was done"),
    "observational beside targets": ({"observational": ["none"]}, OptionError, "goes with targets='unknown'"),
    "a strange kind of targets": ({"targets": 5}, OptionError, "a mapping from labels to lists of columns"),
    "another method": ({"method": "rfd"}, OptionError, "Use method='soft'"),
    "ranks": ({"correlation": "spearman"}, OptionError, "correlation: ranks"),
    "powers": ({"basis": 3}, OptionError, "basis: environments"),
    "a test": ({"test": "fisher-z"}, OptionError, "test decides in rows of one"),
    "penalties": ({"penalty": (1.0, 2.0)}, OptionError, "one of them"),
    "a file that is not there": ({"targets": "nowhere.csv"}, FileError, "no file nowhere.csv"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_what_cannot_be_is_named(data, case):
    rows, labels = data
    options, error, words = BAD[case]
    options = {"environments": labels, "targets": TARGETS} | options
    method = options.pop("method", None)
    with pytest.raises(error, match=words):
        rfdag.learn(rows, method, progress=False, **options)


def test_bad_labels_and_rows_are_named(data, tmp_path):
    rows, labels = data

    def learn(rows=rows, labels=labels, targets=TARGETS, **options):
        return rfdag.learn(rows, environments=labels, targets=targets, progress=False, **options)

    with pytest.raises(OptionError, match="759 labels, and there are 760 rows"):
        learn(labels=labels[:-1])
    with pytest.raises(DataError, match=r"120 rows have no label in environments, the first of them row 641"):
        learn(labels=np.where(labels == "both", "", labels))
    with pytest.raises(DataError, match=r"'Drug A ' and 'drug a' .* differ by case or spaces"):
        learn(labels=[f"{label.title()} " if at == 450 else label for at, label in enumerate(labels)])
    with pytest.raises(DataError, match="at least 3 rows: 'lonely' has 1"):
        learn(labels=["lonely" if at == 0 else label for at, label in enumerate(labels)], targets=changed(lonely=[]))
    with pytest.raises(DataError, match="'1' and '2' hold the same rows"):
        rfdag.learn([rows, rows], targets=[[], [1]], progress=False)
    with pytest.raises(OptionError, match="has 3 lists, and there are 2 tables"):
        rfdag.learn([rows, rows + 1], targets=[[], [1], [2]], progress=False)
    with pytest.raises(OptionError, match="a column of labels or one label for each row"):
        rfdag.learn(rows, targets=TARGETS, progress=False)
    gaps = rows.copy()
    gaps[3, 2] = np.nan
    with pytest.raises(DataError, match=r"missing in column 2 .* missing='drop'"):
        learn(gaps)
    assert learn(gaps, missing="drop").n_samples == len(rows) - 1
    frame = frame_of(data).assign(sex=np.array(["f", "m", "x"])[np.arange(len(rows)) % 3])
    with pytest.raises(OptionError, match=r"'sex' is categorical.*drop=\['sex'\]"):
        rfdag.learn(frame, environments="condition", targets=NAMED, progress=False)
    rfdag.learn(frame, environments="condition", targets=NAMED, drop=["sex"], progress=False)
    still = rows.copy()
    still[labels == "drug a", 7] = 1.0
    with pytest.warns(DataWarning, match=r"column 7 does not vary in environment 'drug a'.*add it to the targets"):
        learn(still)
    held = rows.copy()
    held[labels == "drug a", 1] = 1.0
    assert learn(held).targets["drug a"] == (1,)
    (tmp_path / "t.csv").write_text("only one column\n")
    with pytest.raises(FileError, match="no table of targets"):
        learn(targets=str(tmp_path / "t.csv"))
    (tmp_path / "t.json").write_text('{"none": 3}')
    with pytest.raises(FileError, match="list of columns for each label"):
        learn(targets=str(tmp_path / "t.json"))


def test_without_an_observational_environment_it_is_said(data):
    rows, labels = data
    kept = labels != "none"
    told = {label: each for label, each in TARGETS.items() if label != "none"}
    with pytest.warns(DataWarning, match="Every environment has targets"):
        result = rfdag.learn(rows[kept], environments=labels[kept], targets=told, progress=False)
    assert result.targets == {label: tuple(each) for label, each in sorted(told.items())}
    with pytest.warns(DataWarning, match="No environment is known to be without targets"):
        rfdag.learn(rows, environments=labels, targets="unknown", progress=False)


def test_a_time_limit_is_kept_and_the_answer_usable(data):
    rows, labels = data
    result = rfdag.learn(rows, environments=labels, targets=TARGETS, time_limit=20, progress=False)
    assert not result.interrupted
