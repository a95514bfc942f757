"""What people do by mistake, in Python and at the terminal: a calm message, an exit status, nothing left behind."""

import errno
import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.errors import DataError, DataWarning, FileError, GraphError, NumericalWarning, OptionError
from rfdag.runtime import writing

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
    return rfdag.learn(rows, names=NAMES, method="rfd")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def refused(done, status, words):
    """Check that a command ended with a message in words, and not with a traceback."""
    assert done.exit_code == status, done.output
    assert words in " ".join(done.output.split())
    assert isinstance(done.exception, SystemExit)


# Knowledge

CYCLE = [["age", "smoking"], ["smoking", "cancer"], ["cancer", "age"]]
WRONG = [
    ({"tiers": [["age"], ["smokng"]]}, OptionError, "names 'smokng' (nearest: 'smoking'), which the data do not have"),
    ({"roots": ["smokng"], "leaves": ["AGE"]}, OptionError, "'smokng' (nearest: 'smoking'), 'AGE' (nearest: 'age'), "),
    ({"required": [["age", "zzz"]]}, OptionError, "the columns are 'age', 'smoking', 'cancer', 'income'"),
    ({"tiers": [["age"], ["smoking", "age"]]}, OptionError, "'age' is in tiers 1 and 2"),
    ({"tiers": [["age", "age"]]}, OptionError, "Tier 1 lists 'age' more than once"),
    ({"required": CYCLE}, GraphError, "cycle 'age' → 'smoking' → 'cancer' → 'age'"),
    ({"required": CYCLE[:1], "forbidden": CYCLE[:1]}, GraphError, "it is forbidden as well. Remove one"),
    ({"requires": CYCLE[:1]}, OptionError, "no part 'requires'; it has 'tiers'"),
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
        writing.write_text(tmp_path / "x.txt", "\ud800")
    assert left_in(tmp_path) == []


# Pictures of nothing


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("kind", ["graph", "matrix", "order", "trace", "truth"])
def test_a_graph_without_edges_has_every_picture(p, kind, tmp_path):
    empty = rfdag.learn(np.zeros((p, p)), input="dag", method="rfd", names=[f"name {at}" for at in range(p)])
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
        empty = rfdag.learn(np.zeros((p, p)), input="dag", method="rfd")
        assert empty.report(tmp_path / "x.html").stat().st_size > 10_000
        assert "No edges." in empty._repr_html_()


# A truth that cannot be compared with

TRUTHS = {
    "cycle": ("source,target\nage,cancer\ncancer,age\n", "is not a DAG: it has the cycle"),
    "no header": ("age,cancer\n", "does not begin with the columns source,target"),
    "a result cut short": ('{"format": ', "is not JSON"),
}


@pytest.mark.parametrize("kind", TRUTHS)
def test_a_truth_is_looked_at_before_learning(kind, table, tmp_path, monkeypatch):
    text, words = TRUTHS[kind]
    truth = tmp_path / ("truth.json" if kind == "a result cut short" else "truth.csv")
    truth.write_text(text)
    before = left_in(tmp_path)
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: pytest.fail("it learnt first"))
    refused(run("learn", table, "--report", tmp_path / "x.html", "--truth", truth, "--out", tmp_path / "out"), 1, words)
    assert left_in(tmp_path) == before


