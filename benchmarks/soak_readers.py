"""Fuzz everything of rfdag that reads a file or a text: guided by coverage, and by a million mutated CSVs.

    pip install "rfdag[fuzz]"
    python benchmarks/soak_readers.py [--minutes 10] [--csvs 1000000] [--results 100000] [--formats "CSV;Excel"]

Each reader is fuzzed for so many minutes in a process of its own, whose memory is limited (fuzz_reader.py); the
corpora grow in build/fuzz/ and serve the next run. CSVs are counted in build/fuzz/csvs.jsonl, where a run that is
ended goes on, and likewise results that are damaged in one entry, then loaded and asked for everything that they tell.
The last result of each format is kept in build/fuzz/formats.jsonl, so that a run may take some of them.
``--keep`` adds short inputs that end in ways which the kept corpus lacks to tests/corpus/, which quick tests replay.
Writes benchmarks/results/soak_readers.csv and its section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rfdag
from fuzz_reader import SECONDS, digest
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.errors import DataWarning, EquivalenceWarning, NumericalWarning, RfdagError
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress

sys.path.insert(0, str(ROOT / "tests"))
import damaging
from mutating import mutated
from readers import FORMATS, slug

GROWN = ROOT / "build" / "fuzz"
"""Where corpora and counts are kept from run to run."""
CORPUS = ROOT / "tests" / "corpus"
MUTATED = "CSV, mutated at random"
DAMAGED = "result, an entry changed, and used"
BATCH = 1000
"""Inputs that are counted together."""
SHORT = 200
"""Bytes up to which an input is kept for quick tests."""
ENDINGS = 8
"""Inputs of one format that are kept for quick tests, beside those of crashes."""


class Slow(BaseException):
    """Reading an input took too long."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fuzz, count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each format; 0 for none")
    parser.add_argument("--csvs", type=int, default=1_000_000, help="in all runs together")
    parser.add_argument("--results", type=int, default=100_000, help="in all runs together")
    parser.add_argument("--formats", help="names, separated by semicolons; all unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args(arguments)
    names = options.formats.split(";") if options.formats else list(FORMATS)
    journal = Journal(GROWN / "formats.jsonl")
    last = {row["format"]: row for row in journal}
    with Progress() as progress:
        if options.minutes:
            for name in names:
                last[name] = guided(name, options.minutes, options.seed, progress.stage(name))
                journal.write(last[name])
                print(last[name], flush=True)
                if options.keep:
                    keep(name)
        for name, count, kind in ((MUTATED, options.csvs, Csvs), (DAMAGED, options.results, Results)):
            if count:
                last[name] = at_random(name, count, kind, options.seed, progress.stage(name))
                journal.write(last[name])
                print(last[name], flush=True)
    rows = [last[name] for name in (*FORMATS, MUTATED, DAMAGED) if name in last]
    write_tables("soak_readers", rows)
    about = f"Seed {options.seed}."
    update_section(ROOT / "docs" / "reliability.md", "readers", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def guided(name: str, minutes: float, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Fuzz a reader in child processes, until the time is up; begin anew where one of them dies."""
    folder = GROWN / slug(name)
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for path in (CORPUS / slug(name)).glob("*"):
        (folder / "corpus" / path.name).write_bytes(path.read_bytes())
    counts: Counter[str] = Counter()
    edges = hangs = deaths = 0
    begun, end = time.monotonic(), time.monotonic() + 60 * minutes
    while (left := end - time.monotonic()) > 1:
        (folder / "counts.json").unlink(missing_ok=True)
        words = [sys.executable, str(Path(__file__).with_name("fuzz_reader.py")), name, str(folder)]
        words += ["--minutes", str(left / 60), "--seed", str(seed + deaths)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            child = subprocess.Popen(words, stdout=log, stderr=log)
            while child.poll() is None:
                report(min((time.monotonic() - begun) / 60 / minutes, 1.0))
                time.sleep(0.5)
            log.seek(0)
            said = log.read()
        if not (folder / "counts.json").exists():
            raise SystemExit(f"The reader of {name} was not fuzzed: {said[-2000:]}")
        counts.update(json.loads((folder / "counts.json").read_text(encoding="utf-8")))
        edges = max([edges, *map(int, re.findall(r"cov: (\d+)", said))])
        if child.returncode:
            hangs += "ERROR: libFuzzer: timeout" in said
            deaths += 1
            (folder / f"death-{deaths}.txt").write_text(said[-20_000:], encoding="utf-8")
    return {
        "format": name,
        "minutes": round(minutes, 1),
        "inputs": counts["inputs"],
        "refused": counts["refused"],
        "read": counts["read"],
        "other exceptions": counts["crashes"],
        f"longer than {SECONDS} s": hangs,
        "process died": deaths - hangs,
        "edges covered": edges,
    }


def keep(name: str) -> None:
    """Keep the shortest inputs of endings that the kept corpus does not have."""
    kept = CORPUS / slug(name)
    there = {path.name for path in kept.glob("*")}
    new = sorted((GROWN / slug(name) / "endings").glob("*"), key=lambda path: path.stat().st_size)
    for path in new:
        content = path.read_bytes()
        if len(content) > SHORT or len(there) >= ENDINGS or digest(content) in there:
            continue
        kept.mkdir(parents=True, exist_ok=True)
        (kept / digest(content)).write_bytes(content)
        there.add(digest(content))


class Csvs:
    """CSV files with some bytes changed."""

    name = "csvs"

    def __init__(self, folder: Path) -> None:
        self.folder, self._examples = folder, list(FORMATS["CSV"].examples())

    def draw(self, number: int, generator: np.random.Generator) -> bytes:
        """Return an input."""
        return mutated(self._examples[number % len(self._examples)], generator)

    def read(self, content: bytes) -> None:
        """Read it."""
        FORMATS["CSV"].attempt(content, self.folder)


class Results:
    """Files of results with one entry changed."""

    name = "results"

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.folder, self._wholes = folder, list(damaging.contents(folder).values())

    def draw(self, number: int, generator: np.random.Generator) -> bytes:
        """Return an input."""
        return json.dumps(damaging.damaged(self._wholes[number % len(self._wholes)], generator)).encode()

    def read(self, content: bytes) -> None:
        """Load the result, and ask it for everything."""
        path = self.folder / "it.json"
        path.write_bytes(content)
        with warnings.catch_warnings():
            for ours in (DataWarning, EquivalenceWarning, NumericalWarning):
                warnings.simplefilter("ignore", ours)
            damaging.used(rfdag.load(path), self.folder)


def at_random(
    name: str, count: int, kind: type[Csvs | Results], seed: int, report: Callable[[float], None]
) -> dict[str, Any]:
    """Read inputs changed at random, until there have been so many in this run and those before; keep what is wrong."""
    journal = Journal(GROWN / f"{kind.name}.jsonl")
    done = {entry["batch"]: entry for entry in journal if entry["seed"] == seed}
    signal.signal(signal.SIGALRM, _too_slow)
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as folder:
        inputs = kind(Path(folder))
        for batch in range(count // BATCH):
            if batch not in done:
                done[batch] = {"seed": seed, "batch": batch, **_batch(inputs, np.random.default_rng([seed, 24, batch]))}
                journal.write(done[batch])
            report((batch + 1) * BATCH / count)
    total: Counter[str] = Counter()
    for batch in range(count // BATCH):
        total.update({key: value for key, value in done[batch].items() if key not in ("seed", "batch")})
    return {
        "format": name,
        "minutes": round(total["seconds"] / 60, 1),
        "inputs": total["inputs"],
        "refused": total["refused"],
        "read": total["read"],
        "other exceptions": total["crashes"],
        f"longer than {SECONDS} s": total["hangs"],
        "process died": 0,
        "edges covered": "–",
    }


def _batch(inputs: Csvs | Results, generator: np.random.Generator) -> dict[str, float]:
    counts: Counter[str] = Counter()
    begun = time.perf_counter()
    for at in range(BATCH):
        content = inputs.draw(at, generator)
        counts["inputs"] += 1
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            inputs.read(content)
            counts["read"] += 1
        except RfdagError:
            counts["refused"] += 1
        except (Exception, Slow) as error:
            counts["hangs" if isinstance(error, Slow) else "crashes"] += 1
            crashes = GROWN / inputs.name
            crashes.mkdir(exist_ok=True)
            (crashes / digest(content)).write_bytes(content)
            (crashes / f"{digest(content)}.txt").write_text(traceback.format_exc(), encoding="utf-8")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return {**counts, "seconds": round(time.perf_counter() - begun, 2)}


def _too_slow(*about: Any) -> None:
    raise Slow


if __name__ == "__main__":
    main()
