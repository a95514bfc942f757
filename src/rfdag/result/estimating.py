"""What a result says of interventions: the fitted model and total effects, as methods."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect, EffectRange
    from rfdag.result.model import LinearModel


class Estimating:
    """Methods `model`, `effect` and `effect_range` of a result."""

    def model(self) -> LinearModel:
        """Return the fitted linear Gaussian model: to sample from, to intervene on, to weigh other data with.

        Coefficients and noise variances are those of the regressions on parents (maximum likelihood), in the units of
        the data where these are known; ``model.units`` tells.

        Examples
        --------
        >>> import rfdag
        >>> data = rfdag.simulate.sample(rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1), 500)
        >>> model = rfdag.learn(data, names=["rain", "sprinkler", "wet"]).model()
        >>> model.do({"rain": 2.0}).mean().shape, model.sample(3).values.shape, model.units
        ((3,), (3, 3), 'data')
        """
        from rfdag.result.model import LinearModel

        return LinearModel.of(self)  # type: ignore[arg-type]

    def effect(
        self,
        cause: Hashable,
        outcome: Hashable,
        *,
        adjustment: Literal["optimal", "parents"] = "optimal",
        level: float = 0.95,
    ) -> Effect:
        """Return the total effect of one variable on another, by adjustment read off the DAG.

        It is the coefficient of the cause when the outcome is regressed on it and on the adjustment set, in the units
        of the data, and exactly 0 when the DAG has no directed path from cause to outcome.

        Parameters
        ----------
        cause
            Name of a variable.
        outcome
            Name of another.
        adjustment
            "optimal" adjusts for the set that gives the least variance, "parents" for the parents of the cause.
        level
            Probability that the confidence interval is made for.

        Returns
        -------
        Effect
            The estimate with its standard error, confidence interval and adjustment set. The error is that of the
            regression alone: it takes the graph as given.

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
        """Return the total effects that the equivalence class leaves possible (IDA of Maathuis et al., 2009).

        The DAGs of the class differ in the parents that they give the cause. Every set it can have is tried, and the
        effect estimated by adjusting for it; where the class leaves nothing open there is one.

        Parameters
        ----------
        cause
            Name of a variable.
        outcome
            Name of another.
        level
            Probability that the confidence intervals are made for.

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
