"""Total effects of one variable on another, with standard errors and confidence intervals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import qr

from rfdag.effects.adjustment import adjustment_set, is_identified
from rfdag.effects.lines import effect_text, range_text, signed, span_of
from rfdag.effects.parent_sets import MOST_SETS, possible_parents
from rfdag.errors import (
    DataError,
    EquivalenceWarning,
    GraphError,
    Message,
    OptionError,
    as_column,
    as_columns,
    keyword,
    listed,
)
from rfdag.evidence.matrices import HOPELESS
from rfdag.evidence.moments import Moments
from rfdag.graphs.dag import Graph, ancestors
from rfdag.graphs.sparse import full
from rfdag.runtime.notebook import html_of
from rfdag.values import entries, real, shown
from rfdag.wording import counted, with_nearest

if TYPE_CHECKING:
    from rfdag.result import Result


ROUNDING = 1e-8
"""Part of an effect up to which two estimates of it are equal; chosen far above the rounding of a regression."""


class Effect(NamedTuple):
    """The change in the mean of ``outcome`` when ``cause`` is set one unit higher.

    ``standard_error`` and the confidence limits ``low`` and ``high`` are those of least squares for a given adjustment
    set: they ignore that the graph was found from the same data. They are None for exact input, and 0 where the graph
    has no directed path from cause to outcome. ``adjustment`` names the variables adjusted for. ``units`` is "data";
    "standardised" where only correlations are known; or "ranks" where both variables are the Gaussian ones behind the
    ranks, in standard deviations. ``possible`` is the range over the equivalence class where its DAGs have different
    effects; None where they all have the same.
    """

    cause: Hashable
    outcome: Hashable
    estimate: float
    standard_error: float | None
    low: float | None
    high: float | None
    level: float
    adjustment: tuple[Hashable, ...]
    units: str = "data"
    possible: EffectRange | None = None

    def __str__(self) -> str:
        return effect_text(self)

    def _repr_html_(self) -> str:
        return html_of(self)


class PossibleEffect(NamedTuple):
    """The effect if the cause has these parents, as in some DAGs of the equivalence class."""

    parents: tuple[Hashable, ...]
    effect: Effect


class EffectRange(NamedTuple):
    """The possible effects over an equivalence class, one for each set of parents that the cause can have."""

    cause: Hashable
    outcome: Hashable
    possible: tuple[PossibleEffect, ...]

    @property
    def estimates(self) -> tuple[float, ...]:
        """The estimates, smallest first."""
        return tuple(sorted(each.effect.estimate for each in self.possible))

    @property
    def low(self) -> float:
        """The smallest estimate."""
        return self.estimates[0]

    @property
    def high(self) -> float:
        """The largest estimate."""
        return self.estimates[-1]

    @property
    def lowest(self) -> float:
        """The lowest confidence limit of all effects; for exact input, the lowest estimate."""
        return min(each.effect.estimate if each.effect.low is None else each.effect.low for each in self.possible)

    @property
    def highest(self) -> float:
        """The highest confidence limit of all effects; for exact input, the highest estimate."""
        return max(each.effect.estimate if each.effect.high is None else each.effect.high for each in self.possible)

    def __str__(self) -> str:
        return range_text(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def effect(
    result: Result, cause: Hashable, outcome: Hashable, *, adjustment: str = "optimal", level: float = 0.95
) -> Effect:
    """Return the total effect of one variable on another in a result's DAG; see `Result.effect`."""
    x, y = _checked(result, cause, outcome, level)
    dag = full(result.dag)
    found = _estimated(result, x, y, adjustment_set(dag, x, y, adjustment), level, dag)
    if is_identified(full(result.icpdag), x, y):
        return found
    try:
        possible = effect_range(result, cause, outcome, level=level)
    except GraphError:
        several = f"may be another in each, and there are too many to try: more than {MOST_SETS} sets of parents"
    except DataError as problem:
        several = f"may be another in each, and not all can be estimated: {problem.message.template.rstrip('.')}"
    else:
        if possible.high - possible.low <= ROUNDING * max(abs(possible.low), abs(possible.high)):
            return found
        found = found._replace(possible=possible)
        several = (
            f"ranges from {span_of(possible)}, adjusted for the parents of the cause; see "
            f"effect_range({cause!r}, {outcome!r})"
        )
    # Two levels up is the caller of the result's method.
    warnings.warn(
        Message(
            f"The effect of {cause!r} on {outcome!r} is {signed(found.estimate)} in this DAG only. Over all DAGs of "
            f"its equivalence class, which fit the data equally well, it {several}. Prior knowledge may narrow it "
            f"down: learn with {keyword('knowledge', ...)}."
        ),
        EquivalenceWarning,
        stacklevel=3,
    )
    return found


def effect_range(result: Result, cause: Hashable, outcome: Hashable, *, level: float = 0.95) -> EffectRange:
    """Return the effects over a result's equivalence class; see `Result.effect_range`."""
    x, y = _checked(result, cause, outcome, level)
    possible = []
    for parents, dag in possible_parents(full(result.dag), full(result.icpdag), x):
        found = _estimated(result, x, y, adjustment_set(dag, x, y, "parents"), level, dag)
        possible.append(PossibleEffect(tuple(result.names[at] for at in parents), found))
    return EffectRange(cause, outcome, tuple(possible))


