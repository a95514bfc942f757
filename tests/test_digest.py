"""What `rfdag learn` says at its end: on terminals of all widths, and into a pipe."""

from __future__ import annotations

import io
import os
import pty
import shlex
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.commands import digest
from rfdag.commands.next_steps import Given, next_steps
from rfdag.errors import Message, keyword
from rfdag.input.description import Description
from rfdag.simulate import linear_sem, random_dag, sample

PROGRAM = [sys.executable, "-c", "from rfdag.cli import main; main()"]


@pytest.fixture
def shown(monkeypatch):
    """Return a function that shows a result as on a terminal of some width, without colours."""

    def show(result, width=80, files=(), steps=()):
        text = io.StringIO()
        terminal = partial(Console, file=text, force_terminal=True, width=width, no_color=True, highlight=False)
        monkeypatch.setattr(digest, "Console", lambda: terminal(color_system=None))
        digest.tell(result, list(files), list(steps))
        return text.getvalue()

    return show


def collider(names=("a", "b", "c", "d")):
    """Return a result on a → c ← b, c → d: every direction follows from the data."""
    rows = np.random.default_rng(1).normal(size=(400, 4))
    rows[:, 2] += rows[:, 0] + rows[:, 1]
    rows[:, 3] += rows[:, 2]
    return rfdag.learn(rows, names=list(names))


def summary_of(text):
    head, _, summary = text.partition("Summary")
    return head, dict(line.strip().split(maxsplit=1) for line in summary.splitlines()[1:] if line[:1].strip())


def given(**changes):
    """Return what a plain run on data.csv is given, but for some changes."""
    return Given([Path("data.csv")], None, None, None)._replace(**changes)


