"""Ctrl-C at any moment: the best so far, valid and with its own score, or KeyboardInterrupt before there is one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rfdag
from interrupting import Lines, problem_with
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
        ends.append(found)
    # Early on there is nothing to return; later there is.
    assert ends[0] is KeyboardInterrupt
