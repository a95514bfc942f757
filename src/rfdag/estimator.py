"""The scikit-learn face of `rfdag.learn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import Signature, signature
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from narwhals.stable.v1 import from_native
from narwhals.stable.v1.dependencies import is_into_dataframe
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rfdag.errors import OptionError, listed
from rfdag.input.description import SELECTING, Description
from rfdag.input.frames import framed
from rfdag.input.reading import as_table, places_of
from rfdag.input.sources import lies_elsewhere
from rfdag.knowledge import Knowledge
from rfdag.learning import learn
from rfdag.methods.catalogue import method_named, method_names
from rfdag.methods.method import Method
from rfdag.methods.settings import Settings, usual_method
from rfdag.options import Options
from rfdag.precision.estimation import Estimation
from rfdag.result import Result
from rfdag.result.model import LinearModel

PARTS = ("method", "description", "estimation")
"""Parameters that have options of their own."""


class RFD(BaseEstimator):  # type: ignore[misc]
    """Causal order and DAG of the columns of X, as a scikit-learn estimator.

    Options of a method go into the method: ``RFD(method=rfdag.Soft(penalty=4.0))``. A grid search reaches them as
    ``method__penalty``, those of the estimation as ``estimation__precision``.

    Parameters
    ----------
    method
        The name of a method, or a method with its options, as in `rfdag.learn`; None for the default.
    knowledge
        As in `rfdag.learn`.
    description
        As in `rfdag.learn`: how files are written, which columns and rows are used; None for its defaults.
    estimation
        As in `rfdag.learn`; None for its defaults.
    time_limit
        As in `rfdag.learn`.
    search_for
        As in `rfdag.learn`.
    n_jobs
        As in `rfdag.learn`.
    random_state
        As in `rfdag.learn`.
    device
        As in `rfdag.learn`.

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
    icpdag_
        That of its interventional equivalence class, if rows come from several environments; else the same.
    coef_
        Regression coefficients, row → column; by rank correlations in standard deviations of the variables behind the
        ranks, like the variances. A ``test`` gives no coefficients, intercepts, variances or scores.
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
    >>> from rfdag import RFD, Soft, simulate
    >>> X = simulate.sample(simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]]), 400)
    >>> RFD(method=Soft(penalty=4.0)).fit(X).causal_order_
    array([1, 0, 2])
    """

    def __init__(
        self,
        method: str | Method | None = None,
        *,
        knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
        description: Description | None = None,
        estimation: Estimation | None = None,
        time_limit: float | None = None,
        search_for: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        device: Literal["cpu", "cuda"] = "cpu",
        **options: Any,
    ) -> None:
        if options:
            raise _misplaced(options, method, description, estimation)
        self.method = method
        self.knowledge = knowledge
        self.description = description
        self.estimation = estimation
        self.time_limit = time_limit
        self.search_for = search_for
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device

    # Options are taken only to be refused in words: neither people nor scikit-learn should see them among the others.
    __signature__ = Signature(
        [each for each in signature(__init__).parameters.values() if each.name not in ("self", "options")]
    )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the options of their parts, as ``method__beam``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for part, options in self._parts().items():
                params |= {f"{part}__{name}": value for name, value in options.values().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``method__beam=16`` replaces one option of the method."""
        parts = self._parts() | {
            name: value for name, value in params.items() if name in PARTS and isinstance(value, Options)
        }
        changes: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            part, nested, option = name.partition("__")
            if nested:
                if part not in parts or option not in parts[part].declared():
                    raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}.")
                changes.setdefault(part, {})[option] = value
        # All options of a part at once: they are checked together. Nothing is set if one of them is refused.
        changed = {part: replace(parts[part], **options) for part, options in changes.items()}  # type: ignore[type-var]
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        for part, options in changed.items():
            setattr(self, part, options)
        return self

    def _parts(self) -> dict[str, Options]:
        """Return the parameters that have options of their own."""
        estimation = Estimation() if self.estimation is None else self.estimation
        usual = usual_method(estimation) if isinstance(estimation, Estimation) else None
        name = usual if self.method is None else self.method
        named = isinstance(name, str) and name in method_names()
        method: object = method_named(str(name)) if named else name
        description = Description() if self.description is None else self.description
        # What is none of these is refused by fit, as scikit-learn wants it.
        parts = {"method": method, "description": description, "estimation": estimation}
        return {name: part for name, part in parts.items() if isinstance(part, Options)}

    def fit(
        self,
        X: Any,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        environments: Any = None,
        targets: Any = None,
    ) -> Self:
        """Learn the order of the columns of X, or of a path, a dataset or a Dask collection; y is ignored.

        ``sample_weight`` says how often each row counts: whole numbers give the result of repeating rows.
        ``environments`` and ``targets`` are those of `rfdag.learn`: where rows come from, and what was done there.
        """
        X = framed(X)
        params = self.get_params(deep=False)
        said = {"weights": sample_weight, "environments": environments, "targets": targets}
        given = {name: value for name, value in said.items() if value is not None}
        if given:
            params["description"] = replace(params["description"] or Description(), **given)
        about_rows = {"environments", "targets"}.intersection(given)
        described = isinstance(self.description, Description) and set(SELECTING).intersection(self.description.given())
        selects = bool(about_rows or described)
        if lies_elsewhere(X) or selects:
            self._remember(learn(X, progress=False, **params))
            self.n_features_in_ = len(self.result_.names)
            if all(isinstance(name, str) for name in self.result_.names):
                self.feature_names_in_ = np.array(self.result_.names, dtype=object)
            return self
        if is_into_dataframe(X):
            # scikit-learn would refuse words, forget names that are not text, and name no column that it refuses.
            validate_data(self, X, skip_check_array=True)
            self._remember(learn(X, progress=False, **params))
            return self
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan" if self._bridges_gaps else True)
        self._remember(learn(values, progress=False, **params))
        return self

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: that missing values are taken, unless the description refuses them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._bridges_gaps
        return tags

    @property
    def _bridges_gaps(self) -> bool:
        """Whether rows with missing values are learnt from."""
        description = self.description if isinstance(self.description, Description) else Description()
        tested = isinstance(self.estimation, Estimation) and self.estimation.test is not None
        return description.bridges_gaps and not tested

    def _remember(self, result: Result) -> None:
        self.result_ = result
        self.order_ = np.array(self.result_.order)
        self.causal_order_ = self.result_.causal_order
        self.dag_ = self.result_.dag
        self.cpdag_ = self.result_.cpdag
        self.icpdag_ = self.result_.icpdag
        if self.result_.tests:
            # Tests leave open what a dependence looks like: there are no coefficients.
            return
        model = self.result_.model()
        if not isinstance(model, LinearModel):
            self.coef_, self.residual_variance_ = self.result_.coefficients, self.result_.residual_variances
            return
        self.coef_, self.residual_variance_ = model.sem.weights, model.sem.variances
        self.intercept_ = model.intercepts

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log-likelihood of each row under the fitted linear Gaussian model.

        After learning by rank correlations there is none in the units of the data, and this raises.
        """
        check_is_fitted(self)
        model = self.result_.model()
        if not isinstance(model, LinearModel):
            raise OptionError(
                "A likelihood of rows is that of linear Gaussian models of numbers, and this result has categories or "
                "curves. Compare results by Result.score."
            )
        model.require_density()
        X = framed(X)
        if is_into_dataframe(X) and len(from_native(X).columns) > self.n_features_in_:
            # Columns that were left out when learning are not needed now.
            X = from_native(X).select(list(self.result_.names)).to_native()
        values = validate_data(self, X, dtype=np.float64, reset=False)
        if is_into_dataframe(X):
            values = values[:, places_of(self.result_.names, as_table(X), X) or slice(None)]
        variances = np.asarray(self.residual_variance_)
        residuals = values - values @ self.coef_ - self.intercept_
        constant = np.log(2 * np.pi * variances).sum()
        # The square of a row far beyond the data may be infinite, and its density 0.
        with np.errstate(over="ignore"):
            scores: NDArray[np.float64] = -0.5 * (constant + (residuals**2 / variances).sum(axis=1))
        return scores

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean log-likelihood of the rows of X, so that larger is better in a grid search."""
        return float(self.score_samples(X).mean())


def _misplaced(
    options: Mapping[str, Any],
    method: str | Method | None,
    description: Description | None,
    estimation: Estimation | None,
) -> OptionError:
    """Return the error for options given flat, as `rfdag.learn` takes them, that says where they belong.

    What `rfdag.learn` would refuse is refused in its words.
    """
    flat = {name.rpartition("__")[2]: value for name, value in options.items()}
    settings = Settings.gathered(method, description=description, estimation=estimation, options=flat)
    where, nested = [], []
    for name, part in settings.parts().items():
        own = {option: value for option, value in flat.items() if option in part.declared()}
        if own:
            said = ", ".join(f"{option}={value!r}" for option, value in own.items())
            where.append(f"{name}={type(part).__name__}({said})")
            nested += [f"{name}__{option}={value!r}" for option, value in own.items()]
    return OptionError(
        f"RFD takes its options in parts, and found {listed(options, shown=str)} beside them. Pass "
        f"RFD({', '.join(where)}), or call set_params({', '.join(nested)})."
    )
