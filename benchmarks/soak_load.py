"""Thousands of calls in one process, many threads and processes at once, and a cold cache that several share.

    python benchmarks/soak_load.py [--calls 10000] [--seed 1] [--parts calls,threads,processes,cache,forks]

Writes benchmarks/results/soak_load.csv and its section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import forking
import rfdag
from report import ROOT, known_rows, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress

PROBES = 40
"""Calls of one kind whose median time is compared before and after."""
WATCHED = 50
"""Looks at the memory."""
WARM_UP = 300
"""Calls before the first look, in which libraries fill what they keep."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args(arguments)
    # Parts that are not measured now stay as they were.
    known: dict[str, Any] = {row["what"]: row["found"] for row in known_rows("soak_load")}
    warnings.simplefilter("ignore")
    with Progress() as progress:
        for part in options.parts.split(","):
            found = PARTS[part](options.calls, options.seed, progress.stage(part))
            known |= found
            print(*(f"{what}: {value}" for what, value in found.items()), sep="\n", flush=True)
    rows = [{"what": what, "found": value} for what, value in known.items()]
    write_tables("soak_load", rows)
    update_section(
        ROOT / "docs" / "reliability.md", "load", f"{markdown(rows)}\nSeed {options.seed}.\n\n{provenance()}"
    )


def data_of(number: int, seed: int) -> np.ndarray:
    """Return rows of a random model, of a size that depends on the number."""
    generator = np.random.default_rng([seed, 24, number])
    p = int(generator.integers(2, 25))
    model = rfdag.simulate.linear_sem(rfdag.simulate.random_dag(p, rng=generator, degree=min(3, p - 1)), generator)
    return rfdag.simulate.sample(model, int(generator.integers(p + 5, 400)), rng=generator)


def one_call(number: int, seed: int) -> Any:
    """Learn from one of the tables by one of the methods; every tenth call is a mistake, which raises."""
    rows = data_of(number, seed)
    kind = number % 10
    if kind == 0:
        broken = rows.copy()
        broken[:, 0] = 1.0
        try:
            return rfdag.learn(broken, progress=False)
        except rfdag.errors.DataError:
            return None
    if kind == 1:
        return rfdag.learn(rows, "rfd", alpha=0.01, progress=False)
    if kind == 2:
        return rfdag.learn(rows, "gsp", runs=2, progress=False)
    if kind == 3:
        rows[::7, -1] = np.nan
        return rfdag.learn(rows, progress=False)
    if kind == 4:
        return rfdag.learn(
            np.column_stack([rows[:, 1:], rows[:, 0] > 0]), categorical=[rows.shape[1] - 1], progress=False
        )
    if kind == 5:
        labels = np.arange(len(rows)) % 2
        return rfdag.learn(rows + labels[:, None], environments=labels, targets="unknown", progress=False)
    return rfdag.learn(rows, n_jobs=1 + kind % 2, progress=False)


def digest(found: Any) -> str:
    """Return what tells answers apart."""
    if found is None:
        return "refused"
    score = "" if found.score is None else f"{found.score:.9g}"
    return hashlib.sha256(f"{found.order} {np.asarray(found.dag).tolist()} {score}".encode()).hexdigest()


def calls(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Call again and again; compare memory, speed, threads and open files."""
    for number in range(WARM_UP):
        one_call(number, seed)
    before, looked = _probed(seed), []
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for number in range(count):
        one_call(WARM_UP + number, seed)
        if number % max(count // WATCHED, 1) == 0:
            gc.collect()
            looked.append((number, _resident()))
            report(number / count)
    after = _probed(seed)
    at, memory = np.array(looked, float).T
    slope = np.polyfit(at, memory, 1)[0] * 1000
    late = np.polyfit(at[len(at) // 2 :], memory[len(at) // 2 :], 1)[0] * 1000
    return {
        "calls in one process": count,
        "memory, first and last look (MB)": f"{memory[0]:.0f}, {memory[-1]:.0f}",
        "slope of memory, all and second half (MB per 1000 calls)": f"{slope:.2f}, {late:.2f}",
        "time of the same call afterwards / before": f"{after / before:.2f}",
        "threads more": threading.active_count() - threads,
        "open files more": len(os.listdir("/proc/self/fd")) - files,
    }


def _probed(seed: int) -> float:
    """Return the median time of one call."""
    taken = []
    for _ in range(PROBES):
        begun = time.perf_counter()
        one_call(16, seed)
        taken.append(time.perf_counter() - begun)
    return median(taken)


def _resident() -> float:
    """Return the memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def in_threads(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Let eight threads call at once."""
    some = range(1, min(count, 400))
    expected = [digest(one_call(number, seed)) for number in some]
    with ThreadPoolExecutor(8) as pool:
        found = [digest(each) for each in pool.map(lambda number: one_call(number, seed), some)]
    report(1.0)
    return {f"different answers among {len(some)} calls of 8 threads": _differing(expected, found)}


def in_processes(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Let four processes call at once."""
    some = range(1, min(count, 400))
    expected = [digest(one_call(number, seed)) for number in some]
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(_digest_of, some, [seed] * len(some), chunksize=20))
    report(1.0)
    return {f"different answers among {len(some)} calls of 4 processes": _differing(expected, found)}


def _digest_of(number: int, seed: int) -> str:
    warnings.simplefilter("ignore")
    return digest(one_call(number, seed))


def _differing(expected: Sequence[str], found: Sequence[str]) -> int:
    return sum(one != other for one, other in zip(expected, found, strict=True))


def cold_cache(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Let eight processes start together on a cache that is empty."""
    program = (
        "import sys, numpy as np, rfdag\n"
        "rows = np.random.default_rng(1).normal(size=(100, 6)); rows[:, 3] += rows[:, 1]\n"
        "print(rfdag.learn(rows, progress=False).order)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        started = [
            subprocess.Popen(
                [sys.executable, "-c", program],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(8)
        ]
        ended = [(process.communicate(timeout=900)[0], process.returncode) for process in started]
    report(1.0)
    return {
        "processes that started together on an empty cache and failed": sum(code != 0 for _, code in ended),
        "different answers among these": len({text for text, _ in ended}) - 1,
    }


def forks(count: int, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Learn in threads, forks and pools of all kinds; nothing may wait for ever."""
    return forking.measured(min(count, forking.TIMES), report)


PARTS: dict[str, Callable[[int, int, Callable[[float], None]], dict[str, Any]]] = {
    "calls": calls,
    "threads": in_threads,
    "processes": in_processes,
    "cache": cold_cache,
    "forks": forks,
}
"""What is measured, by name."""


if __name__ == "__main__":
    main()
