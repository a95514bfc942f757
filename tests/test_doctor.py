"""`rfdag doctor`: in a sound installation, and in broken ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.commands import checkup, compiling, doctor, probes
from rfdag.errors import DataWarning
from rfdag.methods.catalogue import BUILT_IN
from rfdag.runtime import compilation
from rfdag.simulate import linear_sem, random_dag, sample

PROGRAM = [sys.executable, "-c", "from rfdag.cli import main; main()", "doctor"]
FOR_DEVELOPERS = {"dev", "docs", "fuzz", "release", "test"}


def call(*words, cwd, path=None):
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    if path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run([*PROGRAM, *words], capture_output=True, text=True, env=environment, cwd=cwd, check=False)


WELL = {
    "threads": {
        "problem": "",
        "cores": 8,
        "used": 8,
        "container": None,
        "numba": 8,
        "libraries": [
            {"name": "openblas", "version": "0.3", "threads": 8},
            {"name": "openmp", "version": None, "threads": 4},
        ],
        "variables": {"OMP_NUM_THREADS": "8"},
    },
    "memory": {"problem": "", "free": 2 * 10**9},
    "device": {"problem": "--device cuda needs CuPy."},
    "kernels": {"problem": "", "compiled": True, "count": 3, "kept": 2, "folders": ["/cache"], "writable": True},
    "self_test": {"problem": "", "seconds": 0.5},
}
GPU = {
    "problem": "",
    "name": "H200",
    "devices": 2,
    "free": 10**11,
    "total": 2 * 10**11,
    "driver": "13.0",
    "runtime": "12.9",
}


def checked(packages=None, **answers):
    """Return a checkup of an installation in which all is well but for the given answers."""
    every = [*checkup.NEEDED, *(name for extra in checkup.EXTRAS.values() for name in extra.packages)]
    found = {name: {"problem": "", "version": "1.0"} for name in every}
    return checkup.Checkup(found | (packages or {}), WELL | answers, Path("peers"), {"ges": True, "xges": False})


def test_a_sound_installation(tmp_path):
    done = call("--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["usable"]
    assert found["errors"] == []
    assert found["rfdag"] == rfdag.__version__
    assert set(found["packages"]) == set(checkup.NEEDED)
    assert all(answer["version"] for answer in found["packages"].values())
    assert found["extras"]["pandas"]["state"] == "ready"
    assert found["extras"]["plots"]["install"] == "pip install 'rfdag[plots]'"
    assert found["threads"]["used"] >= 1
    assert found["threads"]["libraries"]
    assert found["memory"]["free"] > 0
    assert found["kernels"]["count"] > 30
    assert found["self_test"]["seconds"] > 0
    assert found["peers"] == {"folder": ".peers", "ready": [], "missing": found["peers"]["missing"]}
    assert "flopsearch" in found["peers"]["missing"]
    assert not list(tmp_path.iterdir())


def test_broken_packages_are_reported(tmp_path):
    """One extra raises, one ends the process, and a package that is needed raises."""
    broken = {
        "polars": "raise ImportError('libpolars.so is missing')",
        "lingam": "import os, sys; print('a line of its own'); sys.stderr.write('bad bytes\\n'); os._exit(7)",
        "gadjid": "raise RuntimeError('built for\\nanother machine')",
    }
    for name, code in broken.items():
        (tmp_path / "path" / name).mkdir(parents=True)
        (tmp_path / "path" / name / "__init__.py").write_text(code)
    done = call(cwd=tmp_path, path=tmp_path / "path")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert any("[polars]" in line and "broken: polars: ImportError: libpolars.so is missing" in line for line in lines)
    assert any("lingam: It ended the process with status 7. bad bytes" in line for line in lines)
    assert "Error: gadjid cannot be imported: RuntimeError: built for another machine" in lines
    assert any("Self-test" in line and "five variables" in line for line in lines)
    assert "rfdag works here." not in lines


@pytest.mark.parametrize("words", [["extra"], ["--peers"], ["--wrong"]])
def test_misuse(words, tmp_path):
    done = call(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_packages_are_those_that_are_declared():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

    def distributions(requirements):
        return {requirement.split(">")[0].split("[")[0] for requirement in requirements}

    assert set(checkup.NEEDED) == distributions(project["dependencies"])
    extras = project["optional-dependencies"]
    assert set(checkup.EXTRAS) == set(extras) - FOR_DEVELOPERS
    for name, extra in checkup.EXTRAS.items():
        assert set(extra.packages) == distributions(extras[name])


def test_kernels_are_those_of_the_package():
    root = Path(rfdag.__file__).parent
    decorated = re.compile(r"\n@kernel\(.*\)\ndef (\w+)")
    functions = {(str(path), name) for path in root.rglob("*.py") for name in decorated.findall(path.read_text())}
    registered = {
        (kernel.py_func.__code__.co_filename, kernel.py_func.__name__)
        for kernel in compiling.import_kernels()
        if kernel.py_func.__module__.startswith("rfdag.")
    }
    assert registered == functions
    assert len(functions) > 25


def test_compiling_everything_leaves_nothing_to_compile():
    told = []
    found = compiling.compile_all(lambda name, share: told.append(share))
    assert found["left_out"] == []
    assert told[0] == 0
    assert told == sorted(told)
    dag = random_dag(20, degree=3, rng=5)
    rows = sample(linear_sem(dag, rng=6), 300, rng=7)
    rng = np.random.default_rng(8)
    with compilation.counting() as compiled:
        for method in set(BUILT_IN) - {"sp"}:
            rfdag.learn(rows, method, n_jobs=2)
            rfdag.learn(dag, method, input="dag")
        rfdag.learn(rows[:, :6], "sp", knowledge={"tiers": [[0, 1], [2, 3, 4, 5]]})
        rfdag.learn(rows, rfdag.Soft(beam=16, rescoring="lazy"), knowledge={"tiers": [range(10), range(10, 20)]})
        rfdag.learn(sparse.csr_array(dag), input="dag").cpdag  # noqa: B018
        rfdag.learn(rows, correlation="spearman")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            words = np.array(["low", "middle", "high"])[np.digitize(rows[:, :4], [-0.5, 0.5])]
            table = np.hstack([words.astype(object), rows[:, 4:]])
            known = {"tiers": [range(10), range(10, 20)]}
            rfdag.learn(table, knowledge=known, n_jobs=2)
            rfdag.learn(np.where(rng.random(table.shape) < 0.05, np.nan, table), basis="auto")
            rfdag.learn(np.where(rng.random(rows.shape) < 0.05, np.nan, rows), correlation="normal-scores")
            for options in ({}, {"score": "multinomial"}, {"score": "gaussian"}):
                rfdag.learn(words, **options)
            rfdag.bootstrap(words, runs=2, n_jobs=1)
    assert compiled() == 0


def test_the_program_compiles_everything_first(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "runs", lambda: {"soft, rows": lambda: None})
    found = doctor.compile_everything()
    assert found["functions"] == 0
    assert "Compiled 0 functions" in capsys.readouterr().err
    monkeypatch.setattr(doctor, "compile_everything", lambda: found)
    monkeypatch.setattr(checkup.Checkup, "make", lambda environments, folder: checked())
    done = CliRunner().invoke(app, ["doctor", "--compile", "--json"])
    assert json.loads(done.stdout)["compiled"] == found
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert "compiled" not in json.loads(done.stdout)


def test_what_slows_rfdag_down_is_a_warning():
    assert checked().warnings == []
    plain = {"problem": "", "compiled": False}
    assert "pip install numba" in checked(kernels=plain | {"installed": False}).warnings[0]
    assert "unset NUMBA_DISABLE_JIT" in checked(kernels=plain | {"installed": True}).warnings[0]
    nowhere = {"problem": "", "compiled": True, "count": 3, "kept": 0, "folders": [], "writable": False}
    assert "NUMBA_CACHE_DIR" in checked(kernels=nowhere).warnings[0]
    threads = {"problem": "", "used": 8, "container": 1.5}
    assert "--jobs 1" in checked(threads=threads).warnings[0]


def test_a_failed_self_test_is_an_error():
    found = checked(self_test={"problem": "It found no edge."})
    assert found.errors == ["The self-test failed: It found no edge."]
    assert checked({"numpy": {"problem": "", "missing": True}}).errors == ["numpy is not installed: pip install numpy"]


def test_a_gpu_is_described(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    doctor.print_checkup(checked(device=GPU))
    shown = capsys.readouterr().out
    assert "H200, the first of 2, 100.0 of 200.0 GB free, driver for CUDA 13.0, runtime 12.9" in shown
    assert "8 cores; rfdag uses 8; threads of libraries: openblas 0.3 8, openmp 4, numba 8; OMP_NUM_THREADS=8" in shown
    assert "2 of 3 compiled and cached under /cache" in shown
    assert "1 of 2 environments in peers; rfdag bench --setup makes them" in shown
    assert "rfdag works here." in shown
    doctor.print_checkup(checked())
    assert "--device cuda needs CuPy" in capsys.readouterr().out


def test_nothing_that_cannot_be_known_hides_the_rest(capsys):
    unknown = {"problem": "OSError: no such file"}
    doctor.print_checkup(checked(threads=unknown, memory=unknown, kernels=unknown, device=unknown))
    shown = capsys.readouterr().out
    assert shown.count("OSError") == 4
    assert "Self-test" in shown


def test_containers_tell_their_share_of_the_cores(tmp_path):
    assert probes.cores_of_container(tmp_path) is None
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert probes.cores_of_container(tmp_path) == 0.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert probes.cores_of_container(tmp_path) is None
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    assert probes.cores_of_container(tmp_path) == 2.5


def test_a_question_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(checkup, "PATIENCE", 0.001)
    found = checkup.ask(["memory"])
    assert found == {"memory": {"problem": "There was no answer within 0.001 s."}}


def test_the_self_test_notices_a_wrong_answer(monkeypatch):
    monkeypatch.setattr(probes, "EDGES", {("end", "cause")})
    assert "instead of end → cause" in probes.answer("self_test")["problem"]
