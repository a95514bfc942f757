"""Restarts of the search: how orders are disturbed, when they end, and where their numbers come from."""

from __future__ import annotations

import ast
import inspect
import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

import rfdag
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.knowledge import Knowledge
from rfdag.orders import costs, restarts, tuning
from rfdag.orders.kernels import fits, moves
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime import compilation
from rfdag.runtime.deadline import Deadline


def small_correlation():
    """Four variables whose best DAG is beyond one reversal from the one that beams find."""
    correlation = np.eye(4)
    correlation[np.triu_indices(4, 1)] = [0.57, -0.66, -0.29, -0.52, 0.48, 0.22]
    return correlation + np.triu(correlation, 1).T


def scored(p, n=100, seed=4, constraints=None):
    generator = np.random.default_rng([seed, p])
    rows = generator.normal(size=(n, p)) @ generator.normal(size=(p, p))
    order = np.arange(p) if constraints is None else constraints.arrange(np.arange(p))
    return ScoredOrder(SharedMoments(Moments.from_data(rows).correlation, n), order, constraints=constraints)


def test_restarts_over_few_variables_find_the_best_dag():
    options = {"input": "correlation", "n_samples": 50}
    best = rfdag.learn(small_correlation(), method="sp", **options)
    assert best.score == pytest.approx(-86.92, abs=0.01)
    found = rfdag.learn(small_correlation(), restarts=200, **options)
    assert found.score == pytest.approx(best.score, abs=1e-6)


def test_a_restart_over_few_variables_may_begin_from_any_order(monkeypatch):
    begun = set()
    monkeypatch.setattr(restarts, "descend", lambda trial, *_, **__: begun.add(tuple(trial.order.tolist())))
    start = scored(4)
    start.settled = True
    restarts.iterate(start, np.random.default_rng(5), 400)
    assert len(begun) == 24


def test_a_restart_over_few_variables_obeys_constraints(monkeypatch):
    constraints = Knowledge(tiers=[[3, 4], [0, 1, 2]], required=[(4, 3)]).constraints(range(5))
    begun = set()
    monkeypatch.setattr(restarts, "descend", lambda trial, *_, **__: begun.add(tuple(trial.order.tolist())))
    restarts.iterate(scored(5, constraints=constraints), np.random.default_rng(5), 400)
    assert {order[:2] for order in begun} == {(4, 3)}
    assert len(begun) > 3


@pytest.mark.parametrize("rounding", [-1e-12, 1e-12])
def test_of_restarts_that_reach_one_score_the_first_is_kept(rounding, monkeypatch):
    """Which of them has the least score is a matter of the processor."""
    monkeypatch.setattr(restarts._Restarts, "_offer", lambda self, scored: None)
    begin, worse, first, second = (
        SimpleNamespace(total=total, order=np.arange(9), operations=1, own_operations=1)
        for total in (0.0, -3.0, -5.0, -5.0 + rounding)
    )
    progress = restarts._Restarts(begin, 3, Deadline(), None, None, 1, 1)
    progress.take([worse, first, second], 3, np.random.default_rng(1))
    assert progress.best is first


@pytest.mark.parametrize(("p", "counts"), [(8, {1, 2}), (31, {1, 2, 4}), (200, {1, 2, 4, 8, 16, 32})])
def test_a_restart_over_more_variables_reverses_edges(p, counts, monkeypatch):
    reversed_now = []
    found = set()
    monkeypatch.setattr(ScoredOrder, "reverse_edge", lambda self, generator: reversed_now.append(1))

    def descended(trial, *_, **__):
        found.add(len(reversed_now))
        reversed_now.clear()

    monkeypatch.setattr(restarts, "descend", descended)
    start = scored(p, n=2 * p)
    for generator in np.random.default_rng(6).spawn(60):
        restarts._Restarts.restart(start, Deadline(), generator)
    assert found == counts


def test_restarts_end_after_enough_in_vain(monkeypatch):
    """As many as the work that led there allows, at most fifty; none where each takes longer than all of that."""
    monkeypatch.setattr(restarts, "descend", lambda *_, **__: 0)
    made = []
    reverse = restarts._Restarts.restart

    def restart(*args):
        made.append(args)
        return reverse(*args)

    monkeypatch.setattr(restarts._Restarts, "restart", staticmethod(restart))
    sparse = ScoredOrder(SharedMoments(np.eye(10), 100), np.arange(10))
    restarts.iterate(sparse, np.random.default_rng(7), "auto")
    assert len(made) == tuning.MOST_FRUITLESS_RESTARTS
    made.clear()
    monkeypatch.setattr(tuning, "LEAST_RESTART_OPERATIONS", 0)
    monkeypatch.setattr(tuning, "RESTART_SHARE", 0.5)
    restarts.iterate(sparse, np.random.default_rng(7), "auto")
    assert not made


def test_restarts_stop_by_operations(monkeypatch):
    """More of them where more operations were spent before, and the same number however many threads there are."""
    monkeypatch.setattr(tuning, "LEAST_RESTART_OPERATIONS", 0)
    monkeypatch.setattr(tuning, "MOST_FRUITLESS_RESTARTS", 1000)
    made = []
    reverse = restarts._Restarts.restart

    def restart(*args):
        made.append(args)
        return reverse(*args)

    monkeypatch.setattr(restarts._Restarts, "restart", staticmethod(restart))
    counts = []
    for times, threads in ((1, 1), (8, 1), (8, 2)):
        made.clear()
        start = scored(20, n=400)
        descend(start, np.random.default_rng(8))
        restarts.iterate(start, np.random.default_rng(7), "auto", threads=threads, operations=times * start.operations)
        counts.append(len(made))
    assert counts[0] < counts[1] == counts[2]


@pytest.mark.parametrize("module", [tuning, costs])
def test_every_tuned_number_says_where_it_comes_from(module):
    tree = ast.parse(inspect.getsource(module)).body
    numbers = [at for at, node in enumerate(tree) if isinstance(node, ast.Assign)]
    assert len(numbers) > 20
    for at in numbers:
        (name,) = (target.id for target in tree[at].targets)
        assert name.isupper()
        origin = r"[Nn]ot recorded|Chosen|Measured|Derived|Counted|the choice of"
        assert re.search(origin, tree[at + 1].value.value), name


def test_kernels_are_compiled_again_when_a_tuned_number_has_changed(tmp_path):
    """The numbers are compiled in, and numba compares the time of the kernel's own file alone."""
    function = getattr(moves.refine, "py_func", moves.refine)
    kernel = SimpleNamespace(py_func=function, stats=SimpleNamespace(cache_path=str(tmp_path)))
    kept = tmp_path / f"moves.{function.__qualname__}-1.py311.nbi"
    kept.touch()
    newest = max(os.stat(inspect.getfile(module)).st_mtime for module in (fits, moves, tuning))
    os.utime(kept, (newest + 1.0,) * 2)
    assert compilation.is_kept(kernel)
    for module in (moves, tuning):
        os.utime(kept, (os.stat(inspect.getfile(module)).st_mtime - 1.0,) * 2)
        assert not compilation.is_kept(kernel)
