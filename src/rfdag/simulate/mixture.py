"""Rows of numbers and categories on a DAG: each variable is drawn given its parents, of either kind."""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import OptionError, keyword
from rfdag.graphs.dag import as_dag, topological_order
from rfdag.graphs.sparse import refuse_sparse
from rfdag.runtime.memory import require_rows
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.values import between, entries, whole

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Generator = np.random.Generator

WEIGHTS = (0.25, 1.0)
"""Least and largest effect on a number, in standard deviations of its noise: as in `linear_sem`."""
LOGITS = (0.5, 1.5)
"""Least and largest effect on a category, in units of a logit."""


class MixedRows(NamedTuple):
    """Rows of numbers and categories."""

    values: Floats
    """Numbers as they are, standardised; categories as the codes 0, 1, ..."""
    categorical: Mask
    """Which columns are categories."""


def mixed(
    dag: ArrayLike,
    n: int,
    categorical: ArrayLike | float = 0.5,
    levels: tuple[int, int] = (2, 5),
    rng: Seed = None,
) -> MixedRows:
    """Return n independent rows of numbers and categories on a DAG.

    Each parent contributes a signal that is standardised over the rows, times an effect. A number is the sum of these
    and of Gaussian noise with variance 1, standardised before its children are drawn; the signal of a number is the
    number itself, that of a category a random value for each of its levels. A category takes the level whose sum of
    contributions and Gumbel noise is the largest (a multinomial logit model): here each level has a signal of its own,
    the number times a random slope, or a random value for each level of the parent. Effects on numbers are uniform on
    ±[.25, 1], as in `linear_sem`; effects on categories are uniform on [.5, 1.5], which for two levels means that the
    logit changes by 1 to 3 with a standard deviation of the signal.

    Parameters
    ----------
    dag
        Adjacency matrix.
    n
        Number of rows.
    categorical
        Which variables are categories: one truth value for each, or their share, in which case they are chosen at
        random.
    levels
        Least and largest number of levels; each category draws its own between them. A level that is never drawn leaves
        a gap among the codes.
    rng
        Seed, generator or RandomState; None is seed 0.

    Examples
    --------
    >>> rows = mixed([[0, 1], [0, 0]], 4, [False, True], rng=2)
    >>> rows.values.round(2)
    array([[...]])
    >>> rows.categorical
    array([False,  True])
    """
    refuse_sparse(dag, "mixed")
    dag = as_dag(dag)
    n = whole("n", n, 2)
    low, high = levels if isinstance(levels, tuple | list) and len(levels) == 2 else (0, 0)
    whole_numbers = isinstance(low, Integral) and isinstance(high, Integral)
    if not whole_numbers or not 2 <= low <= high:
        raise OptionError(f"levels=(low, high) needs whole numbers 2 ≤ low ≤ high, not {levels}.")
    require_rows(n, len(dag) + int(high))
    generator = generator_from(rng, "rng")
    is_category = _mask(categorical, len(dag), generator)
    counts = np.where(is_category, generator.integers(low, high, len(dag), endpoint=True), 0)
    values = np.zeros((n, len(dag)))
    for node in topological_order(dag):
        parents = np.flatnonzero(dag[:, node])
        width, limits = (counts[node], LOGITS) if is_category[node] else (1, WEIGHTS)
        total = generator.gumbel(size=(n, width)) if is_category[node] else generator.normal(size=(n, 1))
        for parent in parents:
            signal = _signal(values[:, parent], counts[parent], width, generator)
            sign = 1.0 if is_category[node] else generator.choice((-1.0, 1.0))
            total += sign * generator.uniform(*limits) * signal
        values[:, node] = total.argmax(axis=1) if is_category[node] else _standardised(total[:, 0])
    return MixedRows(values, is_category)


def _mask(categorical: ArrayLike | float, p: int, generator: Generator) -> Mask:
    if isinstance(categorical, Real):
        share = between("categorical", categorical, 0, 1)
        chosen = np.zeros(p, bool)
        chosen[generator.permutation(p)[: round(share * p)]] = True
        return chosen
    given = np.array(entries("categorical", categorical, "truth values"))
    if given.shape != (p,) or given.dtype != bool:
        raise OptionError(
            f"{keyword('categorical')} is a share or {p} truth values, one for each variable; "
            f"an array of shape {given.shape} and type {given.dtype} was given."
        )
    return given


def _signal(parent: Floats, levels: int, width: int, generator: Generator) -> Floats:
    """Return what a parent contributes to each of ``width`` sums, scaled to an average variance of 1 over the rows."""
    if levels:
        signal = generator.normal(size=(levels, width))[parent.astype(np.int64)]
    else:
        signal = parent[:, None] * (generator.normal(size=width) if width > 1 else np.ones(1))
    # What is common to all sums does not matter to the largest of them.
    signal = signal - signal.mean(axis=0)
    if width > 1:
        signal = signal - signal.mean(axis=1, keepdims=True)
    size = np.sqrt((signal**2).mean())
    return signal / size if size > 0 else signal


def _standardised(values: Floats) -> Floats:
    scaled: Floats = (values - values.mean()) / values.std()
    return scaled
