"""Measurements that can be trusted on a busy machine, and the file that keeps them."""

from __future__ import annotations

import datetime
import json
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from report import provenance
from rfdag.runtime.writing import write_text
from rfdag.version import own_version

Row = dict[str, Any]
Work = Callable[[], object]

PAUSE = 0.2
"""Seconds between two contenders."""


def seconds(work: Work) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(
    contenders: Mapping[str, Work], repeats: int, tell: Callable[[str], None], pause: float = 0.0
) -> dict[str, float]:
    """Return the median time of each contender; they take turns, so that a busy machine slows all of them.

    ``tell`` hears the name of each before its turn. A ``pause`` before each lets the threads of a BLAS go to sleep,
    which else wait for more work for a while, in a loop, on the cores that the next contender needs.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            tell(name)
            time.sleep(pause)
            times[name].append(seconds(work))
    return {name: median(found) for name, found in times.items()}


def alone(work: Callable[..., Row], *arguments: object) -> Row:
    """Return what the work gives in a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def peak_memory() -> float:
    """Return the peak of this process's resident memory in GB, on Linux; getrusage would count its parent's too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) / 1e9 for line in lines if line.startswith("VmHWM:"))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return b of the least-squares fit value = a · size^b.

    >>> round(exponent([10, 20, 40], [1, 8, 64]), 6)
    3.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


class Kept:
    """Rows of the parts of a benchmark in one JSON file, written whenever one is added.

    A row replaces an older one of the same part that agrees with it on ``key``; all others stay. Every row says of
    what day it is and which sources of rfdag it measured.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def add(self, part: str, row: Row, key: Sequence[str]) -> None:
        """Keep a row, and say so."""
        row |= {"date": datetime.date.today().isoformat(), "version": own_version()}
        rows = [other for other in self.rows(part) if any(other[name] != row[name] for name in key)]
        self._parts[part] = {"provenance": provenance().strip("*\n"), "rows": [*rows, row]}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, json.dumps(self._parts, indent=1, ensure_ascii=False) + "\n")
        shown = {name: entry for name, entry in row.items() if name not in ("date", "version")}
        print(f"{part}: " + ", ".join(f"{name} {entry}" for name, entry in shown.items()), flush=True)

    def rows(self, part: str) -> list[Row]:
        """Return the rows of a part."""
        found: list[Row] = self._parts.get(part, {}).get("rows", [])
        return found

    def has(self, part: str, **key: object) -> bool:
        """Return whether a part has a row with these entries that measured the sources as they are."""
        wanted = {**key, "version": own_version()}
        return any(wanted.items() <= row.items() for row in self.rows(part))
