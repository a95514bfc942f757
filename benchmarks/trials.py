"""rfdag installed into a clean environment and tried there, without its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from report import ROOT

PYTHONS = ("3.11", "3.12", "3.13")
"""Versions of Python that are supported."""

SMOKE = (
    "tests/test_bootstrap.py", "tests/test_cli.py", "tests/test_data.py", "tests/test_effects.py",
    "tests/test_environments.py", "tests/test_estimator.py", "tests/test_exchange.py", "tests/test_golden.py",
    "tests/test_gsp.py", "tests/test_hostile_files.py", "tests/test_knowledge.py", "tests/test_knowledge_files.py",
    "tests/test_learn.py", "tests/test_mixed.py", "tests/test_moments.py", "tests/test_plot.py",
    "tests/test_precision.py", "tests/test_result.py", "tests/test_scores.py", "tests/test_security.py",
    "tests/test_sparse.py", "tests/test_streaming.py",
)  # fmt: skip
"""Tests that are run against an installed package: each part of it, and all frozen results."""

BESIDE = (
    "tests",
    "docs",
    "benchmarks",
    "conftest.py",
    "pyproject.toml",
    "constraints.txt",
    "README.md",
    "CITATION.cff",
)
"""What the tests look at beside the package, and what is copied to where they run."""

OF_THE_CHECKOUT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that an environment of its own must not see."""

PATIENCE = 3600.0
"""Seconds after which a step is given up."""


class Failed(Exception):
    """A step that did not end well; its words are the last that it said."""


@dataclass(frozen=True)
class Trial:
    """An environment, and what was installed into it.

    Attributes
    ----------
    folder
        Where the environment and the tests lie.
    python
        Its interpreter.
    """

    folder: Path
    python: Path

    @classmethod
    def install(cls, interpreter: Path, folder: Path, requirements: Sequence[str]) -> Trial:
        """Make an environment of an interpreter and install requirements into it, as pip takes them."""
        run([str(interpreter), "-m", "venv", str(folder / "environment")], folder)
        trial = cls(folder, folder / "environment" / "bin" / "python")
        run([str(trial.python), "-m", "pip", "install", "--quiet", *requirements], folder)
        beside = folder / "beside"
        beside.mkdir()
        for name in BESIDE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, beside / name)
        return trial

    def versions(self, names: Sequence[str]) -> dict[str, str]:
        """Return the installed versions of some packages."""
        code = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]), sep='\\n')"
        return dict(zip(names, self._python("-c", code, *names).split(), strict=True))

    def look(self, version: str) -> None:
        """Ask the program for its version, and let it learn from data that come with it."""
        folder = self._python("-c", "import rfdag; print(rfdag.__file__)").strip()
        if not Path(folder).is_relative_to(self.folder):
            raise Failed(f"rfdag was imported from {folder}, which is not the environment.")
        program = str(self.python.with_name("rfdag"))
        said = run([program, "--version"], self.folder)
        if version not in said:
            raise Failed(f"rfdag --version says {said.strip()!r}, not {version}.")
        data = self._python("-c", "from rfdag import datasets; print(datasets.sachs_path())").strip()
        learnt = run([program, "learn", data, "--out", "learnt"], self.folder)
        if "order" not in learnt or not (self.folder / "learnt" / "result.json").is_file():
            raise Failed(f"rfdag learn says {learnt[-300:]!r}.")

    def test(self, tests: Sequence[str], *, strict: bool = True) -> str:
        """Run tests; return pytest's last line. If ``strict``, any warning is an error."""
        options = ["-q", "-p", "no:cacheprovider"]
        if not strict:
            options += ["-o", "filterwarnings=default", "--disable-warnings"]
        said = self._python("-m", "pytest", *options, *tests, folder=self.folder / "beside")
        return re.sub(r"=+", "", said.strip().splitlines()[-1]).strip()

    def _python(self, *words: str, folder: Path | None = None) -> str:
        return run([str(self.python), *words], folder or self.folder)


def interpreters() -> Iterator[tuple[str, Path | None]]:
    """Yield each supported version of Python with an interpreter found here; None where there is none."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in PYTHONS:
        found = [shutil.which(f"python{version}"), *map(str, sorted(managed.glob(f"{version}*/bin/python{version}")))]
        yield version, next((Path(each) for each in found if each and _answers(each, version)), None)


def _answers(interpreter: str, version: str) -> bool:
    """Return whether a program is this version of Python; a name on the path may stand for one that is not there."""
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def run(words: Sequence[str], folder: Path) -> str:
    """Return what a program prints; raise with its last words if it fails."""
    clean = {name: value for name, value in os.environ.items() if name not in OF_THE_CHECKOUT}
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        raise Failed(
            f"{' '.join(words[:6])} … ended with status {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout
