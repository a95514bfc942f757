"""Questions about this installation, each answered on its own: a program that `rfdag doctor` runs.

    python -m rfdag.commands.probes QUESTION…

It prints one line of JSON for every question. A library may end the whole process when it is imported; the doctor then
sees which line is missing, and asks the remaining questions again.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from ast import literal_eval
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

Answer = dict[str, Any]

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
)
"""Variables of the environment that change threads and compilation."""
EDGES = {("cause", "middle"), ("other", "middle"), ("middle", "effect"), ("effect", "end")}
"""The graph that the self-test has to find; its directions follow from the data alone."""


def main() -> None:
    """Answer the questions that the program was called with."""
    # What libraries print must not get between the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for question in sys.argv[1:]:
            answers.write(json.dumps(answer(question), default=str) + "\n")
            answers.flush()


def answer(question: str) -> Answer:
    """Return the answer to a question: a key of `QUESTIONS`, or DISTRIBUTION=MODULE for a package.

    >>> answer("typer=typer")["problem"], answer("nothing=rfdag.nothing")["missing"]
    ('', True)
    """
    try:
        distribution, given, module = question.partition("=")
        return {"problem": "", **(package(distribution, module) if given else QUESTIONS[question]())}
    except Exception as problem:
        return {"problem": in_one_line(problem)}


def in_one_line(problem: BaseException) -> str:
    """Return an error in one line.

    >>> in_one_line(ImportError("libcuda.so.1 is missing"))
    'ImportError: libcuda.so.1 is missing'
    """
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def package(distribution: str, module: str) -> Answer:
    """Return a package's version after importing it, or that it is missing."""
    try:
        imported = import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name != module:
            raise
        return {"missing": True}
    try:
        return {"version": metadata.version(distribution)}
    except metadata.PackageNotFoundError:
        return {"version": str(getattr(imported, "__version__", "of unknown version"))}


def threads() -> Answer:
    """Return how many cores there are, how many may be used, and how many threads numerical libraries use."""
    import numba
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    from rfdag.runtime.threads import thread_count

    libraries = [
        {"name": pool["internal_api"], "version": pool["version"], "threads": pool["num_threads"]}
        for pool in threadpool_info()
    ]
    return {
        "cores": os.cpu_count(),
        "used": thread_count(None),
        "container": cores_of_container(),
        "numba": numba.config.NUMBA_NUM_THREADS,
        "libraries": libraries,
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def cores_of_container(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return how many cores' time a container allows, in both versions of cgroups; None if there is no limit."""
    with suppress(OSError, ValueError):
        quota, period = (root / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = ((root / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return None if int(quota) < 0 else int(quota) / int(period)
    return None


def memory() -> Answer:
    """Return the bytes of memory that are free; None where this is unknown."""
    import math

    from rfdag.runtime.memory import available_memory

    free = available_memory()
    return {"free": None if math.isinf(free) else int(free)}


def device() -> Answer:
    """Return which GPU there is."""
    from rfdag.errors import DeviceError, Message
    from rfdag.methods.settings import Running
    from rfdag.runtime import device

    try:
        device.require_device()
    except (DeviceError, ImportError) as problem:
        cause = problem.__cause__
        # CuPy that is there but cannot be imported says why; the advice to install it would mislead.
        if not (cause is None or isinstance(cause, ModuleNotFoundError)):
            return {"problem": in_one_line(cause)}
        declared = Running.declared()
        typed = Message(problem.args[0]).spelled(
            lambda name, code: f"--{declared[name].flag} {literal_eval(str(code))}"
        )
        return {"problem": typed}
    runtime = device.cupy().cuda.runtime
    return {
        "name": runtime.getDeviceProperties(0)["name"].decode(),
        "devices": runtime.getDeviceCount(),
        "free": device.free_memory(),
        "total": runtime.memGetInfo()[1],
        "driver": _dotted(runtime.driverGetVersion()),
        "runtime": _dotted(runtime.runtimeGetVersion()),
    }


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def kernels() -> Answer:
    """Return whether kernels are compiled, how many are cached on disk, and where."""
    from rfdag.commands.compiling import import_kernels
    from rfdag.runtime.compilation import COMPILED, INSTALLED, is_kept

    if not COMPILED:
        return {"compiled": False, "installed": INSTALLED}
    every = import_kernels()
    folders = {kernel.stats.cache_path for kernel in every} - {None}
    return {
        "compiled": True,
        "count": len(every),
        "kept": sum(map(is_kept, every)),
        "folders": sorted(folders),
        "writable": bool(folders) and all(map(_is_writable, folders)),
    }


def _is_writable(folder: str) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def self_test() -> Answer:
    """Learn a graph of five variables from rows, and compare it with the one they were drawn from."""
    import numpy as np

    from rfdag import learn

    noise = np.random.default_rng(1).normal(size=(500, 5))
    cause, other = noise[:, 0], noise[:, 1]
    middle = cause + other + noise[:, 2]
    effect = middle + noise[:, 3]
    rows = np.column_stack([effect + noise[:, 4], middle, cause, effect, other])
    start = time.perf_counter()
    found = learn(rows, names=["end", "middle", "cause", "effect", "other"], progress=False)
    seconds = time.perf_counter() - start
    edges = {(edge.source, edge.target) for edge in found.edges if edge.directed}
    if edges != EDGES or len(found.edges) != len(EDGES):
        wrong = ", ".join(f"{edge.source} {'→' if edge.directed else '–'} {edge.target}" for edge in found.edges)
        return {"problem": f"It found {wrong or 'no edge'} instead of {', '.join(map(' → '.join, sorted(EDGES)))}."}
    return {"seconds": seconds}


QUESTIONS: Mapping[str, Callable[[], Answer]] = {
    "threads": threads,
    "memory": memory,
    "device": device,
    "kernels": kernels,
    "self_test": self_test,
}

if __name__ == "__main__":
    main()
