"""Columns and rows that are used: chosen, left out, turned round, weighted; wherever the rows come from."""

import io
import re
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.errors import AwkwardError, DataError, DataWarning, FileError, OptionError
from rfdag.input.columns import Column
from rfdag.input.reading import read

pytestmark = pytest.mark.filterwarnings("ignore::rfdag.errors.DataWarning")

CHAIN = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
NAMES = list("abcd")


@pytest.fixture(scope="module")
def frame():
    sem = rfdag.simulate.linear_sem(CHAIN, rng=3)
    return pd.DataFrame(rfdag.simulate.sample(sem, 200, rng=4), columns=NAMES)


@pytest.fixture(scope="module")
def messy(frame):
    """The same rows with an identifier, text, weights, a gap and an infinite number."""
    table = frame.assign(
        patient=[f"P{at}" for at in range(len(frame))],
        town=np.where(np.arange(len(frame)) % 2, "rome", "oslo"),
        times=np.random.default_rng(5).integers(0, 4, len(frame)),
    )
    table.loc[7, "b"] = np.nan
    table.loc[9, "c"] = np.inf
    return table


SOURCES = ["pandas", "polars", "arrow", "parquet", "parquets", "csv", "dask"]


def source_of(kind, table, tmp_path):
    """Return a table in one of the forms that data come in."""
    match kind:
        case "pandas":
            return table
        case "polars":
            return pl.from_pandas(table)
        case "arrow":
            return pa.Table.from_pandas(table, preserve_index=False)
        case "parquet":
            table.to_parquet(tmp_path / "rows.parquet", index=False, row_group_size=30)
            return tmp_path / "rows.parquet"
        case "parquets":
            for at in range(2):
                table[at * 100 : (at + 1) * 100].to_parquet(tmp_path / f"part{at}.parquet", index=False)
            return [tmp_path / "part0.parquet", tmp_path / "part1.parquet"]
        case "csv":
            table.to_csv(tmp_path / "rows.csv", index=False)
            return str(tmp_path / "rows.csv")
        case _:
            return dd.from_pandas(table, npartitions=3)


def same(found, expected):
    assert found.names == expected.names
    assert found.n_samples == expected.n_samples
    np.testing.assert_allclose(found.moments.correlation, expected.moments.correlation, atol=1e-10)
    np.testing.assert_allclose(found.means, expected.means, atol=1e-10)
    np.testing.assert_allclose(found.moments.scales, expected.moments.scales, rtol=1e-10)
    np.testing.assert_array_equal(found.dag, expected.dag)
    assert found.score == pytest.approx(expected.score, abs=1e-8)


def left_out(found):
    return {column.name: column for column in found.columns if column.done != "used"}


@pytest.mark.parametrize("kind", SOURCES)
def test_whatever_the_source_columns_and_gaps_are_left_out_alike(kind, messy, frame, tmp_path):
    found = rfdag.learn(source_of(kind, messy, tmp_path), id="patient", drop=["town", "times"], missing="drop")
    same(found, rfdag.learn(frame.drop(index=[7, 9])))
    assert left_out(found) == {
        "patient": Column("patient", "row identifiers", "left out, as it identifies rows"),
        "town": Column("town", "text", "left out as asked"),
        "times": Column("times", "numbers", "left out as asked"),
    }
    assert any("2 of 200 rows left out" in remark for remark in found.reading)


@pytest.mark.parametrize("kind", SOURCES)
def test_columns_that_are_wanted_need_no_others(kind, messy, frame, tmp_path):
    found = rfdag.learn(source_of(kind, messy, tmp_path), columns=["d", "a"])
    same(found, rfdag.learn(frame[["d", "a"]]))
    assert set(left_out(found)) == {"b", "c", "patient", "town", "times"}


@pytest.mark.parametrize("kind", SOURCES)
def test_weights_are_repeated_rows(kind, messy, frame, tmp_path):
    repeated = frame.drop(index=[7, 9]).loc[lambda rows: rows.index.repeat(messy["times"].drop(index=[7, 9]))]
    found = rfdag.learn(source_of(kind, messy, tmp_path), weights="times", drop=["patient", "town"], missing="drop")
    same(found, rfdag.learn(repeated))
    assert left_out(found)["times"] == Column("times", "weights", "used as weights")


