"""How to run it again: code and a command that name what the run was given."""

from __future__ import annotations

import json
import shlex
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rfdag.input.description import MATRICES
from rfdag.methods.catalogue import BUILT_IN
from rfdag.values import is_object, name_of

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.knowledge import Knowledge
    from rfdag.methods.settings import Settings
    from rfdag.result import Result

TARGETS = "targets.json"
"""Under which a command finds the targets of interventions."""
KNOWLEDGE = "knowledge.json"
"""The file of knowledge that the page offers."""
RUNS = "runs"
"""An option of method "gsp" that has the name of one of a bootstrap's own."""
LONGEST = 2000
"""Letters up to which knowledge, and names, are written out as code."""


class Given(NamedTuple):
    """What `rfdag learn` or `rfdag bootstrap` was given and its result does not hold."""

    data: Sequence[Path]
    out: Path | None
    report: Path | None
    knowledge: Path | None
    truth: Path | None = None
    moments: bool | None = None
    plot: Path | None = None
    threshold: float | None = None


class Rerun(NamedTuple):
    """Code, a command for a POSIX shell if one can do it, and what the reader has to know about what they name."""

    python: str
    command: str | None
    notes: list[str]


def rerun(result: Result, data: Any = None, given: Given | None = None, bootstrap: Bootstrap | None = None) -> Rerun:
    """Return how to repeat the run behind a result: one on the command line if it is ``given``, else one in Python.

    If the result is the plain run of a bootstrap, the whole bootstrap is repeated.

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
    known_file = KNOWLEDGE if given is None or given.knowledge is None else str(given.knowledge)
    settings = _settings(result)
    options = option_words(settings)
    if result.knowledge is not None:
        options += ["--knowledge", path_word(known_file)]
    options += ["--report", "report.html"] if given is None else _given_words(given)
    own = bootstrap if bootstrap is not None and bootstrap.result is result else None
    if own is not None:
        options = [*_sampling_words(own), *options]
    python = _python(result, settings, paths, known_file, own)
    arguments = [path_word(path) for path in paths or ["data.csv"]]
    command = command_line("learn" if own is None else "bootstrap", arguments, options)
    # The runs of a bootstrap hide those of method "gsp", which only an object of Python can be given then.
    hidden = own is not None and RUNS in settings.given()
    plain = result.method.name in BUILT_IN and not objects_in(settings) and not hidden
    again = Rerun(python, command if plain else None, [])
    notes = _notes(result, paths, known_file, again)
    if bootstrap is not None and own is None:
        notes.append("The bootstrap on this page is another run, which the code does not repeat.")
    return again._replace(notes=notes)


def _given_words(given: Given) -> list[str]:
    """Return the files that a command was given, and what it draws, in words of the command line."""
    named = {"--report": given.report, "--truth": given.truth, "--plot": given.plot}
    words = [word for flag, path in named.items() if path is not None for word in (flag, path_word(str(path)))]
    if given.moments is not None:
        # They are kept in a file of the folder, without which they are refused.
        words += ["--out", path_word(str(given.out)), "--moments" if given.moments else "--no-moments"]
    return words if given.threshold is None else [*words, "--threshold", f"{given.threshold:g}"]


def _sampling_words(bootstrap: Bootstrap) -> list[str]:
    """Return how often and how a bootstrap draws rows, in words of the command line."""
    declared = bootstrap.sampling.declared()
    drawn = bootstrap.sampling.given().items()
    return ["--runs", str(bootstrap.runs), *(word for name, value in drawn for word in declared[name].arguments(value))]


def command_line(command: str, arguments: Sequence[str], options: Sequence[str] = ()) -> str:
    """Return a command as a POSIX shell takes it, whatever its arguments begin with.

    >>> command_line("effect", ["result.json", "a b", "c"], ["--level", "0.9"])
    "rfdag effect result.json 'a b' c --level 0.9"
    >>> command_line("effect", ["result.json", "-a", "c"], ["--level", "0.9"])
    'rfdag effect --level 0.9 -- result.json -a c'
    """
    if any(argument.startswith("-") for argument in arguments):
        return shlex.join(["rfdag", command, *options, "--", *arguments])
    return shlex.join(["rfdag", command, *arguments, *options])


def path_word(path: str) -> str:
    """Return a path that cannot be taken for an option.

    >>> path_word("-data.csv"), path_word("data.csv")
    ('./-data.csv', 'data.csv')
    """
    return f"./{path}" if path.startswith("-") and path != "-" else path


def _paths(data: Any) -> list[str]:
    """Return the files or the folder that data are read from, as they were named; none if they are not files."""
    if isinstance(data, str | Path):
        return [str(data)]
    if isinstance(data, list | tuple) and data and all(isinstance(entry, str | Path) for entry in data):
        return [str(entry) for entry in data]
    return []


def option_words(settings: Settings, *, without: Iterable[str] = ()) -> list[str]:
    """Return the options that differ from their defaults in words of the command line, but for some.

    >>> from rfdag.methods import Rfd
    >>> from rfdag.methods.settings import Running, Settings
    >>> settings = Settings(method=Rfd(penalty=(1.0, 2.5), refine=True), running=Running(random_state=3))
    >>> option_words(settings)
    ['--method', 'rfd', '--penalty', '1,2.5', '--refine', '--seed', '3']
    """
    declared = {name: each for part in settings.parts().values() for name, each in part.declared().items()}
    words = []
    for name, value in settings.given().items():
        if name == "method":
            words += ["--method", value]
        elif name == "targets" and _by_label(value):
            words += ["--targets", TARGETS]
        elif name not in without:
            words += declared[name].arguments(value)
    return words


def _notes(result: Result, paths: list[str], known_file: str, again: Rerun) -> list[str]:
    """Return what the reader has to know about code and command."""
    notes = []
    own = objects_in(result.settings)
    notes += [f"{name} stands for {name_of(value)}, an object of your own." for name, value in own.items()]
    if result.method.name not in BUILT_IN:
        notes.append(f"The method {result.method.name!r} is not one of rfdag's own; add it before the code is run.")
    if not paths:
        standing = "data stands" if again.command is None else "data and data.csv stand"
        notes.append(f"{standing} for the data, which the report was not given as a file.")
    if "names=names" in again.python:
        notes.append("names stands for the names of the variables in the order of the columns.")
    is_read = again.command is not None or f"knowledge={KNOWLEDGE!r}" in again.python
    targets = result.settings.description.targets
    if again.command is not None and targets and _by_label(targets):
        notes.append(f"{TARGETS} holds {json.dumps(dict(targets), ensure_ascii=False)}.")  # type: ignore[arg-type]
    if result.knowledge is not None and known_file == KNOWLEDGE and is_read:
        notes.append(f"{KNOWLEDGE} is among the downloads of this page.")
    return notes


def objects_in(settings: Settings) -> dict[str, Any]:
    """Return the options whose values are objects of the user's own, which no file or command holds."""
    return {name: value for name, value in settings.given().items() if is_object(value)}


