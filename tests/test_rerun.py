"""How a page says that its run is repeated: what it shows is run."""

import json
import re
import shlex
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag import simulate
from rfdag.cli import app
from rfdag.eliminate.rules import RULES
from rfdag.errors import DataWarning
from rfdag.report.content import content_of
from rfdag.report.rerun import rerun

QUICK = {"beam": 1, "refine": False}


def rows_of(p, n):
    return simulate.sample(simulate.linear_sem(simulate.random_dag(p, degree=2.5, rng=1), rng=1), n, rng=1)


def block_of(path):
    """Return the data inside a page."""
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.DOTALL)[1])


def learn_on_the_command_line(*words):
    done = CliRunner().invoke(app, ["learn", *map(str, words)])
    assert done.exit_code == 0, done.output


def edges_of(found):
    return {(edge.source, edge.target) for edge in found.edges}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a table, knowledge and a truth."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    rows = rows_of(5, 200)
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d", "e e"])
    frame.to_csv("in/my rows.csv", sep=";", decimal=",", index=False)
    frame.corr().to_csv("in/correlation.csv")
    Path("known facts.json").write_text('{"roots": ["c"]}')
    Path("truth.csv").write_text("source,target\na,b\n")
    return tmp_path


GIVEN = [
    [
        "in/my rows.csv", "--delimiter", ";", "--decimal", ",", "--method", "rfd", "--alpha", "0.01", "--seed", "3",
        "--refine", "--penalty", "1,2", "--knowledge", "known facts.json", "--truth", "truth.csv",
    ],
    ["in/correlation.csv", "--input", "correlation", "--n-samples", "200", "--no-refine"],
]  # fmt: skip


@pytest.mark.parametrize("words", GIVEN, ids=["data", "correlation"])
def test_the_command_and_the_code_of_a_page_give_the_same_page(words, folder):
    learn_on_the_command_line(*words, "--report", "page.html", "--out", "out")
    content = block_of(Path("page.html"))
    run = content["run"]
    assert run["notes"] == []
    given = shlex.split(run["command"])
    assert given[:2] == ["rfdag", "learn"]
    assert given[2] == words[0]
    assert given[given.index("--report") + 1] == "page.html"
    Path("page.html").unlink()
    learn_on_the_command_line(*given[2:])
    again = block_of(Path("page.html"))
    for part in ("order", "edges", "truth", "knowledge"):
        assert again[part] == content[part]
    assert again["run"]["command"] == run["command"]
    space = {}
    exec(run["python"], space)
    assert edges_of(space["result"]) == edges_of(rfdag.load("out/result.json"))
    assert space["result"].settings == rfdag.load("out/result.json").settings


def test_a_run_in_python_is_repeated_by_code_and_by_downloads(folder):
    data = pd.read_csv("in/my rows.csv", sep=";", decimal=",")
    known = rfdag.Knowledge(tiers=[["c", "e e"], ["a", "b"]], forbidden_within=[1], required=[("a", "b")])
    result = rfdag.learn(data, knowledge=known, **QUICK)
    content = block_of(result.report("page.html"))
    space = {"data": data}
    exec(content["run"]["python"], space)
    assert space["result"].knowledge == result.knowledge
    assert edges_of(space["result"]) == edges_of(result)
    assert len(content["run"]["notes"]) == 2
    texts = {form["file"]: form["text"] for form in content["downloads"]}
    Path("knowledge.json").write_text(texts["knowledge.json"])
    data.to_csv("data.csv", index=False)
    learn_on_the_command_line(*shlex.split(content["run"]["command"])[2:])
    again = block_of(Path("report.html"))
    assert again["edges"]["source"] == content["edges"]["source"]
    assert again["knowledge"] == content["knowledge"]


def test_long_knowledge_is_left_to_its_file(folder):
    result = rfdag.learn(np.zeros((40, 40)), input="dag", knowledge={"forbidden": list(permutations(range(40), 2))})
    again = rerun(result)
    assert again.python == "import rfdag\n\nresult = rfdag.learn(data, input='dag', knowledge='knowledge.json')"
    assert "knowledge.json is among the downloads of this page." in again.notes


@pytest.mark.parametrize(
    "names", [list("abcd"), ["it's", 'a "b"', "-c", "d"], [3, 2, 1, 0], [f"{at}" * 900 for at in range(4)]]
)
def test_code_names_the_columns_of_an_array(names):
    rows = rows_of(4, 200)
    result = rfdag.learn(rows, names=names, knowledge={"roots": [names[0]]}, **QUICK)
    again = rerun(result)
    space = {"data": rows}
    if "names=names" in again.python:
        assert "names stands for the names of the variables in the order of the columns." in again.notes
        space["names"] = names
    exec(again.python, space)
    assert space["result"].names == result.names
    assert space["result"].order == result.order
    assert space["result"].knowledge == result.knowledge


