"""The fitted model of numbers and categories: to sample from, to intervene on, to ask for probabilities of levels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, OptionError, as_column, keyword, listed
from rfdag.evidence.expansion import Category, Expansion, Powers
from rfdag.input.table import Table
from rfdag.runtime.memory import require_rows
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.values import mapping_of, whole
from rfdag.wording import counted, with_nearest

if TYPE_CHECKING:
    from rfdag.evidence.mixed import Counts
    from rfdag.result.result import Result

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_COMBINATIONS = 1_000_000
"""Probabilities of one variable that are held as a table."""


class Family(NamedTuple):
    """How a variable follows from its parents.

    Attributes
    ----------
    parents
        Their column numbers.
    intercepts, slopes, noise
        The regression of the variable's columns on those of its parents, and the covariance that is left.
    table
        The probabilities of its levels (last axis) for each combination of the parents' levels, where all are
        categories; None where the regression stands for them.
    """

    parents: Integers
    intercepts: Floats
    slopes: Floats
    noise: Floats
    table: Floats | None = None


@dataclass(frozen=True, eq=False)
class MixedModel:
    """A model of numbers and categories on a DAG.

    A number is a linear function of its parents' columns with Gaussian noise: of numbers, of their powers where the
    result was learnt with ``basis``, and of a 0 or 1 for each level of a category. A category has a table of
    probabilities for each combination of levels where all its parents are categories and were counted; elsewhere its
    probabilities are linear functions of the parents as well, cut at 0 and 1: a rough approximation far from the middle
    of the data.

    Attributes
    ----------
    names
        The variables.
    order
        Their column numbers in causal order.
    fixed
        The values of variables that are set, by name.
    """

    names: tuple[Hashable, ...]
    order: tuple[int, ...]
    expansion: Expansion = field(repr=False)
    families: tuple[Family, ...] = field(repr=False)
    fixed: Mapping[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> MixedModel:
        """Return the model given by a result's DAG and the moments of its columns."""
        mixed = result.mixed
        if mixed is None:
            raise DataError("This result was saved without moments; save it with moments=True for a model.")
        counts, dag = mixed.counts, result.dag
        size = getattr(result.method, "sample_size", 1.0)
        families = []
        for child in range(len(result.names)):
            parents = np.flatnonzero(dag[:, child])
            table = None if counts is None else _table(counts, child, parents, size)
            families.append(Family(parents, *mixed.regression(child, parents), table))
        order = tuple(int(at) for at in result.causal_order)
        return cls(result.names, order, mixed.expansion, tuple(families))

    def levels(self, name: Hashable) -> tuple[str, ...]:
        """Return the levels of a categorical variable."""
        part = self.expansion.parts[self._place(name)]
        if not isinstance(part, Category):
            raise OptionError(f"{as_column(name)} is a number and has no levels.")
        return part.levels

    def do(self, values: Mapping[Hashable, Any]) -> MixedModel:
        """Return the model in which variables are set to values, categories to levels, whatever their causes.

        >>> import rfdag
        >>> result = rfdag.learn(rfdag.datasets.abalone_path(), restarts=0)
        >>> young, old = (result.model().do({"Rings": rings}).mean()["Length"] for rings in (5, 15))
        >>> bool(old > young)
        True
        """
        for name, value in mapping_of(values).items():
            self._level(name, value) if self._is_category(name) else self._number(name, value)
        return replace(self, fixed={**self.fixed, **values})

    def mean(self) -> dict[Hashable, Any]:
        """Return the mean of each number, and of each category the probabilities of its levels by name.

        These follow from the regressions, or from the tables; with powers they do not, and are averages of draws then.
        """
        if any(isinstance(part, Powers) and part.degree > 1 for part in self.expansion.parts):
            drawn = self.sample(100_000)
            columns = self.expansion.columns(drawn.values).mean(axis=0)
            starts = self.expansion.starts
            means = [columns[starts[at] : starts[at + 1]] for at in range(len(self.names))]
        else:
            means = [np.empty(0)] * len(self.names)
            for at in self.order:
                means[at] = self._mean_of(at, means)
        return {name: self._shown(at, means[at]) for at, name in enumerate(self.names)}

    def probabilities(self, name: Hashable, given: Mapping[Hashable, Any] | None = None) -> dict[str, float]:
        """Return the probabilities of the levels of a category, given values of all its parents."""
        given, at = {} if given is None else mapping_of(given), self._place(name)
        part = self.expansion.parts[at]
        if not isinstance(part, Category):
            raise OptionError(f"{as_column(name)} is a number; for its mean set the others with do(…) and ask mean().")
        family = self.families[at]
        parents = [self.names[parent] for parent in family.parents.tolist()]
        if set(given) != set(parents):
            raise OptionError(
                f"The levels of {as_column(name)} depend on {listed(parents) if parents else 'nothing'}; give a value "
                f"for each of these, and for no other, not for {listed(list(given)) if given else 'none'}."
            )
        return self._shown(at, self._mean_of(at, [self._columns_of(other, given) for other in range(len(self.names))]))

    def sample(self, n: int, rng: Seed = None) -> Table:
        """Return n independent rows with the names of their columns, which can be passed to `rfdag.learn`.

        Categories are codes, whose levels the table knows.
        """
        n = whole("n", n, 1)
        require_rows(n, len(self.names))
        generator = generator_from(rng, "rng")
        values = np.empty((n, len(self.names)))
        for at in self.order:
            name, part, family = self.names[at], self.expansion.parts[at], self.families[at]
            if name in self.fixed:
                values[:, at] = self._level(name, self.fixed[name]) if isinstance(part, Category) else self.fixed[name]
                continue
            if isinstance(part, Category):
                chances = self._chances(at, values)
                draws = generator.random(n)
                values[:, at] = np.minimum(
                    (draws[:, None] > np.cumsum(chances, axis=1)).sum(axis=1), len(part.levels) - 1
                )
            else:
                expected = self._expected(at, values)[:, 0]
                expected += generator.normal(size=n) * np.sqrt(max(family.noise[0, 0], 0.0))
                values[:, at] = expected * part.deviation + part.mean
        levels = {at: part.levels for at, part in enumerate(self.expansion.parts) if isinstance(part, Category)}
        return Table(values, self.names, levels=levels)

    def __str__(self) -> str:
        return self.summary()

    def summary(self, limit: int = 20) -> str:
        """Return a line for each variable: what it is, and from what it follows."""
        lines = [
            f"model of {counted(len(self.names), 'variable')}, "
            f"{int(self.expansion.categorical.sum())} of them categories"
        ]
        limit = whole("limit", limit, 0)
        for at, name in list(enumerate(self.names))[:limit]:
            family, part = self.families[at], self.expansion.parts[at]
            parents = ", ".join(str(self.names[parent]) for parent in family.parents.tolist()) or "nothing"
            how = "table of probabilities" if family.table is not None else "linear"
            kind = f"{len(part.levels)} levels" if isinstance(part, Category) else "number"
            lines.append(f"{name} ({kind}): {how} in {parents}")
        more = len(self.names) - limit
        return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines)

    def _place(self, name: Hashable) -> int:
        if not isinstance(name, Hashable) or name not in self.names:
            raise OptionError(
                f"There is no variable {with_nearest([name], self.names)}; the model has {listed(self.names)}."
            )
        return self.names.index(name)

    def _is_category(self, name: Hashable) -> bool:
        return isinstance(self.expansion.parts[self._place(name)], Category)

    def _level(self, name: Hashable, value: Any) -> int:
        levels = self.levels(name)
        if str(value) not in levels:
            raise OptionError(f"{as_column(name)} has the levels {listed(levels, limit=20)}, not {value!r}.")
        return levels.index(str(value))

    def _number(self, name: Hashable, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise OptionError(f"A number is set to a finite number; {name!r} was given {value!r}.")
        return number

    def _columns_of(self, at: int, given: Mapping[Hashable, Any]) -> Floats:
        """Return the columns of a variable that has a value; zeros where it has none."""
        name, part = self.names[at], self.expansion.parts[at]
        if name not in given:
            return np.zeros(int(self.expansion.widths[at]))
        if isinstance(part, Category):
            return (part.indicated == self._level(name, given[name])).astype(np.float64)
        standard = (self._number(name, given[name]) - part.mean) / part.deviation
        return np.power(standard, np.arange(1, part.degree + 1), dtype=np.float64)

    def _mean_of(self, at: int, means: list[Floats]) -> Floats:
        """Return the means of the columns of a variable, given those of its parents."""
        name, family, part = self.names[at], self.families[at], self.expansion.parts[at]
        if name in self.fixed:
            return self._columns_of(at, self.fixed)
        if family.table is not None:
            assert isinstance(part, Category)
            chances = family.table
            # Parents are taken as independent of each other but for what they share: exact for one, else averaged.
            for parent in family.parents.tolist():
                other = self.expansion.parts[parent]
                assert isinstance(other, Category)
                chances = np.tensordot(_all_levels(other, means[parent]), chances, axes=(0, 0))
            return chances[part.indicated]
        columns = np.concatenate([means[parent] for parent in family.parents.tolist()] or [np.empty(0)])
        return family.intercepts + columns @ family.slopes

    def _expected(self, at: int, values: Floats) -> Floats:
        """Return the expected columns of a variable in every row, given the values of its parents."""
        family = self.families[at]
        if not len(family.parents):
            return np.tile(family.intercepts, (len(values), 1))
        parts = tuple(self._as_drawn(self.expansion.parts[parent]) for parent in family.parents.tolist())
        of_parents = Expansion(tuple(range(len(parts))), parts)
        return family.intercepts + of_parents.columns(values[:, family.parents]) @ family.slopes

    @staticmethod
    def _as_drawn(part: Any) -> Any:
        """Return how a variable stands as columns whose codes are levels in use."""
        return replace(part, of_code=np.arange(len(part.levels))) if isinstance(part, Category) else part

    def _chances(self, at: int, values: Floats) -> Floats:
        """Return the probabilities of all levels of a category in every row."""
        family, part = self.families[at], self.expansion.parts[at]
        assert isinstance(part, Category)
        if family.table is not None:
            index = tuple(values[:, parent].astype(np.int64) for parent in family.parents.tolist())
            return np.atleast_2d(family.table[index]) if index else np.tile(family.table, (len(values), 1))
        return np.array([_all_levels(part, row) for row in self._expected(at, values)])

    def _shown(self, at: int, columns: Floats) -> Any:
        part = self.expansion.parts[at]
        if isinstance(part, Category):
            return dict(zip(part.levels, _all_levels(part, columns).tolist(), strict=True))
        return float(columns[0] * part.deviation + part.mean)


def _all_levels(part: Category, indicated: Floats) -> Floats:
    """Return the probabilities of all levels, given those that have an indicator, cut at 0 and 1."""
    chances = np.zeros(len(part.levels))
    chances[part.indicated] = np.clip(indicated, 0.0, 1.0)
    reference = int(np.setdiff1d(np.arange(len(part.levels)), part.indicated)[0])
    chances[reference] = max(1.0 - chances.sum(), 0.0)
    return chances / chances.sum()


def _table(counts: Counts, child: int, parents: Integers, sample_size: float) -> Floats:
    """Return the expected probabilities of a child's levels for every combination of its parents' levels."""
    shape = (*counts.levels[parents].tolist(), int(counts.levels[child]))
    if np.prod(np.array(shape, np.float64)) > MOST_COMBINATIONS:
        raise DataError(
            f"A table of {' × '.join(map(str, shape))} probabilities is too large. Learn with a higher "
            f"{keyword('gamma')}, so that variables have fewer parents."
        )
    table = np.full(shape, sample_size / np.prod(shape))
    np.add.at(table, tuple(counts.codes[[*parents.tolist(), child]].astype(np.int64)), counts.weights)
    return table / table.sum(axis=-1, keepdims=True)
