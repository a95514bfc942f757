"""The fitted model of numbers and categories: to sample from, to intervene on, to ask for probabilities of levels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rfdag.errors import DataError, DataWarning, OptionError, as_column, keyword, listed
from rfdag.evidence.expansion import Category, Expansion
from rfdag.graphs.dag import ancestors
from rfdag.input.table import Table
from rfdag.result.marginals import marginals
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
"""Probabilities that are held as a table."""

ROWS_OF_MEANS = 2**16
"""Rows over which means are averaged that have no closed form.

Each variable's noise takes the midpoints of as many equal parts of its distribution, once each, in an order of its own
(Latin hypercube: McKay, Beckman and Conover, 1979). What is averaged is the expected value given the parents. The
standard error is at most 1/256 of the standard deviation of that, and less where the causes add up.
"""

ORDERS = 5
"""Seed of these orders, which are the same for every model: means of two interventions differ by what these do."""


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

    Beyond the data, lines are continued. Where powers are taken, a value beyond four standard deviations from the mean
    acts as that at four does, as when the model was fitted. `do` and `probabilities` warn of values outside the data.

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
        return cls(result.names, order, mixed.expansion.in_use(), tuple(families))

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
        checked = {name: self._value(name, value) for name, value in mapping_of(values).items()}
        self._warn_beyond(checked)
        return replace(self, fixed={**self.fixed, **checked})

    def mean(self) -> dict[Hashable, Any]:
        """Return the mean of each number, and of each category the probabilities of its levels by name.

        A variable that is set has the value that it was set to. The means are those of `sample`: exact for categories
        whose causes are categories, as long as a million probabilities hold what these have in common, and for numbers
        that follow from such, and from each other, along lines. The others are averages over 65 536 rows whose noise
        is spread evenly, always the same. Their standard error is at most 0.4 % of the standard deviation of what the
        causes let expect.
        """
        means = self._exact_means()
        means |= self._averaged_means([at for at in self.order if at not in means])
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
        codes = {parent: self._value(parent, given[parent]) for parent in parents}
        self._warn_beyond(codes)
        row = np.zeros((1, len(self.names)))
        for parent, value in codes.items():
            row[0, self._place(parent)] = self._code(parent, value)
        return self._shown(at, self._expected(at, row)[0])

    def sample(self, n: int, rng: Seed = None) -> Table:
        """Return n independent rows with the names of their columns, which can be passed to `rfdag.learn`.

        Categories are codes, whose levels the table knows.
        """
        n = whole("n", n, 1)
        require_rows(n, len(self.names))
        generator = generator_from(rng, "rng")
        values = np.empty((n, len(self.names)))
        for at in self.order:
            draw: Any = generator.random if self.expansion.categorical[at] else generator.normal
            values[:, at] = self._drawn(at, self._expected(at, values), partial(draw, size=n))
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

    def _value(self, name: Hashable, value: Any) -> Any:
        """Return a value of a variable as the model keeps it: the name of a level, or a finite number."""
        if isinstance(self.expansion.parts[self._place(name)], Category):
            return self.levels(name)[self._level(name, value)]
        return self._number(name, value)

    def _code(self, name: Hashable, value: Any) -> float:
        """Return a value of a variable as it stands in rows."""
        at = self._place(name)
        return self._level(name, value) if isinstance(self.expansion.parts[at], Category) else self._number(name, value)

    def _warn_beyond(self, values: Mapping[Hashable, Any]) -> None:
        """Warn of numbers outside the data: of which columns, their ends, and what is done with them."""
        found = []
        for name, value in values.items():
            part = self.expansion.parts[self._place(name)]
            if isinstance(part, Category) or not part.beyond(value):
                continue
            low, high = part.drawn_in
            done = f"its {'lines' if part.degree == 1 else 'curves'} are continued"
            if not low <= value <= high:
                done = f"its curves act as at {min(max(value, low), high):.6g}, 4 standard deviations from its mean"
            found.append(
                f"{as_column(name)} is set to {value:.6g}, and its values run from {part.lowest:.6g} to "
                f"{part.highest:.6g}; {done}"
            )
        if found:
            text = f"Beyond the data: {'. '.join(found)}."
            # Two levels up is the caller of the model's method.
            warnings.warn(text, DataWarning, stacklevel=3)

    def _expected(self, at: int, values: Floats) -> Floats:
        """Return what is expected of a variable in rows with the values of its parents.

        It is the probability of each level of a category, and the mean of a number. Rows hold numbers, and the places
        of levels. All that is asked of a model goes through here.
        """
        name, family, part = self.names[at], self.families[at], self.expansion.parts[at]
        if name in self.fixed:
            value = self._code(name, self.fixed[name])
            alone = np.arange(len(part.levels)) == value if isinstance(part, Category) else np.array([value])
            return np.tile(alone.astype(np.float64), (len(values), 1))
        parents = family.parents.tolist()
        if family.table is not None:
            index = tuple(values[:, parent].astype(np.int64) for parent in parents)
            return family.table[index] if index else np.tile(family.table, (len(values), 1))
        own = slice(None) if isinstance(part, Category) else slice(0, 1)
        expected = family.intercepts[own] + (
            self.expansion.only(parents).columns(values[:, parents]) @ family.slopes[:, own]
        )
        return _all_levels(part, expected) if isinstance(part, Category) else expected * part.deviation + part.mean

    def _drawn(self, at: int, expected: Floats, draw: Callable[[], Floats]) -> Floats:
        """Return values of a variable, given what is expected of it.

        ``draw`` returns chances for a category, and standard normal numbers for a number; it is not called for a
        variable that is set.
        """
        part, noise = self.expansion.parts[at], self.families[at].noise
        if self.names[at] in self.fixed:
            return np.full(len(expected), self._code(self.names[at], self.fixed[self.names[at]]))
        if isinstance(part, Category):
            passed = (draw()[:, None] > np.cumsum(expected, axis=1)).sum(axis=1)
            return np.minimum(passed, len(part.levels) - 1).astype(np.float64)
        return expected[:, 0] + draw() * (np.sqrt(max(noise[0, 0], 0.0)) * part.deviation)

    def _exact_means(self) -> dict[int, Floats]:
        """Return what is expected of the variables of which it follows without averages: set ones, and those below.

        Of categories whose causes are categories it follows from tables; of numbers, from the means of the columns of
        their parents.
        """
        means = self._means_of_categories()
        columns: dict[int, Floats] = {}
        for at in self.order:
            part, parents = self.expansion.parts[at], self.families[at].parents.tolist()
            is_set = self.names[at] in self.fixed
            if isinstance(part, Category):
                if at in means:
                    columns[at] = means[at][part.indicated]
                continue
            if is_set:
                means[at] = self._expected(at, np.zeros((1, len(self.names))))[0]
                columns[at] = self.expansion.only([at]).columns(means[at][None])[0]
            elif all(parent in columns for parent in parents):
                family = self.families[at]
                given = np.concatenate([np.empty(0), *(columns[parent] for parent in parents)])
                standard = family.intercepts[:1] + given @ family.slopes[:, :1]
                means[at] = standard * part.deviation + part.mean
                if part.degree == 1:
                    columns[at] = standard
        return means

    def _means_of_categories(self) -> dict[int, Floats]:
        """Return the probabilities of the levels of categories all of whose causes are categories, or are set."""
        found: dict[int, Floats] = {}
        waiting: list[int] = []
        row = np.zeros((1, len(self.names)))
        for at in self.order:
            if self.names[at] in self.fixed:
                row[0, at] = self._code(self.names[at], self.fixed[self.names[at]])
                if self.expansion.categorical[at]:
                    found[at] = self._expected(at, row)[0]
            elif self.expansion.categorical[at] and all(
                parent in waiting or self.names[parent] in self.fixed for parent in self.families[at].parents.tolist()
            ):
                waiting.append(at)
        needs = {at: [other for other in self.families[at].parents.tolist() if other in waiting] for at in waiting}
        levels = self.expansion.widths + 1

        def table(at: int) -> Floats:
            shape = levels[needs[at]].tolist()
            values = np.repeat(row, math.prod(shape), axis=0)
            values[:, needs[at]] = np.indices(shape).reshape(len(shape), len(values)).T
            return self._expected(at, values).reshape([*shape, int(levels[at])])

        return found | marginals(needs, levels.tolist(), table, MOST_COMBINATIONS)

    def _averaged_means(self, wanted: Sequence[int]) -> dict[int, Floats]:
        """Return what is expected of variables, as an average over rows whose noise is spread evenly."""
        means: dict[int, Floats] = {}
        if not wanted:
            return means
        dag = np.zeros((len(self.names),) * 2, np.int8)
        for at, family in enumerate(self.families):
            if self.names[at] not in self.fixed:
                dag[family.parents, at] = 1
        causes = ancestors(dag, list(wanted))
        values = np.zeros((ROWS_OF_MEANS, len(self.names)))
        for at in self.order:
            if at not in causes and at not in wanted:
                continue
            expected = self._expected(at, values)
            means[at] = expected.mean(axis=0)

            def spread(at: int = at) -> Floats:
                order = np.random.default_rng([ORDERS, at]).permutation(ROWS_OF_MEANS)
                chances = (order + 0.5) / ROWS_OF_MEANS
                return chances if self.expansion.categorical[at] else ndtri(chances)

            values[:, at] = self._drawn(at, expected, spread)
        return {at: means[at] for at in wanted}

    def _shown(self, at: int, expected: Floats) -> Any:
        part = self.expansion.parts[at]
        if isinstance(part, Category):
            return dict(zip(part.levels, expected.tolist(), strict=True))
        return float(expected[0])


def _all_levels(part: Category, indicated: Floats) -> Floats:
    """Return the probabilities of all levels in every row, given those that have an indicator, cut at 0 and 1."""
    chances = np.zeros((len(indicated), len(part.levels)))
    chances[:, part.indicated] = np.clip(indicated, 0.0, 1.0)
    reference = int(np.setdiff1d(np.arange(len(part.levels)), part.indicated)[0])
    chances[:, reference] = np.maximum(1.0 - chances.sum(axis=1), 0.0)
    return chances / chances.sum(axis=1, keepdims=True)


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