@pytest.mark.parametrize("place", ["x.html", "out/x.html"])
def test_a_truth_of_other_variables_leaves_nothing(place, table, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("source,target\nage,rain\n")
    before = left_in(tmp_path)
    done = run("learn", table, "--report", tmp_path / place, "--truth", truth, "--out", tmp_path / "out")
    refused(done, 1, "has variables that the data have not: 'rain'")
    assert left_in(tmp_path) == before


def test_a_report_goes_into_a_folder_that_is_made_for_it(table, tmp_path):
    out = tmp_path / "new" / "out"
    assert run("learn", table, "--out", out, "--report", out / "x.html").exit_code == 0
    assert {"x.html", "result.json", "edges.csv"} <= set(left_in(out))


def test_a_folder_that_cannot_be_written_leaves_no_report(table, tmp_path):
    (tmp_path / "out").write_text("kept")
    before = left_in(tmp_path)
    done = run("learn", table, "--out", tmp_path / "out", "--report", tmp_path / "x.html")
    refused(done, 1, "could not be written to")
    assert left_in(tmp_path) == before


def test_a_disk_that_fills_up_with_the_report_leaves_no_folder(table, tmp_path, monkeypatch):
    before = left_in(tmp_path)

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    done = run("learn", table, "--out", tmp_path / "out", "--report", tmp_path / "x.html")
    refused(done, 1, "No space left on device")
    assert left_in(tmp_path) == before


# Data that are something else


def covariance_of(rows):
    return np.cov(rows, rowvar=False)


@pytest.mark.parametrize(
    ("matrix", "kind"),
    [
        (lambda rows: np.corrcoef(rows, rowvar=False), "correlation"),
        (covariance_of, "covariance"),
        (lambda rows: pd.DataFrame(rows, columns=NAMES).corr(), "correlation"),
        (lambda rows: covariance_of(rows).tolist(), "covariance"),
    ],
)
def test_a_matrix_of_moments_is_not_taken_for_rows(matrix, kind, rows):
    with pytest.raises(DataError, match=f"Found a {kind} matrix, it seems.*pass input='{kind}'.* and n_samples=…"):
        rfdag.learn(matrix(rows))
    with pytest.raises(DataError, match=f"Found a {kind} matrix, it seems.*The rows behind it are needed"):
        rfdag.bootstrap(matrix(rows), 2)
    assert len(rfdag.learn(matrix(rows), input=kind, n_samples=60, method="rfd").order) == 4


def test_a_matrix_of_moments_is_found_in_files_that_are_read_in_pieces(rows, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "correlation.parquet"
    pd.DataFrame(np.corrcoef(rows, rowvar=False), columns=NAMES).to_parquet(path)
    with pytest.raises(DataError, match="Found a correlation matrix, it seems"):
        rfdag.learn(path)


def test_a_square_file_that_is_read_in_pieces_is_data_like_any_other(tmp_path):
    pytest.importorskip("pyarrow")
    square = np.random.default_rng(0).normal(size=(12, 12))
    frame = pd.DataFrame(square, columns=list("abcdefghijkl"))
    frame.to_parquet(tmp_path / "square.parquet")
    with pytest.warns(NumericalWarning, match="12 rows are few for 12 columns"):
        found = rfdag.learn(tmp_path / "square.parquet")
    with pytest.warns(NumericalWarning):
        expected = rfdag.learn(frame)
    assert found.order == expected.order
    assert np.array_equal(found.dag, expected.dag)


def test_constant_columns_are_no_matrix_of_moments():
    with pytest.raises(DataError, match="constant"):
        rfdag.learn(np.ones((4, 4)))


def test_a_file_with_a_matrix_of_moments(rows, tmp_path):
    path = tmp_path / "correlation.csv"
    pd.DataFrame(rows, columns=NAMES).corr().to_csv(path)
    refused(run("learn", path), 1, "pass --input correlation and --n-samples …")
    assert run("learn", path, "--input", "correlation", "--n-samples", 60, "--method", "rfd").exit_code == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda square: square.__setitem__((0, 1), square[0, 1] * (1 + 1e-9)),
        lambda square: square.__setitem__((2, 2), -1.0),
        lambda square: square.__setitem__((0, 0), square[0, 1] ** 2 / square[1, 1] / 2),
    ],
)
def test_square_tables_that_are_no_moments_are_data(change, rows):
    square = covariance_of(rows)
    change(square)
    with pytest.warns(NumericalWarning, match="4 rows are few for 4 columns"):
        assert len(rfdag.learn(square).order) == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "Found None. Data are a two-dimensional array"),
        ({"a": [1, 2], "b": [2, 1]}, "Found a dict with the keys 'a', 'b'; pandas.DataFrame makes a frame of it"),
        (7, "Found an object of type int. Data are"),
        ({1, 2}, "Found an object of type set. Data are"),
    ],
)
def test_things_that_are_no_data(data, words):
    for learn in (rfdag.learn, rfdag.bootstrap):
        with pytest.raises(DataError, match=re.escape(words)):
            learn(data)


