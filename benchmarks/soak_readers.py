"""Fuzz everything of rfdag that reads a file or a text: guided by coverage, and by a million mutated CSVs.

    pip install "rfdag[fuzz]"
    python benchmarks/soak_readers.py [--minutes 10] [--csvs 1000000] [--formats "CSV;Excel"] [--seed 1] [--keep]

Each reader is fuzzed for so many minutes in a process of its own, whose memory is limited (fuzz_reader.py); the
corpora grow in build/fuzz/ and serve the next run. CSVs are counted in build/fuzz/csvs.jsonl, where a run that is
ended goes on; the last result of each format in build/fuzz/formats.jsonl, so that a run may take some of them.
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
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_reader import SECONDS, digest
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.errors import RfdagError
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress

sys.path.insert(0, str(ROOT / "tests"))
from mutating import mutated
from readers import FORMATS, slug

GROWN = ROOT / "build" / "fuzz"
"""Where corpora and counts are kept from run to run."""
CORPUS = ROOT / "tests" / "corpus"
MUTATED = "CSV, mutated at random"
BATCH = 1000
"""CSVs that are counted together."""
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
        if options.csvs:
            last[MUTATED] = csvs(options.csvs, options.seed, progress.stage(MUTATED))
            journal.write(last[MUTATED])
            print(last[MUTATED], flush=True)
    rows = [last[name] for name in (*FORMATS, MUTATED) if name in last]
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


def csvs(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Read mutated CSVs, until there have been so many in this run and those before; keep what is wrong."""
    journal = Journal(GROWN / "csvs.jsonl")
    done = {entry["batch"]: entry for entry in journal if entry["seed"] == seed}
    examples = list(FORMATS["CSV"].examples())
    signal.signal(signal.SIGALRM, _too_slow)
    warnings.simplefilter("error")
    for batch in range(count // BATCH):
        if batch not in done:
            done[batch] = {"seed": seed, "batch": batch, **_batch(examples, np.random.default_rng([seed, 24, batch]))}
            journal.write(done[batch])
        report((batch + 1) * BATCH / count)
    total: Counter[str] = Counter()
    for batch in range(count // BATCH):
        total.update({key: value for key, value in done[batch].items() if key not in ("seed", "batch")})
    return {
        "format": MUTATED,
        "minutes": round(total["seconds"] / 60, 1),
        "inputs": total["inputs"],
        "refused": total["refused"],
        "read": total["read"],
        "other exceptions": total["crashes"],
        f"longer than {SECONDS} s": total["hangs"],
        "process died": 0,
        "edges covered": "–",
    }


def _batch(examples: Sequence[bytes], generator: np.random.Generator) -> dict[str, float]:
    counts: Counter[str] = Counter()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        for at in range(BATCH):
            content = mutated(examples[at % len(examples)], generator)
            counts["inputs"] += 1
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                FORMATS["CSV"].attempt(content, Path(place))
                counts["read"] += 1
            except RfdagError:
                counts["refused"] += 1
            except (Exception, Slow) as error:
                counts["hangs" if isinstance(error, Slow) else "crashes"] += 1
                crashes = GROWN / "csvs"
                crashes.mkdir(exist_ok=True)
                (crashes / digest(content)).write_bytes(content)
                (crashes / f"{digest(content)}.txt").write_text(repr(error), encoding="utf-8")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return {**counts, "seconds": round(time.perf_counter() - begun, 2)}


def _too_slow(*about: Any) -> None:
    raise Slow


if __name__ == "__main__":
    main()
