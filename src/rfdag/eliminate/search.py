"""RFDStep: the breadth-first search of Algorithm 2 for the next few variables to remove."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.rules import find_rule
from rfdag.knowledge.constraints import Constraints


@dataclass(frozen=True)
class Path:
    """Variables removed one after the other, scored by the last.

    ``count`` is the number of the paper's paths that this one stands for: paths that removed the same
    variables in another order lead to the same state, so one of them is followed for all.
    """

    variables: tuple[int, ...] = ()
    removal: int = 0
    degree: int = 0
    count: int = 1


@dataclass(frozen=True)
class Choice:
    """What a search settled on: the path, how many paths were equally good, whether the cap bit."""

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
) -> Choice:
    """Return the next variables to remove, without removing them.

    Parameters
    ----------
    engine
        The current state; left as it is.
    rule
        Names the candidates at each level, see `rfdag.eliminate.rules`.
    depth
        The paper's w: how many removals to look ahead while no path ends in a removal score above zero.
    max_paths
        At most this many paths are followed from one level to the next, the best first.
    generator
        Breaks ties at random; without one the path of lowest indices wins.
    constraints
        Who must come before whom: nobody is removed while one is left that must follow.
    """
    paths = [Path()]
    capped = False
    for _ in range(depth):
        paths = _one_per_set(paths)
        if len(paths) > max_paths:
            paths = sorted(paths, key=lambda path: (path.degree, path.variables))[:max_paths]
            capped = True
        paths = _extend(engine, paths, rule, constraints)
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


def _extend(engine: Engine, paths: list[Path], rule: str, constraints: Constraints | None) -> list[Path]:
    """Return every path lengthened by each of its candidates.

    Only one state beside ``engine`` exists at a time: a path's state is made afresh from its few variables,
    which costs less than scoring it and keeps memory at two states for any number of paths.
    """
    candidates_of = find_rule(rule)
    longer = []
    for path in paths:
        state = _after(engine, path.variables)
        if len(state.remaining) == 0:
            longer.append(path)
            continue
        free = None if constraints is None else np.flatnonzero(constraints.free(state.remaining))
        positions, removals = candidates_of(state, free)
        # Degrees only break the ties of rfd; asking for them elsewhere would be wasted work.
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
    """Keep, of the paths that removed the same variables, the one of lowest indices: they share a state."""
    kept: dict[frozenset[int], Path] = {}
    for path in sorted(paths, key=lambda path: path.variables):
        removed = frozenset(path.variables)
        first = kept.get(removed)
        kept[removed] = replace(first, count=first.count + path.count) if first else path
    return list(kept.values())


def position_of(engine: Engine, variable: int) -> int:
    """Return where a remaining variable stands in the engine."""
    return int(np.flatnonzero(engine.remaining == variable)[0])
