"""Options are declared once: what a class of options does, and every place that derives from it."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import FrozenInstanceError, replace
from typing import Literal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from typer.testing import CliRunner

import rfdag
from rfdag import simulate
from rfdag.cli import app
from rfdag.commands.declared import DeclaredCommand
from rfdag.commands.speech import spelling
from rfdag.errors import Message, OptionError, keyword
from rfdag.input.description import Description
from rfdag.methods import METHODS, Rfd, Soft
from rfdag.methods.settings import Running, Settings
from rfdag.options import Options, option, options
from rfdag.report.rerun import rerun


@pytest.fixture(scope="module")
def rows():
    return simulate.sample(simulate.linear_sem(simulate.random_dag(4, degree=2, rng=1), rng=1), 200, rng=1)


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,c,d", comments="")
    return path


def run(*words, columns="200"):
    return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": columns, "NO_COLOR": "1"})


# One more option of one class


@options
class More(Soft):
    """The default method with one more option."""

    extra: int | Literal["auto"] = option(
        default="auto", meaning="How much more of it. There is nothing else to say.", least=1, flag="more"
    )


@pytest.fixture
def more(monkeypatch):
    monkeypatch.setitem(METHODS, "soft", More)


def test_it_is_a_keyword_and_a_setting(more, rows):
    result = rfdag.learn(rows, extra=5)
    assert result.settings.method == More(extra=5)
    assert result.settings.given() == {"extra": 5}
    assert result.settings.to_dict()["method"]["extra"] == 5
    assert rfdag.learn(rows).settings.given() == {}
    with pytest.raises(OptionError, match=r"extra is a whole number of at least 1 or 'auto', not 0\."):
        rfdag.learn(rows, extra=0)


def test_methods_without_it_refuse_it_and_name_the_one_that_has_it(more, rows):
    with pytest.raises(OptionError, match=r"Method 'rfd' has no option extra; method 'soft' has it\. Leave it out, or"):
        rfdag.learn(rows, "rfd", extra=5)


def test_it_is_a_parameter_of_the_estimator(more, rows):
    assert rfdag.RFD().get_params()["method__extra"] == "auto"
    estimator = clone(rfdag.RFD().set_params(method__extra=2, method__penalty=3.0))
    assert estimator.method == More(extra=2, penalty=3.0)
    search = GridSearchCV(rfdag.RFD(), {"method__extra": [1, 2]}, cv=2).fit(rows)
    assert search.best_estimator_.result_.settings.method.extra in (1, 2)
    with pytest.raises(ValueError, match="method__extra"):
        rfdag.RFD("rfd").set_params(method__extra=2)


@pytest.mark.parametrize("command", ["learn", "bootstrap"])
def test_it_is_an_option_of_commands(more, command, table, monkeypatch):
    shown = " ".join(run(command, "--help").output.split())
    assert re.search(r"--more <int\|auto> How much more of it\. Only for soft\. \[default: auto\]", shown)
    taken = []
    monkeypatch.setattr(f"rfdag.{command}", lambda *arguments, **given: taken.append(given) or 1 / 0)
    for words, value in ((["--more", "5"], 5), (["--more", "auto"], "auto")):
        assert isinstance(run(command, table, *words).exception, ZeroDivisionError)
        assert taken.pop()["extra"] == value
    run(command, table)
    assert "extra" not in taken.pop()
    done = run(command, table, "--more", "0")
    assert done.exit_code == 2
    assert "Invalid value for '--more': '0' is not a whole number of at least 1 or 'auto'." in done.output
    assert taken == []


def test_commands_refuse_it_for_other_methods_in_their_own_spelling(more, table):
    done = run("learn", table, "--method", "rfd", "--more", "5")
    assert done.exit_code == 2
    assert "Method 'rfd' has no option --more; method 'soft' has it." in done.output


def test_it_is_saved_and_loaded(more, rows, tmp_path):
    result = rfdag.learn(rows, extra=5)
    assert rfdag.load(result.save(tmp_path / "result.json")).settings == result.settings


def test_code_and_command_of_a_report_have_it(more, rows):
    again = rerun(rfdag.learn(rows, extra=5))
    assert again.python.endswith("result = rfdag.learn(data, extra=5)")
    assert again.command == "rfdag learn data.csv --more 5 --report report.html"


def test_the_reference_has_it(more):
    assert "    extra : default 'auto'\n        How much more of it. There is nothing else to say." in More.__doc__
    assert "    beam : default 'auto'" in More.__doc__


# Options themselves


@options
class Sample(Options):
    """Some of every kind."""

    whole: int = option(default=1, meaning="Whole.", least=1)
    share: float | None = option(default=None, meaning="Share.", above=0, most=1)
    price: float | tuple[float, ...] = option(default=2.0, meaning="Price.", least=0, most=100)
    word: Literal["a", "b"] = option(default="a", meaning="Word.")
    switch: bool | Literal["auto"] = option(default="auto", meaning="Switch.")
    sign: str = option(default=",", meaning="Sign.", typed={"tab": "\t"}, flag="mark")


DECLARED = Sample.declared()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("whole", "a whole number of at least 1"),
        ("share", "a number above 0 or None"),
        ("price", "a number from 0 to 100 or several of these"),
        ("word", "'a' or 'b'"),
        ("switch", "True, False or 'auto'"),
        ("sign", "text"),
    ],
)
def test_values_in_words(name, words):
    assert DECLARED[name].describe() == words


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("whole", [1, 2**70], [0, 1.0, True, None, "1", math.nan, (1,)]),
        ("share", [None, 0.5, 1], [0, 1.1, math.inf, math.nan, False, "half"]),
        ("price", [0, 2.5, 100, (1, 2.5)], [-1, 101, (), (1, -1), ("a",), None, True]),
        ("word", ["a", "b"], ["c", None, 1, True]),
        ("switch", [True, False, "auto"], [None, 1, 0, "True"]),
        ("sign", ["", ";"], [None, 1, True]),
    ],
)
def test_values_that_are_admitted(name, good, bad):
    for value in good:
        assert getattr(Sample(**{name: value}), name) == value
    for value in bad:
        with pytest.raises(OptionError, match=f"^{name} is {re.escape(DECLARED[name].describe())}, not "):
            Sample(**{name: value})


def test_numbers_and_sequences_of_numpy_become_plain():
    made = Sample(whole=np.int64(3), share=np.float32(0.5), price=np.array([1.0, 2.0]), switch=np.bool_(True))
    assert made == Sample(whole=3, share=0.5, price=(1.0, 2.0), switch=True)
    assert [type(value) for value in made.to_dict().values()] == [int, float, tuple, str, bool, str]
    assert type(made.price[0]) is float
    assert Sample(price=[1, 2]).price == (1, 2)
    assert Sample.from_dict({"price": [1, 2]}) == Sample(price=(1, 2))


def test_options_are_frozen_compared_and_shown_by_what_was_given():
    made = Sample(whole=3)
    assert made.given() == {"whole": 3}
    assert repr(made) == "Sample(whole=3)"
    assert replace(made, whole=1) == Sample()
    with pytest.raises(FrozenInstanceError):
        made.whole = 4
    with pytest.raises(TypeError):
        Sample(3)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("whole", "3", 3),
        ("whole", "3.5", "3.5"),
        ("share", "0.5", 0.5),
        ("share", "half", "half"),
        ("price", "1,2.5", (1, 2.5)),
        ("price", "1,", "1,"),
        ("whole", "1,2", "1,2"),
        ("word", "b", "b"),
        ("sign", "tab", "\t"),
        ("sign", "1", "1"),
    ],
)
def test_texts_of_the_command_line(name, text, value):
    assert DECLARED[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("whole", 3, ["--whole", "3"]),
        ("price", (1.0, 2.5), ["--price", "1,2.5"]),
        ("switch", True, ["--switch"]),
        ("switch", False, ["--no-switch"]),
        ("switch", "auto", []),
        ("share", None, []),
        ("share", 1e-9, ["--share", "1e-09"]),
        ("sign", "\t", ["--mark", "tab"]),
        ("sign", ";", ["--mark", ";"]),
    ],
)
def test_words_of_the_command_line(name, value, words):
    assert DECLARED[name].arguments(value) == words
    if len(words) == 2:
        assert DECLARED[name].parse(words[1]) == value


@pytest.mark.parametrize("kind", [*METHODS.values(), rfdag.Baseline, Description, rfdag.Estimation, Running])
def test_defaults_survive_the_way_to_the_command_line_and_back(kind):
    for declared in kind.declared().values():
        words = declared.arguments(declared.default)
        assert len(words) < 2 or declared.parse(words[1]) == declared.default
        assert declared.admits(declared.default)


# Options that mean nothing


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        (
            "soft",
            {"alpha": 0.01},
            r"method 'soft' decides by BIC: leave it out, choose method='rfd', or pass parents='threshold' with refine",
        ),
        ("rfd", {"penalty": 3.0}, r"penalty belongs to the BIC, and method 'rfd' chooses by tests: pass parents='bic'"),
        ("rfd", {"penalty": 3.0, "gamma": 0.5}, r"penalty and gamma belong to the BIC.* leave them out"),
        ("rfd", {"restarts": 3}, r"restarts repeat a refinement; pass refine=True with them"),
        (
            "rfd",
            {"search_for": 3},
            r"search_for repeats a refinement, and method 'rfd' has none here: pass refine=True",
        ),
        ("rfd", {"beam": 3}, r"Method 'rfd' has no option beam; method 'soft' has it"),
        ("soft", {"depth": 3}, r"Method 'soft' has no option depth; methods 'rfd' and 'gsp' have it"),
        ("soft", {"beem": 3}, r"There is no option 'beem' \(nearest: 'beam'\)"),
        ("soft", {"rule": "rfd"}, r"no option rule; choose a method, as in method='rfd'"),
        ("sofd", {}, r"method is one of .*, not 'sofd'\. Did you mean 'soft'\?"),
        (Soft(), {"beam": 3}, r"Found 'beam' beside a method object; put them into it, as in Soft\(beam=…\)"),
        ("soft", {"description": Description(), "header": True}, r"Found 'header' beside description; put them into"),
    ],
)
def test_options_that_mean_nothing_are_refused_with_what_to_do(method, given, words, rows):
    with pytest.raises(OptionError, match=words):
        rfdag.learn(rows, method, **given)


def test_a_grid_search_does_not_compare_what_makes_no_difference(rows):
    search = GridSearchCV(rfdag.RFD(), {"method__alpha": [0.01, 0.05]}, cv=2, error_score="raise")
    with pytest.raises(OptionError, match="alpha is the level of a test"):
        search.fit(rows)


# How commands spell what messages name


@pytest.mark.parametrize(
    ("part", "python", "typed"),
    [
        (keyword("n_jobs", 2), "n_jobs=2", "--jobs 2"),
        (keyword("random_state"), "random_state", "--seed"),
        (keyword("header", False), "header=False", "--no-header"),
        (keyword("refine", True), "refine=True", "--refine"),
        (keyword("decimal", ","), "decimal=','", "--decimal ,"),
        (keyword("delimiter", "\t"), "delimiter='\\t'", "--delimiter tab"),
        (keyword("delimiter", ";"), "delimiter=';'", "--delimiter semicolon"),
        (keyword("method", "min-fill"), "method='min-fill'", "--method min-fill"),
        (keyword("penalty", (1.0, 2.0)), "penalty=(1.0, 2.0)", "--penalty 1,2"),
        (keyword("n_samples", ...), "n_samples=…", "--n-samples …"),
        (keyword("alpha", 0.5), "alpha=0.5", "--alpha 0.5"),
        (keyword("knowledge", "my file"), "knowledge='my file'", "--knowledge 'my file'"),
        (keyword("names"), "names", "names"),
        (keyword("level", 0.9), "level=0.9", "level=0.9"),
    ],
)
def test_messages_are_spelled_for_python_and_for_the_command_line(part, python, typed, monkeypatch, table):
    def refuse(*arguments, **given):
        raise OptionError(f"Pass {part}.")

    monkeypatch.setattr("rfdag.learn", refuse)
    assert Message(f"Pass {part}.") == f"Pass {python}."
    done = run("learn", table)
    assert done.exit_code == 2
    assert done.output == f"Error: Pass {typed}.\n"


def test_names_of_files_and_columns_are_not_taken_for_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("n_samples.csv", "depth=3.csv", "method='rfd'.csv"):
        assert f"There is no file {name}" in run("learn", name).output


def test_commands_have_the_options_of_the_library_and_no_others():
    import typer.main

    commands = typer.main.get_command(app).commands
    every = {name for kind in METHODS.values() for name in kind.declared()}
    rest = {name for kind in (Description, Running, rfdag.Estimation) for name in kind.declared()}
    assert isinstance(commands["learn"], DeclaredCommand)
    assert set(commands["learn"].offered) == every | rest
    left_out = {"input", "n_samples", "tolerance", "test", "conditioning", "blocks", "runs"}
    assert set(commands["bootstrap"].offered) == (every | rest | {"sampling", "share", "corrected"}) - left_out


def test_only_what_is_given_reaches_the_library(table, monkeypatch):
    taken = []
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **given: taken.append(given) or 1 / 0)
    run("learn", table)
    assert taken.pop() == {"knowledge": None, "n_jobs": None, "progress": None}
    words = ["--method", "rfd", "--alpha", "0.001", "--no-refine", "--header", "--delimiter", "tab", "--seed", "0"]
    run("learn", table, *words)
    given = taken.pop()
    assert {name: given[name] for name in given if given[name] is not None} == {
        "method": "rfd",
        "alpha": 0.001,
        "refine": False,
        "header": True,
        "delimiter": "\t",
        "random_state": 0,
    }


def test_settings_become_a_command_that_makes_the_same_settings(monkeypatch, table):
    from rfdag.report.rerun import option_words

    settings = Settings(
        method=Rfd(alpha=0.01, depth=2, refine=True, penalty=(1.0, 2.5), gamma=0.5),
        description=Description(delimiter="|", header=True, decimal=","),
        running=Running(random_state=3, time_limit=2.5),
    )
    taken = []
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **given: taken.append(given) or 1 / 0)
    run("learn", table, *shlex.split(shlex.join(option_words(settings))))
    given = {name: value for name, value in taken[0].items() if name not in ("knowledge", "n_jobs", "progress")}
    assert given == settings.given()


def test_help_fits_eighty_columns():
    shown = run("learn", "--help", columns="80").output
    assert max(map(len, shown.splitlines())) <= 80
    for panel in ("Options of methods", "Description of the input", "Estimation", "Running"):
        assert f"─ {panel} ─" in shown
    assert "`" not in shown


def test_a_command_without_an_option_leaves_it_in_the_spelling_of_python():
    import typer.main

    command = typer.main.get_command(app).commands["compare"]
    context = command.make_context("compare", ["a.csv", "b.csv"])
    assert spelling(context)("header", "False") == "header=False"
    assert spelling(context)("header", None) == "header"


def test_evidence_keeps_its_own_description(rows):
    correlation = np.corrcoef(rows.T)
    moments = rfdag.Moments.from_correlation(correlation, n_samples=50)
    names = [f"x{at}" for at in range(len(correlation))]
    found = rfdag.learn(moments, names=names)
    assert found.names == tuple(names)
    assert (found.input, found.settings.description.n_samples) == ("correlation", 50)
    assert found.order == rfdag.learn(correlation, input="correlation", n_samples=50, names=names).order
    with pytest.raises(OptionError, match="names has 1 entries"):
        rfdag.learn(moments, names=["a"])
    for given in ({"input": "dag"}, {"n_samples": 10, "input": "correlation"}, {"delimiter": ";"}, {"blocks": True}):
        with pytest.raises(OptionError, match=r"beside Moments, which knows what it is"):
            rfdag.learn(moments, **given)
    exact = rfdag.Moments.from_precision(np.linalg.inv(correlation), tolerance=0.4)
    assert rfdag.learn(exact).settings.description.tolerance == 0.4
    assert rfdag.learn(rfdag.Oracle([[0, 1], [0, 0]]), names=["a", "b"]).names == ("a", "b")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rfdag.Moments.from_data(np.ones(3)), "two-dimensional array of numbers"),
        (lambda: rfdag.Moments.from_data([[1.0, np.nan], [2.0, 1.0]], ["a", "b"]), "missing or infinite values in 'b'"),
        (lambda: rfdag.Moments.from_data([[1.0, 3.0], [2.0, 1.0]], ["a", "a"]), "'a'"),
        (lambda: rfdag.Moments.from_correlation(np.eye(2), 50.5), "whole number of rows"),
        (lambda: rfdag.Moments.from_correlation(np.eye(2), 50, ["a"]), "1 entries for 2 columns"),
        (lambda: rfdag.Oracle(np.zeros((0, 0))), "no nodes"),
        (lambda: rfdag.learn(np.eye(3), description={"input": "dag"}), "description is an rfdag.Description, not"),
        (lambda: rfdag.learn(np.eye(3), estimation="sample"), "estimation is an rfdag.Estimation, not 'sample'"),
    ],
)
def test_wrong_evidence_and_objects_are_refused(make, words):
    with pytest.raises(rfdag.errors.RfdagError, match=words):
        make()


def test_numbers_of_other_kinds_are_plain(rows):
    from fractions import Fraction

    found = rfdag.learn(rows, penalty=Fraction(3, 2))
    assert found.method.penalty == 1.5
    assert '"penalty": 1.5' in found.to_json()
    assert rfdag.learn(rows, penalty=np.array(1.5)).method.penalty == 1.5


def test_advice_about_alpha_can_be_followed(rows):
    with pytest.raises(OptionError, match=r"pass parents='threshold'\.$"):
        rfdag.learn(rows, "sp", alpha=0.01)
    assert rfdag.learn(rows, "sp", alpha=0.01, parents="threshold").method.alpha == 0.01
