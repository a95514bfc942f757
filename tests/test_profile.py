"""What columns were taken for, and what is reported about their numbers."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag import Moments, datasets
from rfdag.cli import app
from rfdag.errors import DataMessage, DataWarning, NumericalWarning
from rfdag.evidence.profile import ALL, BY_RANKS, BY_TESTS, profile_of
from rfdag.evidence.spread_sample import SpreadSample, rows_looked_at, some_rows
from rfdag.evidence.summary import Summary
from rfdag.input.columns import Column, in_words
from rfdag.report.content import content_of
from rfdag.simulate import linear_sem, random_dag, sample

NAMES = ("a", "b", "c", "d", "e")


@pytest.fixture(params=range(3))
def rows(request):
    """Rows of a linear Gaussian SEM."""
    return sample(linear_sem(random_dag(5, degree=2, rng=request.param), rng=1), 400, rng=request.param)


def with_column(rows, column, at=2):
    changed = np.array(rows, float)
    changed[:, at] = column
    return changed


def notes(values, kinds=ALL, names=NAMES):
    return profile_of(np.asarray(values), names, kinds).notes


def learnt(values, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rfdag.learn(values, progress=False, **options)


# What is found.


def test_ordinary_columns_bring_no_note(rows):
    generator = np.random.default_rng(4)
    assert notes(rows) == ()
    for column in (
        generator.uniform(size=400),
        generator.exponential(size=400),
        generator.standard_t(5, size=400),
        generator.poisson(3, size=400),
        generator.integers(0, 2, size=400),
        np.where(generator.random(400) < 0.5, 1, 2),
        generator.integers(18, 90, size=400),
        generator.normal(size=400).round(1),
        np.where(generator.random(400) < 0.1, -1, 1),
        np.digitize(rows[:, 2], [-1, 0, 1]),
    ):
        assert notes(with_column(rows, column)) == ()


@pytest.mark.parametrize("value", [-999, -99, 99, 999, 9999, -9])
def test_numbers_for_missing_values_are_named_and_counted(rows, value):
    column = np.where(np.arange(400) % 40 == 0, value, np.abs(rows[:, 2] * 5 + 30).clip(10, 60).round(1))
    (note,) = notes(with_column(rows, column))
    sign = str(value).replace("-", "−")
    assert isinstance(note, DataMessage)
    assert note.startswith(f"Column 'c' has numbers that seem to stand for missing values: {sign} occurs 10 times.")
    assert notes(with_column(rows, column), BY_RANKS) == notes(with_column(rows, column), BY_TESTS) == (note,)


def test_several_numbers_for_missing_values_at_one_end(rows):
    generator = np.random.default_rng(1)
    answers = generator.integers(1, 6, size=400)
    answers[:20], answers[20:50], answers[50:57] = 99, 88, 77
    (note,) = notes(with_column(rows, answers))
    assert "77 occurs 7 times, 88 occurs 30 times, 99 occurs 20 times" in note
    (note,) = notes(with_column(with_column(rows, answers), np.where(answers == 99, -999, rows[:, 1]), 1))
    assert "−999 occurs 20 times in 'b', 77 occurs 7 times, 88" in note


@pytest.mark.parametrize(
    "column",
    [
        np.arange(400) % 100,
        np.r_[np.arange(399) % 50, 99],
        np.arange(400) % 9 + 1,
        np.r_[np.full(20, -1), np.arange(380) % 30],
        np.r_[np.full(40, -9.0), np.linspace(-8.9, 8, 360)],
    ],
)
def test_numbers_that_are_no_sentinels(rows, column):
    assert not any("missing" in note for note in notes(with_column(rows, np.random.default_rng(0).permutation(column))))


@pytest.mark.parametrize(
    "column",
    [
        np.arange(1, 401),
        np.arange(400)[::-1],
        10 * np.arange(400) + 7,
        np.random.default_rng(0).permutation(400),
        np.cumsum(np.random.default_rng(0).integers(1, 1000, size=400)),
    ],
)
def test_columns_that_number_the_rows(rows, column):
    (note,) = notes(with_column(rows, column))
    assert note.startswith("Column 'c' holds whole numbers that are all different")
    assert note.endswith("drop it: drop=['c'].")


def test_ranks_and_large_whole_numbers_do_not_number_the_rows(rows):
    assert notes(rows.argsort(axis=0).argsort(axis=0)) == ()
    for most in (10**6, 2**62):
        assert notes(with_column(rows, np.random.default_rng(0).integers(0, most, size=400))) == ()


def test_codes_are_named_and_amounts_are_not(rows):
    generator = np.random.default_rng(2)
    code = generator.integers(1, 5, size=400)
    unrelated = with_column(rows, code)
    acting = with_column(unrelated, rows[:, 0] + np.array([0, 3, -1, 2])[code - 1], 0)
    for values in (unrelated, acting):
        (note,) = notes(values)
        assert note.startswith("Column 'c' looks like codes of categories")
    amount = with_column(unrelated, rows[:, 0] + code, 0)
    assert notes(amount) == ()
    # Of more values only what their groups show counts.
    many = generator.integers(1, 9, size=400)
    assert notes(with_column(rows, many)) == ()
    groups = generator.permutation(np.arange(8)) % 4
    (note,) = notes(with_column(with_column(rows, many), rows[:, 0] + 2 * groups[many - 1], 0))
    assert note.startswith("Column 'c' looks like codes")


def test_skewness_is_cured_by_ranks(rows):
    skewed = with_column(rows, np.exp(1.6 * rows[:, 2] / rows[:, 2].std()))
    (note,) = notes(skewed)
    assert note.startswith("Column 'c' is strongly skewed") or "such heavy tails" in note
    assert notes(skewed, BY_RANKS) == ()


def test_curvature_is_found_where_correlations_are_zero(rows):
    x = rows[:, 0] / rows[:, 0].std()
    noise = np.random.default_rng(3).normal(size=400)
    bent = with_column(rows, x**2 + noise)
    for kinds in (ALL, BY_RANKS):
        (note,) = notes(bent, kinds)
        assert note.startswith("'c' depends on the square of 'a' more than on 'a' itself")
        assert "test='kci'" in note
    assert notes(bent, BY_TESTS) == ()
    assert notes(with_column(rows, (x + 3) ** 2 + noise)) == ()
    # Where the line explains more than the square, a correlation shows the pair.
    assert notes(with_column(rows, (x + 0.9) ** 2 + 0.3 * noise)) == ()


def test_a_column_is_reported_once(rows):
    column = np.where(np.arange(400) % 40 == 0, -9999.0, rows[:, 2])
    assert len(notes(with_column(rows, column))) == 1


def test_too_few_rows():
    rows = np.random.default_rng(0).normal(size=(7, 5))
    with pytest.warns(NumericalWarning, match="7 rows are too few to learn from"):
        rfdag.learn(rows, progress=False)
    assert not learnt(np.random.default_rng(0).normal(size=(12, 3))).warnings


# Rows of any number and kind.


def test_a_sample_is_spread_over_the_rows():
    rows = np.arange(40_000.0).reshape(-1, 1).repeat(200, axis=1)
    parts = [SpreadSample.of(rows[at : at + 5000]) for at in range(0, 40_000, 5000)]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.joined(part)
    found = joined.rows[:, 0]
    assert rows_looked_at(200) // 2 < len(found) <= rows_looked_at(200)
    assert (np.diff(found) > 0).all()
    assert np.histogram(found, bins=8, range=(0, 40_000))[0].min() > len(found) / 10
    places = some_rows(40_000, 200)
    assert len(set((places % 24).tolist())) == 24


def test_the_sample_of_a_block_is_as_it_was():
    for n in (50, 50_000):
        block = np.asfortranarray(5 + np.random.default_rng(0).normal(size=(n, 2)))
        before = block.copy()
        rows = Summary.of(block).sample.rows
        assert np.isin(rows[:, 0], before[:, 0]).all()


def test_streams_show_what_tables_show(tmp_path):
    generator = np.random.default_rng(5)
    n = 30_000
    rows = generator.normal(size=(n, 5))
    rows[:, 1] = np.where(generator.random(n) < 0.01, -999, rows[:, 1])
    rows[:, 2] = rows[:, 0] ** 2 + generator.normal(size=n)
    rows[:, 3] = np.arange(n)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(dict(zip(NAMES, rows.T, strict=True))), path, row_group_size=2000)
    for correlation in ("pearson", "normal-scores"):
        frame = pd.DataFrame(rows, columns=NAMES)
        stream, table = (learnt(data, correlation=correlation, method="rfd") for data in (path, frame))
        assert [column.taken_for for column in stream.columns] == [column.taken_for for column in table.columns]
        assert [note.split(":")[0] for note in stream.warnings] == [note.split(":")[0] for note in table.warnings]
        assert len(table.warnings) == 3
        assert f"−999 occurs {int((rows[:, 1] == -999).sum())} times" in table.warnings[0]


def test_rare_sentinels_of_many_rows():
    rows = np.random.default_rng(6).normal(size=(50_000, 5))
    rows[[17, 40_000], 3] = 9999
    (note,) = notes(rows)
    assert "9999 occurs 2 times" in note


def test_numbers_of_every_size_and_type():
    generator = np.random.default_rng(7)
    huge = generator.uniform(-1, 1, size=(300, 3)) * 1.7e308
    tiny = generator.normal(size=(300, 3)) * 1e-300
    assert Moments.from_data(huge).notes == Moments.from_data(tiny).notes == ()
    whole = generator.integers(-(2**62), 2**62, size=(300, 3))
    assert notes(whole, names="abc") == ()
    columns = profile_of(np.column_stack([whole[:, 0] % 2, whole[:, 1]]), "ab").columns
    assert [column.taken_for for column in columns] == ["two values", "whole numbers"]
    assert notes(np.array([[1.0, 2.0], [2.0, 1.0]]), names="ab") == ()


def test_blocks_and_tests_have_columns(rows):
    values = with_column(rows, np.arange(400), 3)
    for options in ({"blocks": True}, {"test": "fisher-z"}, {"correlation": "kendall"}, {"method": "rfd"}):
        with pytest.warns(DataWarning, match="Column 3 holds whole numbers"):
            result = rfdag.learn(values, progress=False, **options)
        assert result.columns[3] == Column(3, "whole numbers", remarks=("numbers the rows",))


# Where it is shown.


def test_columns_are_saved_and_loaded(rows, tmp_path):
    values = with_column(rows, np.arange(400))
    result = learnt(values, names=["a", "b", ("c", 1), 3, "e"])
    again = rfdag.load(result.save(tmp_path / "result.json"))
    assert again == result
    assert again.columns == result.columns
    assert isinstance(again.warnings[0], DataMessage)
    content = json.loads((tmp_path / "result.json").read_text())
    del content["columns"], content["about_data"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert rfdag.load(tmp_path / "old.json").columns == ()


def test_matrices_and_dags_have_no_columns(rows):
    moments = Moments.from_data(rows)
    assert len(moments.columns) == 5
    assert learnt(moments.correlation, input="correlation", n_samples=400).columns == ()
    assert learnt([[0, 1], [0, 0]], input="dag").columns == ()


def test_commands_report_and_summary_tell_of_columns(rows, tmp_path):
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    pd.DataFrame(with_column(rows, np.arange(400)), columns=NAMES).to_csv(path, index=False)
    done = CliRunner().invoke(app, ["learn", str(path), "--report", str(page)])
    shown = " ".join(done.output.split())
    assert "Columns: 5 used: 4 of numbers, 1 of whole numbers" in shown
    assert "as row numbers and identifiers are" in shown
    told = json.loads(CliRunner().invoke(app, ["learn", str(path), "--json"]).output)
    assert told["columns"][2] == {
        "name": "c", "taken_for": "whole numbers", "done": "used", "remarks": ["numbers the rows"], "missing": 0
    }  # fmt: skip
    assert told["warnings"][0].endswith("drop it: drop=['c'].")
    result = learnt(path)
    assert "columns: 5 used: 4 of numbers, 1 of whole numbers" in result.summary()
    assert "5 used: 4 of numbers" in result._repr_html_()


def test_columns_that_were_left_out_are_listed(rows):
    result = learnt(rows, names=NAMES)
    more = (*result.columns, Column("town", "text", "left out: text"))
    assert in_words(more).endswith("; 1 left out: 'town' (text)")
    health = content_of(replace(result, columns=more))["health"]
    assert health["left_out"] == [["town", "text", "left out: text"]]
    assert health["columns"]["taken"] == ["numbers"] * 5
    assert any("Nothing odd" in text for kind, text in health["findings"] if kind == "good")


@pytest.mark.parametrize("path", [datasets.sachs_path, datasets.auto_mpg_path])
def test_the_data_sets_bring_no_warning(path):
    assert rfdag.learn(path(), method="rfd", progress=False).warnings == ()