def test_the_whole_way_on_a_terminal(tmp_path):
    """The summary comes last, fits a small terminal, and its commands work."""
    rows = sample(linear_sem(random_dag(12, degree=4, rng=1), rng=1), 300, rng=1)
    header = ",".join(f"variable {at}" for at in range(12))
    np.savetxt(tmp_path / "my data.csv", rows, delimiter=",", header=header, comments="")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "80", "LINES": "24"}
    words = [*PROGRAM, "learn", "my data.csv", "--out", "found", "--penalty", "3"]
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path) as process:
        os.close(theirs)
        text = ""
        while chunk := read(ours):
            text += chunk
    os.close(ours)
    assert process.returncode == 0, text
    lines = text[text.index("Summary") :].splitlines()
    assert len(lines) <= 20
    assert "12 variables, 300 rows, method soft" in lines[1]
    assert "found: result.json, edges.csv, order.txt, graph.dot, graph.graphml" in " ".join(text.split())
    commands = [line[line.index("rfdag ") :] for line in lines if "rfdag " in line]
    assert [command.split()[1] for command in commands] == ["bootstrap", "effect"]
    assert shlex.split(commands[0]) == [
        "rfdag",
        "bootstrap",
        "my data.csv",
        "--penalty",
        "3",
        "--out",
        "found/bootstrap",
    ]
    done = subprocess.run([*PROGRAM, *shlex.split(commands[1])[1:]], capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    piped = subprocess.run([*PROGRAM, "learn", "my data.csv"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "Summary" not in piped.stdout
    assert "rfdag " not in piped.stdout


def read(terminal):
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:
        # A pseudo-terminal whose other side is closed says so by an error.
        return ""


def test_first_causes_and_last_effects(shown):
    head, lines = summary_of(shown(collider()))
    assert "Causal order" in head
    assert lines["Edges"] == "3: 3 compelled, 0 could point either way"
    assert set(lines["First"].replace(",", " ").split()) == {"causes", "a", "b"}
    assert lines["Last"] == "effects  d"
    assert "Unconnected" not in lines


def test_open_directions_leave_causes_and_effects_open(shown):
    chain = rfdag.learn([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], input="dag", names=list("abcd"))
    _, lines = summary_of(shown(chain))
    assert lines["Edges"] == "2: 0 compelled, 2 could point either way"
    assert not {"First", "Last"} & set(lines)
    assert lines["Unconnected"] == "d"
    assert "exact input" in lines["Run"]


def test_edges_come_strongest_first_and_the_rest_is_counted(shown, monkeypatch):
    monkeypatch.setattr(digest, "EDGES_ON_TERMINAL", 2)
    result = collider()
    head, _ = summary_of(shown(result))
    gains = sorted((edge.gain for edge in result.edges), reverse=True)
    listed = [float(line.split()[-1]) for line in head.splitlines() if " → " in line and "+" in line]
    assert listed == pytest.approx(gains[:2], rel=0.01)
    assert "… and 1 more; --out writes them all." in head


def test_no_edges(shown):
    result = rfdag.learn(np.random.default_rng(0).normal(size=(200, 3)))
    head, lines = summary_of(shown(result, steps=next_steps(result, given(out=Path("out")))))
    assert "0 edges" in head
    assert lines["Edges"].startswith("none")
    assert not {"First", "Last", "Unconnected", "Strongest", "How"} & set(lines)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_long_names_stay_inside_the_terminal(shown, width):
    names = ["temperature_" * 25 + str(at) for at in range(4)]
    text = shown(collider(names), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("BIC gain") == 1
    # The ends of the names still tell them apart.
    assert {line.split()[0][-1] for line in text.splitlines() if "  →  " in line} == {"0", "1", "2"}


def test_a_thousand_variables(shown):
    result = rfdag.learn(random_dag(1000, degree=2, rng=1, sparse=True), input="dag")
    text = shown(result)
    assert len(text.splitlines()) < 60
    assert "and 900 more" in text
    _, lines = summary_of(text)
    assert lines["First"].count(",") == digest.NAMED - 1
    assert lines["First"].endswith("more")


def test_warnings_and_knowledge_are_in_the_summary(shown):
    rows = np.random.default_rng(0).normal(size=(12, 30))
    rows[:, 1] += 3 * rows[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rfdag.errors.NumericalWarning)
        result = rfdag.learn(rows, names=[f"x{at}" for at in range(30)], knowledge={"roots": ["x0"]})
    _, lines = summary_of(shown(result))
    assert "the one constraint holds" in lines["Knowledge"]
    assert result.warnings
    assert lines["Warning"].split()[0] == result.warnings[0].split()[0]


def test_a_suggested_bootstrap_carries_the_options_of_the_run():
    rows = sample(linear_sem(random_dag(5, degree=3, rng=1), rng=1), 300, rng=1)
    result = rfdag.learn(rows, method="rfd", alpha=0.01, refine=True, random_state=7)
    written = Description(delimiter=";", decimal=",", header=False)
    result = replace(result, settings=replace(result.settings, description=written), regressions=None)
    steps = dict(next_steps(result, given(knowledge=Path("known facts.txt"))))
    assert steps["Keep it"] == "the same command with --out FOLDER"
    assert steps["How sure?"] == (
        "rfdag bootstrap data.csv --method rfd --alpha 0.01 --refine --delimiter semicolon --decimal , --no-header "
        "--seed 7 --knowledge 'known facts.txt' --out bootstrap"
    )
    assert "How large?" not in steps
    steps = dict(next_steps(result, given(out=Path("out"), report=Path("my report.html"))))
    assert steps["Look closer"] == "open 'my report.html' in a browser"
    assert "Keep it" not in steps
    assert steps["How large?"].startswith("rfdag effect out/result.json ")


@pytest.mark.parametrize(
    "options",
    [
        {"method": "rfd", "depth": 2},
        {"method": "rfd", "pairs": "neighbours"},
        {"method": "gsp", "initial": "min-degree"},
        {"method": "min-fill", "alpha": 0.01},
        {"parents": "threshold", "refine": False},
        {"rescoring": "exact", "time_limit": 60.0, "precision": "sample"},
    ],
)
def test_a_suggested_bootstrap_is_given_every_option(options, monkeypatch):
    rows = sample(linear_sem(random_dag(5, degree=3, rng=1), rng=1), 300, rng=1)
    result = rfdag.learn(rows, **options)
    taken = []
    monkeypatch.setattr("rfdag.bootstrap", lambda *arguments, **given: taken.append(given) or 1 / 0)
    words = shlex.split(dict(next_steps(result, given()))["How sure?"])
    assert isinstance(CliRunner().invoke(app, words[1:]).exception, ZeroDivisionError)
    assert {name: taken[0].get(name) for name in options} == options


@pytest.mark.parametrize("options", [{"method": "gsp", "runs": 2}, {"blocks": True}])
def test_no_bootstrap_is_suggested_that_would_drop_an_option(options):
    rows = sample(linear_sem(random_dag(5, degree=3, rng=1), rng=1), 300, rng=1)
    result = rfdag.learn(rows, **options)
    assert result.edges
    assert "How sure?" not in dict(next_steps(result, given()))


def test_warnings_name_options_as_the_command_line_does(shown, monkeypatch):
    warning = Message(f"Consider {keyword('parents', 'threshold')} with {keyword('refine', False)}.")
    result = replace(collider(), warnings=(warning, "As in a file, with refine=False."), regressions=None)
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: result)
    done = CliRunner().invoke(app, ["learn", "data.csv"])
    assert "Warning: Consider --parents threshold with --no-refine." in done.output
    assert "Warning: As in a file, with refine=False." in done.output
    assert "Consider parents='threshold' with refine=False." in shown(result)


def test_what_an_edge_costs_is_shown_beside_the_bic(shown):
    _, lines = summary_of(shown(collider(), width=200))
    assert lines["BIC"].endswith("; an edge costs 2 ln n (ln n in the textbook's BIC)")
    rows = np.random.default_rng(1).normal(size=(400, 4))
    dear = rfdag.learn(rows, penalty=3, gamma=0.25)
    assert "an edge costs 3 ln n + 0.5 ln p (ln n in the textbook's BIC)" in shown(dear, width=200)
    assert "BIC" not in summary_of(shown(rfdag.learn(rows, "rfd"), width=200))[1]


def test_a_suggested_bootstrap_takes_the_penalty_that_was_chosen():
    rows = sample(linear_sem(random_dag(5, degree=3, rng=1), rng=1), 300, rng=1)
    result = rfdag.learn(rows, penalty=[3, 4.5])
    words = shlex.split(dict(next_steps(result, given()))["How sure?"])
    assert float(words[words.index("--penalty") + 1]) == result.penalty


def test_suggested_commands_take_names_and_paths_that_begin_with_hyphens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["-a", "--help", "--range", "-d"]
    rows = np.random.default_rng(1).normal(size=(400, 4))
    rows[:, 2] += rows[:, 0] + rows[:, 1]
    rows[:, 3] += rows[:, 2]
    np.savetxt("-data.csv", rows, delimiter=",", header=",".join(names), comments="")
    run = CliRunner().invoke
    assert run(app, ["learn", "./-data.csv", "--out", "-found"]).exit_code == 0
    result = rfdag.load(tmp_path / "-found" / "result.json")
    steps = dict(next_steps(result, given(data=[Path("-data.csv")], out=Path("-found"), report=Path("-page.html"))))
    assert steps["Look closer"] == "open ./-page.html in a browser"
    assert steps["How sure?"] == "rfdag bootstrap ./-data.csv --out ./-found/bootstrap"
    done = run(app, [*shlex.split(steps["How sure?"])[1:], "--runs", "2", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    words = shlex.split(steps["How large?"])
    assert words[2:4] == ["--", "./-found/result.json"]
    done = run(app, words[1:])
    assert done.exit_code == 0, done.output
    assert all(name in done.output for name in words[4:])


def test_names_that_cannot_be_typed_are_not_suggested():
    steps = dict(next_steps(collider(["a\x1b[31m", "b\n", "c\r", "d\x07"]), given(out=Path("out"))))
    assert "How large?" not in steps
    assert "How sure?" in steps


def test_close_calls_and_advice_are_in_table_and_summary(shown):
    rows = sample(linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1, weights=(0.3, 0.3)), 150, rng=4)
    weak = rfdag.learn(rows, names=["rain", "sprinkler", "wet"])
    head, lines = summary_of(shown(weak, width=100))
    assert head.count("→ ≈") == 2
    assert "≈ close call" in head
    assert lines["Close"].startswith("calls   2 edges hang on less than 6 BIC units")
    assert "Directions" not in lines
    head, lines = summary_of(shown(collider()))
    assert "≈" not in head
    assert "Close" not in lines
    chain = sample(linear_sem(np.eye(5, k=1), rng=1, weights=(0.8, 0.9)), 500, rng=1)
    text = shown(rfdag.learn(chain))
    assert "4 of 4 edges could point either way" in summary_of(text)[1]["Directions"]
    assert ", ".join(map(str, rfdag.learn(chain).order)) in text


def test_advice_is_spelled_for_the_command_line(tmp_path):
    chain = sample(linear_sem(np.eye(5, k=1), rng=1, weights=(0.8, 0.9)), 500, rng=1)
    np.savetxt(tmp_path / "data.csv", chain, delimiter=",", header="a,b,c,d,e", comments="")
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "data.csv")])
    assert done.exit_code == 0
    assert "pass --knowledge …" in " ".join(done.stdout.split())
    assert "→" not in done.stdout[done.stdout.index("\n", done.stdout.index("Causal order")) :]


def test_the_effect_along_a_compelled_arrow_is_suggested(tmp_path):
    result = collider()
    steps = dict(next_steps(result, given(out=Path("out"))))
    cause, outcome = steps["How large?"].split()[-2:]
    assert result.effect(cause, outcome).possible is None
