"""Method "soft" on rows from several environments: start orders, descents and restarts by the interventional score."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.trace import Trace
from rfdag.errors import DataMessage, OptionError, keyword
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.interventions import Environment, Interventions, Target
from rfdag.evidence.mechanisms import Prices, targets_of
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.proving import best_by_families, proof_by_families
from rfdag.orders import environment_tuning as tuned
from rfdag.orders import tuning
from rfdag.orders.environment_scores import EnvironmentScore, price_of_intercepts
from rfdag.orders.family_fits import gains_of
from rfdag.orders.portfolio import Attempt
from rfdag.orders.reinsertion import descend
from rfdag.orders.restarts import iterate
from rfdag.orders.rivals import Rivals
from rfdag.orders.tree_order import TreeOrder
from rfdag.orders.trees import Trees
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    from rfdag.methods.run import Run
    from rfdag.methods.soft import Soft

Integers = NDArray[np.int64]

Intercepts = Literal["common", "environment"]

OF_ONE_ENVIRONMENT = {
    "clusters": "clusters are made of rows of one environment",
    "parents": "parents are chosen by a score",
    "alpha": "parents are chosen by a score, not by tests",
    "score": "environments are compared by the Gaussian score",
    "sample_size": "environments are compared by the Gaussian score",
    "precision": "an estimate of partial correlations needs rows of one environment",
    "regularisation": "an estimate of partial correlations needs rows of one environment",
    "blocks": "blocks of columns are learnt from rows of one environment",
    "test": "tests take rows of one environment",
    "basis": "environments are compared by straight lines",
    "correlation": "ranks of all rows would mix environments",
}
"""Options that mean nothing for rows from several environments, with the reason."""

MOST_FREED = 0.5
"""Share of the variables that an environment may be found to target before no list of them means anything."""


@dataclass
class _Model:
    """A search under one assumption about intercepts: its score, the best order so far, and what intercepts cost."""

    intercepts: Intercepts
    extra: float
    score: EnvironmentScore
    orders: list[TreeOrder]

    @property
    def best(self) -> TreeOrder:
        """The best of the orders."""
        # Orders of one class differ by rounding alone, which must not decide.
        return min(self.orders, key=lambda each: round(each.total, 6))

    @property
    def total(self) -> float:
        """The score of the best order, with what its intercepts cost."""
        return round(self.best.total + self.extra, 6)


def found_in_environments(method: Soft, evidence: EnvironmentMoments, run: Run) -> Found:
    """Return the best order that searches of the pooled rows, descents and restarts find, and its DAG.

    The variables are arranged by the data first, so that their arrangement in the input decides no tie.
    """
    refuse_unserved(method, len(evidence.names), run)
    places = evidence.places_by_data()
    constraints = None if run.constraints is None else run.constraints.arranged(places)
    found, model, compared = _searched(method, evidence.arranged(places), replace(run, constraints=constraints))
    found = found.arranged(places)
    interventions = described(evidence, found.dag, model, places, compared, run)
    warnings = (*evidence.notes, *_about_freed(evidence, interventions), *found.warnings)
    return method.concluded(replace(found, interventions=interventions, warnings=warnings), evidence, run)


def refuse_unserved(method: Soft, columns: int, run: Run) -> None:
    """Raise for options that cannot do with several environments."""
    for given in (method, run.estimation):
        for name in given.given():
            if name in OF_ONE_ENVIRONMENT and getattr(given, name) is not False:
                raise OptionError(
                    f"{keyword(name)}: {OF_ONE_ENVIRONMENT[name]}, and {keyword('environments', ...)} or "
                    f"{keyword('targets', ...)} tell of several. Leave it out."
                )
    if method.exact is True and not method.scores_all_families(columns):
        raise OptionError(
            f"{keyword('exact', True)} takes up to {tuning.LARGEST_P_FOR_FAMILIES_ON_REQUEST} variables where "
            f"{keyword('environments', ...)} or {keyword('targets', ...)} tell of several environments, and there are "
            f"{columns}. Leave it out."
        )
    if isinstance(method.penalty, tuple):
        raise OptionError(
            f"Several values of {keyword('penalty')} are compared in rows of one environment. Pass one of them."
        )


def _searched(method: Soft, evidence: EnvironmentMoments, run: Run) -> tuple[Found, _Model, dict[str, float]]:
    """Return what starts, descents and restarts find, by which model of intercepts, and the scores of those tried."""
    asked = run.estimation.intercepts
    kinds: tuple[Intercepts, ...] = ("common", "environment") if asked == "auto" else (asked,)
    rivals, interrupted = Rivals(), False
    attempts: tuple[Attempt, ...] = ()
    with one_blas_thread():
        models = _solved(method, evidence, kinds, run)
    proven = bool(models)
    if not proven:
        starts = starting_points(method, evidence, run)
        attempts, interrupted = _attempts(starts), _interrupted(starts[-1])
        candidates = candidates_of(evidence, [each.dag for each in starts], run)
        orders = [each.order for each in starts]
        with one_blas_thread():
            models = [
                _modelled(method, evidence, candidates, orders, run, kind)
                for kind in (kinds[:1] if interrupted else kinds)
            ]
    run.clock.lap("elimination")
    with one_blas_thread():
        least = min(each.total for each in models)
        gamma = method.starting_gamma(evidence.n_samples, len(evidence.names), run.estimation)
        spare = tuned.PARENTS_TO_CATCH_UP * len(evidence.names) * models[0].score.price_of_parent
        generator = run.generator()
        try:
            few = len(evidence.names) <= tuned.P_TO_REFINE_BOTH and not evidence.unknown
            for model in models:
                if method.refining and not interrupted and (few or model.total <= least + spare):
                    _refine(model, generator, run)
            model = min(models, key=lambda each: each.total)
            if method.refining and not interrupted:
                with suppress(OutOfTime):
                    best, interrupted = iterate(
                        model.best,
                        generator,
                        method.restarts,
                        run.deadline,
                        run.bar.stage("Restarting"),
                        until=None if proven else run.until,
                        threads=run.threads,
                        rivals=rivals,
                    )
                    model.orders.append(best)
        except KeyboardInterrupt:
            interrupted = True
            model = min(models, key=lambda each: each.total)
    run.clock.lap("refinement")
    best = model.best
    found = Found(
        best.order,
        best.dag,
        Trace.empty(),
        total=best.total + model.extra,
        extension=gamma,
        attempts=attempts,
        operations=best.trees.operations,
        # Where targets are unknown, each family has those that a search finds.
        proof=proof_by_families(best.total + model.extra, len(evidence.names))
        if proven and not evidence.unknown
        else None,
        rivals=rivals.beside(best),
        gains=gains_of(model.score, best.dag),
        warnings=(INTERRUPTED,) if interrupted else (),
        interrupted=interrupted,
    )
    return found, model, {each.intercepts: each.total for each in models}


def starting_points(method: Soft, evidence: EnvironmentMoments, run: Run) -> list[Found]:
    """Return what the method finds in all rows as one environment, less the means of theirs, and in those untouched.

    If the user interrupts one of these searches, it is the last.
    """
    views = [evidence.pooled(centred=False), evidence.pooled(centred=True)]
    quiet = np.flatnonzero(evidence.observational)
    rows = int(evidence.rows[quiet].sum())
    if rows > tuned.LEAST_ROWS_PER_VARIABLE * len(evidence.names) and len(quiet) < len(evidence.rows):
        views.append(evidence.pooled(centred=False, among=quiet.tolist()))
    plain = replace(method, exact=False, restarts=tuned.RESTARTS_OF_STARTS if method.refining else "auto")
    each = replace(run, deadline=run.deadline.share(tuned.SHARE_OF_STARTS))
    starts: list[Found] = []
    for view in views:
        try:
            starts.append(plain.learn(view, each))
        except KeyboardInterrupt:
            if not starts:
                raise
            starts[-1] = replace(starts[-1], warnings=(*starts[-1].warnings, INTERRUPTED))
        if _interrupted(starts[-1]):
            break
    return starts


def _interrupted(found: Found) -> bool:
    """Return whether the user, and not the time limit, ended a search."""
    return INTERRUPTED in found.warnings


def _attempts(starts: list[Found]) -> tuple[Attempt, ...]:
    return tuple(attempt for each in starts for attempt in each.attempts)


def candidates_of(evidence: EnvironmentMoments, dags: list[Any], run: Run) -> Integers:
    """Return for each variable what may be its parents: all others; of many, those that some start suggests.

    Those are its neighbours in the DAGs of the starts, and what correlates with it most within environments, given all
    others within environments, in all rows, and in each large environment, whatever the signs there. Required parents
    always belong to them.
    """
    p = len(evidence.names)
    if p - 1 <= tuned.MOST_CANDIDATES:
        return np.array([np.delete(np.arange(p), y) for y in range(p)])
    within = _correlations(evidence.total_within)
    inverse = np.asarray(np.linalg.inv((1 - tuned.RIDGE) * within + tuned.RIDGE * np.eye(p)), np.float64)
    share = tuned.MOST_CANDIDATES // 4
    lists = np.full((p, tuned.MOST_CANDIDATES), -1)
    strengths = [within, _correlations(inverse), _correlations(evidence.total), *_sizes_by_environment(evidence)]
    ranked = np.stack([_strongest(each, share) for each in strengths], axis=2)
    for y in range(p):
        required = [] if run.constraints is None else run.constraints.required_of(y).tolist()
        near = [x for dag in dags for x in np.flatnonzero((dag[:, y] != 0) | (dag[y] != 0)).tolist()]
        # The first of each list come before the second of any.
        strong = ranked[y].ravel().tolist()
        chosen = list(dict.fromkeys([*required, *near, *strong]))[: tuned.MOST_CANDIDATES]
        lists[y, : len(chosen)] = np.sort(chosen)
    return lists


def _correlations(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    found: NDArray[np.float64] = matrix / scale / scale[:, None]
    return found


def _sizes_by_environment(evidence: EnvironmentMoments) -> list[NDArray[np.float64]]:
    """Return the mean squares of the correlations in large environments; nothing unless there are two or more."""
    everything = np.arange(len(evidence.names))
    large = np.flatnonzero(evidence.rows >= tuned.SHARE_OF_LARGE * evidence.n_samples).tolist()
    if len(large) < 2:
        return []
    squares = [evidence.rows[e] * _correlations(evidence.within(everything, [e])[0]) ** 2 for e in large]
    return [np.sum(squares, axis=0) / evidence.n_samples]


def _strongest(correlations: NDArray[np.float64], count: int) -> Integers:
    """Return for each variable the others that correlate most with it."""
    sizes = np.round(np.abs(correlations), 9)
    np.fill_diagonal(sizes, -1.0)
    return np.argsort(-sizes, axis=1, kind="stable")[:, :count]


def _score_of(
    method: Soft, evidence: EnvironmentMoments, candidates: Integers, run: Run, intercepts: Intercepts
) -> EnvironmentScore:
    """Return the score under an assumption about intercepts."""
    p, unit = len(evidence.names), float(np.log(evidence.n_samples))
    gamma = method.starting_gamma(evidence.n_samples, p, run.estimation)
    return EnvironmentScore(
        evidence,
        candidates,
        kind=run.estimation.interventions,
        centred=intercepts == "environment",
        price_of_parent=method.price * unit + 2 * gamma * float(np.log(p)),
        price=tuned.TARGET_PRICE * unit,
    )


def _extra(evidence: EnvironmentMoments, intercepts: Intercepts) -> float:
    """Return what intercepts cost besides."""
    if intercepts == "common":
        return 0.0
    return price_of_intercepts(evidence.n_samples, len(evidence.names), len(evidence.rows))


def _solved(method: Soft, evidence: EnvironmentMoments, kinds: tuple[Intercepts, ...], run: Run) -> list[_Model]:
    """Return the best order of all under each assumption about intercepts; none where that takes too long."""
    models: list[_Model] = []
    if not method.scores_all_families(len(evidence.names)):
        return models
    for kind in kinds:
        score = _score_of(method, evidence, candidates_of(evidence, [], run), run, kind)
        best = best_by_families(method, score, run, score.price_of_parent)
        if best is None:
            return []
        models.append(_Model(kind, _extra(evidence, kind), score, [best]))
    return models


def _modelled(
    method: Soft,
    evidence: EnvironmentMoments,
    candidates: Integers,
    orders: list[Integers],
    run: Run,
    intercepts: Intercepts,
) -> _Model:
    """Return the start orders under an assumption about intercepts."""
    score = _score_of(method, evidence, candidates, run, intercepts)
    trees = Trees(score, candidates, run.constraints, run.threads, run.limit.require)
    found = [TreeOrder(trees, order, run.constraints, price=score.price_of_parent) for order in orders]
    # From here on there is something to return.
    trees.check = run.deadline.require
    return _Model(intercepts, _extra(evidence, intercepts), score, found)


def _refine(model: _Model, generator: np.random.Generator, run: Run) -> None:
    """Descend from every order of a model, the best first."""
    for scored in sorted(model.orders, key=lambda each: round(each.total, 6)):
        with suppress(OutOfTime):
            descend(scored, generator, run.deadline, run.bar.stage("Refining"))


def described(
    evidence: EnvironmentMoments, dag: Any, model: _Model, places: Integers, compared: dict[str, float], run: Run
) -> Interventions:
    """Return what was found of each environment; the variables of the model are arranged by ``places``."""
    number = np.argsort(places)
    prices = Prices(run.estimation.interventions, model.intercepts == "environment", model.score.price)
    targets: list[list[Target]] = [[] for _ in evidence.labels]
    for variable in range(len(evidence.names)):
        parents = np.flatnonzero(dag[:, variable])
        at = model.score.targets(int(number[variable]), number[parents])
        for e, found in zip(at, targets_of(evidence, variable, parents, at, prices), strict=True):
            targets[e].append(found)
    environments = tuple(
        Environment(label, int(count), tuple(sorted(each, key=lambda target: -target.gain)))
        for label, count, each in zip(evidence.labels, evidence.rows, targets, strict=True)
    )
    every = [target for each in environments for target in each.targets]
    hard = run.estimation.interventions == "hard" or all(target.mechanism == "cut" for target in every)
    return Interventions(environments, evidence.unknown, model.intercepts, compared, hard)


def _about_freed(evidence: EnvironmentMoments, interventions: Interventions) -> tuple[str, ...]:
    """Return the warning that most variables are found to be targets of some environments, where they are."""
    if not interventions.found:
        return ()
    most = [each.label for each in interventions.environments if len(each.targets) > MOST_FREED * len(evidence.names)]
    if not most:
        return ()
    shown = ", ".join(map(repr, most[:5])) + (f" and {len(most) - 5} more" if len(most) > 5 else "")
    return (
        DataMessage(
            f"In {shown} more than half of the variables are found to be targets. It is likelier that everything "
            "differs there (another batch, another scale, relations that are no lines) than that all of these were "
            "targets: do not read them as a list. Transform skewed columns, or pass what was done in each "
            f"environment: {keyword('targets', ...)}."
        ),
    )
