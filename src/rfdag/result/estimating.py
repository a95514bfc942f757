"""Interventions: the fitted model and total effects, as methods of a result."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect, EffectRange
    from rfdag.result.mixed_model import MixedModel
    from rfdag.result.model import LinearModel


class Estimating:
    """Methods `model`, `effect` and `effect_range` of a result."""

    def model(self) -> LinearModel | MixedModel:
        """Return the fitted linear Gaussian model: to sample from, to intervene on, to compute likelihoods with.

        Where there are categories or curves it is a `rfdag.result.mixed_model.MixedModel`, which tells means of numbers
        and probabilities of levels, and draws rows.

        Coefficients and noise variances are those of the regressions on parents (maximum likelihood), in the units of
        the data if known; see ``model.units``. After learning by rank correlations they are those of the Gaussian
        variables behind the ranks, in standard units.

        Examples
        --------
        >>> import rfdag
        >>> data = rfdag.simulate.sample(rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1), 500)
        >>> model = rfdag.learn(data, names=["rain", "sprinkler", "wet"]).model()
        >>> model.do({"rain": 2.0}).mean().shape, model.sample(3).values.shape, model.units
        ((3,), (3, 3), 'data')
        """
        from rfdag.result.mixed_model import MixedModel
        from rfdag.result.model import LinearModel

        kind = LinearModel if self.mixed is None else MixedModel  # type: ignore[attr-defined]
        return kind.of(self)  # type: ignore[arg-type]

    def effect(
        self,
        cause: Hashable,
        outcome: Hashable,
        *,
        adjustment: Literal["optimal", "parents"] = "optimal",
        level: float = 0.95,
    ) -> Effect:
        """Return the total effect of one variable on another, estimated with an adjustment set read off the DAG.

        It is the coefficient of the cause when the outcome is regressed on it and on the adjustment set, in the units
        of the data, and exactly 0 when the DAG has no directed path from cause to outcome. After learning by rank
        correlations it is the effect of the Gaussian variable behind the cause on that behind the outcome, in standard
        deviations (``units`` is then "ranks"), and its standard error is only approximate.

        It is the effect in one DAG. Where other DAGs of the equivalence class have other effects, an
        `rfdag.errors.EquivalenceWarning` states the range, and ``possible`` of the effect holds it; see `effect_range`.

        Parameters
        ----------
        cause
            Name of a variable.
        outcome
            Name of another.
        adjustment
            "optimal" adjusts for the set with the smallest variance, "parents" for the parents of the cause.
        level
            Coverage of the confidence interval.

        Returns
        -------
        Effect
            The estimate with its standard error, confidence interval and adjustment set. The error is that of the
            regression alone: it takes the graph as given. ``possible`` is the range over the equivalence class where
            this leaves the effect open, else None.

        Examples
        --------
        >>> import rfdag
        >>> data = rfdag.simulate.sample(rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1), 500)
        >>> result = rfdag.learn(data, names=["rain", "sprinkler", "wet"])
        >>> result.effect("rain", "wet").adjustment, result.effect("wet", "rain").estimate
        (('sprinkler',), 0.0)
        """
        from rfdag.effects.estimates import effect

        return effect(self, cause, outcome, adjustment=adjustment, level=level)  # type: ignore[arg-type]

    def effect_range(self, cause: Hashable, outcome: Hashable, *, level: float = 0.95) -> EffectRange:
        """Return the possible total effects over the equivalence class (IDA of Maathuis et al., 2009).

        The cause has different parents in different DAGs of the class. For every possible set of parents, the effect is
        estimated by adjusting for that set; there is only one if all edges at the cause are directed.

        Parameters
        ----------
        cause
            Name of a variable.
        outcome
            Name of another.
        level
            Coverage of the confidence intervals.

        Returns
        -------
        EffectRange
            ``possible`` (each with ``parents`` and ``effect``), ``estimates``, ``low`` and ``high``.

        Examples
        --------
        >>> import rfdag
        >>> result = rfdag.learn([[1, 0.5], [0.5, 1]], input="correlation", n_samples=100, names=["a", "b"])
        >>> [(each.parents, round(each.effect.estimate, 3)) for each in result.effect_range("a", "b").possible]
        [((), 0.5), (('b',), 0.0)]
        """
        from rfdag.effects.estimates import effect_range

        return effect_range(self, cause, outcome, level=level)  # type: ignore[arg-type]
