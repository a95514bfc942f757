"""The studies by name, in the order of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from rfdag.errors import OptionError
from rfdag.studies.paper.study import Study

EVERYTHING = "all"
_MODULES = {
    "examples": "examples",
    "noiseless": "noiseless",
    "time": "noisy",
    "roc": "noisy",
    "scaling": "scaling",
    "dense-family": "dense_family",
    "runtime": "runtime_law",
    "beyond-noiseless": "beyond_noiseless",
    "beyond-noisy": "beyond_noisy",
    "nonparametric": "nonparametric",
}


def names() -> list[str]:
    """Return the names of all studies.

    >>> "noiseless" in names()
    True
    """
    return list(_MODULES)


def chosen(wanted: Sequence[str]) -> list[Study]:
    """Return studies by name, each once; "all" means all of them."""
    if not wanted:
        raise OptionError(f"Name a figure: {', '.join(_MODULES)}; or {EVERYTHING}.")
    for name in wanted:
        if name != EVERYTHING and name not in _MODULES:
            raise OptionError(f"There is no figure {name!r}. Known are {', '.join(_MODULES)}, and {EVERYTHING}.")
    everything = EVERYTHING in wanted
    return [_study(name) for name in _MODULES if everything or name in wanted]


def _study(name: str) -> Study:
    studies: Sequence[Study] = import_module(f"rfdag.studies.paper.{_MODULES[name]}").STUDIES
    return next(study for study in studies if study.name == name)
