"""Data larger than memory: moments of a Parquet file under a limit of memory, of a CSV file and of a Dask collection.

    python benchmarks/streaming.py [--rows 10000000] [--columns 100] [--folder FOLDER] [--repeats 3]

The Parquet file is written into the folder (8 GB by default, deleted afterwards) with means of a million times the
scale. Every measurement is a process of its own whose address space is limited below the file's size; the floor is the
same process that only reads the batches with pyarrow, and both take turns. Medians are reported, with the peak of
resident memory and the largest error of a correlation against sums that were kept while the file was written. Writes
benchmarks/results/scaling_streaming.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report import RESULTS, markdown, provenance
from rfdag.runtime.writing import write_text
from rfdag.simulate import linear_sem, random_dag, sample

MEAN = 1e6
GROUP = 2**17
"""Rows of a row group."""

LIMIT = 4 * 2**30
"""Bytes of address space of a measured process: libraries, thread stacks and a gigabyte that pyarrow reserves."""

Floats = NDArray[np.float64]


def blocks(rows: int, columns: int) -> Any:
    """Yield the data in blocks of up to ``GROUP`` rows: a sparse linear model, without its mean.

    Rows are drawn once, and every block turns some of them round and shifts the columns, which is quick and leaves
    nothing to compress.
    """
    generator = np.random.default_rng(1)
    drawn = sample(linear_sem(random_dag(columns, degree=4, rng=generator), generator), GROUP, generator)
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        signs = generator.choice([-1.0, 1.0], size=(count, 1))
        yield drawn[:count] * signs + generator.normal(size=columns) / 10


def write_parquet(path: Path, rows: int, columns: int) -> Floats:
    """Write the file and return the correlation of what was written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"x{at}", pa.float64()) for at in range(columns)])
    sums, products = np.zeros(columns), np.zeros((columns, columns))
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for block in blocks(rows, columns):
            stored = block + MEAN
            exact = stored - MEAN
            sums += exact.sum(axis=0)
            products += exact.T @ exact
            writer.write_table(pa.table(list(stored.T.copy()), schema=schema), row_group_size=GROUP)
    covariance = products - np.outer(sums, sums) / rows
    roots = np.sqrt(covariance.diagonal())
    correlation: Floats = covariance / roots / roots[:, None]
    return correlation


def write_csv(path: Path, rows: int, columns: int) -> None:
    """Write a text file with all digits."""
    from pyarrow import csv, table

    with open(path, "wb") as handle:
        for at, block in enumerate(blocks(rows, columns)):
            named = table({f"x{column}": block[:, column] + MEAN for column in range(columns)})
            csv.write_csv(named, handle, csv.WriteOptions(include_header=at == 0))


def measured(task: str, path: Path, threads: int, limit: int) -> dict[str, Any]:
    """Run one task in a process of its own and return what it tells."""
    words = [sys.executable, __file__, "--task", task, "--path", path, "--threads", threads, "--limit", limit]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{task} with {threads} threads failed:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def perform(task: str, path: Path, threads: int, limit: int) -> None:
    """Do one task under the limit, in the process that was started for it."""
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    work: dict[str, Callable[[Path, int, Clock], dict[str, Any]]] = {
        "read parquet": read_parquet,
        "read csv": read_csv,
        "moments": moments,
        "dask read": dask_read,
        "dask moments": dask_moments,
    }
    clock = Clock()
    told = work[task](path, threads, clock)
    print(json.dumps({**told, "seconds": clock.seconds, "processor": clock.processor, "peak": peak_memory()}))


class Clock:
    """Seconds that a block of code took, by the clock on the wall and by the processor's."""

    seconds = processor = 0.0

    def __enter__(self) -> None:
        self.seconds, self.processor = -time.perf_counter(), -time.process_time()

    def __exit__(self, *exception: object) -> None:
        self.seconds += time.perf_counter()
        self.processor += time.process_time()


