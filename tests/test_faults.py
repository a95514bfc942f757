"""Full disks, files that change while they are read, little memory, closed streams: a clear end, and nothing lost."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import count

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.commands.speech import TOO_LITTLE
from rfdag.errors import FileError
from rfdag.input import arrow, delimited, files
from rfdag.input import sources as sources_

PROGRAM = [sys.executable, "-c", "from rfdag.cli import main; main()"]
NAMES = ["a", "b", "c", "d"]


def rows(n=400, seed=1):
    values = np.random.default_rng(seed).normal(size=(n, 4))
    values[:, 3] += values[:, 0] + values[:, 1]
    return pd.DataFrame(values, columns=NAMES)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    rows().to_csv(path, index=False)
    return path


# A disk that is full after any number of bytes

FULL = """
import json, os, resource, sys
from pathlib import Path
from rfdag.commands.output_files import Places, write_places
from rfdag.errors import FileError
from rfdag.runtime.journal import Journal
from rfdag.runtime.writing import write_folder, write_text

LIMITS = resource.getrlimit(resource.RLIMIT_FSIZE)


def journal():
    log = Journal(Path("runs.jsonl"))
    for number in range(3):
        log.write({"number": number, "word": "x" * 40})


WAYS = {
    "file": lambda: write_text("one.txt", "n" * 300),
    "folder": lambda: write_folder("out", {"a.txt": "n" * 100, "b.txt": "n" * 300, "c.txt": "n" * 200}),
    "places": lambda: write_places(
        Places(Path("out"), Path("page.html"), Path("plot.png")), {"a.txt": "n" * 100}, "n" * 250, b"n" * 300
    ),
    "journal": journal,
}
write = WAYS[sys.argv[1]]
found = []
for size in range(0, 420, 20):
    for path in [path for path in Path(".").rglob("*") if path.is_file()]:
        path.unlink()
    if sys.argv[2] == "older":
        Path("out").mkdir(exist_ok=True)
        for name in ("one.txt", "out/a.txt", "out/b.txt", "page.html"):
            Path(name).write_text("older")
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, LIMITS[1]))
    try:
        write()
        problem = ""
    except FileError as error:
        problem = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, LIMITS)
    left = {str(path): path.read_text() for path in Path(".").rglob("*") if path.is_file()}
    found.append({"size": size, "problem": problem, "left": left})
