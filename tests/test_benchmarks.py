"""Scripts of the folder benchmarks: what they ask of rfdag exists, and their names hide no package."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import arithmetic
from rfdag.bootstrapping.resampling import Sampling
from rfdag.methods.settings import Settings
from same_answer import Answer

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


OBEDIENT = """
import json, os, signal
core = os.environ.get("OPENBLAS_CORETYPE", "Zen")
if core == "SkylakeX":
    os.kill(os.getpid(), signal.SIGILL)
print(json.dumps([core, os.environ.get("NUMBA_CPU_NAME", "znver3")]))
"""
"""What libraries on an AMD processor without AVX-512 say."""


def test_processors_that_cannot_run_or_are_known_already_are_skipped(monkeypatch):
    script = load("processors", monkeypatch)
    monkeypatch.setattr(script, "PROBE", OBEDIENT)
    # What the user has set for this machine counts for it alone as little as for the others.
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    here = script.Processor("this machine", {})
    assert here.code == ("Zen", "znver3")
    names = ["Zen", "Prescott+generic", "SkylakeX", "Prescott+generic", "Haswell", "Sandybridge"]
    tried = {}
    for processor, why in script.few(script.chosen(map(script.Processor.named, names), [here])):
        tried.setdefault(processor.name, []).append(why)
    assert tried == {
        "Zen": ["the same code as this machine"],
        "Prescott+generic": ["", "the same code as Prescott+generic"],
        "SkylakeX": ["this machine cannot run it"],
        "Haswell": [""],
    }


def test_failed_tests_and_other_answers_are_reported_and_ties_are_counted(monkeypatch):
    script = load("processors", monkeypatch)
    monkeypatch.setattr(script, "PROBE", OBEDIENT)
    answer = Answer(("a", "b"), (("a", "b"),), (("a", "b", 2), ("b", "a", 2)), -100.0, tie=False)
    turned = replace(answer, order=("b", "a"))
    expected = {7: {"plain": answer, "dense": answer, "ranks": answer}}
    found = {7: {"plain": replace(answer, score=-100 - 1e-8), "dense": turned, "ranks": replace(turned, tie=True)}}
    monkeypatch.setattr(script.same_answer, "in_process", lambda environment, *options: found)
    processor = script.Processor.named("Haswell")
    for status, printed, problems in (
        (1, "FAILED tests/test_a.py::test_b - no\n1 failed, 2 passed in 3s", ["FAILED tests/test_a.py::test_b - no"]),
        (0, "3 passed in 3s", []),
        (5, "no tests ran in 1s", ["pytest ended with status 5: no tests ran in 1s"]),
    ):
        done = subprocess.CompletedProcess([], status, printed, "")
        monkeypatch.setattr(script.subprocess, "run", lambda *words, done=done, **options: done)
        row, failed = script.tried(processor, expected, [], [])
        assert row == {"tests": printed.splitlines()[-1], "answers": 3, "different": 1, "ties": 1}
        assert failed == [f"Haswell: {problem}" for problem in [*problems, "seed 7, dense: the answer differs"]]


def test_tests_depend_on_arithmetic_unless_their_file_is_listed(request):
    assert all(path.is_file() for path in arithmetic.EXCEPT)
    assert all(arithmetic.depends(arithmetic.file_of(name)) for name in arithmetic.SMALL)
    assert all(arithmetic.file_of(name).is_file() for name in arithmetic.SMALL)
    assert arithmetic.depends(Path("tests/test_that_was_written_today.py"))
    assert not request.node.get_closest_marker("arithmetic")
    for item in request.session.items:
        assert bool(item.get_closest_marker("arithmetic")) == arithmetic.depends(item.path)
