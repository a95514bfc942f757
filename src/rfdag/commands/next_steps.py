"""What to do with a result next, as commands that can be copied."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rfdag.commands.speech import printable
from rfdag.report.rerun import Given, form_words
from rfdag.result import SAVE_MOMENTS_UP_TO, Edge, Result
from rfdag.settings import Settings

SHARED = ("rule", "beam", "restarts", "gamma", "alpha", "time_limit")
"""Options that mean the same to `rfdag learn` and `rfdag bootstrap`."""


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
        steps.append(Step("Look closer", f"open {shlex.quote(str(given.report))} in a browser"))
    else:
        steps.append(Step("Look closer", "the same command with --report FILE.html"))
    if result.input == "data" and len(given.data) == 1 and result.edges:
        steps.append(Step("How sure?", _command("bootstrap", *_resampled(result, given))))
    if given.out is not None and result.moments is not None and len(result.names) <= SAVE_MOMENTS_UP_TO:
        saved = str(given.out / "result.json")
        ends = [(str(edge.source), str(edge.target)) for edge in strongest(result.edges)[:1]]
        steps += [Step("How large?", _command("effect", saved, *pair)) for pair in ends]
    return [step for step in steps if step.way == printable(step.way)]


def strongest(edges: Sequence[Edge]) -> list[Edge]:
    """Return edges by their gain, the strongest first; by their partial correlation where there is no gain."""

    def strength(edge: Edge) -> float:
        return edge.gain if edge.gain is not None else abs(edge.partial_correlation or 0.0)

    return sorted(edges, key=strength, reverse=True)


def _command(*words: str) -> str:
    return shlex.join(("rfdag", *words))


def _resampled(result: Result, given: Given) -> list[str]:
    """Return the words of a bootstrap of the same data under the same options."""
    words = [str(given.data[0])]
    usual = Settings()
    for name in SHARED:
        value = getattr(result.settings, name)
        if value != getattr(usual, name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    if result.penalty != usual.penalty:
        words += ["--penalty", f"{result.penalty:g}"]
    if result.settings.refine != usual.refine:
        words.append("--refine" if result.settings.refine else "--no-refine")
    if given.knowledge is not None:
        words += ["--knowledge", str(given.knowledge)]
    words += form_words(given.form)
    place = Path("bootstrap") if given.out is None else given.out / "bootstrap"
    return [*words, "--out", str(place)]
