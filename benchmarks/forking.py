"""Threads, forks and pools of others around rfdag, over and over: nothing may wait for ever; see soak_load.py."""

from __future__ import annotations

import importlib.util
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rfdag

TIMES = 200
"""Repetitions of each kind, at most."""
PATIENCE = 120.0
"""Seconds after which something waits for ever."""
AT_ONCE = 4
"""Calls of one repetition, by threads or processes side by side."""

UNDER_XDIST = """
import numpy as np, pytest, rfdag

@pytest.mark.parametrize("number", range(TIMES))
def test_it(number):
    rows = np.random.default_rng(7).normal(size=(200, 12))
    rows[:, 3] += rows[:, 1]
    assert len(rfdag.learn(rows, n_jobs=2, exact=False, progress=False).order) == 12
"""


def answer(number: int = 0) -> Any:
    """Return the order and score of a search by two threads."""
    rows = np.random.default_rng(7).normal(size=(200, 12))
    rows[:, 3] += rows[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rfdag.learn(rows, n_jobs=2, exact=False, progress=False)
    return found.order, round(found.score or 0.0, 6)


def measured(times: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Return for each kind of pool how often something was stuck or different."""
    found = {}
    for at, (name, kind) in enumerate(KINDS.items()):
        wrong = kind(times, partial(_reached, report, at))
        found[f"{times} × {name}: stuck or different"] = wrong
    return found


def _reached(report: Callable[[float], None], at: int, share: float) -> None:
    report((at + share) / len(KINDS))


def with_context(start: str) -> Callable[[int, Callable[[float], None]], int]:
    """Return what starts a process, learns in it and here at the same time, and waits for it."""

    def run(times: int, report: Callable[[float], None]) -> int:
        context: Any = multiprocessing.get_context(start)
        if start == "forkserver":
            context.set_forkserver_preload(["rfdag", __name__])
        expected, wrong = answer(), 0
        for number in range(times):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=_send, args=(theirs,))
            child.start()
            theirs.close()
            same = answer() == expected
            arrived = ours.poll(PATIENCE)
            wrong += not (same and arrived and ours.recv() == expected)
            child.join(PATIENCE)
            if child.is_alive():
                wrong += 1
                child.kill()
            report(number / times)
        return wrong

    return run


def _send(pipe: Any) -> None:
    pipe.send(answer())


def with_joblib(backend: str) -> Callable[[int, Callable[[float], None]], int]:
    """Return what learns in workers of joblib, which start anew now and then."""

    def run(times: int, report: Callable[[float], None]) -> int:
        from joblib import Parallel, delayed
        from joblib.externals.loky import get_reusable_executor

        expected, wrong = [answer()] * AT_ONCE, 0
        for number in range(times):
            found: list[Any] = []

            def work(found: list[Any] = found) -> None:
                found += Parallel(n_jobs=2, backend=backend)(delayed(answer)(at) for at in range(AT_ONCE))

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            thread.join(PATIENCE)
            wrong += thread.is_alive() or found != expected
            if backend == "loky" and number % 10 == 0:
                get_reusable_executor().shutdown(wait=True)
            report(number / times)
        return wrong

    return run


def with_threads(times: int, report: Callable[[float], None]) -> int:
    """Learn in threads that are started anew each time."""
    expected, wrong = [answer()] * AT_ONCE, 0
    for number in range(times):
        found: list[Any] = []
        threads = [
            threading.Thread(target=lambda found=found: found.append(answer()), daemon=True) for _ in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        wrong += any(thread.is_alive() for thread in threads) or found != expected
        report(number / times)
    return wrong


def with_bootstrap(times: int, report: Callable[[float], None]) -> int:
    """Run bootstraps by two processes, after threads have been used here."""
    rows = np.random.default_rng(7).normal(size=(100, 6))
    wrong, expected = 0, rfdag.bootstrap(rows, 4, n_jobs=1, progress=False).directed.tolist()
    for number in range(times):
        answer()
        wrong += rfdag.bootstrap(rows, 4, n_jobs=2, progress=False).directed.tolist() != expected
        report(number / times)
    return wrong


def with_xdist(times: int, report: Callable[[float], None]) -> int | str:
    """Learn in tests that pytest-xdist hands out to four processes."""
    if importlib.util.find_spec("xdist") is None:
        return "pytest-xdist is not installed"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_it.py").write_text(UNDER_XDIST.replace("TIMES", str(times)), encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-q", "-n", "4", "-p", "no:cacheprovider", "test_it.py"]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
        except subprocess.TimeoutExpired:
            return times
    report(1.0)
    return 0 if f"{times} passed" in done.stdout else f"{done.stdout.splitlines()[-1:]}"


KINDS: dict[str, Callable[[int, Callable[[float], None]], Any]] = {
    "threads": with_threads,
    "fork": with_context("fork"),
    "forkserver": with_context("forkserver"),
    "spawn": with_context("spawn"),
    "joblib, threads": with_joblib("threading"),
    "joblib, loky": with_joblib("loky"),
    "joblib, multiprocessing": with_joblib("multiprocessing"),
    "bootstrap by processes": with_bootstrap,
    "pytest-xdist": with_xdist,
}
"""What uses rfdag, by name."""
