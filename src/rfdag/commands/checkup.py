"""What an installation has, lacks and can do, found out in processes that may crash without harm."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import rfdag
from rfdag.commands.probes import QUESTIONS, Answer

if TYPE_CHECKING:
    from rfdag.commands.doctor import PeerEnvironments

NEEDED = {
    "gadjid": "gadjid",
    "jinja2": "jinja2",
    "joblib": "joblib",
    "narwhals": "narwhals",
    "networkx": "networkx",
    "numba": "numba",
    "numpy": "numpy",
    "rich": "rich",
    "scikit-learn": "sklearn",
    "scipy": "scipy",
    "threadpoolctl": "threadpoolctl",
    "typer": "typer",
}
"""Distributions that rfdag needs, and their modules."""
PATIENCE = 300.0
"""Seconds for all answers: kernels may have to be compiled, and some libraries take long to import."""


class Extra(NamedTuple):
    """Optional packages: what they are for, and the modules of their distributions."""

    purpose: str
    packages: dict[str, str]


EXTRAS = {
    "pandas": Extra("result.to_frame(), which gives pandas frames", {"pandas": "pandas"}),
    "polars": Extra("polars frames, in and out", {"polars": "polars"}),
    "excel": Extra("Excel files", {"openpyxl": "openpyxl"}),
    "parquet": Extra("Parquet and Feather files, Arrow tables", {"pyarrow": "pyarrow"}),
    "dask": Extra("Dask collections and clusters", {"dask": "dask", "distributed": "distributed"}),
    "plots": Extra("result.plot(), figures of rfdag reproduce", {"matplotlib": "matplotlib"}),
    "cuda": Extra("computing on a GPU", {"cupy-cuda13x": "cupy"}),
    "causal-learn": Extra("graphs to and from causal-learn", {"causal-learn": "causallearn"}),
    "pgmpy": Extra("graphs to and from pgmpy", {"pgmpy": "pgmpy"}),
    "interop": Extra(
        "graphs to and from all packages that rfdag knows",
        {"causal-learn": "causallearn", "dowhy": "dowhy", "lingam": "lingam", "pgmpy": "pgmpy"},
    ),
}


@dataclass(frozen=True)
class Checkup:
    """All answers: those about packages by distribution, the others by question."""

    packages: dict[str, Answer]
    answers: dict[str, Answer]
    folder: Path
    """Where the peers' environments are looked for."""
    peers: dict[str, bool]
    """The peers' environments by name: whether each is ready."""

    @classmethod
    def make(cls, environments: PeerEnvironments, folder: Path) -> Checkup:
        """Ask everything; the peers' environments are looked for in that folder."""
        modules = NEEDED | {name: module for extra in EXTRAS.values() for name, module in extra.packages.items()}
        found = ask([*(f"{name}={module}" for name, module in modules.items()), *QUESTIONS])
        packages = {name: found[f"{name}={module}"] for name, module in modules.items()}
        peers = {name: environments.is_ready(name, folder) for name in environments.names()}
        return cls(packages, {question: found[question] for question in QUESTIONS}, folder, peers)

    @property
    def errors(self) -> list[str]:
        """What keeps rfdag from working here, in words."""
        errors = []
        for name in NEEDED:
            if self.packages[name].get("missing"):
                errors.append(f"{name} is not installed: pip install {name}")
            elif self.packages[name]["problem"]:
                errors.append(f"{name} cannot be imported: {self.packages[name]['problem']}")
        problem = self.answers["self_test"]["problem"]
        return [*errors, f"The self-test failed: {problem}"] if problem else errors

    @property
    def warnings(self) -> list[str]:
        """What makes rfdag slower than it need be, in words."""
        warnings = []
        kernels, threads = self.answers["kernels"], self.answers["threads"]
        if kernels.get("compiled") is False:
            cure = "unset NUMBA_DISABLE_JIT" if kernels["installed"] else "pip install numba"
            warnings.append(f"Kernels run as plain Python, about a hundred times slower: {cure}")
        elif kernels.get("writable") is False:
            warnings.append(
                "There is no folder to cache compiled kernels in, so every run compiles them again: set the variable "
                "NUMBA_CACHE_DIR to a folder that you can write to."
            )
        allowed = threads.get("container")
        if allowed is not None and threads["used"] > allowed:
            warnings.append(
                f"The container allows the time of {allowed:g} cores, and rfdag uses {threads['used']} threads: pass "
                f"--jobs {max(1, int(allowed))}."
            )
        return warnings

    def state(self, extra: str) -> str:
        """Return whether the packages of an extra are "ready", "missing" or "broken"."""
        found = [self.packages[name] for name in EXTRAS[extra].packages]
        if any(package["problem"] for package in found):
            return "broken"
        return "missing" if any(package.get("missing") for package in found) else "ready"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        return {
            "usable": not self.errors,
            "errors": self.errors,
            "warnings": self.warnings,
            "rfdag": rfdag.__version__,
            "python": platform.python_version(),
            "executable": sys.executable,
            "platform": platform.platform(),
            "packages": {name: self.packages[name] for name in NEEDED},
            "extras": {
                name: {
                    "state": self.state(name),
                    "purpose": extra.purpose,
                    "install": install_line(name),
                    "packages": {package: self.packages[package] for package in extra.packages},
                }
                for name, extra in EXTRAS.items()
            },
            **self.answers,
            "peers": {
                "folder": str(self.folder),
                "ready": [name for name, ready in self.peers.items() if ready],
                "missing": [name for name, ready in self.peers.items() if not ready],
            },
        }


def install_line(extra: str) -> str:
    """Return the command that installs an extra.

    >>> install_line("plots")
    "pip install 'rfdag[plots]'"
    """
    return f"pip install 'rfdag[{extra}]'"


def ask(questions: Sequence[str]) -> dict[str, Answer]:
    """Return the answers to questions; where one ends its process, that is its answer, and the rest are asked again."""
    found: dict[str, Answer] = {}
    left = list(questions)
    while left:
        lines, problem = _run(left)
        found |= dict(zip(left, lines, strict=False))
        left = left[len(lines) :]
        if left:
            found[left.pop(0)] = {"problem": problem}
    return found


def _run(questions: Sequence[str]) -> tuple[list[Answer], str]:
    """Return the answers that one process gave, and why there are no more."""
    program = [sys.executable, "-P", "-W", "ignore", "-m", "rfdag.commands.probes", *questions]
    try:
        done = subprocess.run(program, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as late:
        return _answers(late.stdout or b""), f"There was no answer within {PATIENCE:g} s."
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return _answers(done.stdout), " ".join([f"It ended the process with status {done.returncode}.", *last])


def _answers(text: bytes) -> list[Answer]:
    # A line without a line break was cut off.
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]
