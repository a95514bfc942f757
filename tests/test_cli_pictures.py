"""Pictures and reports of the commands: written with the other files or not at all, and checked before the run."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rfdag import simulate
from rfdag.cli import app
from rfdag.runtime.writing import csv_text

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".SVG": b"<?xml"}
COMMANDS = {"learn": [], "bootstrap": ["--runs", "5", "--jobs", "1"]}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dag = simulate.random_dag(6, degree=2, rng=1)
    rows = simulate.sample(simulate.linear_sem(dag, rng=1), 200, rng=1)
    Path("data.csv").write_text(csv_text([*"abcdef"], rows.tolist()))
    return "data.csv"


def run(command, *words):
    return CliRunner().invoke(app, [command, *map(str, words), *COMMANDS[command]])


def left(folder="."):
    return sorted(str(path) for path in Path(folder).rglob("*"))


@pytest.fixture
def no_run(monkeypatch):
    for name in COMMANDS:
        monkeypatch.setattr(f"rfdag.{name}", lambda *arguments, **options: pytest.fail("it ran first"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("ending", BEGINNINGS)
def test_a_picture_has_the_format_of_its_ending(command, ending, table):
    done = run(command, table, "--plot", f"graph{ending}")
    assert done.exit_code == 0, done.output
    assert Path(f"graph{ending}").read_bytes().startswith(BEGINNINGS[ending])
    assert f"graph{ending}" in done.stdout
    assert left() == sorted(["data.csv", f"graph{ending}"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_picture_goes_into_the_folder_that_is_made_for_the_files(command, table):
    done = run(command, table, "--out", "new/out", "--plot", "new/out/g.svg", "--json")
    assert done.exit_code == 0, done.output
    files = json.loads(done.stdout)["files"]
    assert "new/out/g.svg" in files
    assert all(Path(file).is_file() for file in files)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--plot", "graph.doc"], 2, "graph.doc ends in .doc, which is no format of pictures. End it in .png, .svg or"),
        (["--plot", "graph"], 2, "graph has no ending. End it in .png"),
        (["--plot", "graph.pgf"], 2, "ends in .pgf"),
        (["--plot", "nowhere/graph.png"], 1, "there is no folder nowhere"),
        (["--plot", "folder.png"], 1, "it is a folder"),
        (["--plot", "x.svg", "--report", "./x.svg"], 2, "--report and --plot both name x.svg"),
        (["--report", "nowhere/x.html"], 1, "there is no folder nowhere"),
        (["--out", "out", "--report", "out/edges.csv"], 2, "--out writes edges.csv into out itself"),
        (["--out", "data.csv", "--plot", "x.svg"], 1, "data.csv could not be written to"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(command, words, status, message, table, no_run):
    Path("folder.png").mkdir()
    before = left()
    done = run(command, table, *words)
    assert done.exit_code == status
    assert message in re.sub(r"\s+", " ", done.stderr)
    assert left() == before


def test_a_report_does_not_take_the_place_of_the_runs(table, no_run):
    done = run("bootstrap", table, "--out", "out", "--report", "out/runs.jsonl")
    assert done.exit_code == 2
    assert "--out writes runs.jsonl into out itself" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_matplotlib_is_missed_before_the_run(command, table, no_run, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "matplotlib" else find(name))
    done = run(command, table, "--plot", "graph.png")
    assert done.exit_code == 1
    assert "pip install 'rfdag[plots]'" in done.stderr
    assert left() == ["data.csv"]


def test_a_disk_that_fills_up_with_the_picture_leaves_nothing(table, monkeypatch):
    import tempfile

    make = tempfile.NamedTemporaryFile

    def full(*arguments, **options):
        if ".graph.png" in options.get("prefix", ""):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return make(*arguments, **options)

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    done = run("learn", table, "--out", "out", "--report", "x.html", "--plot", "graph.png")
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert left() == ["data.csv"]


def test_the_command_of_a_page_repeats_the_picture(table):
    kept = ["--out", "out", "--no-moments"]
    assert run("learn", table, "--report", "page.html", "--plot", "a graph.svg", *kept).exit_code == 0
    words = shlex.split(content_of(Path("page.html"))["run"]["command"])
    assert words[words.index("--plot") + 1] == "a graph.svg"
    Path("a graph.svg").unlink()
    assert run("learn", *words[2:]).exit_code == 0
    assert Path("a graph.svg").is_file()


def content_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="content">(.*?)</script>', text).group(1))
