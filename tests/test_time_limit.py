"""What time limits and times to search for do, by clocks that tests set."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.engines.dense import DenseEngine
from rfdag.eliminate.kernels import soft
from rfdag.errors import NumericalWarning, OptionError, TimeLimitError
from rfdag.methods import method, pace, timing
from rfdag.methods.found import CUT_SHORT, OUT_OF_TIME
from rfdag.orders import path
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime import compilation, deadline, progress
from rfdag.runtime.deadline import Deadline, OutOfTime
from rfdag.simulate import linear_sem, random_dag, sample

STAGES = (pace.READING, pace.ESTIMATING, pace.ELIMINATING)
P = 25
DAG = random_dag(P, degree=4, rng=3)
ROWS = sample(linear_sem(DAG, rng=3), 200, rng=4)
FEW = ROWS[:20]
SMALL = ROWS[:, :8]


class FakeClock:
    """A clock that goes on by a second whenever it is asked for the time."""

    def __init__(self, monkeypatch):
        self.time = 0
        for module in (deadline, progress, timing):
            monkeypatch.setattr(module, "now", self)

    def __call__(self):
        self.time += 1
        return float(self.time)


@pytest.fixture
def clock(monkeypatch):
    return FakeClock(monkeypatch)


def learn(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        return rfdag.learn(data, n_jobs=1, **options)


EVERY = {
    "soft": {},
    "soft, unrefined": {"refine": False},
    "soft, path": {"penalty": [1, 2, 4]},
    "rfd": {"method": "rfd"},
    "rfd, ahead": {"method": "rfd", "depth": 3},
    "rfd, refined": {"method": "rfd", "refine": True},
    "gsp": {"method": "gsp", "runs": 3},
    "min-degree": {"method": "min-degree"},
    "random": {"method": "random"},
    "nodewise": {"method": "rfd", "precision": "nodewise"},
    "lasso": {"precision": "graphical-lasso"},
    "clime": {"precision": "clime"},
    "known": {"method": "rfd", "knowledge": {"tiers": [list(range(12)), list(range(12, P))]}},
}


@pytest.mark.parametrize("name", EVERY)
def test_a_limit_too_short_for_an_order_is_an_error(name, clock):
    with pytest.raises(
        TimeLimitError,
        match=r"^There is no order within time_limit=4: after .* s the run was still .*Pass time_limit=\d",
    ):
        learn(ROWS, time_limit=4, **EVERY[name])
    assert clock.time < 40


class WorkClock:
    """A clock that goes on with the work done, by as much as each step of it takes, and in no other way."""

    def __init__(self, monkeypatch):
        self.time = 0.0
        for module in (deadline, progress, timing):
            monkeypatch.setattr(module, "now", lambda: self.time)
        # Beams return after every step, as they do over many variables.
        monkeypatch.setattr("rfdag.eliminate.beams.soft.AT_ONCE", 1)
        self._charge(monkeypatch, DenseEngine, "remove", lambda engine: len(engine.remaining) ** 2)
        self._charge(monkeypatch, SoftBeam, "_advance", lambda beam: 30 * int(beam._beam.now[soft.LEFT]) ** 2)
        self._charge(monkeypatch, ScoredOrder, "reinsert_stale", lambda scored: 100)

    def _charge(self, monkeypatch, kind, name, price):
        work = getattr(kind, name)

        def charged(this, *args, **options):
            self.time += price(this) / 1000
            return work(this, *args, **options)

        monkeypatch.setattr(kind, name, charged)


def seconds_until_order(data, options, clock, monkeypatch):
    """Return how long it takes, on a clock, until there is a first order, by stage."""
    started = {}
    stage = progress.Progress.stage

    def noted(bar, label, *args):
        started.setdefault(label, clock.time)
        return stage(bar, label, *args)

    monkeypatch.setattr(progress.Progress, "stage", noted)
    clock.time = 0.0
    learn(data, **options)
    monkeypatch.setattr(progress.Progress, "stage", stage)
    end = min(moment for label, moment in [*started.items(), ("end", clock.time)] if label not in STAGES)
    begun = [started.get(label, end) for label in STAGES]
    return {label: later - earlier for label, earlier, later in zip(STAGES, begun, [*begun[1:], end], strict=True)}


@pytest.mark.parametrize("wrong", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6, 0.9])
@pytest.mark.parametrize(
    ("rows", "options"),
    [(200, {"beam": 4}), (20, {"beam": 4}), (200, {"method": "rfd"}), (200, {"method": "gsp"})],
)
def test_the_limit_that_an_error_names_is_enough(rows, options, share, wrong, monkeypatch):
    """However far the run has come, and however wrong the expectations are that it starts with."""
    clock = WorkClock(monkeypatch)
    data = ROWS[:rows]
    stages = seconds_until_order(data, options, clock, monkeypatch)
    expected = {label: wrong * seconds for label, seconds in stages.items()}
    for module in (timing, method):
        monkeypatch.setattr(module, "until_order", lambda *args: expected)
    # Of three beams one is enough, and of eight models that are averaged a part of each.
    least = stages[pace.ELIMINATING] / (3 if "beam" in options else 1)
    clock.time = 0.0
    with pytest.raises(TimeLimitError) as problem:
        learn(data, time_limit=share * least, **options)
    enough = int(re.search(r"Pass time_limit=(\d+)", str(problem.value))[1])
    clock.time = 0.0
    assert sorted(learn(data, time_limit=enough, **options).order) == list(range(P))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("limit", [30, 60, 150, 400, 1000])
def test_every_method_stops_soon_after_its_limit(name, limit, clock):
    """Whatever it returns, it asks for the time only a few times more."""
    try:
        found = learn(ROWS, time_limit=limit, **EVERY[name])
    except TimeLimitError as problem:
        assert str(problem).startswith("There is no order within")  # noqa: PT017
    else:
        assert sorted(found.order) == list(range(P))
        assert found.interrupted == (OUT_OF_TIME in found.warnings)
        assert not np.tril(found.dag[np.ix_(found.causal_order, found.causal_order)]).any()
    # A path, or a search for covered edges, asks once more at each of its stages.
    assert clock.time <= limit + 40


@pytest.mark.parametrize("name", EVERY)
def test_a_limit_that_does_not_pass_changes_nothing(name):
    plain, limited = learn(ROWS, **EVERY[name]), learn(ROWS, time_limit=3600, **EVERY[name])
    assert limited.order == plain.order
    assert limited.score == plain.score
    assert limited.warnings == plain.warnings
    assert not limited.interrupted
    np.testing.assert_array_equal(limited.dag, plain.dag)


def test_a_search_that_was_cut_short_says_so(clock):
    clock.time = 0
    whole = learn(ROWS)
    for limit in range(100, 3000, 100):
        clock.time = 0
        try:
            found = learn(ROWS, time_limit=limit)
        except TimeLimitError:
            continue
        break
    assert found.interrupted
    assert found.warnings[-1] == OUT_OF_TIME
    assert found.score >= whole.score
    clock.time = 0
    with pytest.warns(NumericalWarning, match="The time limit ended the search"):
        rfdag.learn(ROWS, time_limit=limit, n_jobs=1)


def test_few_rows_leave_time_for_the_search(clock):
    """The average of models ends early enough for beams, and the result says that it was cut short."""
    cut = []
    for limit in (150, 300, 600):
        clock.time = 0
        try:
            cut.append(learn(FEW, time_limit=limit))
        except TimeLimitError:
            continue
    assert cut
    assert OUT_OF_TIME in cut[0].warnings


def test_the_best_of_all_orders_ends_too(clock):
    for options in ({}, {"parents": "threshold"}, {"penalty": [1, 2, 4]}):
        clock.time = 0
        with pytest.raises(TimeLimitError, match="searching"):
            learn(SMALL, method="sp", time_limit=8, **options)
    for limit in range(10, 1000, 10):
        clock.time = 0
        try:
            points = learn(SMALL, method="sp", time_limit=limit, penalty=[1, 2, 4]).path
        except TimeLimitError:
            continue
        break
    assert 2 in [point.penalty for point in points]
    assert len(points) < 3


def test_gsp_falls_back_on_the_order_it_starts_from(clock):
    plain = learn(ROWS, method="rfd")
    for limit in range(20, 200, 5):
        clock.time = 0
        try:
            found = learn(ROWS, method="gsp", time_limit=limit)
        except TimeLimitError:
            continue
        break
    assert found.order == plain.order
    assert CUT_SHORT in found.warnings


@pytest.mark.parametrize("options", [{"input": "dag"}, {"input": "dag", "beam": 4}, {"input": "dag", "method": "gsp"}])
def test_exact_input_has_limits_too(options, clock):
    with pytest.raises(TimeLimitError):
        learn(DAG, time_limit=5, **options)
    clock.time = 0
    found = learn(DAG, time_limit=70, **options)
    assert sorted(found.order) == list(range(P))
    assert clock.time < 110


@pytest.mark.parametrize("method", ["rfd", "random"])
def test_sparse_input_has_limits_too(method, clock):
    dag = csr_array(DAG)
    with pytest.raises(TimeLimitError, match="Pass time_limit="):
        learn(dag, input="dag", method=method, depth=2, time_limit=3) if method == "rfd" else learn(
            dag, input="dag", method=method, time_limit=2
        )
    clock.time = 0
    assert learn(dag, input="dag", method=method, time_limit=600).order == learn(dag, input="dag", method=method).order


def test_blocks_share_a_limit(clock):
    rows = np.column_stack([ROWS, sample(linear_sem(random_dag(9, degree=2, rng=5), rng=5), 200, rng=6)])
    with pytest.raises(TimeLimitError):
        learn(rows, blocks=True, time_limit=5)
    clock.time = 0
    found = learn(rows, blocks=True, time_limit=400)
    assert sorted(found.order) == list(range(P + 9))
    assert clock.time < 500


def test_reading_has_a_limit(tmp_path, clock):
    file = tmp_path / "rows.csv"
    np.savetxt(file, ROWS, delimiter=",", header=",".join(f"x{at}" for at in range(P)), comments="")
    with pytest.raises(TimeLimitError):
        learn(file, time_limit=1, correlation="kendall")
    with pytest.raises(TimeLimitError, match="reading"):
        learn(ROWS, time_limit=3, correlation="kendall")


def test_compilation_does_not_count(monkeypatch):
    watch = compilation._Stopwatch()
    monkeypatch.setattr(compilation, "_WATCH", watch)
    seconds = iter([0.0, 10.0, 50.0, 60.0, 60.0])
    monkeypatch.setattr(compilation.time, "monotonic", lambda: next(seconds))
    limit = Deadline.after(30)  # It is 0, nothing compiles.
    watch.on_start(None)  # 10
    watch.on_start(None)
    watch.on_end(None)
    watch.on_end(None)  # 50
    assert not limit.passed()  # 60, of which 40 were spent compiling
    monkeypatch.setattr(compilation.time, "monotonic", lambda: 71.0)
    assert limit.passed()


def test_what_cannot_be_interrupted_does_not_begin(monkeypatch):
    monkeypatch.setattr("rfdag.methods.method.seconds_of_inverse", lambda columns, threads: 50.0)
    with pytest.raises(TimeLimitError, match="estimating"):
        learn(ROWS, method="rfd", time_limit=40)
    assert learn(ROWS, method="rfd", time_limit=400).order == learn(ROWS, method="rfd").order
    monkeypatch.setattr("rfdag.methods.preflight.seconds_of_moments", lambda rows, columns, threads: 50.0)
    with pytest.raises(TimeLimitError, match="reading"):
        learn(ROWS, time_limit=40)


def test_a_deadline_knows_whether_it_ended_anything():
    limit = Deadline.after(1000)
    assert not limit.passed()
    assert limit.allows(500)
    assert not limit.cut_short
    assert limit.sooner(2000).passed()
    assert limit.cut_short
    later = Deadline.after(1000)
    assert not later.allows(2000)
    assert later.cut_short
    with pytest.raises(OutOfTime):
        later.require_room(2000)
    stopped = Deadline(cancelled=lambda: True)
    assert stopped.passed()
    assert not stopped.cut_short


# Searching for a time.


def test_a_search_goes_on_until_its_time_and_no_limit_does_that(clock):
    for options in ({}, {"time_limit": 100_000}):
        clock.time = 0
        plain = learn(ROWS, **options)
        short = clock.time
        assert not plain.interrupted
    clock.time = 0
    longer = learn(ROWS, search_for=4 * short)
    assert 4 * short <= clock.time < 5 * short
    assert longer.score <= plain.score
    assert not longer.warnings
    assert not longer.interrupted


def test_a_short_time_to_search_for_takes_nothing_away(clock):
    plain = learn(ROWS)
    clock.time = 0
    again = learn(ROWS, search_for=5)
    assert again.score == plain.score
    np.testing.assert_array_equal(again.dag, plain.dag)


def test_penalties_share_the_time_to_search_for(clock):
    plain = learn(ROWS, penalty=[1, 2, 4])
    clock.time = 0
    longer = learn(ROWS, penalty=[1, 2, 4], search_for=20_000)
    assert 20_000 <= clock.time < 30_000
    assert [point.penalty for point in longer.path] == [1, 2, 4]
    assert longer.path[1].score <= plain.path[1].score + 1e-6


def test_a_path_ends_where_time_does():
    """Each further penalty chooses all parents anew, which takes long over many variables."""
    moments = rfdag.Moments.from_data(ROWS).local()
    start = ScoredOrder(moments, np.arange(P), 2.0)
    time = Deadline(cancelled=lambda: len(polished) >= 1)
    polished = []
    found = path.follow_path(start, (1.0, 2.0, 4.0), 1, lambda scored: polished.append(1) or scored, time.require)
    assert list(found) == [2.0, 4.0]
    assert path.compare(found)[0] in found.values()


def test_a_time_to_search_for_needs_rows():
    with pytest.raises(OptionError, match="search_for goes on with restarts"):
        rfdag.learn(DAG, input="dag", search_for=5)
    with pytest.raises(OptionError, match=r"search_for .*method='soft'"):
        rfdag.learn(ROWS, test="fisher-z", search_for=5)


def test_a_bootstrap_has_a_limit_for_each_run():
    with pytest.raises(TimeLimitError, match="Pass time_limit="):
        rfdag.bootstrap(SMALL, runs=2, time_limit=1e-6, n_jobs=1)
    found = rfdag.bootstrap(SMALL, runs=2, time_limit=600, n_jobs=1)
    assert found.edge_frequency.shape == (8, 8)


def test_the_estimator_takes_both():
    with pytest.raises(TimeLimitError):
        rfdag.RFD(time_limit=1e-6).fit(SMALL)
    assert rfdag.RFD(search_for=0.01, time_limit=600).fit(SMALL).result_.settings.running.search_for == 0.01
