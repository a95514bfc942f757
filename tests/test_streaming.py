"""Data read in pieces gives what the same data gives in memory, and says what is wrong with it."""

from __future__ import annotations

import decimal
import hashlib
import json
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rfdag
from rfdag.errors import DataError, FileError, OptionError
from rfdag.evidence.moments import Moments
from rfdag.evidence.reading import read_evidence
from rfdag.evidence.summary import Summary
from rfdag.input import arrow, delimited, sources
from rfdag.input import table as tables
from rfdag.input.pieces import Piece, Pieces
from rfdag.input.reading import in_memory
from rfdag.input.table import Table, joined_in_pairs
from rfdag.report import shapes
from rfdag.report.content import content_of
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import samples

NAMES = ["a", "b", "c", "d", "e"]
ODD_COLUMNS = pytest.mark.filterwarnings("ignore::rfdag.errors.DataWarning")
"""Where codes and skewed columns are what is read; other tests look at what is said about them."""


@pytest.fixture(scope="module")
def rows():
    drawn = sample(linear_sem(random_dag(5, 0.6, rng=4), rng=4), 3000, rng=4)
    drawn.setflags(write=False)
    return drawn


@pytest.fixture(scope="module")
def expected(rows):
    return rfdag.learn(rows, names=NAMES)


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a few rows make a block, and a few dozen bytes of text."""
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 500)
    monkeypatch.setattr(delimited, "BYTES_AT_ONCE", 5000)
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)


def table(rows, names=NAMES):
    return pa.table(dict(zip(names, rows.T, strict=True)))


def same(found, expected):
    assert found.names == expected.names
    assert found.order == expected.order
    assert found.n_samples == expected.n_samples
    np.testing.assert_array_equal(found.dag, expected.dag)
    np.testing.assert_allclose(found.moments.correlation, expected.moments.correlation, atol=1e-12)
    np.testing.assert_allclose(found.moments.means, expected.moments.means, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.moments.scales, expected.moments.scales, rtol=1e-12)


def refuses(kind, *words):
    return pytest.raises(kind, match=".*".join(words))


# Summaries


def moments_of(rows, cuts):
    pieces = np.split(np.asarray(rows, dtype=float), cuts)
    return Moments.from_summary(joined_in_pairs(map(Summary.of, pieces), Summary.joined))


@given(samples(), st.lists(st.integers(0, 50), max_size=6))
def test_joined_summaries_are_those_of_all_rows(rows, cuts):
    whole, joined = Moments.from_data(rows), moments_of(rows, sorted(cuts))
    np.testing.assert_allclose(joined.correlation, whole.correlation, atol=1e-12)
    np.testing.assert_allclose(joined.means, whole.means, atol=1e-12)
    np.testing.assert_allclose(joined.scales, whole.scales, rtol=1e-12)
    np.testing.assert_allclose(joined.partial_correlations(), whole.partial_correlations(), atol=1e-10)


def exact_correlation(rows):
    """Return correlations in whole-number arithmetic: the rows are multiples of a power of two."""
    scale = 2**30
    whole = [[int(x * scale) for x in row] for row in rows.tolist()]
    n, p = rows.shape
    sums = [sum(row[i] for row in whole) for i in range(p)]
    products = [[n * sum(row[i] * row[j] for row in whole) - sums[i] * sums[j] for j in range(p)] for i in range(p)]
    with decimal.localcontext(prec=60):
        roots = [decimal.Decimal(products[i][i]).sqrt() for i in range(p)]
        return np.array([[float(products[i][j] / (roots[i] * roots[j])) for j in range(p)] for i in range(p)])


@pytest.mark.parametrize("mean", [0.0, 1e9, -1e11])
def test_means_a_billion_times_the_scale(mean):
    rows = sample(linear_sem(random_dag(6, 0.5, rng=3), rng=3), 1000, rng=3) + mean
    rows = np.round(rows * 2**20) / 2**20 if mean == 0 else rows
    correlation = exact_correlation(rows)
    found = moments_of(rows, [137, 600, 601]).correlation
    # What counts is the rows as they are stored, rounded to the numbers near the mean.
    assert np.abs(found - correlation).max() < 1e-12
    naive = rows.T @ rows / len(rows) - np.outer(rows.mean(axis=0), rows.mean(axis=0))
    spoilt = np.abs(naive / np.sqrt(np.abs(np.outer(naive.diagonal(), naive.diagonal()))) - correlation).max()
    assert mean == 0 or not spoilt < 1e-3


def test_means_that_drift_from_piece_to_piece():
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(4000, 4)) + np.repeat([0.0, 1e6, -1e6, 3.0], 1000)[:, None]
    np.testing.assert_allclose(moments_of(rows, [1000, 2000, 3000]).correlation, np.corrcoef(rows.T), atol=1e-12)


@pytest.mark.parametrize("scales", [(1e200, 1e-200), (1.7e308, 1.0), (1e-300, 1e99)])
def test_the_ends_of_the_number_range(scales):
    rows = np.random.default_rng(2).uniform(-1, 1, size=(400, 2))
    rows[:, 1] += rows[:, 0]
    plain = Moments.from_data(rows)
    wild = rows / np.abs(rows).max(axis=0) * scales
    # Among the pieces are some in which all numbers are tiny.
    wild[:7] *= 1e-9
    found, whole = moments_of(wild, [7, 200]), Moments.from_data(wild)
    np.testing.assert_allclose(found.correlation, whole.correlation, atol=1e-12)
    np.testing.assert_allclose(found.scales, whole.scales, rtol=1e-12)
    assert abs(found.correlation[0, 1] - plain.correlation[0, 1]) < 0.1


def test_products_serve_where_they_lose_nothing_and_qr_elsewhere():
    """A dense graph's condition, squared by products, would cost digits that the QR decomposition keeps."""
    rows = sample(linear_sem(random_dag(60, 0.5, rng=2), rng=2), 2000, rng=2)
    whole = Moments.from_data(rows).partial_correlations()
    np.testing.assert_allclose(moments_of(rows, [700]).partial_correlations(), whole, atol=1e-9)
    easy = np.random.default_rng(1).normal(size=(2000, 30))
    np.testing.assert_allclose(
        moments_of(easy, [700]).partial_correlations(), Moments.from_data(easy).partial_correlations(), atol=1e-13
    )


