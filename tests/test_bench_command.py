"""`rfdag bench`, and the script of docs/accuracy.md."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys

import pytest

import rfdag
from rfdag.studies.bench import catalogue, cells, command, harness, rulers
from small_workload import ROOT, TRUE, data_of, tiny

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
    assert table[0] == "graphs,p,n,contender,graphs counted,SHD,± SE,worst SHD,F1,TPR − FPR,time (s),time / FLOP 0"
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
    assert [row["workload"] for row in content["workloads"]] == list(catalogue.WORKLOADS)
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


# The script.


@pytest.fixture
def accuracy(monkeypatch, tmp_path):
    """The script of docs/accuracy.md, which has a tiny workload and a cell of a peer, and writes to a folder."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = importlib.import_module("accuracy")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "accuracy.md").write_text("<!-- accuracy: begin -->\nas it was\n<!-- accuracy: end -->\n")
    for name, place in (("RESULTS", tmp_path), ("ROOT", tmp_path)):
        monkeypatch.setattr(script, name, place)
    monkeypatch.setattr(importlib.import_module("report"), "RESULTS", tmp_path)
    monkeypatch.setattr(script, "WORKLOADS", {"tiny": tiny(group="small")})
    monkeypatch.setattr(script, "chosen", lambda names: [tiny(group="small")])
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
    assert "tiny graphs,6,60,ges,1,3.0,–,3,0.25," in (tmp_path / "accuracy.csv").read_text()
    page = (tmp_path / "docs" / "accuracy.md").read_text()
    assert "as it was" not in page
    assert "measured in an earlier run: flopsearch" in page


def test_the_page_stays_where_cells_of_rfdag_are_missing(accuracy, tmp_path):
    with pytest.raises(SystemExit, match=r"no cells of rfdag.*: tiny\. Run them.*--own"):
        accuracy.main(["--contenders", "rfdag-rfd", "--graphs", "1"])
    assert "as it was" in (tmp_path / "docs" / "accuracy.md").read_text()
    assert not (tmp_path / "accuracy.csv").exists()


@pytest.mark.parametrize("width", [80, 120])
def test_no_name_is_cut_in_a_narrow_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    names = (*catalogue.CONTENDERS, *rulers.RULERS)
    scores = {"SHD": 123.4, "F1": 0.987, "TPR − FPR": 0.912, "time (s)": 0.0123, "time / FLOP 0": 123.0}
    rows = [
        {
            "graphs": family,
            "p": 100,
            "n": 1000,
            "contender": name,
            "graphs counted": "3 of 5: more than 120 s",
            **scores,
        }
        for family in ("degree 4", "degree 8, noise variances from U(.5, 2)")
        for name in names
    ]
    command._report(rows, [], harness.Settings(), None, as_json=False)
    command._list(harness.Settings(), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    # Once for each of the two families, and once in the list of contenders.
    for name, times in [*((name, 3) for name in catalogue.CONTENDERS), *((name, 2) for name in rulers.RULERS)]:
        assert sum(line.startswith(f" {name}  ") for line in lines) == times, name
    assert "degree 8, noise variances from U(.5, 2); p = 100, n = 1000" in lines
    assert all(sum(line.startswith(f" {name}  ") for line in lines) == 1 for name in catalogue.WORKLOADS)
