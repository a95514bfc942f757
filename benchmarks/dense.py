"""The dense engine on a CPU: its floor, `learn` beside FLOP, growth, small problems, exact and lazy scores.

    python benchmarks/dense.py [--parts floor,learn,growth,small,rescoring] [--repeats 3]

    floor      eliminations under rule soft beside correlation and inverse of the same data  [--floor 300,1000,3000]
    learn      `learn(X)` beside FLOP without restarts, each in a process of its own  [--learn 500,1000 --graphs 3]
    growth     `learn(X)` against the number of variables, and against density  [--growth 250,… --dense 100,200]
    small      p = 20, n = 40, and the import
    rescoring  F1 with exact, lazy and automatic scores on the workloads of `rfdag bench`  [--workloads sparse,…]

Graphs are Erdős–Rényi DAGs of average degree 8 with n = 2p rows, weights ±[.25, 1] and unit noise, columns shuffled and
standardised, unless a part says otherwise. Times are medians; contenders take turns. Every row is written to
benchmarks/results/scaling_dense.json (or --out) as soon as it is known, and replaces only the row it repeats. Parts
learn and rescoring leave out rows that are known for the sources as they are, so that they can be interrupted.
FLOP needs its environment, which `make peers` makes. benchmarks/scaling.py makes a page of the results.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import rfdag
from measurement import PAUSE, Kept, Row, Work, alone, alternate, exponent, peak_memory
from report import RESULTS, ROOT
from rfdag import metrics
from rfdag.eliminate import DenseEngine, FisherZ, eliminate
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.evidence.moments import Moments
from rfdag.graphs.dag import Graph
from rfdag.orders.beam_settings import neighbour_z, steps_between_scores
from rfdag.orders.tuning import LARGE_SETTINGS
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread
from rfdag.simulate import linear_sem, random_dag, sample
from rfdag.studies.bench import environments, harness
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.workloads import WORKLOADS, Drawn, Workload, chosen

Floats = NDArray[np.float64]
Tell = Callable[[str], None]

DEGREE = 8
WIDTH = 10
ROWS_OF_DENSE = 20
"""Rows a variable where graphs grow denser; with two, a dense graph could not be told from a sparse one."""

FLOOR_TARGETS = {(1000, "lazy"): 1.0, (1000, "exact"): 2.5, (3000, "lazy"): 2.0}
"""Times of the floor that an elimination may take, by number of variables and kind."""

BEAM_TARGET = 12.0
"""Times of a greedy elimination that a beam of width 10 may take."""

LARGEST = 3000
"""Variables from which on everything beside the floor is repeated no oftener than asked for."""

LARGEST_BEAM = 1000
"""Variables up to which beams, and rule rfd, run beside the floor."""

CALLS_OF_SMALL = 200
MILLISECONDS, IMPORT_SECONDS = 5.0, 1.0
"""What a small problem and the import may take."""


def draw(p: int, n: int, seed: int, graph: int, density: float | None = None) -> tuple[Graph, Floats]:
    """Return a graph and its rows, of average degree 8 unless a density is given."""

    def source(generator: np.random.Generator) -> Drawn:
        dag = random_dag(p, density, generator, degree=None if density else DEGREE)
        return Drawn(dag, sample(linear_sem(dag, generator), n, generator))

    name = f"density{density:.4g}" if density else f"degree{DEGREE}"
    true, rows = Workload(f"{name}-p{p}-n{n}", "scaling", name, p, n, source).draw(seed, graph)
    assert true is not None
    return true, rows


def quietly(rows: Floats, **options: Any) -> rfdag.Result:
    """Learn without a bar and without doubts about the numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rfdag.learn(rows, progress=False, **options)


def soft(matrix: Floats, n: int, width: int, every: int, threads: int) -> None:
    """Eliminate under rule soft, weighed as `learn` does first on large sparse graphs."""
    setting, near = LARGE_SETTINGS[0], neighbour_z(len(matrix))
    weights: dict[str, Any] = {"c": setting.c, "noise": setting.noise, "z_near": near}
    with one_blas_thread():
        SoftBeam(matrix, n, width, setting.mu, **weights, rescore_every=every, threads=threads).search()


def rfd(matrix: Floats, n: int, threads: int) -> None:
    """Eliminate under rule rfd, all pairs counted."""
    with one_blas_thread():
        eliminate(DenseEngine(matrix, FisherZ(n, 1e-3), threads=threads))


