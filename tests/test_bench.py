"""The comparison with peers: data, scores, processes, ledger, tables and command."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import rfdag
from rfdag import metrics
from rfdag.errors import OptionError
from rfdag.graphs import cpdag, find_cycle
from rfdag.runtime.progress import Progress
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench import cells, contenders, environments, harness, rulers, tables, workloads
from rfdag.studies.bench.contenders import CONTENDERS, TUNED, Contender, Tuned

ROOT = Path(__file__).resolve().parent.parent
SILENT = Progress(False)

# 0 → 2 ← 1, and 3 – 4.
TRUE = np.zeros((5, 5), np.int8)
TRUE[[0, 1, 3], [2, 2, 4]] = 1

FAKES = """
    import os, subprocess, sys, time
    import numpy as np
    from rfdag.studies.bench import contenders, series

    def empty(rows):
        return np.zeros((rows.shape[1], rows.shape[1]), np.int8)

    def sleep(rows):
        if rows.shape[1] != 5:
            child = subprocess.Popen(["sleep", "60"])
            with open({pids!r}, "a") as handle:
                handle.write(f"{{child.pid}}\\n")
            child.wait()
        return empty(rows)

    def crash(rows):
        if rows.shape[1] != 5:
            raise RuntimeError("the data are " + "far " * 50 + "too dull")
        return empty(rows)

    def die(rows):
        os.abort()

    def leave(rows):
        os._exit(3)

    def fall(rows):
        if rows.shape[1] != 5:
            os.abort()
        return empty(rows)

    def wake(rows):
        # Its warm-up lasts until the starter is gone; then it would sleep on.
        if rows.shape[1] != 5:
            time.sleep(60)
        with open({pids!r}, "a") as handle:
            handle.write(f"{{os.getpid()}}\\n")
        while not os.path.exists(os.path.join(os.path.dirname({pids!r}), "killed")):
            time.sleep(0.01)
        return empty(rows)

    def count(value):
        def answer(rows):
            with open({pids!r} + ".calls", "a") as handle:
                handle.write(f"{{os.getpid()}} {{value}}\\n")
            if rows.shape[1] != 5:
                time.sleep(value)
            return empty(rows) + np.int8(os.environ["OMP_NUM_THREADS"])
        return answer

    def tuned(answer):
        # Values below 0 let them do what they do, others only answer.
        return lambda value: answer if value < 0 else empty

    for answer in (empty, sleep, crash, die, leave, fall, wake):
        name = answer.__name__
        contenders.CONTENDERS[name] = contenders.Contender(name, "rfdag", "rfdag", "", answer)
        contenders.TUNED[name] = contenders.Tuned(name, "rfdag", "rfdag", "", tuned(answer))
    contenders.TUNED["count"] = contenders.Tuned("count", "rfdag", "rfdag", "", count)
    if {program!r} == "series":
        # A short call stays one on a busy machine.
        series.SHORT, series.ENOUGH = 0.5, 60
        series.main()
    else:
        contenders.main()
"""
NAMES = ("empty", "sleep", "crash", "die", "leave", "fall", "wake", "count")


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Contenders that answer, sleep and fail; returns the file in which sleepers' children are listed."""
    pids = tmp_path / "pids"
    pids.touch()
    for place in ("PROGRAM", "SERIES"):
        program = tmp_path / f"{place.lower()}.py"
        program.write_text(textwrap.dedent(FAKES).format(pids=str(pids), program=place.lower()))
        monkeypatch.setattr(harness, place, program)
    for name in NAMES:
        monkeypatch.setitem(CONTENDERS, name, Contender(name, "rfdag", "rfdag", "", lambda rows: rows))
        monkeypatch.setitem(TUNED, name, Tuned(name, "rfdag", "rfdag", "", lambda value: lambda rows: rows))
    return pids


def tiny(p=6, n=60, graphs=2, **options):
    def source(generator):
        sem = linear_sem(random_dag(p, 0.5, generator), generator)
        return workloads.Drawn(sem.dag, sample(sem, n, generator))

    return workloads.Workload("tiny", "tiny", "tiny graphs", p, n, source, graphs, **options)


def data_of(true, n=5000, seed=1):
    """Uniform noise, so that DirectLiNGAM has something to hold on to."""
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-1, 1, (n, len(true)))
    rows[:, 2] += rows[:, 0] - rows[:, 1]
    rows[:, 4] += rows[:, 3]
    return rows / rows.std(axis=0)


