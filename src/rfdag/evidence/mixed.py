"""Evidence in which a variable may be several columns: categories as indicators, numbers as powers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataMessage, Group, OptionError, as_columns, keyword
from rfdag.evidence.arrangement import by_content, by_sums
from rfdag.evidence.awkward import CONSTANT, awkward_error
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.expansion import Category, Expansion, whitened
from rfdag.evidence.pair_rows import PairRows
from rfdag.evidence.regressions import Regressions
from rfdag.evidence.spread import about_range
from rfdag.input.columns import Column
from rfdag.input.weights import whole_rows

if TYPE_CHECKING:
    from rfdag.eliminate.engines.engine import Engine
    from rfdag.evidence.independence import Independence
    from rfdag.evidence.moments import Moments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWER_ROWS = 4
"""Times that rows must outnumber the possible combinations of levels for equal rows to be counted together."""

DETERMINED = 1e-8
"""Share of a direction's variance, given all other variables, below which these determine it."""


class Counts(NamedTuple):
    """The rows of variables all of which are categories, for scores that count them.

    Attributes
    ----------
    codes
        The level in use of each variable (rows of the array) in each row of the data.
    levels
        How many levels each variable has.
    weights
        How often each row counts.
    share
        What all counts are worth: less than 1 where rows were drawn with replacement.
    """

    codes: NDArray[np.uint8]
    levels: Integers
    weights: NDArray[np.int32]
    share: float = 1.0

    def compressed(self) -> Counts:
        """Return the same counts with equal rows as one, where few combinations of levels are possible at all."""
        combinations = float(np.prod(self.levels.astype(np.float64)))
        if combinations * FEWER_ROWS > self.codes.shape[1]:
            return self
        number = np.zeros(self.codes.shape[1], np.int64)
        # Which row stands first is not to hang on how the variables were given.
        for at in by_content(self.codes.T).tolist():
            number = number * int(self.levels[at]) + self.codes[at]
        _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
        weights = np.bincount(inverse, self.weights).astype(np.int32)
        return Counts(np.ascontiguousarray(self.codes[:, first]), self.levels, weights, self.share)

    def arranged(self, places: Integers) -> Counts:
        """Return the same with variables in another arrangement."""
        return Counts(np.ascontiguousarray(self.codes[places]), self.levels[places], self.weights, self.share)


