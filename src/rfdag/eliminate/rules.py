"""How the next variable to remove is chosen.

A rule looks at one engine state and names its candidates: positions that are equally good, with the removal
score each was chosen at. `rfd` is the paper's; the others are its baselines, all on the moral subgraph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rfdag.eliminate.engine import Engine, Integers
from rfdag.errors import OptionError, listed


class Candidates(NamedTuple):
    """Equally good positions, and their removal scores; zeros where the rule does not go by them."""

    positions: Integers
    removals: Integers


def _rfd(engine: Engine) -> Candidates:
    """Algorithm 2, lines 8–17: most edges removed if any goes, else least fill."""
    removals = engine.removals()
    if removals.max() > 0:
        positions = np.flatnonzero(removals == removals.max())
    else:
        fills = engine.fills()
        positions = np.flatnonzero(fills == fills.min())
    return Candidates(positions, removals[positions])


def _least(scores: Integers) -> Candidates:
    positions = np.flatnonzero(scores == scores.min())
    return Candidates(positions, np.zeros(len(positions), np.int64))


def _anything(engine: Engine) -> Candidates:
    return _least(np.zeros(len(engine.remaining), np.int64))


RULES: dict[str, Callable[[Engine], Candidates]] = {
    "rfd": _rfd,
    "min-degree": lambda engine: _least(engine.degrees()),
    "min-fill": lambda engine: _least(engine.fills()),
    "max-remove": lambda engine: _least(-engine.removals()),
    "random": _anything,
}


def find_rule(name: str) -> Callable[[Engine], Candidates]:
    """Return the rule of that name.

    >>> find_rule("rdf")
    Traceback (most recent call last):
    rfdag.errors.OptionError: There is no rule 'rdf'; the rules are 'soft', 'gsp', 'sp', ...
    """
    if name not in RULES:
        every = ["soft", "gsp", "sp", *RULES]
        raise OptionError(f"There is no rule {name!r}; the rules are {listed(every, limit=len(every))}.")
    return RULES[name]
