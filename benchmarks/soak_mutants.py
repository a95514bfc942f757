"""Change the code of kernels, rules, scores and graphs in many small ways, and count the changes that a test notices.

    python benchmarks/soak_mutants.py [--mutants 600] [--seed 1] [--budget 20] [--only orders.kernels] [--fresh]

First every test of TESTS runs once, on its own, with its kernels as plain Python (NUMBA_DISABLE_JIT=1), to learn which
lines it reaches; those that take longer than a few seconds so are left out, as are those that need the compiler. Then a
mutant after the other, drawn at random from all of them, is put in place of a function, and the tests that reach its
statement run until one fails. Tests are collected once, and each runs in a fork of that process.

What was found is kept in build/mutants, so that a run that is interrupted, or asked for more mutants, continues.
Tests that were changed run again, and with them the survivors that they reach. ``--survivors`` prints these and ends.

Writes benchmarks/results/soak_mutants.csv and its section of docs/reliability.md. Why survivors survive stands in
benchmarks/mutant_reasons.csv, by the name of the mutant.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from mutant_tables import NOTICED, write
from mutants import Mutant, function_of, modules_in, mutants_of, mutate
from report import ROOT
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress

SOURCE = ROOT / "src" / "rfdag"
MODULES = (
    "eliminate/kernels/*.py",
    "eliminate/engines/*.py",
    "eliminate/*.py",
    "orders/kernels/*.py",
    "orders/*score*.py",
    "orders/famil*.py",
    "orders/*reversals.py",
    "orders/parents.py",
    "graphs/*.py",
    "metrics.py",
)
"""What is changed; what needs a GPU is not."""
WITHOUT = ("gpu",)
TESTS = (
    "tests/properties/*.py",
    "tests/test_*_small.py",
    "tests/test_engines.py",
    "tests/test_sparse.py",
    "tests/test_block_elimination.py",
    "tests/test_by_tests.py",
    "tests/test_scores.py",
    "tests/test_candidates.py",
    "tests/test_family_scores.py",
    "tests/test_environment_scores.py",
    "tests/test_environments.py",
    "tests/test_blocks.py",
    "tests/test_gsp.py",
    "tests/test_icpdag.py",
    "tests/test_metrics.py",
    "tests/test_knowledge.py",
    "src/rfdag/eliminate",
    "src/rfdag/orders",
    "src/rfdag/graphs",
    "src/rfdag/metrics.py",
)
"""Tests of these files are asked, examples in docstrings included."""
EXAMPLES = 25
"""Examples of a property, unless the test says how many."""
LONGEST = 3.0
"""Seconds of one core above which a test is not asked."""
PATIENCE = 4
"""How many times longer than usual, and half a second more, a test may take with a mutant."""
MEMORY = 3 << 30
"""Bytes that a test may take beyond those of the process that it is forked from."""
FOLDER = ROOT / "build" / "mutants"


@dataclass
class Reach:
    """How long a test takes, and the lines of each module that it reaches."""

    seconds: float
    lines: dict[str, frozenset[int]]

    def meets(self, mutant: Mutant) -> bool:
        """Return whether it reaches the statement that a mutant changes."""
        return not self.lines.get(mutant.module, frozenset()).isdisjoint(mutant.lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the tests, and go on from there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests that a mutant has to survive")
    parser.add_argument("--only", default="", help="modules whose names contain this; nothing is written then")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    options = parser.parse_args(arguments)
    if options.fresh:
        shutil.rmtree(FOLDER, ignore_errors=True)
    if not options.survivors and os.environ.get("NUMBA_DISABLE_JIT") != "1":
        # Numba reads it when it is imported.
        os.environ.update(NUMBA_DISABLE_JIT="1", OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    chosen = drawn(options.seed, options.only)[: options.mutants]
    if options.survivors:
        verdicts = {entry["name"]: entry for entry in Journal(FOLDER / "mutants.jsonl")}
        for mutant in chosen:
            if verdicts.get(mutant.name, {}).get("verdict") not in (None, *NOTICED):
                print(f"{mutant.name}  {mutant.module}:{mutant.lines.start} {mutant.function}: {mutant.kind}")
                print(f"    {mutant.before}\n    {mutant.after}")
        return
    import pytest

    files = [str(path) for pattern in TESTS for path in sorted(ROOT.glob(pattern))]
    with tempfile.TemporaryDirectory() as folder:
        words = ["-q", "-s", "-p", "no:cacheprovider", f"--rootdir={ROOT}", f"--basetemp={folder}/tests", *files]
        pytest.main(words, plugins=[Asking(chosen, options.budget)])
    if not options.only:
        verdicts = {entry["name"]: entry for entry in Journal(FOLDER / "mutants.jsonl")}
        about = f"Seed {options.seed}; each mutant had to survive {options.budget:g} seconds of tests. The survivors:"
        write([(mutant, verdicts[mutant.name]) for mutant in chosen if mutant.name in verdicts], about)


def drawn(seed: int, only: str = "") -> list[Mutant]:
    """Return all mutants in an order drawn at random, in which none moves if others come or go."""
    found = []
    for name, path in modules_in(SOURCE, MODULES, WITHOUT).items():
        found += [mutant for mutant in mutants_of(name, path) if only in name]
    return sorted(found, key=lambda mutant: digest(f"{seed} {mutant.name}".encode()))


def digest(content: bytes) -> str:
    """Return a short name of a content."""
    return hashlib.sha256(content).hexdigest()[:16]


class Asking:
    """A plugin of pytest that runs tests with mutants in place of running them."""

    def __init__(self, mutants: Sequence[Mutant], budget: float) -> None:
        self.mutants = mutants
        self.budget = budget

    def pytest_collection(self) -> None:
        """Make properties quick before they are imported."""
        from hypothesis import Phase, settings

        settings.register_profile(
            "mutants", settings.get_profile("rfdag"), max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: Any) -> bool:
        """Learn what tests reach, and ask them about the mutants."""
        for name in modules_in(SOURCE, MODULES, WITHOUT):
            import_module(name)
        session.config._tmp_path_factory.getbasetemp()
        gc.freeze()
        with Progress() as progress:
            reaches = reached(session.items, progress.stage("What tests reach"))
            items = {item.nodeid: item for item in session.items}
            ask(self.mutants, items, reaches, self.budget, progress.stage("Mutants"))
        return True


def reached(items: Sequence[Any], report: Callable[[float], None]) -> dict[str, Reach]:
    """Return what each test reaches that passes, in time, with its kernels as plain Python."""
    paths = modules_in(SOURCE, MODULES, WITHOUT)
    modules = {str(path): name for name, path in paths.items()}
    versions = {name: digest(path.read_bytes()) for name, path in paths.items()}
    journal = Journal(FOLDER / "tests.jsonl")
    known = {entry["test"]: entry for entry in journal}
    found: dict[str, Reach] = {}
    for number, item in enumerate(items):
        report(number / len(items))
        version = digest(Path(item.path).read_bytes())
        entry = known.get(item.nodeid, {"version": None, "reaches": {}})
        changed = any(versions.get(name) != each["version"] for name, each in entry["reaches"].items())
        if entry["version"] != version or changed:
            traced = in_fork(functools.partial(trace, item, modules), LONGEST)
            entry = {"test": item.nodeid, "version": version, "passes": False, "seconds": 0.0, "reaches": {}}
            if traced is not None and traced["passes"]:
                entry |= {"passes": True, "seconds": traced["seconds"]}
                entry["reaches"] = {
                    name: {"version": versions[name], "lines": lines} for name, lines in traced["lines"].items()
                }
            journal.write(entry)
        if entry["passes"] and entry["reaches"]:
            lines = {name: frozenset(each["lines"]) for name, each in entry["reaches"].items()}
            found[item.nodeid] = Reach(entry["seconds"], lines)
    return found


def trace(item: Any, modules: dict[str, str]) -> dict[str, Any]:
    """Run a test; return whether it passes, the seconds, and the lines of some files that it reaches."""
    lines: dict[str, set[int]] = defaultdict(set)

    def local(frame: FrameType, event: str, _: object) -> Any:
        lines[modules[frame.f_code.co_filename]].add(frame.f_lineno)
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        return local if frame.f_code.co_filename in modules else None

    begun = time.process_time()
    threading.settrace(called)
    sys.settrace(called)
    passes = run(item)
    sys.settrace(None)
    seconds = round(time.process_time() - begun, 3)
    return {"passes": passes, "seconds": seconds, "lines": {name: sorted(some) for name, some in lines.items()}}


def run(item: Any) -> bool:
    """Run a test; return whether it passes. A test that is skipped does not."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=None)
    return all(report.passed for report in reports)


