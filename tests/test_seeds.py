"""What simulates data and what searches them never draw from the same stream of random numbers."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rfdag
from rfdag.studies.bench.workloads import WORKLOADS, simulation_generator
from rfdag.studies.paper import beyond_noiseless, beyond_noisy, dense_family, noiseless, noisy, runtime_law, scaling
from rfdag.studies.paper.study import Scope

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SEEDS_OF_SEARCHES = range(50)


def state(generator):
    return generator.bit_generator.state["state"]["state"]


OF_SEARCHES = {state(np.random.default_rng(seed)) for seed in SEEDS_OF_SEARCHES}


@pytest.fixture
def benchmark(monkeypatch):
    """Return a script of the folder benchmarks as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def begun(monkeypatch):
    """List the first states of all generators that are made from now on."""
    found = []
    make = np.random.default_rng

    def recorded(seed=None):
        generator = make(seed)
        if not isinstance(seed, np.random.Generator):
            found.append(state(generator))
        return generator

    monkeypatch.setattr(np.random, "default_rng", recorded)
    return found


def test_a_list_of_zeros_is_the_seed_zero():
    """Why the checksum of a name belongs into the seed of a simulation."""
    assert state(np.random.default_rng([0, 0, 0])) in OF_SEARCHES


def test_workloads():
    names = [*WORKLOADS, *beyond_noisy.SOURCES]
    names += [noisy.data_of(density).name for density in noisy.DENSITIES]
    names += [scaling.data_of(p).name for p in scaling.SIZES]
    states = {state(simulation_generator(name, seed, 0)) for name in names for seed in SEEDS_OF_SEARCHES}
    assert len(states) == len(names) * len(SEEDS_OF_SEARCHES)
    assert not states & OF_SEARCHES


@pytest.mark.parametrize("study", [noiseless, beyond_noiseless, runtime_law], ids=lambda study: study.__name__)
def test_studies_of_the_paper(study, begun, monkeypatch):
    """Only what draws the graphs is called; searches are left out."""
    monkeypatch.setattr(noiseless, "compile_all", lambda: None)
    monkeypatch.setattr(noiseless, "ordered", lambda *given: [])
    monkeypatch.setattr(runtime_law, "_compile", lambda: None)
    monkeypatch.setattr(runtime_law, "_seconds", lambda *given: (1.0, 0))
    for key in study.plan(Scope(quick=True, seed=0)):
        study.measure(key, Scope())
    assert begun
    assert not set(begun) & OF_SEARCHES


def test_the_dense_family(begun):
    for key in dense_family.plan(Scope(quick=True, seed=0)):
        if key["kind"] != "scores":
            dense_family._generator(key)
    assert begun
    assert not set(begun) & OF_SEARCHES


def test_the_benchmark_on_data(benchmark, begun):
    script = benchmark("noisy")
    for setting in script.SETTINGS:
        script.draw(*setting, seed=0, graph=0)
    assert len(set(begun)) == len(script.SETTINGS)
    assert not set(begun) & OF_SEARCHES


def test_resamples_of_the_benchmark_of_beams(benchmark, monkeypatch):
    script = benchmark("bootstrap")
    data = np.random.default_rng(1).normal(size=(50, 3))
    plain = rfdag.learn(data, progress=False)
    drawn, searched = [], []

    def resample(*given):
        drawn.append(state(given[-1]))

    class Search:
        def learn(self, moments, run):
            searched.append(state(run.generator()))
            return SimpleNamespace(score=0.0, dag=plain.dag)

    monkeypatch.setattr(script, "drawn_moments", resample)
    for number in range(3):
        script.Tally().run(plain, data, number, Search())
    assert len(set(drawn)) == len(set(searched)) == 3
    assert not set(drawn) & set(searched)
    assert not set(drawn) & OF_SEARCHES


def test_the_benchmark_of_the_gpu(benchmark):
    script = benchmark("gpu")
    assert inspect.signature(script.draw).parameters["seed"].default != 0
    assert "rng=0" not in inspect.getsource(script)