def peak_memory() -> int:
    """Return the peak of this process's resident memory; that of getrusage includes its parent's at the start."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def read_parquet(path: Path, threads: int, clock: Clock) -> dict[str, Any]:
    """Only read: the floor of Parquet."""
    import pyarrow.parquet as pq

    count = 0
    with clock, pq.ParquetFile(path, buffer_size=2**16, pre_buffer=False) as file:
        for batch in file.iter_batches(2**21 // file.metadata.num_columns, use_threads=threads > 1):
            count += batch.num_rows
    return {"rows": count}


def read_csv(path: Path, threads: int, clock: Clock) -> dict[str, Any]:
    """Only read: the floor of CSV."""
    from pyarrow import csv

    count = 0
    options = csv.ReadOptions(use_threads=threads > 1, block_size=2**24)
    with clock, csv.open_csv(path, read_options=options) as reader:
        for batch in reader:
            count += batch.num_rows
    return {"rows": count}


def moments(source: Any, threads: int, clock: Clock, correlation: Path | None = None) -> dict[str, Any]:
    """Read and sum up, as `rfdag.learn` does, and compare with the correlation that was kept, if any."""
    from rfdag.evidence.moments import Moments
    from rfdag.evidence.reading import read_evidence

    expected = correlation or source.with_suffix(".npy")
    with clock:
        found, _ = read_evidence(source, threads=threads)
    assert isinstance(found, Moments)
    error = float(np.abs(found.correlation - np.load(expected)).max()) if expected.exists() else None
    return {"rows": found.n_samples, "error": error}


def dask_read(path: Path, threads: int, clock: Clock) -> dict[str, Any]:
    """Only read, on a cluster: the floor of Dask."""
    import dask.dataframe as dd

    with _cluster(threads):
        frame = dd.read_parquet(path, split_row_groups=True)
        with clock:
            count = int(frame.map_partitions(lambda part: len(part), meta=(None, int)).sum().compute())
        return {"rows": count}


def dask_moments(path: Path, threads: int, clock: Clock) -> dict[str, Any]:
    """Read and sum up on a cluster."""
    import dask.dataframe as dd

    with _cluster(threads):
        frame = dd.read_parquet(path, split_row_groups=True)
        return moments(frame, threads, clock, path.with_suffix(".npy"))


def _cluster(workers: int) -> Any:
    from distributed import Client

    return Client(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")


def compare(path: Path, what: str, floor: str, task: str, threads: int, repeats: int, limit: int) -> dict[str, object]:
    """Let floor and task take turns and return a row of the table."""
    floors, found = [], []
    for _ in range(repeats):
        floors.append(measured(floor, path, threads, limit))
        found.append(measured(task, path, threads, limit))
    seconds, least = (median(run["seconds"] for run in runs) for runs in (found, floors))
    size = path.stat().st_size
    error = found[0].get("error")
    row: dict[str, object] = {
        "source": what,
        "rows": found[0]["rows"],
        "threads": threads,
        "file (GB)": round(size / 1e9, 2),
        "address space (GB)": round(limit / 1e9, 2) if limit else "–",
        "time (s)": round(seconds, 2),
        "reading only (s)": round(least, 2),
        "CPU (s)": round(median(run["processor"] for run in found), 2),
        "CPU, reading only (s)": round(median(run["processor"] for run in floors), 2),
        "time / reading": round(seconds / least, 2),
        "GB/s": round(size / seconds / 1e9, 2),
        "peak memory (GB)": round(max(run["peak"] for run in found) / 1e9, 2),
        "largest error": "–" if error is None else f"{error:.0e}",
    }
    print(row, flush=True)
    return row


def main() -> None:
    """Measure and write, or perform one task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=None, help="where the files are written; the system's temporary")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        perform(options.task, options.path, options.threads, options.limit)
        return
    rows: list[dict[str, object]] = []
    shape = (options.rows, options.columns)
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="rfdag-streaming-") as folder:
        path = Path(folder) / "large.parquet"
        np.save(path.with_suffix(".npy"), write_parquet(path, *shape))
        # A smaller file leaves no room between itself and what the libraries take.
        limit = LIMIT if path.stat().st_size > LIMIT else 0
        rows += [
            compare(path, "Parquet", "read parquet", "moments", threads, options.repeats, limit) for threads in (1, 2)
        ]
        path.unlink()
        # Fewer rows are enough for what is slower.
        np.save(path.with_suffix(".npy"), write_parquet(path, shape[0] // 10, shape[1]))
        rows.append(compare(path, "Dask, 2 processes", "dask read", "dask moments", 2, options.repeats, 0))
        path.unlink()
        text = Path(folder) / "text.csv"
        write_csv(text, 3 * shape[0] // 10, shape[1])
        limit = LIMIT if text.stat().st_size > LIMIT else 0
        rows += [compare(text, "CSV", "read csv", "moments", threads, options.repeats, limit) for threads in (1, 2)]
    print(markdown(rows))
    runs = f"Medians of {options.repeats} runs; load average at the end {os.getloadavg()[1]:.1f}."
    content = {"about": f"{provenance().strip()[1:-1]} {runs}", "columns": options.columns, "rows": rows}
    write_text(RESULTS / "scaling_streaming.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
