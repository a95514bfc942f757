"""Numbers that strain arithmetic against 50 digits, and how far long eliminations drift.

    python benchmarks/soak_torture.py [--seeds 50] [--first 1] [--families gaps] [--parts torture,drift] [--size 2000]

The cases of one seed are those of tests/test_torture.py. `drift` compares the matrix of an elimination of so many
variables with one that is computed anew. Each part writes its table in benchmarks/results and its section of
docs/reliability.md.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.eliminate.engines.dense import DenseEngine
from rfdag.eliminate.engines.engine import LostPrecision
from rfdag.eliminate.thresholds import FisherZ
from rfdag.evidence.moments import Moments
from rfdag.runtime.progress import Progress

sys.path.insert(0, str(ROOT / "tests"))
import torture
import torture_checks as checks

PAGE = ROOT / "docs" / "reliability.md"
HANGING = 120
"""Seconds after which a case counts as hanging; they take less than one."""
CONDITIONS = (1e2, 1e4, 1e6, 1e8, 1e10)
"""Condition numbers of the data, which are the roots of those of their correlation matrices."""
LOOKS = (0.25, 0.5, 0.75, 0.95)
"""Shares of the variables after whose removal the matrix is looked at."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--families", default="", help="those that begin so, by commas; then nothing is written")
    parser.add_argument("--parts", default="torture,drift")
    parser.add_argument("--size", type=int, default=2000)
    options = parser.parse_args(arguments)
    with Progress() as progress:
        if "torture" in options.parts.split(","):
            report = progress.stage("Straining")
            rows = tortured(range(options.first, options.first + options.seeds), options.families, report)
            print(markdown(rows), flush=True)
            if not options.families:
                write_tables("soak_torture", rows)
                about = f"{options.seeds} seeds, from {options.first} on."
                update_section(PAGE, "torture", f"{markdown(rows)}\n{about}\n\n{provenance()}")
        if "drift" in options.parts.split(","):
            rows = []
            # At 2000 variables each takes minutes.
            for row in drifted(options.size, progress.stage("Eliminating")):
                rows.append(row)
                write_tables("soak_drift", rows)
                about = f"{options.size} variables, {2 * options.size} rows."
                update_section(PAGE, "drift", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def tortured(seeds: Sequence[int], families: str, report: Callable[[float], None]) -> list[dict[str, Any]]:
    """Return what became of the cases of all seeds, by family."""
    wanted = tuple(families.split(","))
    counts: dict[str, dict[str, int]] = {}
    largest: dict[str, float] = {}
    for place, seed in enumerate(seeds):
        for case in torture.strained(seed):
            if not case.family.startswith(wanted):
                continue
            report(place / len(seeds))
            with no_longer_than(HANGING):
                verdict = checks.judged(case)
            of_family = counts.setdefault(case.family, dict.fromkeys(OUTCOMES, 0))
            of_family[verdict.outcome] += 1
            if verdict.outcome == checks.ANSWERED:
                largest[case.family] = max(largest.get(case.family, 0.0), verdict.deviation)
            if verdict.outcome == checks.WRONG:
                print(f"seed {seed}, {case.name}: {verdict.reason}", flush=True)
    total = {name: sum(each[name] for each in counts.values()) for name in OUTCOMES}
    rows = [_row(family, counts[family], largest.get(family)) for family in counts]
    return [*rows, _row("all", total, max(largest.values(), default=None))]


OUTCOMES = (checks.ANSWERED, checks.WARNED, checks.REFUSED, checks.WRONG)


def _row(family: str, counts: dict[str, int], largest: float | None) -> dict[str, Any]:
    return {
        "what is strained": family,
        "cases": sum(counts.values()),
        "answered within the tolerance": counts[checks.ANSWERED],
        "answered with a warning": counts[checks.WARNED],
        "refused": counts[checks.REFUSED],
        "silent wrong": counts[checks.WRONG],
        "largest deviation of a score": "–" if largest is None else f"{largest:.0e}",
    }


@contextmanager
def no_longer_than(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` if what happens within takes longer."""

    def hangs(*_: Any) -> None:
        raise TimeoutError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def drifted(p: int, report: Callable[[float], None]) -> Iterator[dict[str, Any]]:
    """Yield rows of a table: how far K is from one computed anew, if the engine never starts afresh, and as it is."""
    for place, condition in enumerate(CONDITIONS):
        moments = Moments.from_data(of_condition(p, 2 * p, condition), looked_at=False)
        row: dict[str, Any] = {"condition of the data": f"{moments.condition():.0e}"}
        anew: list[int] = []

        def recompute(variables: NDArray[np.int64], moments: Moments = moments, anew: list[int] = anew) -> Any:
            anew.append(len(variables))
            return moments.partial_correlations(variables)

        threshold, first = FisherZ(2 * p, 1e-3), moments.partial_correlations()
        engines = DenseEngine(first, threshold), DenseEngine(first, threshold, recompute=recompute)
        del first
        generators = [np.random.default_rng([p, 32]) for _ in engines]
        largest, rounding, begun = 0.0, 0.0, time.perf_counter()
        row |= {f"after {share * p:.0f}": "invalid" for share in LOOKS}
        for share in LOOKS:
            report((place + share) / len(CONDITIONS))
            wanted = p - round(share * p)
            fresh: Any = None
            for engine, generator in zip(engines, generators, strict=True):
                if not eliminated(engine, wanted, generator):
                    continue
                fresh = moments.partial_correlations(engine.remaining) if fresh is None else fresh
                off = float(np.abs(engine.partial - fresh).max())
                if engine is engines[0]:
                    row[f"after {share * p:.0f}"] = f"{off:.0e}"
                    row["expected"] = f"{engine.drift:.0e}"
                else:
                    largest = max(largest, off)
            # How far two ways to compute the same matrix are apart.
            rounding = max(rounding, float(np.abs(fresh - other_way(moments, engines[1].remaining)).max()))
        row |= {"as it is": f"{largest:.0e}", "computed anew": len(anew), "rounding of that": f"{rounding:.0e}"}
        print(row, f"{time.perf_counter() - begun:.0f} s", flush=True)
        yield row


def eliminated(engine: DenseEngine, left: int, generator: np.random.Generator) -> bool:
    """Remove variables at random until so many are left; return whether K has stayed valid."""
    try:
        while len(engine.remaining) > left:
            engine.remove(int(generator.integers(len(engine.remaining))))
    except LostPrecision:
        return False
    return True


def of_condition(p: int, n: int, condition: float) -> NDArray[np.float64]:
    """Return rows of which a few directions vary little: geometric singular values, seen from random directions."""
    generator = np.random.default_rng([p, n, 33])
    rows = generator.normal(size=(n, p))
    directions, _ = np.linalg.qr(generator.normal(size=(p, p)))
    return np.asarray((rows @ directions) * np.geomspace(1.0, 1.0 / condition, p) @ directions.T)


def other_way(moments: Moments, remaining: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return partial correlations from the columns in the opposite arrangement."""
    return moments.partial_correlations(remaining[::-1])[::-1, ::-1]


if __name__ == "__main__":
    main()
