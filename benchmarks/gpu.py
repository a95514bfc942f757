"""A GPU: eliminations by part beside the floor set by the memory's bandwidth, `learn` beside the same machine's CPU.

    python benchmarks/gpu.py [--parts agreement,eliminations,learn,beams,others] [--repeats 3] [--tests] [--out FILE]

Data have n = 2p rows and average degree 8, simulated on the device; those with few rows are the ones of
benchmarks/wide.py. Times of eliminations are medians of the repeats; the copy bandwidth is measured in the same run.
`learn` is called with its defaults, in a process of its own. Writes benchmarks/results/scaling_gpu.json, where a part
that is measured replaces its own rows.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import rfdag
from measurement import alone, peak_memory
from rfdag import simulate
from rfdag.eliminate import DenseEngine, FisherZ, OracleEngine, eliminate
from rfdag.eliminate.beams.gpu import GpuBeam
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.engines.gpu import GpuEngine
from rfdag.eliminate.engines.gpu_oracle import GpuOracleEngine
from rfdag.evidence.gpu import DeviceMoments
from rfdag.evidence.moments import Moments
from rfdag.orders.beam_settings import steps_between_scores
from rfdag.orders.tuning import DENSE_SETTINGS, LARGE_SETTINGS, NEIGHBOUR_Z, NEIGHBOUR_Z_FOR_VERY_LARGE_P, Setting
from rfdag.runtime.compilation import COMPILED
from rfdag.runtime.device import cupy, require_device
from rfdag.runtime.threads import thread_count

DEGREE = 8
WEIGHTS = LARGE_SETTINGS[0]
LARGEST_ON_CPU = 2000
"""Columns up to which `learn` also runs on the CPU of the same machine."""

LARGEST_TWICE = 10_000
"""Columns up to which `learn` is called twice on the same data."""

BEAMS = ((1000, 2000, 8), (1000, 2000, 64), (50, 500, 32_768))
"""Columns, rows and widths of the beams that are timed."""

SMALLEST_SPARSE = 100
"""Columns below which the graph of a beam has density ½."""

RESULTS = Path(__file__).resolve().parent / "results" / "scaling_gpu.json"
Row = dict[str, Any]


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the median time of the work, the device idle before and after it."""
    device = cupy().cuda.Device()
    times = []
    for _ in range(repeats):
        device.synchronize()
        start = time.perf_counter()
        work()
        device.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def copy_bandwidth(size: int = 2**32) -> float:
    """Return the bytes per second that a copy within the device moves, read and written bytes counted."""
    cp = cupy()
    source, target = cp.ones(size // 8), cp.empty(size // 8)
    cp.copyto(target, source)
    return 2 * size / seconds(lambda: cp.copyto(target, source), 10)


def draw(p: int, seed: int = 1) -> Any:
    """Return 2p rows of a linear Gaussian model of average degree 8 over p variables, on the host.

    The seed is not 0, which is the seed of `rfdag.learn`.
    """
    from cupyx.scipy.linalg import solve_triangular

    cp = cupy()
    generator = np.random.default_rng(seed)
    edges = p * DEGREE // 2
    pairs = np.sort(generator.integers(0, p, (2 * edges, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    pairs = generator.permutation(pairs)[:edges]
    signs = generator.choice([-1.0, 1.0], len(pairs))
    kept = cp.eye(p)
    kept[cp.asarray(pairs[:, 0]), cp.asarray(pairs[:, 1])] = cp.asarray(-signs * generator.uniform(0.25, 1, len(pairs)))
    noise = cp.random.default_rng(seed).standard_normal((2 * p, p))
    rows = solve_triangular(kept, noise.T, trans="T").T
    return cp.asnumpy(cp.ascontiguousarray(rows[:, cp.asarray(generator.permutation(p))]))


def soft(kind: Any, partial: Any, n: int, width: int, every: int, setting: Setting = WEIGHTS, **options: Any) -> Any:
    """Return a beam of the soft rule, by default with the first setting that `rfdag.learn` tries on large graphs."""
    z_near = NEIGHBOUR_Z_FOR_VERY_LARGE_P if setting is WEIGHTS else NEIGHBOUR_Z
    weights = {"c": setting.c, "noise": setting.noise, "z_near": z_near}
    return kind(partial, n, width, setting.mu, **weights, rescore_every=every, **options)


def greedy(partial: Any, n: int, every: int) -> Any:
    """Return the greedy order of the soft rule, everything scored anew at every so many steps."""
    return soft(GpuBeam, partial, n, 1, every).search().orders[0]


def by_part(p: int, repeats: int, bandwidth: float) -> Row:
    """Time the way from rows on the host to an order, part by part."""
    cp = cupy()
    n = 2 * p
    rows = draw(p)
    cp.get_default_memory_pool().free_all_blocks()
    kept: dict[str, Any] = {}

    def moments() -> None:
        kept["moments"] = DeviceMoments.from_data(rows)

    def partial() -> None:
        kept["partial"] = kept["moments"].partial_on_device()

    row: Row = {"what": "soft", "p": p, "n": n, "degree": DEGREE, "width": 1}
    # The first call also makes the libraries' workspaces.
    moments()
    row["transfer"] = seconds(lambda: cp.asarray(rows), repeats)
    row["moments"] = seconds(moments, repeats)
    partial()
    row["inverse"] = seconds(partial, repeats)
    row["condition"] = kept["moments"].condition()
    del kept["moments"]
    cp.get_default_memory_pool().free_all_blocks()
    lazily = steps_between_scores(p)
    greedy(kept["partial"][:256, :256], n, lazily)
    row["lazy"] = seconds(lambda: greedy(kept["partial"], n, lazily), repeats)
    row["steps between scores"] = lazily
    row["exact"] = seconds(lambda: greedy(kept["partial"], n, 1), repeats if p <= 10_000 else 1)
    row["lazy, with moments and inverse"] = row["moments"] + row["inverse"] + row["lazy"]
    # Each step reads and writes what is left of one triangle; under the lazy rule only some do.
    row["floor of exact"] = 8 * p**3 / 3 / bandwidth
    row["floor of lazy"] = row["floor of exact"] / lazily
    row["ratio of exact"] = row["exact"] / row["floor of exact"]
    row["ratio of lazy"] = row["lazy"] / row["floor of lazy"]
    return row


def whole(p: int, kind: str) -> Row:
    """Time `rfdag.learn` with its defaults, from rows to result.

    ``kind`` is "defaults", "beam 1" or "few rows". What the first call takes longer than the second is the loading of
    libraries and kernels, which happens once; up to `LARGEST_TWICE` columns the second call is on the same data.
    """
    few = kind == "few rows"
    rows, options = (wide_rows(p) if few else draw(p)), {"beam": 1} if kind == "beam 1" else {}
    row: Row = {"what": "learn", "kind": kind, "p": p, "n": len(rows), "degree": 4 if few else DEGREE}
    before = rows if p <= LARGEST_TWICE else wide_rows(2000) if few else draw(2000, seed=2)
    devices = ["cuda", "cpu"] if p <= LARGEST_ON_CPU and COMPILED else ["cuda"]
    results = {}
    for where in devices:
        first = learning(before, where, options)[0]
        cupy().get_default_memory_pool().free_all_blocks()
        row[f"seconds, {where}"], results[where] = learning(rows, where, options)
        row[f"loading, {where}"] = first - row[f"seconds, {where}"] if before is rows else None
    found = results["cuda"]
    row |= {"timings": found.timings, "score": found.score, "peak memory": peak_memory()}
    if len(devices) > 1:
        row["same order"] = found.order == results["cpu"].order
    return row


def learning(rows: Any, where: Any, options: Row) -> tuple[float, Any]:
    """Learn, and return the seconds and the result."""
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = seconds(lambda: found.append(rfdag.learn(rows, device=where, progress=False, **options)), 1)
    return taken, found[0]


def wide_rows(p: int) -> Any:
    """Return few rows of a sparse model, those of benchmarks/wide.py."""
    from wide import draw as drawn

    return drawn(p, 500, "random", 1000, 0)[1]


def rule_rfd(p: int) -> Row:
    """Time rule rfd, all pairs counted."""
    n = 2 * p
    partial = DeviceMoments.from_data(draw(p)).partial_on_device()
    engine = GpuEngine(partial, FisherZ(n, 1e-3))
    return {"what": "rfd", "p": p, "n": n, "degree": DEGREE, "seconds": seconds(lambda: eliminate(engine), 1)}


def beams(sizes: Sequence[tuple[int, int, int]], repeats: int) -> list[Row]:
    """Time beams of the lazy soft rule over p variables and n rows; the widest one on dense graphs with few rows."""
    rows: list[Row] = []
    for p, n, width in sizes:
        dense = p < SMALLEST_SPARSE
        data = draw_dense(p, n) if dense else draw(p)
        partial = DeviceMoments.from_data(data).partial_on_device()
        every = 1 if dense else steps_between_scores(p)
        weights = DENSE_SETTINGS[1] if dense else WEIGHTS
        row: Row = {"what": "beam", "p": p, "n": n, "density": 0.5 if dense else DEGREE / p, "width": width}
        search = functools.partial(_searched, partial, n, width, every, weights)
        search()
        row["seconds"] = seconds(search, repeats)
        rows.append(row)
    return rows


def _searched(*arguments: Any) -> None:
    soft(GpuBeam, *arguments).search()


def draw_dense(p: int, n: int) -> Any:
    """Return rows of a linear Gaussian model of density ½."""
    generator = np.random.default_rng(7001)
    return simulate.sample(simulate.linear_sem(simulate.random_dag(p, 0.5, rng=generator), generator), n, generator)


def oracle(p: int) -> Row:
    """Time the finite-field oracle on a DAG of density ½."""
    # Not 0: that is the seed of the oracle.
    dag = simulate.random_dag(p, 0.5, rng=1)
    return {"what": "oracle", "p": p, "density": 0.5, "seconds": seconds(lambda: eliminate(GpuOracleEngine(dag)), 1)}


def agreement(p: int) -> list[Row]:
    """Compare orders with the CPU's."""
    n = 2 * p
    moments = Moments.from_data(draw(p))
    partial = moments.partial_correlations()
    rows: list[Row] = []
    lazily = steps_between_scores(p)
    for width, every in ((1, lazily), (1, 1), (8, lazily)):
        ours = soft(GpuBeam, partial, n, width, every).search()
        start = time.perf_counter()
        theirs = soft(SoftBeam, partial, n, width, every, threads=8).search()
        took = time.perf_counter() - start
        same = bool((ours.orders[0] == theirs.orders[0]).all())
        what = f"soft, {'exact' if every == 1 else 'lazy'}, width {width}"
        rows.append({"what": what, "p": p, "same order": same, "on 8 cores": took})
    small = partial[:200, :200] if p > 200 else partial
    for pairs in ("all", "neighbours"):
        threshold = FisherZ(n, 1e-3)
        ours, theirs = (
            eliminate(engine(small, threshold, pairs=pairs)).order  # type: ignore[operator]
            for engine in (GpuEngine, DenseEngine)
        )
        rows.append({"what": f"rfd, {pairs}", "p": len(small), "same order": bool((ours == theirs).all())})
    dag = simulate.random_dag(200, 0.5, rng=1)
    ours, theirs = eliminate(GpuOracleEngine(dag)).order, eliminate(OracleEngine(dag)).order
    rows.append({"what": "oracle, density 1/2", "p": 200, "same order": bool((ours == theirs).all())})
    return rows


def tests_passed() -> str:
    """Run the tests of the engines and of the GPU; return how many passed."""
    root = Path(__file__).resolve().parent.parent
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_gpu.py",
        "tests/test_engines.py",
    ]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    print(said)
    return said.strip().splitlines()[-1].strip("= ").split(" in ")[0]


class Measured:
    """The rows of all parts in one file."""

    def __init__(self, path: Path, about: Row) -> None:
        self._path = path
        kept: Row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._content = {"about": about, "parts": kept.get("parts", {})}

    def keep(self, part: str, rows: list[Row]) -> None:
        """Replace the rows of a part, and print them."""
        self._content["parts"][part] = rows
        for row in rows:
            print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                            for key, value in row.items()), flush=True)  # fmt: skip
        self._path.write_text(json.dumps(self._content, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="agreement,eliminations,learn,beams,others")
    parser.add_argument("--sizes", default="1000,5000,10000,20000", help="columns of the eliminations")
    parser.add_argument(
        "--learn", default="1000,2000,5000,10000,20000:beam 1,20000:few rows", help="columns of `learn`, and what kind"
    )
    parser.add_argument("--rfd", default="1000,5000,10000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tests", action="store_true", help="also run the tests, and keep their count")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    require_device()
    cp = cupy()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    bandwidth = copy_bandwidth()
    about = {
        "date": date.today().isoformat(),
        "device": properties["name"].decode(),
        "cores": thread_count(None),
        "cupy": cp.__version__,
        "cuda": cp.cuda.runtime.runtimeGetVersion(),
        "copy bandwidth, TB/s": bandwidth / 1e12,
    }
    if chosen.tests:
        about["tests"] = tests_passed()
    print(json.dumps(about))
    measured = Measured(chosen.out, about)
    sizes = list(map(int, chosen.sizes.split(",")))

    def each(work: Callable[..., Row], *arguments: tuple[Any, ...]) -> list[Row]:
        rows = []
        for given in arguments:
            rows.append(work(*given))
            cp.get_default_memory_pool().free_all_blocks()
        return rows

    parts: dict[str, Callable[[], list[Row]]] = {
        "agreement": lambda: agreement(1000) if COMPILED else [],
        "eliminations": lambda: each(by_part, *((p, chosen.repeats, bandwidth) for p in sizes)),
        "learn": lambda: [alone(whole, *_size_and_kind(entry)) for entry in chosen.learn.split(",")],
        "beams": lambda: beams(BEAMS, chosen.repeats),
        "others": lambda: [*each(rule_rfd, *((int(p),) for p in chosen.rfd.split(","))), oracle(2000)],
    }
    for part in chosen.parts.split(","):
        measured.keep(part, parts[part]())


def _size_and_kind(entry: str) -> tuple[int, str]:
    p, _, kind = entry.partition(":")
    return int(p), kind or "defaults"


if __name__ == "__main__":
    main()
