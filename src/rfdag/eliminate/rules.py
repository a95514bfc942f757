"""How the next variable to remove is chosen.

A rule looks at one engine state, and at the positions in it that are free to go, and names its candidates: those of
them that are equally good, with the removal score each was chosen at. `rfd` is the paper's; the others are its
baselines, all on the moral subgraph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from rfdag.eliminate.engines.engine import Engine, Integers
from rfdag.errors import OptionError, listed


class Candidates(NamedTuple):
    """Equally good positions, and their removal scores; zeros where the rule does not go by them."""

    positions: Integers
    removals: Integers


def _rfd(engine: Engine, free: Integers) -> Candidates:
    """Algorithm 2, lines 8–17: most edges removed if any goes, else least fill."""
    removals = engine.removals()[free]
    if removals.max() > 0:
        best = np.flatnonzero(removals == removals.max())
    else:
        fills = engine.fills()[free]
        best = np.flatnonzero(fills == fills.min())
    return Candidates(free[best], removals[best])


def _least(scores: Integers, free: Integers) -> Candidates:
    scores = scores[free]
    positions = free[scores == scores.min()]
    return Candidates(positions, np.zeros(len(positions), np.int64))


def _anything(engine: Engine, free: Integers) -> Candidates:
    return Candidates(free, np.zeros(len(free), np.int64))


class Rule(Protocol):
    """A rule as it is asked: of all positions, or of those that are free to go."""

    def __call__(self, engine: Engine, free: Integers | None = None) -> Candidates:
        """Return the candidates of a state."""


RULES: dict[str, Callable[[Engine, Integers], Candidates]] = {
    "rfd": _rfd,
    "min-degree": lambda engine, free: _least(engine.degrees(), free),
    "min-fill": lambda engine, free: _least(engine.fills(), free),
    "max-remove": lambda engine, free: _least(-engine.removals(), free),
    "random": _anything,
}
"""The rules by name. One that is put here can be asked for by that name, by `rfdag.learn` too."""


def find_rule(name: str) -> Rule:
    """Return the rule of that name.

    >>> find_rule("rdf")
    Traceback (most recent call last):
    rfdag.errors.OptionError: There is no rule 'rdf'; the rules are 'soft', 'gsp', 'sp', ...
    """
    if name not in RULES:
        every = ["soft", "gsp", "sp", *RULES]
        raise OptionError(f"There is no rule {name!r}; the rules are {listed(every, limit=len(every))}.")

    def candidates(engine: Engine, free: Integers | None = None) -> Candidates:
        return RULES[name](engine, np.arange(len(engine.remaining)) if free is None else free)

    return candidates
