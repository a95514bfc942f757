"""Time and memory of sparse eliminations, and of data in blocks.

    python benchmarks/sparse_input.py [--largest 1000000] [--parts oracle precision blocks] [--repeats 3]

Oracle DAGs have average degree 4; their floor is what SciPy takes to moralise the same DAG, A + Aᵀ + A Aᵀ. Precision
matrices are those of linear models on such DAGs. Data in blocks: independent blocks of 1 to 500 columns, average degree
4 within, weights ±[0.25, 1], unit noise. Every measurement runs in a process of its own, whose peak memory is counted;
kernels are compiled beforehand. On a busy machine, CPU seconds tell more than those on the clock. Writes
benchmarks/results/scaling_sparse.json.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np

import rfdag
from report import RESULTS, markdown, provenance
from rfdag.runtime.writing import write_text
from rfdag.simulate import block_dag, linear_sem, random_dag, sample

DEGREE = 4
BLOCK = 500
TARGETS = {100_000: 5.0, 1_000_000: 60.0}
"""Seconds within which an oracle DAG of that size is to be ordered."""

MOST_MEMORY = 8.0
"""Gigabytes that the largest may take."""

Row = dict[str, object]


def gigabytes() -> float:
    """Return the peak of this process's memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def warm(input: str) -> None:
    """Compile the kernels, on a DAG so small that it costs nothing else."""
    dag = random_dag(50, degree=DEGREE, rng=1, sparse=True)
    rfdag.learn(dag if input == "dag" else linear_sem(dag, 1).precision(), input=input, progress=False)  # type: ignore[arg-type]


def moralise(dag: object) -> float:
    """Return the seconds that SciPy takes for the moral graph."""
    start = time.perf_counter()
    edges = dag.astype(np.int32)  # type: ignore[attr-defined]
    (edges + edges.T + edges @ edges.T).tocsr()
    return time.perf_counter() - start


def oracle(p: int, repeats: int) -> Row:
    """Order a DAG that is known, whole: checks, elimination, result."""
    dag = random_dag(p, degree=DEGREE, rng=p, sparse=True)
    warm("dag")
    before = gigabytes()
    floors, totals, busy = [], [], []
    for _ in range(repeats):
        floors.append(moralise(dag))
        start, used = time.perf_counter(), time.process_time()
        result = rfdag.learn(dag, input="dag", progress=False)
        totals.append(time.perf_counter() - start)
        busy.append(time.process_time() - used)
    return {
        "kind": "oracle",
        "p": p,
        "edges": int(dag.sum()),
        "found / true edges": round(result.dag.sum() / dag.sum(), 5),
        "order error": round(rfdag.metrics.order_error(dag, result.causal_order), 5),
        "floor (s)": round(median(floors), 4),
        "learn (s)": round(median(totals), 3),
        "CPU (s)": round(median(busy), 3),
        "of which elimination (s)": round(result.timings["elimination"], 3),
        "learn / floor": round(median(totals) / median(floors), 1),
        "peak memory (GB)": round(gigabytes(), 2),
        "before (GB)": round(before, 2),
    }


def precision(p: int, repeats: int) -> Row:
    """Order an exact sparse precision matrix."""
    dag = random_dag(p, degree=DEGREE, rng=p, sparse=True)
    matrix = linear_sem(dag, rng=p + 1).precision()
    warm("precision")
    before = gigabytes()
    totals, busy = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        result = rfdag.learn(matrix, input="precision", progress=False)
        totals.append(time.perf_counter() - start)
        busy.append(time.process_time() - used)
    return {
        "kind": "precision",
        "p": p,
        "entries": int((matrix != 0).sum()),
        "found / true edges": round(result.dag.sum() / dag.sum(), 5),
        "order error": round(rfdag.metrics.order_error(dag, result.causal_order), 5),
        "learn (s)": round(median(totals), 3),
        "CPU (s)": round(median(busy), 3),
        "of which elimination (s)": round(result.timings["elimination"], 3),
        "peak memory (GB)": round(gigabytes(), 2),
        "before (GB)": round(before, 2),
    }