def test_constant_in_one_piece_or_in_all():
    rows = np.random.default_rng(3).normal(size=(300, 3))
    rows[:100, 1] = 5.0
    np.testing.assert_allclose(moments_of(rows, [100]).correlation, np.corrcoef(rows.T), atol=1e-12)
    rows[:, 1] = 1e5
    with refuses(DataError, "constant: column 1"):
        moments_of(rows, [100])
    rows[:, 1] += 1e-11 * np.random.default_rng(3).normal(size=300)
    with refuses(DataError, "Column 1 varies too little for its mean"):
        moments_of(rows, [100])


# The scan


def test_the_summary_does_not_depend_on_threads_and_little_is_in_memory_at_once(rows):
    inside, most, lock = 0, 0, threading.Lock()

    def piece(part):
        def read():
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            yield part.copy(order="F")
            with lock:
                inside -= 1

        return Piece(read, len(part))

    factors = []
    for threads in (1, 2, 5):
        parts = [piece(part) for part in np.array_split(rows, 40)]
        shares = []
        stream = Pieces(tuple(NAMES), lambda places, parts=parts: iter(parts), len(rows))
        factors.append(stream.fold(Summary.of, Summary.joined, threads, shares.append).factor)
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert len(shares) == 40
    assert most <= 5
    assert all((factor == factors[0]).all() for factor in factors)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_scan_that_is_stopped_leaves_no_thread_behind(rows, problem, threads):
    started = []

    def endless():
        while True:
            yield Piece(lambda: [rows.copy()], 1.0)

    def stop(share):
        started.append(share)
        if len(started) == 3:
            raise problem

    with pytest.raises(problem):
        Pieces(tuple(NAMES), lambda places: endless(), 1e9).fold(Summary.of, Summary.joined, threads, stop)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rfdag-read")]


# Files and tables


