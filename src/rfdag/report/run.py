"""What was run, on what and with what."""

from __future__ import annotations

import datetime
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.report.rerun import Given, rerun
from rfdag.report.rows import Rows
from rfdag.result.optimality import optimality_in_words
from rfdag.result.pricing import price_in_words, score_explained
from rfdag.values import OBJECT
from rfdag.wording import count_of_tests

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

PACKAGES = ("numpy", "scipy", "numba")


def run_facts(
    result: Result, data: Any, rows: Rows | None, given: Given | None = None, bootstrap: Bootstrap | None = None
) -> dict[str, Any]:
    """Return the facts of the page's head, and how to run it again."""
    from rfdag import __version__

    return {
        "n": result.n_samples,
        "p": len(result.names),
        "input": result.input,
        "hash": _hash(result, rows),
        "settings": _settings(result),
        "changed": sorted(result.settings.given()),
        "seed": result.settings.running.random_state,
        "score": result.score,
        "optimality": optimality_in_words(result),
        "penalty": result.penalty,
        "gamma": result.gamma,
        "edge_price": price_in_words(result),
        "tests": count_of_tests(result.tests) if result.tests else None,
        "bic": score_explained(result),
        "estimator": None if result.estimator is None else str(result.estimator),
        "path": [[point.penalty, point.edges, point.criterion, point.chosen] for point in result.path],
        "timings": {name: round(seconds, 4) for name, seconds in result.timings.items()},
        "warnings": list(result.warnings),
        "versions": {"rfdag": __version__, "Python": platform.python_version(), **_versions()},
        "written": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **rerun(result, data, given, bootstrap)._asdict(),
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


def _settings(result: Result) -> dict[str, Any]:
    """Return the method and all options, flat."""
    parts = result.settings.parts().values()
    flat = {name: _plain(value) for part in parts for name, value in part.to_dict().items()}
    # The rule of a baseline is the name of the method.
    flat.pop("rule", None)
    return {"method": result.method.name, **flat}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return value[OBJECT]
    return list(value) if isinstance(value, tuple) else value


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
