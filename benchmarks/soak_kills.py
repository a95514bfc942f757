"""Kill programs at random moments, look at what is left, and run them again until they end.

    python benchmarks/soak_kills.py [--kills 100] [--seed 1] [--tasks learn,bootstrap]

A task is killed (SIGKILL, with all of its processes) after a random share of the time that it takes undisturbed, and
started again in the same folder, until it completes; then it begins anew in an empty one. After every kill, each file
under its final name must be whole, and no complete line of a journal may be lost. What a completed run leaves must be
what an undisturbed one leaves, but for times. Writes benchmarks/results/soak_kills.csv and its section of
docs/reliability.md.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from report import ROOT, known_rows, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress

TIMES = {"time", "timings", "seconds"}
"""Words in keys of JSON objects, and in headings of tables, that differ from run to run."""
PROGRAM = [sys.executable, "-c", "from rfdag.cli import main; main()"]

WITH_DASK = """
import os, random, signal, sys, threading, time
import pandas
from dask.distributed import Client, LocalCluster
from joblib import parallel_config
import rfdag


def main():
    generator = random.Random(int(sys.argv[1]))
    rows = pandas.read_csv("data.csv")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        victim = generator.choice([worker.pid for worker in cluster.workers.values()])
        threading.Timer(generator.uniform(0.0, float(sys.argv[2])), os.kill, (victim, signal.SIGKILL)).start()
        with parallel_config("dask"):
            found = rfdag.bootstrap(rows, runs=24, random_state=1, progress=False)
        found.save("bootstrap.json")


if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True)
class Task:
    """A program that is killed.

    Attributes
    ----------
    words
        The command, run in a folder that holds the data.
    same
        Patterns of the files that a completed run always leaves alike, but for times.
    journal
        Pattern of the journals, whose complete lines must never be lost.
    replaces
        Whether the folder holds another result at the start, which is to be replaced.
    """

    name: str
    words: Sequence[str]
    same: Sequence[str]
    journal: str = ""
    replaces: bool = False


@dataclass
class Counts:
    """What happened to a task."""

    kills: int = 0
    completed: int = 0
    losses: list[str] = field(default_factory=list)


def tasks() -> dict[str, Task]:
    """Return all tasks by name."""
    learn = [*PROGRAM, "learn", "data.csv", "--out", "out"]
    found = (
        Task("learn --out", learn, ("out/*.csv", "out/*.txt", "out/*.dot", "out/*.graphml", "out/*.json"), "", True),
        Task(
            "learn --out, Parquet in pieces",
            [*PROGRAM, "learn", "pieces", "--out", "out"],
            ("out/*.csv", "out/*.txt", "out/*.dot", "out/*.graphml", "out/*.json"),
            "",
            True,
        ),
        Task(
            "bootstrap --out",
            [*PROGRAM, "bootstrap", "data.csv", "--runs", "60", "--out", "out", "--jobs", "2"],
            ("out/*.csv", "out/bootstrap.json"),
            "out/*.jsonl",
        ),
        Task(
            "bench --out",
            [*PROGRAM, "bench", "--workloads", "quick", "--contenders", "rfdag", "--graphs", "3", "--out", "out"],
            ("out/bench.csv",),
            "out/*.jsonl",
        ),
        Task(
            "reproduce --out",
            [*PROGRAM, "reproduce", "noiseless", "--quick", "--graphs", "1", "--out", "out", "--jobs", "2"],
            ("out/*.csv",),
            "out/cells/*.jsonl",
        ),
    )
    return {task.name: task for task in found}


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill, count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", help="names that begin so, separated by commas; all unless given")
    options = parser.parse_args(arguments)
    wanted = tuple(options.tasks.split(",")) if options.tasks else ("",)
    generator = np.random.default_rng([options.seed, 22])
    # Tasks that are not killed now stay as they were.
    known = {row["killed"]: row for row in known_rows("soak_kills")}
    with Progress() as progress:
        for task in tasks().values():
            if task.name.startswith(wanted):
                counts = killed(task, options.kills, generator, progress.stage(task.name))
                keep(known, f"`rfdag {task.name}`", counts)
        if "a Dask worker".startswith(wanted):
            counts = with_dask(options.kills, generator, progress.stage("a Dask worker"))
            keep(known, "a Dask worker of `rfdag.bootstrap`", counts)
    about = f"Seed {options.seed}."
    update_section(
        ROOT / "docs" / "reliability.md", "kills", f"{markdown([*known.values()])}\n{about}\n\n{provenance()}"
    )


