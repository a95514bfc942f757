"""Completion by the Tab key, asked as shells ask for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rfdag.cli import app
from rfdag.studies.bench import names

PROGRAM = [sys.executable, "-X", "importtime", "-c", "from rfdag.cli import app; app(prog_name='rfdag')"]


def ask(environment):
    return CliRunner().invoke(app, [], prog_name="rfdag", env=environment).stdout


def in_bash(line):
    words = line.split(" ")
    return {"_RFDAG_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion")
    hostile = ["$(touch taken)", "\\$(touch taken)", "`touch taken`", "a'b", 'a"b', "two words", "--json", "*"]
    (path / "result.json").write_text(json.dumps({"names": ["age", "ability", "größe", 7, *hostile]}))
    (path / "broken.json").write_text('{"names": ')
    (path / "other.json").write_text('["names"]')
    return path


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rfdag le", {"learn"}),
        ("rfdag do", {"doctor"}),
        ("rfdag learn data.csv --me", {"--method"}),
        ("rfdag learn data.csv --method m", {"min-degree", "min-fill", "max-remove"}),
        ("rfdag learn data.csv --device ", {"cpu", "cuda"}),
        ("rfdag effect result.json age --adjustment ", {"optimal", "parents"}),
        ("rfdag effect result.json a", {"age", "ability"}),
        ("rfdag effect result.json ", {"age", "ability", "größe", "7"}),
        ("rfdag effect result.json age ab", {"ability"}),
        ("rfdag effect nowhere.json ", set()),
        ("rfdag effect broken.json ", set()),
        ("rfdag effect other.json ", set()),
        ("rfdag reproduce noi", {"noiseless"}),
        (
            "rfdag reproduce noiseless roc ",
            {"examples", "time", "scaling", "dense-family", "runtime", "nonparametric", "all"},
        ),
        ("rfdag bench --workloads sa", {"sachs", "sachs-log", "sachs-raw", "sachs-n10000"}),
        ("rfdag bench --workloads quick,sachs-", {"quick,sachs-log", "quick,sachs-raw", "quick,sachs-n10000"}),
        ("rfdag bench --contenders rfdag,flop-20-p", {"rfdag,flop-20-penalty-1", "rfdag,flop-20-pooled"}),
        # Nothing is offered for files, so that the shell completes their names itself.
        ("rfdag learn re", set()),
        ("rfdag learn data.csv --out re", set()),
    ],
)
def test_words_that_bash_is_offered(folder, line, offered, monkeypatch):
    monkeypatch.chdir(folder)
    found = set(ask(in_bash(line)).split())
    if line.startswith("rfdag reproduce noiseless"):
        found -= {"beyond-noiseless", "beyond-noisy"}
    assert found == offered


def test_zsh_and_fish_are_offered_the_same():
    asked = {"_TYPER_COMPLETE_ARGS": "rfdag learn data.csv --method min"}
    zsh = ask({**asked, "_RFDAG_COMPLETE": "complete_zsh"})
    assert '"min-degree"' in zsh
    assert '"min-fill"' in zsh
    fish = {"_RFDAG_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert ask({**asked, **fish}).split() == ["min-degree", "min-fill"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_for_the_shells(shell):
    script = ask({"_RFDAG_COMPLETE": f"source_{shell}"})
    assert f"_RFDAG_COMPLETE=complete_{shell}" in script


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rfdag effect result.json ag", "age"),
        ("rfdag reproduce noi", "noiseless"),
        ("rfdag bench --workloads qui", "quick"),
    ],
)
def test_completion_loads_no_numerics(folder, line, offered):
    environment = {**os.environ, **in_bash(line)}
    done = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment, check=False, cwd=folder)
    assert done.stdout.split() == [offered]
    loaded = {row.rsplit("|", 1)[-1].strip() for row in done.stderr.splitlines()}
    assert "rfdag.cli" in loaded
    assert not loaded & {"numpy", "scipy", "numba", "sklearn"}


def test_names_are_those_of_the_benchmark():
    from rfdag.studies.bench.catalogue import CONTENDERS, WORKLOADS

    assert tuple(WORKLOADS) == names.WORKLOADS
    assert tuple(dict.fromkeys(workload.group for workload in WORKLOADS.values())) == names.GROUPS
    assert tuple(CONTENDERS) == names.CONTENDERS
