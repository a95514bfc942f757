"""The comparison with peers: their answers, data, scores, ledger, tables and names."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rfdag
from rfdag import metrics
from rfdag.errors import OptionError
from rfdag.graphs import cpdag, find_cycle
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench import catalogue, cells, contenders, environments, harness, rulers, tables, workloads
from rfdag.studies.bench.contenders import CONTENDERS, TUNED
from small_workload import ROOT, SILENT, TRUE, data_of, tiny

# Every peer's answer means what we take it for.


@pytest.mark.parametrize("home", sorted({each.home for each in CONTENDERS.values()}))
def test_directions_are_read_right(home, tmp_path):
    """All contenders of one environment in one process there, since some take seconds to be imported."""
    python = environments.python_of(home, ROOT / environments.FOLDER)
    here = [each for each in CONTENDERS.values() if each.home == home]
    if python is None or harness.missing(here, ROOT / environments.FOLDER):
        pytest.skip(f"the environment of {home} has not been made: `rfdag bench --setup`")
    np.save(tmp_path / "rows.npy", data_of(TRUE))
    code = (
        "import importlib.util, json, random, sys; import numpy as np\n"
        f"spec = importlib.util.spec_from_file_location('contenders', {contenders.__file__!r})\n"
        "module = sys.modules['contenders'] = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "random.seed(0)\n"
        f"rows = np.load({str(tmp_path / 'rows.npy')!r})\n"
        # Kernel tests compare all rows with each other.
        "def seen(name): return rows[:500] if module.CONTENDERS[name].group == 'nonlinear' else rows\n"
        f"names = {[c.name for c in here]!r}\n"
        "found = {name: module.CONTENDERS[name].answer(seen(name)).tolist() for name in names}\n"
        f"open({str(tmp_path / 'found.json')!r}, 'w').write(json.dumps(found))\n"
    )
    done = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {each.name for each in here}
    for name, answer in found.items():
        graph = np.array(answer)
        if name == "causaldag-min-degree":
            # The moral graph of a v-structure is complete: which of its nodes goes first is left to chance.
            assert metrics.skeleton(TRUE, graph).tpr == 1
            continue
        assert graph[0, 2] == graph[1, 2] == 1, name
        assert graph[2, 0] == graph[2, 1] == 0, name
        if name != "direct-lingam":
            # It prunes by a lasso, which may leave a stray edge.
            assert metrics.shd(TRUE, graph) == 0, name


def test_marks_of_causal_learn():
    """0 → 1, 1 – 2, 2 ↔ 3, 3 o→ 0, 0 o–o 2."""
    tail, arrow, circle = -1, 1, 2
    marks = np.zeros((4, 4), int)
    marks[0, 1], marks[1, 0] = tail, arrow
    marks[1, 2], marks[2, 1] = tail, tail
    marks[2, 3], marks[3, 2] = arrow, arrow
    marks[3, 0], marks[0, 3] = circle, arrow
    marks[0, 2], marks[2, 0] = circle, circle
    expected = [[0, 1, 2, 2], [0, 0, 2, 0], [2, 2, 0, 2], [2, 0, 2, 0]]
    np.testing.assert_array_equal(contenders.from_endpoints(marks), expected)


def test_edges_marked_at_both_ends():
    matrix = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(contenders.from_mutual(matrix), [[0, 1, 1], [0, 0, 2], [0, 2, 0]])


def test_tuned_contenders_say_their_value():
    assert TUNED["causal-learn-ges"].at(3.0).call == "ges(X, lambda_value=1.5)"
    assert TUNED["flop-20"].at(0.5, "half", group="small").name == "half"
    for name, tuned in TUNED.items():
        assert tuned.name == name
        assert ("0.25" in tuned.at(0.25).call) or ("0.125" in tuned.at(0.25).call)


# Workloads and rulers.


@pytest.mark.parametrize("workload", workloads.WORKLOADS.values(), ids=lambda workload: workload.name)
def test_workloads_are_what_they_say(workload):
    true, rows = workload.draw(1, 0)
    assert rows.shape == (workload.n, workload.p)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(rows.std(axis=0), 1)
    edges = int(true.sum())
    words = workload.family.split(", ")[0].split()
    if words[0] == "degree":
        expected = float(words[1]) * workload.p / 2
        assert abs(edges - expected) < 5 * np.sqrt(expected)
    elif words[0] == "density":
        pairs = workload.p * (workload.p - 1) / 2
        expected = pairs * (0.5 if words[1] == "1/2" else 2 / workload.p)
        assert abs(edges - expected) < 5 * np.sqrt(expected)


def test_draws_differ_and_can_be_repeated():
    workload = workloads.WORKLOADS["sachs-log"]
    first, again, other = workload.draw(1, 0), workload.draw(1, 0), workload.draw(1, 1)
    np.testing.assert_array_equal(first.rows, again.rows)
    # One data set, other columns first; the truth moves along.
    assert not np.array_equal(first.rows, other.rows)
    np.testing.assert_allclose(np.sort(first.rows[0]), np.sort(other.rows[0]))
    first, other = (np.sort(np.corrcoef(drawn.rows.T)[drawn.true != 0]) for drawn in (first, other))
    np.testing.assert_allclose(first, other)


def test_rulers():
    true, rows = tiny(p=10, n=2000).draw(0, 0)
    laid = rulers.lay(rows, true)
    assert tuple(laid) == rulers.RULERS
    assert metrics.shd(true, laid["true order"]) <= 2
    assert not laid["empty graph"].any()
    assert laid["complete graph"].sum() == 45
    assert "true order" not in rulers.lay(rows, None)


def test_r2_order_puts_the_best_explained_last():
    generator = np.random.default_rng(0)
    rows = sample(linear_sem(random_dag(9, 0.5, generator), generator), 500, generator)
    shares = []
    for column in range(9):
        others = np.delete(rows, column, axis=1)
        others = np.column_stack([others, np.ones(500)])
        left = rows[:, column] - others @ np.linalg.lstsq(others, rows[:, column], rcond=None)[0]
        shares.append(1 - left.var() / rows[:, column].var())
    sources, targets = np.nonzero(rulers.r2_order(rows))
    assert len(sources)
    assert (np.array(shares)[sources] < np.array(shares)[targets]).all()
    # With fewer rows than variables every R² would be 1.
    few = rulers.r2_order(rows[:8])
    assert not find_cycle(few)
    assert few.any()


# Scores.


def test_bic_is_that_of_the_search():
    _, rows = tiny(p=8, n=300).draw(3, 0)
    result = rfdag.learn(rows)
    assert cells.bic(rows, result.dag) == pytest.approx(result.score)
    assert cells.bic(rows, cpdag(result.dag)) == pytest.approx(result.score)


def test_bic_of_what_has_none():
    rows = np.random.default_rng(0).normal(size=(20, 4))
    circle = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]], np.int8)
    assert cells.bic(rows, circle) is None
    square = np.array([[0, 2, 0, 2], [2, 0, 2, 0], [0, 2, 0, 2], [2, 0, 2, 0]], np.int8)
    assert cells.bic(rows, square) is None
    assert cells.bic(rows[:4], np.triu(np.ones((4, 4), np.int8), 1)) is None


def test_arrows_in_a_cycle_are_compared_as_they_stand():
    key = cells.Key("", 0, 0, "", "", "")
    circle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.int8)
    true = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
    cell = cells.scored(key, 1, circle, np.random.default_rng(0).normal(size=(9, 3)), true, None)
    # 1 → 2 is right; 0 → 1 is too much and 2 → 0 is turned round.
    assert (cell.shd, cell.edges, cell.tpr) == (2, 3, 1)


# Ledger and tables.


def test_cells_of_peers_stay_though_they_are_not_installed(tmp_path):
    key = cells.Key("tiny", 1000, 0, "ges", environments.requirements("ges")["ges"], "")
    key = key._replace(data=harness.digest(tiny().draw(1000, 0).rows))
    ledger = cells.Ledger()
    ledger.add(cells.Cell(key, 60, seconds=1.0, shd=3))
    settings = harness.Settings(limit=60, graphs=1, peers=tmp_path, fresh=False)
    found = harness.compare([tiny()], None, settings, ledger, SILENT)["tiny"]
    assert [cell.key for cell in found] == [key]
    ledger = cells.Ledger()
    ledger.add(cells.Cell(key._replace(version="0.0.1"), 60, seconds=1.0, shd=3))
    assert harness.compare([tiny()], None, settings, ledger, SILENT)["tiny"] == []


def test_a_digest_is_the_same_on_machines_that_round_differently():
    _, rows = tiny().draw(1, 0)
    assert harness.digest(rows * (1 + 1e-15)) == harness.digest(np.asfortranarray(rows)) == harness.digest(rows)
    changed = rows.copy()
    changed[3, 2] += 1e-4
    assert harness.digest(changed) != harness.digest(rows)


def test_a_cell_holds_for_limits_that_would_not_change_it():
    key = cells.Key("w", 0, 0, "c", "1", "d")
    done, late = cells.Cell(key, 10, seconds=5.0), cells.Cell(key, 10, failure="over 10 s", late=True)
    assert done.holds(100)
    assert done.holds(6)
    assert not done.holds(4)
    assert late.holds(10)
    assert late.holds(3)
    assert not late.holds(20)
    ledger = cells.Ledger()
    ledger.add(done)
    assert ledger.find(key, 6) == done
    assert ledger.find(key, 4) is None
    assert ledger.find(key._replace(version="2"), 6) is None


def test_a_row_says_how_many_graphs_it_counts():
    def cell(name, graph, **entries):
        return cells.Cell(cells.Key("tiny", 0, graph, name, "1", ""), 120, **entries)

    scores = {"edges": 3, "f1": 0.5, "tpr": 0.75, "fpr": 0.25}
    found = [
        *(cell("rfdag", graph, seconds=graph + 1.0, shd=graph, **scores) for graph in range(5)),
        *(cell("flop-0", graph, seconds=2.0, shd=9, **scores) for graph in range(3)),
        cell("flop-0", 3, failure="over 120 s", late=True),
        cell("ges", 0, failure="over 120 s", late=True),
        cell("empty graph", 0, shd=7, f1=0.0, tpr=0.0, fpr=0.0),
    ]
    rows = {row["contender"]: row for row in tables.summed_up(tiny(), found, 5)}
    assert list(rows) == ["rfdag", "flop-0", "ges", "empty graph"]
    assert rows["rfdag"]["graphs counted"] == "5"
    assert (rows["rfdag"]["SHD"], rows["rfdag"]["TPR − FPR"]) == (2.0, 0.5)
    assert (rows["rfdag"]["time (s)"], rows["rfdag"]["time / FLOP 0"]) == (3.0, 1.5)
    assert rows["flop-0"]["graphs counted"] == "3 of 5: over 120 s"
    assert rows["ges"]["graphs counted"] == "0 of 5: over 120 s"
    assert (rows["ges"]["SHD"], rows["ges"]["time (s)"]) == ("–", "")
    assert (rows["empty graph"]["graphs counted"], rows["empty graph"]["time (s)"]) == ("1 of 5", "")


# Names, environments, documentation.


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(OptionError, match=r"no workload 'x'.*sparse.*dense-p20-n400"):
        workloads.chosen(["x"])
    with pytest.raises(OptionError, match=r"no contender 'x'.*flop-20"):
        harness.chosen(["x"])
    assert {each.home for each in harness.chosen(["causaldag"])} == {"causaldag"}
    assert not any(each.group for each in harness.chosen(None))


def test_every_environment_is_pinned_and_used():
    assert {each.home for each in catalogue.CONTENDERS.values()} == {environments.OWN, *environments.homes()}
    for each in catalogue.CONTENDERS.values():
        if each.home != environments.OWN:
            assert environments.requirements(each.home)[each.package][0].isdigit()


def test_environments_that_cannot_be_made(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(environments, "homes", lambda: ["tetrad-port"])
    monkeypatch.setattr(environments, "HEADERS", ())
    monkeypatch.delenv("EIGEN3_INCLUDE_DIR", raising=False)
    assert environments.make(tmp_path / "peers", said.append) == {}
    assert "libeigen3-dev" in said[0]
    monkeypatch.setattr(environments, "homes", lambda: ["ges"])
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "ges").write_text("a file where a folder should be")
    troubles = environments.make(tmp_path / "peers", said.append)
    assert list(troubles) == ["ges"]
    assert troubles["ges"]


def test_the_documentation_names_everything():
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    for name in (*CONTENDERS, *workloads.WORKLOADS, *rulers.RULERS):
        assert f"`{name}`" in text, name
    for each in CONTENDERS.values():
        assert each.call in text, each.call


# Imports.


def imports_of(path):
    """Return the modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            # A name that is imported may be a module itself.
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_only_the_program_imports_the_studies():
    root = Path(rfdag.__file__).parent
    outside = [path for path in root.rglob("*.py") if "studies" not in path.relative_to(root).parts[:1]]
    importing = [path.name for path in outside if any(each.startswith("rfdag.studies") for each in imports_of(path))]
    assert importing == ["cli.py"]


def test_the_comparison_with_peers_does_not_know_the_study_of_the_paper():
    folder = Path(environments.__file__).parent
    for path in folder.rglob("*.py"):
        assert not [each for each in imports_of(path) if each.startswith("rfdag.studies.paper")], path.name
