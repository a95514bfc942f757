"""Advice is tested: what a message advises is done, in Python and at the terminal, and works."""

from __future__ import annotations

import json
import re
import shlex
import sys
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rfdag
from advice_data import CODES, GAPS, OUT, ROWS, SOURCE, blurred, bootstrap, out_of_time
from advice_of_environments import OF_ENVIRONMENTS
from advice_of_input import OF_INPUT
from advice_of_methods import OF_METHODS
from advice_of_mixed import OF_MIXED
from rfdag.bootstrapping.resampling import Sampling
from rfdag.cli import app
from rfdag.errors import DeviceError, GraphError, Message, RfdagError
from rfdag.input.description import Description
from rfdag.methods.catalogue import METHODS
from rfdag.methods.settings import Running
from rfdag.precision.estimation import Estimation
from rfdag.runtime import device

CASES = [*OF_INPUT, *OF_METHODS, *OF_MIXED, *OF_ENVIRONMENTS]
COMMANDS = {rfdag.learn: ["learn"], bootstrap: ["bootstrap", "--jobs", "1"]}
DECLARED = {
    name: declared
    for kind in (Sampling, *METHODS.values(), Description, Estimation, Running)
    for name, declared in kind.declared().items()
}
PYTHON = re.compile(rf"\b({'|'.join([*DECLARED, 'method', 'knowledge'])})=")


@pytest.fixture(autouse=True)
def _forgetting_devices():
    device.require_device.cache_clear()
    yield
    device.require_device.cache_clear()


@pytest.fixture
def source_of(tmp_path):
    """Return a function that makes the data of a case, or those that its advice asks for instead."""

    def make(source):
        return source(tmp_path) if callable(source) else source

    return make