@pytest.mark.parametrize("options", [{"correlation": "normal-scores"}, {"correlation": "kendall"}, {"blocks": True}])
@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_weights_repeat_rows_for_every_estimate(options, kind, frame, tmp_path):
    weights = np.random.default_rng(6).integers(0, 3, len(frame))
    source = source_of(kind, frame.assign(w=weights), tmp_path)
    if kind == "arrow" and "blocks" in options:
        pytest.skip("blocks are found in arrays and frames")
    found = rfdag.learn(source, weights="w", **options)
    expected = rfdag.learn(frame.loc[frame.index.repeat(weights)], **options)
    np.testing.assert_array_equal(
        found.dag.toarray() if "blocks" in options else found.dag,
        expected.dag.toarray() if "blocks" in options else expected.dag,
    )
    assert found.n_samples == expected.n_samples


def test_weights_as_an_array_are_named_in_files_and_code(frame, tmp_path):
    weights = np.random.default_rng(6).integers(0, 3, len(frame))
    found = rfdag.learn(frame, weights=weights)
    same(found, rfdag.learn(frame.loc[frame.index.repeat(weights)]))
    same(rfdag.learn(frame, weights=pd.Series(weights)), found)
    assert "weights" not in left_out(found)
    again = rfdag.load(found.save(tmp_path / "result.json"))
    assert repr(again.settings.description.weights) == "200 numbers"
    with pytest.raises(OptionError, match="Pass it anew"):
        rfdag.learn(frame, description=again.settings.description)


def test_fractions_scale_as_repeating_does(frame):
    half = rfdag.learn(frame, weights=np.full(len(frame), 0.5))
    assert half.n_samples == 100
    np.testing.assert_allclose(half.moments.correlation, frame.corr(), atol=1e-12)
    with pytest.warns(DataWarning, match=r"add up to 600, and there are 200 rows.* Divide the weights by 3"):
        many = rfdag.learn(frame, weights=np.full(len(frame), 3.0) + np.tile([0.25, -0.25], 100))
    assert many.n_samples == 600
    with pytest.raises(OptionError, match="Round them to whole numbers"):
        rfdag.learn(frame, weights=np.full(len(frame), 0.5), correlation="kendall")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), "one number for each"),
        (np.full(200, -1.0), "A weight is a number of at least 0; found -1 in row 1"),
        (np.full(200, np.nan), "at least 0; found nan"),
        (np.zeros(200), "All weights are zero"),
        ("w", "weights names 'w'. The table has no such column"),
        ("town", "weights names 'town', which holds text; name a column of numbers"),
    ],
)
def test_weights_that_are_none(weights, words, frame):
    with pytest.raises((OptionError, DataError), match=re.escape(words)):
        rfdag.learn(frame.assign(town="x") if isinstance(weights, str) else frame, weights=weights)


def test_names_with_stars_stand_for_several(frame):
    wide = frame.rename(columns=dict(zip(NAMES, ["gene_1", "gene_2", "age", "gene*"], strict=True)))
    assert rfdag.learn(wide, columns="gene_*").names == ("gene_1", "gene_2")
    assert rfdag.learn(wide, drop=["gene_?"]).names == ("age", "gene*")
    # A name that is there stands for itself.
    assert rfdag.learn(wide, drop=["gene*"]).names == ("gene_1", "gene_2", "age")
    assert rfdag.learn(frame.to_numpy(), drop=[0]).names == (1, 2, 3)
    assert rfdag.learn(frame.to_numpy(), names=NAMES, drop="a").names == tuple("bcd")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"drop": ["aa"]},
            "drop names 'aa' (nearest: 'a'). The table has no such column; it has 'a', 'b', 'c', 'd'.",
        ),
        ({"columns": ["a", "zz*"]}, "columns names 'zz*'"),
        ({"id": "patient"}, "id names 'patient'"),
        ({"columns": ["a"]}, "Found 1 feature(s), the column 'a'"),
        ({"drop": NAMES}, "Found 0 feature(s)"),
    ],
)
def test_columns_that_are_not_there(options, words, frame):
    with pytest.raises((OptionError, DataError), match=re.escape(words)):
        rfdag.learn(frame, **options)


def test_what_is_about_rows_does_not_go_with_a_matrix(frame):
    with pytest.raises(OptionError, match="drop is about the rows and columns of data; with input='correlation'"):
        rfdag.learn(frame.corr(), input="correlation", n_samples=200, drop=["a"])


