"""Rows from several environments: an observational one, and experiments that change the mechanisms of their targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError
from rfdag.graphs.dag import topological_order
from rfdag.graphs.sparse import refuse_sparse
from rfdag.runtime.memory import require_rows
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.simulate.dags import MOST_NODES
from rfdag.simulate.linear import LinearSEM, require_model
from rfdag.values import is_iterable, one_of, pair, real, whole

Floats = NDArray[np.float64]
Labels = NDArray[np.str_]
Kind = Literal["hard", "soft", "shift"]
TargetSets = Mapping[str, int | Iterable[int]] | Sequence[int | Iterable[int]]
"""What the experiments target: a column or several for each, with or without labels."""

OBSERVATIONAL = "observational"
"""Label of the environment in which nothing is changed."""


class Environments(NamedTuple):
    """Rows of several environments, one environment after the other."""

    values: Floats
    labels: Labels
    """The environment of each row."""
    targets: dict[str, tuple[int, ...]]
    """The columns that each environment targets; none for the observational one."""


def interventions(
    sem: LinearSEM,
    n_observational: int,
    targets: TargetSets,
    n_per_environment: int,
    *,
    kind: Kind = "hard",
    shift: float = 2.0,
    factors: tuple[float, float] = (0.5, 2.0),
    weights: tuple[float, float] = (0.25, 1.0),
    rng: Seed = None,
) -> Environments:
    """Return rows of a linear model as it is, and of the same model with the mechanisms of some variables changed.

    In its environment a target gets another mean and another noise variance, drawn once for each environment and
    target. Everything else, variables that descend from a target included, keeps its mechanism.

    Parameters
    ----------
    sem
        The model, as from `linear_sem`.
    n_observational
        Rows of the observational environment; with 0 there is none.
    targets
        The column or columns that each further environment targets: a sequence, whose environments are called "1", "2",
        ..., or a mapping from labels. An environment may have no targets.
    n_per_environment
        Rows of each further environment.
    kind
        "hard": a target loses its parents. "soft": it keeps them, with slopes drawn anew. "shift": it keeps its parents
        and its slopes.
    shift
        By how much the mean of a target's mechanism differs, up or down at random, in standard deviations that the
        variable has in the model as it is.
    factors
        Least and largest factor on the noise variance, which is drawn uniformly on the scale of logarithms. With
        ``shift=0`` and factors (1, 1) the kind "soft" changes slopes alone.
    weights
        Smallest and largest absolute slope of the kind "soft"; the sign is random.
    rng
        Seed, generator or RandomState; None is seed 0.

    Examples
    --------
    >>> from rfdag.simulate import linear_sem
    >>> chain = linear_sem([[0, 1, 0], [0, 0, 1], [0, 0, 0]], rng=1)
    >>> rows = interventions(chain, 4, {"drug": [1], "both": [0, 2]}, 2, rng=2)
    >>> rows.labels.tolist()
    ['observational', 'observational', 'observational', 'observational', 'drug', 'drug', 'both', 'both']
    >>> rows.targets
    {'observational': (), 'drug': (1,), 'both': (0, 2)}
    >>> rows.values.shape
    (8, 3)
    """
    require_model(sem)
    refuse_sparse(sem.weights, "interventions")
    one_of("kind", kind, get_args(Kind))
    n_observational = whole("n_observational", n_observational, 0)
    n_per_environment = whole("n_per_environment", n_per_environment, 1)
    shift = real("shift", shift)
    factors, weights = pair("factors", factors), pair("weights", weights)
    p = len(sem.weights)
    sets = _labelled(targets, p)
    require_rows(n_observational + n_per_environment * len(sets), p)
    sizes = [n_per_environment] * len(sets)
    if n_observational:
        if OBSERVATIONAL in sets:
            raise OptionError(
                f"The label {OBSERVATIONAL!r} is that of the n_observational={n_observational} rows of the model as it "
                "is; give another label to the environment in targets."
            )
        sets, sizes = {OBSERVATIONAL: (), **sets}, [n_observational, *sizes]
    if not sets:
        raise OptionError("There are no rows to draw: n_observational is 0, and targets has no environment.")
    generator = generator_from(rng, "rng")
    ends = np.cumsum(sizes)
    rows_of = {label: slice(end - size, end) for label, size, end in zip(sets, sizes, ends.tolist(), strict=True)}
    targeted_by: list[list[str]] = [[] for _ in range(p)]
    for label, columns in sets.items():
        for column in columns:
            targeted_by[column].append(label)
    spread = np.sqrt(np.diag(sem.covariance()))
    noise = generator.standard_normal((ends[-1], p))
    values = noise * np.sqrt(sem.variances)
    for node in topological_order(sem.dag).tolist():
        parents = np.flatnonzero(sem.weights[:, node])
        slopes = sem.weights[parents, node]
        values[:, node] += values[:, parents] @ slopes
        for label in targeted_by[node]:
            rows = rows_of[label]
            mean = shift * spread[node] * generator.choice((-1.0, 1.0))
            variance = sem.variances[node] * np.exp(generator.uniform(*np.log(factors)))
            values[rows, node] = mean + np.sqrt(variance) * noise[rows, node]
            if kind == "soft":
                new = generator.uniform(*weights, len(parents)) * generator.choice((-1.0, 1.0), len(parents))
                values[rows, node] += values[rows, parents] @ new
            elif kind == "shift":
                values[rows, node] += values[rows, parents] @ slopes
    return Environments(values, np.repeat(list(sets), sizes), sets)


def draw_targets(p: int, environments: int, size: int = 1, rng: Seed = None) -> list[tuple[int, ...]]:
    """Return random targets for each of several environments, spread over the variables as evenly as can be.

    No variable is targeted once more than another before all of them have been: with ``environments * size`` equal to
    p, each is targeted once.

    Parameters
    ----------
    p
        Number of variables.
    environments
        Number of environments with targets.
    size
        Targets of each environment.
    rng
        Seed, generator or RandomState; None is seed 0.

    Examples
    --------
    >>> draw_targets(6, 3, 2, rng=1)
    [(0, 4), (1, 2), (3, 5)]
    """
    p = whole("p", p, 1, MOST_NODES)
    environments = whole("environments", environments, 0)
    size = whole("size", size, 1, p)
    require_rows(environments, size)
    generator = generator_from(rng, "rng")
    left: list[int] = []
    drawn = []
    for _ in range(environments):
        chosen, left = left[:size], left[size:]
        if len(chosen) < size:
            # The next round. What is left of the round before is not drawn a second time for the same environment.
            places = generator.permutation(p).tolist()
            others = [node for node in places if node not in chosen]
            missing = size - len(chosen)
            left = [node for node in places if node not in others[:missing]]
            chosen += others[:missing]
        drawn.append(tuple(sorted(chosen)))
    return drawn


def _labelled(targets: TargetSets, p: int) -> dict[str, tuple[int, ...]]:
    """Return the sets of targets by label, each sorted and without repetition."""
    if isinstance(targets, Mapping):
        named = {str(label): entry for label, entry in targets.items()}
    elif isinstance(targets, str) or not is_iterable(targets):
        raise OptionError(f"targets is a list with the columns of each environment, or a mapping, not {targets!r}.")
    else:
        targets = list(targets)
        named = {str(number): entry for number, entry in enumerate(targets, 1)}
    if len(named) < len(targets):
        raise OptionError(f"Labels are text, and two of the {len(targets)} in targets read the same.")
    sets = {}
    for label, entry in named.items():
        columns: list[Any] = list(entry) if is_iterable(entry) and not isinstance(entry, str) else [entry]
        for column in columns:
            if isinstance(column, bool) or not isinstance(column, Integral) or not 0 <= int(column) < p:
                raise OptionError(
                    f"Environment {label!r} targets {column!r}, which is no column of the model; its columns are "
                    f"numbered 0 to {p - 1}."
                )
        sets[label] = tuple(sorted({int(column) for column in columns}))
    return sets
