"""Ctrl-C at any moment: the best so far, valid and with its own score, or KeyboardInterrupt before there is one."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import rfdag
from interrupting import Lines, problem_with
from rfdag.errors import NumericalWarning
from rfdag.evidence import em
from rfdag.evidence import kendall as kendall_
from rfdag.evidence.em import em_moments
from rfdag.evidence.kendall import kendall
from rfdag.evidence.local import SharedMoments
from rfdag.methods import soft
from rfdag.orders import branching, exact
from rfdag.runtime.threads import require_wanted, share
from rfdag.simulate import draw_targets, interventions, linear_sem, random_dag, sample

TIMES = 25
"""Interrupts of each call, spread over all of its lines."""


def rows(p, n=60, degree=3):
    generator = np.random.default_rng([p, n])
    return sample(linear_sem(random_dag(p, degree=degree, rng=generator), generator), n, generator)


def environments():
    generator = np.random.default_rng(5)
    sem = linear_sem(random_dag(6, degree=2, rng=generator), generator)
    drawn = interventions(sem, 60, draw_targets(6, 2, 1, generator), 60, rng=generator)
    return {"data": drawn.values, "environments": list(drawn.labels), "targets": "unknown"}


def categories():
    values = rows(6)
    return np.column_stack([values[:, :4], values[:, 4:] > 0])


CALLS = {
    "soft": lambda: rfdag.learn(rows(8), exact=False, restarts=3),
    "narrow": lambda: rfdag.learn(rows(8), exact=False, restarts=3, rescoring="lazy", beam=2),
    "path": lambda: rfdag.learn(rows(7), penalty=[1.0, 4.0], exact=False, restarts=2),
    "all sets": lambda: rfdag.learn(rows(7)),
    "rfd": lambda: rfdag.learn(rows(8), "rfd", refine=True, restarts=2),
    "gsp": lambda: rfdag.learn(rows(6), "gsp", runs=2),
    "clusters": lambda: rfdag.learn(rows(40, 30, degree=1), clusters=True, restarts=2),
    "blocks": lambda: rfdag.learn(rows(12, degree=1), blocks=True),
    "categories": lambda: rfdag.learn(categories(), categorical=[4, 5], restarts=2),
    "curves": lambda: rfdag.learn(rows(6), basis="auto", restarts=2),
    "environments": lambda: rfdag.learn(**environments(), restarts=2),
    "hsic": lambda: rfdag.learn(rows(4, 30), test="hsic"),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_between_any_two_lines_leaves_a_whole_result(name):
    def call():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return CALLS[name]()

    counting = Lines()
    whole = counting.run(call)
    assert problem_with(whole) == ""
    assert not whole.interrupted
    ends = []
    for stop in np.linspace(1, counting.count, TIMES, dtype=int):
        lines = Lines(int(stop))
        found = lines.run(call)
        assert problem_with(found) == "", lines.where
        # The best DAG of all is that whatever was still to be compared with it.
        # A run may take fewer lines than the one before, which has filled some caches.
        if lines.where and found is not KeyboardInterrupt and name != "all sets":
            assert found.interrupted, lines.where
        ends.append(found)
    # Early on there is nothing to return.
    assert ends[0] is KeyboardInterrupt


def test_an_interrupt_while_the_elimination_is_recorded_keeps_the_order(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    whole = CALLS["soft"]()
    monkeypatch.setattr(soft, "replay", interrupted)
    with pytest.warns(NumericalWarning, match="interrupted"):
        found = CALLS["soft"]()
    assert found.interrupted
    assert problem_with(found) == ""
    monkeypatch.undo()
    # The trace is recorded when it is asked for.
    assert sorted(found.trace.node.tolist()) == sorted(whole.trace.node.tolist())


# Shared work


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("failing", [0, 1])
def test_the_work_of_the_others_ends_with_that_of_one(problem, failing):
    finished = []

    def work(first, step):
        if first == failing:
            raise problem
        for _ in range(3000):
            require_wanted()
            time.sleep(0.001)
        finished.append(first)

    with pytest.raises(problem):
        share(work, 3)
    assert not finished
    # The pool is as good as new.
    assert share(lambda first, step: first, 3) == [0, 1, 2]


WAITS_FOR_OTHERS = """
import signal, sys, threading, time
from rfdag.runtime.threads import require_wanted, share

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.siginterrupt(signal.SIGINT, sys.argv[1] == "breaks off")
finished, begun = [], threading.Event()


def work(first, step):
    if first == 0:
        threading.Thread(target=interrupt).start()
        return
    begun.set()
    for _ in range(3000):
        require_wanted()
        time.sleep(0.001)
    finished.append(first)


def interrupt():
    begun.wait()
    # As Ctrl-C does, and not to this thread: the one that waits has to wake up.
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


try:
    share(work, 2)
except KeyboardInterrupt:
    print("interrupted", finished)
"""


@pytest.mark.parametrize("waits", ["breaks off", "goes on"])
def test_an_interrupt_while_others_work_ends_them(waits):
    """Also where the system goes on with waits that a signal breaks off, as libraries of other tests may have it."""
    done = subprocess.run([sys.executable, "-c", WAITS_FOR_OTHERS, waits], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted []\n"


def test_shared_work_within_shared_work_ends_on_its_own():
    def outer(first, step):
        inner = share(lambda first, step: first, 1)
        require_wanted()
        return first, inner

    assert share(outer, 2) == [(0, [0]), (1, [0])]


# Kernels that return to Python


def test_work_in_small_pieces_comes_to_the_same(monkeypatch):
    values = rows(7)
    gappy = np.where(np.random.default_rng(0).random(values.shape) < 0.2, np.nan, values)
    problem = exact.Problem(SharedMoments(np.corrcoef(values.T), len(values)))
    checks = []

    def answers():
        families, steps = branching.families_of(problem, 2, 1e6, lambda: checks.append(1))
        solution = exact.best_dag(problem, report=checks.append)
        return [*families, steps, solution.order, solution.dag, kendall(values), em_moments(gappy).covariance]

    whole, count = answers(), len(checks)
    monkeypatch.setattr(branching, "STEPS_AT_ONCE", 10)
    monkeypatch.setattr(exact, "FAMILIES_AT_ONCE", 3)
    monkeypatch.setattr(kendall_, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(em, "STEPS_AT_ONCE", 50.0)
    for one, other in zip(whole, answers(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert len(checks) - count > 2 * count