@dataclass(frozen=True, eq=False)
class MixedMoments(Evidence):
    """The covariance of columns several of which may belong to one variable.

    Attributes
    ----------
    expansion
        How each variable stands as columns.
    n_samples
        Number of rows, or what rows with gaps count for.
    covariance
        The covariance of all columns.
    column_means
        Their means.
    one_equation
        Whether a variable is a number that its parents' powers explain, and not itself explained as powers.
    counts
        The rows themselves where all variables are categories without gaps, and while they are at hand.
    countable
        Whether there were such rows.
    """

    expansion: Expansion
    n_samples: int
    covariance: Floats = field(repr=False)
    column_means: Floats = field(repr=False)
    one_equation: bool = False
    counts: Counts | None = field(default=None, repr=False)
    countable: bool = False
    linear: MixedMoments | None = field(default=None, repr=False)
    """The same without powers, where the data are to decide between the two."""
    pair_rows: PairRows | None = field(default=None, repr=False)
    """How many rows each pair of variables is known in; None where values are missing nowhere."""
    kind: str = "data"
    correlated: str = "pearson"
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = field(default=(), repr=False)

    @property
    def names(self) -> tuple[Hashable, ...]:  # type: ignore[override]
        """One name per variable."""
        return self.expansion.names

    @property
    def counted(self) -> bool:
        """Whether all variables were categories without gaps, whose rows could be counted."""
        return self.counts is not None or self.countable

    @property
    def mixed(self) -> MixedMoments:
        """These moments."""
        return self

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which variables are categories."""
        return self.expansion.categorical

    @cached_property
    def white(self) -> tuple[Floats, Floats, Integers]:
        """The covariance with the columns of each variable uncorrelated, what made it so, and where they start."""
        return whitened(self.covariance, self.expansion)

    @cached_property
    def price_factors(self) -> Floats | None:
        """How many times the usual price an edge between two variables costs; None where it is the same for all."""
        white, _, starts = self.white
        return None if self.pair_rows is None else self.pair_rows.price_factors(white, starts)

    @property
    def widths(self) -> Integers | None:
        """How many of its columns each variable has as a child; None for all."""
        return np.where(self.categorical, self.expansion.widths, 1) if self.one_equation else None

    @cached_property
    def determined(self) -> tuple[Hashable, ...]:
        """The variables some of whose columns are determined by other variables' columns."""
        white, _, starts = self.white
        try:
            np.linalg.cholesky(white - DETERMINED * np.eye(len(white)))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(white)
        else:
            return ()
        null = vectors[:, values < DETERMINED]
        if not null.size:
            return ()
        sizes = np.abs(null).max(axis=1)
        involved = [sizes[starts[v] : starts[v + 1]].max(initial=0.0) > 1e-4 for v in range(len(self.names))]
        return tuple(name for name, there in zip(self.names, involved, strict=True) if there)

    def warnings(self, *, scored: bool = False) -> tuple[str, ...]:
        """Return which variables determine each other in part, or vary too little or too much for their variances."""
        parts = zip(self.names, self.expansion.parts, strict=True)
        scales = {name: part.deviation for name, part in parts if not isinstance(part, Category)}
        beyond = about_range(list(scales), np.array(list(scales.values()), np.float64))
        if not self.determined:
            return beyond
        return (
            *beyond,
            DataMessage(
                f"{as_columns(self.determined)} determine each other in part: some of their levels or powers follow "
                "from others. What parents determine already is not counted again, and edges among these variables "
                f"cannot be told apart. Leave one out with {keyword('drop', [self.determined[-1]])}."
            ),
        )

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Raise: variables of several columns are eliminated by beams of their own."""
        raise NotImplementedError("variables of several columns have no engine")

    def independence(self, alpha: float) -> Independence:
        """Raise: variables of several columns are judged by scores alone."""
        raise NotImplementedError("variables of several columns have no tests")

    def places_by_data(self) -> Integers:
        """Return the variables sorted by how much all others tell about them, whatever their arrangement."""
        starts, widths = self.expansion.starts, self.expansion.widths
        entries = np.concatenate([np.diag(self.covariance)[None], np.sort(self.covariance, axis=0)])
        ranks = np.unique(entries, axis=1, return_inverse=True)[1].ravel()
        of_columns = np.full((int(widths.max()), len(widths)), -1)
        for at, (start, width) in enumerate(zip(starts[:-1].tolist(), widths.tolist(), strict=True)):
            of_columns[:width, at] = ranks[start : start + width]
        places = by_content(of_columns)
        white, _, starts = self.arranged(places).white
        squares = white**2
        sums = [squares[starts[v] : starts[v + 1]].sum() for v in range(len(self.names))]
        return places[by_sums(np.array(sums))]

    def arranged(self, places: Integers) -> Self:
        """Return the same with the variables in another arrangement: the i-th is the one at places[i] here."""
        old = self.expansion
        expansion = Expansion(
            tuple(old.names[at] for at in places.tolist()), tuple(old.parts[at] for at in places.tolist())
        )
        order = np.concatenate([np.arange(old.starts[at], old.starts[at + 1]) for at in places.tolist()])
        known: dict[str, Any] = {
            "expansion": expansion,
            "covariance": self.covariance[np.ix_(order, order)],
            "column_means": self.column_means[order],
            "counts": None if self.counts is None else self.counts.arranged(places),
            "pair_rows": None if self.pair_rows is None else self.pair_rows.among(places),
        }
        return replace(self, **known)

    def of_degree(self, degree: int) -> Self:
        """Return the same with numbers raised to lower powers."""
        old = self.expansion
        parts = tuple(part if isinstance(part, Category) else replace(part, degree=degree) for part in old.parts)
        expansion = Expansion(old.names, parts)
        widths = zip(old.starts[:-1].tolist(), expansion.widths.tolist(), strict=True)
        kept = np.concatenate([np.arange(start, start + width) for start, width in widths])
        known: dict[str, Any] = {
            "expansion": expansion,
            "covariance": self.covariance[np.ix_(kept, kept)],
            "column_means": self.column_means[kept],
        }
        return replace(self, **known)

    def renamed(self, names: tuple[Hashable, ...]) -> Self:
        """Return the same evidence under other names."""
        return replace(self, expansion=replace(self.expansion, names=names))

    def worth_a_share(self, share: float) -> Self:
        """Return the same moments as those of fewer rows: a share of them."""
        counts = None if self.counts is None else self.counts._replace(share=self.counts.share * share)
        linear = None if self.linear is None else self.linear.worth_a_share(share)
        known: dict[str, Any] = {
            "n_samples": max(2, whole_rows(share * self.n_samples)),
            "counts": counts,
            "linear": linear,
            "pair_rows": None if self.pair_rows is None else self.pair_rows.times(share),
        }
        return replace(self, **known)

    def refuse(self, what: str) -> NoReturn:
        """Raise for something that only single columns of numbers allow."""
        several = [name for name, width in zip(self.names, self.expansion.widths, strict=True) if width > 1]
        categories = [name for name, is_one in zip(self.names, self.categorical, strict=True) if is_one]
        if categories and not self.one_equation:
            raise OptionError(
                f"{what}, and {as_columns(categories)} {'is' if len(categories) == 1 else 'are'} categorical. Leave it "
                f"out, or the categories with {keyword('drop', categories)}."
            )
        raise OptionError(
            f"{what}, and with {keyword('basis', ...)} {as_columns(several)} stand for several columns each. Leave one "
            "of the two out."
        )

    def refuse_constant(self) -> None:
        """Raise for variables of which no column varies."""
        starts = self.white[2]
        flat = [name for name, width in zip(self.names, np.diff(starts), strict=True) if not width]
        if flat:
            raise awkward_error([Group(CONSTANT, (), (name,)) for name in flat], len(self.names))

    @cached_property
    def simple(self) -> Integers:
        """For each variable its single column, where it is a number; −1 for categories."""
        starts = self.expansion.starts[:-1]
        return np.where(self.categorical, -1, starts)

    def regressions(self, dag: Any) -> Regressions:
        """Return the regression of each variable on its parents' columns.

        A coefficient is that of a number on a number, in the units of the data; it is NaN where an end is a category or
        the parent stands for several powers. A variance is that of a number given its parents, NaN for categories.
        In place of partial correlations stand the sizes of those between two Gaussian variables that would tell as much
        of each other, √(1 − det S_{Y|P} / det S_{Y|P∖x}), with a sign where there is a coefficient.
        """
        matrix = dag.toarray() if hasattr(dag, "toarray") else np.asarray(dag)
        p = len(self.names)
        coefficients, strengths, variances = np.zeros((p, p)), np.zeros((p, p)), np.full(p, np.nan)
        starts = self.expansion.starts
        scales = np.array([1.0 if isinstance(part, Category) else part.deviation for part in self.expansion.parts])
        with np.errstate(over="ignore"):
            squares, ratios = scales**2, scales / scales[:, None]
        for child in range(p):
            parents = np.flatnonzero(matrix[:, child])
            width = (self.expansion.widths if self.widths is None else self.widths)[child]
            columns, own = self._columns_of(parents), np.arange(starts[child], starts[child] + width)
            slopes, left = _regressed(self.covariance, columns, own)
            owner = np.repeat(parents, np.diff(starts)[parents])
            size = _log_det(left)
            for parent in parents.tolist():
                _, without = _regressed(self.covariance, columns[owner != parent], own)
                strengths[parent, child] = np.sqrt(max(-np.expm1(min(size - _log_det(without), 0.0)), 0.0))
                of_one = slopes[owner == parent]
                linear = not self.categorical[child] and not self.categorical[parent] and len(of_one) == 1
                coefficients[parent, child] = of_one[0, 0] * ratios[parent, child] if linear else np.nan
                strengths[parent, child] *= np.sign(of_one[0, 0]) if linear else 1.0
            if not self.categorical[child]:
                variances[child] = max(left[0, 0], 0.0) * squares[child]
        return Regressions(coefficients, variances, strengths)

    def _columns_of(self, variables: Integers) -> Integers:
        """Return the columns of some variables, one variable after the other."""
        starts = self.expansion.starts
        each = [np.arange(starts[at], starts[at + 1]) for at in variables.tolist()]
        return np.concatenate([np.empty(0, np.int64), *each])

    def regression(self, child: int, parents: Integers) -> tuple[Floats, Floats, Floats]:
        """Return intercepts and slopes of a variable's columns on those of its parents, and the covariance left."""
        starts = self.expansion.starts
        columns, own = self._columns_of(parents), np.arange(starts[child], starts[child + 1])
        slopes, left = _regressed(self.covariance, columns, own)
        return self.column_means[own] - self.column_means[columns] @ slopes, slopes, left

    @property
    def means(self) -> Floats:  # type: ignore[override]
        """The means of the variables; NaN for categories."""
        return np.array([np.nan if isinstance(part, Category) else part.mean for part in self.expansion.parts])

    def as_moments(self, variables: Integers) -> tuple[Moments, list[Integers]]:
        """Return the moments of the columns of some variables, and at which of them each variable stands.

        Columns that add nothing to earlier ones of their variable are left out. Numbers keep their units.
        """
        from rfdag.evidence.moments import Moments

        starts = self.expansion.starts
        chosen: list[int] = []
        places: list[Integers] = []
        for variable in variables.tolist():
            kept: list[int] = []
            for column in range(int(starts[variable]), int(starts[variable + 1])):
                _, left = _regressed(self.covariance, np.array(kept, int), np.array([column]))
                if left[0, 0] > DETERMINED * max(self.covariance[column, column], DETERMINED):
                    kept.append(column)
            places.append(np.arange(len(chosen), len(chosen) + len(kept)))
            chosen += kept
        labels = tuple(self.expansion.labels[column] for column in chosen)
        scale = np.ones(len(self.covariance))
        for variable, part in enumerate(self.expansion.parts):
            if not isinstance(part, Category):
                scale[starts[variable]] = part.deviation
        standard = Moments.from_covariance(self.covariance[np.ix_(chosen, chosen)], self.n_samples, labels)
        # The squares of these scales may be beyond double precision.
        owners = np.repeat(variables, [len(place) for place in places])
        pair_rows = None if self.pair_rows is None else self.pair_rows.among(owners)
        return replace(standard, scales=standard.scales * scale[chosen], pair_rows=pair_rows), places


def _regressed(covariance: Floats, on: Integers, own: Integers) -> tuple[Floats, Floats]:
    """Return the slopes of some columns on others, and the covariance that is left of them."""
    if not len(on):
        return np.empty((0, len(own))), covariance[np.ix_(own, own)]
    across = covariance[np.ix_(on, own)]
    # Levels may be aliased: the solution of least norm.
    slopes = np.asarray(np.linalg.lstsq(covariance[np.ix_(on, on)], across, rcond=1e-10)[0], np.float64)
    left = covariance[np.ix_(own, own)] - across.T @ slopes
    return slopes, (left + left.T) / 2


def _log_det(matrix: Floats) -> float:
    values = np.linalg.eigvalsh(matrix)
    return float(np.log(np.maximum(values, 1e-300)).sum())
