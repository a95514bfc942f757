"""Whole ways from a file to a report: a messy file at the terminal, a frame in a notebook, a wide Parquet file."""

import re
import shlex
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rfdag
from clinic import EDGES, HEADER, clinic
from fences import ROOT, fences_of
from rfdag import datasets
from rfdag.cli import app
from rfdag.errors import DataError, DataWarning, EquivalenceWarning
from rfdag.simulate import linear_sem, random_dag, sample

PAGE = ROOT / "docs" / "gallery" / "clinic.md"
SESSIONS = [fence for fence in fences_of(PAGE) if fence.language == "shell-session"]


def plain(text):
    return " ".join(text.split())


def agrees(said, shown):
    """Return whether an output is what a page shows, in which … stands for anything."""
    pattern = ".*?".join(re.escape(part) for part in plain(shown).split("…"))
    return re.fullmatch(pattern, plain(said)) is not None


def test_the_file_is_what_was_simulated():
    assert datasets.clinic_path().read_bytes() == clinic()


def test_a_messy_file_at_the_terminal(tmp_path, monkeypatch):
    """The commands of the page in the gallery, one after the other: each does what the one before advises."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(datasets.clinic_path(), "clinic.csv")
    advised = set()
    for session in SESSIONS:
        command, shown = session.text.split("\n", 1)
        program, *words = shlex.split(command.removeprefix("$ "))
        assert program == "rfdag"
        done = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
        assert done.exit_code == (1 if shown.startswith("Error") else 0), done.output
        assert agrees(done.output, shown), f"{session.place}\n{done.output}"
        given = {word for word in words if word.startswith("--")}
        # What is new was advised before; --id is a better word for what --drop does, files are the user's own wish.
        assert given - {"--id", "--out", "--report"} <= advised, given
        advised |= set(re.findall(r"--[a-z-]+", done.output)) | given
    result = rfdag.load("clinic/result.json")
    assert {(edge.source, edge.target) for edge in result.edges} == EDGES
    assert {column.name for column in result.columns} == set(HEADER)
    page = (tmp_path / "clinic.html").read_text(encoding="utf-8")
    for word in ("Weight lb", "row identifiers", "it is constant", "encoding cp1252", "count as 395 (of 400)"):
        assert word in page


def test_a_frame_in_a_notebook(tmp_path):
    rng = np.random.default_rng(4)
    skill = rng.normal(size=400)
    frame = pd.DataFrame(
        {
            "person": np.arange(1, 401),
            "town": rng.choice(["rome", "oslo", "bern"], 400),
            "skill": skill,
            "hours": rng.normal(38, 4, 400),
        }
    )
    frame["wage"] = 10 + 2 * skill + 0.5 * frame["hours"] + rng.normal(size=400)
    frame["rent"] = 300 + 20 * frame["wage"] + rng.normal(0, 40, 400)
    frame.loc[[4, 90], "hours"] = np.nan
    frame.loc[::40, "rent"] = -999

    with pytest.raises(DataError, match="missing='drop'"):
        rfdag.learn(frame, missing="error")
    with pytest.warns(DataWarning) as told:
        first = rfdag.learn(frame)
    said = " ".join(str(each.message) for each in told)
    assert said.startswith("Values are missing: 0.5 % of 'hours'. They were bridged by maximum likelihood")
    assert "3 levels: bern, oslo, rome" in str(first.columns)
    assert "na_values=[-999]" in said
    assert "drop=['person']" in said
    assert "−999 occurs 10 times" in first._repr_html_() + str(first.columns)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixed = rfdag.learn(frame, id="person", na_values=[-999], missing="drop")
        result = rfdag.learn(frame, drop=["town"], id="person", na_values=[-999], missing="drop")
    for found in (mixed, result):
        assert {(edge.source, edge.target) for edge in found.edges} == {
            ("skill", "wage"), ("hours", "wage"), ("wage", "rent"),
        }  # fmt: skip
    assert result.n_samples == 388
    assert result.effect("wage", "rent").estimate == pytest.approx(20, abs=2)
    with pytest.warns(EquivalenceWarning, match="in this DAG only"):
        rfdag.learn(frame[["skill", "wage"]]).effect("skill", "wage")
    html = result._repr_html_()
    assert "2 left out" in html
    assert "1 of categories" in mixed._repr_html_()
    assert "12 of 400 rows left out" in html
    axes = result.plot()
    axes.figure.savefig(tmp_path / "graph.png")
    found = rfdag.bootstrap(frame.dropna(), runs=5, columns=["skill", "hours", "wage"], n_jobs=1)
    found.plot("order").figure.savefig(tmp_path / "order.png")
    page = result.report(tmp_path / "wages.html", data=frame).read_text(encoding="utf-8")
    assert "row identifiers" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.png", "order.png", "wages.html"]


def test_a_wide_parquet_file(tmp_path):
    """200 rows × 2000 columns, with a name for each row, a constant column and a copy, to a report, within a limit."""
    rows = sample(linear_sem(random_dag(2000, 2 / 2000, rng=1), rng=2), 200, rng=3)
    frame = pd.DataFrame(rows, columns=[f"gene{at}" for at in range(2000)])
    frame.insert(0, "sample", [f"s{at}" for at in range(200)])
    frame["batch"] = 1.0
    frame["gene7_again"] = 3 * frame["gene7"]
    path, out, report = tmp_path / "genes.parquet", tmp_path / "out", tmp_path / "genes.html"
    frame.to_parquet(path, index=False)

    def run(*options):
        return CliRunner().invoke(app, ["learn", str(path), *options], env={"COLUMNS": "200"})

    refused = run()
    assert refused.exit_code == 1
    assert "'sample' (text, all different). Pass --drop sample to learn from the other 2002 columns" in refused.output
    refused = run("--id", "sample")
    assert "constant: 'batch'. Pass --awkward keep-one" in refused.output
    quick = ["--beam", "1", "--no-refine", "--parents", "threshold", "--precision", "shrinkage"]
    done = run(
        "--id", "sample", "--awkward", "keep-one", *quick, "--moments", "--out", str(out), "--report", str(report)
    )
    assert done.exit_code == 0, done.output
    assert "200 rows are few for 2000 columns" in plain(done.output)
    result = rfdag.load(out / "result.json")
    assert len(result.names) == 2000
    assert {column.name: column.done for column in result.columns if column.done != "used"} == {
        "sample": "left out, as it identifies rows",
        "batch": "left out: it is constant",
        "gene7_again": "left out: it is a copy of 'gene7' up to scale",
    }
    assert report.stat().st_size < 20e6
    edge = max(result.edges, key=lambda edge: abs(edge.partial_correlation))
    effect = CliRunner().invoke(app, ["effect", str(out / "result.json"), edge.source, edge.target])
    assert effect.exit_code == 0, effect.output
    assert edge.source in effect.output
