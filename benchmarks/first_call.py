"""The first call: how long compiling takes, and what later processes wait for.

    python benchmarks/first_call.py [--repeats 5]

Every measurement starts a fresh interpreter. A first call finds an empty cache of compiled kernels, a later one finds
what the first has left. The floor is what Numba itself takes to be imported, and to compile one line. Medians are
reported, with the least and the most, because compiling suffers from whatever else a machine does. Writes
benchmarks/results/first_call.csv and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.threads import thread_count

SIZES = (10, 20, 100)
LEARN = """
import json, sys
import numpy as np
import rfdag
from rfdag.runtime.compilation import counting
from rfdag.simulate import linear_sem, random_dag, sample
rows = sample(linear_sem(random_dag({p}, degree=3, rng=1), rng=2), 1000, rng=3)
with counting() as compiled:
    rfdag.learn(rows, progress=False)
print(json.dumps(compiled()))
"""
IMPORTS = "import numpy, scipy.linalg, scipy.sparse, scipy.special, numba"
ONE_LINE = f"""
{IMPORTS}
numba.njit(lambda values: values.sum())(numpy.ones(3))
"""
DOCTOR = """
import json
from rfdag.commands.compiling import compile_all
print(json.dumps(compile_all(lambda name, share: None)["functions"]))
"""


def timed(code: str, cache: str) -> tuple[float, int]:
    """Return the seconds that a fresh interpreter takes for some code, and how many functions it says it compiled."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, json.loads(done.stdout or "0")


def row(what: str, found: Sequence[tuple[float, int]]) -> dict[str, object]:
    """Return one row of the table."""
    seconds = [second for second, _ in found]
    return {
        "what": what,
        "seconds": round(median(seconds), 2),
        "least": round(min(seconds), 2),
        "most": round(max(seconds), 2),
        "functions compiled here": found[0][1],
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, code in (
            ("`import rfdag`", "import rfdag"),
            ("floor: NumPy, SciPy and Numba imported", IMPORTS),
            ("floor: the same, and one function of one line compiled", ONE_LINE),
        ):
            rows.append(row(what, [timed(code, folder) for _ in range(repeats)]))
        for p in SIZES:
            code, first, later = LEARN.format(p=p), [], []
            for repeat in range(repeats):
                cache = f"{folder}/{p}-{repeat}"
                first.append(timed(code, cache))
                later.append(timed(code, cache))
            rows += [row(f"first `learn`, p = {p}", first), row(f"`learn` in a later process, p = {p}", later)]
            print(*rows[-2:], sep="\n", flush=True)
        # It takes a minute, and much the same each time.
        rows.append(row("`rfdag doctor --compile`", [timed(DOCTOR, f"{folder}/all")]))
    print(rows[-1])
    write_tables("first_call", rows)
    cores = f"Seconds from the start of the interpreter to its end, on {thread_count(None)} cores."
    text = f"{markdown(rows)}\n{cores}\n\n{provenance()}"
    update_section(ROOT / "docs" / "benchmarks.md", "first_call", text)


if __name__ == "__main__":
    main()