def write(rows, path, **options):
    kind = path.suffix
    if kind == ".parquet":
        pq.write_table(table(rows), path, **({"row_group_size": 700} | options))
    elif kind == ".feather":
        pyarrow.feather.write_feather(table(rows), path, chunksize=700)
    else:
        pd.DataFrame(rows, columns=NAMES).to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    return path


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "tsv"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_files_in_pieces(rows, expected, tmp_path, small_blocks, kind, jobs):
    shares = []
    path = write(rows, tmp_path / f"big.{kind}")
    same(rfdag.learn(path, n_jobs=jobs, progress=shares.append), expected)
    assert len(shares) > 4
    assert shares[0] < 0.5


def test_folders_lists_and_globs(rows, expected, tmp_path, small_blocks):
    (tmp_path / "part").mkdir()
    parts = [write(part, tmp_path / "part" / f"{at}.parquet") for at, part in enumerate(np.array_split(rows, 3))]
    (tmp_path / "part" / "_SUCCESS").touch()
    (tmp_path / "part" / "_metadata.parquet").write_text("not data")
    for source in (tmp_path / "part", str(tmp_path / "part"), parts, [str(part) for part in parts]):
        same(rfdag.learn(source), expected)
    same(rfdag.learn(f"{tmp_path}/part/[0-9].parquet"), expected)
    # Columns are matched by name.
    pq.write_table(pq.read_table(parts[1]).select(NAMES[::-1]), parts[1])
    same(rfdag.learn(tmp_path / "part"), expected)
    texts = [write(part, tmp_path / f"{at}.csv") for at, part in enumerate(np.array_split(rows, 2))]
    same(rfdag.learn(texts), expected)
    estimator = rfdag.RFD().fit(tmp_path / "part")
    assert estimator.result_.order == expected.order
    assert list(estimator.feature_names_in_) == NAMES
    assert np.isfinite(estimator.score(pd.DataFrame(rows[:10], columns=NAMES)))


def test_tables_datasets_and_streams(rows, expected, tmp_path, small_blocks):
    whole = table(rows)
    path = write(rows, tmp_path / "one.parquet")
    dataset = pyarrow.dataset.dataset(path)
    scanner = dataset.scanner(columns=NAMES, filter=pyarrow.dataset.field("a") > 0)
    same(rfdag.learn(whole), expected)
    same(rfdag.learn(pa.concat_tables([whole[:11], whole[11:13], whole[13:]])), expected)
    same(rfdag.learn(dataset), expected)
    same(rfdag.learn(scanner), rfdag.learn(rows[rows[:, 0] > 0], names=NAMES))
    same(rfdag.learn(whole.to_reader(max_chunksize=77)), expected)
    same(rfdag.learn(dataset, names=list("vwxyz")), rfdag.learn(rows, names=list("vwxyz")))
    assert rfdag.RFD().fit(dataset).result_.order == expected.order


