"""The same data in other forms, on other threads, in other processes and other orders: how often the answer differs.

    python benchmarks/soak_same.py [--seeds 10] [--first 1] [--parts forms,containers,orders,processes]

The comparisons are those of tests/test_same_answer.py, on problems of the sizes that people have. An answer is order,
DAG, equivalence class and score; where rows or columns stand in another order, class and score. Writes
benchmarks/results/soak_same.csv and its section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress

sys.path.insert(0, str(ROOT / "tests"))
import same_answer
from same_answer import Answer

ENVIRONMENTS: dict[str, list[dict[str, str]]] = {
    "another process": [{}],
    "hash seed": [{"PYTHONHASHSEED": seed} for seed in ("0", "1", "4294967295")],
    "threads of linear algebra": [{"OMP_NUM_THREADS": count} for count in ("1", "2", "4")],
}
"""What is compared, and the variables of the environments of the processes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--parts", default="forms,containers,orders,processes")
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.seeds)
    counts: dict[str, dict[str, Any]] = {}
    with Progress() as progress:
        report = progress.stage("Comparing")
        for comparison, what, same in compared(seeds, options.parts.split(","), report):
            row = counts.setdefault(comparison, {"compared": comparison, "runs": 0, "different answers": 0})
            row["runs"] += 1
            if not same:
                row["different answers"] += 1
                print(f"{comparison}: {what}", flush=True)
    rows = list(counts.values())
    print(markdown(rows), flush=True)
    write_tables("soak_same", rows)
    names = ", ".join(problem.name for problem in same_answer.problems(options.first, small=False))
    about = f"{options.seeds} data sets of each kind, seeds from {options.first} on: {names}."
    update_section(ROOT / "docs" / "reliability.md", "same", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def compared(
    seeds: Sequence[int], parts: Sequence[str], report: Callable[[float], None]
) -> Iterator[tuple[str, str, bool]]:
    """Yield what was compared, a description of the run, and whether the answers agree."""
    for place, seed in enumerate(seeds):
        known: dict[str, Answer] = {}
        everything = list(same_answer.problems(seed, small=False))
        for number, problem in enumerate(everything):
            report((place + number / len(everything)) / len(seeds))
            expected = known[problem.name] = Answer.of(problem.learn())
            with tempfile.TemporaryDirectory() as folder:
                for comparison, form, found in others(problem, Path(folder), parts):
                    one, other = found if isinstance(found, tuple) else (found, None)
                    wanted = expected if other is None else Answer.of(other)
                    yield comparison, f"seed {seed}, {problem.name}, {form}", Answer.of(one).is_like(wanted)
            generator = np.random.default_rng([seed, 42, number])
            for _ in range(3 if "orders" in parts else 0):
                for comparison, form, found in same_answer.rearranged(problem, generator):
                    same = Answer.of(found).is_like(expected, same_order=False)
                    yield comparison, f"seed {seed}, {problem.name}, {form}", same
        for comparison, variables in ENVIRONMENTS.items() if "processes" in parts else ():
            for variable in variables:
                for name, answer in in_process(variable, seed).items():
                    same = answer.is_like(known[name])
                    yield comparison, f"seed {seed}, {name}, {variable}", same


def others(problem: Any, folder: Path, parts: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield the answers to the same data in other forms."""
    if "forms" in parts:
        yield from same_answer.in_memory(problem)
    if "containers" in parts:
        yield from same_answer.in_containers(problem, folder)


def in_process(variables: dict[str, str], seed: int) -> dict[str, Answer]:
    """Return the answers of a process of its own."""
    found: dict[str, Answer] = same_answer.in_process({**os.environ, **variables}, "--seed", str(seed))[seed]
    return found


if __name__ == "__main__":
    main()
