"""The pipeline as a whole: determinism, threads, progress, first-run compilation, import time."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import rfdag
from rfdag.errors import NumericalError
from rfdag.orders.reinsertion import descend
from rfdag.runtime import compilation
from rfdag.simulate import linear_sem, random_dag, sample


@pytest.fixture(scope="module")
def rows():
    return sample(linear_sem(random_dag(60, degree=6, rng=1), rng=1), 400, rng=1)


@pytest.mark.parametrize(
    "options", [{}, {"pairs": "neighbours", "method": "rfd"}, {"method": "max-remove"}, {"method": "rfd", "depth": 2}]
)
def test_equal_input_gives_equal_output_on_any_number_of_threads(rows, options):
    first = rfdag.learn(rows, n_jobs=1, **options)
    for n_jobs in (1, 2, 5, None):
        again = rfdag.learn(rows, n_jobs=n_jobs, **options)
        assert again.order == first.order
        assert list(again.trace) == list(first.trace)
        assert again.score == first.score
        np.testing.assert_array_equal(again.dag, first.dag)


def test_longer_searches_are_never_worse(rows):
    plain = rfdag.learn(rows, refine=False, beam=2, gamma=0.0)
    refined = rfdag.learn(rows, beam=2, restarts=0, gamma=0.0)
    iterated = rfdag.learn(rows, beam=2, restarts=5, gamma=0.0)
    assert iterated.score <= refined.score <= plain.score
    assert {attempt.width for attempt in refined.attempts} == {2}
    assert rfdag.learn(rows, beam=2, restarts=5, gamma=0.0).order == iterated.order
    assert rfdag.learn(rows, beam=2, gamma=0.0).score <= refined.score


def test_any_rule_can_be_refined_and_any_order_scored(rows):
    hard = rfdag.learn(rows, method="rfd")
    assert hard.score is None
    scored = rfdag.learn(rows, method="rfd", parents="bic")
    assert scored.order == hard.order
    refined = rfdag.learn(rows, method="rfd", refine=True)
    assert refined.score < scored.score
    threshold = rfdag.learn(rows, parents="threshold", refine=False)
    assert threshold.score is None
    np.testing.assert_array_equal(threshold.dag.sum(axis=0)[threshold.trace.node], threshold.trace.degree)


def test_an_interrupt_returns_the_best_so_far(rows, monkeypatch):
    from rfdag.eliminate.beams.soft import SoftBeam

    calls = []
    search = SoftBeam.search

    def interrupted(beam, report):
        calls.append(beam)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return search(beam, report)

    monkeypatch.setattr(SoftBeam, "search", interrupted)
    with pytest.warns(rfdag.errors.NumericalWarning, match="interrupted"):
        found = rfdag.learn(rows)
    assert len(calls) >= 3
    assert sorted(found.order) == list(range(60))
    assert "interrupted" in found.warnings[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_restart_keeps_the_best_order(rows, threads, monkeypatch):
    from rfdag.orders import restarts

    descended = []

    def interrupted(scored, generator, deadline, **options):
        descended.append(scored)
        if len(descended) == 6:
            raise KeyboardInterrupt
        return descend(scored, generator, deadline, **options)

    monkeypatch.setattr(restarts, "descend", interrupted)
    with pytest.warns(rfdag.errors.NumericalWarning, match="interrupted"):
        found = rfdag.learn(rows, restarts=40, n_jobs=threads, gamma=0.0)
    monkeypatch.undo()
    assert len(descended) < 40
    assert found.score <= rfdag.learn(rows, restarts=0, gamma=0.0).score


class Circling:
    """An order whose score rounding moves up and down, as nearly dependent columns make it."""

    def __init__(self, totals):
        self.order, self.stale, self.settled = np.arange(3), np.arange(3), False
        self._totals, self.sweeps = totals, 0

    @property
    def total(self):
        return self._totals[min(self.sweeps, len(self._totals) - 1)] + 1e-7 * (self.sweeps % 2)

    def reinsert_stale(self, variables):
        self.sweeps += 1
        return 1


@pytest.mark.parametrize(("totals", "sweeps"), [([0.0, -1000.0], 2), ([0.0, -1000.0, -1000.1, -1000.2], 4)])
def test_a_descent_does_not_follow_rounding_for_ever(totals, sweeps):
    """It goes on while the score truly falls, and no longer."""
    circling = Circling(totals)
    assert descend(circling, np.random.default_rng(0)) == sweeps
    assert circling.settled


def test_an_interrupted_first_descent_keeps_the_beams(rows, monkeypatch):
    from rfdag.orders import beam_task, portfolio

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(portfolio, "descend", interrupted)
    for options in ({}, {"parents": "threshold", "refine": False}):
        if options:
            monkeypatch.setattr(beam_task, "ScoredOrder", _interrupted_later(beam_task.ScoredOrder))
        with pytest.warns(rfdag.errors.NumericalWarning, match="interrupted"):
            found = rfdag.learn(rows, **options)
        assert sorted(found.order) == list(range(60))


def _interrupted_later(scored):
    calls = []

    def counted(*args, **options):
        calls.append(args)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return scored(*args, **options)

    return counted


def test_exhausted_variances_are_reported():
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(300, 4))
    rows[:, 3] = rows[:, 0] + 3e-7 * rows[:, 3]
    with (
        pytest.warns(rfdag.errors.NumericalWarning, match="explain all of the variance, up to rounding"),
        pytest.warns(rfdag.errors.NumericalWarning, match="by rounding, the BIC may be off by about 1"),
        pytest.warns(rfdag.errors.DataWarning, match="'d' is nearly a copy of 'a'"),
    ):
        found = rfdag.learn(rows, names=list("abcd"))
    assert "'a'" in found.warnings[0] or "'d'" in found.warnings[0]


def test_exact_input_takes_the_paper_rule():
    dag = random_dag(12, 0.4, rng=3)
    soft = rfdag.learn(dag, input="dag", refine=False)
    hard = rfdag.learn(dag, input="dag", method="rfd")
    assert soft.order == hard.order
    assert soft.score is None


def test_random_state(rows):
    orders = {seed: rfdag.learn(rows, method="random", random_state=seed).order for seed in (0, 1, 2)}
    assert len(set(orders.values())) == 3
    assert rfdag.learn(rows, method="random").order == orders[0]
    assert rfdag.learn(rows, method="random", random_state=2).order == orders[2]


def test_progress_can_be_listened_to(rows):
    shares = []
    rfdag.learn(rows, method="rfd", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) == 60


def test_timings_cover_the_run(rows):
    timings = rfdag.learn(rows).timings
    assert set(timings) == {"moments", "precision", "elimination", "refinement"}
    assert all(seconds > 0 for seconds in timings.values())


def test_rounding_that_cannot_be_mended_names_the_columns(rows, monkeypatch):
    from rfdag.eliminate import LostPrecision
    from rfdag.eliminate.engines.dense import DenseEngine

    def lose(*args):
        raise LostPrecision(1, 3)

    monkeypatch.setattr(DenseEngine, "_marginalise", lose)
    with pytest.raises(NumericalError, match="'b' and 'd' became deterministic"):
        rfdag.learn(rows[:, :5], names=list("abcde"))


def test_ill_conditioned_exact_input_warns():
    sem = linear_sem(random_dag(120, 0.5, rng=1), rng=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = rfdag.learn(sem.precision(), input="precision")
    assert "precision matrix is ill-conditioned" in found.warnings[0]
    assert [str(warning.message) for warning in caught] == list(found.warnings)


def test_near_decisions_are_reported(rows):
    """A threshold put on top of a partial correlation leaves the edge to rounding."""
    from scipy.special import ndtr

    K = rfdag.Moments.from_data(rows[:, :6]).partial_correlations()
    alpha = 2 * (1 - ndtr(np.arctanh(abs(K[0, 1])) * np.sqrt(400 - 6 - 1)))
    with pytest.warns(rfdag.errors.NumericalWarning, match="of its threshold"):
        found = rfdag.learn(rows[:, :6], method="rfd", alpha=alpha)
    assert found.trace.smallest_margin < 1e-10


def test_margin_is_the_least_distance_to_a_threshold(rows):
    found = rfdag.learn(rows[:, :6])
    left, margins = list(range(6)), []
    moments = rfdag.Moments.from_data(rows[:, :6])
    for step in found.trace:
        K = np.abs(moments.partial_correlations(left))[np.triu_indices(len(left), 1)]
        margins += np.abs(K - step.threshold).tolist()
        left.remove(step.node)
    assert found.trace.smallest_margin == pytest.approx(min(margins), rel=1e-6)


class Kernel:
    """As much of a numba dispatcher as the announcement looks at."""

    def __init__(self, folder, compiled=False):
        self.signatures = [1] if compiled else []
        self.stats = type("stats", (), {"cache_path": str(folder)})
        self.py_func = compilation.announce


def test_compilation_is_announced_when_nothing_is_cached(tmp_path, caplog):
    said = []
    with caplog.at_level(logging.INFO, "rfdag"):
        assert compilation.announce([Kernel(tmp_path, compiled=True), Kernel(tmp_path)], said.append)
    assert said == [compilation.MESSAGE]
    assert compilation.MESSAGE in caplog.text
    assert not compilation.announce([Kernel(tmp_path, compiled=True)], said.append)
    (tmp_path / "compilation.announce-17.py311.nbi").touch()
    assert not compilation.announce([Kernel(tmp_path)], said.append)
    assert len(said) == 1


def test_what_an_earlier_source_left_on_disk_is_removed(tmp_path):
    old, new = tmp_path / "compilation.announce-1.py311.nbi", tmp_path / "compilation.announce-2.py311.nbi"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    compilation._forget_outdated(Kernel(tmp_path))
    assert not old.exists()
    assert new.exists()


def test_import_loads_nothing_heavy():
    code = "import sys, rfdag; print([name for name in ('numba', 'scipy', 'sklearn', 'pandas') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    assert set(rfdag.__all__) == set(dir(rfdag))
    for name in rfdag.__all__:
        assert getattr(rfdag, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lern'"):
        rfdag.lern  # noqa: B018


@pytest.mark.parametrize("n", [600, 6000])
def test_memory_beyond_the_data_is_at_most_four_matrices(n):
    p = 300
    rows = sample(linear_sem(random_dag(p, degree=8, rng=1), rng=1), n, rng=1)
    rfdag.learn(rows, method="rfd")
    tracemalloc.start()
    try:
        rfdag.learn(rows, method="rfd")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 4 * 8 * p * p
