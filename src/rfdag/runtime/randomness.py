"""The only source of randomness: a seed or generator from the caller becomes a generator."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from rfdag.errors import OptionError, keyword

SIMULATIONS = (0, 1)
"""Seed of simulations where none is given: another than the 0 of a search. (To NumPy, 0 and (0, 0) are the same.)"""

LARGEST_SEED = 2**31 - 1

Seed = (
    int
    | Sequence[int]
    | np.random.Generator
    | np.random.BitGenerator
    | np.random.SeedSequence
    | np.random.RandomState
    | None
)


def generator_from(seed: Seed, name: str = "random_state") -> np.random.Generator:
    """Return a generator of random numbers.

    Parameters
    ----------
    seed
        None is a fixed seed, so that equal calls give equal answers; it is not that of a search, so that data and
        search do not draw the same numbers. A number, a sequence of numbers or a SeedSequence seeds a new generator. A
        Generator is returned as it is, and a BitGenerator is wrapped, so that successive calls continue its stream.
        From NumPy's legacy RandomState the seed of a new generator is drawn.
    name
        The name of the caller's option, for the error message.

    Examples
    --------
    >>> int(generator_from(None).integers(1000)) == int(generator_from(None).integers(1000))
    True
    >>> generator_from("today", name="rng")
    Traceback (most recent call last):
    rfdag.errors.OptionError: rng is 'today'; pass None, a whole number of at least 0, or a NumPy generator.
    """
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**32, size=4, dtype=np.uint32))
    if not isinstance(seed, bool | np.bool_):
        try:
            return np.random.default_rng(SIMULATIONS if seed is None else seed)
        except (TypeError, ValueError):
            pass
    raise OptionError(f"{name} is {seed!r}; pass None, a whole number of at least 0, or a NumPy generator.")


def seed_from(random_state: Any) -> int | None:
    """Return the seed that ``random_state`` stands for: a number or None as it is, or one drawn from a generator.

    >>> seed_from(3), seed_from(None), seed_from(np.random.RandomState(1)) == seed_from(np.random.RandomState(1))
    (3, None, True)
    """
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED))
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        raise OptionError(
            f"{keyword('random_state')} is None, a whole number of at least 0, or a NumPy Generator or RandomState, "
            f"not {random_state!r}."
        )
    return int(random_state)