def test_columns_without_names_are_called_by_number(rows):
    holed, flat, twin = rows.copy(), rows.copy(), rows.copy()
    holed[3, 1], holed[4, 2] = np.nan, np.inf
    flat[:, 1] = 4.0
    twin[:, 3] = 2 * twin[:, 1]
    words = "Column 1 has 1 missing value (NaN). Column 2 has infinite values (inf). Drop"
    for table, message in (
        (holed, words),
        (flat, "constant: column 1."),
        (twin, "column 3 is a copy of column 1 up to scale. Pass awkward='keep-one' to leave out column 3"),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            rfdag.learn(table, missing="error")
    with pytest.raises(DataError, match=r"^Column 2 has infinite values \(inf\)\. Drop"):
        rfdag.learn(holed)
    holed[4, 2] = 0.0
    with pytest.warns(DataWarning, match=r"^Values are missing: .* % of column 1\. "):
        rfdag.learn(holed)
    with pytest.raises(DataError, match="constant: 'smoking'"):
        rfdag.learn(flat, names=NAMES)


# Results that are something else


def test_a_result_is_wanted(table, learnt, tmp_path):
    words = "pass a result of rfdag, a file that rfdag learn --out or Result.save writes"
    refused(run("effect", table, "age", "cancer"), 1, words)
    with pytest.raises(FileError, match="pass a result of rfdag, a file that"):
        rfdag.load(table)
    folder = tmp_path / "out"
    folder.mkdir()
    refused(run("effect", folder, "age", "cancer"), 1, "is a folder without result.json; pass a result of rfdag")
    learnt.save(folder / "result.json")
    for words in (("effect", folder, "age", "cancer"), ("compare", folder, folder)):
        refused(run(*words), 1, f"{folder} is a folder; pass {folder / 'result.json'}.")
    with pytest.raises(FileError, match=r"is a folder; pass .*result\.json"):
        rfdag.load(folder)
    assert run("compare", folder / "result.json", folder / "result.json").exit_code == 0


def test_a_variable_that_is_misspelt(learnt):
    model = learnt.model()
    for act in (model.do, model.shift):
        with pytest.raises(
            OptionError, match=r"no variable 'Smokng' \(nearest: 'smoking'\), 'zzz'; the model has 'age'"
        ):
            act({"Smokng": 1, "zzz": 2})
        with pytest.raises(OptionError, match=r"a finite number; 'age' was given 'x', 'income' was given None\."):
            act({"age": "x", "cancer": 1, "income": None})
        with pytest.raises(OptionError, match=r"as in \{'age': 40\}, not as \['age'\]"):
            act(["age"])
    with pytest.raises(OptionError, match=r"no variable 'AGE' \(nearest: 'age'\)"):
        learnt.effect("AGE", "cancer")
    frame = pd.DataFrame(np.ones((2, 4)), columns=["Age", *NAMES[1:]])
    with pytest.raises(DataError, match=r"lack the columns 'age' \(nearest: 'Age'\) of the model"):
        model.log_likelihood(frame)


def test_a_truth_with_other_names_says_who_lacks_what(rows, learnt, tmp_path):
    other = rfdag.learn(rows, names=["rent", "smoking", "age", "heat"], method="rfd")
    words = "The truth lacks 'cancer', 'income', the result lacks 'rent', 'heat'; compare"
    with pytest.raises(GraphError, match=words):
        learnt.report(tmp_path / "x.html", truth=other)
    assert left_in(tmp_path) == []


def test_no_data_are_simulated_that_cannot_be_learnt_from(tmp_path):
    for option in ("--nodes", "--samples"):
        done = run("simulate", tmp_path / "out", option, 1)
        assert done.exit_code == 2
        assert f"'{option}'" in done.output
    assert left_in(tmp_path) == []
