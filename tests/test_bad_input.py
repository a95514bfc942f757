"""Every way to misuse the input gets an error that names what was found and says what to do."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import rfdag
from rfdag.errors import (
    DataError,
    DataWarning,
    FileError,
    GraphError,
    MatrixError,
    NumericalWarning,
    OptionError,
    RfdagError,
)
from rfdag.input import files
from rfdag.input.reading import as_table
from rfdag.runtime import writing


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(50, 4))


@pytest.fixture
def frame(rows):
    return pd.DataFrame(rows, columns=["age", "income", "height", "weight"])


def refuses(error, *words):
    """Expect an error of this class whose message holds all the words."""
    pattern = "".join(f"(?=.*{word})" for word in words)
    return pytest.raises(error, match=f"(?s){pattern}")


def test_errors_are_value_errors():
    assert issubclass(RfdagError, ValueError)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.empty((0, 3)), ["0 sample", "empty"]),
        (np.empty((5, 0)), ["0 feature"]),
        (np.ones((5, 1)), ["n_features=1", "at least two columns"]),
        (np.ones((1, 3)), ["1 sample", "rows"]),
        (np.ones(5), ["shape \\(5,\\)", "one column per variable", "reshape"]),
        (np.ones((2, 2, 2)), ["shape \\(2, 2, 2\\)"]),
        ([[1, 2], [3]], ["different lengths"]),
        (np.array([["a", 1], ["b", 2], ["c", 2]], dtype=object), ["not numbers: column 0 .text, all different"]),
        (np.array([["a", 1], ["b", 2]], dtype=object), ["2 rows and 2 columns", "at least 3"]),
        (np.ones((3, 2)) * 1j, ["Complex data not supported"]),
        (sparse.eye_array(4), ["sparse", "toarray"]),
    ],
)
def test_tables_that_are_none(table, words):
    with refuses(DataError, *words):
        rfdag.learn(table)


def test_fewer_rows_than_needed(rows):
    for options in ({"method": "rfd"}, {"method": "gsp"}, {"parents": "threshold", "refine": False}):
        with refuses(DataError, "5 rows and 4 columns", "more than 5 rows", "method='soft'"):
            rfdag.learn(rows[:5], **options)
        with pytest.warns(NumericalWarning, match="6 rows are too few to learn from"):
            assert len(rfdag.learn(rows[:6], **options).order) == 4


def test_missing_and_infinite(frame):
    frame.loc[[3, 7], "income"] = np.nan
    with pytest.warns(DataWarning, match=r"^Values are missing: 4 % of 'income'\. .*count as 49 \(of 50\)"):
        found = rfdag.learn(frame)
    assert [column.missing for column in found.columns] == [0, 2, 0, 0]
    frame.loc[9, "weight"] = np.inf
    with refuses(DataError, r"^Column 'weight' has infinite values \(inf\)\. Drop these rows with missing='drop'"):
        rfdag.learn(frame)
    with refuses(DataError, r"Column 'income' has 2 missing values \(NaN\)\.", "'weight' has infinite values", "Drop"):
        rfdag.learn(frame, missing="error")
    assert rfdag.learn(frame, missing="drop").n_samples == 47


@pytest.mark.parametrize("value", [0.0, 7.5, -1e12, 1e-300])
def test_constant(frame, value):
    frame["income"] = value
    with refuses(DataError, "constant: 'income'", "awkward='keep-one'"):
        rfdag.learn(frame)


def test_duplicated(frame):
    frame["copy"] = 3 * frame["age"] - 2
    with refuses(DataError, "linearly dependent", "copy of", "'age'", "'copy'", "awkward='keep-one'"):
        rfdag.learn(frame)


def test_linearly_dependent(frame):
    frame["sum"] = frame["age"] + frame["income"] - 2 * frame["weight"]
    with refuses(DataError, "linear combination of", "'age'", "'income'", "'weight'", "'sum'") as caught:
        rfdag.learn(frame)
    assert "'height'" not in str(caught.value)


def test_nearly_dependent_columns_warn(frame):
    noise = np.random.default_rng(1).normal(size=len(frame))
    frame["near"] = frame["age"] + 1e-10 * noise
    with (
        pytest.warns(rfdag.errors.NumericalWarning, match="nearly dependent"),
        pytest.warns(rfdag.errors.DataWarning, match="'near' is nearly a copy of 'age'"),
    ):
        found = rfdag.learn(frame, method="rfd")
    assert "nearly dependent" in found.warnings[0]


def test_columns_that_are_not_numbers(frame):
    frame["patient"] = [f"P{at}" for at in range(len(frame))]
    frame["born"] = pd.Timestamp("2020-01-01")
    for table in (frame, pl.from_pandas(frame)):
        with refuses(
            DataError, r"'patient' \(text, all different\), 'born' \(dates: '2020-01-01", "drop=", "Dates can"
        ):
            rfdag.learn(table)
    with pytest.raises(DataError, match=r"days since the first\.$"):
        rfdag.learn(frame.drop(columns="patient"))
    with pytest.raises(DataError, match=r"'patient' \(text, all different\). Pass drop=\['patient'\]"):
        rfdag.learn(frame.drop(columns="born"))


def test_duplicate_names(rows, tmp_path):
    with refuses(DataError, "Several columns are called 'a'"):
        rfdag.learn(pd.DataFrame(rows, columns=["a", "b", "a", "c"]))
    with refuses(DataError, "Several columns are called 'a'"):
        rfdag.learn(rows, names=["a", "a", "b", "c"])
    path = tmp_path / "twice.csv"
    path.write_text("a,a\n1,2\n2,1\n3,3\n4,1\n")
    with refuses(DataError, "Several columns are called 'a'"):
        rfdag.learn(path)


def test_number_of_names(rows):
    with refuses(OptionError, "names has 2 entries for 4 columns"):
        rfdag.learn(rows, names=["a", "b"])


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", DataError, ["is empty"]),
        ("a,b\n", DataError, ["0 sample"]),
        ("a,b\n1,2\n3\n4,5\n", DataError, ["line 3", "1 cell ", "has 2"]),
        ("a,b\n1,2\n3,4,5\n", DataError, ["line 3", "3 cells"]),
        ("a,b\n7,2,3\n4,5,6\n", DataError, ["line 2", "3 cells", "has 2"]),
        ("a;b;c\n1;2;3\n", DataError, ["1 sample"]),
        (
            "a,b,c,d\n1,x,2,5\n3,y,z,6\n",
            DataError,
            ["a column that is not numbers: 'c' .numbers, but 'z' in line 3", "na_values=.'z'.", "drop=.'c'."],
        ),
        ("a,b\n1,\n2,NA\n3,4\n", DataError, ["constant: 'b'", "add columns that vary"]),
        ("a,b,c\n1,,2\n2,NA,5\n3,4,1\n", DataError, ["constant: 'b'", "awkward='keep-one'"]),
        ("a,b,c\n1,,2\n2,NA,5\n3,,1\n", DataError, ["Column 'b' has no values", "all 3 are missing", "drop=.'b'."]),
        ("a,b\n1,\n2,NA\n3,\n", DataError, ["Column 'b' has no values: all 3 are missing.$"]),
        (",a,b\n0.5,1,2\n1.5,3,1\n", DataError, ["no name to column 1", "index=False"]),
        ("1990,2000\n1.5,2.5\n2,1\n", DataError, ["only numbers", "header=True", "header=False"]),
        ("# by me\n# and you\n", DataError, ["nothing but lines"]),
    ],
)
def test_text_files(tmp_path, text, error, words):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with refuses(error, *words):
        rfdag.learn(path)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with refuses(FileError, "no file", "nowhere.csv"):
        rfdag.learn(tmp_path / "nowhere.csv")
    with refuses(FileError, "ends in '.sav'", ".csv", ".xlsx", "DataFrame"):
        rfdag.learn(tmp_path / "table.sav")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with refuses(FileError, "is a folder"):
        rfdag.learn(folder)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 10)
    with refuses(FileError, "zero bytes", "no text at all"):
        rfdag.learn(binary)
    for suffix in ("npy", "npz"):
        broken = tmp_path / f"broken.{suffix}"
        broken.write_bytes(b"not an array at all")
        with pytest.raises(FileError, match=r"not a NumPy file|damaged"):
            rfdag.learn(broken)

    def forbidden(*args, **kwargs):
        raise PermissionError

    locked = tmp_path / "locked.npy"
    np.save(locked, np.ones((3, 2)))
    # Root may read anything, so the refusal of the system is played.
    monkeypatch.setattr("builtins.open", forbidden)
    with refuses(FileError, "may not be read", "permissions"):
        as_table(locked)


def test_truncated_and_odd_arrays(tmp_path):
    path = tmp_path / "short.npy"
    np.save(path, np.ones((100, 4)))
    path.write_bytes(path.read_bytes()[:-100])
    with refuses(FileError, "100 × 4", "too short"):
        rfdag.learn(path)
    np.save(path, np.ones(5))
    with refuses(DataError, "shape \\(5,\\)"):
        rfdag.learn(path)
    np.save(path, np.array([["a"]]))
    with refuses(FileError, "entries of type"):
        rfdag.learn(path)
    several = tmp_path / "several.npz"
    np.savez(several, first=np.ones((3, 2)), second=np.ones((3, 2)))
    with refuses(FileError, "'first', 'second'", "called 'data'"):
        rfdag.learn(several)
    np.savez(several, data=np.ones((3, 2)), names=np.array(["a", "b", "c"]))
    with refuses(FileError, "3 names for 2 columns"):
        rfdag.learn(several)


def test_huge_files_are_refused_before_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 1000.0)
    array = tmp_path / "huge.npy"
    np.save(array, np.ones((100, 10)))
    with refuses(FileError, "GB of memory", "are free", "correlation matrix"):
        rfdag.learn(array)
    text = tmp_path / "huge.csv"
    text.write_text("a,b\n" + "1.0,2.0\n" * 1000)
    with refuses(FileError, "GB of memory"):
        rfdag.learn(text)


def test_a_sparse_file_that_claims_terabytes(tmp_path):
    path = tmp_path / "claim.npy"
    np.save(path, np.ones((2, 2)))
    header = path.read_bytes()[:128].replace(b"(2, 2)", b"(2000000000, 1000)")[:128]
    path.write_bytes(header)
    with path.open("r+b") as handle:
        handle.truncate(128 + 8 * 2_000_000_000 * 1000)
    with refuses(FileError, "needs about 32000.0 GB"):
        rfdag.learn(path)


IDENTITY = np.eye(3)


@pytest.mark.parametrize(
    ("matrix", "kind", "words"),
    [
        (np.ones((2, 3)), "correlation", ["shape \\(2, 3\\)", "square"]),
        ([[1, 0.5], [0.2, 1]], "correlation", ["not symmetric", "0.5", "0.2"]),
        ([[1, 2], [2, 1]], "correlation", ["not positive definite", "smallest eigenvalue"]),
        ([[1, 1], [1, 1]], "correlation", ["singular", "column 0, column 1"]),
        ([[2, 0], [0, 1]], "correlation", ["ones on its diagonal", "0", "input='covariance'"]),
        ([[0, 0], [0, 1]], "covariance", ["positive", "at column 0"]),
        ([[1, 2], [2, 1]], "covariance", ["not positive definite"]),
        ([[-1, 0], [0, 1]], "precision", ["positive", "at column 0"]),
        ([[1, 2], [2, 1]], "precision", ["not positive definite"]),
        ([[1.0]], "covariance", ["at least two"]),
    ],
)
def test_matrices(matrix, kind, words):
    with refuses(RfdagError, *words):
        rfdag.learn(np.array(matrix, float), input=kind, n_samples=100)


def test_matrix_errors_name_the_variables():
    matrix = pd.DataFrame([[1, 0.5, 0], [0.5, 1, 0], [0, 0.3, 1]], columns=["a", "b", "c"])
    with refuses(MatrixError, "'b', 'c'"):
        rfdag.learn(matrix, input="correlation", n_samples=100)
    with refuses(DataError, "missing", "'c'"):
        rfdag.learn(matrix.replace(0.3, np.nan).assign(c=np.nan), input="correlation", n_samples=100)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_samples": None}, ["pass n_samples"]),
        ({"n_samples": 1}, ["at least 2"]),
        ({"n_samples": 10.5}, ["10.5"]),
        ({"n_samples": float("nan")}, ["nan"]),
    ],
)
def test_sample_size_of_a_matrix(options, words):
    with refuses(OptionError, *words):
        rfdag.learn(IDENTITY, input="correlation", **options)


def test_too_small_a_sample_size_of_a_matrix():
    with refuses(DataError, "4 rows and 3 columns"):
        rfdag.learn(IDENTITY, input="correlation", n_samples=4, method="rfd")
    with refuses(DataError, "2 rows and 3 columns", "at least 3"):
        rfdag.learn(IDENTITY, input="correlation", n_samples=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0}, ["alpha", "between 0 and 1"]),
        ({"alpha": 1}, ["alpha"]),
        ({"alpha": -0.1}, ["alpha"]),
        ({"alpha": float("nan")}, ["alpha"]),
        ({"depth": 0, "method": "rfd"}, ["depth", "at least 1"]),
        ({"depth": 1.5, "method": "rfd"}, ["depth", "whole number"]),
        ({"depth": True, "method": "rfd"}, ["depth", "whole number"]),
        ({"depth": 2, "method": "min-fill"}, ["methods 'rfd' and 'gsp' have it"]),
        (
            {"method": "ges"},
            [
                "not 'ges'. Did you mean 'gsp'?",
                "'soft', 'rfd', 'gsp', 'sp', 'min-degree', 'min-fill', 'max-remove', 'random'",
            ],
        ),
        ({"pairs": "some", "method": "rfd"}, ["'all' or 'neighbours'"]),
        ({"max_paths": 0}, ["max_paths"]),
        ({"tolerance": -1}, ["tolerance"]),
        ({"n_jobs": 0}, ["n_jobs"]),
        ({"input": "matrix"}, ["'matrix'", "'correlation'"]),
        ({"n_samples": 100}, ["n_samples goes with a matrix"]),
        ({"delimiter": ";"}, ["not a path"]),
        ({"header": True}, ["not a path"]),
        ({"beam": 0}, ["beam", "at least 1"]),
        ({"beam": "wide"}, ["beam"]),
        ({"beam": 4, "method": "rfd"}, ["Method 'rfd' has no option beam; method 'soft' has it"]),
        ({"beam": 10**9}, ["GB", "Use beam="]),
        ({"depth": 2, "method": "sp"}, ["methods 'rfd' and 'gsp' have it"]),
        ({"depth": 2}, ["methods 'rfd' and 'gsp' have it"]),
        ({"depth": 0, "method": "gsp"}, ["depth", "at least 1"]),
        ({"runs": 0, "method": "gsp"}, ["runs", "at least 1"]),
        ({"runs": 3}, ["method 'gsp' has it"]),
        ({"initial": "min-degree"}, ["method 'gsp' has it"]),
        ({"initial": "random", "method": "gsp"}, ["'rfd' or 'min-degree'"]),
        ({"rescoring": "never"}, ["'auto', 'exact' or 'lazy'"]),
        ({"gamma": -0.5}, ["gamma", "from 0 to 1000000 or 'auto'"]),
        ({"gamma": float("nan")}, ["gamma"]),
        ({"penalty": []}, ["penalty is a number from 0 to 1000000 or several of these"]),
        ({"penalty": [1, 2, 1]}, ["path of penalties", "different"]),
        ({"penalty": [1, -2]}, ["penalty", "-2"]),
        ({"penalty": [1, 2], "method": "rfd"}, ["parents='bic'"]),
        ({"penalty": True}, ["penalty"]),
        ({"restarts": "many"}, ["restarts"]),
        ({"parents": "best"}, ["'auto', 'bic' or 'threshold'"]),
        ({"refine": "maybe"}, ["refine is True, False or 'auto'"]),
        ({"refine": True, "parents": "threshold"}, ["refine=False"]),
        ({"penalty": -1}, ["penalty", "from 0"]),
        ({"penalty": float("nan")}, ["penalty"]),
        ({"restarts": -1}, ["restarts"]),
        ({"restarts": 5, "refine": False}, ["restarts", "refine=True"]),
        ({"restarts": 5, "method": "rfd"}, ["restarts", "refine=True"]),
        ({"search_for": 5, "method": "rfd"}, ["search_for", "refine=True"]),
        ({"search_for": 5, "method": "sp"}, ["search_for", "method='soft'"]),
        ({"search_for": 5, "restarts": 3}, ["restarts=3", "search_for=5", "leave one of them out"]),
        ({"search_for": 5, "time_limit": 4}, ["search_for=5", "time_limit=4", "raise the second"]),
        ({"search_for": 0}, ["search_for", "above 0"]),
        ({"time_limit": float("inf")}, ["time_limit"]),
        ({"penalty": 1e308}, ["penalty"]),
        ({"time_limit": 0}, ["time_limit", "above 0"]),
        ({"random_state": -1}, ["random_state", "at least 0"]),
        ({"random_state": "a"}, ["random_state"]),
        ({"alpha": "0.1"}, ["alpha"]),
        ({"names": [[1], [2], [3], [4]]}, ["hashable"]),
    ],
)
def test_options(rows, options, words):
    with refuses(OptionError, *words):
        rfdag.learn(rows, **options)


def test_masked_values_are_missing(rows):
    masked = np.ma.masked_greater(rows, rows[:, 0].max() - 1e-9)
    with pytest.warns(DataWarning, match="4 % of column 3, 2 % of column 0, 2 % of column 2"):
        assert [column.missing for column in rfdag.learn(masked).columns] == [1, 0, 1, 2]
    with refuses(DataError, "missing values", "0"):
        rfdag.learn(masked, missing="error")


def test_labels_of_rows_must_fit_the_columns():
    columns = ["x", "y", "z"]
    dag = pd.DataFrame([[0, 1, 1], [0, 0, 1], [0, 0, 0]], columns=columns, index=columns)
    shuffled = rfdag.learn(dag.loc[["z", "x", "y"]], input="dag")
    np.testing.assert_array_equal(shuffled.dag, rfdag.learn(dag, input="dag").dag)
    numbers = pd.DataFrame(dag.to_numpy(), columns=[2, 0, 1], index=[2, 0, 1])
    sorted_rows = rfdag.learn(numbers.sort_index(), input="dag")
    np.testing.assert_array_equal(sorted_rows.dag, rfdag.learn(numbers, input="dag").dag)
    counted = rfdag.learn(pd.DataFrame(dag.to_numpy(), columns=[2, 0, 1]), input="dag")
    np.testing.assert_array_equal(counted.dag, sorted_rows.dag)
    with refuses(GraphError, "labelled 'w'", "same labels"):
        rfdag.learn(dag.rename(index={"z": "w"}), input="dag")


def test_too_many_variables_for_every_set():
    rows = np.random.default_rng(0).normal(size=(100, 26))
    with refuses(OptionError, "26 have 7e\\+07", "up to 25", "method='soft'"):
        rfdag.learn(rows, method="sp")
    with refuses(OptionError, "17 have 1e\\+05", "up to 16", "method='soft'"):
        rfdag.learn(rows[:, :17], method="sp", parents="threshold")


def test_cyclic_dags():
    cycle = pd.DataFrame([[0, 1, 0], [0, 0, 1], [1, 0, 0]], columns=["a", "b", "c"])
    with refuses(GraphError, "'a' → 'b' → 'c' → 'a'", "Remove or reverse"):
        rfdag.learn(cycle, input="dag")
    with refuses(GraphError, "cycle 0 → 0"):
        rfdag.graphs.moral_graph(np.eye(2))
    with refuses(GraphError, "shape \\(2, 3\\)"):
        rfdag.learn(np.zeros((2, 3)), input="dag")
    with refuses(GraphError, "undirected"):
        rfdag.learn(nx.path_graph(3), input="dag")
    with refuses(GraphError, "'c'", "names does not list"):
        rfdag.learn(nx.DiGraph([("a", "c")]), input="dag", names=["a", "b"])


def test_graph_functions_refuse_nonsense():
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    with refuses(GraphError, "nodes 7", "0 to 2"):
        rfdag.graphs.moral_subgraph(chain, [0, 7])
    with refuses(GraphError, "more than once"):
        rfdag.graphs.moral_subgraph(chain, [0, 0])
    with refuses(GraphError, "not among the nodes"):
        rfdag.graphs.removed_edges(chain, [0, 1], 2)
    with refuses(GraphError, "lacks nodes 2"):
        rfdag.graphs.minimal_imap(chain, [0, 1])
    with refuses(GraphError, "conditioned on"):
        rfdag.graphs.d_separated(chain, 0, 1, [1])
    with refuses(GraphError, "symmetric"):
        rfdag.graphs.edge_set(chain)
    with refuses(GraphError, "numbers of rows", "'a', 'b', 'c'", "causal_order"):
        rfdag.metrics.order_error(chain, ["a", "b", "c"])
    with refuses(GraphError, "3 and 2 nodes"):
        rfdag.graphs.is_imap(chain, [[0, 0], [0, 0]])


def test_output_that_cannot_be_written(rows, tmp_path):
    found = rfdag.learn(rows)
    with refuses(FileError, "could not be written", "folder that exists"):
        found.save(tmp_path / "missing" / "r.json")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    with refuses(FileError, "could not be written"):
        found.save(blocked / "r.json")
    with refuses(FileError, "could not be written to"):
        writing.write_folder(blocked, {"a.txt": "a"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocked"]


def test_a_folder_is_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "first.txt").write_text("old")
    (tmp_path / "second.txt").mkdir()
    with refuses(FileError, "without folders that have the names of the files"):
        writing.write_folder(tmp_path, {"first.txt": "new", "second.txt": "new", "third.txt": "new"})
    assert (tmp_path / "first.txt").read_text() == "old"
    assert (tmp_path / "second.txt").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "second.txt"]
    (tmp_path / "second.txt").rmdir()
    written = writing.write_folder(tmp_path, {"first.txt": "new", "second.txt": "new"})
    assert [path.read_text() for path in written] == ["new", "new"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "second.txt"]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with refuses(FileError, "No space left"):
        writing.write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("rank", "columns"), [(20, 60), (56, 60), (3, 120)])
def test_a_table_of_low_rank_is_refused_in_few_words(rank, columns):
    """As of gene expression that was denoised by its principal components."""
    generator = np.random.default_rng([rank, columns])
    names = [f"a gene with a long name {at}" for at in range(columns)]
    rows = generator.normal(size=(300, rank)) @ generator.normal(size=(rank, columns))
    with refuses(DataError, "linear combinations", f"rank {rank} of {columns}", "awkward='keep-one'") as caught:
        rfdag.learn(rows, names=names)
    assert repr(names[-1]) in repr(caught.value.groups)
    assert repr(names[0]) in str(caught.value)
    assert len(str(caught.value)) < 800
    assert len({name for group in caught.value.groups for name in group.left}) == columns - rank
    found = rfdag.learn(rows, names=names, awkward="keep-one", method="rfd")
    assert len(found.names) == rank
