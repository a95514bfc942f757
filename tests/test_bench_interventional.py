"""The comparison with peers on experiments: data, contenders, what passes between them, and how answers are scored."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from rfdag import graphs, metrics
from rfdag.studies.bench import (
    catalogue,
    cells,
    environments,
    harness,
    interventional,
    interventional_workloads,
    rulers,
    tables,
    workloads,
)
from rfdag.studies.bench.interventional import CONTENDERS, INTERVENTIONAL, Experiment
from rfdag.studies.bench.interventional_workloads import WORKLOADS, InterventionalDrawn, InterventionalWorkload
from small_workload import ROOT, SILENT, TRUE, data_of, tiny

FINDS_TARGETS = {"rfdag-unknown", "causaldag-ut-igsp"}
WITHOUT_ENVIRONMENTS = {name for name in CONTENDERS if name.endswith(("-observational", "-pooled"))}

# Data whose class every contender finds: 0 → 2 ← 1, and 3 → 4 by an experiment on 3, which is no collider by itself.


def data_for_all():
    generator = np.random.default_rng([1, 19])
    rows = np.vstack([data_of(TRUE), data_of(TRUE, 2000, 2)])
    rows[5000:, 3] = 2 + 0.5 * generator.normal(size=2000)
    rows[:, 4] = rows[:, 3] + generator.uniform(-1, 1, 7000)
    labels = ["observational"] * 5000 + ["drug"] * 2000
    return Experiment(rows, labels, {"observational": (), "drug": (3,)})


PROGRAM = """
import importlib.util, json, sys
import numpy as np
place, source, target, *names = sys.argv[1:]
spec = importlib.util.spec_from_file_location("interventional", place)
program = sys.modules["interventional"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
given = np.load(source)
experiment = program.Experiment(given["rows"], given["labels"].tolist(), {"observational": (), "drug": (3,)})
found = {name: program.CONTENDERS[name].answer(experiment) for name in names}
json.dump({name: [each.graph.tolist(), each.targets] for name, each in found.items()}, open(target, "w"))
"""


@pytest.mark.parametrize("home", sorted({each.home for each in CONTENDERS.values()}))
def test_directions_are_read_right(home, tmp_path):
    python = environments.python_of(home, ROOT / environments.FOLDER)
    here = [each for each in CONTENDERS.values() if each.home == home]
    if python is None or harness.missing(here, ROOT / environments.FOLDER):
        pytest.skip(f"the environment of {home} has not been made: `rfdag bench --setup`")
    experiment = data_for_all()
    np.savez(tmp_path / "given.npz", rows=experiment.rows, labels=experiment.labels)
    files = (interventional.__file__, tmp_path / "given.npz", tmp_path / "found.json")
    words = [python, "-P", "-c", PROGRAM, *files, *(each.name for each in here)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {each.name for each in here}
    for name, (graph, targets) in found.items():
        if name in WITHOUT_ENVIRONMENTS:
            np.testing.assert_array_equal(graph, graphs.cpdag(TRUE), name)
        else:
            assert metrics.icpdag_shd(TRUE, graph, experiment.targets, targets) == 0, name
        if name in FINDS_TARGETS:
            assert metrics.target_scores(experiment.targets, targets).f1 == 1, name
        else:
            assert targets is None, name


def test_what_passes_between_the_harness_and_a_contender(tmp_path):
    """Rows, labels and targets arrive in their order; a graph and targets come back."""
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\nimport numpy as np\nfrom pathlib import Path\n"
        "name, source, target = sys.argv[1:]\n"
        "rows = np.load(source)\n"
        "given = json.loads(Path(source).with_name('environments.json').read_text())\n"
        "open(target + '.started', 'wb').close()\n"
        "graph = np.zeros((rows.shape[1],) * 2, np.int8)\n"
        "graph[0, int(rows[given['labels'].index('drug'), 0])] = 1\n"
        "targets = np.array([[list(given['targets']).index('drug'), column] for column in given['targets']['drug']])\n"
        "more = {'targets': targets} if name == 'finds' else {}\n"
        "np.savez(target, graph=graph, seconds=0.5, **more)\n"
    )
    rows = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0, 0]])
    experiment = Experiment(rows, ["control", "drug", "more"], {"control": (), "more": (1,), "drug": (0, 2)})
    python = str(environments.python_of(environments.OWN, tmp_path))
    graph, seconds, targets = harness.run_on_environments([python, str(program), "finds"], experiment, 60)
    assert seconds == 0.5
    assert np.argwhere(graph).tolist() == [[0, 2]]
    assert targets == {"control": (), "more": (), "drug": (0, 2)}
    _, _, targets = harness.run_on_environments([python, str(program), "knows"], experiment, 60)
    assert targets is None
    failed = harness.run_on_environments(
        [python, "-c", "raise ValueError('the family is not conservative')"], experiment, 60
    )
    assert failed == harness.Failed("ValueError: the family is not conservative")
    late = harness.run_on_environments(
        [python, "-c", "import sys, time; open(sys.argv[-1] + '.started', 'wb'); time.sleep(60)"], experiment, 0.1
    )
    assert late == harness.Late("over 0.1 s")


def test_the_program_itself(tmp_path, monkeypatch):
    """Its main function reads what the harness writes and writes what the harness reads."""

    def answer(experiment):
        graph = np.zeros((experiment.rows.shape[1],) * 2, np.int8)
        return interventional.Learned(
            graph, {label: columns for label, columns in experiment.targets.items() if columns}
        )

    contender = interventional.InterventionalContender("fake", "fake", "fake", "", answer)
    monkeypatch.setitem(CONTENDERS, "fake", contender)
    experiment = data_for_all()
    np.save(tmp_path / "rows.npy", experiment.rows)
    given = {"labels": experiment.labels, "targets": experiment.targets}
    (tmp_path / interventional.BESIDE).write_text(json.dumps(given))
    monkeypatch.setattr("sys.argv", ["program", "fake", str(tmp_path / "rows.npy"), str(tmp_path / "answer.npz")])
    interventional.main()
    assert (tmp_path / "answer.npz.started").exists()
    with np.load(tmp_path / "answer.npz") as found:
        assert interventional.from_pairs(found["targets"], list(experiment.targets)) == experiment.targets


def test_targets_as_pairs_and_back():
    labels = ["control", "a", "b"]
    for targets in ({"control": (), "a": (), "b": ()}, {"control": (), "a": (0, 3), "b": (3,)}):
        pairs = interventional.as_pairs(targets, labels)
        assert pairs.shape == (sum(map(len, targets.values())), 2)
        assert interventional.from_pairs(pairs, labels) == targets


def test_data_to_warm_up_on():
    experiment = interventional.similar(5, np.random.default_rng(0))
    first, second = (experiment.among([label]).mean(axis=0) for label in ("first", "second"))
    assert (np.abs(first - [3, 2.1, 1.47, 1.03, 0.72]) < 0.8).all()
    assert (np.abs(second - [0, 3, 2.1, 1.47, 1.03]) < 0.8).all()


# Scores.

DRAWN = InterventionalDrawn(
    TRUE, np.zeros((4, 5)), ["control", "control", "drug", "drug"], {"control": (), "drug": (3,)}
)


def small():
    def draw(seed, graph):
        return DRAWN._replace(rows=np.random.default_rng([seed, graph, 9]).normal(size=(4, 5)))

    workload = InterventionalWorkload("small", "small experiments", 5, 4, 3, 1, 2, graphs=1)
    object.__setattr__(workload, "draw", draw)
    return workload


def test_answers_are_scored_by_their_targets(monkeypatch):
    reversed_ = TRUE.copy()
    reversed_[3, 4], reversed_[4, 3] = 0, 1
    answers = {
        "rfdag-targets": (graphs.icpdag(TRUE, [[], [3]]), 0.25, None),
        "rfdag-unknown": (TRUE, 0.25, {"control": (), "drug": (3, 4)}),
        "gies": (reversed_, 0.25, None),
        "gnies": (graphs.cpdag(TRUE), 0.25, None),
        "causaldag-igsp": (TRUE, 0.25, None),
        "causaldag-ut-igsp": (reversed_, 0.25, {"control": (), "drug": ()}),
    }
    monkeypatch.setattr(harness, "run_on_environments", lambda command, *words: answers[command[-1]])
    monkeypatch.setattr(harness, "run", lambda *words: (TRUE, 0.25))
    monkeypatch.setattr(environments, "python_of", lambda *words: "python")
    monkeypatch.setattr(environments, "version_of", lambda *words: "1")
    monkeypatch.setattr(rulers, "lay_in_environments", lambda *words: {"true order": TRUE, "empty graph": 0 * TRUE})
    ledger = cells.Ledger()
    found = harness.compare([small()], [*answers, "flop-20"], harness.Settings(), ledger, SILENT)["small"]
    scores = {cell.key.contender: (cell.shd, cell.targets_f1, cell.bic) for cell in found}
    assert scores == {
        "rfdag-targets": (0, None, None),
        # 3 and 4 together say nothing about the edge between them.
        "rfdag-unknown": (1, 2 / 3, None),
        "gies": (1, None, None),
        "gnies": (1, None, None),
        "causaldag-igsp": (0, None, None),
        "causaldag-ut-igsp": (1, 0, None),
        "flop-20": (0, None, None),
        "true order": (0, None, None),
        "empty graph": (3, None, None),
    }
    rows = tables.summed_up(small(), found, 1)
    by_name = {row["contender"]: row for row in rows}
    assert by_name["rfdag-unknown"]["F1 of targets"] == 0.667
    assert by_name["gies"]["F1 of targets"] == "–"
    # Beside a workload without experiments, whose rows have no such column.
    plain = {name: entry for name, entry in rows[0].items() if name != "F1 of targets"}
    for written in (tables.csv_text([plain, *rows]), tables.markdown([plain, *rows])):
        assert "F1 of targets" in written.splitlines()[0]
        assert "0.667" in written


def test_cells_are_read_again(tmp_path):
    key = cells.Key("small", 1, 0, "rfdag-unknown", "1", "data")
    cells.Ledger(tmp_path / "cells.jsonl").add(cells.Cell(key, 120, seconds=0.5, shd=0, targets_f1=0.5))
    cell = cells.Ledger(tmp_path / "cells.jsonl").find(key, 120)
    assert cell is not None
    assert cell.targets_f1 == 0.5


def test_a_cycle_is_compared_as_it_stands():
    cycle = np.zeros((3, 3), np.int8)
    cycle[[0, 1, 2], [1, 2, 0]] = 1
    chain = np.eye(3, k=1, dtype=np.int8)
    assert cells.distance_in_environments(chain, cycle, {"control": (), "drug": (1,)}, None) == 1


def test_data_without_environments_are_observational():
    drawn = tiny().draw(1, 0)
    experiment = harness._experiment(drawn)
    assert experiment.targets == {"observational": ()}
    assert experiment.labels == ["observational"] * len(drawn.rows)
    np.testing.assert_array_equal(experiment.among(["observational"]), drawn.rows)
    assert harness._program(CONTENDERS["gies"], drawn)[1:] == ["gies"]


def test_rulers():
    drawn = WORKLOADS["double-p20-e40-n400"].draw(1, 0)
    laid = rulers.lay_in_environments(drawn.experiment, drawn.true)
    assert list(laid) == rulers.names_in_environments(20) == ["true order", "empty graph"]
    assert cells.distance_in_environments(drawn.true, laid["true order"], drawn.targets, None) <= 4
    assert not laid["empty graph"].any()
    assert rulers.names_in_environments(rulers.LARGE_P + 1) == ["empty graph"]


def test_the_true_order_uses_the_rows_that_do_not_target_a_variable():
    generator = np.random.default_rng([3, 19])
    rows = generator.normal(size=(600, 2))
    rows[:300, 1] += rows[:300, 0]
    true = np.array([[0, 1], [0, 0]], np.int8)
    labels = ["control"] * 300 + ["drug"] * 300
    rows[300:, 1] -= 0.8 * rows[300:, 0]
    known = Experiment(rows, labels, {"control": (), "drug": (1,)})
    assert rulers.true_order_in_environments(known, true).tolist() == [[0, 1], [0, 0]]
    # Taken together, the two halves hide the edge.
    untold = Experiment(rows, labels, {"control": (), "drug": ()})
    assert not rulers.true_order_in_environments(untold, true).any()
    always = Experiment(rows, labels, {"control": (1,), "drug": (1,)})
    assert not rulers.true_order_in_environments(always, true).any()


# Who runs where.


def test_contenders_run_on_experiments_only():
    assert [each.name for each in harness.chosen(None, INTERVENTIONAL)] == list(CONTENDERS)
    for group in ("quick", "sparse", "mixed", "nonlinear", ""):
        assert not {each.name for each in harness.chosen(None, group)} & set(CONTENDERS)
    assert {each.name for each in harness.chosen(["causaldag", "flop-20"], INTERVENTIONAL)} == {
        "causaldag-igsp",
        "causaldag-ut-igsp",
        "flop-20",
    }
    assert catalogue.homes_of(["gies", "causaldag-igsp", "flop-20-pooled"]) == ["gies", "causaldag", "flopsearch"]


# Workloads.


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_workloads_are_what_they_say(workload):
    drawn = workload.draw(1, 0)
    assert drawn.rows.shape == (workload.n, workload.p)
    assert drawn.true.shape == (workload.p, workload.p)
    assert abs(drawn.true.sum() - workload.edges) < 5 * np.sqrt(workload.edges)
    np.testing.assert_allclose(drawn.rows.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(drawn.rows.std(axis=0), 1)
    counts = {label: drawn.labels.count(label) for label in drawn.targets}
    assert sum(counts.values()) == workload.n
    assert set(list(counts.values())[1:]) == {workload.n_experiment}
    assert drawn.experiment.observational == ["observational"]
    assert counts["observational"] >= 200
    sizes = [len(columns) for label, columns in drawn.targets.items() if label != "observational"]
    assert sizes == [workload.size] * workload.experiments
    if workload.name.startswith("single") and workload.p <= 100:
        assert sorted(column for columns in drawn.targets.values() for column in columns) == list(range(workload.p))


def test_targets_are_those_of_the_shuffled_columns():
    """In its experiment a target has another mean, and a variable that does not descend from it has not."""
    drawn = WORKLOADS["shift-p20-e40-n2000"].draw(2, 0)
    base = drawn.experiment.among(["observational"])
    for label, columns in drawn.targets.items():
        rows = drawn.experiment.among([label])
        for column in range(20):
            touched = set(columns) & (set(graphs.ancestors(drawn.true, [column])) | {column})
            # How far the means are apart, in standard errors.
            apart = (rows[:, column].mean() - base[:, column].mean()) / np.sqrt(base[:, column].var() / len(rows) * 1.1)
            if column in columns:
                assert abs(apart) > 5, (label, column)
            elif not touched:
                assert abs(apart) < 5, (label, column)


def test_draws_differ_and_can_be_repeated():
    workload = WORKLOADS["double-p20-e40-n400"]
    first, again, other = workload.draw(1, 0), workload.draw(1, 0), workload.draw(1, 1)
    np.testing.assert_array_equal(first.rows, again.rows)
    assert first.targets == again.targets != other.targets
    assert (first.rows != other.rows).all()


def test_no_search_draws_what_a_workload_draws(monkeypatch):
    """A search draws from ``default_rng(seed)``; data of any workload, seed and graph come from other streams."""

    def state(generator):
        return str(generator.bit_generator.state["state"])

    begun, source = [], workloads.simulation_generator
    monkeypatch.setattr(
        interventional_workloads,
        "simulation_generator",
        lambda *words: begun.append(state(source(*words))) or source(*words),
    )
    for name in ("double-p20-e40-n400", "single-p10-e10-n10000", "shift-p20-e40-n2000"):
        for seed in (0, 1):
            WORKLOADS[name].draw(seed, 0)
    assert len(set(begun)) == 6
    assert not set(begun) & {state(np.random.default_rng(seed)) for seed in range(100)}


def test_the_documentation_names_everything():
    page = ROOT / "docs" / "interventions.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if "rfdag bench" not in text:
        pytest.skip("the page has not been written")
    for name in (*CONTENDERS, *WORKLOADS):
        assert f"`{name}`" in text, name
    for each in CONTENDERS.values():
        assert each.call in text, each.call
