"""The scikit-learn face of `rfdag.learn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from narwhals.stable.v1.dependencies import is_into_dataframe
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rfdag.input.checks import check_usable
from rfdag.input.reading import as_table, places_of
from rfdag.input.sources import lies_elsewhere
from rfdag.knowledge import Knowledge
from rfdag.learning import learn
from rfdag.result import Result


class RFD(BaseEstimator):  # type: ignore[misc]
    """Causal order and DAG of the columns of X, as a scikit-learn estimator.

    Parameters are those of `rfdag.learn`.

    Attributes
    ----------
    order_
        Names of the variables in causal order, a source first.
    causal_order_
        The same as column numbers.
    dag_
        Adjacency matrix of the DAG, in the encoding of `rfdag.graphs`.
    cpdag_
        That of its equivalence class.
    coef_
        Regression coefficients, row → column.
    intercept_
        Constants of these regressions.
    residual_variance_
        Variances of what they leave unexplained.
    result_
        The `rfdag.Result`.
    n_features_in_
        Number of columns, as everywhere in scikit-learn.
    feature_names_in_
        Their names, if ``X`` has any that are text.

    Examples
    --------
    >>> from rfdag import RFD, simulate
    >>> X = simulate.sample(simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]]), 400)
    >>> RFD(penalty=4.0).fit(X).causal_order_
    array([1, 0, 2])
    """

    def __init__(
        self,
        *,
        knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
        rule: str = "soft",
        beam: int | Literal["auto"] = "auto",
        rescoring: Literal["auto", "exact", "lazy"] = "auto",
        depth: int | None = None,
        initial: Literal["rfd", "min-degree"] = "rfd",
        runs: int = 1,
        alpha: float = 1e-3,
        pairs: Literal["all", "neighbours"] = "all",
        max_paths: int = 1000,
        parents: Literal["auto", "bic", "threshold"] = "auto",
        refine: bool | Literal["auto"] = "auto",
        penalty: float | Sequence[float] = 2.0,
        gamma: float | Literal["auto"] = "auto",
        restarts: int | Literal["auto"] = "auto",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        device: Literal["cpu", "cuda"] = "cpu",
    ) -> None:
        self.knowledge = knowledge
        self.rule = rule
        self.beam = beam
        self.rescoring = rescoring
        self.depth = depth
        self.initial = initial
        self.runs = runs
        self.alpha = alpha
        self.pairs = pairs
        self.max_paths = max_paths
        self.parents = parents
        self.refine = refine
        self.penalty = penalty
        self.gamma = gamma
        self.restarts = restarts
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the order of the columns of X, or of a path, a dataset or a Dask collection; y is ignored."""
        if lies_elsewhere(X):
            self._remember(learn(X, progress=False, **self.get_params()))
            self.n_features_in_ = len(self.result_.names)
            if all(isinstance(name, str) for name in self.result_.names):
                self.feature_names_in_ = np.array(self.result_.names, dtype=object)
            return self
        names = None
        if is_into_dataframe(X):
            # scikit-learn would complain of words and holes too, but without naming the columns, and it forgets names
            # that are not text.
            table = as_table(X)
            check_usable(table)
            names = table.names
        values = validate_data(self, X, dtype=np.float64)
        self._remember(learn(values, names=names, progress=False, **self.get_params()))
        return self

    def _remember(self, result: Result) -> None:
        self.result_ = result
        self.order_ = np.array(self.result_.order)
        self.causal_order_ = self.result_.causal_order
        self.dag_ = self.result_.dag
        self.cpdag_ = self.result_.cpdag
        moments, weights, variances = self.result_.moments, self.result_.coefficients, self.result_.residual_variances
        assert moments is not None
        assert weights is not None
        assert variances is not None
        self.coef_, self.residual_variance_ = weights, variances
        self.intercept_ = moments.means - moments.means @ self.coef_

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log-likelihood of each row under the fitted linear Gaussian model."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        if is_into_dataframe(X):
            values = values[:, places_of(self.result_.names, as_table(X), X) or slice(None)]
        residuals = values - values @ self.coef_ - self.intercept_
        constant = np.log(2 * np.pi * self.residual_variance_).sum()
        scores: NDArray[np.float64] = -0.5 * (constant + (residuals**2 / self.residual_variance_).sum(axis=1))
        return scores

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean log-likelihood of the rows of X, so that larger is better in a grid search."""
        return float(self.score_samples(X).mean())
