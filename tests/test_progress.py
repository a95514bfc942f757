"""What the user sees of a long run: a bar, lines, or shares."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import rfdag
from rfdag.bootstrapping import runs
from rfdag.orders import candidates
from rfdag.orders.candidates import nearest
from rfdag.runtime import progress
from rfdag.runtime.progress import Progress, Stage


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets; it starts at 100 seconds."""
    clock = SimpleNamespace(time=100.0)
    monkeypatch.setattr(progress, "now", lambda: clock.time)
    return clock


# The time left


def shown_seconds(bar):
    """Return the seconds left that a bar shows, None where it shows no time."""
    found = re.search(r"(\d+):(\d\d):(\d\d)", bar._figures())
    return None if found is None else int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])


def drawn(bar):
    """Return a progress that draws its bar, as after two seconds on a terminal."""
    from rich.console import Console

    bar._start_bar(Console(file=io.StringIO(), force_terminal=True))
    return bar


def test_the_time_left_follows_from_the_share_done_in_every_stage(clock):
    """Work that goes on steadily shows the seconds that it will take, whatever the stages before it took."""
    with drawn(Progress(True)) as bar:
        for seconds in (40, 400, 10):
            report = bar.stage(f"A stage of {seconds} seconds")
            begun = clock.time
            for step in range(1, 11):
                clock.time = begun + seconds * step / 10
                report(step / 10)
                left = seconds * (1 - step / 10)
                assert shown_seconds(bar) == (None if step == 10 else pytest.approx(left, abs=1))


def test_between_two_reports_the_time_left_falls_with_the_clock_and_is_never_nought(clock):
    report = (bar := Progress(True)).stage("Learning")
    clock.time += 10
    report(0.25)
    shown = []
    for _ in range(45):
        shown.append(shown_seconds(bar))
        clock.time += 1
    assert shown[:30] == list(range(30, 0, -1))
    assert set(shown[30:]) == {None}


def test_the_time_left_rises_by_no_more_than_the_share_is_late(clock):
    """Steps of random length: what is shown rises between two looks only as far as the work proved slower."""
    generator = np.random.default_rng(7)
    report = (bar := Progress(True)).stage("Learning")
    begun, share = clock.time, 0.0
    for step in generator.uniform(0.01, 0.05, size=20):
        clock.time += generator.exponential(5.0)
        share += step
        report(share)
        taken = clock.time - begun
        expected = taken * (1 - share) / share if share >= progress.LEAST_SHARE_TO_GO_BY else None
        assert shown_seconds(bar) == (None if expected is None else pytest.approx(expected, abs=1))


def test_a_stage_without_shares_shows_no_time(clock):
    with drawn(Progress(True)) as bar:
        report = bar.stage("Reading")
        clock.time += 5
        report(1.0)
        bar.stage("Learning from all rows")
        for _ in range(20):
            clock.time += 1
            assert bar._figures() == ""
            # A bar without a total moves to and fro.
            assert bar._bar.tasks[0].total is None


def test_a_stage_that_is_resumed_expects_its_rest_from_its_own_pace(clock):
    report = (bar := Progress(True)).stage("Learning from resampled rows", done=0.8)
    report(0.8)
    clock.time += 10
    assert shown_seconds(bar) is None
    report(0.85)
    assert shown_seconds(bar) == pytest.approx(30, abs=1)


def test_the_time_left_of_work_without_reports_is_what_it_was_expected_to_take(clock):
    stage = Stage("Estimating", begun=100.0)
    left = []
    for seconds in range(1, 100):
        moment = 100.0 + seconds
        share = progress._expected_share(seconds / 20)
        left.append(stage._replace(share=share, reported=moment).left(moment))
    assert left[:18] == pytest.approx([20 - seconds for seconds in range(1, 19)])
    assert all(0 < seconds <= 2.1 for seconds in left[18:])


# Shares


def test_shares_never_fall_within_a_stage():
    told = []
    bar = Progress(told.append)
    for label in ("Eliminating", "Refining"):
        report = bar.stage(label)
        for share in (0.3, 0.1, 0.6, 0.5):
            report(share)
            assert bar.share == max(told[-1], share)
    assert told == [0.3, 0.3, 0.6, 0.6] * 2


def test_the_share_of_rows_ranked_is_what_all_threads_have_done(monkeypatch):
    """Two threads share four pieces of the rows; the first begins when the second has done its two."""
    monkeypatch.setattr(candidates, "ENTRIES_AT_ONCE", 400)
    matrix = np.random.default_rng(1).normal(size=(40, 40))
    told, second_is_done = [], threading.Event()

    def rows_of(rows):
        assert rows[0] != 0 or second_is_done.wait(60)
        return matrix[rows]

    def report(share):
        told.append(share)
        if len(told) == 2:
            second_is_done.set()

    nearest(rows_of, 40, 3, report, threads=2)
    assert told == [0.25, 0.5, 0.75, 1.0]


# Where there is no terminal


@pytest.mark.parametrize("show", [True, None, False])
def test_a_bootstrap_whose_output_is_redirected_prints_lines_if_asked_to(show, monkeypatch, capsys):
    """Its first stage, learning from all rows, reports no share."""
    printed, line, learn = threading.Event(), Stage.line, runs.learn

    def noted(stage, moment):
        printed.set()
        return line(stage, moment)

    def slow(*arguments, **options):
        assert printed.wait(60 if show else 0.2) == bool(show)
        return learn(*arguments, **options)

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(Stage, "line", noted)
    monkeypatch.setattr(runs, "learn", slow)
    rfdag.bootstrap(np.random.default_rng(0).normal(size=(60, 3)), runs=1, n_jobs=1, progress=show)
    lines = capsys.readouterr().err.splitlines()
    assert any(re.fullmatch(r"Learning from all rows: \d+ s so far", line) for line in lines) == bool(show)


def test_lines_tell_the_share_and_the_time_left(clock, capsys, monkeypatch):
    bar = Progress(True)
    with bar:
        report = bar.stage("Eliminating")
        clock.time += 20
        report(0.25)
        # One line, as the timer prints it.
        monkeypatch.setattr(bar._ended, "wait", lambda seconds: setattr(bar, "_wanted", False))
        bar._start()
    assert capsys.readouterr().err == "Eliminating: 25%, about 60 s left\n"


def test_no_line_comes_after_the_run(capsys):
    bar = Progress(True)
    with bar:
        bar.stage("Eliminating")
    bar._start()
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_the_time_left_of_a_later_stage():
    """In a pseudo-terminal; the stage before it reached its end."""
    code = (
        "from rfdag.runtime import progress; progress.PATIENCE = 0.0\n"
        "import time, types\n"
        "moment = [0.0]; progress.now = lambda: moment[0]\n"
        "with progress.Progress() as bar:\n"
        "    while bar._bar is None: time.sleep(0.01)\n"
        "    report = bar.stage('Eliminating'); moment[0] = 50.0; report(1.0)\n"
        "    report = bar.stage('Refining'); moment[0] = 80.0; report(0.25)\n"
        "    bar._bar.refresh()\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=environment) as process:
        process.wait()
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert re.search(r"Refining.*25%.*0:01:30", shown)
    assert "0:00:00" not in shown
