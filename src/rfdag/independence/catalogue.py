"""The tests by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numpy.typing import NDArray

from rfdag.independence.fisher_z import PartialCorrelation
from rfdag.independence.g2 import G2
from rfdag.independence.hsic import Hsic
from rfdag.independence.kernel_tests import Kci, Rcit

Test = Callable[[int, int, tuple[int, ...]], float]
"""A test: two columns, i < j, and a sorted tuple of others to condition on → a p-value."""

D_SEPARATION = "d-separation"
"""The test that takes a DAG, not rows."""

TESTS: dict[str, Callable[[NDArray[Any], Sequence[Hashable], int], Test]] = {
    "fisher-z": PartialCorrelation,
    "kci": Kci,
    "rcit": Rcit,
    "hsic": Hsic,
    "g2": G2,
}
"""What makes a test of rows, names and a seed, by name. Add one to use it by its name."""


def names_of_tests() -> list[str]:
    """Return the names of all tests.

    >>> names_of_tests()
    ['fisher-z', 'kci', 'rcit', 'hsic', 'g2', 'd-separation']
    """
    return [*TESTS, D_SEPARATION]