# Every peer's answer means what we take it for.


@pytest.mark.parametrize("home", [environments.OWN, *environments.homes()])
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
        f"found = {{name: module.CONTENDERS[name].answer(rows).tolist() for name in {[c.name for c in here]!r}}}\n"
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


def test_arrows_in_a_circle_are_compared_as_they_stand():
    key = cells.Key("", 0, 0, "", "", "")
    circle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.int8)
    true = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.int8)
    cell = cells.scored(key, 1, circle, np.random.default_rng(0).normal(size=(9, 3)), true, None)
    # 1 → 2 is right; 0 → 1 is too much and 2 → 0 is turned round.
    assert (cell.shd, cell.edges, cell.tpr) == (2, 3, 1)


# Processes.


def test_the_same_data_for_all_and_a_row_for_each(fakes):
    found = harness.compare([tiny()], ["rfdag", "empty"], harness.Settings(seed=5), cells.Ledger(), SILENT)["tiny"]
    assert [cell.key.contender for cell in found] == ["rfdag", "empty", *rulers.RULERS] * 2
    for graph in range(2):
        true, rows = tiny().draw(5, graph)
        of_graph = [cell for cell in found if cell.key.graph == graph]
        assert {cell.key.data for cell in of_graph} == {harness.digest(rows)}
        expected = rfdag.learn(rows).dag
        assert of_graph[0].shd == metrics.shd(true, expected)
        assert of_graph[0].edges == expected.sum()
        assert 0 < of_graph[0].seconds < 10
        assert (of_graph[1].shd, of_graph[1].edges) == (metrics.shd(true, np.zeros_like(true)), 0)


def test_a_late_contender_is_ended_with_its_children_and_not_run_again(fakes):
    start = time.monotonic()
    found = harness.compare([tiny()], ["sleep"], harness.Settings(limit=0.5), cells.Ledger(), SILENT)["tiny"]
    assert time.monotonic() - start < 20
    late = [cell for cell in found if cell.key.contender == "sleep"]
    assert [(cell.failure, cell.late, cell.key.graph) for cell in late] == [("over 0.5 s", True, 0)]
    assert_ended(fakes, 1)


def assert_ended(pids, count):
    """Wait until none of the processes that fakes have listed is left."""
    children = [int(pid) for pid in pids.read_text().split()]
    assert len(children) == count
    for _ in range(400):
        if not any(map(alive, children)):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child of a contender outlives it")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "\nState:\tZ" in status.read_text())


@pytest.mark.parametrize(
    ("name", "words"),
    [("crash", "RuntimeError: the data are far far"), ("die", "ended by signal 6"), ("leave", "ended with status 3")],
)
def test_failures_are_told_briefly(fakes, name, words):
    found = harness.compare([tiny(graphs=1)], [name], harness.Settings(), cells.Ledger(), SILENT)["tiny"]
    assert found[0].failure.startswith(words)
    assert len(found[0].failure) <= harness.LONGEST_WORDS
    assert not found[0].late
    rows = tables.summed_up(tiny(), found, 1)
    assert rows[0]["graphs counted"] == f"0 of 1: {found[0].failure}"
    assert [row["contender"] for row in rows] == [name, *rulers.RULERS]


def test_slow_starts_are_ended(fakes, monkeypatch):
    monkeypatch.setattr(harness, "LONGEST_START", 0.01)
    answer = harness.run([sys.executable, str(harness.PROGRAM), "empty"], np.ones((3, 3)), 10)
    assert answer == harness.Late("not started after 0.01 s")


# Series of calls.

ROWS = np.ones((4, 6))


def outcome_words(outcomes):
    return [each.words if isinstance(each, harness.Late | harness.Failed) else "answer" for each in outcomes]


