"""What a run is expected to take, and the refusal of what cannot fit."""

from __future__ import annotations

import logging
import math
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag import Gsp, Rfd, Soft
from rfdag.cli import app
from rfdag.errors import LongRunWarning, OptionError
from rfdag.methods import pace
from rfdag.methods import preflight as estimates
from rfdag.methods.preflight import estimate
from rfdag.methods.settings import Running, Settings
from rfdag.runtime import memory
from rfdag.simulate import linear_sem, random_dag, sample

SETTINGS = [
    Settings(),
    Settings(Rfd()),
    Settings(Soft(beam=16, restarts=0)),
    Settings(Soft(refine=False)),
    Settings(Gsp(runs=3)),
    Settings(Soft(penalty=(1.0, 2.0, 4.0))),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_more_work_is_expected_to_take_longer(settings):
    def seconds(rows, columns, time_limit=None, **changes):
        running = replace(settings.running, time_limit=time_limit)
        changed = replace(settings, method=replace(settings.method, **changes), running=running)
        return estimate(rows, columns, changed).seconds

    times = [seconds(2 * p, p) for p in (10, 100, 1000, 10_000)]
    assert all(math.isfinite(time) and time > 0 for time in times)
    assert times == sorted(times)
    assert seconds(10**7, 100) > seconds(1000, 100)
    sizes = [estimate(2 * p, p, settings).bytes for p in (10, 100, 1000, 10_000)]
    assert sizes == sorted(sizes)
    assert estimate(2000, 1000, settings, threads=4).seconds < estimate(2000, 1000, settings).seconds
    if settings.method.name == "soft":
        assert seconds(2000, 1000, beam=64) > seconds(2000, 1000, beam=1)
        assert seconds(10**5, 10**4, time_limit=1.0) <= 4.0


def test_a_proof_is_expected_to_take_long():
    def parts(p, **options):
        return {part.name: part for part in estimate(200, p, Settings(Soft(**options))).parts}

    assert "proof" not in parts(24)
    assert parts(24, exact=True)["proof"].seconds > 3 * parts(22, exact=True)["proof"].seconds > 0
    assert parts(25, exact=True)["proof"].bytes > 3e9
    assert parts(40, exact=True)["proof at most"].seconds > 60
    assert parts(20)["all sets"].seconds > 3 * parts(18)["all sets"].seconds
    assert "all sets" not in parts(20, exact=False)


@pytest.mark.parametrize(
    ("settings", "p"),
    [
        (Settings(Rfd()), 300),
        (Settings(Soft(beam=8, refine=False)), 120),
        (Settings(Soft(beam=32, restarts=0)), 120),
    ],
)
def test_memory_is_within_a_factor_of_two(settings, p):
    rows = sample(linear_sem(random_dag(p, degree=6, rng=1), rng=1), 2 * p, rng=1)
    rfdag.learn(rows, settings.method)
    tracemalloc.start()
    try:
        rfdag.learn(rows, settings.method)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = estimate(*rows.shape, settings, threads=2).bytes
    assert peak / 2 < expected < 2 * peak


def test_a_long_run_is_announced_and_a_short_one_is_not(caplog):
    said = []
    check = estimates.Preflight(Settings(), 1, said.append).check
    with caplog.at_level(logging.INFO, logger="rfdag"):
        check(100, 10)
        assert said == []
        with pytest.warns(LongRunWarning, match="Choose columns="):
            check(10**7, 3000)
    assert len(said) == 1
    assert "Expected: about" in said[0]
    assert "GB of memory" in said[0]
    assert said[0] in caplog.messages


def test_a_run_of_hours_warns_and_says_what_takes_one(monkeypatch):
    check = estimates.Preflight(Settings(), 1).check
    monkeypatch.setattr(estimates, "require_clusters", lambda rows, columns, threads: None)
    monkeypatch.setattr(pace, "slowness", lambda: 1.0)
    with pytest.warns(LongRunWarning, match=r"take about .* Choose columns=.* about \d+ columns take an hour") as found:
        check(500, 400_000)
    most = int(str(found[0].message).split("about ")[-1].split()[0])
    assert 3000 < estimate(500, most, Settings()).seconds < 3600 < estimate(500, 400_000, Settings()).seconds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(500, most)
        estimates.Preflight(Settings(running=Running(time_limit=7200)), 1).check(500, 400_000)
    # Where the first order takes less than an hour, the best one within an hour can be had.
    with pytest.warns(LongRunWarning, match=r"Pass time_limit=3600 .* or choose columns="):
        check(500, 100_000)


def test_the_program_says_so_in_its_own_spelling(tmp_path, monkeypatch):
    monkeypatch.setattr(estimates.costs, "SECONDS_WORTH_WARNING", 1e-6)
    np.savetxt(tmp_path / "rows.csv", np.random.default_rng(3).normal(size=(50, 4)), delimiter=",", header="a,b,c,d")
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "rows.csv")])
    assert done.exit_code == 0
    assert "Warning: The run is expected to take about 1 s. Pass --time-limit 3600" in " ".join(done.output.split())


