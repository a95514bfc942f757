"""Take away what programs need: room, permission, streams, a home, memory, files that stay as they are.

    sudo python benchmarks/soak_faults.py [--changes 100] [--seed 1] [--parts places,streams,changes]

Commands, and functions that write, run on small file systems in memory, which fill up after any number of kilobytes or
cannot be written to; with streams closed, full or left by their reader; without a home or a place for compiled kernels;
and under limits of memory. What they leave is compared with what was there before. Files are changed at random moments
while they are read. Mounting needs root, under Linux. Writes benchmarks/results/soak_faults_*.csv and a section of
docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import changing_files
from report import ROOT, known_rows, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from soak_kills import PROGRAM, is_whole

Row = dict[str, Any]
IN_PYTHON = """
import sys, rfdag
try:
    %s
except rfdag.errors.RfdagError as problem:
    sys.exit(f"Error: {problem}")
"""
RFDAG = shlex.join(PROGRAM)

WRITERS = {
    "`learn --out`": "rfdag learn {data} --out {out}/learnt",
    "`learn --report`": "rfdag learn {data} --report {out}/report.html",
    "`learn --plot`": "rfdag learn {data} --plot {out}/graph.svg",
    "`learn`, all three": "rfdag learn {data} --out {out}/all --report {out}/all.html --plot {out}/all/graph.png",
    "`bootstrap --out`": "rfdag bootstrap {data} --runs 12 --jobs 1 --out {out}/frequencies --report {out}/runs.html",
    "`bench --out`": "rfdag bench {data} --contenders rfdag --out {out}/bench",
    "`reproduce --out`": "rfdag reproduce examples --quick --jobs 1 --seed {seed} --out {out}/figures",
    "`simulate`": "rfdag simulate {out}/drawn --seed {seed}",
    "`Result.save`": "python rfdag.load('result-{seed}.json').save('{out}/result.json')",
    "`Result.report`": "python rfdag.load('result-{seed}.json').report('{out}/page.html')",
    "`Bootstrap.save`": "python rfdag.bootstrap('{data}', 5, n_jobs=1).save('{out}/bootstrap.json')",
}
"""What writes files, in the words of a shell; a program in Python says what an error of rfdag says."""

PRINTERS = {
    "`learn`": "rfdag learn {data}",
    "`learn --json`": "rfdag learn {data} --json",
    "`effect`": "rfdag effect result-1.json v0 v1",
    "`compare --json`": "rfdag compare result-1.json result-2.json --json",
    "`reproduce --list`": "rfdag reproduce --list",
}
"""What only prints."""

ROOM = (0, 8, 24, 64, 160)
"""Kilobytes that a full disk still has."""

STREAMS = {
    "`> /dev/full`": "> /dev/full",
    "`2> /dev/full`": "2> /dev/full",
    "output closed": ">&-",
    "errors closed": "2>&-",
    "both closed": ">&- 2>&-",
    "read by `head -c 1`": "| head -c 1",
    "both read by `true`": "2>&1 | true",
}
"""What becomes of the standard streams."""

MEMORY = (600, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
"""Megabytes that a process may address."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args(arguments)
    with Progress() as progress, tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for part in filter(None, options.parts.split(",")):
            rows: list[Row] = []
            for row in PARTS[part](Path(folder), options, progress.stage(part)):
                rows.append(row)
                write_tables(f"soak_faults_{part}", rows)
                print(*row.values(), sep=" | ", flush=True)
    # Parts that were not run now stay as they were.
    tables = {part: known_rows(f"soak_faults_{part}") for part in PARTS}
    body = "\n".join(f"{TITLES[part]}\n\n{markdown(rows)}" for part, rows in tables.items() if rows)
    update_section(ROOT / "docs" / "reliability.md", "faults", f"{body}\nSeed {options.seed}.\n\n{provenance()}")


def prepare(folder: Path) -> None:
    """Write data and results for the commands to read."""
    import rfdag
    from rfdag import simulate

    for seed in (1, 2):
        generator = np.random.default_rng([seed, 40])
        model = simulate.linear_sem(simulate.random_dag(10, rng=generator, degree=3), rng=generator)
        rows = simulate.sample(model, 300, rng=generator)
        table = pandas.DataFrame(rows, columns=[f"v{at}" for at in range(rows.shape[1])])
        table.to_csv(folder / f"data-{seed}.csv", index=False)
        rfdag.learn(table).save(folder / f"result-{seed}.json")


