"""Every message that names an option is among those whose advice is tested."""

import ast
from pathlib import Path

import pytest

import rfdag
from test_advice import CASES, PYTHON

ROOT = Path(rfdag.__file__).parent

EXEMPT = {
    ("methods/timing.py", "There is no order within"): "followed above: what it names depends on the run",
    ("methods/timing.py", "_cheaper"): "followed above",
    ("independence/kernel_tests.py", "is a test of causal-learn"): "followed above",
    ("independence/kernel_tests.py", "_require_causal_learn"): "followed above",
    ("precision/definite.py", "which keeps zeros and signs"): "names the estimator in use; there is nothing to do",
    ("runtime/device.py", "needs CuPy. Install it"): "names what was given; the advice is a package to install",
}
"""Messages without a case, and why."""


def texts_in(node):
    """Return the constant parts of a text, outside of what is filled in; literals that follow each other are one."""
    return "…".join(
        each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def is_keyword(node):
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "keyword"
    return named and len(node.args) > 1


def is_message(node):
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith(("Error", "Message"))
    )


def messages_in_the_source():
    """Return all that name an option with a value: the file, the text or the function, and the options named."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        place, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
        within = set()
        for node in ast.walk(tree):
            inside = [each for each in ast.walk(node) if is_keyword(each)] if is_message(node) else []
            if inside and not within.intersection(map(id, inside)):
                within.update(map(id, inside))
                found.append((place, texts_in(node), inside))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                loose = [each for each in ast.walk(function) if is_keyword(each) and id(each) not in within]
                if loose:
                    found.append((place, function.name, loose))
    return found


MESSAGES = messages_in_the_source()


def covers(case, place, text):
    return (case.place == place and case.words and case.words in text) or f"{place}:{text}" in case.also


@pytest.mark.parametrize(
    ("place", "text", "named"), MESSAGES, ids=lambda value: value[:40] if isinstance(value, str) else "named"
)
def test_every_message_that_names_an_option_has_a_case(place, text, named):
    if any(place == file and words in text for file, words in EXEMPT):
        return
    cases = [case for case in CASES if covers(case, place, text)]
    assert cases, f"{place}: no case for {text!r}"
    known = [(name, value) for case in cases for each in (case.options, *case.advice) for name, value in each.items()]
    restated = {name for case in cases for name in case.restated}
    for call in named:
        name, value = call.args
        if not isinstance(name, ast.Constant) or name.value in restated:
            continue
        literal = isinstance(value, ast.Constant) and value.value is not ...
        assert name.value in dict(known), f"{place}: {name.value} is not followed"
        assert not literal or (name.value, value.value) in known, (
            f"{place}: {name.value}={value.value!r} is not followed"
        )


def test_cases_and_exemptions_are_about_messages_that_exist():
    assert len(MESSAGES) >= 90
    for case in CASES:
        assert any(covers(case, place, text) for place, text, _ in MESSAGES), case
    for file, words in EXEMPT:
        assert any(file == place and words in text for place, text, _ in MESSAGES), words


def test_no_error_spells_an_option_for_python_alone():
    """Options are marked, so that the command line can spell them."""
    spelt = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in (
            "bootstrapping",
            "effects",
            "eliminate",
            "evidence",
            "independence",
            "input",
            "methods",
            "precision",
            "runtime",
        )
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if is_message(node) and PYTHON.search(texts_in(node))
    ]
    assert not spelt
