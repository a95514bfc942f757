"""Kernel tests of causal-learn: they see any dependence, linear or not.

K. Zhang, J. Peters, D. Janzing, B. Schölkopf: Kernel-based conditional independence test and application in causal
discovery, 2011. E. V. Strobl, K. Zhang, S. Visweswaran: Approximate kernel-based conditional independence tests for
fast non-parametric causal discovery, 2019.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, keyword
from rfdag.runtime.memory import available_memory

MATRICES_OF_KCI = 12
"""Matrices of rows × rows that a test holds at its height: kernels, their products and distances."""


class Kci:
    """The kernel test of conditional independence, with a gamma approximation of its null distribution.

    A test takes time in proportion to the cube of the number of rows: about 0.05 s for 500, 0.3 s for 1000.

    Parameters
    ----------
    rows
        The data, one row per sample.
    names
        The names of the columns.
    seed
        Not used: there is no chance in it.

    Examples
    --------
    >>> cause = np.random.default_rng(1).normal(size=100)
    >>> noise = np.random.default_rng(2).normal(size=(100, 2)) / 4
    >>> test = Kci(np.column_stack([cause, cause**2 + noise[:, 0], cause**2 + noise[:, 1]]))
    >>> test(0, 1, ()) < 1e-6, test(1, 2, (0,)) > 0.01
    (True, True)
    """

    def __init__(self, rows: NDArray[Any], names: Sequence[Hashable] = (), seed: int = 0) -> None:
        _require_causal_learn("kci")
        require_square_matrices(len(rows), MATRICES_OF_KCI, "kci", instead="rcit")
        self._rows = np.asarray(rows, np.float64)

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        marginal, conditional = _kernel_tests()
        x, y, z = (self._rows[:, list(places)] for places in ((i,), (j,), given))
        p_value, _ = conditional().compute_pvalue(x, y, z) if given else marginal().compute_pvalue(x, y)
        return float(p_value)


class Rcit:
    """The randomised kernel test of conditional independence: random features in place of kernels, far faster.

    Its features are drawn anew for each pair and set, from the seed and these: a p-value depends neither on the order
    of the tests nor on the number of threads.

    Parameters
    ----------
    rows
        The data, one row per sample.
    names
        The names of the columns.
    seed
        Seed of the random features.

    Examples
    --------
    >>> cause = np.random.default_rng(1).normal(size=300)
    >>> noise = np.random.default_rng(2).normal(size=(300, 2)) / 4
    >>> test = Rcit(np.column_stack([cause, cause**2 + noise[:, 0], cause**2 + noise[:, 1]]))
    >>> test(0, 1, ()) < 1e-6, test(1, 2, (0,)) > 0.01, test(1, 2, (0,)) == test(1, 2, (0,))
    (True, True, True)
    """

    def __init__(self, rows: NDArray[Any], names: Sequence[Hashable] = (), seed: int = 0) -> None:
        _require_causal_learn("rcit")
        self._rows = np.asarray(rows, np.float64)
        self._seed = seed

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        generator = np.random.default_rng([self._seed, len(given), i, j, *given])
        x, y, z = (self._rows[:, list(places)] for places in ((i,), (j,), given))
        marginal, conditional = _seeded()
        # Extreme statistics overflow in an approximation whose failure is caught there.
        with np.errstate(all="ignore"):
            p_value, _ = (
                conditional(generator).compute_pvalue(x, y, z) if given else marginal(generator).compute_pvalue(x, y)
            )
        return float(np.clip(p_value, 0.0, 1.0))


@cache
def _kernel_tests() -> tuple[Any, Any]:
    """Return causal-learn's kernel tests, marginal and conditional, without decompositions that its sums do not need.

    Its conditional test inverts by a singular value decomposition, and sums over products of eigenvectors of both
    kernels, of which it leaves out those below a hundred-thousandth. The sums are entries of the kernels' elementwise
    product: p-values differ in the fourth digit, and a test takes half the time.
    """
    from causallearn.utils.KCI.KCI import KCI_CInd, KCI_UInd

    class Conditional(KCI_CInd):  # type: ignore[misc]
        def KCI_V_statistic(self, Kx: Any, Ky: Any, Kzx: Any, Kzy: Any) -> tuple[float, Any, Any]:  # noqa: N802
            ridge = self.epsilon_x * np.linalg.inv(Kzx + self.epsilon_x * np.eye(len(Kzx)))
            left, right = ridge @ Kx @ ridge, ridge @ Ky @ ridge
            return float((left * right).sum()), left, right

        def get_uuprod(self, Kx: Any, Ky: Any) -> tuple[Any, int]:
            return Kx * Ky, len(Kx)

        def get_kappa(self, uu_prod: Any) -> tuple[float, float]:
            mean, variance = float(np.trace(uu_prod)), 2 * float((uu_prod**2).sum())
            return mean**2 / variance, variance / mean

    return KCI_UInd, Conditional


@cache
def _seeded() -> tuple[Any, Any]:
    """Return causal-learn's randomised tests, marginal and conditional, with features drawn from a generator.

    Its own draw from NumPy's global state, so that answers would depend on what else has drawn from it.
    """
    from causallearn.utils.RCIT.RCIT import RCIT, RIT

    class Seeded:
        def __init__(self, generator: np.random.Generator) -> None:
            super().__init__()
            self.generator = generator

        def random_fourier_features(self, x: Any, w: Any = None, b: Any = None, num_f: int = 25, sigma: Any = 1) -> Any:
            frequencies = self.generator.normal(size=(num_f, x.shape[1])) / (sigma or 1.0)
            offsets = self.generator.uniform(0, 2 * np.pi, size=(num_f, 1))
            return np.sqrt(2) * np.cos(frequencies @ x.T + offsets).T

    return type("SeededRIT", (Seeded, RIT), {}), type("SeededRCIT", (Seeded, RCIT), {})


def _require_causal_learn(name: str) -> None:
    try:
        import causallearn  # noqa: F401
    except ImportError as problem:
        raise ImportError(
            f'test="{name}" is a test of causal-learn, which is not installed. Install it: pip install '
            '"rfdag[causal-learn]". Without it there are "fisher-z", "hsic" and "g2".'
        ) from problem


def require_square_matrices(rows: int, matrices: int, name: str, instead: str) -> None:
    """Raise unless so many matrices of rows × rows fit into memory."""
    needed, free = 8.0 * matrices * rows**2, available_memory()
    if needed > free:
        raise DataError(
            f"Found {rows} rows; {keyword('test', name)} compares all rows with each other, which takes about "
            f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free. Pass fewer rows, or use "
            f"{keyword('test', instead)}."
        )
