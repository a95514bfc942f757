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


def test_a_mutant_is_the_change_that_it_says(tmp_path, monkeypatch):
    mutants = load("mutants", monkeypatch)
    path = tmp_path / "a_module_to_change.py"
    path.write_text(
        'def f(a, b):\n    """Less."""\n    if a < b:\n        return a - 1\n    raise ValueError(f"{a + b}")\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("a_module_to_change")
    monkeypatch.setitem(sys.modules, "a_module_to_change", module)
    found = {each.after: each for each in mutants.mutants_of("a_module_to_change", path)}
    assert sorted(found) == ["if a <= b:", "if a >= b:", "return a + 1", "return a - 2"]
    assert len({each.name for each in found.values()}) == 4
    answers = {"if a <= b:": (0, 1), "return a + 1": (2, None), "return a - 2": (-1, None)}
    kept = module.f.__code__
    for after, expected in answers.items():
        module.f.__code__ = kept
        mutants.mutate(found[after], module)
        assert module.f(1, 2) == expected[0]
        if expected[1] is None:
            with pytest.raises(ValueError, match="4"):
                module.f(2, 2)
        else:
            assert module.f(2, 2) == expected[1]


def test_dask_can_be_imported_beside_the_scripts():
    pytest.importorskip("dask.dataframe")
    # A script's own folder comes first on the path, so that a script called sparse.py is taken for that package.
    code = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import dask.array, dask.dataframe"
    subprocess.run([sys.executable, "-c", code], check=True)
