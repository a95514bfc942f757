"""The tests that depend on arithmetic, and the same answers, as other processors and other libraries would round.

    make processors
    python benchmarks/processors.py [--only Haswell,Prescott+generic] [--small] [--seeds 18] [--jobs 2]

OpenBLAS has code of its own for each kind of processor, and takes another's where OPENBLAS_CORETYPE names it; Numba
compiles for another processor where NUMBA_CPU_NAME does. Under each, with an empty cache of compiled kernels, the tests
that tests/arithmetic.py selects run, and answers to random data of all kinds (tests/same_answer.py) are compared with
those of this machine as it is. Names joined by + are set together. What this machine cannot run is skipped, and said,
and so are names that its libraries take for code that was tried already. Ends with status 1 if a test fails, or an
answer differs that was no tie by its own record.

With --small, a few tests and smaller tables: of the processors that differ most from others, the first two that this
machine can run and does not act as by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from report import ROOT, markdown
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import thread_count

sys.path.insert(0, str(ROOT / "tests"))
import arithmetic
import same_answer

CORES = ("Haswell", "Zen", "SkylakeX", "Cooperlake", "Prescott", "Sandybridge", "Nehalem")
VARIABLES: dict[str, dict[str, str]] = {
    **{core: {"OPENBLAS_CORETYPE": core} for core in CORES},
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
}
"""Names, and the variables that make libraries work as they would there."""
DIFFERENT = ("Prescott+generic", "SkylakeX", "Haswell", "Sandybridge")
"""Of these the first that can be run are tried where there is little time: the oldest code, and the newest or older."""
FEW = 2
"""How many."""
FIRST = 101
"""The seed of the first answers; no test has one of these."""
EMPTY = {"tests": "", "answers": "", "different": "", "ties": ""}
PROBE = """
import json, llvmlite.binding, numba, numpy, scipy.linalg, threadpoolctl
matrix = numpy.random.default_rng(1).normal(size=(300, 300))
for library in (numpy.linalg, scipy.linalg):
    library.svd(matrix @ matrix), library.inv(matrix), library.cholesky(matrix @ matrix.T)
numba.njit(lambda values: (values * values).sum())(matrix)
libraries = sorted({str(found.get("architecture", found["internal_api"])) + ", " + str(found["num_threads"])
    for found in threadpoolctl.threadpool_info() if found["user_api"] == "blas"})
print(json.dumps([*libraries, numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()]))
"""
"""Prints which code linear algebra and compiled kernels take, after they have run it."""


@dataclass(frozen=True)
class Processor:
    """Variables of the environment under a name, and the code that libraries take with them; None: it cannot run."""

    name: str
    variables: Mapping[str, str]
    code: tuple[str, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        words = [sys.executable, "-c", PROBE]
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=False)
        object.__setattr__(self, "code", None if done.returncode else tuple(json.loads(done.stdout)))

    @classmethod
    def named(cls, name: str) -> Processor:
        """Return that of some names joined by +."""
        return cls(name, {key: value for each in name.split("+") for key, value in VARIABLES[each].items()})

    def environment(self) -> dict[str, str]:
        """Return the environment of a process on it; what this machine's sets of these variables does not count."""
        known = {key for variables in VARIABLES.values() for key in variables}
        return {key: value for key, value in os.environ.items() if key not in known} | dict(self.variables)


def chosen(processors: Iterable[Processor], known: Sequence[Processor] = ()) -> Iterator[tuple[Processor, str]]:
    """Yield processors with the reason why each is skipped: it cannot run, or has the code of another or a known one.

    The reason is empty for those to be tried.
    """
    names = {processor.code: processor.name for processor in known}
    for processor in processors:
        if processor.code is None:
            yield processor, "this machine cannot run it"
        elif processor.code in names:
            yield processor, f"the same code as {names[processor.code]}"
        else:
            names[processor.code] = processor.name
            yield processor, ""


def few(processors: Iterable[tuple[Processor, str]]) -> Iterator[tuple[Processor, str]]:
    """Yield processors up to the last of those that little time allows."""
    taken = 0
    for processor, reason in processors:
        taken += not reason
        yield processor, reason
        if taken == FEW:
            return


def tried(
    processor: Processor, expected: Mapping[int, Mapping[str, Any]], learnt: Sequence[str], tests: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return what a processor's row says, and whatever failed on it."""
    differing: list[str] = []
    ties = 0
    with tempfile.TemporaryDirectory(prefix="rfdag-kernels-") as folder:
        environment = {**processor.environment(), "NUMBA_CACHE_DIR": folder}
        found = same_answer.in_process(environment, *learnt)
        for seed, problems in expected.items():
            for name, wanted in problems.items():
                answer = found[seed][name]
                if not answer.is_like(wanted):
                    tie = answer.tie or wanted.tie
                    ties += tie
                    differing += [] if tie else [f"{processor.name}: seed {seed}, {name}: the answer differs"]
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "arithmetic", *tests]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines()[-1:]
    failed = [f"{processor.name}: {line}" for line in lines if line.startswith(("FAILED", "ERROR"))]
    if done.returncode and not failed:
        failed = [f"{processor.name}: pytest ended with status {done.returncode}: {done.stdout[-500:]}"]
    row = {"answers": sum(map(len, expected.values())), "different": len(differing), "ties": ties}
    return {"tests": re.sub("[= ]+$|^[= ]+", "", lines[-1]), **row}, [*failed, *differing]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all processors; return 1 if something failed or differed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of processors, separated by commas")
    parser.add_argument("--small", action="store_true", help="small tables, and a small selection of the tests")
    parser.add_argument("--seeds", type=int, default=18, help="data sets of each kind")
    parser.add_argument("--jobs", type=int, help="processors to try at a time; one per core unless given")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else DIFFERENT if options.small else tuple(VARIABLES)
    if unknown := {each for name in names for each in name.split("+")} - VARIABLES.keys():
        parser.error(f"--only has {', '.join(sorted(unknown))}; names are {', '.join(VARIABLES)}")
    here = Processor("this machine", {})
    if here.code is None:
        raise SystemExit("Linear algebra or compiled kernels do not run on this machine at all.")
    processors = chosen(map(Processor.named, names), [here] if options.small else [])
    wanted = list(few(processors) if options.small else processors)
    tests = [str(arithmetic.file_of(name)) for name in arithmetic.SMALL] if options.small else []
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    with Progress() as progress, ThreadPoolExecutor(thread_count(options.jobs)) as pool:
        progress.stage("Learning as this machine does")
        learnt = ["--seed", str(FIRST), "--seeds", str(options.seeds), *(["--small"] if options.small else [])]
        expected = same_answer.in_process(here.environment(), *learnt)
        report = progress.stage("Trying other processors")
        trials = [None if why else pool.submit(tried, each, expected, learnt, tests) for each, why in wanted]
        for place, ((processor, why), trial) in enumerate(zip(wanted, trials, strict=True)):
            report(place / len(wanted))
            row, found = ({"tests": f"skipped: {why}"}, []) if trial is None else trial.result()
            row = {"processor": processor.name, "code": "; ".join(processor.code or ()), **EMPTY, **row}
            rows.append(row)
            problems += found
    print(f"This machine: {'; '.join(here.code)}.\n\n{markdown(rows)}", *problems, sep="\n", flush=True)
    if all(trial is None for trial in trials):
        print("None of these processors could be tried.", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