def shell(words: str, folder: Path, out: Path | str = ".", seed: int = 1, environment: Mapping[str, str] = {}) -> Any:
    """Run a command in a folder."""
    words = words.format(data=f"data-{seed}.csv", out=out, seed=seed)
    if words.startswith("python "):
        words = f"{shlex.quote(sys.executable)} -c {shlex.quote(IN_PYTHON % words[7:])}"
    words = words.replace("rfdag ", f"{RFDAG} ", 1) if words.startswith("rfdag ") else words
    return subprocess.run(
        ["bash", "-c", f"{words}; exit ${{PIPESTATUS[0]}}"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
        env={**os.environ, **environment},
    )


# Places to write to


def in_places(folder: Path, options: Any, report: Callable[[float], None]) -> Iterator[Row]:
    """Let everything that writes do so where there is too little room, or where it may not."""
    for number, (name, words) in enumerate(WRITERS.items()):
        report(number / len(WRITERS))
        row: Row = {"what writes": name}
        prepared(words, folder)
        for room in ROOM:
            row[f"{room} KB left"] = written(words, folder, room)
        row["no room for another file"] = written(words, folder, None, files=0)
        row["read-only"] = written(words, folder, None, writable=False)
        row["below a file"] = below_a_file(words, folder)
        yield row


def written(words: str, folder: Path, room: int | None, *, writable: bool = True, files: int | None = None) -> str:
    """Return how a command ends on a file system with so much room that holds what it has written before."""
    with mounted(folder / "disk") as disk:
        shutil.copytree(folder / "older", disk, dirs_exist_ok=True)
        before = contents(disk)
        if room is not None:
            fill(disk, room)
        options = [] if writable else ["ro"]
        if files is not None:
            used = os.statvfs(disk)
            options.append(f"nr_inodes={used.f_files - used.f_ffree + files}")
        if options:
            subprocess.run(["mount", "-o", ",".join(["remount", *options]), str(disk)], check=True)
        return verdict(shell(words, folder, disk), before, contents(disk), str(disk))


def prepared(words: str, folder: Path) -> Path:
    """Return a folder with what a command has written before, about other data."""
    older = folder / "older"
    shutil.rmtree(older, ignore_errors=True)
    older.mkdir()
    done = shell(words, folder, older, seed=2)
    assert done.returncode == 0, done.stderr
    assert contents(older), words
    return older


def fill(disk: Path, room: int) -> None:
    """Leave so many kilobytes of a file system."""
    with open(disk / ".filler", "wb", buffering=0) as handle, suppress(OSError):
        while True:
            handle.write(bytes(4096))
    os.truncate(disk / ".filler", max((disk / ".filler").stat().st_size - 1024 * room, 0))


def below_a_file(words: str, folder: Path) -> str:
    """Return how a command ends that is to write below a file."""
    (folder / "file").write_text("kept")
    done = shell(words, folder, folder / "file")
    kept = {"file": b"kept"}
    return verdict(done, kept, {"file": (folder / "file").read_bytes()}, str(folder / "file"))


@contextmanager
def mounted(place: Path, size: str = "8m") -> Iterator[Path]:
    """Mount a small file system in memory."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder, that which fills it aside."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".filler")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def verdict(
    done: Any, before: Mapping[str, bytes], after: Mapping[str, bytes], place: str = "", *, printing: bool = False
) -> str:
    """Return how a command ended: "done", "error", or in capitals what it should not have done.

    Where it is ``printing`` that may fail, its files may have been written before.
    """
    complaint = done.stderr
    if "Traceback" in complaint or "Exception ignored" in complaint:
        return f"TRACEBACK: {complaint.splitlines()[-1]}"
    if done.returncode not in (0, 1):
        return f"EXIT STATUS {done.returncode}: {complaint.strip()[:200]}"
    status = 0 if printing else done.returncode
    lost = [name for name, content in before.items() if not kept(name, content, after, status)]
    if lost:
        return f"LOST: {', '.join(lost)}"
    fresh = [name for name in after if name not in before and (status or not is_whole(name, after[name]))]
    fresh = [name for name in fresh if not name.endswith(".jsonl")]
    if fresh:
        return f"LEFT BEHIND: {', '.join(fresh)}"
    if done.returncode and place not in complaint:
        return f"NO PATH: {complaint.strip()[:200]}"
    return "error" if done.returncode else "done"


def kept(name: str, content: bytes, after: Mapping[str, bytes], status: int) -> bool:
    """Return whether a file that was there is as it was, or was replaced by a whole one."""
    if name not in after:
        return False
    if name.endswith(".jsonl"):
        lines = [line for line in content.split(b"\n") if line.endswith(b"}")]
        return set(lines) <= set(after[name].split(b"\n"))
    return after[name] == content if status else is_whole(name, after[name])


# Streams, and what lies around a process


def with_streams(folder: Path, options: Any, report: Callable[[float], None]) -> Iterator[Row]:
    """Let commands run whose streams are closed, full, or left by their reader."""
    every = {name: words for name, words in WRITERS.items() if not words.startswith("python")} | PRINTERS
    for number, (name, words) in enumerate(every.items()):
        report(number / len(every))
        row: Row = {"command": name}
        older = prepared(words, folder) if name in WRITERS else None
        for title, where in STREAMS.items():
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            if older is None:
                out.mkdir()
            else:
                shutil.copytree(older, out)
            before = contents(out)
            done = shell(f"{words} {where}", folder, out)
            row[title] = verdict(done, before, contents(out), printing=True)
        yield row


def in_surroundings(folder: Path, options: Any, report: Callable[[float], None]) -> Iterator[Row]:
    """Let commands run without a home, or a place for temporary files and compiled kernels."""
    every = {**WRITERS, **PRINTERS}
    with mounted(folder / "frozen") as frozen, sealed(folder / "source"):
        subprocess.run(["mount", "-o", "remount,ro", str(frozen)], check=True)
        source = str(folder / "source")
        cases: dict[str, dict[str, str]] = {
            "no HOME": {"HOME": ""},
            "HOME that is not there": {"HOME": "/nowhere"},
            "no place for temporary files": {"TMPDIR": str(frozen), "TEMP": str(frozen), "TMP": str(frozen)},
        }
        nowhere = {"HOME": str(frozen), "NUMBA_CACHE_DIR": str(frozen), "PYTHONPATH": source, "XDG_CACHE_HOME": source}
        for number, (name, words) in enumerate(every.items()):
            report(number / len(every))
            row: Row = {"command": name}
            # Without a cache all kernels are compiled anew: one command shows it.
            for title, environment in (cases | ({"no place for kernels": nowhere} if number == 0 else {})).items():
                out = folder / "out"
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                row[title] = verdict(shell(words, folder, out, environment=environment), {}, contents(out))
            yield {**row, "no place for kernels": ""} if number else row


@contextmanager
def sealed(place: Path) -> Iterator[None]:
    """Mount the sources where they cannot be written to."""
    place.mkdir()
    copy = place.with_name("copy")
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["mount", "--bind", str(copy), str(place)], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


# Memory


def with_little_memory(folder: Path, options: Any, report: Callable[[float], None]) -> Iterator[Row]:
    """Let commands run under limits of the memory that a process may address."""
    generator = np.random.default_rng([options.seed, 43])
    names = [f"v{at}" for at in range(100)]
    large = pandas.DataFrame(generator.normal(size=(60_000, 100)), columns=names)
    large.to_csv(folder / "large.csv", index=False, float_format="%.6g")
    large.to_parquet(folder / "large.parquet", row_group_size=5000)
    np.save(folder / "wide.npy", generator.normal(size=(2000, 1200)))
    cases = {
        "`learn` on CSV of 60 MB": "rfdag learn large.csv --method rfd --out {out} --jobs 1",
        "`learn` on Parquet of 48 MB": "rfdag learn large.parquet --method rfd --out {out} --jobs 1",
        "`learn` on 1200 columns": "rfdag learn wide.npy --method rfd --out {out} --jobs 1",
        "`bootstrap` of 100 columns": "rfdag bootstrap large.parquet --runs 2 --jobs 1 --beam 1 --out {out}",
    }
    for number, (name, words) in enumerate(cases.items()):
        row: Row = {"command": name}
        for at, limit in enumerate(MEMORY):
            report((number + at / len(MEMORY)) / len(cases))
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            words_here = words.format(out=out).replace("rfdag ", f"{RFDAG} ", 1)
            done = shell(f"ulimit -v {limit * 1024}; {words_here}", folder)
            left = contents(out) if out.exists() else {}
            row[f"{limit} MB"] = verdict(done, {}, left)
        yield row


PARTS: dict[str, Callable[[Path, Any, Callable[[float], None]], Iterable[Row]]] = {
    "places": in_places,
    "streams": with_streams,
    "surroundings": in_surroundings,
    "changes": changing_files.table,
    "memory": with_little_memory,
}
"""What is taken away, by name."""

TITLES = {
    "places": "Places to write to, which hold what an earlier run has written:",
    "streams": "Standard streams:",
    "surroundings": "Surroundings:",
    "changes": "Files that change at a random moment while they are read:",
    "memory": "Limits of memory (`ulimit -v`):",
}


if __name__ == "__main__":
    main()
