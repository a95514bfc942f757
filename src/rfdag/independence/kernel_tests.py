"""Kernel tests of causal-learn: they see any dependence, linear or not.

K. Zhang, J. Peters, D. Janzing, B. Schölkopf: Kernel-based conditional independence test and application in causal
discovery, 2011. E. V. Strobl, K. Zhang, S. Visweswaran: Approximate kernel-based conditional independence tests for
fast non-parametric causal discovery, 2019.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from rfdag.errors import DataError, Message, keyword
from rfdag.runtime.memory import available_memory
from rfdag.wording import alternatives

Floats = NDArray[np.float64]

MATRICES_OF_KCI = 12
"""Matrices of rows × rows that a test holds at its height: kernels, their products and distances."""

MOST_KEPT = 2**28
"""Bytes of kernels that are kept for other pairs."""

RIDGE = 1e-3
"""The penalty of KCI's regressions: its authors', and causal-learn's."""


class Kci:
    """The kernel test of conditional independence, with a gamma approximation of its null distribution.

    The kernel of a variable, as a regression on others leaves it, is computed once and kept for other pairs, as far as
    `MOST_KEPT` bytes go. That takes time in proportion to the cube of the number of rows: about 0.03 s for 500, 0.2 s
    for 1000.

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
        rows = np.asarray(rows, np.float64)
        self._rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
        self._kept: OrderedDict[tuple[int, tuple[int, ...], bool], Floats] = OrderedDict()
        self._most = max(2, MOST_KEPT // (8 * len(rows) ** 2))
        self._lock = threading.Lock()

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the hypothesis that i and j are independent given others."""
        if not given:
            from causallearn.utils.KCI.KCI import KCI_UInd

            return float(KCI_UInd().compute_pvalue(self._rows[:, [i]], self._rows[:, [j]])[0])
        # One of the two goes in together with the others, as its authors have it.
        product = self._kernel(i, given, joined=True) * self._kernel(j, given, joined=False)
        # causal-learn sums over products of eigenvectors, but for the least of them, which are these entries.
        mean, variance = float(np.trace(product)), 2 * float((product**2).sum())
        return float(gammaincc(mean**2 / variance, float(product.sum()) * mean / variance))

    def _kernel(self, variable: int, given: tuple[int, ...], *, joined: bool) -> Floats:
        """Return the kernel of a variable, alone or joined to others, less what a regression on these explains."""
        key = variable, given, joined
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        from causallearn.utils.KCI.GaussianKernel import GaussianKernel
        from causallearn.utils.KCI.Kernel import Kernel

        others = self._rows[:, list(given)]
        gaussian = GaussianKernel()
        gaussian.set_width_empirical_kci(others)
        points = self._rows[:, [variable]]
        points = np.column_stack([points, others / 2]) if joined else points
        kernel, of_others = (Kernel.center_kernel_matrix(gaussian.kernel(each)) for each in (points, others))
        ridge = RIDGE * np.linalg.inv(of_others + RIDGE * np.eye(len(others)))
        left: Floats = ridge @ kernel @ ridge
        with self._lock:
            self._kept[key] = left
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return left


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
        others = alternatives([keyword("test", other) for other in ("fisher-z", "hsic", "g2")])
        raise ImportError(
            Message(
                f"{keyword('test', name)} is a test of causal-learn, which is not installed. Install it: pip install "
                f"'rfdag[causal-learn]'. Without it use {others}."
            )
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