def test_a_huge_row_group_is_handed_out_in_blocks(rows, expected, tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(arrow, "CELLS_READ_AT_ONCE", 1000)
    shares = []
    path = write(rows, tmp_path / "one.parquet", row_group_size=10**6)
    same(rfdag.learn(path, n_jobs=2, progress=shares.append), expected)
    assert 0 < shares[0] < 0.1


@ODD_COLUMNS
def test_everything_that_is_a_number(tmp_path):
    generator = np.random.default_rng(1)
    n = 500
    whole = generator.integers(0, 9, n)
    columns = {
        "bool": pa.array(generator.random(n) < 0.5),
        "int8": pa.array(whole, pa.int8()),
        "uint64": pa.array(whole.astype(np.uint64) + generator.integers(0, 2**62, n, dtype=np.uint64)),
        "float32": pa.array(generator.normal(size=n), pa.float32()),
        "half": pa.array(generator.normal(size=n).astype(np.float16)),
        "decimal": pa.array([decimal.Decimal(int(x)) / 4 for x in generator.integers(0, 99, n)], pa.decimal128(20, 2)),
        "dictionary": pa.array(generator.integers(0, 4, n)).dictionary_encode(),
    }
    path = tmp_path / "kinds.parquet"
    pq.write_table(pa.table(columns), path)
    plain = np.column_stack([np.array(column.to_pylist(), dtype=float) for column in columns.values()])
    same(rfdag.learn(path), rfdag.learn(plain, names=list(columns)))
    pd.DataFrame(plain[:, :4], columns=list("wxyz"), index=[f"row {at}" for at in range(n)]).to_parquet(path)
    assert rfdag.learn(path).names == tuple("wxyz")
    pl.DataFrame(plain[:, :4], schema=list("wxyz")).write_parquet(path)
    assert rfdag.learn(path).n_samples == n


def test_text_in_pieces_reads_like_text_in_memory(tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(delimited, "BYTES_AT_ONCE", 64)
    path = tmp_path / "table.csv"
    generator = np.random.default_rng(1)
    lines = [f"{a:.3f};{b:.3f};{'True' if c else 'false'}" for a, b, c in generator.normal(size=(60, 3)) > 0.1]
    lines[20] = '"1,5";2;TRUE'
    lines[30] = "   "
    lines[40] = " 3 ; 2,5;0"
    text = '\ufeff\r\n"x; y";z;b\r\n' + "\r\n".join(line.replace(".", ",") for line in lines)
    path.write_bytes(text.encode())
    in_pieces = rfdag.learn(path, delimiter=";", decimal=",")
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 10**9)
    same(in_pieces, rfdag.learn(path, delimiter=";", decimal=","))
    assert in_pieces.names == ("x; y", "z", "b")
    path.write_text("".join(f"{a},{b}\n" for a, b in generator.normal(size=(50, 2))))
    bare = rfdag.learn(path, header=False)
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    same(rfdag.learn(path, header=False), bare)


def test_the_program_takes_folders_and_several_files(rows, expected, tmp_path):
    parts = [write(part, tmp_path / f"{at}.parquet") for at, part in enumerate(np.array_split(rows, 2))]
    for words in ([tmp_path], parts):
        program = [sys.executable, "-c", "from rfdag.cli import main; main()", "learn", *map(str, words), "--json"]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        content = json.loads(done.stdout)
        assert (content["order"], content["n_samples"]) == (list(expected.order), 3000)
    parts[1].write_bytes(parts[1].read_bytes()[:2000])
    out = tmp_path / "out"
    program = [sys.executable, "-c", "from rfdag.cli import main; main()", "learn", str(tmp_path), "--out", str(out)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1.parquet is damaged" in done.stderr
    assert not out.exists()


# Every source answers the same questions


def test_a_table_folds_as_a_stream_does(rows, small_blocks):
    whole = Table(rows, tuple(NAMES))
    pieces = arrow.in_pieces(table(rows), threads=1)
    assert (whole.names, whole.rows, whole.in_memory) == (pieces.names, pieces.rows, pieces.in_memory)
    first, second = (source.fold(Summary.of, Summary.joined) for source in (whole, pieces))
    np.testing.assert_array_equal(first.factor, second.factor)
    np.testing.assert_array_equal(whole.values, rows)
    assert whole.renamed(tuple("vwxyz")).names == pieces.renamed(tuple("vwxyz")).names == tuple("vwxyz")
    empty = Table(rows[:0], tuple(NAMES)).fold(Summary.of, Summary.joined)
    assert (empty.count, len(empty.units)) == (0, 5)


def test_a_reader_of_your_own_is_asked_first(rows, expected, tmp_path, monkeypatch):
    class Lines:
        """Reads files in which numbers are separated by a slash."""

        def reads(self, source):
            return str(source).endswith(".slash")

        def open(self, source, form, threads):
            lines = source.read_text().splitlines()
            numbers = [[float(cell) for cell in line.split("/")] for line in lines[1:]]
            return Table(np.array(numbers), tuple(lines[0].split("/")))

    path = tmp_path / "rows.slash"
    text = ["/".join(NAMES), *("/".join(map(repr, row)) for row in rows.tolist())]
    path.write_text("\n".join(text))
    with refuses(FileError, "ends in '.slash'"):
        rfdag.learn(path)
    monkeypatch.setattr(sources, "READERS", [*sources.READERS, Lines()])
    same(rfdag.learn(path), expected)


def test_a_table_of_arrow_is_in_memory_and_has_blocks(rows):
    blocks = rfdag.learn(table(rows), blocks=True)
    plain = rfdag.learn(rows, names=NAMES, blocks=True)
    assert blocks.order == plain.order
    assert (blocks.dag != plain.dag).nnz == 0
    with refuses(OptionError, "read in pieces"):
        rfdag.learn(table(rows).to_reader(), blocks=True)


def test_what_is_summed_up_is_taken_to_the_device(rows, tmp_path):
    class Elsewhere(Moments):
        """Moments that know they are not the usual ones."""

    path = write(rows, tmp_path / "rows.parquet")
    for source in (path, rows):
        found, _ = read_evidence(source, moments=Elsewhere)
        assert type(found) is Elsewhere
        np.testing.assert_allclose(found.correlation, np.corrcoef(rows.T), atol=1e-12)


def test_tables_that_do_not_fit_are_not_put_together(rows, tmp_path, monkeypatch):
    path = write(rows, tmp_path / "rows.parquet")
    text = write(rows, tmp_path / "rows.csv")
    monkeypatch.setattr(sources, "TEXT_IN_PIECES_FROM", 0)
    assert in_memory(path).values.tolist() == in_memory(text).values.tolist() == rows.tolist()
    monkeypatch.setattr("rfdag.input.files.available_memory", lambda: 100_000.0)
    with refuses(FileError, "A table of 3000 rows and 5 columns needs", "read fewer columns or rows"):
        in_memory(path)
    with refuses(FileError, "The next part of the table needs"):
        in_memory(text)


# Reports about what is read in pieces


@ODD_COLUMNS
def test_a_report_about_a_stream_shows_what_one_about_the_table_shows(rows, tmp_path, small_blocks):
    rows = np.column_stack([np.exp(rows[:, 0]), np.round(rows[:, 1]), 1e7 + rows[:, 2], rows[:, 3:]])
    path = write(rows, tmp_path / "rows.parquet")
    result = rfdag.learn(path)
    whole = content_of(result, data=pd.DataFrame(rows, columns=NAMES))
    for data in (path, pyarrow.dataset.dataset(path), table(rows)):
        found = content_of(result, data=data)
        for name, numbers in whole["health"]["columns"].items():
            if name in ("taken", "remarks"):
                assert found["health"]["columns"][name] == numbers
            elif name != "distinct_up_to":
                assert found["health"]["columns"][name] == pytest.approx(numbers, rel=1e-6), name
    assert content_of(result, data=table(rows))["run"]["hash"] == whole["run"]["hash"]


def test_different_values_are_counted_up_to_a_limit(rows, monkeypatch):
    monkeypatch.setattr(shapes, "VALUES_KEPT", 600)
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 500)
    rows = np.column_stack([rows[:, :4], np.arange(3000) % 7])
    columns = content_of(rfdag.learn(rows, names=NAMES), data=table(rows))["health"]["columns"]
    assert columns["distinct"] == [120, 120, 120, 120, 7]
    assert columns["distinct_up_to"] == 120


def test_the_hash_of_several_files_is_that_of_the_files_that_were_read(rows, tmp_path):
    (tmp_path / "part" / "deep").mkdir(parents=True)
    first, second = np.array_split(rows, 2)
    paths = [write(first, tmp_path / "part" / "1.parquet"), write(second, tmp_path / "part" / "deep" / "2.parquet")]
    (tmp_path / "part" / "_SUCCESS").write_text("not data")
    expected = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    result = rfdag.learn(paths)
    for data in (tmp_path / "part", paths, f"{tmp_path}/part/**/*.parquet"):
        assert content_of(result, data=data)["run"]["hash"]["sha256"] == expected
        assert sources.files_of(data) == paths


def test_reports_about_other_data_are_refused_before_and_after_reading(rows, tmp_path, small_blocks):
    result = rfdag.learn(rows, names=NAMES)
    for kind in ("parquet", "csv"):
        with refuses(OptionError, "data= has 2999 rows and 5 columns, the result 3000 rows and 5 variables"):
            content_of(result, data=write(rows[1:], tmp_path / f"less.{kind}"))
        holed = rows.copy()
        holed[7, 2] = np.nan
        with refuses(DataError, "Column 'c' has 1 missing value"):
            content_of(result, data=write(holed, tmp_path / f"holed.{kind}"))


def test_a_report_about_a_large_folder_needs_little_memory(tmp_path):
    """The rows take 160 MB, the report less than 100 beyond what the libraries and a small report take."""
    (tmp_path / "large").mkdir()
    generator = np.random.default_rng(1)
    for at in range(4):
        values = generator.normal(size=(100_000, 50))
        pq.write_table(table(values, [f"x{at}" for at in range(50)]), tmp_path / "large" / f"{at}.parquet")
    small = tmp_path / "small.parquet"
    pq.write_table(table(values[:1000], [f"x{at}" for at in range(50)]), small)
    code = (
        "import resource, rfdag\n"
        "from rfdag.report.rows import Rows\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "def report(path):\n"
        "    result = rfdag.learn(path, method='rfd', n_jobs=1)\n"
        "    before = peak()\n"
        "    Rows.of(path, result)\n"
        "    return peak() - before\n"
        f"report({str(small)!r})\n"
        f"print(report({str(tmp_path / 'large')!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert float(done.stdout or "nan") < 100, done.stderr + done.stdout


# Faults


def test_missing_and_infinite_values_are_counted_over_all_pieces(rows, tmp_path, small_blocks):
    holed = rows.copy()
    holed[[5, 1500, 2900], 1] = np.nan
    holed[5, 2] = np.nan
    holed[7, 3] = np.inf
    message = (
        r"Columns 'b', 'c' have missing values \(NaN\): 3 in 'b', 1 in 'c', 3 rows in all",
        "'d' has infinite values",
    )
    for kind in ("parquet", "feather", "csv"):
        with refuses(DataError, *message):
            rfdag.learn(write(holed, tmp_path / f"holed.{kind}"), n_jobs=2, missing="error")
    with refuses(DataError, *message):
        rfdag.learn(table(holed), missing="error")


def test_nulls_are_counted(rows, tmp_path):
    path = tmp_path / "nulls.parquet"
    frame = pd.DataFrame(rows.copy(), columns=NAMES)
    frame.loc[3:6, "e"] = np.nan
    frame.to_parquet(path)
    with refuses(DataError, "Column 'e' has 4 missing values"):
        rfdag.learn(path, missing="error")
    with refuses(DataError, "Column 'last' has 4 missing values"):
        rfdag.learn(path, names=["x", "y", "z", "w", "last"], missing="error")


def test_words_and_mixed_types_are_named(rows, tmp_path, small_blocks):
    path = tmp_path / "words.parquet"
    words = pa.array([f"row {at}" for at in range(3000)])
    for column in (words, words.dictionary_encode(), pa.array([0] * 3000, pa.date32()), pa.array([[1]] * 3000)):
        pq.write_table(table(rows).append_column("stray", column), path)
        with refuses(DataError, "words.parquet has a column that is not numbers: 'stray'"):
            rfdag.learn(path)
    pq.write_table(table(rows).append_column("a", words), path)
    with refuses(DataError, "Several columns are called 'a'"):
        rfdag.learn(path)
    text = write(rows, tmp_path / "words.csv")
    lines = text.read_text().splitlines()
    lines[1800] = "1,2,red,4,5"
    text.write_text("\n".join(lines))
    with refuses(DataError, "not numbers: 'c'", "'red' in line 1801"):
        rfdag.learn(text, n_jobs=2)
    lines[1800] = "1,2,3"
    text.write_text("\n".join(lines))
    with refuses(DataError, "line 1801: found 3 cells where the first line has 5"):
        rfdag.learn(text)


def test_files_with_different_columns_say_which(rows, tmp_path):
    first, second = write(rows, tmp_path / "1.parquet"), tmp_path / "2.parquet"
    pq.write_table(table(rows, ["a", "b", "C", "d", "e"]), second)
    with refuses(FileError, "2.parquet lacks 'c' and has 'C' besides", "1.parquet"):
        rfdag.learn([first, second])
    pq.write_table(table(rows).drop_columns(["e"]), second)
    with refuses(FileError, "2.parquet lacks 'e', compared"):
        rfdag.learn(tmp_path)


def test_damaged_files(rows, tmp_path):
    whole = write(rows, tmp_path / "whole.parquet").read_bytes()
    path = tmp_path / "damaged.parquet"
    for content in (whole[: len(whole) // 2], b"", b"PAR1", b"a,b\n1,2\n", whole[:-8] + b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(content)
        with refuses(FileError, "damaged.parquet is damaged, cut short or not a Parquet file"):
            rfdag.learn(path)
    # The footer is whole and the pages are not.
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    with refuses(FileError, "damaged.parquet is damaged"):
        rfdag.learn(path, n_jobs=2)
    feather = tmp_path / "damaged.feather"
    feather.write_bytes(write(rows, tmp_path / "whole.feather").read_bytes()[:-300])
    with refuses(FileError, "damaged.feather is damaged, cut short or not an Arrow IPC file"):
        rfdag.learn(feather)


def test_too_little(rows, tmp_path, small_blocks):
    path = tmp_path / "little.parquet"
    write(rows[:0], path)
    with refuses(DataError, "the table is empty"):
        rfdag.learn(path)
    write(rows[:1], path)
    with refuses(DataError, "1 sample"):
        rfdag.learn(path)
    pq.write_table(table(rows[:, :1], ["a"]), path)
    with refuses(DataError, "'a'", "two columns"):
        rfdag.learn(path)
    pq.write_table(table(np.column_stack([rows[:, 0], np.ones(3000)]), ["a", "one"]), path)
    with refuses(DataError, "constant: 'one'"):
        rfdag.learn(path)
    with refuses(DataError, "the table is empty"):
        rfdag.learn(table(rows[:0]).to_reader())
    text = tmp_path / "little.csv"
    text.write_text("a,b\n\n")
    with refuses(DataError, "the table is empty"):
        rfdag.learn(text)
    text.write_text("a,b\r1,2\r3,4\r")
    with refuses(FileError, "Lines end in"):
        rfdag.learn(text)


def test_paths_that_lead_nowhere(rows, tmp_path):
    with refuses(FileError, "no file", "nowhere.parquet"):
        rfdag.learn(tmp_path / "nowhere.parquet")
    with refuses(FileError, "no file"):
        rfdag.learn([tmp_path / "nowhere.parquet", tmp_path / "2.parquet"])
    with refuses(FileError, "is a folder with no files"):
        rfdag.learn(tmp_path)
    write(rows, tmp_path / "1.parquet")
    with refuses(OptionError, "says how a text or Excel file is written"):
        rfdag.learn(tmp_path / "1.parquet", decimal=",")
    with refuses(OptionError, "says how a text or Excel file is written"):
        rfdag.learn(table(rows), header=True)
    write(rows, tmp_path / "1.feather")
    with refuses(FileError, "files ending in '.feather', '.parquet'"):
        rfdag.learn(tmp_path)
    with refuses(FileError, "several files together end in"):
        rfdag.learn([tmp_path / "1.parquet", tmp_path / "1.npy"])
    (tmp_path / "hive" / "year=2020").mkdir(parents=True)
    write(rows, tmp_path / "hive" / "year=2020" / "1.parquet")
    with refuses(FileError, "divided by 'year'", "partitioning='hive'"):
        rfdag.learn(tmp_path / "hive")


def test_without_pyarrow_small_texts_are_read_and_parquet_says_what_to_install(rows, tmp_path):
    write(rows, tmp_path / "1.parquet")
    write(rows, tmp_path / "1.csv")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import rfdag\n"
        f"print(rfdag.learn({str(tmp_path / '1.csv')!r}).n_samples)\n"
        f"rfdag.learn({str(tmp_path / '1.parquet')!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3000\n"
    assert "pip install 'rfdag[parquet]'" in done.stderr.splitlines()[-1]


def test_memory_stays_small(tmp_path):
    """A table of 400 MB is read within 200 MB of memory, beyond what the libraries take."""
    path = tmp_path / "large.parquet"
    schema = pa.schema([(f"x{at}", pa.float64()) for at in range(100)])
    generator = np.random.default_rng(1)
    some = [generator.normal(size=50_000) for _ in range(100)]
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for shift in range(10):
            writer.write_table(pa.table([column + shift for column in some], schema=schema))
    code = (
        "import resource, numpy, rfdag.evidence.reading, rfdag.evidence.summary, pyarrow.parquet, pyarrow.compute\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "rfdag.evidence.summary.Summary.of(numpy.random.normal(size=(500, 100)))\n"
        "before = peak()\n"
        f"assert rfdag.evidence.reading.read_evidence({str(path)!r}, threads=1).evidence.n_samples == 500_000\n"
        "print(peak() - before)\n"
    )
    assert path.stat().st_size > 390e6
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert float(done.stdout or "nan") < 200, done.stderr + done.stdout