def keep(known: dict[str, dict[str, Any]], name: str, counts: Counts) -> None:
    """Write down what happened to a task."""
    lost = "; ".join(dict.fromkeys(counts.losses))
    known[name] = {
        "killed": name,
        "kills": counts.kills,
        "completed afterwards": counts.completed,
        "losses": f"{len(counts.losses)}: {lost}" if counts.losses else 0,
    }
    print(known[name], flush=True)
    write_tables("soak_kills", [*known.values()])


def prepare(folder: Path, seed: int = 1) -> None:
    """Make a folder with the data that all tasks read."""
    import pandas

    from rfdag import simulate

    folder.mkdir(exist_ok=True)
    generator = np.random.default_rng([seed, 23])
    model = simulate.linear_sem(simulate.random_dag(12, rng=generator, degree=3), rng=generator)
    rows = simulate.sample(model, 400, rng=generator)
    table = pandas.DataFrame(rows, columns=[f"v{at}" for at in range(rows.shape[1])])
    table.to_csv(folder / "data.csv", index=False)
    (folder / "pieces").mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(table)), 4)):
        table.iloc[part].to_parquet(folder / "pieces" / f"part-{number}.parquet")


def killed(task: Task, kills: int, generator: np.random.Generator, report: Callable[[float], None]) -> Counts:
    """Run a task again and again, killing it."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as place:
        data, whole = Path(place) / "data", Path(place) / "whole"
        prepare(data)
        # Kernels are compiled in the first run, which takes longer than those that are killed.
        for _ in range(2):
            shutil.rmtree(whole, ignore_errors=True)
            shutil.copytree(data, whole)
            begun = time.perf_counter()
            subprocess.run(task.words, cwd=whole, check=True, capture_output=True)
            taken = time.perf_counter() - begun
        expected, older = left_in(whole, task.same), {}
        assert expected, f"{task.words} left nothing"
        if task.replaces:
            prepare(Path(place) / "other", seed=2)
            subprocess.run(task.words, cwd=Path(place) / "other", check=True, capture_output=True)
            shutil.copytree(Path(place) / "other" / "out", data / "out")
            older = left_in(data, task.same)
        folder = Path(place) / "run"
        while counts.kills < kills:
            report(counts.kills / kills)
            if not folder.exists():
                shutil.copytree(data, folder)
            before = lines_of(folder, task.journal)
            ended = _run(task.words, folder, generator.uniform(0.2, 1.0) * taken)
            if ended is None:
                counts.kills += 1
            elif ended != 0:
                counts.losses.append(f"the next run ended with {ended}")
            counts.losses += not_whole(folder)
            left = left_in(folder, task.same)
            counts.losses += [
                f"{name} is neither the older nor the newer file"
                for name in older
                if left.get(name) not in (older[name], expected[name])
            ]
            if before - lines_of(folder, task.journal):
                counts.losses.append("a line of a journal is gone")
            if ended is not None or counts.kills == kills:
                if ended is None and _run(task.words, folder, 600.0) != 0:
                    counts.losses.append("the next run did not end")
                if left_in(folder, task.same) != expected:
                    counts.losses.append("the completed run left something else")
                counts.completed += 1
                shutil.rmtree(folder)
    return counts


def with_dask(kills: int, generator: np.random.Generator, report: Callable[[float], None]) -> Counts:
    """Kill a worker of a cluster while it works."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        (folder / "program.py").write_text(WITH_DASK, encoding="utf-8")
        expected = None
        while counts.kills < kills:
            report(counts.kills / kills)
            words = [sys.executable, "program.py", str(generator.integers(1 << 30)), "1.0"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
            counts.kills += 1
            if done.returncode:
                counts.losses.append(f"it ended with {done.stderr.splitlines()[-1:]}")
                continue
            counts.completed += 1
            found = left_in(folder, ["bootstrap.json"])
            expected = expected or found
            if found != expected:
                counts.losses.append("the frequencies differ")
    return counts


def _run(words: Sequence[str], folder: Path, limit: float) -> int | None:
    """Run a command; return its exit status, or None if it was killed after so many seconds."""
    process = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def lines_of(folder: Path, pattern: str) -> set[str]:
    """Return the complete lines of all journals."""
    found: set[str] = set()
    for path in folder.glob(pattern) if pattern else ():
        text = path.read_text(encoding="utf-8", errors="replace")
        found |= {f"{path.name}: {line}" for line in text.split("\n")[:-1] if _is_json(line)}
    return found


def left_in(folder: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """Return what files hold, times left out."""
    found: dict[str, Any] = {}
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        reading = {".json": lambda text: without_times(json.loads(text)), ".csv": without_seconds}
        found[str(path.relative_to(folder))] = reading.get(path.suffix, str)(text)
    return found


def without_seconds(text: str) -> list[list[str]]:
    r"""Return the cells of a table without the columns of times.

    >>> without_seconds("method,median_seconds,edges\\nrfd,0.2,3\\n")
    [['method', 'edges'], ['rfd', '3']]
    """
    lines = list(csv.reader(io.StringIO(text)))
    kept = [at for at, name in enumerate(lines[0]) if not set(re.findall("[a-z]+", name)) & TIMES]
    return [[line[at] for at in kept] for line in lines]


def without_times(content: Any) -> Any:
    """Return what JSON holds without the times in it.

    >>> without_times({"score": 1.0, "timings": {"moments": 0.2}, "runs": [{"seconds": 3}]})
    {'score': 1.0, 'runs': [{}]}
    """
    if isinstance(content, dict):
        return {key: without_times(value) for key, value in content.items() if key not in TIMES}
    return [without_times(value) for value in content] if isinstance(content, list) else content


def not_whole(folder: Path) -> list[str]:
    """Return the files under their final names that are not whole, with the reason."""
    found = []
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in inside)
        final = path.is_file() and inside[0] == "out" and not hidden and path.suffix != ".jsonl"
        if final and not is_whole(path.name, path.read_bytes()):
            found.append(f"{path.name} is not whole")
    return found


def is_whole(name: str, content: bytes) -> bool:
    """Return whether a file is whole, by what its name says that it is."""
    ending = Path(name).suffix
    if ending == ".png":
        return content.endswith(b"IEND\xaeB`\x82")
    try:
        return WHOLE.get(ending, ends_a_line)(content.decode("utf-8"))
    except ValueError:
        return False


def ends_a_line(text: str) -> bool:
    """Return whether a text ends with a line."""
    return text.endswith("\n")


def is_csv(text: str) -> bool:
    """Return whether a table is whole: every line has as many cells as the first."""
    lines = list(csv.reader(io.StringIO(text)))
    return text.endswith("\n") and len({len(line) for line in lines}) == 1


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_xml(text: str) -> bool:
    """Return whether XML, of our own making, is whole."""
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


WHOLE: dict[str, Callable[[str], bool]] = {
    ".json": _is_json,
    ".csv": is_csv,
    ".graphml": is_xml,
    ".svg": is_xml,
    ".html": lambda text: text.rstrip().endswith("</html>"),
    ".dot": lambda text: text.rstrip().endswith("}"),
}
"""Tells whether a file is whole, by its ending; lines of journals are counted instead."""


if __name__ == "__main__":
    main()
