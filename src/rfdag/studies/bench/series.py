"""The program that makes a series of calls on one data set after a single start of a peer's interpreter.

    python series.py CALLS.json ROWS.npy FOLDER

Some peers take seconds to be imported, and thousands of calls would each pay for it. Here every call is a process that
is forked after imports and a warm-up, with a time limit of its own. CALLS.json holds ``calls`` (pairs of a tuned
contender's name and a value), ``limit`` (seconds), ``stop_when_late`` and ``starter``, the process that waits for all
this and without which it ends. In the folder, call k leaves ``k.npz`` (graph and seconds), ``k.txt`` (its error
output) and at last ``k.status``: its exit status, or `LATE` or `NOT_RUN`.

Like `contenders`, this file is run as it stands inside a peer's environment.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import signal
import statistics
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LATE = "late"
NOT_RUN = "not run"

SHORT = 0.05
"""Seconds below which a call is repeated, since one so short cannot be timed well."""
REPEATS = 5
ENOUGH = 0.25
"""Seconds after which it is not repeated any more."""


def main() -> None:
    """Warm up, and make one call after the other."""
    orders, source, folder = sys.argv[1:]
    order = json.loads(Path(orders).read_text(encoding="utf-8"))
    rows = np.load(source)
    for name, value in dict(order["calls"]).items():
        # What is wrong with a contender is reported by its call.
        with contextlib.suppress(Exception):
            contenders.warm_up(contenders.TUNED[name].answer(value))
    (Path(folder) / "started").touch()
    late: set[str] = set()
    for number, (name, value) in enumerate(order["calls"]):
        if name in late and order["stop_when_late"]:
            status = NOT_RUN
        else:
            status = _made(name, value, rows, Path(folder) / str(number), order["limit"], order["starter"])
        if status == LATE:
            late.add(name)
        (Path(folder) / f"{number}.status").write_text(status, encoding="utf-8")


def group_file(folder: Path) -> Path:
    """Return the file that names the process group of the call in progress, to end it with the series."""
    return folder / "group"


def _made(name: str, value: float, rows: Floats, target: Path, limit: float, starter: int) -> str:
    """Make one call in a process of its own; return how it ended."""
    series = os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(_call(name, value, rows, target, series))
    try:
        return _awaited(child, limit, starter)
    finally:
        # Whatever the call has started ends with it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        group_file(target.parent).unlink(missing_ok=True)


def _call(name: str, value: float, rows: Floats, target: Path, series: int) -> int:
    """Answer, in the forked process; return its exit status."""
    os.setpgid(0, 0)
    group_file(target.parent).write_text(str(os.getpid()), encoding="utf-8")
    if os.getppid() != series:
        # The series was ended before it was known that there is something to end here.
        return 1
    with open(f"{target}.txt", "wb") as output:
        os.dup2(output.fileno(), 2)
    try:
        _answer(contenders.TUNED[name].answer(value), rows, target)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _answer(answer: Any, rows: Floats, target: Path) -> None:
    taken: list[float] = []
    while not taken or (max(taken) < SHORT and len(taken) < REPEATS and sum(taken) < ENOUGH):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        start = time.perf_counter()
        graph = answer(rows)
        taken.append(time.perf_counter() - start)
        # Already after the first time: the limit may end the process while it repeats.
        contenders.save(f"{target}.npz", graph, statistics.median(taken))


def _awaited(child: int, limit: float, starter: int) -> str:
    """Wait for a process; end it when its time is up, or when the process that waits for this series is gone."""
    deadline, pause = time.monotonic() + limit, 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        abandoned = os.getppid() != starter
        if abandoned or time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if abandoned:
                sys.exit(1)
            return LATE
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _neighbour(name: str) -> Any:
    """Import a file beside this one; its folder stays off the path, where it would hide modules of the peer."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"There is no {name}.py beside {__file__}.")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


try:
    from rfdag.studies.bench import contenders
except ImportError:
    # A peer's environment does not have this package.
    contenders = _neighbour("contenders")


if __name__ == "__main__":
    main()