def blocks(p: int, n: int) -> Row:
    """Learn data in blocks, from a beam of one and without restarts."""
    generator = np.random.default_rng(p)
    sizes: list[int] = []
    while sum(sizes) < p:
        sizes.append(min(int(generator.integers(1, BLOCK + 1)), p - sum(sizes)))
    dag = block_dag(sizes, degree=DEGREE, rng=generator)
    rows = sample(linear_sem(dag, generator), n, generator)
    rfdag.learn(rows[:, :200], blocks=True, beam=1, restarts=0, progress=False)
    before = gigabytes()
    start, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rfdag.learn(rows, blocks=True, beam=1, restarts=0, progress=False)
    total, busy = time.perf_counter() - start, time.process_time() - used
    skeleton = rfdag.metrics.skeleton(dag, result.dag)
    return {
        "kind": "blocks",
        "p": p,
        "n": n,
        "true blocks": len(sizes),
        "true edges": int(dag.sum()),
        "found edges": int(result.dag.sum()),
        "order error": round(rfdag.metrics.order_error(dag, result.causal_order), 4),
        "F1": round(skeleton.f1, 4),
        "SHD": rfdag.metrics.shd(dag, result.dag),
        "screening (s)": round(result.timings["screening"], 1),
        "blocks (s)": round(result.timings["blocks"], 1),
        "learn (s)": round(total, 1),
        "CPU (s)": round(busy, 1),
        "peak memory (GB)": round(gigabytes(), 2),
        "before (GB)": round(before, 2),
    }


def alone(work: Callable[..., Row], *arguments: int) -> Row:
    """Return what the work gives in a fresh process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def exponent(rows: list[Row]) -> float:
    """Return b of the fit seconds = a · p^b."""
    sizes, seconds = ([math.log(float(str(row[name]))) for row in rows] for name in ("p", "learn (s)"))
    return float(np.polyfit(sizes, seconds, 1)[0])


def failures_of(rows: list[Row]) -> list[str]:
    """Return the targets that oracle DAGs miss, in words."""
    missed = []
    for row in rows:
        bound = TARGETS.get(int(str(row["p"])), math.inf)
        if float(str(row["learn (s)"])) > bound:
            missed.append(f"p = {row['p']} takes {row['learn (s)']} s, more than {bound}")
        if float(str(row["peak memory (GB)"])) > MOST_MEMORY:
            missed.append(f"p = {row['p']} takes {row['peak memory (GB)']} GB, more than {MOST_MEMORY}")
    return missed


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", nargs="+", default=["oracle", "precision", "blocks"])
    parser.add_argument("--columns", type=int, default=100_000, help="columns of the data in blocks")
    parser.add_argument("--rows", type=int, default=1000, help="rows of the data in blocks")
    options = parser.parse_args()
    path = RESULTS / "scaling_sparse.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    sizes = [p for p in (1000, 10_000, 100_000, 1_000_000) if p <= options.largest]
    for part, work in (("oracle", oracle), ("precision", precision), ("blocks", blocks)):
        if part not in options.parts:
            continue
        if part == "blocks":
            rows = [alone(blocks, options.columns, options.rows)]
        else:
            rows = [alone(work, p, options.repeats if p < 1_000_000 else 1) for p in sizes]
        kept[part] = {"rows": rows, "provenance": provenance().strip("*\n")}
        if len(rows) > 1:
            kept[part]["exponent"] = round(exponent(rows), 2)
        print(markdown(rows), flush=True)
        RESULTS.mkdir(exist_ok=True)
        write_text(path, json.dumps(kept, indent=1) + "\n")
    if "oracle" in kept:
        missed = failures_of(kept["oracle"]["rows"])
        print("All targets hold." if not missed else "Missed: " + "; ".join(missed) + ".")


if __name__ == "__main__":
    main()