print(json.dumps(found))
"""


@pytest.mark.parametrize("way", ["file", "folder", "places", "journal"])
@pytest.mark.parametrize("before", ["nothing", "older"])
def test_a_disk_that_is_full_after_any_byte_loses_nothing(way, before, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, way, before], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    ends = json.loads(done.stdout)
    older = {"one.txt", "out/a.txt", "out/b.txt", "page.html"} if before == "older" else set()
    assert ends[0]["problem"]
    assert not ends[-1]["problem"]
    for end in ends:
        if way == "journal":
            lines = end["left"].get("runs.jsonl", "").split("\n")[:-1]
            assert [json.loads(line)["number"] for line in lines] == list(range(len(lines)))
            assert bool(end["problem"]) == (len(lines) < 3)
        elif end["problem"]:
            # What was there is there, and nothing else: no part of a file, and no temporary one.
            assert end["left"] == dict.fromkeys(older, "older")
            assert "File too large" in end["problem"]
            assert "could not be written" in end["problem"]
        else:
            assert set(end["left"].values()) <= {"older", *("n" * size for size in (100, 200, 250, 300))}
            assert set(end["left"]) >= older


def test_a_result_that_cannot_be_written_leaves_the_older_one(table, tmp_path):
    """By every function of the library that writes."""
    found, newer = rfdag.learn(table), rfdag.learn(rows(seed=2))
    frequencies = rfdag.bootstrap(table, 3, n_jobs=1)
    writers = {
        "result.json": (found.save, newer.save),
        "page.html": (found.report, newer.report),
        "bootstrap.json": (frequencies.save, frequencies.save),
    }
    below = table / "name"
    for name, (write, again) in writers.items():
        path = write(tmp_path / name)
        older = path.read_bytes()
        with pytest.raises(FileError, match=r"data\.csv/name could not be written"):
            again(below)
        assert path.read_bytes() == older
    with pytest.raises(FileError, match=r"data\.csv"):
        rfdag.bootstrap(table, 3, n_jobs=1, out=below)


@pytest.mark.parametrize("option", ["--out", "--report", "--plot"])
def test_a_path_below_a_file_is_refused_before_the_run(option, table):
    place = table / ("graph.svg" if option == "--plot" else "there")
    done = CliRunner().invoke(app, ["learn", str(table), option, str(place)])
    assert done.exit_code == 1
    assert "Error:" in done.stderr
    assert str(place) in done.stderr


# Files that change while they are read


def write_as(kind, frame, path):
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=50)
    else:
        frame.to_feather(path, chunksize=50)


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def replace(path):
    other = path.with_name("other")
    write_as(path.suffix[1:], rows(seed=2), other)
    os.replace(other, path)


def overwrite(path):
    replace(path)
    os.utime(path, ns=(0, 0))


CHANGES = {
    "truncated": truncate,
    "replaced": replace,
    "replaced, with an old date": overwrite,
    "removed": os.remove,
    "longer": lambda path: path.write_bytes(path.read_bytes() * 2),
}


@pytest.fixture
def in_pieces(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sources_, "TEXT_IN_PIECES_FROM", 0)
    monkeypatch.setattr(delimited, "BYTES_AT_ONCE", 1000)
    monkeypatch.setattr(arrow, "rows_per_block", lambda columns: 50)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_changes_while_it_is_read_in_pieces_is_refused(kind, change, folder, tmp_path, in_pieces):
    place = tmp_path / "data"
    place.mkdir()
    for number in range(2):
        write_as(kind, rows(seed=number), place / f"part-{number}.{kind}")
    first, last = sorted(place.iterdir())
    number = count()

    def meddle(share):
        if next(number) == 3:
            CHANGES[change](last if folder else first)

    with pytest.raises(FileError, match=r"part-\d\.\w+ was (changed|removed) while it was read"):
        sources_.open_source(place if folder else first).fold(
            lambda block: block.copy(), lambda one, two: two, report=meddle
        )


@pytest.mark.parametrize("change", [truncate, replace, os.remove])
def test_a_file_that_changes_while_it_is_read_as_a_whole_is_refused(change, table, monkeypatch):
    load = np.loadtxt

    def meddle(*arguments, **options):
        change(table)
        return load(*arguments, **options)

    monkeypatch.setattr(np, "loadtxt", meddle)
    with pytest.raises(FileError, match=r"data\.csv was (changed|removed) while it was read"):
        rfdag.learn(table)


def test_a_file_that_is_left_alone_is_read_though_it_is_read_from(table, monkeypatch):
    """Reading changes when a file was read last, and a link may come to it."""
    os.link(table, table.with_name("link.csv"))
    os.utime(table, ns=(0, table.stat().st_mtime_ns))
    assert rfdag.learn(table).n_samples == 400


def test_a_pipe_has_no_version(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert files.Version.of(tmp_path / "pipe.csv") is None
    assert files.Version.of(tmp_path / "nothing.csv") is None


# Little memory


def test_too_little_memory_is_told_in_one_line(table, monkeypatch):
    def learn(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("rfdag.learn", learn)
    done = CliRunner().invoke(app, ["learn", str(table)])
    assert done.exit_code == 1
    assert done.stderr == f"Error: {TOO_LITTLE}\n"


# Streams


def run_in_shell(command, folder, **environment):
    done = subprocess.run(
        ["bash", "-c", command.replace("rfdag", shlex.join(PROGRAM))],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize("where", ["2>&1 | true", ">&- 2>&-"])
def test_results_are_written_whatever_becomes_of_the_streams(where, table):
    command = f"rfdag learn data.csv --out out {where}; exit ${{PIPESTATUS[0]}}"
    assert run_in_shell(command, table.parent).returncode == 0
    assert rfdag.load(table.parent / "out" / "result.json").names == tuple(NAMES)


def test_short_output_to_a_full_disk_is_an_error(table):
    """It is written when the program ends, where nothing could be said about it any more."""
    rfdag.learn(table).save(table.parent / "result.json")
    done = run_in_shell("rfdag effect result.json a d --json > /dev/full", table.parent)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_a_process_without_streams_can_learn(table):
    code = "import sys; sys.stdout = sys.stderr = None; import rfdag; rfdag.learn('data.csv').save('found.json')"
    subprocess.run([sys.executable, "-c", code], cwd=table.parent, check=True)
    assert (table.parent / "found.json").exists()
