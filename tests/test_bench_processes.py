"""The comparison with peers: every call in a process of its own, late ones ended, and a run that goes on."""

from __future__ import annotations

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
from rfdag.studies.bench import cells, harness, processes, rulers, tables
from rfdag.studies.bench.contenders import CONTENDERS, TUNED, Contender, Tuned
from small_workload import SILENT, tiny

FAKES = """
    import os, subprocess, sys, time
    import numpy as np
    from rfdag.studies.bench import contenders, series

    # They know their warm-up by its few columns.
    contenders.ENOUGH_COLUMNS = contenders.FEW

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
    found = harness.compare([tiny()], ["sleep"], harness.Settings(limit=3), cells.Ledger(), SILENT)["tiny"]
    assert time.monotonic() - start < 20
    late = [cell for cell in found if cell.key.contender == "sleep"]
    assert [(cell.failure, cell.late, cell.key.graph) for cell in late] == [("over 3 s", True, 0)]
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
    assert len(found[0].failure) <= harness.LONGEST_MESSAGE
    assert not found[0].late
    rows = tables.summed_up(tiny(), found, 1)
    assert rows[0]["graphs counted"] == f"0 of 1: {found[0].failure}"
    assert [row["contender"] for row in rows] == [name, *rulers.RULERS]


def test_slow_starts_are_ended(fakes, monkeypatch):
    monkeypatch.setattr(processes, "LONGEST_START", 0.01)
    answer = harness.run([sys.executable, str(harness.PROGRAM), "empty"], np.ones((3, 3)), 10)
    assert answer == harness.Late("not started after 0.01 s")


# Series of calls.

ROWS = np.ones((4, 6))


# Series of calls.

ROWS = np.ones((4, 6))


def outcome_words(outcomes):
    return [each.reason if isinstance(each, harness.Late | harness.Failed) else "answer" for each in outcomes]


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
        patch.setattr(processes, "LONGEST_START", 0.01)
        assert harness.series([("empty", 1)], ROWS, 10) == [harness.Late("not started after 0.01 s")]

    def interrupted(process, started, limit):
        while not fakes.read_text().endswith("\n"):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(harness, "wait", interrupted)
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


def test_a_smaller_penalty_and_a_higher_level_give_more_edges():
    _, rows = tiny(p=10, n=60).draw(1, 0)
    names = ("rfdag-rfd", "rfdag-min-degree", "rfdag-gsp", "rfdag-soft")
    values = {name: (4.0, 0.5) if name == "rfdag-soft" else (1e-6, 0.3) for name in names}
    calls = [(name, value) for name in names for value in values[name]]
    found = harness.series(calls, rows, 60)
    edges = {call: int((graph != 0).sum()) for call, (graph, _) in zip(calls, found, strict=True)}
    for name, (sparse, dense) in values.items():
        assert edges[name, sparse] < edges[name, dense]
    expected = rfdag.learn(rows, method="rfd", alpha=0.3).dag
    np.testing.assert_array_equal(found[calls.index(("rfdag-rfd", 0.3))][0], expected)


# Runs.


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


LATE = cells.Cell(cells.Key("", 0, 0, "", "", ""), 1, failure="late", late=True)


def test_variants_run_where_a_workload_asks_for_them(fakes, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        harness, "_cell", lambda workload, graph, contender, *rest: asked.append(contender.name) or LATE
    )
    settings = harness.Settings(graphs=1, peers=tmp_path)
    harness.compare([tiny(group="small")], None, settings, cells.Ledger(), SILENT)
    assert "rfdag-20-penalty-1" in asked
    assert "flop-20-penalty-1" not in asked, "its environment is not there"
    asked.clear()
    harness.compare([tiny()], None, settings, cells.Ledger(), SILENT)
    assert "rfdag-20-penalty-1" not in asked


LATE = cells.Cell(cells.Key("", 0, 0, "", "", ""), 1, failure="late", late=True)
