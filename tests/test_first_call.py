"""The first call: what is compiled, by which process, what is told about it, and what a later call still has to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from rfdag.runtime import compilation, second_process
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import thread_count

CODE = (
    "import rfdag, numpy as np\n"
    "from rfdag.orders.kernels import moves\n"
    "from rfdag.runtime.compilation import counting\n"
    "rows = np.random.default_rng(0).normal(size=(30, 4))\n"
    "with counting() as compiled:\n"
    "    rfdag.learn(rows)\n"
    "    rfdag.learn(rows)\n"
    "print(compiled(), sum(moves.refine.stats.cache_misses.values()))\n"
)


def test_kernels_are_compiled_once_and_this_is_told_once(tmp_path):
    """Two processes share the work of the first call; a second call, and a later process, compile nothing."""
    runs = []
    for _ in range(2):
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)
        runs.append((*map(int, done.stdout.split()), done.stderr))
    (compiled, here, told), later = runs
    assert 5 < compiled < 40
    assert here == (thread_count(None) == 1)
    assert told == compilation.MESSAGE + "\n"
    assert later == (0, 0, "")


@pytest.mark.parametrize(
    ("show", "told"), [(None, "Once.\n"), (False, ""), (lambda share: None, ""), (True, "Once.\n")]
)
def test_compiling_is_told_unless_silence_is_asked_for(show, told, capsys):
    with Progress(show) as bar:
        bar.compiling("Once.")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", told)


def test_the_label_mentions_compiling_while_it_lasts():
    bar = Progress(False)
    bar.compiling("Once.")
    assert bar._described() == "Compiling"
    bar.stage("Eliminating")
    assert bar._described() == "Compiling and eliminating"
    bar.compiled()
    assert bar._described() == "Eliminating"


# The second process


def kernel(folder, compiled=False):
    """As much of a numba dispatcher as decides about a second process."""
    return SimpleNamespace(
        signatures=[1] if compiled else [],
        stats=SimpleNamespace(cache_path=None if folder is None else str(folder)),
        py_func=test_kernels_are_compiled_once_and_this_is_told_once,
    )


@pytest.fixture
def started(monkeypatch):
    """Let second processes sleep, and return those that were started."""
    processes = []

    def start(module):
        processes.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.PIPE))
        return processes[-1]

    monkeypatch.setattr(second_process, "_started", start)
    monkeypatch.setattr(second_process, "thread_count", lambda jobs: 2)
    monkeypatch.setattr(second_process, "PATIENCE", 0.05)
    return processes


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, ValueError])
def test_a_second_process_never_outlives_the_block(started, tmp_path, error):
    begun = compilation.seconds_compiling()
    ends = pytest.raises(error) if error else nullcontext()
    with ends, second_process.compiling_beside("module", kernel(tmp_path / "new")):
        if error:
            raise error
    assert started[0].returncode == -signal.SIGKILL
    # The wait counts as compiling, so that it is not taken from a time limit.
    assert (compilation.seconds_compiling() - begun > 0.04) == (error is None)


def test_no_second_process_where_it_cannot_help(started, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for useless in (kernel(tmp_path, compiled=True), kernel(None), kernel(tmp_path / "file")):
        with second_process.compiling_beside("module", useless):
            pass
    monkeypatch.setattr(second_process, "thread_count", lambda jobs: 1)
    with second_process.compiling_beside("module", kernel(tmp_path)):
        pass
    monkeypatch.setattr(second_process, "thread_count", lambda jobs: 2)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with second_process.compiling_beside("module", kernel(tmp_path)):
        pass
    assert started == []


def test_without_an_interpreter_to_start_kernels_are_compiled_here(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    monkeypatch.setattr(second_process, "thread_count", lambda jobs: 2)
    compiled = []
    with second_process.compiling_beside("module", kernel(tmp_path)):
        compiled.append("here")
    assert compiled == ["here"]


def test_the_second_process_ends_with_the_first():
    code = "import time; from rfdag.runtime.second_process import end_with_parent; end_with_parent(); time.sleep(60)"
    begun = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        process.stdin.close()
        assert process.wait(timeout=30) == 1
    assert time.monotonic() - begun < 30
