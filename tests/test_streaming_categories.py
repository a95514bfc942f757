"""Columns of categories in rows that are read in pieces are the same codes, levels and counts as in memory."""

from __future__ import annotations

import io
import operator

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

from rfdag.errors import DataError, FileError, OptionError
from rfdag.input import arrow, delimited, sources
from rfdag.input import table as tables
from rfdag.input.description import Description
from rfdag.input.filtered import Filtered
from rfdag.input.gathering import gathered
from rfdag.input.pieces import Pieces
from rfdag.input.reading import in_memory, read
from rfdag.input.table import Table

ROWS = 600
SIZES = ["S", "M", "L"]


@pytest.fixture(scope="module")
def frame():
    """Return text of several kinds beside numbers; levels that are rare or occur in some of the rows only, and gaps."""
    generator = np.random.default_rng(5)
    colours = generator.choice(["red", "blue", "grün", " green ", "none"], ROWS)
    colours[500:] = np.where(colours[500:] == "red", "late", colours[500:])
    colours[:3] = ["NA", "", "?"]
    colours = colours.astype(object)
    colours[10:40:7] = None
    return pd.DataFrame(
        {
            "x": generator.normal(size=ROWS),
            "colour": colours,
            "region": generator.choice([1.0, 2.0, 7.5, -9.0], ROWS),
            "y": generator.normal(size=ROWS),
            "smoker": generator.random(ROWS) < 0.3,
            "size": pd.Categorical(generator.choice(SIZES, ROWS), SIZES, ordered=True),
            "age": generator.choice(["10-20", "5-9", "20+"], ROWS),
            "times": generator.integers(0, 4, ROWS).astype(float),
        }
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let a few rows make a block, and a few hundred bytes of text."""
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 500)
    monkeypatch.setattr(delimited, "BYTES_AT_ONCE", 700)


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        yield cluster


def blocks_of(stream, threads=1):
    return np.concatenate(stream.fold(kept, operator.add, threads))


def kept(block):
    return [np.array(block)]


def same(stream, table, threads=1, counts=True):
    """Check that the blocks, levels and counts of a stream are those of a table in memory."""
    assert isinstance(table, Table)
    assert not isinstance(stream, Table)
    assert stream.names == table.names
    assert dict(stream.levels) == dict(table.levels)
    values = np.concatenate(stream.fold(kept, operator.add, threads))
    expected = table.values if table.weights is None else np.column_stack([table.values, table.weights])
    np.testing.assert_array_equal(values, expected)
    if counts:
        assert set(stream.level_counts) == set(table.levels)
        for at, found in table.level_counts.items():
            np.testing.assert_array_equal(stream.level_counts[at], found)


def arrow_of(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def write_parquet(frame, path):
    pq.write_table(arrow_of(frame), path, row_group_size=70)
    return path


def write_ipc(frame, path):
    pyarrow.feather.write_feather(arrow_of(frame), path, chunksize=70)
    return path


def write_dataset(frame, path):
    return pyarrow.dataset.dataset(write_parquet(frame, path))


STREAMS = {
    "parquet": write_parquet,
    "feather": write_ipc,
    "dataset": write_dataset,
    "table": lambda frame, path: arrow_of(frame),
    "chunks": lambda frame, path: pa.concat_tables([arrow_of(frame[at : at + 90]) for at in range(0, len(frame), 90)]),
}

FORMS = {
    "plain": {},
    "named": {"categorical": ["reg*"], "ordinal": ["size", "age"]},
    "levels in order": {"ordinal": ["size: L < M < S", "smoker: True < False"]},
    "some": {"columns": ["age", "y", "colour", "size"], "ordinal": ["size"]},
    "marks among places": {"na_values": [1, 2], "ordinal": ["size", "age"], "drop": ["colour"]},
    "marks": {"na_values": ["blue", -9, 1, "M"], "categorical": ["region"], "drop": ["times"]},
    "dropped": {"missing": "drop", "categorical": ["region"], "na_values": [-9]},
    "weighted": {"weights": "times", "id": "y"},
    "weighted marks": {"weights": "times", "na_values": [1, 7.5]},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", STREAMS)
def test_arrow_is_read_as_frames_are(frame, tmp_path, kind, form):
    form = Description(**FORMS[form])
    expected = read(frame, form)
    if form.weights:
        whole = frame[frame.times > 0]
        frame, expected = whole, read(whole, form)
    found = read(STREAMS[kind](frame, tmp_path / f"rows.{kind}"), form, threads=2)
    same(found, expected, threads=3, counts=form.missing != "drop")
    same(found, expected, counts=form.missing != "drop")


def test_counts_are_of_all_rows(frame):
    found = read(arrow_of(frame), Description(missing="drop"))
    assert isinstance(found, Filtered)
    assert sum(found.level_counts[1]) == read(frame, Description()).level_counts[1].sum()
    some = found.only([4, 1]).renamed(("b", "c"))
    assert some.levels == {0: ("False", "True"), 1: found.levels[1]}
    assert some.level_counts[1] is found.level_counts[1]
    assert blocks_of(some).shape == (int(np.isfinite(read(frame).values[:, [1, 4]]).all(axis=1).sum()), 2)
    with pytest.raises(DataError, match="'colour' has 8 missing values"):
        read(arrow_of(frame), Description(missing="error"))


def test_dictionaries_of_several_files(frame, tmp_path):
    """Each row group and file has levels of its own; plain text and dictionaries go together."""
    parts = [frame[["x", "colour"]][at : at + 150].dropna() for at in range(0, ROWS, 150)]
    whole = pd.concat(parts)
    for at, part in enumerate(parts):
        table = arrow_of(part)
        if at % 2:
            table = table.set_column(1, "colour", table["colour"].dictionary_encode())
        pq.write_table(table, tmp_path / f"{at}.parquet", row_group_size=50)
    found = read(tmp_path)
    known = whole.assign(colour=whole.colour.str.strip())
    # Where a type says what is missing, "NA" would be a level: here it is in the first file alone, which is text.
    same(found, read(known))
    assert "late" in found.levels[1]


def test_orders_that_dictionaries_declare(monkeypatch):
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 4)

    def chunk(levels, entries):
        kind = pa.DictionaryArray.from_arrays(pa.array(entries), pa.array(levels), ordered=True)
        return pa.table({"x": np.arange(len(entries)) * 1.0, "size": kind})

    parts = [chunk(["S", "L"], [0, 1, 1]), chunk(["S", "M", "L"], [2, 1, 0, 2])]
    stream = read(pa.concat_tables(parts), Description(ordinal=["size"]))
    np.testing.assert_array_equal(blocks_of(stream)[:, 1], [1, 3, 3, 3, 2, 1, 3])
    assert not stream.levels
    assert read(pa.concat_tables(parts)).levels == {1: ("S", "M", "L")}
    parts.append(chunk(["L", "S"], [0, 1, 1]))
    assert read(pa.concat_tables(parts)).levels == {1: ("L", "M", "S")}
    with pytest.raises(OptionError, match="text whose order is not known"):
        read(pa.concat_tables(parts), Description(ordinal=["size"]))


def test_null_words_in_a_category_type_are_levels():
    entries = ["NA", "NA", "a", None, "a", "b"] * 5
    stream = read(pa.table({"x": np.arange(30.0), "y": pa.array(entries).dictionary_encode()}))
    assert stream.levels == {1: ("NA", "a", "b")}
    np.testing.assert_array_equal(stream.level_counts[1], [10, 10, 5])
    assert stream.missing == (0, 5)
    assert read(pa.table({"x": np.arange(30.0), "y": entries})).levels == {1: ("a", "b")}


@pytest.mark.parametrize("kind", ["parquet", "ipc"])
def test_what_polars_writes(tmp_path, kind):
    frame = polars.DataFrame(
        {
            "x": np.arange(40.0),
            "word": polars.Series(["u", "v", None, "w"] * 10).cast(polars.Categorical),
            "level": polars.Series(["low", "high", "middle", "high"] * 10).cast(polars.Enum(["low", "middle", "high"])),
            "text": ["p", "q"] * 20,
            "flag": [True, None, False, True] * 10,
        }
    )
    getattr(frame, f"write_{kind}")(tmp_path / f"rows.{kind}")
    found = read(tmp_path / f"rows.{kind}")
    assert found.levels[1] == ("u", "v", "w")
    assert set(found.levels[2]) == {"low", "middle", "high"}
    assert (found.levels[3], found.levels[4]) == (("p", "q"), ("False", "True"))
    assert {at: sum(counts) for at, counts in found.level_counts.items()} == {1: 30, 2: 40, 3: 40, 4: 30}
    np.testing.assert_array_equal(blocks_of(found)[:4, 4], [1, np.nan, 0, 1])


def test_numbers_have_no_extra_reading(frame, monkeypatch):
    monkeypatch.setattr(Pieces, "tallied", None)
    numbers = arrow_of(frame[["x", "y", "times"]])
    stream = read(numbers)
    assert not stream.levels
    assert not stream.level_counts
    assert blocks_of(stream).shape == (ROWS, 3)
    assert read(arrow_of(frame), Description(columns=["x", "y"])).names == ("x", "y")


# Text


def write_text(frame, path, **options):
    frame.to_csv(path, index=False, **options)
    return path


def both(path, form, monkeypatch, **options):
    """Return a text file read in pieces, and in memory."""
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 10**9)
    whole = read(path, form)
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    return read(path, form, threads=2), whole


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("writing", [{}, {"sep": ";", "decimal": ",", "encoding": "cp1252"}, {"sep": "\t"}])
def test_text_is_read_as_in_memory(frame, tmp_path, monkeypatch, form, writing):
    form = dict(FORMS[form])
    if any("size" in each for each in form.get("ordinal", ())):
        form["ordinal"] = ["size: S < M < L", *form["ordinal"][1:]]
    if form.get("weights"):
        frame = frame[frame.times > 0]
    form = Description(**form)
    found, whole = both(write_text(frame, tmp_path / "rows.csv", **writing), form, monkeypatch)
    same(found, whole, threads=2, counts=form.missing != "drop")


def test_text_that_is_read_cell_by_cell(frame, tmp_path, monkeypatch):
    path = write_text(frame, tmp_path / "rows.csv")
    lines = path.read_text().splitlines()
    lines[400] = '" 1,5 ",' + lines[400].split(",", 1)[1]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"not numbers: 'x'.*line 401"):
        blocks_of(both(path, Description(drop=[]), monkeypatch)[0])
    text = "a b c\n" + "".join(f"{at % 7} {'uv'[at % 2]} {['true', 'False'][at % 3 > 1]}\n" for at in range(300))
    path.write_text(text)
    found, whole = both(path, Description(delimiter=" "), monkeypatch)
    same(found, whole)
    assert found.levels == {1: ("u", "v"), 2: ("False", "true")}


def test_numbers_in_text_that_are_categories(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    codes = ["1", "01", "2.50", "NA", "-9"] * 60
    path.write_text("a,b\n" + "".join(f"{at},{code}\n" for at, code in enumerate(codes)))
    form = Description(categorical=["b"], na_values=[-9])
    found, whole = both(path, form, monkeypatch)
    same(found, whole)
    assert found.levels == {1: ("1", "2.5")}


def test_words_that_come_late_in_a_column_of_numbers(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    cells = [str(at % 5) for at in range(300)] + ["red"]
    path.write_text("a,b\n" + "".join(f"{at * 0.5},{cell}\n" for at, cell in enumerate(cells)))
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    with pytest.raises(DataError, match=r"not numbers: 'b'.*'red' in line 302"):
        blocks_of(read(path))
    path.write_text("a,b\n" + "".join(f"{at * 0.5},{'' if at < 250 else 'red'}\n" for at in range(400)))
    with pytest.raises(DataError, match=r"not numbers: 'b'.*If 'b' holds categories, pass categorical=\['b'\]"):
        blocks_of(read(path))
    path.write_text("a,b\n" + "".join(f"{at * 0.5},{cell}\n" for at, cell in enumerate(cells)))
    assert read(path, Description(categorical=["b"])).levels == {1: ("0", "1", "2", "3", "4", "red")}


@pytest.mark.parametrize("cells", ["date", "id", "mixed"])
def test_other_text_is_refused_as_before(tmp_path, monkeypatch, cells):
    values = {
        "date": [f"2024-01-{1 + at % 28:02}" for at in range(300)],
        "id": [f"p{at}" for at in range(300)],
        "mixed": ["<5" if at == 7 else str(at) for at in range(300)],
    }[cells]
    path = write_text(pd.DataFrame({"x": np.arange(300.0), "stray": values, "y": 1.0}), tmp_path / "rows.csv")
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    monkeypatch.setattr(Pieces, "tallied", None)
    with pytest.raises(DataError, match="not numbers: 'stray'"):
        read(path)
    assert read(path, Description(drop=["stray"])).names == ("x", "y")


def test_several_texts_and_frames_in_memory(frame, tmp_path):
    """Small files and frames together are one table, whose levels are those of all."""
    some = frame.drop(columns="size")
    parts = [some[at : at + 200] for at in range(0, ROWS, 200)]
    paths = [write_text(part, tmp_path / f"{at}.csv") for at, part in enumerate(parts)]
    whole = read(write_text(some, tmp_path / "all.csv"))
    for found, expected in [(read(paths), whole), (read(parts), read(some))]:
        assert found.levels == expected.levels
        np.testing.assert_array_equal(found.values, expected.values)


def test_several_texts_in_pieces(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    some = frame.drop(columns="size")
    paths = [write_text(some[at : at + 200], tmp_path / f"{at}.csv") for at in range(0, ROWS, 200)]
    found = read(paths)
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 10**9)
    same(found, read(write_text(some, tmp_path / "all.csv")))


# Limits and faults


@pytest.mark.parametrize("kind", [*STREAMS, "csv"])
def test_many_levels_are_refused_by_name(frame, tmp_path, monkeypatch, kind):
    many = frame.assign(town=[f"town {at % 51}" for at in range(ROWS)])
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    write = write_text if kind == "csv" else STREAMS[kind]
    source = write(many, tmp_path / f"many.{kind}")
    with pytest.raises(DataError, match=r"Column 'town' .* more than 50 levels.*drop=\['town'\]"):
        read(source)
    with pytest.raises(DataError, match="Column 'x' has more different numbers than the 50 levels"):
        read(source, Description(drop=["town"], categorical=["x"]))
    assert "town" not in read(source, Description(drop=["town"])).names


def test_all_different_text_and_dates_are_refused(frame):
    for column in ([f"p{at}" for at in range(ROWS)], pd.date_range("2020-01-01", periods=ROWS)):
        with pytest.raises(DataError, match="not numbers: 'stray'"):
            read(arrow_of(frame.assign(stray=column)))
    for words in (["2024-05-07", "2024-05-08"], ["1,5", "2,5"]):
        with pytest.raises(DataError, match="not numbers: 'stray'"):
            read(arrow_of(frame.assign(stray=words * (ROWS // 2))))
    few = pa.table({"x": [1.0, 2.0, 5.0, 3.0], "stray": list("abcd")})
    with pytest.raises(DataError, match=r"'stray' \(text, all different\)"):
        read(few)
    assert read(few, Description(categorical=["stray"])).levels == {1: tuple("abcd")}


def test_a_level_that_was_not_counted(frame, tmp_path):
    path = write_parquet(frame, tmp_path / "rows.parquet")
    stream = read(path)
    other = frame.assign(colour=frame.colour.where(frame.index != 333, "purple"))
    assert path.stat().st_size
    pq.write_table(arrow_of(other), tmp_path / "other.parquet", row_group_size=70)
    changed = read(tmp_path / "other.parquet", Description(columns=list(frame.columns)))
    # The same codings on other rows, as if the file had been replaced.
    swapped = changed.coded(stream.codings, {}, {}, {})
    with pytest.raises(DataError, match="Column 'colour' has the level 'purple'"):
        blocks_of(swapped)


def test_infinite_numbers_are_no_level():
    with pytest.raises(DataError, match="'b' has infinite values"):
        read(pa.table({"a": [1.0, 2.0, 3.0], "b": [1.0, np.inf, 1.0]}), Description(categorical=["b"]))


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_are_read_once_are_gathered(frame, form, monkeypatch):
    form = Description(**FORMS[form])
    expected = in_memory(frame, form=form, gaps=True) if not form.weights else read(frame, form)
    for source in (arrow_of(frame).to_reader(70), pyarrow.dataset.dataset(arrow_of(frame)).scanner()):
        found = read(source, form)
        assert isinstance(found, Table)
        assert found.levels == expected.levels
        np.testing.assert_array_equal(found.values, expected.values)
    monkeypatch.setattr("rfdag.input.files.available_memory", lambda: 5000.0)
    with pytest.raises(FileError, match=r"read once only.*pass a file or a dataset"):
        read(arrow_of(frame).to_reader(70), form)


def test_an_open_file(frame, tmp_path):
    content = io.BytesIO(write_parquet(frame, tmp_path / "rows.parquet").read_bytes())
    content.name = "rows.parquet"
    found, expected = read(content), read(frame)
    assert found.levels == expected.levels
    np.testing.assert_array_equal(found.values, expected.values)


def test_a_stream_in_memory(frame, tmp_path):
    stream, expected = read(write_parquet(frame, tmp_path / "rows.parquet")), read(frame)
    table = gathered(stream)
    assert table.levels == expected.levels
    np.testing.assert_array_equal(table.values, expected.values)


def test_huge_row_groups(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "CELLS_READ_AT_ONCE", 100)
    same(read(write_parquet(frame, tmp_path / "rows.parquet")), read(frame))


# Dask


def collection(frame, **options):
    return dd.from_pandas(frame, npartitions=5, sort=False, **options)


def dask_is_like_a_frame(frame, form):
    form = Description(**form)
    if form.weights:
        frame = frame[frame.times > 0]
    same(read(collection(frame), form, threads=2), read(frame, form), threads=2, counts=form.missing != "drop")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("converted", [True, False])
def test_dask_with_threads(frame, form, converted):
    with dask.config.set({"dataframe.convert-string": converted}):
        dask_is_like_a_frame(frame, FORMS[form])


def test_dask_categories_that_only_partitions_know(frame):
    with dask.config.set({"dataframe.convert-string": False}):
        unknown = collection(frame[["x", "age", "size"]]).astype({"age": "category"})
        assert not unknown.age.cat.known
        stream = read(unknown)
        same(stream, read(frame[["x", "age", "size"]].astype({"age": "category"})))


def test_dask_objects_are_numbers_or_text(frame):
    with dask.config.set({"dataframe.convert-string": False}):
        objects = frame[["x", "y"]].assign(y=frame.y.astype(object))
        stream = read(collection(objects))
        assert not stream.levels
        np.testing.assert_array_equal(blocks_of(stream), frame[["x", "y"]])
        both = objects.assign(y=objects.y.where(objects.index < 300, "word"))
        with pytest.raises(DataError, match="not numbers: 'y'"):
            read(collection(both))


def test_dates_that_the_user_calls_categories(frame):
    days = frame[["x", "y"]].assign(
        day=pd.to_datetime(np.where(frame.x > 0, "2020-01-01", "2020-02-01")),
        text=np.where(frame.x > 0, "2020-01-01", "2020-02-01"),
    )
    form = Description(categorical=["day", "text"])
    for source in (collection(days), collection(days.astype({"text": object}))):
        same(read(source, form), read(days, form))
        with pytest.raises(DataError, match="not numbers: 'text'"):
            read(source, Description(drop=["day"]))
    assert [len(each) for each in read(arrow_of(days), form).levels.values()][:2] == [2, 2]


def test_dask_refuses_many_levels(frame):
    with pytest.raises(DataError, match=r"Column 'town' .* more than 50 levels"):
        read(collection(frame.assign(town=[f"town {at % 51}" for at in range(ROWS)])))
    with pytest.raises(DataError, match="not numbers: 'day'"):
        read(collection(frame.assign(day=pd.date_range("2020-01-01", periods=ROWS))))


def test_dask_on_a_cluster(frame, cluster):
    dask_is_like_a_frame(frame, FORMS["named"])
    dask_is_like_a_frame(frame, FORMS["marks"])
    with pytest.raises(DataError, match=r"Column 'town' .* more than 50 levels"):
        read(collection(frame.assign(town=[f"town {at % 51}" for at in range(ROWS)])))
