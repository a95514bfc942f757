"""Seeds, in every form that users have them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from rfdag.errors import OptionError, keyword

LARGEST_SEED = 2**31 - 1


def seed_from(random_state: Any) -> int | None:
    """Return the seed meant by ``random_state``: a number or None as it is, one number drawn from a generator.

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