@pytest.mark.parametrize("forks", [True, False])
def test_a_series_has_an_outcome_for_every_call(fakes, monkeypatch, forks):
    if not forks:
        monkeypatch.delattr(os, "fork")
    calls = [("empty", 1), ("sleep", -1), ("crash", -1), ("sleep", 1), ("fall", -1), ("empty", 2)]
    found = harness.series(calls, ROWS, 2)
    words = outcome_words(found)
    assert words[0] == words[3] == words[5] == "answer"
    assert found[1] == harness.Late("over 2 s")
    assert words[2].startswith("RuntimeError: the data are far far")
    assert found[4] == harness.Failed("ended by signal 6")
    assert_ended(fakes, 1)
    found = harness.series([("sleep", -1), ("empty", 1), ("sleep", 1)], ROWS, 0.5, stop_when_late=True)
    assert outcome_words(found) == ["over 0.5 s", "answer", "not run: over 0.5 s before"]
    assert [found[0].run, found[2].run] == [True, False]
    assert_ended(fakes, 2)


def test_calls_of_a_series_have_processes_and_one_thread_each(fakes):
    found = harness.series([("count", 0.0), ("count", 0.6), ("count", 0.01)], ROWS, 10)
    assert all((graph == 1).all() for graph, _ in found), "the number of threads that a call is told"
    calls = [line.split() for line in Path(f"{fakes}.calls").read_text().splitlines()]
    # A warm-up, and short calls repeated where they were made.
    assert [value for _, value in calls] == ["0.01", *["0.0"] * 5, "0.6", *["0.01"] * 5]
    assert len({pid for pid, _ in calls}) == 4
    assert len({pid for pid, value in calls if value == "0.0"}) == 1
    assert 0.01 <= found[2][1] < found[1][1]


@pytest.mark.parametrize("name", ["die", "leave"])
def test_a_series_that_ends_before_its_calls(fakes, name):
    found = harness.series([(name, -1), ("empty", 1)], ROWS, 10)
    words = {"die": "ended by signal 6", "leave": "ended with status 3"}[name]
    assert outcome_words(found) == [words, words]


