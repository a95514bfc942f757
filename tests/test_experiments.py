"""The frame of `rfdag reproduce`: cells kept and taken up again, workers, and what users can do wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor
from typer.testing import CliRunner

from rfdag.cli import app
from rfdag.errors import FileError, OptionError
from rfdag.runtime import workers
from rfdag.runtime.journal import Journal
from rfdag.runtime.workers import Workers
from rfdag.studies.paper import catalogue
from rfdag.studies.paper.pages import TOO_SMALL
from rfdag.studies.paper.running import Run
from rfdag.studies.paper.study import Scope
from squares_study import ONE, SQUARES, complete, values


@pytest.fixture
def calls(tmp_path, monkeypatch):
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv("CALLS", str(path))
    return lambda: sorted(int(line) for line in path.read_text().split())


@pytest.fixture
def squares(monkeypatch):
    """Have the catalogue know the study of this file, and no other."""
    monkeypatch.setattr(catalogue, "_MODULES", {"squares": "squares"})
    monkeypatch.setattr(catalogue, "_study", lambda name: SQUARES)


# Cells.


def test_all_cells_are_run_and_kept(tmp_path, calls):
    done = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert values(done) == [0, 1, 4, 9, 16, 25]
    assert done.fresh == 6
    lines = (tmp_path / "cells" / "squares.jsonl").read_text().splitlines()
    assert len(lines) == 6
    again = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert values(again) == values(done)
    assert (again.fresh, again.foreign) == (0, 0)
    assert calls() == list(range(6))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_stumbled_goes_on(tmp_path, calls, monkeypatch, jobs):
    monkeypatch.setenv("STUMBLE", "4")
    done = complete(SQUARES, Scope(seed=0), tmp_path, Workers(jobs))
    # All the others are run and kept.
    assert values(done) == [0, 1, 4, 9, 25]
    (trouble,) = done.failures
    assert '"number": 4' in trouble
    assert "a stumbling block" in trouble
    monkeypatch.delenv("STUMBLE")
    # Workers stay alive for a while, with the environment they were started in; no other test is to meet them.
    get_reusable_executor().shutdown(wait=True)
    again = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert values(again) == [0, 1, 4, 9, 16, 25]
    assert (again.fresh, again.failures) == (1, [])
    assert calls().count(4) == 2
    assert calls().count(0) == 1


@pytest.mark.parametrize("ending", [b'{"cell": {"num', b'{"cell": {"name": "\xe2\x86'])
def test_half_a_line_costs_one_cell(tmp_path, ending):
    """Also where it ends within a letter."""
    complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    file = tmp_path / "cells" / "squares.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + ending)
    done = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert values(done) == [0, 1, 4, 9, 16, 25]
    assert done.fresh == 1


def test_a_journal_reads_what_it_wrote(tmp_path):
    entry = {"words": "a\u2028b\x85c → d\n"}
    Journal(tmp_path / "journal").write(entry)
    assert list(Journal(tmp_path / "journal")) == [entry]


def test_another_setting_is_neither_mixed_in_nor_lost(tmp_path):
    complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    other = complete(SQUARES, Scope(seed=100), tmp_path, ONE)
    assert values(other) == [100, 101, 104, 109, 116, 125]
    assert (other.fresh, other.foreign) == (6, 6)
    first = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert (first.fresh, first.foreign) == (0, 6)


def test_fewer_graphs_are_a_part_of_more(tmp_path):
    complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    quick = complete(SQUARES, Scope(seed=0, quick=True), tmp_path, ONE)
    assert values(quick) == [0, 1, 4]
    assert (quick.fresh, quick.foreign) == (0, 3)


def test_cells_that_are_pointless_are_not_run(tmp_path, calls):
    from dataclasses import replace

    def beyond(key, records):
        return any(record["value"] >= 4 for record in records)

    done = complete(replace(SQUARES, pointless=beyond), Scope(seed=0), tmp_path, ONE)
    assert calls() == [0, 1, 2]
    assert values(done) == [0, 1, 4]


def test_reports_end_at_the_cost(tmp_path):
    from dataclasses import replace

    study = replace(SQUARES, cost=lambda key: key["number"] + 1.0, pointless=lambda key, found: key["number"] > 3)
    run = Run(study, Scope(seed=0), tmp_path)
    assert run.cost == 21
    spent = []
    run.complete(ONE, spent.append)
    assert spent == sorted(spent)
    assert spent[-1] == 21


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_number_of_workers_changes_nothing(tmp_path, jobs):
    done = complete(SQUARES, Scope(seed=3), tmp_path, Workers(jobs))
    assert values(done) == [3, 4, 7, 12, 19, 28]


@pytest.mark.filterwarnings("ignore")
def test_on_a_dask_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        done = complete(SQUARES, Scope(seed=3), tmp_path, Workers(dask=cluster.scheduler_address))
    assert values(done) == [3, 4, 7, 12, 19, 28]
    assert done.fresh == 6


def test_no_dask_cluster(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "CONNECT_WITHIN", 0.3)
    with pytest.raises(OptionError, match=r"No Dask scheduler answers at tcp://127.0.0.1:1 .*dask scheduler"):
        complete(SQUARES, Scope(), tmp_path, Workers(dask="tcp://127.0.0.1:1"))


def test_a_file_that_is_no_ledger(tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "squares.jsonl").write_text('{"something": "else"}\n')
    with pytest.raises(FileError, match=r"squares.jsonl has lines that are not cells"):
        complete(SQUARES, Scope(), tmp_path, ONE)


# The command.


def run(*arguments, **options):
    return CliRunner().invoke(app, ["reproduce", *arguments], **options)


@pytest.mark.usefixtures("squares")
def test_command_writes_and_tells(tmp_path):
    done = run("squares", "--out", str(tmp_path / "new"), "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "squares grow" in done.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "cells", "squares.csv", "squares.svg", "squares.png", "squares.md", "reproduction.md",
    }  # fmt: skip


@pytest.mark.usefixtures("squares")
def test_command_collects_a_page_elsewhere(tmp_path):
    place = tmp_path / "docs" / "page.md"
    place.parent.mkdir()
    done = run("all", "--out", str(tmp_path / "docs" / "files"), "--jobs", "1", "--page", str(place))
    assert done.exit_code == 0, done.output
    assert "(files/squares.svg)" in place.read_text()


@pytest.mark.usefixtures("squares")
def test_a_page_needs_all_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_MODULES", {"squares": "squares", "cubes": "cubes"})
    done = run("squares", "--out", str(tmp_path / "new"), "--page", str(tmp_path / "page.md"))
    assert done.exit_code == 2
    assert "--page collects all figures" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("squares")
def test_command_tells_of_a_cell_that_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("STUMBLE", "4")
    done = run("squares", "--out", str(tmp_path), "--jobs", "1")
    assert done.exit_code == 1
    assert "squares: 1 cells failed, so it is not drawn" in done.stderr
    assert "a stumbling block" in done.stderr
    assert not (tmp_path / "squares.csv").exists()
    monkeypatch.delenv("STUMBLE")
    assert run("squares", "--out", str(tmp_path), "--jobs", "1").exit_code == 0


@pytest.mark.usefixtures("squares")
def test_command_tells_whose_files_it_replaces(tmp_path):
    quick = run("squares", "--out", str(tmp_path), "--jobs", "1", "--quick")
    assert TOO_SMALL in " ".join(quick.stdout.split())
    assert TOO_SMALL in (tmp_path / "squares.md").read_text()
    done = run("squares", "--out", str(tmp_path), "--jobs", "1")
    assert "replaces the files that `rfdag reproduce squares --quick` made" in done.stderr
    assert "replaces" not in run("squares", "--out", str(tmp_path), "--jobs", "1").stderr


@pytest.mark.usefixtures("squares")
def test_command_names_peers_that_are_not_there(tmp_path, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr(catalogue, "_study", lambda name: replace(SQUARES, homes=("flopsearch", "ges")))
    done = run("squares", "--out", str(tmp_path), "--jobs", "1", "--peers", str(tmp_path / "nowhere"))
    assert done.exit_code == 0
    assert ": flopsearch, ges. Install them with `rfdag bench --setup --peers FOLDER`." in done.stderr


@pytest.mark.usefixtures("squares")
def test_command_as_json(tmp_path):
    done = run("squares", "--out", str(tmp_path), "--jobs", "1", "--json", "--seed", "1")
    content = json.loads(done.stdout)
    assert content["figures"][0]["claims"][0]["held"] is True
    assert [row["value"] for row in content["figures"][0]["rows"]] == [1, 2, 5, 10, 17, 26]
    assert any(file.endswith("squares.svg") for file in content["files"])


@pytest.mark.usefixtures("squares")
def test_command_tells_of_cells_of_other_settings(tmp_path):
    run("squares", "--out", str(tmp_path), "--jobs", "1", "--seed", "1")
    done = run("squares", "--out", str(tmp_path), "--jobs", "1", "--seed", "2")
    assert done.exit_code == 0
    assert "also holds 6 cells of other settings or versions" in done.stderr
    assert len((tmp_path / "cells" / "squares.jsonl").read_text().splitlines()) == 12


def test_unknown_figure(tmp_path):
    done = run("figure-9", "--out", str(tmp_path / "new"))
    assert done.exit_code == 2
    assert "There is no figure 'figure-9'. Known are" in done.stderr
    assert not (tmp_path / "new").exists()


def test_no_figure():
    done = run()
    assert done.exit_code == 2
    assert "Name a figure" in done.stderr


@pytest.mark.usefixtures("squares")
def test_a_folder_that_may_not_be_written_to(tmp_path, calls):
    place = tmp_path / "file"
    place.write_text("mine")
    done = run("squares", "--out", str(place), "--jobs", "1")
    assert done.exit_code == 1
    assert "could not be opened" in done.stderr
    assert "choose another folder" in done.stderr
    # Told before anything was run, and what was there is untouched.
    assert calls() == []
    assert place.read_text() == "mine"


@pytest.mark.usefixtures("squares")
def test_without_matplotlib(tmp_path, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = run("squares", "--out", str(tmp_path / "new"))
    assert done.exit_code == 1
    assert "pip install 'rfdag[plots]'" in done.stderr
    assert not (tmp_path / "new").exists()


def test_list_names_every_figure():
    done = run("--list", "--json")
    assert [each["name"] for each in json.loads(done.stdout)["figures"]] == catalogue.names()


KILLED = """
import sys, time
sys.path.insert(0, {tests!r})
import squares_study as here
from dataclasses import replace
from pathlib import Path
from rfdag.studies.paper.running import Run
from rfdag.runtime.workers import Workers
from rfdag.studies.paper.study import Scope

def slow(key, scope):
    if key["number"] == 3:
        Path({here!r}, "reached").touch()
        time.sleep(60)
    return here.measure(key, scope)

here.complete(replace(here.SQUARES, measure=slow), Scope(seed=0), Path({here!r}), Workers(jobs=1))
"""


def test_a_killed_run_goes_on(tmp_path, calls):
    code = KILLED.format(tests=str(Path(__file__).parent), here=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", code])
    while not (tmp_path / "reached").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert calls() == [0, 1, 2]
    done = complete(SQUARES, Scope(seed=0), tmp_path, ONE)
    assert values(done) == [0, 1, 4, 9, 16, 25]
    assert calls() == list(range(6))