def test_numbered_columns_and_columns_of_a_file_are_not_named(folder):
    assert "names" not in rerun(rfdag.learn(rows_of(4, 200), **QUICK)).python
    path = "in/my rows.csv"
    assert "names" not in rerun(rfdag.learn(path, delimiter=";", decimal=",", **QUICK), path).python


def test_code_and_command_say_how_a_file_is_written(folder):
    path = "in/my rows.csv"
    result = rfdag.learn(path, "rfd", alpha=0.01, delimiter=";", decimal=",")
    again = rerun(result, path)
    assert again.python.endswith("rfdag.learn('in/my rows.csv', 'rfd', alpha=0.01, delimiter=';', decimal=',')")
    assert again.command.startswith("rfdag learn 'in/my rows.csv' --method rfd --alpha 0.01 --delimiter semicolon")
    space = {}
    exec(again.python, space)
    assert space["result"].settings == result.settings
    learn_on_the_command_line(*shlex.split(again.command)[2:])
    assert block_of("report.html")["order"] == result.causal_order.tolist()


def test_a_page_lists_the_method_its_options_and_the_price_of_an_edge():
    run = content_of(rfdag.learn(rows_of(4, 200), penalty=3, **QUICK))["run"]
    assert run["settings"]["method"] == "soft"
    assert run["settings"]["penalty"] == 3
    assert run["settings"]["delimiter"] is None
    assert run["changed"] == ["beam", "penalty", "refine"]
    assert run["edge_price"] == "3 ln n"
    assert "3 ln n per edge" in run["bic"]
    tested = content_of(rfdag.learn(rows_of(4, 200), "min-fill"))["run"]
    assert tested["score"] is None
    assert tested["settings"]["method"] == "min-fill"
    assert "rule" not in tested["settings"]


def test_a_result_of_moments_is_repeated_with_the_rows_behind_them():
    correlation = np.corrcoef(rows_of(4, 200), rowvar=False)
    moments = rfdag.Moments.from_correlation(correlation, 200)
    again = rerun(rfdag.learn(moments))
    assert again.python.endswith("rfdag.learn(data, input='correlation', n_samples=200)")
    assert again.command == "rfdag learn data.csv --input correlation --n-samples 200 --report report.html"
    space = {"data": correlation}
    exec(again.python, space)
    assert space["result"].n_samples == 200


def test_a_rule_of_the_users_own_is_repeated_in_python_only(monkeypatch):
    monkeypatch.setitem(RULES, "mine", RULES["min-degree"])
    rows = rows_of(4, 200)
    result = rfdag.learn(rows, method="mine", knowledge={"roots": [1]})
    again = rerun(result)
    assert again.command is None
    assert [note.split(" ")[:2] for note in again.notes] == [["The", "method"], ["data", "stands"]]
    space = {"data": rows}
    exec(again.python, space)
    assert space["result"].order == result.order
    assert content_of(result)["run"]["command"] is None


def test_a_command_takes_files_that_begin_with_hyphens(folder):
    pd.DataFrame(rows_of(4, 200), columns=list("abcd")).to_csv("-rows.csv", index=False)
    Path("-known.json").write_text('{"roots": ["c"]}')
    Path("-truth.csv").write_text("source,target\na,b\n")
    files = ["--knowledge", "-known.json", "--truth", "-truth.csv", "--report", "-page.html"]
    learn_on_the_command_line("./-rows.csv", "--no-refine", *files)
    page = Path("-page.html")
    content = block_of(page)
    words = shlex.split(content["run"]["command"])
    assert words[2] == "./-rows.csv"
    page.unlink()
    learn_on_the_command_line(*words[2:])
    assert block_of(page)["order"] == content["order"]


def test_a_page_counts_one_column_as_one():
    rows = rows_of(4, 200)
    rows[:, 1] = np.arange(200)
    with pytest.warns(DataWarning):
        findings = content_of(rfdag.learn(rows, **QUICK), data=rows)["health"]["findings"]
    assert any(text.startswith("Column 1 holds") for _, text in findings)
    rows[:, 2] = np.random.default_rng(0).permutation(200)
    with pytest.warns(DataWarning):
        findings = content_of(rfdag.learn(rows, **QUICK), data=rows)["health"]["findings"]
    assert any(text.startswith("Columns 1, 2 hold") for _, text in findings)