def _settings(result: Result) -> Settings:
    """Return the settings that repeat a run: moments that were computed before it know their own number of rows."""
    settings = result.settings
    if settings.description.input not in MATRICES or result.n_samples is None:
        return settings
    return replace(settings, description=replace(settings.description, n_samples=result.n_samples))


def _python(result: Result, settings: Settings, paths: list[str], known_file: str, bootstrap: Bootstrap | None) -> str:
    source = "data" if not paths else repr(paths[0] if len(paths) == 1 else paths)
    options = settings.given()
    method = [repr(options.pop("method"))] if "method" in options else []
    if bootstrap is not None:
        if RUNS in options:
            options = {name: value for name, value in options.items() if name not in settings.method.declared()}
            method = [f"rfdag.{settings.method!r}"]
        method = [str(bootstrap.runs), *(f"method={name}" for name in method)]
        options |= bootstrap.sampling.given()
    arguments = [
        source,
        *method,
        *(f"{name}={_as_value(name, value)}" for name, value in options.items()),
    ]
    if not paths and result.names != tuple(range(len(result.names))):
        arguments.append(f"names={_names_as_code(result.names)}")
    lines = ["import rfdag", ""]
    if result.knowledge is not None:
        written_out = _as_code(result.knowledge) if known_file == KNOWLEDGE else None
        lines += [] if written_out is None else [f"knowledge = {written_out}"]
        arguments.append(f"knowledge={repr(known_file) if written_out is None else 'knowledge'}")
    call = f"({', '.join(arguments)})"
    if bootstrap is not None:
        return "\n".join([*lines, f"found = rfdag.bootstrap{call}", "result = found.result"])
    return "\n".join([*lines, f"result = rfdag.learn{call}"])


def _by_label(targets: Any) -> bool:
    """Return whether targets are pairs of a label and a list, which a command takes from a file."""
    return all(isinstance(each, tuple) for each in targets)


def _as_value(name: str, value: Any) -> str:
    """Return the value of an option in code; the name of the option stands for an object of the user's own."""
    if name == "targets" and _by_label(value):
        return repr({label: list(each) for label, each in value})
    return name if is_object(value) else repr(value)


def _names_as_code(names: Sequence[Hashable]) -> str:
    """Return names as a list; the word that stands for them if that is long or they are not plain."""
    written_out = repr(list(names))
    return written_out if len(written_out) <= LONGEST and _are_plain(names) else "names"


def _are_plain(names: Iterable[Hashable]) -> bool:
    """Return whether names are what their spelling in code makes."""
    return all(type(name) in (str, int) for name in names)


def _as_code(knowledge: Knowledge) -> str | None:
    """Return knowledge as a call that makes it; None if that is long or its names are not plain."""
    if not _are_plain(knowledge.variables):
        return None
    parts = ", ".join(f"{name}={value!r}" for name, value in knowledge.to_dict().items() if value)
    return f"rfdag.Knowledge({parts})" if len(parts) <= LONGEST else None