def messages_of(call, source, options):
    """Return what a call says, in errors or warnings, and whether it failed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(source, **options)
        except RfdagError as problem:
            return [problem.message], True
    messages = [each.message.args[0] for each in caught if each.message.args]
    advice = rfdag.result.remarks.advice_on_directions(result) if isinstance(result, rfdag.Result) else None
    return [*messages, *([] if advice is None else [advice])], False


def followed(options, advice):
    """Return options as they are after some advice."""
    changed = {**options, **{name: value for name, value in advice.items() if name != SOURCE}}
    return {name: value for name, value in changed.items() if value is not OUT}


def named_in(message):
    """Return the options that a message names, each with the codes of the values that it names."""
    found = {}
    for mark in re.findall("\x02([^\x03]*)\x03", message.template):
        name, given, code = mark.partition("=")
        found.setdefault(name, set()).update([code] if given else [])
    return found


def about(case, messages):
    """Return the message of a case."""
    found = [message for message in messages if case.words in str(message) and isinstance(message, Message)]
    found = [message for message in found if named_in(message)] if not case.words else found
    assert found, messages
    return found[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.place}: {case.words or case.also[0]}")
def test_advice_works(case, source_of, monkeypatch):
    if case.under is not None:
        case.under(monkeypatch)
    messages, _ = messages_of(case.call, source_of(case.source), case.options)
    message = about(case, messages)
    named = named_in(message)
    assert case.advice
    for advice in case.advice:
        for name, value in advice.items():
            # What comes with other data, and which columns are chosen where a message says how many, has no name in it.
            if name == SOURCE or (name not in named and name in ("n_samples", "input", "columns")):
                continue
            assert name in named or (value is OUT and name in message), message
            values = named.get(name, set()) - {repr(case.options.get(name))}
            assert value is OUT or not values or values & {repr(value), "…"}, message
        source = source_of(advice.get(SOURCE, case.source))
        later, failed = messages_of(case.call, source, followed(case.options, advice))
        assert not failed, (advice, later)
        assert not [other for other in later if case.words and case.words in str(other)], advice
    known = {*case.options, *case.restated, *chain.from_iterable(case.advice)}
    assert set(named) <= known, message


# At the terminal


def typed(name, value, tmp_path):
    """Return the words of the command line that pass an option."""
    if name == "method":
        return ["--method", value]
    if name == "knowledge":
        path = tmp_path / "known.json"
        path.write_text(json.dumps(value))
        return ["--knowledge", str(path)]
    if name == "targets" and isinstance(value, dict):
        path = tmp_path / "targets.json"
        path.write_text(json.dumps(value))
        return ["--targets", str(path)]
    if name == "runs":
        return ["--runs", str(value)]
    return DECLARED[name].arguments(tuple(value) if isinstance(value, list) else value)


def files_of(source, tmp_path):
    """Return the files that hold data; a frame is written."""
    if isinstance(source, pd.DataFrame):
        path = tmp_path / f"frame{len(list(tmp_path.iterdir()))}.csv"
        source.to_csv(path, index=False)
        return [str(path)]
    return [str(path) for path in (source if isinstance(source, list) else [source])]


def run(case, source, options, tmp_path):
    command = COMMANDS[case.call]
    more = {"runs": 3, **options} if case.call is bootstrap else options
    words = chain.from_iterable(typed(name, value, tmp_path) for name, value in more.items())
    done = CliRunner().invoke(app, [*command, *files_of(source, tmp_path), *words], env={"COLUMNS": "200"})
    return done.exit_code, " ".join(done.output.split())


def is_a_file(source):
    return isinstance(source, pd.DataFrame | Path) or (isinstance(source, list) and isinstance(source[0], Path))


def at_the_terminal(case):
    """Return whether the command line can bring a message about."""
    possible = case.terminal and case.call in COMMANDS and not callable(case.options.get("test"))
    return possible and (callable(case.source) or isinstance(case.source, pd.DataFrame))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if at_the_terminal(case)],
    ids=lambda case: f"{case.place}: {case.words or case.also[0]}",
)
def test_advice_works_at_the_terminal(case, source_of, monkeypatch, tmp_path):
    source = source_of(case.source)
    if case.under is not None:
        case.under(monkeypatch)
    messages, failed = messages_of(case.call, source, case.options)
    message = about(case, messages)
    status, said = run(case, source, case.options, tmp_path)
    assert (status != 0) is failed, said
    assert not PYTHON.search(said), said
    named = named_in(message)
    for advice in case.advice:
        for name, value in advice.items():
            if name in named and repr(value) in named[name]:
                words = typed(name, value, tmp_path)
                assert " ".join(map(shlex.quote, words)) in said, said
        other = source_of(advice.get(SOURCE, source))
        if is_a_file(other):
            status, later = run(case, other, followed(case.options, advice), tmp_path)
            assert status == 0, later


# Advice that depends on the run


@pytest.mark.parametrize(
    ("options", "cheaper"),
    [
        ({}, {"beam": 1}),
        ({"method": "gsp"}, {"method": "rfd"}),
        ({"method": "sp"}, {"method": "soft"}),
        ({"precision": "clime", "beam": 1}, {"precision": "nodewise"}),
        ({"precision": "averaged", "beam": 1}, {"precision": "shrinkage"}),
    ],
)
def test_time_and_shorter_runs_that_are_named_work(options, cheaper, monkeypatch):
    with monkeypatch.context() as short:
        out_of_time(short)
        messages, failed = messages_of(rfdag.learn, ROWS, {"time_limit": 3.0, **options})
    assert failed
    (message,) = messages
    named = named_in(message)
    for name, value in cheaper.items():
        assert repr(value) in named[name], message
    (enough,) = named["time_limit"] - {"3.0"}
    for advice in ({"time_limit": float(enough)}, {"time_limit": 60.0, **cheaper}):
        assert not messages_of(rfdag.learn, ROWS, {**options, **advice})[1]


def test_effects_at_the_terminal_name_options_of_learning(tmp_path):
    path = files_of(ROWS, tmp_path)[0]
    runner = CliRunner()
    out = str(tmp_path / "out")
    assert runner.invoke(app, ["learn", path, "--out", out, "--blocks"]).exit_code == 0
    refused = runner.invoke(app, ["effect", f"{out}/result.json", "a", "b"])
    said = " ".join(refused.output.split())
    assert refused.exit_code == 1
    assert "learn with --no-blocks" in said
    for words in (["--no-blocks"], ["--moments"]):
        assert words[0] in said
        assert runner.invoke(app, ["learn", path, "--out", out, *words]).exit_code == 0
        assert runner.invoke(app, ["effect", f"{out}/result.json", "a", "b"]).exit_code == 0


def test_an_open_effect_at_the_terminal_names_knowledge_as_typed(tmp_path, monkeypatch):
    out = str(tmp_path / "out")
    runner = CliRunner()
    path = files_of(ROWS[["a", "b"]], tmp_path)[0]
    assert runner.invoke(app, ["learn", path, "--out", out]).exit_code == 0

    def too_many(*args, **options):
        raise GraphError("There are too many.")

    monkeypatch.setattr("rfdag.effects.estimates.effect_range", too_many)
    done = runner.invoke(app, ["effect", f"{out}/result.json", "a", "b"])
    said = " ".join(done.output.split())
    assert done.exit_code == 0
    assert "learn with --knowledge …" in said
    assert not PYTHON.search(said)


def test_tests_of_a_package_that_is_missing_name_others(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    with pytest.raises(ImportError) as missing:
        rfdag.learn(ROWS, test="kci")
    path = files_of(ROWS, tmp_path)[0]
    said = " ".join(CliRunner().invoke(app, ["learn", path, "--test", "kci"]).output.split())
    for other, data in (("fisher-z", ROWS), ("hsic", ROWS), ("g2", CODES)):
        assert f"test={other!r}" in str(missing.value)
        assert f"--test {other}" in said
        assert rfdag.learn(data, test=other).order
    assert not PYTHON.search(said)


def test_a_beam_that_is_named_fits_on_the_device():
    def needed(p, width):
        return 1000.0 * p * width

    free = device.SPARE + 1000 * 100
    with pytest.raises(DeviceError) as refused:
        device.require_memory(20, 8, needed, free=free)
    (width,) = named_in(refused.value.message)["beam"]
    device.require_memory(20, int(width), needed, free=free)


TOO_FEW = [
    (ROWS[["a"]].assign(b=1.0), {}, "constant"),
    (ROWS[["a"]].assign(b=1.0), {"awkward": "keep-one"}, "would leave 1 of 2"),
    (ROWS[["a"]].assign(b=2 * ROWS["a"]), {}, "is a copy"),
    (ROWS[["a"]].assign(b=np.exp(ROWS["a"])), {"correlation": "kendall"}, "By ranks"),
    (ROWS[["a"]].assign(b=1.0), {"test": "fisher-z"}, "constant"),
    (blurred()[["a", "e"]], {}, "varies too little"),
    (GAPS[["a", "b"]], {"missing": "error"}, "or fill the values in first"),
    (ROWS[["a"]].assign(b=np.nan), {"missing": "drop"}, "Fill the values in first"),
    (ROWS[["a"]].assign(b=np.arange(80)), {}, "as row numbers"),
    (CODES[["a", "b"]], {}, "codes of categories"),
    (ROWS.assign(c=[f"{entry:.2f}".replace(".", ",") for entry in ROWS["c"]]), {}, "replace it by a point"),
]


@pytest.mark.parametrize(
    ("source", "options", "words"), TOO_FEW, ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_option_is_advised_that_leaves_too_few_columns(source, options, words):
    """Nor one that says how a file is written, about a frame."""
    messages, _ = messages_of(rfdag.learn, source, options)
    (message,) = [message for message in messages if words in message]
    usable = {"missing": {"'drop'"}, "categorical": {"['a', 'b']"}, "drop": {"['c']"}}
    for name, values in named_in(message).items():
        assert values <= usable.get(name, set()), message