def test_no_rows_are_left(frame):
    holed = frame.assign(a=np.nan)
    with pytest.raises(
        DataError, match=re.escape("0 rows of 200 would be left without missing or infinite values (200 in 'a')")
    ) as refused:
        rfdag.learn(holed, missing="drop")
    assert "drop=['a']" in str(refused.value)
    assert rfdag.learn(holed, missing="drop", drop=["a"]).n_samples == 200


# Columns that cannot stand beside others


@pytest.fixture(scope="module")
def awkward(frame):
    return frame.assign(flat=1.0, twin=-2 * frame["b"], total=frame[["a", "b", "c"]].sum(axis=1))


@pytest.mark.parametrize("kind", SOURCES)
def test_groups_are_named_and_left_out_as_asked(kind, awkward, frame, tmp_path):
    source = source_of(kind, awkward, tmp_path)
    with pytest.raises(AwkwardError, match="constant: 'flat'"):
        rfdag.learn(source)
    found = rfdag.learn(source, awkward="keep-one")
    same(found, rfdag.learn(frame))
    assert {name: column.done for name, column in left_out(found).items()} == {
        "flat": "left out: it is constant",
        "twin": "left out: it is a copy of 'b' up to scale",
        "total": "left out: it is a linear combination of 'a', 'b', 'c'",
    }
    # Without both copies of b nothing determines the total.
    assert rfdag.learn(source, awkward="drop").names == ("a", "c", "d", "total")


def test_too_few_columns_are_left(frame):
    with pytest.raises(DataError, match=re.escape("('b', 'a') would leave 0 of 2; an order needs two")):
        rfdag.learn(frame[["a"]].assign(b=2 * frame["a"]), awkward="drop")


def test_all_of_a_group_go(frame):
    table = frame.assign(twin=frame["a"], flat=3.0)
    found = rfdag.learn(table, awkward="drop")
    assert found.names == tuple("bcd")
    assert left_out(found)["a"].done == "left out: 'twin' depends on it"


def test_an_error_holds_all_names(frame):
    flat = pd.DataFrame(np.ones((len(frame), 150)), columns=[f"flat{at}" for at in range(150)])
    many = pd.concat([frame, flat], axis=1)
    with pytest.raises(AwkwardError) as refused:
        rfdag.learn(many)
    assert [group.left[0] for group in refused.value.groups] == [f"flat{at}" for at in range(150)]
    assert "'flat99'" in str(refused.value)
    assert len(left_out(rfdag.learn(many, awkward="drop"))) == 150


@pytest.mark.parametrize("options", [{"correlation": "spearman"}, {"blocks": True}, {"test": "fisher-z"}])
def test_other_estimates_leave_them_out_too(options, frame):
    table = frame.assign(flat=1.0)
    if options != {"test": "fisher-z"}:
        table["twin"] = np.exp(frame["b"]) if "correlation" in options else 3 * frame["b"]
    found = rfdag.learn(table, awkward="keep-one", **options)
    assert found.names == tuple(NAMES)


def test_rounded_copies_are_reported_and_left_out(frame):
    pounds = frame.assign(kg=frame["b"].round(2), lb=(frame["b"].round(2) / 0.4536).round(2))[["a", "kg", "lb", "d"]]
    with pytest.warns(DataWarning, match="'lb' is nearly a copy of 'kg'"):
        rfdag.learn(pounds)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rfdag.learn(pounds, awkward="keep-one").names == ("a", "kg", "d")


def test_few_rows_show_copies_alone():
    rows = np.random.default_rng(0).normal(size=(20, 40))
    rows[:, 30] = 2 * rows[:, 3]
    with pytest.raises(AwkwardError, match="column 30 is a copy of column 3"):
        rfdag.learn(rows)
    with pytest.warns(rfdag.errors.NumericalWarning, match="few for 39 columns"):
        assert 30 not in rfdag.learn(rows, awkward="keep-one").names


def test_what_can_be_read_once_says_what_to_drop(frame):
    def batches():
        table = pa.Table.from_pandas(frame.assign(flat=1.0), preserve_index=False)
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    with pytest.raises(DataError, match=re.escape("this input can be read once. Pass drop=['flat']")):
        rfdag.learn(batches(), awkward="drop")
    assert rfdag.learn(batches(), drop=["flat"]).names == tuple(NAMES)


# Variables in rows


