"""Scripts of the folder benchmarks: what they ask of rfdag exists, and their names hide no package."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from rfdag.bootstrapping.resampling import Sampling
from rfdag.methods.settings import Settings

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def load(name, monkeypatch):
    """Return a script as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_the_bootstrap_benchmark_draws_rows_in_ways_that_exist(monkeypatch):
    samplings = load("bootstrap", monkeypatch).SAMPLINGS
    ways = {name: Sampling(**options) for name, options in samplings.items()}
    assert len({repr(way) for way in ways.values()}) == len(samplings)
    assert ways["subsample ½"].sampling == "subsample"


def test_the_tuning_script_tries_values_with_options_that_exist(monkeypatch):
    for choice in load("tuning", monkeypatch).CHOICES.values():
        settings = Settings.gathered("soft", options=dict(choice.options))
        assert {name: settings.given()[name] for name, _ in choice.options} == dict(choice.options)


def test_dask_can_be_imported_beside_the_scripts():
    pytest.importorskip("dask.dataframe")
    # A script's own folder comes first on the path, so that a script called sparse.py is taken for that package.
    code = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import dask.array, dask.dataframe"
    subprocess.run([sys.executable, "-c", code], check=True)
