"""Gaps: cells of a table made missing, with or without regard to what stands in other columns."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from rfdag.errors import OptionError
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.values import numbers, one_of, real

Floats = NDArray[np.float64]

OBSERVED = 0.2
"""Share of the columns that have no gap where what is missing depends on another column."""


def with_gaps(
    values: ArrayLike,
    share: float,
    rng: Seed = None,
    *,
    mechanism: Literal["random", "completely random"] = "random",
) -> Floats:
    """Return a copy of the values in which some cells are NaN.

    Parameters
    ----------
    values
        Rows and columns, complete.
    share
        Expected share of the cells that are missing, in each column that has gaps.
    rng
        Seed, generator or RandomState; None is seed 0.
    mechanism
        "completely random": each cell is missing with the same probability, whatever the values (MCAR). "random": a
        fifth of the columns, and at least one, is always observed; each other column depends on one of these, chosen
        at random, and its cells are missing with a probability that rises or falls linearly with the rank of the value
        there (MAR): from 0 to twice the share, or for a share above ½ from 1 down to what gives that share.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(1000, 5))
    >>> np.isnan(with_gaps(rows, 0.1, rng=1)).mean(axis=0).round(2)
    array([0.1 , 0.11, 0.09, 0.1 , 0.  ])
    """
    found = numbers("values", values)
    if found.ndim != 2 or np.isnan(found).any():
        raise OptionError("Gaps are made in a table of complete rows; this one has missing values, or is no table.")
    if not 0 <= real("share", share) < 1:
        raise OptionError(f"share is at least 0 and less than 1, not {share}.")
    one_of("mechanism", mechanism, ("random", "completely random"))
    generator = generator_from(rng, "rng")
    if mechanism == "completely random":
        found[generator.random(found.shape) < share] = np.nan
    else:
        found[generator.random(found.shape) < _probabilities(found, share, generator)] = np.nan
    return found


def _probabilities(values: Floats, share: float, generator: np.random.Generator) -> Floats:
    """Return the probability of each cell to be missing, given what stands in the columns that are observed."""
    n, p = values.shape
    observed = generator.permutation(p)[: max(1, round(OBSERVED * p))]
    probabilities = np.zeros((n, p))
    for column in np.setdiff1d(np.arange(p), observed):
        rank = (rankdata(values[:, generator.choice(observed)]) - 0.5) / n
        if generator.random() < 0.5:
            rank = 1 - rank
        rising = 2 * share * rank
        probabilities[:, column] = rising if share <= 0.5 else 1 - 2 * (1 - share) * (1 - rank)
    return probabilities
