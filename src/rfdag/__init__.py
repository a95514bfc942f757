"""Causal order, DAG and Markov equivalence class from data, by the Removal-Fill-Degree algorithm."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rfdag import datasets, effects, errors, exchange, graphs, metrics, simulate
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.bootstrapping.runs import bootstrap
    from rfdag.estimator import RFD
    from rfdag.evidence.moments import Moments
    from rfdag.evidence.oracle import Oracle
    from rfdag.input.columns import Column
    from rfdag.input.description import Description
    from rfdag.knowledge import Knowledge
    from rfdag.learning import learn
    from rfdag.methods import Baseline, Gsp, Rfd, Soft, Sp
    from rfdag.precision.estimation import Estimation
    from rfdag.result import Edge, Result, load

__all__ = [
    "RFD",
    "Baseline",
    "Bootstrap",
    "Column",
    "Description",
    "Edge",
    "Estimation",
    "Gsp",
    "Knowledge",
    "Moments",
    "Oracle",
    "Result",
    "Rfd",
    "Soft",
    "Sp",
    "__version__",
    "bootstrap",
    "datasets",
    "effects",
    "errors",
    "exchange",
    "graphs",
    "learn",
    "load",
    "metrics",
    "simulate",
]

# Names are imported when first used: `import rfdag` stays fast, and what is not needed is not loaded.
_HOMES = {
    "RFD": "rfdag.estimator",
    "bootstrap": "rfdag.bootstrapping.runs",
    "Bootstrap": "rfdag.bootstrapping.frequencies",
    "Knowledge": "rfdag.knowledge",
    "learn": "rfdag.learning",
    "Baseline": "rfdag.methods",
    "Gsp": "rfdag.methods",
    "Rfd": "rfdag.methods",
    "Soft": "rfdag.methods",
    "Sp": "rfdag.methods",
    "Column": "rfdag.input.columns",
    "Description": "rfdag.input.description",
    "Estimation": "rfdag.precision.estimation",
    "Oracle": "rfdag.evidence.oracle",
    "Moments": "rfdag.evidence.moments",
    "Edge": "rfdag.result",
    "Result": "rfdag.result",
    "load": "rfdag.result",
}
_MODULES = {"datasets", "effects", "errors", "exchange", "graphs", "metrics", "simulate"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rfdag.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'rfdag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
