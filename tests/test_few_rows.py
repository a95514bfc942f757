"""As many columns as rows, or more."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import rfdag
from rfdag import metrics
from rfdag.errors import DataError, NumericalWarning
from rfdag.evidence.moments import Moments
from rfdag.precision import averaged
from rfdag.precision.averaged import averaged_partial_correlations, precision_of
from rfdag.runtime.deadline import Deadline
from rfdag.simulate import linear_sem, random_dag, sample

DAG = random_dag(60, degree=2, rng=3)
SEM = linear_sem(DAG, rng=3)


def learn(*args, **options):
    with pytest.warns(NumericalWarning, match="rows are few for"):
        return rfdag.learn(*args, **options)


@pytest.mark.parametrize("n", [20, 59, 60, 61, 62, 70])
def test_any_number_of_rows_gives_an_answer(n):
    found = learn(sample(SEM, n, rng=n))
    assert sorted(found.order) == list(range(60))
    assert metrics.skeleton(DAG, found.dag).f1 > (0.2 if n == 20 else 0.7)
    assert found.score < 0
    assert np.isfinite(found.coefficients).all()


def test_enough_rows_need_no_average(recwarn):
    rfdag.learn(sample(SEM, 80, rng=10))
    assert not [warning for warning in recwarn if issubclass(warning.category, NumericalWarning)]


def test_the_answer_depends_on_nothing_but_data_and_seed():
    rows = sample(SEM, 50, rng=1)
    first = learn(rows, n_jobs=1)
    assert learn(rows, n_jobs=3).order == first.order
    other = learn(rows, random_state=9)
    assert learn(rows, random_state=9).order == other.order


def test_a_matrix_of_few_rows_is_as_good_as_the_rows():
    rows = sample(SEM, 50, rng=2)
    found = learn(rows)
    for matrix, kind in ((np.corrcoef(rows.T), "correlation"), (np.cov(rows.T), "covariance")):
        again = learn(matrix, input=kind, n_samples=50)
        assert again.score == pytest.approx(found.score, abs=1e-6)


def test_a_result_of_few_rows_is_saved_and_read(tmp_path):
    found = learn(sample(SEM, 40, rng=3))
    again = rfdag.load(found.save(tmp_path / "r.json"))
    assert again.order == found.order
    np.testing.assert_array_equal(again.coefficients, found.coefficients)


def test_copies_are_named():
    rows = sample(SEM, 30, rng=4)
    rows[:, 7] = -2 * rows[:, 5]
    with pytest.raises(DataError, match=r"column 7 is a copy of column 5 up to scale\. Pass awkward="):
        rfdag.learn(rows)


def test_the_average_is_a_matrix_of_partial_correlations():
    correlation = Moments.from_data(sample(SEM, 40, rng=5)).correlation
    partial = averaged_partial_correlations(correlation, 40)
    np.testing.assert_array_equal(np.diag(partial), 1.0)
    np.testing.assert_allclose(partial, partial.T, atol=1e-14)
    assert np.linalg.eigvalsh(2 * np.eye(60) - partial).min() > 0


def test_the_precision_of_a_fitted_dag_is_that_of_its_model():
    """Fitted to the model's own covariance, it is the inverse of it."""
    covariance = SEM.covariance()
    scales = np.sqrt(np.diag(covariance))
    correlation = covariance / scales / scales[:, None]
    np.testing.assert_allclose(precision_of(DAG, correlation), np.linalg.inv(correlation), atol=1e-8)


def test_the_average_beats_chance():
    """Edges of the model stand out in it from all other pairs."""
    partial = np.abs(averaged_partial_correlations(Moments.from_data(sample(SEM, 60, rng=6)).correlation, 60))
    near = (DAG + DAG.T) > 0
    assert np.median(partial[near]) > 10 * np.median(partial[~near])


@pytest.mark.parametrize("threads", [1, 3])
def test_averaging_reports_how_far_it_is(threads):
    shares = []
    correlation = Moments.from_data(sample(SEM, 40, rng=7)).correlation
    averaged_partial_correlations(correlation, 40, threads=threads, report=shares.append)
    assert len(shares) > 8
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_averaging_ends_at_the_deadline_with_an_answer():
    """The first model is there in any case, be it an unrefined one."""
    correlation = Moments.from_data(sample(SEM, 40, rng=8)).correlation
    shares = []
    partial = averaged_partial_correlations(correlation, 40, deadline=Deadline.after(1e-9), report=shares.append)
    assert shares == [0.0, 1 / 8]
    np.testing.assert_array_equal(np.diag(partial), 1.0)
    assert np.linalg.eigvalsh(2 * np.eye(60) - partial).min() > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_while_averaging_ends_all_models(threads, monkeypatch):
    """There is nothing to return yet, so it is raised; models under way are told to stop."""
    begun, stopped = [], []

    def descend(scored, generator, deadline, report, *, thorough):
        begun.append(True)
        if len(begun) == threads:
            # By then the main thread waits for the models.
            time.sleep(0.3)
            # As Ctrl-C does, and not to this thread: the one that waits has to wake up.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        for _ in range(6000):
            if deadline.passed():
                stopped.append(True)
                return 0
            time.sleep(0.01)
        raise AssertionError("never told to stop")

    monkeypatch.setattr(averaged, "descend", descend)
    rows = sample(SEM, 40, rng=9)
    with pytest.raises(KeyboardInterrupt):
        rfdag.learn(rows, n_jobs=threads)
    assert len(stopped) == threads


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(6))
def test_rows_that_repeat_others_allow_no_more_parents(seed):
    """A few rows, each up to four times: as many directions as different rows, less one, whatever their number."""
    generator = np.random.default_rng(seed)
    different, p = int(generator.integers(6, 16)), int(generator.integers(16, 31))
    once = generator.uniform(size=(different, p))
    times = generator.integers(1, 5, different)
    rows = once.repeat(times, axis=0)[: int(1.2 * p)]
    distinct = len(np.unique(rows, axis=0))
    found, most = rfdag.learn(rows), max((distinct - 1) // 2, 1)
    parents = int(found.dag.sum(axis=0).max())
    assert 0 < parents <= most
    assert Moments.from_data(rows).directions == distinct - 1
    limited = [warning for warning in found.warnings if "a variable may have at most" in warning]
    assert not limited or f"half of the {distinct - 1} directions they span" in limited[0]
    assert not any("nearly dependent" in warning for warning in found.warnings)


def test_as_many_directions_as_rows_less_one_or_as_there_are_columns():
    generator = np.random.default_rng(3)
    for rows, columns in [(20, 30), (30, 30), (31, 30), (200, 30)]:
        assert Moments.from_data(generator.normal(size=(rows, columns))).directions == rows - 1
    # Of rank 5, in rows that all differ.
    low = generator.normal(size=(20, 5)) @ generator.normal(size=(5, 30))
    assert Moments.from_data(low).directions == 5
