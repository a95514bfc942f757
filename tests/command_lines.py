"""Command lines for every command: words that it takes, and options with hostile values.

See test_hostile_arguments.py and benchmarks/soak_arguments.py.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import typer
from hypothesis import strategies as st
from typer.testing import CliRunner

from arguments import admitted, short
from rfdag.cli import app
from taken import NAMES, results, rows

BASES: dict[str, list[list[str]]] = {
    "learn": [
        ["data.csv"],
        ["mixed.csv"],
        ["correlation.csv", "--input", "correlation", "--n-samples", "40"],
        ["edges.csv"],
    ],
    "simulate": [["new.csv"], ["new.csv", "--nodes", "4", "--samples", "9"]],
    "compare": [["edges.csv", "edges.csv"], ["result.json", "edges.csv"], ["result.json", "result.json"]],
    "effect": [["result.json", "a", "é"], ["result.json", "é", "a"]],
    "bootstrap": [["data.csv", "--runs", "2", "--jobs", "1"], ["mixed.csv", "--runs", "2", "--jobs", "1"]],
    "bench": [["--list"]],
    "reproduce": [["--list"]],
    "doctor": [[]],
}
"""Words after each command with which it ends at once. Those that would run for hours list what they could run."""
NOT_HERE = {"--setup", "--compile", "--dask", "--peers", "--help"}
"""Options that install packages, compile for minutes, or wait for computers that are not there."""
LONG = {"--runs", "--restarts", "--max-paths", "--search-for", "--time-limit", "--jobs"}
TEXTS = [
    "", " ", "0", "1", "2", "-1", "-0", "0.5", "1.5", "nan", "inf", "-inf", "1e999", "1e-320", "9" * 30, "0x10", "1_0",
    "٣", "1,2",
    "1,,2", ",", ";", "a", "b", "a,b", "a,a", "kind", "é", "nothing", "auto", "all", "none", "None", "True", "yes",
    "NA", "--",
    "-", "-x", "[bold]x[/bold]", "[/]", "{}", "%s", "\t", "\x1b[31m", "\ud800", "..", ".", "nowhere.csv", "data.csv",
    "edges.csv",
    "result.json", "out", "out.html", "out.png", "no/where/out.csv", "*.csv", "~nobody", "d" * 300, "utf-8", "utf-16",
    "rot13",
    "zlib", "idna", "cuda", "cpu", "kci", "g2", "d-separation", "hsic", "unknown", "'", '"', "a b", "☃" * 20,
]  # fmt: skip
"""What people and programs write as the value of an option."""


@cache
def commands() -> dict[str, Any]:
    """Return the commands of the program by name."""
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


@cache
def flags(name: str) -> tuple[tuple[str, bool], ...]:
    """Return the options of a command, and whether each takes a value."""
    command = commands()[name]
    context = command.make_context(name, [], resilient_parsing=True)
    return tuple(
        (flag, not getattr(parameter, "is_flag", False))
        for parameter in command.get_params(context)
        if parameter.param_type_name == "option"
        for flag in (*parameter.opts, *parameter.secondary_opts)
        if flag not in NOT_HERE
    )


def prepare(folder: Path) -> None:
    """Write the files that the command lines name."""
    frame = pandas.DataFrame(rows(), columns=list(NAMES))
    frame.to_csv(folder / "data.csv", index=False)
    frame.assign(kind=["u", "v", "u", "w"] * 10).to_csv(folder / "mixed.csv", index=False)
    frame.corr().to_csv(folder / "correlation.csv", index=False)
    (folder / "edges.csv").write_text("source,target\na,b\nb,é\n", encoding="utf-8")
    results()[0].save(folder / "result.json")


@st.composite
def lines(draw: Any, name: str) -> list[str]:
    """A command line: words that the command takes, one of them exchanged perhaps, and up to three options."""
    words = list(draw(st.sampled_from(BASES[name])))
    if words and draw(st.integers(0, 3)) == 0:
        words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(TEXTS))
    offered = getattr(commands()[name], "offered", {})
    declared = {f"--{each.any.flag}": each.any for each in offered.values()}
    for flag, valued in draw(st.lists(st.sampled_from(flags(name)), max_size=3)):
        if flag in declared and draw(st.booleans()):
            value = draw(admitted(declared[flag]))
            words += declared[flag].arguments(short(value) if flag in LONG else value)
        elif valued:
            text = draw(st.one_of(st.sampled_from(TEXTS), st.text(st.characters(exclude_characters="\0"), max_size=8)))
            words += [flag, "2" if flag in LONG and text.isdigit() else text]
        else:
            words.append(flag)
    return [name, *words]


def run(words: list[str]) -> int:
    """Run a command line in this process; raise for anything but an end with a status and a message."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = CliRunner().invoke(app, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2), done.output
    assert "Traceback" not in done.output, done.output
    assert done.exit_code == 0 or done.output.strip(), words
    return done.exit_code
