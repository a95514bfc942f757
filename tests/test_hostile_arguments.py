"""Arguments and options of every kind end in an answer or in an error of rfdag that says something."""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arguments
import command_lines
import rfdag
from hostile import hostile
from rfdag.errors import OptionError, RfdagError
from taken import rows

CALLS = list(arguments.calls())
FEW = settings(max_examples=4, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@pytest.fixture(scope="module", autouse=True)
def _elsewhere(tmp_path_factory):
    """Run in a folder where files may be written, which holds those that command lines name."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("hostile")
        patch.chdir(folder)
        command_lines.prepare(folder)
        yield


def test_every_parameter_has_values_that_it_takes():
    for call in CALLS:
        for parameter in call.parameters:
            call.taken(parameter)


@pytest.mark.parametrize("call", CALLS, ids=str)
@FEW
@given(data=st.data())
def test_a_call_returns_or_is_refused_in_words(call, data):
    call.outcome(data.draw(arguments.arguments(call)))


@settings(FEW, max_examples=30)
@given(options=arguments.options())
def test_options_of_learn_are_taken_or_refused_in_words(options):
    arguments.outcome(rfdag.learn, {"data": rows(), "progress": False, "n_jobs": 1} | options)


@pytest.mark.parametrize("kind", arguments.kinds_of_options(), ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_classes_of_options_take_or_refuse_in_words(kind, data):
    names = data.draw(st.sets(st.sampled_from(sorted(kind.declared())), min_size=1, max_size=3))
    given = {name: data.draw(st.one_of(arguments.admitted(kind.declared()[name]), hostile())) for name in names}
    arguments.outcome(kind, given)


@pytest.mark.parametrize("kind", arguments.kinds_of_options(), ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_values_within_a_declaration_are_taken_one_at_a_time(kind, data):
    name = data.draw(st.sampled_from(sorted(kind.declared())))
    value = data.draw(arguments.admitted(kind.declared()[name]))
    words = ""
    try:
        kind(**{name: value})
    except OptionError as error:
        words = str(error)
    # It may contradict another option; but no message says that it is none of this one's values.
    assert f"{name} is {kind.declared()[name].describe()}, not" not in words


# The doctor starts processes of its own, which take seconds; the long tier runs it.
@pytest.mark.parametrize("name", sorted(set(command_lines.BASES) - {"doctor"}))
@settings(FEW, max_examples=8)
@given(data=st.data())
def test_a_command_ends_with_a_status_and_words(name, data):
    command_lines.run(data.draw(command_lines.lines(name)))


def test_every_command_is_tried():
    assert set(command_lines.BASES) == set(command_lines.commands())


def test_what_is_tried_is_all_that_is_public():
    tried = {call.name.split(".")[-1] for call in CALLS} | {call.name.split(".")[0] for call in CALLS}
    classes = {kind.__name__ for kind in arguments.kinds_of_options()} | arguments.RECORDS | {"__version__"}
    modules = {name for name in rfdag.__all__ if inspect.ismodule(getattr(rfdag, name))}
    assert set(rfdag.__all__) <= tried | classes | modules


@pytest.mark.parametrize(
    "call",
    [
        lambda: rfdag.Oracle([[1, 2], ["x"]]),
        lambda: rfdag.learn(rows(), targets=[None, [1]]),
        lambda: rfdag.learn(rows(), targets={"drug": 0.5}, environments="a"),
        lambda: rfdag.learn(rows(), observational=0.5),
        lambda: rfdag.graphs.icpdag([[0, 1], [0, 0]], [[0]], hard=[True, False]),
        lambda: rfdag.learn(rows(), progress=[0.5]),
        lambda: rfdag.learn(rows(), columns=np.array(1.0)),
        lambda: rfdag.Moments.from_correlation(np.eye(2), 40, [("a", {}), "b"]),
        lambda: rfdag.learn(rows(), drop=[("a", np.zeros(2))]),
        lambda: rfdag.learn(pd.DataFrame({"a": [[1]] * 9, "b": range(9)})),
        lambda: rfdag.graphs.ancestors(np.eye(3, k=1), np.ma.array([0, 1, 2], mask=[0, 1, 0])),
        lambda: rfdag.graphs.ancestors(np.eye(3, k=1), [np.ma.masked, 1]),
        lambda: rfdag.graphs.cpdag(np.ma.array(np.eye(3, k=1), mask=np.eye(3))),
        lambda: rfdag.graphs.cpdag([[0, np.ma.masked], [0, 0]]),
        lambda: rfdag.simulate.linear_sem(np.eye(3, k=1), rng=1, variances=np.array([1.0, 2.0 + 1j, 1.0])),
        lambda: rfdag.graphs.icpdag(np.eye(3, k=1), np.array(1.0)),
        lambda: rfdag.graphs.icpdag(np.eye(3, k=1), [np.array(1.0)]),
        lambda: rfdag.RFD().fit(rows(), sample_weight=np.full(len(rows()), 1j)),
        lambda: rfdag.learn("a" * 5000),
        lambda: rfdag.load("a" * 5000),
    ],
)
def test_what_random_arguments_found(call):
    with pytest.raises(RfdagError) as caught:
        call()
    assert len(str(caught.value)) > 20


def test_a_level_may_be_any_kind_of_number():
    found = rfdag.learn(rows(), names=["a", "b", "c", "d"])
    assert found.effect_range("a", "b", level=Fraction(19, 20)).lowest == found.effect_range("a", "b").lowest


def test_a_folder_that_changes_while_it_is_listed_is_refused(tmp_path, monkeypatch):
    def removed(folder, pattern):
        raise FileNotFoundError

    monkeypatch.setattr(type(tmp_path), "rglob", removed)
    with pytest.raises(RfdagError, match="removed while it was listed"):
        rfdag.learn(tmp_path)