def ask(
    mutants: Sequence[Mutant],
    items: dict[str, Any],
    reaches: dict[str, Reach],
    budget: float,
    report: Callable[[float], None],
) -> None:
    """Ask the tests about each mutant that is not known to be noticed by tests as they are."""
    journal = Journal(FOLDER / "mutants.jsonl")
    known = {entry["name"]: entry for entry in journal}
    kills: Counter[tuple[str, str]] = Counter()
    counts: Counter[str] = Counter()
    versions = {test: digest(f"{test} {digest(Path(items[test].path).read_bytes())}".encode())[:8] for test in reaches}
    for number, mutant in enumerate(mutants):
        report(number / len(mutants))
        reaching = [test for test, reach in reaches.items() if reach.meets(mutant)]
        version = digest("".join([*sorted(versions[test] for test in reaching), str(budget)]).encode())
        entry = known.get(mutant.name)
        if entry is None or (entry["verdict"] not in NOTICED and entry["version"] != version):
            begun = time.monotonic()
            survived = set(entry["survived"]) if entry else set()
            waiting = [test for test in reaching if versions[test] not in survived]
            waiting.sort(key=lambda test: (-kills[mutant.module, test], reaches[test].seconds))
            verdict, asked = judged(mutant, [(items[test], reaches[test].seconds) for test in waiting], budget)
            if not reaching:
                verdict = "not reached"
            noticed = verdict in NOTICED
            entry = {
                "name": mutant.name,
                "verdict": verdict,
                "by": asked[-1] if noticed else "",
                "version": version,
                "survived": [] if noticed else sorted(survived.union(versions[test] for test in asked)),
                "seconds": round(time.monotonic() - begun, 2),
            }
            journal.write(entry)
        kills[mutant.module, entry["by"]] += 1
        counts[entry["verdict"]] += 1
        if number % 20 == 19:
            print(number + 1, dict(counts), flush=True)


