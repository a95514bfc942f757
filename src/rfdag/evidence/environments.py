"""Evidence from several environments: moments by environment, and the variables that interventions target there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import Group, keyword
from rfdag.evidence.arrangement import by_content, by_sums, in_arrangement, products_of
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.moments import Moments
from rfdag.input.columns import Column
from rfdag.input.weights import whole_rows

if TYPE_CHECKING:
    from rfdag.eliminate.engines.engine import Engine
    from rfdag.evidence.independence import Independence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_NUMBERS = 2**26
"""Numbers in the scatter matrices of all environments up to which these are held, half a gigabyte; beyond that they are
formed from the rows as they are asked for."""


def without_environments() -> str:
    """Return how to learn from rows as if they came from one environment, as part of a message."""
    return (
        f"leave {keyword('environments', ...)} and {keyword('targets', ...)} out, and the column of labels with "
        f"{keyword('drop', ...)}"
    )


@dataclass(frozen=True, eq=False)
class EnvironmentMoments(Evidence):
    """Moments of rows that come from several environments.

    Attributes
    ----------
    names
        One name per variable.
    labels
        One label per environment.
    rows
        Rows of each environment.
    means
        Means of the variables in each environment, in standard units: the pooled mean is 0, the pooled deviation 1.
    blocks
        The rows of each environment less its means, in these units; None where only ``scatters`` are known.
    scatters
        For each environment the products of these rows, summed up; None where they are formed on demand.
    centre, scale
        The pooled means and standard deviations, in the units of the data.
    targets
        The variables that each environment targets, by column; None where that is not known.
    observational
        Which environments are known to have no targets.
    """

    names: tuple[Hashable, ...]
    labels: tuple[str, ...]
    rows: Integers
    means: Floats = field(repr=False)  # type: ignore[assignment]
    centre: Floats = field(repr=False)
    scale: Floats = field(repr=False)
    targets: tuple[tuple[int, ...], ...] | None
    observational: NDArray[np.bool_]
    blocks: tuple[Floats, ...] | None = field(default=None, repr=False)
    scatters: Floats | None = field(default=None, repr=False)
    plain: Moments | None = field(default=None, repr=False)
    """The moments of all rows as if they came from one environment, in the units of the data."""
    kind: str = "data"
    correlated: str = "pearson"
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = field(default=(), repr=False)

    @property
    def n_samples(self) -> int:
        """Number of rows in all environments."""
        return int(self.rows.sum())

    @property
    def unknown(self) -> bool:
        """Whether the targets are not known."""
        return self.targets is None

    @property
    def by_environment(self) -> Self:
        """These moments."""
        return self

    def awkward(self) -> tuple[Group, ...]:
        """Return the groups of columns that cannot all be used."""
        return () if self.plain is None else self.plain.awkward()

    def targeting(self, variable: int) -> list[int]:
        """Return the environments that are known to target a variable."""
        return [e for e, members in enumerate(self.targets or ()) if variable in members]

    def groups_of(self, variable: int) -> list[int]:
        """Return the environments that target a variable, or that may where this is not known."""
        if self.targets is None:
            return np.flatnonzero(~self.observational).tolist()
        return self.targeting(variable)

    @cached_property
    def _held(self) -> Floats | None:
        """The scatter matrices of all environments, where they are held."""
        if self.scatters is not None or self.blocks is None:
            return self.scatters
        if len(self.rows) * len(self.names) ** 2 > MOST_NUMBERS:
            return None
        return np.array([products_of(block) for block in self.blocks])

    @cached_property
    def total_within(self) -> Floats:
        """The scatter of all rows about the means of their environments."""
        if self._held is not None:
            found: Floats = self._held.sum(axis=0)
            return found
        total = np.zeros((len(self.names), len(self.names)))
        for block in self.blocks or ():
            total += products_of(block)
        return total

    @cached_property
    def total(self) -> Floats:
        """The scatter of all rows about the pooled means."""
        return self._total_in(np.arange(len(self.names)))

    def _total_in(self, places: Integers) -> Floats:
        """Return the same with the variables in another arrangement: the i-th is the one at places[i] here."""
        means = self.means[:, places]
        weighted = means * self.rows[:, None]
        shift = means.T @ weighted - np.outer(weighted.sum(0), weighted.sum(0)) / self.n_samples
        return in_arrangement(self.total_within, places) + shift

    def within(self, variables: Integers, groups: Sequence[int]) -> Floats:
        """Return the scatter matrices of some variables in some environments."""
        held = self._held
        if held is not None:
            return held[np.ix_(np.array(groups, np.int64), variables, variables)]
        assert self.blocks is not None
        chosen = (self.blocks[e][:, variables] for e in groups)
        return np.array([part.T @ part for part in chosen]).reshape(len(groups), len(variables), len(variables))

    def common(self, variables: Integers, without: Sequence[int], *, centred: bool) -> tuple[int, Floats, Floats]:
        """Return the rows outside of some environments: their number, means, and the scatter of some variables.

        The scatter is about these means or, ``centred``, about those of each environment.
        """
        left = np.delete(np.arange(len(self.rows)), list(without))
        weights = self.rows[left]
        of_left = self.means[np.ix_(left, variables)]
        centre = weights @ of_left / max(weights.sum(), 1)
        scatter = self.total_within[np.ix_(variables, variables)]
        if len(without):
            scatter = scatter - self.within(variables, without).sum(axis=0)
        if not centred:
            apart = of_left - centre
            scatter = scatter + apart.T @ (weights[:, None] * apart)
        return int(weights.sum()), centre, scatter

    def pooled(self, *, centred: bool, among: Sequence[int] | None = None) -> Moments:
        """Return the moments of the rows of all, or some, environments as if they came from one.

        ``centred`` takes the means of its environment from every row.
        """
        out = [] if among is None else [e for e in range(len(self.rows)) if e not in among]
        everything = np.arange(len(self.names))
        counted, _, scatter = self.common(everything, out, centred=centred)
        behind = counted - (len(self.rows) - len(out) - 1 if centred else 0)
        return Moments.from_covariance(scatter / max(counted - 1, 1), max(behind, 2), self.names)

    def in_units(self, *, centred: bool, among: Sequence[int]) -> Moments:
        """Return the moments of the rows of some environments in the units of the data."""
        found = self.pooled(centred=centred, among=among)
        counts = self.rows[list(among)]
        means = counts @ self.means[list(among)] / counts.sum()
        known: dict[str, Any] = {
            "means": means * self.scale + self.centre,
            "scales": found.scales * self.scale,
            "kind": "data",
        }
        return replace(found, **known)

    def places_by_data(self) -> Integers:
        """Return the variables sorted by how much the others tell about them, whatever their arrangement."""
        places = by_content(np.concatenate([self.means, np.diag(self.total_within)[None]]))
        total = self._total_in(places)
        deviations = np.sqrt(np.maximum(np.diag(total), 1e-300))
        squares = (total / deviations / deviations[:, None]) ** 2
        return places[by_sums(squares.sum(axis=0))]

    def arranged(self, places: Integers) -> Self:
        """Return the same with the variables in another arrangement: the i-th is the one at places[i] here."""
        number = np.argsort(places)
        held = self._held
        known: dict[str, Any] = {
            "names": tuple(self.names[at] for at in places.tolist()),
            "means": self.means[:, places],
            "centre": self.centre[places],
            "scale": self.scale[places],
            "targets": None
            if self.targets is None
            else tuple(tuple(sorted(number[list(each)].tolist())) for each in self.targets),
            "blocks": None if self.blocks is None or held is not None else tuple(b[:, places] for b in self.blocks),
            "scatters": None if held is None else held[:, places[:, None], places],
            "columns": (),
        }
        return replace(self, **known)

    def worth_a_share(self, share: float) -> Self:
        """Return the same moments as those of fewer rows: a share of them."""
        rows = np.array([max(2, whole_rows(share * count)) for count in self.rows.tolist()], np.int64)
        matrices = self.within(np.arange(len(self.names)), range(len(self.rows)))
        known: dict[str, Any] = {"rows": rows, "scatters": matrices * (rows / self.rows)[:, None, None], "blocks": None}
        return replace(self, **known)

    def kept(self) -> Self:
        """Return what a result keeps: matrices in place of the rows, where they are not too many."""
        held = self._held
        known: dict[str, Any] = {"blocks": self.blocks if held is None else None, "scatters": held}
        return replace(self, **known)

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Raise: eliminations need the moments of one environment, or of all as one."""
        raise NotImplementedError("several environments have no engine")

    def independence(self, alpha: float) -> Independence:
        """Raise: several environments are judged by scores alone."""
        raise NotImplementedError("several environments have no tests")
