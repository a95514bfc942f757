"""How to run it again: code and a command that name what the run was given."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rfdag.files import DELIMITERS, TextFormat
from rfdag.settings import Settings

if TYPE_CHECKING:
    from rfdag.knowledge import Knowledge
    from rfdag.result import Result

FLAGS = {"random_state": "--seed"}
"""Options whose spelling on the command line is not their name with hyphens."""
KNOWLEDGE = "knowledge.json"
"""The file of knowledge that the page offers."""
LONGEST = 2000
"""Letters up to which knowledge is written out as code."""


class Given(NamedTuple):
    """What `rfdag learn` was given and its result does not hold."""

    data: Sequence[Path]
    out: Path | None
    report: Path | None
    knowledge: Path | None
    form: TextFormat
    truth: Path | None = None


class Rerun(NamedTuple):
    """Code, a command, and what the reader has to know about the files that they name."""

    python: str
    command: str
    notes: list[str]


def rerun(result: Result, data: Any = None, given: Given | None = None) -> Rerun:
    """Return how to repeat the run behind a result: one on the command line if it is ``given``, else one in Python.

    >>> import rfdag
    >>> again = rerun(rfdag.learn([[0, 1], [0, 0]], input="dag", knowledge={"roots": [0]}))
    >>> print(again.python)
    import rfdag
    <BLANKLINE>
    knowledge = rfdag.Knowledge(roots=(0,))
    result = rfdag.learn(data, input='dag', knowledge=knowledge)
    >>> again.command
    'rfdag learn data.csv --input dag --knowledge knowledge.json --report report.html'
    """
    paths = [str(path) for path in given.data] if given is not None else _paths(data)
    form = TextFormat() if given is None else given.form
    known_file = KNOWLEDGE if given is None or given.knowledge is None else str(given.knowledge)
    words = ["rfdag", "learn", *(paths or ["data.csv"]), *form_words(form), *_option_words(_options(result))]
    if result.knowledge is not None:
        words += ["--knowledge", known_file]
    words += ["--report", "report.html" if given is None else str(given.report)]
    if given is not None and given.truth is not None:
        words += ["--truth", str(given.truth)]
    notes = [] if paths else ["data and data.csv stand for the data, which the report was not given as a file."]
    if result.knowledge is not None and known_file == KNOWLEDGE:
        notes.append(f"{KNOWLEDGE} is among the downloads of this page.")
    return Rerun(_python(result, paths, form, known_file), shlex.join(words), notes)


def changed(settings: Settings) -> dict[str, Any]:
    """Return the options that are not as they would be by themselves."""
    usual = Settings().to_dict()
    return {name: value for name, value in settings.to_dict().items() if value != usual[name]}


def form_words(form: TextFormat) -> list[str]:
    """Return how a text file is written in words of the command line.

    >>> form_words(TextFormat(";", ",", False))
    ['--delimiter', 'semicolon', '--decimal', ',', '--no-header']
    """
    words = [] if form.delimiter is None else ["--delimiter", DELIMITERS.get(form.delimiter, form.delimiter)]
    words += [] if form.decimal == TextFormat().decimal else ["--decimal", form.decimal]
    return words + ([] if form.header is None else ["--header" if form.header else "--no-header"])


def _paths(data: Any) -> list[str]:
    """Return the files or the folder that data are read from, as they were named; none if they are not files."""
    if isinstance(data, str | Path):
        return [str(data)]
    if isinstance(data, list | tuple) and data and all(isinstance(entry, str | Path) for entry in data):
        return [str(entry) for entry in data]
    return []


def _options(result: Result) -> dict[str, Any]:
    given: dict[str, Any] = {} if result.input == "data" else {"input": result.input}
    if result.input in ("correlation", "covariance", "precision") and result.n_samples is not None:
        given["n_samples"] = result.n_samples
    return given | changed(result.settings)


def _option_words(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        if name == "refine":
            words.append("--refine" if value else "--no-refine")
        elif value is not None:
            spelt = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [FLAGS.get(name, f"--{name.replace('_', '-')}"), spelt]
    return words


def _python(result: Result, paths: list[str], form: TextFormat, known_file: str) -> str:
    source = "data" if not paths else repr(paths[0] if len(paths) == 1 else paths)
    usual = TextFormat()._asdict()
    options = {name: value for name, value in form._asdict().items() if value != usual[name]} | _options(result)
    arguments = [source, *(f"{name}={value!r}" for name, value in options.items())]
    lines = ["import rfdag", ""]
    if result.knowledge is not None:
        written_out = _as_code(result.knowledge) if known_file == KNOWLEDGE else None
        lines += [] if written_out is None else [f"knowledge = {written_out}"]
        arguments.append(f"knowledge={repr(known_file) if written_out is None else 'knowledge'}")
    return "\n".join([*lines, f"result = rfdag.learn({', '.join(arguments)})"])


def _as_code(knowledge: Knowledge) -> str | None:
    """Return knowledge as a call that makes it; None if that is long or its names are not plain."""
    if not all(type(name) in (str, int) for name in knowledge.variables):
        return None
    parts = ", ".join(f"{name}={value!r}" for name, value in knowledge.to_dict().items() if value)
    return f"rfdag.Knowledge({parts})" if len(parts) <= LONGEST else None
