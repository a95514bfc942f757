"""Files that change at random moments while they are read; see soak_faults.py."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from rfdag.errors import FileError
from rfdag.evidence.reading import read_evidence
from rfdag.input import delimited, sources

KINDS = ("csv", "csv in pieces", "parquet", "feather", "folder")
TEXT_IN_PIECES_FROM = sources.TEXT_IN_PIECES_FROM


def table(folder: Path, options: Any, report: Callable[[float], None]) -> list[dict[str, Any]]:
    """Change files at random moments while they are read; what is read must be all old, all new, or refused."""
    generator = np.random.default_rng([options.seed, 41])
    rows = []
    # Small pieces, so that there are many.
    delimited.BYTES_AT_ONCE = 2**14
    for number, kind in enumerate(KINDS):
        sources.TEXT_IN_PIECES_FROM = TEXT_IN_PIECES_FROM if kind == "csv" else 0
        for change in CHANGES:
            report(number / len(KINDS))
            ends = Counter(read_beside(folder, kind, change, generator) for _ in range(options.changes))
            others = {end: count for end, count in ends.items() if end not in ("as it was", "as it is", "refused")}
            rows.append(
                {
                    "file": kind,
                    "change": change,
                    "read as it was": ends["as it was"],
                    "read as it is": ends["as it is"],
                    "refused": ends["refused"],
                    "otherwise": "; ".join(f"{count}: {end}" for end, count in others.items()) or 0,
                }
            )
    return rows


def read_beside(folder: Path, kind: str, change: str, generator: np.random.Generator) -> str:
    """Read a file that another thread changes meanwhile; return how that ended."""
    place = folder / "changing"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    ending = {"folder": "parquet"}.get(kind, kind.partition(" ")[0])
    paths = [place / f"part-{at}.{ending}" for at in range(4 if kind == "folder" else 1)]
    for at, path in enumerate(paths):
        write_as(ending, drawn(at), path)
    source = place if kind == "folder" else paths[0]
    write_as(ending, drawn(9), place / ".other")
    was = read_evidence(source).evidence
    begun = time.perf_counter()
    read_evidence(source)
    taken = time.perf_counter() - begun
    delay, victim = generator.uniform(0.0, taken), paths[int(generator.integers(len(paths)))]

    def meddle() -> None:
        time.sleep(delay)
        CHANGES[change](victim, ending)

    thread = threading.Thread(target=meddle)
    thread.start()
    try:
        found = read_evidence(source).evidence
    except FileError as problem:
        return "refused" if victim.name in str(problem) or str(place) in str(problem) else f"no path: {problem}"
    except Exception as other:
        return f"{type(other).__name__}: {other}"
    finally:
        thread.join()
    if same(found, was):
        return "as it was"
    try:
        return "as it is" if same(found, read_evidence(source).evidence) else "A MIXTURE"
    except FileError:
        return "A MIXTURE"


def same(one: Any, other: Any) -> bool:
    """Return whether two moments are of the same rows."""
    return bool(one.n_samples == other.n_samples and np.allclose(one.correlation, other.correlation, atol=1e-12))


def drawn(seed: int) -> pandas.DataFrame:
    """Return rows."""
    values = np.random.default_rng([seed, 42]).normal(size=(4000, 6))
    values[:, 5] += values[:, 0] * (1 + seed)
    return pandas.DataFrame(values, columns=list("abcdef"))


def write_as(ending: str, frame: pandas.DataFrame, path: Path) -> None:
    """Write rows."""
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path, row_group_size=200)
    else:
        frame.to_feather(path, chunksize=200)


def _cut(path: Path, ending: str) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _replace(path: Path, ending: str) -> None:
    os.replace(path.with_name(".other"), path)


def _overwrite(path: Path, ending: str) -> None:
    content = path.with_name(".other").read_bytes()
    with open(path, "r+b") as handle:
        for start in range(0, len(content), 8192):
            handle.write(content[start : start + 8192])
            handle.flush()
        handle.truncate()


def _append(path: Path, ending: str) -> None:
    with open(path, "ab") as handle:
        handle.write(path.read_bytes()[-2000:])


CHANGES: dict[str, Callable[[Path, str], None]] = {
    "cut short": _cut,
    "replaced": _replace,
    "overwritten": _overwrite,
    "grows": _append,
    "removed": lambda path, ending: path.unlink(),
}
