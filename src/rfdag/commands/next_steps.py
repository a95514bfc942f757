"""What to do with a result next, as commands that can be copied."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rfdag.commands.bootstrap import BootstrapCommand
from rfdag.commands.speech import printable
from rfdag.commands.standard_input import DASH
from rfdag.report.rerun import Given, command_line, option_words, path_word
from rfdag.result.edge import Edge
from rfdag.result.result import SAVE_MOMENTS_UP_TO, Result


class Step(NamedTuple):
    """Something to want, and how to get it."""

    aim: str
    way: str


def next_steps(result: Result, given: Given) -> list[Step]:
    """Return what makes sense after this run; what could not be typed as it is printed is left out."""
    steps = []
    if given.out is None:
        steps.append(Step("Keep it", "the same command with --out FOLDER"))
    if given.report is not None:
        steps.append(Step("Look closer", f"open {shlex.quote(path_word(str(given.report)))} in a browser"))
    else:
        steps.append(Step("Look closer", "the same command with --report FILE.html"))
    carried = result.settings.given().keys().isdisjoint(BootstrapCommand.without)
    if result.input == "data" and DASH not in given.data and result.edges and carried:
        steps.append(Step("How sure?", _bootstrap(result, given)))
    kept = len(result.names) <= SAVE_MOMENTS_UP_TO if given.moments is None else given.moments
    if given.out is not None and result.moments is not None and kept:
        saved = path_word(str(given.out / "result.json"))
        # The effect along a compelled arrow is determined more often; the command prints a range where it is not.
        likely = [edge for edge in result.edges if edge.directed] or result.edges
        ends = [(str(edge.source), str(edge.target)) for edge in strongest(likely)[:1]]
        steps += [Step("How large?", command_line("effect", [saved, *pair])) for pair in ends]
    return [step for step in steps if step.way == printable(step.way)]


def strongest(edges: Sequence[Edge]) -> list[Edge]:
    """Return edges by their gain, the strongest first; by their partial correlation where there is no gain."""

    def strength(edge: Edge) -> float:
        return edge.gain if edge.gain is not None else abs(edge.partial_correlation or 0.0)

    return sorted(edges, key=strength, reverse=True)


def _bootstrap(result: Result, given: Given) -> str:
    """Return the command for a bootstrap of the same data under the same options, at the penalty that was chosen."""
    method = result.method
    if result.path:
        method = replace(method, penalty=result.penalty)  # type: ignore[call-arg]
    options = option_words(replace(result.settings, method=method))
    if given.knowledge is not None:
        options += ["--knowledge", path_word(str(given.knowledge))]
    place = Path("bootstrap") if given.out is None else given.out / "bootstrap"
    paths = [path_word(str(path)) for path in given.data]
    return command_line("bootstrap", paths, [*options, "--out", path_word(str(place))])
