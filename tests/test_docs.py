"""Everything the documentation shows: its code runs, its links lead somewhere, its reference is complete."""

from __future__ import annotations

import ast
import doctest
import fnmatch
import importlib
import importlib.util
import json
import re
import shutil
import tomllib
from glob import glob

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import rfdag
from example_files import write_example_files
from fences import PAGES, ROOT, anchors_of, commands_of, documented_on, fences_of, links_of
from rfdag.cli import app

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FENCES = [fence for page in PAGES for fence in fences_of(page)]
SHELLS = ("console", "bash", "sh")
READ_NOT_RUN = {
    "text": "what a program prints, and drawings in letters",
    "r": "needs R",
    "shell-session": "replayed with its output by test_journeys.py",
    "{eval-rst}": "names of the reference, which have tests of their own below",
    "{include}": "another page",
    "{literalinclude}": "another file",
}
ELSEWHERE = ("causaldag", "causallearn", "dowhy", "gies", "gnies", "lingam", "pgmpy")
"""Packages of the extra `interop`, and peers: a block that imports one runs where it is installed."""

PARSED_ONLY = {
    ("--device", "cuda"): "needs a GPU",
    ("--dask",): "needs a cluster",
    ("bench",): "installs other programs, or runs them for minutes",
    ("reproduce",): "takes minutes to hours",
    ("--install-completion",): "writes into the files that a user's shell reads",
}
"""Commands that have all their options read and checked, and are not run; `--list` is run all the same."""

FEW_RUNS = ["--runs", "3", "--jobs", "1"]
"""Put behind the options of a bootstrap: three runs take the same path as five hundred."""

MODULES = ("datasets", "effects", "eliminate", "errors", "exchange", "graphs", "metrics", "simulate")


def is_session(fence):
    return fence.language == "python" and ">>> " in fence.text


def pages_with(kind):
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if any(map(kind, fences_of(page)))]


def parsed_only(words):
    """Return the entry of `PARSED_ONLY` that a command falls under, or None."""
    if "--list" in words:
        return None
    return next((entry for entry in PARSED_ONLY if all(word in words for word in entry)), None)


@pytest.fixture(scope="session")
def example_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    write_example_files(folder)
    return folder


