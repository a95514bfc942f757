"""How the next variable to remove is chosen.

A rule is given the state of an engine and the positions that may be removed. It returns its candidates: those that are
equally good, each with its removal score. `rfd` is the paper's rule; the others are its baselines, all on the moral
subgraph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from rfdag.eliminate.engines.engine import Engine, Integers
from rfdag.errors import OptionError, listed


class Candidates(NamedTuple):
    """Equally good positions, and their removal scores; zeros if the rule does not use them."""

    positions: Integers
    removals: Integers


def _rfd(engine: Engine, free: Integers) -> Candidates:
    """Algorithm 2, lines 8–17: the most removed edges if there are any, else the smallest fill."""
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
    """A rule as it is called: with all positions, or with those that may be removed."""

    def __call__(self, engine: Engine, free: Integers | None = None) -> Candidates:
        """Return the candidates of a state."""


RULES: dict[str, Callable[[Engine, Integers], Candidates]] = {
    "rfd": _rfd,
    "min-degree": lambda engine, free: _least(engine.degrees(), free),
    "min-fill": lambda engine, free: _least(engine.fills(), free),
    "max-remove": lambda engine, free: _least(-engine.removals(), free),
    "random": _anything,
}
"""The rules by name. A rule added here can be used by that name, also in `rfdag.learn`."""


def find_rule(name: str) -> Rule:
    """Return the rule of that name.

    >>> find_rule("rdf")
    Traceback (most recent call last):
    rfdag.errors.OptionError: There is no rule 'rdf'; the rules are 'rfd', 'min-degree', 'min-fill', ...
    """
    if name not in RULES:
        raise OptionError(f"There is no rule {name!r}; the rules are {listed(RULES, limit=len(RULES))}.")

    def candidates(engine: Engine, free: Integers | None = None) -> Candidates:
        return RULES[name](engine, np.arange(len(engine.remaining)) if free is None else free)

    return candidates
