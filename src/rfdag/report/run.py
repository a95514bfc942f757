"""What was run, on what, with what, and how to run it again."""

from __future__ import annotations

import datetime
import hashlib
import platform
import shlex
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.report.rows import Rows, files_of
from rfdag.settings import Settings

if TYPE_CHECKING:
    from rfdag.result import Result

PACKAGES = ("numpy", "scipy", "numba")
FLAGS = {"random_state": "--seed"}
"""Options whose spelling on the command line is not their name with hyphens."""


def run_facts(result: Result, data: Any, rows: Rows | None) -> dict[str, Any]:
    """Return the facts of the page's head."""
    from rfdag import __version__

    changed = _changed(result.settings)
    files = files_of(data)
    return {
        "n": result.n_samples,
        "p": len(result.names),
        "input": result.input,
        "hash": _hash(result, rows),
        "settings": {name: _plain(value) for name, value in result.settings.to_dict().items()},
        "changed": sorted(changed),
        "seed": result.settings.random_state,
        "score": result.score,
        "penalty": result.penalty,
        "gamma": result.gamma,
        "path": [[point.penalty, point.edges, point.criterion, point.chosen] for point in result.path],
        "timings": {name: round(seconds, 4) for name, seconds in result.timings.items()},
        "warnings": list(result.warnings),
        "versions": {"rfdag": __version__, "Python": platform.python_version(), **_versions()},
        "written": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": _python_call(result, changed, files),
        "command": _command(result, changed, files),
    }


def _hash(result: Result, rows: Rows | None) -> dict[str, str] | None:
    if rows is not None:
        return {"of": "the data", "sha256": rows.hash}
    if result.moments is None:
        return None
    digest = hashlib.sha256(repr((tuple(map(str, result.names)), result.n_samples)).encode(errors="surrogatepass"))
    # Twelve digits: the last ones of a correlation depend on the machine.
    for part in (result.moments.means, result.moments.scales):
        digest.update(" ".join(f"{value:.12g}" for value in part.tolist()).encode())
    digest.update(np.ascontiguousarray(result.moments.factor, "<f8").tobytes())
    return {"of": "names, means and correlations (the data were not given to the report)", "sha256": digest.hexdigest()}


def _changed(settings: Settings) -> dict[str, Any]:
    usual = Settings().to_dict()
    return {name: value for name, value in settings.to_dict().items() if value != usual[name]}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _options(result: Result, changed: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {} if result.input == "data" else {"input": result.input}
    if result.input in ("correlation", "covariance", "precision") and result.n_samples is not None:
        given["n_samples"] = result.n_samples
    return given | changed


def _python_call(result: Result, changed: dict[str, Any], files: list[Path]) -> str:
    source = repr(files[0].name) if len(files) == 1 else "data"
    options = "".join(f", {name}={value!r}" for name, value in _options(result, changed).items())
    knowledge = ", knowledge=knowledge" if result.knowledge is not None else ""
    return f"import rfdag\n\nresult = rfdag.learn({source}{knowledge}{options})"


def _command(result: Result, changed: dict[str, Any], files: list[Path]) -> str:
    words = ["rfdag", "learn", *([path.name for path in files] or ["data.csv"])]
    if result.knowledge is not None:
        words += ["--knowledge", "knowledge.txt"]
    for name, value in _options(result, changed).items():
        if name == "refine":
            words.append("--refine" if value else "--no-refine")
        elif value is not None:
            spelt = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [FLAGS.get(name, f"--{name.replace('_', '-')}"), spelt]
    return shlex.join([*words, "--report", "report.html"])