@pytest.fixture
def beside_files(example_files, tmp_path, monkeypatch):
    """Be in a folder of one's own that has all the files which examples name."""
    shutil.copytree(example_files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("fence", FENCES, ids=lambda fence: fence.place)
def test_every_block_is_run_or_known_not_to_be_code(fence, pytestconfig):
    assert fence.language in {"python", "json", *SHELLS, *READ_NOT_RUN}, f"{fence.place}: say which language this is"
    if ">>> " in fence.text:
        assert fence.language == "python", f"{fence.place}: a session of Python is marked python"
        testpaths = pytestconfig.getini("testpaths")
        assert any(fence.page.is_relative_to(ROOT / path) for path in testpaths)
        assert any(fnmatch.fnmatch(fence.page.name, glob) for glob in pytestconfig.getoption("doctestglob"))
    if fence.language == "json":
        json.loads(fence.text)
    if fence.language == "text":
        commands = rf"^(?:\$ |rfdag (?:--|(?:{'|'.join(get_command(app).commands)})\b))"
        assert not re.search(commands, fence.text, flags=re.M), f"{fence.place}: put commands into a block of bash"


@pytest.mark.filterwarnings("ignore:Port 8787 is already in use")
@pytest.mark.parametrize("page", pages_with(lambda fence: fence.language == "python" and not is_session(fence)))
def test_python_runs(page, beside_files):
    """Blocks without prompts run in order; they may use what sessions above them have made."""
    namespace, missing = {"__name__": "__main__"}, set()
    for fence in fences_of(page):
        if is_session(fence):
            for example in doctest.DocTestParser().get_examples(fence.text):
                if example.exc_msg is None:
                    exec(compile(example.source, fence.place, "exec"), namespace)
        elif fence.language == "python":
            code = compile(fence.text, fence.place, "exec")
            lacking = {name for name in imported(fence.text) & set(ELSEWHERE) if not importlib.util.find_spec(name)}
            missing |= lacking
            if not lacking:
                exec(code, namespace)
    if missing:
        pytest.skip(f"all else ran, but {', '.join(sorted(missing))} is not installed")


def imported(code):
    """Return the packages that a piece of code imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("page", pages_with(lambda fence: fence.language in SHELLS))
def test_commands_run(page, beside_files):
    """Every command of a page, in order and in one folder."""
    for fence in fences_of(page):
        for program, *words in commands_of(fence) if fence.language in SHELLS else []:
            assert program in CHECKS, f"{fence.place}: who runs {program}?"
            CHECKS[program](words, fence.place)


def check_program(words, place):
    words = [path for word in words for path in (sorted(glob(word)) if "*" in word else [word])]
    if parsed_only(words):
        parse(words)
        return
    if words[0] == "bootstrap":
        words += FEW_RUNS
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert done.exit_code == 0, f"{place}: rfdag {' '.join(words)}\n{done.output}\n{done.exception!r}"


def parse(words):
    """Read a command with all its options, as the program would before it begins."""
    group = get_command(app)
    if words[0].startswith("-"):
        assert words[0] in {option for parameter in group.params for option in parameter.opts}
        return
    context = group.make_context("rfdag", list(words))
    name, command, rest = group.resolve_command(context, list(words))
    command.make_context(name, rest, parent=context)


def check_make(words, place):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    assert set(words) <= set(targets), f"{place}: make {' '.join(words)}; there are {targets}"


def check_install(words, place):
    assert words[0] == "install"
    for package in (word for word in words[1:] if not word.startswith("-")):
        check_requirement(package, place)


def check_requirement(package, place):
    name, extras = re.fullmatch(r"([\w.-]+)(?:\[([\w,-]+)\])?", package).groups()
    known = PROJECT["project"]["optional-dependencies"]
    needed = {re.match(r"[\w-]+", entry)[0] for entries in known.values() for entry in entries}
    assert name in {".", "rfdag", *needed}, f"{place}: nothing here needs {name}"
    assert set((extras or "").split(",")) <= {"", *known}, f"{place}: {package}; the extras are {sorted(known)}"


def check_script(words, place):
    script, *options = words
    source = ROOT / script
    assert source.is_file(), f"{place}: there is no {script}"
    for option in (word for word in options if word.startswith("--")):
        assert f'"{option}"' in source.read_text(encoding="utf-8"), f"{place}: {script} has no {option}"


CHECKS = {"rfdag": check_program, "make": check_make, "pip": check_install, "python": check_script}


def test_what_is_only_parsed_is_there():
    commands = [words for fence in FENCES if fence.language in SHELLS for words in commands_of(fence)]
    assert {parsed_only(words[1:]) for words in commands if words[0] == "rfdag"} - {None} == set(PARSED_ONLY)
    assert {fence.language for fence in FENCES} >= set(READ_NOT_RUN)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_extras_exist(page):
    for address in links_of(page):
        path, _, anchor = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page}: {address}"
        if anchor:
            assert anchor in anchors_of(target), f"{page}: {address}; {target.name} has {sorted(anchors_of(target))}"
    text = page.read_text(encoding="utf-8")
    for package in re.findall(r"pip install ['\"]?((?:rfdag|\.)\[[\w,-]+\])", text):
        check_requirement(package, page)


def test_the_reference_shows_every_public_name_once():
    shown = [name for page in sorted((ROOT / "docs" / "reference").glob("*.md")) for name in documented_on(page)]
    assert len(shown) == len(set(shown))
    for name in shown:
        module, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(module), attribute).__doc__, f"{name} has no docstring"
    public = {f"rfdag.{name}" for name in rfdag.__all__ if name not in MODULES and name != "__version__"}
    for module in MODULES:
        public |= {f"rfdag.{module}.{name}" for name in importlib.import_module(f"rfdag.{module}").__all__}
    assert public <= set(shown), sorted(public - set(shown))
