"""RFDStep: the breadth-first search of Algorithm 2 for the next few variables to remove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.rules import find_rule
from rfdag.knowledge.constraints import Constraints


@dataclass(frozen=True)
class Path:
    """Variables removed one after the other, with the scores of the last.

    ``count`` is the number of the paper's paths that this one represents: paths that remove the same variables in
    another order lead to the same state, so only one of them is followed.
    """

    variables: tuple[int, ...] = ()
    removal: int = 0
    degree: int = 0
    count: int = 1


@dataclass(frozen=True)
class Choice:
    """The outcome of a search: the path, how many paths were equally good, whether paths were dropped."""

    variables: tuple[int, ...]
    ties: int
    capped: bool


def choose(
    engine: Engine,
    rule: str = "rfd",
    depth: int = 1,
    max_paths: int = 1000,
    generator: np.random.Generator | None = None,
    constraints: Constraints | None = None,
    check: Callable[[], None] = lambda: None,
) -> Choice:
    """Return the next variables to remove, without removing them.

    Parameters
    ----------
    engine
        The current state; it is not changed.
    rule
        The rule that gives the candidates at each level, see `rfdag.eliminate.rules`.
    depth
        The paper's w: how many removals to look ahead while no path ends in a removal score above zero.
    max_paths
        At most this many paths are followed from one level to the next, the best first.
    generator
        Breaks ties at random; without one the path of lowest indices wins.
    constraints
        Which variables must precede which: none is removed while a variable that must follow it remains.
    check
        Called before a path is followed further; may raise.
    """
    paths = [Path()]
    capped = False
    for _ in range(depth):
        paths = _one_per_set(paths)
        if len(paths) > max_paths:
            paths = sorted(paths, key=lambda path: (path.degree, path.variables))[:max_paths]
            capped = True
        paths = _extend(engine, paths, rule, constraints, check)
        if max(path.removal for path in paths) > 0:
            break
    highest = max(path.removal for path in paths)
    paths = [path for path in paths if path.removal == highest]
    if rule == "rfd":
        lowest = min(path.degree for path in paths)
        paths = [path for path in paths if path.degree == lowest]
    paths.sort(key=lambda path: path.variables)
    counts = np.array([path.count for path in paths])
    at = 0 if generator is None else int(generator.choice(len(paths), p=counts / counts.sum()))
    return Choice(paths[at].variables, int(counts.sum()), capped)


def _extend(
    engine: Engine, paths: list[Path], rule: str, constraints: Constraints | None, check: Callable[[], None]
) -> list[Path]:
    """Return every path extended by each of its candidates.

    Only one state besides ``engine`` exists at a time: the state of a path is recomputed from its few variables, which
    costs less than scoring it and limits memory to two states for any number of paths.
    """
    candidates_of = find_rule(rule)
    longer = []
    for path in paths:
        if path.variables:
            check()
        state = _after(engine, path.variables)
        if len(state.remaining) == 0:
            longer.append(path)
            continue
        free = None if constraints is None else np.flatnonzero(constraints.free(state.remaining))
        positions, removals = candidates_of(state, free)
        # Degrees only break the ties of rfd; computing them for other rules would be wasted work.
        degrees = state.degrees() if rule == "rfd" else np.zeros(len(state.remaining), np.int64)
        longer += [
            Path((*path.variables, int(state.remaining[at])), int(removal), int(degrees[at]), path.count)
            for at, removal in zip(positions, removals, strict=True)
        ]
    return longer


def _after(engine: Engine, variables: tuple[int, ...]) -> Engine:
    if not variables:
        return engine
    state = engine.copy()
    for variable in variables:
        state.remove(position_of(state, variable))
    return state


def _one_per_set(paths: list[Path]) -> list[Path]:
    """Keep one of the paths that removed the same variables, the one of lowest indices: their states are equal."""
    kept: dict[frozenset[int], Path] = {}
    for path in sorted(paths, key=lambda path: path.variables):
        removed = frozenset(path.variables)
        first = kept.get(removed)
        kept[removed] = replace(first, count=first.count + path.count) if first else path
    return list(kept.values())


def position_of(engine: Engine, variable: int) -> int:
    """Return the position of a remaining variable in the engine."""
    return int(np.flatnonzero(engine.remaining == variable)[0])
