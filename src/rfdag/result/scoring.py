"""What judged a result, and what it says of other DAGs, as attributes of the result."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.errors import DataError, GraphError, OptionError
from rfdag.evidence.local import factors_at
from rfdag.graphs.dag import Graph, as_dag
from rfdag.graphs.sparse import full
from rfdag.methods.soft import Soft
from rfdag.orders.environment_scores import EnvironmentScore, price_of_intercepts, with_relatives
from rfdag.orders.family_fits import score_of
from rfdag.orders.family_scores import FamilyScore, family_score
from rfdag.orders.scores import price_of_edge

if TYPE_CHECKING:
    from rfdag.evidence.environments import EnvironmentMoments
    from rfdag.evidence.interventions import Interventions
    from rfdag.evidence.mixed import MixedMoments
    from rfdag.evidence.moments import Moments
    from rfdag.methods.method import Method
    from rfdag.methods.settings import Settings
    from rfdag.orders.path import PathPoint


class Scoring:
    """The score of a result, and what it says of other DAGs."""

    if TYPE_CHECKING:
        names: tuple[Any, ...]
        dag: Graph
        moments: Moments | None
        mixed: MixedMoments | None
        by_environment: EnvironmentMoments | None
        interventions: Interventions | None
        n_samples: int | None
        gamma: float
        path: tuple[PathPoint, ...]

        settings: Settings

        @property
        def method(self) -> Method:
            """The method that found it."""

    @property
    def penalty(self) -> float:
        """The penalty λ of the BIC, the price of an edge in units of ln n: as given, or as chosen from several."""
        return next((point.penalty for point in self.path if point.chosen), self.method.price)

    def score_of(self, dag: Any) -> float:
        """Return the BIC of another DAG over the same variables, on the same data and at the same price of an edge.

        Examples
        --------
        >>> import rfdag
        >>> result = rfdag.learn(rfdag.datasets.sachs_path())
        >>> bool(abs(result.score_of(result.dag) - result.score) < 1e-6)
        True
        >>> bool(result.score_of(rfdag.datasets.sachs_truth()) > result.score)
        True
        """
        if not self.can_rescore and (self.moments is None or self.n_samples is None):
            raise OptionError("A BIC needs the moments of the data; this result was learnt or saved without them.")
        graph = as_dag(full(dag))
        if graph.shape != self.dag.shape:
            raise GraphError(f"The DAG has {graph.shape[0]} variables, and the result {len(self.names)}.")
        if self.can_rescore:
            return score_of(self._score_around(graph), graph) + self._price_of_intercepts
        assert self.moments is not None
        assert self.n_samples is not None
        most = int(graph.sum(axis=0).max(initial=0))
        if most > self.n_samples - 2:
            raise DataError(f"A variable of this DAG has {most} parents, too many for {self.n_samples} rows.")
        shares = self.moments.regressions(graph).variances / self.moments.variances
        price = price_of_edge(self.n_samples, len(self.names), self.penalty, self.gamma)
        prices = price * factors_at(self.moments.price_factors, *graph.nonzero())
        return float(self.n_samples * np.log(shares).sum() + prices.sum())

    @property
    def can_rescore(self) -> bool:
        """Whether other families of variables can be scored where moments of single columns do not do.

        These are variables of several columns, unless levels were counted, since files keep no rows; and rows from
        several environments.
        """
        if self.by_environment is not None:
            return True
        return self.mixed is not None and (self.mixed.counts is not None or self.score_name == "gaussian")

    @cached_property
    def score_name(self) -> str | None:
        """The name of the score that judged variables of several columns or environments; None for the plain BIC."""
        if self.interventions is not None:
            return "environments"
        if self.mixed is None:
            return None
        assert isinstance(self.method, Soft)
        # Files keep no rows: what was counted then cannot be counted again.
        return self.method.score_for(self.mixed, counted=self.mixed.counted)

    @property
    def judged_by(self) -> str | None:
        """What judged variables of several columns or environments, in words; None for the plain BIC."""
        if self.interventions is not None:
            return f"the Gaussian BIC of {len(self.interventions.environments)} environments"
        if self.mixed is None:
            return None
        words = {
            "gaussian": "the degenerate Gaussian BIC of categories as indicators",
            "multinomial": "the multinomial BIC of counts",
            "bdeu": f"BDeu, counts with a prior that is worth {getattr(self.method, 'sample_size', 1.0):g} rows",
        }[str(self.score_name)]
        degree = max(self.mixed.expansion.widths[~self.mixed.categorical].tolist(), default=1)
        if degree == 1:
            return words if self.mixed.categorical.any() else "the Gaussian BIC"
        powers = f"powers of numbers up to {degree}"
        return f"{words}, and {powers}" if self.mixed.categorical.any() else f"the Gaussian BIC, with {powers}"

    @cached_property
    def family_score(self) -> FamilyScore:
        """The score that judged families of variables; see `can_rescore`."""
        if self.by_environment is not None:
            return self._score_around(self.dag)
        assert self.mixed is not None
        assert isinstance(self.method, Soft)
        options = self.method.family_options(self.mixed)
        return family_score(self.mixed, **(options | {"gamma": self.gamma}))

    def _score_around(self, dag: Any) -> FamilyScore:
        """Return the score of families in a DAG, or near those in it."""
        if self.by_environment is None:
            return self.family_score
        assert self.interventions is not None
        assert self.n_samples is not None
        return EnvironmentScore(
            self.by_environment,
            with_relatives(full(dag)),
            kind=self.settings.estimation.interventions,
            centred=self.interventions.intercepts == "environment",
            price_of_parent=price_of_edge(self.n_samples, len(self.names), self.penalty, self.gamma),
        )

    @property
    def _price_of_intercepts(self) -> float:
        """What intercepts by environment cost beside the scores of families."""
        if self.interventions is None or self.interventions.intercepts == "common":
            return 0.0
        assert self.n_samples is not None
        return price_of_intercepts(self.n_samples, len(self.names), len(self.interventions.environments))
