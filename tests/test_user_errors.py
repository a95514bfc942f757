"""What people do by mistake, in Python and at the terminal: a calm message, an exit status, nothing left behind."""

import errno
import json
import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag import files
from rfdag.cli import app
from rfdag.errors import FileError, GraphError, OptionError

NAMES = ["age", "smoking", "cancer", "income"]


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(NAMES), *(",".join(map(repr, row)) for row in rows.tolist())]))
    return path


@pytest.fixture(scope="module")
def learnt(rows):
    return rfdag.learn(rows, names=NAMES, rule="rfd")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def refused(done, status, words):
    """Check that a command ended with a message in words, and not with a traceback."""
    assert done.exit_code == status, done.output
    assert words in " ".join(done.output.split())
    assert isinstance(done.exception, SystemExit)


# Knowledge

CIRCLE = [["age", "smoking"], ["smoking", "cancer"], ["cancer", "age"]]
WRONG = [
    ({"tiers": [["age"], ["smokng"]]}, OptionError, "names 'smokng' (nearest: 'smoking'), which the data do not have"),
    ({"roots": ["smokng"], "leaves": ["AGE"]}, OptionError, "'smokng' (nearest: 'smoking'), 'AGE' (nearest: 'age'), "),
    ({"required": [["age", "zzz"]]}, OptionError, "the columns are 'age', 'smoking', 'cancer', 'income'"),
    ({"tiers": [["age"], ["smoking", "age"]]}, OptionError, "'age' is in tiers 1 and 2"),
    ({"tiers": [["age", "age"]]}, OptionError, "Tier 1 lists 'age' more than once"),
    ({"required": CIRCLE}, GraphError, "circle 'age' → 'smoking' → 'cancer' → 'age'"),
    ({"required": CIRCLE[:1], "forbidden": CIRCLE[:1]}, GraphError, "it is forbidden as well. Take out one"),
    ({"requires": CIRCLE[:1]}, OptionError, "no part 'requires'; it has 'tiers'"),
]


@pytest.mark.parametrize(("parts", "error", "words"), WRONG)
def test_knowledge_that_cannot_be_used(parts, error, words, rows, table, tmp_path):
    with pytest.raises(error, match=re.escape(words)):
        rfdag.learn(rows, names=NAMES, knowledge=parts)
    with pytest.raises(error, match=re.escape(words)):
        rfdag.bootstrap(rows, 2, names=NAMES, knowledge=parts)
    (tmp_path / "known.json").write_text(json.dumps(parts))
    status = 2 if error is OptionError else 1
    for command in ("learn", "bootstrap"):
        refused(run(command, table, "--knowledge", tmp_path / "known.json"), status, words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b"/knowledge\naddtemporal\n1 age\n1 income\n",
            "line 4: tier 1 is listed twice; put its variables on one line",
        ),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
        (b"[1, 2]", "begins neither with /knowledge"),
        (b'{"tiers": [["age"', "is not JSON"),
        (None, "could not be read (Is a directory)"),
    ],
)
def test_files_of_knowledge_that_cannot_be_read(content, words, table, tmp_path):
    path = tmp_path / "known"
    path.mkdir() if content is None else path.write_bytes(content)
    refused(run("learn", table, "--knowledge", path), 1, words)
    refused(run("bootstrap", table, "--knowledge", path), 1, words)


@pytest.mark.parametrize("runs", [0, -1])
def test_a_bootstrap_of_no_runs(runs, table, tmp_path):
    out = tmp_path / "out"
    done = run("bootstrap", table, "--runs", runs, "--out", out)
    refused(done, 2, f"runs is how many times rows are drawn, a whole number of at least 1, not {runs}")
    assert not out.exists()


# Reports that cannot be written


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def unwritable(request, tmp_path, monkeypatch):
    """Return a path that cannot be written, and what is said of it."""
    if request.param == "no folder":
        return tmp_path / "nowhere" / "x.html", "there is no folder"
    if request.param == "a folder in its place":
        (tmp_path / "x.html").mkdir()
        return tmp_path / "x.html", "it is a folder. Name a file in it"
    if request.param == "a file for a folder":
        (tmp_path / "file").write_text("kept")
        return tmp_path / "file" / "x.html", "Not a directory"

    # Root may write to any folder, so the refusal of a read-only file system is played.
    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    return tmp_path / "x.html", "Read-only file system. Choose a folder that you may write to"


PLACES = ["no folder", "a folder in its place", "a file for a folder", "read-only"]


@pytest.mark.parametrize("unwritable", PLACES, indirect=True)
def test_a_report_that_cannot_be_written(unwritable, learnt, tmp_path):
    path, words = unwritable
    before = left_in(tmp_path)
    with pytest.raises(FileError, match=words):
        learnt.report(path)
    assert left_in(tmp_path) == before


@pytest.mark.parametrize("unwritable", PLACES, indirect=True)
def test_the_command_says_so_before_it_learns(unwritable, table, tmp_path, monkeypatch):
    path, words = unwritable
    before = left_in(tmp_path)
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: pytest.fail("it learnt first"))
    refused(run("learn", table, "--report", path), 1, words)
    assert left_in(tmp_path) == before


def test_a_truth_that_is_not_there_is_missed_before_learning(table, tmp_path, monkeypatch):
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: pytest.fail("it learnt first"))
    done = run("learn", table, "--report", tmp_path / "x.html", "--truth", tmp_path / "nowhere.csv")
    refused(done, 1, "There is no file")
    assert not (tmp_path / "x.html").exists()


def test_a_disk_that_fills_up_leaves_the_old_report(learnt, tmp_path, monkeypatch):
    path = learnt.report(tmp_path / "x.html")
    old = path.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(FileError, match="No space left on device"):
        learnt.report(path)
    assert path.read_bytes() == old
    assert left_in(tmp_path) == ["x.html"]


def test_text_that_cannot_be_encoded_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        files.write_text(tmp_path / "x.txt", "\ud800")
    assert left_in(tmp_path) == []


# Pictures of nothing


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("kind", ["graph", "matrix", "order", "trace", "truth"])
def test_a_graph_without_edges_has_every_picture(p, kind, tmp_path):
    empty = rfdag.learn(np.zeros((p, p)), input="dag", rule="rfd", names=[f"name {at}" for at in range(p)])
    axes = empty.plot(kind, truth=np.zeros((p, p)) if kind == "truth" else None)
    axes.figure.savefig(tmp_path / "x.png")
    legend = axes.get_legend()
    told = [axes.get_xlabel(), *(text.get_text() for text in (legend.get_texts() if legend else []))]
    if kind in ("graph", "matrix", "truth"):
        assert any("no edges" in text for text in told)
    shown = {text.get_text() for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels())}
    assert {f"name {at}" for at in range(p)} <= shown


def test_a_graph_without_edges_has_a_report_and_a_cell(tmp_path):
    for p in (1, 3):
        empty = rfdag.learn(np.zeros((p, p)), input="dag", rule="rfd")
        assert empty.report(tmp_path / "x.html").stat().st_size > 10_000
        assert "No edges." in empty._repr_html_()