def test_what_cannot_fit_is_refused_before_any_work(monkeypatch):
    rows = np.random.default_rng(1).normal(size=(300, 100))
    for module in (memory, estimates):
        monkeypatch.setattr(module, "available_memory", lambda: 1e6)
        monkeypatch.setattr(module, "TRIFLE", 0)
    with pytest.raises(OptionError, match=r"100 columns need .*matrices.*enough for \d+ columns.*blocks=True"):
        rfdag.learn(rows, blocks=False)
    # The size that is named does fit, and one more does not.
    method = Rfd()
    with pytest.raises(OptionError, match=r"enough for (\d+) columns") as refusal:
        estimates.require_fit(10_000, method)
    most = int(str(refusal.value).split("enough for ")[1].split()[0])
    estimates.require_fit(most, method)
    with pytest.raises(OptionError, match="columns need"):
        estimates.require_fit(most + 1, method)


def test_a_beam_that_cannot_fit_names_one_that_does(monkeypatch):
    for module in (memory, estimates):
        monkeypatch.setattr(module, "available_memory", lambda: 2e9)
        monkeypatch.setattr(module, "TRIFLE", 0)
    method = Soft(beam=10_000)
    with pytest.raises(OptionError, match=r"beam of width 10000 over 200 variables.*Use beam=\d+ or less") as refusal:
        estimates.require_fit(200, method)
    widest = int(str(refusal.value).split("Use beam=")[1].split()[0])
    estimates.require_fit(200, Soft(beam=widest))
    with pytest.raises(OptionError, match="beam of width"):
        estimates.require_fit(200, Soft(beam=widest + 1))


def test_free_memory_is_the_least_of_what_the_limits_leave(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("max", "current", "stat")]
    for file, text in zip(files, ("1000000\n", "700000\n", "anon 5\ninactive_file 200000\n"), strict=True):
        file.write_text(text)
    monkeypatch.setattr(memory, "CGROUPS", (tuple(map(str, files)),))
    assert memory.available_memory() == 500_000
    files[0].write_text("max\n")
    assert memory.available_memory() > 500_000


TAKEN = [
    # Rows, columns, threads, and the gigabytes that a run took beyond data and libraries; seed 1, degree 4.
    (300, 1000, 1, 0.31),
    (300, 1000, 8, 0.49),
    (300, 2000, 1, 0.78),
    (300, 2000, 2, 0.83),
    (300, 2000, 8, 1.13),
    (500, 10_000, 2, 2.97),
]


@pytest.mark.parametrize(("rows", "columns", "threads", "taken"), TAKEN)
def test_clusters_are_expected_to_take_the_memory_that_they_took(rows, columns, threads, taken):
    announced = estimate(rows, columns, Settings(), threads).bytes / 1e9
    assert taken / 1.25 < announced < 1.25 * taken


def test_clusters_on_many_threads_need_more_memory(monkeypatch):
    """Each thread searches a cluster of its own, as long as there are as many clusters."""

    def needed(threads):
        return estimate(500, 10_000, Settings(), threads).bytes

    assert needed(48) > needed(2) + 2e9
    assert needed(500) == needed(50)
    for module in (memory, estimates):
        monkeypatch.setattr(module, "available_memory", lambda: 4e9)
    estimates.require_clusters(500, 10_000, 1)
    with pytest.raises(OptionError, match=r"about 5\.7 GB of memory.*fewer columns, or blocks=True"):
        estimates.require_clusters(500, 10_000, 48)