def _columns(result: Result, variables: list[int], dag: Graph) -> tuple[Moments, list[list[int]]]:
    """Return moments, and at which of their columns each variable stands; the last two are cause and outcome.

    Of several environments, those count that target nothing that leads to the outcome but the cause: there the
    regression of the outcome is what it is without intervention.
    """
    if result.by_environment is not None:
        return _where_valid(result, variables[-2], variables[-1], dag), [[at] for at in variables]
    if result.mixed is not None:
        moments, places = result.mixed.as_moments(np.array(variables, np.int64))
        return moments, [place.tolist() for place in places]
    assert result.moments is not None
    return result.moments, [[at] for at in variables]


def _where_valid(result: Result, x: int, y: int, dag: Graph) -> Moments:
    """Return the moments of the environments in which x acts on y as it does without intervention."""
    assert result.by_environment is not None
    assert result.interventions is not None
    leads = ancestors(dag, [y]) - {x}
    sets = result.interventions.target_sets(result.names)
    valid = [e for e, each in enumerate(sets) if leads.isdisjoint(each)]
    rows = int(result.by_environment.rows[valid].sum())
    if rows <= len(leads) + 2:
        raise DataError(
            f"Every environment targets something that leads to {as_column(result.names[y])}, so that no rows show "
            f"what {as_column(result.names[x])} does to it without intervention. The coefficients of single edges are "
            "in result.edges, and result.model().do(…).mean() follows them."
        )
    return result.by_environment.in_units(among=valid, centred=result.interventions.intercepts == "environment")


def _estimated(result: Result, x: int, y: int, given: list[int] | None, level: float, dag: Graph) -> Effect:
    """Regress y on x and the variables ``given``, from moments; None means that there is no effect."""
    names = result.names
    moments, places = _columns(result, [*(given or []), x, y], dag)
    *others, (of_x,), (of_y,) = places
    columns = [column for place in others for column in place]
    kind = "standardised" if moments.kind == "correlation" else "data"
    kind = "ranks" if moments.correlated != "pearson" else kind
    if given is None:
        return Effect(names[x], names[y], 0.0, 0.0, 0.0, 0.0, level, (), kind)
    adjustment = tuple(names[at] for at in given)
    triangle = qr(moments.factor[:, [*columns, of_x, of_y]], mode="r", check_finite=False)[0]
    at = len(columns)
    diagonal = np.abs(np.diag(triangle))
    if len(diagonal) <= at or diagonal[: at + 1].min() * HOPELESS < 1:
        raise DataError(
            f"Found that {as_column(names[x])} depends linearly on {as_columns(adjustment)}; their effects cannot "
            "be separated. Drop one of these columns."
        )
    units = moments.scales[of_y] / moments.scales[of_x]
    estimate = float(triangle[at, at + 1] / triangle[at, at] * units)
    if moments.n_samples is None:
        return Effect(names[x], names[y], estimate, None, None, None, level, adjustment, kind)
    freedom = moments.rows_behind(of_x, of_y, columns) - at - 2
    if freedom < 1:
        raise DataError(
            f"Adjusting for {counted(at, 'variable')} takes more than {at + 2} rows, and there are "
            f"{moments.n_samples}. Collect more, or pass {keyword('adjustment', 'parents')} if that set is smaller."
        )
    from scipy.stats import t

    # The residual of y, in units in which a column's sum of squares is 1.
    left = float(diagonal[at + 1]) if len(diagonal) > at + 1 else 0.0
    error = left / math.sqrt(freedom) / float(diagonal[at]) * float(units)
    margin = float(t.ppf((1 + float(level)) / 2, freedom)) * error
    return Effect(names[x], names[y], estimate, error, estimate - margin, estimate + margin, level, adjustment, kind)


def _checked(result: Result, cause: Hashable, outcome: Hashable, level: float) -> tuple[int, int]:
    """Return the column numbers of the two variables; raise if something is missing."""
    if not hasattr(result, "names"):
        raise OptionError(f"result is an rfdag.Result, as rfdag.learn returns it, not {shown(result)}.")
    places = {name: at for at, name in enumerate(result.names)}
    for name in entries("cause and outcome", (cause, outcome)):
        if name not in places:
            raise OptionError(
                f"There is no variable {with_nearest([name], result.names)}; the result has {listed(result.names)}."
            )
    if cause == outcome:
        raise OptionError(f"An effect needs two different variables; {cause!r} was given twice.")
    if not 0 < real("level", level) < 1:
        raise OptionError(f"{keyword('level')} is a probability between 0 and 1, not {level}.")
    if result.input == "dag":
        raise DataError("This result was learnt from a DAG: there are no numbers in it. Learn from data for effects.")
    if result.mixed is not None:
        _check_numbers(result, [cause, outcome])
    elif result.moments is None and result.by_environment is None:
        raise DataError(
            "This result does not hold the moments of the data, from which effects are estimated: it was saved without "
            "them, or learnt in blocks or from sparse input. Save it with save(path, moments=True), at the terminal "
            f"with rfdag learn --out FOLDER --moments; or learn with {keyword('blocks', False)}."
        )
    return places[cause], places[outcome]


def _check_numbers(result: Result, ends: list[Hashable]) -> None:
    """Raise unless the ends of an effect are numbers that stand for one column each."""
    assert result.mixed is not None
    mixed = result.mixed
    for name in ends:
        at = result.names.index(name)
        if mixed.categorical[at]:
            raise DataError(
                f"{as_column(name)} is categorical, so an effect of it, or on it, is no single number. Ask the model: "
                f"result.model().do({{{name!r}: …}}).mean() has the means and the probabilities of levels that follow."
            )
        if mixed.expansion.widths[at] > 1:
            raise DataError(
                f"With {keyword('basis', ...)} the effect of {as_column(name)} is a curve, not a number. Ask the "
                f"model: result.model().do({{{name!r}: …}}).mean(); or learn with {keyword('basis', 1)}."
            )