def judged(mutant: Mutant, tests: Sequence[tuple[Any, float]], budget: float) -> tuple[str, list[str]]:
    """Return what became of a mutant, and the tests that were asked; the last of them is the one that noticed it."""
    module = sys.modules[mutant.module]
    function_of(module, mutant.function)

    def all_tests() -> Iterator[str]:
        mutate(mutant, module)
        spent = 0.0
        for item, seconds in tests:
            if spent > budget:
                break
            signal.setitimer(signal.ITIMER_PROF, PATIENCE * (seconds + 0.5))
            yield item.nodeid
            if not run(item):
                yield "killed"
                return
            spent += seconds
        yield "survived"

    *asked, last = lines_from_fork(all_tests, PATIENCE * (LONGEST + 0.5))
    if last in ("killed", "survived"):
        return last, asked
    # A test that neither passed nor failed was ended: it took too long, or too much memory.
    return "too long", [*asked, last]


def in_fork(work: Callable[[], Any], seconds: float) -> Any:
    """Return what a function returns in another process, or None if that takes more seconds of one core."""
    return next(iter(list(lines_from_fork(lambda: iter([work()]), seconds))), None)


def lines_from_fork(work: Callable[[], Iterator[Any]], seconds: float) -> Iterator[Any]:
    """Yield what a function yields in a fork of this process, as far as it gets in so many seconds of one core."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(ours)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            with open("/proc/self/statm", encoding="ascii") as handle:
                size = int(handle.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
            # A core's time, so that a busy machine ends nothing early; and a clock for tests that wait for ever.
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.alarm(600)
            with open(theirs, "w", encoding="utf-8") as handle:
                for answer in work():
                    handle.write(json.dumps(answer) + "\n")
                    handle.flush()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(theirs)
    with open(ours, encoding="utf-8") as handle:
        for line in handle:
            yield json.loads(line)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
