"""What was found of each environment: its targets and their mechanisms, and whether all else stayed as it was."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

from rfdag.graphs.interventional import revealed_edges

Mechanism = Literal["cut", "shift", "own slopes"]


class Target(NamedTuple):
    """A variable that an environment targets.

    Attributes
    ----------
    variable
        Its name.
    mechanism
        What it does there: "cut" if it does not depend on its parents, "shift" if its mean and noise are others, "own
        slopes" if its parents act with other strengths as well.
    gain
        By how much the score would be worse if it were no target.
    """

    variable: Hashable
    mechanism: Mechanism
    gain: float


class Invariance(NamedTuple):
    """A test of whether a variable that is no target of an environment behaves there as in the others.

    ``p_value`` is that of the likelihood ratio between a mechanism of its own there and the one that it shares.
    """

    variable: Hashable
    p_value: float


class Environment(NamedTuple):
    """One environment of a result.

    Attributes
    ----------
    label
        What it is called.
    rows
        Number of its rows.
    targets
        The variables that it targets, those with the largest gain first.
    """

    label: str
    rows: int
    targets: tuple[Target, ...]

    @property
    def observational(self) -> bool:
        """Whether it has no targets."""
        return not self.targets


class Interventions(NamedTuple):
    """What was found of all environments.

    Attributes
    ----------
    environments
        One record for each.
    found
        Whether targets were found, not given.
    intercepts
        "common" or "environment": whether variables keep their means in every environment, given their parents.
    compared
        The score of the best order with each kind of intercepts that was tried.
    hard
        Whether all targets are cut off their parents.
    """

    environments: tuple[Environment, ...]
    found: bool
    intercepts: Literal["common", "environment"]
    compared: dict[str, float]
    hard: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the environments."""
        return tuple(each.label for each in self.environments)

    def target_sets(self, names: Sequence[Hashable]) -> list[list[int]]:
        """Return the targets of each environment by their places among names."""
        place = {name: at for at, name in enumerate(names)}
        return [[place[target.variable] for target in each.targets] for each in self.environments]

    def revealed_edges(self, dag: Any, names: Sequence[Hashable]) -> list[tuple[int, int]]:
        """Return the edges of a DAG over names that the environments direct."""
        return revealed_edges(dag, self.target_sets(names), hard=self.hard)
