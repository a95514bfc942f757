"""What the pages say about options is what the classes of options declare."""

from __future__ import annotations

import inspect

import pytest

import rfdag
from fences import ROOT
from rfdag.bootstrapping.resampling import Sampling
from rfdag.methods.catalogue import METHODS
from rfdag.methods.settings import Running
from test_readme import table_after

CHOOSING = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
KINDS = (*METHODS.values(), rfdag.Baseline)
REST = (rfdag.Description, rfdag.Estimation, Running)


def as_code(value):
    """Return a default as the pages write it."""
    text = f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
    return f"`{text}`"


def test_the_table_of_options_is_what_methods_declare():
    header, *rows = table_after(CHOOSING, "## Options belong to methods")
    assert header == ["option", *(f"`{name}`" for name in METHODS), "baselines"]
    every = dict.fromkeys(name for kind in KINDS for name in kind.declared())
    expected = [
        [f"`{name}`", *(as_code(kind.declared()[name].default) if name in kind.declared() else "–" for kind in KINDS)]
        for name in every
    ]
    assert rows == expected


def test_the_options_of_all_methods_are_what_their_classes_declare():
    _, *rows = table_after(CHOOSING, "the same for all methods:")
    assert [options for _, options in rows] == [", ".join(f"`{name}`" for name in kind.declared()) for kind in REST]


def explained(documented):
    """Return the parameters that the reference explains, each with its default and the words of its explanation."""
    docscrape = pytest.importorskip("numpydoc.docscrape", reason="the extra docs makes the reference")
    parameters = docscrape.NumpyDocString(inspect.getdoc(documented))["Parameters"]
    return {each.name: (each.type.removeprefix("default "), " ".join(each.desc).split()) for each in parameters}


@pytest.mark.parametrize("kind", [*KINDS, *REST, Sampling], ids=lambda kind: kind.__name__)
def test_the_reference_explains_every_option(kind):
    declared = kind.declared()
    expected = {name: (repr(option.default), option.meaning.split()) for name, option in declared.items()}
    assert explained(kind) == expected
    shown = inspect.signature(kind).parameters.values()
    assert {each.name: each.default for each in shown} == {name: option.default for name, option in declared.items()}


def test_the_reference_of_functions_explains_declared_options():
    assert explained(rfdag.learn)["time_limit"][1] == Running.declared()["time_limit"].meaning.split()
    assert explained(rfdag.bootstrap)["share"][1] == Sampling.declared()["share"].meaning.split()