def test_genes_in_rows(frame, tmp_path):
    turned = frame.T
    expected = rfdag.learn(frame)
    same(rfdag.learn(turned, transpose=True), expected)
    named = turned.reset_index(names="gene")
    same(rfdag.learn(named, transpose=True), expected)
    noted = named.assign(note="x")
    with pytest.raises(OptionError, match=re.escape("pass id='gene' for the one with the names")) as refused:
        rfdag.learn(noted, transpose=True)
    assert "drop=['note']" in str(refused.value)
    same(rfdag.learn(noted, transpose=True, id="gene", drop=["note"]), expected)
    assert rfdag.learn(noted, transpose=True, id="gene", drop=["note", "b"]).names == tuple("acd")
    named.to_csv(tmp_path / "genes.csv", index=False)
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "genes.csv"), "--transpose", "--json"])
    assert done.exit_code == 0, done.output
    assert rfdag.learn(frame.to_numpy().T, transpose=True).names == (0, 1, 2, 3)


# Several tables


def test_several_frames_are_one_table(frame):
    same(rfdag.learn([frame[:50], pl.from_pandas(frame[50:])[list("dcba")]]), rfdag.learn(frame))


def test_several_files_need_the_same_columns(frame, tmp_path):
    frame[:50].to_csv(tmp_path / "one.csv", index=False)
    frame[50:].assign(extra=1.5).to_csv(tmp_path / "two.csv", index=False)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(FileError, match=re.escape("two.csv has 'extra' besides")) as refused:
        rfdag.learn(files)
    assert "columns=['a', 'b', 'c', 'd']" in str(refused.value)
    same(rfdag.learn(files, columns=NAMES), rfdag.learn(frame))
    done = CliRunner().invoke(app, ["learn", *map(str, files), "--columns", "a,b,c,d", "--json"])
    assert done.exit_code == 0, done.output


def test_open_files_are_read_to_the_end(frame, tmp_path):
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    content.seek(0)
    same(rfdag.learn(content), rfdag.learn(frame))
    text = io.StringIO(frame.to_csv(index=False, sep=";", decimal=","))
    same(rfdag.learn(text), rfdag.learn(frame))
    with pytest.raises(DataError, match="The input has a column that is not numbers"):
        rfdag.learn(io.StringIO(frame.assign(town=[f"row {at}" for at in range(len(frame))]).to_csv(index=False)))


def test_what_is_piped_in_is_read(frame):
    text = frame.assign(town=[f"row {at}" for at in range(len(frame))]).to_csv(index=False)
    done = CliRunner().invoke(app, ["learn", "-"], input=text)
    assert done.exit_code == 1
    assert "standard input has a column that is not numbers: 'town'" in " ".join(done.output.split())
    done = CliRunner().invoke(app, ["learn", "-", "--drop", "town", "--json"], input=text)
    assert done.exit_code == 0, done.output
    for words, given in ((["-"], ""), (["-", "other.csv"], text)):
        done = CliRunner().invoke(app, ["learn", *words], input=given)
        assert done.exit_code in (1, 2)
        assert "tandard input" in done.output


def test_a_bootstrap_prepares_alike(messy, awkward):
    found = rfdag.bootstrap(messy, runs=3, drop=["town", "times"], id="patient", missing="drop", n_jobs=1)
    assert found.names == tuple(NAMES)
    assert found.result.n_samples == 198
    found = rfdag.bootstrap(awkward, runs=3, awkward="keep-one", n_jobs=1)
    assert found.names == tuple(NAMES)


def test_a_report_reads_the_same_rows(messy, tmp_path):
    messy.to_csv(tmp_path / "rows.csv", index=False)
    options = ["--drop", "town", "--id", "patient", "--weights", "times", "--missing", "drop"]
    done = CliRunner().invoke(
        app, ["learn", str(tmp_path / "rows.csv"), *options, "--report", str(tmp_path / "r.html")]
    )
    assert done.exit_code == 0, done.output
    assert "town" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_parquet_reads_only_the_columns_that_are_used(messy, tmp_path, monkeypatch):
    path = source_of("parquet", messy, tmp_path)
    asked = []
    original = pq.ParquetFile.iter_batches

    def watched(self, *args, columns=None, **kwargs):
        asked.append(columns)
        return original(self, *args, columns=columns, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert read(path, rfdag.Description(columns=["a", "d"])).names == ("a", "d")
    rfdag.learn(path, columns=["a", "d"])
    assert {tuple(columns) for columns in asked} == {("a", "d")}