def test_series_that_do_not_start_or_are_not_awaited_are_ended(fakes, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(harness, "LONGEST_START", 0.01)
        assert harness.series([("empty", 1)], ROWS, 10) == [harness.Late("not started after 0.01 s")]

    def interrupted(process, started, limit):
        while not fakes.read_text().endswith("\n"):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(harness, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        harness.series([("sleep", -1)], ROWS, 60)
    assert_ended(fakes, 1)


@pytest.mark.parametrize("name", ["sleep", "wake"])
def test_a_series_whose_starter_was_killed_ends_itself(fakes, tmp_path, name):
    """As when a worker of a parallel run is killed, in a call or before; its calls would go on to their time limit."""
    code = (
        "import numpy as np; from pathlib import Path; from rfdag.studies.bench import harness\n"
        "from rfdag.studies.bench.contenders import TUNED, Tuned\n"
        f"harness.SERIES = Path({str(harness.SERIES)!r})\n"
        f"TUNED[{name!r}] = Tuned({name!r}, 'rfdag', 'rfdag', '', None)\n"
        f"harness.series([({name!r}, -1)], np.ones((4, 6)), 60)\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", code])
    while not fakes.read_text().endswith("\n"):
        assert starter.poll() is None
        time.sleep(0.01)
    starter.kill()
    starter.wait()
    (fakes.parent / "killed").touch()
    assert_ended(fakes, 1)


def test_series_of_a_missing_environment(tmp_path):
    with pytest.raises(OptionError, match="no environment of flopsearch"):
        harness.series([("flop-0", 2.0)], ROWS, 1, tmp_path)


def test_tuned_contenders_say_their_value():
    assert TUNED["causal-learn-ges"].at(3.0).call == "ges(X, lambda_value=1.5)"
    assert TUNED["flop-20"].at(0.5, "half", best=True).name == "half"
    for name, tuned in TUNED.items():
        assert tuned.name == name
        assert ("0.25" in tuned.at(0.25).call) or ("0.125" in tuned.at(0.25).call)


def test_a_smaller_penalty_and_a_higher_level_give_more_edges():
    _, rows = tiny(p=10, n=60).draw(1, 0)
    names = ("rfdag-rfd", "rfdag-min-degree", "rfdag-gsp", "rfdag-soft")
    values = {name: (4.0, 0.5) if name == "rfdag-soft" else (1e-6, 0.3) for name in names}
    calls = [(name, value) for name in names for value in values[name]]
    found = harness.series(calls, rows, 60)
    edges = {call: int((graph != 0).sum()) for call, (graph, _) in zip(calls, found, strict=True)}
    for name, (sparse, dense) in values.items():
        assert edges[name, sparse] < edges[name, dense]
    expected = rfdag.learn(rows, rule="rfd", alpha=0.3).dag
    np.testing.assert_array_equal(found[calls.index(("rfdag-rfd", 0.3))][0], expected)


# Ledger and tables.


def test_an_interrupted_run_goes_on(fakes, tmp_path):
    path = tmp_path / "out" / "cells.jsonl"
    settings = harness.Settings()
    first = harness.compare([tiny()], ["empty"], settings, cells.Ledger(path), SILENT)["tiny"]
    lines = path.read_text().splitlines()
    assert len(lines) == len(first) == 10
    # The last cell is cut short, as a full disk or a pulled plug leaves it; two more are lost.
    path.write_text("\n".join([*lines[:7], lines[7][:20]]))
    again = harness.compare([tiny()], ["empty"], settings, cells.Ledger(path), SILENT)["tiny"]
    assert [cell.key for cell in again] == [cell.key for cell in first]
    assert [cell.seconds for cell in again] == [cell.seconds for cell in first]
    assert len(path.read_text().splitlines()) == 11
    known = harness.compare([tiny()], ["empty"], harness.Settings(fresh=False), cells.Ledger(path), SILENT)["tiny"]
    assert known == again
    assert not harness.compare([tiny()], ["empty"], harness.Settings(seed=1, fresh=False), cells.Ledger(path), SILENT)[
        "tiny"
    ]
    harness.compare([tiny()], ["empty"], harness.Settings(seed=1), cells.Ledger(path), SILENT)
    assert len(path.read_text().splitlines()) == 21


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


@pytest.fixture
def accuracy(monkeypatch, tmp_path):
    """The script of docs/accuracy.md with one tiny workload, of which it has a cell of a peer; it writes to a folder."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = importlib.import_module("accuracy")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "accuracy.md").write_text("<!-- accuracy: begin -->\nas it was\n<!-- accuracy: end -->\n")
    for name, place in (("RESULTS", tmp_path), ("ROOT", tmp_path)):
        monkeypatch.setattr(script, name, place)
    monkeypatch.setattr(importlib.import_module("report"), "RESULTS", tmp_path)
    monkeypatch.setattr(script, "WORKLOADS", {"tiny": tiny(best=True)})
    monkeypatch.setattr(script, "chosen", lambda names: [tiny(best=True)])
    key = cells.Key("tiny", 1000, 0, "ges", "1.1.1", harness.digest(tiny().draw(1000, 0).rows))
    cells.Ledger(tmp_path / "accuracy.jsonl").add(cells.Cell(key, 60, seconds=1.0, edges=1, shd=3, f1=0.25))
    return script


def test_rows_of_rfdag_are_run_again_and_those_of_peers_stay(accuracy, tmp_path):
    before = (tmp_path / "accuracy.jsonl").read_text()
    accuracy.main(["--own", "--graphs", "1"])
    assert (tmp_path / "accuracy.jsonl").read_text().startswith(before)
    text = (tmp_path / "accuracy.csv").read_text().splitlines()
    shown = [line.split(",")[3] for line in text[1:]]
    assert shown == ["rfdag", "rfdag-20", "rfdag-rfd", "ges", "rfdag-20-penalty-1", *rulers.RULERS]
    assert "tiny graphs,6,60,ges,1,3.0,0.25," in (tmp_path / "accuracy.csv").read_text()
    page = (tmp_path / "docs" / "accuracy.md").read_text()
    assert "as it was" not in page
    assert "measured in an earlier run: flopsearch" in page


def test_the_page_stays_where_cells_of_rfdag_are_missing(accuracy, tmp_path):
    with pytest.raises(SystemExit, match=r"no cells of rfdag.*--own --workloads tiny"):
        accuracy.main(["--contenders", "rfdag-rfd", "--graphs", "1"])
    assert "as it was" in (tmp_path / "docs" / "accuracy.md").read_text()
    assert not (tmp_path / "accuracy.csv").exists()


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
    assert not any(each.best for each in harness.chosen(None))


def test_variants_run_where_a_workload_asks_for_them(fakes, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        harness, "_cell", lambda workload, graph, contender, *rest: asked.append(contender.name) or LATE
    )
    settings = harness.Settings(graphs=1, peers=tmp_path)
    harness.compare([tiny(best=True)], None, settings, cells.Ledger(), SILENT)
    assert "rfdag-20-penalty-1" in asked
    assert "flop-20-penalty-1" not in asked, "its environment is not there"
    asked.clear()
    harness.compare([tiny()], None, settings, cells.Ledger(), SILENT)
    assert "rfdag-20-penalty-1" not in asked


LATE = cells.Cell(cells.Key("", 0, 0, "", "", ""), 1, failure="late", late=True)


def test_every_environment_is_pinned_and_used():
    assert {each.home for each in CONTENDERS.values()} == {environments.OWN, *environments.homes()}
    for each in CONTENDERS.values():
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


# The command.


def bench(*words, **options):
    program = [sys.executable, "-c", "from rfdag.cli import main; main()", "bench"]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        [*program, *map(str, words)], capture_output=True, text=True, env=environment, check=False, **options
    )


def test_quick_run_and_files(tmp_path):
    done = bench("--contenders", "rfdag,ges", "--out", tmp_path / "out", "--peers", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "true order" in done.stdout
    assert done.stderr.startswith("Left out")
    assert "ges" in done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bench.csv", "bench.md", "bench.jsonl"}
    table = (tmp_path / "out" / "bench.csv").read_text().splitlines()
    assert table[0] == "graphs,p,n,contender,graphs counted,SHD,F1,TPR − FPR,time (s),time / FLOP 0"
    assert table[1].startswith("degree 4,15,500,rfdag,1,")
    again = bench("--contenders", "rfdag", "--out", tmp_path / "out", "--peers", tmp_path, "--json")
    assert json.loads(again.stdout)["rows"][0]["contender"] == "rfdag"
    assert (tmp_path / "out" / "bench.csv").read_text().splitlines() == table


def test_own_data(tmp_path):
    lines = [",".join(map(repr, row)) for row in data_of(TRUE, 500).tolist()]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,d,e", *lines]))
    (tmp_path / "truth.csv").write_text("source,target\na,c\nb,c\nd,e\n")
    place = ("--peers", tmp_path, "--json", "--contenders", "rfdag")
    done = bench(tmp_path / "data.csv", "--truth", tmp_path / "truth.csv", *place)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["rows"][0]
    assert (row["contender"], row["edges"], row["SHD"], row["F1"]) == ("rfdag", 3, 0, 1.0)
    assert row["BIC"] == pytest.approx(rfdag.learn(tmp_path / "data.csv").score, abs=0.1)
    blind = json.loads(bench(tmp_path / "data.csv", *place).stdout)["rows"]
    assert "SHD" not in blind[0]
    assert "true order" not in {row["contender"] for row in blind}


def test_list(tmp_path):
    content = json.loads(bench("--list", "--json", "--peers", tmp_path).stdout)
    assert [row["workload"] for row in content["workloads"]] == list(workloads.WORKLOADS)
    versions = {row["contender"]: row["version"] for row in content["contenders"]}
    assert versions["rfdag"].startswith(rfdag.__version__)
    assert versions["ges"] == "not installed"


def test_refusals(tmp_path):
    from typer.testing import CliRunner

    from rfdag.cli import app

    (tmp_path / "data.csv").write_text("a,b\n1,2\n2,1\n3,5\n4,4\n9,1\n")
    (tmp_path / "constant.csv").write_text("a,b\n1,2\n1,1\n1,5\n1,4\n1,1\n")
    (tmp_path / "stray.csv").write_text("source,target\na,stranger\n")
    (tmp_path / "circle.csv").write_text("source,target\na,b\nb,a\n")
    data = str(tmp_path / "data.csv")
    for words, status, message in (
        (["--workloads", "nothing"], 2, "sparse"),
        (["--contenders", "nobody"], 2, "tetrad-boss"),
        (["--graphs", "0"], 2, "graphs"),
        (["--limit", "0"], 2, "limit"),
        (["--truth", data], 2, "--truth"),
        ([data, "--workloads", "dense"], 2, "either"),
        ([str(tmp_path / "nowhere.csv")], 1, "no file"),
        ([str(tmp_path / "constant.csv")], 1, "constant"),
        ([data, "--truth", str(tmp_path / "stray.csv")], 1, "'stranger'"),
        ([data, "--truth", str(tmp_path / "circle.csv")], 1, "cycle"),
    ):
        done = CliRunner().invoke(app, ["bench", *words])
        assert done.exit_code == status, done.output
        assert message in done.output