def beside_floor(p: int, options: argparse.Namespace, kept: Kept, tell: Tell) -> None:
    """Measure eliminations beside correlation and inverse, beams beside greedy ones."""
    n, threads = 2 * p, options.threads
    _, rows = draw(p, n, options.seed, 0)
    matrix = Moments.from_data(rows).partial_correlations()
    lazy, exact = steps_between_scores(p), 1
    # What takes milliseconds is more easily disturbed, and more easily repeated.
    repeats = options.repeats * max(1, LARGEST // p)
    contenders: dict[str, Work] = {
        "floor": lambda: np.linalg.inv(np.corrcoef(rows.T)),
        "lazy": lambda: soft(matrix, n, 1, lazy, threads),
        "exact": lambda: soft(matrix, n, 1, exact, threads),
    }
    if p <= LARGEST_BEAM:
        contenders |= {
            "beam lazy": lambda: soft(matrix, n, WIDTH, lazy, threads),
            "beam exact": lambda: soft(matrix, n, WIDTH, exact, threads),
            "rfd": lambda: rfd(matrix, n, threads),
        }
    small = matrix[:50, :50]
    for every in (lazy, exact):
        soft(small, n, WIDTH, every, threads)
    rfd(small, n, threads)
    with threadpool_limits(threads):
        times = alternate(contenders, repeats, lambda name: tell(f"p = {p}, {name}"), PAUSE)
    for name, time in times.items():
        if name == "floor":
            continue
        against = name.removeprefix("beam ") if name.startswith("beam ") else "floor"
        row: Row = {
            "p": p,
            "n": n,
            "contender": name,
            "time (s)": time,
            "against": against,
            "of that (s)": times[against],
        }
        row["ratio"] = time / times[against]
        row["target"] = BEAM_TARGET if against != "floor" else FLOOR_TARGETS.get((p, name))
        row |= {"steps between scores": lazy, "threads": threads, "repeats": repeats}
        kept.add("floor", row, ("p", "contender"))


def beside_flop(p: int, graph: int, options: argparse.Namespace, kept: Kept, tell: Tell) -> None:
    """Measure `learn` with its defaults and FLOP without restarts on one graph."""
    key = {"p": p, "graph": graph, "seed": options.seed}
    if kept.has("learn", **key, limit=options.limit, repeats=options.repeats):
        return
    n = 2 * p
    true, rows = draw(p, n, options.seed, graph)
    row: Row = {**key, "n": n, "limit": options.limit, "repeats": options.repeats}
    times: dict[str, list[float]] = {"rfdag": [], "flop-0": []}
    for _ in range(options.repeats):
        for name, found in times.items():
            if f"{name} failure" in row:
                continue
            tell(f"p = {p}, graph {graph}, {name}")
            contender = CONTENDERS[name]
            python = environments.python_of(contender.home, ROOT / environments.FOLDER)
            answer = harness.run([str(python), "-P", str(harness.PROGRAM), name], rows, options.limit)
            if isinstance(answer, harness.Late | harness.Failed):
                row[f"{name} failure"] = answer.reason
                continue
            found.append(answer[1])
            row |= {f"{name} SHD": metrics.shd(true, answer[0]), f"{name} F1": metrics.skeleton(true, answer[0]).f1}
    row |= {f"{name} (s)": median(found) for name, found in times.items() if found}
    kept.add("learn", row, tuple(key))


def grow(p: int, n: int, seed: int, graph: int, density: float | None) -> Row:
    """Learn one data set, in a process started for it."""
    true, rows = draw(p, n, seed, graph, density)
    quietly(draw(60, 120, seed, graph)[1])
    before = peak_memory()
    result = quietly(rows)
    return {
        "elimination": result.timings["elimination"],
        "refinement": result.timings["refinement"],
        "learn": sum(result.timings.values()),
        "before": before,
        "peak": peak_memory(),
        "F1": metrics.skeleton(true, result.dag).f1,
        "SHD": metrics.shd(true, result.dag),
    }


def growth(options: argparse.Namespace, kept: Kept, tell: Tell) -> None:
    """Measure `learn` against size and density; sizes take turns, each time with another graph."""
    plan: list[tuple[int, int, float | None]] = [(p, 2 * p, None) for p in options.growth]
    for p in options.dense:
        densities = sorted({*(degree / p for degree in (2, 4, 8)), 0.125, 0.25, 0.5})
        plan += [(p, ROWS_OF_DENSE * p, density) for density in densities]
    found: list[list[Row]] = [[] for _ in plan]
    for graph in range(options.repeats):
        for (p, n, density), runs in zip(plan, found, strict=True):
            tell(f"p = {p}, density {density:.3g}" if density else f"p = {p}")
            runs.append(alone(grow, p, n, options.seed, graph, density))
            # After every run, so that an interruption leaves what was measured.
            row: Row = {"p": p, "n": n, "density": density, "repeats": len(runs)}
            row |= {f"{name} (s)": median(run[name] for run in runs) for name in ("elimination", "refinement", "learn")}
            row["elimination + refinement (s)"] = median(run["elimination"] + run["refinement"] for run in runs)
            row |= {f"{name} memory (GB)": max(run[name] for run in runs) for name in ("before", "peak")}
            row |= {name: fmean(run[name] for run in runs) for name in ("F1", "SHD")}
            kept.add("growth", row, ("p", "density"))


def small(options: argparse.Namespace, kept: Kept, tell: Tell) -> None:
    """Measure a warm call on small data, and the import in fresh interpreters."""
    drawn = {name: WORKLOADS[name].draw(options.seed, 0).rows for name in ("dense-p20-n40", "sparse-p20-n40")}
    calls = {f"learn(refine=False), {name}": partial(quietly, rows, refine=False) for name, rows in drawn.items()}
    for call in calls.values():
        call()
    for name, time in alternate(calls, CALLS_OF_SMALL, lambda _: None).items():
        row: Row = {"what": name, "time": 1000 * time, "unit": "ms", "target": MILLISECONDS, "repeats": CALLS_OF_SMALL}
        kept.add("small", row, ("what",))
    tell("import")
    repeats = max(5, options.repeats)
    # The import itself loads nothing heavy; the first use of a name does, and is told beside it.
    codes = ("pass", "import rfdag", "import rfdag; rfdag.learn")
    programs = {code: partial(subprocess.run, [sys.executable, "-c", code], check=True) for code in codes}
    programs[codes[-1]]()
    times = alternate(programs, repeats, lambda _: None)
    for code, target in zip(codes[1:], (IMPORT_SECONDS, None), strict=True):
        row = {"what": code, "time": times[code] - times["pass"], "unit": "s", "target": target, "repeats": repeats}
        kept.add("small", row, ("what",))


def rescoring(workload: Workload, options: argparse.Namespace, kept: Kept, tell: Tell) -> None:
    """Compare exact, lazy and automatic scores on the graphs of one workload, with refinement and without."""
    if workload.draw(options.seed, 0).true is None:
        return
    for refine in (False, True):
        key = {"workload": workload.name, "refine": refine, "seed": options.seed}
        if kept.has("rescoring", **key, graphs=workload.graphs):
            continue
        scores: dict[str, list[float]] = {"exact": [], "lazy": [], "auto": []}
        times: dict[str, list[float]] = {name: [] for name in scores}
        for graph in range(workload.graphs):
            true, rows = workload.draw(options.seed, graph)
            assert true is not None
            for name in scores:
                tell(f"{workload.name}, graph {graph}, {name}{'' if refine else ', not refined'}")
                result = quietly(rows, rescoring=name, refine=refine)
                scores[name].append(metrics.skeleton(true, result.dag).f1)
                times[name].append(sum(result.timings.values()))
        row: Row = {**key, "family": workload.family, "p": workload.p, "n": workload.n, "graphs": workload.graphs}
        row |= {name: fmean(found) for name, found in scores.items()}
        row["auto − exact"] = row["auto"] - row["exact"]
        row |= {f"{name} (s)": median(found) for name, found in times.items()}
        kept.add("rescoring", row, tuple(key))


def conclude(kept: Kept) -> None:
    """Print what no single row tells: how fast times grow, and where automatic scores lose most."""
    grown = [row for row in kept.rows("growth") if row["density"] is None]
    if len(grown) > 1:
        power = exponent([row["p"] for row in grown], [row["elimination + refinement (s)"] for row in grown])
        print(f"Elimination and refinement grow with p to the power {power:.2f}.")
    if kept.rows("rescoring"):
        worst = min(kept.rows("rescoring"), key=lambda row: row["auto − exact"])
        words = "refined" if worst["refine"] else "not refined"
        print(f"Auto − exact is worst on {worst['workload']}, {words}: {worst['auto − exact']:+.5f}.")


def whole_numbers(text: str) -> list[int]:
    """Return the numbers of a list with commas."""
    return [int(word) for word in text.split(",") if word]


def options_given() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="floor,learn,growth,small,rescoring")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="threads of the floor and of what runs beside it")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--floor", type=whole_numbers, default=[300, 1000, 3000], help="sizes beside the floor")
    parser.add_argument("--learn", type=whole_numbers, default=[500, 1000], help="sizes beside FLOP")
    parser.add_argument("--graphs", type=int, default=3, help="graphs beside FLOP")
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a call beside FLOP may take")
    parser.add_argument("--growth", type=whole_numbers, default=[250, 500, 1000, 2000], help="sizes at degree 8")
    parser.add_argument("--dense", type=whole_numbers, default=[100, 200], help="sizes at growing density")
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="names or groups, for rescoring")
    parser.add_argument("--out", type=Path, default=RESULTS / "scaling_dense.json")
    return parser.parse_args()


def main() -> None:
    """Measure and write."""
    options = options_given()
    kept = Kept(options.out)
    parts = set(options.parts.split(","))
    if "learn" in parts and harness.missing(harness.chosen(["flop-0"]), ROOT / environments.FOLDER):
        print("Part learn is left out: FLOP's environment has not been made. `make peers` makes it.", flush=True)
        parts.remove("learn")
    plan: list[tuple[str, Callable[[argparse.Namespace, Kept, Tell], None]]] = [
        *(("floor", partial(beside_floor, p)) for p in options.floor),
        *(("learn", partial(beside_flop, p, graph)) for p in options.learn for graph in range(options.graphs)),
        ("growth", growth),
        ("small", small),
        *(("rescoring", partial(rescoring, workload)) for workload in chosen(options.workloads.split(","))),
    ]
    plan = [(part, work) for part, work in plan if part in parts]
    with Progress() as progress:
        for at, (part, work) in enumerate(plan):

            def tell(words: str, part: str = part, done: float = at / len(plan)) -> None:
                progress.stage(f"{part}: {words}")(done)

            work(options, kept, tell)
    conclude(kept)


if __name__ == "__main__":
    main()
